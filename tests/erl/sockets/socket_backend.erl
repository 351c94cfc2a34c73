%% SPDX-License-Identifier: Apache-2.0
%% gen_tcp and gen_udp on each of their back ends: the driver, and the module socket.
%% expect: [true,true]
%% expect: [{ok,<<"a packet">>},true,{error,timeout}]
%% expect: <<"one\n">>
%% expect: [<<"two\n">>,<<"three\n">>]
%% expect: passive
%% expect: {ok,[{active,false},{packet,line},{mode,binary},{nodelay,false}]}
%% expect: {ok,[{nodelay,true},{mode,list}]}
%% expect: [{ok,"12"},{ok,"345"}]
%% expect: [{send_oct,100035}]
%% expect: [{error,closed},{error,closed}]
%% expect: <<"last words">>
%% expect: closed
%% expect: {error,closed}
%% expect: {ok,<<"to another">>}
%% expect: {error,closed}
%% expect: "to you"
%% expect: [<<"and back">>,{error,timeout}]
%% expect: "connected"
%% expect: [ok,ok]
%% expect: [{ok,<<"within">>},true]
%% expect: [{error,eaddrinuse},{error,timeout}]
%% expect: [{error,econnrefused},{error,closed}]
%% expect: the_same
-module(socket_backend).
-export([main/0]).
-include("each.hrl").

main() ->
    each(fun(B) -> tcp(B), closing(B), udp(B), local(B), wrong(B) end, [inet, socket]).

pair(B, Options) ->
    {ok, L} = gen_tcp:listen(0, [{inet_backend, B}, binary, {active, false}, {ip, {127, 0, 0, 1}} | Options]),
    {ok, Port} = inet:port(L),
    {ok, C} = gen_tcp:connect({127, 0, 0, 1}, Port, [{inet_backend, B}, binary, {active, false} | Options]),
    {ok, S} = gen_tcp:accept(L),
    ok = gen_tcp:close(L),
    {C, S, Port}.

tcp(B) ->
    {C, S, Port} = pair(B, [{packet, 4}]),
    show([inet:peername(C) =:= {ok, {{127, 0, 0, 1}, Port}}, inet:sockname(S) =:= {ok, {{127, 0, 0, 1}, Port}}]),
    Big = binary:copy(<<"x">>, 100000),
    ok = gen_tcp:send(C, ["a ", <<"packet">>]),
    ok = gen_tcp:send(C, Big),
    show([gen_tcp:recv(S, 0), gen_tcp:recv(S, 0) =:= {ok, Big}, gen_tcp:recv(S, 0, 10)]),
    ok = inet:setopts(S, [{active, once}, {packet, line}]),
    ok = inet:setopts(C, [{packet, raw}]),
    ok = gen_tcp:send(C, <<"one\ntwo\nthr">>),
    receive {tcp, S, One} -> show(One) end,
    ok = inet:setopts(S, [{active, 2}]),
    ok = gen_tcp:send(C, <<"ee\n">>),
    show([receive {tcp, S, D} -> D end || _ <- [1, 2]]),
    receive {tcp_passive, S} -> show(passive) end,
    show(inet:getopts(S, [active, packet, mode, nodelay])),
    ok = inet:setopts(S, [{nodelay, true}, list, {packet, 0}]),
    show(inet:getopts(S, [nodelay, mode])),
    ok = gen_tcp:send(C, <<"12345">>),
    show([gen_tcp:recv(S, 2), gen_tcp:recv(S, 3)]),
    {ok, Stat} = inet:getstat(C, [send_oct]),
    show(Stat),
    [ok = gen_tcp:close(X) || X <- [C, S]],
    show([gen_tcp:send(C, "x"), closed(B, gen_tcp:recv(S, 0))]).

%% What OTP 27 has made of a closed socket on the module socket.
closed(socket, {error, einval}) -> {error, closed};
closed(_, Answer) -> Answer.

closing(B) ->
    {C, S, _} = pair(B, []),
    ok = inet:setopts(S, [{active, true}]),
    ok = gen_tcp:send(C, "last words"),
    ok = gen_tcp:shutdown(C, write),
    receive {tcp, S, Words} -> show(Words) end,
    receive {tcp_closed, S} -> show(closed) end,
    ok = gen_tcp:close(S),
    show(gen_tcp:recv(C, 0)),
    ok = gen_tcp:close(C),
    {C2, S2, _} = pair(B, []),
    Me = self(),
    P = spawn_link(fun () -> receive go -> Me ! {self(), gen_tcp:recv(S2, 0)} end end),
    ok = gen_tcp:controlling_process(S2, P),
    P ! go,
    ok = gen_tcp:send(C2, "to another"),
    receive {P, R} -> show(R) end,
    show(gen_tcp:recv(C2, 0)), % its owner is gone
    ok = gen_tcp:close(C2).

udp(B) ->
    {ok, U} = gen_udp:open(0, [{inet_backend, B}, binary, {active, false}, {ip, {127, 0, 0, 1}}]),
    {ok, V} = gen_udp:open(0, [{inet_backend, B}, {active, true}, {ip, {127, 0, 0, 1}}]),
    {ok, UPort} = inet:port(U),
    {ok, VPort} = inet:port(V),
    ok = gen_udp:send(U, {127, 0, 0, 1}, VPort, <<"to you">>),
    receive {udp, V, {127, 0, 0, 1}, UPort, D} -> show(D) end,
    ok = gen_udp:send(V, {{127, 0, 0, 1}, UPort}, "and back"),
    {ok, {{127, 0, 0, 1}, VPort, D2}} = gen_udp:recv(U, 0),
    show([D2, gen_udp:recv(U, 0, 10)]),
    ok = gen_udp:connect(U, {127, 0, 0, 1}, VPort),
    ok = gen_udp:send(U, <<"connected">>),
    receive {udp, V, {127, 0, 0, 1}, UPort, D3} -> show(D3) end,
    show([gen_udp:close(U), gen_udp:close(V)]).

local(B) ->
    File = filename:join("/tmp", "erl_backend_" ++ os:getpid()),
    {ok, L} = gen_tcp:listen(0, [{inet_backend, B}, binary, {active, false}, {ifaddr, {local, File}}]),
    {ok, C} = gen_tcp:connect({local, File}, 0, [{inet_backend, B}, binary, {active, false}]),
    {ok, S} = gen_tcp:accept(L),
    ok = gen_tcp:send(C, "within"),
    show([gen_tcp:recv(S, 6), inet:peername(C) =:= {ok, {local, list_to_binary(File)}}]),
    [ok = gen_tcp:close(X) || X <- [C, S, L]],
    ok = file:delete(File).

wrong(B) ->
    {ok, L} = gen_tcp:listen(0, [{inet_backend, B}, {ip, {127, 0, 0, 1}}]),
    {ok, Port} = inet:port(L),
    show([gen_tcp:listen(Port, [{inet_backend, B}, {ip, {127, 0, 0, 1}}]), gen_tcp:accept(L, 10)]),
    ok = gen_tcp:close(L),
    show([gen_tcp:connect({127, 0, 0, 1}, Port, [{inet_backend, B}]), closed(B, gen_tcp:accept(L))]).
