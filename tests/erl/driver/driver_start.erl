%% SPDX-License-Identifier: Apache-2.0
%% A driver that does not start: by an errno, by one that it did not set, as a bad argument, without a word.
%% expect: [enoent,unknown,badarg,einval]
%% expect erl 29: [enoent,errno_0,badarg,einval]
-module(driver_start).
-export([main/0]).

main() ->
    ok = erl_ddll:load(filename:dirname(code:which(?MODULE)), "driver_start"),
    io:format("~p~n", [[reason("driver_start " ++ How) || How <- ["n", "0", "b", "g"]]]).

reason(Command) ->
    try open_port({spawn_driver, Command}, []) of
        Port -> Port
    catch error:Reason -> Reason
    end.
