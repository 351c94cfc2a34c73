%% SPDX-License-Identifier: Apache-2.0
%% erlang:memory: its kinds move with what they measure.
-module(proc_memory).
-export([main/0]).

main() ->
    Kinds = [total, processes, processes_used, system, atom, atom_used, code, ets, binary],
    d([is_integer(erlang:memory(K)) andalso erlang:memory(K) > 0 || K <- Kinds]),
    d(Kinds -- [K || {K, _} <- erlang:memory()]),
    d([K || {K, _} <- erlang:memory([ets, total])]),
    T = ets:new(t, []),
    d(grows(ets, 400000, fun() -> [ets:insert(T, {N, N}) || N <- lists:seq(1, 10000)] end)),
    d(grows(ets, -400000, fun() -> ets:delete(T) end)),
    d(grows(atom_used, 100000, fun() -> [list_to_atom("memory_" ++ integer_to_list(N)) || N <- lists:seq(1, 5000)] end)),
    B = binary:copy(<<0>>, 1000),
    d(grows(binary, 4900000, fun() -> put(binary, binary:copy(B, 5000)) end)),
    d(grows(binary, -4900000, fun() -> erase(binary), erlang:garbage_collect() end)),
    d(try erlang:memory(foo) catch C:R -> {C, R} end).

%% By at least so many bytes; downwards where they are negative. What one scheduler frees of another's is counted when that one takes it back.
grows(Kind, Bytes, F) ->
    Before = erlang:memory(Kind),
    F(),
    moved(Kind, Before, Bytes).

moved(Kind, Before, Bytes) ->
    case erlang:memory(Kind) - Before of
        Moved when Bytes > 0, Moved >= Bytes; Bytes < 0, Moved =< Bytes -> true;
        _ -> receive after 1 -> moved(Kind, Before, Bytes) end
    end.

d(T) -> erlang:display(T).

%% expect: [true,true,true,true,true,true,true,true,true]
%% expect: []
%% expect: [ets,total]
%% expect: true
%% expect: true
%% expect: true
%% expect: true
%% expect: true
%% expect: {error,badarg}
