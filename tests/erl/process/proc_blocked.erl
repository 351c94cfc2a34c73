%% SPDX-License-Identifier: Apache-2.0
%% Processes in the middle of a file operation (a FIFO that nobody writes) or of a write to a busy port: they answer, take signals, and
%% end at once. Every wait below is for something that comes before the operation ends; a process deaf to it would wait forever.
-module(proc_blocked).
-export([main/0]).

main() ->
    Fifo = "/tmp/proc_blocked." ++ os:getpid(),
    [] = os:cmd("rm -f " ++ Fifo ++ "; mkfifo " ++ Fifo),
    asked(Fifo),
    ended(Fifo),
    spared(Fifo),
    suspended(Fifo),
    left_open(Fifo),
    ok = prim_file:delete(Fifo),
    port_writer_killed(),
    port_owner_killed(),
    port_writer_spared(),
    halt(0).

p(L, X) -> erlang:display({L, X}).

%% A process that opens Fifo, then tells what it found in its mailbox until `done`.
opener(Fifo) -> opener(Fifo, fun() -> ok end).
opener(Fifo, Before) ->
    Self = self(),
    {P, M} = spawn_monitor(fun() ->
        Before(),
        {ok, F} = prim_file:open(Fifo, [read]),
        ok = prim_file:close(F),
        Self ! {self(), mailbox()}
    end),
    await_in(P, open_nif),
    {P, M}.

mailbox() -> receive done -> []; X -> [X | mailbox()] end.

await_in(P, Function) ->
    case process_info(P, current_function) of
        {_, {_, Function, _}} -> ok;
        {_, _} -> erlang:yield(), await_in(P, Function)
    end.

%% In that function it may still wait for a thread that runs it.
await_running(P) -> process_info(P, status) =:= {status, running} orelse begin erlang:yield(), await_running(P) end.

%% The other end of the FIFO: openers go on.
let_go(Fifo) ->
    {ok, W} = prim_file:open(Fifo, [read, write]),
    W.

await_down({P, M}) -> receive {'DOWN', M, process, P, Why} -> Why end.
await_told({P, _} = PM) -> receive {P, Told} -> normal = await_down(PM), Told end.

asked(Fifo) ->
    {P, _} = PM = opener(Fifo, fun() -> put(key, value), process_flag(trap_exit, true) end),
    await_running(P),
    P ! one,
    P ! two,
    p(alive, is_process_alive(P)),
    p(info, process_info(P, [status, message_queue_len, messages, dictionary, trap_exit])),
    p(all, is_list(process_info(P))),
    p(leader, group_leader(self(), P)),
    exit(P, kill),
    p(down, await_down(PM)),
    p(alive, is_process_alive(P)).

ended(Fifo) ->
    {P, _} = PM = opener(Fifo),
    exit(P, reason),
    p(exit, await_down(PM)),
    {Q, _} = QM = opener(Fifo),
    spawn(fun() -> link(Q), exit(linked) end),
    p(link, await_down(QM)),
    {R, _} = RM = opener(Fifo),
    link(R),
    p(linked, lists:member(self(), element(2, process_info(R, links)))),
    unlink(R),
    exit(R, normal),
    p(normal, is_process_alive(R)),
    exit(R, kill),
    p(kill, await_down(RM)).

%% What came during the operation is there after it, in its order.
spared(Fifo) ->
    Self = self(),
    Watched = spawn(fun() -> receive stop -> exit(stopped) end end),
    {P, _} = PM = opener(Fifo, fun() ->
        process_flag(trap_exit, true),
        monitor(process, Watched),
        Self ! {aliases, alias(), alias([reply])}
    end),
    {A, R} = receive {aliases, X, Y} -> {X, Y} end,
    exit(P, first),
    erlang:send_after(1, P, timer),
    await_queued(P, 2),
    A ! to_alias,
    R ! to_reply_alias,
    R ! to_reply_alias_again,
    Ref = monitor(process, Watched),
    Watched ! stop,
    receive {'DOWN', Ref, _, _, _} -> ok end,
    P ! last,
    await_queued(P, 6),
    W = let_go(Fifo),
    P ! done,
    p(spared, [case M of {'EXIT', S, Why} when S =:= Self -> {exit, Why}; {'DOWN', _, _, _, Why} -> {down, Why}; _ -> M end
               || M <- await_told(PM)]),
    ok = prim_file:close(W).

await_queued(P, N) ->
    case process_info(P, message_queue_len) of
        {_, N} -> ok;
        _ -> erlang:yield(), await_queued(P, N)
    end.

suspended(Fifo) ->
    {P, _} = PM = opener(Fifo),
    true = erlang:suspend_process(P, [asynchronous]),
    W = let_go(Fifo),
    P ! hello,
    P ! done,
    receive {P, _} -> p(suspended, ran) after 50 -> ok end,
    p(suspended, process_info(P, status)),
    true = erlang:resume_process(P),
    p(resumed, await_told(PM)),
    ok = prim_file:close(W).

%% The opens of the killed end later: nothing of them stays open.
left_open(Fifo) ->
    Ps = [opener(Fifo) || _ <- lists:seq(1, 5)],
    [exit(P, kill) || {P, _} <- Ps],
    p(downs, [await_down(PM) || PM <- Ps]),
    W = let_go(Fifo),
    p(only_ours, settle(Fifo, 1)),
    ok = prim_file:close(W),
    p(none, settle(Fifo, 0)).

settle(Name, N) ->
    {ok, L} = prim_file:list_dir("/proc/self/fd"),
    case length([X || X <- L, prim_file:read_link("/proc/self/fd/" ++ X) =:= {ok, Name}]) of
        N -> N;
        _ -> receive after 5 -> settle(Name, N) end
    end.

%% ---- ports

sleeper() ->
    Port = open_port({spawn, "sleep 1000"}, [out]),
    {os_pid, Pid} = erlang:port_info(Port, os_pid),
    {Port, fun() -> os:cmd("kill -9 " ++ integer_to_list(Pid)) end}.

writer(Port) ->
    {P, M} = spawn_monitor(fun() -> write_on(Port) end),
    await_in(P, port_command),
    {P, M}.

write_on(Port) ->
    try port_command(Port, binary:copy(<<"0123456789">>, 20000)) of true -> write_on(Port)
    catch error:badarg -> exit(closed)
    end.

port_writer_killed() ->
    process_flag(trap_exit, true),
    {Port, End} = sleeper(),
    Ps = [writer(Port) || _ <- lists:seq(1, 5)],
    [exit(P, kill) || {P, _} <- Ps],
    p(writers, [await_down(PM) || PM <- Ps]),
    p(open, erlang:port_info(Port, connected) =:= {connected, self()}),
    End(),
    p(port, receive {'EXIT', Port, _} -> ended end).

port_owner_killed() ->
    Self = self(),
    {P, M} = spawn_monitor(fun() -> {Port, End} = sleeper(), Self ! {Port, End}, write_on(Port) end),
    {Port, End} = receive X when is_tuple(X), is_port(element(1, X)) -> X end,
    await_in(P, port_command),
    Ref = monitor(port, Port),
    exit(P, kill),
    p(owner, await_down({P, M})),
    p(its_port, receive {'DOWN', Ref, port, Port, Why} -> Why end),
    End().

port_writer_spared() ->
    {Port, End} = sleeper(),
    {P, _} = PM = writer(Port),
    P ! one,
    p(spared, process_info(P, message_queue_len)),
    exit(P, normal),
    p(spared, is_process_alive(P)),
    End(),
    p(spared, await_down(PM)).

%% expect: {alive,true}
%% expect: {info,[{status,running},{message_queue_len,2},{messages,[one,two]},{dictionary,[{key,value}]},{trap_exit,true}]}
%% expect: {all,true}
%% expect: {leader,true}
%% expect: {down,killed}
%% expect: {alive,false}
%% expect: {exit,reason}
%% expect: {link,linked}
%% expect: {linked,true}
%% expect: {normal,true}
%% expect: {kill,killed}
%% expect: {spared,[{exit,first},timer,to_alias,to_reply_alias,{down,stopped},last]}
%% expect: {suspended,{status,suspended}}
%% expect: {resumed,[hello]}
%% expect: {downs,[killed,killed,killed,killed,killed]}
%% expect: {only_ours,1}
%% expect: {none,0}
%% expect: {writers,[killed,killed,killed,killed,killed]}
%% expect: {open,true}
%% expect: {port,ended}
%% expect: {owner,killed}
%% expect: {its_port,killed}
%% expect: {spared,{message_queue_len,1}}
%% expect: {spared,true}
%% expect: {spared,closed}
