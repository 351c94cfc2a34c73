%% SPDX-License-Identifier: Apache-2.0
%% erlang:phash2 gives the same values everywhere.
-module(lang_phash2).
-export([main/0]).
-compile(nowarn_deprecated_function).

main() ->
    [erlang:display(erlang:phash2(T))
     || T <- [0, 1, -1, 134217727, 134217728, -134217728, -134217729, 16#ffffffff, 16#100000000, 1 bsl 59, 1 bsl 63, 1 bsl 64, -(1 bsl 64),
              1 bsl 100, a, '', abc, [], "a", "abc", [a | b], [1, 2, 3], [300], {}, {a}, {1, 2}, <<>>, <<1>>, <<1, 2, 3>>, <<1, 2, 3, 4, 5>>,
              <<"0123456789abcdef">>, <<1:1>>, <<5:3, 7>>, #{}, #{a => 1}, #{a => 1, b => 2}, #{1 => #{2 => 3}}, 'é', [[], [[]]],
              {{{}}}, [1000000000000000000000 | x]]],
    [erlang:display(erlang:phash2(F)) || F <- [0.0, 1.0, -1.0, 1.5, 1.0e300]],
    erlang:display(erlang:phash2(fun lists:map/2)),
    erlang:display([erlang:phash2(abc, R) || R <- [1, 2, 7, 1000, 1 bsl 32]]),
    erlang:display(erlang:phash2(binary:copy(<<"x">>, 10000))),
    erlang:display(erlang:phash2(lists:seq(1, 10000))),
    erlang:display(erlang:phash2(list_to_tuple(lists:seq(1, 1000)))),
    erlang:display(erlang:phash2(maps:from_list([{I, I} || I <- lists:seq(1, 1000)]))),
    Ts = terms(20000, 17, []),
    erlang:display(erlang:phash2([erlang:phash2(T) || T <- Ts])),
    erlang:display(lists:foldl(fun(T, A) -> (A * 31 + erlang:phash2(T)) band 16#ffffffffffff end, 0, Ts)),
    %% the older hash of all of them, and of parts of binaries from every bit of a byte on
    erlang:display(lists:foldl(fun(T, A) -> (A * 31 + erlang:phash(T, 1 bsl 32)) band 16#ffffffffffff end, 0, Ts)),
    erlang:display(lists:sum([erlang:phash(part(Skip, N), 1 bsl 32) || Skip <- lists:seq(0, 8), N <- lists:seq(0, 90)])).

part(Skip, N) -> <<_:Skip, Part:N/bits, _/bits>> = <<"parts of a binary">>, Part.

%% A large set of terms out of a congruential generator.
terms(0, _, A) -> A;
terms(N, S, A) ->
    {T, S1} = term(S, 4),
    terms(N - 1, S1, [T | A]).

term(S0, D) ->
    S = next(S0),
    case (S bsr 16) rem (if D > 0 -> 12; true -> 8 end) of
        0 -> {(S bsr 8) band 255, S};
        1 -> {-(S bsr 4), S};
        2 -> {S * S * S * S * S, S};
        3 -> {list_to_atom("a" ++ integer_to_list(S rem 1000)), S};
        4 -> {(S rem 100000) / 8, S};
        5 -> {binary:copy(<<S:32>>, (S bsr 10) rem 9), S};
        6 -> {<<S:((S bsr 12) rem 30)>>, S};
        7 -> {[], S};
        8 -> {L, S1} = term_list((S bsr 9) rem 5, S, D - 1, []), {L, S1};
        9 -> {L, S1} = term_list((S bsr 9) rem 5, S, D - 1, []), {list_to_tuple(L), S1};
        10 -> {L, S1} = term_list(2 * ((S bsr 9) rem 4), S, D - 1, []), {pairs(L, #{}), S1};
        11 -> {H, S1} = term(S, D - 1), {T, S2} = term(S1, D - 1), {[H | T], S2}
    end.

term_list(0, S, _, A) -> {A, S};
term_list(N, S, D, A) -> {T, S1} = term(S, D), term_list(N - 1, S1, D, [T | A]).

pairs([K, V | R], M) -> pairs(R, M#{K => V});
pairs([], M) -> M.

next(S) -> (S * 1103515245 + 12345) band 16#7fffffff.

%% expect: 88723725
%% expect: 2614250
%% expect: 44071773
%% expect: 112602999
%% expect: 12354923
%% expect: 69672967
%% expect: 76739502
%% expect: 95053261
%% expect: 95057355
%% expect: 26969617
%% expect: 39852678
%% expect: 103122609
%% expect: 13457787
%% expect: 126219984
%% expect: 97
%% expect: 0
%% expect: 26499
%% expect: 113427502
%% expect: 49011133
%% expect: 117343302
%% expect: 74710280
%% expect: 25788620
%% expect: 99763619
%% expect: 87486268
%% expect: 35332806
%% expect: 91564110
%% expect: 13708901
%% expect: 76691218
%% expect: 6479071
%% expect: 81915243
%% expect: 121146389
%% expect: 102233125
%% expect: 15222282
%% expect: 39679005
%% expect: 59617982
%% expect: 103634663
%% expect: 130277437
%% expect: 233
%% expect: 128532175
%% expect: 79733157
%% expect: 23146154
%% expect: 20875736
%% expect: 77147068
%% expect: 103700184
%% expect: 10380315
%% expect: 119088650
%% expect: 34981515
%% expect: [0,1,4,499,26499]
%% expect: 132588902
%% expect: 15699268
%% expect: 117396224
%% expect: 66609305
%% expect: 11289653
%% expect: 134697199359060
%% expect: 55056916070687
%% expect: 1672798086840
