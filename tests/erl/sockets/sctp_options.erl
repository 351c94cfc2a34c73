%% SPDX-License-Identifier: Apache-2.0
%% Options of SCTP sockets: what they begin with, set and told again, refused.
%% expect: {ok,[{mode,binary},{active,false},{buffer,65536},{sndbuf,131072},{recbuf,2304},{tos,0},{ttl,64},{priority,0},{linger,{false,0}},{reuseaddr,false},{dontroute,false},{recvtos,false},{recvttl,false},{bind_to_device,<<>>}]}
%% expect: {ok,[{sctp_rtoinfo,{sctp_rtoinfo,0,3000,60000,1000}}]}
%% expect: {ok,[{sctp_associnfo,{sctp_assocparams,0,10,0,0,0,60000}}]}
%% expect: {ok,[{sctp_initmsg,{sctp_initmsg,10,65535,8,60000}}]}
%% expect: {ok,[{sctp_autoclose,0}]}
%% expect: {ok,[{sctp_nodelay,false}]}
%% expect: {ok,[{sctp_disable_fragments,false}]}
%% expect: {ok,[{sctp_i_want_mapped_v4_addr,true}]}
%% expect: {ok,[{sctp_adaptation_layer,{sctp_setadaptation,0}}]}
%% expect: {ok,[{sctp_peer_addr_params,{sctp_paddrparams,0,{{0,0,0,0},0},30000,5,0,200,[hb_enable,pmtud_enable,sackdelay_enable]}}]}
%% expect: {ok,[{sctp_events,{sctp_event_subscribe,true,true,true,true,true,true,true,false,false}}]}
%% expect: {ok,[]}
%% expect: [ok,ok,ok,ok,ok,ok,ok]
%% expect: {ok,[{sctp_rtoinfo,{sctp_rtoinfo,0,2000,50000,500}},{sctp_associnfo,{sctp_assocparams,0,7,0,0,0,30000}},{sctp_initmsg,{sctp_initmsg,20,30,4,1000}},{sctp_adaptation_layer,{sctp_setadaptation,16909060}}]}
%% expect: {ok,[{sctp_peer_addr_params,{sctp_paddrparams,0,{{0,0,0,0},0},5000,3,0,100,[hb_enable,pmtud_enable,sackdelay_enable]}},{sctp_events,{sctp_event_subscribe,false,true,true,true,true,false,true,true,false}}]}
%% expect: {sctp_sndrcvinfo,2,0,[unordered],77,88,99,tsn,tsn,id}
%% expect: 150
%% expect: ok
%% expect: {ok,[{sctp_autoclose,7},{sctp_nodelay,true},{sctp_disable_fragments,true},{sctp_i_want_mapped_v4_addr,false},{sctp_maxseg,1000}]}
%% expect: [ok,ok,ok,ok,ok,ok,ok,ok,ok,ok,ok,ok,ok]
%% expect: {ok,[{mode,list},{buffer,70000},{sndbuf,160000},{recbuf,140000},{tos,16},{ttl,9},{priority,4},{linger,{true,2}},{reuseaddr,true},{dontroute,true},{recvtos,true},{recvttl,true},{bind_to_device,<<"lo">>}]}
%% expect: [ok,ok,{ok,[{active,3}]}]
%% expect: [ok,{ok,[{active,false}]}]
%% expect: {sctp_passive,port}
%% expect: [{error,einval},ok]
%% expect: [{error,einval},{error,einval},{error,einval},{error,einval},{error,einval},{error,einval},{error,einval},{error,einval},{error,einval}]
%% expect: [{ok,[]},{ok,[]},{ok,[]},{ok,[]},{error,einval},{error,einval},{error,einval},{error,einval}]
%% expect: ok
%% expect: [{error,einval},{error,einval}]
%% expect: {error,enoent}
%% expect: [{ok,[{netns,"/proc/self/ns/net"}]},ok]
%% expect: {ok,[{ipv6_v6only,true},{tclass,5}]}
%% expect: {ok,[{sctp_peer_addr_params,{sctp_paddrparams,0,{{0,0,0,0,0,0,0,0},0},30000,5,0,200,[hb_enable,pmtud_enable,sackdelay_enable]}}]}
%% expect: ok
-module(sctp_options).
-export([main/0]).
-include("sctp.hrl").

main() ->
    {A, _} = open([{active, false}]),
    show(inet:getopts(A, [mode, active, buffer, sndbuf, recbuf, tos, ttl, priority, linger, reuseaddr, dontroute,
                          recvtos, recvttl, bind_to_device, netns])),
    [show(inet:getopts(A, [O])) || O <- [sctp_rtoinfo, sctp_associnfo, sctp_initmsg, sctp_autoclose, sctp_nodelay,
                                         sctp_disable_fragments, sctp_i_want_mapped_v4_addr, sctp_adaptation_layer,
                                         sctp_peer_addr_params, sctp_events, sctp_get_peer_addr_info]],
    records(A), plain(A), refused(A),
    show(gen_sctp:close(A)),
    show([inet:getopts(A, [mode]), inet:setopts(A, [{active, true}])]),
    namespace(), newer().

records(A) ->
    show([inet:setopts(A, [O]) || O <- [
        {sctp_rtoinfo, #sctp_rtoinfo{initial = 2000, max = 50000, min = 500}},
        {sctp_associnfo, #sctp_assocparams{asocmaxrxt = 7, cookie_life = 30000}},
        {sctp_initmsg, #sctp_initmsg{num_ostreams = 20, max_instreams = 30, max_attempts = 4, max_init_timeo = 1000}},
        {sctp_adaptation_layer, #sctp_setadaptation{adaptation_ind = 16#01020304}},
        {sctp_peer_addr_params, #sctp_paddrparams{hbinterval = 5000, pathmaxrxt = 3, sackdelay = 100,
                                                  flags = [hb_enable, pmtud_enable, sackdelay_enable]}},
        {sctp_default_send_param, #sctp_sndrcvinfo{stream = 2, flags = [unordered], ppid = 77, context = 88,
                                                   timetolive = 99}},
        {sctp_events, #sctp_event_subscribe{data_io_event = false, adaptation_layer_event = true,
                                            shutdown_event = false}}]]),
    show(inet:getopts(A, [{sctp_rtoinfo, #sctp_rtoinfo{}}, {sctp_associnfo, #sctp_assocparams{}}, sctp_initmsg,
                          sctp_adaptation_layer])),
    show(inet:getopts(A, [{sctp_peer_addr_params, #sctp_paddrparams{}}, sctp_events])),
    {ok, [{_, Sent}]} = inet:getopts(A, [{sctp_default_send_param, #sctp_sndrcvinfo{}}]),
    show(Sent#sctp_sndrcvinfo{ssn = 0}),
    %% Debian's erl is built without this one.
    Ack = #sctp_assoc_value{assoc_value = 150},
    show(case inet:setopts(A, [{sctp_delayed_ack_time, Ack}]) of
             {error, einval} -> stock() andalso 150;
             ok ->
                 {ok, [{_, Set}]} = inet:getopts(A, [{sctp_delayed_ack_time, #sctp_assoc_value{}}]),
                 Set#sctp_assoc_value.assoc_value
         end).

plain(A) ->
    show(inet:setopts(A, [{sctp_autoclose, 7}, {sctp_nodelay, true}, {sctp_disable_fragments, true},
                          {sctp_i_want_mapped_v4_addr, false}, {sctp_maxseg, 1000}])),
    show(inet:getopts(A, [sctp_autoclose, sctp_nodelay, sctp_disable_fragments, sctp_i_want_mapped_v4_addr,
                          sctp_maxseg])),
    show([inet:setopts(A, [O]) || O <- [{tos, 16}, {priority, 4}, {linger, {true, 2}}, list, {buffer, 100},
                                        {recbuf, 70000}, {sndbuf, 80000}, {reuseaddr, true}, {dontroute, true},
                                        {ttl, 9}, {recvtos, true}, {recvttl, true}, {bind_to_device, <<"lo">>}]]),
    show(inet:getopts(A, [mode, buffer, sndbuf, recbuf, tos, ttl, priority, linger, reuseaddr, dontroute, recvtos,
                          recvttl, bind_to_device])),
    show([inet:setopts(A, [{active, once}]), inet:setopts(A, [{active, 3}]), inet:getopts(A, [active])]),
    show([inet:setopts(A, [{active, -3}]), inet:getopts(A, [active])]), told(),
    show([inet:setopts(A, [{active, 40000}]), inet:setopts(A, [{active, false}])]).

refused(A) ->
    Address = {{127,0,0,1}, 8},
    show([inet:setopts(A, [O]) || O <- [
        {sctp_peer_addr_params, #sctp_paddrparams{flags = [hb_enable, hb_disable]}},
        {sctp_primary_addr, #sctp_prim{assoc_id = 5, addr = Address}},
        {sctp_set_peer_primary_addr, #sctp_setpeerprim{assoc_id = 5, addr = Address}},
        {sctp_status, #sctp_status{}}, {high_msgq_watermark, 100}, {keepalive, true}, {header, 2}, {tclass, 2},
        {ipv6_v6only, true}]]),
    show([inet:getopts(A, [O]) || O <- [{sctp_status, #sctp_status{assoc_id = 99}}, tclass, ipv6_v6only,
                                        {sctp_get_peer_addr_info, #sctp_paddrinfo{assoc_id = 99, address = Address}},
                                        header, keepalive, high_msgq_watermark, debug]]).

namespace() ->
    show(gen_sctp:open([{netns, "/proc/self/ns/none"}])),
    {ok, N} = gen_sctp:open([{netns, "/proc/self/ns/net"}]),
    show([inet:getopts(N, [netns]), gen_sctp:close(N)]).

newer() ->
    {ok, S} = gen_sctp:open([inet6, {ipv6_v6only, true}, {tclass, 5}]),
    show(inet:getopts(S, [ipv6_v6only, tclass])),
    show(inet:getopts(S, [{sctp_peer_addr_params, #sctp_paddrparams{}}])),
    show(gen_sctp:close(S)).
