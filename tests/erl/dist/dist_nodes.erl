%% SPDX-License-Identifier: Apache-2.0
-module(dist_nodes).
-export([main/0, count/1, first/1, second/0, sleep/0, echo/0, keep/1, leave/1, a_port/0, token/0, collect/0]).

%% Two nodes, each this VM or the stock one, in three ways: what one can do with processes of the other. The
%% program starts them as programs of the system, with an epmd of their own; all of them end with it.

main() ->
    Self = self_program(),
    Stock = os:find_executable("erl"),
    Port = start_epmd(20),
    [Printed | Others] = [run(Port, First, Second) || {First, Second} <- [{Self, Self}, {Self, Stock}, {Stock, Self}]],
    [io:format("~ts~n", [Line]) || Line <- Printed],
    [compare(Printed, Lines) || Lines <- Others],
    ok.

compare(Lines, Lines) -> io:format("the same~n");
compare(_, Lines) -> [io:format("otherwise: ~ts~n", [Line]) || Line <- Lines].

self_program() ->
    case file:read_link("/proc/self/exe") of
        {ok, Path} ->
            case filename:basename(Path) of
                "beam" ++ _ -> os:find_executable("erl");
                _ -> Path
            end
    end.

%% An epmd at a port of this run's own: its number comes from that of this process and lies below those that the kernel
%% gives to clients, so that runs beside it take others. One that somebody listens at is left alone.
start_epmd(Tries) when Tries > 0 ->
    Number = 20000 + (list_to_integer(os:getpid()) + 97 * (20 - Tries)) rem 10000,
    case is_listened_at(Number) of
        true -> start_epmd(Tries - 1);
        false -> start_epmd_at(Number, Tries)
    end.

start_epmd_at(Number, Tries) ->
    Epmd = os:find_executable("epmd"),
    Line = "\"$1\" -port $2 -address 127.0.0.1 & pid=$!; read end; kill $pid; wait $pid 2>/dev/null",
    P = open_port({spawn_executable, "/bin/sh"},
                  [{args, ["-c", Line, "sh", Epmd, integer_to_list(Number)]}, exit_status]),
    case await_epmd(P, Number) of
        ok -> Number;
        failed -> start_epmd(Tries - 1)
    end.

is_listened_at(Number) ->
    case gen_tcp:connect({127, 0, 0, 1}, Number, []) of
        {ok, S} ->
            gen_tcp:close(S),
            true;
        {error, _} -> false
    end.

await_epmd(P, Number) ->
    case is_listened_at(Number) of
        true -> ok;
        false -> receive {P, {exit_status, _}} -> failed after 20 -> await_epmd(P, Number) end
    end.

start(Port, Program, Name, Function, Args) ->
    Directory = filename:dirname(code:which(?MODULE)),
    open_port({spawn_executable, Program},
              [{args, ["-noshell", "-pa", Directory, "-name", Name, "-setcookie", "crumbs", "-start_epmd", "false",
                       "+zdbbl", "64",
                       "-kernel", "inet_dist_use_interface", "{127,0,0,1}", "logger_level", "none",
                       "-s", atom_to_list(?MODULE), Function | Args]},
               {env, [{"ERL_EPMD_PORT", integer_to_list(Port)}]}, exit_status, {line, 1000}, binary]).

%% The lines that the first prints, and how both ended.
run(Port, First, Second) ->
    B = start(Port, Second, "b@127.0.0.1", "second", []),
    A = start(Port, First, "a@127.0.0.1", "first", ["b@127.0.0.1"]),
    lines(A) ++ receive {B, {exit_status, S}} -> [io_lib:format("second ended ~p", [S])] end.

lines(A) ->
    receive
        {A, {data, {eol, Line}}} -> [Line | lines(A)];
        {A, {exit_status, S}} -> [io_lib:format("first ended ~p", [S])]
    end.

%% ---- in the nodes

%% Ends with the program that started it.
end_with_input() ->
    spawn(fun F() ->
                  case io:get_line("") of
                      eof -> halt(3);
                      {error, _} -> halt(3);
                      _ -> F()
                  end
          end).

second() ->
    end_with_input().

sleep() ->
    receive after infinity -> ok end.

echo() ->
    receive
        {From, Message} ->
            From ! {self(), Message},
            echo();
        stop ->
            ok
    end.

leave(Reason) ->
    exit(Reason).

%% Left: words of what is not to be done, for nodes whose own releases cannot (pg).
first([Node | Left]) ->
    end_with_input(),
    await(fun() -> net_adm:ping(Node) =:= pong end),
    calls(Node),
    messages(Node),
    large(Node),
    pieces(Node),
    kept(Node),
    atoms(Node),
    info(Node),
    busy(Node),
    monitors(Node),
    links(Node),
    spawns(Node),
    sequence(Node),
    global_names(Node),
    lists:member(pg, Left) orelse groups(Node),
    loss(Node),
    rpc:cast(Node, erlang, halt, [0]),
    await(fun() -> nodes() =:= [] end),
    halt(0).

await(F) ->
    case F() of
        true -> ok;
        _ -> receive after 20 -> await(F) end
    end.

p(What, Value) ->
    io:format("~p ~p~n", [What, Value]).

calls(Node) ->
    p(nodes, nodes() =:= [Node]),
    p(rpc, rpc:call(Node, erlang, node, []) =:= Node),
    p(erpc, erpc:call(Node, lists, seq, [1, 5])),
    p(error, try erpc:call(Node, erlang, error, [foo]) catch error:{exception, E, _} -> E end),
    p(sees_us, rpc:call(Node, erlang, nodes, []) =:= [node()]),
    [Pid, Ref, Port] = [rpc:call(Node, M, F, A) || {M, F, A} <- [{erlang, whereis, [rex]}, {erlang, make_ref, []}, {?MODULE, a_port, []}]],
    p(read, [list_to_pid(pid_to_list(Pid)) =:= Pid, list_to_ref(ref_to_list(Ref)) =:= Ref, list_to_port(port_to_list(Port)) =:= Port]),
    p(unknown, [catch_error(F) || F <- [fun() -> list_to_pid("<4000000000.1.0>") end, fun() -> list_to_pid("<1.1.0>") end]]).

token() ->
    receive From -> From ! {self(), seq_trace:get_token(label)} end.

a_port() -> hd(erlang:ports()).

catch_error(F) ->
    try F() catch error:Reason -> Reason end.

messages(Node) ->
    Pid = spawn(Node, ?MODULE, echo, []),
    Term = {self(), make_ref(), #{a => 1.5, "b" => [<<1:3>>, fun lists:map/2]}, <<0:8000>>, 1 bsl 70, 'atöm'},
    Pid ! {self(), Term},
    p(echo, receive {Pid, Term} -> true end),
    Many = [begin Pid ! {self(), N}, N end || N <- lists:seq(1, 1009)],
    p(in_order, Many =:= [receive {Pid, N} -> N end || _ <- Many]),
    Big = binary:copy(<<"big">>, 1000003),
    Pid ! {self(), Big},
    p(big, receive {Pid, Big} -> byte_size(Big) end),
    Traced = spawn(Node, ?MODULE, token, []),
    seq_trace:set_token(label, {a, make_ref()}),
    Traced ! self(),
    p(token, receive {Traced, Token} -> Token =:= seq_trace:get_token(label) end),
    seq_trace:set_token([]),
    true = rpc:call(Node, erlang, register, [dist_echo, Pid]),
    {dist_echo, Node} ! {self(), named},
    p(named, receive {Pid, named} -> true end),
    Alias = alias([reply]),
    Pid ! {Alias, aliased},
    p(alias, receive {Pid, aliased} -> true end),
    {no_such_name, Node} ! lost,
    p(send, [erlang:send(Pid, stop, [noconnect]), erlang:send({foo, 'no@127.0.0.1'}, x, [noconnect])]).

%% Large messages of several senders with small ones between: what one sends stays in its order and whole. The last
%% goes to a name, and the exit of who sent it comes after it. The counter itself lets each sender begin, after its monitor:
%% one that had sent everything before the monitor came would be down by noproc.
large(Node) ->
    Counter = spawn(Node, ?MODULE, count, [#{}]),
    true = rpc:call(Node, erlang, register, [dist_counter, Counter]),
    Senders = [spawn(fun() -> send_mixed(Counter, Node, N) end) || N <- lists:seq(1, 7)],
    Counter ! {watch, Senders},
    Counter ! {told, self()},
    p(large, receive {counted, Counts} -> Counts =:= lists:duplicate(7, 47) orelse Counts end).

%% Sizes around that of a fragment, and of several.
send_mixed(To, Node, N) ->
    receive go -> ok end,
    [To ! {self(), I, mixed(I, N)} || I <- lists:seq(1, 46)],
    {dist_counter, Node} ! {self(), 47, mixed(47, N)},
    exit({sent, mixed(11, N)}).

mixed(I, N) ->
    case I rem 3 of
        0 -> {small, I};
        1 -> binary:copy(<<I, N>>, 32768 * (I rem 7) + I - N);
        2 -> {list_to_atom("mixed_" ++ integer_to_list(I)), lists:duplicate(I * 100, {N, mixed, "abc"})}
    end.

count(Seen) ->
    receive
        {watch, Pids} ->
            [begin monitor(process, Pid), Pid ! go end || Pid <- Pids],
            count(maps:from_list([{Pid, {N, 0}} || {N, Pid} <- lists:zip(lists:seq(1, 7), Pids)]));
        {told, To} ->
            Counts = [count_one(Pid, N, I) || {Pid, {N, I}} <- lists:keysort(2, maps:to_list(Seen))],
            To ! {counted, Counts}
    end.

count_one(Pid, N, I) ->
    receive
        {Pid, Next, Data} when Next =:= I + 1 ->
            case Data =:= mixed(Next, N) of
                true -> count_one(Pid, N, Next);
                false -> {other, Next}
            end;
        {Pid, Next, _} -> {wrong_order, I, Next};
        {'DOWN', _, process, Pid, {sent, Data}} when I =:= 47 -> case Data =:= mixed(11, N) of true -> I end;
        {'DOWN', _, process, Pid, _} -> {down, I}
    end.

%% Large binaries alone, beside each other and within other terms, parts of others, and one that is appended to while it
%% is on its way.
pieces(Node) ->
    Pid = spawn(Node, ?MODULE, echo, []),
    Big = << <<(I * 7919):32>> || I <- lists:seq(1, 300000) >>,
    Parts = [binary:part(Big, From, Size) || From <- [0, 1, 100], Size <- [16383, 16384, 65535, 65536, 131072, 1000001]],
    <<_:3, Shifted:500000/binary, _/bits>> = Big,
    <<Bits:400003/bits, _/bits>> = Big,
    Written = lists:foldl(fun(Part, Bytes) -> <<Bytes/binary, Part/binary>> end, <<>>, Parts),
    Terms = [Big, Parts, list_to_tuple(Parts), #{Big => Parts}, [a | Big], {Shifted, Bits, Big}, [[P, P, 1.5] || P <- Parts],
             {x, binary:part(Big, 5, 40000), Big, [Big | {Big, [Big]}]}, [fun() -> Big end, {Big, fun(X) -> [X | Big] end}]],
    [Pid ! {self(), Term} || Term <- Terms],
    p(pieces, [receive {Pid, Back} -> Back =:= Term end || Term <- Terms]),
    p(longer, [append(Pid, <<>>, N, []) || N <- lists:seq(2011, 2041, 10)]),
    Pid ! stop.

%% Each is sent as soon as it is longer, and made longer before it is gone; what it was then is kept as a copy.
append(Pid, Bytes, _, Sent) when byte_size(Bytes) > 120000 ->
    [] =:= [Length || Copy <- lists:reverse(Sent), Length <- [byte_size(Copy)], receive {Pid, Back} -> Back =/= Copy end];
append(Pid, Bytes, N, Sent) ->
    Longer = <<Bytes/binary, (binary:copy(<<N>>, N))/binary>>,
    Pid ! {self(), Longer},
    append(Pid, Longer, N, [binary:copy(Longer) | Sent]).

%% Who keeps a little of a large message does not keep all of it.
kept(Node) ->
    Large = binary:copy(<<"large">>, 200000),
    Pid = spawn(Node, ?MODULE, keep, [[]]),
    Before = rpc:call(Node, erlang, memory, [binary]),
    [Pid ! {I, binary:copy(<<I>>, 3000), [Large || I rem 2 =:= 0]} || I <- lists:seq(1, 61)],
    Pid ! {count, self()},
    receive {kept, Bytes} -> p(kept, Bytes) end,
    p(little, rpc:call(Node, erlang, memory, [binary]) - Before < 10000000),
    exit(Pid, kill).

keep(Kept) ->
    receive
        {count, To} ->
            erlang:garbage_collect(),
            To ! {kept, iolist_size(Kept)},
            keep(Kept);
        {_, Small, _} ->
            keep([Small | Kept])
    end.

%% More than a header has room for, more than a cache has, long ones and none of Latin-1; and all of them again.
atoms(Node) ->
    Pid = spawn(Node, ?MODULE, echo, []),
    Many = [list_to_atom("atom_" ++ integer_to_list(N)) || N <- lists:seq(1, 5003)],
    Long = [list_to_atom(lists:duplicate(N, $\x{3b1})) || N <- [1, 63, 127, 128, 255]],
    Terms = [Many, Long, list_to_tuple(Many), maps:from_list([{A, Long} || A <- lists:sublist(Many, 301)]) | Many],
    [Pid ! {self(), Term} || _ <- [1, 2], Term <- Terms],
    p(atoms, [length([Term || Term <- Terms, receive {Pid, Back} -> Back =:= Term end]) || _ <- [1, 2]]),
    Pid ! stop.

info(Node) ->
    [{Node, Controller}] = erlang:system_info(dist_ctrl),
    Lines = string:lexemes(binary_to_list(erlang:system_info(dist)), "\n"),
    Wanted = ["=node:'" ++ atom_to_list(node()) ++ "'", "Name: '" ++ atom_to_list(Node) ++ "'",
              "Controller: " ++ port_to_list(Controller)],
    p(info, [lists:member(Line, Lines) || Line <- Wanted]),
    p(visible, [true || "=visible_node:" ++ _ <- Lines]),
    p(limit, erlang:system_info(dist_buf_busy_limit)),
    erts_debug:set_internal_state(available_internal_state, true),
    p(controllers, [erts_debug:get_internal_state({dist_ctrl, N}) =:= C || {N, C} <- [{Node, Controller}, {no@host, undefined}]]),
    peers(Node),
    traced_link(Node),
    traced_receive(Node),
    erts_debug:set_internal_state(available_internal_state, false).

%% A tracer is told of the link that a spawn at the other node makes.
traced_link(Node) ->
    Self = self(),
    Parent = spawn(fun() ->
        Child = receive go -> spawn_link(Node, ?MODULE, echo, []) end,
        Self ! {spawned, Child},
        receive stop -> unlink(Child), Child ! stop end
    end),
    erlang:trace(Parent, true, [procs]),
    Parent ! go,
    Spawned = receive {spawned, Pid} -> Pid end,
    p(traced_link, receive {trace, Parent, Event, Spawned} -> Event end),
    erlang:trace(Parent, false, [all]),
    Parent ! stop.

%% Messages from the other node are told of, and told from others by its name.
traced_receive(Node) ->
    Receiver = spawn(fun() -> receive stop -> ok end end),
    erlang:trace(Receiver, true, ['receive']),
    erlang:trace_pattern('receive', [{[Node, undefined, '_'], [], []}], []),
    Receiver ! here,
    spawn(Node, erlang, send, [Receiver, there]),
    p(traced_receive, receive {trace, Receiver, 'receive', Message} -> Message end),
    erlang:trace_pattern('receive', true, []),
    erlang:trace(Receiver, false, [all]),
    Receiver ! stop.

%% What goes over the connection stands with the processes and with the connection, at both nodes.
%% What this node says of links and monitors between these two processes, with names in place of their pids. OTP tells a
%% monitor by name a second time, with the node alone.
bonds(Names) ->
    Lines = string:lexemes(binary_to_list(erlang:system_info(dist)), "\n"),
    Named = [lists:foldl(fun({Pid, Name}, Text) -> string:replace(Text, pid_to_list(Pid), atom_to_list(Name)) end, Line, Names)
             || "Remote" ++ _ = Line <- Lines],
    lists:sort([Text || Line <- Named, Text <- [lists:flatten(Line)], string:find(Text, "self") =/= nomatch,
                string:find(Text, "self '") =:= nomatch]).

peers(Node) ->
    Pid = spawn(Node, ?MODULE, echo, []),
    true = rpc:call(Node, erlang, register, [echo, Pid]),
    link(Pid),
    [Ref, Named] = [monitor(process, Pid), monitor(process, {echo, Node})],
    monitor_node(Node, true),
    rpc:call(Node, erts_debug, set_internal_state, [available_internal_state, true]),
    Names = #{self() => me, Pid => echo, Ref => ref, Named => named, Node => other, node() => this},
    [p(bond, list_to_atom(Bond)) || Bond <- bonds([{Pid, pid}, {self(), self}])],
    Ask = fun(At, What, Of) ->
        List = rpc:call(At, erts_debug, get_internal_state, [{What, Of}]),
        lists:sort([[maps:get(E, Names, E) || E <- tuple_to_list(Record)] || Record <- List, is_of(Record, [self(), Pid], [Ref, Named])])
    end,
    Links = [Ask(At, link_list, Of) || {At, Of} <- [{node(), self()}, {node(), Node}, {Node, Pid}, {Node, node()}]],
    p(links, [[lists:droplast(Record) || Record <- List] || List <- Links]),
    p(ids, [[lists:last(Record) || Record <- A] =:= [lists:last(Record) || Record <- B] || [A, B] <- [lists:sublist(Links, 2), lists:nthtail(2, Links)]]),
    [p(monitors, Ask(At, monitor_list, Of)) || {At, Of} <- [{node(), self()}, {node(), Node}, {Node, Pid}, {Node, node()}]],
    monitor_node(Node, false),
    [demonitor(R) || R <- [Ref, Named]],
    unlink(Pid),
    rpc:call(Node, erts_debug, set_internal_state, [available_internal_state, false]),
    Pid ! stop.

is_of({erl_link, _, Pid, _, _}, Pids, _) -> lists:member(Pid, Pids);
is_of({erl_monitor, node, _, _, What, _}, Pids, _) -> is_atom(What) orelse lists:member(What, Pids);
is_of({erl_monitor, _, _, Ref, _, _}, _, Refs) -> lists:member(Ref, Refs).

%% The other node stands still, so that sooner or later nothing more goes out.
busy(Node) ->
    [{Node, Controller}] = erlang:system_info(dist_ctrl),
    Pid = spawn(Node, ?MODULE, echo, []),
    Stopped = rpc:call(Node, os, getpid, []),
    os:cmd("kill -STOP " ++ Stopped),
    undefined = erlang:system_monitor(self(), [busy_dist_port]),
    {Filler, M} = spawn_monitor(fun() -> fill({no_such_name, Node}, binary:copy(<<0>>, 80021)) end),
    p(told, receive {monitor, Filler, busy_dist_port, Controller} -> true end),
    await(fun() -> process_info(Filler, status) =:= {status, suspended} end),
    await(fun() -> erlang:send({no_such_name, Node}, more, [nosuspend]) =:= nosuspend end),
    await(fun() -> not erlang:send_nosuspend({no_such_name, Node}, more) end),
    p(async_dist, never_waits({no_such_name, Node})),
    erlang:system_monitor(undefined),
    Filler ! stop,
    os:cmd("kill -CONT " ++ Stopped),
    p(filled, receive {'DOWN', M, process, Filler, R} -> R end),
    Pid ! {self(), back},
    p(not_busy, receive {Pid, back} -> flush_limits() end).

fill(To, Data) ->
    receive
        stop -> ok
    after 0 ->
        To ! Data,
        fill(To, Data)
    end.

%% An OTP without the flag says so, and is not asked.
never_waits(To) ->
    try process_flag(async_dist, true) of
        false ->
            [To ! more || _ <- lists:seq(1, 4001)],
            {async_dist, true} = process_info(self(), async_dist),
            process_flag(async_dist, false)
    catch
        error:badarg -> true
    end.

flush_limits() ->
    receive
        {monitor, _, busy_dist_port, _} -> flush_limits()
    after 0 -> true
    end.

monitors(Node) ->
    Pid = spawn(Node, ?MODULE, sleep, []),
    M = monitor(process, Pid),
    p(monitors, process_info(self(), monitors) =:= {monitors, [{process, Pid}]}),
    p(monitored_by, rpc:call(Node, erlang, process_info, [Pid, monitored_by]) =:= {monitored_by, [self()]}),
    exit(Pid, bye),
    p(down, receive {'DOWN', M, process, Pid, R} -> R end),
    M2 = monitor(process, Pid),
    p(dead, receive {'DOWN', M2, process, Pid, R2} -> R2 end),
    M3 = monitor(process, {no_such_name, Node}),
    p(no_name, receive {'DOWN', M3, process, {no_such_name, Node}, R3} -> R3 end),
    M4 = monitor(process, {rex, Node}),
    p(demonitor, demonitor(M4, [info])),
    Pid2 = spawn(Node, ?MODULE, sleep, []),
    true = rpc:call(Node, erlang, register, [dist_sleeper, Pid2]),
    M5 = monitor(process, {dist_sleeper, Node}, [{tag, gone}]),
    exit(Pid2, kill),
    p(tagged, receive {gone, M5, process, {dist_sleeper, Node}, R5} -> R5 end).

links(Node) ->
    process_flag(trap_exit, true),
    Pid = spawn_link(Node, ?MODULE, sleep, []),
    {links, Links} = process_info(self(), links),
    p(links, lists:member(Pid, Links)),
    exit(Pid, {a, "reason"}),
    p(exit, receive {'EXIT', Pid, R} -> R end),
    link(Pid),
    p(noproc, receive {'EXIT', Pid, R2} -> R2 end),
    Pid2 = spawn_link(Node, ?MODULE, sleep, []),
    unlink(Pid2),
    M = monitor(process, Pid2),
    p(unlinked, rpc:call(Node, erlang, process_info, [Pid2, links])),
    exit(Pid2, kill),
    p(killed, receive {'DOWN', M, process, Pid2, R3} -> R3 end),
    p(silent, receive {'EXIT', Pid2, _} -> false after 0 -> true end).

spawns(Node) ->
    {Pid, M} = spawn_monitor(Node, ?MODULE, leave, [abc]),
    p(spawn_monitor, receive {'DOWN', M, process, Pid, R} -> R end),
    Counter = atomics:new(1, []),
    atomics:put(Counter, 1, 7),
    p(there_and_back, atomics:get(rpc:call(Node, erlang, hd, [[Counter]]), 1)),
    erlang:yield(),
    Request = erlang:spawn_request(Node, ?MODULE, sleep, [], [monitor, link, {reply_tag, {mine, 1}}]),
    p(not_yet, demonitor(Request, [info])),
    Pid2 = receive {{mine, 1}, Request, ok, P} -> P end,
    exit(Pid2, kill),
    p(request, [receive {'DOWN', Request, process, Pid2, R2} -> R2 end, receive {'EXIT', Pid2, R3} -> R3 end]),
    Request2 = erlang:spawn_request(Node, ?MODULE, sleep, [], [{priority, foo}]),
    p(bad_option, receive {spawn_reply, Request2, error, R4} -> R4 end),
    Request3 = erlang:spawn_request('no@127.0.0.1', ?MODULE, sleep, [], []),
    p(no_node, receive {spawn_reply, Request3, error, R5} -> R5 end),
    Self = self(),
    Pid3 = spawn(Node, fun() -> Self ! {leader, node(group_leader()), node(), node(Self)} end),
    p(leader, receive {leader, L, N, S} -> {L =:= node(), N =:= node(Pid3), S =:= node()} end),
    Pid4 = spawn(Node, ?MODULE, sleep, []),
    group_leader(self(), Pid4),
    p(group_leader, rpc:call(Node, erlang, process_info, [Pid4, group_leader]) =:= {group_leader, self()}).

%% What the sequential tracers of both nodes hear of a spawn, the end of the child that is linked, and a spawn that fails.
sequence(Node) ->
    seq_trace:reset_trace(),
    Here = spawn(?MODULE, collect, []),
    There = spawn(Node, ?MODULE, collect, []),
    false = rpc:call(Node, seq_trace, set_system_tracer, [There]),
    false = seq_trace:set_system_tracer(Here),
    seq_trace:set_token(label, {a, "label"}),
    [seq_trace:set_token(Flag, true) || Flag <- [send, 'receive']],
    Request = erlang:spawn_request(Node, ?MODULE, leave, [abc], [link, {reply_tag, born}]),
    Child = receive {born, Request, ok, P} -> P end,
    receive {'EXIT', Child, abc} -> ok end,
    Failed = erlang:spawn_request(Node, ?MODULE, leave, [abc], [{priority, foo}]),
    receive {spawn_reply, Failed, error, badopt} -> ok end,
    seq_trace:set_token([]),
    Names = #{self() => parent, Child => child, Request => request, Failed => failed, Node => node, group_leader() => leader},
    [io:format("~p ~0p~n", [Side, rename(E, Names)]) || {Side, Tracer} <- [{here, Here}, {there, There}], E <- lists:keysort(2, heard(Tracer))],
    seq_trace:set_system_tracer(false),
    rpc:call(Node, seq_trace, set_system_tracer, [false]).

collect() ->
    receive {give, N, To} -> To ! {heard, collected(N)} end.

collected(0) -> [];
collected(N) ->
    receive {seq_trace, {a, "label"}, Event} -> [Event | collected(N - 1)] after 5000 -> [] end.

heard(Tracer) ->
    Tracer ! {give, 7, self()},
    receive {heard, Events} -> Events end.

rename(T, Names) when is_map_key(T, Names) -> map_get(T, Names);
rename(T, Names) when is_tuple(T) -> list_to_tuple(rename(tuple_to_list(T), Names));
rename([H | T], Names) -> [rename(H, Names) | rename(T, Names)];
rename(T, _) -> T.

global_names(Node) ->
    yes = global:register_name(dist_name, self()),
    await(fun() -> rpc:call(Node, global, whereis_name, [dist_name]) =:= self() end),
    p(global, rpc:call(Node, global, send, [dist_name, hello]) =:= self()),
    receive hello -> ok end.

groups(Node) ->
    {ok, _} = pg:start_link(),
    _ = rpc:call(Node, pg, start, [pg]),
    pg:join(group, self()),
    await(fun() -> rpc:call(Node, pg, get_members, [group]) =:= [self()] end),
    p(pg, pg:get_members(group) =:= [self()]).

loss(Node) ->
    global:unregister_name(dist_name),
    ok = net_kernel:monitor_nodes(true, #{nodedown_reason => true}),
    monitor_node(Node, true),
    monitor_node(Node, true),
    Pid = spawn_link(Node, ?MODULE, sleep, []),
    M = monitor(process, Pid),
    M2 = monitor(process, {rex, Node}),
    p(disconnect, erlang:disconnect_node(Node)),
    p(node_down, [receive {nodedown, Node} -> true end || _ <- [1, 2]]),
    p(reason, receive {nodedown, Node, Info} -> Info end),
    p(down, receive {'DOWN', M, process, Pid, R} -> R end),
    p(named, receive {'DOWN', M2, process, {rex, Node}, R2} -> R2 end),
    p(exit, receive {'EXIT', Pid, R3} -> R3 end),
    await(fun() -> net_adm:ping(Node) =:= pong end),
    p(node_up, receive {nodeup, Node, Info2} -> Info2 end),
    p(messages, process_info(self(), messages)),
    p(no_cookie, no_cookie(Node)),
    p(still, net_adm:ping(Node)).

%% Of another cookie, it is another node.
no_cookie(Node) ->
    true = erlang:disconnect_node(Node),
    true = erlang:set_cookie(Node, other),
    Pang = net_adm:ping(Node),
    true = erlang:set_cookie(Node, erlang:get_cookie()),
    Pang.

%% expect: nodes true
%% expect: rpc true
%% expect: erpc [1,2,3,4,5]
%% expect: error foo
%% expect: sees_us true
%% expect: read [true,true,true]
%% expect: unknown [badarg,badarg]
%% expect: echo true
%% expect: in_order true
%% expect: big 3000009
%% expect: token true
%% expect: named true
%% expect: alias true
%% expect: send [ok,noconnect]
%% expect: large true
%% expect: pieces [true,true,true,true,true,true,true,true,true]
%% expect: longer [true,true,true,true]
%% expect: kept 183000
%% expect: little true
%% expect: atoms [5007,5007]
%% expect: info [true,true,true]
%% expect: visible [true]
%% expect: limit 65536
%% expect: controllers [true,true]
%% expect: bond 'Remote link: pid self'
%% expect: bond 'Remote monitoring: self pid'
%% expect: bond 'Remote monitoring: self {echo, \'b@127.0.0.1\'}'
%% expect: links [[[erl_link,dist_process,echo,linked]],
%% expect:        [[erl_link,dist_process,me,linked]],
%% expect:        [[erl_link,dist_process,me,linked]],
%% expect:        [[erl_link,dist_process,echo,linked]]]
%% expect: ids [true,true]
%% expect: monitors [[erl_monitor,dist_process,origin,named,other,echo],
%% expect:           [erl_monitor,dist_process,origin,ref,echo,[]],
%% expect:           [erl_monitor,node,origin,[],other,1]]
%% expect: monitors [[erl_monitor,dist_process,target,named,me,echo],
%% expect:           [erl_monitor,dist_process,target,ref,me,[]],
%% expect:           [erl_monitor,node,target,[],me,[]]]
%% expect: monitors [[erl_monitor,dist_process,target,named,me,echo],
%% expect:           [erl_monitor,dist_process,target,ref,me,[]]]
%% expect: monitors [[erl_monitor,dist_process,origin,named,echo,echo],
%% expect:           [erl_monitor,dist_process,origin,ref,echo,[]]]
%% expect: traced_link link
%% expect: traced_receive there
%% expect: told true
%% expect: async_dist true
%% expect: filled normal
%% expect: not_busy true
%% expect: monitors true
%% expect: monitored_by true
%% expect: down bye
%% expect: dead noproc
%% expect: no_name noproc
%% expect: demonitor true
%% expect: tagged killed
%% expect: links true
%% expect: exit {a,"reason"}
%% expect: noproc noproc
%% expect: unlinked {links,[]}
%% expect: killed killed
%% expect: silent true
%% expect: spawn_monitor abc
%% expect: there_and_back 7
%% expect: not_yet false
%% expect: request [killed,killed]
%% expect: bad_option badopt
%% expect: no_node noconnection
%% expect: leader {true,true,true}
%% expect: group_leader true
%% expect: here {send,{0,1},parent,node,{spawn_request,request,parent,leader,{dist_nodes,leave,1},[link]}}
%% expect: here {send,{0,2},parent,node,[abc]}
%% expect: here {'receive',{1,2},child,parent,{born,request,ok,child}}
%% expect: here {'receive',{2,3},child,parent,{'EXIT',child,abc}}
%% expect: here {send,{3,4},parent,node,{spawn_request,failed,parent,leader,{dist_nodes,leave,1},[{priority,foo}]}}
%% expect: here {send,{3,5},parent,node,[abc]}
%% expect: here {'receive',{4,5},node,parent,{spawn_reply,failed,error,badopt}}
%% expect: there {'receive',{0,1},parent,child,{spawn_request,request,parent,leader,{dist_nodes,leave,1},[link]}}
%% expect: there {'receive',{0,2},parent,child,[abc]}
%% expect: there {send,{1,2},child,parent,{spawn_reply,request,ok,child}}
%% expect: there {send,{2,3},child,parent,{'EXIT',child,abc}}
%% expect: there {'receive',{3,4},parent,node,{spawn_request,failed,parent,leader,{dist_nodes,leave,1},[{priority,foo}]}}
%% expect: there {send,{4,5},node,parent,{spawn_reply,failed,error,badopt}}
%% expect: global true
%% expect: pg true
%% expect: disconnect true
%% expect: node_down [true,true]
%% expect: reason #{nodedown_reason => disconnect}
%% expect: down noconnection
%% expect: named noconnection
%% expect: exit noconnection
%% expect: node_up #{}
%% expect: messages {messages,[]}
%% expect: no_cookie pang
%% expect: still pong
%% expect: first ended 0
%% expect: second ended 0
%% expect: the same
%% expect: the same
