%% SPDX-License-Identifier: Apache-2.0
%% Bit syntax and floats where whole instructions are joined: whole bytes put in place, appends that share a buffer, float tuples.
-module(lang_joined).
-export([main/0]).

main() ->
    p([f1({1.5,2.5,3.0}), f2(1.5, 2.0), try f3(1.0e308, 10.0) catch error:W3 -> W3 end, try f4({1.0,0.0}) catch error:W4 -> W4 end, f5([1.0,2.0,3.0], 0.0)]),
    p([b1(<<"abc">>, 16#c3), b2(<<1,2,3,4,5,6,7,8,9>>), b3($\x{20ac}, 16#1f600), b4(-2, 300), try b5(a) catch error:W5 -> W5 end, b6(3.25, <<1:3>>), b7(<<1,2,3>>), try b8(<<1:3>>) catch error:W8 -> W8 end]),
    p([u(<<"aé€😀"/utf8>>), u(<<16#c0,16#80>>), u(<<16#e2,16#82>>), u(<<16#ed,16#a0,16#80>>)]),
    A = acc(300, <<>>), B = acc(300, A), C = <<A/binary, "x", A/binary>>,
    p([erlang:crc32(A), erlang:crc32(B), erlang:crc32(C), byte_size(C)]),
    D = lists:foldl(fun(I, Acc) -> Acc1 = <<Acc/binary, I:7, I:9>>, <<Acc1/binary, (-I):24/little, (I bsl 62):64, (I*1.5):64/float, (I*1.5):64/float-little>> end, <<>>, lists:seq(1, 50)),
    p([erlang:md5(D), byte_size(D), try <<D/binary, (id(a)):8>> catch error:W9 -> W9 end, try <<D/binary, (id(55296))/utf8>> catch error:W10 -> W10 end]),
    E1 = <<D/binary, 1>>, E2 = <<D/binary, 2>>,
    p([binary:last(E1), binary:last(E2), byte_size(E1)]),
    <<_:3, F:40/bitstring, G:11, _/bits>> = D,
    p([F, G]),
    <<H:24/signed, I:24/little, J:40, K:56/signed-little, L:59, M:60, _/bits>> = D,
    p([H, I, J, K, L, M]).

id(X) -> X.
f1({X, Y, Z}) when is_float(X) -> X * Y + Z * X - Y / Z.
f2(X, Y) -> X1 = X + 0.5, Y1 = Y * X1, {X1, Y1, X1 * Y1 * 2.0, X1 * Y1 - 1.0, -X1}.
f3(X, Y) -> X * 1.0 * Y * Y.
f4({X, Y}) when is_float(X), is_float(Y) -> X / Y + 1.0.
f5([H | T], A) when is_float(H) -> f5(T, A + H * 2.0);
f5([], A) -> A.
b1(B, C) -> <<B/binary, C, "xyz", B/binary>>.
b2(<<A:24, B:16/little, C:8/signed, R/binary>>) -> {A, B, C, R, <<R/binary, A:24, B:16/little, C:32/little-signed>>}.
b3(A, B) -> <<A/utf8, B/utf8, 65/utf8, 233/utf8>>.
b4(A, B) -> <<A:16, B:8, A:32, B:24, A:64, A:64/little, B:16/little, A:40>>.
b5(A) -> <<1, A:16>>.
b6(F, S) -> <<F:64/float, F:32/float, F:64/float-little, S/bitstring, 5:5>>.
b7(B) -> <<0:32, B/binary>>.
b8(B) -> <<0:32, B/binary>>.
u(<<C/utf8, R/binary>>) -> [C | u(R)];
u(R) -> R.
acc(0, A) -> A;
acc(N, A) -> acc(N - 1, <<A/binary, N:16, N/utf8, "ab">>).
p(T) -> erlang:display(T).

%% expect: [7.416667e+00,{2.000000e+00,4.000000e+00,1.600000e+01,7.000000e+00,-2.000000e+00},badarith,badarith,1.200000e+01]
%% expect: [<<97,98,99,195,120,121,122,97,98,99>>,{66051,1284,6,<<7,8,9>>,<<7,8,9,1,2,3,4,5,6,0,0,0>>},<<226,130,172,240,159,152,128,65,195,169>>,<<255,254,44,255,255,255,254,0,1,44,255,255,255,255,255,255,255,254,254,255,255,255,255,255,255,255,44,1,255,255,255,255,254>>,badarg,<<64,10,0,0,0,0,0,0,64,80,0,0,0,0,0,0,0,0,10,64,37>>,<<0,0,0,0,1,2,3>>,badarg]
%% expect: [[97,233,8364,128512|<<>>],<<192,128>>,<<226,130>>,<<237,160,128>>]
%% expect: [685033169,1514201747,2712722965,3347]
%% expect: [<<152,10,138,221,217,110,87,136,61,230,9,101,112,39,150,234>>,1450,badarg,badarg]
%% expect: [1,2,1451]
%% expect: [<<16,15,255,255,250>>,0]
%% expect: [131583,4259839,0,4164878336,0,136474766966655]
