%% SPDX-License-Identifier: Apache-2.0
%% Stack traces name functions, arities or arguments, files and lines.
-module(lang_stacktrace).
-export([main/0]).

main() ->
    show(fun() -> deep(3) end),
    show(fun() -> clause(4, b) end),
    show(fun() -> lists:map(fun(X) -> id(1) + X end, [a]) end),
    show(fun() -> atom_to_list(id("no")) end),
    show(fun() -> nowhere:to_be(found) end),
    show(fun() -> erlang:error(custom, [a, b]) end),
    show(fun() -> maps:fold(fun(_, _, _) -> throw(out) end, 0, #{a => 1}) end),
    raised([{m, f, 1}, {m, f, [a], [{line, 7}]}, {fun erlang:hd/1, [x]}]),
    raised([{m, f, N} || N <- lists:seq(1, 20)]),
    erlang:display(erlang:system_flag(backtrace_depth, 3)),
    raised([{m, f, N} || N <- lists:seq(1, 20)]),
    try [1 | deep(9)] catch error:bottom:S -> erlang:display(length(S)) end,
    erlang:display(erlang:system_flag(backtrace_depth, 1000)),
    erlang:display(erlang:system_flag(backtrace_depth, 8)), nameless().

%% What a trace given by hand becomes.
raised(Trace) ->
    try erlang:raise(error, x, Trace) catch error:x:S -> erlang:display(S) end.

show(F) ->
    try F() catch C:R:S -> erlang:display({C, reason(R)}), [erlang:display(frame(E)) || E <- until_show(S)] end.

%% What stands below show/1 depends on how the program was started.
until_show([{?MODULE, show, 1, _} | _]) -> [];
until_show([E | T]) -> [E | until_show(T)];
until_show([]) -> [].

frame({M, F, A, L}) ->
    {M, name(F), args(A), lists:member(M, [?MODULE]) andalso {basename(proplists:get_value(file, L)), proplists:get_value(line, L)}}.

%% Names of funs carry compiler numbering.
name(F) ->
    case atom_to_list(F) of
        "-" ++ _ -> a_fun;
        _ -> F
    end.

args(A) when is_list(A) -> A;
args(A) -> A.

basename(undefined) -> undefined;
basename(F) -> filename:basename(F).

reason(R) -> R.

deep(0) -> error(bottom);
deep(N) -> [N | deep(N - 1)].

clause(1, a) -> ok.

id(X) -> X.

%% Forms of no file, or of one without a name, are of the module's own.
nameless() ->
    Forms = [{attribute, 1, module, nameless}, {attribute, 2, export, [{go, 1}, {there, 1}]},
             {function, 3, go, 1, [{clause, 3, [{var, 3, 'X'}], [], [{op, 4, '+', {var, 4, 'X'}, {integer, 4, 1}}]}]},
             {attribute, 5, file, {"other.erl", 9}},
             {function, 9, there, 1, [{clause, 9, [{var, 9, 'X'}], [], [{op, 9, '-', {var, 9, 'X'}, {integer, 9, 1}}]}]}],
    {ok, nameless, Code} = compile:forms(Forms, []),
    {module, nameless} = code:load_binary(nameless, "nameless.beam", Code),
    [try nameless:F(a) catch error:badarith:S -> erlang:display([{F, L} || {nameless, _, _, L} <- S]) end || F <- [go, there]].

%% expect: {error,bottom}
%% expect: {lang_stacktrace,deep,1,{"lang_stacktrace.erl",52}}
%% expect: {error,function_clause}
%% expect: {lang_stacktrace,clause,[4,b],{"lang_stacktrace.erl",55}}
%% expect: {error,badarith}
%% expect: {erlang,'+',[1,a],false}
%% expect: {lang_stacktrace,a_fun,1,{"lang_stacktrace.erl",9}}
%% expect: {lists,map,2,false}
%% expect: {error,badarg}
%% expect: {erlang,atom_to_list,["no"],false}
%% expect: {lang_stacktrace,a_fun,0,{"lang_stacktrace.erl",10}}
%% expect: {error,undef}
%% expect: {nowhere,to_be,[found],false}
%% expect: {error,custom}
%% expect: {lang_stacktrace,a_fun,[a,b],{"lang_stacktrace.erl",12}}
%% expect: {throw,out}
%% expect: {lang_stacktrace,a_fun,3,{"lang_stacktrace.erl",13}}
%% expect: {maps,fold_1,3,false}
%% expect 27: {maps,fold_1,4,false}
%% expect: [{m,f,1,[]},{m,f,[a],[{line,7}]},{fun erlang:hd/1,[x],[]}]
%% expect: [{m,f,1,[]},{m,f,2,[]},{m,f,3,[]},{m,f,4,[]},{m,f,5,[]},{m,f,6,[]},{m,f,7,[]},{m,f,8,[]}]
%% expect: 8
%% expect: [{m,f,1,[]},{m,f,2,[]},{m,f,3,[]}]
%% expect: 3
%% expect: 3
%% expect: 64
%% expect: [{go,[{file,"nameless.erl"},{line,4}]}]
%% expect: [{there,[{file,"other.erl"},{line,9}]}]
