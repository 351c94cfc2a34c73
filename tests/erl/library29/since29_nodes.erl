%% SPDX-License-Identifier: Apache-2.0
%% Two nodes with OTP 29's library: messages and exit signals to an alias of the other node, with priority and without.
-module(since29_nodes).
-export([main/0, start/1]).

main() ->
    start_epmd(),
    {ok, _} = net_kernel:start(list_to_atom("since29_" ++ os:getpid() ++ "@127.0.0.1"), #{name_domain => longnames}),
    {ok, Machine} = file:read_link("/proc/self/exe"),
    Program = case filename:basename(Machine) of "beam" ++ _ -> os:find_executable("erl"); _ -> Machine end,
    {ok, Peer, Node} = peer:start_link(#{exec => Program, name => "since29_peer_" ++ os:getpid(), host => "127.0.0.1", longnames => true, wait_boot => 60000,
                                         args => ["-pa", filename:dirname(code:which(?MODULE))]}),
    p([net_adm:ping(Node), erpc:call(Node, erlang, system_info, [otp_release])]),
    messages(Node),
    traced(Node),
    exits(Node),
    peer:stop(Peer).

%% As erl -name does: net_kernel:start/2 leaves that to whoever calls it. The command returns before epmd listens.
start_epmd() ->
    [] = os:cmd("epmd -daemon"),
    await_epmd(500).

await_epmd(Looks) ->
    case erl_epmd:names({127, 0, 0, 1}) of
        {ok, _} -> ok;
        {error, _} when Looks > 0 -> receive after 10 -> await_epmd(Looks - 1) end
    end.

%% expect: [pong,"29"]

%% Sends each of the list to whom it says, at the other node.
send_from(Node, Sends) ->
    {P, M} = spawn_monitor(Node, fun() -> [case S of {To, What} -> To ! What; {To, What, O} -> erlang:send(To, What, O) end || S <- Sends] end),
    receive {'DOWN', M, process, P, Why} -> normal = Why end.

%% With priority to an alias that takes it, without it, and to one that does not take it.
messages(Node) ->
    [A, B] = [erlang:alias(O) || O <- [[priority], []]],
    send_from(Node, [{self(), 1}, {A, 2}, {A, {high, 1}, [priority]}, {B, 3, [priority]}, {A, {high, 2}, [priority, nosuspend]}, {self(), 4, [priority]}]),
    p(flush()),
    R = erlang:alias([reply, priority]),
    send_from(Node, [{self(), 1}, {R, {high, 1}, [priority]}, {R, {high, 2}, [priority]}]),
    p(flush()),
    [erlang:unalias(X) || X <- [A, B]],
    send_from(Node, [{A, gone, [priority]}, {self(), last}]),
    p(flush()).

%% expect: [{high,1},{high,2},1,2,3,4]
%% expect: [{high,1},1]
%% expect: [last]

%% A sequential trace goes with it.
traced(Node) ->
    A = erlang:alias([priority]),
    {P, M} = spawn_monitor(Node, fun() -> seq_trace:set_token(label, 17), erlang:send(A, {high, 1}, [priority]), seq_trace:set_token([]) end),
    receive {'DOWN', M, process, P, normal} -> ok end,
    receive {high, 1} -> p(seq_trace:get_token(label)) end,
    seq_trace:set_token([]),
    erlang:unalias(A).

%% expect: {label,17}

%% Exit signals to an alias of another node: a message where exits are trapped, an end where they are not.
exits(Node) ->
    process_flag(trap_exit, true),
    A = erlang:alias([priority]),
    From = spawn(Node, ?MODULE, start, [self()]),
    From ! {do, fun() -> exit(A, {why, 1}), apply(erlang, exit, [A, {why, 2}, [priority]]), apply(erlang, exit_signal, [A, {why, 3}, [priority]]) end},
    receive done -> ok end,
    p([case M of {'EXIT', From, W} -> W; Other -> Other end || M <- flush()]),
    erlang:unalias(A),
    Main = self(),
    {P, M} = spawn_monitor(fun() -> Main ! {alias, erlang:alias()}, receive nothing -> ok end end),
    Its = receive {alias, X} -> X end,
    From ! {do, fun() -> exit(A, gone), exit(Its, kill) end},
    receive done -> ok end,
    p(receive {'DOWN', M, process, P, Why} -> Why end),
    p(flush()),
    From ! stop.

%% expect: [{why,2},{why,3},{why,1}]
%% expect: killed
%% expect: []

start(Main) ->
    receive
        {do, F} -> F(), Main ! done, start(Main);
        stop -> ok
    end.

flush() -> receive M -> [M | flush()] after 0 -> [] end.

p(T) -> io:format("~0p~n", [T]).
