%% SPDX-License-Identifier: Apache-2.0
%% Hundreds of regular expressions that take long, at once: all of them get turns, so that one that takes less is done long before them, and
%% each ends when its process is killed. So does a pattern of the largest size, as soon as it can.
%% expect: {between,nomatch}
%% expect: {killed,300}
%% expect: {charged,true}
%% expect: {large,nomatch,true}
%% expect: {large_killed,20}
-module(proc_many_matches).
-export([main/0]).

main() ->
    erlang:system_flag(schedulers_online, 1),
    many(),
    charged(),
    large(),
    halt(0).

say(T) -> io:format("~p~n", [T]).

%% A match that takes some milliseconds, and one that takes seconds.
subject(N) -> binary:copy(<<"abcdefgh">>, N).
pattern() -> "[a-h]+[x-z]".

killed(Ps) ->
    [exit(P, kill) || {P, _} <- Ps],
    length([killed || {P, R} <- Ps, receive {'DOWN', R, process, P, Why} -> Why =:= killed end]).

many() ->
    Long = subject(100000),
    Ps = [spawn_monitor(fun() -> re:run(Long, pattern()) end) || _ <- lists:seq(1, 300)],
    [erlang:yield() || _ <- lists:seq(1, 5)], %% behind each of them, so that all have begun
    say({between, re:run([subject(300), $\n, Long], pattern(), [firstline])}),
    say({killed, killed(Ps)}).

%% What it cost is seen, wherever it ran.
charged() ->
    {reductions, Before} = process_info(self(), reductions),
    nomatch = re:run(subject(1500), pattern()),
    {reductions, After} = process_info(self(), reductions),
    say({charged, After - Before > 100000}).

%% So large that nothing more fits into it.
large() ->
    Large = ["(?:", pattern(), "|", lists:duplicate(1750, "[x-z]?"), "-)"],
    {ok, Compiled} = re:compile(Large),
    say({large, re:run(subject(10), Compiled), re:run("abc-", Compiled, [{capture, none}]) =:= match}),
    Ps = [spawn_monitor(fun() -> re:run(subject(200), Compiled) end) || _ <- lists:seq(1, 20)],
    say({large_killed, killed(Ps)}).
