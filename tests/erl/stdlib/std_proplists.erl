%% SPDX-License-Identifier: Apache-2.0
%% proplists.
-module(std_proplists).
-export([main/0]).

main() ->
    L = [a, {b, 2}, {c, x, y}, {b, 3}, {d, false}],
    d([proplists:get_value(a, L), proplists:get_value(b, L), proplists:get_value(z, L, none), proplists:get_all_values(b, L), proplists:lookup(c, L)]),
    d([proplists:get_bool(a, L), proplists:get_bool(d, L), proplists:is_defined(c, L), lists:sort(proplists:get_keys(L)), proplists:delete(b, L)]),
    d([proplists:unfold(L), proplists:compact([{a, true}, {b, 1}]), proplists:append_values(v, [{v, 1}, {v, [2, 3]}])]),
    d([proplists:substitute_aliases([{x, y}], [{x, 1}]), proplists:expand([{a, [p, q]}], [a, b]), proplists:split(L, [a, b])]),
    d(proplists:to_map([a, {b, 1}, {b, 2}])).

d(T) -> erlang:display(T).

%% expect: [true,2,none,[2,3],{c,x,y}]
%% expect: [true,false,true,[a,b,c,d],[a,{c,x,y},{d,false}]]
%% expect: [[{a,true},{b,2},{c,x,y},{b,3},{d,false}],[a,{b,1}],[1,2,3]]
%% expect: [[{y,1}],[p,q,b],{[[a],[{b,2},{b,3}]],[{c,x,y},{d,false}]}]
%% expect: #{a=>true,b=>1}
