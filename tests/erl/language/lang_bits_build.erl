%% SPDX-License-Identifier: Apache-2.0
%% Bit syntax: putting binaries together.
-module(lang_bits_build).
-export([main/0]).

main() ->
    X = id(16#1234567), B = id(<<1, 2, 3>>), F = id(1.5),
    erlang:display(<<X>>),
    erlang:display(<<X:32, X:32/little, X:24, X:12/little, 0:4>>),
    erlang:display(<<-1:16, (-2):8/signed, -(1 bsl 70):80>>),
    erlang:display(<<F/float, F:32/float, F:16/float-little, 3/float>>),
    erlang:display(<<B/binary, B:2/binary, 9>>),
    erlang:display(<<5:3, 0:5, 1:1>>),
    erlang:display(<<"abc", "é"/utf8, "é", 16#1f600/utf8, 16#1f600/utf16, 16#41/utf32-little>>),
    C = << <<N:4>> || N <- [1, 2, 3] >>,
    erlang:display({C, bit_size(C)}),
    erlang:display(<<C/bitstring, 15:4>>),
    G = grow(2000, <<>>),
    erlang:display({byte_size(G), erlang:phash2(G)}),
    H1 = <<G/binary, 1>>, H2 = <<G/binary, 2>>,
    erlang:display({binary:last(H1), binary:last(H2), byte_size(G)}),
    [erlang:display(try Fn() catch C1:R -> {C1, R} end)
     || Fn <- [fun() -> <<(id(a))>> end, fun() -> <<(id(<<1:1>>))/binary>> end, fun() -> <<1:(id(-1))>> end,
               fun() -> <<(id(16#d800))/utf8>> end, fun() -> <<(id(<<1>>)):2/binary>> end, fun() -> <<(id(x))/float>> end]],
    erlang:display(<< <<(N * 2)>> || <<N>> <= <<1, 2, 3, 200>>, N =/= 2 >>),
    erlang:display([N || <<N:12>> <= <<1, 35, 69, 103, 137, 171>>]),
    erlang:display(<< <<A, D>> || A <- "ab", <<D>> <= <<"12">> >>).

grow(0, B) -> B;
grow(N, B) -> grow(N - 1, <<B/binary, N:16>>).

id(X) -> X.

%% expect: <<"g">>
%% expect: <<1,35,69,103,103,69,35,1,35,69,103,103,80>>
%% expect: <<255,255,254,255,192,0,0,0,0,0,0,0,0>>
%% expect: <<63,248,0,0,0,0,0,0,63,192,0,0,0,62,64,8,0,0,0,0,0,0>>
%% expect: <<1,2,3,1,2,9>>
%% expect: <<160,1:1>>
%% expect: <<97,98,99,195,169,233,240,159,152,128,216,61,222,0,65,0,0,0>>
%% expect: {<<18,3:4>>,12}
%% expect: <<18,63>>
%% expect: {4000,80070492}
%% expect: {1,2,4000}
%% expect: {error,badarg}
%% expect: {error,badarg}
%% expect: {error,badarg}
%% expect: {error,badarg}
%% expect: {error,badarg}
%% expect: {error,badarg}
%% expect: <<2,6,144>>
%% expect: [18,837,1656,2475]
%% expect: <<"a1a2b1b2">>
