%% SPDX-License-Identifier: Apache-2.0
%% Natives that raise, called in the body of a function, last in one with a frame and in one without: what the stack trace
%% begins with, the arguments as they were when the native was called, and what the caller keeps. The callers are generated.
-module(lang_tail_natives).
-export([main/0]).

main() ->
    {module, callers} = code:load_binary(callers, "callers", compiled(callers())),
    register(taken, spawn(fun() -> receive stop -> ok end end)),
    lists:foreach(fun show/1, lists:zip(lists:seq(1, length(callees())), callees())).

%% Ways that end alike are told together.
show({N, {M, F, As}}) ->
    Ends = [{ended(name(N, Way), Way, {M, F, As}), Way} || Way <- ways()],
    [io:format("~w:~w ~0p ~0p~n", [M, F, [W || {E, W} <- Ends, E =:= End], End]) || End <- first_of_each([E || {E, _} <- Ends])].

first_of_each([]) -> [];
first_of_each([E | Rest]) -> [E | first_of_each([R || R <- Rest, R =/= E])].

ended(Name, Way, {M, F, As}) ->
    try callers:Name({before, Way}, As) of
        {kept, Kept, C, R, S} when Kept =:= {{before, Way}, {y, As}, As} -> {C, R, frames(inner(Name), S, {M, F, As})};
        Value -> {value, Value}
    catch C:R:S -> {C, R, frames(inner(Name), S, {M, F, As})}
    end.

%% As far as the caller, with marks for its name and for arguments that are those of the call.
frames(Inner, [{callers, Inner, _, _} | _], _) -> [caller];
frames(_, [{?MODULE, _, _, _} | _], _) -> [];
frames(_, [], _) -> [];
frames(Inner, [{M, F, As, Info} | Rest], {M, F, As} = Call) -> [{args, info(Info)} | frames(Inner, Rest, Call)];
frames(Inner, [{M, F, A, Info} | Rest], Call) -> [{M, F, A, info(Info)} | frames(Inner, Rest, Call)].

info(Info) -> [Key || {Key, _} <- Info, Key =/= file, Key =/= line].

ways() -> [body, last, only, moved, wide, caught].

text(body) -> "R = CALL, id(R)";
text(last) -> "id(B), CALL";
text(only) -> "CALL";
text(moved) -> "id(B), C = id({B, B}), case C of {B, B} -> CALL end";
text(wide) -> "CALL";
text(caught) -> "Y = id({y, Args}), try CALL of R -> {value, R} catch C:R:S -> {kept, {B, Y, Args}, C, R, S} end".

callees() -> [
    {erlang, atom_to_list, [1]}, {erlang, binary_to_term, [<<131>>]}, {erlang, list_to_float, ["1x"]},
    {erlang, list_to_binary, [[lists:duplicate(20000, $a), a]]}, {erlang, iolist_size, [[1 | x]]}, {erlang, tuple_to_list, [x]},
    {erlang, make_tuple, [-1, x]}, {erlang, element, [3, {a}]}, {erlang, setelement, [0, {a}, b]}, {erlang, '+', [a, 1]},
    {erlang, '++', [a, b]}, {erlang, phash2, [a, 0]}, {erlang, length, [[a | b]]}, {erlang, binary_part, [<<1>>, 1, 1]},
    {lists, reverse, [[a | b], []]}, {lists, reverse, [lists:seq(1, 9000) ++ x, []]}, {lists, keyfind, [k, 0, []]},
    {lists, member, [a, [b | c]]}, {maps, get, [k, #{}]}, {maps, merge, [#{}, x]},
    {math, sqrt, [-1]}, {binary, split, [a, b]}, {binary, matches, [<<1>>, <<>>]}, {unicode, characters_to_binary, [a]},
    {re, run, [a, b]}, {ets, lookup, [no_such_table, k]}, {ets, insert, [no_such_table, {k}]}, {ets, select, [no_such_table, []]},
    {erlang, link, [x]}, {erlang, monitor, [x, y]}, {erlang, register, [taken, self]}, {erlang, send, [nobody_has_this, x]},
    {erlang, process_flag, [x, y]}, {erlang, process_info, [x]}, {erlang, system_info, [x]}, {erlang, spawn_opt, [a, b, c, d]},
    {erlang, apply, [no_such_module, f, [1]]}, {erlang, apply, [a, b, c]}, {erlang, hibernate, [a, b, c]},
    {no_such_module, f, [1]}, {erlang, error, [r]}, {erlang, error, [r, [a, b]]}, {erlang, exit, [r]},
    {erlang, throw, [t]}, {erlang, nif_error, [r]}, {erlang, raise, [error, r, []]}, {erlang, raise, [x, r, []]}].

callers() ->
    ["-module(callers).\n-compile([export_all, nowarn_export_all]).\nid(X) -> X.\n" |
     [caller(N, MFA, Way) || {N, MFA} <- lists:zip(lists:seq(1, length(callees())), callees()), Way <- ways()]].

%% The arguments come from a list and so from registers that are not theirs; `wide` has others in the highest ones.
caller(N, {M, F, As}, Way) ->
    Names = lists:join(", ", [[$A | integer_to_list(I)] || I <- lists:seq(1, length(As))]),
    Call = io_lib:format("~w:~w(~s)", [M, F, Names]),
    Body = string:replace(text(Way), "CALL", Call, all),
    Inner = inner(name(N, Way)),
    Wide = [[", W" | integer_to_list(I)] || Way =:= wide, I <- lists:seq(1, 200)],
    WideArgs = [", B" || Way =:= wide, _ <- lists:seq(1, 200)],
    [io_lib:format("~w(B, [~s] = Args) -> ~w(B~s, Args, ~s).\n", [name(N, Way), Names, Inner, WideArgs, Names]),
     io_lib:format("~w(B~s, Args, ~s) -> ~s.\n", [Inner, Wide, Names, Body])].

name(N, Way) -> list_to_atom(atom_to_list(Way) ++ "_" ++ integer_to_list(N)).

inner(Name) -> list_to_atom(atom_to_list(Name) ++ "_").

compiled(Source) ->
    {ok, Tokens, _} = erl_scan:string(lists:flatten(Source)),
    {ok, _, Code} = compile:forms([element(2, erl_parse:parse_form(Ts)) || Ts <- split(Tokens)], []),
    Code.

split([]) -> [];
split(Tokens) ->
    {Form, [Dot | Rest]} = lists:splitwith(fun(T) -> element(1, T) =/= dot end, Tokens),
    [Form ++ [Dot] | split(Rest)].

%% expect: erlang:atom_to_list [body,last,only,moved,wide,caught] {error,badarg,[{args,[error_info]},caller]}
%% expect: erlang:binary_to_term [body,last,only,moved,wide,caught] {error,badarg,[{args,[error_info]},caller]}
%% expect: erlang:list_to_float [body,last,only,moved,wide,caught] {error,badarg,[{args,[error_info]},caller]}
%% expect: erlang:list_to_binary [body,last,only,moved,wide,caught] {error,badarg,[{args,[error_info]},caller]}
%% expect: erlang:iolist_size [body,last,only,moved,wide,caught] {error,badarg,[{args,[error_info]},caller]}
%% expect: erlang:tuple_to_list [body,last,only,moved,wide,caught] {error,badarg,[{args,[error_info]},caller]}
%% expect: erlang:make_tuple [body,last,only,moved,wide,caught] {error,badarg,[{args,[error_info]},caller]}
%% expect: erlang:element [body,last,only,moved,wide,caught] {error,badarg,[{args,[error_info]},caller]}
%% expect: erlang:setelement [body,last,only,moved,wide,caught] {error,badarg,[{args,[error_info]},caller]}
%% expect: erlang:'+' [body,last,only,moved,wide,caught] {error,badarith,[{args,[error_info]},caller]}
%% expect: erlang:'++' [body,last,only,moved,wide,caught] {error,badarg,[{args,[error_info]},caller]}
%% expect: erlang:phash2 [body,last,only,moved,wide,caught] {error,badarg,[{args,[error_info]},caller]}
%% expect: erlang:length [body,last,only,moved,wide,caught] {error,badarg,[{args,[error_info]},caller]}
%% expect: erlang:binary_part [body,last,only,moved,wide,caught] {error,badarg,[{args,[error_info]},caller]}
%% expect: lists:reverse [body,last,only,moved,wide,caught] {error,badarg,[{args,[error_info]},caller]}
%% expect: lists:reverse [body,last,only,moved,wide,caught] {error,badarg,[{args,[error_info]},caller]}
%% expect: lists:keyfind [body,last,only,moved,wide,caught] {error,badarg,[{args,[error_info]},caller]}
%% expect: lists:member [body,last,only,moved,wide,caught] {error,badarg,[{args,[error_info]},caller]}
%% expect: maps:get [body,last,only,moved,wide,caught] {error,{badkey,k},[{erlang,map_get,[k,#{}],[error_info]},caller]}
%% expect: maps:merge [body,last,only,moved,wide,caught] {error,{badmap,x},[{args,[error_info]},caller]}
%% expect: math:sqrt [body,last,only,moved,wide,caught] {error,badarith,[{args,[error_info]},caller]}
%% expect: binary:split [body,last,only,moved,wide,caught] {error,badarg,[{args,[error_info]},caller]}
%% expect: binary:matches [body,last,only,moved,wide,caught] {error,badarg,[{args,[error_info]},caller]}
%% expect: unicode:characters_to_binary [body,caught] {error,badarg,[{args,[error_info]},caller]}
%% expect: unicode:characters_to_binary [last,only,moved,wide] {error,badarg,[{args,[error_info]}]}
%% expect: re:run [body,last,only,moved,wide,caught] {error,badarg,[{args,[error_info]},caller]}
%% expect: ets:lookup [body,last,only,moved,wide,caught] {error,badarg,[{args,[error_info]},caller]}
%% expect: ets:insert [body,last,only,moved,wide,caught] {error,badarg,[{args,[error_info]},caller]}
%% expect: ets:select [body,last,only,moved,wide,caught] {error,badarg,[{args,[error_info]},caller]}
%% expect: erlang:link [body,last,only,moved,wide,caught] {error,badarg,[{args,[error_info]},caller]}
%% expect: erlang:monitor [body,last,only,moved,wide,caught] {error,badarg,[{args,[error_info]},caller]}
%% expect: erlang:register [body,last,only,moved,wide,caught] {error,badarg,[{args,[error_info]},caller]}
%% expect: erlang:send [body,last,only,moved,wide,caught] {error,badarg,[{args,[error_info]},caller]}
%% expect: erlang:process_flag [body,last,only,moved,wide,caught] {error,badarg,[{args,[error_info]},caller]}
%% expect: erlang:process_info [body,last,only,moved,wide,caught] {error,badarg,[{args,[error_info]},caller]}
%% expect: erlang:system_info [body,last,only,moved,wide,caught] {error,badarg,[{args,[error_info]},caller]}
%% expect: erlang:spawn_opt [body,last,only,moved,wide,caught] {error,badarg,[{args,[error_info]},caller]}
%% expect: erlang:apply [body,caught] {error,undef,[{no_such_module,f,[1],[]},caller]}
%% expect: erlang:apply [last,only,moved,wide] {error,undef,[{no_such_module,f,[1],[]}]}
%% expect: erlang:apply [body,last,only,moved,wide,caught] {error,badarg,[{args,[error_info]},caller]}
%% expect: erlang:hibernate [body,last,only,moved,wide,caught] {error,badarg,[{args,[error_info]},caller]}
%% expect: no_such_module:f [body,caught] {error,undef,[{args,[]},caller]}
%% expect: no_such_module:f [last,only,moved,wide] {error,undef,[{args,[]}]}
%% expect: erlang:error [body,last,only,moved,wide,caught] {error,r,[caller]}
%% expect: erlang:error [body,last,only,moved,wide,caught] {error,r,[caller]}
%% expect: erlang:exit [body,last,only,moved,wide,caught] {exit,r,[caller]}
%% expect: erlang:throw [body,last,only,moved,wide,caught] {throw,t,[caller]}
%% expect: erlang:nif_error [body,last,only,moved,wide,caught] {error,r,[{args,[error_info]},caller]}
%% expect: erlang:raise [body,last,only,moved,wide,caught] {error,r,[]}
%% expect: erlang:raise [body,last,only,moved,wide] {value,badarg}
%% expect: erlang:raise [caught] {value,{value,badarg}}
