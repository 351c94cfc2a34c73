%% SPDX-License-Identifier: Apache-2.0
%% Order of signals between two processes; suspend; exit from outside.
-module(proc_signals).
-export([main/0]).

main() ->
    process_flag(trap_exit, true),
    P = spawn_link(fun() -> receive stop -> exit(stopped) end end),
    P ! stop,
    d(receive {'EXIT', P, R} -> R end),
    Q = spawn_link(fun() -> loop(0) end),
    [Q ! tick || _ <- lists:seq(1, 100)], Q ! {get, self()},
    d(receive {count, N} -> N end),
    true = erlang:suspend_process(Q),
    [Q ! tick || _ <- lists:seq(1, 10)], Q ! {get, self()},
    d(receive {count, _} -> running after 30 -> suspended end),
    true = erlang:resume_process(Q),
    d(receive {count, N2} -> N2 end),
    exit(Q, shutdown), d(receive {'EXIT', Q, R2} -> R2 end),
    Me = self(),
    S = spawn(fun() -> process_flag(trap_exit, true), Me ! traps, collect([]) end),
    receive traps -> ok end,
    S ! a, exit(S, one), S ! b, exit(S, normal), S ! {done, self()},
    d(receive {all, L} -> L end),
    d([exit(P, x), catch_it(fun() -> exit(id(nopid), x) end)]),
    {T, Ref} = spawn_monitor(fun() -> exit(self(), normal), receive after 10 -> survived end end),
    d(receive {'DOWN', Ref, _, T, R4} -> R4 end),
    d(outstanding()).

%% A suspension that was asked for and not waited for counts as outstanding until whoever runs has come to a halt; one that
%% waits, waits for that, though it adds none.
outstanding() ->
    Busy = spawn(fun Spin() -> Spin() end),
    Two = erlang:system_info(schedulers_online) > 1,
    Seen = seen(Busy, Two, [], erlang:monotonic_time(millisecond) + 10000),
    exit(Busy, kill),
    Seen -- [{busy, 1, 0}] =:= [{busy, 0, 1} || Two].

%% Where two can run at the same time, until they did: on a busy machine the other scheduler's thread has to wait.
seen(Busy, Two, Before, End) ->
    Seen = lists:usort([suspended(Busy) || _ <- lists:seq(1, 1000)] ++ Before),
    case Two andalso not lists:member({busy, 0, 1}, Seen) andalso erlang:monotonic_time(millisecond) < End of
        true -> seen(Busy, Two, Seen, End);
        false -> Seen
    end.

suspended(Busy) ->
    true = erlang:suspend_process(Busy, [asynchronous]),
    {suspending, [First]} = process_info(self(), suspending),
    false = erlang:suspend_process(Busy, [unless_suspending]),
    {suspending, [{Busy, 1, 0}]} = process_info(self(), suspending),
    true = erlang:resume_process(Busy),
    {suspending, []} = process_info(self(), suspending),
    setelement(1, First, busy).

loop(N) -> receive tick -> loop(N + 1); {get, P} -> P ! {count, N}, loop(N) end.

collect(L) -> receive {'EXIT', _, R} -> collect([{exit, R} | L]); {done, P} -> P ! {all, lists:reverse(L)}; M -> collect([M | L]) end.

catch_it(F) -> try F() catch C:R -> {C, R} end.

d(T) -> erlang:display(T).

id(X) -> X.

%% expect: stopped
%% expect: 100
%% expect: suspended
%% expect: 110
%% expect: shutdown
%% expect: [a,{exit,one},b,{exit,normal}]
%% expect: [true,{error,badarg}]
%% expect: normal
%% expect: true
