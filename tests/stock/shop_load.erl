%% SPDX-License-Identifier: Apache-2.0
%% Load on elixir_serve.exs: connections that each ask for 50 sums at a time; beside them some that come and go.
%%   shop_load:start([Port, Dir])   as service_load:run/3 says
-module(shop_load).
-export([start/1]).

-define(CONNECTIONS, 8).
-define(WINDOW, 50).
-define(CARTS, 200).

start([Port0, Dir]) ->
    Port = list_to_integer(atom_to_list(Port0)),
    Counts = [service_load:new_counts() || _ <- lists:seq(1, ?CONNECTIONS)],
    Clients = [spawn_link(fun() -> buy(connect(Port), C) end) || C <- Counts],
    spawn_link(fun() -> visit(Port) end),
    service_load:run(Dir, Counts, Clients).

connect(Port) ->
    {ok, Socket} = gen_tcp:connect("127.0.0.1", Port, [binary, {packet, line}, {active, false}, {nodelay, true}]),
    Socket.

buy(Socket, Counts) ->
    receive
        {stop, From} -> From ! {stopped, self()}
    after 0 ->
        ok = gen_tcp:send(Socket, [["cart", integer_to_list(rand:uniform(?CARTS)), " 1\n"] || _ <- lists:seq(1, ?WINDOW)]),
        service_load:published(Counts, ?WINDOW),
        take(Socket, ?WINDOW),
        service_load:consumed(Counts, ?WINDOW),
        buy(Socket, Counts)
    end.

take(_, 0) -> ok;
take(Socket, N) ->
    {ok, _} = gen_tcp:recv(Socket, 0, 30000),
    take(Socket, N - 1).

visit(Port) ->
    Socket = connect(Port),
    ok = gen_tcp:send(Socket, ["guest 1\n"]),
    take(Socket, 1),
    ok = gen_tcp:close(Socket),
    receive after 50 -> visit(Port) end.
