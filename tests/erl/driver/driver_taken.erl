%% SPDX-License-Identifier: Apache-2.0
%% A descriptor that native functions and a driver wait for in turn: who asked last is told.
%% expect: [select,port,select,port,select]
-module(driver_taken).
-export([main/0, select_pipe/0, write_pipe/0, read_pipe/0]).

main() ->
    Folder = filename:dirname(code:which(?MODULE)),
    ok = erlang:load_nif(filename:join(Folder, "driver_taken"), 0),
    ok = erl_ddll:load(Folder, "driver_taken"),
    Port = open_port({spawn_driver, "driver_taken"}, []),
    io:format("~p~n", [[told(How, Port) || How <- [library, driver, library, driver, library]]]).

told(How, Port) ->
    case How of
        library -> 0 = select_pipe();
        driver -> [0] = port_control(Port, 0, [])
    end,
    1 = write_pipe(),
    Told = receive
        {select, _, undefined, ready_input} -> select;
        {Port, {data, "input"}} -> port
    after 5000 -> nothing
    end,
    1 = read_pipe(),
    Told.

select_pipe() -> erlang:nif_error(not_loaded).
write_pipe() -> erlang:nif_error(not_loaded).
read_pipe() -> erlang:nif_error(not_loaded).
