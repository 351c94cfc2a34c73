%% SPDX-License-Identifier: Apache-2.0
%% own lines: OTP 27.3.4 crashes on it, by signals 6 and 11.
-module(sessions27_storm).
-export([main/0, step/1, deeper/1]).
%% Sessions are made, used and ended, by all that may end them, while processes run, are born and die: nothing is left behind.

main() ->
    Workers = [spawn(fun() -> process_flag(trap_exit, true), work(0) end) || _ <- lists:seq(1, 4)],
    Makers = [spawn_monitor(fun() -> make(Kind, 3, Workers) end) || Kind <- [destroyed, dropped, ended, tracer_dies, port, legacy]],
    Killed = spawn(fun() -> kill(6, Workers) end),
    M = monitor(process, Killed),
    [receive {'DOWN', R, _, _, Why} -> normal = Why end || R <- [M | [R || {_, R} <- Makers]]],
    none_is_left(),
    [exit(W, kill) || W <- Workers],
    io:format("~w~n", [[trace:session_info(X) || X <- [{?MODULE, step, 1}, {?MODULE, deeper, 1}, new, new_ports, on_load, self()]]]).

%% expect: [[],[],[],[],[],[]]

work(N) ->
    step(N),
    {P, M} = spawn_monitor(fun() -> receive _ -> ok after 1 -> catch deeper(N) end end),
    P ! {self(), N},
    link(P), %% it may be dead: then that is a message
    unlink(P),
    receive {'DOWN', M, _, _, _} -> ok end,
    N rem 50 =:= 0 andalso (catch port_close(open_port({spawn, "true"}, []))),
    flush(),
    work(N + 1).

flush() -> receive _ -> flush() after 0 -> ok end.

step(N) -> [catch deeper(N), x].
deeper(N) when N rem 3 =:= 0 -> error(three);
deeper(N) -> lists:duplicate(5, N).

tracer() -> spawn(fun L() -> receive die -> ok; _ -> L() end end).

use(S, Workers) ->
    trace:process(S, new, true, [procs, call]),
    trace:port(S, new, true, [ports]),
    [trace:process(S, W, true, [call, send, 'receive', procs, return_to, set_on_spawn, garbage_collection, running]) || W <- Workers],
    trace:function(S, {?MODULE, '_', '_'}, [{'_', [], [{exception_trace}]}], [local, call_count, call_time, call_memory]),
    trace:function(S, {lists, duplicate, 2}, true, [global]),
    trace:function(S, on_load, true, [local]),
    trace:send(S, [{['_', {'_', '$1'}], [{is_integer, '$1'}], []}], []),
    erlang:yield(),
    trace:info(S, {?MODULE, step, 1}, all),
    [trace:info(S, W, flags) || W <- Workers],
    trace:session_info(hd(Workers)),
    trace:process(S, all, true, [procs]). %% not what tracers receive: sessions would tell each other without end

make(_, 0, _) -> ok;
make(legacy, N, Workers) ->
    T = tracer(),
    [erlang:trace(W, true, [call, procs, set_on_spawn, {tracer, T}]) || W <- Workers],
    erlang:trace_pattern({?MODULE, '_', '_'}, true, [local]),
    erlang:yield(),
    erlang:trace_pattern({?MODULE, '_', '_'}, false, [local]),
    erlang:trace(all, false, [all]),
    T ! die,
    make(legacy, N - 1, Workers);
make(Kind, N, Workers) ->
    T = tracer(),
    run(Kind, T, Workers),
    T ! die,
    make(Kind, N - 1, Workers).

run(destroyed, T, Workers) ->
    S = trace:session_create(destroyed, T, []),
    use(S, Workers),
    true = trace:session_destroy(S);
run(dropped, T, Workers) ->
    use(trace:session_create(dropped, T, []), Workers),
    erlang:garbage_collect();
run(ended, T, Workers) ->
    {_, M} = spawn_monitor(fun() -> use(trace:session_create(ended, T, []), Workers) end),
    receive {'DOWN', M, _, _, _} -> ok end;
run(tracer_dies, T, Workers) ->
    S = trace:session_create(tracer_dies, T, []),
    T ! die,
    use(S, Workers),
    trace:session_destroy(S);
run(port, _, Workers) ->
    Port = open_port({spawn, "cat > /dev/null"}, []),
    S = trace:session_create(port, Port, []),
    [trace:process(S, W, true, [procs, set_on_link]) || W <- Workers],
    (catch port_close(Port)),
    trace:session_destroy(S).

kill(0, _) -> ok;
kill(N, Workers) ->
    {P, M} = spawn_monitor(fun() -> make(destroyed, 1000, Workers) end),
    [erlang:yield() || _ <- lists:seq(1, N)],
    exit(P, kill),
    receive {'DOWN', M, _, _, _} -> kill(N - 1, Workers) end.

none_is_left() ->
    case trace:session_info(all) of
        [{legacy, default}] -> ok;
        _ -> timer:sleep(1), none_is_left()
    end.
