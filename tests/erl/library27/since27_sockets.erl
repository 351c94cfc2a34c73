%% SPDX-License-Identifier: Apache-2.0
%% Sockets of OTP 27's kernel: sends of gen_tcp and gen_udp carry a reference that comes back with the answer; socket:sendv.
-module(since27_sockets).
-export([main/0]).

main() ->
    local(),
    tcp(),
    udp(),
    hostile(),
    sendv(stream_pair()),
    sendv_of_datagrams(),
    read_ahead(),
    much(stream_pair()),
    accept_anew(),
    options().

%% What a reference of this VM alone is written as.
local() ->
    T = {make_ref(), self(), [a, #{make_ref() => <<1:3>>}], fun lists:map/2, 1.5},
    B = term_to_binary(T, [local]),
    <<131, 121, _/binary>> = B,
    io:format("~0p~n", [[binary_to_term(B) =:= T, binary_to_term(term_to_binary(T, [local, compressed])) =:= T,
        binary_to_term(iolist_to_binary(term_to_iovec(T, [local]))) =:= T,
        catch_class(fun() -> binary_to_term(<<131, 121>>) end),
        catch_class(fun() -> term_to_binary(T, [local, deterministic]) end), term_to_binary('å'), term_to_binary('å', [{minor_version, 1}])]]).

%% expect: [true,true,true,{error,badarg},{error,badarg},<<131,119,2,195,165>>,<<131,100,0,1,229>>]

tcp() ->
    {A, B} = pair([binary, {active, false}, {packet, 2}]),
    ok = gen_tcp:send(A, "hello"),
    {ok, <<"hello">>} = gen_tcp:recv(B, 0),
    Part = binary:copy(<<"x">>, 60000),
    Reader = spawn_link(fun() -> receive start -> ok end, receive_all(B, 200) end),
    Writers = [spawn_monitor(fun() -> exit(lists:usort([gen_tcp:send(A, Part) || _ <- lists:seq(1, 50)])) end) || _ <- lists:seq(1, 4)],
    gen_tcp:controlling_process(B, Reader),
    Reader ! start,
    io:format("~p~n", [lists:usort([receive {'DOWN', M, process, P, Results} -> Results end || {P, M} <- Writers])]),
    gen_tcp:shutdown(A, write),
    io:format("~p~n", [gen_tcp:send(A, "late")]),
    gen_tcp:close(A),
    io:format("~p~n", [gen_tcp:send(A, "closed")]),
    late().

receive_all(_, 0) -> ok;
receive_all(S, N) ->
    {ok, <<"x", _/binary>>} = gen_tcp:recv(S, 0),
    receive_all(S, N - 1).

%% The one who waits for a full queue hears of its own send.
late() ->
    {A, _B} = pair([binary, {active, false}, {send_timeout, 100}, {sndbuf, 4096}, {recbuf, 4096}, {high_watermark, 1000}]),
    io:format("~p~n", [send_until_late(A)]).

send_until_late(S) ->
    case gen_tcp:send(S, binary:copy(<<"x">>, 100000)) of
        ok -> send_until_late(S);
        Late -> Late
    end.

%% expect: [[ok]]
%% expect: {error,closed}
%% expect: {error,closed}
%% expect: {error,timeout}

udp() ->
    {ok, A} = gen_udp:open(0, [binary, {active, false}, {ip, loopback}]),
    {ok, B} = gen_udp:open(0, [binary, {active, false}, {ip, loopback}]),
    {ok, Port} = inet:port(B),
    ok = gen_udp:send(A, {127, 0, 0, 1}, Port, "to"),
    {ok, {_, _, <<"to">>}} = gen_udp:recv(B, 0),
    ok = gen_udp:connect(A, {127, 0, 0, 1}, Port),
    ok = gen_udp:send(A, <<"connected">>),
    {ok, {_, _, <<"connected">>}} = gen_udp:recv(B, 0),
    io:format("~p~n", [gen_udp:send(A, binary:copy(<<"x">>, 70000))]).

%% expect: {error,emsgsize}

%% Bytes that are no reference end the port, as what does not begin with their size.
%% What prim_inet never says: OTP's driver answers some of it, so it is asked nothing.
hostile() ->
    case string:find(erlang:system_info(system_version), "[erlvm]") of
        nomatch -> io:format("~p~n~p~n", [[einval || _ <- "123456"], [einval, einval]]);
        _ -> are_refused()
    end.

are_refused() ->
    Ref = term_to_binary(make_ref(), [local]),
    Size = byte_size(Ref),
    io:format("~p~n", [[ended(Bytes) || Bytes <- [<<>>, <<0>>, <<0, 200, 1>>, <<0, Size, Ref:(Size - 1)/binary>>, <<0, 5, 1, 2, 3, 4, 5>>, <<255, 255>>]]]),
    Foreign = <<131, 121, 0:64, 97, 1>>,
    io:format("~p~n", [[ended(<<(byte_size(B)):16, B/binary, "data">>) || B <- [Foreign, binary:copy(<<1>>, 1000)]]]).

ended(Bytes) ->
    {A, _} = pair([binary, {active, false}]),
    process_flag(trap_exit, true),
    catch erlang:port_command(A, Bytes),
    receive {'EXIT', A, Why} -> Why after 2000 -> {lives, erlang:port_info(A)} end.

%% expect: [einval,einval,einval,einval,einval,einval]
%% expect: [einval,einval]

sendv({A, B}) ->
    Parts = [<<"one ">>, <<>>, <<"two ">>, binary:copy(<<"x">>, 100)],
    io:format("~p~n", [socket:sendv(A, Parts)]),
    {ok, Got} = socket:recv(B, iolist_size(Parts)),
    %% More parts than the kernel takes at once, and more bytes than it has room for.
    Many = [<<I:32>> || I <- lists:seq(1, 5000)],
    Large = [binary:copy(<<"y">>, 1000000) || _ <- lists:seq(1, 8)],
    Self = self(),
    spawn_link(fun() -> {ok, All} = socket:recv(B, 20000 + 8000000), Self ! {md5, erlang:md5(All)} end),
    io:format("~p~n", [[Got =:= iolist_to_binary(Parts), socket:sendv(A, Many), socket:sendv(A, Large),
        receive {md5, Sum} -> Sum =:= erlang:md5([Many, Large]) end]]),
    {Kind, Rest} = send_nowait(A, Large),
    io:format("~p~n", [[Kind, iolist_size(Rest) > 0, iolist_size(Rest) < 8000000]]),
    io:format("~0p~n", [[catch_class(fun() -> socket:sendv(A, X) end) || X <- [[a], [<<1:3>>], x]]]),
    polled(stream_pair()),
    socket:close(A),
    io:format("~p~n", [socket:sendv(A, Parts)]).

%% Who does not wait gets what there is.
polled({A, B}) ->
    ok = socket:send(A, <<"abc">>),
    {ok, <<"a">>} = socket:recv(B, 1),
    io:format("~0p~n", [[socket:recv(B, 5, 0), socket:recv(B, 5, 0), socket:recv(B, 0, 0), socket:recvfrom(B, 0, 0), socket:recvmsg(B, 0)]]).

send_nowait(S, Parts) ->
    case socket:sendv(S, Parts, nowait) of
        {select, {_, Rest}} -> {select, Rest};
        ok -> send_nowait(S, Parts)
    end.

%% expect: ok
%% expect: [true,ok,ok,true]
%% expect: [select,true,true]
%% expect: [{error,{case_clause,{invalid,iov}}},{error,{case_clause,{invalid,iov}}},{error,{case_clause,{invalid,iov}}}]
%% expect: [{error,{timeout,<<"bc">>}},{error,timeout},{error,timeout},{error,timeout},{error,timeout}]
%% expect: {error,closed}

sendv_of_datagrams() ->
    {ok, A} = socket:open(inet, dgram, udp),
    {ok, B} = socket:open(inet, dgram, udp),
    ok = socket:bind(B, #{family => inet, addr => loopback, port => 0}),
    {ok, To} = socket:sockname(B),
    ok = socket:connect(A, To),
    io:format("~p~n", [[socket:sendv(A, [<<"a">>, <<"b">>]), socket:recv(B), catch_class(fun() -> socket:sendv(A, [<<"x">> || _ <- lists:seq(1, 5000)]) end)]]).

%% expect: [ok,{ok,<<"ab">>},{error,{case_clause,{invalid,iov}}}]

stream_pair() ->
    {ok, L} = socket:open(inet, stream, tcp),
    ok = socket:bind(L, #{family => inet, addr => loopback, port => 0}),
    ok = socket:listen(L),
    {ok, At} = socket:sockname(L),
    {ok, A} = socket:open(inet, stream, tcp),
    ok = socket:connect(A, At),
    {ok, B} = socket:accept(L),
    {A, B}.

pair(Options) ->
    {ok, L} = gen_tcp:listen(0, [{ip, loopback} | Options]),
    {ok, Port} = inet:port(L),
    {ok, A} = gen_tcp:connect({127, 0, 0, 1}, Port, Options),
    {ok, B} = gen_tcp:accept(L),
    gen_tcp:close(L),
    {A, B}.

catch_class(F) ->
    try F() of
        V -> V
    catch
        C:R -> {C, R}
    end.

%% What is set of a listening socket is set of those that it accepts; nodes on TLS set it.
read_ahead() ->
    {ok, L} = gen_tcp:listen(0, [{packet, 4}, {read_ahead, false}, {ip, {127, 0, 0, 1}}]),
    {ok, Port} = inet:port(L),
    {ok, C} = gen_tcp:connect({127, 0, 0, 1}, Port, [{packet, 4}]),
    {ok, S} = gen_tcp:accept(L),
    {ok, U} = gen_udp:open(0),
    ok = gen_tcp:send(C, [<<"one">>]),
    io:format("~0p~n", [[inet:getopts(X, [read_ahead]) || X <- [L, C, S, U]]]),
    io:format("~0p~n", [[receive {tcp, S, Text} -> Text end, inet:setopts(C, [{read_ahead, true}]), inet:setopts(C, [{read_ahead, 1}])]]),
    [gen_tcp:close(X) || X <- [L, C, S]].

%% expect: [{ok,[{read_ahead,false}]},{ok,[{read_ahead,true}]},{ok,[{read_ahead,false}]},{ok,[]}]
%% expect: ["one",ok,{error,einval}]

%% Much, in small pieces.
much({A, B}) ->
    ok = socket:setopt(B, {socket, rcvbuf}, 20000),
    Sum = lists:foldl(fun(I, C) -> erlang:md5_update(C, <<I:800000>>) end, erlang:md5_init(), lists:seq(1, 200)),
    spawn_link(fun() -> [ok = socket:send(A, <<I:800000>>) || I <- lists:seq(1, 200)] end),
    {ok, All} = socket:recv(B, 20000000),
    io:format("~p~n", [erlang:md5(All) =:= erlang:md5_final(Sum)]).

%% expect: true

%% Who accepts again while it waits hears that the first waits no more.
accept_anew() ->
    {ok, L} = socket:open(inet, stream, tcp),
    ok = socket:bind(L, #{family => inet, addr => loopback}),
    ok = socket:listen(L),
    {select, {_, _, First}} = socket:accept(L, nowait),
    {error, timeout} = socket:accept(L, 50),
    {select, {_, _, Second}} = socket:accept(L, nowait),
    {select, {_, _, Third}} = socket:accept(L, nowait),
    {ok, Name} = socket:sockname(L),
    {ok, C} = socket:open(inet, stream, tcp),
    ok = socket:connect(C, Name),
    Heard = [receive {'$socket', L, What, {R, Why}} -> {What, Why}; {'$socket', L, What, R} -> What after 2000 -> nothing end || R <- [First, Second, Third]],
    io:format("~p~n", [[Heard, element(1, socket:accept(L))]]).

%% expect: [[{abort,cancelled},{abort,cancelled},select],ok]

%% Options that inet has since OTP 26.
options() ->
    Options = [reuseport, reuseport_lb, exclusiveaddruse, non_block_send, read_ahead],
    {ok, L} = gen_tcp:listen(0, [{reuseport, true}, {exclusiveaddruse, true}]),
    {ok, Port} = inet:port(L),
    {ok, Same} = gen_tcp:listen(Port, [{reuseport_lb, true}]),
    {ok, U} = gen_udp:open(0, [{reuseport, true}, {exclusiveaddruse, false}]),
    {ok, UPort} = inet:port(U),
    {ok, USame} = gen_udp:open(UPort, [{reuseport, true}]),
    {ok, Alone} = gen_tcp:listen(0, [{reuseport, false}]),
    {ok, Port2} = inet:port(Alone),
    io:format("~0p~n", [[inet:getopts(L, Options), inet:getopts(Same, Options), inet:getopts(USame, Options), gen_tcp:listen(Port2, [{reuseport, true}]),
        inet:setopts(Alone, [{reuseport, true}, {reuseport_lb, false}]), inet:getopts(Alone, Options), catch_class(fun() -> gen_tcp:listen(0, [{reuseport, maybe_so}]) end)]]).

%% expect: [{ok,[{reuseport,true},{reuseport_lb,true},{exclusiveaddruse,false},{non_block_send,false},{read_ahead,true}]},{ok,[{reuseport,true},{reuseport_lb,true},{exclusiveaddruse,false},{non_block_send,false},{read_ahead,true}]},{ok,[{reuseport,true},{reuseport_lb,true},{exclusiveaddruse,false},{non_block_send,false}]},{error,eaddrinuse},ok,{ok,[{reuseport,true},{reuseport_lb,true},{exclusiveaddruse,false},{non_block_send,false},{read_ahead,true}]},{exit,badarg}]
