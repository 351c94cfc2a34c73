%% SPDX-License-Identifier: Apache-2.0
%% gen_server: calls, casts, infos, time-outs, replies later.
-module(otp_gen_server).
-behaviour(gen_server).
-export([main/0, init/1, handle_call/3, handle_cast/2, handle_continue/2, handle_info/2, terminate/2, code_change/3]).

main() ->
    {ok, P} = gen_server:start_link({local, counter}, ?MODULE, 10, []),
    d([gen_server:call(P, get), gen_server:call(counter, {add, 5}), gen_server:cast(P, {add, 1}), gen_server:call(P, get)]),
    P ! {add, 100}, d(gen_server:call(P, get)),
    d(gen_server:call(P, later)),
    d(try gen_server:call(P, slow, 20) catch exit:{timeout, {gen_server, call, [_, slow, 20]}} -> timed_out end),
    P ! go_on,
    d(gen_server:call(P, get, infinity)),
    d(gen_server:call(P, idle)), receive was_idle -> ok end, d(gen_server:call(P, get)),
    d(gen_server:multi_call([node()], counter, get)),
    R = gen_server:send_request(P, get), d(gen_server:wait_response(R, infinity)),
    d([gen_server:call(P, continue), gen_server:call(P, get)]),
    d(gen_server:stop(P)),
    d(whereis(counter)),
    d(try gen_server:call(counter, get) catch exit:{Why, _} -> Why end),
    d([gen_server:start(?MODULE, stop, []), gen_server:start(?MODULE, ignore, [])]),
    {ok, Q} = gen_server:start(?MODULE, 0, []), M = monitor(process, Q),
    d(gen_server:call(Q, bye)), d(receive {'DOWN', M, _, _, W} -> W end),
    {ok, S} = gen_server:start(?MODULE, 0, []),
    [spawn(fun() -> [gen_server:call(S, {add, 1}) || _ <- lists:seq(1, 100)], self() end) || _ <- lists:seq(1, 10)],
    wait(S).

wait(S) -> case gen_server:call(S, get) of 1000 -> d(all_counted); _ -> receive after 5 -> wait(S) end end.

init(stop) -> {stop, unwilling};
init(ignore) -> ignore;
init(N) -> {ok, N}.

handle_call(get, _, N) -> {reply, N, N};
handle_call({add, K}, _, N) -> {reply, ok, N + K};
handle_call(later, From, N) -> self() ! {answer, From}, {noreply, N};
handle_call(slow, _, N) -> receive go_on -> ok end, {reply, done, N};
handle_call(idle, {From, _}, N) -> put(idle, From), {reply, ok, N, 20};
handle_call(continue, _, N) -> {reply, ok, N, {continue, more}};
handle_call(bye, _, N) -> {stop, normal, gone, N}.

handle_cast({add, K}, N) -> {noreply, N + K}.

handle_continue(more, N) -> {noreply, N + 7}.

handle_info({add, K}, N) -> {noreply, N + K};
handle_info({answer, From}, N) -> gen_server:reply(From, answered), {noreply, N};
handle_info(timeout, N) -> get(idle) ! was_idle, {noreply, N + 1000};
handle_info(_, N) -> {noreply, N}.

terminate(R, _) -> d({terminate, R}), ok.

code_change(_, N, _) -> {ok, N}.

d(T) -> erlang:display(T).

%% expect: [10,ok,ok,16]
%% expect: 116
%% expect: answered
%% expect: timed_out
%% expect: 116
%% expect: ok
%% expect: 1116
%% expect: {[{'nonode@nohost',1116}],[]}
%% expect: {reply,1116}
%% expect: [ok,1123]
%% expect: {terminate,normal}
%% expect: ok
%% expect: undefined
%% expect: noproc
%% expect: [{error,unwilling},ignore]
%% expect: {terminate,normal}
%% expect: gone
%% expect: normal
%% expect: all_counted
