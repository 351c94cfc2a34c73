%% SPDX-License-Identifier: Apache-2.0
%% erlang:term_to_iovec/1,2: where it splits, that nothing is lost or copied, also when it takes many steps.
-module(std_iovec).
-export([main/0]).

main() ->
    [io:format("~w ~w ~w~n", [O, iolist_to_binary(V) =:= term_to_binary(T, O), [byte_size(X) || X <- lists:sublist(V, 12)]])
     || O <- [[], [{minor_version, 1}], [deterministic]], T <- terms(), V <- [erlang:term_to_iovec(T, O)]],
    Many = [{N, binary:part(b(1000), N rem 7, 60 + N rem 10)} || N <- lists:seq(1, 50000)],
    V = erlang:term_to_iovec(Many),
    garbage_collect(),
    io:format("~w ~w~n", [length(V), binary_to_term(iolist_to_binary(V)) =:= Many]),
    Kept = b(1000),
    Funs = [fun() -> Kept end, {fun(X) -> [X, Kept, fun() -> {X, Kept} end] end, Kept}],
    io:format("~w~n", [[iolist_to_binary(erlang:term_to_iovec(F)) =:= term_to_binary(F) || F <- Funs]]),
    Large = b(1000000),
    [_, Same, Parted] = [X || X <- erlang:term_to_iovec([Large, binary:part(Large, 5, 999)]), byte_size(X) > 100 orelse byte_size(X) =:= 11],
    io:format("~w~n", [[{byte_size(X), binary:referenced_byte_size(X)} || X <- [Same, Parted]]]).

b(N) -> binary:copy(<<"x">>, N).

terms() ->
    <<_:3, Shifted:100/binary, _/bits>> = b(200),
    [a, b(10), b(64), b(65), b(100), {b(65), a}, {a, b(100), b}, [b(100), b(200)], {b(63), b(64), b(65), b(66)}, binary:part(b(1000), 3, 100),
     binary:part(b(1000), 3, 60), <<(b(100))/binary, 5:3>>, <<(b(60))/binary, 5:3>>, Shifted, lists:duplicate(3, b(300)), #{k => b(500)}, lists:seq(1, 3000),
     lists:duplicate(100, b(64)), [lists:seq(1, 5000), b(70), lists:seq(1, 5000)], list_to_tuple(lists:duplicate(20, b(128))), [<<>>, b(70), <<>>]].
%% expect: [] true [5]
%% expect 27: [] true [4]
%% expect: [] true [16]
%% expect: [] true [70]
%% expect: [] true [6,65]
%% expect: [] true [6,100]
%% expect: [] true [8,65,4]
%% expect 27: [] true [8,65,3]
%% expect: [] true [12,100,4]
%% expect 27: [] true [11,100,3]
%% expect: [] true [11,100,5,200,1]
%% expect: [] true [145,65,5,66]
%% expect: [] true [6,100]
%% expect: [] true [66]
%% expect: [] true [7,100,1]
%% expect: [] true [68]
%% expect: [] true [106]
%% expect: [] true [11,300,5,300,5,300,1]
%% expect: [] true [15,500]
%% expect 27: [] true [14,500]
%% expect: [] true [14242]
%% expect: [] true [6907]
%% expect: [] true [24252,70,24242]
%% expect: [] true [8,128,5,128,5,128,5,128,5,128,5,128]
%% expect: [] true [16,70,6]
%% expect: [{minor_version,1}] true [5]
%% expect: [{minor_version,1}] true [16]
%% expect: [{minor_version,1}] true [70]
%% expect: [{minor_version,1}] true [6,65]
%% expect: [{minor_version,1}] true [6,100]
%% expect: [{minor_version,1}] true [8,65,4]
%% expect: [{minor_version,1}] true [12,100,4]
%% expect: [{minor_version,1}] true [11,100,5,200,1]
%% expect: [{minor_version,1}] true [145,65,5,66]
%% expect: [{minor_version,1}] true [6,100]
%% expect: [{minor_version,1}] true [66]
%% expect: [{minor_version,1}] true [7,100,1]
%% expect: [{minor_version,1}] true [68]
%% expect: [{minor_version,1}] true [106]
%% expect: [{minor_version,1}] true [11,300,5,300,5,300,1]
%% expect: [{minor_version,1}] true [15,500]
%% expect: [{minor_version,1}] true [14242]
%% expect: [{minor_version,1}] true [6907]
%% expect: [{minor_version,1}] true [24252,70,24242]
%% expect: [{minor_version,1}] true [8,128,5,128,5,128,5,128,5,128,5,128]
%% expect: [{minor_version,1}] true [16,70,6]
%% expect: [deterministic] true [5]
%% expect 27: [deterministic] true [4]
%% expect: [deterministic] true [16]
%% expect: [deterministic] true [70]
%% expect: [deterministic] true [6,65]
%% expect: [deterministic] true [6,100]
%% expect: [deterministic] true [8,65,4]
%% expect 27: [deterministic] true [8,65,3]
%% expect: [deterministic] true [12,100,4]
%% expect 27: [deterministic] true [11,100,3]
%% expect: [deterministic] true [11,100,5,200,1]
%% expect: [deterministic] true [145,65,5,66]
%% expect: [deterministic] true [6,100]
%% expect: [deterministic] true [66]
%% expect: [deterministic] true [7,100,1]
%% expect: [deterministic] true [68]
%% expect: [deterministic] true [106]
%% expect: [deterministic] true [11,300,5,300,5,300,1]
%% expect: [deterministic] true [15,500]
%% expect 27: [deterministic] true [14,500]
%% expect: [deterministic] true [14242]
%% expect: [deterministic] true [6907]
%% expect: [deterministic] true [24252,70,24242]
%% expect: [deterministic] true [8,128,5,128,5,128,5,128,5,128,5,128]
%% expect: [deterministic] true [16,70,6]
%% expect: 50001 true
%% expect: [true,true]
%% expect: [{1000000,1000000},{999,1000000}]
