%% SPDX-License-Identifier: Apache-2.0
%% erlc: +beam_debug_info
%% Operation or form                          Test
%% debug_line, before every line              all of it
%% bif3: is_integer/3                         between/2
%% zip generators, strict generators          comprehensions/0
%% literals not compressed, atoms of 255 characters   literals/0
%% executable_line                            otp27/ops27_lines
-module(ops29).
-export([main/0]).

main() ->
    io:format("~0p~n", [[between(X, 10) || X <- [-1, 0, 10, 11, 5.0, a, 1 bsl 80]]]),
    io:format("~0p~n", [try between(1, a) catch error:E -> E end]),
    io:format("~0p~n", [comprehensions()]),
    io:format("~0p~n", [literals()]),
    io:format("~0p~n", [try deep(2) catch error:R:S -> {R, [{F, A} || {?MODULE, F, A, _} <- S]} end]).

between(X, High) when is_integer(X, 0, High) -> inside;
between(X, High) -> is_integer(X, -1, High).

comprehensions() ->
    [[{A, B} || A <- [1, 2] && B <- id([a, b])],
     << <<(A + B)>> || <<A>> <= <<1, 2>> && <<B>> <= <<10, 20>> >>,
     [X || {ok, X} <:- id([{ok, 1}, {ok, 2}])],
     try [X || {ok, X} <:- id([{ok, 1}, no])] catch error:R -> R end,
     try [A || A <- id([1]) && _ <- id([])] catch error:R -> R end].

literals() ->
    [length(atom_to_list(
       'ééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééé')),
     {lit, [1, 2, 3], #{a => "text"}, 123456789012345678901234567890, 1.5}].

deep(0) ->
    X = id(0),
    1 / X;
deep(N) ->
    Y = deep(N - 1),
    Y + 1.

id(X) -> X.

%% expect: [true,inside,inside,false,false,false,false]
%% expect: badarg
%% expect: [[{1,a},{2,b}],<<11,22>>,[1,2],{badmatch,no},{bad_generators,{[1],[]}}]
%% expect: [155,{lit,[1,2,3],#{a => "text"},123456789012345678901234567890,1.5}]
%% expect: {badarith,[{deep,1},{deep,1},{main,0}]}
