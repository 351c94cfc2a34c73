%% SPDX-License-Identifier: Apache-2.0
%% maps: every function. The keys are integers, since OTP 26 atoms among them have no order.
-module(std_maps).
-export([main/0]).

main() ->
    M = #{1 => 1, 2 => 2, 3 => 3},
    d([maps:get(1, M), maps:get(z, M, none), maps:find(2, M), maps:find(z, M), maps:is_key(3, M), maps:size(M), maps:keys(M), maps:values(M)]),
    d([maps:put(d, 4, M), maps:remove(1, M), maps:take(1, M), maps:take(z, M), maps:update(1, 9, M), maps:merge(M, #{1 => x, d => y})]),
    d([maps:map(fun(_, V) -> V * 2 end, M), maps:filter(fun(_, V) -> V > 1 end, M), maps:filtermap(fun(K, V) -> V > 1 andalso {true, {K, V}} end, M)]),
    d([maps:fold(fun(K, V, A) -> [{K, V} | A] end, [], M), maps:with([1, z], M), maps:without([1, z], M), maps:from_list([{x, 1}, {x, 2}]),
       maps:from_keys([p, q], 0), maps:to_list(M), maps:update_with(1, fun(V) -> V + 1 end, M), maps:update_with(z, fun(V) -> V end, 0, M)]),
    d([maps:merge_with(fun(_, A, B) -> A + B end, M, #{1 => 10, e => 5}), maps:intersect(M, #{1 => y}), maps:groups_from_list(fun(X) -> X rem 2 end, [1, 2, 3])]),
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
    [d(try F() catch C:R -> {C, R} end) || F <- [fun() -> maps:get(id(z), M) end, fun() -> maps:put(1, 1, id(x)) end, fun() -> maps:from_list(id([x])) end,
                                                 fun() -> maps:merge(id(1), M) end, fun() -> maps:update(z, 1, M) end]].

walk(none, S) -> S;
walk({_, V, I}, S) -> walk(maps:next(I), S + V).

d(T) -> erlang:display(T).

id(X) -> X.

%% expect: [1,none,{ok,2},error,true,3,[1,2,3],[1,2,3]]
%% expect: [#{1=>1,2=>2,3=>3,d=>4},#{2=>2,3=>3},{1,#{2=>2,3=>3}},error,#{1=>9,2=>2,3=>3},#{1=>x,2=>2,3=>3,d=>y}]
%% expect: [#{1=>2,2=>4,3=>6},#{2=>2,3=>3},#{2=>{2,2},3=>{3,3}}]
%% expect: [[{3,3},{2,2},{1,1}],#{1=>1},#{2=>2,3=>3},#{x=>2},#{p=>0,q=>0},[{1,1},{2,2},{3,3}],#{1=>2,2=>2,3=>3},#{1=>1,2=>2,3=>3,z=>0}]
%% expect: [#{1=>11,2=>2,3=>3,e=>5},#{1=>y},#{0=>[2],1=>[1,3]}]
%% expect: {1,1}
%% expect: 2
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
