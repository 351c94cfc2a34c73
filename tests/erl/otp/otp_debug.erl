%% SPDX-License-Identifier: Apache-2.0
%% erts_debug: shared parts are counted and copied once; the nodes of large maps.
-module(otp_debug).
-export([main/0]).

main() ->
    Shared = lists:seq(1, 100),
    Term = {Shared, Shared, [Shared | Shared]},
    d({erts_debug:size_shared(Term), erts_debug:flat_size(Term)}),
    persistent_term:put(?MODULE, Term),
    d(erts_debug:size_shared({persistent_term:get(?MODULE)})),
    d([copied(Term, Literals) || Literals <- [true, false]]),
    Map = maps:from_list([{N, {N, Shared}} || N <- lists:seq(1, 1000)]),
    Mixed = {Map, fun() -> Map end, binary:copy(<<1>>, 1000), make_ref(), 1 bsl 100, 1.5, <<1:3>>},
    erlang:garbage_collect(),
    Copy = erts_debug:copy_shared(Mixed, true),
    erlang:garbage_collect(),
    d(Copy =:= Mixed),
    {_, Fun, _, _, _, _, _} = Copy,
    d(Fun() =:= Map),
    d(graphs()),
    [{depth, _}, {arrays, _, []} | Counts] = erts_debug:map_info(Map),
    [{bitmaps, Bitmaps, Of}, {leafs, 1000, At}] = lists:keydelete(collisions, 1, Counts),
    d([{What, tuple_size(By)} || {What, _, By} <- Counts]),
    d({lists:sum(tuple_to_list(Of)) =:= Bitmaps, lists:sum(tuple_to_list(At))}),
    d(length(erts_internal:map_hashmap_children(Map)) > 1),
    d([try erts_debug:map_info(T) catch error:R -> R end || T <- [#{}, a]]),
    d([try erts_debug:copy_shared(T, nothing) catch error:R -> R end || T <- [a]]),
    d(erts_internal:system_check(schedulers)),
    state().

%% The machine's inside, as OTP's test suites ask for it.
state() ->
    d(try erts_debug:get_internal_state(reds_left) catch error:undef -> undef end),
    d(erts_debug:set_internal_state(available_internal_state, true)),
    true = erts_debug:set_internal_state(reds_left, 1000),
    Left = erts_debug:get_internal_state(reds_left),
    d(Left =< 1000 andalso Left > 900),
    {Gone, Ref} = spawn_monitor(fun() -> ok end),
    receive {'DOWN', Ref, process, Gone, normal} -> ok end,
    Waiting = spawn(fun() -> receive stop -> ok end end),
    await(fun() -> process_info(Waiting, status) =:= {status, waiting} end),
    erts_debug:set_internal_state(block, 1),
    d([erts_debug:get_internal_state({process_status, P}) || P <- [self(), Gone, Waiting]]),
    d(erts_debug:get_internal_state({binary_info, <<1>>})),
    {refc_binary, 100, {binary, _}, _} = erts_debug:get_internal_state({binary_info, binary:copy(<<1>>, 100)}),
    d(erts_debug:set_internal_state(wait, deallocations)),
    await(fun() -> lists:sort(erts_debug:get_internal_state(processes)) =:= lists:sort(processes()) end),
    Tree = ets:new(tree, [ordered_set, public, {write_concurrency, true}]),
    d([try erts_debug:set_internal_state(ets_debug_random_split_join, {T, false}) catch error:R -> R end || T <- [Tree, ets:new(set, []), gone]]),
    d(collide(erts_debug:set_internal_state(colliding_names, {otp_debug, 3}))),
    Fragment = {"copied", binary:copy(<<1>>, 100), #{a => 1.5}},
    d([erts_debug:set_internal_state(mbuf, T) =:= T || T <- [Fragment, [], 7]]),
    d(erts_debug:get_internal_state(lc_graph)),
    peers(),
    node_monitors(),
    table_of_processes(),
    table_of_ports(),
    outside(),
    d([collections(Major) || Major <- [none, true, false]]),
    Before = erts_debug:set_internal_state(re_loop_limit, 7),
    d({is_integer(Before), erts_debug:set_internal_state(re_loop_limit, default)}),
    d([try erts_debug:set_internal_state(What, x) catch error:R -> R end || What <- [nothing, wait]]),
    d(erts_debug:set_internal_state(available_internal_state, false)),
    d([lists:member({lists, reverse, 2}, erlang:system_info(snifs)), lists:member({lists, map, 2}, erlang:system_info(snifs))]).

await(F) -> F() orelse begin erlang:yield(), await(F) end.

%% Both ends of links and monitors, and when one is gone.
peers() ->
    Watched = spawn(fun() -> receive stop -> ok end end),
    register(watched, Watched),
    link(Watched),
    [Ref, Named, Time] = [monitor(process, Watched), monitor(process, watched), monitor(time_offset, clock_service)],
    {monitored_by, [_, _]} = process_info(Watched, monitored_by), %% it has handled both
    Port = open_port({spawn, "cat"}, []),
    Names = #{self() => me, Watched => watched, Port => port, Ref => ref, Named => named, Time => time, monitor(port, Port) => port_ref},
    [d({What, maps:get(Of, Names, Of), peers(What, Of, Names)}) ||
        What <- [link_list, monitor_list], Of <- [self(), Watched, no@host, node()]],
    d(peers(link_list, Port, Names)),
    unlink(Watched),
    demonitor(Named),
    d([peers(What, Watched, Names) || What <- [link_list, monitor_list]]),
    Watched ! stop,
    receive {'DOWN', Ref, process, Watched, normal} -> ok end,
    d(erts_debug:get_internal_state({link_list, Watched})),
    d([try erts_debug:get_internal_state({What, Of}) catch error:R -> R end || {What, Of} <- [{link_list, a}, {monitor_list, Port}, {monitor_list, 1}]]),
    port_close(Port),
    demonitor(Time).

%% Numbers are not told, nor who has no name here.
peers(What, Of, Names) ->
    Name = fun(E) -> if is_integer(E) -> number; true -> maps:get(E, Names, if is_pid(E); is_port(E); is_reference(E) -> other; true -> E end) end end,
    case erts_debug:get_internal_state({What, Of}) of
        List when is_list(List) ->
            Told = [list_to_tuple([Name(E) || E <- tuple_to_list(Record)]) || Record <- List],
            lists:sort([Record || Record <- Told, not lists:member(other, tuple_to_list(Record))]);
        Other -> Other
    end.

%% Who wants to hear of nodes, and with which options: the newest wish first, and each as often as it was made.
node_monitors() ->
    Wishes = [[], [nodedown_reason], [{node_type, hidden}, nodedown_reason], [{node_type, all}], [{node_type, visible}], []],
    [net_kernel:monitor_nodes(true, Options) || Options <- Wishes],
    d(wishes_of(self())),
    {Other, Ref} = spawn_monitor(fun() -> net_kernel:monitor_nodes(true), exit(wishes_of(self())) end),
    receive {'DOWN', Ref, process, Other, Theirs} -> d(Theirs) end,
    await(fun() -> wishes_of(Other) =:= [] end),
    [net_kernel:monitor_nodes(false, Options) || Options <- [[nodedown_reason], []]],
    d(wishes_of(self())).

%% A pid comes again when the table begins where it did, unless somebody else took its place.
table_of_processes() ->
    d(pid_again(20)),
    d([try erts_debug:set_internal_state(next_pid, N) catch error:R -> R end || N <- [a, -1]]),
    Info = erts_debug:get_internal_state(processes_bif_info),
    d({element(1, Info), tuple_size(Info), lists:all(fun is_integer/1, tl(tuple_to_list(Info)))}).

%% Numbers of ports are not below those that have been passed over.
table_of_ports() ->
    d([try erts_debug:set_internal_state(next_port, N) catch error:R -> R end || N <- [a, -1, 1 bsl 64]]),
    Large = 1 bsl 27,
    d(erts_debug:set_internal_state(next_port, Large) >= Large),
    d(erts_debug:get_internal_state(next_port) >= Large),
    Port = open_port({spawn, "true"}, []),
    "#Port<0." ++ Digits = erlang:port_to_list(Port),
    d(list_to_integer(lists:droplast(Digits)) >= Large),
    d(Port =:= erlang:list_to_port(erlang:port_to_list(Port))).

%% A binary outside the heap though it is small.
outside() ->
    case list_to_integer(erlang:system_info(otp_release)) >= 27 of
        true -> B = erts_debug:set_internal_state(binary, 5), d([B, setelement(4, erts_debug:get_internal_state({binary_info, B}), 0)]);
        false -> d([<<0:40>>, {refc_binary, 5, {binary, 5}, 0}])
    end.

pid_again(0) -> false;
pid_again(N) ->
    Next = erts_debug:get_internal_state(next_pid),
    {First, Ref} = spawn_monitor(fun() -> ok end),
    receive {'DOWN', Ref, process, First, normal} -> ok end,
    Next = erts_debug:set_internal_state(next_pid, Next - 1),
    case spawn_monitor(fun() -> ok end) of
        {First, Ref2} -> receive {'DOWN', Ref2, process, First, normal} -> true end;
        _ -> pid_again(N - 1)
    end.

%% Those that a tracer hears of when a full heap gets one term more.
collections(Major) ->
    P = spawn(fun() -> receive go -> ok end, [fill(Major) || Major =/= none], self() ! {id(1), id(2)}, receive {_, _} -> stop end end),
    erlang:trace(P, true, [garbage_collection, procs]),
    P ! go,
    lists:sublist(heard(P), 1).

fill(Major) -> ok = erts_debug:set_internal_state(fill_heap, Major).

id(X) -> X.

heard(P) ->
    receive
        {trace, P, exit, normal} -> [];
        {trace, P, What, _} when What =:= gc_major_start; What =:= gc_minor_start -> [What | heard(P)];
        {trace, P, _, _} -> heard(P)
    end.

wishes_of(Pid) -> [Options || {P, Options} <- erts_debug:get_internal_state(monitoring_nodes), P =:= Pid].

%% Tables whose names fall together are told apart.
collide(Names) ->
    [Name = ets:new(Name, [named_table]) || Name <- [otp_debug | Names]],
    [true = ets:insert(Name, {name, Name}) || Name <- Names],
    [First, Second | _] = Names,
    other = ets:rename(First, other),
    true = ets:delete(Second),
    Left = [ets:lookup(Name, name) || Name <- [other | Names], ets:whereis(Name) =/= undefined],
    [ets:delete(Name) || Name <- [otp_debug, other | Names], ets:whereis(Name) =/= undefined],
    {length(Names), Left =:= [[{name, Name}] || Name <- Names -- [Second]]}.

%% Terms whose parts are shared at random, some behind a collection, in whatever order they stand in memory.
graphs() ->
    _ = rand:seed(exsss, {1, 2, 3}),
    Long = [lists:seq(1, 3000), lists:reverse(lists:seq(1, 3000)), [{N, [N]} || N <- lists:seq(1, 3000)]],
    Graphs = [grow(rand:uniform(400), parts(60, [x, atom_to_list(x), rand:uniform()]), []) || _ <- lists:seq(1, 200)] ++
        [[L | T] || L <- Long, T <- Long] ++ [{lists:last(Long), Tail} || Tail <- tails(lists:last(Long))],
    erlang:phash2([graph(T) || T <- Graphs]).

tails([_ | T]) -> [T, lists:nthtail(1500, T)].

%% Small ones, each of at most four levels.
parts(0, Parts) -> Parts;
parts(N, Parts) -> parts(N - 1, Parts ++ [{one(lists:sublist(Parts, 3 + N rem 4 * 10)), [one(lists:sublist(Parts, 3))]}]).

one(Parts) -> lists:nth(rand:uniform(length(Parts)), Parts).

grow(0, _, T) -> T;
grow(100, Parts, T) -> erlang:garbage_collect(), grow(99, Parts, T);
grow(N, Parts, T) ->
    grow(N - 1, Parts, case rand:uniform(3) of 1 -> [one(Parts) | T]; 2 -> {one(Parts), T, one(Parts)}; 3 -> [T, one(Parts)] end).

graph(T) ->
    Copy = erts_debug:copy_shared(T, true),
    persistent_term:put({?MODULE, T}, [T, T]),
    [Kept, Kept] = persistent_term:get({?MODULE, T}),
    persistent_term:erase({?MODULE, T}),
    {erts_debug:size_shared(T), erlang:phash2(Copy) =:= erlang:phash2(T), erlang:phash2(Kept) =:= erlang:phash2(T)}.

copied(Term, Literals) ->
    Copy = erts_debug:copy_shared(Term, Literals),
    {Copy =:= Term, erts_debug:size_shared(Copy)}.

d(T) -> erlang:display(T).

%% expect: {206,806}
%% expect: 2
%% expect: [{true,206},{true,206}]
%% expect: true
%% expect: true
%% expect: 36151713
%% expect: [{bitmaps,16},{leafs,16}]
%% expect 27: [{collisions,16},{bitmaps,16},{leafs,18}]
%% expect: {true,1000}
%% expect: true
%% expect: [badarg,{badmap,a}]
%% expect: [badarg]
%% expect: ok
%% expect: undef
%% expect: false
%% expect: true
%% expect: [running,undefined,waiting]
%% expect: heap_binary
%% expect: ok
%% expect: [ok,badarg,badarg]
%% expect: {3,true}
%% expect: [true,true,true]
%% expect: notsup
%% expect: {link_list,me,[{erl_link,port,port,linked,number},{erl_link,process,watched,linked,number}]}
%% expect: {link_list,watched,[{erl_link,process,me,linked,number}]}
%% expect: {link_list,'no@host',undefined}
%% expect: {link_list,'nonode@nohost',[]}
%% expect: {monitor_list,me,[{erl_monitor,port,origin,port_ref,port,[]},{erl_monitor,process,origin,named,watched,watched},{erl_monitor,process,origin,ref,watched,[]},{erl_monitor,time_offset,origin,time,clock_service,[]}]}
%% expect: {monitor_list,watched,[{erl_monitor,process,target,named,me,watched},{erl_monitor,process,target,ref,me,[]}]}
%% expect: {monitor_list,'no@host',undefined}
%% expect: {monitor_list,'nonode@nohost',[]}
%% expect: [{erl_link,port,me,linked,number}]
%% expect: [[],[{erl_monitor,process,target,ref,me,[]}]]
%% expect: undefined
%% expect: [badarg,badarg,badarg]
%% expect: [[{node_type,visible}],[{node_type,all}],[nodedown_reason,{node_type,hidden}],[nodedown_reason],[],[]]
%% expect: [[]]
%% expect: [[{node_type,visible}],[{node_type,all}],[nodedown_reason,{node_type,hidden}]]
%% expect: true
%% expect: [badarg,badarg]
%% expect: {ptab_list_bif_info,10,true}
%% expect: [badarg,badarg,badarg]
%% expect: true
%% expect: true
%% expect: true
%% expect: true
%% expect: [<<0,0,0,0,0>>,{refc_binary,5,{binary,5},0}]
%% expect: [[],[gc_major_start],[gc_minor_start]]
%% expect: {true,7}
%% expect: [badarg,badarg]
%% expect: true
%% expect: [true,false]
