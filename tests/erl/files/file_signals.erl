%% SPDX-License-Identifier: Apache-2.0
%% Processes at work on files, while others ask, suspend, collect, link to and kill them: each ends once, for its own reason, a call is
%% answered once, nothing stays open.
-module(file_signals).
-export([main/0]).

-define(WORKERS, 8).
-define(ROUNDS, 60).

main() ->
    Name = "/tmp/file_signals_data." ++ os:getpid(),
    ok = prim_file:write_file(Name, binary:copy(<<"0123456789">>, 3000)),
    Reasons = lists:append([round(Name, N) || N <- lists:seq(1, ?ROUNDS)]),
    erlang:display({ends, length(Reasons), lists:usort(Reasons)}),
    erlang:display({open, settle(Name)}),
    erlang:display({mailbox, process_info(self(), messages)}),
    ok = prim_file:delete(Name),
    halt(0).

round(Name, N) ->
    Ps = [spawn_monitor(fun() -> work(Name, []) end) || _ <- lists:seq(1, ?WORKERS)],
    Pids = [P || {P, _} <- Ps],
    Tormentors = [spawn_monitor(fun() -> torment(Pids, N * 7 + K, 30) end) || K <- lists:seq(1, 3)],
    [receive {'DOWN', R, process, _, Why} -> normal = Why end || {_, R} <- Tormentors],
    [exit(P, kill) || P <- Pids],
    [receive {'DOWN', R, process, _, Why} -> Why end || {_, R} <- Ps].

work(Name, Kept) ->
    {ok, F} = prim_file:open(Name, [read]),
    {ok, <<"0123456789", _/binary>>} = prim_file:read(F, 30000),
    {ok, <<"56789">>} = prim_file:pread(F, 105, 5),
    receive {From, Ref, Question} -> From ! {Ref, Question} after 0 -> ok end,
    case Kept of
        [A, B, C] -> [ok = prim_file:close(X) || X <- [A, B, C]], work(Name, [F]);
        _ -> work(Name, [F | Kept])
    end.

torment(_, _, 0) -> ok;
torment(Pids, Seed, N) ->
    P = lists:nth(Seed rem ?WORKERS + 1, Pids),
    try act((Seed bsr 3) rem 8, P) catch error:badarg -> gone; error:noproc -> gone end,
    torment(Pids, (Seed * 1103515245 + 12345) band 16#7fffffff, N - 1).

act(0, P) -> case process_info(P) of undefined -> gone; L -> true = is_list(L) end;
act(1, P) -> true = erlang:suspend_process(P, [asynchronous]), erlang:yield(), true = erlang:resume_process(P);
act(2, P) -> true = is_boolean(garbage_collect(P));
act(3, P) -> {_, M} = spawn_monitor(fun() -> link(P), exit(linked) end), receive {'DOWN', M, _, _, _} -> ok end;
act(4, P) -> M = monitor(process, P), P ! {self(), M, question}, receive {M, question} -> demonitor(M, [flush]); {'DOWN', M, _, _, _} -> gone end;
act(5, P) -> P ! nothing_it_reads, is_process_alive(P);
act(6, P) -> exit(P, asked);
act(7, P) -> true = is_boolean(check_process_code(P, lists)).

settle(Name) ->
    {ok, L} = prim_file:list_dir("/proc/self/fd"),
    case length([X || X <- L, prim_file:read_link("/proc/self/fd/" ++ X) =:= {ok, Name}]) of
        0 -> 0;
        _ -> receive after 10 -> settle(Name) end
    end.

%% expect: {ends,480,[asked,killed,linked]}
%% expect: {open,0}
%% expect: {mailbox,{messages,[]}}
