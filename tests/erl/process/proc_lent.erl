%% SPDX-License-Identifier: Apache-2.0
%% With one scheduler, another process runs before a native is done that cannot be cut: its scheduler is lent. Where erl
%% itself holds a scheduler nothing is asked of it.
%% expect: {list_to_tuple,true}
%% expect: {send,true}
%% expect: {spawn,true}
%% expect: {messages,true}
%% expect: {messages_of_another,true}
%% expect: {dictionary,true}
%% expect: {get,true}
%% expect: {get_keys,true}
%% expect: {erase,true}
%% expect: {garbage_collect,true}
%% expect: {insert,true}
%% expect: {lookup,true}
%% expect: {lookup_bag,true}
%% expect: {insert_large,true}
%% expect: {take_bag,true}
%% expect: {delete_bag,true}
%% expect: {taken,true,true}
%% expect: {unfix,true}
%% expect: {tuple_to_list,true}
%% expect: {make_tuple,true}
%% expect: {integer_to_list,true}
%% expect: {blocker_ends,done}
-module(proc_lent).
-export([main/0]).

-define(ROUNDS, 50). % on a busy machine a native may end before the clock of time slices looks
-define(HEAP_WORDS, 8000000). % room for results: a collection behind the native would give way as well

main() ->
    erlang:system_flag(schedulers_online, 1),
    List = lists:seq(1, 1000000),
    Idle = spawn_link(fun() -> receive stop -> ok end end),
    gives_way(list_to_tuple, fun() -> list_to_tuple(List) end),
    gives_way(send, fun() -> Idle ! List end),
    gives_way(spawn, fun() -> spawn(erlang, length, [List]) end),
    gives_way(messages, fun() -> [self() ! {N, [N, N, N, N]} || N <- lists:seq(1, 200000)] end, fun(_) -> process_info(self(), messages) end),
    gives_way(messages_of_another, fun() -> holder(List) end, fun(P) -> process_info(P, messages) end),
    gives_way(dictionary, fun() -> [put(N, N) || N <- lists:seq(1, 200000)] end, fun(_) -> process_info(self(), dictionary) end),
    Filled = fun() -> [put(N, v) || N <- lists:seq(1, 1000000)] end,
    gives_way(get, Filled, fun(_) -> get() end),
    gives_way(get_keys, Filled, fun(_) -> get_keys(v) end),
    gives_way(erase, Filled, fun(_) -> erase() end),
    gives_way(garbage_collect, fun() -> lists:seq(1, 1000000) end, fun(L) -> garbage_collect(), hd(L) end),
    Objects = [{N, N} || N <- List],
    gives_way(insert, fun() -> filled(Objects) end),
    gives_way(lookup, fun() -> filled([{a, List}]) end, fun(T) -> ets:lookup(T, a) end),
    Bag = [{a, N} || N <- lists:seq(1, 300000)],
    gives_way(lookup_bag, fun() -> filled(Bag, [duplicate_bag]) end, fun(T) -> ets:lookup(T, a) end),
    gives_way(insert_large, fun() -> filled([]) end, fun(T) -> ets:insert(T, {a, List}) end),
    gives_way(take_bag, fun() -> filled(Bag, [duplicate_bag]) end, fun(T) -> ets:take(T, a) end),
    gives_way(delete_bag, fun() -> filled(Bag, [duplicate_bag]) end, fun(T) -> ets:delete(T, a) end),
    Kept = filled([{b, List} | Bag], [duplicate_bag]),
    io:format("~p~n", [{taken, lists:sort(ets:take(Kept, a)) =:= Bag, ets:take(Kept, b) ++ ets:tab2list(Kept) =:= [{b, List}]}]),
    gives_way(unfix, fun() -> fixed(Objects) end, fun(T) -> ets:safe_fixtable(T, false) end),
    Tuple = list_to_tuple(List),
    gives_way(tuple_to_list, fun() -> tuple_to_list(Tuple) end),
    gives_way(make_tuple, fun() -> erlang:make_tuple(4000000, a) end),
    gives_way(integer_to_list, fun() -> 1 bsl 400000 end, fun(N) -> integer_to_list(N) end),
    blocker_ends(List),
    Idle ! stop,
    halt(0).

%% Its end takes long, and stops the world, to let the schedulers go on that it has blocked.
blocker_ends(List) ->
    {Pid, Ref} = spawn_monitor(fun() ->
        Doubled = [2 * N || N <- List],
        erlang:system_flag(multi_scheduling, block),
        exit(element(hd(Doubled), {x, done}))
    end),
    receive {'DOWN', Ref, process, Pid, Why} -> io:format("~p~n", [{blocker_ends, Why}]) end.

%% A process that waits while we live, with a message that it does not take.
holder(Message) ->
    Self = self(),
    P = spawn(fun() ->
        Ref = monitor(process, Self),
        receive {'DOWN', Ref, process, Self, _} -> ok end
    end),
    P ! Message,
    at_rest(P).

at_rest(P) ->
    case process_info(P, [status, message_queue_len]) of
        [{status, waiting}, {message_queue_len, 1}] -> P;
        _ -> erlang:yield(), at_rest(P)
    end.

filled(Objects) -> filled(Objects, []).

filled(Objects, Options) ->
    T = ets:new(t, Options),
    ets:insert(T, Objects),
    T.

%% A table whose objects go when it is fixed no more.
fixed(Objects) ->
    T = filled(Objects),
    ets:safe_fixtable(T, true),
    _ = [ets:delete(T, N) || {N, _} <- Objects],
    T.

gives_way(Name, Native) -> gives_way(Name, fun() -> ok end, fun(_) -> Native() end).

gives_way(Name, Prepare, Native) ->
    IsStock = string:find(erlang:system_info(system_version), "[erlvm]") =:= nomatch,
    Ran = IsStock orelse lists:any(fun(_) -> ran_meanwhile(Prepare, Native) end, lists:seq(1, ?ROUNDS)),
    io:format("~p~n", [{Name, Ran}]).

ran_meanwhile(Prepare, Native) ->
    Self = self(),
    {Pid, Ref} = spawn_opt(fun() ->
        Prepared = Prepare(),
        garbage_collect(),
        erlang:yield(), %% a whole slice
        Self ! begun,
        _ = Native(Prepared),
        Self ! done
    end, [monitor, {min_heap_size, ?HEAP_WORDS}]),
    receive begun -> ok end,
    Meanwhile = receive done -> self() ! done, false after 0 -> true end,
    receive done -> ok end,
    receive {'DOWN', Ref, process, Pid, normal} -> Meanwhile end.
