%% SPDX-License-Identifier: Apache-2.0
%% erl_tracer:trace/5 called by hand, as a tracer module does that passes events on.
%% expect: [{enabled,3},{trace,5}]
%% expect: {trace,tracee,call,{m,f,[1]}}
%% expect: {trace,tracee,send,hi,to}
%% expect: {trace,tracee,return_from,{m,f,1},result}
%% expect: {trace,tracee,call,{m,f,[]},spec,2}
%% expect: {seq_trace,7,{send,{0,1},a,b,c}}
%% expect: {trace,7,seq_trace,x,y}
%% expect: {trace_ts,tracee,in,{m,f,0},time}
%% expect: {trace_ts,tracee,in,{m,f,0},time}
%% expect: {trace_ts,tracee,in,{m,f,0},{time,time}}
%% expect: [ok,ok,none]
-module(trace_told).
-export([main/0]).

main() ->
    show(lists:sort(erl_tracer:module_info(nifs))),
    show(told(call, tracee, {m, f, [1]}, #{})),
    show(told(send, tracee, hi, #{extra => to})),
    show(told(return_from, tracee, {m, f, 1}, #{extra => result})),
    show(told(call, tracee, {m, f, []}, #{match_spec_result => spec, scheduler_id => 2, other => 3})),
    show(told(seq_trace, 7, {send, {0, 1}, a, b, c}, #{})),
    show(told(seq_trace, 7, x, #{extra => y})),
    [show(timeless(told(in, tracee, {m, f, 0}, #{timestamp => T}))) || T <- [timestamp, monotonic, strict_monotonic]],
    show([erl_tracer:trace(call, no_tracer, tracee, x, #{}), erl_tracer:trace(call, dead(), tracee, x, #{}),
          receive More -> More after 50 -> none end]).

told(Tag, Tracee, Term, Options) ->
    ok = erl_tracer:trace(Tag, self(), Tracee, Term, Options),
    receive Told -> Told after 5000 -> nothing end.

timeless(Told) ->
    Time = case element(tuple_size(Told), Told) of
        {A, B} when is_integer(A), is_integer(B) -> {time, time};
        {A, B, C} when is_integer(A), is_integer(B), is_integer(C) -> time;
        N when is_integer(N) -> time
    end,
    setelement(tuple_size(Told), Told, Time).

dead() ->
    {P, M} = spawn_monitor(fun() -> ok end),
    receive {'DOWN', M, process, P, _} -> P end.

show(T) -> io:format("~0p~n", [T]).
