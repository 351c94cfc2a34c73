%% SPDX-License-Identifier: Apache-2.0
%% Natives whose work is not cut into steps: with one scheduler others run meanwhile; results, errors and ends are as ever.
%% expect: {md5,true,true}
%% expect: {md5_update,true,true}
%% expect: {crc32,true}
%% expect: {adler32,true}
%% expect: {sums_of_lists,true}
%% expect: {insert,true,{true,400000}}
%% expect: {insert_new,false,400000}
%% expect: {refused,badarg,{ets,insert,2},400000}
%% expect: {refused,badarg}
%% expect: {killed,killed}
-module(proc_apart).
-export([main/0]).

main() ->
    erlang:system_flag(schedulers_online, 1),
    Part = binary:copy(<<"abcdefgh">>, 12500),
    Large = binary:copy(Part, 640),
    sum(md5, fun() -> erlang:md5(Large) end, fun(R) -> R =:= erlang:md5_final(pieces(fun erlang:md5_update/2, erlang:md5_init(), Part, 640)) end),
    sum(md5_update, fun() -> erlang:md5_update(erlang:md5_init(), Large) end, fun(R) -> erlang:md5_final(R) =:= erlang:md5(Large) end),
    Many = lists:duplicate(6, Large),
    io:format("~p~n", [{crc32, erlang:crc32(Many) =:= pieces(fun erlang:crc32/2, 0, Part, 6 * 640)}]),
    io:format("~p~n", [{adler32, erlang:adler32([Many, Many]) =:= pieces(fun erlang:adler32/2, 1, Part, 12 * 640)}]),
    Bytes = lists:duplicate(100000, $x),
    io:format("~p~n", [{sums_of_lists, [erlang:crc32(Bytes), erlang:adler32(7, Bytes), erlang:md5(Bytes)] =:=
                                           [F(list_to_binary(Bytes)) || F <- [fun erlang:crc32/1, fun(B) -> erlang:adler32(7, B) end, fun erlang:md5/1]]}]),
    tables(),
    refused(),
    killed(Large).

pieces(_, Sum, _, 0) -> Sum;
pieces(F, Sum, Part, N) -> pieces(F, F(Sum, Part), Part, N - 1).

sum(Name, Fun, Check) ->
    {Turns, R} = beside(Fun),
    io:format("~p~n", [{Name, Turns, Check(R)}]).

%% Do timers run out before Fun's result is there?
beside(Fun) ->
    Self = self(),
    P = spawn_link(fun() -> receive go -> Self ! {self(), Fun()} end end),
    P ! go,
    turns(P, 0).

turns(P, N) ->
    receive {P, R} -> {N >= 3, R} after 1 -> turns(P, N + 1) end.

tables() ->
    T = ets:new(t, [public]),
    Objects = [{I, -I} || I <- lists:seq(1, 400000)],
    {Turns, Done} = beside(fun() -> ets:insert(T, Objects) end),
    io:format("~p~n", [{insert, Turns,
                        {Done andalso lists:all(fun(I) -> ets:lookup(T, I) =:= [{I, -I}] end, lists:seq(1, 400000, 997)), ets:info(T, size)}}]),
    io:format("~p~n", [{insert_new, ets:insert_new(T, [{I, new} || I <- lists:seq(500000, 400000, -1)]), ets:info(T, size)}]),
    try ets:insert(T, [{I, I} || I <- lists:seq(500000, 600000)] ++ [none])
    catch error:Why:Trace -> {M, F, A, _} = hd(Trace), io:format("~p~n", [{refused, Why, {M, F, length(A)}, ets:info(T, size)}]) end.

refused() ->
    try erlang:md5([lists:duplicate(100000, $x), none])
    catch error:Why -> io:format("~p~n", [{refused, Why}]) end.

killed(Large) ->
    {P, R} = spawn_monitor(fun() -> receive go -> [erlang:md5(Large) || _ <- lists:seq(1, 1000)] end end),
    P ! go,
    receive after 5 -> ok end,
    exit(P, kill),
    receive {'DOWN', R, process, P, Why} -> io:format("~p~n", [{killed, Why}]) end.
