%% SPDX-License-Identifier: Apache-2.0
%% A hibernating process keeps what it needs and nothing else; what cannot hibernate says so.
-module(proc_hibernate).
-export([main/0, wake/1]).

main() ->
    Kept = lists:seq(1, 10),
    P = spawn(fun() -> _ = lists:seq(1, 10000), erlang:hibernate(?MODULE, wake, [{Kept, self()}]) end),
    asleep(P),
    {heap_size, Size} = process_info(P, heap_size),
    %% Under a sanitizer no block is shrunk where it lies.
    erlang:display(Size =< erts_debug:size([{Kept, P}]) + 8 orelse erlang:system_info(build_type) =/= opt),
    P ! {tell, self()},
    receive {Kept, Awake} -> erlang:display(Awake >= 233) end,
    Q = spawn_opt(fun() -> erlang:hibernate(?MODULE, wake, [{none, self()}]) end, [{min_heap_size, 5000}]),
    asleep(Q),
    [stays_asleep() || _ <- lists:seq(1, 1000)],
    Q ! {tell, self()},
    receive {none, Large} -> erlang:display(Large >= 5000) end,
    [erlang:display(try erlang:hibernate(M, F, A) catch error:R -> R end)
     || {M, F, A} <- [{x, y, lists:duplicate(5000, z)}, {42, y, []}, {x, y, [a | b]}]],
    %% Limits of others: dates that no local time has, arrays that no memory holds.
    Dates = [{{1900, 7, 1}, {12, 0, 0}}, {{1996, 2, 30}, {12, 0, 0}}],
    erlang:display([try F(D) catch error:R -> R end || F <- [fun erlang:universaltime_to_localtime/1, fun erlang:localtime_to_universaltime/1], D <- Dates]),
    erlang:display(try atomics:new(1 bsl 70, []) catch error:E -> E end),
    erlang:display(try counters:new(-(1 bsl 70), []) catch error:E2 -> E2 end).

%% What is asked while a process goes to sleep does not wake it.
stays_asleep() ->
    P = spawn(fun() -> _ = lists:seq(1, 10000), erlang:hibernate(?MODULE, wake, [{none, self()}]) end),
    Asker = spawn_link(fun() -> [process_info(P, status) || _ <- lists:seq(1, 100)] end),
    asleep(P),
    unlink(Asker),
    exit(P, kill).

asleep(P) ->
    case process_info(P, current_function) of
        {_, {erlang, hibernate, 3}} -> ok;
        _ -> erlang:yield(), asleep(P)
    end.

wake({Kept, _}) ->
    receive {tell, To} -> To ! {Kept, element(2, process_info(self(), heap_size))} end.

%% expect: true
%% expect: true
%% expect: true
%% expect: system_limit
%% expect: badarg
%% expect: badarg
%% expect: [badarg,badarg,badarg,badarg]
%% expect: system_limit
%% expect: badarg
