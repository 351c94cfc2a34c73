%% SPDX-License-Identifier: Apache-2.0
%% Calls native functions with arguments made from their specs, some of them replaced by hostile ones, and writes what each call answers.
%% The same seed makes the same arguments on every VM. Each call has a process of its own, with bounds of time and memory.
%%   attack OUT ROUNDS FILE    the functions of FILE, terms {M, F, A}; OUT: "M:F/A" before its calls, then a line a call
-module(native_attack).
-export([attack/1, f0/0, f1/1, f2/2, f3/3]).

-define(CALL_MS, 1000).
-define(HEAP_WORDS, 20000000).

attack([Out, Rounds, File]) ->
    {ok, Natives} = file:consult(File),
    {ok, Log} = file:open(Out, [raw, append, binary]),
    logger:set_primary_config(level, none),
    [attack_native(Log, Native, list_to_integer(Rounds)) || Native <- Natives],
    ok = file:write(Log, "end\n"),
    erlang:halt(0, [{flush, false}]).

attack_native(Log, {M, F, A} = Native, Rounds) ->
    ok = file:write(Log, io_lib:format("~p:~p/~p~n", [M, F, A])),
    Spec = native_spec:spec(Native),
    fresh_directory(),
    [ok = file:write(Log, [io_lib:format("  ~b ", [Round]), call(Native, Spec, Round, ready_port()), $\n]) || Round <- lists:seq(1, Rounds)].

%% Where files of earlier calls do not lie about.
fresh_directory() ->
    {ok, Here} = file:get_cwd(),
    Work = filename:join(case filename:basename(Here) of "attack_work" -> filename:dirname(Here); _ -> Here end, "attack_work"),
    _ = file:del_dir_r(Work),
    ok = file:make_dir(Work),
    ok = file:set_cwd(Work).

%% One that is open.
ready_port() ->
    Port = get(port),
    case is_port(Port) andalso erlang:port_info(Port, connected) of
        {connected, Pid} when Pid =:= self() -> Port;
        _ ->
            Port =/= undefined andalso catch port_close(Port),
            New = open_port({spawn, "cat"}, []),
            put(port, New),
            New
    end.

%% ---- one call
call(Native, Spec, Round, Port) ->
    Limit = #{size => ?HEAP_WORDS, kill => true, error_logger => false},
    {Pid, Ref} = spawn_opt(fun() -> put(port, Port), exit({answer, answer(Native, Spec, Round)}) end, [monitor, {max_heap_size, Limit}]),
    receive
        {'DOWN', Ref, process, Pid, {answer, Text}} -> Text;
        {'DOWN', Ref, process, Pid, Why} -> text({ended, native_spec:plain(Why, 4)}, 400)
    after ?CALL_MS ->
        exit(Pid, kill),
        receive {'DOWN', Ref, process, Pid, _} -> <<"late">> end
    end.

answer({M, F, A} = Native, Spec, Round) ->
    Kept = surroundings(Native),
    Arguments = arguments(Native, Spec, Round),
    Shown = text(native_spec:plain(Arguments, 5), 250),
    Answer =
        try apply(M, F, Arguments) of
            Value -> case native_spec:is_volatile(M, F, A) orelse depends(F, Arguments) of true -> value; false -> {value, native_spec:plain(Value, 6)} end
        catch
            Class:Reason:Stack -> {Class, native_spec:plain(Reason, 4), info(Stack)}
        end,
    Text = text(Answer, 400),
    release(Kept),
    [Text, $\t, Shown].

text(Term, Max) ->
    Text = unicode:characters_to_binary(io_lib:format("~0P", [Term, 30])),
    binary:part(Text, 0, min(byte_size(Text), Max)).

info([{M, F, _, Info} | _]) ->
    case lists:keyfind(error_info, 1, Info) of
        {error_info, Map} -> {M, F, native_spec:plain(Map, 3)};
        false -> {M, F}
    end;
info(_) -> [].

%% Functions whose values tell how identifiers are numbered, and in which order the keys of a table or a map come.
depends(F, Arguments) ->
    case re:run(atom_to_list(F), "hash|to_binary|to_iovec|size|display|spread|first|last|next|prev|slot|match|select|keys|values|take|^to_list") of
        nomatch -> false;
        _ -> has_unordered(Arguments)
    end.

has_unordered([H | T]) -> has_unordered(H) orelse has_unordered(T);
has_unordered(X) when is_tuple(X) -> has_unordered(tuple_to_list(X));
has_unordered(X) when is_map(X) -> map_size(X) > 32 orelse has_unordered(maps:to_list(X));
has_unordered(attack_table) -> true;
has_unordered(X) -> is_pid(X) orelse is_port(X) orelse is_reference(X) orelse is_function(X).

%% ---- what arguments may refer to
surroundings({M, _, _}) ->
    put(attack, M),
    Friend = spawn(fun() -> receive after infinity -> ok end end),
    {Dead, Ref} = spawn_monitor(fun() -> ok end),
    receive {'DOWN', Ref, _, _, _} -> ok end,
    put(processes, [self(), Friend, Dead]),
    put(references, [make_ref(), Ref | special(M)]),
    Friend.

release(Friend) -> exit(Friend, kill).

special(ets) ->
    [fill(T) || T <- [ets:new(attack_table, [public, named_table]), ets:new(attack_other, [public, named_table, ordered_set]),
                      ets:new(x, [public, bag]), ets:new(x, [public, duplicate_bag, {write_concurrency, true}])]];
special(atomics) -> [atomics:new(10, [])];
special(zlib) ->
    Z = zlib:open(),
    ok = zlib:deflateInit(Z),
    I = zlib:open(),
    ok = zlib:inflateInit(I),
    [Z, I];
special(prim_buffer) -> [prim_buffer:new()];
special(prim_file) ->
    case prim_file:open("attack_file", [read, write]) of
        {ok, {file_descriptor, prim_file, #{handle := Handle}}} -> [Handle];
        _ -> []
    end;
special(_) -> [].

fill(T) ->
    ets:insert(T, [{N, <<N>>, [N], 1.5} || N <- lists:seq(1, 10)] ++ [{1.0, x}, {abc, y, 7}, {"abc", #{a => 1}}, {<<"abc">>}]),
    T.

%% ---- arguments
arguments({M, F, A}, Spec, Round) ->
    rand:seed(exsss, {erlang:phash2({M, F, A}), Round, 17}),
    Made = case Spec of
               [] -> [any(3) || _ <- lists:seq(1, A)];
               _ ->
                   {Types, Constraints} = pick(Spec),
                   [make(T, {M, Constraints}, 6) || T <- Types]
           end,
    spoil(Made).

%% A third as the spec says, the others with one or more arguments that are not.
spoil([]) -> [];
spoil(Made) ->
    case rand:uniform(3) of
        1 -> Made;
        2 -> [X || {_, X} <- lists:keyreplace(rand:uniform(length(Made)), 1, lists:zip(lists:seq(1, length(Made)), Made), {0, hostile()})];
        3 -> [case rand:uniform(3) of 1 -> damage(X); _ -> X end || X <- Made]
    end.

%% Nearly what it was.
damage([H | T]) -> pick([[H | x], [H, H | T], T, [T | H], [hostile() | T], [H | damage(T)]]);
damage(X) when is_tuple(X), tuple_size(X) > 0 -> setelement(rand:uniform(tuple_size(X)), X, hostile());
damage(X) when is_map(X) -> X#{hostile() => hostile()};
damage(X) when is_integer(X) -> pick([X + 1, X - 1, -X, X bsl 32, X bsl 64, float_of(X)]);
damage(X) when is_bitstring(X) -> pick([<<X/bits, 1:1>>, <<X/bits, X/bits>>, <<0, X/bits>>]);
damage(_) -> hostile().

float_of(X) when abs(X) < 1 bsl 60 -> float(X);
float_of(_) -> 1.0e300.

pick(List) -> lists:nth(rand:uniform(length(List)), List).

integer() ->
    Base = pick([0, 1, 2, 3, 7, 8, 9, 10, 16, 36, 64, 100, 255, 256, 1000, 65535, 65536, 1 bsl 20, 1 bsl 27, 1 bsl 31, 1 bsl 32, 1 bsl 58,
                 1 bsl 59, 1 bsl 60, 1 bsl 63, 1 bsl 64, 1 bsl 80, 1 bsl 300]),
    pick([Base, Base, -Base, Base - 1, Base + 1]).

small() -> pick([0, 1, 2, 3, 4, 5, 8, 16, 31, 100]).
natural() -> case rand:uniform(4) of 1 -> abs(integer()); _ -> small() end.
number_float() -> pick([0.0, -0.0, 1.5, -1.0, 1.0, 3.0e10, 1.0e308, -1.0e308, 5.0e-324, 0.1, 1.0e22]).
atom() -> pick([a, b, abc, true, false, undefined, infinity, ok, '', 'x y', '\x{400}', attack_table, attack_other, native_attack, no_such, all]).
char() -> pick([$a, $z, $0, $-, 10, 0, 255, 256, 16#400, 16#ffff, 16#10ffff, $=, $%, $/ + 1]).
string() -> [char() || _ <- lists:seq(1, small() div 2)].
text() -> pick(["", "abc", "12", "-7", "1.5", "1.0e5", "16#ff", "<0.1.0>", "#Ref<0.1.2.3>", "a,b", "\x{e5}\x{e4}", [$a | "\x{400}"], string(), lists:duplicate(300, $a)]).
binary() -> pick([<<>>, <<"abc">>, <<"12">>, <<"1.5">>, <<0>>, <<255, 254>>, <<"a">>, list_to_binary([X band 255 || X <- string()]),
                  binary:copy(<<"ab">>, 100), binary:part(<<"xxabcxx">>, 2, 3), unicode:characters_to_binary("\x{e5}\x{400}"),
                  <<131, 97, 5>>, <<131, 108, 0, 0, 0, 1, 97, 1, 106>>, term_to_binary({a, [1.5], #{x => <<"y">>}})]).
bits() -> case rand:uniform(2) of 1 -> binary(); 2 -> pick([<<1:1>>, <<5:3>>, <<1, 2, 3:4>>, <<0:1001>>]) end.
function() -> pick([fun ?MODULE:f0/0, fun ?MODULE:f1/1, fun ?MODULE:f2/2, fun() -> x end, fun(X) -> X end, fun(X, Y) -> [X | Y] end,
                    fun(_, _, Z) -> Z end, fun lists:no_such/2, fun erlang:self/0, holding(leaf()), holding(['_', {'$1'} | '$2']),
                    holding(#{a => '$1', '_' => holding(#{})}), evaluated()]).
holding(X) -> fun() -> [X | X] end.

%% One of the shell's, whose variables are maps.
evaluated() ->
    {value, F, _} = erl_eval:expr({'fun', 1, {clauses, [{clause, 1, [], [], [{var, 1, 'X'}]}]}}, #{'X' => '_', 'Y' => #{a => '$1'}}),
    F.

process() -> pick(get(processes)).
reference() -> pick(get(references)).

%% What only other nodes make.
foreign() ->
    Node = pick([<<119, 3, "a@b">>, <<119, 1, "c">>]),
    Id = pick([<<88, Node/binary, 1:32, 2:32, 3:32>>, <<89, Node/binary, 7:32, 1:32>>, <<120, Node/binary, 1:64, 2:32>>,
               <<90, 3:16, Node/binary, 1:32, 2:32, 3:32, 4:32>>, <<90, 5:16, Node/binary, 1:32, 2:32, 3:32, 4:32, 5:32, 6:32>>]),
    binary_to_term(<<131, Id/binary>>).

f0() -> f0.
f1(X) -> X.
f2(X, _) -> X.
f3(X, _, _) -> X.

port() -> get(port).

any(0) -> leaf();
any(D) ->
    case rand:uniform(9) of
        5 -> maps:from_list([{any(0), any(0)} || _ <- lists:seq(1, 40)]);
        1 -> [any(D - 1) || _ <- lists:seq(1, rand:uniform(4))];
        2 -> list_to_tuple([any(D - 1) || _ <- lists:seq(1, rand:uniform(4) - 1)]);
        3 -> maps:from_list([{any(D - 1), any(D - 1)} || _ <- lists:seq(1, rand:uniform(4) - 1)]);
        4 -> [any(D - 1) | leaf()];
        _ -> leaf()
    end.

leaf() ->
    case rand:uniform(14) of
        13 -> function();
        14 -> foreign();
        1 -> integer();
        2 -> small();
        3 -> number_float();
        4 -> atom();
        5 -> text();
        6 -> binary();
        7 -> bits();
        8 -> function();
        9 -> process();
        10 -> reference();
        11 -> [];
        12 -> atom()
    end.

hostile() ->
    case rand:uniform(14) of
        1 -> integer();
        2 -> 1 bsl (rand:uniform(100) + 20);
        3 -> -(1 bsl rand:uniform(80));
        4 -> [a | b];
        5 -> deep([], 100000);
        6 -> deep(1, 1000);
        7 -> maps:from_list([{N, x} || N <- lists:seq(1, 40)]);
        8 -> erlang:make_tuple(1000, x);
        9 -> binary:copy(<<"0123456789">>, 1000);
        10 -> lists:seq(1, 1000);
        11 -> case get(attack) of erts_internal -> x; _ -> port() end;
        12 -> [[$a | <<"b">>], <<1:1>>];
        _ -> any(2)
    end.

deep(T, 0) -> T;
deep(T, N) -> deep([T], N - 1).

%% ---- a term of a type
make(_, _, D) when D < 0 -> [];
make({ann_type, _, [_, Type]}, Env, D) -> make(Type, Env, D);
make({var, _, Name}, {_, Constraints} = Env, D) ->
    case lists:keyfind(Name, 1, Constraints) of
        {Name, Type} -> make(Type, Env, D - 1);
        false -> any(2)
    end;
make({atom, _, A}, _, _) -> A;
make({integer, _, N}, _, _) -> N;
make({char, _, N}, _, _) -> N;
make({op, _, _, _} = Op, _, _) -> erl_parse:normalise(Op);
make({remote_type, _, [{atom, _, M}, {atom, _, Name}, Arguments]}, Env, D) -> make_named(M, Name, Arguments, Env, D);
make({user_type, _, Name, Arguments}, {M, _} = Env, D) -> make_named(M, Name, Arguments, Env, D);
make({type, _, Name, Arguments}, Env, D) -> make_type(Name, Arguments, Env, D);
make(_, _, _) -> any(2).

%% Opaque ones are what the module itself gave out.
make_named(ets, tid, _, _, _) -> reference();
make_named(ets, tab, _, _, _) -> pick([attack_table, attack_other, reference()]);
make_named(ets, match_spec, _, _, _) -> match_spec();
make_named(ets, comp_match_spec, _, _, _) -> ets:match_spec_compile(match_spec());
make_named(ets, match_pattern, _, _, _) -> pick([{'$1', '_'}, '_', '$1', {'_', '$2', '$1', '$2'}, {abc, '_', '_'}, pattern(3), {pattern(2), '$1'}]);
make_named(erlang, trace_match_spec, _, _, _) -> pick([[{'_', [], [{return_trace}]}], [{['$1', '_'], [{is_atom, '$1'}], []}], [], any(2)]);
make_named(re, mp, _, _, _) -> element(2, re:compile(pick(["a", "(b)|c*", "[a-c]+"])));
make_named(binary, cp, _, _, _) -> binary:compile_pattern(pick([<<"b">>, [<<"a">>, <<"bc">>]]));
make_named(binary, part, _, _, _) -> {pick([0, 1, 2, natural()]), pick([0, 1, -1, integer()])};
make_named(_, ext_binary, _, _, _) -> pick([binary(), term_to_binary(any(3)), term_to_binary(any(2), [compressed])]);
make_named(_, name_all, _, _, _) -> pick(["attack_file", <<"attack_file">>, "attack_x", text()]);
make_named(M, Name, Arguments, Env, D) ->
    case [{Type, Vars} || {attribute, _, _, {N, Type, Vars}} <- native_spec:forms(M), N =:= Name, length(Vars) =:= length(Arguments)] of
        [] -> any(2);
        [{_, _} | _] when M =:= zlib, Name =:= zstream; Name =:= atomics_ref -> reference();
        [{Type, Vars} | _] -> make(Type, {M, lists:zip([V || {var, _, V} <- Vars], Arguments) ++ element(2, Env)}, D - 1)
    end.

match_spec() ->
    pick([[{'$1', [], ['$1']}], [{{'$1', '_'}, [{'>', '$1', 3}], ['$$']}], [{{'_', '$1', '$2', '_'}, [], [{{'$1', '$2'}}]}],
          [{'_', [], [true]}], [{{'$1', '_', '_', '_'}, [{'<', {'+', '$1', integer()}, integer()}], [{'*', '$1', integer()}, '$_']}],
          [{{'$1', '$2'}, [{any(2), '$1'}], [any(2)]}], [{any(2), [any(2)], [any(2)]}],
          [{pattern(3), [{'=:=', '$1', {const, any(2)}}], [{const, any(2)}, '$_']}], [{{'$1', pattern(3)}, [], ['$$', #{any(1) => '$1'}, [any(1) | '$1']]}]]).

%% Any term, or a variable, in every position.
pattern(0) -> pick(['_', '$1', '$2', leaf(), leaf(), function()]);
pattern(D) ->
    case rand:uniform(6) of
        1 -> [pattern(D - 1) || _ <- lists:seq(1, rand:uniform(3))];
        2 -> list_to_tuple([pattern(D - 1) || _ <- lists:seq(1, rand:uniform(3))]);
        3 -> maps:from_list([{any(1), pattern(D - 1)} || _ <- lists:seq(1, rand:uniform(3))]);
        4 -> maps:from_list([{N, pattern(0)} || N <- lists:seq(1, 40)]);
        5 -> [pattern(D - 1) | pattern(0)];
        6 -> pattern(0)
    end.

make_type(union, Types, Env, D) -> make(pick(Types), Env, D);
make_type(integer, _, _, _) -> integer();
make_type(non_neg_integer, _, _, _) -> natural();
make_type(pos_integer, _, _, _) -> max(1, natural());
make_type(neg_integer, _, _, _) -> -max(1, natural());
make_type(range, [A, B], _, _) ->
    {Low, High} = {erl_parse:normalise(A), erl_parse:normalise(B)},
    pick([Low, High, Low + rand:uniform(High - Low + 1) - 1]);
make_type(byte, _, _, _) -> rand:uniform(256) - 1;
make_type(char, _, _, _) -> char();
make_type(float, _, _, _) -> number_float();
make_type(number, _, _, _) -> pick([integer(), small(), number_float()]);
make_type(timeout, _, _, _) -> pick([0, 1, 50]);
make_type(boolean, _, _, _) -> pick([true, false]);
make_type(Atom, _, _, _) when Atom =:= atom; Atom =:= module; Atom =:= node -> atom();
make_type(binary, [{integer, _, 0}, {integer, _, 1}], _, _) -> bits();
make_type(binary, _, _, _) -> binary();
make_type(Bits, _, _, _) when Bits =:= bitstring; Bits =:= nonempty_bitstring -> bits();
make_type(Binary, _, _, _) when Binary =:= nonempty_binary -> binary();
make_type(Text, _, _, _) when Text =:= string; Text =:= nonempty_string -> text();
make_type(Io, _, _, _) when Io =:= iolist; Io =:= iodata -> pick([binary(), [binary(), $a, [binary() | binary()]], [], [text()], "abc"]);
make_type(nil, _, _, _) -> [];
make_type(list, [], _, _) -> pick([any_list(), text()]);
make_type(nonempty_list, [], _, _) -> [x | any_list()];
make_type(list, [Type], Env, D) -> [make(Type, Env, D - 1) || _ <- lists:seq(1, rand:uniform(5) - 1)];
make_type(nonempty_list, [Type], Env, D) -> [make(Type, Env, D - 1) || _ <- lists:seq(1, rand:uniform(4))];
make_type(maybe_improper_list, [], _, _) -> pick([any_list(), [a | b]]);
make_type(maybe_improper_list, [Type, Tail], Env, D) ->
    [make(Type, Env, D - 1) | pick([[], make(Tail, Env, D - 1)])];
make_type(tuple, Types, Env, D) when is_list(Types) -> list_to_tuple([make(T, Env, D - 1) || T <- Types]);
make_type(tuple, any, _, _) -> list_to_tuple(any_list());
make_type(map, Fields, Env, D) when is_list(Fields) ->
    maps:from_list([{make(K, Env, D - 1), make(V, Env, D - 1)} || {type, _, _, [K, V]} <- Fields]);
make_type(map, any, _, _) -> pick([#{}, #{a => 1, "b" => x}, #{1 => 2, 1.0 => 3}, maps:from_list([{N, -N} || N <- lists:seq(1, 50)])]);
make_type('fun', [], _, _) -> function();
make_type(Fun, _, _, _) when Fun =:= 'fun'; Fun =:= function -> function();
make_type(Pid, _, _, _) when Pid =:= pid; Pid =:= identifier -> process();
make_type(port, _, _, _) -> port();
make_type(Reference, _, _, _) when Reference =:= reference -> reference();
make_type(mfa, _, _, _) -> {native_attack, f1, 1};
make_type(_, _, _, _) -> any(3).

any_list() -> [any(1) || _ <- lists:seq(1, rand:uniform(6) - 1)].
