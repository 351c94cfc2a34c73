%% SPDX-License-Identifier: Apache-2.0
%% Call tracing: local and global, returns and exceptions, callers, natives, tail calls, receive at a function's entry.
-module(trace_calls).
-export([main/0, fact/2, outer/1, inner/1, spin/1, raise/1, guarded/1, wait/0, waiting/0, split/1, pair/2, slow/1, last/2, applied/2]).

main() ->
    section("local", fun() ->
        pattern(fact, [], [local]),
        run([call], fun() -> fact(3, 1) end)
    end),
    section("global", fun() ->
        pattern(fact, [], [global]),
        run([call], fun() -> fact(3, 1) + ?MODULE:fact(2, 1) + apply(?MODULE, fact, [1, 1]) + (fun ?MODULE:fact/2)(1, 2) end)
    end),
    section("return", fun() ->
        pattern(inner, [{'_', [], [{return_trace}]}], [local]),
        pattern(outer, [{['$1'], [{'>', '$1', 0}], [{return_trace}, {message, {{'$1', {caller}}}}]}], [local]),
        run([call], fun() -> outer(2) + outer(0) end)
    end),
    section("tail", fun() ->
        pattern(spin, [{'_', [], [{return_trace}]}], [local]),
        run([call], fun() -> spin(2) end)
    end),
    section("exception", fun() ->
        pattern(raise, [{'_', [], [{exception_trace}]}], [local]),
        run([call, return_to], fun() -> [catch raise(C) || C <- [error, exit, throw, none]] end)
    end),
    section("return_to", fun() ->
        pattern(outer, true, [local]), pattern(inner, true, [local]),
        run([call, return_to], fun() -> outer(1), spin(1) end)
    end),
    section("arity", fun() ->
        pattern(pair, true, [local]),
        run([call, arity], fun() -> pair(a, b) end)
    end),
    section("natives", fun() ->
        erlang:trace_pattern({erlang, atom_to_list, 1}, [{'_', [], [{return_trace}]}], []),
        erlang:trace_pattern({lists, keyfind, 3}, [{'_', [], [{exception_trace}]}], [local]),
        run([call, return_to], fun() ->
            L = atom_to_list(node()), T = lists:keyfind(b, 1, [{b, 2}]),
            N = apply(erlang, atom_to_list, [node()]),
            {L, T, N, catch lists:keyfind(a, b, c), guarded(foo)} end)
    end),
    section("last calls of natives", fun() ->
        [erlang:trace_pattern({erlang, F, '_'}, [{'_', [], [{exception_trace}, {message, {caller}}]}], [local]) || F <- [put, throw, error]],
        pattern(last, true, [local]),
        run([call, return_to], fun() ->
            last(put, 1), X = (catch last(throw, 2)), {'EXIT', {R, S}} = (catch last(error, 3)),
            {X, R, [{F, A} || {?MODULE, F, A, _} <- lists:sublist(S, 1)]} end),
        run([call], fun() -> {_, M} = spawn_monitor(fun() -> ok end), demonitor(M), last(put, 4) end)
    end),
    section("natives that raise, applied last", fun() ->
        [erlang:trace_pattern({erlang, F, '_'}, [{'_', [], [{exception_trace}]}], [local]) || F <- [throw, error, exit]],
        pattern(applied, [{'_', [], [{exception_trace}]}], [local]),
        run([call], fun() ->
            [begin {'EXIT', {R, S}} = (catch applied(How, [error | As])), {R, [{F, A} || {?MODULE, F, A, _} <- lists:sublist(S, 1)]} end ||
                How <- [list, fixed], As <- [[[why]], [[why, []]]]] ++
            [catch applied(How, [F, [why]]) || How <- [list, fixed], F <- [throw, exit]] end)
    end),
    section("receive", fun() ->
        pattern(wait, true, [local]), pattern(waiting, true, [local]),
        run([call], fun() ->
            P = self(), spawn(fun() -> [begin timer:sleep(5), P ! M end || M <- [a, b, c, stop]] end), wait() end)
    end),
    section("binaries", fun() ->
        pattern(split, true, [local]),
        run([call], fun() -> split(<<"ab">>) end)
    end),
    section("first operations", fun() ->
        pattern(slow, true, [local]),
        run([call], fun() -> {catch slow(a), slow(1)} end)
    end),
    section("cleared", fun() ->
        pattern('_', true, [local]), pattern('_', false, [local]),
        run([call], fun() -> fact(1, 1) end)
    end),
    section("replaced", fun() ->
        pattern(fact, true, [local]), p([traced(fact, 2, traced)]),
        pattern(fact, true, [global]), p([traced(fact, 2, traced)]),
        pattern(fact, [{'_', [], [ok]}], [local]), p([traced(fact, 2, traced), traced(fact, 2, match_spec), traced(fact, 9, traced)])
    end).

fact(0, A) -> A;
fact(N, A) -> fact(N - 1, A * N).

outer(N) -> X = inner(N), X + 1.
inner(N) -> N * 10.

spin(0) -> done;
spin(N) -> spin(N - 1).

raise(none) -> fine;
raise(error) -> erlang:error(bad);
raise(exit) -> exit(bad);
raise(throw) -> throw(ball).

guarded(X) when X =:= node() -> 1;
guarded(X) when is_atom(X) -> 2.

wait() -> receive stop -> stopped; _ -> wait() after 100000 -> timeout end.
waiting() -> receive _ -> waiting() end.

split(<<C, R/binary>>) -> [C | split(R)];
split(<<>>) -> [].

pair(A, B) -> {A, B}.

applied(list, [F, As]) -> apply(erlang, id(F), id(As));
applied(fixed, [F, [A]]) -> E = id(erlang), E:F(A);
applied(fixed, [F, [A, B]]) -> E = id(erlang), E:F(A, B).

last(put, X) -> Y = id(X), put(key, Y);
last(throw, X) -> throw(X);
last(error, X) -> id(X), error(X).
id(X) -> X.

slow(X) -> X + 1.

pattern(Name, Spec, Flags) -> erlang:trace_pattern({?MODULE, Name, '_'}, Spec, Flags).
traced(F, A, What) -> erlang:trace_info({?MODULE, F, A}, What).

%% Runs F in a process that is traced, prints what its tracer heard.
run(Flags, F) ->
    Me = self(),
    Tracee = spawn(fun() -> receive go -> ok end, R = F(), Me ! {result, R}, receive stop -> ok end end),
    Tracer = spawn(fun() -> collect([]) end),
    1 = erlang:trace(Tracee, true, [{tracer, Tracer} | Flags]),
    Tracee ! go,
    R = receive {result, X} -> X end,
    Ref = erlang:trace_delivered(Tracee),
    receive {trace_delivered, Tracee, Ref} -> ok end,
    Tracer ! {take, Me},
    receive {taken, L} -> [p(name(E, Tracee)) || E <- L] end,
    Tracee ! stop,
    p({result, strip(R)}).

collect(L) -> receive {take, P} -> P ! {taken, lists:reverse(L)}; M -> collect([M | L]) end.

name(P, P) -> tracee;
name(T, P) when is_tuple(T) -> list_to_tuple([name(E, P) || E <- tuple_to_list(T)]);
name([H | T], P) -> [name(H, P) | name(T, P)];
name(F, _) when is_function(F) -> 'fun';
name(X, _) -> X.

strip({'EXIT', {R, S}}) when is_list(S) -> {'EXIT', R};
strip(T) when is_tuple(T) -> list_to_tuple([strip(E) || E <- tuple_to_list(T)]);
strip([H | T]) -> [strip(H) | strip(T)];
strip(X) -> X.

section(Name, F) ->
    io:format("~s~n", [Name]),
    F(),
    erlang:trace_pattern({'_', '_', '_'}, false, [local]),
    erlang:trace_pattern({'_', '_', '_'}, false, []).

p(T) -> io:format("  ~0p~n", [T]).


%% expect: local
%% expect:   {trace,tracee,call,{trace_calls,fact,[3,1]}}
%% expect:   {trace,tracee,call,{trace_calls,fact,[2,3]}}
%% expect:   {trace,tracee,call,{trace_calls,fact,[1,6]}}
%% expect:   {trace,tracee,call,{trace_calls,fact,[0,6]}}
%% expect:   {result,6}
%% expect: global
%% expect:   {trace,tracee,call,{trace_calls,fact,[2,1]}}
%% expect:   {trace,tracee,call,{trace_calls,fact,[1,1]}}
%% expect:   {trace,tracee,call,{trace_calls,fact,[1,2]}}
%% expect:   {result,11}
%% expect: return
%% expect:   {trace,tracee,call,{trace_calls,outer,[2]},{2,{trace_calls,'-main/0-fun-4-',0}}}
%% expect:   {trace,tracee,call,{trace_calls,inner,[2]}}
%% expect:   {trace,tracee,return_from,{trace_calls,inner,1},20}
%% expect:   {trace,tracee,return_from,{trace_calls,outer,1},21}
%% expect:   {trace,tracee,call,{trace_calls,inner,[0]}}
%% expect:   {trace,tracee,return_from,{trace_calls,inner,1},0}
%% expect:   {result,22}
%% expect: tail
%% expect:   {trace,tracee,call,{trace_calls,spin,[2]}}
%% expect:   {trace,tracee,call,{trace_calls,spin,[1]}}
%% expect:   {trace,tracee,call,{trace_calls,spin,[0]}}
%% expect:   {trace,tracee,return_from,{trace_calls,spin,1},done}
%% expect:   {trace,tracee,return_from,{trace_calls,spin,1},done}
%% expect:   {trace,tracee,return_from,{trace_calls,spin,1},done}
%% expect:   {result,done}
%% expect: exception
%% expect:   {trace,tracee,call,{trace_calls,raise,[error]}}
%% expect:   {trace,tracee,exception_from,{trace_calls,raise,1},{error,bad}}
%% expect:   {trace,tracee,return_to,{trace_calls,'-main/0-lc$^8/1-0-',1}}
%% expect:   {trace,tracee,call,{trace_calls,raise,[exit]}}
%% expect:   {trace,tracee,exception_from,{trace_calls,raise,1},{exit,bad}}
%% expect:   {trace,tracee,return_to,{trace_calls,'-main/0-lc$^8/1-0-',1}}
%% expect:   {trace,tracee,call,{trace_calls,raise,[throw]}}
%% expect:   {trace,tracee,exception_from,{trace_calls,raise,1},{throw,ball}}
%% expect:   {trace,tracee,return_to,{trace_calls,'-main/0-lc$^8/1-0-',1}}
%% expect:   {trace,tracee,call,{trace_calls,raise,[none]}}
%% expect:   {trace,tracee,return_from,{trace_calls,raise,1},fine}
%% expect:   {trace,tracee,return_to,{trace_calls,'-main/0-lc$^8/1-0-',1}}
%% expect:   {result,[{'EXIT',bad},{'EXIT',bad},ball,fine]}
%% expect: return_to
%% expect:   {trace,tracee,call,{trace_calls,outer,[1]}}
%% expect:   {trace,tracee,call,{trace_calls,inner,[1]}}
%% expect:   {trace,tracee,return_to,{trace_calls,outer,1}}
%% expect:   {trace,tracee,return_to,{trace_calls,'-main/0-fun-11-',0}}
%% expect:   {result,done}
%% expect: arity
%% expect:   {trace,tracee,call,{trace_calls,pair,2}}
%% expect:   {result,{a,b}}
%% expect: natives
%% expect:   {trace,tracee,call,{erlang,atom_to_list,[nonode@nohost]}}
%% expect:   {trace,tracee,return_from,{erlang,atom_to_list,1},"nonode@nohost"}
%% expect:   {trace,tracee,call,{lists,keyfind,[b,1,[{b,2}]]}}
%% expect:   {trace,tracee,return_from,{lists,keyfind,3},{b,2}}
%% expect:   {trace,tracee,return_to,{trace_calls,'-main/0-fun-15-',0}}
%% expect:   {trace,tracee,call,{erlang,atom_to_list,[nonode@nohost]}}
%% expect:   {trace,tracee,return_from,{erlang,atom_to_list,1},"nonode@nohost"}
%% expect:   {trace,tracee,call,{lists,keyfind,[a,b,c]}}
%% expect:   {trace,tracee,exception_from,{lists,keyfind,3},{error,badarg}}
%% expect:   {trace,tracee,return_to,{trace_calls,'-main/0-fun-15-',0}}
%% expect:   {result,{"nonode@nohost",{b,2},"nonode@nohost",{'EXIT',badarg},2}}
%% expect: last calls of natives
%% expect:   {trace,tracee,call,{trace_calls,last,[put,1]}}
%% expect:   {trace,tracee,call,{erlang,put,[key,1]},{trace_calls,last,2}}
%% expect:   {trace,tracee,return_from,{erlang,put,2},undefined}
%% expect:   {trace,tracee,return_to,{trace_calls,last,2}}
%% expect:   {trace,tracee,return_to,{trace_calls,'-main/0-fun-19-',0}}
%% expect:   {trace,tracee,call,{trace_calls,last,[throw,2]}}
%% expect:   {trace,tracee,call,{erlang,throw,[2]},{trace_calls,last,2}}
%% expect:   {trace,tracee,exception_from,{erlang,throw,1},{throw,2}}
%% expect:   {trace,tracee,return_to,{trace_calls,'-main/0-fun-19-',0}}
%% expect:   {trace,tracee,call,{trace_calls,last,[error,3]}}
%% expect:   {trace,tracee,call,{erlang,error,[3]},{trace_calls,last,2}}
%% expect erl 27:   {trace,tracee,call,{erlang,error,[3]},{trace_calls,id,1}}
%% expect:   {trace,tracee,exception_from,{erlang,error,1},{error,3}}
%% expect:   {trace,tracee,return_to,{trace_calls,'-main/0-fun-19-',0}}
%% expect:   {result,{2,3,[{last,2}]}}
%% expect erl 27:   {result,{2,3,[{id,1}]}}
%% expect:   {trace,tracee,call,{trace_calls,last,[put,4]}}
%% expect:   {trace,tracee,call,{erlang,put,[key,4]},{trace_calls,last,2}}
%% expect:   {trace,tracee,return_from,{erlang,put,2},undefined}
%% expect:   {result,undefined}
%% expect: natives that raise, applied last
%% expect:   {trace,tracee,call,{trace_calls,applied,[list,[throw,[why]]]}}
%% expect:   {trace,tracee,call,{erlang,throw,[why]}}
%% expect:   {trace,tracee,exception_from,{erlang,throw,1},{throw,why}}
%% expect:   {trace,tracee,exception_from,{trace_calls,applied,2},{throw,why}}
%% expect:   {trace,tracee,call,{trace_calls,applied,[list,[exit,[why]]]}}
%% expect:   {trace,tracee,call,{erlang,exit,[why]}}
%% expect:   {trace,tracee,exception_from,{erlang,exit,1},{exit,why}}
%% expect:   {trace,tracee,exception_from,{trace_calls,applied,2},{exit,why}}
%% expect:   {trace,tracee,call,{trace_calls,applied,[fixed,[throw,[why]]]}}
%% expect:   {trace,tracee,call,{erlang,throw,[why]}}
%% expect:   {trace,tracee,exception_from,{erlang,throw,1},{throw,why}}
%% expect:   {trace,tracee,exception_from,{trace_calls,applied,2},{throw,why}}
%% expect:   {trace,tracee,call,{trace_calls,applied,[fixed,[exit,[why]]]}}
%% expect:   {trace,tracee,call,{erlang,exit,[why]}}
%% expect:   {trace,tracee,exception_from,{erlang,exit,1},{exit,why}}
%% expect:   {trace,tracee,exception_from,{trace_calls,applied,2},{exit,why}}
%% expect:   {trace,tracee,call,{trace_calls,applied,[list,[error,[why]]]}}
%% expect:   {trace,tracee,call,{erlang,error,[why]}}
%% expect:   {trace,tracee,exception_from,{erlang,error,1},{error,why}}
%% expect:   {trace,tracee,exception_from,{trace_calls,applied,2},{error,why}}
%% expect:   {trace,tracee,call,{trace_calls,applied,[list,[error,[why,[]]]]}}
%% expect:   {trace,tracee,call,{erlang,error,[why,[]]}}
%% expect:   {trace,tracee,exception_from,{erlang,error,2},{error,why}}
%% expect:   {trace,tracee,exception_from,{trace_calls,applied,2},{error,why}}
%% expect:   {trace,tracee,call,{trace_calls,applied,[fixed,[error,[why]]]}}
%% expect:   {trace,tracee,call,{erlang,error,[why]}}
%% expect:   {trace,tracee,exception_from,{erlang,error,1},{error,why}}
%% expect:   {trace,tracee,exception_from,{trace_calls,applied,2},{error,why}}
%% expect:   {trace,tracee,call,{trace_calls,applied,[fixed,[error,[why,[]]]]}}
%% expect:   {trace,tracee,call,{erlang,error,[why,[]]}}
%% expect:   {trace,tracee,exception_from,{erlang,error,2},{error,why}}
%% expect:   {trace,tracee,exception_from,{trace_calls,applied,2},{error,why}}
%% expect:   {result,[{why,[{applied,2}]},{why,[{applied,[]}]},{why,[{applied,2}]},{why,[{applied,[]}]},why,{'EXIT',why},why,{'EXIT',why}]}
%% expect: receive
%% expect:   {trace,tracee,call,{trace_calls,wait,[]}}
%% expect:   {trace,tracee,call,{trace_calls,wait,[]}}
%% expect:   {trace,tracee,call,{trace_calls,wait,[]}}
%% expect:   {trace,tracee,call,{trace_calls,wait,[]}}
%% expect:   {result,stopped}
%% expect: binaries
%% expect:   {trace,tracee,call,{trace_calls,split,[<<"ab">>]}}
%% expect:   {trace,tracee,call,{trace_calls,split,[<<"b">>]}}
%% expect:   {trace,tracee,call,{trace_calls,split,[<<>>]}}
%% expect:   {result,"ab"}
%% expect: first operations
%% expect:   {trace,tracee,call,{trace_calls,slow,[a]}}
%% expect:   {trace,tracee,call,{trace_calls,slow,[1]}}
%% expect:   {result,{{'EXIT',badarith},2}}
%% expect: cleared
%% expect:   {result,1}
%% expect: replaced
%% expect:   [{traced,local}]
%% expect:   [{traced,global}]
%% expect:   [{traced,local},{match_spec,[{'_',[],[ok]}]},{traced,undefined}]
