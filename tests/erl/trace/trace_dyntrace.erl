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
    many(5000).

quiet() -> receive {From, M} -> From ! {self(), M}, quiet() end.

%% Any number of states, one after the other.
many(0) -> io:format("many~n");
many(N) ->
    1 = erlang:trace(self(), true, [garbage_collection, {tracer, dyntrace, {N, make_ref()}}]),
    1 = erlang:trace(self(), false, [all]),
    many(N - 1).
%% expect: badarg
%% expect: {tracer,[]}
%% expect: undefined
%% expect: {messages,[]}
%% expect: many
