%% SPDX-License-Identifier: Apache-2.0
%% Arguments of a new process that just fill its heap, and nearly.
-module(proc_arguments).
-export([main/0, run/2]).

main() ->
    erlang:display([N || N <- lists:seq(90, 420), not is_kept(N)]).

is_kept(N) ->
    List = lists:seq(1, N),
    Self = self(),
    {_, Monitor} = spawn_monitor(?MODULE, run, [Self, List]),
    receive {list, Back} -> ok end,
    receive {'DOWN', Monitor, process, _, Why} -> ok end,
    spawn(fun() -> run(Self, {x, List}) end),
    receive {list, {x, Again}} -> ok end,
    Back =:= List andalso Again =:= List andalso Why =:= normal.

run(To, Data) ->
    erlang:garbage_collect(),
    To ! {list, Data}.

%% expect: []
