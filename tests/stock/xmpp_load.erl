%% SPDX-License-Identifier: Apache-2.0
%% Load on an XMPP server that lets anonymous users in: pairs of sessions, one that writes to the other;
%% beside them sessions that come and go.
%%   xmpp_load:start([Port, Dir])   as rabbit_load
-module(xmpp_load).
-export([start/1]).

-define(PAIRS, 4).
-define(WINDOW, 50). % messages of a pair on their way

start([Port0, Dir]) ->
    Port = list_to_integer(atom_to_list(Port0)),
    Counts = [counters:new(2, []) || _ <- lists:seq(1, ?PAIRS)],
    Writers = [start_pair(Port, C) || C <- Counts],
    spawn_link(fun() -> visit(Port) end),
    report(Counts, filename:join(atom_to_list(Dir), "stop")),
    [begin W ! {stop, self()}, receive {stopped, W} -> ok end end || W <- Writers],
    drain(Counts, 200),
    say("total", Counts),
    halt(0).

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
        case counters:get(Counts, 1) - counters:get(Counts, 2) < ?WINDOW of
            true -> ok = gen_tcp:send(Socket, Message), counters:add(Counts, 1, 1);
            false -> receive after 1 -> ok end
        end,
        write(Socket, Message, Counts)
    end.

read(Socket, Counts, Rest) ->
    {ok, More} = gen_tcp:recv(Socket, 0),
    Parts = binary:split(<<Rest/binary, More/binary>>, <<"</message>">>, [global]),
    counters:add(Counts, 2, length(Parts) - 1),
    read(Socket, Counts, lists:last(Parts)).

visit(Port) ->
    {Socket, _} = log_in(Port),
    ok = gen_tcp:close(Socket),
    receive after 50 -> visit(Port) end.

report(Counts, Stop) ->
    say("published", Counts),
    receive after 250 -> ok end,
    case prim_file:read_file_info(Stop) of
        {ok, _} -> ok;
        {error, _} -> report(Counts, Stop)
    end.

drain(Counts, Tries) ->
    case sum(Counts, 1) =:= sum(Counts, 2) of
        false when Tries > 0 -> receive after 100 -> drain(Counts, Tries - 1) end;
        _ -> ok
    end.

sum(Counts, I) -> lists:sum([counters:get(C, I) || C <- Counts]).

say(Word, Counts) -> io:format("~s ~w ~w~n", [Word, sum(Counts, 1), sum(Counts, 2)]).
