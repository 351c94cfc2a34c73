%% SPDX-License-Identifier: Apache-2.0
%% What concerns all processes at once, with 100,000 of them waiting: lines `NAME MS_AN_OPERATION MS_OF_THE_WORST_GAP`,
%% the gap being the longest time in which a process that wants to run every millisecond, on the other of two
%% schedulers, did not.
-module(stops).
-export([main/0]).

-define(PROCESSES, 100000).
-define(US_OF_ONE, 500000).
-define(TERMS, 5000).

main() ->
    [spawn(fun() -> receive never -> ok end end) || _ <- lists:seq(1, ?PROCESSES)],
    [tell(Name, Do) || {Name, Do} <- rows()],
    halt(0).

rows() ->
    {Module, Code, File} = code:get_object_code(orddict),
    code:unstick_mod(Module),
    [{nothing, fun() -> ok end},
     {memory, fun() -> erlang:memory() end},
     {statistics_microstate_accounting, fun() -> erlang:statistics(microstate_accounting) end},
     {system_flag_microstate_accounting, fun() -> both(fun(B) -> erlang:system_flag(microstate_accounting, B) end) end},
     {system_flag_microstate_accounting_reset, fun() -> erlang:system_flag(microstate_accounting, reset) end},
     {load_and_purge, fun() -> code:purge(Module), {module, _} = code:load_binary(Module, File, Code) end},
     {persistent_term_put_and_erase, fun() -> persistent_term:put(k, {make_ref()}), persistent_term:erase(k) end},
     {persistent_terms_leave, fun many_leave/0},
     {trace_pattern_on_and_off, fun() -> both(fun(B) -> erlang:trace_pattern({lists, '_', '_'}, B, []) end) end},
     {trace_one_on_and_off, fun() -> both(fun(B) -> erlang:trace(self(), B, [procs]) end) end},
     {trace_all_on_and_off, fun() -> both(fun(B) -> erlang:trace(all, B, [procs]) end) end},
     {trace_pattern_receive_on_and_off, fun() -> both(fun(B) -> erlang:trace_pattern('receive', B, []) end) end},
     {trace_info_of_one, fun() -> erlang:trace_info(whereis(init), flags) end},
     {trace_info, fun() -> erlang:trace_info({lists, map, 2}, all) end},
     {system_monitor_on_and_off,
      fun() -> erlang:system_monitor(self(), [busy_port]), erlang:system_monitor(undefined) end},
     {system_profile_on_and_off,
      fun() -> erlang:system_profile(self(), [runnable_procs]), erlang:system_profile(undefined, []) end},
     {reset_trace, fun() -> seq_trace:reset_trace() end},
     {schedulers_online_1_and_2, fun() -> [erlang:system_flag(schedulers_online, N) || N <- [1, 2]] end},
     {dirty_cpu_schedulers_online_1_and_2,
      fun() -> [erlang:system_flag(dirty_cpu_schedulers_online, N) || N <- [1, 2]] end},
     {block_and_unblock, fun() -> [erlang:system_flag(multi_scheduling, W) || W <- [block_normal, unblock_normal]] end},
     {system_info_info, fun() -> erlang:system_info(info) end},
     {system_info_loaded, fun() -> erlang:system_info(loaded) end},
     {system_info_dist, fun() -> erlang:system_info(dist) end},
     {system_info_procs, fun() -> erlang:system_info(procs) end},
     {processes, fun() -> processes() end}].

many_leave() ->
    Keys = [{k, I} || I <- lists:seq(1, ?TERMS)],
    [persistent_term:put(Key, {make_ref()}) || Key <- Keys],
    [persistent_term:erase(Key) || Key <- Keys].

both(Do) -> Do(true), Do(false).

tell(Name, Do) ->
    Self = self(),
    Ticker = spawn_opt(fun() -> tick(Self, now_us(), 0) end, [{priority, high}]),
    Begin = now_us(),
    N = repeat(Do, Begin + ?US_OF_ONE, 0),
    Us = (now_us() - Begin) / N,
    Ticker ! {stop, Self},
    receive {worst, Worst} -> io:format("~s ~.4f ~.1f~n", [Name, Us / 1000, Worst / 1000]) end.

repeat(Do, End, N) ->
    Do(),
    case now_us() of
        Now when Now >= End -> N + 1;
        _ -> repeat(Do, End, N + 1)
    end.

tick(Parent, Last, Worst) ->
    Stop = receive {stop, Parent} -> true after 1 -> false end,
    Now = now_us(),
    case max(Worst, Now - Last) of
        Longest when Stop -> Parent ! {worst, Longest};
        Longest -> tick(Parent, Now, Longest)
    end.

now_us() -> erlang:monotonic_time(microsecond).
