%% SPDX-License-Identifier: Apache-2.0
%% binary: search, split, encode.
-module(std_binary).
-export([main/0]).

main() ->
    B = <<"the quick brown fox">>,
    d([binary:match(B, <<"quick">>), binary:match(B, [<<"fox">>, <<"brown">>]), binary:match(B, <<"zz">>), binary:matches(B, <<"o">>),
       binary:match(B, <<"o">>, [{scope, {13, 6}}]), binary:matches(<<"abcabc">>, [<<"ab">>, <<"abc">>])]),
    P = binary:compile_pattern([<<" ">>, <<"q">>]),
    d([binary:split(B, <<" ">>), binary:split(B, P, [global]), binary:split(<<"a,,b">>, <<",">>, [global, trim_all]), binary:replace(B, <<"o">>, <<"0">>, [global]),
       binary:replace(<<"aXb">>, <<"X">>, <<"-">>, [{insert_replaced, 1}])]),
    d([binary:part(B, 4, 5), binary:part(B, 9, -5), binary:at(B, 0), binary:first(B), binary:last(B), binary:copy(<<"ab">>, 3), binary:bin_to_list(B, 0, 3),
       binary:list_to_bin([1, [2]]), binary:longest_common_prefix([<<"abc">>, <<"abd">>]), binary:longest_common_suffix([<<"xbc">>, <<"ybc">>])]),
    d([binary:encode_unsigned(16#123456), binary:encode_unsigned(16#123456, little), binary:decode_unsigned(<<1, 2, 3>>), binary:decode_unsigned(<<1, 2, 3>>, little),
       binary:encode_hex(<<1, 171>>), binary:decode_hex(<<"01AB">>)]),
    d([base64:encode(<<"hello">>), base64:decode(<<"aGVsbG8=">>), erlang:crc32(B), erlang:adler32(B), erlang:md5(B)]),
    d([erlang:crc32_combine(erlang:crc32(<<"ab">>), erlang:crc32(<<"cd">>), 2) =:= erlang:crc32(<<"abcd">>),
       erlang:md5_final(erlang:md5_update(erlang:md5_init(), B)) =:= erlang:md5(B), erlang:crc32(7, [B, "x"])]),
    Numbers = [X || K <- lists:seq(0, 300), X <- [1 bsl K, (1 bsl K) - 1, (1 bsl K) * 16#55 div 7]],
    Encoded = [{X, E, binary:encode_unsigned(X, E)} || X <- Numbers, E <- [big, little]],
    d([[X || {X, E, Y} <- Encoded, binary:decode_unsigned(Y, E) =/= X], erlang:phash2(Encoded),
       [try binary:encode_unsigned(X) catch error:badarg -> no end || X <- [-1, -(1 bsl 70), 1.0, a]]]),
    Big = binary:copy(<<"0123456789">>, 10000),
    d([length(binary:matches(Big, <<"9012">>)), byte_size(binary:replace(Big, <<"5">>, <<>>, [global])), binary:referenced_byte_size(binary:part(Big, 5, 10))]),
    [d(try F() catch C:R -> {C, R} end) || F <- [fun() -> binary:at(B, 99) end, fun() -> binary:part(B, 1, 99) end, fun() -> binary:match(B, id(<<>>)) end,
                                                 fun() -> binary:split(id(x), <<"a">>) end, fun() -> binary:first(<<>>) end]].

d(T) -> erlang:display(T).

id(X) -> X.

%% expect: [{4,5},{10,5},nomatch,[{12,1},{17,1}],{17,1},[{0,3},{3,3}]]
%% expect: [[<<"the">>,<<"quick brown fox">>],[<<"the">>,<<>>,<<"uick">>,<<"brown">>,<<"fox">>],[<<"a">>,<<"b">>],<<"the quick br0wn f0x">>,<<"a-Xb">>]
%% expect: [<<"quick">>,<<"quick">>,116,116,120,<<"ababab">>,"the",<<1,2>>,2,2]
%% expect: [<<18,52,86>>,<<86,52,18>>,66051,197121,<<"01AB">>,<<1,171>>]
%% expect: [<<"aGVsbG8=">>,<<"hello">>,2445345482,1200490292,<<48,243,201,62,70,67,109,235,88,186,112,129,106,142,193,36>>]
%% expect: [true,true,381180604]
%% expect: [[],92931372,[no,no,no,no]]
%% expect: [9999,90000,10]
%% expect erl 27: [9999,90000,80]
%% expect erl 29: [9999,90000,10]
%% expect: {error,badarg}
%% expect: {error,badarg}
%% expect: {error,badarg}
%% expect: {error,badarg}
%% expect: {error,badarg}
