%% SPDX-License-Identifier: Apache-2.0
%% For programs with many processes at sockets of the module socket, not all of which need all of it.
-compile({nowarn_unused_function, [{wait, 1}, {descriptors, 0}, {show, 1}]}).

%% Two ends of a connection.
pair() ->
    {ok, L} = socket:open(inet, stream, tcp),
    ok = socket:bind(L, #{family => inet, addr => loopback, port => 0}),
    ok = socket:listen(L),
    {ok, At} = socket:sockname(L),
    {ok, C} = socket:open(inet, stream, tcp),
    ok = socket:connect(C, At),
    {ok, S} = socket:accept(L),
    ok = socket:close(L),
    {C, S}.

wait(Is) ->
    case Is() of true -> ok; false -> erlang:yield(), wait(Is) end.

descriptors() ->
    {ok, Fds} = file:list_dir("/proc/self/fd"),
    length(Fds).

show(T) -> io:format("~0p~n", [T]).
