%% SPDX-License-Identifier: Apache-2.0
%% Products and shifted integers of which a mask takes low bits, with small constants and registers added, taken away,
%% multiplied and combined in between: as by large integers, which the second of each pair makes as it keeps what is between.
-module(lang_masked).
-export([main/0, product/2, scaled/1, sum/2, difference/2, chain/2, shifted/2, shifted_far/1, negative/2, none/2, twice/2, mixed/2, summed/2, rotated/2, guard/2, other/2,
         kept_product/2, kept_scaled/1, kept_sum/2, kept_difference/2, kept_chain/2, kept_shifted/2, kept_shifted_far/1, kept_negative/2,
         kept_none/2, kept_twice/2, kept_mixed/2, kept_summed/2, kept_rotated/2]).

main() ->
    Numbers = [0, 1, -1, 2, 3, -7, 255, -256, 65537, 1 bsl 31, -(1 bsl 31), 1 bsl 58, (1 bsl 59) - 1, -(1 bsl 59), 1 bsl 59, 1 bsl 64, -(1 bsl 90), 16#123456789abcdef],
    Pairs = [{X, Y} || X <- Numbers, Y <- Numbers],
    [io:format("~s ~w~n", [F, compare(F, Pairs)]) || F <- [product, sum, difference, chain, negative, none, twice, mixed, summed]],
    [io:format("~s ~w~n", [F, compare(F, [{X, N} || X <- Numbers, N <- [0, 1, 5, 31, 59, 60, 63, 64, 65, 200, -1, -70]])]) || F <- [shifted, rotated]],
    [io:format("~s ~w~n", [F, compare(F, [{X} || X <- Numbers])]) || F <- [scaled, shifted_far]],
    io:format("~w~n", [[guard(X, Y) || {X, Y} <- [{1 bsl 40, 1 bsl 40}, {3, 5}, {16#ffffffffff, 16#fffffffff}, {x, 1}]]]),
    io:format("~w~n", [[other(X, Y) || {X, Y} <- [{1 bsl 40, 1 bsl 21}, {-3, 1 bsl 58}]]]),
    [io:format("~w ~w~n", [F, failure(F, X, Y)]) || {F, X, Y} <- [{product, 1.5, 2}, {product, a, 2}, {sum, 1.5, 1 bsl 40}, {shifted, 1, 1 bsl 40}, {shifted, 1, 1.0}]].

compare(F, All) ->
    Kept = list_to_atom("kept_" ++ atom_to_list(F)),
    {length(All), [{Args, A, B} || Args <- All, A <- [apply(?MODULE, F, tuple_to_list(Args))], B <- [apply(?MODULE, Kept, tuple_to_list(Args))], A =/= B]}.

failure(F, X, Y) -> try ?MODULE:F(X, Y) of V -> V catch C:R -> {C, R} end.

product(X, Y) -> (X * Y) band 16#ffffffff.
scaled(X) -> (X * 1103515245 + 12345) band 16#7fffffff.
sum(X, Y) -> (X * Y + 1013904223) band 16#7ffffffffffffff.
difference(X, Y) -> (X * Y - 77) band 1.
chain(X, Y) -> ((X * Y + 5) * 31 - 3) band 65535.
shifted(X, N) -> (X bsl N) band 16#ffffffff.
shifted_far(X) -> ((X bsl 40) * 3) band 16#ffffffffffffff.
negative(X, Y) -> (X * Y) band -16.
none(X, Y) -> (X * Y) band 0.
twice(X, Y) -> ((X * Y) band -4 + 1) band 16#fffffff.

mixed(X, Y) -> ((X * Y) bxor X) band 16#ffffffffffff.
summed(X, Y) -> (X * Y + X) band 16#ffffffff.
rotated(X, N) -> ((X bsr (32 - N)) bor (X bsl N)) band 16#ffffffff.

guard(X, Y) when (X * Y) band 255 =:= 15 -> fifteen;
guard(X, Y) when (X * Y) band 16#ffff > 0 -> more;
guard(_, _) -> none.

%% What follows takes other bits, too.
other(X, Y) -> {(X * Y) div 3, ((X * Y) bsr 4) band 255}.

kept_product(X, Y) -> P = X * Y, keep(P) band 16#ffffffff.
kept_scaled(X) -> (keep(keep(X * 1103515245) + 12345)) band 16#7fffffff.
kept_sum(X, Y) -> keep(keep(X * Y) + 1013904223) band 16#7ffffffffffffff.
kept_difference(X, Y) -> keep(keep(X * Y) - 77) band 1.
kept_chain(X, Y) -> keep(keep(keep(keep(X * Y) + 5) * 31) - 3) band 65535.
kept_shifted(X, N) -> keep(X bsl N) band 16#ffffffff.
kept_shifted_far(X) -> keep(keep(X bsl 40) * 3) band 16#ffffffffffffff.
kept_negative(X, Y) -> keep(X * Y) band -16.
kept_none(X, Y) -> keep(X * Y) band 0.
kept_twice(X, Y) -> keep(keep(keep(X * Y) band -4) + 1) band 16#fffffff.

kept_mixed(X, Y) -> keep(keep(X * Y) bxor X) band 16#ffffffffffff.
kept_summed(X, Y) -> keep(keep(X * Y) + X) band 16#ffffffff.
kept_rotated(X, N) -> keep((X bsr (32 - N)) bor keep(X bsl N)) band 16#ffffffff.

keep(X) -> put(kept, X), get(kept).

%% expect: product {324,[]}
%% expect: sum {324,[]}
%% expect: difference {324,[]}
%% expect: chain {324,[]}
%% expect: negative {324,[]}
%% expect: none {324,[]}
%% expect: twice {324,[]}
%% expect: mixed {324,[]}
%% expect: summed {324,[]}
%% expect: shifted {216,[]}
%% expect: rotated {216,[]}
%% expect: scaled {18,[]}
%% expect: shifted_far {18,[]}
%% expect: [none,fifteen,more,none]
%% expect: [{768614336404564650,0},{-288230376151711744,0}]
%% expect: product {error,badarith}
%% expect: product {error,badarith}
%% expect: sum {error,badarith}
%% expect: shifted {error,system_limit}
%% expect: shifted {error,badarith}
