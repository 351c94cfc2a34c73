%% SPDX-License-Identifier: Apache-2.0
%% re: which escapes are errors, and which mean the character alone, as PCRE 8 has it. Since OTP 28 it is as PCRE2 has it.
%% until: 27
-module(re_refused).
-export([main/0]).

main() ->
    [io:format("~w ~w~n", [Options, [{Tail, [Letter || Letter <- lists:seq(33, 126), is_refused("\\" ++ [Letter | Tail], Options)]} || Tail <- tails()]])
     || Options <- [[], [unicode]]],
    io:format("in a class ~w~n", [[Letter || Letter <- lists:seq(33, 126), is_refused("[\\" ++ [Letter | "]"], [])]]),
    [io:format("~0p ~w~n", [Pattern, [refused(Pattern, Options) || Options <- [[], [unicode], [extended]]]])
     || Pattern <- ["\\", "a\\", "\\c", "\\g", "\\k", "\\p{Foo}", "\\p", "\\L", "\\u0041", "\\x{100}", "\\x{d800}", "\\x{110000}", "\\o{8}", "\\N{a}", "(a)\\2", "(a)\\8",
                    "\\81", "(\\8)", "[\\R]", "[\\X\\B]", "[\\N]", "[\\d-z]", "[a\\R-z]", "\\I\\J\\M", "\\y{2}", lists:append(lists:duplicate(150, "\\y"))]],
    [io:format("~0p ~w~n", [Pattern, catch re:run(<<"\\xIJFR81-89">>, Pattern)]) || Pattern <- ["\\I\\J", "\\F", "[\\R]", "\\81", "\\89", "\\-", "[\\F\\I]+"]].

tails() -> ["", "{L}", "{Foo}", "{a}", "0041", "{100}", "{d800}", "1", "<a>"].

is_refused(Pattern, Options) -> refused(Pattern, Options) =/= ok.

refused(Pattern, Options) ->
    case re:compile(Pattern, Options) of {ok, _} -> ok; {error, _} -> error end.

%% expect: [] [{[],[49,50,51,52,53,54,55,76,80,85,99,103,107,108,111,112,117]},{[123,76,125],[49,50,51,52,53,54,55,76,78,85,103,107,108,111,117,120]},{[123,70,111,111,125],[49,50,51,52,53,54,55,76,78,80,85,103,107,108,111,112,117,120]},{[123,97,125],[49,50,51,52,53,54,55,76,78,80,85,103,107,108,111,112,117]},{[48,48,52,49],[52,53,54,55,76,80,85,103,107,108,111,112,117]},{[123,49,48,48,125],[49,50,51,52,53,54,55,65,66,69,71,75,76,80,85,90,98,103,107,108,112,117,120,122]},{[123,100,56,48,48,125],[49,50,51,52,53,54,55,76,78,80,85,103,107,108,111,112,117,120]},{[49],[76,80,85,103,107,108,111,112,117]},{[60,97,62],[49,50,51,52,53,54,55,76,80,85,103,107,108,111,112,117]}]
%% expect: [unicode] [{[],[49,50,51,52,53,54,55,76,80,85,99,103,107,108,111,112,117]},{[123,76,125],[49,50,51,52,53,54,55,76,78,85,103,107,108,111,117,120]},{[123,70,111,111,125],[49,50,51,52,53,54,55,76,78,80,85,103,107,108,111,112,117,120]},{[123,97,125],[49,50,51,52,53,54,55,76,78,80,85,103,107,108,111,112,117]},{[48,48,52,49],[76,80,85,103,107,108,111,112,117]},{[123,49,48,48,125],[49,50,51,52,53,54,55,65,66,69,71,75,76,80,85,90,98,103,107,108,112,117,122]},{[123,100,56,48,48,125],[49,50,51,52,53,54,55,76,78,80,85,103,107,108,111,112,117,120]},{[49],[76,80,85,103,107,108,111,112,117]},{[60,97,62],[49,50,51,52,53,54,55,76,80,85,103,107,108,111,112,117]}]
%% expect: in a class [69,76,78,80,81,85,99,108,111,112,117]
%% expect: "\\" [error,error,error]
%% expect: "a\\" [error,error,error]
%% expect: "\\c" [error,error,error]
%% expect: "\\g" [error,error,error]
%% expect: "\\k" [error,error,error]
%% expect: "\\p{Foo}" [error,error,error]
%% expect: "\\p" [error,error,error]
%% expect: "\\L" [error,error,error]
%% expect: "\\u0041" [error,error,error]
%% expect: "\\x{100}" [error,ok,error]
%% expect: "\\x{d800}" [error,error,error]
%% expect: "\\x{110000}" [error,error,error]
%% expect: "\\o{8}" [error,error,error]
%% expect: "\\N{a}" [error,error,error]
%% expect: "(a)\\2" [error,error,error]
%% expect: "(a)\\8" [ok,ok,ok]
%% expect: "\\81" [ok,ok,ok]
%% expect: "(\\8)" [ok,ok,ok]
%% expect: "[\\R]" [ok,ok,ok]
%% expect: "[\\X\\B]" [ok,ok,ok]
%% expect: "[\\N]" [error,error,error]
%% expect: "[\\d-z]" [ok,ok,ok]
%% expect: "[a\\R-z]" [ok,ok,ok]
%% expect: "\\I\\J\\M" [ok,ok,ok]
%% expect: "\\y{2}" [ok,ok,ok]
%% expect: "\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y\\y" [ok,ok,ok]
%% expect: "\\I\\J" {match,[{2,2}]}
%% expect: "\\F" {match,[{4,1}]}
%% expect: "[\\R]" {match,[{5,1}]}
%% expect: "\\81" {match,[{6,2}]}
%% expect: "\\89" {match,[{9,2}]}
%% expect: "\\-" {match,[{8,1}]}
%% expect: "[\\F\\I]+" {match,[{2,1}]}
