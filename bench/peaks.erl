%% SPDX-License-Identifier: Apache-2.0
%% What a peak of memory leaves: makes one peak, waits ten seconds, and prints MB: resident at the peak (as far as seen),
%% resident afterwards, memory(total) before and afterwards.
-module(peaks).
-export([main/1, peer/1]).

-define(MANY, 200000).
-define(WAIT_MS, 10000).
-define(PEER_PEAK_BYTES, (150 bsl 20)).

main([Name]) ->
    Kind = list_to_atom(Name),
    garbage_collect(),
    Before = erlang:memory(total),
    Meter = spawn_link(fun() -> meter(0) end),
    {_, Ref} = spawn_monitor(fun() -> peak(Kind) end),
    receive {'DOWN', Ref, process, _, normal} -> ok end,
    Meter ! {told, self()},
    Most = receive {most, Bytes} -> Bytes end,
    timer:sleep(?WAIT_MS),
    garbage_collect(),
    io:format("~b ~b ~b ~b~n", [mb(B) || B <- [Most, resident(), Before, erlang:memory(total)]]).

mb(Bytes) -> (Bytes + (1 bsl 19)) bsr 20.

resident() ->
    {ok, Text} = file:read_file("/proc/self/statm"),
    [_, Pages | _] = binary:split(Text, <<" ">>, [global]),
    binary_to_integer(Pages) * 4096.

meter(Most) ->
    receive {told, To} -> To ! {most, max(Most, resident())}
    after 20 -> meter(max(Most, resident()))
    end.

times(N, F) -> [F() || _ <- lists:seq(1, N)].

await(Refs) -> [receive {'DOWN', Ref, process, _, _} -> ok end || Ref <- Refs].

peak(nothing) -> ok;
peak(processes) ->
    Self = self(),
    All = times(?MANY, fun() -> spawn(fun() -> receive go -> Self ! done end end) end),
    [P ! go || P <- All],
    [receive done -> ok end || _ <- All];
peak(rounds) -> times(14, fun() -> peak(processes) end);
peak(monitored) -> times(3, fun monitored/0);
peak(linked) ->
    {_, Ref} = spawn_monitor(fun() -> chain(?MANY) end),
    await([Ref]);
%% Queued at many, of whom none receives.
peak(messages) ->
    All = times(200, fun() -> spawn_monitor(fun() -> receive stop -> ok end end) end),
    Message = {message, lists:seq(1, 20), self()},
    [times(2000, fun() -> P ! Message end) || {P, _} <- All],
    [P ! stop || {P, _} <- All],
    await([Ref || {_, Ref} <- All]);
%% Queued at one, who takes all of them, and lives on.
peak(drained) ->
    {P, _} = spawn_monitor(fun drain/0),
    times(400000, fun() -> P ! {message, lists:seq(1, 20), self()} end),
    P ! {stop, self()},
    receive drained -> ok end;
peak(heaps) -> hold(200, fun() -> lists:seq(1, 100000) end);
peak(large_heaps) -> hold(8, fun() -> lists:seq(1, 3000000) end);
peak(one_term) -> hold(1, fun() -> lists:seq(1, 15000000) end);
peak(binaries) -> hold(200, fun() -> times(10, fun() -> binary:copy(<<1>>, 100000) end) end);
peak(small_binaries) -> hold(20, fun() -> times(50000, fun() -> binary:copy(<<1>>, 200) end) end);
peak(timers) ->
    All = times(500000, fun() -> erlang:start_timer(3600000, self(), {a, timer}) end),
    [erlang:cancel_timer(T) || T <- All];
peak(ets) ->
    T = ets:new(t, [public]),
    [ets:insert(T, {I, {a, row, I}}) || I <- lists:seq(1, 1000000)],
    ets:delete(T);
peak(ets_rows) ->
    T = ets:new(t, [public, ordered_set]),
    [ets:insert(T, {I, {a, row, I}}) || I <- lists:seq(1, 1000000)],
    [ets:delete(T, I) || I <- lists:seq(1, 1000000)];
peak(dictionaries) -> hold(100, fun() -> [put(I, {a, I}) || I <- lists:seq(1, 20000)] end);
peak(ports) ->
    All = times(200, fun() -> open_port({spawn, "cat"}, [binary]) end),
    [port_command(P, binary:copy(<<1>>, 30000)) || P <- All],
    [receive {P, {data, _}} -> ok end || P <- All],
    [port_close(P) || P <- All];
peak(sockets) ->
    {ok, L} = gen_tcp:listen(0, [binary, {backlog, 1000}]),
    {ok, Port} = inet:port(L),
    All = times(400, fun() -> connect(L, Port) end),
    [ok = gen_tcp:send(S, binary:copy(<<1>>, 100000)) || {S, _} <- All],
    [receive {tcp, R, _} -> ok end || {_, R} <- All],
    [begin gen_tcp:close(S), gen_tcp:close(R) end || {S, R} <- All];
peak(peer) -> lost_peer();
peak(peers_messages) -> peers_messages().

monitored() ->
    All = times(?MANY, fun() -> spawn_monitor(fun() -> receive go -> ok end end) end),
    [P ! go || {P, _} <- All],
    await([Ref || {_, Ref} <- All]).

chain(0) -> exit(bye);
chain(N) -> spawn_link(fun() -> chain(N - 1) end), receive never -> ok end.

drain() ->
    receive
        {stop, From} -> From ! drained, receive never -> ok end;
        {message, _, _} -> drain()
    end.

%% N processes that make what Make makes and hold it, until all have.
hold(N, Make) ->
    Self = self(),
    All = times(N, fun() -> spawn_monitor(fun() -> hold_one(Self, Make()) end) end),
    [receive {made, P} -> ok end || {P, _} <- All],
    [P ! stop || {P, _} <- All],
    await([Ref || {_, Ref} <- All]).

hold_one(Starter, Made) ->
    Starter ! {made, self()},
    receive stop -> length(Made) end.

connect(L, Port) ->
    {ok, S} = gen_tcp:connect({127, 0, 0, 1}, Port, [binary]),
    {ok, R} = gen_tcp:accept(L),
    {S, R}.

%% ---- a node that sends large messages, and is killed while they come

start_peer(Senders, Bytes) ->
    Name = "peaks" ++ os:getpid(),
    {ok, [[Epmd]]} = init:get_argument(epmd_port),
    {ok, _} = net_kernel:start(list_to_atom(Name ++ "@127.0.0.1"), #{name_domain => longnames}),
    register(sink, self()),
    net_kernel:monitor_nodes(true),
    open_port({spawn_executable, os:find_executable("erl")},
              [{args, ["-noshell", "-name", Name ++ "_peer@127.0.0.1", "-start_epmd", "false", "-epmd_port", Epmd,
                       "-setcookie", atom_to_list(erlang:get_cookie()), "-pa", filename:dirname(code:which(?MODULE)),
                       "-run", ?MODULE_STRING, "peer", atom_to_list(node()), integer_to_list(Senders), integer_to_list(Bytes)]}, stream]),
    receive {pid, Pid} -> Pid end.

peer([Node, Senders, Bytes]) ->
    Sink = {sink, list_to_atom(Node)},
    Sink ! {pid, os:getpid()},
    Message = lists:seq(1, list_to_integer(Bytes) div 5),
    monitor_node(list_to_atom(Node), true),
    times(list_to_integer(Senders), fun() -> spawn(fun() -> Sink ! {message, Message} end) end),
    receive {nodedown, _} -> halt() end.

lost_peer() ->
    Before = erlang:memory(total),
    Pid = start_peer(60, 8 bsl 20),
    grown(Before + ?PEER_PEAK_BYTES),
    [] = os:cmd("kill -9 " ++ Pid),
    receive {nodedown, _} -> ok end.

grown(Bytes) ->
    case erlang:memory(total) >= Bytes of
        true -> ok;
        false -> timer:sleep(1), grown(Bytes)
    end.

%% All of them come, and are received.
peers_messages() ->
    Pid = start_peer(20, 4 bsl 20),
    times(20, fun() -> receive {message, L} -> length(L) end end),
    [] = os:cmd("kill -9 " ++ Pid).
