%% SPDX-License-Identifier: Apache-2.0
%% Floats where instructions are joined: what the first one left in registers must not count when the second one fails, as
%% the whole is then done again. The truth is what the functions of erlang say, called one by one.
-module(lang_float_joined).
-export([main/0, dot/4, three/4, less/4, sums/4, parts/4, own/4, both/4, under/4, turned/4, made/4]).

main() ->
    Values = [1.0e308, 1.7e308, -1.7e308, 0.99, 0.5, -2.0, 3.0, 1.2e307, 1.0e-308, 0.0],
    Tried = [{F, told(fun() -> ?MODULE:F(A, B, C, D) end), told(fun() -> truth(F, A, B, C, D) end)}
             || F <- [dot, three, less, sums, parts, own, both, under, turned, made], A <- Values, B <- Values, C <- Values, D <- Values],
    erlang:display({length(Tried), length([ok || {_, badarith, badarith} <- Tried]) > 10000}),
    erlang:display([Wrong || {_, Told, Truth} = Wrong <- Tried, Told =/= Truth]).

dot(A, B, C, D) when is_float(A), is_float(B), is_float(C), is_float(D) -> A * B + C * D.
three(A, B, C, D) when is_float(A), is_float(B), is_float(C), is_float(D) -> A * B * C * D.
less(A, B, C, D) when is_float(A), is_float(B), is_float(C), is_float(D) -> A * B - C - D.
sums(A, B, C, D) when is_float(A), is_float(B), is_float(C), is_float(D) -> (A + B) * (C - D).
parts(A, B, C, D) -> parts({A, B}, {C, D}).
parts({A, B}, {C, D}) when is_float(A), is_float(B), is_float(C), is_float(D) -> A * C + B * D.
own(A, B, C, D) -> last({D, A}, B) * last({D, B}, C).
both(A, B, C, D) when is_float(A), is_float(B) -> S = A * B, S + S * C - D.
under(A, B, C, D) when is_float(A), is_float(B), is_float(C), is_float(D) -> A / B - C / D.
turned(A, B, C, D) when is_float(A), is_float(B), is_float(C), is_float(D) -> -(A * B) + -(C + D).

%% What is in the tuple is known to be floats: each is loaded from where it stands when it is needed.
made(A, B, C, D) when is_float(A), is_float(B), is_float(C), is_float(D) ->
    first(pair(A, B), C) * second(pair(C, D), B).

pair(A, B) -> {A * 1.0, B * 1.0}.
first({X, _}, Y) ->
    if Y > 1.0 -> Y * Y + X;
       true -> Y
    end.
second({_, X}, Y) ->
    if Y > 0.5 -> Y / 2.0 * X;
       true -> Y
    end.

last({_, X}, Y) when is_float(X), is_float(Y) -> X + Y.

truth(dot, A, B, C, D) -> '+'('*'(A, B), '*'(C, D));
truth(three, A, B, C, D) -> '*'('*'('*'(A, B), C), D);
truth(less, A, B, C, D) -> '-'('-'('*'(A, B), C), D);
truth(sums, A, B, C, D) -> '*'('+'(A, B), '-'(C, D));
truth(parts, A, B, C, D) -> '+'('*'(A, C), '*'(B, D));
truth(own, A, B, C, _) -> '*'('+'(A, B), '+'(B, C));
truth(both, A, B, C, D) -> '-'('+'('*'(A, B), '*'('*'(A, B), C)), D);
truth(under, A, B, C, D) -> '-'('/'(A, B), '/'(C, D));
truth(made, A, B, C, D) ->
    First = if C > 1.0 -> '+'('*'(C, C), A); true -> C end,
    Second = if B > 0.5 -> '*'('/'(B, 2.0), D); true -> B end,
    '*'(First, Second);
truth(turned, A, B, C, D) -> '+'(apply(erlang, '-', ['*'(A, B)]), apply(erlang, '-', ['+'(C, D)])).

'+'(A, B) -> apply(erlang, '+', [A, B]).
'-'(A, B) -> apply(erlang, '-', [A, B]).
'*'(A, B) -> apply(erlang, '*', [A, B]).
'/'(A, B) -> apply(erlang, '/', [A, B]).

told(F) ->
    try F()
    catch error:Reason -> Reason
    end.

%% expect: {100000,true}
%% expect: []
