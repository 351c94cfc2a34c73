%% SPDX-License-Identifier: Apache-2.0
%% What comes to a socket for who wants more stays there (OTP 27 and 28; 29 gives it to who asked, as 25 did).
%% until: 28
-module(since27_kept).
-export([main/0]).
-include("../sockets/pair.hrl").

main() ->
    keep(pair()).

%% What came for who wants more is there for who wants less, or still more.
keep({A, B}) ->
    ok = socket:send(A, binary:copy(<<"a">>, 30000)),
    {select, _} = socket:recv(B, 40000, nowait),
    {ok, Some} = socket:recv(B, 20000),
    {ok, Rest} = socket:recv(B, 0),
    ok = socket:send(A, binary:copy(<<"b">>, 7000)),
    {select, _} = socket:recv(B, 10000, nowait),
    {select, _} = socket:recv(B, 50000, nowait),
    ok = socket:send(A, binary:copy(<<"c">>, 9000)),
    {select, _} = socket:recv(B, 16001, nowait),
    {ok, Nine} = socket:recv(B, 9),
    ok = socket:send(A, <<"d">>),
    {ok, All} = socket:recv(B, 15992),
    {select, _} = socket:recv(B, 5, nowait),
    ok = socket:send(A, <<"e">>),
    socket:close(A),
    io:format("~p~n", [[byte_size(Some), byte_size(Rest), Nine, erlang:md5(All) =:= erlang:md5([binary:copy(<<"b">>, 6991), binary:copy(<<"c">>, 9000), <<"d">>]),
        socket:recv(B, 5), socket:recv(B, 5)]]).

%% expect: [20000,10000,<<"bbbbbbbbb">>,true,{error,{closed,<<"e">>}},{error,closed}]
