%% SPDX-License-Identifier: Apache-2.0
-module(std_short_natives).
-export([main/0]).
%% Natives with short ways for what is short, held against the library or against each other where the ways part.
%% expect: dates []
%% expect: unsigned []
%% expect: digits []
%% expect: signs [-7,7,7,{7,"x"},{-7,"x"},{error,no_integer},badarg,badarg,badarg]
%% expect: counters [3,ok,-4,badarg,badarg,badarith,badarg,badarg,badarg]
%% expect: sums []
%% expect: dictionary []
%% expect: unique 3000
%% expect: keys []
%% expect: refused keys [badarg,badarg,badarg,badarg,badarg,{1},false]
main() ->
    io:format("dates ~p~n", [[S || S <- seconds(), erlang:posixtime_to_universaltime(S) =/= datetime(S)]]),
    io:format("unsigned ~p~n", [[{N, E} || N <- numbers(), E <- [little, big], not survives(N, E)]]),
    io:format("digits ~p~n", [[{N, B} || N <- numbers(), B <- [2, 10, 16, 36], not is_read(N, B)]]),
    io:format("signs ~p~n", [signs()]),
    io:format("counters ~p~n", [counted(counters:new(3, [])) ++ refused(counters:new(3, [write_concurrency]))]),
    io:format("sums ~p~n", [[N || N <- [0, 1, 7, 64, 511, 512, 513, 5000], not is_summed(binary:copy(<<"x">>, N))]]),
    io:format("dictionary ~p~n", [[N || N <- [0, 1, 2, 3, 4, 30, 48, 49, 200], not is_listed(N)]]),
    io:format("unique ~p~n", [length(lists:usort([erlang:unique_integer() || _ <- lists:seq(1, 3000)]))]),
    io:format("keys ~p~n", [[{I, K} || I <- [1, 2, 3, 4, 5, 1 bsl 32, (1 bsl 59) - 1], K <- keys(), not is_found(K, I, keyed())]]),
    io:format("refused keys ~w~n", [[outcome(fun() -> lists:keyfind(K, I, L) end)
                                     || {K, I, L} <- [{a, 0, []}, {a, -1, [{a}]}, {a, x, []}, {a, 1, [b | c]}, {a, 1 bsl 70, []},
                                                      {1.0, 1, [x, {1} | y]}, {a, 2, [x, {a}]}]]]).

keys() -> [a, b, 1, 1.0, 2, 2.0, 1 bsl 64, float(1 bsl 64), <<"a">>, "a", {a}, 3, [], #{}].

%% Tuples of several sizes, among them what is none.
keyed() ->
    Plain = [x, [], 5, 1.0, <<"ab">>, binary:copy(<<"x">>, 100), #{a => 1}, make_ref(), self(), 1 bsl 70, fun id/1, fun lists:map/2, [a]],
    Plain ++ [{}, {c}, {c, a}] ++ [list_to_tuple(lists:duplicate(N - 1, c) ++ [K]) || N <- [1, 2, 4], K <- keys()] ++ Plain.

%% As the library finds it, written in Erlang.
is_found(Key, N, List) ->
    Found = case [T || T <- List, is_tuple(T), tuple_size(T) >= N, element(N, T) == Key] of [] -> false; [T | _] -> T end,
    {Found, Found =/= false, case Found of false -> false; _ -> {value, Found} end} =:=
        {lists:keyfind(Key, N, List), lists:keymember(Key, N, List), lists:keysearch(Key, N, List)}.

signs() ->
    [list_to_integer("-7"), list_to_integer("+7"), binary_to_integer(<<"+0000000000000000007">>),
     string:list_to_integer("7x"), string:list_to_integer("-7x"), string:list_to_integer("x"),
     outcome(fun() -> list_to_integer(id("")) end), outcome(fun() -> list_to_integer(id([$1 | $2])) end),
     outcome(fun() -> binary_to_integer(id(<<1:1>>)) end)].

outcome(F) -> try F() catch error:Why -> Why end.

%% Around the ends of days, months, leap days, centuries and cycles, before 1970 too.
seconds() ->
    Years = [1, 4, 100, 399, 400, 1600, 1899, 1900, 1969, 1970, 1999, 2000, 2024, 2100, 9999],
    Days = [calendar:date_to_gregorian_days(Y, M, D) || Y <- Years, {M, D} <- [{1, 1}, {2, 28}, {3, 1}, {12, 31}]],
    [(Day - 719528) * 86400 + S || Day <- Days, S <- [-1, 0, 1, 3599, 43200, 86399]].

datetime(S) -> calendar:gregorian_seconds_to_datetime(S + 719528 * 86400).

numbers() ->
    Bits = [0, 7, 8, 15, 16, 31, 32, 55, 56, 59, 60, 63, 64, 65, 72, 127, 128, 512, 1000],
    lists:usort([max(0, (1 bsl K) + D) || K <- Bits, D <- [-1, 0, 1]]).

survives(N, E) ->
    B = binary:encode_unsigned(N, E),
    Size = max(1, (length(integer_to_list(N, 2)) + 7) div 8) * 8,
    B =:= case E of big -> <<N:Size>>; little -> <<N:Size/little>> end andalso binary:decode_unsigned(B, E) =:= N
        andalso binary:decode_unsigned(unaligned(B), E) =:= N.

%% The same binary, a part of another one that does not begin at a byte.
unaligned(B) -> <<_:3, Part:(byte_size(B))/binary, _/bits>> = <<5:3, B/binary, 0:5>>, Part.

is_read(N, Base) ->
    Text = integer_to_list(N, Base),
    B = list_to_binary(Text),
    [N, N, N, -N] =:= [list_to_integer(Text, Base), binary_to_integer(B, Base), binary_to_integer(unaligned(B), Base),
                       list_to_integer("-" ++ Text, Base)]
        andalso (Base =/= 10 orelse string:list_to_integer(Text ++ ".") =:= {N, "."}).

counted(C) ->
    counters:add(C, 1, 5),
    counters:sub(C, 1, 2),
    [counters:get(C, 1), counters:put(C, 2, -4), counters:get(C, 2), outcome(fun() -> counters:add(C, 4, 1) end)].

refused(C) ->
    [outcome(fun() -> counters:add({other, C}, 1, 1) end), outcome(fun() -> counters:sub(C, 1, x) end),
     outcome(fun() -> counters:sub(C, 1, 1 bsl 64) end), outcome(fun() -> counters:put(C, 0, 1) end),
     outcome(fun() -> counters:info(x) end)].

is_summed(B) ->
    Cut = unaligned(B),
    {erlang:crc32(B), erlang:adler32(B)} =:= {erlang:crc32([B]), erlang:adler32([B])} andalso
        {erlang:crc32(B), erlang:adler32(B)} =:= {erlang:crc32(Cut), erlang:adler32(Cut)} andalso
        erlang:crc32(7, B) =:= erlang:crc32(7, [Cut]) andalso erlang:adler32(7, B) =:= erlang:adler32(7, [Cut]).

is_listed(N) ->
    {Pid, Ref} = spawn_monitor(fun() ->
        Pairs = [{{k, K}, K rem 2} || K <- lists:seq(1, N)],
        [put(K, V) || {K, V} <- Pairs],
        Odd = [K || {K, 1} <- Pairs],
        exit({lists:sort(get()), lists:sort(get_keys()), lists:sort(get_keys(1))} =:=
             {lists:sort(Pairs), lists:sort([K || {K, _} <- Pairs]), lists:sort(Odd)})
    end),
    receive {'DOWN', Ref, process, Pid, Outcome} -> Outcome end.

id(X) -> X.
