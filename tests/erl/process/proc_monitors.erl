%% SPDX-License-Identifier: Apache-2.0
%% Monitors, aliases, spawn_monitor.
-module(proc_monitors).
-export([main/0]).

main() ->
    {P, R} = spawn_monitor(fun() -> exit(why) end),
    d(receive {'DOWN', R, process, P, X} -> X end),
    R1 = monitor(process, P), d(receive {'DOWN', R1, process, P, X1} -> X1 end),
    R2 = monitor(process, no_such_name), d(receive {'DOWN', R2, process, N2, X2} -> {N2, X2} end),
    Q = spawn(fun() -> receive stop -> ok end end),
    R3 = monitor(process, Q),
    d(demonitor(R3)), Q ! stop,
    d(receive {'DOWN', R3, _, _, _} -> down after 30 -> none end),
    R4 = monitor(process, spawn(fun() -> ok end)), receive after 20 -> ok end,
    d([demonitor(R4, [flush]), demonitor(R4, [info]), demonitor(make_ref(), [info])]),
    d(receive {'DOWN', _, _, _, _} -> down after 0 -> none end),
    S = spawn(fun() -> receive {A, M} -> A ! {reply, M} end, receive {A2, M2} -> A2 ! {reply, M2} end end),
    Al = monitor(process, S, [{alias, reply_demonitor}]),
    S ! {Al, one}, d(receive {reply, Y} -> Y end),
    S ! {Al, two}, d(receive {reply, _} -> late; {'DOWN', Al, _, _, _} -> down after 30 -> dropped end),
    A1 = alias(), A1 ! hi, d(receive hi -> got end),
    d([unalias(A1), unalias(A1)]), A1 ! hi, d(receive hi -> got after 20 -> gone end),
    A3 = alias([reply]), A3 ! x, A3 ! y, d(receive Z1 -> Z1 end), d(receive Z2 -> Z2 after 20 -> once end),
    R5 = monitor(process, spawn(fun() -> ok end), [{tag, 'GONE'}]), d(receive {'GONE', R5, process, _, X5} -> X5 end),
    {_, R6} = spawn_opt(fun() -> exit(z) end, [monitor]), d(receive {'DOWN', R6, process, _, X6} -> X6 end),
    register(me_me, self()),
    Me = self(),
    W = spawn(fun() -> Rr = monitor(process, me_me), Me ! ready, receive {'DOWN', Rr, process, Who, _} -> ok = Who end end),
    receive ready -> ok end,
    d(element(2, process_info(self(), monitored_by)) =:= [W]),
    d(length(element(2, process_info(W, monitors)))),
    d(downs_in_order(2000)).

%% 'DOWN's come in the order in which the monitors were set; those taken back do not.
downs_in_order(N) ->
    P = spawn(fun() -> receive stop -> ok end end),
    All = [{I, monitor(process, P)} || I <- lists:seq(1, N)],
    [demonitor(R) || {I, R} <- All, I rem 3 =:= 0],
    More = [{I, monitor(process, P)} || I <- lists:seq(N + 1, N + 100)],
    P ! stop,
    Wanted = [R || {I, R} <- All, I rem 3 =/= 0] ++ [R || {_, R} <- More],
    Wanted =:= [receive {'DOWN', R, process, P, normal} -> R end || _ <- Wanted].

d(T) -> erlang:display(T).

%% expect: why
%% expect: noproc
%% expect: {{no_such_name,'nonode@nohost'},noproc}
%% expect: true
%% expect: none
%% expect: [true,false,false]
%% expect: none
%% expect: one
%% expect: dropped
%% expect: got
%% expect: [true,false]
%% expect: gone
%% expect: x
%% expect: once
%% expect: normal
%% expect: z
%% expect: true
%% expect: 1
%% expect: true
