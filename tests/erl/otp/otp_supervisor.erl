%% SPDX-License-Identifier: Apache-2.0
%% supervisor: restarts by strategy, children added and ended, giving up.
-module(otp_supervisor).
-behaviour(supervisor).
-export([main/0, init/1, start_child/0]).

main() ->
    whereis(logger) =:= undefined andalso logger_server:start_link(), %% without the kernel application
    logger:set_primary_config(level, none),
    process_flag(trap_exit, true),
    [d({S, strategy(S)}) || S <- [one_for_one, one_for_all, rest_for_one]],
    {ok, Sup} = supervisor:start_link(?MODULE, {simple_one_for_one, [child(w)]}),
    Ps = [element(2, supervisor:start_child(Sup, [])) || _ <- lists:seq(1, 5)],
    d(supervisor:count_children(Sup)),
    d(supervisor:terminate_child(Sup, hd(Ps))),
    d(proplists:get_value(active, supervisor:count_children(Sup))),
    unlink(Sup), exit(Sup, shutdown), wait_gone(Sup),
    d(lists:any(fun is_process_alive/1, Ps)),
    {ok, S2} = supervisor:start_link(?MODULE, {one_for_one, [child(a), child(b)]}),
    d([lists:sort([I || {I, _, _, _} <- supervisor:which_children(S2)]), element(1, supervisor:start_child(S2, child(c))),
       element(1, supervisor:start_child(S2, child(a))), supervisor:delete_child(S2, a), supervisor:terminate_child(S2, a), supervisor:delete_child(S2, a),
       element(1, supervisor:restart_child(S2, b)), supervisor:get_childspec(S2, zz)]),
    kill_until_dead(S2, c),
    d(receive {'EXIT', S2, R} -> R end).

strategy(S) ->
    {ok, Sup} = supervisor:start_link(?MODULE, {S, [child(a), child(b), child(c)]}),
    Before = pids(Sup),
    exit(proplists:get_value(b, Before), kill),
    After = settled(Sup, proplists:get_value(b, Before)),
    R = [{I, case proplists:get_value(I, After) of P -> same; _ -> new end} || {I, P} <- lists:sort(Before)],
    unlink(Sup), exit(Sup, shutdown), wait_gone(Sup),
    R.

settled(Sup, Old) ->
    case pids(Sup) of
        Ps ->
            case [P || {_, P} <- Ps, is_pid(P), P =/= Old] of
                [_, _, _] -> Ps;
                _ -> receive after 5 -> settled(Sup, Old) end
            end
    end.

pids(Sup) -> [{I, P} || {I, P, _, _} <- supervisor:which_children(Sup)].

kill_until_dead(Sup, Id) ->
    case is_process_alive(Sup) of
        true ->
            try exit(proplists:get_value(Id, pids(Sup)), kill) catch _:_ -> ok end,
            receive after 5 -> kill_until_dead(Sup, Id) end;
        false -> ok
    end.

wait_gone(P) -> R = monitor(process, P), receive {'DOWN', R, _, _, _} -> ok end.

child(I) -> #{id => I, start => {?MODULE, start_child, []}, shutdown => 1000}.

start_child() -> {ok, spawn_link(fun() -> receive after infinity -> ok end end)}.

init({S, Cs}) -> {ok, {#{strategy => S, intensity => 3, period => 60}, Cs}}.

d(T) -> erlang:display(T).

%% expect: {one_for_one,[{a,same},{b,new},{c,same}]}
%% expect: {one_for_all,[{a,new},{b,new},{c,new}]}
%% expect: {rest_for_one,[{a,same},{b,new},{c,new}]}
%% expect: [{specs,1},{active,5},{supervisors,0},{workers,5}]
%% expect: ok
%% expect: 4
%% expect: false
%% expect: [[a,b],ok,error,{error,running},ok,ok,error,{error,not_found}]
%% expect: shutdown
