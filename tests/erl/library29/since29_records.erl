%% SPDX-License-Identifier: Apache-2.0
%% Native records, which OTP 29 brought: made by code and by records:create/4, and everywhere that terms go.
-module(since29_records).
-export([main/0]).

main() ->
    made(source()),
    by_code(),
    outside(),
    by_functions(),
    refused(),
    compared(),
    external(),
    damaged(),
    damaged_code(),
    kept(),
    moved(),
    forgotten().

%% This file is compiled by the machine's own compiler: what is new in the language stands in a text.
source() ->
    "-module(since29_made).\n"
    "-export([new/0, part/1, hidden/1, update/2, any_update/2, get/1, far/1, far_new/1, far_new_bad/1, far_new_part/0, wild/1, wild_get/1, is/1, guarded/1, many/4]).\n"
    "-export_record([point, node]).\n"
    "-record #point{x = 0, y = 0, z}.\n"
    "-record #node{key, value = [1, 2], left = <<\"none\">>, big = 123456789012345678901234567890}.\n"
    "-record #hidden{a, b = #{}}.\n"
    "new() -> #point{z = 3}.\n"
    "part(K) -> #node{key = K}.\n"
    "hidden(A) -> #hidden{a = A}.\n"
    "update(R, V) -> R#point{y = V, x = 1}.\n"
    "any_update(R, V) -> R#_{x = V}.\n"
    "get(R) -> R#point.x.\n"
    "far(R) -> R#since29_other:thing.size.\n"
    "far_new(V) -> #since29_other:thing{size = V}.\n"
    "far_new_bad(V) -> #since29_other:thing{size = V, weight = 1}.\n"
    "far_new_part() -> #since29_other:thing{}.\n"
    "wild(#_{x = X}) -> X; wild(_) -> none.\n"
    "wild_get(R) -> R#_.x.\n"
    "is(R) when is_record(R, point) -> point; is(#hidden{a = A}) -> {hidden, A}; is(R) when is_record(R) -> other; is(_) -> none.\n"
    "guarded(R) when R#point.x > 0 -> large; guarded(_) -> no.\n"
    "many(A, B, C, D) -> {#point{x = A, y = B, z = [C, D]}, A, B, C, D}.\n".

other() ->
    "-module(since29_other).\n"
    "-export([new/0]).\n"
    "-export_record([thing]).\n"
    "-record #thing{size, name = none}.\n"
    "new() -> #thing{size = 1}.\n".

by_code() ->
    P = since29_made:new(),
    H = since29_made:hidden(5),
    p([P, H, since29_made:part(a), since29_made:update(P, 9), since29_made:any_update(P, 7), since29_made:get(P)]),
    p([since29_made:is(X) || X <- [P, H, since29_made:part(a), {point, 1, 2, 3}, #{x => 1}]]),
    p([since29_made:wild(X) || X <- [P, H, {x}, new([{x, 4}])]]),
    p([since29_made:guarded(X) || X <- [P, since29_made:update(P, 1), H, 1]]),
    p(since29_made:many(1, 2, 3, 4)),
    p([why(F) || F <- [fun() -> since29_made:update(H, 1) end, fun() -> since29_made:get(x) end, fun() -> since29_made:get(H) end,
                       fun() -> since29_made:any_update(H, 1) end, fun() -> since29_made:wild_get(H) end]]),
    p([is_tuple(P), is_map(P), why(fun() -> element(1, P) end), why(fun() -> P + 1 end), why(fun() -> {_} = P end)]).

%% expect: [#since29_made:point{x = 0,y = 0,z = 3},#since29_made:hidden{a = 5,b = #{}},#since29_made:node{key = a,value = [1,2],left = <<"none">>,big = 123456789012345678901234567890},#since29_made:point{x = 1,y = 9,z = 3},#since29_made:point{x = 7,y = 0,z = 3},0]
%% expect: [point,{hidden,5},other,none,none]
%% expect: [0,none,none,4]
%% expect: [no,large,no,no]
%% expect: {#since29_made:point{x = 1,y = 2,z = [3,4]},1,2,3,4}
%% expect: [{badrecord,#since29_made:hidden{a = 5,b = #{}}},{badrecord,x},{badrecord,#since29_made:hidden{a = 5,b = #{}}},{badfield,{{since29_made,hidden},x}},{badfield,{{since29_made,hidden},x}}]
%% expect: [false,false,badarg,badarith,{badmatch,#since29_made:point{x = 0,y = 0,z = 3}}]

%% Records of another module: what is not loaded declares none.
outside() ->
    p(why(fun() -> since29_made:far_new(2) end)),
    made(other()),
    R = since29_made:far_new(2),
    p([R, since29_made:far(R), since29_other:new(), since29_made:far(since29_other:new())]),
    p([why(F) || F <- [fun() -> since29_made:far_new_bad(2) end, fun() -> since29_made:far_new_part() end, fun() -> since29_made:far(since29_made:new()) end,
                       fun() -> since29_made:far(records:create(since29_other, thing, [{size, 1}], #{is_exported => false})) end,
                       fun() -> since29_made:far(records:create(since29_other, thing, [{mass, 1}], #{is_exported => true})) end]]),
    p([records:get_definition(since29_made, N) || N <- [point, node, hidden]]),
    p([why(fun() -> records:get_definition(M, N) end) || {M, N} <- [{since29_made, thing}, {none_such, thing}, {1, thing}]]).

%% expect: {badrecord,{since29_other,thing}}
%% expect: [#since29_other:thing{size = 2,name = none},2,#since29_other:thing{size = 1,name = none},1]
%% expect: [{badfield,{{since29_other,thing},weight}},{novalue,{{since29_other,thing},size}},{badrecord,#since29_made:point{x = 0,y = 0,z = 3}},{badrecord,#since29_other:thing{size = 1}},{badfield,{{since29_other,thing},size}}]
%% expect: [{#{is_exported => true},[{x,0},{y,0},z]},{#{is_exported => true},[key,{value,[1,2]},{left,<<"none">>},{big,123456789012345678901234567890}]},{#{is_exported => false},[a,{b,#{}}]}]
%% expect: [badarg,badarg,badarg]

by_functions() ->
    R = new([{z, 1}, {x, 2}]),
    p([R, records:get(x, R), records:get_module(R), records:get_name(R), records:get_field_names(R), records:is_exported(R), new([])]),
    p([records:update(R, m, r, #{x => 7}), records:update(R, other, '_', #{z => [R]}), records:update(R, m, r, #{})]),
    p([apply(erlang, is_record, A) || A <- [[R], [1], [R, r], [R, s], [R, m, r], [R, n, r], [{r}, m, r], [{r, 1}, r, 2]]]),
    p([N =:= records:get_field_names(new([{F, F} || F <- N])) || N <- [names(0), names(1), names(31), names(1000)]]).

%% expect: [#m:r{z = 1,x = 2},2,m,r,[z,x],true,#m:r{}]
%% expect: [#m:r{z = 1,x = 7},#m:r{z = [#m:r{z = 1,x = 2}],x = 2},#m:r{z = 1,x = 2}]
%% expect: [true,false,true,false,true,false,false,true]
%% expect: [true,true,true,true]

refused() ->
    R = new([{z, 1}, {x, 2}]),
    Yes = #{is_exported => true},
    p([why(fun() -> apply(records, create, A) end)
       || A <- [[1, r, [], Yes], [m, "r", [], Yes], [m, r, [], []], [m, r, [], #{}], [m, r, [], #{is_exported => 1}], [m, r, [], Yes#{b => 1}],
                [m, r, x, Yes], [m, r, [x], Yes], [m, r, [{1, 2}], Yes], [m, r, [{a, 1}, {a, 2}], Yes], [m, r, [{a, 1} | b], Yes], [m, r, [{a, 1, 2}], Yes]]]),
    p([why(fun() -> apply(records, update, A) end)
       || A <- [[1, m, r, #{}], [R, m, s, #{}], [R, n, r, #{}], [R, m, r, []], [R, m, r, #{q => 1}], [R, m, r, #{1 => 1}]]]),
    p([why(fun() -> apply(records, F, A) end)
       || {F, A} <- [{get, [q, R]}, {get, [1, R]}, {get, [x, 1]}, {get_module, [1]}, {get_name, [{r}]}, {get_field_names, [1]}, {is_exported, [#{}]}]]),
    p(why(fun() -> apply(erlang, is_record, [R, 1, r]) end)).

%% expect: [{badrecord,r},{badrecord,"r"},{badmap,[]},badarg,badarg,badarg,badarg,badarg,{badfield,{{m,r},1}},badarg,badarg,badarg]
%% expect: [{badrecord,1},{badrecord,s},{badrecord,r},{badmap,[]},{badfield,{{m,r},q}},{badfield,{{m,r},1}}]
%% expect: [badarg,badarg,badarg,badarg,badarg,{badrecord,1},{badrecord,#{}}]
%% expect: badarg

%% By module, name, whether it is exported, number of fields, names, values; between tuples and maps.
compared() ->
    C = fun(M, N, F, E) -> records:create(M, N, F, #{is_exported => E}) end,
    Rising = [C(m, a, [{b, 9}], false), C(m, a, [{b, 9}, {a, 9}], false), C(m, a, [], true), C(m, a, [{a, 9}], true), C(m, a, [{b, 0}], true), C(m, a, [{b, 1}], true),
        C(m, a, [{b, [C(m, a, [], true)]}], true), C(m, a, [{z, 1}, {a, 2}], true), C(m, a, [{z, 2}, {a, 1}], true), C(m, b, [], false), C(n, a, [], false)],
    p([lists:sort(lists:reverse(Rising)) =:= Rising, [{A < B, A =:= B, A > B} || {A, B} <- lists:zip(lists:droplast(Rising), tl(Rising))] =:= lists:duplicate(length(Rising) - 1, {true, false, false})]),
    R = new([{a, 1}]),
    F = new([{a, 1.0}]),
    Minus = binary_to_term(<<131, 70, 128, 0:56>>), %% as a constant this compiler takes it for 0.0
    p([R =:= new([{a, 1}]), R == F, R =:= F, R < F, R > F, new([]) =:= new([]), new([{a, 0.0}]) =:= new([{a, Minus}]), new([{a, 0.0}]) == new([{a, Minus}])]),
    p([kind(T) || T <- lists:sort([[], #{}, {1, 2, 3}, R, <<>>, a, self(), 1])]),
    p([max({}, R), max(#{}, R), min(R, [])]),
    p([erlang:phash2(T) || T <- [new([]), R, new([{a, b}]), C(m, r, [{a, 1}], false), {R}, [R | x], #{R => R}]]).

%% expect: [true,true]
%% expect: [true,true,false,false,false,true,false,true]
%% expect: [number,atom,pid,tuple,record,map,nil,bits]
%% expect: [#m:r{a = 1},#{},#m:r{a = 1}]
%% expect: [72145304,93761595,77118531,90592463,104671255,61167302,4301632]

external() ->
    R = new([{z, 1}, {x, [2]}]),
    p(term_to_binary(R)),
    p(term_to_binary(new([]), [{minor_version, 1}])),
    Terms = [R, new([]), since29_made:new(), since29_made:part(since29_made:hidden(R)), {R, [R, R], #{R => R}}, new([{F, F} || F <- names(500)])],
    p([binary_to_term(term_to_binary(T, O)) =:= T || T <- Terms, O <- [[], [compressed], [deterministic], [{minor_version, 1}]]] =:= lists:duplicate(24, true)),
    p([byte_size(term_to_binary(T)) =:= erlang:external_size(T) || T <- Terms]),
    p([iolist_to_binary(term_to_iovec(T)) =:= term_to_binary(T) || T <- Terms]),
    p(binary_to_term(<<(term_to_binary(R))/binary, 9, 9>>, [used])).

%% expect: <<131,67,0,0,0,2,1,119,1,109,119,1,114,119,1,122,119,1,120,97,1,107,0,1,2>>
%% expect: <<131,67,0,0,0,0,1,100,0,1,109,100,0,1,114>>
%% expect: true
%% expect: [true,true,true,true,true,true]
%% expect: [true,true,true,true,true,true]
%% expect: {#m:r{z = 1,x = [2]},25}

%% External terms that are none, and every byte of some that are changed: a term that can be used, or badarg.
damaged() ->
    p([why(fun() -> binary_to_term(B) end)
       || B <- [<<131, 67>>, <<131, 67, 0, 0, 0, 0, 2, 119, 1, $m, 119, 1, $r>>, <<131, 67, 0, 0, 0, 0, 1, 97, 1, 119, 1, $r>>, <<131, 67, 0, 0, 0, 0, 1, 119, 1, $m, 97, 1>>,
                <<131, 67, 0, 0, 0, 1, 1, 119, 1, $m, 119, 1, $r, 97, 1, 97, 1>>, <<131, 67, 0, 0, 0, 2, 1, 119, 1, $m, 119, 1, $r, 119, 1, $a, 119, 1, $a, 97, 1, 97, 1>>,
                <<131, 67, 0, 0, 0, 1, 1, 119, 1, $m, 119, 1, $r, 119, 1, $a>>, <<131, 67, -1:32, 1, 119, 1, $m, 119, 1, $r, 119, 1, $a, 97, 1>>,
                <<131, 67, 16#7fffffff:32, 1, (binary:copy(<<119, 0>>, 100000))/binary>>]]),
    p(why(fun() -> binary_to_term(<<131, 67, 0, 0, 0, 0, 1, 119, 14, "since29_nobody", 119, 1, $r>>, [safe]) end)),
    Whole = term_to_binary([since29_made:part({new([{z, 1}, {x, 2}]), <<"a">>}), new([])]),
    Seen = [use(binary:part(Whole, 0, N)) || N <- lists:seq(0, byte_size(Whole) - 1)]
        ++ [use(change(Whole, N, Byte)) || N <- lists:seq(1, byte_size(Whole) - 1), Byte <- lists:seq(0, 255, 5) ++ [67, 100, 104, 119, 255]],
    p([lists:member(Kind, Seen) || Kind <- [used, badarg]] ++ lists:usort(Seen) -- [used, badarg]).

%% expect: [badarg,badarg,badarg,badarg,badarg,badarg,badarg,badarg,badarg]
%% expect: badarg
%% expect: [true,true]

%% The chunk of declared records, each byte of it changed and each length of it: it is taken or refused.
damaged_code() ->
    logger:set_primary_config(level, none),
    {ok, _, Code} = compile:forms(forms(source()), [nowarn_unused_record]),
    {ok, _, Chunks} = beam_lib:all_chunks(Code),
    {"Recs", Records} = lists:keyfind("Recs", 1, Chunks),
    Try = fun(Changed) ->
              {ok, Bad} = beam_lib:build_module(lists:keystore("Recs", 1, Chunks, {"Recs", Changed})),
              case erlang:prepare_loading(since29_made, Bad) of
                  {error, Why} -> Why;
                  Prepared when is_reference(Prepared) -> taken
              end
          end,
    p([Try(Records), Try(<<>>), Try(<<Records/binary, 1, 2, 3>>)]),
    Seen = [Try(binary:part(Records, 0, N)) || N <- lists:seq(0, byte_size(Records) - 1)]
        ++ [Try(change(Records, N, Byte)) || is_erlvm(), N <- lists:seq(0, byte_size(Records) - 1), Byte <- [0, 1, 2, 5, 16#17, 16#47, 16#87, 255]],
    p(lists:usort(Seen) -- [taken]). %% what is told of it comes later: the logger stays silent

%% OTP takes 28 GB for some counts of records.
is_erlvm() ->
    {ok, Path} = file:read_link("/proc/self/exe"),
    lists:prefix("erlvm", filename:basename(Path)).

%% expect: [taken,badfile,taken]
%% expect: [badfile]

use(Binary) ->
    try binary_to_term(Binary) of
        T ->
            T = binary_to_term(term_to_binary(T)),
            _ = {erlang:phash2(T), io_lib:format("~p", [T]), T < {T}, lists:sort([T, [], #{}])},
            used
    catch error:badarg -> badarg
    end.

change(Binary, N, Byte) ->
    <<Before:N/binary, _, After/binary>> = Binary,
    <<Before/binary, Byte, After/binary>>.

kept() ->
    R = new([{z, 1}, {x, 2}]),
    F = new([{z, 1.0}, {x, 2}]),
    [begin
         T = ets:new(t, [Type]),
         ets:insert(T, [{R, 1}, {F, 2}, {new([{x, 2}]), 3}]),
         p({Type, length(ets:tab2list(T)), ets:lookup(T, R), ets:match(T, {R, '$1'}), ets:match(T, {new([{x, '_'}]), '$1'}),
            ets:select(T, [{{'$1', '$2'}, [{'=:=', '$1', R}], ['$2']}]), ets:select(T, [{{'$1', 3}, [], [{{'$1', R}}]}])})
     end || Type <- [set, ordered_set]],
    p(why(fun() -> ets:select(ets:new(t, []), [{{'$1', '_'}, [{is_record, '$1'}], ['$1']}]) end)),
    put(R, 1),
    persistent_term:put(since29_records, {R, since29_made:new()}),
    M = maps:from_list([{new([{x, I}]), I} || I <- lists:seq(1, 100)]),
    p([erase(new([{z, 1}, {x, 2}])), persistent_term:get(since29_records) =:= {R, since29_made:new()}, maps:get(new([{x, 77}]), M), is_map_key(F, #{R => 1})]).

%% expect: {set,3,[{#m:r{z = 1,x = 2},1}],[[1]],[],[1],[{#m:r{x = 2},#m:r{z = 1,x = 2}}]}
%% expect: {ordered_set,2,[{#m:r{z = 1.0,x = 2},2}],[],[],[],[{#m:r{x = 2},#m:r{z = 1,x = 2}}]}
%% expect: badarg
%% expect: [1,true,77,false]

%% Messages, exits, collections, and code that is loaded anew and purged while its records live.
moved() ->
    R = new([{z, 1}, {x, {2}}]),
    Self = self(),
    {Pid, Ref} = spawn_monitor(fun() -> Self ! {R, since29_made:part(R)}, exit(since29_made:new()) end),
    p(receive {A, B} -> {A =:= R, B =:= since29_made:part(R)} end),
    p(receive {'DOWN', Ref, process, Pid, Why} -> Why end),
    Many = [since29_made:hidden({I, [I], new([{x, I}])}) || I <- lists:seq(1, 20000)],
    erlang:garbage_collect(),
    p(lists:sum([begin {I, [I], T} = records:get(a, X), records:get(x, T) end || X <- Many])),
    p([erts_debug:flat_size(T) >= erts_debug:size(T) || T <- [R, {R, R}, since29_made:new()]]).

%% expect: {true,true}
%% expect: #since29_made:point{x = 0,y = 0,z = 3}
%% expect: 200010000
%% expect: [true,true,true]

forgotten() ->
    X = since29_made:part(since29_made:new()),
    Y = binary_to_term(term_to_binary(X)),
    made(lists:flatten(string:replace(source(), "left = <<\"none\">>, ", ""))),
    code:purge(since29_made),
    erlang:garbage_collect(),
    p([X =:= Y, records:get(left, X), since29_made:part(1), records:get_field_names(X)]),
    true = code:delete(since29_made),
    code:purge(since29_made),
    erlang:garbage_collect(),
    p([X =:= Y, X, why(fun() -> records:get_definition(since29_made, node) end)]).

%% expect: [true,<<"none">>,#since29_made:node{key = 1,value = [1,2],big = 123456789012345678901234567890},[key,value,left,big]]
%% expect: [true,#since29_made:node{key = #since29_made:point{x = 0,y = 0,z = 3},value = [1,2],left = <<"none">>,big = 123456789012345678901234567890},badarg]

new(Fields) -> records:create(m, r, Fields, #{is_exported => true}).

names(N) -> [list_to_atom("since29_f" ++ integer_to_list(I)) || I <- lists:seq(N, 1, -1)].

kind(T) when is_number(T) -> number;
kind(T) when is_atom(T) -> atom;
kind(T) when is_pid(T) -> pid;
kind(T) when is_tuple(T) -> tuple;
kind(T) when is_map(T) -> map;
kind([]) -> nil;
kind(T) when is_bitstring(T) -> bits;
kind(_) -> record.

forms(Source) ->
    {ok, Tokens, _} = erl_scan:string(Source),
    [begin {ok, F} = erl_parse:parse_form(Ts), F end || Ts <- split(Tokens, [])].

made(Source) ->
    {ok, Module, Code} = compile:forms(forms(Source), [nowarn_unused_record]),
    {module, Module} = code:load_binary(Module, "made", Code).

split([], []) -> [];
split([{dot, _} = T | Rest], Ts) -> [lists:reverse(Ts, [T]) | split(Rest, [])];
split([T | Rest], Ts) -> split(Rest, [T | Ts]).

why(F) -> try F() catch error:Why -> Why end.

p(T) -> io:format("~0p~n", [T]).
