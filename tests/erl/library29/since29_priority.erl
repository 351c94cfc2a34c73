%% SPDX-License-Identifier: Apache-2.0
%% Priority messages, of OTP 28: what comes to a priority alias by a sender who asks for it, and of links and monitors that were made so,
%% stands before ordinary messages, in the order in which it came.
-module(since29_priority).
-export([main/0]).

main() ->
    sent(),
    not_so_sent(),
    ended(),
    exited(),
    waited(),
    marked(),
    traced(),
    hibernated(),
    stormed().

sent() ->
    A = erlang:alias([priority]),
    in_another([fun() -> self_send(1) end, fun() -> [main_pid() ! N || N <- [1, 2, 3]] end, fun() -> [erlang:send(A, {high, N}, [priority]) || N <- [1, 2]] end,
                fun() -> main_pid() ! 4 end, fun() -> erlang:send(A, {high, 3}, [priority, nosuspend]) end]),
    p([process_info(self(), messages), process_info(self(), message_queue_len), process_info(self(), priority_messages)]),
    p([flush(), erlang:unalias(A), process_info(self(), priority_messages)]),
    erlang:send(A, {high, 4}, [priority]),
    p(flush()).

%% expect: [{messages,[{high,1},{high,2},{high,3},1,2,3,4]},{message_queue_len,7},{priority_messages,true}]
%% expect: [[{high,1},{high,2},{high,3},1,2,3,4],true,{priority_messages,false}]
%% expect: []

%% An alias without priority, a priority alias without the option, a pid.
not_so_sent() ->
    A = erlang:alias(),
    B = erlang:alias([priority]),
    R = erlang:alias([reply, priority]),
    in_another([fun() -> main_pid() ! 1 end, fun() -> erlang:send(A, 2, [priority]) end, fun() -> B ! 3 end, fun() -> erlang:send(main_pid(), 4, [priority]) end,
                fun() -> erlang:send(R, {high, 1}, [priority]) end, fun() -> erlang:send(R, {high, 2}, [priority]) end]),
    p(flush()),
    p([why(F) || F <- [fun() -> erlang:send(B, 1, [prio]) end, fun() -> erlang:alias([prio]) end, fun() -> apply(erlang, link, [self(), [prio]]) end,
                       fun() -> apply(erlang, exit, [self(), x, [prio]]) end, fun() -> apply(erlang, exit_signal, [a, x, []]) end, fun() -> erlang:monitor(process, self(), [prio]) end]]),
    [erlang:unalias(X) || X <- [A, B]].

%% expect: [{high,1},1,2,3,4]
%% expect: [badarg,badarg,badarg,badarg,badarg,badarg]

%% Ends of processes that are linked and monitored.
ended() ->
    process_flag(trap_exit, true),
    self() ! 1,
    P = spawn(fun() -> receive go -> exit(linked) end end),
    apply(erlang, link, [P, [priority]]),
    {Q, M} = spawn_opt(fun() -> receive go -> exit(monitored) end end, [{monitor, [priority, {tag, down}]}]),
    {L, _} = spawn_opt(fun() -> receive go -> exit(spawned) end end, [{link, [priority]}, monitor]),
    O = spawn_link(fun() -> receive go -> exit(ordinary) end end),
    [begin X ! go, wait_dead(X) end || X <- [O, P, Q, L]],
    p([name(X, [{P, p}, {Q, q}, {L, l}, {O, o}, {M, m}]) || X <- flush(), element(1, {X}) =/= none]),
    S = spawn(fun() -> receive go -> exit(changed) end end),
    apply(erlang, link, [S, [priority]]),
    link(S),
    self() ! 1,
    S ! go,
    wait_dead(S),
    p([name(X, [{S, s}]) || X <- flush()]),
    process_flag(trap_exit, false).

%% expect: [{'EXIT',p,linked},{down,m,process,q,monitored},{'EXIT',l,spawned},1,{'EXIT',o,ordinary},{'DOWN',ref,process,l,spawned}]
%% expect: [1,{'EXIT',s,changed}]

%% Exit signals to aliases.
exited() ->
    process_flag(trap_exit, true),
    A = erlang:alias([priority]),
    B = erlang:alias(),
    Main = self(),
    X = in_another([fun() -> main_pid() ! 1 end, fun() -> apply(erlang, exit, [A, high, [priority]]) end, fun() -> erlang:exit(B, ordinary) end,
                    fun() -> apply(erlang, exit_signal, [A, last, []]) end]),
    p([name(M, [{X, x}]) || M <- flush()]),
    [erlang:unalias(R) || R <- [A, B]],
    in_another([fun() -> apply(erlang, exit, [A, gone, [priority]]) end, fun() -> apply(erlang, exit_signal, [make_ref(), gone, []]) end]),
    p(flush()),
    process_flag(trap_exit, false),
    p([apply(erlang, exit_signal, [Main, normal]), apply(erlang, exit_signal, [Main, normal, []])]),
    {P, Ref} = spawn_monitor(fun() -> Main ! erlang:alias([priority]), receive after infinity -> ok end end),
    receive C when is_reference(C) -> apply(erlang, exit, [C, stop, [priority]]) end,
    p(receive {'DOWN', Ref, process, P, Why} -> Why end).

%% expect: [{'EXIT',x,high},1,{'EXIT',x,ordinary},{'EXIT',x,last}]
%% expect: []
%% expect: [true,true]
%% expect: stop

%% Whoever waits for something else finds it, wherever he stands in his queue.
waited() ->
    [self() ! {n, I} || I <- lists:seq(1, 100)],
    A = erlang:alias([priority]),
    Main = self(),
    spawn(fun() -> timer:sleep(30), erlang:send(A, {other, 1}, [priority]), timer:sleep(30), erlang:send(A, wanted, [priority]), Main ! late end),
    p(receive wanted -> got end),
    p(receive late -> late end),
    p([receive X -> X end, length(flush())]),
    erlang:unalias(A).

%% expect: got
%% expect: late
%% expect: [{other,1},100]

%% Receives that begin behind what was there when their reference was made.
marked() ->
    A = erlang:alias([priority]),
    [self() ! {old, I} || I <- lists:seq(1, 50)],
    Main = self(),
    Server = spawn(fun Loop() -> receive {From, R} -> erlang:send(A, {high, self()}, [priority]), From ! {R, answer}, Loop() end end),
    p(lists:usort([begin R = make_ref(), Server ! {Main, R}, receive {R, Answer} -> Answer end end || _ <- lists:seq(1, 20)])),
    Queue = flush(),
    p([length([H || {high, _} = H <- lists:sublist(Queue, 20)]), length(Queue)]),
    exit(Server, kill),
    erlang:unalias(A).

%% expect: [answer]
%% expect: [20,70]

traced() ->
    A = erlang:alias([priority]),
    Main = self(),
    Tracer = spawn(fun() -> receive {dump, To} -> To ! {told, flush()} end end),
    erlang:trace(self(), true, ['receive', {tracer, Tracer}]),
    in_another([fun() -> main_pid() ! 1 end, fun() -> erlang:send(A, high, [priority]) end, fun() -> main_pid() ! 2 end]),
    Got = flush(),
    erlang:trace(self(), false, ['receive']),
    Tracer ! {dump, Main},
    receive {told, Told} -> p([Got, [M || {trace, _, 'receive', M} <- Told, lists:member(M, [1, 2, high])]]) end,
    erlang:unalias(A).

%% expect: [[high,1,2],[1,high,2]]

%% hibernate/0 keeps the stack.
hibernated() ->
    Main = self(),
    P = spawn(fun() -> Kept = {kept, [Main]}, ok = apply(erlang, hibernate, []), receive X -> Main ! {X, Kept} end end),
    wait_until(fun() -> process_info(P, status) =:= {status, waiting} end),
    P ! go,
    p(receive {go, Kept} -> Kept =:= {kept, [Main]} end),
    self() ! here,
    p([apply(erlang, hibernate, []), receive here -> here end]).

%% expect: true
%% expect: [ok,here]

%% Many senders of both kinds: each one's own order stays, priority before the rest.
stormed() ->
    A = erlang:alias([priority]),
    Main = self(),
    Ps = [spawn_monitor(fun() -> [begin erlang:send(A, {high, S, N}, [priority]), Main ! {low, S, N} end || N <- lists:seq(1, 200)] end) || S <- lists:seq(1, 8)],
    [receive {'DOWN', R, process, _, _} -> ok end || {_, R} <- Ps],
    All = flush(),
    {High, Low} = lists:split(1600, All),
    p([length(All), lists:usort([K || {K, _, _} <- High]), lists:usort([K || {K, _, _} <- Low]),
       [[N || {_, S1, N} <- L, S1 =:= S] =:= lists:seq(1, 200) || L <- [High, Low], S <- lists:seq(1, 8)] =:= lists:duplicate(16, true)]),
    erlang:garbage_collect(),
    erlang:unalias(A).

%% expect: [3200,[high],[low],true]

%% One after the other, by one process; all of it is in our queue then.
in_another(Funs) ->
    Main = self(),
    {P, M} = spawn_monitor(fun() -> put(main, Main), [F() || F <- Funs] end),
    receive {'DOWN', M, process, P, normal} -> P end.

main_pid() -> get(main).

self_send(_) -> ok.

wait_dead(P) -> wait_until(fun() -> not is_process_alive(P) end), timer:sleep(20).

wait_until(F) ->
    case F() of
        true -> ok;
        false -> timer:sleep(1), wait_until(F)
    end.

flush() -> receive X -> [X | flush()] after 0 -> [] end.

name(T, Names) when is_tuple(T) -> list_to_tuple([name(E, Names) || E <- tuple_to_list(T)]);
name(X, Names) ->
    case lists:keyfind(X, 1, Names) of
        {_, Name} -> Name;
        false when is_reference(X) -> ref;
        false -> X
    end.

why(F) -> try F() catch error:Why -> Why end.

p(T) -> io:format("~0p~n", [T]).
