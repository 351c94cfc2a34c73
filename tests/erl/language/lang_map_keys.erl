%% SPDX-License-Identifier: Apache-2.0
%% Matching and updating several keys of a map at once: in any order, of any type, some missing, in small maps and large ones.
-module(lang_map_keys).
-export([main/0]).

main() ->
    Small = #{z => 1, a => 2, 7 => 3, -1 => 4, [] => 5, 2.0 => 6, {t} => 7, "s" => 8, m => 9},
    Large = maps:merge(Small, maps:from_list([{{k, I}, I} || I <- lists:seq(1, 100)])),
    [begin
         p([match(M), mixed(M), one(M, z), first(M)]),
         p(view(M, [exact(M), some(M, m, a), assoc(M), renew(M, {z, a})])),
         p([missing(M), catch_error(fun() -> bad(M) end), catch_error(fun() -> worse(M, nope, never) end)])
     end || M <- [Small, Large]],
    p([missing(#{}), missing(#{a => 1}), missing(#{z => 1, a => 2}), first(#{a => 1})]),
    p(catch_error(fun() -> exact(id([])) end)),
    p(catch_error(fun() -> exact(id(#{z => 1})) end)).

match(#{z := Z, a := A, 7 := S, -1 := M, [] := N}) -> {Z, A, S, M, N}.

%% The map's own register may be a destination.
mixed(#{2.0 := F, z := Z, {t} := T, "s" := S, a := A}) -> [F, Z, T, S, A].
one(M, K) -> case M of #{K := V, a := A} -> {V, A}; _ -> none end.
first(#{z := M, m := #{}}) -> M;
first(#{z := M, m := _, a := N}) -> M - N;
first(#{a := M}) -> M.

missing(#{z := Z, q := Q, a := A}) -> {Z, Q, A};
missing(#{zz := Z, a := A}) -> {Z, A};
missing(#{'' := Z, b := A}) -> {Z, A};
missing(#{z := Z, 7 := S}) -> {Z, S};
missing(#{z := Z, a := A}) -> {two, Z, A};
missing(#{}) -> none.

exact(M) -> M#{z := x1, -1 := x2, a := x3, [] := M}.
some(M, K1, K2) -> M#{K1 := y1, K2 := y2, z := y3}.
assoc(M) -> M#{z => w1, new => w2, a => w3, -5 => w4}.
renew(M, {K1, K2}) -> (M#{K1 => v1, "s" => v2, K2 => v3})#{{t} := v4, 7 := v5}.
bad(M) -> M#{z := 1, zzz := 2, bb := 3}.
worse(M, K1, K2) -> M#{K2 := 1, K1 := 2}.

%% The keys of this program, without those that only make a map large.
view(_, Maps) -> [lists:sort([{K, what(V)} || {K, V} <- maps:to_list(M), not (is_tuple(K) andalso tuple_size(K) =:= 2)]) || M <- Maps].
what(V) when is_map(V) -> map;
what(V) -> V.

id(X) -> X.
catch_error(F) ->
    try F() catch error:{Kind, What} when is_map(What) -> {Kind, map}; error:Reason -> Reason end.

p(T) -> io:format("~0p~n", [T]).
%% expect: [{1,2,3,4,5},[6,1,7,8,2],{1,2},-1]
%% expect: [[{-1,x2},{2.0,6},{7,3},{a,x3},{m,9},{z,x1},{{t},7},{[],map},{"s",8}],[{-1,4},{2.0,6},{7,3},{a,y2},{m,y1},{z,y3},{{t},7},{[],5},{"s",8}],[{-5,w4},{-1,4},{2.0,6},{7,3},{a,w3},{m,9},{new,w2},{z,w1},{{t},7},{[],5},{"s",8}],[{-1,4},{2.0,6},{7,v5},{a,v3},{m,9},{z,v1},{{t},v4},{[],5},{"s",v2}]]
%% expect: [{1,3},{badkey,bb},{badkey,never}]
%% expect: [{1,2,3,4,5},[6,1,7,8,2],{1,2},-1]
%% expect: [[{-1,x2},{2.0,6},{7,3},{a,x3},{m,9},{z,x1},{{t},7},{[],map},{"s",8}],[{-1,4},{2.0,6},{7,3},{a,y2},{m,y1},{z,y3},{{t},7},{[],5},{"s",8}],[{-5,w4},{-1,4},{2.0,6},{7,3},{a,w3},{m,9},{new,w2},{z,w1},{{t},7},{[],5},{"s",8}],[{-1,4},{2.0,6},{7,v5},{a,v3},{m,9},{z,v1},{{t},v4},{[],5},{"s",v2}]]
%% expect: [{1,3},{badkey,bb},{badkey,never}]
%% expect: [none,none,{two,1,2},1]
%% expect: {badmap,[]}
%% expect: {badkey,-1}
