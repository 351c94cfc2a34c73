%% SPDX-License-Identifier: Apache-2.0
%% lists:sort and friends against each other on generated terms.
-module(std_sort_stress).
-export([main/0]).

main() ->
    Ts = terms(5000, 99, []),
    S = lists:sort(Ts),
    erlang:display(ordered(S)),
    erlang:display(lists:sort(fun(A, B) -> A =< B end, Ts) =:= S),
    erlang:display(length(lists:usort(Ts))),
    erlang:display(gb_sets:to_list(gb_sets:from_list(Ts)) =:= lists:usort(Ts)),
    T = ets:new(t, [ordered_set]),
    [ets:insert(T, {X}) || X <- lists:reverse(Ts)],
    erlang:display([X || {X} <- ets:tab2list(T)] == lists:usort(Ts)),
    H = ets:new(h, [set]),
    [ets:insert(H, {X, N}) || {X, N} <- lists:zip(Ts, lists:seq(1, length(Ts)))],
    M = maps:from_list(lists:zip(Ts, lists:seq(1, length(Ts)))),
    erlang:display(ets:info(H, size) =:= map_size(M)),
    erlang:display(lists:all(fun(X) -> ets:lookup_element(H, X, 2) =:= maps:get(X, M) end, Ts)),
    erlang:display(erlang:phash2([erlang:phash2(X) || X <- S])),
    erlang:display(erlang:phash2(term_to_binary([X || X <- S, not is_float(X)]))).

ordered([A, B | T]) -> A =< B andalso ordered([B | T]);
ordered(_) -> true.

terms(0, _, A) -> A;
terms(N, S0, A) ->
    S = (S0 * 1103515245 + 12345) band 16#7fffffff,
    V = (S bsr 8) rem 50,
    T = case (S bsr 16) rem 9 of
            0 -> V;
            1 -> V * 1.0;
            2 -> list_to_atom("a" ++ integer_to_list(V));
            3 -> {V, V * 0.5};
            4 -> [V | 1];
            5 -> <<V, (V * 3)>>;
            6 -> lists:seq(V, V + V rem 4);
            7 -> #{V => V rem 3};
            8 -> V bsl (V * 2)
        end,
    terms(N - 1, S, [T | A]).

%% expect: true
%% expect: true
%% expect: 397
%% expect: true
%% expect: true
%% expect: true
%% expect: true
%% expect: 125900591
%% expect: 16402769
%% expect 27: 77533565
