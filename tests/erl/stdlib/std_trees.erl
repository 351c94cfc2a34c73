%% SPDX-License-Identifier: Apache-2.0
%% dict, orddict, gb_trees agree.
-module(std_trees).
-export([main/0]).

main() ->
    [d({M, run(M)}) || M <- [dict, orddict]],
    T = lists:foldl(fun(I, A) -> gb_trees:insert(I, I * I, A) end, gb_trees:empty(), [(I * 37) rem 101 || I <- lists:seq(1, 100)]),
    d([gb_trees:size(T), gb_trees:get(50, T), gb_trees:lookup(0, T), gb_trees:smallest(T), gb_trees:largest(T)]),
    {K, V, T2} = gb_trees:take_smallest(T),
    d([K, V, gb_trees:is_defined(K, T2), gb_trees:lookup(10, gb_trees:update(10, new, T2)), lists:sum(gb_trees:keys(gb_trees:delete(99, T2)))]),
    d(walk(gb_trees:next(gb_trees:iterator_from(95, T)))),
    d(gb_trees:to_list(gb_trees:map(fun(_, X) -> -X end, gb_trees:from_orddict([{1, 2}, {3, 4}])))),
    d(try gb_trees:insert(1, x, T) catch error:R -> R end).

walk(none) -> [];
walk({K, V, I}) -> [{K, V} | walk(gb_trees:next(I))].

run(M) ->
    D = M:from_list([{a, 1}, {b, 2}]),
    Big = lists:foldl(fun(I, A) -> M:update_counter((I * 31) rem 97, I, A) end, M:new(), lists:seq(1, 1000)),
    [lists:sort(M:to_list(M:store(c, 3, D))), M:fetch(a, D), M:find(z, D), M:is_key(b, D), lists:sort(M:to_list(M:append(l, x, M:append(l, y, M:new())))),
     lists:sort(M:fetch_keys(M:erase(a, D))), lists:sort(M:to_list(M:merge(fun(_, X, Y) -> X + Y end, D, D))), M:fold(fun(_, V, S) -> V + S end, 0, Big),
     M:size(Big), lists:sort(M:to_list(M:filter(fun(_, V) -> V > 1 end, D))), lists:sort(M:to_list(M:map(fun(K, V) -> {K, V} end, D))),
     lists:sort(M:to_list(M:update(a, fun(V) -> V + 10 end, D)))].

d(T) -> erlang:display(T).

%% expect: {dict,[[{a,1},{b,2},{c,3}],1,error,true,[{l,[y,x]}],[b],[{a,2},{b,4}],500500,97,[{b,2}],[{a,{a,1}},{b,{b,2}}],[{a,11},{b,2}]]}
%% expect: {orddict,[[{a,1},{b,2},{c,3}],1,error,true,[{l,[y,x]}],[b],[{a,2},{b,4}],500500,97,[{b,2}],[{a,{a,1}},{b,{b,2}}],[{a,11},{b,2}]]}
%% expect: [100,2500,none,{1,1},{100,10000}]
%% expect: [1,1,false,{value,new},4950]
%% expect: [{95,9025},{96,9216},{97,9409},{98,9604},{99,9801},{100,10000}]
%% expect: [{1,-2},{3,-4}]
%% expect: {key_exists,1}
