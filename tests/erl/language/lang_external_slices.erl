%% SPDX-License-Identifier: Apache-2.0
%% The external term format where a time slice ends in the middle: at any point, with little written or much, the result is the same.
-module(lang_external_slices).
-export([main/0]).

main() ->
    [p({Name, lists:usort([round_trip(T, term_to_binary(T), Used) || Used <- lists:seq(3880, 3999)])}) || {Name, T} <- terms()],
    p(lists:usort([try binary_to_term(cut(T, Off)) catch error:Reason -> Reason end || {_, T} <- terms(), Off <- [1, 2, 5]])).

terms() ->
    [{small, {ok, [1, a, 2.0], <<"x">>}},
     {integers, [I * S || I <- lists:seq(0, 300), S <- [1, -70000]]},
     {mixed, [[I, {I, 300, foo}, <<"bin">> | 7] || I <- lists:seq(1, 100)]},
     {tuple, list_to_tuple(lists:seq(200, 500))},
     {maps, [#{I => [I, 1, 2, 3], {I} => #{}} || I <- lists:seq(1, 60)]},
     {atoms, [list_to_atom([$a + I rem 20]) || I <- lists:seq(1, 400)]}].

%% With so many reductions of the slice used already.
round_trip(T, Bytes, Used) ->
    erlang:yield(),
    erlang:bump_reductions(Used),
    Same = term_to_binary(T) =:= Bytes,
    erlang:yield(),
    erlang:bump_reductions(Used),
    Same andalso binary_to_term(Bytes) =:= T andalso erlang:external_size(T) >= byte_size(Bytes).

%% A list of integers that ends within the last ones.
cut(T, Off) ->
    B = term_to_binary([1, 2, 300, T, 4, 5, 600, 7]),
    binary:part(B, 0, byte_size(B) - Off).

p(T) -> io:format("~p~n", [T]).
%% expect: {small,[true]}
%% expect: {integers,[true]}
%% expect: {mixed,[true]}
%% expect: {tuple,[true]}
%% expect: {maps,[true]}
%% expect: {atoms,[true]}
%% expect: [badarg]
