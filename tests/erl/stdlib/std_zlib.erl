%% SPDX-License-Identifier: Apache-2.0
%% zlib: whole and in parts, raw streams, dictionaries, errors.
-module(std_zlib).
-export([main/0]).
-compile({nowarn_deprecated_function, [{zlib, crc32, 1}]}).

main() ->
    Data = binary:copy(<<"erlsnoop watches ">>, 20000),
    true = zlib:uncompress(zlib:compress(Data)) =:= Data,
    true = zlib:unzip(zlib:zip(Data)) =:= Data,
    true = zlib:gunzip([zlib:gzip(Data), zlib:gzip(<<"and more">>)]) =:= <<Data/binary, "and more">>,
    io:format("~p~n", [zlib:compress(<<"abc">>)]),
    io:format("~p~n", [byte_size(zlib:zip(Data))]),
    pieces(Data),
    dictionary(),
    parameters(),
    ends(),
    errors(),
    owner().

%% A stream fed with parts of many sizes, read with safeInflate.
pieces(Data) ->
    Z = zlib:open(),
    ok = zlib:deflateInit(Z, best_speed, deflated, -15, 8, default),
    First = [zlib:deflate(Z, P) || P <- cut(Data, 1)],
    Out = [First, zlib:deflate(Z, [], finish)],
    io:format("~p~n", [sum(Z, Data) =:= erlang:crc32(Data)]),
    ok = zlib:deflateEnd(Z),
    ok = zlib:inflateInit(Z, -15),
    io:format("~p~n", [iolist_to_binary(drain(Z, zlib:safeInflate(Z, Out))) =:= Data]),
    io:format("~p~n", [sum(Z, Data) =:= erlang:crc32(Data)]),
    ok = zlib:inflateEnd(Z),
    ok = zlib:close(Z).

%% OTP 27 has it no more.
sum(Z, Data) ->
    case erlang:function_exported(zlib, crc32, 1) of
        true -> apply(zlib, crc32, [Z]);
        false -> erlang:crc32(Data)
    end.

cut(<<>>, _) -> [];
cut(B, N) when byte_size(B) =< N -> [B];
cut(B, N) ->
    <<P:N/binary, Rest/binary>> = B,
    [[binary_to_list(P)] | cut(Rest, N * 3 rem 70001 + 1)].

drain(Z, {continue, Out}) -> [Out | drain(Z, zlib:safeInflate(Z, []))];
drain(_, {finished, Out}) -> [Out].

dictionary() ->
    Z = zlib:open(),
    ok = zlib:deflateInit(Z),
    Adler = zlib:deflateSetDictionary(Z, "scheduler message process"),
    Packed = zlib:deflate(Z, "process message scheduler", finish),
    ok = zlib:deflateEnd(Z),
    ok = zlib:inflateInit(Z),
    {error, {need_dictionary, A}} = try {ok, zlib:inflate(Z, Packed)} catch error:E -> {error, E} end,
    io:format("~p~n", [{Adler, A =:= Adler}]),
    ok = zlib:inflateSetDictionary(Z, "scheduler message process"),
    io:format("~s~n", [zlib:inflate(Z, [])]),
    io:format("~p~n", [zlib:inflateGetDictionary(Z)]),
    ok = zlib:inflateEnd(Z),
    ok = zlib:close(Z).

parameters() ->
    Z = zlib:open(),
    ok = zlib:deflateInit(Z, none),
    A = zlib:deflate(Z, lists:duplicate(100, $a)),
    ok = zlib:deflateParams(Z, best_compression, huffman_only),
    B = zlib:deflate(Z, lists:duplicate(100, $b), finish),
    ok = zlib:deflateEnd(Z),
    io:format("~p~n", [zlib:uncompress([A, B]) =:= list_to_binary(lists:duplicate(100, $a) ++ lists:duplicate(100, $b))]),
    ok = zlib:deflateInit(Z),
    _ = zlib:deflate(Z, "dropped"),
    ok = zlib:deflateReset(Z),
    io:format("~s~n", [zlib:uncompress(zlib:deflate(Z, "kept", finish))]),
    ok = zlib:close(Z).

%% What stands behind the end of a stream.
ends() ->
    Packed = zlib:compress(<<"first">>),
    [begin
         Z = zlib:open(),
         ok = zlib:inflateInit(Z, 15, Rule),
         R = try iolist_to_binary([zlib:inflate(Z, Packed), zlib:inflate(Z, Packed)]) catch error:E -> E end,
         io:format("~p ~p~n", [Rule, R]),
         zlib:close(Z)
     end || Rule <- [error, reset, cut]].

errors() ->
    Z = zlib:open(),
    io:format("~p~n", [[catch_of(F) || F <- [
        fun() -> zlib:deflate(Z, "x") end,
        fun() -> zlib:inflateEnd(Z) end,
        fun() -> zlib:deflateInit(Z, 10) end,
        fun() -> zlib:uncompress(<<"no compressed data">>) end,
        fun() -> zlib:unzip(<<255, 255, 255>>) end,
        fun() -> zlib:gunzip(<<1, 2, 3>>) end,
        fun() -> zlib:compress(foo) end,
        fun() -> zlib:close(make_ref()) end]]]),
    ok = zlib:inflateInit(Z),
    io:format("~p~n", [[catch_of(F) || F <- [
        fun() -> zlib:inflateInit(Z) end,
        fun() -> zlib:inflateEnd(Z) end,
        fun() -> zlib:close(Z) end,
        fun() -> zlib:close(Z) end]]]).

catch_of(F) ->
    try F() catch error:E -> E end.

owner() ->
    Z = zlib:open(),
    Self = self(),
    Pid = spawn(fun() ->
        Self ! {before, catch_of(fun() -> zlib:deflateInit(Z) end)},
        receive go -> Self ! {later, catch_of(fun() -> zlib:deflateInit(Z) end)} end
    end),
    receive {before, B} -> io:format("~p~n", [B]) end,
    ok = zlib:set_controlling_process(Z, Pid),
    Pid ! go,
    receive {later, L} -> io:format("~p~n", [L]) end,
    io:format("~p~n", [catch_of(fun() -> zlib:close(Z) end)]).
%% expect: <<120,156,75,76,74,6,0,2,77,1,39>>
%% expect: 859
%% expect: true
%% expect: true
%% expect: true
%% expect: {-2138633756,true}
%% expect 27: {2156333540,true}
%% expect: process message scheduler
%% expect: <<"scheduler message process">>
%% expect: true
%% expect: kept
%% expect: error data_error
%% expect: reset <<"firstfirst">>
%% expect: cut <<"first">>
%% expect: [not_initialized,not_initialized,bad_compression_level,data_error,data_error,
%% expect:  data_error,badarg,badarg]
%% expect: [already_initialized,data_error,ok,not_initialized]
%% expect: not_on_controlling_process
%% expect: ok
%% expect: not_on_controlling_process
