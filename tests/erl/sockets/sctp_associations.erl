%% SPDX-License-Identifier: Apache-2.0
%% Associations of SCTP: begun, used by both, told while active and asked for while not, let go of, ended and refused.
%% expect: [{ok,[listen,open]},{ok,{inet,seqpacket}}]
%% expect: ok
%% expect: {sctp_assoc_change,comm_up,0,7,10,id}
%% expect: {ok,{{127,0,0,1},n,[],{sctp_assoc_change,comm_up,0,10,7,id}}}
%% expect: ok
%% expect: {ok,{{127,0,0,1},n,[{sctp_sndrcvinfo,3,0,[unordered],17,0,0,tsn,tsn,id}],<<"one">>}}
%% expect: ok
%% expect: {ok,{{127,0,0,1},n,[{sctp_sndrcvinfo,1,0,[],0,0,0,tsn,tsn,id}],<<"twothree">>}}
%% expect: [{error,einval},{error,einval}]
%% expect: {error,emsgsize}
%% expect: ok
%% expect: {sctp,port,{127,0,0,1},n,{[{sctp_sndrcvinfo,0,0,[],0,0,0,tsn,tsn,id}],{150000,bytes,3904559962}}}
%% expect: ok
%% expect: nothing
%% expect: {sctp,port,{127,0,0,1},n,{[{sctp_sndrcvinfo,0,0,[],0,0,0,tsn,tsn,id}],{1200,bytes,2213177423}}}
%% expect: {error,timeout}
%% expect: {sctp,port,{127,0,0,1},n,{[{sctp_sndrcvinfo,1,0,[],0,0,0,tsn,tsn,id}],"a list"}}
%% expect: nothing
%% expect: {ok,[{active,false},{mode,list}]}
%% expect: {ok,{{127,0,0,1},n,[{sctp_sndrcvinfo,1,1,[],0,0,0,tsn,tsn,id}],"more"}}
%% expect: {error,timeout}
%% expect: {sctp,port,{127,0,0,1},n,{[{sctp_sndrcvinfo,1,2,[],0,0,0,tsn,tsn,id}],<<1>>}}
%% expect: {sctp,port,{127,0,0,1},n,{[{sctp_sndrcvinfo,1,3,[],0,0,0,tsn,tsn,id}],<<2>>}}
%% expect: {sctp_passive,port}
%% expect: nothing
%% expect: {ok,{{127,0,0,1},n,[{sctp_sndrcvinfo,1,4,[],0,0,0,tsn,tsn,id}],<<3>>}}
%% expect: {error,einval}
%% expect: {error,ealready}
%% expect: {second,{ok,{{127,0,0,1},n,[{sctp_sndrcvinfo,1,5,[],0,0,0,tsn,tsn,id}],<<"for the second">>}}}
%% expect: [{error,timeout},{error,timeout}]
%% expect: {ok,[{sctp_status,{sctp_status,id,established,n,0,0,10,7,n,{sctp_paddrinfo,id,{{127,0,0,1},n},active,n,n,n,n}}}]}
%% expect: {ok,[{sctp_get_peer_addr_info,{sctp_paddrinfo,id,{{127,0,0,1},n},active,n,n,n,n}}]}
%% expect: [{ok,[{{127,0,0,1},n}]},{ok,[{{127,0,0,1},n}]},{ok,[{{127,0,0,1},n}]},{error,enotconn},{error,einval}]
%% expect: [{name,"sctp_inet"},true,true]
%% expect: [{ok,[connected,open]},{ok,{inet,stream}},{ok,[{active,false},{mode,binary}]},{ok,{{127,0,0,1},n}}]
%% expect: ok
%% expect: {ok,{{127,0,0,1},n,[{sctp_sndrcvinfo,2,0,[],0,0,0,tsn,tsn,id}],<<"to the peeled">>}}
%% expect: {error,timeout}
%% expect: ok
%% expect: {ok,{{127,0,0,1},n,[{sctp_sndrcvinfo,2,0,[],0,0,0,tsn,tsn,id}],<<"from the peeled">>}}
%% expect: ok
%% expect: {sctp,port,{127,0,0,1},n,{[{sctp_sndrcvinfo,2,1,[],0,0,0,tsn,tsn,id}],<<"told by the peeled">>}}
%% expect: [{error,einval},{error,einval}]
%% expect: ok
%% expect: {sctp,port,{127,0,0,1},n,{[],{sctp_assoc_change,comm_lost,3072,0,0,id}}}
%% expect: {ok,{{127,0,0,1},n,[],{sctp_assoc_change,comm_lost,3072,0,0,id}}}
%% expect: {sctp_error,port,econnreset}
%% expect: [{error,epipe},ok]
%% expect: {error,{sctp_assoc_change,cant_assoc,0,0,0,id}}
%% expect: [ok,ok]
%% expect: {sctp_assoc_change,comm_up,0,7,10,id}
%% expect: {ok,{{127,0,0,1},n,[],{sctp_assoc_change,comm_up,0,10,7,id}}}
%% expect: [{error,eisconn},{error,einval}]
%% expect: ok
%% expect: {ok,{{127,0,0,1},n,[],{sctp_shutdown_event,id}}}
%% expect: {ok,{{127,0,0,1},n,[],{sctp_assoc_change,shutdown_comp,0,0,0,id}}}
%% expect: {sctp,port,{127,0,0,1},n,{[],{sctp_assoc_change,shutdown_comp,0,0,0,id}}}
%% expect: nothing
%% expect: ok
%% expect: [ok,ok]
%% expect: {second,{error,closed}}
%% expect: [{error,closed},{error,closed},{error,closed},{error,closed},{error,closed}]
%% expect: [{error,eaddrnotavail},ok]
%% expect: []
-module(sctp_associations).
-export([main/0]).
-include("sctp.hrl").

main() ->
    {A, Pa} = open([{active, false}, {sctp_initmsg, #sctp_initmsg{max_instreams = 7}}]),
    {B, _} = open([{active, true}, {recbuf, 200000}, {sndbuf, 500000}]),
    ok = gen_sctp:listen(A, 10),
    show([prim_inet:getstatus(A), prim_inet:gettype(A)]),
    show(gen_sctp:connect_init(B, {127,0,0,1}, Pa, [])),
    Bs = receive {sctp, B, {127,0,0,1}, Pa, {[], Up}} -> show(Up), Up end,
    {ok, {_, _, _, As}} = Begun = gen_sctp:recv(A, 5000), show(Begun),
    sent(A, B, As, Bs),
    active(A, B, As),
    known(A, B, As, Bs, Pa),
    C = peeled(A, B, As, Bs),
    ended(B, C, Bs),
    refused(A, Pa),
    closed(A, B, Pa).

sent(A, B, As, Bs) ->
    How = #sctp_sndrcvinfo{assoc_id = Bs#sctp_assoc_change.assoc_id, stream = 3, ppid = 17, context = 5,
                           flags = [unordered]},
    show(gen_sctp:send(B, How, <<"one">>)), received(A),
    show(gen_sctp:send(B, Bs, 1, ["two", <<"three">>])), received(A),
    show([gen_sctp:send(B, Bs, 9, <<"no such stream">>), gen_sctp:send(A, As, 0, <<>>)]),
    Long = binary:copy(<<"0123456789">>, 15000),
    show(gen_sctp:send(A, As, 0, Long)),
    ok = inet:setopts(A, [{sndbuf, 500000}]),
    show(gen_sctp:send(A, As, 0, Long)), told(),
    ok = inet:setopts(A, [{buffer, 70}]), %% a message comes in pieces
    show(gen_sctp:send(B, Bs, 0, binary:copy(<<"x">>, 1200))), told(10),
    ok = inet:setopts(A, [{active, once}]), told(), ok = inet:setopts(A, [{buffer, 70000}]),
    received(A, 20).

active(A, B, As) ->
    ok = inet:setopts(B, [{active, once}, {mode, list}]),
    [ok = gen_sctp:send(A, As, 1, Text) || Text <- ["a list", "more"]],
    told(), told(10),
    show(inet:getopts(B, [active, mode])),
    received(B), received(B, 10),
    ok = inet:setopts(B, [{active, 2}, {mode, binary}]),
    [ok = gen_sctp:send(A, As, 1, <<I>>) || I <- [1, 2, 3]],
    told(), told(), told(), told(10), received(B),
    ok = inet:setopts(B, [{active, true}]), show(gen_sctp:recv(B, 0)), ok = inet:setopts(B, [{active, false}]),
    Self = self(),
    spawn(fun() -> Self ! first, Self ! {second, gen_sctp:recv(B, infinity)} end),
    receive first -> timer:sleep(200) end,
    show(gen_sctp:recv(B, 0)),
    ok = gen_sctp:send(A, As, 1, <<"for the second">>), told(),
    show([gen_sctp:recv(B, 0), gen_sctp:recv(B, 20)]).

known(A, B, As, Bs, Pa) ->
    Id = Bs#sctp_assoc_change.assoc_id,
    show(inet:getopts(B, [{sctp_status, #sctp_status{assoc_id = Id}}])),
    show(inet:getopts(B, [{sctp_get_peer_addr_info, #sctp_paddrinfo{assoc_id = Id, address = {{127,0,0,1}, Pa}}}])),
    show([inet:peernames(B, Bs), inet:socknames(B, Bs), inet:peernames(A, As), inet:peername(B), inet:peernames(B)]).

peeled(A, B, As, Bs) ->
    {ok, C} = gen_sctp:peeloff(A, As),
    show([erlang:port_info(C, name), erlang:port_info(C, connected) =:= {connected, self()},
          lists:member(C, element(2, process_info(self(), links)))]),
    show([prim_inet:getstatus(C), prim_inet:gettype(C), inet:getopts(C, [active, mode]), inet:peername(C)]),
    show(gen_sctp:send(B, Bs, 2, <<"to the peeled">>)), received(C), received(A, 10),
    show(gen_sctp:send(C, As, 2, <<"from the peeled">>)), received(B),
    ok = inet:setopts(C, [{active, true}]),
    show(gen_sctp:send(B, Bs, 2, <<"told by the peeled">>)), told(),
    show([gen_sctp:peeloff(A, 999999), gen_sctp:peeloff(C, 999999)]),
    C.

ended(B, C, Bs) ->
    show(gen_sctp:abort(B, Bs)), told(), received(B), told(10),
    show([gen_sctp:send(B, Bs, 2, <<"to nobody">>), gen_sctp:close(C)]),
    drain(B).

%% Data that was not acknowledged may come back.
drain(S) ->
    case gen_sctp:recv(S, 20) of
        {error, timeout} -> ok;
        {error, {_, [], #sctp_send_failed{}}} -> drain(S)
    end.

refused(A, Pa) ->
    {F, Pf} = open([{active, false}]),
    {R, _} = open([{active, false}]),
    show(gen_sctp:connect(R, {127,0,0,1}, Pf, [], 5000)), %% nobody listens
    show([gen_sctp:close(F), gen_sctp:close(R)]),
    {S, _} = open([{active, true}]),
    {ok, Up} = gen_sctp:connect(S, {127,0,0,1}, Pa, [{active, once}], 5000), show(Up),
    received(A),
    show([gen_sctp:connect_init(S, {127,0,0,1}, Pa, []), gen_sctp:connectx_init(S, [], Pa, [])]),
    show(gen_sctp:eof(S, Up)), received(A), received(A), told(), told(10),
    show(gen_sctp:close(S)).

closed(A, B, Pa) ->
    Self = self(),
    spawn(fun() -> Self ! first, Self ! {second, gen_sctp:recv(A, infinity)} end),
    receive first -> timer:sleep(200) end,
    show([gen_sctp:close(A), gen_sctp:close(A)]), told(),
    show([gen_sctp:recv(A), gen_sctp:send(A, 1, 0, <<>>), gen_sctp:listen(A, true), gen_sctp:peeloff(A, 1),
          gen_sctp:connect(A, {127,0,0,1}, Pa, [])]),
    show([gen_sctp:open([{ip, {9,9,9,9}}]), gen_sctp:close(B)]),
    show([P || P <- erlang:ports(), erlang:port_info(P, name) =:= {name, "sctp_inet"}]).
