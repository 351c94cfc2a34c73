%% SPDX-License-Identifier: Apache-2.0
%% Everything at once: patterns and flags come and go while many run, tracers die, code is replaced; nothing is lost of what they compute.
-module(trace_storm).
-export([main/0, fib/1, ring/1, work/1, tell/2]).
-define(OTHER, trace_storm_other).

main() ->
    load(1),
    Me = self(),
    Ws = [spawn_monitor(fun() -> work(N) end) || N <- lists:seq(1, 4)],
    storm(20, [W || {W, _} <- Ws]),
    [W ! stop || {W, _} <- Ws],
    p(lists:usort([receive {'DOWN', R, _, P, E} -> E end || {P, R} <- Ws])),
    erlang:trace(all, false, [all]), erlang:trace_pattern({'_', '_', '_'}, false, [local, meta, call_count, call_time]),
    erlang:trace_pattern({'_', '_', '_'}, false, []), erlang:trace_pattern(send, true, []),
    p([erlang:trace_info({?MODULE, fib, 1}, all), erlang:trace_info(Me, flags), erlang:trace_info(new, flags)]),
    flush(), p(fib(10)).

fib(N) when N < 2 -> N;
fib(N) -> fib(N - 1) + fib(N - 2).

ring(N) -> receive {go, 0, P} -> P ! {done, N}; {go, M, P} -> self() ! {go, M - 1, P}, ring(N) end.

tell(<<C, R/binary>>, A) -> tell(R, A + C);
tell(<<>>, A) -> A.

work(N) ->
    3 = fib(4), 6 = tell(<<1, 2, 3>>, 0),
    {P, R} = spawn_monitor(?MODULE, ring, [N]), P ! {go, 5, self()},
    receive {done, N} -> ok end, receive {'DOWN', R, _, P, normal} -> ok end,
    {'EXIT', {badarith, _}} = (catch apply(?MODULE, list_to_existing_atom("fib"), [a])),
    {error, b} = try lists:map(fun(X) -> throw({error, X}) end, [b]) catch throw:T -> T end,
    {ok, N} = ?OTHER:go(N),
    L = lists:reverse(lists:sort([{I, erlang:phash2(I)} || I <- [1, 2, 3]])), 3 = length(L),
    receive stop -> ok after 1 -> work(N) end.

storm(0, _) -> ok;
storm(N, Ws) ->
    Me = self(),
    T = spawn(fun() -> swallow(Me) end),
    Flags = lists:nth(1 + N rem 4, [[call, return_to, timestamp], [call, send, 'receive', procs, set_on_spawn], [all], [call, arity, running, garbage_collection]]),
    Spec = lists:nth(1 + N rem 3, [true, [{'_', [], [{exception_trace}, {message, {caller}}]}], [{['$1'], [{is_integer, '$1'}], [{return_trace}, {message, '$1'}]}]]),
    Kinds = lists:nth(1 + N rem 5, [[local], [], [local, call_count, call_time], [{meta, T}], [call_time]]),
    [catch erlang:trace(W, true, [{tracer, T} | Flags]) || W <- Ws],
    N rem 4 =:= 0 andalso (catch erlang:trace(new_processes, true, [{tracer, T} | Flags])),
    catch erlang:trace_pattern({?MODULE, '_', '_'}, case Kinds of [call_time] -> true; _ -> Spec end, Kinds),
    catch erlang:trace_pattern({?OTHER, '_', '_'}, Spec, lists:nth(1 + N rem 2, [[local], []])),
    catch erlang:trace_pattern(send, case N rem 2 of 0 -> [{['_', '$1'], [], [{message, '$1'}]}]; 1 -> true end, []),
    spread(N rem 3),
    case N rem 6 of 0 -> load(N); _ -> ok end,
    case N rem 3 of 0 -> exit(T, kill); _ -> ok end,
    erlang:trace_info({?MODULE, fib, 1}, all),
    erlang:trace(all, false, [all]),
    case N rem 2 of 0 -> erlang:trace_pattern({?MODULE, '_', '_'}, false, [local, meta, call_count, call_time]); 1 -> ok end,
    storm(N - 1, Ws).

spread(0) -> ok;
spread(N) -> fib(3), erlang:yield(), spread(N - 1).

swallow(Owner) ->
    receive _ -> swallow(Owner) after 500 -> ok end.

load(N) ->
    {ok, T, _} = erl_scan:string("go(X) when X =/= " ++ integer_to_list(-N) ++ " -> {ok, X}."), {ok, F} = erl_parse:parse_form(T),
    {ok, _, B} = compile:forms([{attribute, 1, module, ?OTHER}, {attribute, 1, export, [{go, 1}]}, F]),
    code:soft_purge(?OTHER) andalso code:load_binary(?OTHER, "none", B).

flush() -> receive _ -> flush() after 0 -> ok end.
p(T) -> io:format("~0p~n", [T]).

%% expect: [normal]
%% expect: [{all,false},{flags,[]},{flags,[]}]
%% expect: 55
