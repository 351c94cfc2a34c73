%% SPDX-License-Identifier: Apache-2.0
%% Processes of nodes that are not connected, and of earlier lives of this one: links, monitors, names, sends, and what is known of nodes.
-module(proc_foreign).
-export([main/0]).

main() ->
    process_flag(trap_exit, true),
    P = pid("foo@bar", 7),
    known(),
    short(),
    refused(P),
    linked(P),
    watched(P),
    earlier_life(pid("nonode@nohost", 7)),
    dies(P),
    many(),
    forgotten().

known() ->
    Kept = [pid("foo@bar", C) || C <- [7, 8, 9]],
    erlang:display(lists:sort(nodes(known)) =:= ['foo@bar', node()]),
    erlang:display(lists:sort(nodes(known, #{node_type => true, connection_id => true}))),
    erlang:display([nodes([connected]), nodes(this), length(Kept)]).

%% References of which some tell the zeros at their end and others do not are the same; those of this node are its own.
short() ->
    Foreign = [reference("foo@bar", 7, Ids) || Ids <- [[4711], [4711, 0], [4711, 0, 0], [4711, 0, 0, 0], [4711, 0, 0, 0, 0], [4711, 0, 1]]],
    Own = [reference(atom_to_list(node()), erlang:system_info(creation), Ids) || Ids <- [[4711], [4711, 0], [4711, 0, 0], [4711, 0, 1]]],
    erlang:display([[A =:= B || B <- Refs] || Refs = [A | _] <- [Foreign, Own]]),
    erlang:display([[{A < B, A > B} || B <- Refs] || Refs = [A | _] <- [Foreign, Own]]),
    Table = ets:new(table, [ordered_set]),
    ets:insert(Table, [{hd(Foreign), foreign}, {hd(Own), own}]),
    erlang:display([[V || {_, V} <- ets:lookup(Table, Ref)] || Ref <- Foreign ++ Own]),
    ets:delete(Table),
    erlang:display([byte_size(term_to_binary(Ref)) || Ref <- Foreign]).

reference(Node, Creation, Ids) ->
    Name = list_to_binary(Node),
    Numbers = << <<Id:32>> || Id <- Ids >>,
    binary_to_term(<<131, 90, (length(Ids)):16, 119, (byte_size(Name)), Name/binary, Creation:32, Numbers/binary>>).

refused(P) ->
    erlang:display([class(fun() -> F(P) end) || F <- [
        fun erlang:is_process_alive/1,
        fun erlang:process_info/1,
        fun(X) -> process_info(X, links) end,
        fun(X) -> list_to_pid(pid_to_list(X)) end,
        fun erlang:suspend_process/1,
        fun erlang:garbage_collect/1,
        fun(X) -> register(a_name, X) end,
        fun(X) -> monitor(port, X) end,
        fun(X) -> monitor(process, {a_name, node(X)}) end,
        fun(X) -> exit(X, kill) end,
        fun(X) -> X ! hello end,
        fun(X) -> erlang:send(X, hello, [noconnect]) end,
        fun(X) -> erlang:send({a_name, node(X)}, hello, [noconnect, nosuspend]) end,
        fun(X) -> group_leader(self(), X) end,
        fun(X) -> unlink(X) end,
        fun(X) -> node(X) end]]),
    erlang:display([class(fun() -> F(ref("foo@bar")) end) || F <- [
        fun erlang:cancel_timer/1,
        fun erlang:read_timer/1,
        fun erlang:unalias/1,
        fun(X) -> X ! hello end,
        fun(X) -> demonitor(X, [info]) end]]),
    Own = group_leader(),
    true = group_leader(P, self()),
    {Child, Ref} = spawn_monitor(fun() -> garbage_collect(), exit({group_leader(), node(group_leader())}) end),
    erlang:display(receive {'DOWN', Ref, process, Child, {Leader, Node}} -> {Leader =:= P, Node} end),
    group_leader(Own, self()).

class(F) ->
    try F() of
        Result -> Result
    catch
        Class:Reason -> {Class, Reason}
    end.

%% The link is there until the exit signal comes; what names the process stands elsewhere by then.
linked(P) ->
    true = link(P),
    true = link(P),
    garbage_collect(),
    erlang:display([receive {'EXIT', P, Reason} -> Reason end, lists:member(P, element(2, process_info(self(), links)))]),
    true = link(pid("foo@bar", 8)),
    garbage_collect(),
    erlang:display(receive {'EXIT', Q, Reason1} -> {Q =:= P, Q =:= pid("foo@bar", 8), Reason1} end),
    true = link(P),
    true = unlink(P),
    erlang:display(receive M -> M after 0 -> none end).

watched(P) ->
    Refs = [monitor(process, pid("foo@bar", C)) || C <- [7, 8]],
    Tagged = monitor(process, P, [{tag, {a, "tag", P}}]),
    Alias = monitor(process, P, [{alias, explicit_unalias}]),
    garbage_collect(),
    erlang:display([receive {'DOWN', R, process, Q, Why} -> {Q =:= P, Q =:= pid("foo@bar", 8), Why} end || R <- Refs]),
    erlang:display(receive {{a, "tag", P}, Tagged, process, P, Why} -> Why end),
    erlang:display(receive {'DOWN', Alias, process, P, Why1} -> Why1 end),
    Alias ! by_alias,
    erlang:display(receive by_alias -> [unalias(Alias), demonitor(Alias, [info])] end),
    Dropped = monitor(process, P),
    erlang:display([demonitor(Dropped, [flush]), receive M -> M after 0 -> none end]),
    erlang:display([class(fun() -> demonitor(ref(N)) end) || N <- ["foo@bar", "nonode@nohost"]]).

earlier_life(Old) ->
    erlang:display([node(Old) =:= node(), Old =:= pid("nonode@nohost", 8), Old > pid("nonode@nohost", 6)]),
    true = link(Old),
    erlang:display(receive {'EXIT', Old, Reason} -> Reason end),
    Ref = monitor(process, Old),
    erlang:display(receive {'DOWN', Ref, process, Old, Why} -> Why end),
    erlang:display([exit(Old, kill), is_process_alive(Old), garbage_collect(Old), check_process_code(Old, ?MODULE)]),
    erlang:display([process_info(Old), process_info(Old, links), process_info(Old, [links, dictionary])]),
    erlang:display([class(fun() -> F(Old) end) || F <- [
        fun erlang:suspend_process/1,
        fun(X) -> process_info(X, no_item) end,
        fun(X) -> group_leader(self(), X) end,
        fun(X) -> register(a_name, X) end]]),
    process_flag(trap_exit, false),
    erlang:display(class(fun() -> link(Old) end)),
    process_flag(trap_exit, true).

dies(P) ->
    {Pid, Ref} = spawn_monitor(fun() -> link(P), receive after infinity -> ok end end),
    erlang:display(receive {'DOWN', Ref, process, Pid, Why} -> Why end).

%% Each creation is another, and each is found again.
many() ->
    T = ets:new(t, [ordered_set]),
    [ets:insert(T, {pid("foo@bar", C), C}) || C <- lists:seq(1, 1000)],
    [ets:insert(T, {ref("foo@bar", C), C}) || C <- lists:seq(1, 1000)],
    garbage_collect(),
    erlang:display(lists:usort([C =:= ets:lookup_element(T, Id, 2) || C <- lists:seq(1, 1000), Id <- [pid("foo@bar", C), ref("foo@bar", C)]])),
    Children = [spawn_link(fun() -> receive {From, Ids} -> From ! {self(), lists:reverse(Ids)} end end) || _ <- lists:seq(1, 23)],
    [C ! {self(), [Id || {Id, _} <- ets:tab2list(T)]} || C <- Children],
    All = lists:reverse([Id || {Id, _} <- ets:tab2list(T)]),
    erlang:display([length(All), lists:usort([receive {C, Ids} -> Ids =:= All end || C <- Children])]),
    ets:delete(T),
    erlang:display([erlang:phash2(X) || X <- [pid("foo@bar", 1), pid("foo@bar", 2), ref("foo@bar", 2), ref("nonode@nohost", 9)]]),
    erlang:display([erts_debug:flat_size(X) || X <- [pid("foo@bar", 1), ref("foo@bar", 1), {pid("nonode@nohost", 1)}]]).

%% A node of which nothing is left is known no more; erl waits a minute before that.
forgotten() ->
    [pid("n" ++ integer_to_list(N rem 23) ++ "@bar", N) || N <- lists:seq(1, 100000)],
    spawn_monitor(fun() -> ok end),
    receive {'DOWN', _, _, _, normal} -> ok end,
    erlang:display(case erlang:system_info(delayed_node_table_gc) of 0 -> wait_until_known([node()]); 60 -> [node()] end).

wait_until_known(Nodes) ->
    garbage_collect(),
    case nodes(known) of
        Nodes -> Nodes;
        _ -> receive after 10 -> wait_until_known(Nodes) end
    end.

pid(Node, Creation) -> binary_to_term(<<131, 88, 119, (length(Node)), (list_to_binary(Node))/binary, 1:32, 2:32, Creation:32>>).
ref(Node) -> ref(Node, 7).
ref(Node, Creation) -> binary_to_term(<<131, 90, 3:16, 119, (length(Node)), (list_to_binary(Node))/binary, Creation:32, 3:32, 2:32, 1:32>>).

%% expect: true
%% expect: [{'foo@bar',#{connection_id=>undefined,node_type=>known}},{'nonode@nohost',#{connection_id=>undefined,node_type=>this}}]
%% expect: [[],['nonode@nohost'],3]
%% expect: [[true,true,true,true,true,false],[true,true,true,false]]
%% expect: [[{false,false},{false,false},{false,false},{false,false},{false,false},{true,false}],[{false,false},{false,false},{false,false},{true,false}]]
%% expect: [[foreign],[foreign],[foreign],[foreign],[foreign],[],[own],[own],[own],[]]
%% expect: [22,26,30,34,38,30]
%% expect 27: [21,25,29,33,37,29]
%% expect: [{error,badarg},{error,badarg},{error,badarg},{error,badarg},{error,badarg},{error,badarg},{error,badarg},{error,badarg},{error,badarg},true,hello,noconnect,noconnect,true,true,'foo@bar']
%% expect: [false,false,false,hello,{error,badarg}]
%% expect: {true,'foo@bar'}
%% expect: [noconnection,false]
%% expect: {false,true,noconnection}
%% expect: none
%% expect: [{true,false,noconnection},{false,true,noconnection}]
%% expect: noconnection
%% expect: noconnection
%% expect: [true,false]
%% expect: [true,none]
%% expect: [{error,badarg},true]
%% expect: [true,false,true]
%% expect: noproc
%% expect: noproc
%% expect: [true,false,false,false]
%% expect: [undefined,undefined,undefined]
%% expect: [{error,badarg},{error,badarg},{error,badarg},{error,badarg}]
%% expect: {error,noproc}
%% expect: noconnection
%% expect: [true]
%% expect: [2000,[true]]
%% expect: [51930921,51930921,75004615,75004615]
%% expect: [4,5,6]
%% expect: ['nonode@nohost']
