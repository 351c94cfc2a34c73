%% SPDX-License-Identifier: Apache-2.0
%% ets: long walks while others change the table: nothing is seen twice, nothing that stays is missed.
-module(ets_walks).
-export([main/0]).

main() ->
    [d({O, run(O)}) || O <- [[set, public], [ordered_set, public], [set, public, {write_concurrency, true}], [bag, public], [set, public, {read_concurrency, true}]]],
    [d(named(Type)) || Type <- [set, bag, ordered_set]].

run(O) ->
    T = ets:new(t, O),
    N = 5000,
    ets:insert(T, [{I, stays} || I <- lists:seq(1, N)]),
    Me = self(),
    Ps = [spawn_link(fun() -> churn(T, N * K, 0, Me) end) || K <- [1, 2]],
    R = [begin
             L = ets:select(T, [{{'$1', stays}, [], ['$1']}]),
             S = ets:select_count(T, [{{'_', stays}, [], [true]}]),
             ets:safe_fixtable(T, true),
             C = chunks(ets:select(T, [{{'$1', stays}, [], ['$1']}], 500)),
             ets:safe_fixtable(T, false),
             F = case lists:member(set, O) of
                     true -> ets:safe_fixtable(T, true), X = walk(T, ets:first(T), 0), ets:safe_fixtable(T, false), X;
                     false -> N
                 end,
             {length(L) =:= N, length(lists:usort(L)) =:= N, S =:= N, C =:= N orelse {chunks, C}, F =:= N orelse {walk, F}}
         end || _ <- lists:seq(1, 3)],
    [P ! stop || P <- Ps],
    [receive {P, stopped} -> ok end || P <- Ps],
    ets:select_delete(T, [{{'_', goes}, [], [true]}]),
    {lists:usort(R), ets:info(T, size), ets:info(T, fixed)}.

%% A walk in chunks of a named table that is deleted, made again, renamed meanwhile.
named(Type) ->
    New = fun() -> ets:new(named, [named_table, Type]), ets:insert(named, [{I} || I <- lists:seq(1, 100)]) end,
    Go = fun(Walk) -> try chunks(ets:select(Walk)) catch error:badarg -> badarg end end,
    New(),
    {_, First} = ets:select(named, [{{'$1'}, [], ['$1']}], 10),
    ets:delete(named),
    Gone = Go(First),
    New(),
    Again = Go(First),
    {_, Second} = ets:select(named, [{{'$1'}, [], ['$1']}], 10),
    ets:rename(named, renamed),
    {Type, Gone, Again, Go(Second), ets:delete(renamed)}.

chunks('$end_of_table') -> 0;
chunks({L, C}) -> length(L) + chunks(ets:select(C)).

walk(_, '$end_of_table', N) -> N;
walk(T, K, N) ->
    case ets:lookup(T, K) of
        [{_, stays}] -> walk(T, ets:next(T, K), N + 1);
        _ -> walk(T, ets:next(T, K), N)
    end.

%% With an end: what goes from a fixed table stays in it, and those who wait for each other at it get slower.
churn(_, _, 20000, Me) -> receive stop -> Me ! {self(), stopped} end;
churn(T, Base, I, Me) ->
    ets:insert(T, {Base + 1 + I rem 5000, goes}),
    ets:delete(T, Base + 1 + (I * 7) rem 5000),
    receive stop -> Me ! {self(), stopped} after 0 -> churn(T, Base, I + 1, Me) end.

d(T) -> erlang:display(T).

%% expect: {[set,public],{[{true,true,true,true,true}],5000,false}}
%% expect: {[ordered_set,public],{[{true,true,true,true,true}],5000,false}}
%% expect: {[set,public,{write_concurrency,true}],{[{true,true,true,true,true}],5000,false}}
%% expect: {[bag,public],{[{true,true,true,true,true}],5000,false}}
%% expect: {[set,public,{read_concurrency,true}],{[{true,true,true,true,true}],5000,false}}
%% expect: {set,badarg,badarg,90,true}
%% expect: {bag,badarg,badarg,90,true}
%% expect: {ordered_set,badarg,90,badarg,true}
