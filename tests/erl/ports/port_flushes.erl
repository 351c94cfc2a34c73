%% SPDX-License-Identifier: Apache-2.0
%% What was sent to a program reaches it though the port is closed before: one that is killed drops it, and one whose
%% program has ended has nobody to wait for. A VM that halts waits for it, too, though other processes stop the world
%% meanwhile, and others halt; but not when it is told not to, nor when it ends abnormally.
%% expect: [{closed,1000000},{killed,true},{over,gone}]
%% expect: [{ended,7,1000000},{ended,7,1000000},{ended,7,1000000}]
%% expect: [{flush,3,waited},{no_flush,3,at_once},{slogan,1,at_once},{crash,1,at_once},{socket,3,at_once}]
-module(port_flushes).
-export([main/0, halts/0, halts_before_its_program/0]).

main() ->
    process_flag(trap_exit, true),
    io:format("~0p~n", [[closed(), killed(), over()]]),
    io:format("~0p~n", [[run(N) || N <- [1, 2, 3]]]),
    io:format("~0p~n", [[how_long(How) || How <- [flush, no_flush, slogan, crash, socket]]]).

closed() ->
    File = file(0),
    true = port_close(slow_program(File)),
    Bytes = wait_for_size(File, 500),
    file:delete(File),
    {closed, Bytes}.

%% What fits into the pipe is there.
killed() ->
    File = file(0),
    P = slow_program(File),
    exit(P, kill),
    receive {'EXIT', P, killed} -> ok end,
    timer:sleep(1500),
    Bytes = filelib:file_size(File),
    file:delete(File),
    {killed, Bytes < 1000000}.

over() ->
    P = open_port({spawn, "sleep 0.3"}, [binary]),
    port_command(P, binary:copy(<<1>>, 1000000)),
    true = port_close(P),
    {over, wait_until_gone(P, 500)}.

wait_until_gone(P, Left) ->
    case lists:member(P, erlang:ports()) of
        true when Left > 0 -> timer:sleep(20), wait_until_gone(P, Left - 1);
        true -> there;
        false -> gone
    end.

slow_program(File) ->
    P = open_port({spawn, "sh -c 'sleep 1; cat > " ++ File ++ "'"}, [binary]),
    port_command(P, binary:copy(<<1>>, 1000000)),
    P.

file(N) ->
    filename:join(os:getenv("TMPDIR", "/tmp"), ?MODULE_STRING ++ os:getpid() ++ "_" ++ integer_to_list(N)).

run_self(Function, Word) ->
    {ok, Self} = file:read_link("/proc/self/exe"),
    Program = case filename:basename(Self) of
        "beam" ++ _ -> os:find_executable("erl");
        _ -> Self
    end,
    open_port({spawn_executable, "/bin/sh"},
              [{args, ["-c", "exec \"$@\" 2>/dev/null", "sh", Program, "-noshell", "+S", "2", "-pa", filename:dirname(code:which(?MODULE)), "-s", ?MODULE_STRING, Function,
                       "-extra", Word]}, exit_status, {env, [{"ERL_CRASH_DUMP_SECONDS", "0"}]}]).

%% The program that it has sent something to reads none of it, and ends after 8 seconds.
how_long(How) ->
    Begun = erlang:monotonic_time(millisecond),
    Status = status(run_self("halts_before_its_program", atom_to_list(How))),
    {How, Status, case erlang:monotonic_time(millisecond) - Begun of Ms when Ms < 7000 -> at_once; _ -> waited end}.

status(P) ->
    receive
        {P, {exit_status, S}} -> S;
        {P, {data, _}} -> status(P)
    end.

%% To a peer that reads nothing.
fill_socket() ->
    {ok, L} = gen_tcp:listen(0, [{active, false}]),
    {ok, Port} = inet:port(L),
    {ok, S} = gen_tcp:connect({127, 0, 0, 1}, Port, [{high_watermark, 1 bsl 24}]),
    ok = gen_tcp:send(S, binary:copy(<<1>>, 10000000)).

halts_before_its_program() ->
    [How] = init:get_plain_arguments(),
    How =:= "socket" orelse port_command(open_port({spawn, "sleep 8"}, [binary]), binary:copy(<<1>>, 1000000)),
    case How of
        "socket" -> fill_socket(), halt(3);
        "flush" -> halt(3);
        "no_flush" -> halt(3, [{flush, false}]);
        "slogan" -> halt("slogan");
        "crash" -> exit(whereis(kernel_sup), kill), receive after infinity -> ok end
    end.

run(N) ->
    File = file(N),
    P = run_self("halts", File),
    Status = receive {P, {exit_status, S}} -> S after 60000 -> hangs end,
    Bytes = wait_for_size(File, 200),
    file:delete(File),
    {ended, Status, Bytes}.

%% The program may end a little later than the VM.
wait_for_size(File, Left) ->
    case filelib:file_size(File) of
        1000000 -> 1000000;
        _ when Left > 0 -> timer:sleep(20), wait_for_size(File, Left - 1);
        Size -> Size
    end.

halts() ->
    [File] = init:get_plain_arguments(),
    slow_program(File),
    spawn(fun stop_the_world/0),
    [spawn(fun() -> timer:sleep(50), halt(7) end) || _ <- [1, 2]],
    receive after infinity -> ok end.

stop_the_world() ->
    erlang:trace_pattern({lists, seq, 2}, true, [call_count]),
    erlang:trace_pattern({lists, seq, 2}, false, [call_count]),
    stop_the_world().
