%% SPDX-License-Identifier: Apache-2.0
%% zstd: whole data and streams, dictionaries, parameters, what is no frame, contexts of others.
-module(since29_zstd).
-export([main/0]).

main() ->
    whole(),
    streams(),
    flushed(),
    headers(),
    parameters(),
    dictionaries(),
    broken(),
    contexts(),
    many().

data(N) -> << <<(integer_to_binary(X * X rem 977))/binary, $\s>> || X <- lists:seq(1, N) >>.

whole() ->
    Sizes = [0, 1, 100, 10000, 400000],
    p([begin
           D = data(N),
           Packed = iolist_to_binary(zstd:compress(D)),
           {N =:= 0 orelse N =:= 1 orelse byte_size(Packed) < byte_size(D), iolist_to_binary(zstd:decompress(Packed)) =:= D}
       end || N <- Sizes]),
    Parts = [<<"ab">>, ["c", <<"de">>, []], <<>>, $f],
    p(iolist_to_binary(zstd:decompress(zstd:compress(Parts)))),
    p([iolist_to_binary(zstd:decompress(zstd:compress(data(5000), #{compressionLevel => L}))) =:= data(5000) || L <- [-7, 0, 1, 19]]),
    Shifted = begin <<_:3, B/bitstring>> = <<5:3, "shifted bytes">>, B end,
    p(iolist_to_binary(zstd:decompress(zstd:compress(Shifted)))),
    %% of many bytes that are few when they are packed, and the other way round
    Zeros = binary:copy(<<0>>, 3000000),
    p([byte_size(iolist_to_binary(zstd:compress(Zeros))) < 1000, iolist_to_binary(zstd:decompress(zstd:compress(Zeros))) =:= Zeros]).

%% expect: [{true,true},{true,true},{true,true},{true,true},{true,true}]
%% expect: <<"abcdef">>
%% expect: [true,true,true,true]
%% expect: <<"shifted bytes">>
%% expect: [true,true]

%% One byte more each time, and all at once.
streams() ->
    {ok, C} = zstd:context(compress),
    D = data(300),
    Begun = [begin {continue, Out} = zstd:stream(C, <<Byte>>), Out end || <<Byte>> <= D],
    {done, Rest} = zstd:finish(C, "the end"),
    Packed = iolist_to_binary([Begun, Rest]),
    {ok, E} = zstd:context(decompress),
    Got = [begin {continue, Out} = zstd:stream(E, <<Byte>>), Out end || <<Byte>> <= Packed],
    {done, Last} = zstd:finish(E, <<>>),
    p(iolist_to_binary([Got, Last]) =:= <<D/binary, "the end">>),
    p([zstd:reset(C), zstd:reset(E)]),
    {done, Second} = zstd:finish(C, [<<"sec">>, "ond"]),
    {done, Third} = zstd:finish(E, Second),
    p([iolist_to_binary(Third), zstd:close(C), zstd:close(E)]).

%% expect: true
%% expect: [ok,ok]
%% expect: [<<"second">>,ok,ok]

%% What was flushed can be read before the frame ends.
flushed() ->
    {ok, C} = zstd:context(compress),
    {ok, E} = zstd:context(decompress),
    {continue, A} = zstd:stream(C, <<"first">>),
    {continue, B} = zstd:flush(C),
    {continue, Got} = zstd:stream(E, iolist_to_binary([A, B])),
    {done, Rest} = zstd:finish(C, <<" then">>),
    {done, More} = zstd:finish(E, iolist_to_binary(Rest)),
    p([Got, iolist_to_binary(More), catch_of(fun() -> zstd:flush(E) end) =:= {badarg, {invalid_context, E}}]).

%% expect: [<<"first">>,<<" then">>,true]

headers() ->
    {ok, H} = zstd:get_frame_header(zstd:compress(data(1000), #{checksumFlag => true})),
    p([maps:get(K, H) || K <- [checksumFlag, dictID, frameContentSize, frameType]] =:= [true, 0, byte_size(data(1000)), 'ZSTD_frame']),
    p(lists:sort(maps:keys(H))),
    {ok, C} = zstd:context(compress),
    {continue, Begun} = zstd:stream(C, <<"x">>),
    {done, Rest} = zstd:finish(C, []),
    {ok, Unknown} = zstd:get_frame_header([Begun, Rest]),
    p([maps:get(K, Unknown) || K <- [checksumFlag, frameContentSize]]),
    {ok, Skipped} = zstd:get_frame_header(<<16#184D2A50:32/little, 7:32/little, "1234567">>),
    p(maps:get(frameType, Skipped)),
    p([zstd:get_frame_header(<<"no frame">>), zstd:get_dict_id(zstd:compress("abc"))]).

%% expect: true
%% expect: [blockSizeMax,checksumFlag,dictID,frameContentSize,frameType,headerSize,windowSize]
%% expect: [false,undefined]
%% expect: 'ZSTD_skippableFrame'
%% expect: [{error,<<"Unknown frame descriptor">>},0]

parameters() ->
    {ok, C} = zstd:context(compress),
    Set = [{compressionLevel, 5}, {windowLog, 20}, {hashLog, 17}, {chainLog, 16}, {searchLog, 3}, {minMatch, 5}, {targetLength, 64},
           {strategy, btopt}, {enableLongDistanceMatching, true}, {ldmHashLog, 16}, {ldmMinMatch, 64}, {ldmBucketSizeLog, 3},
           {ldmHashRateLog, 7}, {contentSizeFlag, false}, {checksumFlag, true}, {dictIDFlag, false}],
    p([zstd:set_parameter(C, K, V) || {K, V} <- Set] -- [ok || _ <- Set]),
    p([K || {K, V} <- Set, zstd:get_parameter(C, K) =/= V]),
    p([begin ok = zstd:set_parameter(C, strategy, S), zstd:get_parameter(C, strategy) end || S <- [default, fast, dfast, greedy, lazy, lazy2, btlazy2, btultra, btultra2]]),
    {done, Packed} = zstd:finish(C, data(100)),
    {ok, H} = zstd:get_frame_header(Packed),
    p([maps:get(K, H) || K <- [checksumFlag, frameContentSize]]),
    p(iolist_to_binary(zstd:decompress(Packed)) =:= data(100)),
    p([catch_of(fun() -> zstd:set_parameter(C, K, V) end) || {K, V} <- [{foo, 1}, {strategy, slow}, {strategy, 1}, {checksumFlag, 1}, {windowLog, a},
                                                                        {windowLog, 1 bsl 40}, {pledgedSrcSize, -1}]]),
    p([catch_of(fun() -> zstd:set_parameter(C, windowLog, 1000) end), catch_of(fun() -> zstd:get_parameter(C, foo) end)]),
    {ok, E} = zstd:context(decompress),
    p([zstd:set_parameter(E, windowLogMax, 20), zstd:get_parameter(E, windowLogMax), catch_of(fun() -> zstd:set_parameter(E, windowLogMax, a) end),
       catch_of(fun() -> zstd:set_parameter(E, windowLog, 20) end), catch_of(fun() -> zstd:set_parameter(E, windowLogMax, 99) end)]),
    {ok, Large} = zstd:context(compress, #{windowLog => 24}),
    {continue, Begun} = zstd:stream(Large, <<"x">>),
    {done, Rest} = zstd:finish(Large, <<"y">>),
    p(catch_of(fun() -> zstd:decompress([Begun, Rest], E) end)).

%% expect: []
%% expect: []
%% expect erl 29: [enableLongDistanceMatching,checksumFlag]
%% expect: [default,fast,dfast,greedy,lazy,lazy2,btlazy2,btultra,btultra2]
%% expect: [true,undefined]
%% expect: true
%% expect: [{badarg,{invalid_key,foo}},{badarg,{invalid_value,slow}},{badarg,{invalid_value,1}},{badarg,{invalid_value,1}},{badarg,{invalid_value,a}},{badarg,{invalid_value,1099511627776}},badarg]
%% expect: [{zstd_error,<<"Parameter is out of bound">>},{badarg,{invalid_key,foo}}]
%% expect: [ok,20,badarg,{badarg,{invalid_key,windowLog}},{zstd_error,<<"Parameter is out of bound">>}]
%% expect: {zstd_error,<<"Frame requires too much memory for decoding">>}

%% Shared ones outlive who made them.
dictionaries() ->
    Words = data(200),
    {ok, CD} = zstd:dict(compress, Words),
    {ok, High} = zstd:dict(compress, Words, #{compressionLevel => 19}),
    {ok, DD} = zstd:dict(decompress, Words),
    p([zstd:get_dict_id(X) || X <- [CD, High, DD, Words]]),
    Text = binary:part(Words, 30, 200),
    Packed = [iolist_to_binary(zstd:compress(Text, #{dictionary => X})) || X <- [CD, High, Words]],
    Plain = byte_size(iolist_to_binary(zstd:compress(Text))),
    p([byte_size(P) < Plain || P <- Packed]),
    p([iolist_to_binary(zstd:decompress(P, #{dictionary => X})) =:= Text || P <- Packed, X <- [DD, Words]]),
    p(catch_of(fun() -> zstd:decompress(hd(Packed)) end) =/= Text),
    {ok, C} = zstd:context(compress, #{dictionary => CD}),
    ok = zstd:set_parameter(C, dictionary, <<>>),
    {done, None} = zstd:finish(C, Text),
    p(iolist_to_binary(zstd:decompress(None)) =:= Text),
    Made = fun() -> {ok, Of} = zstd:context(decompress, #{dictionary => element(2, zstd:dict(decompress, Words))}), Of end,
    E = Made(),
    erlang:garbage_collect(),
    {done, Got} = zstd:finish(E, hd(Packed)),
    p(iolist_to_binary(Got) =:= Text),
    p([catch_of(fun() -> zstd:set_parameter(C, dictionary, {cdict, make_ref()}) end), catch_of(fun() -> zstd:get_dict_id({cdict, make_ref()}) end),
       catch_of(fun() -> zstd:dict(compress, "list") end), catch_of(fun() -> zstd:get_dict_id(foo) end)]).

%% expect: [0,0,0,0]
%% expect: [true,true,true]
%% expect: [true,true,true,true,true,true]
%% expect: true
%% expect: true
%% expect: true
%% expect: [badarg,badarg,badarg,badarg]

%% Every byte of a frame with a checksum turned over, and every beginning of it: no answer, or another one, but an answer.
broken() ->
    D = data(60),
    Packed = iolist_to_binary(zstd:compress(D, #{checksumFlag => true})),
    Turned = [begin <<A:N/binary, B, C/binary>> = Packed, <<A/binary, (B bxor 16#40), C/binary>> end || N <- lists:seq(0, byte_size(Packed) - 1)],
    p(lists:usort([case catch_of(fun() -> iolist_to_binary(zstd:decompress(T)) end) of {zstd_error, Why} when is_binary(Why) -> error; D -> same; _ -> other end || T <- Turned]) -- [error, other]),
    p([N || N <- lists:seq(0, byte_size(Packed) - 1), catch_of(fun() -> iolist_to_binary(zstd:decompress(binary:part(Packed, 0, N))) end) =:= D, N < byte_size(Packed) - 4]),
    p(catch_of(fun() -> zstd:decompress(<<"no frame at all">>) end)),
    {ok, E} = zstd:context(decompress),
    p([catch_of(fun() -> zstd:stream(E, <<"no frame">>) end), begin {done, Got} = zstd:finish(E, Packed), iolist_to_binary(Got) =:= D end]).

%% expect: []
%% expect: []
%% expect: {zstd_error,<<"Unknown frame descriptor">>}
%% expect: [{zstd_error,<<"Unknown frame descriptor">>},true]

contexts() ->
    {ok, {compress, Ref} = C} = zstd:context(compress),
    Main = self(),
    spawn_link(fun() -> Main ! {other, [catch_of(fun() -> F(C) end) || F <- [fun(X) -> zstd:stream(X, <<"a">>) end, fun zstd:reset/1, fun zstd:close/1,
                                                                               fun(X) -> zstd:stream(X, binary:copy(<<"a">>, 100000)) end]]} end),
    p(receive {other, Said} -> Said end),
    p([catch_of(fun() -> zstd:stream({decompress, Ref}, <<"a">>) end), catch_of(fun() -> zstd:stream(C, foo) end), catch_of(fun() -> zstd:stream(C, [foo]) end)]),
    p([zstd:close(C), catch_of(fun() -> zstd:close(C) end), catch_of(fun() -> zstd:stream(C, <<"a">>) end), catch_of(fun() -> zstd:reset(C) end)]).

%% expect: [not_on_controlling_process,not_on_controlling_process,not_on_controlling_process,not_on_controlling_process]
%% expect: [badarg,badarg,badarg]
%% expect: [ok,badarg,badarg,badarg]

%% Each with a context of its own, some killed at it.
many() ->
    D = data(20000),
    Ps = [spawn_monitor(fun() -> exit(iolist_to_binary(zstd:decompress(zstd:compress(D))) =:= D) end) || _ <- lists:seq(1, 20)],
    [exit(P, kill) || {P, _} <- lists:nthtail(15, Ps)],
    p(lists:sublist([receive {'DOWN', R, _, _, Why} -> Why end || {_, R} <- Ps], 15) -- lists:duplicate(15, true)).

%% expect: []

catch_of(F) -> try F() catch error:E -> E end.

p(T) -> io:format("~0p~n", [T]).
