%% SPDX-License-Identifier: Apache-2.0
%% Links and exit signals.
-module(proc_links).
-export([main/0]).

main() ->
    process_flag(trap_exit, true),
    [begin P = spawn_link(F), d(receive {'EXIT', P, R} -> strip(R) end) end
     || F <- [fun() -> ok end, fun() -> exit(bye) end, fun() -> exit(self(), kill), receive after infinity -> ok end end,
              fun() -> exit(normal) end]],
    A = spawn(fun() -> receive after infinity -> ok end end),
    link(A), exit(A, reason), d(receive {'EXIT', A, R1} -> R1 end),
    B = spawn_link(fun() -> receive after infinity -> ok end end),
    exit(B, normal), d(is_process_alive(B)),
    exit(B, kill), d(receive {'EXIT', B, R2} -> R2 end),
    Me = self(),
    C = spawn_link(fun() -> process_flag(trap_exit, true), Me ! traps, receive {'EXIT', _, W} -> exit({got, W}) end end),
    receive traps -> ok end,
    exit(C, hello), d(receive {'EXIT', C, R3} -> R3 end),
    %% a chain falls as a whole
    D = spawn_link(fun() -> spawn_link(fun() -> spawn_link(fun() -> exit(deep) end), receive after infinity -> ok end end), receive after infinity -> ok end end),
    d(receive {'EXIT', D, R4} -> R4 end),
    E = spawn_link(fun() -> receive go -> ok end end),
    unlink(E), E ! go, d(receive {'EXIT', E, _} -> linked after 30 -> unlinked end),
    {F, Gone} = spawn_monitor(fun() -> ok end), receive {'DOWN', Gone, _, _, _} -> ok end,
    link(F), d(receive {'EXIT', F, R5} -> R5 end),
    d(lists:member(E, element(2, process_info(self(), links)))),
    process_flag(trap_exit, false),
    d([N || N <- lists:seq(1, 300), not agree()]),
    d(catch_it(fun() -> link(not_a_pid()) end)).

%% Two that link at the same time, of which the second unlinks at once, agree in the end: also when the second hears of
%% the first one's link before that one hears of anything.
agree() ->
    At = atomics:new(2, []),
    First = fun(Other) -> link(Other), atomics:put(At, 1, 1), spin(At, 2) end,
    Second = fun(Other) -> link(Other), unlink(Other), spin(At, 1), process_info(self(), links), atomics:put(At, 2, 1) end,
    Online = erlang:system_info(schedulers_online),
    Pids = [A, B] = [spawn_opt(turn(Act, self()), [{scheduler, N rem Online + 1}]) || {N, Act} <- [{1, First}, {2, Second}]],
    [Pid ! {go, Other} || {Pid, Other} <- [{A, B}, {B, A}]],
    [receive {Pid, done} -> ok end || Pid <- Pids],
    [OfA, OfB] = [element(2, process_info(Pid, links)) || Pid <- Pids],
    [exit(Pid, kill) || Pid <- Pids],
    (OfA =:= [B]) =:= (OfB =:= [A]).

turn(Act, Parent) ->
    fun() ->
        Other = receive {go, Pid} -> Pid end,
        Act(Other),
        Other ! done,
        receive done -> Parent ! {self(), done} end,
        receive stop -> ok end
    end.

spin(At, I) -> atomics:get(At, I) =:= 1 orelse spin(At, I).

not_a_pid() -> list_to_atom("x").

strip({R, T}) when is_list(T) -> R;
strip(R) -> R.

catch_it(F) -> try F() catch C:R -> {C, R} end.

d(T) -> erlang:display(T).

%% expect: normal
%% expect: bye
%% expect: killed
%% expect: normal
%% expect: reason
%% expect: true
%% expect: killed
%% expect: {got,hello}
%% expect: deep
%% expect: unlinked
%% expect: noproc
%% expect: false
%% expect: []
%% expect: {error,badarg}
