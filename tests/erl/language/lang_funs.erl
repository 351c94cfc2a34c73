%% SPDX-License-Identifier: Apache-2.0
%% Funs: closures, names, exports, comparison.
-module(lang_funs).
-export([main/0, double/1]).

main() ->
    Add = fun(X) -> fun(Y) -> X + Y end end,
    Add3 = Add(3),
    erlang:display([Add3(4), (Add(10))(20)]),
    Fact = fun F(0) -> 1; F(N) -> N * F(N - 1) end,
    erlang:display(Fact(20)),
    erlang:display(lists:map(fun double/1, [1, 2, 3])),
    erlang:display(lists:map(fun ?MODULE:double/1, [1, 2, 3])),
    M = lists, R = reverse,
    erlang:display((fun M:R/1)([1, 2, 3])),
    erlang:display(apply(fun lists:append/2, [[1], [2]])),
    erlang:display([is_function(Add), is_function(Add, 1), is_function(Add, 2), is_function(fun lists:map/2, 2), is_function(foo)]),
    erlang:display(erlang:fun_info(fun lists:map/2, type)),
    erlang:display(erlang:fun_info(Add, arity)),
    erlang:display(element(2, erlang:fun_info(Add3, env))),
    erlang:display([fun lists:map/2 =:= fun lists:map/2, fun lists:map/2 =:= fun lists:map/3, Add(3) =:= Add(3), Add(3) =:= Add(4)]),
    erlang:display(lists:foldl(fun(F, A) -> F(A) end, 5, [fun(X) -> X * 2 end, Add3, fun erlang:'-'/1])),
    P = spawn(fun() -> receive {F, Arg, From} -> From ! F(Arg) end end),
    P ! {Add3, 39, self()},
    erlang:display(receive V -> V end),
    T = binary_to_term(term_to_binary({Add3, fun lists:sort/1})),
    erlang:display([(element(1, T))(1), (element(2, T))([2, 1])]),
    erlang:display(try Add(1, 2) catch error:{badarity, {_, A}} -> A end).

double(X) -> X * 2.

%% expect: [7,30]
%% expect: 2432902008176640000
%% expect: [2,4,6]
%% expect: [2,4,6]
%% expect: [3,2,1]
%% expect: [1,2]
%% expect: [true,true,false,true,false]
%% expect: {type,external}
%% expect: {arity,1}
%% expect: [3]
%% expect: [true,false,true,false]
%% expect: -13
%% expect: 42
%% expect: [4,[1,2]]
%% expect: [1,2]
