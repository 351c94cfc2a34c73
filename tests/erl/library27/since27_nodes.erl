%% SPDX-License-Identifier: Apache-2.0
%% Two nodes with OTP 27's library: calls, monitors, requests to spawn, large messages, terms that came with it.
-module(since27_nodes).
-export([main/0]).

main() ->
    start_epmd(),
    {ok, _} = net_kernel:start(list_to_atom("since27_" ++ os:getpid() ++ "@127.0.0.1"), #{name_domain => longnames}),
    {ok, Machine} = file:read_link("/proc/self/exe"),
    Program = case filename:basename(Machine) of "beam" ++ _ -> os:find_executable("erl"); _ -> Machine end,
    {ok, Peer, Node} = peer:start_link(#{exec => Program, name => "since27_peer_" ++ os:getpid(), host => "127.0.0.1", longnames => true, wait_boot => 60000}),
    io:format("~p~n", [[net_adm:ping(Node), rpc:call(Node, erlang, system_info, [otp_release]), erpc:call(Node, lists, sum, [[1, 2, 3]])]]),
    {Pid, M} = spawn_monitor(Node, erlang, exit, [bye]),
    io:format("~p~n", [receive {'DOWN', M, process, Pid, Why} -> Why end]),
    Request = spawn_request(Node, erlang, node, [], [monitor]),
    io:format("~p~n", [receive {spawn_reply, Request, ok, Child} -> node(Child) =:= Node end]),
    Terms = [0.0, binary_to_term(<<131, 70, 128, 0:56>>), 'å', '€', make_ref(), self(), #{0.0 => minus}, binary:copy(<<"x">>, 3000000)],
    io:format("~p~n", [[erpc:call(Node, erlang, hd, [[T]]) =:= T || T <- Terms]]),
    io:format("~p~n", [erpc:call(Node, erlang, '=:=', lists:sublist(Terms, 2))]),
    erlang:monitor_node(Node, true),
    peer:stop(Peer),
    io:format("~p~n", [receive {nodedown, Node} -> down end]).

%% As erl -name does: net_kernel:start/2 leaves that to whoever calls it. The command returns before epmd listens.
start_epmd() ->
    [] = os:cmd("epmd -daemon"),
    await_epmd(500).

await_epmd(Looks) ->
    case erl_epmd:names({127, 0, 0, 1}) of
        {ok, _} -> ok;
        {error, _} when Looks > 0 -> receive after 10 -> await_epmd(Looks - 1) end
    end.

%% expect: [pong,"27",6]
%% expect 29: [pong,"29",6]
%% expect: bye
%% expect: true
%% expect: [true,true,true,true,true,true,true,true]
%% expect: false
%% expect: down
