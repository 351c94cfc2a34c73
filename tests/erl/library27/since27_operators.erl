%% SPDX-License-Identifier: Apache-2.0
-module(since27_operators).
-export([main/0]).
%% What OTP 27 says of an operator that failed, and what it makes of 0.0 with the other sign.

main() ->
    increments(),
    loops(),
    negated().

id(X) -> X.

first(F) ->
    try F() catch error:Reason:Stack ->
        {Module, Function, Arguments, Where} = hd(Stack),
        case lists:keyfind(error_info, 1, Where) of
            {error_info, Info} -> {Reason, Module, Function, Arguments, Info};
            false -> {Reason, Module, Function, Arguments}
        end
    end.

increments() ->
    A = id(a),
    L = id([]),
    [io:format("~0p~n", [first(F)]) || F <- [fun() -> A + 1 end, fun() -> A - 1 end, fun() -> A - -1 end, fun() -> A + -1 end, fun() -> 1 + A end,
        fun() -> + A end, fun() -> - A end, fun() -> A + L end, fun() -> A * 1 end, fun() -> apply(erlang, '+', [A, 1]) end,
        fun() -> apply(erlang, '+', [A]) end, fun() -> length(L) + A end]].

%% expect: {badarith,erlang,'+',[a,1],#{module => erl_erts_errors}}
%% expect: {badarith,erlang,'-',[a,1],#{module => erl_erts_errors}}
%% expect: {badarith,erlang,'-',[a,-1],#{module => erl_erts_errors}}
%% expect: {badarith,erlang,'+',[a,-1],#{module => erl_erts_errors}}
%% expect: {badarith,erlang,'+',[a,1],#{module => erl_erts_errors}}
%% expect: {badarith,erlang,'+',[a,0],#{module => erl_erts_errors}}
%% expect: {badarith,erlang,'-',[a],#{module => erl_erts_errors}}
%% expect: {badarith,erlang,'+',[a,[]],#{module => erl_erts_errors}}
%% expect: {badarith,erlang,'*',[a,1],#{module => erl_erts_errors}}
%% expect: {badarith,erlang,'+',[a,1],#{module => erl_erts_errors}}
%% expect: {badarith,erlang,'+',[a,0],#{module => erl_erts_errors}}
%% expect: {badarith,erlang,'+',[0,a],#{module => erl_erts_errors}}

count([_ | T], N) -> count(T, N + 1);
count([], N) -> N.

last(N, [H | T]) -> last([H | N] -- [], T, N + 1);
last(N, []) -> N.

last(_, T, N) -> last(N, T).

swapped(0, X) -> X;
swapped(N, X) -> swapped(X + 1, N).

loops() ->
    [io:format("~0p~n", [first(F)]) || F <- [fun() -> count([1, 2], b) end, fun() -> last(id([]), [1]) end, fun() -> swapped(1, b) end,
        fun() -> lists:foldl(fun(_, N) -> N + 1 end, b, [1]) end]].

%% expect: {badarith,erlang,'+',[b,1],#{module => erl_erts_errors}}
%% expect: {badarith,erlang,'+',[[],1],#{module => erl_erts_errors}}
%% expect: {badarith,erlang,'+',[b,1],#{module => erl_erts_errors}}
%% expect: {badarith,erlang,'+',[b,1],#{module => erl_erts_errors}}

negated() ->
    Negate = fun(X) -> - (X * 1.0) end,
    Float = fun(X) when is_float(X) -> - X end,
    Any = fun(X) -> - X end,
    io:format("~p~n", [[F(id(X)) || F <- [Negate, Float, Any], X <- [0.0, -0.0, 1.5]]]),
    io:format("~p~n", [[apply(erlang, '-', [id(X)]) || X <- [0.0, -0.0, 0]]]),
    io:format("~p~n", [[0 - id(0.0), 0.0 - id(0.0), 0 * id(-1.0), + id(-0.0), abs(id(-0.0))]]).

%% expect: [-0.0,0.0,-1.5,-0.0,0.0,-1.5,-0.0,0.0,-1.5]
%% expect: [-0.0,0.0,0]
%% expect: [0.0,0.0,-0.0,0.0,0.0]
