%% SPDX-License-Identifier: Apache-2.0
%% Small maps whose keys are tuples, and others that look alike, put in any order: against lists of pairs.
-module(lang_map_tuples).
-export([main/0]).

main() ->
    rand:seed(exsss, {1, 2, 3}),
    Sizes = [walk(keys(), 28) || _ <- lists:seq(1, 200)],
    p(lists:all(fun(N) -> N > 5 andalso N =< 28 end, Sizes)),
    p([{is_map_key(K, M), is_map_key(L, M)} || {K, L} <- alike(), M <- [#{K => 1, {} => 2}]]),
    p([[A < B, A == B, A =:= B] || {A, B} <- alike()]),
    %% Large numbers and floats stand elsewhere: the words of equal ones differ.
    M = #{{big, id(1 bsl 80)} => 1, {float, id(1.5)} => 2, {text, id("text")} => 3, {bin, id(<<"bin">>)} => 4},
    p([maps:get({big, 1 bsl id(80)}, M), maps:get({float, id(3.0) / 2}, M), maps:get({text, id("te") ++ "xt"}, M),
       maps:get({bin, <<(id(<<"bi">>))/binary, "n">>}, M)]),
    p([maps:find({big, 1 bsl id(81)}, M), maps:find({float, id(3.5) / 2}, M), maps:find({text, id("te") ++ "xs"}, M), maps:find({bin, <<>>}, M)]).

%% Pairs in a map and in a list: N changes, each seen in both.
walk(Keys, N) -> walk(Keys, N, #{}, []).
walk(_, 0, M, L) -> same(M, L), length(L);
walk(Keys, N, M, L) ->
    K = lists:nth(rand:uniform(length(Keys)), Keys),
    V = rand:uniform(100),
    L1 = [P || {O, _} = P <- L, O =/= K],
    case {rand:uniform(5), find(K, L)} of
        {1, _} -> walk(Keys, N - 1, maps:remove(K, M), L1);
        {2, none} -> {badkey, K} = (catch try M#{K := V} catch error:E -> E end), walk(Keys, N - 1, M, L);
        {2, _} -> walk(Keys, N - 1, M#{K := V}, [{K, V} | L1]);
        {3, Found} ->
            Found = case M of #{K := X} -> {value, X}; _ -> none end,
            walk(Keys, N - 1, M#{K => V}, [{K, V} | L1]);
        _ -> walk(Keys, N - 1, maps:put(K, V, M), [{K, V} | L1])
    end.

find(K, L) -> case [V || {O, V} <- L, O =:= K] of [V] -> {value, V}; [] -> none end.

same(M, L) ->
    true = map_size(M) =:= length(L),
    true = lists:sort(maps:to_list(M)) =:= lists:sort(L),
    true = M =:= maps:from_list(L),
    true = maps:keys(M) =:= maps:keys(maps:from_list(lists:reverse(L))),
    [V = maps:get(K, M) || {K, V} <- L],
    ok.

keys() ->
    [{}, {a}, {b}, {a, 1}, {a, 2}, {a, 1.0}, {a, b}, {a, {b, 1}}, {a, {b, 2}}, {a, [1]}, {a, [2]}, {a, "12"}, {a, <<"1">>}, {a, <<"2">>},
     {1, a}, {2, a}, {[], a}, {a, 1 bsl 70}, {a, 1 bsl 71}, {a, -(1 bsl 70)}, {a, 1.5}, {b_var, 1}, {b_var, 2}, {{b_var, 1}, 2},
     {a, 1, x}, {a, #{a => 1}}, {a, #{a => 2}}, {a, self()}, {a, make_ref()}, "ab", "ac", [a, 1], <<"ab">>, <<"ac">>, 1, 1.0, a, b,
     1 bsl 70, 1.5, #{}, #{{a, 1} => 1}, [], fun main/0, {a, fun main/0}, {x, 1, 2, 3, 4, 5, 6, 7, 8}, {x, 1, 2, 3, 4, 5, 6, 7, 9},
     {y, 1, 2, 3, 4, 5, 6, 7, 8}].

alike() ->
    [{{a, 1}, {a, 1.0}}, {{1, a}, {1.0, a}}, {{a, 1 bsl 70}, {a, float(1 bsl 70)}}, {{a, "1"}, {a, <<"1">>}}, {{a, [1, 2]}, {a, [1.0, 2]}},
     {[1, 2], [1.0, 2]}, {[x | 1], [x | 1.0]}, {{a, {1}}, {a, {1.0}}}, {{a, 0, 1}, {a, 1, 0}}, {{1, {2}}, {1.0, {2}}}, {{a, []}, {a, {}}},
     {{1.0, 2}, {1, 1}}, {{self(), 1}, {self(), 2}}, {{b, a}, {a, b}}].

id(X) -> X.

p(T) -> io:format("~0p~n", [T]).
%% expect: true
%% expect: [{true,false},{true,false},{true,false},{true,false},{true,false},{true,false},{true,false},{true,false},{true,false},{true,false},{true,false},{true,false},{true,false},{true,false}]
%% expect: [[false,true,false],[false,true,false],[false,true,false],[true,false,false],[false,true,false],[false,true,false],[false,true,false],[false,true,false],[true,false,false],[false,true,false],[false,false,false],[false,false,false],[true,false,false],[false,false,false]]
%% expect: [1,2,3,4]
%% expect: [error,error,error,error]
