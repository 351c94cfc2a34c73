%% SPDX-License-Identifier: Apache-2.0
%% A peer that does not read: senders wait, give up after their time, are told; nothing of what was taken is lost. And very many who come and go.
%% expect: [false,true]
%% expect: [5000000,[sent,sent,sent,sent,sent]]
%% expect: {ok,[connected,open]}
%% expect: {error,timeout}
%% expect: {error,timeout}
%% expect: {error,timeout}
%% expect: {error,enotconn}
%% expect: {error,closed}
%% expect: {error,timeout}
%% expect: 2000000
%% expect: false
%% expect: [1000000,{error,closed}]
%% expect: [done,done,done,done,done,done,done,done]
%% expect: back
%% expect: []
-module(tcp_busy).
-export([main/0]).

main() ->
    {ok, L} = gen_tcp:listen(0, [binary, {active, false}, {recbuf, 4096}, {backlog, 200}]), {ok, P} = inet:port(L),
    waits(L, P), gives_up(L, P), closes(L, P), nosuspend(L, P), lingers(L, P), shut(L, P),
    storm(L, P),
    gen_tcp:close(L),
    show([X || X <- erlang:ports(), erlang:port_info(X, name) =:= {name, "tcp_inet"}]).

small() -> [binary, {active, false}, {sndbuf, 4096}, {recbuf, 4096}].
pair(L, P, O) -> {ok, C} = gen_tcp:connect({127,0,0,1}, P, O ++ small()), {ok, S} = gen_tcp:accept(L), {C, S}.

%% Several senders, all of whose bytes come in the end.
waits(L, P) ->
    {C, S} = pair(L, P, []),
    Part = binary:copy(<<"x">>, 50000),
    Pids = [spawn_monitor(fun() -> [ok = gen_tcp:send(C, Part) || _ <- lists:seq(1, 20)], exit(sent) end) || _ <- lists:seq(1, 5)],
    wait(fun() -> {ok, St} = prim_inet:getstatus(C), lists:member(busy, St) end),
    show([erlang:port_command(C, "x", [nosuspend]), element(2, hd(element(2, inet:getstat(C, [send_pend])))) > 0]),
    {ok, Got} = gen_tcp:recv(S, 5 * 20 * 50000),
    show([byte_size(Got), [receive {'DOWN', M, _, _, W} -> W end || {_, M} <- Pids]]),
    show(prim_inet:getstatus(C)),
    [gen_tcp:close(X) || X <- [C, S]].

gives_up(L, P) ->
    {C, S} = pair(L, P, [{send_timeout, 30}]),
    show(fill(C)),
    show(gen_tcp:send(C, "still open, and full")),
    {ok, _} = gen_tcp:recv(S, 0),
    [gen_tcp:close(X) || X <- [S, C]],
    {C2, S2} = pair(L, P, [{send_timeout, 30}, {send_timeout_close, true}]),
    show(fill(C2)),
    show(gen_tcp:send(C2, "closed")),
    [gen_tcp:close(X) || X <- [S2, C2]].
fill(C) -> case gen_tcp:send(C, binary:copy(<<"y">>, 100000)) of ok -> fill(C); E -> E end.

%% The peer ends while a sender waits.
closes(L, P) ->
    {C, S} = pair(L, P, []),
    Self = self(),
    Pid = spawn_link(fun() -> Self ! {ended, fill(C)} end),
    wait(fun() -> {ok, St} = prim_inet:getstatus(C), lists:member(busy, St) end),
    gen_tcp:close(S),
    show(receive {ended, E} -> E end),
    false = is_process_alive(Pid) andalso process_info(Pid, status) =:= {status, suspended},
    gen_tcp:close(C).

nosuspend(L, P) ->
    {C, S} = pair(L, P, [{send_timeout, 0}]),
    show(fill(C)),
    gen_tcp:close(S), gen_tcp:close(C).

%% What is queued goes out after the close.
lingers(L, P) ->
    {C, S} = pair(L, P, [{linger, {true, 10}}, {high_watermark, 3000000}]),
    ok = gen_tcp:send(C, binary:copy(<<"z">>, 2000000)),
    Self = self(),
    spawn_link(fun() -> Self ! {got, byte_size(element(2, gen_tcp:recv(S, 2000000)))} end),
    ok = gen_tcp:close(C),
    show(receive {got, N} -> N end),
    show(gen_tcp:recv(S, 0, 0) =:= {ok, <<>>}),
    gen_tcp:close(S).

shut(L, P) ->
    {C, S} = pair(L, P, [{high_watermark, 3000000}]),
    ok = gen_tcp:send(C, binary:copy(<<"z">>, 1000000)),
    ok = gen_tcp:shutdown(C, write),
    {ok, B} = gen_tcp:recv(S, 1000000),
    show([byte_size(B), gen_tcp:recv(S, 0)]),
    [gen_tcp:close(X) || X <- [C, S]].

%% Thousands of connections, from several at once, each with a question and an answer; descriptors are back in the end.
storm(L, P) ->
    Before = descriptors(),
    Servers = [spawn_link(fun() -> serve(L) end) || _ <- lists:seq(1, 4)],
    Pids = [spawn_monitor(fun() -> [ask(P, N) || N <- lists:seq(1, 250)], exit(done) end) || _ <- lists:seq(1, 8)],
    show([receive {'DOWN', M, _, _, W} -> W end || {_, M} <- Pids]),
    [begin unlink(X), exit(X, kill) end || X <- Servers],
    wait(fun() -> descriptors() =< Before end),
    show(back).
descriptors() -> length(element(2, file:list_dir("/proc/self/fd"))).
serve(L) -> {ok, S} = gen_tcp:accept(L), {ok, <<N:32>>} = gen_tcp:recv(S, 4), ok = gen_tcp:send(S, <<(N + 1):32>>), gen_tcp:close(S), serve(L).
ask(P, N) ->
    {ok, C} = gen_tcp:connect({127,0,0,1}, P, [binary, {active, N rem 2 =:= 0}]),
    ok = gen_tcp:send(C, <<N:32>>),
    M = N + 1,
    case N rem 2 of
        0 -> receive {tcp, C, <<M:32>>} -> ok end, receive {tcp_closed, C} -> ok end;
        1 -> {ok, <<M:32>>} = gen_tcp:recv(C, 4), gen_tcp:close(C)
    end.
wait(F) -> case F() of true -> ok; _ -> timer:sleep(2), wait(F) end.
show(X) -> io:format("~0p~n", [X]).
