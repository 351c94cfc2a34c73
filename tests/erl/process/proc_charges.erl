%% SPDX-License-Identifier: Apache-2.0
%% Natives whose work grows with their arguments cost reductions that do, so that a loop of them ends its time slices
%% in time.
-module(proc_charges).
-export([main/0]).

main() ->
    Term = [{N, [N], "abc"} || N <- lists:seq(1, 2000)],
    Other = spawn_link(fun Drop() -> receive _ -> Drop() end end),
    Calls = [{phash2, fun(T) -> erlang:phash2(T) end},
             {phash2_range, fun(T) -> erlang:phash2(T, 1000) end},
             {send, fun(T) -> Other ! T end},
             {send_native, fun(T) -> erlang:send(Other, T, []) end},
             {encode, fun(T) -> term_to_binary(T) end},
             {decode, fun(T) -> binary_to_term(element(2, T)) end}],
    [io:format("~p ~p~n", [Name, cost(Call, argument(Name, Term)) > 10 * cost(Call, argument(Name, [x]))])
     || {Name, Call} <- Calls].

argument(decode, T) -> {T, term_to_binary(T)};
argument(_, T) -> T.

cost(Call, Argument) ->
    {reductions, Before} = process_info(self(), reductions),
    [Call(Argument) || _ <- [1, 2, 3, 4, 5]],
    {reductions, After} = process_info(self(), reductions),
    After - Before.

%% expect: phash2 true
%% expect: phash2_range true
%% expect: send true
%% expect: send_native true
%% expect: encode true
%% expect: decode true
