%% SPDX-License-Identifier: Apache-2.0
%% What programs print comes in while somebody looks at all processes and their messages at once: nothing is lost.
%% expect: {received,[200,200,200,200]}
%% expect: {looked,true}
-module(port_looked_at).
-export([main/0]).

main() ->
    Readers = [spawn_monitor(fun echo/0) || _ <- lists:seq(1, 4)],
    Looker = spawn_link(fun() -> look(0) end),
    io:format("~w~n", [{received, [receive {'DOWN', Ref, process, Pid, Why} -> Why end || {Pid, Ref} <- Readers]}]),
    Looker ! {stop, self()},
    io:format("~p~n", [receive {looked, Times} -> {looked, Times > 0} end]).

echo() ->
    Port = open_port({spawn, "cat"}, [{packet, 2}, binary]),
    [port_command(Port, <<N:32, 0:1000>>) || N <- lists:seq(1, 200)],
    exit(length([N || N <- lists:seq(1, 200), receive {Port, {data, <<N:32, 0:1000>>}} -> true end])).

look(Times) ->
    receive
        {stop, From} -> From ! {looked, Times}
    after 0 ->
        true = is_binary(erlang:system_info(procs)),
        true = is_binary(erlang:system_info(info)),
        seq_trace:reset_trace(),
        timer:sleep(1),
        look(Times + 1)
    end.
