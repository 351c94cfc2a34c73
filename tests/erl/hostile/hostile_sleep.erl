%% SPDX-License-Identifier: Apache-2.0
%% Messages, however many, neither wake nor stop who only sleeps; who ends takes the flood along.
%% expect: slept
%% expect: {message_queue_len,100000}
%% expect: {down,killed}
%% expect: {storm,2000,true}
-module(hostile_sleep).
-export([main/0]).

main() ->
    Self = self(),
    Sleeper = spawn(fun() -> timer:sleep(300), Self ! {self(), slept}, receive never -> ok end end),
    flood(Sleeper, 100000),
    receive {Sleeper, Word} -> io:format("~p~n", [Word]) end,
    io:format("~p~n", [process_info(Sleeper, message_queue_len)]),
    R = monitor(process, Sleeper),
    exit(Sleeper, kill),
    receive {'DOWN', R, process, _, Why} -> io:format("~p~n", [{down, Why}]) end,
    storm().

flood(_, 0) -> ok;
flood(P, N) -> P ! {flood, N}, flood(P, N - 1).

%% Processes linked in crowds, all ended at once.
storm() ->
    process_flag(trap_exit, true),
    Before = processes(),
    Leaders = [spawn_link(fun crowd/0) || _ <- lists:seq(1, 2000)],
    [exit(P, boom) || P <- Leaders],
    Ended = [receive {'EXIT', P, boom} -> P end || P <- Leaders],
    io:format("~p~n", [{storm, length(Ended), settles(Before)}]).

crowd() ->
    [spawn_link(fun() -> timer:sleep(100000) end) || _ <- lists:seq(1, 10)],
    timer:sleep(100000).

settles(Before) ->
    case processes() -- Before of
        [] -> true;
        _ -> timer:sleep(50), settles(Before)
    end.
