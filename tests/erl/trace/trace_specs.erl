%% SPDX-License-Identifier: Apache-2.0
%% Match specifications of tracing: what their functions do; meta traces, counts and times; code that is loaded anew.
-module(trace_specs).
-export([main/0, f/1, g/1, h/2, quiet/0, loop/1]).

main() ->
    specs(), others(), meta(), counts(), paused(), times(), on_load(), reload(), errors(), of_messages().

f(X) -> X.
g(X) -> Y = f(X), {Y}.
h(A, B) -> [A | B].
quiet() -> receive after infinity -> ok end.
loop(0) -> ok;
loop(N) -> loop(N - 1).

specs() ->
    io:format("specs~n"),
    Specs = [
        [{['$1'], [], [{message, false}]}],
        [{['$1'], [], [{message, true}]}],
        [{['$1'], [{'=:=', '$1', 1}], [{message, one}]}, {'_', [], [{message, other}]}],
        [{'$1', [], [{message, '$1'}]}],
        [{['$1'], [], [{message, '$_'}, {message, '$$'}]}],
        [{['_'], [], [{message, [{{a, '$_'}}, #{k => '$$'}, {const, {b}}, {self}]}]}],
        [{['_'], [{'>', {get_tcw}, 5}], []}],
        [{['_'], [], [{message, {set_tcw, 7}}]}],
        [{['_'], [{'>', {get_tcw}, 5}], [{message, {get_tcw}}]}],
        [{['_'], [], [{message, {caller}}]}],
        [{['_'], [], [{silent, true}]}],
        [{['_'], [], [{silent, false}, {message, loud}]}],
        [{['_'], [], [{silent, 'maybe'}]}],
        [{['_'], [], [{message, {is_seq_trace}}]}],
        [{['_'], [], [{message, {get_seq_token}}]}],
        [{['_'], [], [{set_seq_token, label, {{l, 1}}}, {message, {{{is_seq_trace}, {element, 2, {get_seq_token}}}}}]}],
        [{['_'], [], [{message, {set_seq_token, wrong, 1}}]}],
        [{['_'], [], [{enable_trace, procs}, {disable_trace, call}, {message, {enable_trace, nonsense}}]}],
        [{['_'], [], [{message, {trace, [call], [procs, send]}}]}],
        [{['_'], [], [{message, {trace, [], [call]}}]}],
        [{['_'], [], [{message, {trace, [nonsense], []}}]}],
        [{['_'], [], [{message, {hd, '$$'}}]}],
        [{['_'], [], [{return_trace}, {message, false}]}],
        [{['_', '_'], [], [{message, wrong_arity}]}],
        [],
        [{'_', [{is_integer, nonsense}], []}]
    ],
    [spec(S) || S <- Specs],
    erlang:system_flag(trace_control_word, 0),
    p(erlang:system_info(trace_control_word)).

spec(S) ->
    p(S),
    erlang:trace_pattern({?MODULE, f, 1}, S, [local]),
    {P, T} = tracee([call], fun() -> g(1), g(b) end),
    show(T, P),
    {flags, Fs} = erlang:trace_info(P, flags),
    io:format("    ~0p~n", [lists:sort(Fs)]),
    erlang:trace_pattern({?MODULE, f, 1}, false, [local]),
    exit(P, kill).

%% A process that runs F and stays; and its tracer.
tracee(Flags, F) ->
    Me = self(),
    P = spawn(fun() -> receive go -> ok end, F(), Me ! done, quiet() end),
    T = spawn(fun() -> collect([]) end),
    erlang:trace(P, true, [{tracer, T} | Flags]),
    P ! go, receive done -> ok end,
    {P, T}.

collect(L) -> receive {take, P} -> P ! {taken, lists:reverse(L)}, collect([]); M -> collect([M | L]) end.
take(T) ->
    erlang:trace_delivered(all), receive {trace_delivered, _, _} -> ok end,
    T ! {take, self()}, receive {taken, L} -> L end.
show(T, P) -> [p(name(M, P)) || M <- take(T)], ok.

name(P, P) -> tracee;
name(P, _) when P =:= self() -> main;
name(P, _) when is_pid(P) -> pid;
name(T, P) when is_tuple(T) -> list_to_tuple([name(E, P) || E <- tuple_to_list(T)]);
name([H | T], P) -> [name(H, P) | name(T, P)];
name(M, P) when is_map(M) -> maps:map(fun(_, V) -> name(V, P) end, M);
name(X, _) -> X.

%% Flags of others.
others() ->
    io:format("others~n"),
    Q = spawn(fun() -> receive go -> self() ! x, receive x -> ok end, receive stop -> ok end end end),
    erlang:trace_pattern({?MODULE, f, 1}, [{[Q], [], [{enable_trace, Q, send}, {enable_trace, Q, 'receive'}]},
                                           {['_'], [], [{disable_trace, Q, send}]}], [local]),
    {P, T} = tracee([call], fun() -> f(Q) end),
    Q ! go, {status, waiting} = wait(Q),
    show(T, Q), p(erlang:trace_info(Q, flags)),
    {P2, T2} = tracee([call], fun() -> f(1) end), show(T2, P2),
    {links, []} = process_info(Q, links), p(erlang:trace_info(Q, flags)),
    Q ! stop, erlang:trace_pattern({?MODULE, f, 1}, false, [local]), exit(P, kill), exit(P2, kill).

wait(Q) -> case process_info(Q, status) of {status, waiting} = S -> S; _ -> erlang:yield(), wait(Q) end.

meta() ->
    io:format("meta~n"),
    Me = self(),
    T = spawn(fun() -> collect([]) end),
    p(erlang:trace_pattern({?MODULE, f, 1}, [{['$1'], [], [{return_trace}, {message, '$1'}]}], [{meta, T}])),
    P = spawn(fun() -> g(x), Me ! done, quiet() end), receive done -> ok end,
    [p(setelement(tuple_size(M), M, time)) || M <- [name(M, P) || M <- take(T)]],
    p([erlang:trace_info({?MODULE, f, 1}, meta) =:= {meta, T}, erlang:trace_info({?MODULE, f, 1}, meta_match_spec),
       erlang:trace_info({?MODULE, f, 1}, traced), erlang:trace_info({?MODULE, f, 1}, match_spec)]),
    %% beside a local trace
    erlang:trace_pattern({?MODULE, f, 1}, [{'_', [], [{message, local}]}], [local]),
    {Q, U} = tracee([call], fun() -> f(y) end),
    show(U, Q), [p(setelement(tuple_size(M), M, time)) || M <- [name(M, Q) || M <- take(T)]],
    %% who hears is gone
    exit(T, kill), dead(T), f(z), f(z), p(erlang:trace_info({?MODULE, f, 1}, meta)),
    p(erlang:trace_pattern({?MODULE, f, 1}, false, [meta, local])),
    p(erlang:trace_info({?MODULE, f, 1}, all)).

dead(T) -> case is_process_alive(T) of true -> erlang:yield(), dead(T); false -> ok end.

counts() ->
    io:format("counts~n"),
    p(erlang:trace_pattern({?MODULE, loop, 1}, true, [call_count])),
    loop(10), p(erlang:trace_info({?MODULE, loop, 1}, call_count)),
    loop(3), p(erlang:trace_info({?MODULE, loop, 1}, call_count)),
    p(erlang:trace_info({?MODULE, loop, 1}, all)),
    erlang:trace_pattern({?MODULE, loop, 1}, true, [local]), p(erlang:trace_info({?MODULE, loop, 1}, call_count)),
    erlang:trace_pattern({?MODULE, loop, 1}, false, [local]), p(erlang:trace_info({?MODULE, loop, 1}, call_count)),
    erlang:trace_pattern({?MODULE, loop, 1}, restart, [call_count]), p(erlang:trace_info({?MODULE, loop, 1}, call_count)).

paused() ->
    io:format("paused~n"),
    loop(1), erlang:trace_pattern({?MODULE, loop, 1}, pause, [call_count]),
    loop(5), p(erlang:trace_info({?MODULE, loop, 1}, call_count)),
    erlang:trace_pattern({?MODULE, loop, 1}, restart, [call_count]),
    loop(2), p(erlang:trace_info({?MODULE, loop, 1}, call_count)),
    erlang:trace_pattern({?MODULE, loop, 1}, false, [call_count]), p(erlang:trace_info({?MODULE, loop, 1}, call_count)).

times() ->
    io:format("times~n"),
    erlang:trace_pattern({?MODULE, '_', '_'}, true, [call_time]),
    {P, _} = tracee([call], fun() -> loop(1000), g(1), g(2) end),
    [p({N, A, [{name(Q, P), C, S >= 0, U >= 0} || {Q, C, S, U} <- L]})
     || {N, A} <- [{loop, 1}, {f, 1}, {g, 1}, {h, 2}], {call_time, L} <- [erlang:trace_info({?MODULE, N, A}, call_time)]],
    erlang:trace_pattern({?MODULE, '_', '_'}, false, [call_time]), exit(P, kill),
    p(erlang:trace_info({?MODULE, loop, 1}, call_time)).

-define(OTHER, trace_specs_other).

compile(Body) ->
    {ok, T, _} = erl_scan:string("go(X) -> " ++ Body ++ "."), {ok, F} = erl_parse:parse_form(T),
    {ok, _, B} = compile:forms([{attribute, 1, module, ?OTHER}, {attribute, 1, export, [{go, 1}]}, F]), B.
load(Body) -> {module, _} = code:load_binary(?OTHER, "none", compile(Body)).

on_load() ->
    io:format("on_load~n"),
    p(erlang:trace_info(on_load, all)),
    p(erlang:trace_pattern(on_load, [{'_', [], [{return_trace}]}], [local])),
    p(erlang:trace_info(on_load, traced)), p(erlang:trace_info(on_load, match_spec)),
    load("{X, 1}"),
    erlang:trace_pattern(on_load, false, [local]),
    p(erlang:trace_info(on_load, traced)),
    p([erlang:trace_info({?OTHER, go, 1}, W) || W <- [traced, match_spec]]),
    {P, T} = tracee([call], fun() -> ?OTHER:go(a) end),
    show(T, P).

reload() ->
    io:format("reload~n"),
    load("{X, 2}"),
    p(erlang:trace_info({?OTHER, go, 1}, traced)),
    p(erlang:trace_pattern({?OTHER, go, 1}, true, [])), p(erlang:trace_info({?OTHER, go, 1}, traced)),
    code:purge(?OTHER), load("{X, 3}"),
    p(erlang:trace_info({?OTHER, go, 1}, traced)),
    p(erlang:trace_pattern({?OTHER, go, 1}, true, [local])),
    {P, T} = tracee([call], fun() -> p(?OTHER:go(a)) end),
    show(T, P),
    code:purge(?OTHER), code:delete(?OTHER), code:purge(?OTHER),
    p(erlang:trace_info({?OTHER, go, 1}, traced)), p(erlang:trace_pattern({?OTHER, '_', '_'}, true, [local])).

errors() ->
    io:format("errors~n"),
    [p({A, B, C, try erlang:trace_pattern(A, B, C) catch error:R -> R end}) ||
        {A, B, C} <- [{{?MODULE, f, 1}, true, [nonsense]}, {{?MODULE, f, 1}, true, [global, local]}, {{?MODULE, '_', 1}, true, []},
                      {{?MODULE, f}, true, []}, {{"x", f, 1}, true, []}, {{?MODULE, f, 1}, 'maybe', []},
                      {{?MODULE, f, 1}, [{'$1'}], []}, {{?MODULE, f, 1}, [{'_', [], [{nonsense}]}], []},
                      {{?MODULE, f, 1}, [{'_', [{message, 1}], []}], []}, {{?MODULE, f, 1}, [{'_', [], []}], [call_count]},
                      {{?MODULE, f, 1}, true, [local | x]}, {{?MODULE, f, 1}, true, [{meta, foo}]}, {{?MODULE, nothere, 1}, true, [local]},
                      {{nomodule, '_', '_'}, true, [local]}, {{?MODULE, f, 300}, true, [local]}]],
    [p({A, B, try erlang:trace_info(A, B) catch error:R -> R end}) ||
        {A, B} <- [{{?MODULE, f, 1}, nonsense}, {{?MODULE, f}, all}, {{?MODULE, f, '_'}, all}, {on_load, nonsense}, {send, all}, {17, all},
                   {{?MODULE, nothere, 1}, all}]].

p(T) -> io:format("  ~0p~n", [T]).

%% expect: specs
%% expect:   [{['$1'],[],[{message,false}]}]
%% expect:     [call]
%% expect:   [{['$1'],[],[{message,true}]}]
%% expect:   {trace,tracee,call,{trace_specs,f,[1]}}
%% expect:   {trace,tracee,call,{trace_specs,f,[b]}}
%% expect:     [call]
%% expect:   [{['$1'],[{'=:=','$1',1}],[{message,one}]},{'_',[],[{message,other}]}]
%% expect:   {trace,tracee,call,{trace_specs,f,[1]},one}
%% expect:   {trace,tracee,call,{trace_specs,f,[b]},other}
%% expect:     [call]
%% expect:   [{'$1',[],[{message,'$1'}]}]
%% expect:   {trace,tracee,call,{trace_specs,f,[1]},[1]}
%% expect:   {trace,tracee,call,{trace_specs,f,[b]},[b]}
%% expect:     [call]
%% expect:   [{['$1'],[],[{message,'$_'},{message,'$$'}]}]
%% expect:   {trace,tracee,call,{trace_specs,f,[1]},[1]}
%% expect:   {trace,tracee,call,{trace_specs,f,[b]},[b]}
%% expect:     [call]
%% expect:   [{['_'],[],[{message,[{{a,'$_'}},#{k => '$$'},{const,{b}},{self}]}]}]
%% expect:   {trace,tracee,call,{trace_specs,f,[1]},[{a,[1]},#{k => []},{b},tracee]}
%% expect:   {trace,tracee,call,{trace_specs,f,[b]},[{a,[b]},#{k => []},{b},tracee]}
%% expect:     [call]
%% expect:   [{['_'],[{'>',{get_tcw},5}],[]}]
%% expect:     [call]
%% expect:   [{['_'],[],[{message,{set_tcw,7}}]}]
%% expect:   {trace,tracee,call,{trace_specs,f,[1]},0}
%% expect:   {trace,tracee,call,{trace_specs,f,[b]},7}
%% expect:     [call]
%% expect:   [{['_'],[{'>',{get_tcw},5}],[{message,{get_tcw}}]}]
%% expect:   {trace,tracee,call,{trace_specs,f,[1]},7}
%% expect:   {trace,tracee,call,{trace_specs,f,[b]},7}
%% expect:     [call]
%% expect:   [{['_'],[],[{message,{caller}}]}]
%% expect:   {trace,tracee,call,{trace_specs,f,[1]},{trace_specs,g,1}}
%% expect:   {trace,tracee,call,{trace_specs,f,[b]},{trace_specs,g,1}}
%% expect:     [call]
%% expect:   [{['_'],[],[{silent,true}]}]
%% expect:     [call,silent]
%% expect:   [{['_'],[],[{silent,false},{message,loud}]}]
%% expect:   {trace,tracee,call,{trace_specs,f,[1]},loud}
%% expect:   {trace,tracee,call,{trace_specs,f,[b]},loud}
%% expect:     [call]
%% expect:   [{['_'],[],[{silent,maybe}]}]
%% expect 27:   [{['_'],[],[{silent,'maybe'}]}]
%% expect:   {trace,tracee,call,{trace_specs,f,[1]}}
%% expect:   {trace,tracee,call,{trace_specs,f,[b]}}
%% expect:     [call]
%% expect:   [{['_'],[],[{message,{is_seq_trace}}]}]
%% expect:     [call]
%% expect:   [{['_'],[],[{message,{get_seq_token}}]}]
%% expect:   {trace,tracee,call,{trace_specs,f,[1]},[]}
%% expect:   {trace,tracee,call,{trace_specs,f,[b]},[]}
%% expect:     [call]
%% expect:   [{['_'],[],[{set_seq_token,label,{{l,1}}},{message,{{{is_seq_trace},{element,2,{get_seq_token}}}}}]}]
%% expect:   {trace,tracee,call,{trace_specs,f,[1]},{true,{l,1}}}
%% expect:   {trace,tracee,call,{trace_specs,f,[b]},{true,{l,1}}}
%% expect:     [call]
%% expect:   [{['_'],[],[{message,{set_seq_token,wrong,1}}]}]
%% expect:   {trace,tracee,call,{trace_specs,f,[1]},'EXIT'}
%% expect:   {trace,tracee,call,{trace_specs,f,[b]},'EXIT'}
%% expect:     [call]
%% expect:   [{['_'],[],[{enable_trace,procs},{disable_trace,call},{message,{enable_trace,nonsense}}]}]
%% expect:   {trace,tracee,call,{trace_specs,f,[1]},'EXIT'}
%% expect:     [procs]
%% expect:   [{['_'],[],[{message,{trace,[call],[procs,send]}}]}]
%% expect:   {trace,tracee,call,{trace_specs,f,[1]}}
%% expect:   {trace,tracee,send,done,main}
%% expect:     [procs,send]
%% expect:   [{['_'],[],[{message,{trace,[],[call]}}]}]
%% expect:     [call]
%% expect:   [{['_'],[],[{message,{trace,[nonsense],[]}}]}]
%% expect:   {trace,tracee,call,{trace_specs,f,[1]},'EXIT'}
%% expect:   {trace,tracee,call,{trace_specs,f,[b]},'EXIT'}
%% expect:     [call]
%% expect:   [{['_'],[],[{message,{hd,'$$'}}]}]
%% expect:   {trace,tracee,call,{trace_specs,f,[1]},'EXIT'}
%% expect:   {trace,tracee,call,{trace_specs,f,[b]},'EXIT'}
%% expect:     [call]
%% expect:   [{['_'],[],[{return_trace},{message,false}]}]
%% expect:   {trace,tracee,return_from,{trace_specs,f,1},1}
%% expect:   {trace,tracee,return_from,{trace_specs,f,1},b}
%% expect:     [call]
%% expect:   [{['_','_'],[],[{message,wrong_arity}]}]
%% expect:     [call]
%% expect:   []
%% expect:   {trace,tracee,call,{trace_specs,f,[1]}}
%% expect:   {trace,tracee,call,{trace_specs,f,[b]}}
%% expect:     [call]
%% expect:   [{'_',[{is_integer,nonsense}],[]}]
%% expect:     [call]
%% expect:   0
%% expect: others
%% expect:   {trace,pid,call,{trace_specs,f,[tracee]}}
%% expect:   {trace,tracee,'receive',go}
%% expect:   {trace,tracee,send,x,tracee}
%% expect:   {trace,tracee,'receive',x}
%% expect:   {flags,['receive',send]}
%% expect:   {trace,tracee,call,{trace_specs,f,[1]}}
%% expect:   {flags,['receive']}
%% expect: meta
%% expect:   1
%% expect:   {trace_ts,tracee,call,{trace_specs,f,[x]},x,time}
%% expect:   {trace_ts,tracee,return_from,{trace_specs,f,1},x,time}
%% expect:   [true,{meta_match_spec,[{['$1'],[],[{return_trace},{message,'$1'}]}]},{traced,false},{match_spec,false}]
%% expect:   {trace,tracee,call,{trace_specs,f,[y]},local}
%% expect:   {trace_ts,tracee,call,{trace_specs,f,[y]},y,time}
%% expect:   {trace_ts,tracee,return_from,{trace_specs,f,1},y,time}
%% expect:   {meta,[]}
%% expect:   1
%% expect:   {all,false}
%% expect: counts
%% expect:   1
%% expect:   {call_count,11}
%% expect:   {call_count,15}
%% expect:   {all,[{traced,false},{match_spec,false},{meta,false},{meta_match_spec,false},{call_time,false},{call_count,15}]}
%% expect 27:   {all,[{traced,false},{match_spec,false},{meta,false},{meta_match_spec,false},{call_memory,false},{call_time,false},{call_count,15}]}
%% expect:   {call_count,15}
%% expect:   {call_count,15}
%% expect:   {call_count,0}
%% expect: paused
%% expect:   {call_count,2}
%% expect:   {call_count,3}
%% expect:   {call_count,false}
%% expect: times
%% expect:   {loop,1,[{tracee,1001,true,true}]}
%% expect:   {f,1,[{tracee,2,true,true}]}
%% expect:   {g,1,[{tracee,2,true,true}]}
%% expect:   {h,2,[]}
%% expect:   {call_time,false}
%% expect: on_load
%% expect:   {all,false}
%% expect:   0
%% expect:   {traced,local}
%% expect:   {match_spec,[{'_',[],[{return_trace}]}]}
%% expect:   {traced,false}
%% expect:   [{traced,local},{match_spec,[{'_',[],[{return_trace}]}]}]
%% expect:   {trace,tracee,call,{trace_specs_other,go,[a]}}
%% expect:   {trace,tracee,return_from,{trace_specs_other,go,1},{a,1}}
%% expect: reload
%% expect:   {traced,false}
%% expect:   1
%% expect:   {traced,global}
%% expect:   {traced,false}
%% expect:   1
%% expect:   {a,3}
%% expect:   {trace,tracee,call,{trace_specs_other,go,[a]}}
%% expect:   {traced,undefined}
%% expect:   0
%% expect: errors
%% expect:   {{trace_specs,f,1},true,[nonsense],badarg}
%% expect:   {{trace_specs,f,1},true,[global,local],badarg}
%% expect:   {{trace_specs,'_',1},true,[],badarg}
%% expect:   {{trace_specs,f},true,[],badarg}
%% expect:   {{"x",f,1},true,[],badarg}
%% expect:   {{trace_specs,f,1},maybe,[],badarg}
%% expect 27:   {{trace_specs,f,1},'maybe',[],badarg}
%% expect:   {{trace_specs,f,1},[{'$1'}],[],badarg}
%% expect:   {{trace_specs,f,1},[{'_',[],[{nonsense}]}],[],badarg}
%% expect:   {{trace_specs,f,1},[{'_',[{message,1}],[]}],[],badarg}
%% expect:   {{trace_specs,f,1},[{'_',[],[]}],[call_count],badarg}
%% expect:   {{trace_specs,f,1},true,[local|x],badarg}
%% expect:   {{trace_specs,f,1},true,[{meta,foo}],badarg}
%% expect:   {{trace_specs,nothere,1},true,[local],0}
%% expect:   {{nomodule,'_','_'},true,[local],0}
%% expect:   {{trace_specs,f,300},true,[local],0}
%% expect:   {{trace_specs,f,1},nonsense,{nonsense,false}}
%% expect erl 29:   {{trace_specs,f,1},nonsense,badarg}
%% expect:   {{trace_specs,f},all,badarg}
%% expect:   {{trace_specs,f,'_'},all,badarg}
%% expect:   {on_load,nonsense,{nonsense,false}}
%% expect:   {send,all,badarg}
%% expect:   {17,all,badarg}
%% expect:   {{trace_specs,nothere,1},all,{all,undefined}}

%% Which functions a specification of messages may have, of those sent and of those received.
of_messages() ->
    io:format("of messages~n"),
    Bodies = [{message, false}, {display, x}, {self}, {set_tcw, 1}, {get_tcw}, {return_trace}, {exception_trace},
              {caller}, {caller_line}, {message, {caller}}, {message, {process_dump}}, {silent, true}, {is_seq_trace}, {get_seq_token},
              {set_seq_token, label, 1}, {enable_trace, call}, {enable_trace, self(), call}, {disable_trace, call},
              {trace, [call], []}],
    [io:format("  ~0p ~0p ~0p~n", [element(1, B), of_message(send, ['_', '_'], B), of_message('receive', ['_', '_', '_'], B)])
     || B <- Bodies],
    {'EXIT', {badarg, _}} = (catch erlang:trace_pattern('receive', [{['_', '_', '_'], [{is_seq_trace}], []}], [])).

of_message(Event, Head, Body) ->
    try erlang:trace_pattern(Event, [{Head, [], [Body]}], []) of
        N -> erlang:trace_pattern(Event, true, []), N
    catch
        error:E:S -> {E, maps:get(cause, proplists:get_value(error_info, element(4, hd(S))), none)}
    end.
%% expect: of messages
%% expect:   message 1 1
%% expect:   display 1 1
%% expect:   self 1 1
%% expect:   set_tcw 1 1
%% expect:   get_tcw 1 1
%% expect:   return_trace 1 1
%% expect:   exception_trace 1 1
%% expect:   caller {badarg,match_spec} {badarg,match_spec}
%% expect:   caller_line {badarg,match_spec} {badarg,match_spec}
%% expect:   message {badarg,match_spec} {badarg,match_spec}
%% expect:   message 1 {badarg,match_spec}
%% expect:   silent 1 {badarg,match_spec}
%% expect:   is_seq_trace 1 {badarg,match_spec}
%% expect:   get_seq_token 1 {badarg,match_spec}
%% expect:   set_seq_token 1 {badarg,match_spec}
%% expect:   enable_trace 1 {badarg,match_spec}
%% expect:   enable_trace 1 {badarg,match_spec}
%% expect:   disable_trace 1 {badarg,match_spec}
%% expect:   trace 1 {badarg,match_spec}
