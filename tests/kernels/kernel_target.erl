%% SPDX-License-Identifier: Apache-2.0
%% A program that does some of all that erlsnoop asks for, all the time.
-module(kernel_target).
-export([main/0, child/1, echo/0, server/0]).

main() ->
    Echo = spawn(?MODULE, echo, []),
    register(answers, spawn(?MODULE, server, [])),
    connect(net_kernel:connect_node(peer())),
    {ok, kernel_loaded, Beam} = compile:forms([{attribute, 1, module, kernel_loaded}]),
    file:write_file("up", "1"),
    loop(Echo, Beam, 0).

%% The node that commands.sh starts beside it.
peer() -> peer@localhost.

%% Where qemu interprets on a busy machine a handshake may take longer than it is given.
connect(true) -> ok;
connect(false) -> connect(net_kernel:connect_node(peer())).

loop(Echo, Beam, N) ->
    spawn(?MODULE, child, [N]),
    Echo ! {self(), lists:seq(1, 100)},
    receive back -> ok end,
    ok = gen_server:call(answers, N),
    {nobody, peer()} ! N,
    {ok, Socket} = gen_udp:open(0), % a port, with a driver's callbacks
    ok = gen_udp:close(Socket),
    catch dyntrace:p(N, "loop"), % an erl without dynamic trace has none
    erlang:garbage_collect(),
    prim_file:read_file("up"), % native functions
    load(Beam),
    spin(20000),
    erlang:send_after(5, self(), N),
    receive N -> loop(Echo, Beam, N + 1) end.

load(Beam) ->
    {module, Module} = code:load_binary(kernel_loaded, "none", Beam),
    code:purge(Module).

child(N) -> exit({bad, N}).

echo() -> receive {From, _} -> From ! back, echo() end.

server() -> receive {'$gen_call', From, _} -> gen_server:reply(From, ok), server() end.

spin(0) -> ok;
spin(N) -> spin(N - 1).
