%% SPDX-License-Identifier: Apache-2.0
%% Functions that are loops over bytes, as bs_match has them: those that pass over many bytes at once.
%% Command                        Test
%% ensure_at_least, integer       blanks/1, word/2
%% =:=                            literal/2
%% skip                           string/2, lines/2
-module(ops27_scan).
-export([main/0]).

main() ->
    show(blanks, fun blanks/1, [<<>>, <<"   x">>, <<" \n\t ">>, <<" \n", 1:1>>, <<"x ">>, atom]),
    show(word, fun(B) -> word(B, 0) end, [<<>>, <<"abc def">>, <<"abcdefgh">>, <<"ab", 1:7>>, <<"AB">>]),
    show(word, fun(B) -> word(B, 1 bsl 59 - 2) end, [<<"a">>, <<"abc">>]),
    show(word, fun(B) -> word(B, 0.5) end, [<<"abc">>, <<"A">>]),
    show(string, fun(B) -> string(B, 0) end, [<<>>, <<"abc\\\"de\"f">>, <<"\"">>, <<"abc\\">>, <<"abc", 1:3>>]),
    show(literal, fun(B) -> literal(B, 0) end, [<<>>, <<"xyabcab">>, <<"abcabcz">>, <<"zz", 0:2>>]),
    show(lines, fun(B) -> lines(B, 0) end, [<<>>, <<"a\n\nb">>, <<"\n\n\n", 1:2>>]),
    show(utf8, fun(B) -> utf8(B, 0) end, [<<>>, <<"ac", 16#c3, 16#a4, "b">>, <<"a", 255>>]),
    Large = binary:copy(<<"abcdefghij">>, 10000),
    io:format("~w~n", [{word(Large, 0), blanks(binary:copy(<<" \n">>, 50000)), literal(Large, 0),
                        string(<<Large/binary, "\"">>, 0)}]).

show(Name, F, Inputs) ->
    io:format("~w ~w~n", [Name, [try F(I) catch error:R -> R end || I <- Inputs]]).

blanks(<<$\s, R/binary>>) -> blanks(R);
blanks(<<C, R/binary>>) when C =:= $\t; C =:= $\n -> blanks(R);
blanks(R) -> R.

word(<<C, R/binary>>, N) when C >= $a, C =< $z -> word(R, N + 1);
word(_, N) -> N.

string(<<$", R/binary>>, N) -> {N, R};
string(<<$\\, _, R/binary>>, N) -> string(R, N + 2);
string(<<_, R/binary>>, N) -> string(R, N + 1);
string(<<>>, N) -> N.

literal(<<"abc", R/binary>>, N) -> literal(R, N);
literal(<<_, R/binary>>, N) -> literal(R, N + 1);
literal(<<>>, N) -> N.

lines(<<$\n, R/bits>>, N) -> lines(R, N + 1);
lines(<<_, R/bits>>, N) -> lines(R, N);
lines(R, N) -> {R, N}.

utf8(<<C/utf8, R/binary>>, N) when C =/= $b -> utf8(R, N + 1);
utf8(R, N) -> {R, N}.

%% expect: blanks [<<>>,<<120>>,<<>>,<<32,10,1:1>>,<<120,32>>,atom]
%% expect: word [0,3,8,0,0]
%% expect: word [576460752303423487,576460752303423489]
%% expect: word [3.5,0.5]
%% expect: string [0,{7,<<102>>},{0,<<>>},4,function_clause]
%% expect: literal [0,4,1,function_clause]
%% expect: lines [{<<>>,0},{<<>>,2},{<<1:2>>,3}]
%% expect: utf8 [{<<>>,0},{<<98>>,3},{<<255>>,1}]
%% expect: {100000,<<>>,70000,{100000,<<>>}}
