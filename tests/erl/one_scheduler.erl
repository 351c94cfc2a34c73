%% SPDX-License-Identifier: Apache-2.0
%% Run with one scheduler (+S 1): tables are the scheduler's alone, until long inserts and ends of processes come that other threads do.
-module(one_scheduler).
-export([main/0]).

-define(LONG, 20000). % objects of one insert: enough for a thread of its own
-define(ROUNDS, 3).
-define(SHORT, 20000). % objects of those who insert one by one meanwhile

main() ->
    io:format("~p~n", [[tables(Options) || Options <- [
        [set, named_table], [set, named_table, {write_concurrency, true}], [ordered_set], [ordered_set, {write_concurrency, true}],
        [bag, {read_concurrency, true}]]]]),
    io:format("~p~n", [heirs()]),
    halt().

%% Every object is there, whoever put it there, and what was deleted is not.
tables(Options) ->
    T = ets:new(shared, [public | Options]),
    ets:insert(T, {count, 0}),
    Long = [spawn_monitor(fun() -> insert_long(T, W) end) || W <- [1, 2]],
    Short = [spawn_monitor(fun() -> insert_short(T, W) end) || W <- [3, 4]],
    Ends = [receive {'DOWN', Ref, process, Pid, Why} -> Why end || {Pid, Ref} <- Long ++ Short],
    Sizes = [length(ets:match(T, {{W, '$1'}, '_'})) || W <- [1, 2, 3, 4]],
    Seen = {ets:info(T, size), Sizes, ets:lookup(T, count), ets:info(T, fixed)},
    ets:delete(T),
    {Ends, Seen}.

insert_long(T, W) ->
    [true = ets:insert(T, [{{W, Round * ?LONG + I}, I} || I <- lists:seq(1, ?LONG)]) || Round <- lists:seq(1, ?ROUNDS)],
    exit(done).

%% Half of what it inserts goes again.
insert_short(T, W) ->
    [begin
         true = ets:insert(T, {{W, I}, I}),
         true = ets:member(T, {W, I}),
         I rem 2 =:= 0 andalso ets:delete(T, {W, I})
     end || I <- lists:seq(1, ?SHORT)],
    exit(done).

%% The ends of processes with many messages take long: their tables go to an heir that uses them at once.
heirs() ->
    Me = self(),
    Owners = [spawn(fun() -> own(Me, N) end) || N <- lists:seq(1, 8)],
    [receive {owns, Owner} -> ok end || Owner <- Owners],
    [[Owner ! {filler, I} || I <- lists:seq(1, 20000)] || Owner <- Owners],
    [exit(Owner, kill) || Owner <- Owners],
    lists:sort([receive {'ETS-TRANSFER', T, _, N} -> use(T, N) end || _ <- Owners]).

own(Heir, N) ->
    T = ets:new(owned, [public, {heir, Heir, N}]),
    ets:insert(T, {n, N}),
    Heir ! {owns, self()},
    receive stop -> ok end.

use(T, N) ->
    ets:insert(T, [{I, I} || I <- lists:seq(1, 1000)]),
    {N, ets:update_counter(T, n, 1), ets:info(T, size), ets:delete(T)}.
