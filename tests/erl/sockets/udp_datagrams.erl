%% SPDX-License-Identifier: Apache-2.0
%% Datagrams: asked for and told, of both internets, with what comes beside them; peers, limits, errors.
%% expect: [ok,ok]
%% expect: [{udp,port,{127,0,0,1},from,[97,98|<<"cd">>]},{udp,port,{127,0,0,1},from,[]}]
%% expect: [send_cnt,send_oct,recv_cnt]
%% expect: [{ok,[{send_cnt,2},{send_oct,4},{send_max,4},{send_avg,2}]},{ok,[{recv_cnt,2},{recv_oct,4},{recv_max,4},{recv_avg,2},{recv_dvi,1},{send_pend,0}]}]
%% expect: [ok,ok]
%% expect: [{udp,port,{0,0,0,0,0,0,0,1},from,[97,98|<<"cd">>]},{udp,port,{0,0,0,0,0,0,0,1},from,[]}]
%% expect: [send_cnt,send_oct,recv_cnt]
%% expect: [{ok,[{send_cnt,2},{send_oct,4},{send_max,4},{send_avg,2}]},{ok,[{recv_cnt,2},{recv_oct,4},{recv_max,4},{recv_avg,2},{recv_dvi,1},{send_pend,0}]}]
%% expect: {{127,0,0,1},from,"list"}
%% expect: 5000
%% expect: [{error,timeout},{error,timeout}]
%% expect: [ok,{error,einval}]
%% expect: [{udp,port,{127,0,0,1},from,"one"},nothing]
%% expect: [{udp,port,{127,0,0,1},from,"two"},{ok,[{active,1}]}]
%% expect: [{udp,port,{127,0,0,1},from,"three"},{udp_passive,port}]
%% expect: {error,emsgsize}
%% expect: [ok,true,ok]
%% expect: {udp,port,{127,0,0,1},from,<<"to the peer">>}
%% expect: {error,timeout}
%% expect: {{127,0,0,1},[{tos,16},{ttl,7}],<<"with">>}
%% expect: {{127,0,0,1},[{tos,8},{ttl,33}],<<"its own">>}
%% expect: {[{tos,16},{ttl,7}],<<"asked">>}
%% expect: {error,econnrefused}
%% expect: [{error,eaddrnotavail},{error,eaddrnotavail}]
%% expect: [ok,ok]
%% expect: [{error,closed},{error,closed},{error,einval}]
%% expect: []
-module(udp_datagrams).
-export([main/0]).

main() ->
    [exchange(F, A) || {F, A} <- [{inet, {127,0,0,1}}, {inet6, {0,0,0,0,0,0,0,1}}]],
    {A, Pa} = open([binary]), {B, Pb} = open([{active, false}]),
    ok = gen_udp:send(A, {127,0,0,1}, Pb, "list"),
    show(from(Pa, gen_udp:recv(B, 0))),
    ok = gen_udp:send(A, "localhost", Pb, binary:copy(<<"x">>, 5000)),
    {ok, {_, _, Long}} = gen_udp:recv(B, 0),
    show(length(Long)),
    show([gen_udp:recv(B, 0, 0), gen_udp:recv(B, 0, 20)]),
    show([inet:setopts(B, [{active, once}]), gen_udp:recv(B, 0)]),
    ok = gen_udp:send(A, {127,0,0,1}, Pb, "one"), ok = gen_udp:send(A, {127,0,0,1}, Pb, "two"),
    show([from(Pa, next()), next(20)]),
    ok = inet:setopts(B, [{active, 2}]),
    show([from(Pa, next()), inet:getopts(B, [active])]),
    ok = gen_udp:send(A, {127,0,0,1}, Pb, "three"),
    show([from(Pa, next()), next()]),
    show(gen_udp:send(A, {127,0,0,1}, Pb, binary:copy(<<"x">>, 70000))),
    show([gen_udp:connect(B, {127,0,0,1}, Pa), inet:peername(B) =:= {ok, {{127,0,0,1}, Pa}}, gen_udp:send(B, "to the peer")]),
    show(from(Pb, next())),
    {C, Pc} = open([]),
    ok = gen_udp:send(C, {127,0,0,1}, Pb, "not from the peer"),
    ok = inet:setopts(B, [{active, false}]),
    show(gen_udp:recv(B, 0, 20)),
    ok = gen_udp:close(C), _ = Pc,
    beside(), refused(),
    show([gen_udp:close(X) || X <- [A, B]]),
    show([gen_udp:send(A, {127,0,0,1}, Pb, "x"), gen_udp:recv(B, 0), inet:sockname(A)]),
    show([X || X <- erlang:ports(), erlang:port_info(X, name) =:= {name, "udp_inet"}]).

exchange(F, Address) ->
    {ok, A} = gen_udp:open(0, [binary, F, {ip, Address}]), {ok, B} = gen_udp:open(0, [binary, F, {ip, Address}, {header, 2}]),
    {ok, {Address, Pb}} = inet:sockname(B), {ok, Pa} = inet:port(A),
    show([gen_udp:send(A, Address, Pb, ["a", <<"bc">>, $d]), gen_udp:send(A, {Address, Pb}, <<>>)]),
    show([from(Pa, next()), from(Pa, next())]),
    show([element(1, X) || X <- element(2, inet:getstat(A, [send_cnt, send_oct, recv_cnt]))]),
    show([inet:getstat(A, [send_cnt, send_oct, send_max, send_avg]), inet:getstat(B, [recv_cnt, recv_oct, recv_max, recv_avg, recv_dvi, send_pend])]),
    [gen_udp:close(X) || X <- [A, B]].

%% What a datagram carries beside its data.
beside() ->
    {ok, A} = gen_udp:open(0, [binary]), {ok, B} = gen_udp:open(0, [binary, {recvtos, true}, {recvttl, true}]),
    {ok, Pb} = inet:port(B), {ok, Pa} = inet:port(A),
    ok = inet:setopts(A, [{tos, 16}, {ttl, 7}]),
    ok = gen_udp:send(A, {127,0,0,1}, Pb, "with"),
    show(case from(Pa, next()) of {udp, port, Ip, from, Anc, D} -> {Ip, lists:sort(Anc), D} end),
    ok = gen_udp:send(A, {{127,0,0,1}, Pb}, [{ttl, 33}, {tos, 8}], "its own"),
    show(case from(Pa, next()) of {udp, port, Ip2, from, Anc2, D2} -> {Ip2, lists:sort(Anc2), D2} end),
    ok = inet:setopts(B, [{active, false}]),
    ok = gen_udp:send(A, {127,0,0,1}, Pb, "asked"),
    {ok, {_, _, Anc3, D3}} = gen_udp:recv(B, 0),
    show({lists:sort(Anc3), D3}),
    [gen_udp:close(X) || X <- [A, B]].

%% Nobody is there: the kernel tells a socket that has that peer.
refused() ->
    {ok, A} = gen_udp:open(0, [binary, {active, false}]), {B, Pb} = open([]),
    gen_udp:close(B),
    ok = gen_udp:connect(A, {127,0,0,1}, Pb),
    ok = gen_udp:send(A, "x"),
    show(gen_udp:recv(A, 0)),
    gen_udp:close(A),
    show([gen_udp:open(0, [{ip, {1,2,3,4}}]), gen_udp:open(0, [inet6, {ip, {0,0,0,0,0,0,0,99}}])]).

open(O) -> {ok, S} = gen_udp:open(0, [{ip, {127,0,0,1}} | O]), {ok, P} = inet:port(S), {S, P}.
from(P, {ok, {Ip, P, D}}) -> {Ip, from, D};
from(P, M) when element(4, M) =:= P -> setelement(4, M, from);
from(_, M) -> M.
next() -> next(5000).
next(Ms) -> receive M when is_port(element(2, M)), element(1, M) =/= 'EXIT' -> setelement(2, M, port) after Ms -> nothing end.
show(X) -> io:format("~0p~n", [X]).
