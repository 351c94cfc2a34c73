%% SPDX-License-Identifier: Apache-2.0
%% Events of processes: messages, births, links, names, ends; who inherits flags; time slices; collections.
-module(trace_events).
-export([main/0, child/0, quiet/0]).

main() ->
    section("messages", [send, 'receive'], fun(Me) ->
        self() ! own, receive own -> ok end,
        Me ! {self(), hello}, receive {Me, Reply} -> Reply end,
        known ! by_name, receive by_name -> ok end,
        erlang:send(Me, sent), dead() ! lost,
        erlang:send_after(1, self(), late), receive late -> ok end
    end, fun(P) -> receive {P, hello} -> P ! {self(), back} end, receive sent -> ok end end),
    section("births", [procs], fun(_) ->
        process_flag(trap_exit, true),
        A = spawn(?MODULE, child, []), monitor(process, A), receive {'DOWN', _, _, A, _} -> ok end,
        B = spawn_link(?MODULE, child, []), receive {'EXIT', B, _} -> ok end,
        link(whereis(test)), unlink(whereis(test)),
        unregister(known), register(known2, self()),
        ok
    end, fun(_) -> ok end),
    section("linked by others", [procs], fun(Me) ->
        process_flag(trap_exit, true),
        Me ! ready, receive stop -> ok end
    end, fun(P) -> receive ready -> ok end,
        link(P), {links, L} = process_info(P, links), true = lists:member(self(), L), unlink(P), {links, _} = process_info(P, links),
        {Q, R} = spawn_monitor(fun() -> link(P), receive stop -> ok end end),
        wait_until(fun() -> process_info(P, links) =:= {links, [Q]} end), Q ! stop, receive {'DOWN', R, _, _, _} -> ok end,
        wait_until(fun() -> process_info(P, links) =:= {links, []} end),
        P ! stop end),
    section("children", [procs, set_on_spawn], fun(_) -> family(2) end, fun(_) -> ok end),
    section("first child", [procs, set_on_first_spawn], fun(_) -> family(2) end, fun(_) -> ok end),
    section("links", [procs, set_on_link], fun(_) ->
        process_flag(trap_exit, true),
        A = spawn_link(?MODULE, child, []), receive {'EXIT', A, _} -> ok end
    end, fun(_) -> ok end),
    slices(), flags(), born(), tracer_dies(), quiet_ones(), collections(), patterns(), times().

child() -> done.
quiet() -> receive after infinity -> ok end.

family(0) -> ok;
family(N) ->
    {P, R} = spawn_monitor(fun() -> family(N - 1) end),
    receive {'DOWN', R, _, P, _} -> ok end,
    {Q, S} = spawn_monitor(?MODULE, child, []),
    receive {'DOWN', S, _, Q, _} -> ok end.

dead() -> {P, R} = spawn_monitor(fun() -> ok end), receive {'DOWN', R, _, _, _} -> P end.
wait_until(F) -> F() orelse begin erlang:yield(), wait_until(F) end.
waiting(P) -> case process_info(P, status) of {status, waiting} -> ok; _ -> erlang:yield(), waiting(P) end.

%% Runs F in a process with flags, Other here, prints what the tracer heard.
section(Name, Flags, F, Other) ->
    io:format("~s~n", [Name]),
    Me = self(),
    catch unregister(test), register(test, Me),
    Tracer = spawn(fun() -> collect([]) end),
    {P, R} = spawn_monitor(fun() -> receive go -> ok end, F(Me), exit(done) end),
    register(known, P),
    erlang:trace(P, true, [{tracer, Tracer} | Flags]),
    P ! go,
    Other(P),
    receive {'DOWN', R, _, _, _} -> ok end,
    show(take(Tracer), [{P, tracee}, {Me, main}]).

collect(L) -> receive {take, P} -> P ! {taken, lists:reverse(L)}; M -> collect([M | L]) end.
take(T) ->
    Ref = erlang:trace_delivered(all), receive {trace_delivered, all, Ref} -> ok end,
    T ! {take, self()}, receive {taken, L} -> L end.

%% Pids by the order in which they appear.
show([], _) -> ok;
show([M | Rest], Names) -> {T, N} = name(M, Names), p(T), show(Rest, N).

name(P, N) when is_pid(P) ->
    case lists:keyfind(P, 1, N) of
        {_, A} -> {A, N};
        false -> A = {pid, length(N) - 1}, {A, N ++ [{P, A}]}
    end;
name(T, N) when is_tuple(T) -> {L, M} = name(tuple_to_list(T), N), {list_to_tuple(L), M};
name([H | T], N) -> {A, M} = name(H, N), {B, O} = name(T, M), {[A | B], O};
name(F, N) when is_function(F) -> {'fun', N};
name(R, N) when is_reference(R) -> {ref, N};
name(X, N) -> {X, N}.

%% How often a process is scheduled is nobody's business; that it goes out where it came in is.
slices() ->
    io:format("slices~n"),
    Me = self(),
    T = spawn(fun() -> collect([]) end),
    {P, R} = spawn_monitor(fun() -> receive go -> ok end, Me ! ready, quiet_until(stop) end),
    erlang:trace(P, true, [running, {tracer, T}]), P ! go,
    receive ready -> ok end, waiting(P), P ! stop, receive {'DOWN', R, _, _, _} -> ok end,
    L = [{E, M} || {trace, _, E, M} <- take(T)],
    p(alternate(in, [E || {E, _} <- L])),
    p([lists:member({E, {?MODULE, quiet_until, 1}}, L) || E <- [in, out]]).

quiet_until(M) -> receive M -> ok end.

alternate(_, []) -> true;
alternate(E, [E | L]) -> alternate(case E of in -> out; out -> in end, L);
alternate(_, _) -> false.

flags() ->
    io:format("flags~n"),
    P = spawn(?MODULE, quiet, []), T = spawn(?MODULE, quiet, []),
    [begin N = erlang:trace(P, On, Fs), p({On, Fs, N, erlang:trace_info(P, flags)}) end
     || {On, Fs} <- [{true, [call, send]}, {true, ['receive', silent, timestamp]}, {false, [send]}, {true, [all]}, {false, [all]}]],
    p(erlang:trace_info(P, tracer)),
    1 = erlang:trace(P, true, [call, {tracer, T}]),
    {tracer, T} = erlang:trace_info(P, tracer),
    p(catch_it(fun() -> erlang:trace(P, true, [call]) end)),
    p(catch_it(fun() -> erlang:trace(P, true, [nonsense]) end)),
    p(catch_it(fun() -> erlang:trace(P, 'maybe', [call]) end)),
    p(catch_it(fun() -> erlang:trace(dead(), true, [call]) end)),
    p(catch_it(fun() -> erlang:trace(foo, true, [call]) end)),
    p(catch_it(fun() -> erlang:trace(P, true, [{tracer, foo}]) end)),
    p(catch_it(fun() -> erlang:trace_info(P, nonsense) end)),
    p(catch_it(fun() -> erlang:trace_info("x", flags) end)),
    p(catch_it(fun() -> erlang:trace_delivered(foo) end)),
    p(erlang:trace_info(dead(), flags)).

born() ->
    io:format("born~n"),
    T = spawn(fun() -> collect([]) end),
    0 = erlang:trace(new, true, [procs, {tracer, T}]),
    p(erlang:trace_info(new, flags)), p(element(2, erlang:trace_info(new_processes, tracer)) =:= T),
    {P, R} = spawn_monitor(?MODULE, child, []), receive {'DOWN', R, _, _, _} -> ok end,
    0 = erlang:trace(new, false, [all]),
    p(erlang:trace_info(new, tracer)),
    show([M || M <- take(T), element(2, M) =:= P], [{P, tracee}, {self(), main}]).

tracer_dies() ->
    io:format("tracer~n"),
    P = spawn(?MODULE, quiet, []), T = spawn(?MODULE, quiet, []),
    erlang:trace(P, true, [call, {tracer, T}]),
    exit(T, kill), wait_dead(T),
    p(erlang:trace_info(P, flags)), p(erlang:trace_info(P, tracer)),
    p(erlang:trace(P, true, [send])), p(erlang:trace_info(P, flags)).

wait_dead(T) -> case is_process_alive(T) of true -> erlang:yield(), wait_dead(T); false -> ok end.

%% Nobody hears of himself; a sensitive process is not heard of.
quiet_ones() ->
    io:format("quiet~n"),
    p(erlang:trace(self(), true, [send, procs])), self() ! x, receive x -> ok end,
    erlang:trace(self(), false, [all]),
    receive {trace, _, _, _} = M -> p(M) after 0 -> p(nothing) end,
    T = spawn(fun() -> collect([]) end),
    P = spawn(fun() -> process_flag(sensitive, true), receive go -> ok end, self() ! secret, receive secret -> ok end,
                       process_flag(sensitive, false), self() ! open, receive open -> ok end, receive stop -> ok end end),
    erlang:trace(P, true, [send, {tracer, T}]), P ! go, waiting(P),
    show(take(T), [{P, tracee}]), P ! stop.

collections() ->
    io:format("collections~n"),
    T = spawn(fun() -> collect([]) end),
    {P, R} = spawn_monitor(fun() -> receive go -> ok end, erlang:garbage_collect(), erlang:garbage_collect() end),
    erlang:trace(P, true, [garbage_collection, {tracer, T}]), P ! go, receive {'DOWN', R, _, _, _} -> ok end,
    L = take(T),
    p([lists:member(E, [X || {trace, Q, X, _} <- L, Q =:= P]) || E <- [gc_major_start, gc_major_end, no_event]]),
    p(lists:usort([lists:sort([K || {K, V} <- I, is_integer(V)]) || {trace, _, _, I} <- L])).

patterns() ->
    io:format("patterns~n"),
    Me = self(),
    p(erlang:trace_pattern(send, [{[Me, '$1'], [{is_atom, '$1'}], [{message, {{here, '$1'}}}]}], [])),
    p(erlang:trace_pattern('receive', [{['$1', '$2', {a, '_'}], [], [{message, '$1'}]}], [])),
    p(element(2, erlang:trace_info('receive', match_spec))),
    section("matched", [send, 'receive'], fun(M) ->
        M ! x, M ! {y}, self() ! {a, 1}, receive {a, 1} -> ok end, self() ! b, receive b -> ok end end,
        fun(_) -> receive x -> ok end end),
    p(erlang:trace_pattern(send, false, [])), p(erlang:trace_info(send, match_spec)),
    section("off", [send, 'receive'], fun(M) -> M ! x end, fun(_) -> receive x -> ok end end),
    p(erlang:trace_pattern(send, true, [])), p(erlang:trace_pattern('receive', true, [])),
    p(erlang:trace_info(send, match_spec)),
    p(catch_it(fun() -> erlang:trace_pattern(send, true, [local]) end)),
    p(catch_it(fun() -> erlang:trace_pattern(nothing, true, []) end)).

times() ->
    io:format("times~n"),
    [begin
         T = spawn(fun() -> collect([]) end), {P, R} = spawn_monitor(fun() -> receive go -> ok end end),
         erlang:trace(P, true, [procs, F, {tracer, T}]), P ! go, receive {'DOWN', R, _, _, _} -> ok end,
         [p({F, element(1, M), shape(element(tuple_size(M), M))}) || M <- take(T)]
     end || F <- [timestamp, monotonic_timestamp, strict_monotonic_timestamp]].

shape(I) when is_integer(I) -> int;
shape(T) when is_tuple(T) -> [shape(E) || E <- tuple_to_list(T)].

catch_it(F) -> try F() catch C:R -> {C, R} end.
p(T) -> io:format("  ~0p~n", [T]).

%% expect: messages
%% expect:   {trace,tracee,'receive',go}
%% expect:   {trace,tracee,send,own,tracee}
%% expect:   {trace,tracee,'receive',own}
%% expect:   {trace,tracee,send,{tracee,hello},main}
%% expect:   {trace,tracee,'receive',{main,back}}
%% expect:   {trace,tracee,send,by_name,known}
%% expect:   {trace,tracee,'receive',by_name}
%% expect:   {trace,tracee,send,sent,main}
%% expect:   {trace,tracee,'receive',{'DOWN',ref,process,{pid,1},normal}}
%% expect:   {trace,tracee,send_to_non_existing_process,lost,{pid,1}}
%% expect:   {trace,tracee,'receive',late}
%% expect: births
%% expect:   {trace,tracee,spawn,{pid,1},{trace_events,child,[]}}
%% expect:   {trace,tracee,spawn,{pid,2},{trace_events,child,[]}}
%% expect:   {trace,tracee,link,{pid,2}}
%% expect:   {trace,tracee,getting_unlinked,{pid,2}}
%% expect:   {trace,tracee,link,main}
%% expect:   {trace,tracee,unlink,main}
%% expect:   {trace,tracee,unregister,known}
%% expect:   {trace,tracee,register,known2}
%% expect:   {trace,tracee,exit,done}
%% expect:   {trace,tracee,unregister,known2}
%% expect: linked by others
%% expect:   {trace,tracee,getting_linked,main}
%% expect:   {trace,tracee,getting_unlinked,main}
%% expect:   {trace,tracee,getting_linked,{pid,1}}
%% expect:   {trace,tracee,getting_unlinked,{pid,1}}
%% expect:   {trace,tracee,exit,done}
%% expect:   {trace,tracee,unregister,known}
%% expect: children
%% expect:   {trace,tracee,spawn,{pid,1},{erlang,apply,['fun',[]]}}
%% expect:   {trace,{pid,1},spawned,tracee,{erlang,apply,['fun',[]]}}
%% expect:   {trace,{pid,1},spawn,{pid,2},{erlang,apply,['fun',[]]}}
%% expect:   {trace,{pid,2},spawned,{pid,1},{erlang,apply,['fun',[]]}}
%% expect:   {trace,{pid,2},exit,normal}
%% expect:   {trace,{pid,1},spawn,{pid,3},{trace_events,child,[]}}
%% expect:   {trace,{pid,3},spawned,{pid,1},{trace_events,child,[]}}
%% expect:   {trace,{pid,3},exit,normal}
%% expect:   {trace,{pid,1},exit,normal}
%% expect:   {trace,tracee,spawn,{pid,4},{trace_events,child,[]}}
%% expect:   {trace,{pid,4},spawned,tracee,{trace_events,child,[]}}
%% expect:   {trace,{pid,4},exit,normal}
%% expect:   {trace,tracee,exit,done}
%% expect:   {trace,tracee,unregister,known}
%% expect: first child
%% expect:   {trace,tracee,spawn,{pid,1},{erlang,apply,['fun',[]]}}
%% expect:   {trace,{pid,1},spawned,tracee,{erlang,apply,['fun',[]]}}
%% expect:   {trace,{pid,1},spawn,{pid,2},{erlang,apply,['fun',[]]}}
%% expect:   {trace,{pid,1},spawn,{pid,3},{trace_events,child,[]}}
%% expect:   {trace,{pid,1},exit,normal}
%% expect:   {trace,tracee,spawn,{pid,4},{trace_events,child,[]}}
%% expect:   {trace,tracee,exit,done}
%% expect:   {trace,tracee,unregister,known}
%% expect: links
%% expect:   {trace,tracee,spawn,{pid,1},{trace_events,child,[]}}
%% expect:   {trace,tracee,link,{pid,1}}
%% expect:   {trace,{pid,1},spawned,tracee,{trace_events,child,[]}}
%% expect:   {trace,{pid,1},getting_linked,tracee}
%% expect:   {trace,{pid,1},exit,normal}
%% expect:   {trace,tracee,getting_unlinked,{pid,1}}
%% expect:   {trace,tracee,exit,done}
%% expect:   {trace,tracee,unregister,known}
%% expect: slices
%% expect:   true
%% expect:   [true,true]
%% expect: flags
%% expect:   {true,[call,send],1,{flags,[call,send]}}
%% expect:   {true,['receive',silent,timestamp],1,{flags,[silent,call,'receive',send,timestamp]}}
%% expect:   {false,[send],1,{flags,[silent,call,'receive',timestamp]}}
%% expect:   {true,[all],1,{flags,[running_procs,running_ports,ports,scheduler_id,silent,return_to,arity,garbage_collection,exiting,running,set_on_first_link,set_on_link,set_on_first_spawn,procs,call,set_on_spawn,'receive',send,monotonic_timestamp,strict_monotonic_timestamp,timestamp]}}
%% expect:   {false,[all],1,{flags,[]}}
%% expect:   {tracer,[]}
%% expect:   {error,badarg}
%% expect:   {error,badarg}
%% expect:   {error,badarg}
%% expect:   {error,badarg}
%% expect:   {error,badarg}
%% expect:   {error,badarg}
%% expect:   {error,badarg}
%% expect:   {error,badarg}
%% expect:   {error,badarg}
%% expect:   undefined
%% expect: born
%% expect:   {flags,[procs]}
%% expect:   true
%% expect:   {tracer,[]}
%% expect:   {trace,tracee,spawned,main,{trace_events,child,[]}}
%% expect:   {trace,tracee,exit,normal}
%% expect: tracer
%% expect:   {flags,[]}
%% expect:   {tracer,[]}
%% expect:   1
%% expect:   {flags,[send]}
%% expect: quiet
%% expect:   1
%% expect:   nothing
%% expect:   {trace,tracee,send,open,tracee}
%% expect: collections
%% expect:   [true,true,false]
%% expect:   [[bin_old_vheap_block_size,bin_old_vheap_size,bin_vheap_block_size,bin_vheap_size,heap_block_size,heap_size,mbuf_size,old_heap_block_size,old_heap_size,recent_size,stack_size,wordsize]]
%% expect: patterns
%% expect:   1
%% expect:   1
%% expect:   [{['$1','$2',{a,'_'}],[],[{message,'$1'}]}]
%% expect: matched
%% expect:   {trace,tracee,send,x,main,{here,x}}
%% expect:   {trace,tracee,'receive',{a,1},nonode@nohost}
%% expect:   1
%% expect:   {match_spec,false}
%% expect: off
%% expect:   1
%% expect:   1
%% expect:   {match_spec,true}
%% expect:   {error,badarg}
%% expect:   {error,badarg}
%% expect: times
%% expect:   {timestamp,trace_ts,[int,int,int]}
%% expect:   {monotonic_timestamp,trace_ts,int}
%% expect:   {strict_monotonic_timestamp,trace_ts,[int,int]}
