%% SPDX-License-Identifier: Apache-2.0
%% Patterns and counters that are set, taken away, paused and begun again, in generated orders, against a small model.
-module(trace_counts).
-export([main/0, counted/1]).

main() ->
    Tracer = spawn(fun ignore/0),
    erlang:trace(self(), true, [call, {tracer, Tracer}]),
    rand:seed(exsss, {1, 2, 3}),
    [runs(What, changes(What)) || What <- [function, native]],
    [io:format("~0p~n", [while_it_runs(How)]) || How <- [pause, restart]].

runs(What, All) ->
    Runs = [[lists:nth(rand:uniform(length(All)), All) || _ <- lists:seq(1, 6)] || _ <- lists:seq(1, 1009)],
    Wrong = [{Changes, Got, Want} || Changes <- Runs, {Got, Want} <- [{run(What, Changes), expected(Changes)}], Got =/= Want],
    io:format("~p: ~p runs, wrong: ~0p~n", [What, length(Runs), Wrong]).

ignore() -> receive _ -> ignore() end.
counted(X) -> X.
id(X) -> X.

%% OTP 25 counts wrong where several are set on a native.
changes(native) -> [C || {_, Flags} = C <- changes(function), Flags =:= [call_count]];
changes(function) -> [{How, Flags} || How <- [true, false, pause, restart],
    Flags <- [[call_count], [call_time], [call_count, call_time], [local], [local, call_count], [meta]]].

mfa(function) -> {?MODULE, counted, 1};
mfa(native) -> {erlang, atom_to_list, 1}.

call(function) -> counted(1), counted(2);
call(native) -> F = id(fun erlang:atom_to_list/1), [F(a) | atom_to_list(id(b))].

run(What, Changes) ->
    erlang:trace_pattern(mfa(What), false, [local, call_count, call_time, meta]),
    [begin erlang:trace_pattern(mfa(What), How, Flags), call(What), info(mfa(What)) end || {How, Flags} <- Changes].

info(MFA) ->
    [value(erlang:trace_info(MFA, Item)) || Item <- [traced, call_count, call_time, meta]].

value({call_time, Times}) when is_list(Times) -> lists:sum([N || {_, N, _, _} <- Times]);
value({meta, []}) -> false;
value({meta, P}) when is_pid(P) -> true;
value({_, Value}) -> Value.

%% ---- the clock of a call that is under way

%% A change while the function runs: its calls from before, and whether what it takes until it ends is told.
while_it_runs(How) ->
    MFA = {?MODULE, wait_for, 1},
    erlang:trace_pattern(MFA, true, [local, call_time]),
    Self = self(),
    P = spawn(fun() -> receive go -> ok end, wait_for(Self), Self ! ended, receive stop -> ok end end),
    erlang:trace(P, true, [call]),
    P ! go,
    receive {P, runs} -> ok end,
    erlang:trace_pattern(MFA, How, [local, call_time]),
    P ! go_on,
    receive ended -> ok end,
    {call_time, [{P, Calls, Seconds, Micros}]} = erlang:trace_info(MFA, call_time),
    exit(P, kill),
    erlang:trace_pattern(MFA, false, [local, call_time]),
    {How, Calls, Seconds * 1000000 + Micros >= 50000}.

wait_for(Pid) ->
    Pid ! {self(), runs},
    receive go_on -> ok end,
    spin(erlang:monotonic_time(millisecond) + 60),
    done.

spin(Until) ->
    case erlang:monotonic_time(millisecond) < Until of true -> spin(Until); false -> ok end.

%% ---- the model: [local or false, count, time, meta]; a count is false, or what it is at, whether it counts

expected(Changes) ->
    {Infos, _} = lists:mapfoldl(fun({How, Flags}, State) ->
        After = called(lists:foldl(fun(Kind, S) -> change(Kind, How, S) end, State, [K || K <- [local, meta, call_count, call_time], lists:member(K, Flags)])),
        {shown(After), After}
    end, #{local => false, meta => false, call_count => false, call_time => false}, Changes),
    Infos.

change(Kind, false, S) -> S#{Kind := false};
change(local, _, S) -> S#{local := local};
change(meta, _, S) -> S#{meta := true};
change(Kind, How, S) ->
    case S of
        #{Kind := {N, _}} when How =:= pause -> S#{Kind := {N, false}};
        #{Kind := {_, _}} -> S#{Kind := {0, true}};
        #{} when How =/= true, S =:= #{local => false, meta => false, call_count => false, call_time => false} -> S;
        #{} -> S#{Kind := {0, true}}
    end.

called(S) -> maps:map(fun(_, {N, true}) -> {N + 2, true}; (_, V) -> V end, S).

shown(#{local := L, meta := M, call_count := C, call_time := T}) -> [L, number(C), number(T), M].

number({N, _}) -> N;
number(false) -> false.

%% expect: function: 1009 runs, wrong: []
%% expect: native: 1009 runs, wrong: []
%% expect: {pause,1,true}
%% expect: {restart,0,true}
