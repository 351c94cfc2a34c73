%% SPDX-License-Identifier: Apache-2.0
%% erlang:decode_packet/3: every type, limits, bitstrings, lines of HTTP and what resembles them.
-module(std_packet).
-export([main/0]).

main() ->
    Results = [{T, try_packet(T, B, O)} || {T, B, O} <- cases()],
    [io:format("~w ~p~n", [T, R]) || {T, R} <- every(23, Results)],
    [io:format("~w ~w ~w~n", [T, erlang:phash2([R || {U, R} <- Results, U =:= T]), erlang:phash2(made_up(T))]) || T <- types()],
    io:format("bytes in names ~w~n", [erlang:phash2([every_byte(C) || C <- lists:seq(0, 255)])]),
    sub_binaries(),
    [io:format("~0p~n", [try_packet(http_bin, <<"GET ", Uri/binary, " HTTP/1.1\r\n">>, [])]) || Uri <- addresses()].

%% Hosts that are addresses of IPv6: since OTP 27 they are read as such.
addresses() ->
    [<<"http://[::1]:80/x">>, <<"https://[::1]/">>, <<"http://[::1">>, <<"http://[::1]x:80/">>].

every_byte(C) ->
    [try_packet(httph_bin, <<"Hos", C, "t: value\r\n\r\n">>, []), try_packet(http, <<"GE", C, "T /x HTTP/1.1\r\n">>, []),
     try_packet(httph, <<C, ": v\r\n\r\n">>, [])].

every(N, L) when length(L) < N -> [];
every(N, [X | _] = L) -> [X | every(N, lists:nthtail(N, L))].

types() -> [raw, 0, 1, 2, 4, asn1, sunrm, cdr, fcgi, line, tpkt, http, httph, http_bin, httph_bin, ssl_tls].

try_packet(T, B, O) ->
    try erlang:decode_packet(T, B, O)
    catch error:badarg:Trace ->
        [{erlang, decode_packet, _, Info} | _] = Trace,
        {badarg, lists:keyfind(error_info, 1, Info)}
    end.

cases() ->
    [{http, B, []} || B <- requests()] ++ [{http_bin, B, []} || B <- requests()] ++
    [{httph, B, []} || B <- headers()] ++ [{httph_bin, B, []} || B <- headers()] ++
    [{T, B, [{packet_size, P}, {line_length, L}]} || T <- [line, http, httph], B <- lines(), P <- [0, 3, 7], L <- [0, 3, 7]] ++
    [{line, <<"one;two;">>, [{line_delimiter, $;}]}, {line, <<"one">>, [{line_delimiter, 256}]}, {raw, <<"one">>, [{line_delimiter, 10}]},
     {raw, <<>>, []}, {raw, <<1:1>>, []}, {raw, <<1, 2, 3:3>>, []}, {3, <<>>, []}, {foo, x, y}, {raw, x, []}, {raw, <<>>, x},
     {raw, <<>>, [{packet_size, -1}]}, {raw, <<>>, [{packet_size, 1 bsl 32}]}, {raw, <<>>, [packet_size]}, {raw, <<1>>, [{packet_size, 1}]},
     {1, <<3, "abcd">>, [{packet_size, 2}]}, {1, <<3, "abcd">>, [{packet_size, 3}]}, {1, <<3, "ab">>, []}, {1, <<0>>, []},
     {2, <<3:16, "abcd">>, []}, {2, <<0>>, []}, {4, <<-1:32>>, []}, {4, <<16#7ffffffb:32>>, []}, {4, <<16#7ffffffc:32>>, []},
     {sunrm, <<-1:32>>, []}, {sunrm, <<1:1, 2:31, "abc">>, []}, {cdr, <<"GIOP", 1, 2, 0, 0, 1:32, "ab">>, []},
     {cdr, <<"GIOP", 1, 2, 1, 0, 1:32/little, "ab">>, []}, {cdr, <<"GIOq", 1, 2, 1, 0, 1:32/little, "ab">>, []}, {cdr, <<"GIO">>, []},
     {fcgi, <<1, 0, 0:16, 2:16, 3, 0, "abcde">>, []}, {fcgi, <<1, 0, 0:16, 2:16, 3, 0, "abcdef">>, []}, {fcgi, <<2, 0:56>>, []},
     {tpkt, <<3, 0, 3:16, "abc">>, []}, {tpkt, <<3, 0, 4:16, "abc">>, []}, {tpkt, <<3, 0, 6:16, "abc">>, []}, {tpkt, <<4, 0, 6:16>>, []},
     {asn1, <<1>>, []}, {asn1, <<1, 2, 3, 4, 5>>, []}, {asn1, <<31, 129, 1, 1, 7, 8>>, []}, {asn1, <<31, 129, 129, 129>>, []},
     {asn1, <<31, 129, 1>>, []}, {asn1, <<1, 128, 7>>, []}, {asn1, <<1, 130, 0, 1, 7, 8>>, []}, {asn1, <<1, 133, 0, 0, 0, 0, 1, 7>>, []},
     {asn1, <<1, 133, 0, 0, 0>>, []}, {asn1, <<1, 132, -1:32>>, []}, {asn1, <<1, 130, 0>>, []},
     {ssl_tls, <<22, 3, 1, 2:16, "abc">>, []}, {ssl_tls, <<128, 5, 1, 3, 4, "abc">>, []}, {ssl_tls, <<128, 2, 1, 3, 4, "abc">>, []},
     {ssl_tls, <<255, 255, 1, 3, 4>>, []}, {ssl_tls, <<22, 3, 1, 0>>, []}].

requests() ->
    [<<"GET / HTTP/1.1\r\nrest">>, <<"GET *\n">>, <<"GET\r\n">>, <<"GET \r\n">>, <<" GET /\r\n">>, <<"BREW a:b HTCPCP/1.0\r\n">>,
     <<"BREW coffee: HTTP/1.0 and more\r\n">>, <<"PUT  \t  http://host  HTTP/1.02\n">>, <<"get HTTP://host:/ HTTP/1.1\n">>,
     <<"TRACE https://h:80x/y:z HTTP/123456789012.7\n">>, <<"POST https://h:99999999999/y\n">>, <<"POST http://:8/y\n">>, <<"POST x HTTP/1.\n">>,
     <<"POST x HTTP/.1\n">>, <<"POST x HTT\n">>, <<"DELETE http:// HTTP/1.1\r\n">>, <<"OPTIONS x">>, <<"G(T / HTTP/1.1\r\n">>,
     <<"G", 127, "T / HTTP/1.1\r\n">>, <<"G", 128, "T / HTTP/1.1\r\n">>, <<"HTTP/1.1 200 OK\r\n">>, <<"HTTP/1.1 200\r\n">>, <<"HTTP/1.1 200x\r\n">>,
     <<"HTTP/1.1  OK\r\n">>, <<"HTTP/1.1\r\n">>, <<"HTTP/1 200 OK\r\n">>, <<"HTTP/1.123456789012 4294967297 fine \r\n">>, <<"\r\n">>, <<"\n">>,
     <<"\r\n\r\n">>, <<"HEAD /", (binary:copy(<<"path/">>, 30))/binary, " HTTP/1.1\r\n">>].

headers() ->
    [<<"cONTENT-type:text\r\n\r\n">>, <<"Etag \r\n\r\n">>, <<"Etag: \r\n\r\n">>, <<"Etag:\t a \n b\r\n\t c\r\n\r\n">>, <<"x--y-z: 1\r\n\r\n">>,
     <<"a-very-LONG-name-of-a-header-which-is-50-bytes-lon: 1\r\n\r\n">>, <<"a-very-LONG-name-of-a-header-which-is-51-bytes-long: 1\r\n\r\n">>,
     <<"ETag: 1\r\n">>, <<"ETag: 1\r\n ">>, <<"\r\n x">>, <<"\n x">>, <<"\r\n">>, <<"\r">>, <<>>, <<": 1\r\n\r\n">>, <<"no colon\r\n\r\n">>,
     <<"nocolon\r\n\r\n">>, <<"Date:", 255, 0, "\r\n\r\n">>, <<"D\xe4te: 1\r\n\r\n">>, <<"Keep-Alive: ", (binary:copy(<<"long ">>, 30))/binary, "\r\n\r\n">>].

lines() -> [<<"\n">>, <<"ab\n">>, <<"abc\n d\n e">>, <<"abcdef\n">>, <<"abcdefg\n">>, <<"a:b\r\n">>, <<"abc">>, <<"abcdefgh">>, <<"\r\n">>].

%% Bytes that are nearly packets: pieces of the cases, one after the other, some of their bytes changed.
made_up(T) ->
    rand:seed(exsss, {1, 2, 3}),
    Pieces = list_to_tuple([B || {_, B, _} <- cases(), is_binary(B)]),
    [try_packet(T, mix(Pieces), limits()) || _ <- lists:seq(1, 3000)].

mix(Pieces) ->
    B = << <<(element(rand:uniform(tuple_size(Pieces)), Pieces))/binary>> || _ <- lists:seq(1, rand:uniform(3)) >>,
    case byte_size(B) of
        N when N > 0 ->
            At = rand:uniform(N) - 1,
            <<Before:At/binary, _, After/binary>> = B,
            <<Before/binary, (rand:uniform(256) - 1), After/binary>>;
        _ -> B
    end.

limits() -> lists:sublist([{packet_size, rand:uniform(60) - 1}, {line_length, rand:uniform(60) - 1}], rand:uniform(3) - 1).

%% Packets that start between two bytes, and are parts of something larger, which ends between two, or does not.
sub_binaries() ->
    Large = binary:copy(<<"GET /a/path/that/goes/on HTTP/1.1\r\n">>, 20),
    [begin
         Shifted = <<0:Shift, Large/binary, 5:Odd>>,
         <<_:Shift, B/bits>> = Shifted,
         io:format("~0p~n", [try two_packets(B) catch error:badarg -> badarg end])
     end || Odd <- [3, 0], Shift <- [0, 1, 7, 8, 13]].

two_packets(B) ->
    {ok, R, Rest} = erlang:decode_packet(http_bin, B, []),
    {ok, L, More} = erlang:decode_packet(line, Rest, []),
    {R, L, bit_size(More)}.

%% expect: http {ok,{http_request,'GET',{abs_path,"/"},{1,1}},<<"rest">>}
%% expect: http {ok,{http_error,"HTTP/1.1  OK\r\n"},<<>>}
%% expect: http_bin {ok,{http_request,'DELETE',
%% expect:                            {absoluteURI,http,<<>>,undefined,<<"/">>},
%% expect:                            {1,1}},
%% expect:              <<>>}
%% expect: httph {more,undefined}
%% expect: httph_bin {ok,http_eoh,<<" x">>}
%% expect: line {ok,<<"ab\n">>,<<>>}
%% expect: line {ok,<<"abcdefg\n">>,<<>>}
%% expect: line {more,undefined}
%% expect: http {ok,{http_error,"\n"},<<>>}
%% expect: http {ok,{http_error,"abc\n"},<<" d\n e">>}
%% expect: http {ok,{http_error,"a:b\r\n"},<<>>}
%% expect: http {error,invalid}
%% expect: httph {more,undefined}
%% expect: httph {more,undefined}
%% expect: httph {error,invalid}
%% expect: line {ok,<<"one;">>,<<"two;">>}
%% expect: sunrm {error,invalid}
%% expect: raw 93893416 15765151
%% expect 27: raw 16739111 15765151
%% expect: 0 113427502 15765151
%% expect: 1 126339447 12803057
%% expect: 2 62177416 121031229
%% expect: 4 23392837 35063500
%% expect: asn1 10661604 113156569
%% expect: sunrm 85772889 37266763
%% expect: cdr 104291250 51474697
%% expect: fcgi 52196888 92084569
%% expect: line 51227097 37223353
%% expect: tpkt 88121322 26532902
%% expect: http 98261000 122390458
%% expect: httph 51800123 46606690
%% expect: http_bin 93392108 65814900
%% expect: httph_bin 115203831 78250124
%% expect: ssl_tls 61611352 117320272
%% expect: bytes in names 95657897
%% expect: {{http_request,'GET',{abs_path,<<"/a/path/that/goes/on">>},{1,1}},<<"GET /a/path/that/goes/on HTTP/1.1\r\n">>,5043}
%% expect 27: badarg
%% expect: {{http_request,'GET',{abs_path,<<"/a/path/that/goes/on">>},{1,1}},<<"GET /a/path/that/goes/on HTTP/1.1\r\n">>,5043}
%% expect 27: badarg
%% expect: {{http_request,'GET',{abs_path,<<"/a/path/that/goes/on">>},{1,1}},<<"GET /a/path/that/goes/on HTTP/1.1\r\n">>,5043}
%% expect 27: badarg
%% expect: {{http_request,'GET',{abs_path,<<"/a/path/that/goes/on">>},{1,1}},<<"GET /a/path/that/goes/on HTTP/1.1\r\n">>,5043}
%% expect 27: badarg
%% expect: {{http_request,'GET',{abs_path,<<"/a/path/that/goes/on">>},{1,1}},<<"GET /a/path/that/goes/on HTTP/1.1\r\n">>,5043}
%% expect 27: badarg
%% expect: {{http_request,'GET',{abs_path,<<"/a/path/that/goes/on">>},{1,1}},<<"GET /a/path/that/goes/on HTTP/1.1\r\n">>,5040}
%% expect: {{http_request,'GET',{abs_path,<<"/a/path/that/goes/on">>},{1,1}},<<"GET /a/path/that/goes/on HTTP/1.1\r\n">>,5040}
%% expect: {{http_request,'GET',{abs_path,<<"/a/path/that/goes/on">>},{1,1}},<<"GET /a/path/that/goes/on HTTP/1.1\r\n">>,5040}
%% expect: {{http_request,'GET',{abs_path,<<"/a/path/that/goes/on">>},{1,1}},<<"GET /a/path/that/goes/on HTTP/1.1\r\n">>,5040}
%% expect: {{http_request,'GET',{abs_path,<<"/a/path/that/goes/on">>},{1,1}},<<"GET /a/path/that/goes/on HTTP/1.1\r\n">>,5040}
%% expect: {ok,{http_request,'GET',{absoluteURI,http,<<"[">>,undefined,<<"/x">>},{1,1}},<<>>}
%% expect 27: {ok,{http_request,'GET',{absoluteURI,http,<<"[::1]">>,80,<<"/x">>},{1,1}},<<>>}
%% expect: {ok,{http_request,'GET',{absoluteURI,https,<<"[">>,undefined,<<"/">>},{1,1}},<<>>}
%% expect 27: {ok,{http_request,'GET',{absoluteURI,https,<<"[::1]">>,undefined,<<"/">>},{1,1}},<<>>}
%% expect: {ok,{http_request,'GET',{absoluteURI,http,<<"[">>,undefined,<<"/">>},{1,1}},<<>>}
%% expect: {ok,{http_request,'GET',{absoluteURI,http,<<"[">>,undefined,<<"/">>},{1,1}},<<>>}
%% expect 27: {ok,{http_request,'GET',{absoluteURI,http,<<"[::1]">>,undefined,<<"/">>},{1,1}},<<>>}
