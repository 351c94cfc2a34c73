%% SPDX-License-Identifier: Apache-2.0
%% Map syntax: small and large maps, exact updates, matching.
-module(lang_maps).
-export([main/0]).

main() ->
    M = #{a => 1, "k" => [2], {x} => 3.0, 1 => one, 1.0 => float_one},
    erlang:display(map_size(M)),
    erlang:display([maps:get(1, M), maps:get(1.0, M), map_get("k", M)]),
    #{a := A, {x} := X} = M,
    erlang:display({A, trunc(X)}),
    erlang:display((M#{a := 2, b => 3})  =:= maps:put(b, 3, maps:update(a, 2, M))),
    [erlang:display(try F() catch C:R -> {C, R} end)
     || F <- [fun() -> M#{zz := 1} end, fun() -> maps:get(id(zz), M) end, fun() -> (id(x))#{a => 1} end, fun() -> map_size(id([])) end,
              fun() -> #{zz := _} = M, ok end, fun() -> maps:update(q, 1, #{}) end,
              fun() -> (id(#{}))#{7.0 := a, 7 := b} end, fun() -> (id(#{7 => x}))#{7.0 := a, 7 := b} end]],
    Big = maps:from_list([{I, I * I} || I <- lists:seq(1, 1000)]),
    erlang:display({map_size(Big), maps:get(777, Big), lists:sum(maps:values(Big)), lists:sum(maps:keys(Big))}),
    Big2 = lists:foldl(fun maps:remove/2, Big, lists:seq(1, 990)),
    erlang:display(Big2),
    erlang:display(Big2 =:= maps:from_list([{I, I * I} || I <- lists:seq(991, 1000)])),
    Big3 = lists:foldl(fun(I, Acc) -> Acc#{I => new} end, Big, lists:seq(500, 1500)),
    erlang:display({map_size(Big3), length([V || V <- maps:values(Big3), V =:= new])}),
    erlang:display(maps:fold(fun(K, V, S) -> S + K * V end, 0, Big)),
    erlang:display([is_map_key(5, Big), is_map_key(5.0, Big), 5 =:= maps:get(5, Big#{5 => 5})]),
    erlang:display(maps:to_list(#{3 => c, 1 => a, 2 => b})),
    erlang:display(#{#{a => 1} => x} =:= #{#{a => 1} => x}),
    erlang:display([match(T) || T <- [#{type => get, id => 1}, #{type => put}, #{}, none]]).

match(#{type := get, id := I}) -> {get, I};
match(#{type := T}) -> T;
match(M) when M =:= #{} -> empty;
match(M) when map_size(M) > 0 -> some;
match(_) -> no_map.

id(X) -> X.

%% expect: 5
%% expect: [one,float_one,[2]]
%% expect: {1,3}
%% expect: true
%% expect: {error,{badkey,zz}}
%% expect: {error,{badkey,zz}}
%% expect: {error,{badmap,x}}
%% expect: {error,{badmap,[]}}
%% expect: {error,{badmatch,#{1=>one,1.000000e+00=>float_one,a=>1,{x}=>3.000000e+00,"k"=>[2]}}}
%% expect: {error,{badkey,q}}
%% expect: {error,{badkey,7}}
%% expect: {error,{badkey,7.000000e+00}}
%% expect: {1000,603729,333833500,500500}
%% expect: #{991=>982081,992=>984064,993=>986049,994=>988036,995=>990025,996=>992016,997=>994009,998=>996004,999=>998001,1000=>1000000}
%% expect: true
%% expect: {1500,1001}
%% expect: 250500250000
%% expect: [true,false,true]
%% expect: [{1,a},{2,b},{3,c}]
%% expect: true
%% expect: [{get,1},put,empty,no_map]
