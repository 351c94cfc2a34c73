%% SPDX-License-Identifier: Apache-2.0
%% Options of sockets, set and looked at; what is wrong; interfaces, names, services.
%% expect: {{nodelay,true},ok,{ok,[{nodelay,true}]}}
%% expect: {{keepalive,true},ok,{ok,[{keepalive,true}]}}
%% expect: {{linger,{true,3}},ok,{ok,[{linger,{true,3}}]}}
%% expect: {{linger,{false,0}},ok,{ok,[{linger,{false,3}}]}}
%% expect: {{active,once},ok,{ok,[{active,once}]}}
%% expect: {{active,5},ok,{ok,[{active,5}]}}
%% expect: {{active,false},ok,{ok,[{active,false}]}}
%% expect: {{packet,line},ok,{ok,[{packet,line}]}}
%% expect: {{packet,http_bin},ok,{ok,[{packet,http_bin}]}}
%% expect: {{packet,0},ok,{ok,[{packet,0}]}}
%% expect: {{mode,binary},ok,{ok,[{mode,binary}]}}
%% expect: {{header,3},ok,{ok,[{header,3}]}}
%% expect: {{buffer,0},ok,{ok,[{buffer,1}]}}
%% expect: {{buffer,3000},ok,{ok,[{buffer,3000}]}}
%% expect: {{exit_on_close,false},ok,{ok,[{exit_on_close,false}]}}
%% expect: {{high_watermark,100},ok,{ok,[{high_watermark,100}]}}
%% expect: {{low_watermark,200},ok,{ok,[{low_watermark,200}]}}
%% expect: {{high_watermark,50},ok,{ok,[{high_watermark,50}]}}
%% expect: {{high_msgq_watermark,5000},ok,{ok,[{high_msgq_watermark,5000}]}}
%% expect: {{low_msgq_watermark,2000},ok,{ok,[{low_msgq_watermark,2000}]}}
%% expect: {{send_timeout,100},ok,{ok,[{send_timeout,100}]}}
%% expect: {{send_timeout,infinity},ok,{ok,[{send_timeout,infinity}]}}
%% expect: {{send_timeout_close,true},ok,{ok,[{send_timeout_close,true}]}}
%% expect: {{delay_send,true},ok,{ok,[{delay_send,true}]}}
%% expect: {{packet_size,12},ok,{ok,[{packet_size,12}]}}
%% expect: {{show_econnreset,true},ok,{ok,[{show_econnreset,true}]}}
%% expect: {{priority,3},ok,{ok,[{priority,3}]}}
%% expect: {{tos,8},ok,{ok,[{tos,8}]}}
%% expect: {{nopush,true},ok,{ok,[{nopush,true}]}}
%% expect: {{reuseaddr,true},ok,{ok,[{reuseaddr,true}]}}
%% expect: {{dontroute,true},ok,{ok,[{dontroute,true}]}}
%% expect: {{ttl,9},ok,{ok,[{ttl,9}]}}
%% expect: {{recvtos,true},ok,{ok,[{recvtos,true}]}}
%% expect: {{recvttl,true},ok,{ok,[{recvttl,true}]}}
%% expect: {{line_delimiter,59},ok,{error,einval}}
%% expect: {{debug,false},ok,{ok,[{debug,false}]}}
%% expect: {{broadcast,true},ok,{ok,[{broadcast,true}]}}
%% expect: {{read_packets,7},ok,{ok,[{read_packets,7}]}}
%% expect: {{read_packets,0},{error,einval},{ok,[{read_packets,7}]}}
%% expect: {{multicast_ttl,3},ok,{ok,[{multicast_ttl,3}]}}
%% expect: {{multicast_loop,false},ok,{ok,[{multicast_loop,false}]}}
%% expect: {{header,1},ok,{ok,[{header,1}]}}
%% expect: {{tos,4},ok,{ok,[{tos,4}]}}
%% expect: {{priority,2},ok,{ok,[{priority,2}]}}
%% expect: {{active,once},ok,{ok,[{active,once}]}}
%% expect: {{active,-1},ok,{ok,[{active,false}]}}
%% expect: {{nodelay,true},ok,{ok,[]}}
%% expect: {{tclass,4},ok,{ok,[{tclass,4}]}}
%% expect: {{ipv6_v6only,true},{error,einval},{ok,[{ipv6_v6only,false}]}}
%% expect: {{recvtclass,true},ok,{ok,[{recvtclass,true}]}}
%% expect: {ok,[{active,true},{mode,list},{packet,0},{header,0},{buffer,1460},{exit_on_close,true},{reuseaddr,false},{keepalive,false},{linger,{false,0}},{nodelay,false},{broadcast,false},{dontroute,false},{deliver,term},{packet_size,0},{priority,0},{tos,0},{high_watermark,8192},{low_watermark,4096},{high_msgq_watermark,8192},{low_msgq_watermark,4096},{send_timeout,infinity},{send_timeout_close,false},{delay_send,false},{show_econnreset,false}]}
%% expect 29: {ok,[{active,true},{mode,list},{packet,0},{header,0},{buffer,9216},{exit_on_close,true},{reuseaddr,false},{keepalive,false},{linger,{false,0}},{nodelay,false},{broadcast,false},{dontroute,false},{deliver,term},{packet_size,0},{priority,0},{tos,0},{high_watermark,8192},{low_watermark,4096},{high_msgq_watermark,8192},{low_msgq_watermark,4096},{send_timeout,infinity},{send_timeout_close,false},{delay_send,false},{show_econnreset,false}]}
%% expect: {ok,[{active,false},{mode,list},{header,1},{buffer,8192},{read_packets,7},{low_msgq_watermark,4096},{broadcast,true},{multicast_ttl,3},{multicast_loop,false}]}
%% expect 29: {ok,[{active,false},{mode,list},{header,1},{buffer,9216},{read_packets,7},{low_msgq_watermark,4096},{broadcast,true},{multicast_ttl,3},{multicast_loop,false}]}
%% expect: [{error,einval},{error,einval},{error,einval},{error,einval},{error,einval},{error,einval},{error,einval},{error,einval}]
%% expect: [{error,einval},{error,einval},{ok,[{raw,6,1,<<1,0,0,0>>}]}]
%% expect: [ok,error,error,error]
%% expect: [ok,{ok,[{raw,6,1,<<1,0,0,0>>}]},{error,einval}]
%% expect: ok
%% expect: [{3000,3000},{7000,7000},{7000,9000}]
%% expect: {100,200}
%% expect: [{ok,{inet,stream}},{ok,{inet,dgram}},{ok,{inet6,dgram}}]
%% expect: [{ok,[{recv_cnt,0}]},{ok,[{send_pend,0}]},{error,einval}]
%% expect: [[{addr,{127,0,0,1}},{flags,[up,loopback,running]},{netmask,{255,0,0,0}}]]
%% expect: true
%% expect: {ok,[{addr,{127,0,0,1}},{netmask,{255,0,0,0}},{mtu,65536},{flags,[up,loopback,running]},{hwaddr,[0,0,0,0,0,0]},{broadaddr,{0,0,0,0}}]}
%% expect: [{ok,[]},{error,einval},{ok,[{mtu,65536}]}]
%% expect: [true,{ok,80},{error,einval},{ok,53}]
%% expect: [{ok,"http"},{error,einval},{ok,21}]
%% expect: [{error,einval},{error,einval},{error,einval}]
-module(socket_options).
-export([main/0]).

main() ->
    {ok, L} = gen_tcp:listen(0, [inet]), {ok, P} = inet:port(L),
    {ok, C} = gen_tcp:connect({127,0,0,1}, P, []),
    [show({O, inet:setopts(C, [O]), inet:getopts(C, [element(1, O)])}) || O <- tcp()],
    {ok, U} = gen_udp:open(0, []),
    [show({O, inet:setopts(U, [O]), inet:getopts(U, [element(1, O)])}) || O <- udp()],
    {ok, V} = gen_udp:open(0, [inet6]),
    [show({O, inet:setopts(V, [O]), inet:getopts(V, [element(1, O)])}) || O <- [{tclass, 4}, {ipv6_v6only, true}, {recvtclass, true}]],
    show(inet:getopts(L, [active, mode, packet, header, buffer, exit_on_close, reuseaddr, keepalive, linger, nodelay, broadcast, dontroute, deliver, packet_size, priority, tos, high_watermark, low_watermark, high_msgq_watermark, low_msgq_watermark, send_timeout, send_timeout_close, delay_send, show_econnreset, read_packets, netns, line_delimiter] -- [line_delimiter])),
    show(inet:getopts(U, [active, mode, header, buffer, read_packets, high_watermark, low_msgq_watermark, broadcast, multicast_ttl, multicast_loop])),
    show([inet:setopts(C, [O]) || O <- [foo, {foo, 1}, {active, 99999}, {packet, 3}, {buffer, a}, {high_msgq_watermark, 0}, {raw, 1, 2, 3}, {linger, 1}]]),
    show([inet:getopts(C, [O]) || O <- [foo, {raw, 1, 2}, {raw, 6, 1, 4}]]),
    show([element(1, inet:getopts(C, [{raw, 6, 1, Size}])) || Size <- [65522, 65523, 16#7fffffff, 16#fffffffe]]),
    show([inet:setopts(C, [{raw, 6, 1, <<1:32/native>>}]), inet:getopts(C, [{raw, 6, 1, <<0:32>>}]), inet:setopts(C, [{bind_to_device, <<"no such">>}])]),
    show(inet:setopts(U, [{add_membership, {{224,0,0,7}, {127,0,0,1}}}, {drop_membership, {{224,0,0,7}, {127,0,0,1}}}, {multicast_if, {127,0,0,1}}])),
    message_watermarks(L, P, C),
    show([prim_inet:gettype(C), prim_inet:gettype(U), prim_inet:gettype(V)]),
    show([inet:getstat(C, [X]) || X <- [recv_cnt, send_pend, foo]]),
    interfaces(U), services(),
    [gen_tcp:close(X) || X <- [L, C]], [gen_udp:close(X) || X <- [U, V]],
    show([inet:setopts(C, [{active, true}]), inet:getopts(C, [active]), inet:getstat(C)]).

%% One moves the other out of its way; a connection inherits both.
message_watermarks(L, P, C) ->
    ok = inet:setopts(C, [{low_msgq_watermark, 4000}, {high_msgq_watermark, 8000}]),
    show([begin ok = inet:setopts(C, [O]), watermarks(C) end
          || O <- [{high_msgq_watermark, 3000}, {low_msgq_watermark, 7000}, {high_msgq_watermark, 9000}]]),
    ok = inet:setopts(L, [{low_msgq_watermark, 100}, {high_msgq_watermark, 200}]),
    {ok, _} = gen_tcp:accept(L), % C's
    {ok, D} = gen_tcp:connect({127,0,0,1}, P, []),
    {ok, A} = gen_tcp:accept(L),
    show(watermarks(A)),
    [gen_tcp:close(X) || X <- [A, D]].

watermarks(S) ->
    {ok, [{_, Low}, {_, High}]} = inet:getopts(S, [low_msgq_watermark, high_msgq_watermark]),
    {Low, High}.

tcp() ->
    [{nodelay, true}, {keepalive, true}, {linger, {true, 3}}, {linger, {false, 0}}, {active, once}, {active, 5}, {active, false}, {packet, line}, {packet, http_bin}, {packet, 0},
     {mode, binary}, {header, 3}, {buffer, 0}, {buffer, 3000}, {exit_on_close, false}, {high_watermark, 100}, {low_watermark, 200}, {high_watermark, 50},
     {high_msgq_watermark, 5000}, {low_msgq_watermark, 2000}, {send_timeout, 100}, {send_timeout, infinity}, {send_timeout_close, true}, {delay_send, true}, {packet_size, 12},
     {show_econnreset, true}, {priority, 3}, {tos, 8}, {nopush, true}, {reuseaddr, true}, {dontroute, true}, {ttl, 9}, {recvtos, true}, {recvttl, true}, {line_delimiter, 59}, {debug, false}].
udp() -> [{broadcast, true}, {read_packets, 7}, {read_packets, 0}, {multicast_ttl, 3}, {multicast_loop, false}, {header, 1}, {tos, 4}, {priority, 2}, {active, once}, {active, -1}, {nodelay, true}].

interfaces(U) ->
    {ok, Ifs} = inet:getifaddrs(),
    show([lists:sort([O || {K, _} = O <- Opts, K =/= hwaddr, V <- [element(2, O)], V =/= {0,0,0,0,0,0,0,1}, V =/= {65535,65535,65535,65535,65535,65535,65535,65535}]) || {"lo", Opts} <- Ifs]),
    {ok, List} = inet:getiflist(),
    show(lists:member("lo", List)),
    show(inet:ifget("lo", [addr, netmask, mtu, flags, hwaddr, broadaddr])),
    show([inet:ifget("no such interface", [addr]), inet:ifget("lo", [foo]), prim_inet:ifget(U, "lo", [mtu])]).

services() ->
    {ok, Name} = inet:gethostname(),
    show([is_list(Name), inet:getservbyname(http, tcp), inet:getservbyname(no_such, tcp), inet:getservbyname(domain, udp)]),
    {ok, S} = prim_inet:open(tcp, inet, stream),
    show([prim_inet:getservbyport(S, 80, tcp), prim_inet:getservbyport(S, 1, foo), prim_inet:getservbyname(S, "ftp", "tcp")]),
    prim_inet:close(S).
show(X) -> io:format("~0p~n", [X]).
