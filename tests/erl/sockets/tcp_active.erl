%% SPDX-License-Identifier: Apache-2.0
%% Connections that send their owner messages: always, once, so many times; their ends, and options that change them.
%% expect: {tcp,port,<<"one">>}
%% expect: {error,einval}
%% expect: {tcp,port,<<"two">>}
%% expect: nothing
%% expect: {ok,[{active,false}]}
%% expect: {tcp,port,<<"three">>}
%% expect: {ok,[{active,2}]}
%% expect: {tcp,port,<<"four">>}
%% expect: {ok,[{active,4}]}
%% expect: {ok,[{active,1}]}
%% expect: [{tcp,port,<<"five">>},{tcp_passive,port}]
%% expect: {ok,[{active,false}]}
%% expect: [ok,{error,einval},ok,{tcp_passive,port},ok,{tcp_passive,port}]
%% expect: [{error,einval},{error,einval}]
%% expect: {tcp,port,"seven"}
%% expect: {tcp,port,[101|<<"ight">>]}
%% expect: {port,{data,<<"nine">>}}
%% expect: {ok,<<"back">>}
%% expect: {tcp_closed,port}
%% expect: [{error,closed},undefined]
%% expect: {tcp_closed,port}
%% expect: [ok,{ok,<<"still">>}]
%% expect: [{ok,<<"last words">>},{error,closed}]
%% expect: ok
%% expect: {tcp_closed,port}
%% expect: [{tcp_error,port,econnreset},{tcp_closed,port}]
%% expect: {error,closed}
%% expect: true
%% expect: {ok,[{mode,list},{packet,2},{active,once},{nodelay,true},{keepalive,true},{high_watermark,4000},{low_watermark,1000},{send_timeout,77},{packet_size,99},{delay_send,true},{header,0},{exit_on_close,true},{send_timeout_close,false},{deliver,term},{show_econnreset,false}]}
-module(tcp_active).
-export([main/0]).

main() ->
    {ok, L} = gen_tcp:listen(0, [binary, {active, false}]),
    {ok, P} = inet:port(L),
    {C, S} = pair(L, P, [binary, {active, true}]),
    ok = gen_tcp:send(S, "one"), show(next()),
    show(gen_tcp:recv(C, 0)),
    ok = inet:setopts(C, [{active, once}]),
    ok = gen_tcp:send(S, "two"), show(next()),
    ok = gen_tcp:send(S, "three"), show(next(20)),
    show(inet:getopts(C, [active])),
    ok = inet:setopts(C, [{active, once}]), show(next()),
    ok = inet:setopts(C, [{active, 2}]),
    show(inet:getopts(C, [active])),
    ok = gen_tcp:send(S, "four"), show(next()),
    ok = inet:setopts(C, [{active, 3}]), show(inet:getopts(C, [active])),
    ok = inet:setopts(C, [{active, -3}]), show(inet:getopts(C, [active])),
    ok = gen_tcp:send(S, "five"), show([next(), next()]),
    show(inet:getopts(C, [active])),
    show([inet:setopts(C, [{active, 32767}]), inet:setopts(C, [{active, 1}]), inet:setopts(C, [{active, -32768}]), next(), inet:setopts(C, [{active, 0}]), next()]),
    show([inet:setopts(C, [{active, maybe_not}]), catch inet:setopts(C, [{active, 100000}])]),
    ok = gen_tcp:send(S, "six"),
    {ok, <<"six">>} = gen_tcp:recv(C, 0),
    ok = inet:setopts(C, [{active, true}, {mode, list}, {header, 1}]),
    ok = gen_tcp:send(S, "seven"), show(next()),
    ok = inet:setopts(C, [{mode, binary}]),
    ok = gen_tcp:send(S, "eight"), show(next()),
    ok = inet:setopts(C, [{header, 0}, {deliver, port}]),
    ok = gen_tcp:send(S, "nine"), show(next()),
    ok = inet:setopts(C, [{deliver, term}]),
    ok = gen_tcp:send(C, "back"), show(gen_tcp:recv(S, 0)),
    ok = gen_tcp:close(S), show(next()),
    show([gen_tcp:send(C, "x"), erlang:port_info(C)]),
    half(L, P), passive_end(L, P), reset(L, P), many(L, P), kept(L, P),
    gen_tcp:close(L).

%% The peer sends no more, and still reads.
half(L, P) ->
    {C, S} = pair(L, P, [binary, {active, true}, {exit_on_close, false}]),
    ok = gen_tcp:shutdown(S, write), show(next()),
    show([gen_tcp:send(C, "still"), gen_tcp:recv(S, 0)]),
    [gen_tcp:close(X) || X <- [C, S]].

%% An end that nobody asked for is told when somebody does.
passive_end(L, P) ->
    {C, S} = pair(L, P, [binary, {active, false}]),
    ok = gen_tcp:send(S, "last words"),
    ok = gen_tcp:close(S),
    show([gen_tcp:recv(C, 0), gen_tcp:recv(C, 0)]),
    show(inet:setopts(C, [{active, once}])),
    show(next(0)),
    gen_tcp:close(C).

%% What was sent is thrown away, and the peer hears of it.
reset(L, P) ->
    {C, S} = pair(L, P, [binary, {active, true}, {show_econnreset, true}]),
    ok = inet:setopts(S, [{linger, {true, 0}}]),
    ok = gen_tcp:close(S), show([next(), next()]),
    {C2, S2} = pair(L, P, [binary, {active, false}]),
    ok = inet:setopts(S2, [{linger, {true, 0}}]),
    ok = gen_tcp:close(S2), show(gen_tcp:recv(C2, 0)),
    [gen_tcp:close(X) || X <- [C, C2]].

%% Nothing is lost and nothing comes twice, whatever the pieces.
many(L, P) ->
    {C, S} = pair(L, P, [binary, {active, once}]),
    Data = << <<N:32>> || N <- lists:seq(1, 50000) >>,
    spawn_link(fun() -> [ok = gen_tcp:send(S, Part) || Part <- parts(Data, 1)], gen_tcp:close(S) end),
    ok = gen_tcp:controlling_process(S, self()),
    show(collect(C, []) =:= Data).

parts(<<>>, _) -> [];
parts(D, N) when byte_size(D) < N -> [D];
parts(D, N) -> <<P:N/binary, R/binary>> = D, [P | parts(R, N rem 3000 + 17)].

collect(C, Acc) ->
    receive
        {tcp, C, D} -> inet:setopts(C, [{active, once}]), collect(C, [D | Acc]);
        {tcp_closed, C} -> iolist_to_binary(lists:reverse(Acc))
    end.

%% Options that who listens has are its connections' too.
kept(_, _) ->
    {ok, L} = gen_tcp:listen(0, [list, {packet, 2}, {active, once}, {nodelay, true}, {keepalive, true}, {high_watermark, 4000}, {low_watermark, 1000}, {send_timeout, 77}, {packet_size, 99}, {delay_send, true}]),
    {ok, P} = inet:port(L),
    {C, S} = pair(L, P, []),
    show(inet:getopts(S, [mode, packet, active, nodelay, keepalive, high_watermark, low_watermark, send_timeout, packet_size, delay_send, header, exit_on_close, send_timeout_close, deliver, show_econnreset])),
    [gen_tcp:close(X) || X <- [L, C, S]].

next() -> next(5000).
next(Ms) -> receive M when is_tuple(M) -> setelement(size_of(M), M, port) after Ms -> nothing end.
size_of({P, _}) when is_port(P) -> 1;
size_of(_) -> 2.
pair(L, P, O) -> {ok, C} = gen_tcp:connect({127,0,0,1}, P, O), {ok, S} = gen_tcp:accept(L), {C, S}.
show(X) -> io:format("~0p~n", [X]).
