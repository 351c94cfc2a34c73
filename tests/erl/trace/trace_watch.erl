%% SPDX-License-Identifier: Apache-2.0
%% system_monitor: collections, large heaps, long slices, busy ports; system_profile: who is runnable.
-module(trace_watch).
-export([main/0]).

main() ->
    options(), large(), collections(), slices(), ports(), gone(), profile_options(), runnable(), schedulers().

options() ->
    T = collector(),
    p(erlang:system_monitor()),
    p(erlang:system_monitor(T, [{long_gc, 0}, {long_schedule, 1}, {large_heap, 1}, busy_port, busy_dist_port])),
    {T, O} = erlang:system_monitor(), p(O),
    [p(catch_it(fun() -> erlang:system_monitor(A, B) end)) ||
        {A, B} <- [{T, [foo]}, {T, [{long_gc, x}]}, {T, [{long_gc, -1}]}, {foo, [busy_port]}, {T, [busy_port | x]}, {T, foo}]],
    [p(catch_it(fun() -> erlang:system_monitor(A) end)) || A <- [foo, {a}, {self(), bar}]],
    p(element(2, erlang:system_monitor({T, [{large_heap, 20000}]}))),
    p(erlang:system_monitor(undefined) =:= {T, [{large_heap, 20000}]}),
    p(erlang:system_monitor(T, [])), p(erlang:system_monitor()).

large() ->
    io:format("large_heap~n"),
    T = collector(), erlang:system_monitor(T, [{large_heap, 20000}]),
    P = ended(fun() -> length(lists:seq(1, 100000)) end),
    {I, _} = wait_for(T, fun({monitor, Q, large_heap, L}) -> Q =:= P andalso {true, L}; (_) -> false end),
    p([K || {K, V} <- I, is_integer(V)]), p(proplists:get_value(heap_block_size, I) + proplists:get_value(old_heap_block_size, I) >= 20000),
    off().

collections() ->
    io:format("long_gc~n"),
    T = collector(), erlang:system_monitor(T, [{long_gc, 1}]),
    P = ended(fun() -> X = [{I} || I <- lists:seq(1, 1000000)], garbage_collect(), length(X) end),
    {I, _} = wait_for(T, fun({monitor, Q, long_gc, L}) -> Q =:= P andalso {true, L}; (_) -> false end),
    p([K || {K, V} <- I, is_integer(V)]), p(proplists:get_value(timeout, I) >= 1),
    off().

slices() ->
    io:format("long_schedule~n"),
    L = lists:seq(1, 4000000), Same = lists:seq(1, 4000000),
    T = collector(), erlang:system_monitor(T, [{long_schedule, 1}]),
    erlang:yield(),
    true = L =:= Same,
    erlang:yield(),
    {I, _} = wait_for(T, fun({monitor, Q, long_schedule, M}) -> Q =:= self_of(T) andalso {true, M}; (_) -> false end),
    p([K || {K, _} <- I]), p(proplists:get_value(timeout, I) >= 1),
    off().

ports() ->
    io:format("busy_port~n"),
    Me = self(), T = collector(), erlang:system_monitor(T, [busy_port]),
    {P, R} = spawn_monitor(fun() ->
        Port = open_port({spawn, "sh -c 'read x; cat > /dev/null'"}, [binary]), Me ! {port, Port},
        [port_command(Port, binary:copy(<<0>>, 1000000)) || _ <- lists:seq(1, 3)] end),
    Port = receive {port, X} -> X end,
    {Q, _} = wait_for(T, fun({monitor, A, busy_port, B}) -> A =:= P andalso {true, B}; (_) -> false end),
    p(Q =:= Port),
    exit(P, kill), receive {'DOWN', R, _, _, _} -> ok end, off().

gone() ->
    io:format("gone~n"),
    T = collector(), erlang:system_monitor(T, [busy_port]), exit(T, kill), dead(T), p(erlang:system_monitor()).

profile_options() ->
    io:format("profile~n"),
    T = collector(),
    p(erlang:system_profile()),
    p(erlang:system_profile(T, [runnable_procs, scheduler, exclusive, runnable_ports, monotonic_timestamp])),
    {T, O} = erlang:system_profile(), p(O),
    [p(catch_it(fun() -> erlang:system_profile(A, B) end)) || {A, B} <- [{T, [foo]}, {foo, [scheduler]}, {T, [scheduler | x]}, {T, foo}]],
    p(erlang:system_profile(undefined, []) =:= {T, O}), p(erlang:system_profile()).

%% Active and inactive by turns, from its birth to its end.
runnable() ->
    io:format("runnable_procs~n"),
    T = collector(), erlang:system_profile(T, [runnable_procs, strict_monotonic_timestamp]),
    W = spawn(fun() -> receive a -> ok end, receive b -> ok end end), waiting(W), W ! a, waiting(W), W ! b, dead(W),
    {_, L} = wait_for(T, fun({profile, P, inactive, 0, _}) -> P =:= W andalso {true, x}; (_) -> false end),
    erlang:system_profile(undefined, []),
    Own = [{S, F, Time} || {profile, P, S, F, Time} <- L, P =:= W],
    p(alternate([S || {S, _, _} <- Own])),
    p(lists:usort([shape(Time) || {_, _, Time} <- Own])),
    p(element(2, hd(Own))), p(element(1, element(2, lists:nth(2, Own)))).

schedulers() ->
    io:format("scheduler~n"),
    T = collector(), erlang:system_profile(T, [scheduler]),
    Busy = [spawn(fun() -> spin(2000000) end) || _ <- lists:seq(1, 2 * erlang:system_info(schedulers))],
    [dead(P) || P <- Busy],
    {N, _} = wait_for(T, fun({profile, scheduler, _, inactive, A, {_, _, _}}) -> {true, A}; (_) -> false end),
    erlang:system_profile(undefined, []),
    p(N >= 0).

spin(0) -> ok;
spin(N) -> spin(N - 1).

alternate([active, inactive]) -> true;
alternate([active, inactive | L]) -> alternate(L);
alternate(_) -> false.

shape(I) when is_integer(I) -> int;
shape(T) when is_tuple(T) -> [shape(E) || E <- tuple_to_list(T)].

ended(F) -> {P, R} = spawn_monitor(F), receive {'DOWN', R, _, _, _} -> P end.
off() -> erlang:system_monitor(undefined).
waiting(W) -> case process_info(W, status) of {status, waiting} -> ok; _ -> waiting(W) end.
dead(T) -> case is_process_alive(T) of true -> erlang:yield(), dead(T); false -> ok end.
catch_it(F) -> try F() catch C:R -> {C, R} end.

collector() -> Me = self(), spawn(fun() -> put(owner, Me), collect([]) end).
collect(L) -> receive {take, P} -> P ! {taken, lists:reverse(L)}, collect(L); M -> collect([M | L]) end.
self_of(_) -> self().

%% What Wanted says of the first event that it takes, and all events so far.
wait_for(T, Wanted) ->
    T ! {take, self()}, L = receive {taken, X} -> X end,
    case lists:filtermap(Wanted, L) of
        [R | _] -> {R, L};
        [] -> receive after 1 -> wait_for(T, Wanted) end
    end.

p(T) -> io:format("  ~0p~n", [T]).

%% expect:   undefined
%% expect:   undefined
%% expect:   [busy_dist_port,busy_port,{large_heap,16384},{long_schedule,1},{long_gc,1}]
%% expect:   {error,badarg}
%% expect:   {error,badarg}
%% expect:   {error,badarg}
%% expect:   {error,badarg}
%% expect:   {error,badarg}
%% expect:   {error,badarg}
%% expect:   {error,badarg}
%% expect:   {error,badarg}
%% expect:   {error,badarg}
%% expect:   [busy_dist_port,busy_port,{large_heap,16384},{long_schedule,1},{long_gc,1}]
%% expect:   true
%% expect:   undefined
%% expect:   undefined
%% expect: large_heap
%% expect:   [old_heap_block_size,heap_block_size,mbuf_size,stack_size,old_heap_size,heap_size]
%% expect:   true
%% expect: long_gc
%% expect:   [timeout,old_heap_block_size,heap_block_size,mbuf_size,stack_size,old_heap_size,heap_size]
%% expect:   true
%% expect: long_schedule
%% expect:   [timeout,in,out]
%% expect:   true
%% expect: busy_port
%% expect:   true
%% expect: gone
%% expect:   undefined
%% expect: profile
%% expect:   undefined
%% expect:   undefined
%% expect:   [exclusive,scheduler,runnable_procs,runnable_ports]
%% expect:   {error,badarg}
%% expect:   {error,badarg}
%% expect:   {error,badarg}
%% expect:   {error,badarg}
%% expect:   true
%% expect:   undefined
%% expect: runnable_procs
%% expect:   true
%% expect:   [[int,int]]
%% expect:   {erlang,apply,2}
%% expect:   trace_watch
%% expect: scheduler
%% expect:   true
