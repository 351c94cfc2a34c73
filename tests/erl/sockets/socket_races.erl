%% SPDX-License-Identifier: Apache-2.0
%% The module socket: many processes at one socket at once, while another closes it or its owner dies. What each is
%% answered is one of a few; each comes to its end, all bytes arrive once, and nothing is left.
%% On OTP 29 readers of the first step stood still (twice in one run of all programs, on two processors), and nobody woke them.
%% erl crashes: 29
%% expect: [{bytes,4000000},{bytes,4000000}]
%% expect: [closed]
%% expect: [closed]
%% expect: done
%% expect: done
%% expect: nothing_left
-module(socket_races).
-export([main/0]).
-include("pair.hrl").

main() ->
    Before = descriptors(),
    show(both_ways(4000000)),
    show(lists:usort([crowd(fun close/2) || _ <- rounds()])),
    show(lists:usort([crowd(fun end_owner/2) || _ <- rounds()])),
    [cancelled() || _ <- rounds()],
    show(done),
    [accepted() || _ <- rounds()],
    show(done),
    %% Not by its counters: OTP's num_sockets was seen at 1 when there was no socket any more.
    wait(fun () -> descriptors() =:= Before andalso socket:number_of() =:= 0 end),
    show(nothing_left).

rounds() -> lists:seq(1, 30).

%% A process reads a socket while another writes to it, at both ends.
both_ways(Bytes) ->
    {C, S} = pair(),
    Writers = [run(fun () -> write(Socket, Bytes) end) || Socket <- [C, S]],
    Readers = [run(fun () -> read(Socket, Bytes) end) || Socket <- [C, S]],
    Asker = run(fun () -> ask(S) end),
    [ok = ended(P) || P <- Writers],
    Read = [{bytes, ended(P)} || P <- Readers],
    [ok = socket:close(Socket) || Socket <- [C, S]],
    closed = ended(Asker),
    Read.

write(_, 0) -> ok;
write(S, Left) ->
    N = min(Left, 50000),
    ok = socket:send(S, binary:copy(<<"x">>, N)),
    write(S, Left - N).

read(S, Bytes) -> read(S, Bytes, 0).

read(_, Bytes, Bytes) -> Bytes;
read(S, Bytes, Got) ->
    {ok, B} = socket:recv(S, 0),
    read(S, Bytes, Got + byte_size(B)).

%% Until it is closed: what else can be asked of a socket, and changed.
ask(S) ->
    case [socket:getopt(S, {otp, rcvbuf}), socket:setopt(S, {otp, rcvbuf}, 8192), socket:setopt(S, {tcp, nodelay}, true),
          socket:sockname(S), socket:peername(S)] of
        [{ok, 8192}, ok, ok, {ok, _}, {ok, _}] ->
            #{counters := #{read_byte := _}} = socket:info(S),
            ask(S);
        Answers ->
            true = lists:member({error, closed}, Answers),
            closed
    end.

%% Readers, writers and askers, until End ends the socket: what the last word was to all.
crowd(End) ->
    {C, Owner, S} = owned_pair(),
    Ps = [run(fun () -> Do(S) end) || Do <- [fun receive_all/1, fun receive_all/1, fun receive_all/1, fun send_all/1,
                                             fun send_all/1, fun send_all/1, fun ask/1, fun poll_all/1]],
    Peer = run(fun () -> read_some(C, 300000) end),
    ended(Peer),
    End(S, Owner),
    [closed = ended(P) || P <- Ps],
    ok = socket:close(C),
    {error, closed} = socket:recv(S),
    Owner ! stop,
    closed.

close(S, _) -> ok = socket:close(S).

end_owner(_, Owner) -> exit(Owner, kill).

owned_pair() ->
    {C, S} = pair(),
    Owner = spawn(fun () -> receive stop -> ok end end),
    ok = socket:setopt(S, {otp, controlling_process}, Owner),
    ok = socket:send(C, binary:copy(<<"y">>, 100000)),
    {C, Owner, S}.

receive_all(S) ->
    case socket:recv(S, 0) of
        {ok, _} -> receive_all(S);
        {error, closed} -> closed
    end.

send_all(S) ->
    case socket:send(S, binary:copy(<<"z">>, 20000)) of
        ok -> send_all(S);
        {error, {closed, _}} -> closed;
        {error, closed} -> closed
    end.

read_some(_, Left) when Left =< 0 -> ok;
read_some(C, Left) ->
    {ok, B} = socket:recv(C, 0),
    read_some(C, Left - byte_size(B)).

%% Asks, and takes it back at once: cancel/2 also takes a message that has come already.
poll_all(S) ->
    case socket:recv(S, 0, nowait) of
        {ok, _} -> poll_all(S);
        {select, Info} ->
            case socket:cancel(S, select_info(Info)) of
                {error, closed} -> closed;
                _ -> poll_all(S)
            end;
        {error, closed} -> closed
    end.

select_info({{select_info, _, _} = Info, _}) -> Info;
select_info(Info) -> Info.

%% Bytes come while the request for them is taken back: no message of it is left.
cancelled() ->
    {C, S} = pair(),
    {select, {select_info, recv, Ref} = Info} = socket:recv(S, 0, nowait),
    Sender = run(fun () -> socket:send(C, "x") end),
    ok = socket:cancel(S, Info),
    receive {'$socket', S, select, Ref} -> exit(cancelled) after 0 -> ok end,
    ok = ended(Sender),
    {ok, <<"x">>} = socket:recv(S),
    [ok = socket:close(X) || X <- [C, S]].

%% Several accept, connections come, and the one that listens is closed meanwhile.
accepted() ->
    {ok, L} = socket:open(inet, stream, tcp),
    ok = socket:bind(L, #{family => inet, addr => loopback, port => 0}),
    ok = socket:listen(L),
    {ok, At} = socket:sockname(L),
    Accepting = [run(fun () -> accept_all(L) end) || _ <- [1, 2, 3]],
    Connecting = [run(fun () -> connect_some(At, 5) end) || _ <- [1, 2]],
    [ok = ended(P) || P <- Connecting],
    ok = socket:close(L),
    [closed = ended(P) || P <- Accepting].

accept_all(L) ->
    case socket:accept(L) of
        {ok, S} ->
            ok = socket:close(S),
            accept_all(L);
        {error, closed} -> closed
    end.

connect_some(_, 0) -> ok;
connect_some(At, N) ->
    {ok, C} = socket:open(inet, stream, tcp),
    ok = socket:connect(C, At),
    case socket:recv(C) of
        {error, closed} -> ok;
        {error, econnreset} -> ok
    end,
    ok = socket:close(C),
    connect_some(At, N - 1).

run(Fun) ->
    spawn_monitor(fun () -> exit({done, Fun()}) end).

ended({P, M}) ->
    receive
        {'DOWN', M, process, P, {done, R}} -> R;
        {'DOWN', M, process, P, Why} -> exit(Why)
    end.
