%% SPDX-License-Identifier: Apache-2.0
%% What the system tells of itself: texts, states of schedulers, memory that adds up; asking leaves nothing with who is asked.
-module(proc_system_info).
-export([main/0]).

main() ->
    lists:foreach(fun({Item, Part}) ->
        io:format("~p ~p~n", [Item, binary:match(erlang:system_info(Item), Part) =/= nomatch])
    end, [{info, <<"=memory\ntotal: ">>}, {procs, <<"=proc:<0.0.0>\nState: ">>}, {loaded, <<"Current code: ">>}, {loaded, <<"\nlists ">>},
          {dist, <<"=node:'nonode@nohost'\n=no_distribution\n">>}]),
    [{normal, All, Online, Active}, {dirty_cpu, _, _, _}, {dirty_io, _, _, _}] = erlang:system_info(all_schedulers_state),
    io:format("~p~n", [{All, Online, Active} =:= erlang:system_info(schedulers_state)]),
    io:format("~p~n", [[Name || {Name, _, _} <- erlang:system_info(ethread_info), lists:suffix("atomics", Name)]]),
    Dirty = erlang:system_info(dirty_cpu_schedulers),
    Queues = length(statistics(run_queue_lengths)),
    io:format("~p~n", [Queues =:= All + min(1, Dirty) andalso Queues =:= length(statistics(active_tasks))]),
    io:format("~p~n", [statistics(total_active_tasks) >= 1]),
    adds_up(erlang:memory()),
    logger:set_primary_config(level, none), % OTP warns of the next line
    erts_debug:set_internal_state(available_internal_state, true),
    adds_up(erts_debug:get_internal_state(memory)),
    io:format("~p~n", [lists:member("-noshell", erlang:system_info(emu_args)) orelse erlang:system_info(emu_args)]),
    polls(),
    allocators(),
    topology(),
    io:format("~p~n", [[is_list(proplists:get_value(Flags, erlang:system_info(compile_info))) || Flags <- [cflags, ldflags]]]),
    leaves_nothing(),
    together(),
    modules().

%% Texts that are made at the same time hold nothing of each other (in OTP, at the same time they wait for ever).
together() ->
    Marks = [{info, <<"=memory\n">>}, {procs, <<"=proc:<0.0.0>\n">>}, {loaded, <<"Current code: ">>}, {dist, <<"=node:">>}],
    Made = fun(Item) ->
        Text = erlang:system_info(Item),
        [Of || {Of, Mark} <- Marks, binary:match(Text, Mark) =/= nomatch]
    end,
    Self = self(),
    Make = fun(Item) -> spawn_link(fun() -> Self ! {self(), lists:usort([Made(Item) || _ <- lists:seq(1, 50)])} end) end,
    Await = fun({Pid, Item}) -> receive {Pid, Seen} -> {Item, Seen} end end,
    Items = [Item || {Item, _} <- Marks],
    Seen = case string:find(erlang:system_info(system_version), "[erlvm]") of
        nomatch -> [Await({Make(Item), Item}) || Item <- Items];
        _ -> lists:map(Await, [{Make(Item), Item} || Item <- Items ++ Items])
    end,
    io:format("~p~n", [lists:usort(Seen)]).

%% Every module once: those of the system itself, what is loaded, what was just loaded; not what is gone.
modules() ->
    Loaded = erlang:loaded(),
    {ok, fresh_one, Code} = compile:forms([{attribute, 1, module, fresh_one}]),
    {module, fresh_one} = code:load_binary(fresh_one, "nowhere", Code),
    New = erlang:loaded() -- Loaded,
    io:format("~p~n", [[Loaded -- lists:usort(Loaded), erlang:pre_loaded() -- Loaded, lists:member(?MODULE, Loaded), lists:member(fresh_one, New)]]),
    true = code:delete(fresh_one),
    _ = code:purge(fresh_one),
    io:format("~p~n", [[M || M <- erlang:loaded(), M =:= fresh_one orelse not erlang:module_loaded(M)]]).

%% Sets of descriptors: who asks for a limit of open ones finds Linux's, and one that is opened is in a set.
polls() ->
    Get = fun(Key) -> [Value || Set <- erlang:system_info(check_io), {K, Value} <- Set, K =:= Key] end,
    Limit = list_to_integer(string:trim(os:cmd("ulimit -n"))),
    io:format("~p~n", [lists:usort(Get(max_fds)) =:= [Limit]]),
    Before = lists:sum(Get(total_poll_set_size)),
    Port = open_port({spawn, "cat"}, []),
    port_command(Port, "there"),
    receive {Port, {data, "there"}} -> ok end,
    io:format("~p~n", [lists:sum(Get(total_poll_set_size)) > Before]),
    port_close(Port),
    io:format("~p~n", [lists:usort([Name || [{name, Name} | _] <- erlang:system_info(check_io)])]).

%% Every processor that Linux has a place for is a leaf; no tree where it has not one for all.
topology() ->
    Tree = erlang:system_info(cpu_topology),
    Files = filelib:wildcard("/sys/devices/system/cpu/cpu[0-9]*/topology/core_id"),
    Told = lists:sort([list_to_integer(lists:nthtail(3, lists:nth(6, filename:split(File)))) || File <- Files]),
    io:format("~p~n", [Tree =:= undefined orelse lists:sort(leaves(Tree)) =:= Told]),
    io:format("~p~n", [[erlang:system_info({cpu_topology, Which}) =:= Value || {Which, Value} <- [{used, Tree}, {detected, Tree}, {defined, undefined}]]]).

leaves({logical, Id}) -> [Id];
leaves({_, Below}) -> leaves(Below);
leaves(List) when is_list(List) -> lists:flatmap(fun leaves/1, List).

adds_up(Memory) ->
    Of = fun(Kind) -> proplists:get_value(Kind, Memory) end,
    io:format("~p~n", [[Of(total) =:= Of(processes) + Of(system), Of(processes) >= Of(processes_used), Of(atom) >= Of(atom_used),
                        Of(system) > Of(atom) + Of(binary) + Of(code) + Of(ets)]]).

%% An answer from each thread that has memory of its own.
allocators() ->
    Ref = make_ref(),
    true = erlang:system_info({memory_internal, Ref, [fix_alloc, ets_alloc]}),
    Answers = [receive {Ref, Id, List} -> {Id, lists:usort([element(1, Row) || Row <- List])} end
               || _ <- lists:seq(1, erts_internal:no_aux_work_threads() - 1)],
    io:format("~p~n", [lists:all(fun({Id, Names}) -> is_integer(Id) andalso Names =:= [ets_alloc, fix_alloc] end, Answers)]),
    io:format("~p~n", [[try erlang:system_info({memory_internal, A, B}) catch error:Reason -> Reason end
                        || {A, B} <- [{none, [fix_alloc]}, {Ref, fix_alloc}, {Ref, [no_such_alloc]}]]]).

%% Asked often, a process that sleeps does not grow.
leaves_nothing() ->
    Pid = spawn_link(fun() -> put(big, lists:seq(1, 1000)), erlang:hibernate(timer, sleep, [infinity]) end),
    Asleep = fun Asleep() ->
        case process_info(Pid, status) of
            {status, waiting} -> ok;
            _ -> timer:sleep(1), Asleep()
        end
    end,
    Asleep(),
    [{memory, Before}, {total_heap_size, Words}] = process_info(Pid, [memory, total_heap_size]),
    [process_info(Pid, [backtrace, dictionary, messages, current_stacktrace, links, binary]) || _ <- lists:seq(1, 200)],
    [{memory, After}, {total_heap_size, WordsAfter}] = process_info(Pid, [memory, total_heap_size]),
    io:format("~p~n", [{After - Before, WordsAfter - Words}]).

%% expect: info true
%% expect: procs true
%% expect: loaded true
%% expect: loaded true
%% expect: dist true
%% expect: true
%% expect: ["32-bit native atomics","64-bit native atomics","Double word native atomics"]
%% expect: true
%% expect: true
%% expect: [true,true,true,true]
%% expect: [true,true,true,true]
%% expect: true
%% expect: true
%% expect: true
%% expect: [erts_poll]
%% expect: true
%% expect: [badarg,badarg,badarg]
%% expect: true
%% expect: [true,true,true]
%% expect: [true,true]
%% expect: {0,0}
%% expect: [{dist,[[dist]]},{info,[[info]]},{loaded,[[loaded]]},{procs,[[procs]]}]
%% expect: [[],[],true,true]
%% expect: []
