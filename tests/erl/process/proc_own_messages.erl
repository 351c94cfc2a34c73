%% SPDX-License-Identifier: Apache-2.0
%% Messages that a process sends itself: they outlive collections of every kind, changes of what they were made of, selective receive and
%% process_info, and are gone when they are received or flushed.
-module(proc_own_messages).
-export([main/0]).

%% expect: kept 499
%% expect: taken 251
%% expect: left 248
%% expect: binaries true
%% expect: info [{messages,[{a,[1,2]},b,"c"]},{message_queue_len,3}]
%% expect: mixed [1,{2,two},3,{4,four},5]
%% expect: guard {large,true}
%% expect: hibernated [{1,"x"},{2,"x"}]
%% expect: literal {x,"y",[1,2,3]}
%% expect: off heap {moved,[1,2,3]}
%% expect: flushed 0
%% expect: died killed
%% expect: successors collected
main() ->
    kept(),
    binaries(),
    info(),
    mixed(),
    guard(),
    hibernated(),
    literal(),
    off_heap(),
    flushed(),
    died(),
    successors().

kept() ->
    [self() ! {N, integer_to_list(N), float(N)} || N <- lists:seq(1, 499)],
    churn(20),
    erlang:garbage_collect(),
    churn(20),
    {message_queue_len, Kept} = process_info(self(), message_queue_len),
    io:format("kept ~w~n", [Kept]),
    Taken = [take(N) || N <- lists:seq(499, 1, -2), N =/= 3] ++ [take(N) || N <- [2, 4]],
    io:format("taken ~w~n", [length(Taken)]),
    erlang:garbage_collect(),
    io:format("left ~w~n", [length(take_all())]).

take(N) ->
    Text = integer_to_list(N),
    receive {N, Text, F} when F == N -> {N, F} end.

take_all() ->
    receive
        {N, Text, F} when F == N -> Text = integer_to_list(N), [N | take_all()]
    after 0 -> []
    end.

churn(0) -> ok;
churn(N) -> _ = lists:sum([length(lists:seq(1, K)) || K <- lists:seq(1, 60)]), churn(N - 1).

binaries() ->
    [self() ! {bin, binary:copy(<<N>>, 1000), <<N:7>>} || N <- lists:seq(1, 100)],
    churn(10),
    erlang:garbage_collect(),
    io:format("binaries ~w~n", [lists:all(fun(N) -> receive {bin, B, <<N:7>>} -> B =:= binary:copy(<<N>>, 1000) end end, lists:seq(1, 100))]).

info() ->
    self() ! {a, [1, 2]},
    self() ! b,
    self() ! "c",
    io:format("info ~p~n", [process_info(self(), [messages, message_queue_len])]),
    receive {a, _} -> ok end, receive b -> ok end, receive "c" -> ok end.

%% Others' messages among our own.
mixed() ->
    Self = self(),
    Other = fun(M) -> {P, R} = spawn_monitor(fun() -> Self ! M end), receive {'DOWN', R, process, P, normal} -> ok end end,
    Self ! 1,
    Other({2, two}),
    Self ! 3,
    Self ! {4, four},
    Other(5),
    erlang:garbage_collect(),
    io:format("mixed ~w~n", [[receive M -> M end || _ <- lists:seq(1, 5)]]).

%% A guard makes garbage while the message is looked at.
guard() ->
    self() ! {large, 1 bsl 100, 1.0e10},
    receive
        {What, Big, F} when Big + (Big bsl 2000) > Big, F * 2.0 > 1.0e9 -> io:format("guard ~w~n", [{What, Big =:= 1 bsl 100}])
    end.

hibernated() ->
    Self = self(),
    P = spawn(fun() ->
        [self() ! {N, "x"} || N <- [1, 2]],
        Self ! ready,
        receive go -> ok end,
        erlang:garbage_collect(),
        erlang:hibernate(erlang, apply, [fun() -> A = receive {1, X} -> {1, X} end, B = receive {2, Y} -> {2, Y} end, Self ! {got, [A, B]} end, []])
    end),
    receive ready -> ok end,
    P ! go,
    receive {got, L} -> io:format("hibernated ~p~n", [L]) end.

literal() ->
    self() ! {x, "y", [1, 2, 3]},
    erlang:garbage_collect(),
    receive {x, _, _} = M -> io:format("literal ~p~n", [M]) end.

off_heap() ->
    self() ! {moved, lists:seq(1, 3)},
    process_flag(message_queue_data, off_heap),
    self() ! {again, lists:seq(1, 3)},
    erlang:garbage_collect(),
    receive {again, [1, 2, 3]} -> ok end,
    process_flag(message_queue_data, on_heap),
    receive {moved, _} = M -> io:format("off heap ~w~n", [M]) end.

%% What demonitor flushes was never ours; what is left of ours is.
flushed() ->
    self() ! {keep, [1]},
    {P, R} = spawn_monitor(fun() -> ok end),
    receive {'DOWN', R, process, P, normal} -> ok end,
    demonitor(R, [flush]),
    receive {keep, [1]} -> ok end,
    {message_queue_len, N} = process_info(self(), message_queue_len),
    io:format("flushed ~w~n", [N]).

died() ->
    {P, R} = spawn_monitor(fun() -> [self() ! {N, [N]} || N <- lists:seq(1, 50)], erlang:garbage_collect(), exit(self(), kill), receive never -> ok end end),
    receive {'DOWN', R, process, P, Why} -> io:format("died ~w~n", [Why]) end.

%% Who takes the place of a process that left messages to itself unread has none of them.
successors() ->
    run_many(fun() -> [self() ! {N, [N]} || N <- lists:seq(1, 20)] end),
    run_many(fun() -> receive never -> ok after 0 -> erlang:garbage_collect() end end),
    io:format("successors collected~n").

run_many(F) ->
    Started = [spawn_monitor(F) || _ <- lists:seq(1, 500)],
    [receive {'DOWN', R, process, P, normal} -> ok end || {P, R} <- Started].
