%% SPDX-License-Identifier: Apache-2.0
%% ets: large tables: growth, long walks, deletion while others run.
-module(ets_large).
-export([main/0]).

main() ->
    [d({O, run(O)}) || O <- [[set], [ordered_set], [duplicate_bag], [set, public, {write_concurrency, true}]]],
    d(crowd(8, 40000)),
    d([costs(Type) || Type <- [set, ordered_set]]).

%% A walk and the end of a large table cost many reductions, so that others run meanwhile; a look-up costs few, the
%% least of three times: on a busy machine the clock of time slices takes what is left of one away.
costs(Type) ->
    T = ets:new(t, [Type]),
    ets:insert(T, [{I, I} || I <- lists:seq(1, 100000)]),
    LookUp = lists:min([reductions(fun() -> ets:match(T, {7, '$1'}) end) || _ <- "123"]),
    [reductions(fun() -> ets:match(T, {'_', 0}) end) > 30000, LookUp < 1000,
     reductions(fun() -> ets:delete(T) end) > 30000].

reductions(F) ->
    {_, Before} = process_info(self(), reductions),
    F(),
    {_, After} = process_info(self(), reductions),
    After - Before.

%% Buckets keep up with the objects of many writers.
crowd(Writers, Each) ->
    T = ets:new(t, [public, {write_concurrency, true}]),
    Spans = [lists:seq(W * Each + 1, (W + 1) * Each) || W <- lists:seq(0, Writers - 1)],
    Run = fun(F) ->
              Refs = [element(2, spawn_monitor(fun() -> [F(Key) || Key <- Span] end)) || Span <- Spans],
              [receive {'DOWN', Ref, _, _, normal} -> ok end || Ref <- Refs]
          end,
    Run(fun(Key) -> ets:insert(T, {Key}) end),
    {ets:info(T, size), element(2, ets:info(T, stats)) < 1.2, Run(fun(Key) -> [{Key}] = ets:take(T, Key) end), ets:tab2list(T)}.

run(O) ->
    T = ets:new(t, O),
    N = 100000,
    [ets:insert(T, {I, I rem 10, integer_to_binary(I)}) || I <- lists:seq(1, N)],
    Size = ets:info(T, size),
    Count = ets:select_count(T, [{{'_', 3, '_'}, [], [true]}]),
    Sel = lists:sum(ets:select(T, [{{'$1', 7, '_'}, [], ['$1']}])),
    Fold = ets:foldl(fun({K, _, _}, S) -> S + K end, 0, T),
    Chunks = chunks(ets:match_object(T, {'_', 5, '_'}, 100), 0),
    Del = ets:select_delete(T, [{{'$1', '_', '_'}, [{'>', '$1', N div 2}], [true]}]),
    Left = ets:info(T, size),
    Get = lists:all(fun(I) -> ets:lookup(T, I) =:= [{I, I rem 10, integer_to_binary(I)}] end, lists:seq(1, N div 2)),
    Gone = ets:member(T, N),
    Rep = case hd(O) of set -> ets:select_replace(T, [{{'$1', 1, '$2'}, [], [{{'$1', one, '$2'}}]}]); _ -> none end,
    [ets:delete(T, I) || I <- lists:seq(1, N div 2 - 10)],
    Last = lists:sort([K || {K, _, _} <- ets:tab2list(T)]),
    ets:insert(T, [{I, 0, <<>>} || I <- lists:seq(1, N)]),
    Big = ets:info(T, size) >= N,
    All = ets:delete_all_objects(T),
    Empty = ets:info(T, size),
    ets:insert(T, [{I} || I <- lists:seq(1, N)]),
    {Size, Count, Sel, Fold, Chunks, Del, Left, Get, Gone, Rep, Last, Big, All, Empty, ets:delete(T)}.

chunks('$end_of_table', N) -> N;
chunks({L, C}, N) -> chunks(ets:match_object(C), N + length(L)).

d(T) -> erlang:display(T).

%% expect: {[set],{100000,10000,500020000,5000050000,10000,50000,50000,true,false,5000,[49991,49992,49993,49994,49995,49996,49997,49998,49999,50000],true,true,0,true}}
%% expect: {[ordered_set],{100000,10000,500020000,5000050000,10000,50000,50000,true,false,none,[49991,49992,49993,49994,49995,49996,49997,49998,49999,50000],true,true,0,true}}
%% expect: {[duplicate_bag],{100000,10000,500020000,5000050000,10000,50000,50000,true,false,none,[49991,49992,49993,49994,49995,49996,49997,49998,49999,50000],true,true,0,true}}
%% expect: {[set,public,{write_concurrency,true}],{100000,10000,500020000,5000050000,10000,50000,50000,true,false,5000,[49991,49992,49993,49994,49995,49996,49997,49998,49999,50000],true,true,0,true}}
%% expect: {320000,true,[ok,ok,ok,ok,ok,ok,ok,ok],[]}
%% expect: [[true,true,true],[true,true,true]]
