%% SPDX-License-Identifier: Apache-2.0
%% Where a process says it stands while it calls a native function; which errors of arithmetic have an entry of their own.
-module(proc_where).
-export([main/0, where/1, tail/1, up/1, down/1, plus/1, minus/1, kept/1]).

where(Item) -> X = process_info(self(), Item), {x, X}.

tail(Item) -> process_info(self(), Item).

up(X) -> X + 1.
down(X) -> X - 1.
plus(X) -> +X.
minus(X) -> -X.
kept(X) -> Y = id(X), Z = X + 5, {Y, Z}.

id(X) -> X.

functions({_, {current_stacktrace, Trace}}) -> functions({current_stacktrace, Trace});
functions({current_stacktrace, Trace}) -> [{F, A} || {?MODULE, F, A, _} <- Trace].

main() ->
    d(where(current_function)),
    d(tail(current_function)),
    d(functions(where(current_stacktrace))),
    d(functions(tail(current_stacktrace))),
    d(apply(erlang, process_info, [self(), current_function])),
    [d(try ?MODULE:F(x) catch error:badarith:S -> {F, entry(S)} end) || F <- [up, down, plus, minus, kept]],
    d(try +id(list_to_atom("x")) catch error:badarith:T -> entry(T) end),
    d(lists:sort([K || {K, _} <- error_handler:module_info()])),
    [{_, {_, Trace}}] = lists:map(fun where/1, [current_stacktrace]),
    d(files(Trace)),
    d(try lists:map(fun up/1, [x]) catch error:badarith:U -> files(U) end),
    W = [list_to_atom(T) || T <- ["", "a", [233], [1024, $b, 128512], lists:duplicate(255, 8364), "abcdefg" ++ [255]]],
    d([erlang:phash2(atom_to_list(A)) || A <- W]).

files(Trace) ->
    [{M, filename:basename(proplists:get_value(file, L, "none")), is_integer(proplists:get_value(line, L))}
     || {M, _, _, L} <- Trace, M =/= init].

entry([{M, N, A, _} | _]) -> {M, N, A}.

d(T) -> erlang:display(T).
%% expect: {x,{current_function,{proc_where,where,1}}}
%% expect: {current_function,{proc_where,tail,1}}
%% expect: [{where,1},{main,0}]
%% expect: [{tail,1},{main,0}]
%% expect: {current_function,{proc_where,main,0}}
%% expect: {up,{proc_where,up,1}}
%% expect 27: {up,{erlang,'+',[x,1]}}
%% expect: {down,{proc_where,down,1}}
%% expect 27: {down,{erlang,'-',[x,1]}}
%% expect: {plus,{proc_where,plus,1}}
%% expect 27: {plus,{erlang,'+',[x,0]}}
%% expect: {minus,{erlang,'-',[x]}}
%% expect: {kept,{proc_where,kept,1}}
%% expect 27: {kept,{erlang,'+',[x,5]}}
%% expect: {proc_where,main,0}
%% expect 27: {erlang,'+',[x,0]}
%% expect: [attributes,compile,exports,md5,module]
%% expect: [{proc_where,"proc_where.erl",true},{lists,"lists.erl",true},{proc_where,"proc_where.erl",true}]
%% expect: [{proc_where,"proc_where.erl",true},{lists,"lists.erl",true},{proc_where,"proc_where.erl",true}]
%% expect 27: [{erlang,"none",false},{proc_where,"proc_where.erl",true},{lists,"lists.erl",true},{proc_where,"proc_where.erl",true}]
%% expect: [113427502,49011133,18647755,111885361,76646439,54267857]
