%% SPDX-License-Identifier: Apache-2.0
%% 0.0 and -0.0 are the same key of a map, up to OTP 26. Which of them a map has afterwards, in small maps and large ones.
%% until: 26
-module(lang_zero_keys).
-export([main/0]).

main() ->
    [begin
         Rest = [{I, x} || I <- lists:seq(1, N)],
         p({N, made(Rest), changed(Rest), merged(Rest), together(Rest)})
     end || N <- [0, 3, 40, 2000]],
    Full = maps:from_list([{plus(), 1} | [{I, x} || I <- lists:seq(1, 31)]]),
    p([zeros(maps:put(q, 1, Full)), zeros(Full#{minus() => 2}), zeros((Full#{q => 1})#{minus() => 2}),
       zeros(maps:remove(q, maps:put(minus(), 1, maps:put(q, 1, Full))))]).

made(Rest) ->
    [zeros(maps:from_list(L ++ Rest)) ++ zeros(maps:from_list(Rest ++ L)) ++ zeros(maps:from_keys([K || {K, _} <- Rest ++ L], x))
     || {A, B} <- pairs(), L <- [[{A, 1}, {B, 2}], [{A, 1}, {B, 1}]]].

%% Another value, then the same one.
changed(Rest) ->
    [begin
         M = maps:from_list([{A, 1} | Rest]),
         [hd(zeros(C)) || C <- [maps:put(B, 2, M), maps:put(B, 1, M), M#{B => 2}, M#{B := 2}, M#{B := 1}, maps:update(B, 2, M)]]
     end || {A, B} <- pairs()].

merged(Rest) ->
    [zeros(maps:merge(maps:from_list([{A, 1} | Rest]), maps:from_list([{B, V} | Other])))
     || {A, B} <- pairs(), V <- [1, 2], Other <- [[], Rest, [{a, 1}], [{{I}, x} || I <- lists:seq(1, 50)]]].

together(Rest) ->
    [begin
         M = maps:from_list([{A, 1} | Rest]),
         zeros(M#{a => 1, B => 2, {t} => 3}) ++ zeros(M#{a => 1, B => 1})
     end || {A, B} <- pairs()].

pairs() -> [{plus(), minus()}, {minus(), plus()}].
plus() -> binary_to_term(<<131, 70, 0:64>>).
minus() -> binary_to_term(<<131, 70, 1:1, 0:63>>).

zeros(M) -> [case <<K/float>> of <<1:1, _/bits>> -> minus; _ -> plus end || K <- maps:keys(M), is_float(K)].
p(T) -> io:format("~0p~n", [T]).
%% expect: {0,[[minus,minus,minus],[minus,minus,minus],[plus,plus,plus],[plus,plus,plus]],[[plus,plus,plus,plus,plus,plus],[minus,minus,minus,minus,minus,minus]],[[minus],[minus],[minus],[minus],[minus],[minus],[minus],[minus],[plus],[plus],[plus],[plus],[plus],[plus],[plus],[plus]],[[plus,plus],[minus,minus]]}
%% expect: {3,[[minus,minus,minus],[minus,minus,minus],[plus,plus,plus],[plus,plus,plus]],[[plus,plus,plus,plus,plus,plus],[minus,minus,minus,minus,minus,minus]],[[minus],[minus],[minus],[minus],[minus],[minus],[minus],[minus],[plus],[plus],[plus],[plus],[plus],[plus],[plus],[plus]],[[plus,plus],[minus,minus]]}
%% expect: {40,[[minus,minus,minus],[minus,minus,minus],[plus,plus,plus],[plus,plus,plus]],[[minus,plus,minus,minus,plus,minus],[plus,minus,plus,plus,minus,plus]],[[minus],[minus],[minus],[minus],[minus],[minus],[minus],[minus],[plus],[plus],[plus],[plus],[plus],[plus],[plus],[plus]],[[minus,plus],[plus,minus]]}
%% expect: {2000,[[minus,minus,minus],[minus,minus,minus],[plus,plus,plus],[plus,plus,plus]],[[minus,plus,minus,minus,plus,minus],[plus,minus,plus,plus,minus,plus]],[[minus],[minus],[minus],[minus],[minus],[minus],[minus],[minus],[plus],[plus],[plus],[plus],[plus],[plus],[plus],[plus]],[[minus,plus],[plus,minus]]}
%% expect: [[plus],[plus],[minus],[plus]]
