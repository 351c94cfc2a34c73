%% SPDX-License-Identifier: Apache-2.0
%% A known amount of work for a RabbitMQ, and how long it took.
%%   rabbit_work:start([Port, Messages])   prints "messages N SECONDS" when each of them was published, confirmed, delivered
%%                                         once and in its order, and acknowledged; then ends the node
-module(rabbit_work).
-include_lib("amqp_client/include/amqp_client.hrl").
-export([start/1]).

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
    #'confirm.select_ok'{} = amqp_channel:call(In, #'confirm.select'{}),
    Self = self(),
    spawn_link(fun() -> publish(In, #'basic.publish'{routing_key = Name}, 1, N), Self ! published end),
    #'basic.qos_ok'{} = amqp_channel:call(Out, #'basic.qos'{prefetch_count = 2 * ?BATCH}),
    #'basic.consume_ok'{} = amqp_channel:subscribe(Out, #'basic.consume'{queue = Name}, self()),
    consume(Out, 1, N),
    receive published -> ok end,
    ok = amqp_channel:close(Out),
    ok = amqp_channel:close(In).

publish(_, _, I, N) when I > N -> ok;
publish(Channel, Publish, I, N) ->
    Properties = #'P_basic'{delivery_mode = 2},
    [ok = amqp_channel:cast(Channel, Publish, #amqp_msg{props = Properties, payload = <<J:32, 0:2016>>})
        || J <- lists:seq(I, I + ?BATCH - 1)],
    true = amqp_channel:wait_for_confirms(Channel, 60),
    publish(Channel, Publish, I + ?BATCH, N).

consume(_, I, N) when I > N -> ok;
consume(Channel, I, N) ->
    receive
        #'basic.consume_ok'{} ->
            consume(Channel, I, N);
        {#'basic.deliver'{delivery_tag = Tag}, #amqp_msg{payload = <<I:32, _/binary>>}} ->
            ok = amqp_channel:cast(Channel, #'basic.ack'{delivery_tag = Tag}),
            consume(Channel, I + 1, N)
    end.
