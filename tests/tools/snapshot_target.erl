%% SPDX-License-Identifier: Apache-2.0
%% A node whose processes are known, for who reads them from outside. It says what it is, then what each process is, as
%% process_info/2 has it, a line each, and stays until it is told to end; "more" begins and ends processes all the time.
-module(snapshot_target).
-export([main/0, wait/1, woken/0, init/1, hold/2, main/1]).

-define(MESSAGES, 997).

main() -> main(100).

main(Idle) ->
    Main = self(),
    register(box, spawn(fun() -> receive never -> ok end end)),
    register(off_box, spawn_opt(fun() -> receive never -> ok end end, [{message_queue_data, off_heap}])),
    [box ! {message, N} || N <- lists:seq(1, ?MESSAGES)],
    [off_box ! <<N:1024>> || N <- lists:seq(1, 503)],
    register(sleeper, spawn(fun() -> erlang:hibernate(?MODULE, woken, []) end)),
    register(holder, spawn(?MODULE, hold, [Main, 10])),
    receive held -> ok end,
    register(frozen, spawn(?MODULE, wait, [1])),
    [spawn(?MODULE, wait, [N]) || N <- lists:seq(1, Idle)],
    spawn(fun() -> put('$process_label', {tagged, 1}), receive never -> ok end end), % as of proc_lib:set_label/1
    proc_lib:start(?MODULE, init, [Main]),
    register(spinner, spawn(fun spin/0)),
    await(fun() -> lists:all(fun rests/1, processes() -- [Main, whereis(spinner)]) end),
    {current_function, {erlang, hibernate, 3}} = process_info(whereis(sleeper), current_function),
    true = erlang:suspend_process(whereis(frozen)),
    %% Takes nothing, and ends with the node.
    Port = open_port({spawn, "sh -c 'while kill -0 $PPID; do sleep 1; done 2> /dev/null'"}, [binary]),
    %% It waits as long as the port is busy, or has left all to the port.
    Writer = spawn(fun() -> port_command(Port, binary:copy(<<"x">>, 1000003)) end),
    await(fun() -> lists:member(process_info(Writer, status), [undefined, {status, suspended}]) end),
    io:format("node ~s ~b ~b ~b ~b ~b~n",
              [os:getpid(), length(processes()), length(erlang:ports()), erlang:system_info(schedulers),
               erlang:system_info(dirty_cpu_schedulers), erlang:system_info(dirty_io_schedulers)]),
    [io:format("busy ~s ~p~n", [string:replace(string:slice(pid_to_list(P), 3, length(pid_to_list(P)) - 4), ".", " "), N])
     || {P, N} <- [{Main, main}, {whereis(spinner), spinner}]],
    [say(P) || P <- processes(), P =/= self(), P =/= whereis(spinner)],
    [frozen ! {message, N} || N <- lists:seq(1, 89)], % it does not take them
    io:format("atoms ~b~n", [erlang:system_info(atom_count)]),
    io:format("ready~n"),
    stay().

await(F) ->
    case F() of
        true -> ok;
        false -> receive after 20 -> await(F) end
    end.

rests(P) -> process_info(P, status) =:= {status, waiting}.

%% What it is does not change by asking: it rests. Words of both heaps and of what stands outside of them.
say(P) ->
    Items = [message_queue_len, reductions, status, registered_name, current_function, garbage_collection_info],
    case process_info(P, Items) of
        [{_, Messages}, {_, Reductions}, {_, Status}, {_, Name}, {_, {M, F, A}}, {_, GC}] ->
            io:format("process ~s ~b ~b ~b ~b ~b ~b ~s ~p ~p:~p/~b~n",
                      [pid_to_list(P), Messages, Reductions] ++
                      [proplists:get_value(Key, GC) || Key <- [heap_block_size, old_heap_block_size, mbuf_size]] ++
                      [proplists:get_value(bin_vheap_size, GC) + proplists:get_value(bin_old_vheap_size, GC), Status,
                       case Name of [] -> nobody; _ -> Name end, M, F, A]);
        undefined ->
            ok
    end.

stay() ->
    case io:get_line("") of
        "more\n" -> spawn(fun churn/0), io:format("more~n"), stay();
        "die\n" -> erlang:halt(0, [{flush, false}]);
        _ -> erlang:halt(0)
    end.

wait(N) -> receive {stop, N} -> ok end.

woken() -> receive never -> ok end.

spin() -> spin().

%% 23 binaries of 100 kB outside of its heap.
hold(Main, _) ->
    Held = [binary:copy(<<N>>, 100000) || N <- lists:seq(1, 23)],
    garbage_collect(),
    Main ! held,
    receive never -> Held end.

init(Main) ->
    proc_lib:init_ack(Main, {ok, self()}),
    receive never -> ok end.

%% 30 are born and 30 end, all the time.
churn() ->
    Pids = [spawn_monitor(?MODULE, wait, [0]) || _ <- lists:seq(1, 30)],
    [P ! {stop, 0} || {P, _} <- Pids],
    [receive {'DOWN', Ref, process, P, _} -> ok end || {P, Ref} <- Pids],
    churn().
