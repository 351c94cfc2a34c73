%% SPDX-License-Identifier: Apache-2.0
%% Work of an unmodified erl that is watched: bench/stock.sh, tests/stock/soak.py.
%%   stock:serve()   prints its process id; for each line "KIND N" does N of that and prints "WALL CPU", nanoseconds each;
%%                   KIND: call, send, ring; work_call: of a server that does some work (work/2); busy_ring:
%%                   with 1 us of work a hop; traced_ring, port_traced_ring: under erlang:trace/3 to a process, to a
%%                   port; session_traced_ring: under a trace session (OTP 27)
%%   stock:load()    prints its process id, then twice a second how many answers were right; ends at one that is not
-module(stock).
-behaviour(gen_server).
-export([serve/0, load/0]).
-export([init/1, handle_call/3, handle_cast/2]).
-export([hop/2, swallow/0, answer/1]).

serve() ->
    say_pid(),
    {ok, Server} = gen_server:start(?MODULE, [], []),
    serve(Server).

serve(Server) ->
    case io:get_line("") of
        eof ->
            halt(0);
        Line ->
            [Kind, N] = string:lexemes(string:trim(Line), " "),
            {Wall, Cpu} = measure(Kind, list_to_integer(N), Server),
            io:format("~w ~w~n", [Wall, Cpu]),
            serve(Server)
    end.

measure("traced_" ++ Kind, N, Server) ->
    Tracer = spawn(?MODULE, swallow, []),
    erlang:trace(all, true, [{tracer, Tracer}, send, running]),
    Spent = measure(Kind, N, Server),
    erlang:trace(all, false, [all]),
    exit(Tracer, kill),
    Spent;
measure("port_traced_" ++ Kind, N, Server) ->
    File = "/tmp/erlsnoop-bench-" ++ os:getpid(),
    Port = (dbg:trace_port(file, File))(),
    erlang:trace(all, true, [{tracer, Port}, send, running]),
    Spent = measure(Kind, N, Server),
    erlang:trace(all, false, [all]),
    port_close(Port),
    ok = file:delete(File),
    Spent;
measure("session_traced_" ++ Kind, N, Server) ->
    Tracer = spawn(?MODULE, swallow, []),
    Session = trace:session_create(bench, Tracer, []),
    trace:process(Session, all, true, [send, running]),
    Spent = measure(Kind, N, Server),
    trace:session_destroy(Session),
    exit(Tracer, kill),
    Spent;
measure(Kind, N, Server) ->
    Cpu = cpu_time(), T = erlang:monotonic_time(nanosecond),
    work(Kind, N, Server),
    {(erlang:monotonic_time(nanosecond) - T) div N, (cpu_time() - Cpu) div N}.

%% Of all threads: what others take of the machine is not in it.
cpu_time() ->
    lists:sum([spent(File) || File <- filelib:wildcard("/proc/self/task/*/schedstat")]).

spent(File) ->
    {ok, Text} = prim_file:read_file(File),
    binary_to_integer(hd(binary:split(Text, <<" ">>))).

say_pid() -> io:format("~s~n", [os:getpid()]).

%% N calls of a server that does next to nothing.
work("call", N, Server) ->
    call(Server, N);
%% N calls of a server that keeps sessions: see work/2.
work("work_call", N, Server) ->
    work_call(Server, N);
%% N messages to a process that does not run: nothing but sending.
work("send", N, _) ->
    Sink = spawn(?MODULE, swallow, []),
    erlang:suspend_process(Sink),
    flood(Sink, N),
    exit(Sink, kill);
%% N messages through a ring of 100 processes: each makes its receiver run.
work("ring", N, _) ->
    ring_of(0, N);
work("busy_ring", N, _) ->
    ring_of(steps_in_a_microsecond(), N).

ring_of(Steps, N) ->
    First = lists:foldl(fun(_, Next) -> spawn(?MODULE, hop, [Next, Steps]) end, self(), lists:seq(1, 99)),
    ring(First, N div 100),
    First ! stop,
    receive stop -> ok end.

%% Others take of the machine too: the fastest of some short loops tells.
steps_in_a_microsecond() ->
    max(1, 20000000 div lists:min([time_of_steps(20000) || _ <- lists:seq(1, 50)])).

time_of_steps(N) ->
    T = erlang:monotonic_time(nanosecond),
    step(N),
    erlang:monotonic_time(nanosecond) - T.

step(0) -> ok;
step(N) -> step(N - 1).

call(_, 0) -> ok;
call(Server, N) ->
    N1 = N + 1,
    {answer, N1} = gen_server:call(Server, N, infinity),
    call(Server, N - 1).

work_call(_, 0) -> ok;
work_call(Server, N) ->
    {session, _, _} = gen_server:call(Server, {work, N rem 1000}, infinity),
    work_call(Server, N - 1).

flood(_, 0) -> ok;
flood(Sink, N) -> Sink ! token, flood(Sink, N - 1).

ring(_, 0) -> ok;
ring(First, N) -> First ! token, receive token -> ring(First, N - 1) end.

hop(Next, Steps) ->
    receive
        token -> step(Steps), Next ! token, hop(Next, Steps);
        stop -> Next ! stop
    end.

swallow() -> receive _ -> swallow() end.

init([]) ->
    Sessions = ets:new(sessions, []),
    [ets:insert(Sessions, {N, {user, N}, lists:seq(1, 8)}) || N <- lists:seq(0, 999)],
    {ok, {Sessions, #{}}}.
handle_call({work, N}, _, State) -> work(N, State);
handle_call(N, _, State) -> {reply, answer(N), State}.
handle_cast(_, State) -> {noreply, State}.

%% The work of a call, 5 to 20 us of it: twenty sessions are looked up and their values added, one is written, and how
%% often it was asked for is counted in a map of a thousand keys.
work(N, {Sessions, Asked}) ->
    Sum = lists:sum([value(Sessions, (N + K) rem 1000) || K <- lists:seq(1, 20)]),
    ets:update_element(Sessions, N, {2, {user, Sum}}),
    {reply, {session, N, Sum}, {Sessions, maps:update_with(N, fun(Times) -> Times + 1 end, 1, Asked)}}.

value(Sessions, N) ->
    [{_, _, Values}] = ets:lookup(Sessions, N),
    lists:sum(Values).

answer(N) -> {answer, N + 1}.

%% Calls, births and deaths, and files, all with an answer that is known.
load() ->
    say_pid(),
    {ok, Server} = gen_server:start(?MODULE, [], []),
    Right = counters:new(1, []),
    File = "/tmp/erlsnoop-load-" ++ os:getpid(),
    [spawn_monitor(fun() -> repeat(Task, Right, 1) end)
     || Task <- [fun(N) -> gen_server:call(Server, N) end, fun by_child/1, fun(N) -> by_file(File, N) end]],
    watch(Right).

repeat(Task, Right, N) ->
    N1 = N + 1,
    {answer, N1} = Task(N),
    counters:add(Right, 1, 1),
    repeat(Task, Right, N1).

by_child(N) ->
    {Pid, Ref} = spawn_monitor(fun() -> exit(answer(N)) end),
    receive {'DOWN', Ref, process, Pid, Reason} -> Reason end.

by_file(File, N) ->
    ok = file:write_file(File, term_to_binary(answer(N))),
    {ok, Text} = file:read_file(File),
    ok = file:delete(File),
    binary_to_term(Text).

watch(Right) ->
    receive
        {'DOWN', _, process, _, Why} ->
            io:format("wrong ~w~n", [Why]),
            halt(1)
    after 500 ->
        io:format("~w~n", [counters:get(Right, 1)]),
        watch(Right)
    end.
