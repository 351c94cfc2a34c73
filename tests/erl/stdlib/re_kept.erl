%% SPDX-License-Identifier: Apache-2.0
%% re: a pattern that is compiled again is the same one; of other options, or with an error, it is never taken for it.
%% Since OTP 28 re is PCRE2 there, too, and a pattern is a reference.
%% until: 27
-module(re_kept).
-export([main/0]).

main() ->
    Options = [[], [caseless], [extended], [anchored], [{newline, cr}], [multiline, {newline, crlf}], [unicode], [dotall, ungreedy]],
    Subjects = ["xa b", "ab", "AB", "a\nb", "a\rb", "a\r\nb", "aab"],
    Once = [[found(S, P, O) || S <- Subjects] || P <- ["a b|a$", "^b", "a.b", "a+", "(?<n>a)+b?"], O <- Options],
    Again = [[found(S, P, O) || S <- Subjects] || P <- ["a b|a$", "^b", "a.b", "a+", "(?<n>a)+b?"], O <- lists:reverse(Options)],
    io:format("~w ~w~n", [erlang:phash2(Once), erlang:phash2(Again)]),
    io:format("~0p~n", [[begin {error, {_, Place}} = re:compile(P, O), Place end || P <- ["(a", "(a", "a)", "(a"], O <- [[], [caseless]]]]),
    {ok, First} = re:compile("k(e)pt"),
    {ok, First} = re:compile(<<"k(e)pt">>),
    {ok, First} = re:compile([["k", $(], <<"e)p">>, "t"], []),
    %% More patterns than are kept, each compiled and run by two processes at a time.
    Numbers = [spawn_monitor(fun() -> exit(lists:sum([sum(N) || N <- lists:seq(1, 1500)])) end) || _ <- [1, 2]],
    io:format("~w~n", [[receive {'DOWN', Ref, process, Pid, Sum} -> Sum end || {Pid, Ref} <- Numbers]]),
    io:format("~w~n", [re:run("kept", First)]),
    %% Long matches with other line ends than the pattern was compiled for, while what is kept is thrown out; one ends unheard.
    {ok, Long} = re:compile("[a-h]+[x-z]$"),
    Text = binary:copy(<<"abcdefgh">>, 700),
    Runs = [spawn_monitor(fun() -> exit(re:run(<<Text/binary, End/binary>>, Long, [{newline, cr}])) end)
            || End <- [<<>>, <<"\n">>, <<"x\r">>, <<"\rx\n">>]],
    {Killed, Down} = spawn_monitor(fun() -> re:run(Text, Long, [{newline, crlf}]) end),
    exit(Killed, kill),
    _ = [sum(N) || N <- lists:seq(1, 1500)],
    receive {'DOWN', Down, process, Killed, killed} -> ok end,
    io:format("~w~n", [[receive {'DOWN', Ref, process, Pid, Found} -> Found end || {Pid, Ref} <- Runs]]),
    io:format("~w~n", [[re:inspect(element(2, re:compile(P)), namelist) || P <- ["(?<b>x)(?<a>y)", "(?J)(?<n>x)|(?<n>y)", "x"]]]),
    {ok, Twice} = re:compile("(?<n>x)|(?<n>y)|(?<m>z)", [dupnames]),
    io:format("~w~n", [{re:inspect(Twice, namelist), [re:run("y", P, [{capture, all_names, list}]) || P <- [Twice, "(?J)(?<n>x)|(?<n>y)", "y"]]}]).

%% Compiled, then run; and compiled by the run itself.
found(Subject, Pattern, Options) ->
    {ok, Compiled} = re:compile(Pattern, Options),
    Found = re:run(Subject, Compiled),
    Found = re:run(Subject, Pattern, Options).

sum(N) ->
    Text = integer_to_list(N),
    {ok, Compiled} = re:compile(["x", Text, "(y)"]),
    {match, [{1, Size} | _]} = re:run([$-, "x", Text, "y"], Compiled),
    {match, [{1, Size} | _]} = re:run([$-, "x", Text, "y"], ["x", Text, "(y)"]),
    Size.

%% expect: 117461220 1843288
%% expect: [2,2,2,2,1,1,2,2]
%% expect: [7893,7893]
%% expect: {match,[{0,4},{1,1}]}
%% expect: [nomatch,nomatch,{match,[{0,5601}]},nomatch]
%% expect: [{namelist,[<<97>>,<<98>>]},{namelist,[<<110>>,<<110>>]},{namelist,[]}]
%% expect: {{namelist,[<<109>>,<<110>>]},[{match,[[],[121]]},{match,[[],[121]]},match]}
