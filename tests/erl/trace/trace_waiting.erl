%% SPDX-License-Identifier: Apache-2.0
%% Trace points come and go while callers wait for their turn right there.
%% expect: {answers,true}
-module(trace_waiting).
-export([main/0, call/2, seen/1]).

main() ->
    Caller = spawn_link(fun() -> call(1, 0) end),
    [[round(Caller, MFA) || _ <- lists:seq(1, 50)] || MFA <- [{?MODULE, seen, 1}, {erlang, phash2, 2}, {'_', '_', '_'}]],
    Caller ! {stop, self()},
    io:format("~p~n", [receive {answers, Right, All} -> {answers, Right =:= All andalso All > 0} end]).

%% The caller spends its turn on each call: it is suspended where a call begins.
round(Caller, MFA) ->
    erlang:trace_pattern(MFA, true, [global]),
    spread(10),
    erlang:suspend_process(Caller),
    erlang:trace_pattern(MFA, false, [global]),
    erlang:resume_process(Caller),
    spread(10).

spread(0) -> ok;
spread(N) -> erlang:yield(), spread(N - 1).

call(N, Right) ->
    receive
        {stop, From} -> From ! {answers, Right, N - 1}
    after 0 ->
        erlang:bump_reductions(4000),
        {seen, N} = ?MODULE:seen(N),
        erlang:bump_reductions(4000),
        Hash = erlang:phash2(N, 1 + N rem 2),
        call(N + 1, case Hash < 2 of true -> Right + 1; false -> Right end)
    end.

seen(N) -> {seen, N}.
