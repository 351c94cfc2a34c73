%% SPDX-License-Identifier: Apache-2.0
%% What a VM does with the world around it, on demand: bench/world.py writes requests, a line each, and reads an
%% answer of one line: a number, or "failed" and why. The VM ends when there are no more requests.
-module(world).
-export([serve/0, plain/0, add/2, dirty/0, sink/0]).

-define(BYTES, 64). % of a message that is echoed

serve() ->
    process_flag(trap_exit, true), % what ends in the middle of a request fails it alone
    io:format("~s~n", [os:getpid()]),
    serve(io:get_line("")).

serve(eof) ->
    erlang:halt(0, [{flush, false}]);
serve(Line) ->
    [Kind | Words] = string:lexemes(Line, " \n"),
    try request(list_to_atom(Kind), Words) of
        N -> io:format("~b~n", [N])
    catch
        _:Why -> io:format("failed ~0P~n", [Why, 12])
    end,
    serve(io:get_line("")).

%% ---- echo over TCP

%% The number of the port that it listens at.
request(gen_tcp_server, []) ->
    {ok, L} = gen_tcp:listen(0, [binary, {ip, {127, 0, 0, 1}}, {active, false}, {nodelay, true}, {backlog, 1024}]),
    [spawn_link(fun() -> tcp_accept(L) end) || _ <- lists:seq(1, 4)],
    {ok, Port} = inet:port(L),
    Port;
request(socket_server, []) ->
    {ok, L} = socket:open(inet, stream, tcp),
    ok = socket:bind(L, #{family => inet, addr => {127, 0, 0, 1}, port => 0}),
    ok = socket:listen(L, 1024),
    [spawn_link(fun() -> socket_accept(L) end) || _ <- lists:seq(1, 4)],
    {ok, #{port := Port}} = socket:sockname(L),
    Port;
%% Nanoseconds of a round trip, of so many over so many connections at once; those that are open stay so.
request(echo, [Port, Connections, Trips]) ->
    Clients = clients(list_to_integer(Port), list_to_integer(Connections)),
    Each = list_to_integer(Trips) div length(Clients),
    Begun = erlang:monotonic_time(),
    [C ! {trips, Each} || C <- Clients],
    [receive {C, done} -> ok; {'EXIT', C, Why} -> exit(Why) end || C <- Clients],
    since(Begun) div (Each * length(Clients));
%% So many connections are open, and rest.
request(connect, [Port, Connections]) ->
    length(clients(list_to_integer(Port), list_to_integer(Connections)));
request(disconnect, []) ->
    end_clients(),
    0;
%% ---- nodes
request(node, [Name]) ->
    {ok, _} = net_kernel:start(list_to_atom(Name), #{name_domain => longnames}),
    true = erlang:set_cookie(crumbs),
    0;
%% Nanoseconds of a message, of so many of so many bytes to another node.
request(to_node, [Name, Bytes, Count]) ->
    Node = list_to_atom(Name),
    Sink = spawn_link(Node, ?MODULE, sink, []),
    Message = binary:copy(<<"x">>, list_to_integer(Bytes)),
    N = list_to_integer(Count),
    Begun = erlang:monotonic_time(),
    send(Sink, Message, N),
    Sink ! {self(), stop},
    receive {Sink, N} -> since(Begun) div N; {'EXIT', Sink, Why} -> exit(Why) end;
%% ---- the rest: tenths of nanoseconds of a call, nanoseconds of a command
request(nif, [Library]) ->
    ok = erlang:load_nif(Library, 0),
    0;
request(call, [Name, Count]) ->
    N = list_to_integer(Count),
    Least = least(fun() -> call(empty, N) end),
    max(0, least(fun() -> call(list_to_atom(Name), N) end) - Least) * 10 div N; % tenths
request(os_cmd, [Count]) ->
    N = list_to_integer(Count),
    Begun = erlang:monotonic_time(),
    [[] = os:cmd("true") || _ <- lists:seq(1, N)],
    since(Begun) div N.

since(Begun) -> erlang:convert_time_unit(erlang:monotonic_time() - Begun, native, nanosecond).

tcp_accept(L) ->
    {ok, S} = gen_tcp:accept(L),
    Pid = spawn(fun() -> receive go -> tcp_echo(S) end end),
    ok = gen_tcp:controlling_process(S, Pid),
    Pid ! go,
    tcp_accept(L).

tcp_echo(S) ->
    case inet:setopts(S, [{active, once}]) of
        ok ->
            receive
                {tcp, S, Bytes} -> gen_tcp:send(S, Bytes), tcp_echo(S);
                {tcp_closed, S} -> ok;
                {tcp_error, S, _} -> gen_tcp:close(S)
            end;
        {error, _} ->
            gen_tcp:close(S)
    end.

socket_accept(L) ->
    {ok, S} = socket:accept(L),
    Pid = spawn(fun() -> receive go -> socket_echo(S) end end),
    ok = socket:setopt(S, otp, controlling_process, Pid),
    Pid ! go,
    socket_accept(L).

socket_echo(S) ->
    case socket:recv(S, 0) of
        {ok, Bytes} -> socket:send(S, Bytes), socket_echo(S);
        {error, _} -> socket:close(S)
    end.

clients(Port, N) ->
    Kept = case get(clients) of {Port, All} -> All; _ -> end_clients(), [] end,
    Self = self(),
    New = [spawn_link(fun() -> client(Self, Port) end) || _ <- lists:seq(length(Kept) + 1, N)],
    [receive {C, connected} -> ok; {'EXIT', C, Why} -> exit(Why) end || C <- New],
    put(clients, {Port, New ++ Kept}),
    lists:sublist(New ++ Kept, N).

end_clients() ->
    {_, All} = case get(clients) of undefined -> {0, []}; Some -> Some end,
    [C ! stop || C <- All],
    [receive {'EXIT', C, _} -> ok end || C <- All],
    put(clients, {0, []}).

%% It closes by a reset: tens of thousands of ports left in TIME-WAIT are no longer free for who listens next.
client(Parent, Port) ->
    Options = [binary, {active, false}, {nodelay, true}, {linger, {true, 0}}],
    {ok, S} = gen_tcp:connect({127, 0, 0, 1}, Port, Options, 30000),
    Parent ! {self(), connected},
    client(Parent, S, binary:copy(<<"x">>, ?BYTES)).

client(Parent, S, Message) ->
    receive
        {trips, N} ->
            trip(S, Message, N),
            Parent ! {self(), done},
            client(Parent, S, Message);
        stop ->
            gen_tcp:close(S)
    end.

trip(_, _, 0) -> ok;
trip(S, Message, N) ->
    ok = gen_tcp:send(S, Message),
    {ok, Message} = gen_tcp:recv(S, ?BYTES, 60000),
    trip(S, Message, N - 1).

send(_, _, 0) -> ok;
send(Sink, Message, N) -> Sink ! Message, send(Sink, Message, N - 1).

sink() -> sink(0).
sink(N) ->
    receive
        {From, stop} -> From ! {self(), N};
        _ -> sink(N + 1)
    end.

%% ---- native functions: the library takes the places of these

plain() -> erlang:nif_error(not_loaded).
add(_, _) -> erlang:nif_error(not_loaded).
dirty() -> erlang:nif_error(not_loaded).

least(Fun) ->
    lists:min([begin Begun = erlang:monotonic_time(), Fun(), since(Begun) end || _ <- lists:seq(1, 3)]).

%% Ten a turn, so that the loop weighs little.
call(_, N) when N =< 0 -> ok;
call(empty, N) -> call(empty, N - 10);
call(plain, N) ->
    plain(), plain(), plain(), plain(), plain(), plain(), plain(), plain(), plain(), plain(),
    call(plain, N - 10);
call(add, N) ->
    add(N, 1), add(N, 2), add(N, 3), add(N, 4), add(N, 5), add(N, 6), add(N, 7), add(N, 8), add(N, 9), add(N, 10),
    call(add, N - 10);
call(dirty, N) ->
    dirty(), dirty(), dirty(), dirty(), dirty(), dirty(), dirty(), dirty(), dirty(), dirty(),
    call(dirty, N - 10).
