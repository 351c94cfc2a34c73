%% SPDX-License-Identifier: Apache-2.0
%% trace_delivered/1 comes behind all that its process was traced for before, from whichever thread, and holds nobody up;
%% what waits for all schedulers comes back, and may be killed meanwhile.
-module(trace_delivered).
-export([main/0, step/1]).

main() ->
    erts_debug:set_internal_state(available_internal_state, true),
    1 = erlang:trace_pattern({?MODULE, step, 1}, true, [local]),
    Workers = [spawn_link(fun() -> work(0) end) || _ <- lists:seq(1, 4)],
    [1 = erlang:trace(W, true, [call]) || W <- Workers],
    p([deliver(W, N) || N <- lists:seq(1, 23), W <- Workers] =:= [ok || _ <- lists:seq(1, 92)]),
    Ref = erlang:trace_delivered(all),
    p(receive {trace_delivered, all, Ref} -> delivered after 5000 -> lost end),
    p(lists:usort([barrier() || _ <- lists:seq(1, 100)])),
    p(lists:usort([killed(N) || N <- lists:seq(1, 200)])),
    p(try erlang:trace_delivered(ets) catch error:badarg -> badarg end).

%% Whoever works says how far it is after it has been traced there.
work(N) ->
    receive
        {go, From} -> From ! {self(), step(N)}, work(N + 1)
    after 0 ->
        _ = lists:sum(lists:seq(1, 100)), work(N)
    end.

step(N) -> N.

deliver(W, N) ->
    W ! {go, self()},
    receive {W, M} when M =:= N - 1 -> ok end,
    Ref = erlang:trace_delivered(W),
    seen(W, N - 1, Ref, no).

%% Was the step traced before the answer came?
seen(W, N, Ref, Seen) ->
    receive
        {trace, W, call, {?MODULE, step, [N]}} -> seen(W, N, Ref, yes);
        {trace, W, call, _} -> seen(W, N, Ref, Seen);
        {trace_delivered, W, Ref} when Seen =:= yes -> ok;
        {trace_delivered, W, Ref} -> too_early
    after 5000 -> lost
    end.

barrier() ->
    {erts_internal:system_check(schedulers), erts_debug:set_internal_state(wait, thread_progress)}.

killed(N) ->
    {P, R} = spawn_monitor(fun() -> barrier(), barrier(), barrier(), exit(done) end),
    N rem 3 =:= 0 andalso erlang:yield(),
    N rem 2 =:= 0 andalso exit(P, kill),
    receive {'DOWN', R, process, P, Why} when Why =:= done; Why =:= killed -> ended end.

p(T) -> io:format("~0p~n", [T]).

%% expect: true
%% expect: delivered
%% expect: [{ok,ok}]
%% expect: [ended]
%% expect: badarg
