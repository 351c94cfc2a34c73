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
    Idle = spawn(fun idle/0),
    d(grows(processes, 7000000, fun() -> put(idle, [spawn_opt(fun idle/0, [{min_heap_size, 1000}]) || _ <- lists:seq(1, 1000)]) end)),
    d(grows(processes_used, -7000000, fun() -> [exit(P, kill) || P <- erase(idle)] end)),
    %% twice as much: the last of those that were killed may still be freed meanwhile
    d(grows(processes, 3000000, fun() -> [Idle ! lists:seq(1, 200) || _ <- lists:seq(1, 2000)] end)),
    d(grows(processes_used, -3000000, fun() -> exit(Idle, kill) end)),
    d(try erlang:memory(foo) catch C:R -> {C, R} end).

idle() -> receive never -> ok end.

%% By at least so many bytes; downwards where they are negative. A process that ends is freed a little later.
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
%% expect: true
%% expect: true
%% expect: true
%% expect: true
%% expect: {error,badarg}
