%% SPDX-License-Identifier: Apache-2.0
%% What a process sends to itself is not copied: it stays on the heap, through collections, and whatever is done with the queue.
-module(proc_self_send).
-export([main/0, wake/1]).

main() ->
    L = lists:seq(1, 100000),
    erlang:garbage_collect(),
    Before = heap(),
    [self() ! {N, L} || N <- lists:seq(1, 20)],
    d(heap() - Before < 100000),
    d([begin churn(200), receive {N, M} -> M =:= L end end || N <- [20, 1, 7]]),
    erlang:garbage_collect(),
    d([receive {N, M} -> {N, lists:sum(M)} end || N <- lists:seq(2, 6)]),
    {messages, Left} = process_info(self(), messages),
    d([N || {N, M} <- Left, M =:= L]),
    churn(1000),
    d(length([M || {_, M} <- Left, length(M) =:= 100000])),
    d(flush(0)),
    %% Mixed with messages of others, of every kind, and forgotten by a timeout, an alias and a demonitor.
    Me = self(),
    [begin self() ! {own, [N]}, spawn_link(fun() -> Me ! {other, [N]} end), receive {other, [N]} = O -> self() ! {again, O} end end || N <- lists:seq(1, 50)],
    churn(500),
    d([receive {again, X} -> X after 0 -> none end || _ <- lists:seq(1, 51)] =:= [{other, [N]} || N <- lists:seq(1, 50)] ++ [none]),
    d(lists:sum([receive {own, [N]} -> N end || _ <- lists:seq(1, 50)])),
    Bin = binary:copy(<<"x">>, 1000),
    self() ! {bin, Bin, #{key => [Bin, 1.5, 1 bsl 100, fun() -> Bin end]}},
    churn(500),
    d(receive {bin, B, #{key := [B, F, I, Fun]}} -> {B =:= Fun(), F, I} end),
    %% With its queue elsewhere, hibernating, suspended, and looked at and killed by others.
    Off = spawn(fun() -> process_flag(message_queue_data, off_heap), self() ! {a, [1, 2]}, process_flag(message_queue_data, on_heap), self() ! {b, [3]},
                         churn(200), receive {a, X} -> receive {b, Y} -> Me ! {off, X, Y} end end end),
    d(receive {off, X, Y} when is_pid(Off) -> {X, Y} end),
    Sleeper = spawn(fun() -> [self() ! {N, L} || N <- [1, 2, 3]], proc_lib:hibernate(?MODULE, wake, [Me]) end),
    d(receive {Sleeper, R} -> R end),
    Kept = spawn(fun() -> self() ! {kept, L}, Me ! ready, receive never -> ok end end),
    receive ready -> ok end,
    {messages, [{kept, K}]} = process_info(Kept, messages),
    exit(Kept, kill),
    d(K =:= L).

wake(Me) ->
    churn(100),
    Me ! {self(), [receive {N, M} -> length(M) end || N <- [2, 1, 3]]}.

heap() -> {total_heap_size, N} = process_info(self(), total_heap_size), N.

churn(0) -> ok;
churn(N) -> _ = lists:seq(1, 1000), churn(N - 1).

flush(N) -> receive _ -> flush(N + 1) after 0 -> N end.

d(T) -> erlang:display(T).

%% expect: true
%% expect: [true,true,true]
%% expect: [{2,5000050000},{3,5000050000},{4,5000050000},{5,5000050000},{6,5000050000}]
%% expect: [8,9,10,11,12,13,14,15,16,17,18,19]
%% expect: 12
%% expect: 12
%% expect: true
%% expect: 1275
%% expect: {true,1.500000e+00,1267650600228229401496703205376}
%% expect: {[1,2],[3]}
%% expect: [100000,100000,100000]
%% expect: true
