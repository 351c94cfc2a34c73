%% SPDX-License-Identifier: Apache-2.0
%% What a peak of memory took is given back: memory/1 comes down to where it was, within some seconds.
%% expect: {spawned,true}
%% expect: {monitored,true}
%% expect: {linked,true}
%% expect: {again,true}
-module(proc_peaks).
-export([main/0]).

-define(MANY, 60000).
-define(SLACK_BYTES, (12 bsl 20)).
-define(PATIENCE, 300).

main() ->
    [io:format("~p~n", [{Kind, in_child(fun() -> peak(Kind) end)}]) || Kind <- [spawned, monitored, linked, again]].

%% Does memory come back after it?
in_child(Peak) ->
    garbage_collect(),
    Before = erlang:memory(total),
    {_, Ref} = spawn_monitor(Peak),
    receive {'DOWN', Ref, process, _, normal} -> ok end,
    comes_back(Before + ?SLACK_BYTES, ?PATIENCE).

comes_back(_, 0) -> erlang:memory();
comes_back(Bytes, Tries) ->
    case erlang:memory(total) =< Bytes of
        true -> true;
        false -> timer:sleep(100), comes_back(Bytes, Tries - 1)
    end.

peak(spawned) ->
    Self = self(),
    All = [spawn(fun() -> receive go -> Self ! done end end) || _ <- lists:seq(1, ?MANY)],
    [P ! go || P <- All],
    [receive done -> ok end || _ <- All];
peak(monitored) ->
    All = [spawn_monitor(fun() -> receive go -> ok end end) || _ <- lists:seq(1, ?MANY)],
    [P ! go || {P, _} <- All],
    [receive {'DOWN', Ref, process, _, normal} -> ok end || {_, Ref} <- All];
peak(linked) ->
    {_, Ref} = spawn_monitor(fun() -> chain(?MANY) end),
    receive {'DOWN', Ref, process, _, bye} -> ok end;
%% What was given back is taken again.
peak(again) ->
    peak(spawned),
    peak(monitored).

chain(0) -> exit(bye);
chain(N) -> spawn_link(fun() -> chain(N - 1) end), receive never -> ok end.
