%% SPDX-License-Identifier: Apache-2.0
%% Depth costs memory of its process only: no native stack, whatever walks the term.
%% expect: 10000000
%% expect: {list,true,true,true,true}
%% expect: {tuple,true,true,true,true}
%% expect: {map,true,true,true,true}
%% expect: {key,true,true,true,true}
%% expect: {improper,true,true,true,true}
%% expect: {0,<<>>,<<>>}
%% expect: 1
%% expect: [1,1,1,true,true,true]
-module(hostile_depth).
-export([main/0]).

-define(DEEP, 300000).

main() ->
    io:format("~p~n", [count(10000000)]),
    walk(list, nest(fun(T) -> [T] end, ?DEEP, [])),
    walk(tuple, nest(fun(T) -> {T} end, ?DEEP, {})),
    walk(map, nest(fun(T) -> #{a => T} end, ?DEEP, #{})),
    walk(key, nest(fun(T) -> #{T => a} end, 3000, #{})),
    walk(improper, nest(fun(T) -> [T | a] end, ?DEEP, [])),
    L = nest(fun(T) -> [T] end, ?DEEP, []),
    io:format("~0p~n", [{iolist_size(L), iolist_to_binary(L), unicode:characters_to_binary(L)}]),
    T = ets:new(deep, [ordered_set]),
    true = ets:insert(T, {nest(fun(X) -> {X} end, ?DEEP, {})}),
    true = ets:insert(T, {nest(fun(X) -> {X} end, ?DEEP, {})}),
    io:format("~p~n", [ets:info(T, size)]),
    Same = nest(fun(X) -> [X] end, ?DEEP, []),
    S = ets:new(deep, []),
    true = ets:insert(S, {L, L}),
    {P, R} = spawn_monitor(fun() -> exit(L) end),
    Reason = receive {'DOWN', R, process, P, Why} -> Why end,
    persistent_term:put(Same, L),
    io:format("~w~n", [[length(ets:match_object(S, {Same, '_'})), length(ets:match_object(S, {'_', Same})),
                        length(ets:select(S, [{{'_', '$1'}, [{'=:=', '$1', {const, Same}}], [{const, Same}]}])),
                        Reason =:= Same, persistent_term:get(L) =:= Same, binary_to_term(term_to_binary(fun() -> L end)) =/= L]]).

count(0) -> 0;
count(N) -> 1 + count(N - 1).

nest(_, 0, T) -> T;
nest(F, N, T) -> nest(F, N - 1, F(T)).

walk(Kind, T) ->
    self() ! T,
    Sent = receive M -> M end,
    Decoded = binary_to_term(term_to_binary(T)),
    garbage_collect(),
    io:format("~p~n", [{Kind, Sent =:= T, Decoded =:= T, erlang:phash2(T) =:= erlang:phash2(Decoded), Sent == Decoded}]).
