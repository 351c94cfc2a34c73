%% SPDX-License-Identifier: Apache-2.0
%% A module is loaded anew and its old code purged, again and again, and all its functions are traced for a while now
%% and then, while every scheduler runs it: in loops, in returns of deep recursions, in funs, in exceptions, in natives.
%% Nobody sees more than one version in one call, or another result.
-module(otp_purge_storm).
-export([main/0]).
-define(M, otp_purge_storm_one).
-define(VERSIONS, 40).

main() ->
    load(1),
    Busy = 2 * erlang:system_info(schedulers_online),
    Pids = [spawn_monitor(fun() -> work(0, 0) end) || _ <- lists:seq(1, Busy)],
    [begin
        go_softly(),
        load(Version),
        Version rem 4 =:= 0 andalso trace_for_a_while(),
        await(Pids, Version)
     end || Version <- lists:seq(2, ?VERSIONS)],
    [Pid ! stop || {Pid, _} <- Pids],
    Ends = [receive {'DOWN', M, process, Pid, Why} -> Why end || {Pid, M} <- Pids],
    io:format("~p~n", [lists:usort(Ends)]),
    go_softly(),
    io:format("~p~n", [erlang:check_old_code(?M)]).

%% Every worker has seen the version, so that each is run by all.
await(Pids, Version) ->
    [begin
        Pid ! {has, Version, self()},
        receive {Pid, Seen} when Seen >= Version -> ok;
                {Pid, _} -> await([One], Version);
                {'DOWN', M, process, Pid, Why} -> exit(Why)
        end
     end || {Pid, M} = One <- Pids].

trace_for_a_while() ->
    erlang:trace_pattern({?M, '_', '_'}, true, [local]),
    erlang:yield(),
    erlang:trace_pattern({?M, '_', '_'}, false, [local]).

work(Last, Rounds) ->
    {Version, Results} = ?M:all(200),
    true = Version >= Last,
    Results = [20100 * Version, 20100 * Version, lists:duplicate(200, Version), {caught, {Version, 200}}, [Version, 200]],
    receive
        stop -> exit({worked, Rounds > 0});
        {has, _, From} -> From ! {self(), Version}, work(Version, Rounds + 1)
    after 0 -> work(Version, Rounds + 1)
    end.

go_softly() -> code:soft_purge(?M) orelse begin erlang:yield(), go_softly() end.

load(Version) ->
    V = integer_to_list(Version),
    Forms = [begin {ok, Tokens, _} = erl_scan:string(Text), {ok, Form} = erl_parse:parse_form(Tokens), Form end || Text <- [
        "-module(otp_purge_storm_one).", "-export([all/1]).",
        "all(N) -> {" ++ V ++ ", [loop(N, 0), deep(N), made(N), caught(N), lists:reverse([N, " ++ V ++ "])]}.",
        "loop(0, Sum) -> Sum; loop(N, Sum) -> loop(N - 1, Sum + N * " ++ V ++ ").",
        "deep(0) -> 0; deep(N) -> N * " ++ V ++ " + deep(N - 1).",
        "made(N) -> F = fun(_) -> " ++ V ++ " end, lists:map(F, lists:seq(1, N)).",
        "caught(N) -> try fails(N) catch error:Reason -> {caught, Reason} end.",
        "fails(N) when N > 0 -> erlang:error({" ++ V ++ ", N})."]],
    {ok, ?M, Code} = compile:forms(Forms),
    {module, ?M} = code:load_binary(?M, "storm", Code).

%% expect: [{worked,true}]
%% expect: false
