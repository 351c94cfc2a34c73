%% SPDX-License-Identifier: Apache-2.0
%% Everything at once for two seconds: spawning, links, monitors, kills, names, timers, tables, code, suspension.
%% expect: {workers,[normal]}
%% expect: {left,true}
-module(hostile_crowd).
-export([main/0, nap/0, f/1]).

main() ->
    logger:set_primary_config(level, none),
    ets:new(crowd_set, [public, named_table, {write_concurrency, true}]),
    ets:new(crowd_tree, [public, named_table, ordered_set]),
    Before = processes(),
    End = erlang:monotonic_time(millisecond) + 2000,
    {?MODULE, Code, File} = code:get_object_code(?MODULE),
    Workers = [spawn_monitor(fun() -> rand:seed(exsss, {N, 2, 3}), process_flag(trap_exit, true), work(End, []) end) || N <- lists:seq(1, 8)]
        ++ [spawn_monitor(fun() -> tables(End) end), spawn_monitor(fun() -> load(End, Code, File) end)],
    Ends = [receive {'DOWN', R, process, P, Why} -> Why end || {P, R} <- Workers],
    io:format("~p~n", [{workers, lists:usort(Ends)}]),
    io:format("~p~n", [{left, settles(Before)}]).

%% Those that hibernate wait for a message.
settles(Before) ->
    case [P ! wake || P <- processes() -- Before] of
        [] -> true;
        _ -> timer:sleep(100), settles(Before)
    end.

is_over(End) -> erlang:monotonic_time(millisecond) > End.

work(End, Ps) ->
    flush(),
    case is_over(End) of
        true -> [exit(P, kill) || P <- Ps];
        false -> work(End, thin(step(rand:uniform(10), Ps)))
    end.

thin(Ps) when length(Ps) > 40 ->
    {Old, New} = lists:split(20, Ps),
    [exit(P, kill) || P <- Old],
    New;
thin(Ps) -> Ps.

flush() -> receive _ -> flush() after 0 -> ok end.

pick([]) -> spawn(fun child/0);
pick(Ps) -> lists:nth(rand:uniform(length(Ps)), Ps).

name() -> element(rand:uniform(3), {crowd_a, crowd_b, crowd_c}).

step(1, Ps) -> [spawn(fun child/0) || _ <- lists:seq(1, 10)] ++ Ps;
step(2, Ps) -> [spawn_link(fun child/0) || _ <- lists:seq(1, 5)] ++ Ps;
step(3, Ps) -> [pick(Ps) ! {data, binary:copy(<<N>>, 200), lists:seq(1, N)} || N <- lists:seq(1, 20)], Ps;
step(4, Ps) -> P = pick(Ps), R = monitor(process, P), P ! {die, rand:uniform(3)}, demonitor(R, [flush]), Ps;
step(5, Ps) -> catch register(name(), pick(Ps)), catch name() ! hello, catch unregister(name()), Ps;
step(6, Ps) ->
    Timers = [erlang:send_after(rand:uniform(20), pick(Ps), {tick, N}) || N <- lists:seq(1, 20)],
    [erlang:cancel_timer(T) || T <- Timers, rand:uniform(2) =:= 1],
    Ps;
step(7, Ps) ->
    [ets:insert(crowd_set, {rand:uniform(300), lists:seq(1, N), <<0:1000>>}) || N <- lists:seq(1, 20)],
    ets:insert(crowd_tree, {rand:uniform(300), self()}),
    ets:delete(crowd_tree, rand:uniform(300)),
    ets:select(crowd_set, [{{'$1', '_', '_'}, [{'<', '$1', 20}], ['$1']}]),
    Ps;
step(8, Ps) -> process_info(pick(Ps)), garbage_collect(pick(Ps)), catch link(pick(Ps)), Ps;
step(9, Ps) ->
    P = pick(Ps),
    case catch erlang:suspend_process(P) of
        true -> catch erlang:resume_process(P);
        _ -> ok
    end,
    Ps;
step(10, Ps) ->
    T = ets:new(crowd_gift, [public]),
    ets:insert(T, [{N, N} || N <- lists:seq(1, 50)]),
    C = spawn(fun child/0),
    ets:give_away(T, C, gift),
    A = alias([reply]),
    pick(Ps) ! {call, A},
    unalias(A),
    persistent_term:put({?MODULE, rand:uniform(3)}, rand:uniform(5)),
    [C | Ps].

child() ->
    receive
        {die, 1} -> exit(normal);
        {die, 2} -> exit(crowd);
        {die, 3} -> exit(kill);
        {call, A} -> A ! reply, child();
        {data, _, _} = D -> put(last, D), child();
        _ -> child()
    after 50 ->
        case rand:uniform(3) of
            1 -> erlang:hibernate(?MODULE, nap, []);
            2 -> erlang:yield(), child();
            3 -> exit(idle)
        end
    end.

nap() -> receive _ -> ok after 20 -> ok end.

tables(End) ->
    case is_over(End) of
        true -> ok;
        false ->
            T = ets:new(crowd_short, [public]),
            [spawn(fun() -> catch [ets:insert(T, {N, M}) || N <- lists:seq(1, 100)] end) || M <- lists:seq(1, 10)],
            erlang:yield(),
            ets:delete(T),
            ets:delete_all_objects(crowd_set),
            tables(End)
    end.

f(X) -> {X, "of its time"}.

load(End, Code, File) ->
    case is_over(End) of
        true -> ok;
        false ->
            [spawn(fun() -> catch ?MODULE:f(N) end) || N <- lists:seq(1, 10)],
            code:soft_purge(?MODULE) andalso code:load_binary(?MODULE, File, Code),
            load(End, Code, File)
    end.
