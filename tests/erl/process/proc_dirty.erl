%% SPDX-License-Identifier: Apache-2.0
%% What runs on dirty schedulers, by the functions that erts_debug has to test them: results, errors, going from one kind to the other; and
%% processes that are asked, suspended and killed meanwhile.
%% expect: [dirty_cpu,dirty_io,dirty_cpu,dirty_io,normal]
%% expect: [notsup,undef,badarith,noproc,system_limit,badarg,badarg]
%% expect: {erts_debug,dirty_cpu,[error,notsup]}
%% expect: [ok,ok,ok,ok,badarg,badarg,badarg,badarg,badarg]
%% expect: {1000,true}
%% expect: {sent,true}
%% expect: {[{status,running},{current_function,{erts_debug,dirty_io,2}},{links,true},{messages,[hello]}],true,true}
%% expect: {after_exit,[hello,{'EXIT',wanted}]}
%% expect: {killed,killed,[false,undefined,true,false]}
%% expect: {exits_linked,{'DOWN',gone}}
%% expect: {suspended,nothing,suspended,done}
%% expect: {collected,true}
%% expect: {grouped,true}
%% expect: {many,400}
%% expect: {more_than_there_are,40}
-module(proc_dirty).
-export([main/0]).

main() ->
    io:format("~p~n", [[erts_debug:dirty_cpu(scheduler, type), erts_debug:dirty_io(scheduler, type),
                        erts_debug:dirty(dirty_cpu, scheduler, type), erts_debug:dirty(dirty_io, scheduler, type),
                        erts_debug:dirty(normal, scheduler, type)]]),
    io:format("~p~n", [[reason(fun() -> erts_debug:dirty_cpu(error, E) end) ||
                           E <- [notsup, undef, badarith, noproc, system_limit, badarg, unknown]]]),
    try erts_debug:dirty_cpu(error, notsup) catch error:notsup:Trace -> io:format("~p~n", [erlang:delete_element(4, hd(Trace))]) end,
    io:format("~p~n", [[reason(fun() -> erts_debug:dirty_cpu(reschedule, N) end) || N <- [0, 2, 4, 1000, 1, 7, -2, a]] ++
                           [reason(fun() -> erts_debug:dirty(elsewhere, reschedule, 0) end)]]),
    Term = {a, "hello", #{<<"key">> => 1.5}, binary:copy(<<"x">>, 1000), fun() -> ok end, make_ref(), 1 bsl 100},
    Copies = erts_debug:dirty_cpu(copy, Term),
    garbage_collect(),
    io:format("~p~n", [{length(Copies), lists:usort(Copies) =:= [Term]}]),
    ok = erts_debug:dirty_io(send, self()),
    receive {Sent, From} -> io:format("~p~n", [{sent, {Sent, From} =:= {ok, self()}}]) end,
    asked(),
    killed(),
    exits_linked(),
    suspended(),
    collected(),
    grouped(),
    many(400, fun(N) -> [N, N] = lists:usort(lists:sublist(erts_debug:dirty_cpu(copy, N), 2)) ++ [N] end, many),
    many(40, fun(_) -> ok = erts_debug:dirty_io(wait, 5) end, more_than_there_are).

reason(Fun) ->
    try Fun() catch error:Reason -> Reason end.

%% A process that is on a dirty scheduler for Ms milliseconds, and then does Then.
dirty(Ms, Then) ->
    P = spawn(fun() -> ok = erts_debug:dirty_io(wait, Ms), Then() end),
    await_dirty(P).

await_dirty(P) ->
    case erts_internal:is_process_executing_dirty(P) of
        true -> P;
        false -> erlang:yield(), await_dirty(P)
    end.

asked() ->
    Self = self(),
    P = spawn(fun() ->
        process_flag(trap_exit, true),
        ok = erts_debug:dirty_io(wait, 1000),
        Self ! {after_exit, [receive hello -> hello end, receive {'EXIT', Self, Why} -> {'EXIT', Why} end]}
    end),
    await_dirty(P),
    P ! hello,
    link(P),
    [Status, Function, {links, Links}, Messages] = process_info(P, [status, current_function, links, messages]),
    io:format("~0p~n", [{[Status, Function, {links, lists:member(Self, Links)}, Messages], is_process_alive(P),
                        erts_internal:is_process_executing_dirty(P)}]),
    unlink(P),
    exit(P, wanted),
    receive {after_exit, What} -> io:format("~p~n", [{after_exit, What}]) end.

%% It is dead for everybody while its native goes on.
killed() ->
    Self = self(),
    P = spawn(fun() -> register(dirty_one, self()), erts_debug:dirty_io(alive_waitexiting, Self) end),
    Ref = monitor(process, P),
    receive {alive, P} -> ok end,
    P = whereis(dirty_one),
    exit(P, kill),
    receive {'DOWN', Ref, process, P, Why} ->
        io:format("~p~n", [{killed, Why, [is_process_alive(P), process_info(P, status), whereis(dirty_one) =:= undefined,
                                          lists:member(P, processes())]}])
    end.

exits_linked() ->
    P = dirty(500, fun() -> ok end),
    Other = spawn(fun() -> link(P), receive go -> exit(gone) end end),
    Ref = monitor(process, P),
    Other ! go,
    receive {'DOWN', Ref, process, P, Why} -> io:format("~p~n", [{exits_linked, {'DOWN', Why}}]) end.

suspended() ->
    Self = self(),
    P = dirty(200, fun() -> Self ! {done, self()} end),
    erlang:suspend_process(P, [asynchronous]), % OTP may answer a synchronous one with internal_error
    Early = receive {done, P} -> done after 400 -> nothing end,
    {status, Later} = process_info(P, status),
    erlang:resume_process(P),
    io:format("~p~n", [{suspended, Early, Later, receive {done, P} -> done end}]).

%% A collection waits until nobody reads the heap.
collected() ->
    P = dirty(200, fun() -> receive stop -> ok end end),
    Answer = garbage_collect(P),
    P ! stop,
    io:format("~p~n", [{collected, Answer}]).

grouped() ->
    Self = self(),
    P = dirty(200, fun() -> Self ! {leader, group_leader()} end),
    group_leader(Self, P),
    receive {leader, Leader} -> io:format("~p~n", [{grouped, Leader =:= Self}]) end.

many(Count, Fun, Name) ->
    Ends = [spawn_monitor(fun() -> Fun(N) end) || N <- lists:seq(1, Count)],
    io:format("~p~n", [{Name, length([ok || {P, Ref} <- Ends, receive {'DOWN', Ref, process, P, Why} -> Why =:= normal end])}]).
