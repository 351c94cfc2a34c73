%% SPDX-License-Identifier: Apache-2.0
%% The module socket: datagrams, where they come from, what comes with them.
%% expect: [true,<<"first">>]
%% expect: <<>>
%% expect: [<<"longer">>,{error,timeout},{error,timeout}]
%% expect: [true,#{ctrl => [],flags => [],iov => [<<"in parts">>]}]
%% expect: #{ctrl => [],flags => [trunc],iov => [<<"cut">>]}
%% expect: [{ok,<<"back">>},true]
%% expect: [ok,ok]
%% expect: the_same
%% expect: the_same
%% expect: {pktinfo,ok}
%% expect: {recvtos,ok}
%% expect: {recvttl,ok}
%% expect: {recvorigdstaddr,ok}
%% expect: [{origdstaddr,true},{pktinfo,#{addr => {127,0,0,1},ifindex => 1,spec_dst => {127,0,0,1}}},{tos,mincost},{ttl,9},{timestamp,true,true}]
%% expect: {error,{invalid,{msg,ctrl,#{ctrl => [#{level => ip,type => tos,value => strange}]}}}}
%% expect: {error,{invalid,{msg,ctrl,#{ctrl => [#{data => <<>>,level => ip,type => tos,value => 3}]}}}}
%% expect: {error,{invalid,{msg,ctrl,#{ctrl => [#{level => 77777,type => strange,value => 1}]}}}}
%% expect: {error,{invalid,{iov,{list,1025}}}}
%% expect: {error,{invalid,{iov,{element_not_binary,1}}}}
%% expect: {error,{invalid,{msg,ctrl,#{ctrl => [#{level => ip,type => tos,value => mincost}]}}}}
%% expect: {recvpktinfo,ok}
%% expect: {recvtclass,ok}
%% expect: {recvhoplimit,ok}
%% expect: [{hoplimit,7},{pktinfo,#{addr => {0,0,0,0,0,0,0,1},ifindex => 1}},{tclass,4}]
%% expect: {error,econnrefused}
%% expect: [[errqueue],[<<"hello">>],true,#{level => ip,type => recverr,value => #{code => port_unreach,data => 0,error => econnrefused,info => 0,offender => #{addr => {127,0,0,1},family => inet,port => 0},origin => icmp,type => dest_unreach}}]
%% expect: ok
-module(socket_datagrams).
-export([main/0]).
-include("each.hrl").

main() ->
    Dir = filename:join("/tmp", "erl_datagram_" ++ os:getpid()),
    ok = file:make_dir(Dir),
    Inet = #{family => inet, addr => loopback, port => 0},
    each(fun talk/1, [{Inet, Inet}, {Inet#{family := inet6}, Inet#{family := inet6}},
                      {#{family => local, path => filename:join(Dir, "a")},
                       #{family => local, path => filename:join(Dir, "b")}}]),
    control(), control6(), errors(),
    [file:delete(filename:join(Dir, F)) || F <- element(2, file:list_dir(Dir))],
    show(file:del_dir(Dir)).

open(Address) ->
    {ok, S} = socket:open(maps:get(family, Address), dgram),
    ok = socket:bind(S, Address),
    {ok, At} = socket:sockname(S),
    {S, At}.

talk({A, B}) ->
    {S, From} = open(A),
    {R, To} = open(B),
    ok = socket:sendto(S, <<"first">>, To),
    {ok, {F1, D1}} = socket:recvfrom(R),
    show([F1 =:= From, D1]),
    ok = socket:sendto(S, <<>>, To),
    show(element(2, element(2, socket:recvfrom(R, 0)))),
    ok = socket:sendto(S, ["longer than ", <<"that">>], To),
    {ok, {_, D2}} = socket:recvfrom(R, 6),
    show([D2, socket:recvfrom(R, 0, 0), socket:recvfrom(R, 0, 10)]),
    ok = socket:sendmsg(S, #{addr => To, iov => [<<"in ">>, <<"parts">>]}),
    {ok, M} = socket:recvmsg(R),
    show([maps:get(addr, M) =:= From, maps:remove(addr, M)]),
    ok = socket:sendmsg(S, #{addr => To, iov => [<<"cut off">>]}),
    {ok, M2} = socket:recvmsg(R, 3, 0),
    show(maps:remove(addr, M2)),
    ok = socket:connect(R, From),
    ok = socket:send(R, "back"),
    show([socket:recv(S, 0), socket:peername(R) =:= {ok, From}]),
    show([socket:close(S), socket:close(R)]).

control() ->
    {S, At} = open(#{family => inet, addr => loopback, port => 0}),
    [show({O, socket:setopt(S, {ip, O}, true)}) || O <- [pktinfo, recvtos, recvttl, recvorigdstaddr]],
    ok = socket:setopt(S, {socket, timestamp}, true),
    ok = socket:sendmsg(S, #{addr => At, iov => [<<"x">>], ctrl => [#{level => ip, type => tos, value => mincost},
                                                                    #{level => ip, type => ttl, data => <<9:32/native>>}]}),
    {ok, #{ctrl := C}} = socket:recvmsg(S),
    show(lists:sort([case M of
                         #{type := timestamp, value := #{sec := Sec, usec := U}} -> {timestamp, is_integer(Sec), is_integer(U)};
                         #{type := origdstaddr, value := V} -> {origdstaddr, V =:= At};
                         #{type := tos, value := #{tos := #{tos := V}}} -> {tos, V}; %% from OTP 29 on
                         #{type := T, value := V} -> {T, V};
                         #{type := T} -> {T, maps:is_key(data, M)}
                     end || M <- C])),
    show(socket:sendmsg(S, #{addr => At, iov => [<<"x">>], ctrl => [#{level => ip, type => tos, value => strange}]})),
    show(socket:sendmsg(S, #{addr => At, iov => [<<"x">>], ctrl => [#{level => ip, type => tos, value => 3,
                                                                      data => <<>>}]})),
    show(socket:sendmsg(S, #{addr => At, iov => [<<"x">>], ctrl => [#{level => 77777, type => strange, value => 1}]})),
    show(socket:sendmsg(S, #{addr => At, iov => [<<"x">> || _ <- lists:seq(1, 1025)]})),
    show(catch socket:sendmsg(S, #{addr => At, iov => [x]})),
    ok = socket:setopt(S, {otp, sndctrlbuf}, 8),
    show(socket:sendmsg(S, #{addr => At, iov => [<<"x">>], ctrl => [#{level => ip, type => tos, value => mincost}]})),
    ok = socket:close(S).

control6() ->
    {S, At} = open(#{family => inet6, addr => loopback, port => 0}),
    [show({O, socket:setopt(S, {ipv6, O}, true)}) || O <- [recvpktinfo, recvtclass, recvhoplimit]],
    ok = socket:sendmsg(S, #{addr => At, iov => [<<"x">>], ctrl => [#{level => ipv6, type => hoplimit, value => 7},
                                                                    #{level => ipv6, type => tclass, value => 4}]}),
    {ok, #{ctrl := C}} = socket:recvmsg(S),
    show(lists:sort([{T, maps:get(value, M, none)} || #{type := T} = M <- C])),
    ok = socket:close(S).

%% Nobody is there: the kernel says so, with who said it.
errors() ->
    {Gone, At} = open(#{family => inet, addr => loopback, port => 0}),
    ok = socket:close(Gone),
    {S, _} = open(#{family => inet, addr => loopback, port => 0}),
    ok = socket:setopt(S, {ip, recverr}, true),
    ok = socket:sendto(S, <<"hello">>, At),
    show(socket:recvfrom(S)),
    {ok, #{ctrl := [C], flags := F, iov := I, addr := A}} = socket:recvmsg(S, [errqueue]),
    show([F, I, A =:= At, maps:remove(data, C)]),
    ok = socket:close(S).
