%% SPDX-License-Identifier: Apache-2.0
%% Every way to call times every kind of function times every kind of trace pattern: what is told and counted, against a
%% small model. Then the same calls while patterns come and go, told to a process and to a port. The callers are generated and
%% compiled here.
-module(trace_every_call).
-export([main/0, plain/1, calling/1, raising/1, rounds/1, woken/0, collect/1]).

main() ->
    prepare(),
    lists:foreach(fun({Name, _, _} = Pattern) ->
        Runs = [{Callee, Way} || Callee <- callees(), Way <- ways(), fits(Callee, Way)],
        Wrong = [{M, F, length(As), Way, Got, Want} || {{_, {M, F, As}, _, _} = Callee, Way} <- Runs,
            {Got, Want} <- [{run(Callee, Way, Pattern), expected(Callee, Way, Name)}], Got =/= Want],
        io:format("~w: ~w runs, wrong: ~0p~n", [Name, length(Runs), Wrong])
    end, patterns()),
    guards(),
    Tracer = spawn(fun ignore/0),
    io:format("told to a process: ~p~n", [toggled(Tracer)]),
    Port = (dbg:trace_port(file, "/dev/null"))(),
    io:format("told to a port: ~p~n", [toggled(Port)]).

prepare() ->
    code:ensure_loaded(prim_buffer),
    code:ensure_loaded(prim_file),
    Table = ets:new(table, [public]),
    [ets:insert(Table, {N}) || N <- lists:seq(1, 3000)],
    persistent_term:put(table, Table),
    {module, callers} = load().

%% ---- what is called: a name, the call, how it ends, and whether its name in code makes it an instruction
callees() -> [
    {plain, {?MODULE, plain, [1]}, ok, false},
    {calling, {?MODULE, calling, [1]}, ok, false},
    {raising, {?MODULE, raising, [x]}, raises, false},
    {guard, {erlang, abs, [-1]}, ok, true},
    {guard_error, {erlang, element, [3, {a}]}, raises, true},
    {native, {erlang, atom_to_list, [a]}, ok, false},
    {native_error, {erlang, atom_to_list, [1]}, raises, false},
    {long, {lists, reverse, [lists:seq(1, 9000), []]}, ok, false},
    {table, {ets, select, [table, [{{'$1'}, [{'==', '$1', 7}], ['$1']}]]}, ok, false},
    {sends, {erlang, send, [nobody_has_this_name, x]}, raises, false},
    {collects, {erlang, garbage_collect, []}, ok, false},
    {library, {prim_buffer, new, []}, ok, false},
    {fails, {erlang, raise, [error, x, []]}, raises, unclear},
    {throws, {erlang, throw, [x]}, raises, unclear},
    {apply2, {erlang, apply, [fun ?MODULE:plain/1, [1]]}, ok, true},
    {apply2_error, {erlang, apply, [fun ?MODULE:plain/1, []]}, raises, true},
    {apply3, {erlang, apply, [?MODULE, plain, [1]]}, ok, applied},
    {yield, {erlang, yield, []}, ok, true},
    {hibernate, {erlang, hibernate, [?MODULE, woken, []]}, wakes, true},
    {missing, {no_such_module, f, [1]}, undefined, false}].

plain(X) -> {plain, X}.
calling(X) -> {calling, plain(X)}.
raising(X) -> error(X).
woken() -> woken.

%% ---- the ways: the text, whether the function's name is in the code, and who called
%% call: the call itself, name: its module and function, args: its arguments
way(remote) -> {"R = CALL, id(R)", direct, body};
way(remote_last) -> {"CALL", direct, last};
way(handled) -> {"try CALL of R -> id(R) catch never -> id(x) end", direct, handled};
way(variables) -> {"R = M:F(ARGS), id(R)", applied, body};
way(variables_last) -> {"M:F(ARGS)", applied, last};
way(list) -> {"As = id([ARGS]), R = apply(M, F, As), id(R)", applied, body};
way(list_last) -> {"As = id([ARGS]), apply(M, F, As)", applied, last};
way(fun_external) -> {"G = id(fun NAME), R = G(ARGS), id(R)", export, body};
way(fun_external_last) -> {"G = id(fun NAME), G(ARGS)", export, last};
way(fun_list) -> {"G = id(fun NAME), As = id([ARGS]), R = apply(G, As), id(R)", export, body};
way(fun_list_last) -> {"G = id(fun NAME), As = id([ARGS]), apply(G, As)", export, last};
way(fun_map) -> {"[R] = [G(ARGS) || G <- id([fun NAME])], id(R)", export, within};
way(catching) -> {"case catch M:F(ARGS) of {'EXIT', R} -> id(R); R -> id(R) end", applied, handled}.

ways() -> [remote, remote_last, handled, variables, variables_last, list, list_last, fun_external, fun_external_last, fun_list, fun_list_last,
           fun_map, catching].

%% What OTP's compiler makes of a call that never returns differs by release.
fits({_, _, _, unclear}, Way) -> element(2, way(Way)) =/= direct;
fits({hibernate, _, _, _}, Way) -> lists:member(Way, [remote, remote_last, variables, fun_external]);
fits(_, _) -> true.

load() ->
    Source = ["-module(callers).\n-compile([export_all, nowarn_export_all]).\nid(X) -> X.\n" |
              [caller(C, W) || C <- callees(), W <- ways(), fits(C, W)]],
    {ok, Tokens, _} = erl_scan:string(lists:flatten(Source)),
    {ok, _, Code} = compile:forms([element(2, erl_parse:parse_form(Ts)) || Ts <- split(Tokens)], []),
    code:load_binary(callers, "callers", Code).

split([]) -> [];
split(Tokens) ->
    {Form, [Dot | Rest]} = lists:splitwith(fun(T) -> element(1, T) =/= dot end, Tokens),
    [Form ++ [Dot] | split(Rest)].

caller({_, {M, F, As}, _, _} = Callee, Way) ->
    Args = lists:join(", ", [[$A | integer_to_list(N)] || N <- lists:seq(1, length(As))]),
    {Text, _, _} = way(Way),
    Parts = [{"CALL", io_lib:format("~w:~w(~s)", [M, F, Args])}, {"NAME", io_lib:format("~w:~w/~w", [M, F, length(As)])}, {"ARGS", Args}],
    Body = lists:foldl(fun({What, With}, T) -> string:replace(T, What, With, all) end, Text, Parts),
    io_lib:format("~w(M, F, [~s]) -> id({M, F}), ~s.\n", [name(Callee, Way), Args, Body]).

name({Name, _, _, _}, Way) -> list_to_atom(atom_to_list(Name) ++ "_" ++ atom_to_list(Way)).

%% ---- the patterns, and what the model says of each

patterns() ->
    Returns = [{'_', [], [{return_trace}, {message, {caller}}]}],
    Exceptions = [{'_', [], [{exception_trace}, {message, {caller}}]}],
    [{local, true, [local]}, {global, true, [global]}, {count, true, [call_count]}, {time, true, [call_time]}, {meta, Exceptions, [meta]},
     {returns, Returns, [local]}, {exceptions, Exceptions, [local]}, {global_exceptions, Exceptions, [global]},
     {together, Exceptions, [local, meta, call_count, call_time]}].

%% {told, calls counted, calls timed}. The frame of who calls a native last is still there when it is called.
expected({Name, _, Ends, Kind}, Way, Pattern) ->
    {_, How, Where} = way(Way),
    IsFunction = lists:member(Name, [plain, calling, raising, collects, library]), % in OTP
    Stays = (How =:= direct andalso not IsFunction) orelse (How =:= applied andalso Name =:= throws),
    Place = if Where =:= last, Stays -> frame; true -> Where end,
    Calls = if
        Ends =:= undefined -> none;
        Kind =:= true, How =:= direct -> 0;
        Kind =:= applied, How =/= export -> 0;
        true -> 1
    end,
    Counted = if
        Pattern =:= count; Pattern =:= together -> Calls;
        Calls =:= none -> none;
        true -> false
    end,
    Timed = if
        Pattern =:= time; Pattern =:= together -> Calls;
        Calls =:= none -> none;
        true -> false
    end,
    {[E || Calls =:= 1, E <- told(Pattern, Ends, Place)], Counted, Timed}.

told(count, _, _) -> [];
told(time, _, _) -> [];
told(global, _, _) -> [call];
told(local, Ends, Place) -> [call | [return_to || returns_to(Ends, Place)]];
told(meta, Ends, Place) -> [{meta, call, caller(Place)} | [{meta, End} || End <- ended(Ends)]];
told(returns, Ends, Place) -> [{call, caller(Place)}] ++ [return_from || Ends =:= ok] ++ [return_to || returns_to(Ends, Place)];
told(exceptions, Ends, Place) -> [{call, caller(Place)}] ++ ended(Ends) ++ [return_to || returns_to(Ends, Place)];
told(global_exceptions, Ends, Place) -> [{call, caller(Place)}] ++ ended(Ends);
told(together, Ends, Place) -> lists:sort(told(exceptions, Ends, Place) ++ told(meta, Ends, Place)).

ended(ok) -> [return_from];
ended(raises) -> [exception_from];
ended(wakes) -> [].

%% An exception returns only to who catches it itself, on OTP 27 to who catches it further out as well.
returns_to(ok, _) -> true;
returns_to(raises, Place) -> lists:member(Place, [last, handled]) orelse list_to_integer(erlang:system_info(otp_release)) >= 27;
returns_to(_, _) -> false.

caller(last) -> run;
caller(_) -> caller.

%% ---- a run

run({_, {M, F, As}, _, _} = Callee, Way, {Name, Spec, Flags}) ->
    Self = self(),
    N = length(As),
    Tracer = spawn_link(?MODULE, collect, [[]]),
    Function = name(Callee, Way),
    {Tracee, Monitor} = spawn_monitor(fun() -> Self ! started, receive go -> ok end, Self ! {ended, call(Function, M, F, args(As))}, receive stop -> ok end end),
    receive started -> ok end,
    erlang:trace_pattern({M, F, N}, Spec, [if Flag =:= meta -> {meta, Tracer}; true -> Flag end || Flag <- Flags]),
    erlang:trace(Tracee, true, [{tracer, Tracer}, call, return_to, arity]),
    Tracee ! go,
    Tracee ! wake,
    receive {ended, _} -> ok; {'DOWN', Monitor, _, _, _} -> ok end,
    Ref = erlang:trace_delivered(Tracee),
    receive {trace_delivered, Tracee, Ref} -> ok end,
    {_, Count} = erlang:trace_info({M, F, N}, call_count),
    {_, Times} = erlang:trace_info({M, F, N}, call_time),
    off({M, F, N}, Flags),
    Tracer ! {take, Self},
    Told = receive {taken, Events} -> [E || Event <- Events, E <- short(Event, {M, F}, Function)] end,
    exit(Tracee, kill),
    demonitor(Monitor, [flush]),
    {if Name =:= together -> lists:sort(Told); true -> Told end, counted(Count), timed(Times)}.

%% Calls of others are not ours: no pattern stands on them.
call(Function, M, F, As) -> try callers:Function(M, F, As) of R -> {R} catch Class:_ -> Class end.

args(As) -> [if A =:= table -> persistent_term:get(table); true -> A end || A <- As].

off(MFA, [global]) -> erlang:trace_pattern(MFA, false, [global]);
off(MFA, _) -> erlang:trace_pattern(MFA, false, [local, meta, call_count, call_time]).

off(MFA) -> off(MFA, [global]), off(MFA, [local]).

collect(L) -> receive {take, P} -> P ! {taken, lists:reverse(L)}; M -> collect([M | L]) end.

counted(undefined) -> none;
counted(Count) -> Count.
timed(undefined) -> none;
timed(false) -> false;
timed(Times) -> lists:sum([N || {_, N, _, _} <- Times]).

short({trace, _, call, {M, F, _}}, {M, F}, _) -> [call];
short({trace, _, call, {M, F, _}, By}, {M, F}, Function) -> [{call, by(By, Function)}];
short({trace, _, return_from, {M, F, _}, _}, {M, F}, _) -> [return_from];
short({trace, _, exception_from, {M, F, _}, _}, {M, F}, _) -> [exception_from];
short({trace, _, return_to, _}, _, _) -> [return_to];
short({trace_ts, _, call, {M, F, _}, By, _}, {M, F}, Function) -> [{meta, call, by(By, Function)}];
short({trace_ts, _, What, {M, F, _}, _, _}, {M, F}, _) -> [{meta, What}];
short(Other, _, _) -> [Other].

by({callers, _, _}, _) -> caller;
by({?MODULE, _, _}, _) -> run;
by(Other, _) -> Other.

%% ---- guards are instructions

guards() ->
    Tracer = spawn_link(?MODULE, collect, [[]]),
    [erlang:trace_pattern({erlang, F, '_'}, true, [local]) || F <- [abs, element, is_atom, length, '+']],
    erlang:trace(self(), true, [call, {tracer, Tracer}]),
    X = guarded(-2),
    erlang:trace(self(), false, [call]),
    [off({erlang, F, '_'}) || F <- [abs, element, is_atom, length, '+']],
    Tracer ! {take, self()},
    receive {taken, L} -> io:format("guards: ~p ~p~n", [X, L]) end.

guarded(X) when abs(X) > 1, length([X]) + 1 =:= 2, not is_atom(X), element(1, {X}) =:= X -> passes.

%% ---- patterns that come and go

ignore() -> receive stop -> ok; _ -> ignore() end.

toggled(Tracer) ->
    {Toggler, Monitor} = spawn_monitor(fun() -> toggle(1) end),
    Workers = [spawn_monitor(?MODULE, rounds, [3]) || _ <- lists:seq(1, 4)],
    [erlang:trace(P, true, [call, return_to, timestamp, {tracer, Tracer}]) || {P, _} <- Workers],
    [P ! go || {P, _} <- Workers],
    Ends = [receive {'DOWN', M, _, _, R} -> R end || {_, M} <- Workers],
    exit(Toggler, kill),
    receive {'DOWN', Monitor, _, _, _} -> ok end,
    [off({M, F, length(As)}) || {_, {M, F, As}, _, _} <- callees()],
    lists:usort(Ends).

rounds(N) ->
    receive go -> ok end,
    Runs = [{C, W} || {Name, _, _, _} = C <- callees(), Name =/= hibernate, W <- ways(), fits(C, W)],
    Wrong = [{name(C, W), R} || _ <- lists:seq(1, N), {{_, {M, F, As}, Ends, _} = C, W} <- Runs, {true, R} <- [is_wrong(Ends, W, name(C, W), M, F, args(As))]],
    exit({wrong, Wrong}).

is_wrong(Ends, Way, Function, M, F, As) ->
    Result = try callers:Function(M, F, As) of _ -> ok catch _:_ -> raises end,
    {Result =/= if Ends =:= ok; Way =:= catching -> ok; true -> raises end, Result}.

toggle(N) ->
    [begin
        {_, Spec, Flags} = lists:nth(1 + (N + K) rem length(patterns()), patterns()),
        case (N + K) rem 4 of
            0 -> off({M, F, length(As)});
            _ -> erlang:trace_pattern({M, F, length(As)}, Spec, [if Flag =:= meta -> {meta, self()}; true -> Flag end || Flag <- Flags])
        end
    end || {K, {_, {M, F, As}, _, _}} <- lists:zip(lists:seq(1, length(callees())), callees())],
    flush(),
    toggle(N + 1).

flush() -> receive _ -> flush() after 0 -> ok end.

%% expect: local: 245 runs, wrong: []
%% expect erl 29: local: 245 runs, wrong: [{erlang,hibernate,3,remote,{[call],false,false},{[],false,false}},{erlang,hibernate,3,remote_last,{[call],false,false},{[],false,false}}]
%% expect: global: 245 runs, wrong: []
%% expect erl 29: global: 245 runs, wrong: [{erlang,hibernate,3,remote,{[call],false,false},{[],false,false}},{erlang,hibernate,3,remote_last,{[call],false,false},{[],false,false}}]
%% expect: count: 245 runs, wrong: []
%% expect erl 29: count: 245 runs, wrong: [{erlang,hibernate,3,remote,{[],1,false},{[],0,false}},{erlang,hibernate,3,remote_last,{[],1,false},{[],0,false}}]
%% expect: time: 245 runs, wrong: []
%% expect erl 29: time: 245 runs, wrong: [{erlang,hibernate,3,remote,{[],false,1},{[],false,0}},{erlang,hibernate,3,remote_last,{[],false,1},{[],false,0}}]
%% expect: meta: 245 runs, wrong: []
%% expect erl 29: meta: 245 runs, wrong: [{erlang,hibernate,3,remote,{[{meta,call,caller}],false,false},{[],false,false}},{erlang,hibernate,3,remote_last,{[{meta,call,caller}],false,false},{[],false,false}}]
%% expect: returns: 245 runs, wrong: []
%% expect erl 29: returns: 245 runs, wrong: [{erlang,hibernate,3,remote,{[{call,caller}],false,false},{[],false,false}},{erlang,hibernate,3,remote_last,{[{call,caller}],false,false},{[],false,false}}]
%% expect: exceptions: 245 runs, wrong: []
%% expect erl 29: exceptions: 245 runs, wrong: [{erlang,hibernate,3,remote,{[{call,caller}],false,false},{[],false,false}},{erlang,hibernate,3,remote_last,{[{call,caller}],false,false},{[],false,false}}]
%% expect: global_exceptions: 245 runs, wrong: []
%% expect erl 29: global_exceptions: 245 runs, wrong: [{erlang,hibernate,3,remote,{[{call,caller}],false,false},{[],false,false}},{erlang,hibernate,3,remote_last,{[{call,caller}],false,false},{[],false,false}}]
%% expect: together: 245 runs, wrong: []
%% expect erl 29: together: 245 runs, wrong: [{erlang,hibernate,3,remote,{[{call,caller},{meta,call,caller}],1,1},{[],0,0}},{erlang,hibernate,3,remote_last,{[{call,caller},{meta,call,caller}],1,1},{[],0,0}}]
%% expect: guards: passes []
%% expect: told to a process: [{wrong,[]}]
%% expect: told to a port: [{wrong,[]}]
