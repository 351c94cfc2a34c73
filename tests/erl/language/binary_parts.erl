%% SPDX-License-Identifier: Apache-2.0
%% binary_part of bits that are no whole bytes: those are left out, and refused since OTP 27.
%% expect: [<<"b">>,<<"ab">>,<<>>,badarg,badarg]
%% expect: [<<"b">>,<<"ab">>,<<>>,<<>>]
%% expect 27: [badarg,badarg,badarg,badarg]
%% expect: [b,no]
%% expect 27: [no,no]
-module(binary_parts).
-export([main/0]).

main() ->
    d([tried(fun() -> binary_part(id(<<"abc">>), At, N) end) || {At, N} <- [{1, 1}, {2, -2}, {3, 0}, {3, 1}, {-1, 1}]]),
    Bits = id(<<"abc", 5:3>>),
    d([tried(F) || F <- [fun() -> binary:part(Bits, {1, 1}) end, fun() -> binary:part(Bits, 2, -2) end,
                         fun() -> binary_part(Bits, {3, 0}) end, fun() -> binary_part(id(<<1:1>>), 0, 0) end]]),
    d([guarded(Bits), guarded(id(<<"a", 1:7>>))]).

guarded(B) when binary_part(B, 1, 1) =:= <<"b">> -> b;
guarded(_) -> no.

tried(F) -> try F() catch error:R -> R end.
id(X) -> X.
d(T) -> io:format("~p~n", [T]).
