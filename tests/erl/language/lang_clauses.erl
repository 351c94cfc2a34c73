%% SPDX-License-Identifier: Apache-2.0
%% Clauses, guards, case, if: the first that fits is taken.
-module(lang_clauses).
-export([main/0]).

main() ->
    [erlang:display(kind(T)) || T <- [0, -3, 7, 1 bsl 64, 1.5, [], [x], "", {}, {1, 2}, a, <<>>, <<1:3>>, #{}, self(), make_ref(),
                                      fun main/0, fun(X) -> X end]],
    erlang:display([sign(N) || N <- [-2, 0, 2.5]]),
    erlang:display([guard(X, Y) || {X, Y} <- [{1, 2}, {2, 1}, {a, 1}, {1, 1.0}]]),
    erlang:display(same(1, 1)),
    erlang:display(same(1, 1.0)),
    erlang:display([types(T) || T <- [0, 1 bsl 64, 1.5, [], [x], {}, a, true, <<>>, <<1:3>>, #{}, self(), make_ref(), open_port({spawn, "cat"}, []),
                                      fun main/0]]),
    erlang:display([nested(T) || T <- [{ok, [1, {2, 3} | t]}, {ok, [1]}, {error, {why, [deep]}}, other]]).

kind(0) -> zero;
kind(N) when is_integer(N), N < 0 -> negative;
kind(N) when is_integer(N), N > 16#ffffffffffffffff - 1 -> large;
kind(N) when is_integer(N) -> integer;
kind(F) when is_float(F) -> float;
kind([]) -> nil;
kind([_ | _]) -> list;
kind({}) -> empty_tuple;
kind(T) when is_tuple(T), tuple_size(T) =:= 2 -> pair;
kind(A) when is_atom(A) -> atom;
kind(B) when is_binary(B) -> binary;
kind(B) when is_bitstring(B) -> bitstring;
kind(M) when is_map(M) -> map;
kind(P) when is_pid(P) -> pid;
kind(R) when is_reference(R) -> reference;
kind(F) when is_function(F, 1) -> unary;
kind(F) when is_function(F) -> other_fun.

sign(N) -> if N < 0 -> negative; N == 0 -> zero; true -> positive end.

%% The names of the tests that are true, as values, not as guards.
types(T) ->
    Tests = [{list, is_list(T)}, {atom, is_atom(T)}, {integer, is_integer(T)}, {tuple, is_tuple(T)}, {map, is_map(T)},
             {binary, is_binary(T)}, {bits, is_bitstring(T)}, {float, is_float(T)}, {number, is_number(T)}, {pid, is_pid(T)},
             {ref, is_reference(T)}, {port, is_port(T)}, {boolean, is_boolean(T)}, {function, is_function(T)}],
    [Name || {Name, true} <- Tests].

guard(X, Y) when X > Y; is_atom(X) -> first;
guard(X, Y) when X == Y, not (X =:= Y) -> second;
guard(_, _) -> third.

same(X, X) -> true;
same(_, _) -> false.

nested(T) ->
    case T of
        {ok, [A, {B, C} | D]} -> {A, B, C, D};
        {ok, L} when length(L) =:= 1 -> short;
        {error, {_, [W]}} -> W;
        _ -> none
    end.

%% expect: zero
%% expect: negative
%% expect: integer
%% expect: large
%% expect: float
%% expect: nil
%% expect: list
%% expect: nil
%% expect: empty_tuple
%% expect: pair
%% expect: atom
%% expect: binary
%% expect: bitstring
%% expect: map
%% expect: pid
%% expect: reference
%% expect: other_fun
%% expect: unary
%% expect: [negative,zero,positive]
%% expect: [third,first,first,second]
%% expect: true
%% expect: false
%% expect: [[integer,number],[integer,number],[float,number],[list],[list],[tuple],[atom],[atom,boolean],[binary,bits],[bits],[map],[pid],[ref],[port],[function]]
%% expect: [{1,2,3,t},short,deep,none]
