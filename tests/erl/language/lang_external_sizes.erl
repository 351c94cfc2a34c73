%% SPDX-License-Identifier: Apache-2.0
%% external_size/1,2 of terms of every kind, beside the bytes that term_to_binary makes of them.
-module(lang_external_sizes).
-export([main/0]).
%% expect: 39 terms, other sizes: []
%% expect: minor_version 0: []
%% expect: fun: true
%% expect: long: [300013,260007,700006,160006]
%% expect 27: long: [250012,250007,600006,160006]

main() ->
    Terms = terms(),
    Numbered = lists:zip(lists:seq(1, length(Terms)), Terms),
    io:format("~p terms, other sizes: ~p~n", [length(Terms), [N || {N, T} <- Numbered, size_of(T, []) =/= erlang:external_size(T)]]),
    Old = [{minor_version, 0}],
    io:format("minor_version 0: ~p~n", [[N || {N, T} <- Numbered, size_of(T, Old) =/= erlang:external_size(T, Old)]]),
    Fun = fun(Y) -> {Terms, Y} end,
    io:format("fun: ~p~n", [erlang:external_size(Fun) >= size_of(Fun, [])]),
    io:format("long: ~p~n", [[erlang:external_size(T) || T <- [lists:duplicate(50000, abc) ++ tail,
        lists:duplicate(10000, [a, "text", {1, 300}]), list_to_tuple(lists:duplicate(100000, abcd)),
        maps:from_list([{N + 1000, [N + 1000]} || N <- lists:seq(1, 10000)])]]]).

size_of(T, Options) -> byte_size(term_to_binary(T, Options)).

terms() ->
    Base = [0, 255, 256, -1, 16#7fffffff, 16#80000000, -16#80000000, -16#80000001, 1 bsl 70, -(1 bsl 3000), 1.5, 0.0, a, '',
        'a name with ÿ', [], "abc", [1, 2 | 3], [256, 1], [a], lists:seq(1, 300), {}, {a, 1}, list_to_tuple(lists:seq(1, 300)), <<>>,
        <<"text">>, <<5:3>>, binary:copy(<<"0123456789">>, 30), #{}, #{a => "x", 2 => {3.0}}, maps:from_list([{N, N} || N <- lists:seq(1, 40)]),
        fun lists:map/2, lists:duplicate(70000, $a), self()],
    Base ++ [make_ref(), [Base, Base], list_to_tuple(Base), #{Base => Base, k => [Base | Base]}, [[[]] | {[{#{[] => {}}}]}]].
