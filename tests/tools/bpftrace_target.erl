%% SPDX-License-Identifier: Apache-2.0
%% What scripts of bpftrace are run on: does each thing that they tell of a known number of times once a file `go` is
%% there, and writes into `who`, for the shell, the pids of those that did it.
-module(bpftrace_target).
-export([run/0, child/0, slow/0, external/0, move/2, woken/0]).

run() ->
    wait(),
    Parts = [fun births/0, fun messages/0, fun token/0, fun memory/0, fun calls/0, fun files/0, fun told/0, fun tables/0,
             fun timers/0, fun ports/0, fun sockets/0],
    Who = [{"MAIN", self()} | lists:append([Part() || Part <- Parts])],
    timer:sleep(1100), % what tells each second has told
    ok = file:write_file("who", [[Name, "='", text(Pid), "'\n"] || {Name, Pid} <- Who]),
    erlang:halt(0).

wait() ->
    case prim_file:read_file_info("go") of
        {ok, _} -> ok;
        _ -> timer:sleep(50), wait()
    end.

text(Pid) when is_pid(Pid) -> pid_to_list(Pid);
text(Port) -> erlang:port_to_list(Port).

%% Runs in a process of its own; the pid.
by_itself(F) ->
    {Pid, Ref} = spawn_monitor(F),
    receive {'DOWN', Ref, process, Pid, _} -> Pid end.

births() ->
    [end_of(spawn(?MODULE, child, [])) || _ <- lists:seq(1, 23)],
    [end_of(spawn(fun() -> receive after 1 -> exit(boom) end end)) || _ <- lists:seq(1, 5)],
    [].

end_of(Pid) ->
    Ref = monitor(process, Pid),
    receive {'DOWN', Ref, process, Pid, _} -> ok end.

child() -> receive after 1 -> ok end.

%% 101 messages find their receiver waiting for another: its mailbox grows to that.
messages() ->
    Receiver = spawn(fun() -> receive start -> [receive {n, _} -> ok end || _ <- lists:seq(1, 101)] end end),
    Sender = by_itself(fun() -> [Receiver ! {n, N} || N <- lists:seq(1, 101)] end),
    Receiver ! start,
    end_of(Receiver),
    [{"SENDER", Sender}, {"RECEIVER", Receiver}].

token() ->
    Second = spawn(fun() -> receive {pass, To} -> To ! passed end end),
    First = by_itself(fun() ->
        seq_trace:set_token(label, 17),
        seq_trace:set_token(send, true),
        Second ! {pass, self()},
        receive passed -> ok end
    end),
    [{"FIRST", First}, {"SECOND", Second}].

memory() ->
    Collector = by_itself(fun() -> [erlang:garbage_collect() || _ <- lists:seq(1, 11)] end),
    Grower = by_itself(fun() -> put(list, lists:seq(1, 10000)) end),
    Sleeper = spawn(fun() -> erlang:hibernate(?MODULE, woken, []) end),
    hibernates(Sleeper),
    Sleeper ! wake,
    end_of(Sleeper),
    [{"COLLECTOR", Collector}, {"GROWER", Grower}, {"SLEEPER", Sleeper}].

woken() -> ok.

hibernates(Pid) ->
    case process_info(Pid, [current_function, status]) of
        [{_, {erlang, hibernate, 3}}, {_, waiting}] -> ok;
        _ -> timer:sleep(20), hibernates(Pid)
    end.

calls() ->
    Binary = binary:copy(<<1>>, 4000000),
    Caller = by_itself(fun() ->
        [erlang:md5(Binary) || _ <- lists:seq(1, 3)],
        [?MODULE:external() || _ <- lists:seq(1, 17)],
        [ok = ?MODULE:slow() || _ <- lists:seq(1, 3)],
        ok = ?MODULE:move("0", "1")
    end),
    [{"CALLER", Caller}].

external() -> ok.

slow() ->
    receive after 20 -> ok end,
    ok.

%% Begins on one CPU and returns on another, where there are two.
move(From, To) ->
    on(From),
    on_another(To),
    ok.

on_another(To) ->
    on(To),
    ok.

on(Cpu) ->
    os:cmd("taskset -acp " ++ Cpu ++ " " ++ os:getpid()),
    timer:sleep(20).

files() ->
    Renamer = by_itself(fun() ->
        dyntrace:put_tag(<<"some-user-tag">>),
        {error, enoent} = file:rename("old-name", "new-name"),
        ok = prim_file:write_file("a", <<"abc">>),
        ok = file:rename("a", "b")
    end),
    [{"RENAMER", Renamer}].

told() ->
    Teller = by_itself(fun() ->
        [dyntrace:user_trace_s1("told") || _ <- lists:seq(1, 3)],
        dyntrace:put_tag(<<"tag">>),
        dyntrace:p(41, 2, -3, 4, "t1", "t2", "t3", "t4"),
        dyntrace:p(1),
        dyntrace:pn(17, 5, "x")
    end),
    Traced = spawn(fun() -> receive To -> [To ! N || N <- lists:seq(1, 7)] end end),
    erlang:trace(Traced, true, [send, {tracer, dyntrace, []}]),
    Traced ! self(),
    [receive N -> ok end || N <- lists:seq(1, 7)],
    [{"TELLER", Teller}, {"TRACED", Traced}].

tables() ->
    T = ets:new(told, []),
    true = ets:insert(T, [{N} || N <- lists:seq(1, 100)]),
    [[_] = ets:lookup(T, N) || N <- lists:seq(1, 17)],
    [[[]] = ets:select(T, [{{'$1'}, [{'=:=', '$1', N}], [[]]}]) || N <- lists:seq(1, 3)],
    true = ets:delete(T),
    [].

timers() ->
    {P, R} = spawn_monitor(fun() ->
        [_ = erlang:cancel_timer(erlang:start_timer(60000, self(), N)) || N <- lists:seq(1, 17)],
        [begin T = erlang:send_after(1, self(), N), receive N -> ok end, false = erlang:cancel_timer(T) end || N <- lists:seq(1, 5)],
        [erlang:send_after(60000, self(), N) || N <- lists:seq(1, 19)]
    end),
    receive {'DOWN', R, process, P, normal} -> ok end,
    [{"TIMED", P}].

ports() ->
    Heir = spawn(fun() -> receive never -> ok end end),
    Port = open_port({spawn, "cat"}, [binary]),
    [begin Port ! {self(), {command, <<0:(23 * 8)>>}}, receive {Port, _} -> ok end end || _ <- lists:seq(1, 5)],
    true = port_connect(Port, Heir),
    port_close(Port),
    exit(Heir, kill),
    [{"PORT", Port}, {"HEIR", Heir}].

sockets() ->
    {ok, L} = gen_tcp:listen(0, [binary, {active, false}, {ip, {127, 0, 0, 1}}]),
    {ok, Number} = inet:port(L),
    {ok, A} = gen_tcp:connect({127, 0, 0, 1}, Number, [binary, {active, false}]),
    {ok, B} = gen_tcp:accept(L),
    [ok = gen_tcp:send(A, <<0:(100 * 8)>>) || _ <- lists:seq(1, 3)],
    {ok, _} = gen_tcp:recv(B, 300),
    [gen_tcp:close(S) || S <- [A, B, L]],
    [{"SOCKET", A}].
