%% SPDX-License-Identifier: Apache-2.0
%% own lines: words of call_memory, and what of two sessions reaches one process.
-module(sessions27).
-export([main/0, work/1, inner/1, build/1, outer/1]).
%% Trace sessions of OTP 27: each on its own, counters and patterns too, and gone with whoever holds it.

main() ->
    both(),
    patterns(),
    messages(),
    counters(),
    specs(),
    natives(),
    ports(),
    refused(),
    held(),
    owners().

work(X) -> inner(X) + 1.
inner(X) -> X * 2.

collector() ->
    spawn(fun F() -> receive {take, From} -> From ! {self(), taken([])}, F() end end).

taken(Acc) -> receive M when element(1, M) =/= take -> taken([M | Acc]) after 0 -> lists:reverse(Acc) end.

take(T) ->
    R = trace:delivered(any, self()),
    receive {trace_delivered, _, R} -> ok end,
    T ! {take, self()},
    receive {T, L} -> [plain(M) || M <- L] end.

plain(M) when is_tuple(M) -> list_to_tuple([plain(E) || E <- tuple_to_list(M)]);
plain(P) when P =:= self() -> me;
plain(P) when is_pid(P) -> other;
plain(F) when is_function(F) -> a_fun;
plain(L) when is_list(L) -> [plain(E) || E <- L];
plain(T) -> T.

%% Flags and patterns of one are nothing to the other, nor to erlang:trace/3.
both() ->
    [T1, T2, T3] = [collector() || _ <- [1, 2, 3]],
    {_, W1} = S1 = trace:session_create(one, T1, []),
    S2 = trace:session_create(two, T2, []),
    1 = trace:process(S1, self(), true, [call]),
    1 = trace:process(S2, self(), true, [call, arity, return_to]),
    1 = erlang:trace(self(), true, [call, procs, {tracer, T3}]),
    1 = trace:function(S1, {?MODULE, work, 1}, true, []),
    1 = trace:function(S2, {?MODULE, inner, 1}, true, [local]),
    1 = erlang:trace_pattern({?MODULE, inner, 1}, [{'_', [], [{return_trace}]}], [local]),
    7 = ?MODULE:work(3),
    io:format("~w~n~w~n~w~n", [take(T1), take(T2), take(T3)]),
%% expect: [{trace,me,call,{sessions27,work,[3]}}]
%% expect: [{trace,me,call,{sessions27,inner,1}},{trace,me,return_to,{sessions27,work,1}}]
%% expect: [{trace,me,call,{sessions27,inner,[3]}},{trace,me,return_from,{sessions27,inner,1},6}]
    io:format("~w~n", [[trace:info(S, self(), flags) || S <- [S1, S2]] ++ [lists:sort(element(2, erlang:trace_info(self(), flags)))]]),
%% expect: [{flags,[call]},{flags,[return_to,arity,call]},[call,procs]]
    io:format("~w~n", [[length(trace:session_info(self())), length(trace:session_info({?MODULE, inner, 1})), trace:session_info({?MODULE, work, 1}) =:= [W1],
        trace:session_info({?MODULE, nobody, 7}), lists:member({legacy, default}, trace:session_info(all))]]),
%% expect: [3,2,true,undefined,true]
    true = trace:session_destroy(S1),
    false = trace:session_destroy(S1),
    7 = ?MODULE:work(3),
    io:format("~w~n", [[take(T1), length(take(T2)), length(take(T3))]]),
%% expect: [[],2,2]
    1 = erlang:trace(self(), false, [all]),
    erlang:trace_pattern({?MODULE, '_', '_'}, false, [local]),
    7 = ?MODULE:work(3),
    io:format("~w~n", [[length(take(T2)), take(T3), trace:session_info(self()) =:= [element(2, S2)]]]),
%% expect: [2,[],true]
    true = trace:session_destroy(S2).

%% Global and local calls, code to come, births.
patterns() ->
    [T1, T2] = [collector() || _ <- [1, 2]],
    S1 = trace:session_create(global, T1, []),
    S2 = trace:session_create(local, T2, []),
    [1 = trace:process(S, self(), true, [call, arity]) || S <- [S1, S2]],
    1 = trace:function(S1, {?MODULE, inner, 1}, true, [global]),
    1 = trace:function(S2, {?MODULE, inner, 1}, true, [local]),
    2 = ?MODULE:inner(1),
    3 = work(1),
    io:format("~w~n", [[length(take(T1)), length(take(T2))]]),
%% expect: [1,2]
    io:format("~w~n", [[trace:info(S, {?MODULE, inner, 1}, traced) || S <- [S1, S2]]]),
%% expect: [{traced,global},{traced,local}]
    Code = compile_born(),
    0 = trace:function(S1, on_load, true, [local]),
    {module, _} = code:load_binary(sessions27_born, "born", Code),
    sessions27_born:run(),
    io:format("~w~n", [[take(T1), take(T2), trace:info(S2, on_load, all)]]),
%% expect: [[{trace,me,call,{sessions27_born,run,0}}],[],{all,false}]
    0 = trace:process(S1, new, true, [procs]),
    0 = trace:process(S2, new, true, [send]),
    {P, M} = spawn_monitor(fun() -> self() ! x, ok end),
    receive {'DOWN', M, _, P, _} -> ok end,
    io:format("~w~n", [[[element(3, E) || E <- take(T1)], trace:info(S1, new, flags), trace:info(S2, new_processes, flags), erlang:trace_info(new, flags)]]),
%% expect: [[spawned,exit],{flags,[procs]},{flags,[send]},{flags,[]}]
    [true = trace:session_destroy(S) || S <- [S1, S2]].

compile_born() ->
    {ok, _, Code} = compile:forms([{attribute, 1, module, sessions27_born}, {attribute, 1, export, [{run, 0}]},
        {function, 1, run, 0, [{clause, 1, [], [], [{atom, 1, ok}]}]}]),
    Code.

messages() ->
    [T1, T2] = [collector() || _ <- [1, 2]],
    S1 = trace:session_create(sends, T1, []),
    S2 = trace:session_create(receives, T2, []),
    [1 = trace:process(S, self(), true, [send, 'receive']) || S <- [S1, S2]],
    1 = trace:send(S1, [{['_', wanted], [], []}], []),
    1 = trace:recv(S1, false, []),
    1 = trace:send(S2, false, []),
    1 = trace:recv(S2, [{['_', '_', wanted], [], [{message, seen}]}], []),
    [self() ! M || M <- [wanted, unwanted]],
    receive wanted -> ok end,
    receive unwanted -> ok end,
    [trace:process(S, self(), false, [all]) || S <- [S1, S2]],
    io:format("~w ~w~n", [take(T1), take(T2)]),
%% expect: [{trace,me,send,wanted,me}] [{trace,me,'receive',wanted,seen}]
    io:format("~w~n", [[trace:info(S, E, match_spec) || S <- [S1, S2], E <- [send, 'receive']]]),
%% expect: [{match_spec,[{['_',wanted],[],[]}]},{match_spec,false},{match_spec,false},{match_spec,[{['_','_',wanted],[],[{message,seen}]}]}]
    io:format("~w~n", [erlang:trace_info(send, match_spec)]),
%% expect: {match_spec,true}
    [true = trace:session_destroy(S) || S <- [S1, S2]].

build(N) -> lists:seq(1, N).
outer([_ | _]) -> ok;
outer(N) -> L = build(N), [x | L].

%% Counts, times and memory of each session; those of one are paused or begun again without the other.
counters() ->
    [S1, S2] = Ss = [trace:session_create(N, collector(), []) || N <- [c1, c2]],
    [1 = trace:process(S, self(), true, [call]) || S <- Ss],
    F = {?MODULE, build, 1},
    1 = trace:function(S1, F, true, [call_count, call_memory]),
    1 = trace:function(S2, F, true, [call_count, call_time]),
    1 = trace:function(S2, {?MODULE, outer, 1}, true, [call_memory]),
    outer(100),
    1 = trace:function(S1, F, pause, [call_count]),
    outer(100),
    {call_memory, [{P, 2, Words}]} = trace:info(S1, F, call_memory),
    {call_memory, [{P, 2, Outer}]} = trace:info(S2, {?MODULE, outer, 1}, call_memory),
    {call_time, [{P, 2, _, _}]} = trace:info(S2, F, call_time),
    io:format("~w~n", [[P =:= self(), Words, Outer, trace:info(S1, F, call_count), trace:info(S2, F, call_count), trace:info(S1, F, call_time),
        erlang:trace_info(F, call_count)]]),
%% expect: [true,400,404,{call_count,1},{call_count,2},{call_time,false},{call_count,false}]
    1 = trace:function(S2, F, restart, [call_count, call_time]),
    outer(1),
    io:format("~w~n", [[trace:info(S1, F, call_count), trace:info(S2, F, call_count), [element(2, X) || X <- element(2, trace:info(S2, F, call_time))]]]),
%% expect: [{call_count,1},{call_count,1},[1]]
    %% what a collection moves is counted once
    1 = trace:function(S1, F, restart, [call_memory]),
    [begin outer(1000), erlang:garbage_collect() end || _ <- lists:seq(1, 20)],
    {call_memory, [{_, 20, Moved}]} = trace:info(S1, F, call_memory),
    io:format("~w~n", [Moved]),
%% expect: 40000
    %% what a process is given counts to the function that it begins with
    1 = trace:process(S1, self(), true, [set_on_first_spawn]),
    {Born, Mon} = spawn_monitor(?MODULE, build, [7 + length(lists:seq(1, 3))]),
    receive {'DOWN', Mon, _, _, _} -> ok end,
    1 = trace:function(S1, {?MODULE, outer, 1}, true, [call_memory]),
    1 = trace:process(S1, self(), true, [set_on_first_spawn]),
    {Given, Mon2} = spawn_monitor(?MODULE, outer, [lists:seq(1, 10)]),
    receive {'DOWN', Mon2, _, _, _} -> ok end,
    io:format("~w~n", [[lists:keyfind(Born, 1, element(2, trace:info(S1, F, call_memory))) =:= {Born, 1, 22},
        lists:keyfind(Given, 1, element(2, trace:info(S1, {?MODULE, outer, 1}, call_memory))) =:= {Given, 1, 22}]]),
%% expect: [true,true]
    {all, All} = trace:info(S1, F, all),
    io:format("~w~n", [[K || {K, _} <- All]]),
%% expect: [traced,match_spec,meta,meta_match_spec,call_memory,call_time,call_count]
    [true = trace:session_destroy(S) || S <- Ss],
    io:format("~w~n", [catch element(1, element(2, catch trace:info(S1, F, call_count)))]).
%% expect: badarg

%% What match specifications change is their session's, but the control word, which is that of all.
specs() ->
    T = collector(),
    S = trace:session_create(spec, T, []),
    1 = trace:function(S, {?MODULE, inner, 1}, [{'_', [], [{set_tcw, 7}, {enable_trace, send}, {message, {get_tcw}}]}], [meta]),
    2 = inner(1),
    io:format("~w~n", [[[setelement(6, M, x) || M <- take(T), element(3, M) =:= call], trace:info(S, self(), flags),
        erlang:system_info(trace_control_word), erlang:trace_info(self(), flags)]]),
%% expect: [[{trace_ts,me,call,{sessions27,inner,[1]},7,x}],{flags,[send]},7,{flags,[]}]
    7 = erlang:system_flag(trace_control_word, 0),
    true = trace:session_destroy(S).

%% A native has one point for all.
natives() ->
    [T1, T2] = [collector() || _ <- [1, 2]],
    Ss = [S1, S2] = [trace:session_create(n, T, []) || T <- [T1, T2]],
    [1 = trace:process(S, self(), true, [call]) || S <- Ss],
    1 = trace:function(S1, {erlang, phash2, 1}, true, [global]),
    1 = trace:function(S2, {erlang, phash2, 1}, [{'_', [], [{exception_trace}]}], [local]),
    _ = erlang:phash2(a),
    1 = trace:function(S1, {erlang, phash2, 1}, false, [global]),
    _ = erlang:phash2(b),
    io:format("~w ~w~n", [[element(3, M) || M <- take(T1)], [element(3, M) || M <- take(T2)]]),
%% expect: [call] [call,return_from,call,return_from]
    [true = trace:session_destroy(S) || S <- Ss].

ports() ->
    [T1, T2] = [collector() || _ <- [1, 2]],
    Ss = [S1, S2] = [trace:session_create(p, T, []) || T <- [T1, T2]],
    0 = trace:port(S1, new, true, [ports]),
    Port = open_port({spawn, "cat"}, []),
    1 = trace:port(S2, Port, true, ['receive', send]),
    1 = trace:send(S2, false, []), %% what it sends is not told
    Port ! {self(), {command, "x"}},
    receive {Port, {data, "x"}} -> ok end,
    true = port_close(Port),
    [R1, R2] = [begin R = trace:delivered(S, all), receive {trace_delivered, all, R} -> ok end, T ! {take, self()}, receive {T, L} -> L end end
        || {S, T} <- [{S1, T1}, {S2, T2}]],
    io:format("~w ~w~n", [lists:usort([element(3, M) || M <- R1]), lists:usort([element(3, M) || M <- R2])]),
%% expect: [closed,getting_linked,open] ['receive']
    [true = trace:session_destroy(S) || S <- Ss].

refused() ->
    {Strong, {Name, Id}} = S = trace:session_create(bad, self(), []),
    Tries = [fun() -> trace:process(X, self(), true, [call]) end || X <- [bad, {Name, Id + 1}, {other, Id}, {Name, -1}, {Name, 1 bsl 58}, {make_ref(), {Name, Id}},
        {Strong, {Name, Id + 1}}, {legacy, default}, {Strong}, self()]] ++
        [fun() -> trace:process(S, self(), true, [call, {tracer, self()}]) end, fun() -> trace:function(S, {a, b, 1}, true, [{meta, self()}]) end,
         fun() -> trace:session_create("x", self(), []) end, fun() -> trace:session_create(x, nobody, []) end, fun() -> trace:session_create(x, self(), [y]) end,
         fun() -> trace:session_destroy({legacy, default}) end, fun() -> erts_internal:trace_info(any, self(), flags) end],
    io:format("~w~n", [lists:usort([try F() catch error:R -> R end || F <- Tries])]),
%% expect: [badarg]
    io:format("~w~n", [[try erts_trace_cleaner:F() catch error:R -> R end || F <- [check]]]),
%% expect: [notsup]
    true = trace:session_destroy({Name, Id}),
    false = trace:session_destroy(S).

%% A session is over when nobody has its reference any more: the weak one holds nothing.
held() ->
    T = collector(),
    Self = self(),
    {P, M} = spawn_monitor(fun() -> dropper(Self, T) end),
    Weak = receive {weak, W} -> W end,
    ?MODULE:work(1),
    io:format("~w~n", [[length(take(T)), lists:member(Weak, trace:session_info(all))]]),
%% expect: [1,true]
    P ! drop,
    receive {'DOWN', M, _, _, _} -> ok end,
    gone(Weak),
    ?MODULE:work(1),
    io:format("~w~n", [[take(T), trace:session_info(self()), trace:session_info({?MODULE, work, 1})]]).
%% expect: [[],[],[]]

dropper(To, T) ->
    {_, Weak} = S = trace:session_create(held, T, []),
    1 = trace:process(S, To, true, [call]),
    1 = trace:function(S, {?MODULE, work, 1}, true, []),
    put(session, S),
    To ! {weak, Weak},
    receive drop -> erase(session), erlang:garbage_collect() end.

gone(Weak) ->
    case lists:member(Weak, trace:session_info(all)) of
        true -> timer:sleep(1), gone(Weak);
        false -> ok
    end.

%% Owners that are killed at any step leave nothing behind, in processes, functions or elsewhere.
owners() ->
    T = collector(),
    Live = [spawn(fun L() -> receive {stop, F} -> F ! stopped; _ -> work(1), L() end end) || _ <- lists:seq(1, 20)],
    [begin
         {P, M} = spawn_monitor(fun() -> own(T, Live) end),
         [erlang:yield() || _ <- lists:seq(1, I * 3)],
         exit(P, kill),
         receive {'DOWN', M, _, _, _} -> ok end
     end || I <- lists:seq(1, 60)],
    wait_none(),
    [begin P ! {stop, self()}, receive stopped -> ok end end || P <- Live],
    io:format("~w~n", [[trace:session_info({?MODULE, F, 1}) || F <- [work, inner]]]),
%% expect: [[],[]]
    ok.

own(T, Live) ->
    S = trace:session_create(own, T, []),
    0 = trace:process(S, new, true, [procs]),
    [trace:process(S, P, true, [call, send, set_on_spawn, set_on_link]) || P <- Live],
    trace:function(S, {?MODULE, '_', '_'}, true, [local, call_count, call_time, call_memory]),
    [P ! x || P <- Live],
    trace:process(S, all, true, ['receive', return_to]),
    [P ! x || P <- Live],
    trace:function(S, {?MODULE, '_', '_'}, false, [local]),
    trace:session_destroy(S),
    own(T, Live).

wait_none() ->
    case trace:session_info(all) of
        [{legacy, default}] -> ok;
        _ -> timer:sleep(1), wait_none()
    end.
