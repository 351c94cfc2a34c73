%% SPDX-License-Identifier: Apache-2.0
%% Commands to a busy port: who waits in a send, limits of bytes that wait, what a driver tells while it stops.
%% expect: {in_send,suspended,{erlang,send,2}}
%% expect: {in_send,"4",ok}
%% expect: {named,badarg}
%% expect: {last_words,"stops",closed}
%% expect: {limits,"4096 8192","10 20","-1 -1"}
%% expect: {refused,[badarg,badarg,badarg]}
-module(driver_queue).
-export([main/0]).

main() ->
    process_flag(trap_exit, true),
    process_flag(scheduler, 1),
    ok = erl_ddll:load(filename:dirname(code:which(?MODULE)), "driver_queue"),
    erlang:system_monitor(self(), [busy_port]),
    in_send(),
    named(),
    last_words(),
    limits(),
    refused(),
    ok = erl_ddll:unload_driver("driver_queue").

open(Options) -> open_port({spawn_driver, "driver_queue"}, Options).

next(P) -> receive {P, {data, What}} -> What; {P, closed} -> closed end.

%% It is suspended when this returns.
sender(P, To) ->
    Self = self(),
    Send = fun() -> Self ! {self(), try To ! {Self, {command, "four"}}, ok catch error:Why -> Why end} end,
    Pid = spawn_opt(Send, [{scheduler, 1}]),
    receive {monitor, Pid, busy_port, P} -> Pid end.

in_send() ->
    P = open([]),
    port_control(P, $b, ""),
    Pid = sender(P, P),
    {status, Status} = process_info(Pid, status),
    {current_function, F} = process_info(Pid, current_function),
    io:format("~p~n", [{in_send, Status, F}]),
    port_control(P, $n, ""),
    io:format("~p~n", [{in_send, next(P), receive {Pid, R} -> R end}]),
    port_close(P).

named() ->
    P = open([]),
    register(a_port, P),
    port_control(P, $b, ""),
    Pid = sender(P, a_port),
    port_close(P),
    io:format("~p~n", [{named, receive {Pid, R} -> R end}]).

last_words() ->
    P = open([]),
    P ! {self(), close},
    io:format("~p~n", [{last_words, next(P), next(P)}]).

limits() ->
    Tell = fun(Options) -> P = open(Options), L = port_control(P, $l, ""), port_close(P), L end,
    io:format("~p~n", [{limits, Tell([]), Tell([{busy_limits_msgq, {10, 20}}]), Tell([{busy_limits_msgq, disabled}])}]).

refused() ->
    Why = fun(Option) -> try open([Option]) catch error:R -> R end end,
    io:format("~p~n", [{refused, [Why({busy_limits_msgq, {0, 20}}), Why({busy_limits_msgq, {10, x}}),
                                  Why({busy_limits_port, 10})]}]).
