%% SPDX-License-Identifier: Apache-2.0
%% What an accepted connection begins with: passive until it has what the listening socket says. And a descriptor that
%% another socket has already.
%% expect: [{ok,[{active,false}]},{ok,[{active,false}]}]
%% expect: [{ok,[{active,true}]},{data,<<"first">>},{data,<<"then">>}]
%% expect: [{ok,[{active,once}]},{data,<<"first">>},{ok,[{active,false}]}]
%% expect: [{ok,[{active,1}]},{data,<<"first">>},tcp_passive]
%% expect: [{ok,[{active,false}]},{ok,[{active,false}]},ok,{data,<<"first">>}]
%% expect: [{ok,<<"question">>},ok,{ok,<<"answer">>},{ok,<<"more">>}]
%% expect: [{error,closed},ok,ok,ok]
%% expect: [{ok,<<"datagram">>},ok]
-module(tcp_accepted).
-export([main/0]).

main() ->
    new(), active(true), active(once), active(1), bare(), given(), given_udp().

new() ->
    show([begin
              {ok, S} = prim_inet:open(Protocol, inet, Type),
              Got = prim_inet:getopts(S, [active]),
              prim_inet:close(S),
              Got
          end || {Protocol, Type} <- [{tcp, stream}, {udp, dgram}]]).

active(How) ->
    {C, S} = pair([{active, How}]),
    Is = inet:getopts(S, [active]),
    ok = gen_tcp:send(C, "first"),
    First = receive {tcp, S, B} -> {data, B} end,
    show([Is, First | after_first(How, C, S)]),
    close([C, S]).

after_first(true, C, S) ->
    ok = gen_tcp:send(C, "then"),
    [receive {tcp, S, B} -> {data, B} end];
after_first(once, _, S) -> [inet:getopts(S, [active])];
after_first(1, _, S) -> [receive {tcp_passive, S} -> tcp_passive end].

%% Without prim_inet's accept/1, which gives it the options.
bare() ->
    {ok, L} = gen_tcp:listen(0, [binary, {active, true}]),
    {ok, Port} = inet:port(L),
    {ok, Ref} = prim_inet:async_accept(L, -1),
    {ok, C} = gen_tcp:connect({127, 0, 0, 1}, Port, [binary, {active, false}]),
    S = receive {inet_async, L, Ref, {ok, S0}} -> S0 end,
    inet_db:register_socket(S, inet_tcp),
    ok = gen_tcp:send(C, "first"),
    Is = [prim_inet:getopts(Socket, [active]) || Socket <- [S, C]],
    show(Is ++ [prim_inet:setopts(S, [{active, once}]), receive {tcp, S, B} -> {data, B} end]),
    close([C, S, L]).

given() ->
    {C, S} = pair([{active, false}]),
    {ok, Fd} = prim_inet:getfd(S),
    {ok, D} = gen_tcp:fdopen(Fd, [binary, {active, false}]),
    ok = gen_tcp:send(C, "question"),
    Read = gen_tcp:recv(D, 8),
    Sent = gen_tcp:send(D, "answer"),
    Back = gen_tcp:recv(C, 6),
    ok = gen_tcp:send(C, "more"),
    show([Read, Sent, Back, gen_tcp:recv(S, 4)]),
    ok = gen_tcp:close(C),
    show([gen_tcp:recv(S, 1) | [gen_tcp:close(X) || X <- [D, S]]] ++ [gen_tcp:close(D)]).

given_udp() ->
    {ok, A} = gen_udp:open(0, [binary, {active, false}, {ip, {127, 0, 0, 1}}]),
    {ok, Port} = inet:port(A),
    {ok, Fd} = prim_inet:getfd(A),
    {ok, B} = gen_udp:open(0, [binary, {active, false}, {fd, Fd}]),
    {ok, From} = gen_udp:open(0, []),
    ok = gen_udp:send(From, {127, 0, 0, 1}, Port, "datagram"),
    {ok, {{127, 0, 0, 1}, _, Bytes}} = gen_udp:recv(B, 0),
    show([{ok, Bytes}, gen_udp:close(B)]),
    [gen_udp:close(X) || X <- [A, From]].

pair(Options) ->
    {ok, L} = gen_tcp:listen(0, [binary | Options]),
    {ok, Port} = inet:port(L),
    {ok, C} = gen_tcp:connect({127, 0, 0, 1}, Port, [binary, {active, false}]),
    {ok, S} = gen_tcp:accept(L),
    ok = gen_tcp:close(L),
    {C, S}.

close(Sockets) -> [ok = gen_tcp:close(S) || S <- Sockets].

show(T) -> io:format("~0p~n", [T]).
