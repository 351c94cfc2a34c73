%% SPDX-License-Identifier: Apache-2.0
-module(since27_limits).
-export([main/0]).
%% Limits that OTP 27 has and 25 has not: integers, queues that are long, heaps with the binaries outside, how long a flush may take.

main() ->
    integers(),
    queues(),
    told(),
    heaps(),
    killed(),
    flushes().

fails(F) ->
    try F() catch error:Reason -> {error, Reason} end.

integers() ->
    Max = erlang:system_info(max_integer),
    io:format("~0p~n", [(Max + 0) bsr (65535 * 64 - 1)]),
    io:format("~0p~n", [[is_integer(fails(F)) || F <- [fun() -> Max end, fun() -> -Max end, fun() -> id(1) bsl (65535 * 64 - 1) end]]]),
    io:format("~0p~n", [[fails(F) || F <- [fun() -> Max + 1 end, fun() -> -Max - 1 end, fun() -> 2 * Max end, fun() -> bnot Max end, fun() -> Max bsl 2 end,
        fun() -> id(1) bsl (65535 * 64) end, fun() -> id(1) bsl (1 bsl 69) end]]]),
    io:format("~0p~n", [[id(0) bsl (1 bsl 128), id(0) bsr -(1 bsl 128)]]),
    Digits = lists:duplicate(2000000, $9),
    io:format("~0p~n", [[fails(F) || F <- [fun() -> list_to_integer(Digits) end, fun() -> string:to_integer(Digits) end,
        fun() -> string:list_to_integer(Digits ++ "x") end, fun() -> binary_to_integer(list_to_binary(Digits), 16) end]]]),
    io:format("~0p~n", [[erts_internal:term_type(id(T)) || T <- [<<1, 2>>, <<5:7>>, <<0:512>>, <<0:513>>, <<0:6400>>]]]).

id(X) -> X.

%% expect: 1
%% expect: [true,true,true]
%% expect: [{error,system_limit},{error,system_limit},{error,system_limit},{error,system_limit},{error,system_limit},{error,system_limit},{error,system_limit}]
%% expect: [0,0]
%% expect: [{error,system_limit},{error,system_limit},{error,system_limit},{error,system_limit}]
%% expect: [heap_binary,heap_binary,heap_binary,sub_binary,sub_binary]

queues() ->
    Self = self(),
    Set = fun(Options) -> fails(fun() -> erlang:system_monitor(Self, Options), {Self, Told} = erlang:system_monitor(), Told end) end,
    [io:format("~0p~n", [Set([O])]) || O <- [{long_message_queue, {0, 10}}, {long_message_queue, {9, 10}}, {long_message_queue, {10, 10}},
        {long_message_queue, {-1, 10}}, {long_message_queue, 10}, {long_message_queue, {a, 10}}, long_message_queue]],
    io:format("~0p~n", [Set([{long_message_queue, {9, 10}}, busy_port, {long_gc, 10}, {large_heap, 100000}, busy_dist_port, {long_schedule, 20}])]),
    erlang:system_monitor(undefined).

%% expect: [{long_message_queue,{0,10}}]
%% expect: [{long_message_queue,{9,10}}]
%% expect: {error,badarg}
%% expect: {error,badarg}
%% expect: {error,badarg}
%% expect: {error,badarg}
%% expect: {error,badarg}
%% expect: [busy_dist_port,busy_port,{large_heap,100000},{long_schedule,20},{long_gc,10},{long_message_queue,{9,10}}]

%% At the tenth message, and again when five are left. The request to take them is one, too.
told() ->
    erlang:system_monitor(self(), [{long_message_queue, {5, 10}}]),
    P = spawn_link(fun taker/0),
    [begin
         [P ! item || _ <- lists:seq(1, N)],
         io:format("~p ~p ", [N, heard(P)]),
         P ! {take, N, self()},
         receive {P, taken} -> ok end,
         io:format("~p~n", [heard(P)])
     end || N <- [8, 15, 3, 30]],
    erlang:system_monitor(undefined),
    unlink(P),
    exit(P, kill),
    own().

%% Its own messages, and those that its monitors make for it, count as well.
own() ->
    Me = self(),
    Teller = spawn_link(fun Tell() -> receive M -> Me ! M, Tell() end end),
    erlang:system_monitor(Teller, [{long_message_queue, {5, 10}}]),
    [self() ! item || _ <- lists:seq(1, 10)],
    io:format("~p ", [heard(Me)]),
    [receive item -> ok end || _ <- lists:seq(1, 10)],
    io:format("~p ", [heard(Me)]),
    Ps = [spawn_monitor(fun() -> receive go -> ok end end) || _ <- lists:seq(1, 12)],
    [P ! go || {P, _} <- Ps],
    io:format("~p~n", [heard(Me)]),
    [receive {'DOWN', M, _, _, _} -> ok end || {_, M} <- Ps],
    erlang:system_monitor(undefined).

taker() ->
    receive {take, N, From} -> [receive item -> ok end || _ <- lists:seq(1, N)], From ! {self(), taken}, taker() end.

heard(P) ->
    receive {monitor, P, long_message_queue, Long} -> [Long | heard(P)] after 100 -> [] end.

%% expect: 8 [] []
%% expect: 15 [true] [false]
%% expect: 3 [] []
%% expect: 30 [true] [false]
%% expect: [true] [false] [true]

heaps() ->
    [io:format("~0p~n", [fails(fun() -> process_flag(max_heap_size, V) end)]) || V <- [#{size => 0, include_shared_binaries => 1},
        #{size => 0, include_shared_binaries => true}, #{size => 0, include_shared_binaries => false, kill => false}, 0]],
    io:format("~0p~n", [erlang:system_info(max_heap_size)]).

%% expect: {error,badarg}
%% expect: #{error_logger => true,include_shared_binaries => false,kill => true,size => 0}
%% expect: #{error_logger => true,include_shared_binaries => true,kill => true,size => 0}
%% expect: #{error_logger => true,include_shared_binaries => false,kill => false,size => 0}
%% expect: #{error_logger => true,include_shared_binaries => false,kill => true,size => 0}

killed() ->
    io:format("~p~n", [[keeps(Counts) || Counts <- [true, false]]]).

%% 20 MB of binaries, on a heap of a few hundred words.
keeps(Counts) ->
    {_, M} = spawn_opt(fun() -> exit({kept, length(binaries([], 200))}) end, [monitor,
        {max_heap_size, #{size => 100000, kill => true, error_logger => false, include_shared_binaries => Counts}}]),
    receive {'DOWN', M, process, _, Reason} -> Reason end.

binaries(L, 0) -> L;
binaries(L, N) -> binaries([binary:copy(<<N>>, 100000) | L], N - 1).

%% expect: [killed,{kept,200}]

flushes() ->
    io:format("~p ~p~n", [erlang:system_info(halt_flush_timeout), [fails(fun() -> halt(0, [{flush_timeout, T}]) end) || T <- [-1, a]]]),
    io:format("~p~n", [[status(Flags, Options) || {Flags, Options} <- [{"", "[{flush_timeout, 200}]"}, {"", "[{flush, false}]"},
        {"+zhft 200", "[]"}, {"+zhft infinity", "[{flush_timeout, 100}, {flush, false}]"}]]]).

%% expect: infinity [{error,badarg},{error,badarg}]
%% expect: [255,7,255,7]

%% How a node ends that has more for a program than that will ever read.
status(Flags, Options) ->
    Code = "P = open_port({spawn, \\\"sleep 20\\\"}, []), catch port_command(P, binary:copy(<<1>>, 1000000), [nosuspend]), halt(7, " ++ Options ++ ").",
    Node = open_port({spawn, "sh -c \"" ++ vm() ++ " " ++ Flags ++ " -noinput -eval '" ++ Code ++ "'\""}, [exit_status]),
    receive {Node, {exit_status, Status}} -> Status end.

vm() ->
    {ok, Path} = file:read_link("/proc/" ++ os:getpid() ++ "/exe"),
    case filename:basename(Path) of
        "erlvm" -> Path;
        _ -> "erl"
    end.
