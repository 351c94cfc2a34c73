%% SPDX-License-Identifier: Apache-2.0
%% Ports are looked for while they open and close: who asks is told of the port, or that there is none.
%% expect: asked: ok
%% expect: ports left: 0
-module(port_found).
-export([main/0]).

-define(ROUNDS, 1500).
-define(ASKERS, 3).

main() ->
    Before = length(erlang:ports()),
    Asker = fun() -> ask([]) end,
    Askers = [spawn_monitor(Asker) || _ <- lists:seq(1, ?ASKERS)],
    Openers = [spawn_monitor(fun() -> open_and_close([A || {A, _} <- Askers], ?ROUNDS) end) || _ <- [1, 2]],
    [receive {'DOWN', Ref, process, _, normal} -> ok end || {_, Ref} <- Openers],
    [A ! stop || {A, _} <- Askers],
    Ends = [receive {'DOWN', Ref, process, _, Why} -> Why end || {_, Ref} <- Askers],
    io:format("asked: ~p~n", [case lists:usort(Ends) of [normal] -> ok; Others -> Others end]),
    io:format("ports left: ~b~n", [length(erlang:ports()) - Before]).

open_and_close(_, 0) -> ok;
open_and_close(Askers, N) ->
    Port = open_port({spawn_driver, "ram_file_drv"}, []),
    [A ! Port || A <- Askers],
    {id, _} = erlang:port_info(Port, id),
    true = port_close(Port),
    undefined = erlang:port_info(Port, id),
    open_and_close(Askers, N - 1).

%% The last few, so that most are closed by the time of the last look.
ask(Ports) ->
    receive
        stop -> ok;
        Port when is_port(Port) ->
            Kept = lists:sublist([Port | Ports], 4),
            [case erlang:port_info(P, name) of
                 {name, "ram_file_drv"} -> ok;
                 undefined -> ok
             end || P <- Kept, _ <- [1, 2]],
            ask(Kept)
    end.
