%% SPDX-License-Identifier: Apache-2.0
%% Many processes at once; all are heard, all are gone afterwards.
-module(proc_many).
-export([main/0]).

main() ->
    Me = self(),
    Ps = [spawn(fun() -> receive {go, X} -> Me ! {self(), X * 2} end end) || _ <- lists:seq(1, 20000)],
    erlang:display(length(lists:usort(Ps))),
    erlang:display(length(listed(Ps))),
    lists:foldl(fun(P, I) -> P ! {go, I}, I + 1 end, 1, Ps),
    erlang:display(lists:sum([receive {P, V} -> V end || P <- Ps])),
    wait(fun() -> listed(Ps) =:= [] end),
    erlang:display(lists:any(fun is_process_alive/1, Ps)),
    erlang:display(spawn_tree(14)).

%% Which of them processes/0 tells.
listed(Ps) -> ordsets:intersection(ordsets:from_list(Ps), ordsets:from_list(processes())).

spawn_tree(0) -> 1;
spawn_tree(D) ->
    Me = self(),
    [spawn_link(fun() -> Me ! {sum, spawn_tree(D - 1)} end) || _ <- [1, 2]],
    receive {sum, A} -> receive {sum, B} -> A + B end end.

wait(F) -> case F() of true -> ok; false -> receive after 10 -> wait(F) end end.

%% expect: 20000
%% expect: 20000
%% expect: 400020000
%% expect: false
%% expect: 16384
