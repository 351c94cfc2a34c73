%% SPDX-License-Identifier: Apache-2.0
%% process_display/2: a stack on standard error.
%% expect: true
%% expect: true
%% expect: {error,badarg}
%% expect: {error,badarg}
%% expect: {error,badarg}
-module(proc_display).
-export([main/0]).

main() ->
    Pid = spawn(fun() -> receive stop -> ok end end),
    erlang:display(erlang:process_display(Pid, backtrace)),
    erlang:display(erlang:process_display(self(), backtrace)),
    erlang:display(attempt(Pid, memory)),
    erlang:display(attempt(here, backtrace)),
    exit(Pid, kill),
    erlang:display(attempt(Pid, backtrace)).

attempt(Pid, What) ->
    try erlang:process_display(Pid, What) catch Class:Reason -> {Class, Reason} end.
