%% SPDX-License-Identifier: Apache-2.0
%% dyntrace, by which Erlang code fires probes, and as a tracer. What it tells is held in tests/probes. A stock erl has it without probes.
-module(trace_dyntrace).
-export([main/0]).

main() ->
    P = spawn(fun() -> quiet() end),
    1 = erlang:trace(P, true, [send, 'receive', {tracer, dyntrace, {a, [1, 2.5, <<"state">>]}}]),
    io:format("~p~n", [try erlang:trace(self(), true, [send, {tracer, lists, []}]) catch error:R -> R end]),
    P ! {self(), hello}, receive {P, hello} -> ok end,
    1 = erlang:trace(P, false, [all]),
    io:format("~p~n", [erlang:trace_info(P, tracer)]),
    io:format("~p~n", [dyntrace:put_tag(<<"tag">>)]), erlang:dt_put_tag(undefined),
    %% no message comes of it, whatever is traced
    io:format("~p~n", [process_info(self(), messages)]),
    Told = [erlang:system_info(I) || I <- [dynamic_trace, dynamic_trace_probes]],
    io:format("~p~n", [Told =:= [systemtap, true] orelse is_stock() andalso Told =:= [none, false]]),
    many(5000),
    beside().

quiet() -> receive {From, M} -> From ! {self(), M}, quiet() end.

%% Any number of states, one after the other.
many(0) -> io:format("many~n");
many(N) ->
    1 = erlang:trace(self(), true, [garbage_collection, {tracer, dyntrace, {N, make_ref()}}]),
    1 = erlang:trace(self(), false, [all]),
    1 = erlang:trace_pattern({?MODULE, many, 1}, true, [{meta, dyntrace, {make_ref(), N}}]),
    true = element(2, element(2, element(2, erlang:trace_info({?MODULE, many, 1}, meta)))) =:= N orelse is_stock(),
    1 = erlang:trace_pattern({?MODULE, many, 1}, false, [meta]),
    many(N - 1).

%% Several come and go at once: each that was set is there until it is taken away (in OTP they stay only with DTrace).
beside() ->
    Pids = [spawn_monitor(fun() -> kept(500, N) end) || N <- lists:seq(1, 3)],
    io:format("~p~n", [lists:usort([receive {'DOWN', M, process, Pid, Why} -> Why end || {Pid, M} <- Pids])]).

is_stock() -> string:find(erlang:system_info(system_version), "[erlvm]") =:= nomatch.

kept(0, _) -> ok;
kept(N, Who) ->
    State = {Who, N rem 100},
    1 = erlang:trace(self(), true, [garbage_collection, {tracer, dyntrace, State}]),
    true = erlang:trace_info(self(), tracer) =:= {tracer, {dyntrace, State}} orelse is_stock(),
    1 = erlang:trace(self(), false, [all]),
    1 = erlang:trace(self(), true, [garbage_collection, {tracer, dyntrace, {Who, make_ref()}}]),
    1 = erlang:trace(self(), false, [all]),
    kept(N - 1, Who).
%% expect: badarg
%% expect: {tracer,[]}
%% expect: undefined
%% expect: {messages,[]}
%% expect: true
%% expect: many
%% expect: [normal]
