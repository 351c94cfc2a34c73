%% SPDX-License-Identifier: Apache-2.0
%% What a node hears of signals: those that somebody sent, none of the ends of programs that its ports run; and what is
%% set for SIGCHLD leaves the programs' exit codes alone.
%% expect: [ok,ok,ok,badarg,badarg]
%% expect: [sigchld,sigchld]
%% expect: [sigusr2]
%% expect: [3,3,3]
%% expect: true
-module(os_signals).
-export([main/0, init/1, handle_event/2, handle_call/2]).

main() ->
    show([set(sigstop, handle), set(sigstop, default), set(sigtstp, ignore), set(sigkill, handle), set(sigchld, foo)]),
    gen_event:add_handler(erl_signal_server, ?MODULE, self()),
    ok = os:set_signal(sigchld, handle),
    show([kill("CHLD"), kill("CHLD")]),
    ok = os:set_signal(sigusr2, handle),
    show([kill("USR2")]),
    show([begin ok = os:set_signal(sigchld, How), exit_code() end || How <- [ignore, default, handle]]),
    show(receive {signal, More} -> More after 100 -> true end).

set(Signal, How) ->
    try os:set_signal(Signal, How) catch error:Error -> Error end.

%% The shell that sends it ends, too; before the next one, as a kernel keeps one of several that are still to be handled.
%% Where another child's end was still to be handled the kernel drops ours, which is sent again then.
kill(Name) -> kill(Name, 3).
kill(_, 0) -> none;
kill(Name, Tries) ->
    P = open_port({spawn, "sh -c 'kill -" ++ Name ++ " " ++ os:getpid() ++ "'"}, [exit_status]),
    receive {P, {exit_status, 0}} -> ok end,
    receive {signal, Signal} -> Signal after 2000 -> kill(Name, Tries - 1) end.

exit_code() ->
    P = open_port({spawn, "sh -c 'exit 3'"}, [exit_status]),
    receive {P, {exit_status, Code}} -> Code after 5000 -> none end.

init(To) -> {ok, To}.
handle_event(Signal, To) -> To ! {signal, Signal}, {ok, To}.
handle_call(_, To) -> {ok, ok, To}.

show(T) -> io:format("~0p~n", [T]).
