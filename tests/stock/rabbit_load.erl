%% SPDX-License-Identifier: Apache-2.0
%% Load on a RabbitMQ: a queue that is kept and one that is not, each with a publisher that waits for confirms and a consumer;
%% beside them channels that are opened and closed.
%%   rabbit_load:start([Port, Dir])   as service_load:run/3 says
-module(rabbit_load).
-include_lib("amqp_client/include/amqp_client.hrl").
-export([start/1]).

-define(BATCH, 50).

start([Port, Dir]) ->
    Counts = service_load:new_counts(),
    {ok, Connection} = amqp_connection:start(#amqp_params_network{port = list_to_integer(atom_to_list(Port))}),
    Publishers = [start_queue(Connection, Name, Kept, Counts) || {Name, Kept} <- [{<<"kept">>, true}, {<<"passing">>, false}]],
    spawn_link(fun() -> visit(Connection) end),
    service_load:run(Dir, [Counts], Publishers).

start_queue(Connection, Name, Kept, Counts) ->
    {ok, In} = amqp_connection:open_channel(Connection),
    {ok, Out} = amqp_connection:open_channel(Connection),
    #'queue.declare_ok'{} = amqp_channel:call(In, #'queue.declare'{queue = Name, durable = Kept}),
    #'queue.purge_ok'{} = amqp_channel:call(In, #'queue.purge'{queue = Name}),
    #'confirm.select_ok'{} = amqp_channel:call(In, #'confirm.select'{}),
    spawn_link(fun() -> begin_consuming(Out, Name, Counts) end),
    Properties = #'P_basic'{delivery_mode = case Kept of true -> 2; false -> 1 end},
    spawn_link(fun() -> publish(In, #'basic.publish'{routing_key = Name}, #amqp_msg{props = Properties, payload = <<0:2048>>}, Counts) end).

publish(Channel, Publish, Message, Counts) ->
    receive
        {stop, From} -> From ! {stopped, self()}
    after 0 ->
        [ok = amqp_channel:call(Channel, Publish, Message) || _ <- lists:seq(1, ?BATCH)],
        true = amqp_channel:wait_for_confirms(Channel, 60),
        service_load:published(Counts, ?BATCH),
        publish(Channel, Publish, Message, Counts)
    end.

begin_consuming(Channel, Name, Counts) ->
    #'basic.qos_ok'{} = amqp_channel:call(Channel, #'basic.qos'{prefetch_count = 4 * ?BATCH}),
    #'basic.consume_ok'{} = amqp_channel:subscribe(Channel, #'basic.consume'{queue = Name}, self()),
    consume(Channel, Counts).

consume(Channel, Counts) ->
    receive
        {#'basic.deliver'{delivery_tag = Tag}, _} ->
            service_load:consumed(Counts, 1),
            ok = amqp_channel:cast(Channel, #'basic.ack'{delivery_tag = Tag}),
            consume(Channel, Counts);
        #'basic.consume_ok'{} ->
            consume(Channel, Counts)
    end.

visit(Connection) ->
    {ok, Channel} = amqp_connection:open_channel(Connection),
    ok = amqp_channel:close(Channel),
    receive after 20 -> visit(Connection) end.
