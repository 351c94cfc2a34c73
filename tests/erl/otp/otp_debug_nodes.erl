%% SPDX-License-Identifier: Apache-2.0
%% Who holds how many pids and references of another node: the entry of the node has counted as many as are found.
-module(otp_debug_nodes).
-export([main/0]).

main() ->
    logger:set_primary_config(level, none),
    erts_debug:set_internal_state(available_internal_state, true),
    io:format("delay ~p~n", [erts_debug:set_internal_state(node_tab_delayed_delete, 0)]),
    Main = self(),
    {Holder, Mon} = spawn_monitor(fun() -> hold(Main, pid(), ref()) end),
    receive {Holder, ready} -> ok end,
    told(all),
    Holder ! stop,
    receive {'DOWN', Mon, process, Holder, _} -> ok end,
    erlang:cancel_timer(persistent_term:get(timer_of_a_name)),
    until(fun() -> types() =:= [{system, 2}] end),
    told(ended),
    persistent_term:erase(otp_debug_nodes),
    until(fun() -> types() =:= none end),
    told(erased),
    P = pid(),
    told(one),
    io:format("delay ~p ~p~n", [erts_debug:set_internal_state(node_tab_delayed_delete, -1), node(P)]).

%% <x@y.5.6> and #Ref<x@y.1.2.3>, of creation 77: their external forms.
pid() -> binary_to_term(<<131, 88, 100, 3:16, "x@y", 5:32, 6:32, 77:32>>).
ref() -> binary_to_term(<<131, 90, 3:16, 100, 3:16, "x@y", 77:32, 1:32, 2:32, 3:32>>).

hold(Main, P, R) ->
    Set = ets:new(set, []),
    ets:insert(Set, [{a, P}, {b, [R, R], P}]),
    Tree = ets:new(tree, [ordered_set]),
    ets:insert(Tree, [{N, P} || N <- lists:seq(1, 20)]),
    persistent_term:put(otp_debug_nodes, {P, R}),
    erlang:send_after(600000, self(), {later, R}),
    persistent_term:put(timer_of_a_name, erlang:send_after(600000, nobody_of_that_name, [P, R])),
    self() ! {self(), R},
    {[_], More} = ets:select(Tree, [{{'_', P}, [], ['$_']}], 1),
    Main ! {self(), ready},
    receive stop -> {More, P, R} end.

%% [{Type, Count}] of all who hold some; `none` when there is no entry. Fails when more or fewer are found than counted.
types() ->
    [erlang:garbage_collect(P) || P <- processes()],
    {{node_references, Nodes}, {dist_references, _}} = erts_debug:get_internal_state(node_and_dist_references),
    case lists:keyfind({x@y, 77}, 1, Nodes) of
        false -> none;
        {_, Counted, Holders} ->
            Types = lists:append([Ts || {_, Ts} <- Holders]),
            Counted = lists:sum([N || {_, N} <- Types]),
            true = Counted > 0,
            [{T, lists:sum([N || {U, N} <- Types, U =:= T])} || T <- lists:usort([T || {T, _} <- Types])]
    end.

told(When) -> io:format("~p ~0p~n", [When, types()]).

%% What a process or a persistent term held goes a moment after it.
until(Is) -> Is() orelse begin timer:sleep(20), until(Is) end.
%% expect: delay ok
%% expect: all [{binary,1},{ets,24},{heap,3},{system,2},{timer,3}]
%% expect: ended [{system,2}]
%% expect: erased none
%% expect: one [{heap,1}]
%% expect: delay ok x@y
