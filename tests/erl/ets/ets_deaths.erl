%% SPDX-License-Identifier: Apache-2.0
%% ets: owners die, tables go or are inherited, whatever else happens at the moment.
-module(ets_deaths).
-export([main/0]).

main() ->
    Me = self(),
    d(lists:usort([death(I, Me) || I <- lists:seq(1, 200)])),
    d(heirs(50)),
    Ps = [spawn(fun() -> Me ! {up, [fill(I) || I <- lists:seq(1, 20)]}, receive stop -> ok end end) || _ <- lists:seq(1, 50)],
    Ts = lists:append([receive {up, L} -> L end || _ <- Ps]),
    d(length(Ts -- (Ts -- ets:all()))),
    [exit(P, kill) || P <- Ps],
    wait(fun() -> Ts -- ets:all() =:= Ts end),
    d(all_gone),
    %% a fixation dies with its process
    T = ets:new(t, [public]),
    ets:insert(T, [{I} || I <- lists:seq(1, 100)]),
    P = spawn(fun() -> ets:safe_fixtable(T, true), Me ! fixed, receive stop -> ok end end),
    receive fixed -> ok end,
    d(ets:info(T, fixed)), exit(P, kill), wait(fun() -> ets:info(T, fixed) =:= false end), d(ets:info(T, size)),
    %% many give a table on
    First = lists:foldl(fun(_, Next) -> spawn(fun() -> receive {'ETS-TRANSFER', Tab, _, _} -> ets:update_counter(Tab, c, 1), ets:give_away(Tab, Next, on) end end) end, Me, lists:seq(1, 100)),
    G = ets:new(g, []), ets:insert(G, {c, 0}),
    ets:give_away(G, First, on),
    d(receive {'ETS-TRANSFER', G, _, on} -> ets:lookup(G, c) end).

fill(I) -> T = ets:new(t, [public]), ets:insert(T, {a, I}), T.

%% Its table is read while the owner dies: either all is there or nothing.
death(I, Me) ->
    P = spawn(fun() -> T = ets:new(t, [public]), ets:insert(T, [{K, I} || K <- lists:seq(1, 50)]), Me ! {table, T}, receive stop -> ok end end),
    T = receive {table, X} -> X end,
    exit(P, kill),
    read(T, I).

read(T, I) ->
    try ets:select(T, [{{'$1', I}, [], ['$1']}]) of
        L when length(L) =:= 50 -> read(T, I)
    catch
        error:badarg -> gone
    end.

%% A chain of heirs that die one after the other.
heirs(N) ->
    Me = self(),
    First = lists:foldl(fun(_, Heir) -> spawn(fun() -> heir(Heir) end) end, Me, lists:seq(1, N)),
    T = ets:new(h, []),
    ets:insert(T, {c, 0}),
    ets:give_away(T, First, start),
    receive {'ETS-TRANSFER', T, _, heritage} -> ets:lookup(T, c) end.

heir(Next) ->
    receive {'ETS-TRANSFER', T, _, _} ->
        ets:setopts(T, {heir, Next, heritage}),
        ets:update_counter(T, c, 1)
    end.

wait(F) -> case F() of true -> ok; false -> receive after 5 -> wait(F) end end.

d(T) -> erlang:display(T).

%% expect: [gone]
%% expect: [{c,50}]
%% expect: 1000
%% expect: all_gone
%% expect: true
%% expect: 100
%% expect: [{c,100}]
