%% SPDX-License-Identifier: Apache-2.0
%% Flags of single processes come and go while all run, spawn, end and load code: from the moment when a change has
%% returned everything is traced, or nothing, on whichever thread; and a change of one that ends answers.
-module(trace_rounds).
-export([main/0, go/1, step/1]).
-define(OTHER, trace_rounds_other).
-define(TIMES, 40).

main() ->
    p({alone, change_beside([])}),
    p({beside, change_beside([fun busy/1, fun births/1, fun toggles/1, fun loads/1])}),
    p({births, [born(N) || N <- lists:seq(1, ?TIMES)] =:= [ok || _ <- lists:seq(1, ?TIMES)]}),
    p({ends, lists:usort([ending(N) || N <- lists:seq(1, 5 * ?TIMES)])}),
    erlang:trace(all, false, [all]),
    Flags = [F || P <- processes(), {flags, F} <- [erlang:trace_info(P, flags)], F =/= []],
    p({left, erlang:trace_info(new_processes, flags), Flags}).

change_beside(Others) ->
    Beside = [spawn_monitor(fun() -> Do(0) end) || Do <- Others],
    Changers = [spawn_monitor(fun() -> exit(changes(N, ?TIMES)) end) || N <- lists:seq(1, 3)],
    Ends = lists:usort([receive {'DOWN', R, _, P, E} -> E end || {P, R} <- Changers]),
    [begin exit(P, kill), receive {'DOWN', R, _, P, E} -> killed = E end end || {P, R} <- Beside],
    erlang:trace_pattern({?MODULE, step, 1}, false, [local]),
    Ends.

%% One that changes the flags of its own.
changes(_, 0) -> ok;
changes(Me, N) ->
    T = spawn(fun() -> go(Me) end),
    1 = erlang:trace(T, true, [send]),
    {flags, [send]} = erlang:trace_info(T, flags),
    {tracer, Self} = erlang:trace_info(T, tracer), Self = self(),
    yes = stepped(T, N),
    1 = erlang:trace(T, false, [send]),
    {flags, []} = erlang:trace_info(T, flags),
    no = stepped(T, -N),
    N rem 2 =:= 0 andalso begin 1 = erlang:trace(T, true, [send, running, procs]), yes = stepped(T, N) end,
    exit(T, kill),
    changes(Me, N - 1).

%% Does what T is told to do show?
stepped(T, N) ->
    T ! {go, N, self()},
    receive {stepped, N} -> ok end,
    Ref = erlang:trace_delivered(T),
    receive {trace_delivered, T, Ref} -> ok end,
    receive {trace, T, send, {stepped, N}, _} -> yes after 0 -> no end.

%% Every other one is always busy.
go(N) when N rem 2 =:= 0 -> receive {go, M, From} -> From ! {stepped, step(M)}, go(N) end;
go(N) -> receive {go, M, From} -> From ! {stepped, step(M)}, go(N) after 0 -> busy_for(300), go(N) end.

step(N) -> N.
busy_for(0) -> ok;
busy_for(N) -> busy_for(N - 1).

busy(N) -> busy_for(N), busy((N + 1) rem 5000).
births(_) -> {P, R} = spawn_monitor(fun() -> step(1) end), receive {'DOWN', R, _, P, normal} -> births(0) end.
toggles(N) ->
    erlang:trace_pattern({?MODULE, step, 1}, N rem 2 =:= 0, [local]),
    erlang:trace_info({?MODULE, step, 1}, all), erlang:trace_info(self(), flags),
    toggles(N + 1).
loads(N) ->
    {ok, T, _} = erl_scan:string("one() -> " ++ integer_to_list(N) ++ "."), {ok, F} = erl_parse:parse_form(T),
    {ok, _, B} = compile:forms([{attribute, 1, module, ?OTHER}, {attribute, 1, export, [{one, 0}]}, F]),
    code:purge(?OTHER), {module, ?OTHER} = code:load_binary(?OTHER, "none", B), N = ?OTHER:one(),
    loads(N + 1).

%% A busy process that spawns when it is told to: its child is traced from birth.
born(N) ->
    Me = self(),
    S = spawn(fun() -> spawner(N) end),
    0 = erlang:trace(new_processes, true, [procs]),
    S ! {spawn, Me},
    C = receive {child, P} -> P end,
    {flags, [procs]} = erlang:trace_info(C, flags),
    0 = erlang:trace(new_processes, false, [procs]),
    S ! {spawn, Me},
    D = receive {child, Q} -> Q end,
    {flags, []} = erlang:trace_info(D, flags),
    receive {trace, C, spawned, S, _} -> ok after 1000 -> error end,
    [exit(X, kill) || X <- [S, C, D]],
    ok.

spawner(N) ->
    receive {spawn, From} -> From ! {child, spawn(fun() -> receive never -> ok end end)} after 0 -> busy_for(N * 7) end,
    spawner(N).

%% One that ends meanwhile was there or not.
ending(N) ->
    P = spawn(fun() -> busy_for(N * 3) end),
    N rem 5 =:= 0 andalso erlang:yield(),
    try erlang:trace(P, true, [call]) of 1 -> ok catch error:badarg -> ok end,
    case erlang:trace_info(P, flags) of {flags, [call]} -> ok; {flags, []} -> ok; undefined -> ok end.

p(T) -> io:format("~0p~n", [T]).

%% expect: {alone,[ok]}
%% expect: {beside,[ok]}
%% expect: {births,true}
%% expect: {ends,[ok]}
%% expect: {left,{flags,[]},[]}
