%% SPDX-License-Identifier: Apache-2.0
%% Several messages by one call: socket:sendmmsg/4, recvmmsg/6. What is for sockets with associations, on others.
-module(since29_messages).
-export([main/0]).
-include("../sockets/pair.hrl").

main() ->
    {A, B} = {open(), open()},
    {ok, To} = socket:sockname(B),
    {ok, From} = socket:sockname(A),
    put(from, From),
    both(A, B, To),
    waiting(A, B, To),
    cut(A, B, To),
    control(A, B, To),
    refused(A, B, To),
    partly(),
    streams(),
    full(),
    counted(),
    of_associations(A, From).

open() ->
    {ok, S} = socket:open(inet, dgram, udp),
    ok = socket:bind(S, #{family => inet, addr => loopback, port => 0}),
    S.

%% Of a list of messages, what they say; all are from the same socket, without control messages.
said({ok, Messages}) ->
    [case M of
         #{addr := A, ctrl := [], flags := F, iov := [Bytes]} -> A =:= get(from) orelse exit({from, A}), case F of [] -> Bytes; _ -> {Bytes, F} end;
         #{ctrl := [], flags := [], iov := [Bytes]} -> {no_address, Bytes}
     end || M <- Messages];
said(Other) -> Other.

both(A, B, To) ->
    p(socket:sendmmsg(A, [#{addr => To, iov => [<<"a">>]}, #{addr => To, iov => [<<"b">>, <<"c">>]}, #{addr => To, iov => []}], [], infinity)),
    p(said(socket:recvmmsg(B, 5, 0, 0, [], 1000))),
    p(socket:sendmmsg(A, [], [], infinity)),
    p(socket:sendmmsg(A, [#{addr => To, iov => [<<N>>]} || N <- lists:seq(1, 5)], [], infinity)),
    p([said(socket:recvmmsg(B, 3, 10, 0, [peek], 1000)), said(socket:recvmmsg(B, 4, 10, 0, [], 1000)), said(socket:recvmmsg(B, 4, 10, 0, [], 1000))]),
    %% more than the kernel takes at once
    ok = socket:setopt(B, {socket, rcvbuf}, 4000000),
    ok = socket:sendmmsg(A, [#{addr => To, iov => [<<"x">>]} || _ <- lists:seq(1, 1500)], [], infinity),
    p(drain(B, 0) > 100).

%% expect: ok
%% expect: [<<"a">>,<<"bc">>,<<>>]
%% expect: ok
%% expect: ok
%% expect: [[<<1>>,<<1>>,<<1>>],[<<1>>,<<2>>,<<3>>,<<4>>],[<<5>>]]
%% expect: true

drain(S, N) ->
    case socket:recvmmsg(S, 100000, 10, 10, [], 0) of
        {ok, Messages} -> drain(S, N + length(Messages));
        {error, timeout} -> N
    end.

waiting(A, B, To) ->
    p([socket:recvmmsg(B, 5, 0, 0, [], 0), socket:recvmmsg(B, 5, 0, 0, [], 20)]),
    {select, {select_info, recvmmsg, Handle} = Info} = socket:recvmmsg(B, 5, 0, 0, [], nowait),
    ok = socket:sendmmsg(A, [#{addr => To, iov => [<<"later">>]}], [], infinity),
    p(receive {'$socket', B, select, Handle} -> said(socket:recvmmsg(B, 5, 0, 0, [], nowait)) end),
    {select, Again} = socket:recvmmsg(B, 5, 0, 0, [], nowait),
    p([socket:cancel(B, Again), socket:cancel(B, Info)]),
    Main = self(),
    Ps = [spawn_link(fun() -> put(from, element(2, socket:sockname(A))), Main ! {got, said(socket:recvmmsg(B, 1, 0, 0, [], 5000))} end) || _ <- [1, 2]],
    [wait(fun() -> process_info(P, status) =:= {status, waiting} end) || P <- Ps],
    ok = socket:sendmmsg(A, [#{addr => To, iov => [<<"for one">>]}, #{addr => To, iov => [<<"for another">>]}], [], infinity),
    p(lists:sort([receive {got, G} -> G end || _ <- Ps])).

%% expect: [{error,timeout},{error,timeout}]
%% expect: [<<"later">>]
%% expect: [ok,{error,{invalid,INFO}}]
%% expect: [[<<"for another">>],[<<"for one">>]]

cut(A, B, To) ->
    ok = socket:sendmmsg(A, [#{addr => To, iov => [<<"hello">>]}, #{addr => To, iov => [<<"you">>]}], [], infinity),
    p(said(socket:recvmmsg(B, 2, 3, 0, [], 1000))).

%% expect: [{<<"hel">>,[trunc]},<<"you">>]

control(A, B, To) ->
    ok = socket:setopt(B, {ip, recvttl}, true),
    ok = socket:sendmmsg(A, [#{addr => To, iov => [<<"x">>], ctrl => [#{level => ip, type => ttl, data => <<N:32/native>>}]} || N <- [7, 9]], [], infinity),
    {ok, Messages} = socket:recvmmsg(B, 5, 0, 0, [], 1000),
    ok = socket:setopt(B, {ip, recvttl}, false),
    p([maps:get(value, C) || #{ctrl := [C]} <- Messages]).

%% expect: [7,9]

refused(A, B, To) ->
    R = element(2, B),
    p([catch_of(fun() -> socket:sendmmsg(A, M, [], infinity) end) || M <- [[foo], [#{addr => foo, iov => [<<"x">>]}], [#{addr => To}], [#{iov => [<<"x">>]}]]]),
    p([catch_of(fun() -> socket:recvmmsg(B, N, 0, 0, [], 20) end) || N <- [0, -1, foo]]),
    p([catch_of(fun() -> prim_socket:recvmmsg(R, N, S, C, [], Ref) end) || {N, S, C, Ref} <- [{foo, 0, 0, make_ref()}, {1, 0, 0, foo}, {1, foo, 0, make_ref()}]]),
    p(catch_of(fun() -> prim_socket:recvmmsg(R, 1000, 1 bsl 62, 1, [], make_ref()) end)),
    p([catch_of(fun() -> socket:sendmmsg(A, [#{addr => To, iov => [<<"x">>, foo]}], [], infinity) end)]).

%% expect: [{invalid,{msg,foo}},{invalid,{sockaddr,foo}},badarg,{error,edestaddrreq}]
%% expect: [badarg,badarg,badarg]
%% expect: [badarg,badarg,badarg]
%% expect: {error,enomem}
%% expect erl 29: select
%% expect: [{error,{invalid,iov}}]
%% expect erl 29: [badarg]

%% What came before a message that the kernel refuses has gone; that and what follows is told, and can be sent again.
partly() ->
    {A, B} = {open(), open()},
    {ok, To} = socket:sockname(B),
    p(socket:sendmmsg(A, [#{addr => To, iov => [<<"x">>]}, #{iov => [<<"y">>]}, #{addr => To, iov => [<<"z">>]}], [], infinity)),
    {ok, Messages} = socket:recvmmsg(B, 5, 0, 0, [], 1000),
    p([I || #{iov := [I]} <- Messages]),
    [socket:close(S) || S <- [A, B]].

%% expect: {ok,[[<<"y">>],[<<"z">>]]}
%% expect erl 29: ok
%% expect: [<<"x">>]

streams() ->
    {C, D} = pair(),
    p(socket:sendmmsg(C, [#{iov => [<<"x">>]}, #{iov => [<<"yz">>]}], [], infinity)),
    p([said(socket:recvmmsg(D, 5, 2, 0, [], 1000)), socket:recvmmsg(D, 5, 2, 0, [], 0)]),
    ok = socket:close(C),
    p([socket:recvmmsg(D, 2, 2, 0, [], 1000), socket:sendmmsg(C, [#{iov => [<<"x">>]}], [], infinity)]),
    socket:close(D).

%% expect: ok
%% expect: [[{no_address,<<"xy">>},{no_address,<<"z">>}],{error,timeout}]
%% expect: [{error,closed},{error,closed}]
%% expect erl 29: [{ok,[MESSAGE,MESSAGE]},{error,closed}]

%% A stream that takes no more: what has not gone is told, and every byte that has comes once, in its order.
full() ->
    {C, D} = pair(),
    ok = socket:setopt(C, {socket, sndbuf}, 20000),
    Messages = [#{iov => [binary:copy(<<N:16>>, 50000)]} || N <- lists:seq(1, 400)],
    {ok, Rest} = socket:sendmmsg(C, Messages, [], nowait),
    Main = self(),
    spawn_link(fun() -> Main ! {all, all_of(D, [])} end),
    [ok = socket:sendmsg(C, #{iov => R}) || R <- Rest],
    ok = socket:close(C),
    p([length(Rest) > 1, length(Rest) < 401, iolist_to_binary(receive {all, All} -> All end) =:= iolist_to_binary([I || #{iov := I} <- Messages])]).

%% expect: [true,true,true]
%% expect erl 29: [false,true,false]

all_of(D, Got) ->
    case socket:recv(D, 0, 5000) of
        {ok, Bytes} -> all_of(D, [Bytes | Got]);
        {error, closed} -> lists:reverse(Got)
    end.

counted() ->
    {A, B} = {open(), open()},
    {ok, To} = socket:sockname(B),
    ok = socket:sendmmsg(A, [#{addr => To, iov => [<<"abc">>]}, #{addr => To, iov => [<<"de">>]}], [], infinity),
    {ok, [_, _]} = socket:recvmmsg(B, 5, 0, 0, [], 1000),
    #{counters := #{write_pkg := WP, write_byte := WB}} = socket:info(A),
    #{counters := #{read_pkg := RP, read_byte := RB}} = socket:info(B),
    p([{WP, WB}, {RP, RB}]).

%% expect: [{2,5},{2,5}]
%% expect erl 29: [{0,0},{2,5}]

of_associations(A, Name) ->
    p([catch_of(fun() -> socket:peeloff(A, 1) end), socket:socknames(A, 1), socket:peernames(A, 1)]),
    p([catch_of(fun() -> socket:bind(A, [Name], Action) end) || Action <- [add, remove, foo]]),
    p([catch_of(fun() -> socket:bind(A, [foo], add) end), catch_of(fun() -> prim_socket:peeloff(element(2, A), foo) end),
       catch_of(fun() -> prim_socket:socknames(element(2, A), foo) end)]).

%% expect: [badarg,{error,enotsup},{error,enotsup}]
%% expect: [{error,enoprotoopt},{error,enoprotoopt},badarg]
%% expect: [{invalid,{sockaddr,foo}},badarg,badarg]

catch_of(F) -> try F() catch error:E -> E end.

p([{ok, [#{iov := _}, #{iov := _}]}, E]) -> io:format("[{ok,[MESSAGE,MESSAGE]},~0p]~n", [E]);
p([ok, {error, {invalid, {select_info, recvmmsg, _}}}]) -> io:format("[ok,{error,{invalid,INFO}}]~n");
p(T) -> io:format("~0p~n", [T]).
