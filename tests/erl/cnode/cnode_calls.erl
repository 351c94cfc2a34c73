%% SPDX-License-Identifier: Apache-2.0
-module(cnode_calls).
-export([main/0, caller/1]).
-export([start_link/0, register_node/2, register_node/3, listen_port_please/2, address_please/3, names/1]).

%% A node in C (cnode_calls.c, with OTP's library ei), which can do little of what nodes can: calls, links, monitors, exits,
%% messages and requests to spawn, over a connection that is up and over one that they ask for. It is told of nothing that
%% it does not understand, which would end the connection; and stays connected.

-define(NODE, 'c1@127.0.0.1').
-define(ANY, {any, ?NODE}).
-define(COOKIE, "crumbs").

main() ->
    Directory = filename:dirname(code:which(?MODULE)),
    C = open_port({spawn_executable, filename:join(Directory, ?MODULE)},
                  [{args, [atom_to_list(?NODE), ?COOKIE]}, {line, 1000}]),
    Number = receive {C, {data, {eol, Line}}} -> Line end,
    A = open_port({spawn_executable, self_program()},
                  [{args, ["-noshell", "-pa", Directory, "-name", "a@127.0.0.1", "-setcookie", ?COOKIE,
                           "-start_epmd", "false", "-epmd_module", ?MODULE_STRING,
                           "-kernel", "inet_dist_use_interface", "{127,0,0,1}", "logger_level", "none",
                           "-s", ?MODULE_STRING, "caller", Number]},
                   exit_status, {line, 1000}]),
    pass_on(A, C).

pass_on(A, C) ->
    receive
        {A, {data, {eol, Line}}} -> io:format("~ts~n", [Line]), pass_on(A, C);
        {C, {data, {eol, Line}}} -> io:format("in C: ~ts~n", [Line]), pass_on(A, C);
        {A, {exit_status, S}} -> io:format("ended ~p~n", [S])
    end.

self_program() ->
    {ok, Path} = file:read_link("/proc/self/exe"),
    case filename:basename(Path) of
        "beam" ++ _ -> os:find_executable("erl");
        _ -> Path
    end.

%% ---- as epmd_module: the one other node is at the port that it printed

start_link() -> ignore.
register_node(Name, Port) -> register_node(Name, Port, inet).
register_node(_, _, _) -> {ok, 1}.
listen_port_please(_, _) -> {ok, 0}.
address_please(_, _, _) -> {ok, {127, 0, 0, 1}, persistent_term:get(?MODULE), 6}.
names(_) -> {error, address}.

%% ---- in the node

caller([Number]) ->
    persistent_term:put(?MODULE, list_to_integer(atom_to_list(Number))),
    process_flag(trap_exit, true),
    [in_connection(Name, F) || {Name, F} <- [{calls, fun calls/0}, {terms, fun terms/0}, {monitors, fun monitors/0},
                                             {monitor_first, fun monitor_first/0}, {links, fun links/0},
                                             {unlink_first, fun unlink_first/0}, {exits, fun exits/0},
                                             {sends, fun sends/0}, {spawns, fun spawns/0}, {spawn_first, fun spawn_first/0}, {alias_first, fun alias_first/0},
                                             {traced, fun traced/0}, {traced_first, fun traced_first/0}]],
    halt(0).

%% Each with a connection of its own, which is there in the end, and is then ended by the other node.
in_connection(Name, F) ->
    Result = F(),
    Connected = nodes(hidden),
    Types = call(types),
    ok = call(close),
    await(fun() -> nodes(hidden) =:= [] end),
    io:format("~p ~0p ~0p ~0p~n", [Name, Result, Connected, Types]).

await(F) ->
    case F() of
        true -> ok;
        _ -> receive after 10 -> await(F) end
    end.

call(Request) ->
    gen_server:call(?ANY, Request).

calls() ->
    [{called, N} = call({echo, {called, N}}) || N <- lists:seq(1, 23)],
    erpc_refused().

%% Nobody is there who could start a process.
erpc_refused() ->
    try erpc:call(?NODE, erlang, node, [], 1000) catch Class:{erpc, Why} -> {Class, Why} end.

terms() ->
    Terms = [<<5:3>>, #{a => 1.5}, fun lists:map/2, fun() -> Terms0 = [1], Terms0 end, 'atöm', '漢字', list_to_atom(lists:duplicate(255, $\x{3b1})),
             1 bsl 70, -(1 bsl 2000), self(), make_ref(), hd(erlang:ports()), alias(), binary:copy(<<"big">>, 1000003),
             lists:seq(1, 20011), list_to_tuple(lists:seq(1, 1009))],
    [call({echo, T}) =:= T || T <- Terms].

%% Such a monitor watches the connection.
monitors() ->
    Pid = call(pid),
    Refs = [monitor(process, To) || To <- [Pid, ?ANY, Pid]],
    true = demonitor(hd(Refs)),
    ended(fun() -> [receive {'DOWN', R, process, _, Why} -> Why end || R <- tl(Refs)] end).

monitor_first() ->
    Ref = monitor(process, ?ANY),
    Other = monitor(process, ?ANY),
    demonitor(Other),
    ended(fun() -> receive {'DOWN', Ref, process, ?ANY, Why} -> Why end end).

%% What was sent over the connection, and what is seen when it ends.
ended(See) ->
    Node = ?NODE,
    monitor_node(Node, true),
    Types = call(types),
    ok = call(close),
    receive {nodedown, Node} -> ok end,
    {Types, See()}.

links() ->
    Pid = call(pid),
    link(Pid),
    unlink(Pid),
    link(Pid),
    ended(fun() -> receive {'EXIT', Pid, Why} -> Why end end).

%% The connection is asked for by the link, and not up when the unlink comes.
unlink_first() ->
    Pid = call(pid),
    ok = call(close),
    await(fun() -> nodes(hidden) =:= [] end),
    link(Pid),
    unlink(Pid),
    link(Pid),
    exit(Pid, not_up),
    call({echo, {unlinked, element(2, process_info(self(), links)) =:= [Pid]}}).

exits() ->
    Pid = call(pid),
    exit(Pid, {some, "reason"}),
    Linked = spawn(fun() -> link(Pid), exit({other, reason}) end),
    Ref = monitor(process, Linked),
    receive {'DOWN', Ref, process, Linked, Why} -> Why end.

sends() ->
    Pid = call(pid),
    [erlang:send(To, M, Options) || {To, M, Options} <- [{Pid, x, []}, {?ANY, x, [noconnect]}, {Pid, x, [nosuspend]}]],
    group_leader(self(), Pid).

spawns() ->
    Ref = spawn_request(?NODE, erlang, node, [], [monitor, link]),
    First = receive {spawn_reply, Ref, error, Why} -> Why end,
    Second = spawn_request(?NODE, erlang, node, [], []),
    [First, receive {spawn_reply, Second, error, Why2} -> Why2 end].

spawn_first() ->
    Ref = spawn_request(?NODE, erlang, node, [], [monitor]),
    receive {spawn_reply, Ref, error, Why} -> Why end.

%% Such a node has no aliases.
alias_first() ->
    Ref = call(ref),
    ok = call(close),
    await(fun() -> nodes(hidden) =:= [] end),
    Ref ! x,
    call({echo, x}).

%% Labels of sequential traces that are large, or no integers, stay here.
traced() ->
    Pid = call(pid),
    [begin
         seq_trace:set_token(label, Label),
         Pid ! x,
         ?ANY ! x,
         seq_trace:set_token([])
     end || Label <- [17, -17, 1 bsl 27 - 1, 1 bsl 27, -(1 bsl 27), -(1 bsl 27) - 1, {a, label}, "label"]],
    ok.

traced_first() ->
    seq_trace:set_token(label, {a, label}),
    ?ANY ! x,
    seq_trace:set_token(label, 1),
    ?ANY ! x,
    seq_trace:set_token([]),
    ok.

%% expect: calls {error,notsup} ['c1@127.0.0.1'] [6,6,6,6,6,6,6,6,6,6,6,6,6,6,6,6,6,6,6,6,6,6,6,6]
%% expect: terms [true,true,true,true,true,true,true,true,true,true,true,true,true,true,true,true] ['c1@127.0.0.1'] [6,6,6,6,6,6,6,6,6,6,6,6,6,6,6,6,6]
%% expect: monitors {[6,6],[noconnection,noconnection]} [] [6]
%% expect: monitor_first {[6],noconnection} [] [6]
%% expect: links {[6,1,4,1,6],noconnection} [] [6]
%% expect: unlink_first {unlinked,false} ['c1@127.0.0.1'] [1,4,1,8,6,6]
%% expect: exits {other,reason} ['c1@127.0.0.1'] [6,8,1,3,6]
%% expect: sends true ['c1@127.0.0.1'] [6,2,6,2,7,6]
%% expect: spawns [notsup,notsup] ['c1@127.0.0.1'] [6]
%% expect: spawn_first notsup ['c1@127.0.0.1'] [6]
%% expect: alias_first x ['c1@127.0.0.1'] [6,6]
%% expect: traced ok ['c1@127.0.0.1'] [6,2,6,2,6,2,6,2,6,2,6,2,6,2,6,2,6,6]
%% expect: traced_first ok [] [6,6,6]
%% expect: ended 0
