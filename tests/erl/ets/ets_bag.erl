%% SPDX-License-Identifier: Apache-2.0
%% ets: bags, with and without equal objects.
-module(ets_bag).
-export([main/0]).

main() ->
    B = ets:new(b, [bag]),
    [ets:insert(B, O) || O <- [{2, a}, {2, b}, {2, a}, {2, a, 1}, {2, 1}, {1, x}]],
    ets:insert(B, {2, 1.0}),
    d([length(ets:lookup(B, 2)), ets:lookup_element(B, 1, 2), ets:info(B, size), ets:member(B, 2)]),
    d([ets:lookup(B, 2) -- [{2, 1.0}], length(ets:lookup_element(B, 2, 2))]),
    d([ets:delete_object(B, {2, a}), ets:delete_object(B, {2, zz}), length(ets:lookup(B, 2)), length(ets:take(B, 2)), ets:tab2list(B)]),
    d([ets:insert_new(B, {1, y}), ets:insert_new(B, [{5, a}, {5, a}, {5, b}]), lists:sort(ets:lookup(B, 5))]),
    D = ets:new(d, [duplicate_bag]),
    [ets:insert(D, O) || O <- [{k, 1}, {k, 2}, {k, 1}, {k, 1}]],
    d([ets:lookup(D, k), ets:info(D, size), ets:delete_object(D, {k, 1}), ets:lookup(D, k)]),
    [ets:insert(D, {I rem 7, I}) || I <- lists:seq(1, 700)],
    d([length(ets:lookup(D, 3)), ets:select_count(D, [{{3, '_'}, [], [true]}]), lists:sum(ets:lookup_element(D, 3, 2))]),
    d([ets:match_delete(D, {3, '_'}), ets:lookup(D, 3), ets:info(D, size)]),
    [d(try F() catch C:R -> {C, R} end) || F <- [fun() -> ets:update_counter(B, 1, 1) end, fun() -> ets:update_element(B, 1, {2, x}) end,
                                                 fun() -> ets:select_replace(B, []) end]].

d(T) -> erlang:display(T).

%% expect: [5,[x],6,true]
%% expect: [[{2,a},{2,b},{2,a,1},{2,1}],5]
%% expect: [true,true,4,4,[{1,x}]]
%% expect: [false,true,[{5,a},{5,b}]]
%% expect: [[{k,1},{k,2},{k,1},{k,1}],4,true,[{k,2}]]
%% expect: [100,100,34950]
%% expect: [true,[],601]
%% expect: {error,badarg}
%% expect: {error,badarg}
%% expect: {error,badarg}
