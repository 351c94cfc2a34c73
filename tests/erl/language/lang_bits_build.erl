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
    erlang:display(<< <<A, D>> || A <- "ab", <<D>> <= <<"12">> >>),
    Integers = [0, 1, -1, 7, -129, 16#123456789abcdef, -16#123456789abcdef, (1 bsl 59) - 1, -(1 bsl 59), 1 bsl 70],
    erlang:display([{length(L), erlang:phash2(L)} || L <- [[sized(How, N, S) || N <- Integers, S <- lists:seq(0, 600)] || How <- [1, 2, 3, 4]]]),
    Characters = [0, $a, 16#d7ff, 16#d800, 16#dfff, 16#e000, 16#ffff, 16#10000, 16#10ffff, 16#110000, -1, x],
    erlang:display([utf16(Character) || Character <- Characters]),
    erlang:display([single(T) || T <- [1.5, -0.0, 3, 1.0e-300, 16777217.0, 1 bsl 2000, x]]).

%% The size is known when it runs.
sized(1, N, S) -> <<N:S>>;
sized(2, N, S) -> <<5:3, N:S>>;
sized(3, N, S) -> <<N:S/unit:3, 1>>;
sized(4, N, S) -> <<"abc", -1:13, N:S/unit:2>>.

utf16(C) -> try <<1, C/utf16, C/utf16-little, 2>> catch error:badarg -> badarg end.

single(F) -> try <<F:32/float, 1>> catch error:badarg -> badarg end.

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
%% expect: [{6010,35262336},{6010,133612727},{6010,118451208},{6010,25611963}]
%% expect: [<<1,0,0,0,0,2>>,<<1,0,97,97,0,2>>,<<1,215,255,255,215,2>>,badarg,badarg,<<1,224,0,0,224,2>>,<<1,255,255,255,255,2>>,<<1,216,0,220,0,0,216,0,220,2>>,<<1,219,255,223,255,255,219,255,223,2>>,badarg,badarg,badarg]
%% expect: [<<63,192,0,0,1>>,<<128,0,0,0,1>>,<<64,64,0,0,1>>,<<0,0,0,0,1>>,<<75,128,0,0,1>>,badarg,badarg]
