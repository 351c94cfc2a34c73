%% SPDX-License-Identifier: Apache-2.0
%% Sockets within the machine: streams and datagrams by a path, by an abstract name, without one; files sent by the kernel.
%% expect: [{ok,<<"over there">>},<<"and back">>]
%% expect: [true,{ok,{local,<<>>}},true,{ok,{local,<<>>}},true]
%% expect: closed
%% expect: [{ok,<<"over there">>},<<"and back">>]
%% expect: [true,{ok,{local,<<>>}},true,{ok,{local,<<>>}},true]
%% expect: closed
%% expect: [ok,{{unspec,<<>>},0,<<"unnamed">>}]
%% expect: [ok,{true,"named"}]
%% expect: {error,enoent}
%% expect: [{error,einval},{error,enoent}]
%% expect: {error,eaddrinuse}
%% expect: {ok,1200000}
%% expect: true
%% expect: [{ok,20},true]
%% expect: [{ok,0},true]
%% expect: [{error,enotconn},ok]
%% expect: ok
-module(local_sockets).
-export([main/0]).

main() ->
    Dir = filename:join("/tmp", "erl_local_" ++ os:getpid()),
    ok = file:make_dir(Dir),
    stream({local, filename:join(Dir, "s")}),
    stream({local, <<0, "erl_abstract_", (list_to_binary(os:getpid()))/binary>>}),
    datagrams(Dir),
    show([gen_tcp:listen(0, [{ifaddr, {local, lists:duplicate(200, $x)}}]), gen_tcp:connect({local, filename:join(Dir, "none")}, 0, [])]),
    show(gen_tcp:listen(0, [{ifaddr, {local, filename:join(Dir, "s")}}])),
    files(Dir),
    [file:delete(filename:join(Dir, F)) || F <- element(2, file:list_dir(Dir))],
    show(file:del_dir(Dir)).

stream(Address) ->
    {ok, L} = gen_tcp:listen(0, [{ifaddr, Address}, binary, {active, false}, {packet, 2}]),
    {ok, C} = gen_tcp:connect(Address, 0, [binary, {active, true}, {packet, 2}]),
    {ok, S} = gen_tcp:accept(L),
    ok = gen_tcp:send(C, "over there"), ok = gen_tcp:send(S, <<"and back">>),
    show([gen_tcp:recv(S, 0), receive {tcp, C, D} -> D end]),
    show([same(Address, inet:sockname(L)), inet:sockname(C), same(Address, inet:peername(C)), inet:peername(S), same(Address, {ok, {local, element(2, inet:port(L))}})]),
    gen_tcp:close(S),
    show(receive {tcp_closed, C} -> closed end),
    gen_tcp:close(L).
same({local, A}, {ok, {local, B}}) -> iolist_to_binary(A) =:= B;
same(_, X) -> X.

datagrams(Dir) ->
    Name = filename:join(Dir, "d"),
    {ok, A} = gen_udp:open(0, [local, binary]), {ok, B} = gen_udp:open(0, [{ifaddr, {local, Name}}, binary]),
    show([gen_udp:send(A, {local, Name}, 0, "unnamed"), receive {udp, B, F, P, D} -> {F, P, D} end]),
    {ok, C} = gen_udp:open(0, [{ifaddr, {local, Name ++ "2"}}, {active, false}]),
    show([gen_udp:send(B, {local, Name ++ "2"}, 0, "named"), case gen_udp:recv(C, 0) of {ok, {{local, N}, 0, D2}} -> {N =:= list_to_binary(Name), D2} end]),
    show(gen_udp:send(A, {local, Name ++ "3"}, 0, "nobody")),
    [gen_udp:close(X) || X <- [A, B, C]].

files(Dir) ->
    {ok, L} = gen_tcp:listen(0, [binary, {active, false}]), {ok, P} = inet:port(L),
    {ok, C} = gen_tcp:connect({127,0,0,1}, P, [binary, {active, false}]), {ok, S} = gen_tcp:accept(L),
    Data = << <<N:32>> || N <- lists:seq(1, 300000) >>, Name = filename:join(Dir, "file"),
    ok = file:write_file(Name, Data),
    Self = self(),
    spawn_link(fun() -> Self ! {got, gen_tcp:recv(S, byte_size(Data) + 7)} end),
    ok = gen_tcp:send(C, "first, "),
    show(file:sendfile(Name, C)),
    show(receive {got, {ok, <<"first, ", Got/binary>>}} -> Got =:= Data end),
    {ok, F} = file:open(Name, [read, raw, binary]),
    show([file:sendfile(F, C, 10, 20, []), gen_tcp:recv(S, 20) =:= {ok, binary:part(Data, 10, 20)}]),
    show([file:sendfile(F, C, 1200000, 20, []), file:sendfile(F, C, 0, 0, []) =:= {ok, byte_size(Data)}]),
    {ok, _} = gen_tcp:recv(S, byte_size(Data)),
    gen_tcp:close(S), wait_closed(C),
    show([file:sendfile(F, C, 0, 10, []), file:close(F)]),
    [gen_tcp:close(X) || X <- [L, C]].
wait_closed(C) -> {error, closed} = gen_tcp:recv(C, 0), ok.
show(X) -> io:format("~0p~n", [X]).
