%% SPDX-License-Identifier: Apache-2.0
%% The order of terms, == and =:=.
-module(lang_order).
-export([main/0]).

main() ->
    Ts = [#{a => 1}, [], {1, 2}, <<1>>, a, 1.5, 2, "abc", {}, b, [1 | 2], <<1:1>>, -1, {1}, #{}, #{b => 0}, 1 bsl 70, -(1 bsl 70), ab, 'B',
          <<>>, [[]], {a}, #{a => 1.0}, 2.0, "ab", 1.0e30, <<1, 0>>],
    [erlang:display(T) || T <- show(lists:sort(Ts))],
    erlang:display([A == B || {A, B} <- pairs()]),
    erlang:display([A =:= B || {A, B} <- pairs()]),
    erlang:display([A < B || {A, B} <- pairs()]),
    [P, R, F] = [self(), make_ref(), fun main/0],
    erlang:display([1 < a, a < R, R < F, F < P, P < {}, {} < #{}, #{} < [], [] < [1], [1] < <<>>]),
    erlang:display(lists:usort([1, 1.0, 2, 1])  == [1, 2]),
    erlang:display([max(1, 1.0) =:= 1, min(1, 1.0) =:= 1, max(a, 9), min({}, [])]).

pairs() -> [{1, 1.0}, {{1}, {1.0}}, {[1], [1.0]}, {#{1 => a}, #{1.0 => a}}, {#{a => 1}, #{a => 1.0}}, {0.0, 0}, {"a", [97]}, {<<"a">>, <<97>>},
            {1 bsl 64, 18446744073709551616.0}, {a, "a"}, {#{a => 1, b => 2}, #{c => 0}}, {#{z => 9}, #{a => 1, b => 1}}].

%% Floats are shown by their text.
show(L) when is_list(L), length(L) > 5 -> [show(T) || T <- L];
show(F) when is_float(F) -> {float, float_to_list(F, [short])};
show(#{a := F}) when is_float(F) -> {map_of, float_to_list(F, [short])};
show(T) -> T.

%% expect: -1180591620717411303424
%% expect: -1
%% expect: {float,"1.5"}
%% expect: 2
%% expect: {float,"2.0"}
%% expect: 1180591620717411303424
%% expect: {float,"1.0e30"}
%% expect: 'B'
%% expect: a
%% expect: ab
%% expect: b
%% expect: {}
%% expect: {1}
%% expect: {a}
%% expect: {1,2}
%% expect: #{}
%% expect: #{a=>1}
%% expect: {map_of,"1.0"}
%% expect: #{b=>0}
%% expect: []
%% expect: [1|2]
%% expect: "ab"
%% expect: "abc"
%% expect: [[]]
%% expect: <<>>
%% expect: <<1>>
%% expect: <<1,0>>
%% expect: <<1:1>>
%% expect: [true,true,true,false,true,true,true,true,true,false,false,false]
%% expect: [false,false,false,false,false,false,true,true,false,false,false,false]
%% expect: [false,false,false,true,false,false,false,false,false,true,false,true]
%% expect: [true,true,true,true,true,true,true,true,true]
%% expect: true
%% expect: [true,true,a,{}]
