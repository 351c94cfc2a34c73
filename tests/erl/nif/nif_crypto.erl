%% SPDX-License-Identifier: Apache-2.0
%% The distribution's crypto: hashes, codes, ciphers, random numbers, keys, signatures; what is wrong is told as OTP tells it.
%% expect: {start,ok,ok,<<"OpenSSL">>}
%% expect: {hash,[{md5,"900150983CD24FB0D6963F7D28E17F72"},{sha,"A9993E364706816ABA3E25717850C26C9CD0D89D"},{sha256,"BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD"},{sha512,"DDAF35A193617ABACC417349AE20413112E6FA4E89A97EA20A9EEEE64B55D39A2192992A274FC1A836BA3C23A3FEEBBD454D4423643CE80E2A9AC94FA54CA49F"},{sha3_256,"3A985DA74FE225B2045C172D6BD390BD855F086E3E9D525B46BFE24511431532"},{blake2b,"BA80A53F981C4D0D6A2797B69F12F6E94C212F14685AC4B74B12BB6FDBFFA2D17D87C5392AAB792DC252D5DE4533CC9518D38AA8DBF1925AB92386EDD4009923"}]}
%% expect: {stream,"A9993E364706816ABA3E25717850C26C9CD0D89D","81FE8BFE87576C3ECB22426F8E57847382917ACF"}
%% expect: {large,"D52FCC26B48DBD4D79B125EB0A29B803ADE07613C67AC7C6F2751AEFEF008486"}
%% expect: {mac,"5031FE3D989C6D1537A013FA6E739DA23463FDAEC3B70137D828E36ACE221BD0","F3346600CD81405C757D154341C4EE75"}
%% expect: {cipher,"F82132F4C1C00F082A5C300F",<<"in the clear">>}
%% expect: {blocks,"A07E5CEEA31885AA12BEDD4053B18D09858FC09FC67F0D88A06CF6C8DC3B3132"}
%% expect: {aead,"D567B49C","24E7084036229AE4946704FD08E20804",<<"text">>,error}
%% expect: {random,33,true,true}
%% expect: {numbers,<<7,46,48,246,212,98,103,121,45>>,<<2,6>>,256}
%% expect: {rsa,128,true,false,<<"hidden">>}
%% expect: {ecdh,true}
%% expect: {eddsa,"ED4928C628D1C2C6EAE90338905995612959273A5C63F93636C14614AC8737D1","0EA783C0D73D0A4A3DA08694C5225656DF8BA98D0723A684E58853E21B070045718375DB372AA1692DA8D27B50B2EA0E537E8D9FDFFCD76D3A19B8E683468D03",true}
%% expect: {equal,true,false}
%% expect: {pbkdf2,"6E88BE8BAD7EAE9D9E10AA061224034FED48D03F"}
%% expect: {wrong,{badarg,"hash.c","Bad digest type"}}
%% expect: {wrong,{error,badarg}}
%% expect: {wrong,{badarg,"api_ng.c","Bad key size"}}
%% expect: {wrong,{error,badarg}}
%% expect: {supported,[true,true,true,false,true]}
%% expect: {many,4000}
-module(nif_crypto).
-export([main/0]).

main() ->
    show({start, crypto:start(), application:stop(crypto), element(1, hd(crypto:info_lib()))}),
    show({hash, [{T, hex(crypto:hash(T, "abc"))} || T <- [md5, sha, sha256, sha512, sha3_256, blake2b]]}),
    S = lists:foldl(fun(X, A) -> crypto:hash_update(A, X) end, crypto:hash_init(sha), ["a", <<"b">>, ["c"]]),
    show({stream, hex(crypto:hash_final(S)), hex(crypto:hash_final(crypto:hash_update(S, "d")))}),
    show({large, hex(crypto:hash(sha256, binary:copy(<<"0123456789">>, 1000000)))}),
    show({mac, hex(crypto:mac(hmac, sha256, "key", "data")), hex(crypto:mac(cmac, aes_128_cbc, binary:copy(<<1>>, 16), "data"))}),
    Key = binary:copy(<<7>>, 16),
    Iv = binary:copy(<<9>>, 16),
    Secret = crypto:crypto_one_time(aes_128_ctr, Key, Iv, "in the clear", true),
    show({cipher, hex(Secret), crypto:crypto_one_time(aes_128_ctr, Key, Iv, Secret, false)}),
    State = crypto:crypto_init(aes_128_cbc, Key, Iv, [{encrypt, true}, {padding, pkcs_padding}]),
    show({blocks, hex(iolist_to_binary([crypto:crypto_update(State, "0123456789abcdefXY"), crypto:crypto_final(State)]))}),
    {Text, Tag} = crypto:crypto_one_time_aead(aes_128_gcm, Key, binary:copy(<<1>>, 12), "text", "more", true),
    show({aead, hex(Text), hex(Tag), crypto:crypto_one_time_aead(aes_128_gcm, Key, binary:copy(<<1>>, 12), Text, "more", Tag, false),
          crypto:crypto_one_time_aead(aes_128_gcm, Key, binary:copy(<<1>>, 12), Text, "less", Tag, false)}),
    show({random, byte_size(crypto:strong_rand_bytes(33)), crypto:strong_rand_bytes(16) =/= crypto:strong_rand_bytes(16), lists:member(rand:uniform_s(5, crypto:rand_seed_s()) =/= 0, [true])}),
    show({numbers, crypto:mod_pow(3, 1000, 1 bsl 70 + 1), crypto:exor(<<1, 2>>, <<3, 4>>), crypto:bytes_to_integer(<<1, 0>>)}),
    keys(),
    show({equal, crypto:hash_equals(<<"ab">>, <<"ab">>), crypto:hash_equals(<<"ab">>, <<"ac">>)}),
    show({pbkdf2, hex(crypto:pbkdf2_hmac(sha, <<"password">>, <<"salt">>, 1000, 20))}),
    [show({wrong, outcome(F)}) || F <- [fun() -> crypto:hash(no_such_hash, "x") end, fun() -> crypto:hash(sha, [a]) end,
        fun() -> crypto:crypto_one_time(aes_128_ctr, <<1>>, Iv, "x", true) end, fun() -> crypto:mac(hmac, sha, a, "x") end]],
    show({supported, [length(crypto:supports(What)) > 3 || What <- [hashs, ciphers, public_keys, macs, curves]]}),
    Self = self(),
    Pids = [spawn(fun() -> Self ! {self(), [crypto:hash(sha256, <<N:32, M:32>>) || M <- lists:seq(1, 200)]} end) || N <- lists:seq(1, 20)],
    show({many, length(lists:usort(lists:append([receive {P, L} -> L end || P <- Pids])))}).

%% Keys are made on dirty schedulers.
keys() ->
    {Public, Private} = crypto:generate_key(rsa, {1024, 65537}),
    Signature = crypto:sign(rsa, sha256, "text", Private),
    show({rsa, byte_size(Signature), crypto:verify(rsa, sha256, "text", Signature, Public), crypto:verify(rsa, sha256, "other", Signature, Public),
          crypto:private_decrypt(rsa, crypto:public_encrypt(rsa, <<"hidden">>, Public, rsa_pkcs1_padding), Private, rsa_pkcs1_padding)}),
    {A, APrivate} = crypto:generate_key(ecdh, secp256r1),
    {B, BPrivate} = crypto:generate_key(ecdh, secp256r1),
    show({ecdh, crypto:compute_key(ecdh, A, BPrivate, secp256r1) =:= crypto:compute_key(ecdh, B, APrivate, secp256r1)}),
    {Ed, EdPrivate} = crypto:generate_key(eddsa, ed25519, binary:copy(<<3>>, 32)),
    EdSignature = crypto:sign(eddsa, none, "text", [EdPrivate, ed25519]),
    show({eddsa, hex(Ed), hex(EdSignature), crypto:verify(eddsa, none, "text", EdSignature, [Ed, ed25519])}).

outcome(F) -> try F() catch error:{Class, {File, Line}, Text} when is_integer(Line) -> {Class, File, Text}; C:R -> {C, R} end.

hex(B) -> binary_to_list(binary:encode_hex(B)).

show(T) -> io:format("~0p~n", [T]).
