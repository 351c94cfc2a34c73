%% SPDX-License-Identifier: Apache-2.0
%% Sockets as OTP 28 and 29 open them: gen_tcp and gen_udp name the protocol, socket's tables have names of levels.
-module(since29_sockets).
-export([main/0]).

main() ->
    tcp(),
    udp(),
    kept_alive(),
    refused(),
    sockets().

tcp() ->
    {ok, L} = gen_tcp:listen(0, [binary, {active, false}, {ip, {127, 0, 0, 1}}]),
    {ok, Port} = inet:port(L),
    Main = self(),
    spawn(fun() ->
              {ok, C} = gen_tcp:connect({127, 0, 0, 1}, Port, [binary, {active, false}]),
              ok = gen_tcp:send(C, <<"hello">>),
              Main ! gen_tcp:recv(C, 10)
          end),
    {ok, A} = gen_tcp:accept(L),
    {ok, D} = gen_tcp:recv(A, 5),
    ok = gen_tcp:send(A, [D, D]),
    p(receive {ok, Got} -> Got end).

%% expect: <<"hellohello">>

udp() ->
    {ok, A} = gen_udp:open(0, [binary, {active, true}, {ip, {127, 0, 0, 1}}]),
    {ok, Port} = inet:port(A),
    {ok, B} = gen_udp:open(0, [{ip, {127, 0, 0, 1}}]),
    ok = gen_udp:send(B, {127, 0, 0, 1}, Port, "x"),
    p(receive {udp, A, _, _, Data} -> Data end).

%% expect: <<"x">>

kept_alive() ->
    Options = [{keepcnt, 5}, {keepidle, 100}, {keepintvl, 20}, {user_timeout, 5000}],
    {ok, L} = gen_tcp:listen(0, [{keepalive, true} | Options]),
    p([inet:getopts(L, [K || {K, _} <- Options]), inet:setopts(L, [{keepidle, 200}]), inet:getopts(L, [keepidle]), inet:setopts(L, [{keepidle, -1}])]).

%% expect: [{ok,[{keepcnt,5},{keepidle,100},{keepintvl,20},{user_timeout,5000}]},ok,{ok,[{keepidle,200}]},ok]

%% What prim_inet could be told by somebody else.
refused() ->
    p([begin
           S = open_port({spawn_driver, "tcp_inet"}, [binary]),
           Answer = binary_to_list(iolist_to_binary(port_control(S, 16#03f1a300 + 1, Data))),
           port_close(S),
           Answer
       end || Data <- [[1, 1, 5], [1, 1, 1, 0], [1, 2, 1], [1, 1, 1]]]).

%% expect: [[0,101,112,114,111,116,111,110,111,115,117,112,112,111,114,116],[0,101,105,110,118,97,108],[0,101,105,110,118,97,108],[1]]

sockets() ->
    {ok, L} = socket:open(inet, stream, tcp),
    ok = socket:bind(L, #{family => inet, addr => loopback, port => 0}),
    ok = socket:listen(L),
    {ok, #{port := Port}} = socket:sockname(L),
    {ok, C} = socket:open(inet, stream),
    spawn(fun() -> {ok, A} = socket:accept(L), {ok, D} = socket:recv(A, 3), ok = socket:send(A, [D, $!]), receive after 1000 -> ok end end),
    ok = socket:connect(C, #{family => inet, addr => loopback, port => Port}),
    ok = socket:send(C, "abc"),
    p(socket:recv(C, 4)),
    p([socket:setopt(L, {socket, reuseaddr}, true), socket:getopt(L, {socket, reuseaddr}), socket:getopt(L, {tcp, nodelay}), socket:getopt(L, {socket, type}),
       socket:getopt(L, {otp, debug}), socket:is_supported(options, socket, reuseaddr), element(1, socket:getopt_native(L, {socket, sndbuf}, integer)),
       socket:is_supported(options, ipv6, v6only), socket:getopt(L, {tcp, keepidle}), socket:setopt(L, {tcp, keepcnt}, 3), socket:getopt(L, {tcp, keepcnt})]).

%% expect: {ok,<<"abc!">>}
%% expect: [ok,{ok,true},{ok,false},{ok,stream},{ok,false},true,ok,true,{ok,7200},ok,{ok,3}]

p(T) -> io:format("~0p~n", [T]).
