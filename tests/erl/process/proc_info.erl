%% SPDX-License-Identifier: Apache-2.0
%% process_info, process_flag, dictionary, group leader, hibernate.
-module(proc_info).
-export([main/0, woken/2]).

main() ->
    d([put(a, 1), put(a, 2), get(a), put(b, 3), lists:sort(get()), lists:sort(get_keys()), get_keys(2), erase(a), get(a), erase()]),
    Me = self(),
    P = spawn(fun() -> put(x, 1), process_flag(priority, high), receive go -> ok end, receive after infinity -> ok end end),
    asleep(P),
    [P ! {junk, I} || I <- lists:seq(1, 5)],
    asleep(P),
    d([process_info(P, message_queue_len), process_info(P, messages), process_info(P, dictionary), process_info(P, status), process_info(P, priority),
       process_info(P, trap_exit), process_info(P, current_function), element(1, process_info(P, memory))]),
    d(process_info(P, [message_queue_len, status])),
    P ! go, asleep(P),
    d(process_info(P, message_queue_len)),
    exit(P, kill),
    d([process_info(P), is_process_alive(P)]),
    Holder = spawn(fun() -> Held = [ets:new(t, []), atomics:new(1, []), make_ref()], receive stop -> Held end end),
    asleep(Holder),
    {magic_ref, Named} = process_info(Holder, magic_ref),
    d([is_integer(Address) andalso Holders >= 1 || {Address, _, Holders} <- Named]),
    Holder ! stop,
    process_flag(trap_exit, false),
    d([process_flag(trap_exit, true), process_flag(trap_exit, false), process_flag(priority, low), process_flag(priority, normal)]),
    d(group_leader() =:= element(2, process_info(self(), group_leader))),
    H = spawn(fun() -> erlang:hibernate(?MODULE, woken, [Me, 42]) end),
    asleep(H),
    d(process_info(H, current_function)),
    H ! hi, d(receive {H, V} -> V end),
    d({counted, are_counted()}),
    d([is_integer(element(2, process_info(self(), reductions))), element(2, process_info(self(), initial_call)) =/= undefined]),
    [d(try F() catch C:R -> {C, R} end) || F <- [fun() -> process_info(id(x)) end, fun() -> process_flag(id(x), 1) end, fun() -> spawn(id(x)) end,
                                                 fun() -> process_info(self(), id(nosuch)) end]].

%% Asked for with the messages, their number is that of those, while more come.
are_counted() ->
    Me = self(),
    {_, Sender} = spawn_monitor(fun() -> [Me ! I || I <- lists:seq(1, 20000)] end),
    are_counted(Sender, true) andalso take_numbers(1).

are_counted(Sender, SoFar) ->
    [{message_queue_len, N}, {messages, Messages}] = process_info(self(), [message_queue_len, messages]),
    AreSo = SoFar andalso N =:= length(Messages),
    receive {'DOWN', Sender, _, _, _} -> AreSo after 0 -> are_counted(Sender, AreSo) end.

take_numbers(20001) -> true;
take_numbers(N) -> receive N -> take_numbers(N + 1) end.

asleep(P) ->
    case process_info(P, status) of
        {status, waiting} -> ok;
        {status, _} -> erlang:yield(), asleep(P)
    end.

woken(Me, V) -> receive hi -> Me ! {self(), V} end.

d(T) -> erlang:display(T).

id(X) -> X.

%% expect: [undefined,1,2,undefined,[{a,2},{b,3}],[a,b],[a],2,undefined,[{b,3}]]
%% expect: [{message_queue_len,5},{messages,[{junk,1},{junk,2},{junk,3},{junk,4},{junk,5}]},{dictionary,[{x,1}]},{status,waiting},{priority,high},{trap_exit,false},{current_function,{proc_info,'-main/0-fun-0-',0}},memory]
%% expect: [{message_queue_len,5},{status,waiting}]
%% expect: {message_queue_len,5}
%% expect: [undefined,false]
%% expect: [true,true]
%% expect: [false,true,normal,low]
%% expect: true
%% expect: {current_function,{erlang,hibernate,3}}
%% expect: 42
%% expect: {counted,true}
%% expect: [true,true]
%% expect: {error,badarg}
%% expect: {error,badarg}
%% expect: {error,badarg}
%% expect: {error,badarg}
