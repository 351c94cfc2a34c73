%% SPDX-License-Identifier: Apache-2.0
%% ets: names, owners, heirs, rights, fixations, information.
-module(ets_tables).
-export([main/0]).

main() ->
    Me = self(),
    n = ets:new(n, [named_table, public]),
    d([ets:info(n, I) || I <- [name, type, size, named_table, keypos, protection, heir, compressed, write_concurrency, read_concurrency, decentralized_counters, fixed]]),
    d([ets:info(n, owner) =:= Me, ets:info(n, node), is_integer(ets:info(n, memory)), length(ets:info(n)), ets:info(nosuch), ets:info(nosuch, size)]),
    W = ets:whereis(n), ets:insert(n, {a, 1}),
    d([is_reference(W), ets:lookup(W, a), ets:whereis(nosuch), ets:rename(n, n2), ets:whereis(n), ets:lookup(n2, a), lists:member(n2, ets:all())]),
    d(catch_it(fun() -> ets:new(n2, [named_table]) end)),
    P = spawn(fun() -> ets:new(other, [named_table, private]), ets:insert(other, {x, 1}), ets:new(prot, [named_table]), Me ! ready, receive stop -> ok end end),
    receive ready -> ok end,
    d([catch_it(fun() -> ets:lookup(other, x) end), catch_it(fun() -> ets:insert(prot, {x}) end), ets:lookup(prot, x), ets:info(other, protection), ets:info(other, size)]),
    R = monitor(process, P), P ! stop, receive {'DOWN', R, _, _, _} -> ok end,
    d([ets:info(other), ets:whereis(prot)]),
    spawn(fun() -> X = ets:new(inherited, [private, {heir, Me, "data"}]), ets:insert(X, {k, v}) end),
    d(receive {'ETS-TRANSFER', Tb, From, Data} -> {is_pid(From), Data, ets:tab2list(Tb), ets:info(Tb, owner) =:= Me} end),
    {Dead, Ref} = spawn_monitor(fun() -> ok end),
    receive {'DOWN', Ref, _, _, _} -> ok end,
    D = ets:new(d, [{heir, Dead, x}]),
    d([ets:info(D, heir), ets:setopts(D, {heir, Me, x}), ets:info(D, heir) =:= Me, ets:setopts(D, {heir, Dead, x}), ets:info(D, heir)]),
    G = ets:new(given, []),
    Q = spawn(fun() -> receive {'ETS-TRANSFER', Tab, Me, gift} -> Me ! {got, ets:info(Tab, owner) =:= self()}, receive stop -> ok end end end),
    d([ets:give_away(G, Q, gift), receive {got, Y} -> Y end, ets:info(G, owner) =:= Q]),
    d([catch_it(fun() -> ets:give_away(G, Me, x) end), catch_it(fun() -> ets:give_away(n2, Me, x) end)]),
    d([ets:setopts(n2, {heir, Me, x}), ets:info(n2, heir) =:= Me, ets:setopts(n2, [{protection, private}, {heir, none}]), ets:info(n2, protection), ets:info(n2, heir)]),
    d([catch_it(fun() -> ets:setopts(n2, {keypos, 2}) end), catch_it(fun() -> ets:setopts(n2, [{protection, x}]) end)]),
    F = ets:new(f, [public]), ets:insert(F, [{I} || I <- lists:seq(1, 1000)]),
    ets:safe_fixtable(F, true), ets:safe_fixtable(F, true),
    d([ets:info(F, fixed), element(2, ets:info(F, safe_fixed)) =:= [{Me, 2}], element(2, ets:info(F, safe_fixed_monotonic_time)) =:= [{Me, 2}]]),
    d(lists:sort(sweep(F, ets:first(F))) =:= lists:seq(1, 1000)),
    d([ets:info(F, size), ets:first(F)]),
    ets:insert(F, {5}), ets:safe_fixtable(F, false), ets:safe_fixtable(F, false),
    d([ets:info(F, fixed), ets:info(F, safe_fixed), ets:tab2list(F)]),
    [d({O, catch_it(fun() -> ets:delete(ets:new(x, [O])) end)})
     || O <- [{write_concurrency, auto}, {write_concurrency, x}, {keypos, 0}, {heir, none}, {heir, x, 1}, {read_concurrency, true}, compressed,
              {decentralized_counters, true}, private, sett]],
    d([ets:delete(n2), catch_it(fun() -> ets:delete(n2) end)]),
    C = ets:new(c, [ordered_set, public, compressed, {write_concurrency, true}, {read_concurrency, true}]),
    d([ets:info(C, I) || I <- [type, compressed, write_concurrency, read_concurrency, decentralized_counters]]),
    L = ets:new(l, []), ets:insert(L, [{I, I} || I <- lists:seq(1, 100)]),
    d([ets:foldl(fun({_, V}, S) -> S + V end, 0, L), ets:foldr(fun({_, V}, S) -> S + V end, 0, L), length(ets:tab2list(L))]).

sweep(_, '$end_of_table') -> [];
sweep(T, K) -> ets:delete(T, K), [K | sweep(T, ets:next(T, K))].

catch_it(F) -> try F() catch C:R -> {C, R} end.

d(T) -> erlang:display(T).

%% expect: [n,set,0,true,1,public,none,false,false,false,false,false]
%% expect: [true,'nonode@nohost',true,15,undefined,undefined]
%% expect: [true,[{a,1}],undefined,n2,undefined,[{a,1}],true]
%% expect: {error,badarg}
%% expect: [{error,badarg},{error,badarg},[],private,1]
%% expect: [undefined,undefined]
%% expect: {true,"data",[{k,v}],true}
%% expect: [none,true,true,true,none]
%% expect: [true,true,true]
%% expect: [{error,badarg},{error,badarg}]
%% expect: [true,true,true,private,none]
%% expect: [{error,badarg},{error,badarg}]
%% expect: [true,true,true]
%% expect: true
%% expect: [0,'$end_of_table']
%% expect: [false,false,[{5}]]
%% expect: {{write_concurrency,auto},true}
%% expect: {{write_concurrency,x},{error,badarg}}
%% expect: {{keypos,0},{error,badarg}}
%% expect: {{heir,none},true}
%% expect: {{heir,x,1},{error,badarg}}
%% expect: {{read_concurrency,true},true}
%% expect: {compressed,true}
%% expect: {{decentralized_counters,true},true}
%% expect: {private,true}
%% expect: {sett,{error,badarg}}
%% expect: [true,{error,badarg}]
%% expect: [ordered_set,true,true,true,true]
%% expect: [5050,5050,100]
