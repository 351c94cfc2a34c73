%% SPDX-License-Identifier: Apache-2.0
%% What is left when a module's code is purged: its literals in whoever holds them, calls of its funs that wait, its on_load function.
%% expect: {loaded,1,true}
%% expect: {purged,true}
%% expect: {kept,true,true}
%% expect: {kept,true,true}
%% expect: {rounds,true}
%% expect: {waits,suspended}
%% expect: {soft_purge,false}
%% expect: {called,{fun_of,2}}
%% expect: {waits,suspended}
%% expect: {purge,{true,false}}
%% expect: {called,{badfun,true}}
%% expect: {failed,{error,on_load_failure}}
%% expect: {current,4,true}
-module(literals_purged).
-export([main/0]).

main() ->
    load(1),
    L = literals_purged_code:term(),
    show({loaded, literals_purged_code:version(), erts_debug:size_shared(L) =:= 0}),
    Holders = [spawn_monitor(fun() -> hold(literals_purged_code:term()) end) || _ <- lists:seq(1, 10)],
    load(2),
    show({purged, code:purge(literals_purged_code) =:= false}),
    await_collector(),
    show({kept, erts_debug:size_shared(L) > 0, L =:= literals_purged_code:term()}),
    show({kept, lists:all(fun({Pid, Ref}) -> ask(Pid, Ref) end, Holders), erts_debug:size_shared(literals_purged_code:term()) =:= 0}),
    [begin load(2), code:purge(literals_purged_code) end || _ <- lists:seq(1, 200)],
    await_collector(),
    show({rounds, literals_purged_code:term() =:= L}),
    funs(),
    show({failed, code:load_binary(literals_purged_code, "none", compile(5, [{attribute, 1, on_load, {fail, 0}}]))}),
    show({current, literals_purged_code:version(), literals_purged_code:term() =:= L}).

%% Calls of a fun while a soft purge that fails, and a purge, are on their way.
funs() ->
    load(3),
    F = literals_purged_code:make(),
    Runner = spawn(fun() -> literals_purged_code:wait() end),
    load(4),
    Soft = test_purge(false),
    Caller = call(F),
    show({waits, await_suspended(Caller)}),
    go_on(Soft, fun(Result) -> show({soft_purge, Result}) end),
    show_called(Caller),
    exit(Runner, kill),
    false = is_process_alive(Runner),
    Hard = test_purge(true),
    Other = call(F),
    show({waits, await_suspended(Other)}),
    go_on(Hard, fun(Result) -> show({purge, Result}) end),
    show_called(Other).

call(F) ->
    Main = self(),
    spawn(fun() -> Main ! {self(), try F() catch error:{badfun, G} -> {badfun, G =:= F} end} end).

show_called(Pid) -> receive {Pid, Result} -> show({called, Result}) end.

await_suspended(Pid) ->
    case process_info(Pid, status) of
        {status, suspended} -> suspended;
        _ -> receive after 1 -> await_suspended(Pid) end
    end.

%% erts_code_purger stops before and after it looks for who uses the code.
test_purge(Hard) ->
    Ref = make_ref(),
    erts_code_purger ! {test_purge, literals_purged_code, self(), Hard, Ref},
    receive {started, Ref} -> Ref end.

go_on(Ref, Tell) ->
    erts_code_purger ! {continue, Ref},
    receive {continued, Ref} -> ok end,
    erts_code_purger ! {complete, Ref},
    receive {test_purge, Result, Ref} -> Tell(Result) end.

hold(Term) ->
    receive {tell, From} -> From ! {self(), erts_debug:size_shared(Term) > 0 andalso Term =:= literals_purged_code:term()} end.

ask(Pid, Ref) ->
    Pid ! {tell, self()},
    receive {Pid, Answer} -> Answer; {'DOWN', Ref, process, Pid, Why} -> Why end.

show(T) -> io:format("~p~n", [T]).

load(N) ->
    {module, literals_purged_code} = code:load_binary(literals_purged_code, "none", compile(N, [])).

compile(N, More) ->
    Text = ["-module(literals_purged_code).", "-export([version/0, term/0, make/0, wait/0]).",
            "version() -> " ++ integer_to_list(N) ++ ".",
            "term() -> {\"a list of some length\", <<\"binary\">>, 1267650600228229401496703205376, #{a => {1,2}}, <<\"as long as the binaries that stand on no heap, as long as the binaries that stand on no heap, as long as the binaries that stand on no heap, \">>}.",
            "make() -> V = version(), fun() -> {fun_of, V - 1} end.",
            "fail() -> failed.",
            "wait() -> receive stop -> ok end, version()."],
    [Module, Export | Rest] = [form(Line) || Line <- Text],
    {ok, _, Beam} = compile:forms([Module, Export] ++ More ++ Rest, [nowarn_unused_function]),
    Beam.

form(Line) ->
    {ok, Tokens, _} = erl_scan:string(Line),
    {ok, Form} = erl_parse:parse_form(Tokens),
    Form.

await_collector() ->
    [Pid] = [P || P <- processes(), {initial_call, {erts_literal_area_collector, start, 0}} =:= process_info(P, initial_call)],
    await_idle(Pid).

await_idle(Pid) ->
    Ref = make_ref(),
    Pid ! {get_status, Ref, self()},
    receive
        {Ref, idle} -> ok;
        {Ref, working} -> receive after 5 -> await_idle(Pid) end
    end.
