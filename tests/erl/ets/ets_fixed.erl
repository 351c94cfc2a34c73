%% SPDX-License-Identifier: Apache-2.0
%% ets: what is deleted while a table is fixed waits in it, is counted, and goes with the last fixation. A long list makes as many buckets
%% as its objects one by one. The binaries of what waits are told too.
-module(ets_fixed).
-export([main/0]).

main() ->
    [erlang:display({Options, run(Options)}) || Options <- [[set], [bag], [duplicate_bag], [set, public, {write_concurrency, true}]]],
    [erlang:display(binaries(Type)) || Type <- [set, bag, ordered_set]],
    [erlang:display(walked(Type)) || Type <- [set, bag, duplicate_bag]].

run(Options) ->
    T = ets:new(t, Options),
    N = 300000,
    ets:insert(T, [{I, I} || I <- lists:seq(1, N)]),
    Long = element(6, ets:info(T, stats)) < 30,
    ets:safe_fixtable(T, true),
    [ets:delete(T, I) || I <- lists:seq(1, N, 3)],
    Waiting = {kept(T), ets:info(T, size)},
    ets:insert(T, [{I, again} || I <- lists:seq(1, 10)]),
    Few = {ets:lookup(T, 1), lists:sort(ets:lookup(T, 2)), ets:info(T, size)},
    [ets:delete(T, I) || I <- lists:seq(1, N)],
    Empty = {kept(T) >= N, ets:info(T, size)},
    ets:safe_fixtable(T, false),
    {Long, Waiting, Few, Empty, kept(T)}.

binaries(Type) ->
    T = ets:new(b, [Type]),
    Count = fun() -> length(ets:info(T, binary)) end,
    ets:insert(T, [{Key, binary:copy(<<Key>>, 100)} || Key <- [1, 2]]),
    Both = Count(),
    ets:safe_fixtable(T, true),
    ets:delete(T, 1),
    One = {Count(), length(ets:tab2list(T))},
    ets:delete(T, 2),
    None = {Count(), ets:first(T)},
    ets:safe_fixtable(T, false),
    {Both, One, None, Count()}.

%% What a long walk deletes leaves the table at once when the walk alone has it fixed, and waits where others have too.
walked(Type) ->
    T = ets:new(w, [Type, public]),
    N = 40000,
    All = [{{'_', '_'}, [], [true]}],
    ets:insert(T, [{I, I} || I <- lists:seq(1, N)]),
    Watcher = spawn_link(fun() -> watch(T, 0) end),
    N = ets:select_delete(T, All),
    Watcher ! {stop, self()},
    Seen = receive {most, Most} -> Most end,
    ets:insert(T, [{I, I} || I <- lists:seq(1, N)]),
    ets:safe_fixtable(T, true),
    First = ets:first(T),
    N = ets:select_delete(T, All),
    Waiting = {kept(T), ets:next(T, First), ets:info(T, size)},
    ets:safe_fixtable(T, false),
    {Seen, Waiting, kept(T), ets:info(T, size)}.

watch(T, Most) ->
    receive {stop, From} -> From ! {most, Most} after 1 -> watch(T, max(Most, kept(T))) end.

kept(T) -> element(7, ets:info(T, stats)).
%% expect: {[set],{true,{100000,200000},{[{1,again}],[{2,again}],200004},{true,0},0}}
%% expect: {[bag],{true,{100000,200000},{[{1,again}],[{2,2},{2,again}],200010},{true,0},0}}
%% expect: {[duplicate_bag],{true,{100000,200000},{[{1,again}],[{2,2},{2,again}],200010},{true,0},0}}
%% expect: {[set,public,{write_concurrency,true}],{true,{100000,200000},{[{1,again}],[{2,again}],200004},{true,0},0}}
%% expect: {2,{2,1},{2,'$end_of_table'},0}
%% expect: {2,{2,1},{2,'$end_of_table'},0}
%% expect: {2,{1,1},{0,'$end_of_table'},0}
%% expect: {0,{40000,'$end_of_table',0},0,0}
%% expect: {0,{40000,'$end_of_table',0},0,0}
%% expect: {0,{40000,'$end_of_table',0},0,0}
