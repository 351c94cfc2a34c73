%% SPDX-License-Identifier: Apache-2.0
%% Calls of the modules of lang_generated take the same reductions, whoever runs them. The least of some runs: the clock
%% that ends long time slices counts one that it ended as used up.
-module(lang_generated_reductions).
-export([main/0]).
%% until: 26
%% own lines
-define(RUNS, 5).

main() ->
    [io:format("~w ~w~n", [N, lang_generated:each_call(N, fun add/4)]) || N <- [1, 4, 7, 10]].

add(M, F, Args, Hash) ->
    erlang:phash2({Hash, lists:min([cost(M, F, Args) || _ <- lists:seq(1, ?RUNS)])}, 1 bsl 32).

cost(M, F, Args) ->
    {_, Before} = process_info(self(), reductions),
    try apply(M, F, Args) catch _:_ -> ok end,
    {_, After} = process_info(self(), reductions),
    After - Before.

%% expect: 1 3908150872
%% expect: 4 880387505
%% expect: 7 3554122866
%% expect: 10 2787854802
