%% SPDX-License-Identifier: Apache-2.0
%% Float registers across calls and in long loops.
-module(lang_float_loop).
-export([main/0]).

main() ->
    p(loop(1000, 0.0)),
    p(newton(2.0, 1.0, 30)),
    p(mandel(-0.5, 0.5, 0.0, 0.0, 0)),
    p(element(1, lists:foldl(fun(X, {S, C}) -> {S + X * C, C * 0.5} end, {0.0, 1.0}, [1.0, 2, 3.5]))).

loop(0, A) -> A;
loop(N, A) -> loop(N - 1, A + (N * 1.5 - A / 3.0) * 0.25).

newton(_, X, 0) -> X;
newton(A, X, N) -> newton(A, (X + A / X) / 2, N - 1).

mandel(_, _, X, Y, 50) -> X * X + Y * Y;
mandel(A, B, X, Y, N) -> mandel(A, B, X * X - Y * Y + A, 2 * X * Y + B, N + 1).

p(X) -> erlang:display(float_to_list(X, [short])).

%% expect: "53.999999999999936"
%% expect: "1.414213562373095"
%% expect: "0.29061758348201827"
%% expect: "2.875"
