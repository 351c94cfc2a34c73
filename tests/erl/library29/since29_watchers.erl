%% SPDX-License-Identifier: Apache-2.0
%% trace:system/3: each trace session has its own limits, which its tracer hears of; erlang:system_monitor/2 has others.
-module(since29_watchers).
-export([main/0]).

main() ->
    limits(),
    refused(),
    apart(),
    queues(),
    over(),
    many().

limits() ->
    S = trace:session_create(a, self(), []),
    p(trace:info(S, system, all)),
    p([trace:system(S, Event, Value) || {Event, Value} <- [{long_gc, 5}, {large_heap, 5}, {busy_port, true}, {busy_dist_port, true},
                                                           {long_schedule, 0}, {long_message_queue, {2, 5}}]]),
    p(trace:info(S, system, all)),
    p(erts_internal:system_monitor(S) =:= {self(), element(2, trace:info(S, system, all))}),
    p([trace:system(S, Event, false) || Event <- [long_gc, busy_port, long_message_queue]]),
    p(trace:info(S, system, all)),
    trace:session_destroy(S).

%% expect: {system,[]}
%% expect: [ok,ok,ok,ok,ok,ok]
%% expect: {system,[busy_dist_port,busy_port,{large_heap,16384},{long_schedule,1},{long_gc,5},{long_message_queue,{2,5}}]}
%% expect: true
%% expect: [ok,ok,ok]
%% expect: {system,[busy_dist_port,{large_heap,16384},{long_schedule,1}]}

refused() ->
    S = trace:session_create(a, self(), []),
    p([catch_of(fun() -> trace:system(S, Event, Value) end)
       || {Event, Value} <- [{long_message_queue, {5, 5}}, {long_message_queue, 5}, {long_gc, true}, {long_gc, -1}, {busy_port, 5}, {foo, true}]]),
    p([catch_of(fun() -> trace:system(foo, long_gc, 5) end), catch_of(fun() -> trace:system({legacy, default}, long_gc, 5) end),
       catch_of(fun() -> trace:info(S, system, flags) end), catch_of(fun() -> erts_internal:system_monitor(S, self(), []) end),
       catch_of(fun() -> erts_internal:system_monitor(legacy, session, []) end)]),
    Port = trace:session_create(b, open_port({spawn, "cat"}, []), []),
    p([catch_of(fun() -> trace:system(Port, long_gc, 5) end), trace:info(S, system, all)]),
    trace:session_destroy(Port),
    trace:session_destroy(S),
    p([catch_of(fun() -> trace:system(S, long_gc, 5) end), catch_of(fun() -> trace:info(S, system, all) end)]).

%% expect: [badarg,badarg,badarg,badarg,badarg,badarg]
%% expect: [badarg,badarg,badarg,badarg,undefined]
%% expect: [badarg,{system,[]}]
%% expect: [badarg,badarg]

%% Three hear of one large heap, each by its own limit; what is set of one leaves the others as they are.
apart() ->
    Names = [small, larger, huge],
    Watchers = [start_watcher(N) || N <- Names],
    Sessions = [trace:session_create(N, W, []) || {N, W} <- lists:zip(Names, Watchers)],
    [trace:system(S, large_heap, Words) || {S, Words} <- lists:zip(Sessions, [20000, 100000, 100000000])],
    undefined = erlang:system_monitor(start_watcher(old), [{large_heap, 50000}]),
    Grown = grow(300000),
    p([N || N <- Names ++ [old], heard(N, Grown)]),
    trace:system(hd(Sessions), large_heap, false),
    Again = grow(300000),
    p([N || N <- Names ++ [old], heard(N, Again)]),
    {_, [{large_heap, 50000}]} = erlang:system_monitor(undefined),
    p([trace:info(S, system, all) || S <- Sessions]),
    Last = grow(300000),
    p([N || N <- Names ++ [old], heard(N, Last)]),
    [trace:session_destroy(S) || S <- Sessions].

%% expect: [small,larger,old]
%% expect: [larger,old]
%% expect: [{system,[]},{system,[{large_heap,100000}]},{system,[{large_heap,100000000}]}]
%% expect: [larger]

%% Keeps the processes of which it was told anything.
start_watcher(Name) ->
    W = spawn_link(fun() -> watch([]) end),
    register(Name, W),
    W.

watch(Told) ->
    receive
        {monitor, Pid, _, _} -> watch([Pid | Told]);
        {ask, From, Pid} -> From ! {heard, lists:member(Pid, Told)}, watch(Told)
    end.

%% What it was told of a process that is dead by now was sent before.
heard(Name, Pid) ->
    Name ! {ask, self(), Pid},
    receive {heard, Is} -> Is end.

grow(Words) ->
    {P, Ref} = spawn_monitor(fun() -> L = lists:seq(1, Words div 2), erlang:garbage_collect(), exit({length(L), hd(L)}) end),
    receive {'DOWN', Ref, _, _, _} -> P end.

%% By limits of their own, and told once until the queue is short again, also when the limit changes meanwhile.
queues() ->
    A = trace:session_create(a, start_teller(), []),
    B = trace:session_create(b, start_teller(), []),
    ok = trace:system(A, long_message_queue, {2, 5}),
    ok = trace:system(B, long_message_queue, {1, 3}),
    P = spawn_link(fun() -> hold() end),
    [P ! {kept, N} || N <- lists:seq(1, 7)],
    p([told(A, P), told(B, P)]),
    drop(P, 5),
    p([told(A, P), told(B, P)]),
    drop(P, 2),
    p([told(A, P), told(B, P)]),
    [P ! {kept, N} || N <- lists:seq(1, 7)],
    ok = trace:system(A, long_gc, 100000),
    P ! {kept, 8},
    p([told(A, P), told(B, P)]),
    ok = trace:system(A, long_message_queue, {3, 20}),
    P ! {kept, 9},
    p([told(A, P), told(B, P)]),
    drop(P, 9),
    p([told(A, P), told(B, P)]),
    [trace:session_destroy(S) || S <- [A, B]].

%% expect: [[true],[true]]
%% expect: [[true,false],[true]]
%% expect: [[true,false],[true,false]]
%% expect: [[true,false,true],[true,false,true]]
%% expect: [[true,false,true],[true,false,true]]
%% expect: [[true,false,true,false],[true,false,true,false]]

hold() ->
    receive
        {drop, 0, From} -> From ! dropped, hold();
        {drop, N, From} -> receive {kept, _} -> self() ! {drop, N - 1, From}, hold() end
    end.

drop(P, N) ->
    P ! {drop, N, self()},
    receive dropped -> ok end.

start_teller() ->
    spawn_link(fun() -> tell([]) end).

tell(Told) ->
    receive
        {monitor, P, long_message_queue, Is} -> tell(Told ++ [{P, Is}]);
        {ask, From, P} -> From ! {told, [Is || {Q, Is} <- Told, Q =:= P]}, tell(Told);
        {monitor, _, _, _} -> tell(Told)
    end.

%% Both have done what they were sent before: the process that is watched is asked first.
told(Session, P) ->
    drop(P, 0),
    timer:sleep(20),
    {Teller, _} = erts_internal:system_monitor(Session),
    Teller ! {ask, self(), P},
    receive {told, List} -> List end.

%% A session that is over tells nothing, and one whose owner is gone is over.
over() ->
    start_watcher(of_over),
    S = trace:session_create(a, whereis(of_over), []),
    ok = trace:system(S, large_heap, 20000),
    First = grow(300000),
    true = trace:session_destroy(S),
    Second = grow(300000),
    {Owner, Ref} = spawn_monitor(fun() -> put(s, trace:session_create(b, whereis(of_over), [])), ok = trace:system(get(s), large_heap, 20000) end),
    receive {'DOWN', Ref, _, Owner, normal} -> ok end,
    wait_until(fun() -> [{legacy, default}] =:= trace:session_info(all) end),
    Third = grow(300000),
    p([heard(of_over, G) || G <- [First, Second, Third]]).

%% expect: [true,false,false]

%% One bit for each watcher of queues: 32 have one, and who gives up lets another have it.
many() ->
    S = [trace:session_create(a, self(), []) || _ <- lists:seq(1, 33)],
    p([catch_of(fun() -> trace:system(X, long_message_queue, {1, 1000000}) end) || X <- lists:nthtail(30, S)]),
    p([catch_of(fun() -> trace:system(X, long_message_queue, {1, 1000000}) end) || X <- lists:sublist(S, 30)] -- lists:duplicate(30, ok)),
    p(trace:system(hd(lists:reverse(S)), long_message_queue, false)),
    p(catch_of(fun() -> trace:system(lists:nth(30, S), long_message_queue, {1, 1000000}) end)).

%% expect: [ok,ok,ok]
%% expect: [system_limit]
%% expect erl 29: []
%% expect: ok
%% expect: ok

wait_until(Is) ->
    case Is() of
        true -> ok;
        false -> timer:sleep(5), wait_until(Is)
    end.

catch_of(F) -> try F() catch error:E -> E end.

p(T) -> io:format("~0p~n", [T]).
