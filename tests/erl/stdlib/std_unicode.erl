%% SPDX-License-Identifier: Apache-2.0
%% unicode: conversions, errors, normal forms.
-module(std_unicode).
-export([main/0]).

main() ->
    L = [97, 233, 8364, 128512],
    B = unicode:characters_to_binary(L),
    d([B, unicode:characters_to_list(B) =:= L]),
    d([unicode:characters_to_binary(L, unicode, E) || E <- [utf8, utf16, {utf16, little}, utf32, {utf32, little}]]),
    d(unicode:characters_to_binary([233], latin1, latin1)),
    d(unicode:characters_to_binary(L, unicode, latin1)),
    d(unicode:characters_to_list(<<97, 195>>)),
    d(unicode:characters_to_list(<<97, 255, 98>>)),
    d(unicode:characters_to_binary([97, 16#d800])),
    d([unicode:F(T) || F <- [characters_to_list, characters_to_binary], T <- [[<<97, 195, 10>>], [[<<97, 195>>]], [<<255>>, 98], ["a", <<255>> | <<98>>]]]),
    d(unicode:characters_to_list(["a", [<<195, 169>>], 8364])),
    d(unicode:characters_to_list(<<0, 97, 0, 98>>, utf16)),
    d([unicode:characters_to_nfd_list([233]), hd(unicode:characters_to_nfc_list([101, 769])), unicode:characters_to_nfkc_list([64257])]),
    d([unicode:bom_to_encoding(<<239, 187, 191>>), unicode:encoding_to_bom(utf8)]),
    Big = unicode:characters_to_binary([1024 + I rem 5000 || I <- lists:seq(1, 100000)]),
    d([byte_size(Big), erlang:phash2(unicode:characters_to_list(Big))]),
    d(try unicode:characters_to_binary(x) catch C:R -> {C, R} end),
    rand:seed(exsss, 7),
    Texts = [text(rand:uniform(200)) || _ <- lists:seq(1, 2000)],
    Results = [unicode:F(T, E) || T <- Texts, F <- [characters_to_binary, characters_to_list], E <- [unicode, latin1]],
    d([length([R || R <- Results, tag(R) =:= Tag]) || Tag <- [done, error, incomplete]]),
    d(erlang:phash2(Results)).

tag({Tag, _, _}) -> Tag;
tag(_) -> done.

%% N parts: characters, binaries of whole, cut and wrong ones, lists of them; what is wrong is rare.
text(0) -> case rand:uniform(4) of 1 -> <<"end">>; 2 -> <<226, 130>>; _ -> [] end;
text(N) -> [part(rand:uniform(40)) | text(N - 1)].

part(1) -> case rand:uniform(20) of 1 -> 16#d800; 2 -> 16#110000; 3 -> -1; 4 -> <<255>>; 5 -> <<195>>; _ -> [] end;
part(2) -> <<0:1, B:3/binary, _/bits>> = <<0:1, "abc", 0:7>>, B;
part(3) -> [char() | unicode:characters_to_binary([char(), char()])];
part(4) -> C = <<(char())/utf8>>, {A, B} = split_binary(C, rand:uniform(byte_size(C)) - 1), [A, B];
part(5) -> text(rand:uniform(3));
part(_) -> char().

char() -> element(rand:uniform(6), {$a, $b, 233, 255, 1024, 128512}).

d(T) -> erlang:display(T).

%% expect: [<<97,195,169,226,130,172,240,159,152,128>>,true]
%% expect: [<<97,195,169,226,130,172,240,159,152,128>>,<<0,97,0,233,32,172,216,61,222,0>>,<<97,0,233,0,172,32,61,216,0,222>>,<<0,0,0,97,0,0,0,233,0,0,32,172,0,1,246,0>>,<<97,0,0,0,233,0,0,0,172,32,0,0,0,246,1,0>>]
%% expect: <<233>>
%% expect: {error,<<97,233>>,[[8364],128512]}
%% expect: {incomplete,"a",<<195>>}
%% expect: {error,"a",<<255,98>>}
%% expect: {error,<<"a">>,[55296]}
%% expect: [{error,"a",[<<195,10>>]},{incomplete,"a",<<195>>},{error,[],[<<255>>,98]},{error,"a",[<<255>>|<<"b">>]},{error,<<"a">>,<<195,10>>},{incomplete,<<"a">>,<<195>>},{error,<<>>,[<<255>>,98]},{error,<<"a">>,[<<255>>|<<"b">>]}]
%% expect: [97,233,8364]
%% expect: "ab"
%% expect: [[101,769],233,"fi"]
%% expect: [{utf8,3},<<239,187,191>>]
%% expect: [279520,11400274]
%% expect: {error,badarg}
%% expect: [1160,6484,356]
%% expect: 2542944
