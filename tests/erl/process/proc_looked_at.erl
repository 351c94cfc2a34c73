%% SPDX-License-Identifier: Apache-2.0
%% Processes that are looked at by many (process_info, is_process_alive) while messages, links, monitors, time-outs and exits reach them: nothing
%% that was sent is lost, nobody sleeps through a message or a time-out, and what is told is what the process last did.
-module(proc_looked_at).
-export([main/0]).

-define(ROUNDS, 1999).

%% expect: rounds 1999
%% expect: time-outs 101
%% expect: looks true
%% expect: deaths 307
%% expect: [{message_queue_len,0},{registered_name,looked_at},{status,waiting},{trap_exit,true},{dictionary,[{key,{a,value}}]},{messages,[]}]
%% expect: {current_function,{erlang,hibernate,3}}
%% expect: [] undefined
%% expect: true
%% expect: [{links,true},{monitors,true},{monitored_by,true}]
%% expect: {messages,[{one,2},three]} {message_queue_len,2}
%% expect: {group_leader,true} {priority,high}
main() ->
    io:format("rounds ~p~n", [rounds()]),
    io:format("time-outs ~p~n", [timeouts()]),
    io:format("looks ~p~n", [looks()]),
    io:format("deaths ~p~n", [deaths()]),
    at_rest(),
    tables(),
    queue().

%% Two processes that send each other a number in turn, looked at all the time.
rounds() ->
    Self = self(),
    A = spawn_link(fun() -> bounce(Self) end),
    B = spawn_link(fun() -> bounce(Self) end),
    Lookers = [spawn_link(fun() -> look([A, B]) end) || _ <- lists:seq(1, 3)],
    A ! {B, 1},
    N = receive {done, Last} -> Last end,
    [stop(P) || P <- Lookers],
    N.

bounce(Main) ->
    receive
        {_, ?ROUNDS} -> Main ! {done, ?ROUNDS}, bounce(Main);
        {To, N} -> To ! {self(), N + 1}, bounce(Main)
    end.

look(Pids) ->
    [begin
         {message_queue_len, _} = process_info(P, message_queue_len),
         [{status, _}, {links, [_ | _]}] = process_info(P, [status, links]),
         true = is_process_alive(P)
     end || P <- Pids],
    receive stop -> ok after 0 -> look(Pids) end.

stop(P) ->
    Ref = monitor(process, P),
    P ! stop,
    receive {'DOWN', Ref, process, P, normal} -> ok end.

timeouts() ->
    Self = self(),
    P = spawn_link(fun() -> Self ! {timeouts, count_timeouts(101, 0)}, receive never -> ok end end),
    Lookers = [spawn_link(fun() -> look([P]) end) || _ <- lists:seq(1, 2)],
    N = receive {timeouts, T} -> T end,
    [stop(L) || L <- Lookers],
    N.

count_timeouts(N, N) -> N;
count_timeouts(Of, N) -> receive never -> ok after 1 -> count_timeouts(Of, N + 1) end.

%% What one sent before he asks has come.
looks() ->
    P = spawn_link(fun() -> receive never -> ok end end),
    lists:all(fun(N) -> P ! N, process_info(P, message_queue_len) =:= {message_queue_len, N} end, lists:seq(1, 499)).

deaths() ->
    length([N || N <- lists:seq(1, 307), dies(N)]).

dies(N) ->
    P = spawn(fun() -> receive die -> ok end end),
    true = is_process_alive(P),
    {initial_call, _} = process_info(P, initial_call),
    exit(P, {kill, N}),
    not is_process_alive(P) andalso process_info(P, status) =:= undefined.

at_rest() ->
    P = spawn(fun() -> process_flag(trap_exit, true), put(key, {a, value}), register(looked_at, self()), receive {From, sleep} -> From ! yes, erlang:hibernate(?MODULE, none, []) end end),
    await(fun() -> whereis(looked_at) =:= P andalso process_info(P, status) =:= {status, waiting} end),
    io:format("~w~n", [process_info(P, [message_queue_len, registered_name, status, trap_exit, dictionary, messages])]),
    P ! {self(), sleep},
    receive yes -> ok end,
    await(fun() -> process_info(P, current_function) =:= {current_function, {erlang, hibernate, 3}} end),
    io:format("~w~n", [process_info(P, current_function)]),
    Q = spawn_link(fun() -> receive never -> ok end end),
    exit(P, kill),
    io:format("~w ~w~n", [process_info(Q, registered_name), process_info(P, registered_name)]),
    io:format("~w~n", [process_info(Q, [status, status]) =:= [{status, waiting}, {status, waiting}]]).

await(Condition) ->
    case Condition() of
        true -> ok;
        false -> timer:sleep(1), await(Condition)
    end.

tables() ->
    Self = self(),
    P = spawn_link(fun() -> monitor(process, Self), Self ! ready, receive never -> ok end end),
    receive ready -> ok end,
    monitor(process, P),
    [{links, L}, {monitors, M}, {monitored_by, By}] = process_info(P, [links, monitors, monitored_by]),
    io:format("~w~n", [[{links, L =:= [Self]}, {monitors, M =:= [{process, Self}]}, {monitored_by, By =:= [Self]}]]).

queue() ->
    P = spawn_opt(fun() -> receive never -> ok end end, [link, {priority, high}]),
    P ! {one, 2},
    P ! three,
    io:format("~w ~w~n", [process_info(P, messages), process_info(P, message_queue_len)]),
    [{group_leader, G}, Priority] = process_info(P, [group_leader, priority]),
    io:format("~w ~w~n", [{group_leader, G =:= group_leader()}, Priority]).
