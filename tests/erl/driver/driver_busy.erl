%% SPDX-License-Identifier: Apache-2.0
%% Busy drivers: who sends waits, before the driver sees anything.
%% expect: {none,not_sent}
%% expect: {data,"waited for"}
%% expect: {data,"at once"}
%% expect: {none,not_sent}
%% expect: {data,"waited for"}
%% expect: {data,"at once"}
%% expect: [false,{error,notsup},none]
%% expect: [nosuspend,none,[],ok,{data,"y"}]
%% expect: [false,true,{data,"y"}]
%% expect: [10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32]
%% expect: [10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32]
%% expect: killed
%% expect: {data,"after it"}
%% expect: [badarg,{command,"x"}]
%% expect: none
-module(driver_busy).
-export([main/0]).

main() ->
    process_flag(trap_exit, true),
    Dir = filename:dirname(code:which(?MODULE)),
    [ok = erl_ddll:load(Dir, N) || N <- ["driver_flat", "driver_old_lock"]],
    erlang:system_monitor(self(), [busy_port]),
    [waits(How) || How <- [command, message]],
    flags(),
    [many(How) || How <- [command, message]],
    killed(),
    closed(),
    [ok = erl_ddll:unload_driver(N) || N <- ["driver_flat", "driver_old_lock"]].

open(N) ->
    P = open_port({spawn_driver, N}, []),
    {start, _} = next(P),
    P.

next(P) -> receive {P, What, N} -> {What, N}; {P, What} -> What end.

none(P) -> receive {P, What} -> What after 0 -> none end.

send(P, _, command, Data) -> port_command(P, Data);
send(P, Owner, message, Data) -> P ! {Owner, {command, Data}}.

%% It waits for the port when this returns.
sender(P, How, Data) ->
    Self = self(),
    Pid = spawn(fun() -> sent(Self, catch send(P, Self, How, Data)) end),
    receive {monitor, Pid, busy_port, P} -> Pid end.

sent(To, Result) -> To ! {self(), sent, element(1, {Result})}.

waits(How) ->
    P = open("driver_flat"),
    port_control(P, $b, "1"),
    Pid = sender(P, How, "waited for"),
    io:format("~p~n", [{none(P), receive {Pid, sent, _} -> sent after 0 -> not_sent end}]),
    port_control(P, $b, "0"),
    io:format("~p~n", [next(P)]),
    receive {Pid, sent, _} -> ok end,
    send(P, self(), How, "at once"),
    io:format("~p~n", [next(P)]),
    port_close(P).

flags() ->
    P = open("driver_flat"),
    port_control(P, $b, "1"),
    io:format("~p~n", [[port_command(P, "x", [nosuspend]), try port_command(P, "x", [force]) catch C:R -> {C, R} end,
                        none(P)]]),
    M = {self(), {command, "y"}},
    io:format("~p~n", [[erlang:send(P, M, [nosuspend]), none(P), port_control(P, $b, "0"),
                        erlang:send(P, M, [nosuspend]), next(P)]]),
    port_close(P),
    Q = open("driver_old_lock"),
    port_control(Q, $b, "1"),
    io:format("~p~n", [[port_command(Q, "x", [nosuspend]), port_command(Q, "y", [force]), next(Q)]]),
    port_close(Q).

many(How) ->
    P = open("driver_flat"),
    port_control(P, $b, "1"),
    Pids = [sender(P, How, integer_to_list(I)) || I <- lists:seq(10, 32)],
    none = none(P),
    port_control(P, $b, "0"),
    [receive {Pid, sent, _} -> ok end || Pid <- Pids],
    io:format("~p~n", [lists:sort([begin {data, D} = next(P), list_to_integer(D) end || _ <- Pids])]),
    port_close(P).

killed() ->
    P = open("driver_flat"),
    port_control(P, $b, "1"),
    Pid = sender(P, command, "never"),
    R = erlang:monitor(process, Pid),
    exit(Pid, kill),
    receive {'DOWN', R, process, Pid, Why} -> io:format("~p~n", [Why]) end,
    port_control(P, $b, "0"),
    port_command(P, "after it"),
    io:format("~p~n", [next(P)]),
    port_close(P).

closed() ->
    P = open("driver_flat"),
    port_control(P, $b, "1"),
    Pid = sender(P, command, "x"),
    Other = sender(P, message, "x"),
    port_close(P),
    io:format("~p~n", [[receive {Pid, sent, {'EXIT', {Why, _}}} -> Why end,
                        receive {Other, sent, {_, What}} -> What end]]),
    io:format("~p~n", [none(P)]).
