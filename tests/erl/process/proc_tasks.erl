%% SPDX-License-Identifier: Apache-2.0
%% What a process does on itself because another asks: by priority, in spite of its own, where it waits, after the signals before it.
-module(proc_tasks).
-export([main/0, sleep/0]).

main() ->
    order(),
    no_inversion(),
    collected_asleep(),
    after_signals(),
    suspended(),
    others_flags(),
    binary_heaps().

%% One low task after eight normal ones; the urgent ones first.
order() ->
    process_flag(priority, high),
    process_flag(scheduler, 1),
    Pid = spawn_opt(fun sleep/0, [link, {scheduler, 1}]),
    asleep(Pid),
    Ask = fun(Priority, N) -> erts_internal:request_system_task(Pid, Priority, {system_task_test, {Priority, N}}) end,
    [Ask(Priority, N) || {Priority, Count} <- [{low, 3}, {normal, 18}], N <- lists:seq(1, Count)],
    io:format("~w~n", [[receive {system_task_test, {Priority, N}, true} -> {Priority, N} end || _ <- lists:seq(1, 21)]]),
    process_flag(scheduler, 0),
    process_flag(priority, normal),
    stop(Pid).

sleep() -> receive after infinity -> ok end.

asleep(Pid) ->
    case process_info(Pid, status) of
        {status, waiting} -> ok;
        _ -> receive after 1 -> asleep(Pid) end
    end.

stop(Pid) ->
    unlink(Pid),
    Monitor = monitor(process, Pid),
    exit(Pid, kill),
    receive {'DOWN', Monitor, process, Pid, Why} -> Why end.

%% Urgent processes take all schedulers; a low one is asked, and answers.
no_inversion() ->
    process_flag(priority, max),
    Self = self(),
    Busy = [spawn_opt(fun() -> Self ! {busy, self()}, spin() end, [{priority, high}, {scheduler, Id}, link])
            || Id <- lists:seq(1, erlang:system_info(schedulers_online))],
    [receive {busy, Pid} -> ok end || Pid <- Busy],
    Low = spawn_opt(fun spin/0, [{priority, low}, link]),
    Told = [erlang:garbage_collect(Low), erlang:check_process_code(Low, no_such_module), process_info(Low, priority),
            erlang:is_process_alive(Low), group_leader(Low, Low), process_info(Low, group_leader) =:= {group_leader, Low}],
    [stop(Pid) || Pid <- Busy ++ [Low]],
    process_flag(priority, normal),
    io:format("~p~n", [Told]).

spin() -> spin().

%% It comes over its limit by the messages that it has not taken.
collected_asleep() ->
    {Pid, Monitor} = spawn_opt(fun sleep/0, [monitor, {max_heap_size, #{size => 1024, error_logger => false}}, {message_queue_data, on_heap}]),
    [Pid ! lists:seq(1, 100) || _ <- lists:seq(1, 20)],
    process_info(Pid, messages),
    erlang:garbage_collect(Pid),
    io:format("~p~n", [receive {'DOWN', Monitor, process, Pid, Why} -> Why end]),
    Apart = spawn_opt(fun sleep/0, [link, {max_heap_size, 1024}, {message_queue_data, off_heap}]),
    [Apart ! lists:seq(1, 100) || _ <- lists:seq(1, 20)],
    io:format("~p~n", [erlang:garbage_collect(Apart)]),
    {message_queue_len, 20} = process_info(Apart, message_queue_len),
    stop(Apart).

after_signals() ->
    Pid = spawn(fun sleep/0),
    exit(Pid, kill),
    async = erlang:garbage_collect(Pid, [{async, gone}]),
    io:format("~p~n", [receive {garbage_collect, gone, Result} -> Result end]).

suspended() ->
    Pid = spawn_link(fun spin/0),
    true = erlang:suspend_process(Pid),
    io:format("~p ~p~n", [erlang:garbage_collect(Pid), process_info(Pid, status)]),
    true = erlang:resume_process(Pid),
    stop(Pid).

others_flags() ->
    Pid = spawn_link(fun sleep/0),
    io:format("~p ~p ~p~n", [erlang:process_flag(Pid, save_calls, 7), erlang:process_flag(Pid, save_calls, 0), process_info(Pid, last_calls)]),
    stop(Pid),
    [io:format("~p~n", [reason(M, F, Args)]) || {M, F, Args} <- [
        {erlang, process_flag, [Pid, save_calls, 0]}, {erlang, process_flag, [self(), trap_exit, true]},
        {erlang, process_flag, [self(), save_calls, -1]}, {erlang, process_flag, [self(), save_calls, 10001]},
        {erlang, process_flag, [none, save_calls, 0]}, {erlang, group_leader, [self(), Pid]}, {erlang, group_leader, [self(), none]},
        {erts_internal, request_system_task, [self(), urgent, {system_task_test, 1}]},
        {erts_internal, request_system_task, [self(), low, {no_such_task, 1}]}]].

reason(M, F, Args) ->
    try apply(M, F, Args) catch error:Reason -> Reason end.

binary_heaps() ->
    Before = process_flag(min_bin_vheap_size, 318187),
    io:format("~p ~p~n", [Before, process_info(self(), min_bin_vheap_size)]),
    318187 = process_flag(min_bin_vheap_size, Before),
    {_, Default} = erlang:system_info(min_bin_vheap_size),
    Default = erlang:system_flag(min_bin_vheap_size, 75113),
    io:format("~p ~p~n", [erlang:system_info(min_bin_vheap_size), lists:keyfind(min_bin_vheap_size, 1, erlang:system_info(garbage_collection))]),
    75113 = erlang:system_flag(min_bin_vheap_size, Default).

%% expect: [{normal,1},{normal,2},{normal,3},{normal,4},{normal,5},{normal,6},{normal,7},{normal,8},{low,1},{normal,9},{normal,10},{normal,11},{normal,12},{normal,13},{normal,14},{normal,15},{normal,16},{low,2},{normal,17},{normal,18},{low,3}]
%% expect: [true,false,{priority,low},true,true,true]
%% expect: killed
%% expect: true
%% expect: false
%% expect: true {status,suspended}
%% expect: 0 7 {last_calls,false}
%% expect: badarg
%% expect: badarg
%% expect: badarg
%% expect: badarg
%% expect: badarg
%% expect: badarg
%% expect: badarg
%% expect: badarg
%% expect: badarg
%% expect: 46422 {min_bin_vheap_size,318187}
%% expect: {min_bin_vheap_size,75113} {min_bin_vheap_size,75113}
