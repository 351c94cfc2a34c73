%% SPDX-License-Identifier: Apache-2.0
%% gen_statem: states, postponed events, state time-outs, enter calls.
-module(otp_gen_statem).
-behaviour(gen_statem).
-export([main/0, init/1, callback_mode/0, locked/3, open/3, terminate/3]).

main() ->
    {ok, P} = gen_statem:start_link(?MODULE, [], []),
    d(gen_statem:call(P, state)),
    gen_statem:cast(P, {button, 1}), gen_statem:cast(P, {button, 9}), d(gen_statem:call(P, state)),
    gen_statem:cast(P, {button, 1}), gen_statem:cast(P, {button, 2}), gen_statem:cast(P, {button, 3}),
    d(gen_statem:call(P, state)),
    gen_statem:cast(P, {button, 1}),
    d(gen_statem:call(P, state)),
    d(gen_statem:call(P, close)),
    d(closed(P)),
    d(gen_statem:call(P, history)),
    d(gen_statem:stop(P)).

closed(P) ->
    case gen_statem:call(P, state) of
        {open, _} -> receive after 5 -> closed(P) end;
        Other -> Other
    end.

callback_mode() -> [state_functions, state_enter].

init([]) -> {ok, locked, #{code => [1, 2, 3], left => [1, 2, 3], log => []}}.

locked(enter, Old, D) -> {keep_state, log({enter, locked, Old}, D#{left => maps:get(code, D)})};
locked(cast, {button, B}, #{left := [B]} = D) -> {next_state, open, D};
locked(cast, {button, B}, #{left := [B | T]} = D) -> {keep_state, D#{left := T}};
locked(cast, {button, _}, D) -> {keep_state, D#{left := maps:get(code, D)}};
locked(T, E, D) -> common(T, E, locked, D).

open(enter, Old, D) -> {keep_state, log({enter, open, Old}, D)};
open({call, F}, close, _) -> {keep_state_and_data, [{reply, F, ok}, {state_timeout, 20, lock}]};
open(state_timeout, lock, D) -> {next_state, locked, D};
open(cast, {button, _}, D) -> {keep_state, log(postponed, D), [postpone]};
open(T, E, D) -> common(T, E, open, D).

common({call, F}, state, S, D) -> {keep_state, D, [{reply, F, {S, length(maps:get(left, D))}}]};
common({call, F}, history, _, D) -> {keep_state_and_data, [{reply, F, lists:reverse(maps:get(log, D))}]}.

log(X, D) -> D#{log := [X | maps:get(log, D)]}.

terminate(R, S, _) -> d({terminate, R, S}).

d(T) -> erlang:display(T).

%% expect: {locked,3}
%% expect: {locked,3}
%% expect: {open,1}
%% expect: {open,1}
%% expect: ok
%% expect: {locked,2}
%% expect: [{enter,locked,locked},{enter,open,locked},postponed,{enter,locked,open}]
%% expect: {terminate,normal,locked}
%% expect: ok
