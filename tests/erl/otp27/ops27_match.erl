%% SPDX-License-Identifier: Apache-2.0
%% Operation                      Test
%% bs_match ensure_at_least       header/1, tags/1
%% bs_match ensure_exactly        exact/1, joined/1
%% bs_match integer, every flag   flags/1, wide/1
%% bs_match binary                parts/1
%% bs_match skip                  skips/1
%% bs_match get_tail              tails/1
%% bs_match =:=                   tags/1, long/1, retry/1, both/2
%% bit_size, byte_size of a match context   sizes/1
-module(ops27_match).
-export([main/0]).

main() ->
    show(header, fun header/1, [<<>>, <<1>>, <<1, 2>>, <<1, 2, 3>>, <<1, 2, 3:2>>, <<1:15>>, atom]),
    show(exact, fun exact/1, [<<1, 2, 3, 4>>, <<1, 2, 3>>, <<1, 2, 3, 4, 5>>, <<1, 2, 3, 4:4>>]),
    show(flags, fun flags/1, [<<255, 254, 253, 252, 251, 250, 249, 248, 247, 246>>, <<1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11>>]),
    show(odd, fun odd/1, [<<16#f5, 16#a3, 16#12, 16#ff>>, <<16#05, 16#53, 16#7f, 0>>]),
    show(wide, fun wide/1, [<<1:1, 0:63, -1:64, 3:128, -4:128>>, <<-1:384>>, <<0:384>>, <<1:384>>]),
    show(parts, fun parts/1, [<<"abcdefgh">>, <<"abcdefg">>, <<"abcdefgh", 1:1>>]),
    show(skips, fun skips/1, [<<1, 2, 3, 4, 5>>, <<1, 2, 3, 4>>, <<0:33>>]),
    show(tails, fun tails/1, [<<1, 2, 3>>, <<1, 2:3>>, <<1>>, <<7:7>>]),
    show(tags, fun tags/1, [<<1, 0, 9>>, <<1, 1, 9>>, <<2, 1, 9>>, <<2, 2>>, <<3>>, <<"GET /x">>, <<"PUT /x">>]),
    show(long, fun long/1, [<<"12345678rest">>, <<"12345679rest">>, <<"1234567">>]),
    show(retry, fun retry/1, [<<5, 1, 7>>, <<5, 2, 7>>, <<5, 3, 7>>, <<5, 4, 7>>, <<5, 4, 7, 8>>]),
    show(sizes, fun sizes/1, [<<1, 2, 3, 4>>, <<1, 2, 3:3>>, <<9, 9, 9, 9, 9>>, <<1>>]),
    io:format("~0p~n", [[both(<<1, 2>>, <<3, 4>>), both(<<1, 2>>, <<9, 4>>), both(<<9, 2>>, <<3, 4>>), both(<<1>>, <<3>>)]]),
    io:format("~0p~n", [joined(<<7>>)]),
    io:format("~0p~n", [packets(<<2, "ab", 0, 3, "cde", 9, "x">>, [])]),
    Big = binary:copy(<<1, 2, 3, 4, 5, 6, 7, 8>>, 10000),
    io:format("~0p~n", [{sum32(Big, 0), sum_signed(Big, 0), length(chunks(Big))}]).

show(Name, F, Inputs) ->
    io:format("~0p ~0p~n", [Name, [try F(I) catch error:R -> R end || I <- Inputs]]).

header(<<A, B, Rest/binary>>) -> {A, B, Rest};
header(<<A, Rest/bits>>) -> {A, Rest};
header(B) when is_bitstring(B) -> {short, bit_size(B)}.

exact(<<A:16, B:16>>) -> {A, B};
exact(<<A:8, _:12, B:8>>) -> {A, B};
exact(_) -> other.

flags(<<A/signed, B/unsigned, C:16/little, D:16/signed-little, E:24/native, F:8/signed-native, _/bits>>) ->
    {A, B, C, D, E, F}.

odd(<<A:3, B:5/signed, C:7/little, D:2/signed-little, E:12/little-signed, F:3>>) -> {A, B, C, D, E, F}.

wide(<<A:64, B:64/signed, C:128/little, D:128/signed-little>>) -> {A, B, C, D}.

parts(<<A:2/binary, B:3/bytes, C:24/bits>>) -> {A, B, C};
parts(<<A:2/binary, B:12/bits, _/bits>>) -> {A, B};
parts(_) -> none.

skips(<<_:8, A:8, _:16, B:8>>) -> {A, B};
skips(<<_:31, A:1, B:1/bits, _/bits>>) -> {A, B};
skips(_) -> none.

tails(<<_, T/binary>>) -> {bytes, T};
tails(<<_, T/bits>>) -> {bits, T};
tails(T) -> {whole, T}.

tags(<<1, 0, X>>) -> {a, X};
tags(<<1, 1, X>>) -> {b, X};
tags(<<2, N, _/binary>>) when N > 1 -> {c, N};
tags(<<2, R/binary>>) -> {d, R};
tags(<<"GET ", P/binary>>) -> {get, P};
tags(<<"PUT ", P/binary>>) -> {put, P};
tags(_) -> none.

long(<<"12345678", R/binary>>) -> R;
long(_) -> none.

%% What a clause read before it failed is read again by the next.
retry(<<A, 1, B>>) -> {one, A, B};
retry(<<A, 2, B>>) -> {two, A, B};
retry(<<A:4, B:4, 3, C>>) -> {three, A, B, C};
retry(<<A:16, B>>) -> {any, A, B};
retry(<<R/binary>>) -> {rest, R}.

sizes(<<A, R/bits>>) when bit_size(R) =:= 24 -> {three, A, R};
sizes(<<A, R/bits>>) when byte_size(R) > 3 -> {many, A, byte_size(R), bit_size(R)};
sizes(<<A, R/bits>>) -> {rest, A, bit_size(R), byte_size(R), R}.

both(<<1, X>>, <<3, Y>>) -> {first, X, Y};
both(<<1, X>>, <<Y, 4>>) -> {second, X, Y};
both(<<X, _/bits>>, <<Y, _/bits>>) -> {third, X, Y}.

joined(B) -> <<X:8>> = <<_:3, Y:5>> = B, {X, Y}.

packets(<<N, P:N/binary, R/binary>>, Acc) -> packets(R, [P | Acc]);
packets(R, Acc) -> {lists:reverse(Acc), R}.

sum32(<<N:32, R/binary>>, S) -> sum32(R, S + N);
sum32(<<>>, S) -> S.

sum_signed(<<A:4/signed, B:12/signed-little, R/binary>>, S) -> sum_signed(R, S + A * B);
sum_signed(<<>>, S) -> S.

chunks(<<C:100/binary, R/binary>>) -> [C | chunks(R)];
chunks(<<>>) -> [].

%% expect: header [{short,0},{1,<<>>},{1,2,<<>>},{1,2,<<3>>},{1,<<2,3:2>>},{0,<<1:7>>},function_clause]
%% expect: exact [{258,772},other,other,{1,52}]
%% expect: flags [{-1,254,64765,-1285,16251129,-10},{1,2,1027,1541,591879,10}]
%% expect: odd [{7,-11,81,-2,-219,7},{0,5,41,-2,254,0}]
%% expect: wide [{9223372036854775808,-1,3987683987354747618711421180841033728,-3987683987354747618711421180841033729},{18446744073709551615,-1,340282366920938463463374607431768211455,-1},{0,0,0,0},{0,0,0,1329227995784915872903807060280344576}]
%% expect: parts [{<<"ab">>,<<"cde">>,<<"fgh">>},{<<"ab">>,<<99,6:4>>},{<<"ab">>,<<99,6:4>>}]
%% expect: skips [{2,5},none,{0,<<0:1>>}]
%% expect: tails [{bytes,<<2,3>>},{bits,<<2:3>>},{bytes,<<>>},{whole,<<7:7>>}]
%% expect: tags [{a,9},{b,9},{d,<<1,9>>},{c,2},none,{get,<<"/x">>},{put,<<"/x">>}]
%% expect: long [<<"rest">>,none,none]
%% expect: retry [{one,5,7},{two,5,7},{three,0,5,7},{any,1284,7},{rest,<<5,4,7,8>>}]
%% expect: sizes [{three,1,<<2,3,4>>},{rest,1,11,2,<<2,3:3>>},{many,9,4,32},{rest,1,0,0,<<>>}]
%% expect: [{first,2,4},{second,2,9},{third,9,3},{third,1,3}]
%% expect: {7,7}
%% expect: {[<<"ab">>,<<>>,<<"cde">>],<<"\tx">>}
%% expect: {1011901560000,0,800}
