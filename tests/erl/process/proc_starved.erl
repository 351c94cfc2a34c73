%% SPDX-License-Identifier: Apache-2.0
%% With one scheduler: somebody who puts persistent terms, or calls natives that take long, without end keeps nobody from running, and what
%% is large is collected, and ends, while others run. So do they while a deep recursion returns.
%% expect: {putter,ticks,50}
%% expect: {putter,spawned,1000}
%% expect: {hasher,ticks,50}
%% expect: {comparer,ticks,50}
%% expect: {sender,ticks,50}
%% expect: {collected,300000,true}
%% expect: {ended,done}
%% expect: {links,20000}
%% expect: {returned,2000000,true}
-module(proc_starved).
-export([main/0]).

main() ->
    erlang:system_flag(schedulers_online, 1),
    List = lists:seq(1, 10000),
    beside(putter, fun() -> persistent_term:put(?MODULE, [erlang:unique_integer() | List]) end),
    spawned(fun() -> persistent_term:put(?MODULE, [erlang:unique_integer() | List]) end),
    beside(hasher, fun() -> erlang:phash2([erlang:unique_integer() | List]) end),
    Same = lists:seq(1, 10000),
    beside(comparer, fun() -> true = List =:= Same end),
    Sink = spawn(fun Sink() -> receive _ -> Sink() end end),
    beside(sender, fun() -> Sink ! List end),
    exit(Sink, kill),
    collected(),
    ended(),
    linked(),
    returned().

%% So many timers run out while Fun is called again and again.
beside(Name, Fun) ->
    {P, R} = start(Fun),
    [receive after 1 -> ok end || _ <- lists:seq(1, 50)],
    stop(P, R),
    io:format("~p~n", [{Name, ticks, 50}]).

%% So do processes.
spawned(Fun) ->
    {P, R} = start(Fun),
    Self = self(),
    Pids = [spawn(fun() -> Self ! self() end) || _ <- lists:seq(1, 1000)],
    [receive Pid -> ok end || Pid <- Pids],
    stop(P, R),
    io:format("~p~n", [{putter, spawned, length(Pids)}]).

start(Fun) ->
    Self = self(),
    Started = spawn_monitor(fun() -> Self ! {self(), runs}, forever(Fun) end),
    receive {_, runs} -> Started end.

forever(Fun) ->
    Fun(),
    forever(Fun).

stop(P, R) ->
    exit(P, kill),
    receive {'DOWN', R, process, P, killed} -> ok end.

%% A large heap, collected while it grows, when its owner asks and when another does; its terms are as they were.
collected() ->
    Self = self(),
    P = spawn_link(fun() ->
                           L = grow(300000, []),
                           garbage_collect(),
                           Self ! ready,
                           receive go -> ok end,
                           Self ! {length(L), lists:sum([A + B || {A, B} <- L]) =:= 300000 * 300001}
                   end),
    receive ready -> ok end,
    [true = garbage_collect(P) || _ <- lists:seq(1, 3)],
    P ! go,
    receive {N, Right} -> io:format("~p~n", [{collected, N, Right}]) end.

grow(0, L) -> L;
grow(N, L) -> grow(N - 1, [{N, N} | L]).

%% The end of a process with much of everything.
ended() ->
    {P, R} = spawn_monitor(fun() ->
                                   put(all, grow(300000, [])),
                                   [self() ! N || N <- lists:seq(1, 20000)],
                                   receive go -> exit(done) end
                           end),
    P ! go,
    receive {'DOWN', R, process, P, Why} -> io:format("~p~n", [{ended, Why}]) end.

linked() ->
    Self = self(),
    P = spawn(fun() ->
                      [spawn_link(fun() -> process_flag(trap_exit, true), Self ! here, receive {'EXIT', _, bye} -> Self ! gone end end)
                       || _ <- lists:seq(1, 20000)],
                      receive go -> exit(bye) end
              end),
    [receive here -> ok end || _ <- lists:seq(1, 20000)],
    P ! go,
    [receive gone -> ok end || _ <- lists:seq(1, 20000)],
    io:format("~p~n", [{links, 20000}]).

%% On its way back a recursion calls nobody, and needs no memory.
returned() ->
    Turns = counters:new(1, []),
    {P, R} = start(fun() -> counters:add(Turns, 1, 1), erlang:yield() end),
    Depth = descend(2000000, Turns),
    Since = counters:get(Turns, 1) - get(bottom),
    stop(P, R),
    io:format("~p~n", [{returned, Depth, Since > 20}]).

descend(0, Turns) ->
    put(bottom, counters:get(Turns, 1)),
    0;
descend(N, Turns) ->
    1 + descend(N - 1, Turns).
