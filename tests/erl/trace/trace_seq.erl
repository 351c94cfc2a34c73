%% SPDX-License-Identifier: Apache-2.0
%% Sequential tracing: tokens, what messages do to them, what the sequential tracer hears.
-module(trace_seq).
-export([main/0, echo/0, quiet/0]).

main() ->
    p(seq_trace:get_token()),
    p(seq_trace:set_token(label, {my, label})), p(seq_trace:get_token(label)),
    p(seq_trace:set_token(send, true)), p(seq_trace:set_token('receive', true)), p(seq_trace:set_token(print, true)),
    p([seq_trace:get_token(K) || K <- [send, 'receive', print, timestamp, monotonic_timestamp, strict_monotonic_timestamp, serial]]),
    p(seq_trace:set_token(serial, {3, 7})), p(seq_trace:get_token(serial)),
    p(tuple_size(element(2, process_info(self(), sequential_trace_token)))),
    p(tuple_size(seq_trace:set_token([]))), p(seq_trace:get_token()), p(seq_trace:get_token(label)), p(seq_trace:get_token(send)),
    [p(try erlang:seq_trace(A, B) catch error:R -> R end) || {A, B} <- [{nonsense, 1}, {send, 'maybe'}, {serial, 1}, {serial, {a, b}},
                                                                         {sequential_trace_token, x}, {"label", 1}]],
    p(catch_it(fun() -> erlang:seq_trace_info(nonsense) end)),
    p(seq_trace:print(nothing)),
    tracer(), talk(), stamps(), spread(), ends(), cleared(), from_port().

%% A message that has none leaves the token alone when no process sent it.
from_port() ->
    io:format("from a port~n"),
    seq_trace:set_token(label, 5),
    Port = open_port({spawn, "echo said"}, []),
    p(receive {Port, {data, Said}} -> Said end),
    p(seq_trace:get_token(label)),
    seq_trace:set_token([]).

tracer() ->
    io:format("tracer~n"),
    T = spawn(fun() -> collect([]) end),
    p(seq_trace:get_system_tracer()), p(seq_trace:set_system_tracer(T)), p(seq_trace:get_system_tracer() =:= T),
    p(erlang:system_info(sequential_tracer) =:= {sequential_tracer, T}),
    p(catch_it(fun() -> seq_trace:set_system_tracer(foo) end)),
    exit(T, kill), dead(T), p(seq_trace:get_system_tracer()).

talk() ->
    io:format("talk~n"),
    T = listen(), E = spawn(?MODULE, echo, []),
    seq_trace:set_token(label, 17), seq_trace:set_token(send, true), seq_trace:set_token('receive', true), seq_trace:set_token(print, true),
    Printed = [seq_trace:print(before), seq_trace:print(17, labelled), seq_trace:print(18, other)],
    E ! {self(), one}, receive {E, one} -> ok end,
    {serial, {_, S}} = seq_trace:get_token(serial),
    E ! {self(), two}, receive {E, two} -> ok end,
    self() ! own, receive own -> ok end,
    seq_trace:set_token([]),
    E ! {self(), three}, receive {E, three} -> ok end,
    p(Printed), p(seq_trace:get_token()),
    heard(T, E, S).

stamps() ->
    io:format("stamps~n"),
    [begin
         T = listen(),
         seq_trace:set_token(label, F), seq_trace:set_token(print, true), seq_trace:set_token(F, true),
         seq_trace:print(now), seq_trace:set_token([]),
         [p({F, tuple_size(M), shape(element(4, M))}) || M <- take(T)]
     end || F <- [timestamp, monotonic_timestamp, strict_monotonic_timestamp]].

shape(I) when is_integer(I) -> int;
shape(T) when is_tuple(T) -> [shape(E) || E <- tuple_to_list(T)].

%% A token goes on to who is spoken to, and leaves with a message that has none.
spread() ->
    io:format("spread~n"),
    Me = self(), E = spawn(?MODULE, echo, []),
    seq_trace:set_token(label, 1),
    P = spawn(fun() -> Me ! {token, seq_trace:get_token(label)}, receive X -> Me ! {got, X, seq_trace:get_token(label)} end,
                       receive Y -> Me ! {got, Y, seq_trace:get_token(label)} end end),
    receive {token, L} -> p(L) end,
    P ! with, receive {got, with, L1} -> p(L1) end,
    seq_trace:set_token([]),
    P ! without, receive {got, without, L2} -> p(L2) end,
    E ! stop,
    seq_trace:set_token(label, kept), Old = seq_trace:set_token([]), p([element(I, Old) || I <- [1, 2]]), seq_trace:set_token(Old), p(seq_trace:get_token(label)),
    seq_trace:set_token([]).

%% The end of a linked process carries its token; exit/2 does not, and a monitor leaves the watcher's alone. An alias is told as it was used.
ends() ->
    io:format("ends~n"),
    process_flag(trap_exit, true), T = listen(), Me = self(),
    E = spawn_link(fun() -> Me ! {alias, alias()}, receive {stop, R} -> exit(R) end end),
    A = receive {alias, X} -> X end, Q = spawn_link(?MODULE, quiet, []), put(echo, E),
    {W, M} = spawn_monitor(fun() -> receive stop -> ok end end),
    seq_trace:set_token(label, 17), seq_trace:set_token(send, true), seq_trace:set_token('receive', true),
    exit(Q, bar), receive {'EXIT', Q, bar} -> ok end, Bar = seq_trace:get_token(),
    seq_trace:set_token(label, 17), seq_trace:set_token(send, true), seq_trace:set_token('receive', true),
    A ! {stop, [done]}, receive {'EXIT', E, Why} -> ok end,
    W ! stop, receive {'DOWN', M, _, _, _} -> ok end, Down = seq_trace:get_token(label),
    seq_trace:set_token([]),
    p({Bar, Why, Down}), [p(name({Type, From, case To of A -> alias; _ -> To end, Said})) || {seq_trace, 17, {Type, _, From, To, Said}} <- take(T)],
    process_flag(trap_exit, false).

cleared() ->
    io:format("cleared~n"),
    seq_trace:set_token(label, 5), self() ! x, p(seq_trace:reset_trace()), p(seq_trace:get_token()),
    receive x -> ok end, p(seq_trace:get_token()).

echo() -> receive {P, X} -> P ! {self(), X}, echo(); stop -> ok end.
quiet() -> receive after infinity -> ok end.

listen() -> T = spawn(fun() -> collect([]) end), seq_trace:set_system_tracer(T), T.
collect(L) -> receive {take, P} -> P ! {taken, lists:reverse(L)}; M -> collect([M | L]) end.
take(T) -> seq_trace:set_system_tracer(false), T ! {take, self()}, receive {taken, L} -> L end.
%% Counts from that of the first answer on.
heard(T, E, S) -> put(echo, E), [p(name({Type, {A - S, B - S}, From, To, M})) || {seq_trace, 17, {Type, {A, B}, From, To, M}} <- take(T)], ok.
dead(T) -> case is_process_alive(T) of true -> erlang:yield(), dead(T); false -> ok end.

name(P) when P =:= self() -> main;
name(P) when is_pid(P) -> case get(echo) of P -> echo; _ -> pid end;
name(T) when is_tuple(T) -> list_to_tuple([name(E) || E <- tuple_to_list(T)]);
name([H | T]) -> [name(H) | name(T)];
name(X) -> X.

catch_it(F) -> try F() catch C:R -> {C, R} end.
p(T) -> io:format("  ~0p~n", [T]).

%% expect:   []
%% expect:   0
%% expect:   {label,{my,label}}
%% expect:   false
%% expect:   false
%% expect:   false
%% expect:   [{send,true},{'receive',true},{print,true},{timestamp,false},{monotonic_timestamp,false},{strict_monotonic_timestamp,false},{serial,{9,10}}]
%% expect 27:   [{send,true},{'receive',true},{print,true},{timestamp,false},{monotonic_timestamp,false},{strict_monotonic_timestamp,false},{serial,{29,30}}]
%% expect:   {11,12}
%% expect 27:   {35,36}
%% expect:   {serial,{8,13}}
%% expect 27:   {serial,{40,41}}
%% expect:   5
%% expect:   5
%% expect:   []
%% expect:   []
%% expect:   {send,false}
%% expect:   badarg
%% expect:   badarg
%% expect:   badarg
%% expect:   badarg
%% expect:   badarg
%% expect:   badarg
%% expect:   {error,badarg}
%% expect:   ok
%% expect: tracer
%% expect:   false
%% expect:   false
%% expect:   true
%% expect:   true
%% expect:   {error,badarg}
%% expect:   false
%% expect: talk
%% expect:   [ok,ok,ok]
%% expect:   []
%% expect:   {print,{-4,-3},main,[],before}
%% expect:   {print,{-4,-2},main,[],labelled}
%% expect:   {send,{-4,-1},main,echo,{main,one}}
%% expect:   {'receive',{-4,-1},main,echo,{main,one}}
%% expect:   {send,{-1,0},echo,main,{echo,one}}
%% expect:   {'receive',{-1,0},echo,main,{echo,one}}
%% expect:   {send,{0,1},main,echo,{main,two}}
%% expect:   {'receive',{0,1},main,echo,{main,two}}
%% expect:   {send,{1,2},echo,main,{echo,two}}
%% expect:   {'receive',{1,2},echo,main,{echo,two}}
%% expect:   {send,{2,3},main,main,own}
%% expect:   {'receive',{2,3},main,main,own}
%% expect: stamps
%% expect:   {timestamp,4,[int,int,int]}
%% expect:   {monotonic_timestamp,4,int}
%% expect:   {strict_monotonic_timestamp,4,[int,int]}
%% expect: spread
%% expect:   {label,1}
%% expect:   {label,1}
%% expect:   []
%% expect:   [0,kept]
%% expect:   {label,kept}
%% expect: ends
%% expect:   {[],[done],{label,17}}
%% expect:   {send,main,alias,{stop,[done]}}
%% expect:   {'receive',main,echo,{stop,[done]}}
%% expect:   {send,echo,main,{'EXIT',echo,[done]}}
%% expect:   {'receive',echo,main,{'EXIT',echo,[done]}}
%% expect:   {send,main,pid,stop}
%% expect:   {'receive',main,pid,stop}
%% expect: cleared
%% expect:   true
%% expect:   []
%% expect:   []
%% expect: from a port
%% expect:   "said\n"
%% expect:   {label,5}
