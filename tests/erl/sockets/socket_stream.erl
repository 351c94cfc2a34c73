%% SPDX-License-Identifier: Apache-2.0
%% The module socket: streams over inet, inet6 and local; parts, peeks, messages of several parts; what is wrong.
%% expect: [true,true,true,ok]
%% expect: [{ok,<<"on">>},{ok,<<"onetwo">>},{error,timeout},{error,timeout}]
%% expect: [{ctrl,[]},{flags,[]},{iov,[<<"amessage">>]}]
%% expect: 3000
%% expect: [{error,closed},ok,{ok,<<"still">>},{error,epipe}]
%% expect: [ok,ok,{error,closed},{error,closed},{error,closed},{error,closed}]
%% expect: the_same
%% expect: the_same
%% expect: the_same
%% expect: [{error,{timeout,<<"bc">>}},{error,timeout},{error,timeout}]
%% expect 27: [{error,timeout},{ok,<<"bc">>},{error,timeout}]
%% expect 29: [{error,{timeout,<<"bc">>}},{error,timeout},{error,timeout}]
%% expect: [{ok,<<"123456789">>},{error,closed},{ok,{3,4}}]
%% expect: [{ok,8192},{error,{invalid,{socket_option,{otp,rcvbuf},0}}},{error,{invalid,{socket_option,{otp,rcvbuf},{0,9}}}}]
%% expect: [true,true,ok,ok]
%% expect: [true,<<"0123456789abcdef">>]
%% expect: [{invalid,{integer_range,1099511627776}},{error,einval},{error,enotconn},{error,epipe},{error,enotconn}]
%% expect 27: [{error,{invalid,{integer_range,1099511627776}}},{error,einval},{error,enotconn},{error,epipe},{error,enotconn}]
%% expect 29: [{invalid,{integer_range,1099511627776}},{error,einval},{error,enotconn},{error,epipe},{error,enotconn}]
%% expect: {error,{invalid,{domain,nowhere}}}
%% expect: {error,{invalid,{type,sideways}}}
%% expect: {error,{invalid,{protocol,sideways}}}
%% expect: {error,{invalid,{sockaddr,{keys,[nothing]},#{family => inet,nothing => 0}}}}
%% expect: {error,eaddrnotavail}
%% expect: {error,badarg}
%% expect: {error,badarg}
%% expect: {error,{invalid,{how,both}}}
%% expect: {error,{invalid,{msg_flag,loud}}}
%% expect: {error,econnrefused}
%% expect: {error,enoent}
%% expect: {error,econnrefused}
%% expect: [999990,<<"5678901234">>,{ok,999990}]
%% expect: [{ok,<<"0123456789">>},{ok,10}]
%% expect: [1000000,{ok,1000000}]
%% expect: {error,einval}
%% expect: ok
-module(socket_stream).
-export([main/0]).
-include("each.hrl").

main() ->
    Dir = filename:join("/tmp", "erl_socket_" ++ os:getpid()),
    ok = file:make_dir(Dir),
    each(fun talk/1, [#{family => inet, addr => loopback, port => 0}, #{family => inet6, addr => loopback, port => 0},
                      #{family => local, path => filename:join(Dir, "s")},
                      #{family => local, path => <<0, "erl_socket_", (list_to_binary(os:getpid()))/binary>>}]),
    parts(),
    much(),
    wrong(Dir),
    file(Dir),
    [file:delete(filename:join(Dir, F)) || F <- element(2, file:list_dir(Dir))],
    show(file:del_dir(Dir)).

pair(Address) ->
    {ok, L} = socket:open(maps:get(family, Address), stream),
    ok = socket:bind(L, Address),
    ok = socket:listen(L),
    {ok, At} = socket:sockname(L),
    {ok, C} = socket:open(maps:get(family, Address), stream),
    ok = socket:connect(C, At),
    {ok, S} = socket:accept(L),
    ok = socket:close(L),
    {C, S, At}.

talk(Address) ->
    {C, S, At} = pair(Address),
    show([maps:get(family, At) =:= maps:get(family, Address), socket:peername(C) =:= {ok, At},
          socket:sockname(S) =:= {ok, At}, element(1, socket:peername(S))]),
    ok = socket:send(C, <<"one">>),
    ok = socket:send(C, ["tw", <<"o">>]),
    show([socket:recv(S, 2, [peek]), socket:recv(S, 6), socket:recv(S, 0, 0), socket:recv(S, 5, 0)]),
    ok = socket:sendmsg(S, #{iov => [<<"a">>, <<>>, <<"message">>]}),
    {ok, M} = socket:recvmsg(C),
    show(lists:sort(maps:to_list(maps:remove(addr, M)))),
    ok = socket:sendmsg(S, #{iov => [<<"x">> || _ <- lists:seq(1, 3000)]}),
    {ok, X} = socket:recv(C, 3000),
    show(byte_size(X)),
    ok = socket:shutdown(C, write),
    show([socket:recv(S), socket:send(S, <<"still">>), socket:recv(C, 5), socket:send(C, <<"no">>)]),
    show([socket:close(C), socket:close(S), socket:close(S), socket:recv(S), socket:send(S, "x"), socket:sockname(S)]).

%% What is there when time is up is given, or stays.
parts() ->
    {C, S, _} = pair(#{family => inet, addr => loopback, port => 0}),
    ok = socket:send(C, <<"abc">>),
    {ok, <<"a">>} = socket:recv(S, 1),
    show([socket:recv(S, 10, 20), socket:recv(S, 0, 0), socket:recv(S, 0, 20)]),
    ok = socket:setopt(S, {otp, rcvbuf}, {3, 4}),
    ok = socket:send(C, <<"0123456789">>),
    ok = socket:shutdown(C, write),
    {ok, <<"0">>} = socket:recv(S, 1),
    show([socket:recv(S), socket:recv(S), socket:getopt(S, {otp, rcvbuf})]),
    ok = socket:setopt(S, {otp, rcvbuf}, default),
    show([socket:getopt(S, {otp, rcvbuf}), socket:setopt(S, {otp, rcvbuf}, 0),
          socket:setopt(S, {otp, rcvbuf}, {0, 9})]),
    [ok = socket:close(X) || X <- [C, S]].

%% More than the kernel takes at once.
much() ->
    {C, S, _} = pair(#{family => inet, addr => loopback, port => 0}),
    Bytes = binary:copy(<<"0123456789abcdef">>, 1 bsl 17),
    Me = self(),
    P = spawn_link(fun () -> Me ! {self(), socket:send(C, Bytes)},
                   Me ! {self(), socket:sendmsg(C, #{iov => [Bytes, Bytes]})},
                             receive done -> ok end end),
    {ok, One} = socket:recv(S, byte_size(Bytes)),
    {ok, Two} = socket:recv(S, 2 * byte_size(Bytes)),
    show([One =:= Bytes, Two =:= <<Bytes/binary, Bytes/binary>>, receive {P, R} -> R end, receive {P, Q} -> Q end]),
    {error, {timeout, Rest}} = socket:send(C, binary:copy(Bytes, 10), 50),
    {ok, N} = {ok, 10 * byte_size(Bytes) - byte_size(Rest)},
    {ok, Three} = socket:recv(S, N),
    show([N > 0, binary:part(Three, 0, 16)]),
    P ! done,
    [ok = socket:close(X) || X <- [C, S]].

wrong(Dir) ->
    {ok, S} = socket:open(inet, stream),
    show([socket:listen(S, 1 bsl 40), socket:accept(S, 0), socket:recv(S), socket:send(S, "x"), socket:peername(S)]),
    show(catch socket:open(nowhere, stream)),
    show(catch socket:open(inet, sideways)),
    show(catch socket:open(inet, stream, sideways)),
    {error, {invalid, {sockaddr, #{addr := {1, 2, 3}}}}} = socket:bind(S, #{family => inet, port => 0, addr => {1, 2, 3}}),
    show(catch socket:bind(S, #{family => inet, nothing => 0})),
    show(catch socket:bind(S, #{family => inet, port => 0, addr => {192, 0, 2, 77}})),
    show(why(fun () -> socket:recv(S, -1) end)),
    show(why(fun () -> socket:recv(not_one, 1) end)),
    show(why(fun () -> socket:shutdown(S, both) end)),
    show(catch socket:send(S, "x", [loud])),
    show(catch socket:connect(S, #{family => inet, port => 1, addr => loopback})),
    ok = socket:close(S),
    {ok, L} = socket:open(local, stream),
    show(catch socket:connect(L, #{family => local, path => filename:join(Dir, "none")})),
    {error, {invalid, {sockaddr, #{family := local, path := [$x | _]}}}} = socket:bind(L, #{family => local, path => lists:duplicate(120, $x)}),
    show(catch socket:connect(L, #{family => local, path => filename:join(Dir, "s")})),
    ok = socket:close(L).

file(Dir) ->
    {C, S, _} = pair(#{family => local, path => filename:join(Dir, "f")}),
    Name = filename:join(Dir, "file"),
    ok = file:write_file(Name, binary:copy(<<"0123456789">>, 100000)),
    Me = self(),
    spawn_link(fun () -> {ok, F} = file:open(Name, [read, raw, binary]),
                         Me ! {sent, socket:sendfile(C, F, 5, 999990)}, Me ! {sent, socket:sendfile(C, F, 999990, 0)},
                         Me ! {sent, socket:sendfile(C, F)}, ok = file:close(F),
                         Me ! {sent, socket:sendfile(C, F)} end),
    {ok, Bytes} = socket:recv(S, 999990),
    show([byte_size(Bytes), binary:part(Bytes, 0, 10), receive {sent, R} -> R end]),
    show([socket:recv(S, 10), receive {sent, Q} -> Q end]),
    {ok, All} = socket:recv(S, 1000000),
    show([byte_size(All), receive {sent, A} -> A end]),
    show(receive {sent, Closed} -> Closed end),
    [ok = socket:close(X) || X <- [C, S]].

why(F) -> try F() catch C:R -> {C, R} end.
