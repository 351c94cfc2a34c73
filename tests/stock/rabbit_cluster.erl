%% SPDX-License-Identifier: Apache-2.0
%% What a client does at the nodes of a RabbitMQ cluster; ends with status 0 when all of it was done.
%%   rabbit_cluster:start([declare, Port, Queue, Type])            makes a durable queue, of type classic or quorum
%%   rabbit_cluster:start([pass, From, To, Queue, First, Last])    publishes numbered messages at the port From, and
%%                                                                 consumes them at the port To meanwhile
%%   rabbit_cluster:start([publish, Port, Queue, First, Last])     the one of it
%%   rabbit_cluster:start([consume, Port, Queue, First, Last])     the other; nothing may be left in the queue then
-module(rabbit_cluster).
-include_lib("amqp_client/include/amqp_client.hrl").
-export([start/1]).

start(Words) ->
    work(Words),
    halt(0).

work([declare, Port, Queue, Type]) ->
    Arguments = [{<<"x-queue-type">>, longstr, atom_to_binary(Type)}],
    with_channel(Port, fun(Channel) ->
        Declare = #'queue.declare'{queue = atom_to_binary(Queue), durable = true, arguments = Arguments},
        #'queue.declare_ok'{} = amqp_channel:call(Channel, Declare)
    end);
work([pass, From, To | Words]) ->
    {Publisher, Monitor} = spawn_monitor(fun() -> work([publish, From | Words]) end),
    work([consume, To | Words]),
    receive {'DOWN', Monitor, process, Publisher, normal} -> ok end;
work([publish, Port | Words]) ->
    {Name, Numbers} = messages(Words),
    with_channel(Port, fun(Channel) -> rabbit_work:publish(Channel, Name, Numbers) end);
work([consume, Port | Words]) ->
    {Name, Numbers} = messages(Words),
    with_channel(Port, fun(Channel) ->
        rabbit_work:consume(Channel, Name, Numbers),
        await_empty(Channel, Name, 100)
    end).

%% The count of a quorum queue comes from a replica, which may lag behind.
await_empty(Channel, Name, Tries) when Tries > 0 ->
    case amqp_channel:call(Channel, #'queue.declare'{queue = Name, passive = true}) of
        #'queue.declare_ok'{message_count = 0} -> ok;
        #'queue.declare_ok'{} -> timer:sleep(100), await_empty(Channel, Name, Tries - 1)
    end.

messages([Queue, First, Last]) -> {atom_to_binary(Queue), {number(First), number(Last)}}.

number(Word) -> list_to_integer(atom_to_list(Word)).

%% A channel, and the connection that it has for itself, are closed in order: what was acknowledged is known to be.
with_channel(Port, Do) ->
    {ok, Connection} = amqp_connection:start(#amqp_params_network{port = number(Port)}),
    {ok, Channel} = amqp_connection:open_channel(Connection),
    Do(Channel),
    ok = amqp_channel:close(Channel),
    ok = amqp_connection:close(Connection).
