%% SPDX-License-Identifier: Apache-2.0
%% What tests/probes/cases.def counts: each function does its thing 23 times and prints the words that the case names.
-module(probe_target).
-export([spawn/0, exit_signal/0, wake/0, hibernate/0, grow/0, shrink/0, message/0, copy/0, collect/0, collect_minor/0, calls/0,
         files/0, crash/0, rest/0, drivers/0]).
-export([child/1, victim/0, sleeper/0, dozer/1, woken/2, grower/1, shrinker/1, receiver/1, copied/1, taker/1, collector/2, global/1]).

-define(N, 23).

%% Onto standard error, at once.
print(Words) ->
    erlang:display_string(lists:flatten(lists:join(" ", [to_list(W) || W <- Words])) ++ "\n"),
    halt(0).

to_list(P) when is_pid(P) -> pid_to_list(P);
to_list(I) when is_integer(I) -> integer_to_list(I).

times(0, _) -> ok;
times(N, F) -> F(N), times(N - 1, F).

wait_dead({P, R}) -> receive {'DOWN', R, process, P, _} -> ok end.

spawn() ->
    times(?N, fun(N) -> wait_dead(spawn_monitor(?MODULE, child, [N])) end),
    print([]).

child(_) -> exit(probe_reason).

born() -> times(?N, fun(N) -> wait_dead(spawn_monitor(?MODULE, child, [N])) end).

%% Ends the VM by a broken invariant.
crash() ->
    born(),
    halt(abort).

%% Is still there when somebody ends the VM.
rest() ->
    born(),
    erlang:display_string("rests\n"),
    receive never -> ok end.

exit_signal() ->
    times(?N, fun(_) ->
        {P, R} = spawn_monitor(?MODULE, victim, []),
        exit(P, probe_signal),
        wait_dead({P, R})
    end),
    print([self()]).

victim() -> receive never -> ok end.

wake() ->
    P = erlang:spawn(?MODULE, sleeper, []),
    P ! {begin_, self()},
    receive ready -> ok end,
    times(?N, fun(_) -> P ! {ping, self()}, receive pong -> ok end end),
    print([P]).

%% Scheduled once at its start, when its first message waits already, and 23 times in asleep/1.
sleeper() -> asleep(0).
asleep(N) ->
    receive
        {begin_, From} -> From ! ready;
        {ping, From} -> From ! pong
    end,
    asleep(N + 1).

hibernate() ->
    P = erlang:spawn(?MODULE, dozer, [self()]),
    times(?N - 1, fun(_) -> receive dozing -> ok end, P ! wake end),
    receive dozing -> ok end,
    print([P]).

dozer(Parent) -> doze(Parent, 1).
doze(Parent, N) -> Parent ! dozing, erlang:hibernate(?MODULE, woken, [Parent, N]).
woken(Parent, N) -> receive wake -> doze(Parent, N + 1) end.

%% One allocation that no heap of the first size holds.
grow() ->
    {P, R} = spawn_monitor(?MODULE, grower, [self()]),
    receive {size, S} -> ok end,
    wait_dead({P, R}),
    print([P, S]).

grower(Parent) ->
    T = erlang:make_tuple(50000, a),
    true = erlang:garbage_collect(),
    {total_heap_size, S} = process_info(self(), total_heap_size),
    Parent ! {size, S},
    50000 = tuple_size(T).

shrink() ->
    {P, R} = spawn_monitor(?MODULE, shrinker, [self()]),
    receive {size, S} -> ok end,
    wait_dead({P, R}),
    print([P, S]).

shrinker(Parent) ->
    50000 = tuple_size(erlang:make_tuple(50000, a)),
    true = erlang:garbage_collect(),
    true = erlang:garbage_collect(),
    {total_heap_size, S} = process_info(self(), total_heap_size),
    Parent ! {size, S}.

%% With one scheduler, all are sent before the receiver runs.
message() ->
    P = erlang:spawn(?MODULE, receiver, [self()]),
    times(?N, fun(N) -> P ! {a, b, N} end),
    receive done -> ok end,
    print([P]).

receiver(Parent) ->
    times(?N, fun(_) -> receive {a, b, _} -> ok end end),
    Parent ! done.

%% 1009 cells sent are 2018 words; the same list as a spawn's argument takes the cells of the argument list and of its closure as well.
copy() ->
    L = lists:seq(1, 1009),
    Taker = erlang:spawn(?MODULE, taker, [self()]),
    times(?N, fun(_) -> Taker ! L, receive taken -> ok end end),
    times(?N, fun(_) -> wait_dead(spawn_monitor(?MODULE, copied, [{L, a, b, c, d}])) end),
    print([]).

copied(_) -> ok.

taker(From) ->
    receive _ -> From ! taken end,
    taker(From).

collect() -> run_collector(major).
collect_minor() -> run_collector(minor).

run_collector(Type) ->
    P = spawn_opt(?MODULE, collector, [self(), Type], [{min_heap_size, 100000}]),
    receive done -> ok end,
    print([P]).

collector(Parent, Type) ->
    times(?N, fun(_) -> erlang:garbage_collect(self(), [{type, Type}]) end),
    Parent ! done,
    receive never -> ok end.

%% The VM announced its drivers when it started.
drivers() -> print([]).

calls() ->
    times(?N, fun(N) -> N = local(N) - 1 end),
    times(?N, fun(N) -> N = ?MODULE:global(N) - 1 end),
    times(?N, fun(N) -> 16 = byte_size(erlang:md5(<<N>>)) end),
    print([self()]).

local(N) -> 1 + hide(N).
hide(N) -> N.
global(N) -> N + 1.

files() ->
    erlang:dt_put_tag(<<"probe tag">>),
    times(?N, fun(_) -> {error, enoent} = prim_file:rename("/nonexistent/old", "/nonexistent/new") end),
    print([]).
