%% SPDX-License-Identifier: Apache-2.0
%% Bit syntax: taking binaries apart.
-module(lang_bits_match).
-export([main/0]).

main() ->
    B = <<1, 2, 3, 4, 255, 254, 253, 252>>,
    <<A:3, C:13, D/little-signed-integer, E:16/big, R/binary>> = B,
    erlang:display({A, C, D, E, R}),
    <<_:32, S:32/signed>> = B,
    <<_:32, U:32/little>> = B,
    erlang:display({S, U}),
    <<X:7, Y/bitstring>> = B,
    erlang:display({X, bit_size(Y), Y}),
    <<F:64/float, G:32/float-little, H:16/float>> = <<64, 9, 33, 251, 84, 68, 45, 24, 0, 0, 192, 63, 16#3c, 0>>,
    erlang:display([float_to_list(Z, [short]) || Z <- [F, G, H]]),
    <<L:8, P:L/binary, Q/binary>> = <<3, "abcdef">>,
    erlang:display({L, P, Q}),
    <<V:(2 * 4)/integer-unit:2, W/binary-unit:16>> = <<1, 2, 3, 4>>,
    erlang:display({V, W}),
    erlang:display([kind(T) || T <- [<<>>, <<1>>, <<"GET /x">>, <<0:5>>, <<1:1, 0:7, 9>>, <<255, 255>>]]),
    <<C1/utf8, C2/utf8, C3/utf8, Rest/binary>> = <<"aé€😀"/utf8>>,
    erlang:display({C1, C2, C3, Rest}),
    <<K1/utf16, K2/utf16-little, K3/utf32>> = <<16#d83d:16, 16#de00:16, 16#41, 0, 0, 0, 1, 0>>,
    erlang:display({K1, K2, K3}),
    erlang:display(utf8(<<16#c0, 16#80>>)),
    erlang:display(utf8(<<16#ed, 16#a0, 16#80>>)),
    erlang:display(utf8(<<16#f4, 16#90, 16#80, 16#80>>)),
    <<Big:200, _/bits>> = <<1:200, 5>>,
    <<Neg:100/signed, _/bits>> = <<-5:100, 0:4>>,
    erlang:display({Big, Neg}),
    erlang:display(sum(<<1, 2, 3, 4, 5>>, 0)),
    erlang:display(words(<<"the quick  brown fox">>, <<>>, [])),
    erlang:display([huge(<<1:N>>) || N <- [8, 16#1001 + 8]]),
    erlang:display([doubles(T, []) || T <- [<<-2.5/float, 1.0e300/float>>, <<1.5/float, -1:64>>, <<0:63>>, <<16#7ff0:16, 0:48>>]]),
    erlang:display([singles(T, []) || T <- [<<-2.5:32/float, 0.5:32/float>>, <<0.5:32/float, 3.0:32/float, 1:3>>, <<16#7f80:16, 0:16>>,
                                            <<1, 2, 3>>]]),
    <<_:3, Unaligned/bits>> = <<5:3, 0.5:32/float, 3.0:32/float>>,
    erlang:display(singles(Unaligned, [])).

doubles(<<F/float, R/bits>>, A) -> doubles(R, [trunc(F / 2) | A]);
doubles(R, A) -> {length(A), hd(A ++ [none]) =:= trunc(1.0e300 / 2), bit_size(R)}.

singles(<<F:32/float, R/bits>>, A) -> singles(R, [trunc(F * 4) | A]);
singles(R, A) -> {A, bit_size(R)}.

%% Tails that no binary has.
huge(<<_:8, _:16#1_0000_0000_0000_0000>>) -> huge;
huge(<<_:8, _:16#8000_0000>>) -> large;
huge(<<B:8, _:16#1001>>) -> B;
huge(_) -> small.

kind(<<>>) -> empty;
kind(<<"GET ", P/binary>>) -> {get, P};
kind(<<1:1, N:7, M>>) -> {flag, N, M};
kind(<<N>>) -> {byte, N};
kind(B) when is_binary(B) -> binary;
kind(B) -> {bits, bit_size(B)}.

utf8(<<C/utf8, _/binary>>) -> C;
utf8(_) -> no_utf8.

sum(<<N, R/binary>>, A) -> sum(R, A + N);
sum(<<>>, A) -> A.

words(<<$\s, R/binary>>, <<>>, Ws) -> words(R, <<>>, Ws);
words(<<$\s, R/binary>>, W, Ws) -> words(R, <<>>, [W | Ws]);
words(<<C, R/binary>>, W, Ws) -> words(R, <<W/binary, C>>, Ws);
words(<<>>, W, Ws) -> lists:reverse([W | Ws]).

%% expect: {0,258,3,1279,<<254,253,252>>}
%% expect: {-66052,4244504319}
%% expect: {0,57,<<129,1,130,127,255,126,254,0:1>>}
%% expect: ["3.141592653589793","1.5","1.0"]
%% expect: {3,<<"abc">>,<<"def">>}
%% expect: {258,<<3,4>>}
%% expect: [empty,{byte,1},{get,<<"/x">>},{bits,5},{flag,0,9},{flag,127,255}]
%% expect: {97,233,8364,<<240,159,152,128>>}
%% expect: {128512,65,256}
%% expect: no_utf8
%% expect: no_utf8
%% expect: no_utf8
%% expect: {1,-5}
%% expect: 15
%% expect: [<<"the">>,<<"quick">>,<<"brown">>,<<"fox">>]
%% expect: [small,0]
%% expect: [{2,true,0},{1,false,64},{0,false,63},{0,false,64}]
%% expect: [{[2,-10],0},{[12,2],3},{[],32},{[],24}]
%% expect: {[12,2],0}
