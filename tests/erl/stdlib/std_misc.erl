%% SPDX-License-Identifier: Apache-2.0
%% calendar, math, rand, filename, timer arithmetic, digraph.
-module(std_misc).
-export([main/0]).

main() ->
    d([calendar:date_to_gregorian_days(2024, 2, 29), calendar:day_of_the_week(2024, 2, 29), calendar:is_leap_year(1900), calendar:last_day_of_the_month(2023, 2),
       calendar:datetime_to_gregorian_seconds({{2000, 1, 1}, {0, 0, 0}}), calendar:gregorian_seconds_to_datetime(63000000000), calendar:seconds_to_time(86399),
       calendar:iso_week_number({2021, 1, 3}), calendar:rfc3339_to_system_time("2020-01-01T00:00:00Z"), calendar:system_time_to_rfc3339(0, [{offset, "Z"}])]),
    d([filename:join("a", "b"), filename:basename("/x/y.erl", ".erl"), filename:dirname("/x/y"), filename:extension("a.b.c"), filename:split("/a/b"),
       filename:absname("x", "/r"), filename:rootname("a.erl"), filename:join(["a", "/b", "c"]), filename:pathtype("/a")]),
    S = rand:seed_s(exsss, {1, 2, 3}),
    {X, S1} = rand:uniform_s(1000000, S),
    {Y, _} = rand:uniform_s(1000000, S1),
    d([X, Y]),
    {Z, _} = rand:uniform_s(rand:seed_s(exro928ss, 42)),
    d(float_to_list(Z, [short])),
    d([timer:seconds(3), timer:hms(1, 2, 3), timer:minutes(1)]),
    {T, V} = timer:tc(fun() -> lists:sum(lists:seq(1, 1000)) end),
    d([is_integer(T), V]),
    G = digraph:new(),
    [digraph:add_vertex(G, N) || N <- [a, b, c, d]],
    [digraph:add_edge(G, P, Q) || {P, Q} <- [{a, b}, {b, c}, {a, c}, {c, d}]],
    d([digraph:get_path(G, a, d) =/= false, digraph:get_short_path(G, a, d), digraph_utils:topsort(G) =/= false, lists:sort(digraph_utils:reachable([b], G)),
       digraph_utils:is_acyclic(G), digraph:no_edges(G)]),
    d([float_to_list(F, [{decimals, 10}]) || F <- [math:sin(1), math:cos(1), math:atan2(1, 2), math:exp(1), math:log2(10), math:fmod(7.5, 2), math:tanh(0.5)]]),
    d([lists:sort(sofs:to_external(sofs:converse(sofs:relation([{1, a}, {2, b}])))), math:ceil(1.5) == 2]).

d(T) -> erlang:display(T).

%% expect: [739310,4,false,28,63113904000,{{1996,5,22},{16,0,0}},{23,59,59},{2020,53},1577836800,"1970-01-01T00:00:00Z"]
%% expect: ["a/b","y","/x",".c",["/","a","b"],"/r/x","a","/b/c",absolute]
%% expect: [878027,466641]
%% expect: "0.3672301478324621"
%% expect: [3000,3723000,60000]
%% expect: [true,500500]
%% expect: [true,[a,c,d],true,[b,c,d],true,4]
%% expect: ["0.8414709848","0.5403023059","0.4636476090","2.7182818285","3.3219280949","1.5000000000","0.4621171573"]
%% expect: [[{a,1},{b,2}],true]
