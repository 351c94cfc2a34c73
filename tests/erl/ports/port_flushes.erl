%% SPDX-License-Identifier: Apache-2.0
%% What was sent to a program reaches it though the port is closed before: one that is killed drops it, and one whose
%% program has ended has nobody to wait for. A VM that halts waits for it, too, though other processes stop the world
%% meanwhile, and others halt.
%% expect: [{closed,1000000},{killed,true},{over,gone}]
%% expect: [{ended,7,1000000},{ended,7,1000000},{ended,7,1000000}]
-module(port_flushes).
-export([main/0, halts/0]).

main() ->
    process_flag(trap_exit, true),
    io:format("~0p~n", [[closed(), killed(), over()]]),
    io:format("~0p~n", [[run(N) || N <- [1, 2, 3]]]).

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

run(N) ->
    {ok, Self} = file:read_link("/proc/self/exe"),
    Program = case filename:basename(Self) of
        "beam" ++ _ -> os:find_executable("erl");
        _ -> Self
    end,
    File = file(N),
    P = open_port({spawn_executable, Program},
                  [{args, ["-noshell", "+S", "2", "-pa", filename:dirname(code:which(?MODULE)), "-s", ?MODULE_STRING, "halts",
                           "-extra", File]}, exit_status]),
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
