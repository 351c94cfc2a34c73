%% SPDX-License-Identifier: Apache-2.0
%% A known amount of work for an XMPP server that lets anonymous users in, and how long it took.
%%   xmpp_work:start([Port, Logins, Messages])   prints "logins N SECONDS", "messages N SECONDS", the second only when each message
%%                                               came, once and in its order; then ends the node
-module(xmpp_work).
-export([start/1]).

-define(VISITORS, 10).
-define(PAIRS, 4).
-define(WINDOW, 100). % messages of a pair on their way

start(Words) ->
    [Port, Logins, Messages] = [list_to_integer(atom_to_list(W)) || W <- Words],
    timed("logins", Logins, ?VISITORS, fun(_, N) -> visit(Port, N) end),
    timed("messages", Messages, ?PAIRS, fun(_, N) -> chat(Port, N) end),
    halt(0).

%% Shares N out to so many processes and waits until all are done; one that fails takes the node along.
timed(_, 0, _, _) -> ok;
timed(What, N, Workers, Work) ->
    Begun = erlang:monotonic_time(),
    Self = self(),
    Share = N div Workers,
    Pids = [spawn_link(fun() -> Work(I, Share), Self ! {done, self()} end) || I <- lists:seq(1, Workers)],
    [receive {done, P} -> ok end || P <- Pids],
    Spent = erlang:convert_time_unit(erlang:monotonic_time() - Begun, native, millisecond),
    io:format("~s ~w ~.3f~n", [What, Share * Workers, Spent / 1000]).

visit(_, 0) -> ok;
visit(Port, N) ->
    {Socket, _} = xmpp_load:log_in(Port),
    ok = gen_tcp:send(Socket, "</stream:stream>"),
    ok = await_close(Socket),
    visit(Port, N - 1).

await_close(Socket) ->
    case gen_tcp:recv(Socket, 0, 30000) of
        {ok, _} -> await_close(Socket);
        {error, closed} -> gen_tcp:close(Socket)
    end.

%% One session writes N numbered messages, ?WINDOW ahead at most, to another, which reads them.
chat(Port, N) ->
    Self = self(),
    Writer = spawn_link(fun() ->
        {Socket, _} = xmpp_load:log_in(Port),
        receive {to, Jid} -> write(Socket, Jid, 1, N, ?WINDOW) end,
        Self ! written,
        receive never -> ok end % the session stays
    end),
    {Socket, Jid} = xmpp_load:log_in(Port),
    Writer ! {to, Jid},
    read(Socket, Writer, 1, N, <<>>),
    receive written -> ok end,
    unlink(Writer),
    exit(Writer, kill).

write(_, _, I, N, _) when I > N -> ok;
write(Socket, Jid, I, N, 0) ->
    receive {read, Some} -> write(Socket, Jid, I, N, Some) end;
write(Socket, Jid, I, N, Window) ->
    ok = gen_tcp:send(Socket, ["<message type='chat' to='", Jid, "'><body>#", integer_to_list(I), "#",
                               lists:duplicate(200, $x),
        "</body></message>"]),
    write(Socket, Jid, I + 1, N, Window - 1).

read(_, _, I, N, _) when I > N -> ok;
read(Socket, Writer, I, N, Rest) ->
    {ok, More} = gen_tcp:recv(Socket, 0, 60000),
    Parts = binary:split(<<Rest/binary, More/binary>>, <<"</message>">>, [global]),
    Whole = lists:droplast(Parts),
    [{_, true} = {J, binary:match(Text, <<"<body>#", (integer_to_binary(J))/binary, "#">>) =/= nomatch}
        || {J, Text} <- lists:enumerate(I, Whole)],
    Writer ! {read, length(Whole)},
    read(Socket, Writer, I + length(Whole), N, lists:last(Parts)).
