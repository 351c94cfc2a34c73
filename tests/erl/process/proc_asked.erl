%% SPDX-License-Identifier: Apache-2.0
%% The reductions of a process that waits: what others ask it, and what they send it, is its work.
-module(proc_asked).
-export([main/0]).

main() ->
    [io:format("~w ~w~n", [Item, of_asking(Item)]) || Item <- items()],
    io:format("several ~w ~w~n", [of_asking([status, links, priority]), of_asking([status, priority])]),
    io:format("all ~w~n", [spent(fun(P) -> [process_info(P) || _ <- lists:seq(1, 11)] end)]),
    io:format("collections ~w~n", [spent(fun(P) -> [erlang:garbage_collect(P) || _ <- lists:seq(1, 11)] end) >= 11]).

wait() -> receive stop -> ok end.

items() -> [registered_name, current_function, initial_call, status, messages, message_queue_len, links, monitors, monitored_by, dictionary, trap_exit,
            error_handler, heap_size, stack_size, memory, garbage_collection, group_leader, reductions, priority, trace, binary, catchlevel,
            backtrace, last_calls, total_heap_size, suspending, min_heap_size, min_bin_vheap_size, max_heap_size, current_location,
            current_stacktrace, message_queue_data, garbage_collection_info, fullsweep_after, sequential_trace_token].

of_asking(Item) -> spent(fun(P) -> [process_info(P, Item) || _ <- lists:seq(1, 11)] end).

%% On a busy machine OTP runs a process once more than there is to do now and then, and for good answers by signals what
%% else is only read: the least of several, each asked for the first time.
spent(F) -> lists:min([spent_once(spawn(fun wait/0), F) || _ <- lists:seq(1, 9)]).

spent_once(P, F) ->
    asleep(P),
    {reductions, Before} = process_info(P, reductions),
    F(P),
    asleep(P),
    {reductions, After} = process_info(P, reductions),
    P ! stop,
    After - Before.

asleep(P) ->
    case process_info(P, status) of
        {status, waiting} -> ok;
        _ -> erlang:yield(), asleep(P)
    end.

%% expect: registered_name 0
%% expect: current_function 11
%% expect: initial_call 0
%% expect: status 0
%% expect: messages 11
%% expect: message_queue_len 0
%% expect: links 11
%% expect: monitors 11
%% expect: monitored_by 11
%% expect: dictionary 11
%% expect: trap_exit 0
%% expect: error_handler 0
%% expect: heap_size 0
%% expect: stack_size 0
%% expect: memory 11
%% expect: garbage_collection 0
%% expect: group_leader 0
%% expect: reductions 0
%% expect: priority 0
%% expect: trace 0
%% expect: binary 11
%% expect: catchlevel 0
%% expect: backtrace 11
%% expect: last_calls 0
%% expect: total_heap_size 11
%% expect: suspending 11
%% expect: min_heap_size 0
%% expect: min_bin_vheap_size 0
%% expect: max_heap_size 0
%% expect: current_location 11
%% expect: current_stacktrace 11
%% expect: message_queue_data 0
%% expect: garbage_collection_info 0
%% expect: fullsweep_after 0
%% expect: sequential_trace_token 0
%% expect: several 11 0
%% expect: all 11
%% expect: collections true
