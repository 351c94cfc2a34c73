%% SPDX-License-Identifier: Apache-2.0
%% re: a call of a group inside itself with nothing before it that must take a character is refused when the pattern is compiled;
%% so are options for lines that contradict each other. The PCRE2 of OTP 28 and later refuses none of these calls.
%% erl differs: 29
-module(re_loops).
-export([main/0]).

main() ->
    [io:format("~s ~0p~n", [Pattern, [compiled(Pattern, Options) || Options <- [[], [no_auto_capture], [extended, unicode]]]]) || Pattern <- patterns()],
    rand:seed(exsss, 5),
    Made = [{Pattern, compiled(Pattern, [])} || _ <- lists:seq(1, 20000), Pattern <- [made_up()]],
    io:format("made up ~p ~p~n", [length([P || {P, {loop, _}} <- Made]) > 500, erlang:phash2(Made)]),
    io:format("many ~w~n", [[compiled(lists:append(lists:duplicate(1500, Part)), []) || Part <- ["b?(a(?R))?", "a(?R)?"]]]),
    [io:format("~0p ~0p~n", [First, [{Second, with_lines([First, Second])} || Second <- lines()]]) || First <- lines()],
    io:format("~0p~n", [[re:run("a\r\nb", "a$", O) || O <- [[{newline, cr}, {newline, lf}], [{newline, cr}], [{newline, cr}, {newline, any}]]]]).

patterns() ->
    ["(?R)", "a(?R)?", "(?R)?a", "a|(?R)", "(a|(?R))", "((?1))", "(a(?1)?)", "(a?(?1))", "(a*b?(?1))", "(a+(?1)?)", "(?=(?R))", "(?!a(?R))", "(?0)", "(?<n>(?&n))",
     "(?<n>a(?&n)?)", "(?P<n>(?P>n))", "\\g<0>", "(\\g'1')", "(?R){0}", "^(?R)$", "\\b(?R)", "(?i)(?R)", "(?#(?R))a", "\\Q(?R)\\E", "[(?R)]", "[]()?R]", "\\((?R)?",
     "(?(1)(?R)|b)()", "(?(?=a)(?R)|b)", "((?2)a)((?1)b)", "(?|(a)|((?1)))", "(?|(a)|(b(?1)?))", "(a)(?1)", "(?-1)", "(x?(?-1))", "(?<a>x)(?<b>(?&a)(?&b)?)",
     "(?x) # (?R)\n a", "(?:a?|b)(?R)", "(?:a|b)(?R)?", "(?<=a)(?R)", "((((a?)))(?R))"].

%% Without other errors: a loop is told before or after them.
made_up() -> made_up(rand:uniform(6), 0).

made_up(0, Open) -> lists:duplicate(Open, $));
made_up(N, Open) ->
    case rand:uniform(12) of
        1 -> "(" ++ made_up(N - 1, Open + 1);
        2 -> element(rand:uniform(3), {"(?:", "(?=", "(?>"}) ++ made_up(N - 1, Open + 1);
        3 when Open > 0 -> ")" ++ made_up(N - 1, Open - 1);
        4 -> "|" ++ made_up(N - 1, Open);
        5 -> "(?R)" ++ element(rand:uniform(2), {"", "?"}) ++ made_up(N - 1, Open);
        6 -> "a?" ++ made_up(N - 1, Open);
        K -> element(K rem 5 + 1, {"a", "[)(]", "\\b", "\\(?", "b*"}) ++ made_up(N - 1, Open)
    end.

compiled(Pattern, Options) ->
    case re:compile(Pattern, Options) of
        {ok, _} -> ok;
        {error, {"recursive call could loop indefinitely", Place}} -> {loop, Place};
        {error, _} -> error
    end.

lines() -> [bsr_anycrlf, bsr_unicode | [{newline, Line} || Line <- [cr, lf, crlf, anycrlf, any]]].

with_lines(Options) ->
    case re:compile("a$", Options) of
        {ok, {re_pattern, _, _, HasCrlf, _}} -> HasCrlf;
        {error, Why} -> Why
    end.
%% expect: (?R) [{loop,3},{loop,3},{loop,3}]
%% expect: a(?R)? [ok,ok,ok]
%% expect: (?R)?a [{loop,3},{loop,3},{loop,3}]
%% expect: a|(?R) [{loop,5},{loop,5},{loop,5}]
%% expect: (a|(?R)) [{loop,6},{loop,6},{loop,6}]
%% expect: ((?1)) [{loop,4},error,{loop,4}]
%% expect: (a(?1)?) [ok,error,ok]
%% expect: (a?(?1)) [{loop,6},error,{loop,6}]
%% expect: (a*b?(?1)) [{loop,8},error,{loop,8}]
%% expect: (a+(?1)?) [ok,error,ok]
%% expect: (?=(?R)) [{loop,6},{loop,6},{loop,6}]
%% expect: (?!a(?R)) [ok,ok,ok]
%% expect: (?0) [{loop,3},{loop,3},{loop,3}]
%% expect: (?<n>(?&n)) [{loop,9},{loop,9},{loop,9}]
%% expect: (?<n>a(?&n)?) [ok,ok,ok]
%% expect: (?P<n>(?P>n)) [{loop,11},{loop,11},{loop,11}]
%% expect: \g<0> [{loop,4},{loop,4},{loop,4}]
%% expect: (\g'1') [{loop,5},error,{loop,5}]
%% expect: (?R){0} [{loop,3},{loop,3},{loop,3}]
%% expect: ^(?R)$ [{loop,4},{loop,4},{loop,4}]
%% expect: \b(?R) [{loop,5},{loop,5},{loop,5}]
%% expect: (?i)(?R) [{loop,7},{loop,7},{loop,7}]
%% expect: (?#(?R))a [error,error,error]
%% expect: \Q(?R)\E [ok,ok,ok]
%% expect: [(?R)] [ok,ok,ok]
%% expect: []()?R] [ok,ok,ok]
%% expect: \((?R)? [ok,ok,ok]
%% expect: (?(1)(?R)|b)() [ok,error,ok]
%% expect: (?(?=a)(?R)|b) [ok,ok,ok]
%% expect: ((?2)a)((?1)b) [ok,error,ok]
%% expect: (?|(a)|((?1))) [ok,error,ok]
%% expect: (?|(a)|(b(?1)?)) [ok,error,ok]
%% expect: (a)(?1) [ok,error,ok]
%% expect: (?-1) [error,error,error]
%% expect: (x?(?-1)) [{loop,7},error,{loop,7}]
%% expect: (?<a>x)(?<b>(?&a)(?&b)?) [ok,ok,ok]
%% expect: (?x) # (?R)
%% expect:  a [ok,ok,ok]
%% expect: (?:a?|b)(?R) [{loop,11},{loop,11},{loop,11}]
%% expect: (?:a|b)(?R)? [ok,ok,ok]
%% expect: (?<=a)(?R) [{loop,9},{loop,9},{loop,9}]
%% expect: ((((a?)))(?R)) [{loop,12},{loop,12},{loop,12}]
%% expect: made up true 49144101
%% expect: many [ok,ok]
%% expect: bsr_anycrlf [{bsr_anycrlf,0},{bsr_unicode,{"inconsistent NEWLINE options",0}},{{newline,cr},0},{{newline,lf},0},{{newline,crlf},1},{{newline,anycrlf},1},{{newline,any},1}]
%% expect: bsr_unicode [{bsr_anycrlf,{"inconsistent NEWLINE options",0}},{bsr_unicode,0},{{newline,cr},0},{{newline,lf},0},{{newline,crlf},1},{{newline,anycrlf},1},{{newline,any},1}]
%% expect: {newline,cr} [{bsr_anycrlf,0},{bsr_unicode,0},{{newline,cr},0},{{newline,lf},1},{{newline,crlf},1},{{newline,anycrlf},1},{{newline,any},1}]
%% expect: {newline,lf} [{bsr_anycrlf,0},{bsr_unicode,0},{{newline,cr},1},{{newline,lf},0},{{newline,crlf},1},{{newline,anycrlf},{"inconsistent NEWLINE options",0}},{{newline,any},{"inconsistent NEWLINE options",0}}]
%% expect: {newline,crlf} [{bsr_anycrlf,1},{bsr_unicode,1},{{newline,cr},1},{{newline,lf},1},{{newline,crlf},1},{{newline,anycrlf},{"inconsistent NEWLINE options",0}},{{newline,any},{"inconsistent NEWLINE options",0}}]
%% expect: {newline,anycrlf} [{bsr_anycrlf,1},{bsr_unicode,1},{{newline,cr},1},{{newline,lf},{"inconsistent NEWLINE options",0}},{{newline,crlf},{"inconsistent NEWLINE options",0}},{{newline,anycrlf},1},{{newline,any},1}]
%% expect: {newline,any} [{bsr_anycrlf,1},{bsr_unicode,1},{{newline,cr},1},{{newline,lf},{"inconsistent NEWLINE options",0}},{{newline,crlf},{"inconsistent NEWLINE options",0}},{{newline,anycrlf},1},{{newline,any},1}]
%% expect: [nomatch,nomatch,nomatch]
