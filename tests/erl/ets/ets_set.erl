%% SPDX-License-Identifier: Apache-2.0
%% ets: a set, key by key.
-module(ets_set).
-export([main/0]).

main() ->
    T = ets:new(t, [set, public]),
    d([ets:insert(T, [{1, a}, {1.0, b}, {2, c, 5}]), ets:lookup(T, 1), ets:lookup(T, 1.0), ets:lookup(T, 7), ets:member(T, 2), ets:member(T, 2.0)]),
    d([ets:insert_new(T, [{9, a}, {1, b}]), ets:insert_new(T, [{9, a}, {9, b}]), ets:lookup(T, 9), ets:insert_new(T, [])]),
    d([ets:lookup_element(T, 2, 3), ets:take(T, 9), ets:take(T, 9), ets:delete(T, none), ets:delete_object(T, {1, b}), ets:delete_object(T, {1, a})]),
    d(lists:sort(ets:tab2list(T)) =:= [{1.0, b}, {2, c, 5}]),
    d([ets:update_element(T, 2, {2, z}), ets:update_element(T, 2, [{2, <<0:800>>}, {3, "abc"}]), ets:lookup_element(T, 2, 3), ets:update_element(T, none, {2, x})]),
    Terms = [{I, T1} || {I, T1} <- lists:zip(lists:seq(1, 8), [self(), make_ref(), fun main/0, #{a => [1]}, <<1:3>>, 1 bsl 100, binary:copy(<<7>>, 500), {[], ""}])],
    ets:insert(T, Terms),
    d([ets:lookup(T, I) =:= [O] || {I, _} = O <- Terms]),
    ets:insert(T, [{T1, I} || {I, T1} <- Terms]),
    d([ets:lookup_element(T, T1, 2) =:= I || {I, T1} <- Terms]),
    d([ets:delete_all_objects(T), ets:info(T, size), ets:first(T), ets:delete(T), ets:info(T)]),
    K = ets:new(k, [{keypos, 2}]), ets:insert(K, {a, b, c}),
    d([ets:lookup(K, b), ets:lookup(K, a), ets:info(K, keypos)]),
    [d(try F() catch C:R -> {C, R} end)
     || F <- [fun() -> ets:insert(K, {x}) end, fun() -> ets:insert(K, [{a, b}, x]) end, fun() -> ets:lookup(T, 1) end, fun() -> ets:new(id("x"), []) end,
              fun() -> ets:new(x, [foo]) end, fun() -> ets:next(K, zz) end, fun() -> ets:lookup_element(K, b, 9) end, fun() -> ets:lookup(nosuch, 1) end,
              fun() -> ets:update_element(K, b, {2, x}) end]].

d(T) -> erlang:display(T).

id(X) -> X.

%% expect: [true,[{1,a}],[{1.000000e+00,b}],[],true,false]
%% expect: [false,true,[{9,b}],true]
%% expect: [5,[{9,b}],[],true,true,true]
%% expect: true
%% expect: [true,true,"abc",false]
%% expect: [true,true,true,true,true,true,true,true]
%% expect: [true,true,true,true,true,true,true,true]
%% expect: [true,0,'$end_of_table',true,undefined]
%% expect: [[{a,b,c}],[],2]
%% expect: {error,badarg}
%% expect: {error,badarg}
%% expect: {error,badarg}
%% expect: {error,badarg}
%% expect: {error,badarg}
%% expect: {error,badarg}
%% expect: {error,badarg}
%% expect: {error,badarg}
%% expect: {error,badarg}
