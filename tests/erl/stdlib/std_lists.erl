%% SPDX-License-Identifier: Apache-2.0
%% lists: what is native and what is not.
-module(std_lists).
-export([main/0]).

main() ->
    L = [5, 3, 8, 1, 9, 2, 7, 3],
    d([lists:sort(L), lists:usort(L), lists:reverse(L), lists:reverse(L, [x]), lists:max(L), lists:min(L), lists:sum(L)]),
    d([lists:member(8, L), lists:member(8.0, L), lists:nth(3, L), lists:nthtail(5, L), lists:last(L), lists:sublist(L, 2, 3)]),
    d([lists:keyfind(b, 1, [{a, 1}, {b, 2}]), lists:keyfind(1.0, 1, [{1, x}]), lists:keymember(2, 2, [{a, 1}, {b, 2}]),
       lists:keysearch(z, 1, []), lists:keydelete(a, 1, [{a, 1}, {b, 2}, {a, 3}]), lists:keyreplace(a, 1, [{a, 1}], {c, 2}),
       lists:keystore(q, 1, [{a, 1}], {q, 2}), lists:keytake(a, 1, [{b, 0}, {a, 1}]), lists:keysort(2, [{a, 3}, {b, 1}, {c, 2}]),
       lists:keymerge(1, [{a, 1}, {c, 1}], [{b, 2}])]),
    d([lists:append([[1], [2, 3], []]), [1, 2] ++ [3], [1, 2, 3, 2, 1] -- [2, 1], lists:subtract(L, [3, 3, 4]), lists:delete(3, L)]),
    d([lists:map(fun(X) -> X * 2 end, L), lists:filter(fun(X) -> X > 4 end, L), lists:foldl(fun(X, A) -> X - A end, 0, L),
       lists:foldr(fun(X, A) -> X - A end, 0, L), lists:flatmap(fun(X) -> [X, X] end, [1, 2]), lists:mapfoldl(fun(X, A) -> {X + A, A + 1} end, 0, [1, 2, 3]),
       lists:filtermap(fun(X) -> X > 5 andalso {true, X * 10} end, L)]),
    d([lists:zip([1, 2], [a, b]), lists:zip3([1], [a], [x]), lists:unzip([{1, a}, {2, b}]), lists:zipwith(fun(X, Y) -> X + Y end, [1, 2], [3, 4])]),
    d([lists:partition(fun(X) -> X rem 2 =:= 0 end, L), lists:splitwith(fun(X) -> X > 2 end, L), lists:split(2, L),
       lists:takewhile(fun(X) -> X > 2 end, L), lists:dropwhile(fun(X) -> X > 2 end, L), lists:search(fun(X) -> X > 8 end, L)]),
    d([lists:flatten([1, [2, [3, []], [[4]]]]), lists:duplicate(3, x), lists:seq(1, 10, 3), lists:seq(5, 1, -2), lists:seq(1, 0)]),
    d([lists:prefix("ab", "abc"), lists:suffix("bc", "abc"), lists:join(x, [1, 2, 3]), lists:concat([a, 1, "b"]), lists:droplast([1, 2, 3]),
       lists:merge([1, 4], [2, 3]), lists:umerge([[1, 3], [1, 2]]), lists:all(fun is_integer/1, L), lists:any(fun is_atom/1, L)]),
    B = [(I * 7919) rem 100003 || I <- lists:seq(1, 100003)],
    d(lists:sort(B) =:= lists:seq(0, 100002)),
    d(erlang:phash2(lists:sort(fun(X, Y) -> {X rem 100, X} =< {Y rem 100, Y} end, B))),
    d(length(B -- lists:seq(1, 50000))),
    [d(try F() catch C:R -> {C, R} end)
     || F <- [fun() -> lists:nth(9, L) end, fun() -> lists:reverse(id(x)) end, fun() -> length(id([1 | 2])) end, fun() -> lists:keyfind(a, 0, []) end,
              fun() -> id([1 | 2]) ++ [3] end, fun() -> lists:max([]) end]].

d(T) -> erlang:display(T).

id(X) -> X.

%% expect: [[1,2,3,3,5,7,8,9],[1,2,3,5,7,8,9],[3,7,2,9,1,8,3,5],[3,7,2,9,1,8,3,5,x],9,1,38]
%% expect: [true,false,8,[2,7,3],3,[3,8,1]]
%% expect: [{b,2},{1,x},true,false,[{b,2},{a,3}],[{c,2}],[{a,1},{q,2}],{value,{a,1},[{b,0}]},[{b,1},{c,2},{a,3}],[{a,1},{b,2},{c,1}]]
%% expect: [[1,2,3],[1,2,3],[3,2,1],[5,8,1,9,2,7],[5,8,1,9,2,7,3]]
%% expect: [[10,6,16,2,18,4,14,6],[5,8,9,7],-20,20,[1,1,2,2],{[1,3,5],3},"PZF"]
%% expect: [[{1,a},{2,b}],[{1,a,x}],{[1,2],[a,b]},[4,6]]
%% expect: [{[8,2],[5,3,1,9,7,3]},{[5,3,8],[1,9,2,7,3]},{[5,3],[8,1,9,2,7,3]},[5,3,8],[1,9,2,7,3],{value,9}]
%% expect: [[1,2,3,4],[x,x,x],[1,4,7,10],[5,3,1],[]]
%% expect: [true,true,[1,x,2,x,3],"a1b",[1,2],[1,2,3,4],[1,2,3],true,false]
%% expect: true
%% expect: 15029914
%% expect: 50003
%% expect: {error,function_clause}
%% expect: {error,function_clause}
%% expect: {error,badarg}
%% expect: {error,badarg}
%% expect: {error,badarg}
%% expect: {error,function_clause}
