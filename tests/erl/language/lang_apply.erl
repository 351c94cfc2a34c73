%% SPDX-License-Identifier: Apache-2.0
%% Calls through variables, apply, exports, code that is not there.
-module(lang_apply).
-export([main/0, target/2]).

main() ->
    M = ?MODULE, F = target,
    erlang:display(M:F(1, 2)),
    erlang:display(apply(M, F, [3, 4])),
    erlang:display(apply(fun target/2, [5, 6])),
    erlang:display(apply(erlang, '+', [1, 2])),
    erlang:display([erlang:function_exported(M, F, 2), erlang:function_exported(M, hidden, 0), erlang:function_exported(erlang, abs, 1)]),
    erlang:display([is_list(M:module_info()), proplists:get_value(target, M:module_info(exports)), M:module_info(module)]),
    [erlang:display(try Fn() catch C:R -> {C, R} end)
     || Fn <- [fun() -> M:hidden() end, fun() -> apply(M, F, [1]) end, fun() -> apply(M, F, id([1 | 2])) end, fun() -> apply(M, 1, []) end,
               fun() -> nomod:f() end]],
    hidden().

target(A, B) -> {A, B}.

hidden() -> ok.

id(X) -> X.

%% expect: {1,2}
%% expect: {3,4}
%% expect: {5,6}
%% expect: 3
%% expect: [true,false,true]
%% expect: [true,2,lang_apply]
%% expect: {error,undef}
%% expect: {error,undef}
%% expect: {error,badarg}
%% expect: {error,badarg}
%% expect: {error,undef}
