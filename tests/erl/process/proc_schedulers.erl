%% SPDX-License-Identifier: Apache-2.0
%% How many schedulers run processes: schedulers_online, multi_scheduling, blockers that end, timers of schedulers that stand aside.
-module(proc_schedulers).
-export([main/0]).

main() ->
    online(),
    blocking(),
    blocker_ends(),
    one_at_a_time(),
    alone(),
    all_again(),
    everything_goes_on(),
    refusals().

state() ->
    [erlang:system_info(Item) || Item <- [multi_scheduling, multi_scheduling_blockers, normal_multi_scheduling_blockers]].

online() ->
    All = erlang:system_info(schedulers),
    Before = erlang:system_flag(schedulers_online, 1),
    true = Before >= 1 andalso Before =< All,
    {All, 1, 1} = erlang:system_info(schedulers_state),
    io:format("~p~n", [erlang:system_flag(schedulers_online, All)]),
    All = erlang:system_info(schedulers_online),
    All = erlang:system_flag(schedulers_online, Before).

%% Each block wants its own unblock; the two kinds are counted apart.
blocking() ->
    Self = self(),
    Hide = fun([State, A, B]) -> {State, A =:= [Self], B =:= [Self]} end,
    lists:foreach(fun(How) ->
        Told = erlang:system_flag(multi_scheduling, How),
        io:format("~p: ~p ~p~n", [How, Told, Hide(state())])
    end, [block, block, block_normal, unblock, unblock, unblock_normal, unblock_normal, unblock]).

blocker_ends() ->
    {Pid, Monitor} = spawn_monitor(fun() ->
        blocked = erlang:system_flag(multi_scheduling, block),
        blocked = erlang:system_flag(multi_scheduling, block),
        receive finish -> ok end
    end),
    wait_for(blocked),
    io:format("~p~n", [[Pid] =:= erlang:system_info(multi_scheduling_blockers)]),
    Pid ! finish,
    receive {'DOWN', Monitor, process, Pid, Why} -> io:format("~p~n", [Why]) end,
    wait_for(enabled),
    io:format("~p~n", [state()]).

wait_for(State) ->
    case erlang:system_info(multi_scheduling) of
        State -> ok;
        _ -> timer:sleep(1), wait_for(State)
    end.

%% While blocked, whoever runs is on the same scheduler.
one_at_a_time() ->
    blocked_normal = erlang:system_flag(multi_scheduling, block_normal),
    Self = self(),
    Pids = [spawn_link(fun() -> Self ! {self(), where(500, [])} end) || _ <- lists:seq(1, 20)],
    Seen = lists:append([receive {Pid, Where} -> Where end || Pid <- Pids]),
    enabled = erlang:system_flag(multi_scheduling, unblock_normal),
    io:format("~p~n", [length(lists:usort(Seen))]).

where(0, Seen) -> Seen;
where(N, Seen) ->
    Id = erlang:system_info(scheduler_id),
    erlang:yield(),
    where(N - 1, lists:umerge([Id], Seen)).

%% When a block has returned, nobody else runs but on the scheduler that the most urgent process keeps.
alone() ->
    Runs = counters:new(1, []),
    Busy = [spawn(fun() -> count(Runs) end) || _ <- lists:seq(1, 2 * erlang:system_info(schedulers))],
    Priority = process_flag(priority, max),
    Blocked = fun(N) ->
        {Block, Unblock} = element(N rem 2 + 1, {{block, unblock}, {block_normal, unblock_normal}}),
        erlang:system_flag(multi_scheduling, Block),
        Before = counters:get(Runs, 1),
        spin(20000),
        After = counters:get(Runs, 1),
        enabled = erlang:system_flag(multi_scheduling, Unblock),
        timer:sleep(1),
        After - Before
    end,
    io:format("~p~n", [lists:usort([Blocked(N) || N <- lists:seq(1, 200)])]),
    process_flag(priority, Priority),
    [exit(Pid, kill) || Pid <- Busy].

count(Runs) -> counters:add(Runs, 1, 1), count(Runs).

spin(0) -> ok;
spin(N) -> spin(N - 1).

%% After many changes, some of them one upon the other, all schedulers that are online run processes.
all_again() ->
    Self = self(),
    Blocked = fun() ->
        [begin erlang:system_flag(multi_scheduling, block), erlang:system_flag(multi_scheduling, unblock) end
         || _ <- lists:seq(1, 100)],
        Self ! {self(), done}
    end,
    Changers = [spawn_link(Blocked) || _ <- lists:seq(1, 4)],
    [receive {Pid, done} -> ok end || Pid <- Changers],
    Pids = [spawn_link(fun() -> report(Self) end) || _ <- lists:seq(1, 2 * erlang:system_info(schedulers_online))],
    io:format("~p~n", [await_ids(lists:seq(1, erlang:system_info(schedulers_online)))]),
    [begin unlink(Pid), exit(Pid, kill) end || Pid <- Pids].

report(To) -> To ! {at, erlang:system_info(scheduler_id)}, spin(1000), report(To).

await_ids([]) -> all;
await_ids(Ids) -> receive {at, Id} -> await_ids(lists:delete(Id, Ids)) after 10000 -> {missing, Ids} end.

%% Messages, timers and births while the number of schedulers changes all the time.
everything_goes_on() ->
    All = erlang:system_info(schedulers),
    Before = erlang:system_info(schedulers_online),
    Self = self(),
    Changer = spawn_link(fun() -> change(All, 0) end),
    Workers = [spawn_link(fun() -> Self ! {self(), work(200, I rem All + 1)} end) || I <- lists:seq(1, 50)],
    Sum = lists:sum([receive {Pid, N} -> N end || Pid <- Workers]),
    unlink(Changer),
    Changer ! {stop, self()},
    receive stopped -> ok end,
    erlang:system_flag(schedulers_online, Before),
    io:format("~p~n", [Sum]).

change(All, N) ->
    receive
        {stop, From} -> From ! stopped
    after 0 ->
        erlang:system_flag(schedulers_online, N rem All + 1),
        N rem 7 =:= 0 andalso begin
            erlang:system_flag(multi_scheduling, block),
            erlang:yield(),
            erlang:system_flag(multi_scheduling, unblock)
        end,
        change(All, N + 1)
    end.

work(0, _) -> 1;
work(N, Scheduler) ->
    N rem 50 =:= 0 andalso process_flag(scheduler, Scheduler * (N rem 100 div 50)),
    erlang:send_after(1, self(), tick),
    Self = self(),
    Child = spawn(fun() -> Self ! {self(), N} end),
    receive {Child, N} -> ok end,
    receive tick -> ok end,
    work(N - 1, Scheduler).

refusals() ->
    All = erlang:system_info(schedulers),
    lists:foreach(fun({Flag, Value}) ->
        io:format("~p~n", [catch_reason(Flag, Value)])
    end, [{schedulers_online, 0}, {schedulers_online, All + 1}, {schedulers_online, -1}, {schedulers_online, one},
          {schedulers_online, 1 bsl 70}, {multi_scheduling, maybe_block}, {multi_scheduling, 1}]).

catch_reason(Flag, Value) ->
    try erlang:system_flag(Flag, Value) catch error:Reason -> Reason end.

%% expect: 1
%% expect: block: blocked {blocked,true,false}
%% expect: block: blocked {blocked,true,false}
%% expect: block_normal: blocked {blocked,true,true}
%% expect: unblock: blocked {blocked,true,true}
%% expect: unblock: blocked_normal {blocked_normal,false,true}
%% expect: unblock_normal: enabled {enabled,false,false}
%% expect: unblock_normal: enabled {enabled,false,false}
%% expect: unblock: enabled {enabled,false,false}
%% expect: true
%% expect: normal
%% expect: [enabled,[],[]]
%% expect: 1
%% expect: [0]
%% expect: all
%% expect: 50
%% expect: badarg
%% expect: badarg
%% expect: badarg
%% expect: badarg
%% expect: badarg
%% expect: badarg
%% expect: badarg
