%% SPDX-License-Identifier: Apache-2.0
-module(lang_bits_runs).
-export([main/0, u16/2]).
%% Loops over integers of whole bytes, which run as few operations, beside the same with sizes that are variables: from
%% every bit of a byte on, with every number of bits missing at the end; and traced.
%% expect: [ok,ok,ok,ok,ok,ok,ok,ok,ok,ok]
%% expect: utf16 ok
%% expect: words {3,3,3} {0,0,0} no
%% expect: calls 6 of u16/2
%% expect: big 1152921504606846986
%% expect: others [{576460752303423515,0},{6.5,0},{badarith,{erlang,'+',[a,1]}},{0,19}]
%% expect: traced [{u8,[[1,2],0]},{u8,[[2],1]},{u8,[[],3]}]
main() ->
    Inputs = [{Skip, Bits} || Skip <- lists:seq(0, 7), Bits <- lists:seq(0, 70)],
    io:format("~w~n", [[check(Fixed, Sized, Inputs) || {Fixed, Sized} <- pairs()]]),
    io:format("utf16 ~w~n", [check(fun utf16/2, fun utf16_units/2, Inputs)]),
    io:format("words ~w ~w ~w~n", [words(<<"abcab", 1, "abc", 2, "ab", 3, "abcab">>, {0, 0, 0}), words(<<>>, {0, 0, 0}),
                                   try words(<<"ab", 5:3>>, {0, 0, 0}) catch error:function_clause -> no end]),
    io:format("calls ~w of u16/2~n", [traced_calls()]),
    io:format("big ~w~n", [u16(<<5:16, 5:16>>, 1 bsl 60)]),
    io:format("others ~w~n", [[u8(binary:copy(<<255>>, 3), (1 bsl 59) - 738), u8(<<1, 2, 3>>, 0.5), failed(), u8(<<4, 6, 5:3>>, 0)]]),
    io:format("traced ~w~n", [traced()]).

failed() -> try u8(<<1>>, id(a)) catch error:Why:Trace -> {Why, list_to_tuple(lists:sublist(tuple_to_list(hd(Trace)), 3))} end.

id(X) -> X.

%% A trace that begins while the loop runs.
traced() ->
    Me = self(),
    P = spawn_link(fun() -> receive go -> Me ! {done, u8(<<1, 2>>, 0)} end end),
    erlang:trace(P, true, [call]),
    erlang:trace_pattern({?MODULE, u8, 2}, true, [local]),
    P ! go,
    receive {done, {3, 0}} -> ok end,
    Seen = traces(3),
    erlang:trace_pattern({?MODULE, u8, 2}, false, [local]),
    Seen.

traces(0) -> [];
traces(N) -> receive {trace, _, call, {_, F, [B, A]}} -> [{F, [binary_to_list(B), A]} | traces(N - 1)] end.

pairs() ->
    [{fun u8/2, sized(8, big, unsigned)}, {fun s8/2, sized(8, big, signed)},
     {fun u16/2, sized(16, big, unsigned)}, {fun s16/2, sized(16, big, signed)},
     {fun u16l/2, sized(16, little, unsigned)}, {fun s16l/2, sized(16, little, signed)},
     {fun u32/2, sized(32, big, unsigned)}, {fun s32/2, sized(32, big, signed)},
     {fun u32l/2, sized(32, little, unsigned)}, {fun s32l/2, sized(32, little, signed)}].

check(Fixed, Sized, Inputs) ->
    case [Input || Input <- Inputs, Fixed(cut(Input), 0) =/= Sized(cut(Input), 0)] of
        [] -> ok;
        [First | _] -> First
    end.

%% Bits that are no whole character in UTF-16 here and there, behind some that are skipped.
cut({Skip, Bits}) ->
    All = <<16#81, 16#fe, 16#d8, 16#3d, 16#de, 16#00, 16#7f, 16#80, 16#d8, 16#11, 16#ff>>,
    <<_:Skip, Part:Bits/bits, _/bits>> = All,
    Part.

u8(<<X, R/binary>>, A) -> u8(R, A + X);
u8(R, A) -> {A, rest(R)}.
s8(<<X/signed, R/binary>>, A) -> s8(R, A + X);
s8(R, A) -> {A, rest(R)}.
u16(<<X:16, R/binary>>, A) -> u16(R, A + X);
u16(<<>>, A) -> A;
u16(R, A) -> {A, rest(R)}.
s16(<<X:16/signed, R/binary>>, A) -> s16(R, A + X);
s16(R, A) -> {A, rest(R)}.
u16l(<<X:16/little, R/binary>>, A) -> u16l(R, A + X);
u16l(R, A) -> {A, rest(R)}.
s16l(<<X:16/little-signed, R/binary>>, A) -> s16l(R, A + X);
s16l(R, A) -> {A, rest(R)}.
u32(<<X:32, R/binary>>, A) -> u32(R, A + X);
u32(R, A) -> {A, rest(R)}.
s32(<<X:32/signed, R/binary>>, A) -> s32(R, A + X);
s32(R, A) -> {A, rest(R)}.
u32l(<<X:32/little, R/binary>>, A) -> u32l(R, A + X);
u32l(R, A) -> {A, rest(R)}.
s32l(<<X:32/little-signed, R/binary>>, A) -> s32l(R, A + X);
s32l(R, A) -> {A, rest(R)}.

rest(R) -> bit_size(R).

sized(16, big, unsigned) ->
    Loop = sized_loop(16, big, unsigned),
    fun(B, A) -> case Loop(B, A) of {Sum, 0} -> Sum; Other -> Other end end;
sized(N, Endian, Sign) -> sized_loop(N, Endian, Sign).

sized_loop(N, Endian, Sign) -> fun(B, A) -> sized_loop(B, A, N, Endian, Sign) end.

sized_loop(B, A, N, Endian, Sign) when bit_size(B) >= N, bit_size(B) rem 8 =:= 0 ->
    {X, R} = take(B, N, Endian, Sign),
    sized_loop(R, A + X, N, Endian, Sign);
sized_loop(B, A, _, _, _) -> {A, bit_size(B)}.

take(B, N, big, unsigned) -> <<X:N/big-unsigned, R/bits>> = B, {X, R};
take(B, N, big, signed) -> <<X:N/big-signed, R/bits>> = B, {X, R};
take(B, N, little, unsigned) -> <<X:N/little-unsigned, R/bits>> = B, {X, R};
take(B, N, little, signed) -> <<X:N/little-signed, R/bits>> = B, {X, R}.

utf16(<<X/utf16, R/binary>>, A) -> utf16(R, A + X);
utf16(R, A) -> {A, rest(R)}.

utf16_units(<<X:16, R/binary>>, A) when X < 16#d800; X > 16#dfff -> utf16_units(R, A + X);
utf16_units(<<H:16, L:16, R/binary>>, A) when H >= 16#d800, H =< 16#dbff, L >= 16#dc00, L =< 16#dfff ->
    utf16_units(R, A + 16#10000 + (H - 16#d800) * 1024 + L - 16#dc00);
utf16_units(R, A) -> {A, rest(R)}.

%% Alternatives that begin with a byte and go back to it.
words(<<"abc", R/binary>>, {A, B, C}) -> words(R, {A + 1, B, C});
words(<<"ab", R/binary>>, {A, B, C}) -> words(R, {A, B + 1, C});
words(<<_, R/binary>>, {A, B, C}) -> words(R, {A, B, C + 1});
words(<<>>, Counts) -> Counts.

traced_calls() ->
    Traced = spawn(fun() -> receive go -> u16(<<1:80>>, 0) end end),
    1 = erlang:trace(Traced, true, [call]),
    1 = erlang:trace_pattern({?MODULE, u16, 2}, true, [local]),
    Monitor = monitor(process, Traced),
    Traced ! go,
    receive {'DOWN', Monitor, _, _, _} -> ok end,
    Delivered = erlang:trace_delivered(Traced),
    receive {trace_delivered, Traced, Delivered} -> ok end,
    erlang:trace_pattern({?MODULE, u16, 2}, false, [local]),
    count_calls(0).

count_calls(N) ->
    receive {trace, _, call, {?MODULE, u16, [_, _]}} -> count_calls(N + 1) after 0 -> N end.
