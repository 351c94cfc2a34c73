%% SPDX-License-Identifier: Apache-2.0
%% ets: ordered_set, in the order of terms.
-module(ets_ordered).
-export([main/0]).

main() ->
    T = ets:new(t, [ordered_set]),
    [ets:insert(T, {(I * 7919) rem 1009, I}) || I <- lists:seq(1, 1009)],
    d([ets:info(T, size), ets:first(T), ets:last(T), ets:next(T, 500), ets:prev(T, 500), ets:next(T, 500.5), ets:prev(T, 0), ets:next(T, 1008)]),
    d([K || {K, _} <- ets:tab2list(T)] =:= lists:seq(0, 1008)),
    d([ets:insert(T, {5.0, x}), ets:lookup(T, 5) =:= [{5.0, x}], ets:member(T, 5), ets:info(T, size)]),
    [ets:delete(T, I) || I <- lists:seq(0, 1008), I rem 3 =/= 0],
    d([ets:info(T, size), ets:next(T, 4), walk(T, ets:first(T), 0), back(T, ets:last(T), 0)]),
    M = ets:new(m, [ordered_set]),
    ets:insert(M, [{X, 1} || X <- [b, {1}, "s", 3, a, [], {1, 2}, <<1>>, 2.5, #{}, -1, {}]]),
    d([K || {K, _} <- ets:tab2list(M), not is_float(K)]),
    d([ets:slot(M, 0), ets:slot(M, 11), ets:slot(M, 12)]),
    d(slots()),
    R = ets:new(r, [ordered_set]),
    ets:insert(R, [{{A, B}, A * B} || A <- lists:seq(1, 30), B <- lists:seq(1, 30)]),
    d(ets:select(R, [{{{7, '$1'}, '_'}, [{'<', '$1', 5}], ['$1']}])),
    d(ets:select_reverse(R, [{{{7, '$1'}, '_'}, [{'<', '$1', 5}], ['$1']}])),
    d(ets:select_count(R, [{{{'$1', 3}, '_'}, [], [true]}])),
    {L1, C1} = ets:select(R, [{{{2, '$1'}, '$2'}, [], [{{'$1', '$2'}}]}], 4),
    {L2, C2} = ets:select(C1),
    d([L1, L2, length(rest(ets:select(C2)))]),
    {L3, C3} = ets:select_reverse(R, [{{{2, '$1'}, '$2'}, [], ['$1']}], 25),
    d([L3, ets:select(C3)]),
    d([ets:match(R, {{30, '$1'}, 900}), ets:match_object(R, {{1, 1}, '_'}), ets:match(R, {{31, '$1'}, '_'})]),
    d([ets:select_delete(R, [{{{'$1', '_'}, '_'}, [{'>', '$1', 2}], [true]}]), ets:info(R, size)]).

%% Places by number, forwards, backwards and across, while objects come and go; of a table that others read at the same time.
slots() ->
    T = ets:new(t, [ordered_set, public, {read_concurrency, true}]),
    ets:insert(T, [{I, I} || I <- lists:seq(0, 2002)]),
    Keys = fun(Places) -> [K || N <- Places, [{K, _}] <- [ets:slot(T, N)]] end,
    Orders = [lists:seq(0, 2002), lists:seq(2002, 0, -1), [I * 389 rem 2003 || I <- lists:seq(0, 2002)]],
    Readers = [spawn_monitor(fun() -> exit(Keys(Order) =:= Order) end) || Order <- Orders ++ Orders],
    Same = [receive {'DOWN', Ref, process, Pid, Is} -> Is end || {Pid, Ref} <- Readers],
    Deleted = [begin ets:delete(T, I), hd(Keys([1000])) end || I <- lists:seq(0, 9)],
    Inserted = [begin ets:insert(T, {-I, x}), hd(Keys([1000])) end || I <- lists:seq(1, 9)],
    ets:update_counter(T, 1500, {2, 1 bsl 70}),
    Wide = ets:slot(T, 1499),
    ets:delete_all_objects(T),
    Gone = ets:slot(T, 0),
    ets:insert(T, [{I, I} || I <- lists:seq(1, 5)]),
    [Same, Deleted, Inserted, Wide, Gone, ets:slot(T, 4), ets:slot(T, 5), catch element(1, element(2, catch ets:slot(T, 6)))].

rest('$end_of_table') -> [];
rest({L, '$end_of_table'}) -> L;
rest({L, C}) -> L ++ rest(ets:select(C)).

walk(_, '$end_of_table', S) -> S;
walk(T, K, S) -> walk(T, ets:next(T, K), S + K).

back(_, '$end_of_table', S) -> S;
back(T, K, S) -> back(T, ets:prev(T, K), S + K).

d(T) -> erlang:display(T).

%% expect: [1009,0,1008,501,499,501,'$end_of_table','$end_of_table']
%% expect: true
%% expect: [true,true,true,1009]
%% expect: [337,6,169848,169848]
%% expect: [-1,3,a,b,{},{1},{1,2},#{},[],"s",<<1>>]
%% expect: [[{-1,1}],[{<<1>>,1}],'$end_of_table']
%% expect: [[true,true,true,true,true,true],[1001,1002,1003,1004,1005,1006,1007,1008,1009,1010],[1009,1008,1007,1006,1005,1004,1003,1002,1001],[{1500,1180591620717411304924}],'$end_of_table',[{5,5}],'$end_of_table',badarg]
%% expect: [1,2,3,4]
%% expect: [4,3,2,1]
%% expect: 30
%% expect: [[{1,2},{2,4},{3,6},{4,8}],[{5,10},{6,12},{7,14},{8,16}],22]
%% expect: [[30,29,28,27,26,25,24,23,22,21,20,19,18,17,16,15,14,13,12,11,10,9,8,7,6],{[5,4,3,2,1],'$end_of_table'}]
%% expect: [[[30]],[{{1,1},1}],[]]
%% expect: [840,60]
