%% SPDX-License-Identifier: Apache-2.0
%% Calls in tail position leave no frame behind, those of funs too; a function that applies what raises is seen in the trace.
-module(lang_tail).
-export([main/0]).

main() ->
    Bare = fun(_, 0) -> stack_words(); (F, N) -> F(F, N - 1) end,
    erlang:display(Bare(Bare, 10) =:= Bare(Bare, 100000)),
    erlang:display(closures(10, lists) =:= closures(100000, lists)),
    Handed = hand(10),
    erlang:display(Handed =:= hand(100000)),
    [show(F) || F <- [
        fun() -> by_list(erlang, error, [x]) end,
        fun() -> by_list(erlang, exit, [x]) end,
        fun() -> by_list(erlang, hd, [x]) end,
        fun() -> framed(erlang, throw) end,
        fun() -> framed(erlang, hd) end,
        fun() -> bare(erlang, error, badarg) end,
        fun() -> by_fun(fun erlang:error/1, x) end,
        fun() -> by_fun(fun erlang:hd/1, x) end,
        fun() -> by_fun(fun(Y) -> 1 + Y end, x) end,
        fun() -> by_fun(x, y) end,
        fun() -> by_fun(fun() -> x end, y) end]].

stack_words() ->
    element(2, process_info(self(), stack_size)).

closures(0, _) -> stack_words();
closures(N, X) -> F = fun(M) -> closures(M, X) end, id(F), F(N - 1).

%% A call and the end of a process go through funs that are not ours.
hand(N) ->
    {_, R} = spawn_monitor(fun() -> Loop = fun Loop(0) -> exit(stack_words()); Loop(M) -> id(M), Loop(M - 1) end, Loop(N) end),
    receive {'DOWN', R, process, _, Words} -> Words end.

id(X) -> X.

by_list(M, F, A) -> apply(M, F, A).
framed(M, F) -> X = id(x), id(X), M:F(X).
bare(M, F, X) -> M:F(X).
by_fun(F, X) -> F(X).

show(F) ->
    try F() catch C:R:S -> erlang:display({C, reason(R), [at(E) || E <- S, element(1, E) =/= init, name(E) =/= show, name(E) =/= main]}) end.

reason({What, Fun}) when is_function(Fun) -> {What, a_fun};
reason({What, {Fun, Args}}) when is_function(Fun) -> {What, Args};
reason(R) -> R.

at({M, _, A, _} = E) -> {M, name(E), A}.

%% Names of funs carry compiler numbering.
name({_, F, _, _}) ->
    case atom_to_list(F) of
        "-main/0-lc" ++ _ -> main;
        "-" ++ _ -> a_fun;
        _ -> F
    end.

%% expect: true
%% expect: true
%% expect: true
%% expect: {error,x,[{lang_tail,by_list,3}]}
%% expect: {exit,x,[{lang_tail,by_list,3}]}
%% expect: {error,badarg,[{erlang,hd,[x]}]}
%% expect: {throw,x,[{lang_tail,framed,2}]}
%% expect: {error,badarg,[{erlang,hd,[x]}]}
%% expect: {error,badarg,[{lang_tail,bare,3}]}
%% expect: {error,x,[]}
%% expect: {error,badarg,[{erlang,hd,[x]}]}
%% expect: {error,badarith,[{lang_tail,a_fun,1}]}
%% expect 27: {error,badarith,[{erlang,'+',[x,1]},{lang_tail,a_fun,1}]}
%% expect: {error,{badfun,x},[{lang_tail,by_fun,2}]}
%% expect: {error,{badarity,[y]},[{lang_tail,by_fun,2}]}
