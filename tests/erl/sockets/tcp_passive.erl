%% SPDX-License-Identifier: Apache-2.0
%% Connections whose bytes are asked for: lengths, time-outs, several acceptors, ends, unread bytes, what is refused.
%% expect: ok
%% expect: [{ok,<<"he">>},{ok,<<"llo!">>}]
%% expect: [{error,timeout},{error,timeout}]
%% expect: [{error,timeout},ok,{ok,<<"partly six">>}]
%% expect: {error,enomem}
%% expect: {ok,<<"for one">>}
%% expect: [{ok,<<"aga">>},{ok,<<"in">>}]
%% expect: true
%% expect: ok
%% expect: [{error,closed},{error,enotconn}]
%% expect: {error,closed}
%% expect: [{error,closed},{error,closed},{error,einval},{error,einval}]
%% expect: {error,timeout}
%% expect: [1,2,3,4,5,6,7,8,9,10]
%% expect: {error,closed}
%% expect: [{error,timeout},{error,timeout}]
%% expect: ok
%% expect: {error,closed}
%% expect: {error,econnrefused}
%% expect: []
%% expect: {ok,"abcd"}
%% expect: {ok,[97,98|<<"cd">>]}
%% expect: {ok,"a"}
%% expect: [{127,0,0,1},true,true,{error,enotconn}]
%% expect: [ok,{ok,{{1,2,3,4},5}},ok,true]
%% expect: [{ok,[listen,open]},{ok,[connected,open]},{ok,{inet,stream}}]
%% expect: [true,{name,"tcp_inet"},true]
%% expect: true
%% expect: {error,closed}
%% expect: [{error,closed},{error,closed}]
%% expect: [ok,{error,not_owner}]
%% expect: {other,tcp,"for the other"}
%% expect: {error,closed}
%% expect: []
-module(tcp_passive).
-export([main/0]).

main() ->
    {L, P} = listen([binary, {active, false}]),
    {C, S} = pair(L, P, [binary, {active, false}]),
    show(gen_tcp:send(C, ["he", <<"llo">>, $!])),
    show([gen_tcp:recv(S, 2), gen_tcp:recv(S, 4)]),
    show([gen_tcp:recv(S, 0, 0), gen_tcp:recv(S, 1, 20)]),
    ok = gen_tcp:send(C, "part"),
    show([gen_tcp:recv(S, 10, 50), gen_tcp:send(C, "ly six"), gen_tcp:recv(S, 10)]),
    show(gen_tcp:recv(S, 64 bsl 20 + 1)),
    Self = self(),
    spawn_link(fun() -> Self ! {second, gen_tcp:recv(S, 0)} end),
    wait(fun() -> erlang:port_info(S, queue_size) =:= {queue_size, 0} andalso gen_tcp:recv(S, 0, 0) =:= {error, ealready} end),
    ok = gen_tcp:send(C, "for one"),
    show(receive {second, R} -> R end),
    ok = gen_tcp:unrecv(S, <<"again">>),
    show([gen_tcp:recv(S, 3), gen_tcp:recv(S, 0)]),
    large(C, S),
    show(gen_tcp:shutdown(C, write)),
    show([gen_tcp:recv(S, 0), gen_tcp:recv(S, 0)]),
    show(gen_tcp:send(C, "no more")),
    ok = gen_tcp:close(S),
    ok = gen_tcp:close(C),
    show([gen_tcp:send(C, "x"), gen_tcp:recv(C, 0), inet:peername(C), inet:port(C)]),
    acceptors(L, P),
    show([gen_tcp:accept(L, 0), gen_tcp:accept(L, 20)]),
    show(gen_tcp:close(L)),
    show(gen_tcp:accept(L)),
    show(gen_tcp:connect({127,0,0,1}, P, [])),
    show([gen_tcp:listen(P0, []) || P0 <- [-1, 65536, foo], is_integer(P0), catches(P0)]),
    lists(), names(), ends_of_owners(),
    show([X || X <- erlang:ports(), erlang:port_info(X, name) =:= {name, "tcp_inet"}]).

catches(P) -> case catch gen_tcp:listen(P, []) of {'EXIT', _} -> false; _ -> true end.

large(C, S) ->
    Data = binary:copy(<<"0123456789">>, 200000),
    spawn_link(fun() -> ok = gen_tcp:send(C, Data) end),
    {ok, Got} = gen_tcp:recv(S, byte_size(Data)),
    show(Got =:= Data).

%% As many connections as acceptors, which wait before; those who die are forgotten, those whose time is over are told.
acceptors(L, P) ->
    Self = self(),
    As = [spawn_link(fun() -> {ok, S} = gen_tcp:accept(L), {ok, N} = gen_tcp:recv(S, 2), gen_tcp:close(S), Self ! {got, N} end) || _ <- lists:seq(1, 10)],
    Dead = [spawn(fun() -> gen_tcp:accept(L) end) || _ <- lists:seq(1, 3)],
    spawn_link(fun() -> Self ! {late, gen_tcp:accept(L, 30)} end),
    wait(fun() -> lists:all(fun(A) -> process_info(A, status) =:= {status, waiting} end, As ++ Dead) end),
    [begin M = monitor(process, D), exit(D, kill), receive {'DOWN', M, _, _, _} -> ok end end || D <- Dead],
    show(receive {late, T} -> T end),
    [begin {ok, C} = gen_tcp:connect("localhost", P, []), ok = gen_tcp:send(C, <<N:16>>), gen_tcp:close(C) end || N <- lists:seq(1, 10)],
    show(lists:sort([receive {got, <<N:16>>} -> N end || _ <- As])),
    ok = gen_tcp:close(element(2, gen_tcp:connect({127,0,0,1}, P, []))),
    {ok, S} = gen_tcp:accept(L),
    show(gen_tcp:recv(S, 0)),
    gen_tcp:close(S).

lists() ->
    {L, P} = listen([list, {active, false}, {header, 2}]),
    {C, S} = pair(L, P, [binary, {active, false}, {header, 2}]),
    ok = gen_tcp:send(C, "abcd"), show(gen_tcp:recv(S, 4)),
    ok = gen_tcp:send(S, "abcd"), show(gen_tcp:recv(C, 4)),
    ok = gen_tcp:send(S, "a"), show(gen_tcp:recv(C, 1)),
    [gen_tcp:close(X) || X <- [L, C, S]].

names() ->
    {L, P} = listen([]),
    {C, S} = pair(L, P, []),
    {ok, {Ip, P1}} = inet:sockname(C),
    show([Ip, inet:peername(S) =:= {ok, {Ip, P1}}, inet:peername(C) =:= {ok, {Ip, P}}, inet:peername(L)]),
    show([inet:setpeername(C, {{1,2,3,4}, 5}), inet:peername(C), inet:setpeername(C, undefined), inet:peername(C) =:= {ok, {Ip, P}}]),
    show([prim_inet:getstatus(L), prim_inet:getstatus(C), prim_inet:gettype(C)]),
    show([is_integer(element(2, prim_inet:getfd(C))), erlang:port_info(C, name), erlang:port_info(C, connected) =:= {connected, self()}]),
    show(lists:member(C, element(2, process_info(self(), links)))),
    [gen_tcp:close(X) || X <- [L, C, S]].

%% Who owns a connection ends: it is closed. Owners change.
ends_of_owners() ->
    {L, P} = listen([{active, false}]),
    Self = self(),
    Pid = spawn(fun() -> {ok, C} = gen_tcp:connect({127,0,0,1}, P, []), Self ! {c, C}, receive stop -> ok end end),
    C = receive {c, C0} -> C0 end,
    {ok, S} = gen_tcp:accept(L),
    Pid ! stop,
    show(gen_tcp:recv(S, 0)),
    show([gen_tcp:send(C, "x"), gen_tcp:controlling_process(C, self())]),
    {C2, S2} = pair(L, P, [{active, true}]),
    Other = spawn(fun() -> receive M -> Self ! {other, element(1, M), element(3, M)} end, receive stop -> ok end end),
    show([gen_tcp:controlling_process(C2, Other), gen_tcp:controlling_process(C2, Self)]),
    ok = gen_tcp:send(S2, "for the other"),
    show(receive {other, _, _} = O -> O end),
    Other ! stop,
    show(gen_tcp:recv(S2, 0)),
    [gen_tcp:close(X) || X <- [L, S, S2]].

listen(O) -> {ok, L} = gen_tcp:listen(0, O), {ok, P} = inet:port(L), {L, P}.
pair(L, P, O) -> {ok, C} = gen_tcp:connect({127,0,0,1}, P, O), {ok, S} = gen_tcp:accept(L), {C, S}.
wait(F) -> case F() of true -> ok; _ -> timer:sleep(1), wait(F) end.
show(X) -> io:format("~0p~n", [X]).
