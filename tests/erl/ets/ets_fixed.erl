%% SPDX-License-Identifier: Apache-2.0
%% ets: what is deleted while a table is fixed waits in it, is counted, and goes with the last fixation. A long list makes as many buckets
%% as its objects one by one.
-module(ets_fixed).
-export([main/0]).

main() ->
    [erlang:display({Options, run(Options)}) || Options <- [[set], [bag], [duplicate_bag], [set, public, {write_concurrency, true}]]].

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

kept(T) -> element(7, ets:info(T, stats)).
%% expect: {[set],{true,{100000,200000},{[{1,again}],[{2,again}],200004},{true,0},0}}
%% expect: {[bag],{true,{100000,200000},{[{1,again}],[{2,2},{2,again}],200010},{true,0},0}}
%% expect: {[duplicate_bag],{true,{100000,200000},{[{1,again}],[{2,2},{2,again}],200010},{true,0},0}}
%% expect: {[set,public,{write_concurrency,true}],{true,{100000,200000},{[{1,again}],[{2,again}],200004},{true,0},0}}
