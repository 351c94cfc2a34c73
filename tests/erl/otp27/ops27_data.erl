%% SPDX-License-Identifier: Apache-2.0
%% Operation                                  Test
%% bs_create_bin, every segment type          segments/4
%% bs_create_bin append, private_append       append/2, gather/2, comprehend/1
%% bs_create_bin, what fails and its reason   reasons/0
%% put_map_assoc, put_map_exact, get_map_elements, has_map_fields   pairs/1, update/2, keys/2
%% map comprehensions, generators over maps   maps/1
%% bs_get_utf8, utf16, utf32 in 27's form     chars/1
%% a triple-quoted string and sigils          texts/0
-module(ops27_data).
-export([main/0]).

main() ->
    io:format("~0p~n", [segments(-2, 1.5, <<"xyz">>, 16#20ac)]),
    io:format("~0p~n", [[catch_all(fun() -> segments(A, B, C, D) end) ||
                           {A, B, C, D} <- [{a, 1.0, <<>>, 1}, {1, x, <<>>, 1}, {1, 1.0, y, 1}, {1, 1.0, <<"ab">>, 16#d800}]]]),
    io:format("~0p~n", [append(<<"head:">>, 10)]),
    io:format("~0p~n", [{byte_size(gather(5000, <<>>)), erlang:crc32(gather(5000, <<>>))}]),
    io:format("~0p~n", [[comprehend([1, 2, 300]), bits([1, 0, 1, 1, 0])]]),
    io:format("~0p~n", [reasons()]),
    io:format("~w~n", [[pairs(#{a => 1, b => 2, {c, d} => 3}), pairs(#{a => 1}), pairs(#{}), pairs(x)]]),
    io:format("~w~n", [[catch_all(fun() -> lists:sort(maps:to_list(update(M, K))) end) || {M, K} <- [{#{k => 1}, z}, {#{k => 1}, k}, {#{}, z}, {[], z}]]]),
    io:format("~w~n", [[keys(#{1 => a, 2.0 => b, "s" => c}, K) || K <- [1, 2.0, "s", 1.0, none]]]),
    io:format("~0p~n", [maps(#{a => 1, b => 2, c => 3})]),
    Large = #{K => K * K || K <- lists:seq(1, 100)},
    io:format("~w~n", [{map_size(Large), lists:sum([V || _ := V <- Large]), map_size(#{V => K || K := V <- Large, K rem 2 =:= 0})}]),
    io:format("~0p~n", [[chars(<<"aé€😀"/utf8>>), chars(<<16#d83d:16, 16#de00:16>>), chars(<<1, 2, 3>>)]]),
    io:format("~0p~n", [texts()]).

catch_all(F) -> try F() catch C:R -> {C, R} end.

segments(I, F, B, C) ->
    <<I, I:4, 5:4, I:16/little, I:100/signed, F/float, F:32/float-little, F:16/float, B/binary, B:1/binary, (byte_size(B)):2/unit:4,
      "text", C/utf8, C/utf16, C/utf16-little, C/utf32, 1:(I + 3), 0:7>>.

append(B, N) -> C = <<B/binary, N:32>>, {C, <<C/binary, 1:1>>, <<B/binary, (N + 1)>>}.

gather(0, B) -> B;
gather(N, B) -> gather(N - 1, <<B/binary, N:24, "-">>).

comprehend(L) -> << <<X:16/little, "!">> || X <- L >>.
bits(L) -> << <<X:1>> || X <- L >>.

reasons() ->
    Fs = [fun() -> <<(id(a)):8>> end, fun() -> <<(id(<<1:3>>))/binary>> end, fun() -> <<1:(id(-1))>> end,
          fun() -> <<(id(x))/float>> end, fun() -> <<(id(<<1>>)):2/binary>> end, fun() -> <<(id(16#110000))/utf8>> end],
    [try F() catch error:R:S -> {R, cause(proplists:get_value(error_info, element(4, hd(S))))} end || F <- Fs].

cause(#{cause := C}) -> C;
cause(_) -> none.

pairs(#{a := A, b := B, {c, d} := C}) -> {A, B, C};
pairs(#{a := A} = M) when not is_map_key(z, M) -> {A, map_size(M)};
pairs(M) when is_map(M) -> map_size(M);
pairs(_) -> no_map.

update(M, K) -> N = M#{a => 1, K => [K]}, N#{a := 2, k := {3, K}}.

keys(M, K) -> case M of #{K := a} -> first; #{K := V} -> {ok, V}; #{1 := _, K := _} -> both; #{1 := _, 2.0 := _} -> K; #{} -> none end.

maps(M) ->
    Keep = #{K => V + 1 || K := V <- M, V > 1},
    [lists:sort(maps:to_list(Keep)), lists:sort([{V, K} || K := V <- M]), << <<V>> || _ := V <- #{x => 7} >>, used(maps:iterator(M)),
     try [K || K := _ <- id(no_map)] catch error:R -> R end].

%% An iterator that was begun, and one that is at its end.
used(I0) ->
    {K, V, I1} = maps:next(I0),
    {length([X || X := _ <- I0]), lists:sort([{K, V} | [{A, B} || A := B <- I1]]), [X || X := _ <- none]}.

chars(<<A/utf8, B/utf8, R/binary>>) -> {utf8, A, B, byte_size(R)};
chars(<<A/utf16>>) -> {utf16, A};
chars(_) -> none.

texts() ->
    [~"sigil", ~s(list "quoted"), ~B[raw \n], """
     Two lines
       "indented"
     """].

id(X) -> X.

%% expect: <<254,229,254,255,255,255,255,255,255,255,255,255,255,255,255,255,227,255,128,0,0,0,0,0,0,0,12,3,243,224,7,135,151,167,128,55,70,87,135,78,40,42,194,10,202,194,0,0,2,10,200,0:4>>
%% expect: [{error,badarith},{error,badarg},{error,badarg},{error,badarg}]
%% expect: {<<104,101,97,100,58,0,0,0,10>>,<<104,101,97,100,58,0,0,0,10,1:1>>,<<"head:\v">>}
%% expect: {20000,2041744492}
%% expect: [<<1,0,33,2,0,33,44,1,33>>,<<22:5>>]
%% expect: [{badarg,{1,integer,type,a}},{badarg,{1,binary,unit,<<1:3>>}},{badarg,{1,integer,size,-1}},{badarg,{1,float,type,x}},{badarg,{1,binary,short,<<1>>}},{badarg,{1,utf8,type,1114112}}]
%% expect: [{1,2,3},{1,1},0,no_map]
%% expect: [[{a,2},{k,{3,z}},{z,[z]}],[{a,2},{k,{3,k}}],{error,{badkey,k}},{error,{badmap,[]}}]
%% expect: [first,{ok,b},{ok,c},1.0,none]
%% expect: [[{b,3},{c,4}],[{1,a},{2,b},{3,c}],<<7>>,{3,[{a,1},{b,2},{c,3}],[]},{bad_generator,no_map}]
%% expect: {100,338350,50}
%% expect: [{utf8,97,233,7},{utf16,128512},{utf8,1,2,1}]
%% expect: [<<"sigil">>,"list \"quoted\"",<<"raw \\n">>,"Two lines\n  \"indented\""]
