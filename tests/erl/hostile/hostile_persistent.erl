%% SPDX-License-Identifier: Apache-2.0
%% Persistent terms by the hundred thousand, small ones and large ones, also put by many at once.
%% expect: {count,300000}
%% expect: {read,true,true,true}
%% expect: {erased,true}
%% expect: still_here
-module(hostile_persistent).
-export([main/0]).

main() ->
    Before = count(),
    Workers = [spawn_monitor(fun() -> [persistent_term:put({?MODULE, W, N}, {N, [W]}) || N <- lists:seq(1, 75000)] end)
               || W <- lists:seq(1, 4)],
    [receive {'DOWN', R, process, P, normal} -> ok end || {P, R} <- Workers],
    io:format("~p~n", [{count, count() - Before}]),
    Large = lists:seq(1, 100000),
    persistent_term:put(?MODULE, Large),
    io:format("~p~n", [{read, lists:all(fun(N) -> persistent_term:get({?MODULE, 3, N}) =:= {N, [3]} end, lists:seq(1, 75000)),
                        persistent_term:get(?MODULE) =:= Large,
                        persistent_term:get({?MODULE, 5, 1}, none) =:= none}]),
    io:format("~p~n", [{erased, persistent_term:erase(?MODULE)}]),
    io:format("~p~n", [still_here]).

count() -> maps:get(count, persistent_term:info()).
