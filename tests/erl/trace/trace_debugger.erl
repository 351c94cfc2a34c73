%% SPDX-License-Identifier: Apache-2.0
%% Breakpoints of a debugger: error_handler:breakpoint/3 is called in place of a function.
-module(trace_debugger).
-export([main/0, twice/1, waiter/0, breakpoint/3, undefined_function/3]).

main() ->
    process_flag(error_handler, ?MODULE),
    p([twice(4), ?MODULE:twice(5)]),
    p(break({?MODULE, twice, 1}, true)),
    p([twice(4), ?MODULE:twice(5), lists:map(fun ?MODULE:twice/1, [6]), apply(?MODULE, id(twice), [7])]),
    p([in_other(fun() -> twice(8) end), break({?MODULE, twice, 1}, true)]),
    p([break({?MODULE, twice, 1}, false), twice(4), break({?MODULE, twice, 1}, false)]),
    io:format("traced as well~n"),
    p([traced([fun() -> erlang:trace_pattern({?MODULE, twice, 1}, true, [local]) end, fun() -> break({?MODULE, twice, 1}, true) end]), twice(9), told()]),
    p([break({?MODULE, twice, 1}, false), twice(10), told()]),
    p([break({?MODULE, twice, 1}, true), erlang:trace_pattern({?MODULE, twice, 1}, false, [local]), twice(11), told()]),
    p([break({?MODULE, twice, 1}, false), twice(12)]),
    erlang:trace(self(), false, [call]),
    io:format("who waits goes on~n"),
    {P, Ref} = spawn_monitor(?MODULE, waiter, []),
    waits(P),
    break({?MODULE, waiter, 0}, true),
    P ! other,
    P ! go,
    p(receive {'DOWN', Ref, _, _, Why} -> Why end),
    break({?MODULE, waiter, 0}, false),
    io:format("refused~n"),
    [p(catch_it(fun() -> erts_debug:breakpoint(M, On) end))
     || {M, On} <- [{x, true}, {{?MODULE, twice}, true}, {{'_', twice, 1}, true}, {{?MODULE, '_', 1}, true}, {{?MODULE, twice, x}, true},
                    {{?MODULE, twice, 1}, 'maybe'}]],
    p([break({no_such_module, '_', '_'}, true), break({?MODULE, twice, 2}, true), break({?MODULE, twice, 300}, true)]).

twice(N) -> 2 * N.

waiter() -> receive go -> exit(went) end.
waits(P) -> case process_info(P, status) of {status, waiting} -> ok; _ -> erlang:yield(), waits(P) end.

breakpoint(?MODULE, Function, Args) -> {Function, Args}.
undefined_function(M, F, Args) -> error_handler:undefined_function(M, F, Args).

in_other(F) ->
    {P, Ref} = spawn_monitor(fun() -> process_flag(error_handler, ?MODULE), exit(F()) end),
    receive {'DOWN', Ref, _, P, Why} -> Why end.

traced(Steps) ->
    T = spawn(fun L() -> receive {told, P} -> P ! {told, queued()}, L() end end),
    put(tracer, T),
    erlang:trace(self(), true, [call, {tracer, T}]),
    [F() || F <- Steps].
queued() -> receive {trace, _, call, What} -> [What | queued()] after 0 -> [] end.
told() ->
    Ref = erlang:trace_delivered(self()),
    receive {trace_delivered, _, Ref} -> ok end,
    get(tracer) ! {told, self()},
    receive {told, L} -> L end.

break(Mfa, On) -> erts_debug:breakpoint(Mfa, On).
id(X) -> X.
catch_it(F) -> try F() catch C:R -> {C, R} end.
p(T) -> io:format("  ~0p~n", [T]).

%% expect:   "\b\n"
%% expect:   1
%% expect:   [{twice,[4]},{twice,[5]},[{twice,[6]}],{twice,[7]}]
%% expect:   [{twice,"\b"},1]
%% expect:   [1,8,1]
%% expect: traced as well
%% expect:   [[1,1],{twice,"\t"},[{trace_debugger,twice,"\t"}]]
%% expect:   [1,20,[{trace_debugger,twice,"\n"}]]
%% expect:   [1,1,{twice,"\v"},[]]
%% expect:   [1,24]
%% expect: who waits goes on
%% expect:   went
%% expect: refused
%% expect:   {error,badarg}
%% expect:   {error,badarg}
%% expect:   {error,badarg}
%% expect:   {error,badarg}
%% expect:   {error,badarg}
%% expect:   {error,badarg}
%% expect:   [0,0,0]
