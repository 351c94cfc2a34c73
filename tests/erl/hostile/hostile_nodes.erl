%% SPDX-License-Identifier: Apache-2.0
%% Identifiers of a node's many creations: each names another, none is kept when its term is gone, and making one costs the same however
%% many there were.
-module(hostile_nodes).
-export([main/0]).

-define(CREATIONS, 400000).

main() ->
    erlang:display(lists:sum([node_size(pid(N, 1)) || N <- lists:seq(1, ?CREATIONS)])),
    erlang:display([pid(1, 7) =:= pid(1, 7), pid(1, 7) =:= pid(2, 7), pid(1, 7) < pid(2, 7), pid(2, 1) < pid(1, 2), node(pid(3, 1))]),
    erlang:display([ref(1, 7) =:= ref(1, 7), ref(1, 7) =:= ref(2, 7), ref(1, 7) < ref(2, 7), ref(2, 1) < ref(1, 2), node(ref(3, 1))]),
    erlang:display([port(1, 7) =:= port(1, 7), port(1, 7) =:= port(2, 7), port(1, 7) < port(2, 7), port(2, 1) < port(1, 2), node(port(3, 1))]),
    Map = maps:from_list([{Make(Creation, Number), {Creation, Number}} || Make <- [fun pid/2, fun ref/2, fun port/2], Creation <- lists:seq(1, 20), Number <- [1, 2]]),
    erlang:display([map_size(Map), maps:get(pid(5, 2), Map), maps:get(ref(20, 1), Map), maps:get(port(7, 1), Map), maps:is_key(pid(21, 1), Map)]),
    T = ets:new(t, []),
    ets:insert(T, [{Id} || Id <- maps:keys(Map)]),
    erlang:display([ets:info(T, size), length(ets:lookup(T, ref(9, 2))), ets:lookup(T, ref(21, 2))]),
    erlang:display([binary_to_term(term_to_binary(Id)) =:= Id || Id <- [pid(1 bsl 31, 1), ref(4294967295, 3), port(77, 1)]]).

node_size(Pid) -> length(atom_to_list(node(Pid))).

pid(Creation, Number) -> binary_to_term(<<131, 88, 119, 3, "a@b", Number:32, 0:32, Creation:32>>).
ref(Creation, Number) -> binary_to_term(<<131, 90, 3:16, 119, 3, "a@b", Creation:32, Number:32, 0:32, 0:32>>).
port(Creation, Number) -> binary_to_term(<<131, 120, 119, 3, "a@b", Number:64, Creation:32>>).

%% expect: 1200000
%% expect: [true,false,true,true,'a@b']
%% expect: [true,false,true,false,'a@b']
%% expect: [true,false,true,false,'a@b']
%% expect: [120,{5,2},{20,1},{7,1},false]
%% expect: [120,1,[]]
%% expect: [true,true,true]
