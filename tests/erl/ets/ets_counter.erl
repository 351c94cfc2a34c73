%% SPDX-License-Identifier: Apache-2.0
%% ets: update_counter, every form.
-module(ets_counter).
-export([main/0]).

main() ->
    T = ets:new(t, [public]),
    ets:insert(T, {c, 5, 10, x}),
    d([ets:update_counter(T, c, 1), ets:update_counter(T, c, {3, -2}), ets:update_counter(T, c, [{2, 1}, {3, 1}, {2, 1}]), ets:update_counter(T, c, [])]),
    d([ets:update_counter(T, c, {2, 100, 50, 0}), ets:update_counter(T, c, {2, -100, -50, 7}), ets:update_counter(T, c, {2, 1, 8, 0}), ets:lookup(T, c)]),
    d([ets:update_counter(T, c, {2, 1 bsl 70}), ets:update_counter(T, c, {2, -(1 bsl 70)}), ets:update_counter(T, c, 576460752303423487), ets:update_counter(T, c, -576460752303423487)]),
    d([ets:update_counter(T, new, 1, {x, 10}), ets:update_counter(T, new, 1, {x, 10}), ets:lookup(T, new), ets:update_counter(T, n2, [{2, 5}, {2, 6}], {x, 0, 0})]),
    [d(try F() catch C:R -> {C, R} end)
     || F <- [fun() -> ets:update_counter(T, c, {4, 1}) end, fun() -> ets:update_counter(T, c, {1, 1}) end, fun() -> ets:update_counter(T, c, {9, 1}) end,
              fun() -> ets:update_counter(T, none, 1) end, fun() -> ets:update_counter(T, c, 1.0) end, fun() -> ets:update_counter(T, c, [{2, 5}, {4, 6}]) end,
              fun() -> ets:update_counter(T, z, 1, {x, y}) end, fun() -> ets:update_counter(T, z, 1, {x}) end, fun() -> ets:update_counter(T, new, 1, foo) end]],
    d([ets:lookup(T, c), ets:member(T, z)]),
    Me = self(),
    [d(race(O, Me)) || O <- [[set, public], [set, public, {write_concurrency, true}], [ordered_set, public], [ordered_set, public, {write_concurrency, true}],
                             [set, public, {read_concurrency, true}]]].

race(Options, Me) ->
    T = ets:new(r, Options),
    ets:insert(T, {c, 0}),
    Ps = [spawn(fun() -> [ets:update_counter(T, c, 1) || _ <- lists:seq(1, 5000)], [ets:insert(T, {{N, I}, I}) || I <- lists:seq(1, 500)], Me ! {self(), done} end)
          || N <- lists:seq(1, 8)],
    [receive {P, done} -> ok end || P <- Ps],
    {ets:lookup(T, c), ets:info(T, size), lists:sum([V || {{_, _}, V} <- ets:tab2list(T)])}.

d(T) -> erlang:display(T).

%% expect: [6,8,[7,9,8],[]]
%% expect: [0,7,8,[{c,8,9,x}]]
%% expect: [1180591620717411303432,8,576460752303423495,8]
%% expect: [11,12,[{new,12}],[5,11]]
%% expect: {error,badarg}
%% expect: {error,badarg}
%% expect: {error,badarg}
%% expect: {error,badarg}
%% expect: {error,badarg}
%% expect: {error,badarg}
%% expect: {error,badarg}
%% expect: {error,badarg}
%% expect: {error,badarg}
%% expect: [[{c,8,9,x}],false]
%% expect: {[{c,40000}],4001,1002000}
%% expect: {[{c,40000}],4001,1002000}
%% expect: {[{c,40000}],4001,1002000}
%% expect: {[{c,40000}],4001,1002000}
%% expect: {[{c,40000}],4001,1002000}
