%% SPDX-License-Identifier: Apache-2.0
%% Timers: fire, cancel, read, order.
-module(proc_timers).
-export([main/0]).

main() ->
    d(in_order()),
    R = erlang:start_timer(10, self(), msg), d(receive {timeout, R, X} -> X end),
    R2 = erlang:send_after(100000, self(), never),
    L = erlang:read_timer(R2), d(L > 90000 andalso L =< 100000),
    L2 = erlang:cancel_timer(R2), d(L2 > 90000 andalso L2 =< L),
    d([erlang:cancel_timer(R2), erlang:read_timer(R2), erlang:cancel_timer(R)]),
    T0 = erlang:monotonic_time(millisecond),
    receive after 50 -> ok end,
    T1 = erlang:monotonic_time(millisecond),
    d(T1 - T0 >= 50),
    [erlang:send_after(1 + I rem 7, self(), {t, I}) || I <- lists:seq(1, 5000)],
    d(lists:sort([receive {t, I} -> I end || _ <- lists:seq(1, 5000)]) =:= lists:seq(1, 5000)),
    Ts = [erlang:send_after(60000 + I, self(), x) || I <- lists:seq(1, 5000)],
    d(length([T || T <- Ts, is_integer(erlang:cancel_timer(T))])),
    R3 = erlang:start_timer(0, self(), now), d(receive {timeout, R3, now} -> zero end),
    P = spawn(fun() -> receive x -> ok end end),
    erlang:send_after(10, P, x), Ref = monitor(process, P), d(receive {'DOWN', Ref, _, _, W} -> W end),
    d(receive after 0 -> none end),
    R4 = erlang:send_after(50000, self(), y), erlang:cancel_timer(R4, [{async, true}]),
    d(receive {cancel_timer, R4, V} -> is_integer(V) end),
    d(erlang:cancel_timer(erlang:send_after(50000, self(), y), [{info, false}])),
    [d(try F() catch C:E -> {C, E} end) || F <- [fun() -> erlang:send_after(-1, self(), x) end, fun() -> erlang:start_timer(id(a), self(), x) end,
                                                 fun() -> erlang:cancel_timer(id(x)) end]],
    to_the_dead().

%% Who was held up between them, until the first was due, sets them anew.
in_order() ->
    Due = erlang:monotonic_time(millisecond) + 10,
    [erlang:send_after(Due + 10 * I, self(), Word, [{abs, true}]) || {I, Word} <- [{2, three}, {1, two}, {0, one}]],
    Late = erlang:monotonic_time(millisecond) >= Due,
    case [receive M -> M end || _ <- [1, 2, 3]] of
        _ when Late -> in_order();
        Words -> Words
    end.

%% A timer ends with the process that it would send to; one to a name stays.
to_the_dead() ->
    register(here, self()),
    {P, M} = spawn_monitor(fun() ->
        Own = [erlang:send_after(60000 + I, self(), lists:seq(1, 100)) || I <- lists:seq(1, 300)],
        receive {go, Parent} -> Parent ! {own, Own} end
    end),
    Others = [erlang:start_timer(60000 + I, P, x) || I <- lists:seq(1, 300)],
    Named = [erlang:send_after(60000 + I, here, x) || I <- lists:seq(1, 300)],
    d([is_integer(erlang:read_timer(R)) || R <- [hd(Others), lists:last(Others)]]),
    P ! {go, self()},
    Own = receive {own, L} -> L end,
    receive {'DOWN', M, process, P, _} -> ok end,
    gone(Own ++ Others),
    d(lists:usort([erlang:cancel_timer(R) || R <- Own ++ Others])),
    d(length([R || R <- Named, is_integer(erlang:cancel_timer(R))])),
    Late = erlang:send_after(60000, P, x),
    gone([Late]),
    d(erlang:cancel_timer(Late)).

gone(Timers) ->
    case [R || R <- Timers, erlang:read_timer(R) =/= false] of
        [] -> ok;
        Left -> receive after 1 -> gone(Left) end
    end.

d(T) -> erlang:display(T).

id(X) -> X.

%% expect: [one,two,three]
%% expect: msg
%% expect: true
%% expect: true
%% expect: [false,false,false]
%% expect: true
%% expect: true
%% expect: 5000
%% expect: zero
%% expect: normal
%% expect: none
%% expect: true
%% expect: ok
%% expect: {error,badarg}
%% expect: {error,badarg}
%% expect: {error,badarg}
%% expect: [true,true]
%% expect: [false]
%% expect: 300
%% expect: false
