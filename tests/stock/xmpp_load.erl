%% SPDX-License-Identifier: Apache-2.0
%% Load on an XMPP server that lets anonymous users in: pairs of sessions, one that writes to the other;
%% beside them sessions that come and go.
%%   xmpp_load:start([Port, Dir])   as service_load:run/3 says
%%   xmpp_load:log_in(Port)         a session: {Socket, its address}
-module(xmpp_load).
-export([start/1, log_in/1]).

-define(PAIRS, 4).
-define(WINDOW, 50). % messages of a pair on their way

start([Port0, Dir]) ->
    Port = list_to_integer(atom_to_list(Port0)),
    Counts = [service_load:new_counts() || _ <- lists:seq(1, ?PAIRS)],
    Writers = [start_pair(Port, C) || C <- Counts],
    spawn_link(fun() -> visit(Port) end),
    service_load:run(Dir, Counts, Writers).

start_pair(Port, Counts) ->
    Self = self(),
    spawn_link(fun() -> {Socket, Jid} = log_in(Port), Self ! {reader, Jid}, read(Socket, Counts, <<>>) end),
    Jid = receive {reader, J} -> J end,
    spawn_link(fun() ->
        {Socket, _} = log_in(Port),
        write(Socket, ["<message type='chat' to='", Jid, "'><body>", lists:duplicate(200, $x), "</body></message>"], Counts)
    end).

log_in(Port) ->
    {ok, Socket} = gen_tcp:connect("127.0.0.1", Port, [binary, {active, false}, {nodelay, true}]),
    Open = "<?xml version='1.0'?><stream:stream to='localhost' xmlns='jabber:client' "
        "xmlns:stream='http://etherx.jabber.org/streams' version='1.0'>",
    ask(Socket, Open, <<"</stream:features>">>),
    ask(Socket, "<auth xmlns='urn:ietf:params:xml:ns:xmpp-sasl' mechanism='ANONYMOUS'/>", <<"<success">>),
    ask(Socket, Open, <<"</stream:features>">>),
    Bound = ask(Socket, "<iq type='set' id='b'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'/></iq>", <<"</iq>">>),
    {match, [Jid]} = re:run(Bound, "<jid>([^<]+)</jid>", [{capture, all_but_first, binary}]),
    ok = gen_tcp:send(Socket, "<presence/>"),
    {Socket, Jid}.

ask(Socket, Text, Until) ->
    ok = gen_tcp:send(Socket, Text),
    await(Socket, Until, <<>>).

await(Socket, Until, Got) ->
    case binary:match(Got, Until) of
        nomatch ->
            {ok, More} = gen_tcp:recv(Socket, 0, 30000),
            await(Socket, Until, <<Got/binary, More/binary>>);
        _ -> Got
    end.

write(Socket, Message, Counts) ->
    receive
        {stop, From} -> From ! {stopped, self()}, receive never -> ok end % the session stays
    after 0 ->
        case service_load:underway(Counts) < ?WINDOW of
            true -> ok = gen_tcp:send(Socket, Message), service_load:published(Counts, 1);
            false -> receive after 1 -> ok end
        end,
        write(Socket, Message, Counts)
    end.

read(Socket, Counts, Rest) ->
    {ok, More} = gen_tcp:recv(Socket, 0),
    Parts = binary:split(<<Rest/binary, More/binary>>, <<"</message>">>, [global]),
    service_load:consumed(Counts, length(Parts) - 1),
    read(Socket, Counts, lists:last(Parts)).

visit(Port) ->
    {Socket, _} = log_in(Port),
    ok = gen_tcp:close(Socket),
    receive after 50 -> visit(Port) end.
