%% SPDX-License-Identifier: Apache-2.0
%% Connections that close while they are polled: by either end, by the death of an owner, with input under way; of ports
%% and of the module socket, beside programs that come and go. Every byte is counted, and no descriptor is left.
%% expect: {inet,[{bytes,23000},{ends,230}]}
%% expect: {socket,[{bytes,23000},{ends,230}]}
%% expect: {programs,["1","2","3","4","5","6","7"]}
%% expect: {both,[{bytes,46000},{ends,460}],["1","2","3","4","5","6","7"]}
%% expect: {descriptors,[]}
-module(many_closing).
-export([main/0]).

-define(CONNECTIONS, 230).
-define(BYTES, 100).

main() ->
    _ = [run(inet, 7), os:cmd("true")], % what is opened at first, and stays
    Before = descriptors(),
    show({inet, run(inet, ?CONNECTIONS)}),
    show({socket, run(socket, ?CONNECTIONS)}),
    show({programs, programs()}),
    Runs = [beside(fun() -> run(Backend, ?CONNECTIONS) end) || Backend <- [inet, socket]],
    Programs = beside(fun programs/0),
    [A, B] = [result(Run) || Run <- Runs],
    show({both, [{Key, N + proplists:get_value(Key, B)} || {Key, N} <- A], result(Programs)}),
    show({descriptors, left(Before, 200)}).

%% What is closed is gone in a moment.
left(Before, Tries) ->
    case descriptors() - Before of
        N when N =< 0 -> [];
        N when Tries =:= 0 -> [N];
        _ -> timer:sleep(20), left(Before, Tries - 1)
    end.

descriptors() ->
    {ok, Fds} = file:list_dir("/proc/self/fd"),
    length(Fds).

show(T) -> io:format("~0p~n", [T]).

beside(Fun) ->
    spawn_monitor(fun() -> exit({result, Fun()}) end).

result({P, Ref}) ->
    receive {'DOWN', Ref, process, P, How} -> {result, Result} = How, Result end.

programs() ->
    [string:trim(os:cmd("echo " ++ integer_to_list(N))) || N <- lists:seq(1, 7)].

run(Backend, N) ->
    Options = [binary, {active, true}] ++ [{inet_backend, socket} || Backend =:= socket],
    {ok, L} = gen_tcp:listen(0, order([{active, false}, {backlog, 1024} | Options])),
    {ok, Port} = inet:port(L),
    Servers = [beside(fun() -> serve(L, I) end) || I <- lists:seq(1, N)],
    Clients = [beside(fun() -> connect(Port, order(Options), I) end) || I <- lists:seq(1, N)],
    Counts = [result(Client) || Client <- Clients],
    _ = [result(Server) || Server <- Servers],
    ok = gen_tcp:close(L),
    [{bytes, lists:sum(Counts)}, {ends, length(Counts)}].

%% The back end is the first option.
order(Options) ->
    {First, Others} = lists:partition(fun({inet_backend, _}) -> true; (_) -> false end, Options),
    First ++ Others.

%% Sends, and ends: closes, shuts down, or dies.
serve(L, I) ->
    {ok, S} = gen_tcp:accept(L),
    _ = [ok = gen_tcp:send(S, binary:copy(<<I>>, ?BYTES div 4)) || _ <- lists:seq(1, 4)],
    case I rem 3 of
        0 -> ok = gen_tcp:close(S);
        1 -> _ = gen_tcp:shutdown(S, write), receive {tcp_closed, S} -> ok end; % the client may have been first
        2 -> ok
    end.

%% Reads all, or half of it at a time, or closes when it has all.
connect(Port, Options, I) ->
    {ok, S} = gen_tcp:connect({127, 0, 0, 1}, Port, Options),
    _ = [inet:setopts(S, [{active, once}]) || I rem 2 =:= 0],
    read(S, I, 0).

read(S, _, ?BYTES) ->
    ok = gen_tcp:close(S),
    ?BYTES;
read(S, I, N) ->
    receive
        {tcp, S, Bytes} ->
            _ = [inet:setopts(S, [{active, once}]) || I rem 2 =:= 0],
            read(S, I, N + byte_size(Bytes))
    end.
