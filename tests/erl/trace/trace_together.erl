%% SPDX-License-Identifier: Apache-2.0
%% Several at once say what is traced of code and processes to come, and ask for it.
%% expect: [true,true,true,true]
%% expect: {all,false}
%% expect: {flags,[]}
-module(trace_together).
-export([main/0]).

main() ->
    Ends = [spawn_monitor(fun() -> exit(Do(100)) end) || Do <- [fun change/1, fun change/1, fun look/1, fun look/1]],
    io:format("~p~n", [[receive {'DOWN', Ref, process, Pid, Why} -> Why end || {Pid, Ref} <- Ends]]),
    erlang:trace_pattern(on_load, false, [local, meta, call_count]),
    erlang:trace_pattern(on_load, false, []),
    erlang:trace(new, false, [all]),
    io:format("~p~n~p~n", [erlang:trace_info(on_load, all), erlang:trace_info(new, flags)]).

change(0) ->
    true;
change(N) ->
    Tracer = spawn(fun() -> receive stop -> ok end end),
    erlang:trace_pattern(on_load, [{['$1'], [{'=:=', '$1', I}], [{return_trace}]} || I <- lists:seq(1, 50)], [local]),
    erlang:trace(new, true, [procs, {tracer, Tracer}]),
    Tracer ! stop,
    change(N - 1).

look(0) ->
    true;
look(N) ->
    Specs = [Spec || _ <- lists:seq(1, 20), {match_spec, Spec} <- [erlang:trace_info(on_load, match_spec)]],
    true = lists:all(fun(Spec) -> Spec =:= false orelse length(Spec) =:= 50 end, Specs),
    {flags, Flags} = erlang:trace_info(new, flags),
    true = Flags =:= [] orelse Flags =:= [procs],
    look(N - 1).
