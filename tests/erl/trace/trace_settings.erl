%% SPDX-License-Identifier: Apache-2.0
%% What concerns all processes changes while all run: patterns of sends, limits, profiles. From the moment when a change
%% has returned everybody goes by it, and what was set before is there until the last has.
-module(trace_settings).
-export([main/0]).
-define(TIMES, 30).

main() ->
    Beside = [spawn_monitor(fun() -> Do(0) end) || Do <- [fun busy/1, fun births/1, fun looks/1]],
    p({sends, sends(?TIMES)}),
    Profiler = spawn_monitor(fun() -> profiles(0) end),
    p({limits, limits(?TIMES)}),
    p({together, together()}),
    p({loads, loads(?TIMES)}),
    [begin exit(P, kill), receive {'DOWN', R, _, P, E} -> killed = E end end || {P, R} <- [Profiler | Beside]],
    erlang:system_profile(undefined, []),
    p({left, erlang:system_monitor(), erlang:system_profile(), erlang:trace_info(send, match_spec)}).

%% {how often sends were told without a pattern, with one that adds something, with none}
sends(Times) ->
    T = spawn(fun() -> answers(0) end),
    1 = erlang:trace(T, true, [send]),
    Seen = [begin
        1 = erlang:trace_pattern(send, Pattern, []),
        T ! {go, N, self()},
        receive {gone, N} -> ok end,
        Ref = erlang:trace_delivered(T),
        receive {trace_delivered, T, Ref} -> ok end,
        receive
            {trace, T, send, {gone, N}, _} -> plain;
            {trace, T, send, {gone, N}, _, Extra} -> Extra
        after 0 -> none
        end
    end || N <- lists:seq(1, Times), Pattern <- [true, [{'_', [], [{message, {{added, N}}}]}], false]],
    exit(T, kill),
    1 = erlang:trace_pattern(send, true, []),
    Seen =:= lists:append([[plain, {added, N}, none] || N <- lists:seq(1, Times)]).

answers(N) ->
    receive {go, M, From} -> From ! {gone, M}, answers(0)
    after 0 -> busy_for(N), answers((N + 1) rem 500)
    end.

%% One grows while somebody wants to hear of it, another while nobody does.
limits(Times) ->
    lists:usort([begin
        undefined = erlang:system_monitor(self(), [{large_heap, 20000}, busy_port]),
        {_, [_, _]} = erlang:system_monitor(),
        A = grown(),
        Told = receive {monitor, A, large_heap, _} -> told after 5000 -> lost end,
        {_, [_, _]} = erlang:system_monitor(undefined),
        B = grown(),
        swallow(),
        {Told, receive {monitor, B, _, _} -> told after 0 -> none end}
    end || _ <- lists:seq(1, Times)]).

grown() ->
    {P, R} = spawn_monitor(fun() -> L = lists:seq(1, 20000), erlang:garbage_collect(), exit(length(L)) end),
    receive {'DOWN', R, process, P, 20000} -> P end.

swallow() -> receive {monitor, _, large_heap, _} -> swallow() after 0 -> ok end.

%% The pattern for code to come is replaced while others look at it: what is loaded next has it.
loads(Times) ->
    F = {function, 1, go, 1, [{clause, 1, [{var, 1, 'X'}], [], [{var, 1, 'X'}]}]},
    {ok, M, B} = compile:forms([{attribute, 1, module, trace_settings_other}, {attribute, 1, export, [{go, 1}]}, F]),
    Load = fun(Pattern) ->
        erlang:trace_pattern(on_load, Pattern, [local]),
        {module, M} = code:load_binary(M, "none", B),
        {match_spec, Spec} = erlang:trace_info({M, go, 1}, match_spec),
        code:delete(M),
        code:purge(M),
        Spec
    end,
    Patterns = [Pattern || N <- lists:seq(1, Times), Pattern <- [[{'_', [], [{message, N}]}], false]],
    [Load(Pattern) || Pattern <- Patterns] =:= Patterns.

%% Many at once: each change comes back.
together() ->
    register(trace_settings, spawn(fun hear/0)),
    Changers = [spawn_monitor(fun() -> exit(change(N, 50)) end) || N <- lists:seq(1, 6)],
    Ends = lists:usort([receive {'DOWN', R, _, P, E} -> E end || {P, R} <- Changers]),
    erlang:system_monitor(undefined),
    1 = erlang:trace_pattern(send, true, []),
    Ends.

change(_, 0) -> ok;
change(N, Times) when N rem 3 =:= 0 ->
    1 = erlang:trace_pattern(send, lists:nth(1 + Times rem 3, [true, false, [{'_', [], [{message, N}]}]]), []),
    change(N, Times - 1);
change(N, Times) when N rem 3 =:= 1 ->
    erlang:system_monitor(self(), [{long_gc, N}, {large_heap, 20000}]), grown(), change(N, Times - 1);
change(N, Times) ->
    1 = erlang:trace(self(), Times rem 2 =:= 0, [send, 'receive', procs, {tracer, whereis(trace_settings)}]),
    self() ! N, receive N -> ok end,
    change(N, Times - 1).

hear() -> receive _ -> hear() end.

busy_for(0) -> ok;
busy_for(N) -> busy_for(N - 1).
busy(N) -> busy_for(N), busy((N + 1) rem 5000).
births(_) -> {P, R} = spawn_monitor(fun() -> ok end), receive {'DOWN', R, _, P, normal} -> births(0) end.
looks(N) ->
    erlang:system_profile(), erlang:system_monitor(), erlang:trace_info(send, match_spec),
    erlang:trace_info(on_load, all), erlang:trace_info({lists, map, 2}, all), erlang:trace_info(hd(processes()), flags),
    looks(N).

profiles(N) ->
    T = spawn(fun hear/0),
    erlang:system_profile(T, lists:nth(1 + N rem 3, [[runnable_procs], [scheduler, runnable_ports], [exclusive]])),
    busy_for(1000),
    N rem 2 =:= 0 andalso erlang:system_profile(undefined, []),
    exit(T, kill),
    profiles(N + 1).

p(T) -> io:format("~0p~n", [T]).

%% expect: {sends,true}
%% expect: {limits,[{told,none}]}
%% expect: {together,[ok]}
%% expect: {loads,true}
%% expect: {left,undefined,undefined,{match_spec,true}}
