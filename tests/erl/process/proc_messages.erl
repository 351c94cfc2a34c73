%% SPDX-License-Identifier: Apache-2.0
%% Messages: order, copies, selective receive.
-module(proc_messages).
-export([main/0]).

main() ->
    Me = self(),
    P = spawn(fun() -> echo() end),
    [P ! {Me, N} || N <- lists:seq(1, 1000)],
    d([receive {P, N} -> N end || N <- lists:seq(1, 1000)] =:= lists:seq(1, 1000)),
    [self() ! {tag, N} || N <- lists:seq(1, 10)],
    d([receive {tag, N} -> N end || N <- [5, 1, 10, 2]]),
    d(drain([])),
    T = {big, lists:seq(1, 1000), binary:copy(<<1>>, 1000), #{k => [self()]}},
    P ! {Me, T},
    d(receive {P, T1} -> T1 =:= T end),
    d(receive never -> x after 0 -> timeout end),
    d(receive never -> x after 20 -> timeout end),
    self() ! a, self() ! b, self() ! c,
    d(receive c -> receive a -> receive b -> done end end end),
    R = make_ref(),
    [self() ! noise || _ <- lists:seq(1, 1000)],
    self() ! {R, hit},
    d(receive {R, X} -> X end),
    self() ! kept,
    d(try receive never -> ok after R -> ok end catch error:Why -> Why end),
    d(receive kept -> kept end),
    d(nested(12)),
    d(length(drain([]))),
    nosuch_process_1 =:= x orelse d(catch_badarg(fun() -> nosuch_process_1 ! hi end)),
    d(list_to_pid("<0.32767.0>") ! ok),
    d(ring(100, 1000)).

%% Answers to several requests, awaited in the order of the requests and against it.
nested(N) ->
    Echo = spawn(fun() -> echo_refs() end),
    Refs = [ask(Echo) || _ <- lists:seq(1, N)],
    A = make_ref(),
    Echo ! {self(), A},
    B = make_ref(),
    Echo ! {self(), B},
    receive {B, answer} -> ok end,
    receive {A, answer} -> ok end,
    length([receive {R, answer} -> R end || R <- lists:reverse(Refs)]).

ask(Echo) -> R = make_ref(), Echo ! {self(), R}, R.

echo_refs() -> receive {From, R} -> From ! {R, answer}, echo_refs() end.

echo() -> receive {From, M} -> From ! {self(), M}, echo() end.

drain(A) -> receive M -> drain([M | A]) after 0 -> lists:reverse(A) end.

catch_badarg(F) -> try F() catch error:badarg -> badarg end.

ring(N, M) ->
    Me = self(),
    First = lists:foldl(fun(_, Next) -> spawn(fun() -> forward(Next) end) end, Me, lists:seq(1, N)),
    First ! M,
    turn(First, 0).

turn(First, Turns) -> receive 0 -> Turns; M -> First ! M - 1, turn(First, Turns + 1) end.

forward(Next) -> receive 0 -> Next ! 0; M -> Next ! M, forward(Next) end.

d(T) -> erlang:display(T).

%% expect: true
%% expect: [5,1,10,2]
%% expect: [{tag,3},{tag,4},{tag,6},{tag,7},{tag,8},{tag,9}]
%% expect: true
%% expect: timeout
%% expect: timeout
%% expect: done
%% expect: hit
%% expect: timeout_value
%% expect: kept
%% expect: 12
%% expect: 1000
%% expect: badarg
%% expect: ok
%% expect: 1000
