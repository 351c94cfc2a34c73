%% SPDX-License-Identifier: Apache-2.0
%% What peaks of several kinds took is given back to the system within some seconds: as seen from outside the VM, not only
%% by memory/1. The second time the VM has been idle for a while before.
%% expect: {at_once,true}
%% expect: {after_rest,true}
-module(resident_peaks).
-export([main/0]).

-define(PEAK_BYTES, (200 bsl 20)).
-define(SLACK_BYTES, (64 bsl 20)).
-define(PATIENCE, 300).
-define(REST_MS, 8000).

main() ->
    Bytes = resident() + ?SLACK_BYTES,
    io:format("~p~n", [{at_once, peaks(Bytes)}]),
    timer:sleep(?REST_MS),
    io:format("~p~n", [{after_rest, peaks(Bytes)}]).

resident() ->
    {ok, Text} = file:read_file("/proc/self/statm"),
    [_, Pages | _] = binary:split(Text, <<" ">>, [global]),
    binary_to_integer(Pages) * 4096.

%% Each of them stands until all do.
peaks(Bytes) ->
    Self = self(),
    Kinds = [spawn_monitor(fun() -> peak(Kind, Self) end) || Kind <- [messages, heaps, binaries, timers, ets]],
    [receive {made, P} -> ok end || {P, _} <- Kinds],
    Most = resident(),
    [P ! stop || {P, _} <- Kinds],
    [receive {'DOWN', Ref, process, _, normal} -> ok end || {_, Ref} <- Kinds],
    Most > Bytes - ?SLACK_BYTES + ?PEAK_BYTES andalso comes_back(Bytes, ?PATIENCE).

%% An allocator of a sanitizer keeps what was freed.
comes_back(Bytes, Tries) ->
    case resident() =< Bytes orelse erlang:system_info(build_type) =/= opt of
        true -> true;
        false when Tries =:= 0 -> {resident() bsr 20, erlang:memory(total) bsr 20};
        false -> timer:sleep(200), comes_back(Bytes, Tries - 1)
    end.

made(To) ->
    To ! {made, self()},
    receive stop -> ok end.

peak(messages, To) ->
    Receiver = spawn_link(fun() -> receive never -> ok end end),
    [Receiver ! {message, lists:seq(1, 20), self()} || _ <- lists:seq(1, 150000)],
    made(To),
    exit_of(Receiver);
peak(heaps, To) ->
    All = [spawn_link(fun() -> L = lists:seq(1, 100000), receive stop -> length(L) end end) || _ <- lists:seq(1, 60)],
    made(To),
    [exit_of(P) || P <- All];
peak(binaries, To) ->
    All = [binary:copy(<<1>>, 200) || _ <- lists:seq(1, 150000)],
    made(To),
    true = length(All) > 0;
peak(timers, To) ->
    All = [erlang:start_timer(3600000, self(), {a, timer}) || _ <- lists:seq(1, 100000)],
    made(To),
    [erlang:cancel_timer(T) || T <- All];
peak(ets, To) ->
    T = ets:new(t, []),
    [ets:insert(T, {I, {a, row, I}}) || I <- lists:seq(1, 200000)],
    made(To),
    ets:delete(T).

exit_of(P) ->
    Ref = monitor(process, P),
    unlink(P),
    exit(P, kill),
    receive {'DOWN', Ref, process, P, _} -> ok end.
