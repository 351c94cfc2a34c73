%% SPDX-License-Identifier: Apache-2.0
%% Lists out of lists and binaries: order, filters, patterns that skip.
-module(lang_comprehensions).
-export([main/0]).

main() ->
    erlang:display([X * X || X <- lists:seq(1, 10), X rem 3 =/= 0]),
    erlang:display([{X, Y, Z} || X <- lists:seq(1, 20), Y <- lists:seq(X, 20), Z <- [trunc(math:sqrt(X * X + Y * Y))],
                                 X * X + Y * Y =:= Z * Z]),
    erlang:display([V || {ok, V} <- [{ok, 1}, error, {ok, 2}, {ok}, {ok, 3}]]),
    erlang:display([[Y || Y <- L, Y > 1] || L <- [[1, 2], [], [3]]]),
    erlang:display(perms([a, b, c])),
    erlang:display(qsort([3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5])),
    erlang:display(try [X || X <- improper()] catch error:R -> R end),
    erlang:display(try [X || X <- [1, 2, 3], maybe_bad(X)] catch error:R1 -> R1 end).

perms([]) -> [[]];
perms(L) -> [[H | T] || H <- L, T <- perms(L -- [H])].

qsort([]) -> [];
qsort([P | T]) -> qsort([X || X <- T, X < P]) ++ [P] ++ qsort([X || X <- T, X >= P]).

improper() -> [1, 2 | binary_to_term(term_to_binary(tail))].

maybe_bad(2) -> two;
maybe_bad(_) -> true.

%% expect: [1,4,16,25,49,64,100]
%% expect: [{3,4,5},{5,12,13},{6,8,10},{8,15,17},{9,12,15},{12,16,20},{15,20,25}]
%% expect: [1,2,3]
%% expect: [[2],[],[3]]
%% expect: [[a,b,c],[a,c,b],[b,a,c],[b,c,a],[c,a,b],[c,b,a]]
%% expect: [1,1,2,3,3,4,5,5,5,6,9]
%% expect: {bad_generator,tail}
%% expect: {bad_filter,two}
