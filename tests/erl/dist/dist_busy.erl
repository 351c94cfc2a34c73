%% SPDX-License-Identifier: Apache-2.0
-module(dist_busy).
-export([main/0, first/0, second/0, spacious/0, echo/0, sink/1, code/2]).

%% Processes that wait for a busy connection: where they are said to be, what becomes of the results of what they did,
%% and what may happen to them meanwhile. Small messages pass large ones. Two nodes, each this VM or the stock one, in three ways. The first listens at a
%% port that both know, so no epmd is needed, and is stopped so that nothing goes out to it; the second does the rest.

-define(FIRST, 'a@127.0.0.1').

main() ->
    Self = self_program(),
    Stock = os:find_executable("erl"),
    [Printed | Others] = [run(First, Second) || {First, Second} <- [{Self, Self}, {Self, Stock}, {Stock, Self}]],
    [io:format("~ts~n", [Line]) || Line <- Printed],
    [io:format("~ts~n", [compare(Printed, Lines)]) || Lines <- Others],
    {Port, A} = start_first(Self, 20),
    [io:format("~ts~n", [Line]) || Line <- lines(start_second(Self, Port, "spacious", ["+zdbbl", "1024"]))],
    port_close(A).

compare(Lines, Lines) -> "the same";
compare(Printed, Lines) -> ["otherwise: " | lists:join("; ", Lines -- Printed)].

self_program() ->
    {ok, Path} = file:read_link("/proc/self/exe"),
    case filename:basename(Path) of
        "beam" ++ _ -> os:find_executable("erl");
        _ -> Path
    end.

run(First, Second) ->
    {Port, A} = start_first(First, 20),
    Lines = lines(start_second(Second, Port, "second", [])),
    port_close(A),
    Lines.

start_second(Program, Port, Function, Args) ->
    start(Program, Port, ["-name", "b@127.0.0.1", "-dist_listen", "false", "-s", "dist_busy", Function | Args]).

lines(Node) ->
    receive
        {Node, {data, {eol, Line}}} -> [Line | lines(Node)];
        {Node, {exit_status, Status}} -> [io_lib:format("ended ~p", [Status])]
    end.

%% The port lies below those that the kernel gives to clients; where another has it the node says nothing and ends.
start_first(Program, Tries) when Tries > 0 ->
    Number = 20000 + (list_to_integer(os:getpid()) + 97 * Tries + erlang:unique_integer([positive])) rem 10000,
    Port = integer_to_list(Number),
    A = start(Program, Port, ["-name", atom_to_list(?FIRST), "-s", "dist_busy", "first"]),
    receive
        {A, {data, {eol, <<"listens">>}}} -> {Port, A};
        {A, {exit_status, _}} -> start_first(Program, Tries - 1)
    end.

start(Program, Port, Args) ->
    Path = filename:dirname(code:which(?MODULE)),
    open_port({spawn_executable, Program},
              [{args, ["-noshell", "-pa", Path, "-setcookie", "crumbs", "-start_epmd", "false", "-erl_epmd_port", Port,
                       "+zdbbl", "64", "-kernel", "inet_dist_use_interface", "{127,0,0,1}", "logger_level", "none",
                       "inet_dist_listen_options", "[{recbuf,16384}]", "inet_dist_connect_options", "[{sndbuf,16384}]"
                       | Args]},
               exit_status, {line, 1000}, binary]).

%% ---- in the nodes

first() ->
    io:format("listens~n"),
    end_with_input(fun() -> halt(0) end).

second() -> second(fun does/0).

%% Large messages, but far from what makes a connection busy, and one at a time: none is told as busy.
spacious() ->
    second(fun() ->
                   pong = net_adm:ping(?FIRST),
                   There = spawn(?FIRST, ?MODULE, echo, []),
                   erlang:system_monitor(self(), [busy_dist_port]),
                   Large = binary:copy(<<0>>, 300000),
                   [Large = ask(There, Large) || _ <- lists:seq(1, 20)],
                   p(spacious, receive {monitor, _, _, _} -> busy after 0 -> not_busy end)
           end).

second(Does) ->
    end_with_input(fun() -> stop(3) end),
    spawn(fun() ->
                  {Pid, M} = spawn_monitor(Does),
                  receive {'DOWN', M, process, Pid, Reason} -> io:format("~p~n", [Reason]) end,
                  stop(0)
          end).

%% The other goes on: stopped, it would never see that its input ends. What is still to go out to it is not waited for.
stop(Status) ->
    thaw(),
    halt(Status, [{flush, false}]).

%% Ends with the program that started it.
end_with_input(End) ->
    spawn(fun F() ->
                  case io:get_line("") of
                      eof -> End();
                      {error, _} -> End();
                      _ -> F()
                  end
          end).

echo() ->
    receive
        {From, Message} -> From ! {self(), Message}, echo();
        stop -> ok
    end.

%% How many messages came.
sink(Count) ->
    receive
        {From, count} -> From ! {self(), Count}, sink(Count);
        _ -> sink(Count + 1)
    end.

does() ->
    pong = net_adm:ping(?FIRST),
    pass(),
    Stopped = rpc:call(?FIRST, os, getpid, []),
    go_on(Stopped),
    lose(Stopped),
    come_up().

%% ---- two processes send large messages without a pause; fewer of these arrive than others make trips meanwhile

pass() ->
    Sink = spawn(?FIRST, ?MODULE, sink, [0]),
    There = spawn(?FIRST, ?MODULE, echo, []),
    Large = binary:copy(<<0>>, 64 bsl 20),
    Senders = [spawn(fun() -> fill(Sink, Large) end) || _ <- [1, 2]],
    await(fun() -> ask(Sink, count) >= 2 end),
    Before = ask(Sink, count),
    kept = hd([ask(There, kept) || _ <- lists:seq(1, 20)]),
    p(passed, ask(Sink, count) - Before < 20),
    [exit(Pid, kill) || Pid <- Senders].

ask(Pid, What) ->
    Pid ! {self(), What},
    receive {Pid, Answer} -> Answer end.

%% ---- what is done, by processes of their own: {Name, before the connection is busy, then}

deeds() ->
    There = spawn(?FIRST, ?MODULE, echo, []),
    Name = {no_such_name, ?FIRST},
    Nothing = fun() -> ok end,
    [{send, Nothing, fun(_) -> Name ! {kept, [There]} =:= {kept, [There]} end},
     {send_2, Nothing, fun(_) -> erlang:send(There, kept) end},
     {send_3, Nothing, fun(_) -> erlang:send(Name, kept, [noconnect]) end},
     {apply, Nothing, fun(_) -> apply(erlang, send, [There, [kept]]) end},
     {link, fun trap/0, fun(_) -> link(There) end},
     {unlink, fun() -> link(There) end, fun(_) -> unlink(There) end},
     {monitor, Nothing, fun(_) -> monitor(process, There) end},
     {monitor_name, Nothing, fun(_) -> monitor(process, Name, [{tag, gone}]) end},
     {demonitor, fun() -> monitor(process, There) end, fun demonitor/1},
     {exit, Nothing, fun(_) -> exit(There, normal) end},
     {group_leader, Nothing, fun(_) -> group_leader(self(), There) end},
     {spawn, Nothing, fun(_) -> spawn(?FIRST, ?MODULE, echo, []) end},
     {spawn_monitor, Nothing, fun(_) -> spawn_monitor(?FIRST, ?MODULE, echo, []) end},
     {spawn_request, Nothing, fun(_) -> spawn_request(?FIRST, ?MODULE, echo, []) end}].

trap() ->
    process_flag(trap_exit, true).

begin_deed({Name, Before, Then}) ->
    Self = self(),
    {Pid, _} = spawn_monitor(fun() ->
                                     State = Before(),
                                     Self ! {self(), ready},
                                     receive go -> Self ! {self(), result, kind(Then(State))} end,
                                     Self ! {self(), heard, [kind(heard())]}
                             end),
    receive {Pid, ready} -> {Name, Pid} end.

heard() ->
    receive Any -> Any after 2000 -> nothing end.

kind(Pid) when is_pid(Pid) -> pid;
kind(Ref) when is_reference(Ref) -> ref;
kind(Tuple) when is_tuple(Tuple) -> list_to_tuple([kind(E) || E <- tuple_to_list(Tuple)]);
kind(Any) -> Any.

%% ---- the connection, made busy

freeze(Stopped) ->
    os:cmd("kill -STOP " ++ Stopped),
    persistent_term:put(stopped, Stopped),
    {Filler, _} = spawn_monitor(fun() -> fill({no_such_name, ?FIRST}, binary:copy(<<0>>, 80021)) end),
    await(fun() -> is_stuck(Filler, process_info(Filler, reductions), 15) end),
    Filler.

%% Suspended, at so many looks, though the kernel takes what it can, at times later.
is_stuck(_, _, 0) -> true;
is_stuck(Pid, Before, Looks) ->
    timer:sleep(20),
    case {process_info(Pid, status), process_info(Pid, reductions)} of
        {{status, suspended}, Before} -> is_stuck(Pid, Before, Looks - 1);
        _ -> false
    end.

thaw() ->
    os:cmd("kill -CONT " ++ persistent_term:get(stopped, "$$")).

fill(To, Data) ->
    receive
        stop -> ok
    after 0 ->
        To ! Data,
        fill(To, Data)
    end.

await(F) ->
    await(F, 500).

%% Gives up in the end, so that what follows shows what was not so.
await(_, 0) -> false;
await(F, Times) ->
    case F() of
        true -> true;
        _ -> receive after 20 -> await(F, Times - 1) end
    end.

%% OTP's waits elsewhere when a part of a message is still to go out.
waits(Pid) ->
    case process_info(Pid, [status, current_function]) of
        [{status, suspended}, {current_function, {erlang, bif_return_trap, 2}}] -> waits;
        [{status, suspended}, {current_function, {erts_internal, dsend_continue_trap, 1}}] -> waits;
        [{status, suspended}, {current_function, {erts_internal, spawn_request_yield, 3}}] -> waits;
        Otherwise -> Otherwise
    end.

%% Where they are once all wait. They are to be collected, too; OTP does that later where a part is to go out.
let_wait(Pids) ->
    [Pid ! go || Pid <- Pids],
    await(fun() -> lists:all(fun(Pid) -> waits(Pid) =:= waits end, Pids) end),
    [async = erlang:garbage_collect(Pid, [{async, Pid}]) || Pid <- Pids],
    lists:usort([waits(Pid) || Pid <- Pids]).

result(Pid) ->
    receive
        {Pid, result, Result} -> Result;
        {'DOWN', _, process, Pid, Reason} -> Reason
    after 20000 -> waits(Pid)
    end.

p(What, Value) ->
    io:format("~p ~p~n", [What, Value]).

%% ---- they wait until it is not busy any more

go_on(Stopped) ->
    Deeds = [begin_deed(Deed) || Deed <- deeds()],
    {There, Nothing, Send} = special(),
    [{_, Killed}, {_, Held}, {_, Traced}, {_, Old}] = Special =
        [begin_deed(Deed) || Deed <- [{killed, Nothing, Send}, {held, Nothing, Send}, {traced, Nothing, fun(_) -> link(There) end},
                                      {old, Nothing, fun(_) -> old_code:waits(There, kept) end}]],
    Filler = freeze(Stopped),
    trace(Traced),
    p(waiting, let_wait([Pid || {_, Pid} <- Deeds ++ Special])),
    p(old, {purge(), waits(Old)}),
    exit(Killed, kill),
    p(killed, result(Killed)),
    erlang:suspend_process(Held),
    Filler ! stop,
    thaw(),
    [p(Name, result(Pid)) || {Name, Pid} <- Deeds],
    p(collected, lists:usort([receive {garbage_collect, Pid, Done} -> Done end || {_, Pid} <- Deeds])),
    p(old, {result(Old), code:soft_purge(old_code)}),
    p(traced, {result(Traced), traced(Traced)}),
    p(held, waits(Held)),
    erlang:resume_process(Held),
    p(held, result(Held)).

special() ->
    There = spawn(?FIRST, ?MODULE, echo, []),
    load(),
    {There, fun() -> ok end, fun(_) -> erlang:send(There, kept) end}.

trace(Pid) ->
    erlang:trace(Pid, true, [call]),
    erlang:trace_pattern({erlang, link, 1}, [{'_', [], [{return_trace}]}], []).

traced(Pid) ->
    [receive
         {trace, Pid, call, {erlang, F, [_]}} -> {call, F};
         {trace, Pid, return_from, {erlang, F, 1}, Result} -> {return, F, Result}
     after 5000 -> none
     end || _ <- [1, 2]].

%% A module that one of them waits in.
load() ->
    {ok, old_code, Code} = code(old_code, waits),
    {module, old_code} = code:load_binary(old_code, "old_code.beam", Code).

code(Module, Function) ->
    V = fun(Name) -> {var, 1, Name} end,
    Body = [{match, 1, V('R'), {op, 1, '!', V('To'), V('M')}}, {tuple, 1, [{atom, 1, sent}, V('R')]}],
    compile:forms([{attribute, 1, module, Module}, {attribute, 1, export, [{Function, 2}]},
                   {function, 1, Function, 2, [{clause, 1, [V('To'), V('M')], [], Body}]}]).

%% May the code go that it waits in?
purge() ->
    true = code:delete(old_code),
    code:soft_purge(old_code).

%% ---- they wait until the connection ends

lose(Stopped) ->
    Deeds = [begin_deed(Deed) || Deed <- deeds()],
    Filler = freeze(Stopped),
    p(waiting, let_wait([Pid || {_, Pid} <- Deeds])),
    exit(Filler, kill),
    true = erlang:disconnect_node(?FIRST),
    thaw(),
    [p(Name, {result(Pid), receive {Pid, heard, What} -> What end}) || {Name, Pid} <- Deeds].

%% ---- whoever hears that a node is up can disconnect it at once, but where its machine is slow at the wrong moment:
%% then net_kernel has not heard of it yet, on erl as here, and once more is enough

come_up() ->
    await(fun() -> net_adm:ping(?FIRST) =:= pong end),
    true = erlang:disconnect_node(?FIRST),
    ok = net_kernel:monitor_nodes(true, #{node_type => all}),
    p(come_up, disconnect_tens(5)).

%% Nine of ten, once in so many tries: a busy machine is slow for a while, a fault is there each time.
disconnect_tens(Tries) ->
    Ended = [disconnect_as_told() || _ <- lists:seq(1, 10)],
    case length([true || true <- Ended]) >= 9 of
        false when Tries > 1 -> disconnect_tens(Tries - 1);
        Enough -> Enough orelse Ended
    end.

disconnect_as_told() ->
    spawn(fun() -> net_kernel:connect_node(?FIRST) end),
    Ended = receive {nodeup, ?FIRST, _} -> erlang:disconnect_node(?FIRST) after 20000 -> not_up end,
    await(fun() -> Ended =/= false orelse erlang:disconnect_node(?FIRST) end),
    receive {nodedown, ?FIRST, _} -> Ended after 20000 -> not_down end.

%% expect: passed true
%% expect: waiting [waits]
%% expect: old {false,waits}
%% expect: killed killed
%% expect: send true
%% expect: send_2 kept
%% expect: send_3 ok
%% expect: apply [kept]
%% expect: link true
%% expect: unlink true
%% expect: monitor ref
%% expect: monitor_name ref
%% expect: demonitor true
%% expect: exit true
%% expect: group_leader true
%% expect: spawn pid
%% expect: spawn_monitor {pid,ref}
%% expect: spawn_request ref
%% expect: collected [true]
%% expect: old {{sent,kept},true}
%% expect: traced {true,[{call,link},{return,link,true}]}
%% expect: held waits
%% expect: held kept
%% expect: waiting [waits]
%% expect: send {true,[nothing]}
%% expect: send_2 {kept,[nothing]}
%% expect: send_3 {ok,[nothing]}
%% expect: apply {[kept],[nothing]}
%% expect: link {true,[{'EXIT',pid,noconnection}]}
%% expect: unlink {true,[nothing]}
%% expect: monitor {ref,[{'DOWN',ref,process,pid,noconnection}]}
%% expect: monitor_name {ref,[{gone,ref,process,
%% expect:                          {no_such_name,'a@127.0.0.1'},
%% expect:                          noconnection}]}
%% expect: demonitor {true,[nothing]}
%% expect: exit {true,[nothing]}
%% expect: group_leader {true,[nothing]}
%% expect: spawn {pid,[nothing]}
%% expect: spawn_monitor {{pid,ref},[{'DOWN',ref,process,pid,noconnection}]}
%% expect: spawn_request {ref,[{spawn_reply,ref,error,noconnection}]}
%% expect: come_up true
%% expect: normal
%% expect: ended 0
%% expect: the same
%% expect: the same
%% expect: spacious not_busy
%% expect: normal
%% expect: ended 0
