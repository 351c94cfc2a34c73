%% SPDX-License-Identifier: Apache-2.0
%% Binaries as compilers before OTP 25 build them: bs_init2, bs_init_bits, bs_append with their needs of heap. Those since OTP 28 cannot be told to.
%% until: 27
%% expect: {<<1,2,3>>,<<"abc">>}
%% expect: <<7,0,1>>
%% expect: {<<5:4>>,<<1,2:4>>}
%% expect: [{<<"key=">>,<<"key=value">>,3}]
%% expect: {<<1,2,3,9>>,[9,<<1,2,3>>]}
%% expect: badarg
%% expect: badarg
-module(lang_bits_init).
-compile(r24).
-export([main/0]).

main() ->
    io:format("~p~n", [{fixed(1, 2), strings(<<"b">>)}]),
    io:format("~p~n", [sized(7, 16)]),
    io:format("~p~n", [{bits(5, 4), bits(1, 2)}]),
    io:format("~p~n", [with_tuple("key", "value")]),
    io:format("~p~n", [appended(<<1, 2, 3>>, 9)]),
    io:format("~p~n", [try sized(7, -1) catch error:R -> R end]),
    io:format("~p~n", [try strings(no_binary) catch error:Why -> Why end]).

fixed(A, B) -> <<A, B, 3>>.

strings(B) -> <<"a", B/binary, "c">>.

sized(A, Bits) -> <<A, 1:Bits>>.

bits(A, 4) -> <<A:4>>;
bits(A, B) -> <<A, B:4>>.

with_tuple(Key, Value) ->
    K = list_to_binary(Key),
    V = list_to_binary(Value),
    [{<<K/binary, "=">>, <<K/binary, "=", V/binary>>, length(Key)}].

appended(B, N) ->
    {<<B/binary, N>>, [N, B]}.
