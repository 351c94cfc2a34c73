%% SPDX-License-Identifier: Apache-2.0
%% Sizes that nothing can hold are errors of the one who asks, and nobody else's.
%% expect: [system_limit,system_limit,system_limit,badarg,{badmatch,<<1,2,3>>},{badmatch,<<1,2,3>>}]
%% expect: [badarg,badarg,badarg,badarg,badarg]
%% expect: [system_limit,system_limit,0,-1,0]
%% expect: [<<>>]
%% expect: [system_limit,system_limit,badarg,badarg]
%% expect: [timeout_value,timeout_value,badarg]
%% expect: [16777215,badarg]
-module(hostile_sizes).
-export([main/0, id/1]).

main() ->
    P = fun(L) -> io:format("~0p~n", [[reason(F) || F <- L]]) end,
    P([fun() -> <<0:(id(1 bsl 60))>> end,
       fun() -> <<0:(id(1 bsl 64))>> end,
       fun() -> <<1:(id(1 bsl 30)), 1:(id(1 bsl 62))>> end,
       fun() -> <<0:(id(-1))>> end,
       fun() -> N = id(1 bsl 60), <<X:N/binary, _/bits>> = id(<<1, 2, 3>>), X end,
       fun() -> N = id(1 bsl 58), <<X:N/unit:64, _/bits>> = id(<<1, 2, 3>>), X end]),
    P([fun() -> erlang:make_tuple(id(1 bsl 60), a) end,
       fun() -> erlang:make_tuple(id(1 bsl 100), a) end,
       fun() -> erlang:make_tuple(id(1 bsl 24), a) end,
       fun() -> erlang:make_tuple(id(-1), a) end,
       fun() -> erlang:make_tuple(id(5), a, [{id(1 bsl 62), x}]) end]),
    P([fun() -> id(1) bsl id(1 bsl 60) end,
       fun() -> id(1) bsl id(1 bsl 40) end,
       fun() -> id(1) bsr id(1 bsl 100) end,
       fun() -> id(-1) bsr id(1 bsl 100) end,
       fun() -> id(0) bsl id(1 bsl 100) end]),
    P([fun() -> binary:copy(<<>>, id(1 bsl 50)) end]),
    P([fun() -> list_to_atom(lists:duplicate(256, $a)) end,
       fun() -> atomics:new(id(1 bsl 61), []) end,
       fun() -> list_to_pid("<0.99999999999." ++ id("2>")) end,
       fun() -> list_to_ref("#Ref<0.99999999999.2." ++ id("3>")) end]),
    P([fun() -> receive after id(1 bsl 32) -> x end end,
       fun() -> receive after id(1 bsl 100) -> x end end,
       fun() -> erlang:send_after(id(1 bsl 62), self(), x) end]),
    P([fun() -> tuple_size(erlang:make_tuple(id(1 bsl 24) - 1, a)) end,
       fun() -> erlang:append_element(erlang:make_tuple(id(1 bsl 24) - 1, a), b) end]).

id(X) -> X.

reason(F) ->
    {_, R} = spawn_monitor(fun() -> exit(try F() catch _:E -> E end) end),
    receive {'DOWN', R, process, _, Reason} -> Reason end.
