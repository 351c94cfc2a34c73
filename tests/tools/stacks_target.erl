%% SPDX-License-Identifier: Apache-2.0
%% What erlsnoop stacks is held against: known shares of time, known numbers of events.
-module(stacks_target).
-export([shares/0, spend/0, events/0, act/0, nap/1]).

%% Three functions that spend 50, 30 and 20 parts of the time.
shares() ->
    register(shares, spawn(?MODULE, spend, [])),
    ready().

spend() ->
    half(50), third(30), fifth(20),
    spend().

half(N) -> work(N * 2000, 1), half.
third(N) -> work(N * 2000, 1), third.
fifth(N) -> work(N * 2000, 1), fifth.

work(0, A) -> A;
work(N, A) -> work(N - 1, (A * 17 + N) band 65535).

%% When the file "go" is there: 23 spawns, 1009 sends, 7 naps of 20 ms.
events() ->
    register(actor, spawn(?MODULE, act, [])),
    ready().

ready() ->
    ok = file:write_file("ready", <<>>),
    receive after infinity -> ok end.

act() ->
    wait(),
    Pid = spawn(fun drain/0),
    make(22),
    tell(Pid, 1009),
    nap(7),
    ok = file:write_file("done", <<>>),
    receive after infinity -> ok end.

wait() ->
    case filelib:is_file("go") of
        true -> ok;
        false -> timer:sleep(50), wait()
    end.

drain() -> receive _ -> drain() end.

make(0) -> ok;
make(N) -> spawn(fun() -> ok end), make(N - 1).

tell(_, 0) -> ok;
tell(Pid, N) -> Pid ! N, tell(Pid, N - 1).

nap(0) -> ok;
nap(N) -> receive after 20 -> ok end, nap(N - 1).
