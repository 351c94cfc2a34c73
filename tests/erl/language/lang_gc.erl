%% SPDX-License-Identifier: Apache-2.0
%% Deep recursion and much garbage: what is live stays whole.
-module(lang_gc).
-export([main/0]).

main() ->
    erlang:display(sum(lists:seq(1, 1000000))),
    erlang:display(length(build(500000))),
    T = tree(16),
    churn(200000, []),
    erlang:display(count(T)),
    Bins = [binary:copy(<<I>>, 1000) || I <- lists:seq(1, 255)],
    churn(100000, []),
    erlang:display(lists:sum([binary:first(B) || B <- Bins])),
    Subs = [binary:part(B, 10, 5) || B <- Bins],
    erlang:garbage_collect(),
    erlang:display(erlang:phash2(Subs)),
    M = maps:from_list([{I, {I}} || I <- lists:seq(1, 10000)]),
    churn(100000, []),
    erlang:display(lists:all(fun(I) -> maps:get(I, M) =:= {I} end, lists:seq(1, 10000))),
    Me = self(),
    [spawn(fun() -> L = lists:seq(1, 1000 * I), churn(1000, []), Me ! {I, lists:sum(L)} end) || I <- lists:seq(1, 20)],
    erlang:display([receive {I, S} -> S end || I <- lists:seq(1, 20)]).

sum([H | T]) -> H + sum(T);
sum([]) -> 0.

build(0) -> [];
build(N) -> [{N, [N]} | build(N - 1)].

tree(0) -> leaf;
tree(D) -> {tree(D - 1), D, tree(D - 1)}.

count(leaf) -> 1;
count({L, _, R}) -> count(L) + count(R).

churn(0, _) -> ok;
churn(N, L) when length(L) > 20 -> churn(N, []);
churn(N, L) -> churn(N - 1, [{N, <<N:64>>, [N, N]} | L]).

%% expect: 500000500000
%% expect: 500000
%% expect: 65536
%% expect: 32640
%% expect: 99215990
%% expect: true
%% expect: [500500,2001000,4501500,8002000,12502500,18003000,24503500,32004000,40504500,50005000,60505500,72006000,84506500,98007000,112507500,128008000,144508500,162009000,180509500,200010000]
