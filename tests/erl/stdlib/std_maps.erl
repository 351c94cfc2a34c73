%% SPDX-License-Identifier: Apache-2.0
%% maps: every function.
-module(std_maps).
-export([main/0]).

main() ->
    M = #{a => 1, b => 2, c => 3},
    d([maps:get(a, M), maps:get(z, M, none), maps:find(b, M), maps:find(z, M), maps:is_key(c, M), maps:size(M), maps:keys(M), maps:values(M)]),
    d([maps:put(d, 4, M), maps:remove(a, M), maps:take(a, M), maps:take(z, M), maps:update(a, 9, M), maps:merge(M, #{a => x, d => y})]),
    d([maps:map(fun(_, V) -> V * 2 end, M), maps:filter(fun(_, V) -> V > 1 end, M), maps:filtermap(fun(K, V) -> V > 1 andalso {true, {K, V}} end, M)]),
    d([maps:fold(fun(K, V, A) -> [{K, V} | A] end, [], M), maps:with([a, z], M), maps:without([a, z], M), maps:from_list([{x, 1}, {x, 2}]),
       maps:from_keys([p, q], 0), maps:to_list(M), maps:update_with(a, fun(V) -> V + 1 end, M), maps:update_with(z, fun(V) -> V end, 0, M)]),
    d([maps:merge_with(fun(_, A, B) -> A + B end, M, #{a => 10, e => 5}), maps:intersect(M, #{a => y}), maps:groups_from_list(fun(X) -> X rem 2 end, [1, 2, 3])]),
    I = maps:iterator(M),
    {K1, V1, I2} = maps:next(I),
    d({K1, V1}),
    d(element(1, maps:next(I2))),
    d(maps:next(maps:iterator(#{}))),
    Big = maps:from_list([{{key, N}, N} || N <- lists:seq(1, 5000)]),
    d(lists:sort(maps:keys(Big)) =:= [{key, N} || N <- lists:seq(1, 5000)]),
    d(walk(maps:next(maps:iterator(Big)), 0)),
    d(map_size(maps:filter(fun(_, V) -> V rem 7 =:= 0 end, Big))),
    d(maps:merge(Big, #{{key, 1} => new}) =:= Big#{{key, 1} := new}),
    d(erlang:phash2(maps:map(fun(_, V) -> V + 1 end, Big))),
    [d(try F() catch C:R -> {C, R} end) || F <- [fun() -> maps:get(id(z), M) end, fun() -> maps:put(a, 1, id(x)) end, fun() -> maps:from_list(id([x])) end,
                                                 fun() -> maps:merge(id(1), M) end, fun() -> maps:update(z, 1, M) end]].

walk(none, S) -> S;
walk({_, V, I}, S) -> walk(maps:next(I), S + V).

d(T) -> erlang:display(T).

id(X) -> X.

%% expect: [1,none,{ok,2},error,true,3,[a,b,c],[1,2,3]]
%% expect: [#{a=>1,b=>2,c=>3,d=>4},#{b=>2,c=>3},{1,#{b=>2,c=>3}},error,#{a=>9,b=>2,c=>3},#{a=>x,b=>2,c=>3,d=>y}]
%% expect: [#{a=>2,b=>4,c=>6},#{b=>2,c=>3},#{b=>{b,2},c=>{c,3}}]
%% expect: [[{c,3},{b,2},{a,1}],#{a=>1},#{b=>2,c=>3},#{x=>2},#{p=>0,q=>0},[{a,1},{b,2},{c,3}],#{a=>2,b=>2,c=>3},#{a=>1,b=>2,c=>3,z=>0}]
%% expect: [#{a=>11,b=>2,c=>3,e=>5},#{a=>y},#{0=>[2],1=>[1,3]}]
%% expect: {a,1}
%% expect: b
%% expect: none
%% expect: true
%% expect: 12502500
%% expect: 714
%% expect: true
%% expect: 42817955
%% expect: {error,{badkey,z}}
%% expect: {error,{badmap,x}}
%% expect: {error,badarg}
%% expect: {error,{badmap,1}}
%% expect: {error,{badkey,z}}
