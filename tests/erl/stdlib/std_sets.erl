%% SPDX-License-Identifier: Apache-2.0
%% sets, ordsets, gb_sets agree.
-module(std_sets).
-export([main/0]).

main() ->
    [d({M, run(M)}) || M <- [sets, ordsets, gb_sets]],
    S2 = sets:from_list([1, 2, 3], [{version, 2}]),
    d([lists:sort(sets:to_list(sets:add_element(4, S2))), sets:is_element(2, S2), sets:is_element(2.0, S2), sets:size(sets:del_element(1, S2))]),
    {X, G} = gb_sets:take_smallest(gb_sets:from_list([5, 1, 3])),
    d([X, gb_sets:largest(G), gb_sets:to_list(gb_sets:balance(G))]).

run(M) ->
    A = M:from_list([3, 1, 2, 3, a]),
    B = M:from_list([2, 3, 4]),
    Big = lists:foldl(fun M:add_element/2, M:new(), [(I * 31) rem 1009 || I <- lists:seq(1, 3000)]),
    [lists:sort(M:to_list(A)), M:size(A), M:is_element(a, A), lists:sort(M:to_list(M:union(A, B))), lists:sort(M:to_list(M:intersection(A, B))),
     lists:sort(M:to_list(M:subtract(A, B))), M:is_subset(M:from_list([2]), B), M:is_disjoint(A, B), lists:sort(M:to_list(M:filter(fun is_integer/1, A))),
     M:fold(fun(E, S) when is_integer(E) -> E + S; (_, S) -> S end, 0, A), M:size(Big), lists:sum(M:to_list(Big))].

d(T) -> erlang:display(T).

%% expect: {sets,[[1,2,3,a],4,true,[1,2,3,4,a],[2,3],[1,a],true,false,[1,2,3],6,1009,508536]}
%% expect: {ordsets,[[1,2,3,a],4,true,[1,2,3,4,a],[2,3],[1,a],true,false,[1,2,3],6,1009,508536]}
%% expect: {gb_sets,[[1,2,3,a],4,true,[1,2,3,4,a],[2,3],[1,a],true,false,[1,2,3],6,1009,508536]}
%% expect: [[1,2,3,4],true,false,2]
%% expect: [1,5,[3,5]]
