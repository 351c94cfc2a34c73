%% SPDX-License-Identifier: Apache-2.0
%% A VM for scrape.py that uses ports, sockets, native functions, drivers, dyntrace, code, tables, timers and a connection to
%% another node, until it is killed. The other node is the end of a connection that this VM reads itself.
-module(scrape_wires).
-export([main/0, ask/0, fill/0, talk/0, tell/0, node/0, flood/2, upgrade/0, look/0]).

%% Flags that a connection is offered, but for those of headers with atom caches and of fragments: its other end writes
%% plain packets.
-define(PLAIN(Flags), ((Flags) band bnot 16#802000)).

main() -> [spawn(?MODULE, F, []) || F <- [ask, fill, talk, tell, node, upgrade, look]].

%% Ports that come and go.
ask() ->
    Port = open_port({spawn, "cat"}, [binary]),
    true = port_command(Port, <<"hello">>),
    receive {Port, {data, _}} -> true = port_close(Port) end,
    timer:sleep(50),
    ask().

%% A port that is busy again and again: its program reads what a pipe holds, and pauses.
fill() ->
    Reader = "while [ $(head -c 65536 | wc -c) != 0 ]; do sleep 0.05; done",
    fill(open_port({spawn_executable, "/bin/sh"}, [{args, ["-c", Reader]}, binary]), binary:copy(<<"x">>, 65536 + 16384)).

fill(Port, Data) ->
    true = port_command(Port, Data),
    fill(Port, Data).

talk() ->
    {Near, Far} = connect(),
    [begin ok = prim_inet:send(Near, "hello", []), {ok, _} = prim_inet:recv(Far, 0) end || _ <- lists:seq(1, 11)],
    [ok = prim_inet:close(S) || S <- [Near, Far]],
    timer:sleep(50),
    talk().

connect() ->
    {ok, Listener} = prim_inet:open(tcp, inet, stream, [{packet, 4}]),
    {ok, At} = prim_inet:bind(Listener, {127, 0, 0, 1}, 0),
    ok = prim_inet:listen(Listener, 5),
    {ok, Near} = prim_inet:open(tcp, inet, stream, [{active, false}, {packet, 4}]),
    ok = prim_inet:connect(Near, {127, 0, 0, 1}, At, -1),
    {ok, Far} = prim_inet:accept(Listener, -1),
    ok = prim_inet:setopts(Far, [{active, false}]),
    ok = prim_inet:close(Listener),
    {Near, Far}.

tell() ->
    dyntrace:put_tag(<<"cart">>),
    dyntrace:p(23, "sold"),
    dyntrace:user_trace_s1("alone"),
    timer:sleep(20),
    tell().

node() ->
    true = register(net_kernel, self()),
    true = erlang:setnode(wires@here, 1),
    {Near, Far} = connect(),
    _ = erts_internal:new_connection(wires@there),
    _ = erlang:setnode(wires@there, Near, {?PLAIN(element(2, erts_internal:get_dflags())) bor 1, 7}),
    receive {dist_ctrlr, Near, wires@there, _} -> ok end,
    ok = prim_inet:setopts(Near, [{active, true}, {deliver, port}]),
    exchange(Far, binary_to_term(<<131, 88, 119, 11, "wires@there", 0:32, 9:32, 7:32>>, [])).

%% What comes is a message to net_kernel; five that go are more than fits the connection.
exchange(Far, Remote) ->
    ok = prim_inet:send(Far, [112, term_to_binary({6, Remote, '', net_kernel}), term_to_binary(hello)], []),
    receive hello -> ok end,
    {P, R} = spawn_monitor(?MODULE, flood, [Remote, 5]),
    [{ok, _} = prim_inet:recv(Far, 0) || _ <- lists:seq(1, 5)],
    receive {'DOWN', R, process, P, normal} -> ok end,
    timer:sleep(50),
    exchange(Far, Remote).

flood(_, 0) -> ok;
flood(To, N) ->
    To ! binary:copy(<<"x">>, 1 bsl 20),
    flood(To, N - 1).

%% Modules that are not there, and old code in which somebody waits.
upgrade() ->
    Wait = {'receive', 1, [{clause, 1, [{atom, 1, stop}], [], [{atom, 1, ok}]}]},
    {ok, M, Code} = compile:forms([{attribute, 1, module, scrape_old}, {attribute, 1, export, [{wait, 0}]},
                                   {function, 1, wait, 0, [{clause, 1, [], [], [Wait]}]}]),
    upgrade(M, Code).

upgrade(M, Code) ->
    {error, nofile} = code:ensure_loaded(scrape_missing),
    {module, M} = code:load_binary(M, "", Code),
    spawn(M, wait, []),
    timer:sleep(50),
    true = code:delete(M),
    code:purge(M),
    upgrade(M, Code).

%% A table that others wait for: a long list is inserted under its lock.
look() ->
    T = ets:new(scrape_table, [public]),
    spawn_link(fun() -> refill(T) end),
    find(T).

refill(T) ->
    true = ets:insert(T, [{N} || N <- lists:seq(1, 20000)]),
    timer:sleep(10),
    refill(T).

find(T) ->
    _ = ets:select_count(T, [{{'$1'}, [{'=:=', '$1', 13}], [true]}]),
    _ = ets:lookup(T, 13),
    Timer = erlang:send_after(1, self(), tick),
    receive tick -> ok end,
    false = erlang:cancel_timer(Timer),
    find(T).
