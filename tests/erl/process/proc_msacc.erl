%% SPDX-License-Identifier: Apache-2.0
%% Microstate accounting: what schedulers spend their time on adds up, and stands still when nobody counts.
-module(proc_msacc).
-export([main/0]).

main() ->
    Start = os:perf_counter(),
    io:format("~p~n", [[erlang:system_flag(microstate_accounting, How) || How <- [false, true, true, reset]]]),
    work(20),
    timer:sleep(50),
    io:format("~p~n", [erlang:system_flag(microstate_accounting, false)]),
    Elapsed = os:perf_counter() - Start,
    Rows = schedulers(),
    io:format("~p~n", [[Id || #{id := Id} <- Rows] =:= lists:seq(1, erlang:system_info(schedulers))]),
    io:format("~p~n", [[{State, total(State, Rows) > 0} || State <- [emulator, gc, other, sleep]]]),
    Sums = [lists:sum(maps:values(Counters)) || #{counters := Counters} <- Rows],
    io:format("~p~n", [[Sum || Sum <- Sums, Sum =< 0 orelse Sum > Elapsed]]),
    work(5),
    io:format("~p~n", [Rows =:= schedulers()]),
    io:format("~p~n", [erlang:system_flag(microstate_accounting, reset)]),
    io:format("~p~n", [lists:usort([N || #{counters := Counters} <- schedulers(), N <- maps:values(Counters)])]),
    pollers(),
    beside(),
    storm(),
    io:format("~p~n", [[try erlang:system_flag(microstate_accounting, How) catch error:Reason -> Reason end || How <- [on, 1]]]).

%% Threads that poll: as many as there are for the sets, and all of their time is sleep or polling.
pollers() ->
    Threads = lists:sum([N || Set <- erlang:system_info(check_io), {poll_threads, N} <- Set]),
    erlang:system_flag(microstate_accounting, true),
    timer:sleep(30),
    erlang:system_flag(microstate_accounting, false),
    Rows = [Row || #{type := poll} = Row <- statistics(microstate_accounting)],
    io:format("~p~n", [lists:sort([Id || #{id := Id} <- Rows]) =:= lists:seq(0, Threads - 1)]),
    Others = [Counters || #{counters := #{sleep := Sleep} = Counters} <- Rows,
                          Sleep =< 0 orelse lists:sum(maps:values(maps:without([sleep, check_io, other], Counters))) > 0],
    io:format("~p~n", [Others]).

%% Switched on and off while all schedulers work: each has counted all the time between, once (less in OTP).
beside() ->
    IsStock = string:find(erlang:system_info(system_version), "[erlvm]") =:= nomatch,
    Busy = [spawn(fun() -> busy(0) end) || _ <- lists:seq(1, 2 * erlang:system_info(schedulers))],
    Counted = fun(_) ->
        false = erlang:system_flag(microstate_accounting, reset),
        Before = os:perf_counter(),
        false = erlang:system_flag(microstate_accounting, true),
        Begin = os:perf_counter(),
        timer:sleep(1),
        End = os:perf_counter(),
        true = erlang:system_flag(microstate_accounting, false),
        After = os:perf_counter(),
        Sums = [lists:sum(maps:values(Counters)) || #{counters := Counters} <- schedulers()],
        [Sum || Sum <- Sums, not IsStock, Sum < End - Begin orelse Sum > After - Before]
    end,
    io:format("~p~n", [lists:flatmap(Counted, lists:seq(1, 30))]),
    [exit(Pid, kill) || Pid <- Busy].

busy(N) when N rem 1000 =:= 0 -> receive after 1 -> busy(N + 1) end;
busy(N) -> busy(N + 1).

%% Many ask, reset and switch while others work: no counter is ever below zero.
storm() ->
    Ask = fun(I) ->
        case I rem 8 of
            0 -> erlang:system_flag(microstate_accounting, I rem 16 =:= 0);
            4 -> erlang:system_flag(microstate_accounting, reset);
            _ -> ok
        end,
        [] = [N || #{counters := Counters} <- statistics(microstate_accounting), N <- maps:values(Counters), N < 0]
    end,
    Pids = [spawn_monitor(fun() -> lists:foreach(Ask, lists:seq(1, 100)) end) || _ <- lists:seq(1, 4)],
    work(10),
    io:format("~p~n", [[receive {'DOWN', Monitor, process, Pid, Reason} -> Reason end || {Pid, Monitor} <- Pids]]),
    erlang:system_flag(microstate_accounting, false).

%% Processes that collect.
work(N) ->
    Pids = [spawn_monitor(fun() -> lists:foldl(fun(I, L) -> [{I, lists:seq(1, 50)} | lists:sublist(L, 20)] end, [], lists:seq(1, 500)),
                                   erlang:garbage_collect() end) || _ <- lists:seq(1, N)],
    [receive {'DOWN', Monitor, process, Pid, normal} -> ok end || {Pid, Monitor} <- Pids].

schedulers() ->
    lists:sort(fun(#{id := A}, #{id := B}) -> A =< B end, [Row || #{type := scheduler} = Row <- statistics(microstate_accounting)]).

total(State, Rows) ->
    lists:sum([maps:get(State, Counters) || #{counters := Counters} <- Rows]).

%% expect: [false,false,true,true]
%% expect: true
%% expect: true
%% expect: [{emulator,true},{gc,true},{other,true},{sleep,true}]
%% expect: []
%% expect: true
%% expect: false
%% expect: [0]
%% expect: true
%% expect: []
%% expect: []
%% expect: [normal,normal,normal,normal]
%% expect: [badarg,badarg]
