%% SPDX-License-Identifier: Apache-2.0
%% gen_event: handlers added, swapped, removed, thrown out.
-module(otp_gen_event).
-behaviour(gen_event).
-export([main/0, init/1, handle_event/2, handle_call/2, handle_info/2, terminate/2]).

main() ->
    {ok, P} = gen_event:start_link(),
    d([gen_event:add_handler(P, ?MODULE, a), gen_event:add_handler(P, {?MODULE, two}, b), length(gen_event:which_handlers(P))]),
    d([gen_event:notify(P, one), gen_event:sync_notify(P, two), gen_event:call(P, ?MODULE, get), gen_event:call(P, {?MODULE, two}, get)]),
    d(gen_event:call(P, nothing, get)),
    d(gen_event:swap_handler(P, {?MODULE, swap}, {{?MODULE, three}, c})),
    d(gen_event:call(P, {?MODULE, three}, get)),
    d(gen_event:sync_notify(P, remove)),
    d(gen_event:which_handlers(P)),
    d(gen_event:delete_handler(P, {?MODULE, three}, bye)),
    d(gen_event:which_handlers(P)),
    d(gen_event:stop(P)).

init({X, Old}) -> {ok, {X, Old}};
init(X) -> {ok, [X]}.

handle_event(remove, [b | _]) -> remove_handler;
handle_event(_, {_, _} = S) -> {ok, S};
handle_event(E, S) -> {ok, S ++ [E]}.

handle_call(get, S) -> {ok, S, S}.

handle_info(_, S) -> {ok, S}.

terminate(swap, S) -> S;
terminate(bye, _) -> good_bye;
terminate(_, _) -> ok.

d(T) -> erlang:display(T).

%% expect: [ok,ok,2]
%% expect: [ok,ok,[a,one,two],[b,one,two]]
%% expect: {error,bad_module}
%% expect: ok
%% expect: {c,[a,one,two]}
%% expect: ok
%% expect: [{otp_gen_event,three}]
%% expect: good_bye
%% expect: []
%% expect: ok
