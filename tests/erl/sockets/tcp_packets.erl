%% SPDX-License-Identifier: Apache-2.0
%% Packets of every kind over connections: in one piece, byte by byte, several at once; too long ones, and bytes that are none.
%% expect: {0,3}
%% expect: {0,0}
%% expect: {0,250}
%% expect: {1,4}
%% expect: {1,1}
%% expect: {1,251}
%% expect: {2,5}
%% expect: {2,2}
%% expect: {2,252}
%% expect: {4,7}
%% expect: {4,4}
%% expect: {4,254}
%% expect: {1,[<<"abc">>,<<>>,<<"z">>],1,[{tcp,port,<<"abc">>},{tcp,port,<<>>},{tcp,port,<<"z">>}],1}
%% expect: {2,[<<"abc">>,<<>>],1,[{tcp,port,<<"abc">>},{tcp,port,<<>>}],1}
%% expect: {4,[<<"abc">>,3000],1,[{tcp,port,<<"abc">>},{tcp,port,3000}],1}
%% expect: {asn1,[<<48,3,97,98,99>>,<<31,129,5,2,100,101>>,<<4,130,0,1,102>>],1,[{tcp,port,<<48,3,97,98,99>>},{tcp,port,<<31,129,5,2,100,101>>},{tcp,port,<<4,130,0,1,102>>}],1}
%% expect: {sunrm,[<<128,0,0,3,97,98,99>>,<<0,0,0,2,100,101>>],1,[{tcp,port,<<128,0,0,3,97,98,99>>},{tcp,port,<<0,0,0,2,100,101>>}],1}
%% expect: {cdr,[<<71,73,79,80,1,2,0,0,0,0,0,3,97,98,99>>,<<71,73,79,80,1,2,1,0,3,0,0,0,100,101,102>>],1,[{tcp,port,<<71,73,79,80,1,2,0,0,0,0,0,3,97,98,99>>},{tcp,port,<<71,73,79,80,1,2,1,0,3,0,0,0,100,101,102>>}],1}
%% expect: {fcgi,[<<1,2,0,3,0,3,2,0,97,98,99>>],1,[{tcp,port,<<1,2,0,3,0,3,2,0,97,98,99>>}],1}
%% expect: {line,[<<"one\n">>,<<"two\r\n">>,<<"\n">>],1,[{tcp,port,<<"one\n">>},{tcp,port,<<"two\r\n">>},{tcp,port,<<"\n">>}],1}
%% expect: {tpkt,[<<3,0,0,7,97,98,99>>],1,[{tcp,port,<<3,0,0,7,97,98,99>>}],1}
%% expect: {ssl_tls,[{ssl_tls,port,22,{3,3},<<"abc">>},{ssl_tls,port,23,{3,1},<<"z">>}],1,[{ssl_tls,port,22,{3,3},<<"abc">>},{ssl_tls,port,23,{3,1},<<"z">>}],1}
%% expect: [{ok,<<"short\n">>},{ok,<<"a line of ">>},{ok,<<"more bytes">>},{ok,<<"\n">>},{ok,<<"end\n">>}]
%% expect: [{ok,<<"a;">>},{ok,<<"b;">>},{ok,<<"c\n;">>}]
%% expect: [{ok,<<"short\n">>},{error,emsgsize},{error,enotconn}]
%% expect: [{ok,"one\n"},{ok,"two\n"}]
%% expect: [{ok,{http_request,'GET',{abs_path,"/a/b?c"},{1,1}}},{ok,{http_header,14,'Host',"Host","here"}},{ok,{http_header,0,"X-Own","X-own","1\r\n 2"}},{ok,http_eoh}]
%% expect: [{ok,{http_request,'GET',{abs_path,<<"/a/b?c">>},{1,1}}},{ok,{http_header,14,'Host',<<"Host">>,<<"here">>}},{ok,{http_header,0,<<"X-Own">>,<<"X-own">>,<<"1\r\n 2">>}},{ok,http_eoh}]
%% expect: [{ok,{http_header,38,'Content-Length',"Content-Length","3"}},{ok,http_eoh}]
%% expect: [{ok,{http_header,38,'Content-Length',<<"Content-Length">>,<<"3">>}},{ok,http_eoh}]
%% expect: [{ok,{http_response,{1,0},404,"Not found"}},{ok,http_eoh},{ok,{http_response,{1,1},200,"OK"}},{ok,http_eoh}]
%% expect: [{ok,{http_error,"nonsense\r\n"}},{ok,{http_request,'GET','*',{1,0}}},{ok,http_eoh}]
%% expect: [{http_request,'GET',{abs_path,<<"/a/b?c">>},{1,1}},{http_header,14,'Host',<<"Host">>,<<"here">>},{http_header,0,<<"X-Own">>,<<"X-own">>,<<"1\r\n 2">>}]
%% expect: http_eoh
%% expect: {ok,<<"body">>}
%% expect: [{ok,<<0,0,0,0,0,0,0,0,0,0>>},{error,emsgsize}]
%% expect: [{error,emsgsize}]
%% expect: [{error,emsgsize}]
%% expect: [{error,einval},{error,timeout}]
%% expect: {asn1,[{error,timeout}]}
%% expect: {cdr,[{error,emsgsize}]}
%% expect: {fcgi,[{error,emsgsize}]}
%% expect: {tpkt,[{error,emsgsize}]}
%% expect: [{tcp_error,port,emsgsize},{tcp_closed,port}]
%% expect: [{ok,<<"line\n">>},{ok,<<"ab">>},{ok,<<"c">>},{ok,<<"rest">>}]
-module(tcp_packets).
-export([main/0]).

main() ->
    {ok, L} = gen_tcp:listen(0, [binary, {active, false}]),
    {ok, P} = inet:port(L),
    put(l, {L, P}),
    [sent(T, D) || T <- [0, 1, 2, 4], D <- [<<"abc">>, <<>>, binary:copy(<<"x">>, 250)]],
    [kind(T, Packets) || {T, Packets} <- kinds()],
    lines(), http(), limits(), garbage(), changes(),
    gen_tcp:close(L).

sent(T, D) ->
    {C, S} = pair([{packet, T}]),
    ok = gen_tcp:send(C, D),
    gen_tcp:close(C),
    show({T, all(S, [])}).
all(S, Acc) -> case gen_tcp:recv(S, 0) of {ok, B} -> all(S, [Acc, B]); {error, closed} -> gen_tcp:close(S), iolist_size(Acc) end.

kinds() ->
    [{1, [<<3, "abc">>, <<0>>, <<1, "z">>]}, {2, [<<3:16, "abc">>, <<0:16>>]}, {4, [<<3:32, "abc">>, <<3000:32, 0:24000>>]},
     {asn1, [<<48, 3, "abc">>, <<16#1f, 16#81, 5, 2, "de">>, <<4, 16#82, 1:16, "f">>]},
     {sunrm, [<<1:1, 3:31, "abc">>, <<2:32, "de">>]},
     {cdr, [<<"GIOP", 1, 2, 0, 0, 3:32, "abc">>, <<"GIOP", 1, 2, 1, 0, 3:32/little, "def">>]},
     {fcgi, [<<1, 2, 3:16, 3:16, 2, 0, "abc", 0, 0>>]},
     {line, [<<"one\n">>, <<"two\r\n">>, <<"\n">>]},
     {tpkt, [<<3, 0, 7:16, "abc">>]},
     {ssl_tls, [<<22, 3, 3, 3:16, "abc">>, <<23, 3, 1, 1:16, "z">>]}].

%% Received once all at once, then byte by byte; once asked for, once as messages.
kind(T, Packets) ->
    Bytes = iolist_to_binary(Packets),
    Asked = [R || How <- [whole, bytes], R <- [asked(T, Packets, Bytes, How)]],
    Told = [told(T, Packets, Bytes, How) || How <- [whole, bytes]],
    show({T, [short(X) || X <- hd(Asked)], length(lists:usort(Asked)), [short(X) || X <- hd(Told)], length(lists:usort(Told))}).

asked(T, Packets, Bytes, How) ->
    {C, S} = pair([]),
    ok = inet:setopts(C, [{packet, T}]),
    spawn_link(fun() -> send(S, Bytes, How) end),
    R = [plain(C, element(2, gen_tcp:recv(C, 0))) || _ <- Packets],
    [gen_tcp:close(X) || X <- [C, S]], R.

told(T, Packets, Bytes, How) ->
    {C, S} = pair([]),
    ok = inet:setopts(C, [{packet, T}, {active, true}]),
    spawn_link(fun() -> send(S, Bytes, How) end),
    R = [receive M when element(2, M) =:= C -> plain(C, M) after 5000 -> nothing end || _ <- Packets],
    [gen_tcp:close(X) || X <- [C, S]], R.

send(S, Bytes, whole) -> ok = gen_tcp:send(S, Bytes);
send(S, Bytes, bytes) -> inet:setopts(S, [{nodelay, true}]), [ok = gen_tcp:send(S, [B]) || <<B>> <= binary:part(Bytes, 0, min(40, byte_size(Bytes)))],
    ok = gen_tcp:send(S, binary:part(Bytes, min(40, byte_size(Bytes)), max(0, byte_size(Bytes) - 40))).

plain(C, M) when is_tuple(M), element(2, M) =:= C -> setelement(2, M, port);
plain(_, M) -> M.
short(B) when is_binary(B), byte_size(B) > 100 -> byte_size(B);
short(T) when is_tuple(T) -> list_to_tuple([short(E) || E <- tuple_to_list(T)]);
short(T) -> T.

lines() ->
    show(exchange([{packet, line}, {buffer, 10}], <<"short\na line of more bytes\nend\n">>, 5)),
    show(exchange([{packet, line}, {line_delimiter, $;}], <<"a;b;c\n;">>, 3)),
    show(exchange([{packet, line}, {packet_size, 6}], <<"short\ntoo long\n">>, 3)),
    show(exchange([{packet, line}, {mode, list}], <<"one\ntwo\n">>, 2)).

http() ->
    Request = <<"GET /a/b?c HTTP/1.1\r\nHost: here\r\nX-own: 1\r\n 2\r\n\r\n">>,
    show(exchange([{packet, http}], Request, 4)),
    show(exchange([{packet, http_bin}], Request, 4)),
    show(exchange([{packet, httph}], <<"Content-Length: 3\r\n\r\n">>, 2)),
    show(exchange([{packet, httph_bin}], <<"Content-Length: 3\r\n\r\n">>, 2)),
    show(exchange([{packet, http}], <<"HTTP/1.0 404 Not found\r\n\r\nHTTP/1.1 200 OK\r\n\r\n">>, 4)),
    show(exchange([{packet, http}], <<"nonsense\r\nGET * HTTP/1.0\r\n\r\n">>, 3)),
    {C, S} = pair([]),
    ok = inet:setopts(C, [{packet, http_bin}, {active, once}]),
    ok = gen_tcp:send(S, <<Request/binary, "body">>),
    show([begin R = receive {http, C, M} -> M end, inet:setopts(C, [{active, once}]), R end || _ <- lists:seq(1, 3)]),
    show(receive {http, C, M} -> M end),
    ok = inet:setopts(C, [{packet, raw}]),
    show(gen_tcp:recv(C, 4)),
    [gen_tcp:close(X) || X <- [C, S]].

limits() ->
    show(exchange([{packet, 4}, {packet_size, 100}], <<10:32, 0:80, 101:32>>, 2)),
    show(exchange([{packet, http}, {packet_size, 20}], <<"GET /a/long/path/it/is HTTP/1.1\r\n">>, 1)),
    show(exchange([{packet, 4}], <<16#fffffff0:32, "never so long">>, 1)),
    {C, S} = pair([]),
    ok = inet:setopts(C, [{packet, 4}]),
    show([gen_tcp:recv(C, 5), gen_tcp:recv(C, 0, 10)]),
    [gen_tcp:close(X) || X <- [C, S]].

%% A peer that sends what is no packet: told, and closed.
garbage() ->
    [show({T, exchange([{packet, T}], <<255, 254, 253, 252, 251, 250, 249, 248, 247, 246, 245, 244, 243>>, 1)}) || T <- [asn1, cdr, fcgi, tpkt]],
    {C, S} = pair([]),
    ok = inet:setopts(C, [{packet, cdr}, {active, true}]),
    ok = gen_tcp:send(S, "this is not GIOP"),
    show([receive M when element(2, M) =:= C -> plain(C, M) after 5000 -> nothing end || _ <- [1, 2]]),
    gen_tcp:close(S).

%% Packets of another kind from the next byte on.
changes() ->
    {C, S} = pair([]),
    ok = gen_tcp:send(S, <<"line\n", 2, "ab", 1:16, "crest">>),
    R = [begin ok = inet:setopts(C, [{packet, T}]), gen_tcp:recv(C, 0) end || T <- [line, 1, 2, raw]],
    show(R),
    [gen_tcp:close(X) || X <- [C, S]].

exchange(Options, Bytes, N) ->
    {C, S} = pair([]),
    ok = inet:setopts(C, Options),
    ok = gen_tcp:send(S, Bytes),
    R = [gen_tcp:recv(C, 0, 2000) || _ <- lists:seq(1, N)],
    [gen_tcp:close(X) || X <- [C, S]], R.

pair(O) -> {L, P} = get(l), {ok, C} = gen_tcp:connect({127,0,0,1}, P, [binary, {active, false} | O]), {ok, S} = gen_tcp:accept(L), {C, S}.
show(X) -> io:format("~0p~n", [X]).
