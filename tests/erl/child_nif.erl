%% SPDX-License-Identifier: Apache-2.0
%% Programs that a native function starts, beside orphans and a program of a port.
-module(child_nif).
-export([main/0, scheduler/0, dirty/0]).

main() ->
    ok = erlang:load_nif(filename:join(filename:dirname(code:which(?MODULE)), "child_nif"), 0),
    os:cmd("(sleep 0.1; exit 3) > /dev/null 2>&1 &"),
    Port = open_port({spawn, "sh -c 'sleep 0.7; exit 5'"}, [exit_status]),
    Told = {scheduler(), dirty()},
    receive {Port, {exit_status, Status}} -> erlang:display({Told, Status}) end,
    halt().

scheduler() -> erlang:nif_error(not_loaded).
dirty() -> erlang:nif_error(not_loaded).
