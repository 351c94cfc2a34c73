%% SPDX-License-Identifier: Apache-2.0
%% A known amount of work for a RabbitMQ, and how long it took.
%%   rabbit_work:start([Port, Messages])   prints "messages N SECONDS" when each of them was published, confirmed, delivered
%%                                         once and in its order, and acknowledged; then ends the node
-module(rabbit_work).
-include_lib("amqp_client/include/amqp_client.hrl").
-export([start/1, publish/3, consume/3]).

-define(QUEUES, 2).
-define(BATCH, 100). % published before their confirms are waited for

start(Words) ->
    [Port, Messages] = [list_to_integer(atom_to_list(W)) || W <- Words],
    {ok, Connection} = amqp_connection:start(#amqp_params_network{port = Port}),
    Share = Messages div (?QUEUES * ?BATCH) * ?BATCH,
    Begun = erlang:monotonic_time(),
    Pids = [spawn_monitor(fun() -> pass(Connection, Share) end) || _ <- lists:seq(1, ?QUEUES)],
    [receive {'DOWN', Ref, process, Pid, normal} -> ok end || {Pid, Ref} <- Pids],
    Spent = erlang:convert_time_unit(erlang:monotonic_time() - Begun, native, millisecond),
    ok = amqp_connection:close(Connection),
    io:format("messages ~w ~.3f~n", [Share * ?QUEUES, Spent / 1000]),
    halt(0).

%% N numbered messages through a queue of its own, each of which is on its disk.
pass(Connection, N) ->
    {ok, In} = amqp_connection:open_channel(Connection),
    {ok, Out} = amqp_connection:open_channel(Connection),
    #'queue.declare_ok'{queue = Name} = amqp_channel:call(In, #'queue.declare'{exclusive = true, durable = true}),
    Self = self(),
    spawn_link(fun() -> publish(In, Name, {1, N}), Self ! published end),
    consume(Out, Name, {1, N}),
    receive published -> ok end,
    ok = amqp_channel:close(Out),
    ok = amqp_channel:close(In).

%% The messages of these numbers, each of them confirmed.
publish(Channel, Name, {First, Last}) ->
    #'confirm.select_ok'{} = amqp_channel:call(Channel, #'confirm.select'{}),
    publish_from(First, Last, Channel, #'basic.publish'{routing_key = Name}).

publish_from(I, Last, _, _) when I > Last -> ok;
publish_from(I, Last, Channel, Publish) ->
    Properties = #'P_basic'{delivery_mode = 2},
    [ok = amqp_channel:cast(Channel, Publish, #amqp_msg{props = Properties, payload = <<J:32, 0:2016>>})
        || J <- lists:seq(I, min(I + ?BATCH - 1, Last))],
    true = amqp_channel:wait_for_confirms(Channel, 60),
    publish_from(I + ?BATCH, Last, Channel, Publish).

%% The messages of these numbers, in their order and each once; any other ends the caller.
consume(Channel, Name, {First, Last}) ->
    #'basic.qos_ok'{} = amqp_channel:call(Channel, #'basic.qos'{prefetch_count = 2 * ?BATCH}),
    #'basic.consume_ok'{} = amqp_channel:subscribe(Channel, #'basic.consume'{queue = Name}, self()),
    consume_from(First, Last, Channel).

consume_from(I, Last, _) when I > Last -> ok;
consume_from(I, Last, Channel) ->
    receive
        #'basic.consume_ok'{} ->
            consume_from(I, Last, Channel);
        {#'basic.deliver'{delivery_tag = Tag}, #amqp_msg{payload = <<I:32, _/binary>>}} ->
            ok = amqp_channel:cast(Channel, #'basic.ack'{delivery_tag = Tag}),
            consume_from(I + 1, Last, Channel)
    end.
