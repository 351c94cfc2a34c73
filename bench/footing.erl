%% SPDX-License-Identifier: Apache-2.0
%% What a machine carries: idle processes, timers, one large term, what a death tells. Each function prints one number.
-module(footing).
-export([idle/0, timers/0, term/0, downs/0, undefined/0]).

%% Resident bytes a process, of 500,000 that wait in a receive.
idle() ->
    N = 500000,
    Before = resident(),
    Pids = [spawn(fun wait/0) || _ <- lists:seq(1, N)],
    After = resident(),
    print((After - Before) / N),
    length(Pids).

wait() -> receive stop -> ok end.

%% Timers a second: started, fired and received.
timers() ->
    N = 300000,
    Self = self(),
    Us = time(fun() ->
        [erlang:send_after(1 + I rem 100, Self, fired) || I <- lists:seq(1, N)],
        [receive fired -> ok end || _ <- lists:seq(1, N)]
    end),
    print(N * 1000000 / Us).

%% Milliseconds until another process has got a term of 100 MB and collected twice.
term() ->
    Term = [{I, <<I:64>>, [I]} || I <- lists:seq(1, 1140000)],
    true = erts_debug:flat_size(Term) * 8 >= 100000000,
    Self = self(),
    Pid = spawn(fun() -> receive T -> erlang:garbage_collect(), erlang:garbage_collect(), Self ! {got, length(T)}, keep(T) end end),
    Us = time(fun() -> Pid ! Term, receive {got, 1140000} -> ok end end),
    print(Us / 1000).

keep(T) -> receive stop -> T end.

%% Milliseconds until 200,000 'DOWN's of one process have come, awaited one after the other.
downs() ->
    Pid = spawn(fun wait/0),
    Refs = [monitor(process, Pid) || _ <- lists:seq(1, 200000)],
    Pid ! stop,
    Us = time(fun() -> [receive {'DOWN', Ref, _, _, _} -> ok end || Ref <- Refs] end),
    print(Us / 1000).

%% Calls a second of functions that are not there, by 20 processes: the code server looks in every directory for each.
undefined() ->
    Calls = fun() -> [catch no_such_module:f() || _ <- lists:seq(1, 100)] end,
    Us = time(fun() ->
        Monitors = [spawn_monitor(Calls) || _ <- lists:seq(1, 20)],
        [receive {'DOWN', Ref, _, _, _} -> ok end || {_, Ref} <- Monitors]
    end),
    print(2000 * 1000000 / Us).

time(F) ->
    Begin = erlang:monotonic_time(microsecond),
    F(),
    erlang:monotonic_time(microsecond) - Begin.

resident() ->
    {ok, Status} = file:read_file("/proc/self/status"),
    {match, [Kb]} = re:run(Status, "VmRSS:\\s+(\\d+)", [{capture, all_but_first, list}]),
    list_to_integer(Kb) * 1024.

print(N) -> io:format("~b~n", [round(N)]).
