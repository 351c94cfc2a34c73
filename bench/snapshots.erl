%% SPDX-License-Identifier: Apache-2.0
%% So many processes that wait, for bench/snapshot.c: says its pid when they do, ends when it reads a line.
-module(snapshots).
-export([main/1, wait/0]).

main([Count]) ->
    [spawn(?MODULE, wait, []) || _ <- lists:seq(1, list_to_integer(Count))],
    timer:sleep(500),
    io:format("~s~n", [os:getpid()]),
    io:get_line(""),
    halt().

wait() -> receive stop -> ok end.
