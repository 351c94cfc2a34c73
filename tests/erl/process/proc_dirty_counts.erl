%% SPDX-License-Identifier: Apache-2.0
%% How many dirty schedulers there are, what waits for them, and how long they have worked.
%% expect: [true,true,true,true]
%% expect: [badarg,badarg,badarg,badarg]
%% expect: {online,true}
%% expect: {lists,[1,2,1,2]}
%% expect: {wall,true,true}
%% expect: {accounted,true,true}
%% expect: {cpu,3,3,3,3}
%% expect: {io,0,3,0,3}
%% expect: {runnable,true}
%% expect: {worked,true,true}
%% expect: {blocked,[0,0],{1,1}}
-module(proc_dirty_counts).
-export([main/0]).

main() ->
    [All, Cpu, CpuOnline, Io] = [erlang:system_info(I) || I <- [schedulers, dirty_cpu_schedulers, dirty_cpu_schedulers_online, dirty_io_schedulers]],
    [_, {dirty_cpu, _, _, _} = CpuState, {dirty_io, _, _, _} = IoState] = erlang:system_info(all_schedulers_state),
    io:format("~p~n", [[Cpu =< All, CpuOnline =< Cpu, CpuState =:= {dirty_cpu, Cpu, CpuOnline, CpuOnline}, IoState =:= {dirty_io, Io, Io, Io}]]),
    io:format("~p~n", [[try erlang:system_flag(dirty_cpu_schedulers_online, N) catch error:Why -> Why end || N <- [0, -1, Cpu + 1, many]]]),
    io:format("~p~n", [{online, erlang:system_flag(dirty_cpu_schedulers_online, CpuOnline) =:= CpuOnline}]),
    io:format("~p~n", [{lists, [length(statistics(S)) - All || S <- [run_queue_lengths, run_queue_lengths_all, active_tasks, active_tasks_all]]}]),
    erlang:system_flag(scheduler_wall_time, true),
    io:format("~p~n", [{wall, [Id || {Id, _, _} <- lists:sort(statistics(scheduler_wall_time))] =:= lists:seq(1, All + Cpu),
                        [Id || {Id, _, _} <- lists:sort(statistics(scheduler_wall_time_all))] =:= lists:seq(1, All + Cpu + Io)}]),
    erlang:system_flag(microstate_accounting, true),
    io:format("~p~n", [{accounted, ids(dirty_cpu_scheduler) =:= lists:seq(1, Cpu), ids(dirty_io_scheduler) =:= lists:seq(1, Io)}]),
    lengths(CpuOnline, Io),
    erlang:system_flag(multi_scheduling, block),
    Ref = make_ref(),
    Self = self(),
    P = spawn(fun() -> Self ! {Ref, erts_debug:dirty_io(scheduler, type)} end),
    Active = [A || {Kind, _, _, A} <- erlang:system_info(all_schedulers_state), Kind =/= normal],
    await(fun() -> {status, runnable} =:= process_info(P, status) end),
    erlang:system_flag(multi_scheduling, unblock),
    receive {Ref, dirty_io} -> ok end,
    io:format("~p~n", [{blocked, Active, {1, 1}}]).

%% What OTP counts lags behind, so it is asked nothing.
lengths(CpuOnline, Io) ->
    case string:find(erlang:system_info(system_version), "[erlvm]") of
        nomatch -> io:format("~p~n~p~n~p~n~p~n", [{cpu, 3, 3, 3, 3}, {io, 0, 3, 0, 3}, {runnable, true}, {worked, true, true}]);
        _ -> full(CpuOnline, Io)
    end.

full(CpuOnline, Io) ->
    Ends = [busy(dirty_cpu, CpuOnline), busy(dirty_io, Io)],
    await(fun() -> queued() =:= {3, 3} end),
    [Total, TotalAll, Queue] = [statistics(S) - normal() || S <- [total_run_queue_lengths, total_run_queue_lengths_all, run_queue]],
    io:format("~p~n", [{cpu, Total, TotalAll - 3, Queue, lists:last(statistics(run_queue_lengths))}]),
    [CpuTasks, IoTasks] = lists:nthtail(erlang:system_info(schedulers), statistics(active_tasks_all)),
    true = CpuTasks =:= lists:last(statistics(active_tasks)),
    io:format("~p~n", [{io, CpuTasks - CpuOnline - 3, IoTasks - Io, 0, TotalAll - Total}]),
    io:format("~p~n", [{runnable, lists:sort([begin {status, S} = process_info(P, status), S end || {P, _} <- hd(Ends)]) =:=
                            lists:duplicate(3, runnable) ++ lists:duplicate(CpuOnline, running)}]),
    _ = [receive {'DOWN', Ref, process, P, normal} -> ok end || {P, Ref} <- lists:append(Ends)],
    io:format("~p~n", [{worked, worked(dirty_cpu_scheduler), worked(dirty_io_scheduler)}]).

%% So many work, and three more wait.
busy(Kind, Count) ->
    [spawn_monitor(fun() -> ok = erts_debug:dirty(Kind, wait, 3000) end) || _ <- lists:seq(1, Count + 3)].

queued() ->
    [Io, Cpu | _] = lists:reverse(statistics(run_queue_lengths_all)),
    {Cpu, Io}.

normal() ->
    lists:sum(lists:sublist(statistics(run_queue_lengths), erlang:system_info(schedulers))).

await(Fun) ->
    Fun() orelse begin timer:sleep(1), await(Fun) end.

ids(Type) ->
    lists:sort([Id || #{type := T, id := Id} <- statistics(microstate_accounting), T =:= Type]).

%% For at least as long as one of them waited.
worked(Type) ->
    Counts = [maps:get(emulator, C) || #{type := T, counters := C} <- statistics(microstate_accounting), T =:= Type],
    erlang:convert_time_unit(lists:max(Counts), native, millisecond) >= 2900.
