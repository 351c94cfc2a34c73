%% SPDX-License-Identifier: Apache-2.0
%% Maps made of nothing with known keys, which share these; the order of atoms, which decides that of the keys.
-module(lang_map_made).
-export([main/0]).

main() ->
    p([small(1, 2, 3), swapped(1, 2, 3), small(1, 2, 3) =:= swapped(2, 1, 3), mixed(x), one(y), empty()]),
    p([lists:sort(maps:keys(small(1, 2, 3))), lists:sort(maps:keys(mixed(1))), (small(1, 2, 3))#{b := 9, new => 8}, maps:remove(b, small(1, 2, 3))]),
    p(twice(1, 2)),
    p(computed(id(a), 1)),
    L = large(7),
    p([map_size(L), maps:get(k32, L), maps:get(k33, L), L =:= maps:from_list(maps:to_list(L)), lists:sum(maps:values(L))]),
    F = full(7),
    p([map_size(F), maps:get(k32, F), maps:find(k33, F), F =:= maps:from_list(maps:to_list(F)), lists:sum(maps:values(F))]),
    %% Each collection moves the values, and leaves the keys where they are.
    Ms = deep(3000, []),
    p([length(Ms), lists:sum([length(V) || #{b := V} <- Ms]), lists:usort([lists:sort(maps:keys(M)) || M <- Ms]), hd(Ms) =:= lists:last(Ms)]),
    p(after_purge()),
    Atoms = ['', a, 'a\0', 'a\0\0', 'a\0b', ab, abcdefg, abcdefgh, 'abcdefgh\0', abcdefgha, abcdefghb, 'abcdefgi', 'B', 'é', 'ÿ', 'Ā', 'λ', '\x{1f600}',
             'aé', 'az', 'aaaaaaaé', 'aaaaaaaz', aaaaaaaa, aaaaaaaaa, aaaaaaaab],
    Texts = [atom_to_list(A) || A <- Atoms],
    p([{A < B, A == B} || A <- Atoms, B <- Atoms] =:= [{A < B, A == B} || A <- Texts, B <- Texts]),
    p(lists:sort(Atoms) =:= [list_to_atom(T) || T <- lists:sort(Texts)]),
    p(lists:sort(maps:keys(maps:from_list([{A, 1} || A <- Atoms]))) =:= lists:sort(Atoms)).

small(A, B, C) -> #{b => A, a => B, 1 => C}.
swapped(A, B, C) -> #{a => A, 1 => C, b => B}.
mixed(X) -> #{z => X, [] => [X], -5 => {X}, abcdefgh => 1, abcdefgg => 2, true => id(X)}.
one(X) -> #{only => X}.
empty() -> #{}.
twice(A, B) -> [#{a => A, b => B}, #{b => A, a => B}, #{a => A, b => [B], c => []}].
computed(K, V) -> #{K => V, b => V, a => 2}.

full(X) ->
    #{k1 => X, k2 => X, k3 => X, k4 => X, k5 => X, k6 => X, k7 => X, k8 => X, k9 => X, k10 => X, k11 => X, k12 => X, k13 => X, k14 => X,
      k15 => X, k16 => X, k17 => X, k18 => X, k19 => X, k20 => X, k21 => X, k22 => X, k23 => X, k24 => X, k25 => X, k26 => X, k27 => X,
      k28 => X, k29 => X, k30 => X, k31 => X, k32 => X + 1}.

large(X) ->
    #{k1 => X, k2 => X, k3 => X, k4 => X, k5 => X, k6 => X, k7 => X, k8 => X, k9 => X, k10 => X, k11 => X, k12 => X, k13 => X, k14 => X,
      k15 => X, k16 => X, k17 => X, k18 => X, k19 => X, k20 => X, k21 => X, k22 => X, k23 => X, k24 => X, k25 => X, k26 => X, k27 => X,
      k28 => X, k29 => X, k30 => X, k31 => X, k32 => X + 1, k33 => X + 2}.

deep(0, Ms) -> Ms;
deep(N, Ms) -> deep(N - 1, [#{c => Ms =/= [], b => lists:seq(1, 10), a => {x, "text"}} | Ms]) .

%% The keys of a module that was purged: what still has them has copies of its own.
after_purge() ->
    Forms = [{attribute, 1, module, lang_map_made_more}, {attribute, 1, export, [{make, 1}]},
             {function, 1, make, 1, [{clause, 1, [{var, 1, 'X'}], [],
                 [{map, 1, [{map_field_assoc, 1, {atom, 1, K}, {var, 1, 'X'}} || K <- [zoo, ape, cat]]}]}]}],
    {ok, M, Code} = compile:forms(Forms),
    {module, M} = code:load_binary(M, "nofile", Code),
    Map = M:make([1]),
    true = code:delete(M),
    false = code:purge(M),
    erlang:garbage_collect(),
    [waste(lists:seq(1, 1000)) || _ <- lists:seq(1, 100)],
    [Map, lists:sort(maps:keys(Map)), Map#{ape := 2}].

waste(L) -> length([{X, X} || X <- L]).

id(X) -> X.

p(T) -> io:format("~0p~n", [T]).
%% expect: [#{1 => 3,a => 2,b => 1},#{1 => 3,a => 1,b => 2},true,#{-5 => {x},abcdefgg => 2,abcdefgh => 1,true => x,z => x,[] => [x]},#{only => y},#{}]
%% expect: [[1,a,b],[-5,abcdefgg,abcdefgh,true,z,[]],#{1 => 3,a => 2,b => 9,new => 8},#{1 => 3,a => 2}]
%% expect: [#{a => 1,b => 2},#{a => 2,b => 1},#{a => 1,b => [2],c => []}]
%% expect: #{a => 2,b => 1}
%% expect: [33,8,9,true,234]
%% expect: [32,8,error,true,225]
%% expect: [3000,30000,[[a,b,c]],false]
%% expect: [#{ape => [1],cat => [1],zoo => [1]},[ape,cat,zoo],#{ape => 2,cat => [1],zoo => [1]}]
%% expect: true
%% expect: true
%% expect: true
