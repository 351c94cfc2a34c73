%% SPDX-License-Identifier: Apache-2.0
%% SCTP sockets with several addresses, of one association (stream), of the newer internet; what comes beside messages.
%% expect: [{{127,0,0,1},n},{{127,0,0,2},n}]
%% expect: true
%% expect: {ok,{{127,0,0,1},n,[],{sctp_assoc_change,comm_up,0,10,10,id}}}
%% expect: {sctp,port,{127,0,0,1},n,{[],{sctp_assoc_change,comm_up,0,10,10,id}}}
%% expect: {sctp,port,{127,0,0,1},n,{[],{sctp_adaptation_event,168496141,id}}}
%% expect: [{{127,0,0,1},n},{{127,0,0,2},n}]
%% expect: [{error,eisconn},{error,eisconn}]
%% expect: [{ok,[listen,open]},{ok,port},{ok,[open]}]
%% expect: [{{127,0,0,1},n},{{127,0,0,2},n},{{127,0,0,3},n}]
%% expect: [{ok,port},{error,eaddrnotavail}]
%% expect: [{{127,0,0,1},n},{{127,0,0,2},n}]
%% expect: ok
%% expect: true
%% expect: ok
%% expect: {sctp,port,{127,0,0,1},n,{[],{sctp_shutdown_event,id}}}
%% expect: {sctp,port,{127,0,0,1},n,{[],{sctp_assoc_change,shutdown_comp,0,0,0,id}}}
%% expect: ok
%% expect: [{error,timeout},{error,epipe},{ok,{inet,stream}},ok]
%% expect: {ok,{sctp_assoc_change,comm_up,0,10,10,id}}
%% expect: [{error,enotconn},ok,{error,enotconn}]
%% expect: ok
%% expect: {ok,{{127,0,0,1},n,[],{sctp_assoc_change,comm_lost,3072,0,0,id}}}
%% expect: ok
%% expect: ok
%% expect: {ok,{{127,0,0,1},n,[],{sctp_shutdown_event,id}}}
%% expect: {ok,{{127,0,0,1},n,[],{sctp_assoc_change,shutdown_comp,0,0,0,id}}}
%% expect: closed
%% expect: [ok,ok]
%% expect: {sctp_assoc_change,comm_up,0,10,10,id}
%% expect: {sctp,port,{0,0,0,0,0,0,0,1},n,{[],{sctp_assoc_change,comm_up,0,10,10,id}}}
%% expect: nothing
%% expect: ok
%% expect: {sctp,port,{0,0,0,0,0,0,0,1},n,{[{sctp_sndrcvinfo,0,0,[],0,0,0,tsn,tsn,id}],<<"six">>}}
%% expect: [{ok,[{{0,0,0,0,0,0,0,1},n}]},{ok,{{0,0,0,0,0,0,0,1},n}}]
%% expect: {ok,[{sctp_status,{sctp_status,id,established,n,0,0,10,10,n,{sctp_paddrinfo,id,{{0,0,0,0,0,0,0,1},n},active,n,n,n,n}}}]}
%% expect: [ok,ok]
%% expect: {sctp,port,{127,0,0,1},n,{[],{sctp_assoc_change,comm_up,0,10,10,id}}}
%% expect: ok
%% expect: ok
%% expect: {sctp,port,{127,0,0,1},n,{[{sctp_sndrcvinfo,1,0,[unordered],16909060,0,0,tsn,tsn,id}],<<"by default">>}}
%% expect: [ok,ok]
%% expect: ok
%% expect: {ok,{sctp_assoc_change,comm_up,0,10,10,id}}
%% expect: {other,{sctp,port,{127,0,0,1},n,{[],{sctp_assoc_change,comm_up,0,10,10,id}}}}
%% expect: {ok,{{127,0,0,1},n,[],{sctp_shutdown_event,id}}}
%% expect: {ok,{{127,0,0,1},n,[],{sctp_assoc_change,shutdown_comp,0,0,0,id}}}
%% expect: [undefined,ok]
%% expect: []
-module(sctp_several).
-export([main/0]).
-include("sctp.hrl").

main() ->
    addresses(), streams(), newer(), beside(), owners(),
    forget(),
    show([P || P <- erlang:ports(), erlang:port_info(P, name) =:= {name, "sctp_inet"}]).

addresses() ->
    Local = [{127,0,0,1}, {127,0,0,2}],
    {M, Pm} = open_on([{ip, I} || I <- Local] ++
                          [{active, true}, {sctp_events, #sctp_event_subscribe{adaptation_layer_event = true}}]),
    show(sorted(inet:socknames(M))),
    ok = gen_sctp:listen(M, true),
    {K, _} = open([{active, false}, {sctp_adaptation_layer, #sctp_setadaptation{adaptation_ind = 16#0a0b0c0d}}]),
    {ok, Id} = gen_sctp:connectx_init(K, Local, Pm, []),
    show(is_integer(Id)), received(K), told(), told(),
    show(sorted(inet:peernames(K, Id))),
    show([gen_sctp:connectx_init(K, Local, Pm, []), gen_sctp:connectx_init(K, [{{127,0,0,1}, Pm}], [])]),
    show([prim_inet:getstatus(M), prim_inet:bind(M, add, [{{127,0,0,3}, Pm}]), prim_inet:getstatus(M)]),
    show(sorted(inet:socknames(M))),
    show([prim_inet:bind(M, remove, [{{127,0,0,3}, Pm}]), prim_inet:bind(M, add, [{{10,9,8,7}, Pm}])]),
    show(sorted(inet:socknames(M))),
    show(inet:setopts(K, [{sctp_primary_addr, #sctp_prim{assoc_id = Id, addr = {{127,0,0,2}, Pm}}}])),
    {ok, [{_, Status}]} = inet:getopts(K, [{sctp_status, #sctp_status{assoc_id = Id}}]),
    show((Status#sctp_status.primary)#sctp_paddrinfo.address =:= {{127,0,0,2}, Pm}),
    show(gen_sctp:close(K)), told(), told(), show(gen_sctp:close(M)), forget().

sorted({ok, Addresses}) -> lists:sort(Addresses).

streams() ->
    {L, Pl} = open([{active, false}, {type, stream}]),
    {S, _} = open([{active, false}, {type, stream}]),
    show([gen_sctp:recv(S, 10), gen_sctp:send(S, 0, 0, <<"x">>), prim_inet:gettype(S), gen_sctp:listen(L, 5)]),
    show(gen_sctp:connect(S, {127,0,0,1}, Pl, [], 5000)),
    show([inet:peername(S), gen_sctp:send(S, 0, 0, <<"x">>), gen_sctp:recv(L, 10)]),
    show(gen_sctp:close(L)), received(S), show(gen_sctp:close(S)),
    gone().

%% Nothing comes any more once the one association has ended; a stock erl waits in vain.
gone() ->
    {A, Pa} = open([{active, true}]),
    ok = gen_sctp:listen(A, true),
    {S, _} = open([{active, false}, {type, stream}]),
    {ok, _} = gen_sctp:connect(S, {127,0,0,1}, Pa, [], 5000),
    receive {sctp, A, _, _, {_, Up}} -> show(gen_sctp:eof(A, Up)) end,
    received(S), received(S),
    show(case gen_sctp:recv(S, 100) of {error, timeout} -> stock() andalso closed; {error, Why} -> Why end),
    show([gen_sctp:close(S), gen_sctp:close(A)]), forget().

newer() ->
    Own = {0,0,0,0,0,0,0,1},
    {H, Ph} = open_on([inet6, {ip, Own}, {active, true}]),
    ok = gen_sctp:listen(H, true),
    {I, _} = open_on([inet6, {ip, Own}]),
    {ok, Is} = gen_sctp:connect(I, Own, Ph, []), show(Is), told(), told(10),
    show(gen_sctp:send(I, Is, 0, <<"six">>)), told(),
    show([inet:peernames(I, Is), inet:sockname(I)]),
    show(inet:getopts(I, [{sctp_status, #sctp_status{assoc_id = Is#sctp_assoc_change.assoc_id}}])),
    show([gen_sctp:close(X) || X <- [I, H]]), forget().

beside() ->
    {K, _} = open([{tos, 32}, {ttl, 44}]),
    {T, Pt} = open([{recvtos, true}, {recvttl, true}, {active, true}]),
    ok = gen_sctp:listen(T, true),
    {ok, Ks} = gen_sctp:connect(K, {127,0,0,1}, Pt, []), told(),
    Default = #sctp_sndrcvinfo{assoc_id = Ks#sctp_assoc_change.assoc_id, stream = 3, flags = [unordered],
                               ppid = 16#01020304, context = 5},
    show(inet:setopts(K, [{sctp_default_send_param, Default}])),
    show(gen_sctp:send(K, Ks, 1, <<"by default">>)), told(),
    show([gen_sctp:close(X) || X <- [K, T]]), forget().

owners() ->
    {G, Pg} = open([{active, true}]),
    ok = gen_sctp:listen(G, true),
    {E, _} = open([{active, false}]),
    Self = self(),
    Other = spawn(fun() -> receive Up -> Self ! {other, Up} end end),
    show(gen_sctp:controlling_process(G, Other)),
    show(gen_sctp:connect(E, {127,0,0,1}, Pg, [], 5000)), told(),
    received(E), received(E), %% the owner has ended, and its socket with it
    show([erlang:port_info(G), gen_sctp:close(E)]).
