%% SPDX-License-Identifier: Apache-2.0
%% Regular expressions that take long: others run meanwhile, whoever matches can be asked, suspended and killed; what is found is what a
%% short search finds, also where the subject is looked through in parts.
%% expect: {turns,true,nomatch}
%% expect: {asked,true,true}
%% expect: {suspended,true}
%% expect: {killed,killed}
%% expect: {collected,true}
%% expect: {far,true}
%% expect: {far_named,true}
%% expect: {subjects,true}
%% expect: {limits,{error,match_limit},nomatch}
%% expect: {places,true}
%% expect: {lines,true}
%% expect: {words,true}
%% expect: {behind,true}
%% expect: {ends,true}
%% expect: {empty,true}
%% expect: {global,true}
%% expect: {unicode,true}
-module(proc_matches).
-export([main/0]).

main() ->
    erlang:system_flag(schedulers_online, 1),
    turns(),
    endless(),
    far(),
    parts(),
    halt(0).

say(T) -> io:format("~p~n", [T]).

%% With one scheduler others get their turns while it lasts.
turns() ->
    Self = self(),
    Subject = binary:copy(<<"abcdefgh">>, 12000),
    spawn_link(fun() -> Self ! {answer, re:run(Subject, "[a-h]+[x-z]", [])} end),
    N = count(0),
    receive {answer, A} -> say({turns, N >= 20, A}) end.

count(N) when N >= 20 -> N;
count(N) -> receive {answer, _} = A -> self() ! A, N after 1 -> count(N + 1) end.

endless() ->
    Subject = binary:copy(<<"abcdefgh">>, 6250000),
    {P, R} = spawn_monitor(fun() -> re:run(Subject, "[a-h]+z") end),
    receive after 20 -> ok end,
    P ! hello,
    say({asked, is_process_alive(P), process_info(P, message_queue_len) =:= {message_queue_len, 1}}),
    true = erlang:suspend_process(P),
    true = erlang:resume_process(P),
    say({suspended, is_process_alive(P)}),
    exit(P, kill),
    receive {'DOWN', R, process, P, Why} -> say({killed, Why}) end,
    {Q, _} = spawn_monitor(fun() -> re:run(Subject, "[a-h]+z") end), %% it is still at it when the VM ends
    receive after 20 -> ok end,
    say({collected, garbage_collect(Q)}).

%% What is found by going through everything first.
far() ->
    Before = binary:copy(<<"x">>, 300000),
    S = <<Before/binary, "key=value;", Before/binary>>,
    Places = {match, [{0, 300010}, {300000, 3}, {300004, 5}]},
    say({far, re:run(S, "^.*(k..)=(\\w+);", [dotall]) =:= Places}),
    Named = "^.*(?<key>k..)=(?<value>\\w+);",
    say({far_named, re:run(S, Named, [dotall, {capture, [value, key], binary}]) =:= {match, [<<"value">>, <<"key">>]} andalso
         re:run(S, Named, [dotall, {capture, [key, 2], list}]) =:= {match, ["key", "value"]} andalso
         re:run(S, Named, [dotall, {capture, none}]) =:= match}),
    <<_:3, Odd:(byte_size(S))/binary, _/bits>> = <<0:3, S/binary, 0:5>>,
    {ok, Pattern} = re:compile(Named, [dotall]),
    say({subjects, lists:all(fun(Subject) -> re:run(Subject, Pattern, [{capture, all_but_first, binary}]) =:= {match, [<<"key">>, <<"value">>]} end,
                             [S, Odd, [S, $\n], binary_to_list(S)])}),
    As = binary:copy(<<"a">>, 40),
    say({limits, re:run(As, "(a+)+[bc]", [report_errors, {match_limit, 100000}]), re:run(As, "(a+)+[bc]", [{match_limit, 100000}])}).

%% A subject with Text at place I.
around(I, Text) -> <<(binary:copy(<<"-">>, I))/binary, Text/binary, (binary:copy(<<"-">>, 9000))/binary>>.

at(Pattern, Text, Offset, Length) -> at(Pattern, Text, Offset, Length, []).
at(Pattern, Text, Offset, Length, Options) ->
    lists:all(fun(I) -> re:run(around(I, Text), Pattern, Options) =:= {match, [{I + Offset, Length}]} end, lists:seq(4070, 4110) ++ [0, 8191, 8192, 12280]).

parts() ->
    say({places, at("needle", <<"needle">>, 0, 6) andalso at("ne{2,}d?le", <<"needle">>, 0, 6) andalso at("[a-z]+", <<"needle">>, 0, 6) andalso
         at("e", <<"needle">>, 1, 1) andalso at("(?=needle)", <<"needle">>, 0, 0) andalso at("n.*?e(?!e)", <<"needle">>, 0, 3) =:= true}),
    say({lines, at("^ab$", <<"\nab\n">>, 1, 2, [multiline]) andalso at("b$", <<"ab\n">>, 1, 1, [multiline]) andalso
         at("\\R", <<"\r\n">>, 0, 2)}),
    say({words, at("\\bab\\b", <<"aba ab ">>, 4, 2) andalso at("\\w+", <<"word">>, 0, 4)}),
    say({behind, at("(?<=ab)cd", <<"cdabcd">>, 4, 2) andalso at("(?<!b)c", <<"bc ac">>, 4, 1)}),
    Long = binary:copy(<<"ab">>, 10000),
    say({ends, re:run(Long, "b*$") =:= {match, [{19999, 1}]} andalso re:run(Long, "b\\z") =:= {match, [{19999, 1}]} andalso
         re:run(Long, "c|$") =:= {match, [{20000, 0}]} andalso re:run(Long, "(?!.)", [dotall]) =:= {match, [{20000, 0}]} andalso
         re:run(Long, "^b") =:= nomatch andalso re:run(Long, "bb|aa|\\Aba") =:= nomatch andalso
         re:run(Long, "\\Gb", [{offset, 1}]) =:= {match, [{1, 1}]} andalso re:run(Long, "\\Gc|\\Gbb", [{offset, 1}]) =:= nomatch andalso
         re:run(Long, "b", [anchored]) =:= nomatch}),
    say({empty, re:run(Long, "c*", [notempty]) =:= nomatch andalso re:run(Long, "c*", [notempty_atstart]) =:= {match, [{1, 0}]} andalso
         re:run(Long, "c*") =:= {match, [{0, 0}]}}),
    Text = binary:copy(<<"some words, and some more\n">>, 2000),
    {match, All} = re:run(Text, "\\w+", [global]),
    say({global, length(All) =:= 10000 andalso length(re:split(Text, "\n")) =:= 2001 andalso
         re:replace(Text, "some", "any", [global, {return, binary}]) =:= binary:replace(Text, <<"some">>, <<"any">>, [global])}),
    U = unicode:characters_to_binary([lists:duplicate(5000, 16#20ac), "end", lists:duplicate(5000, 16#20ac)]),
    say({unicode, re:run(U, "e.d", [unicode]) =:= {match, [{15000, 3}]} andalso re:run(U, "\x{20ac}d", [unicode]) =:= nomatch andalso
         re:run(U, "[^\x{20ac}]+(.)", [unicode]) =:= {match, [{15000, 6}, {15003, 3}]}}).
