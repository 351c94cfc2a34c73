%% SPDX-License-Identifier: Apache-2.0
%% What a trace tells of time: time-outs of receives, where a process gives way, times that only grow, times of calls of a dead tracer.
-module(trace_moments).
-export([main/0, called/1]).
-compile([{nowarn_deprecated_function, {erlang, now, 0}}]).

main() ->
    timeouts(), yields(), growing(), dead(), own(), next_tracer(), no_slices().

timeouts() ->
    [begin
        erlang:trace_pattern('receive', Pattern, []),
        p({Pattern, traced(['receive'], fun() -> receive after 1 -> ok end, receive after 0 -> ok end, receive none -> ok after 2 -> ok end end)})
     end || Pattern <- [true, [{[clock_service, '$1', timeout], [], [{message, '$1'}]}], [{['_', '_', foo], [], []}], false]],
    erlang:trace_pattern('receive', true, []).

yields() ->
    L = traced([running], fun() -> erlang:yield(), erlang:yield(), ok end),
    p([{E, Where} || {E, {?MODULE, _, _} = Where} <- L]),
    Natives = [{erlang, F, 1} || F <- [hd, bump_reductions]],
    [erlang:trace_pattern(MFA, true, [local]) || MFA <- Natives],
    p([Call || {call, {erlang, _, [_]}} = Call <- traced([call], fun() -> erlang:yield(), erlang:bump_reductions(1000000) end)]),
    [erlang:trace_pattern(MFA, false, [local]) || MFA <- Natives].

growing() ->
    L = traced([call, timestamp], fun() -> [called(N) || N <- lists:seq(1, 100)] end),
    Times = [T || {call, {?MODULE, called, _}, T} <- L],
    p({length(Times), Times =:= lists:usort(Times), erlang:now() > lists:last(Times), lists:all(fun({_, _, _}) -> true; (_) -> false end, Times)}).

called(X) -> X.

%% Nothing is counted for a tracer that is gone.
dead() ->
    Me = self(),
    {T, R} = spawn_monitor(fun() -> erlang:trace(Me, true, [call]), Me ! {self(), ready}, receive stop -> ok end end),
    receive {T, ready} -> ok end,
    erlang:trace_pattern({?MODULE, called, 1}, true, [call_time]),
    called(1), p(count()),
    T ! stop, receive {'DOWN', R, _, _, _} -> ok end,
    called(2), p(count()), p(erlang:trace_info(self(), flags)).

%% Who traces itself hears nothing, but is counted.
own() ->
    erlang:trace_pattern({?MODULE, called, 1}, restart, [call_time]),
    erlang:trace(self(), true, [call]), called(1), called(2), p(count()),
    erlang:trace(self(), false, [all]), called(3), p(count()),
    erlang:trace_pattern({?MODULE, called, 1}, false, [call_time]).

%% The next tracer has nothing of what one that is gone wished for.
next_tracer() ->
    Me = self(),
    {T, R} = spawn_monitor(fun() -> erlang:trace(Me, true, [send, timestamp, silent]), Me ! {self(), ready} end),
    receive {T, ready} -> ok end, receive {'DOWN', R, _, _, _} -> ok end,
    U = spawn(fun() -> receive stop -> ok end end), erlang:trace(self(), true, ['receive', {tracer, U}]),
    p(erlang:trace_info(self(), flags)), erlang:trace(self(), false, [all]), U ! stop.

%% Setting flags is no time slice.
no_slices() ->
    U = spawn(fun() -> receive stop -> ok end end),
    erlang:trace(self(), true, [running, {tracer, U}]), erlang:trace(self(), true, [send, {tracer, U}]), erlang:trace(self(), false, [all]),
    R = erlang:trace_delivered(self()), receive {trace_delivered, _, R} -> ok end,
    {messages, L} = process_info(U, messages), p([X || {trace, _, _, X} <- L, element(1, X) =:= erts_internal]), U ! stop.

count() ->
    {call_time, L} = erlang:trace_info({?MODULE, called, 1}, call_time),
    [{P =:= self(), N} || {P, N, _, _} <- L].

%% The events of a process that runs F, without its pid.
traced(Flags, F) ->
    Me = self(),
    P = spawn(fun() -> receive go -> ok end, F(), Me ! {self(), done}, receive stop -> ok end end),
    erlang:trace_pattern({?MODULE, called, 1}, true, [local]),
    erlang:trace(P, true, Flags), P ! go, receive {P, done} -> ok end, erlang:trace(P, false, [all]),
    erlang:trace_pattern({?MODULE, called, 1}, false, [local]),
    R = erlang:trace_delivered(P), receive {trace_delivered, P, R} -> P ! stop end,
    told(P).

told(P) ->
    receive
        {trace, P, E, Data} -> [{E, Data} | told(P)];
        {trace, P, E, Data, More} -> [{E, Data, More} | told(P)];
        {trace_ts, P, E, Data, T} -> [{E, Data, T} | told(P)]
    after 0 -> [] end.

p(X) -> io:format("~p~n", [X]).
%% expect: {true,[{'receive',go},
%% expect:        {'receive',timeout},
%% expect:        {'receive',timeout},
%% expect:        {'receive',timeout}]}
%% expect: {[{[clock_service,'$1',timeout],[],[{message,'$1'}]}],
%% expect:  [{'receive',timeout,undefined},
%% expect:   {'receive',timeout,undefined},
%% expect:   {'receive',timeout,undefined}]}
%% expect: {[{['_','_',foo],[],[]}],[]}
%% expect: {false,[]}
%% expect: [{in,{trace_moments,'-traced/2-fun-0-',2}},
%% expect:  {out,{trace_moments,'-yields/0-fun-0-',0}},
%% expect:  {in,{trace_moments,'-yields/0-fun-0-',0}},
%% expect:  {out,{trace_moments,'-yields/0-fun-0-',0}},
%% expect:  {in,{trace_moments,'-yields/0-fun-0-',0}},
%% expect:  {out,{trace_moments,'-traced/2-fun-0-',2}}]
%% expect: [{call,{erlang,bump_reductions,[1000000]}}]
%% expect: {100,true,true,true}
%% expect: [{true,1}]
%% expect: [{true,1}]
%% expect: {flags,[]}
%% expect: [{true,2}]
%% expect: [{true,2}]
%% expect: {flags,['receive']}
%% expect: []
