%% SPDX-License-Identifier: Apache-2.0
%% The library's dbg, and et's and ttb's way of tracing: what people type.
-module(trace_dbg).
-include_lib("stdlib/include/ms_transform.hrl").
-export([main/0, f/1, g/2, server/0]).

main() ->
    Me = self(),
    {ok, _} = dbg:tracer(process, {fun(M, N) -> Me ! {heard, M}, N + 1 end, 0}),
    p(dbg:p(all, [c, m])),
    p(dbg:tp(?MODULE, f, 1, [])), p(dbg:tpl(?MODULE, g, 2, dbg:fun2ms(fun([A, _]) when A > 1 -> return_trace(), message(A) end))),
    P = spawn(fun server/0), P ! {self(), 1}, p(receive {answer, A} -> A end),
    P ! {self(), 2}, p(receive {answer, B} -> B end),
    section("calls"), show(P),
    p(dbg:ctpl(?MODULE, g)), p(dbg:ctp()),
    P ! {self(), 3}, p(receive {answer, C} -> C end),
    section("cleared"), show(P),
    p(dbg:p(all, clear)), P ! {self(), 1}, receive {answer, _} -> ok end, section("off"), show(P),
    p(dbg:p(P, [c, return_to, procs])), p(element(1, dbg:tpl(?MODULE, '_', cx))),
    P ! {self(), 1}, receive {answer, _} -> ok end, R = monitor(process, P), P ! stop, receive {'DOWN', R, _, _, _} -> ok end,
    section("exceptions"), show(P),
    p(dbg:get_tracer() =/= {error, undefined}), dbg:stop_clear(),
    p(dbg:get_tracer()), p(erlang:trace_info({?MODULE, f, 1}, traced)), p(erlang:trace_info(new, flags)),
    text(),
    p(catch dbg:tp(nomodule, f, 1, [])).

f(X) -> g(X, X + 1).
g(A, B) -> {A, B}.
server() ->
    receive {From, X} -> From ! {answer, ?MODULE:f(X)}, server(); stop -> ok end.

%% dbg's own text of events, into a file that the tracer writes.
text() ->
    section("text"),
    {ok, D} = file:open("trace_dbg.txt", [write]),
    {ok, _} = dbg:tracer(process, {fun(M, Fd) -> dbg:dhandler(M, Fd) end, D}),
    P = spawn(fun server/0), dbg:p(P, [c, timestamp]), dbg:tpl(?MODULE, g, x),
    P ! {self(), 1}, receive {answer, _} -> ok end,
    B = written("returned"), dbg:stop_clear(), file:close(D), file:delete("trace_dbg.txt"),
    [p(re:replace(L, "<[0-9.]+>|\\(Timestamp: [^)]*\\)", "-", [global, {return, list}])) ||
        L <- string:lexemes(re:replace(B, "\\n +", " ", [global, {return, list}]), "\n")], ok.

written(Word) ->
    {ok, B} = file:read_file("trace_dbg.txt"),
    case string:find(B, Word) =/= nomatch andalso binary:last(B) =:= $\n of true -> B; false -> erlang:yield(), written(Word) end.

%% What concerns P, up to an event of our own.
show(P) ->
    erlang:trace_delivered(all), receive {trace_delivered, _, _} -> ok end,
    {ok, T} = dbg:get_tracer(), Mark = {trace, self(), mark, make_ref()}, T ! Mark,
    show(P, Mark).
show(P, Mark) ->
    receive
        {heard, Mark} -> ok;
        {heard, M} when element(2, M) =:= P -> p(name(M, P)), show(P, Mark);
        {heard, _} -> show(P, Mark)
    end.

name(P, P) -> tracee;
name(P, _) when P =:= self() -> main;
name(P, _) when is_pid(P) -> pid;
name(T, P) when is_tuple(T) -> list_to_tuple([name(E, P) || E <- tuple_to_list(T)]);
name([H | T], P) -> [name(H, P) | name(T, P)];
name(F, _) when is_function(F) -> 'fun';
name(X, _) -> X.

section(Name) -> io:format("~s~n", [Name]).
p({ok, L}) when is_list(L) -> io:format("  ok ~0p~n", [[case M of {matched, N, _} -> {matched, N}; _ -> M end || M <- L]]);
p(T) -> io:format("  ~0p~n", [T]).

%% expect:   ok [{matched,nonode@nohost}]
%% expect:   ok [{matched,nonode@nohost}]
%% expect:   ok [{matched,nonode@nohost},{saved,1}]
%% expect:   {1,2}
%% expect:   {2,3}
%% expect: calls
%% expect:   {trace,tracee,'receive',{main,1}}
%% expect:   {trace,tracee,call,{trace_dbg,f,[1]}}
%% expect:   {trace,tracee,send,{answer,{1,2}},main}
%% expect:   {trace,tracee,'receive',{main,2}}
%% expect:   {trace,tracee,call,{trace_dbg,f,[2]}}
%% expect:   {trace,tracee,call,{trace_dbg,g,[2,3]},2}
%% expect:   {trace,tracee,return_from,{trace_dbg,g,2},{2,3}}
%% expect:   {trace,tracee,send,{answer,{2,3}},main}
%% expect:   ok [{matched,nonode@nohost}]
%% expect:   ok [{matched,nonode@nohost}]
%% expect:   {3,4}
%% expect: cleared
%% expect:   {trace,tracee,'receive',{main,3}}
%% expect:   {trace,tracee,send,{answer,{3,4}},main}
%% expect:   ok [{matched,nonode@nohost}]
%% expect: off
%% expect:   ok [{matched,nonode@nohost}]
%% expect:   ok
%% expect: exceptions
%% expect:   {trace,tracee,call,{trace_dbg,f,[1]},{trace_dbg,server,0}}
%% expect 27:   {trace,tracee,call,{trace_dbg,f,[1]},{trace_dbg,server,0,{"tests/erl/trace/trace_dbg.erl",30}}}
%% expect:   {trace,tracee,call,{trace_dbg,g,[1,2]},{trace_dbg,server,0}}
%% expect 27:   {trace,tracee,call,{trace_dbg,g,[1,2]},{trace_dbg,server,0,{"tests/erl/trace/trace_dbg.erl",30}}}
%% expect:   {trace,tracee,return_from,{trace_dbg,g,2},{1,2}}
%% expect:   {trace,tracee,return_from,{trace_dbg,f,1},{1,2}}
%% expect:   {trace,tracee,return_to,{trace_dbg,server,0}}
%% expect:   {trace,tracee,call,{trace_dbg,server,[]},undefined}
%% expect:   {trace,tracee,return_from,{trace_dbg,server,0},ok}
%% expect:   {trace,tracee,return_to,undefined}
%% expect:   {trace,tracee,exit,normal}
%% expect:   true
%% expect:   {error,{no_tracer_on_node,nonode@nohost}}
%% expect:   {traced,false}
%% expect:   {flags,[]}
%% expect: text
%% expect:   "(-) call trace_dbg:g(1,2) -"
%% expect:   "(-) returned from trace_dbg:g/2 -> {1,2} -"
%% expect:   ok []
