%% SPDX-License-Identifier: Apache-2.0
%% A debugger: breakpoints at lines, and what it sees of a process that has stopped at one.
-module(since29_debugger).
-export([main/0]).

-define(D, erl_debugger).

main() ->
    off(),
    erts_debug:set_internal_state(available_internal_state, true),
    erts_debug:set_internal_state(debugger_support, true),
    Code = compiled(),
    instruments(Code),
    refused(),
    debuggers(),
    stopped(),
    many_registers(),
    deep().

%% Without +D there is no debugger.
off() ->
    p([?D:supported(), why(fun() -> ?D:instrumentations() end), why(fun() -> ?D:register(self()) end), why(fun() -> ?D:stack_frames(self(), 1) end)]),
    p([length([F || {F, A} <- ?D:module_info(exports), F =/= module_info, F =/= supported, why(fun() -> apply(?D, F, lists:duplicate(A, x)) end) =/= undef])]).

%% expect: [false,undef,undef,undef]
%% expect: [0]

source() ->
    "-module(debugged).\n"
    "-export([go/1, wide/1, deep/1]).\n"
    "go(Who) ->\n"
    "    X = 42,\n"
    "    Y = [Who, X],\n"
    "    (catch bar(Y)),\n"
    "    lists:map(fun(Z) -> Z + X end, [1,2]),\n"
    "    {Who, Y}.\n"
    "bar([A | B]) ->\n"
    "    foo(A, B, \"lit\").\n"
    "foo(A, _, C) when is_pid(A) -> C;\n"
    "foo(_, <<B, R/binary>>, _) ->\n"
    "    {B, R}.\n"
    "wide({A, B, C, D, E, F, G, H}) ->\n"
    "    A + B + C + D +\n"
    "    E + F + G + H.\n"
    "deep(0) -> 0;\n"
    "deep(N) ->\n"
    "    1 + deep(N - 1).\n".

forms([]) -> [];
forms(Tokens) ->
    {Form, [Dot | Rest]} = lists:splitwith(fun({dot, _}) -> false; (_) -> true end, Tokens),
    {ok, Parsed} = erl_parse:parse_form(Form ++ [Dot]),
    [Parsed | forms(Rest)].

compiled() ->
    {ok, Tokens, _} = erl_scan:string(source()),
    {ok, debugged, Code} = compile:forms(forms(Tokens), [beam_debug_info, nowarn_deprecated_catch]),
    Code.

load(Code) ->
    code:purge(debugged),
    {module, debugged} = code:load_binary(debugged, "debugged.beam", Code).

instruments(Code) ->
    p([?D:supported(), ?D:instrumentations(), ?D:toggle_instrumentations(#{line_breakpoint => false}), ?D:instrumentations(), ?D:toggle_instrumentations(#{})]),
    p([why(fun() -> ?D:toggle_instrumentations(X) end) || X <- [[], #{line_breakpoint => faux}, #{foo => true}, #{line_breakpoint => true, foo => true}]]),
    load(Code),
    p([?D:breakpoint(debugged, 4, true), ?D:breakpoints(debugged, go, 1), code:get_debug_info(debugged)]),
    ?D:toggle_instrumentations(#{line_breakpoint => true}),
    load(Code),
    p(lists:sort(maps:to_list(element(2, ?D:breakpoints(debugged))))),
    [p({L, lists:sort(maps:to_list(M))}) || {L, M} <- code:get_debug_info(debugged), lists:member(L, [4, 6, 7, 10, 13])].

%% expect: [true,#{line_breakpoint => true},ok,#{line_breakpoint => false},ok]
%% expect: [badarg,badarg,badarg,badarg]
%% expect: [{error,{unsupported,debugged}},{ok,#{}},[]]
%% expect: [{{'-go/1-fun-0-',2},#{}},{{bar,1},#{10 => false}},{{deep,1},#{17 => false,19 => false}},{{foo,3},#{11 => false,13 => false}},{{go,1},#{4 => false,5 => false,6 => false,7 => false,8 => false}},{{module_info,0},#{}},{{module_info,1},#{}},{{wide,1},#{16 => false}}]
%% expect: {4,[{calls,[]},{frame_size,3},{vars,[{<<"Who">>,{y,1}}]}]}
%% expect: {6,[{calls,[{bar,1}]},{frame_size,3},{vars,[{<<"Who">>,{y,1}},{<<"X">>,{value,42}},{<<"Y">>,{y,0}}]}]}
%% expect: {7,[{calls,[{lists,map,2}]},{frame_size,3},{vars,[{<<"Who">>,{y,1}},{<<"X">>,{value,42}},{<<"Y">>,{y,0}}]}]}
%% expect: {10,[{calls,[{foo,3}]},{frame_size,none},{vars,[{<<"A">>,{x,1}},{<<"B">>,{x,0}}]}]}
%% expect: {13,[{calls,[]},{frame_size,none},{vars,[{<<"B">>,{x,4}},{<<"R">>,{x,3}}]}]}

refused() ->
    p([{L, why(fun() -> ?D:breakpoint(debugged, L, true) end)} || L <- [1, 3, 4, 7, 11, 99, 1 bsl 70, 0, -1, x]]),
    p([why(fun() -> ?D:breakpoint(M, 4, B) end) || {M, B} <- [{1, true}, {debugged, yes}, {no_such, true}, {lists, true}]]),
    p([why(fun() -> ?D:breakpoints(M) end) || M <- [1, no_such]]),
    p([why(fun() -> ?D:breakpoints(M, F, A) end) || {M, F, A} <- [{1, go, 1}, {no_such, go, 1}, {debugged, go, 2}, {debugged, go, x}, {debugged, go, -1}, {debugged, go, 1}, {lists, map, 2}]]),
    p([?D:breakpoint(debugged, L, false) || L <- [4, 7, 11]]).

%% expect: [{1,{error,{badkey,1}}},{3,{error,{unsupported,3}}},{4,ok},{7,ok},{11,ok},{99,{error,{badkey,99}}},{1180591620717411303424,badarg},{0,badarg},{-1,badarg},{x,badarg}]
%% expect: [badarg,badarg,{error,{badkey,no_such}},{error,{unsupported,lists}}]
%% expect: [badarg,{error,badkey}]
%% expect: [badarg,{error,{badkey,no_such}},{error,{badkey,{go,2}}},badarg,{error,{badkey,{go,-1}}},{ok,#{4 => true,5 => false,6 => false,7 => true,8 => false}},{ok,#{}}]
%% expect: [ok,ok,ok]

debuggers() ->
    p([why(fun() -> ?D:register(X) end) || X <- [x, 1]]),
    {ok, S} = ?D:register(self()),
    p([is_integer(S), ?D:register(self()), ?D:whereis() =:= self()]),
    p([why(fun() -> ?D:unregister(P, N) end) || {P, N} <- [{self(), x}, {self(), S + 1}, {self(), 1 bsl 70}, {x, S}, {spawn(fun() -> ok end), 1}]]),
    p([?D:unregister(self(), S), ?D:whereis()]),
    {P, M} = spawn_monitor(fun() -> receive stop -> ok end end),
    {ok, _} = ?D:register(P),
    exit(P, kill),
    receive {'DOWN', M, _, _, _} -> ok end,
    p(?D:whereis()).

%% expect: [badarg,badarg]
%% expect: [true,{error,already_exists},true]
%% expect: [badarg,badarg,badarg,badarg,ok]
%% expect: [ok,undefined]
%% expect: undefined

%% Two breakpoints, and a third place where the debugger itself is not stopped.
stopped() ->
    {ok, S} = ?D:register(self()),
    Self = self(),
    p([?D:breakpoint(debugged, L, true) || L <- [4, 7, 11]]),
    X = spawn(fun() -> Self ! {done, debugged:go(Self)} end),
    look(X, S),
    look(X, S),
    look(X, S),
    p(receive {done, R} -> R =:= {Self, [Self, 42]} end),
    p(debugged:go(a)),
    p(asked(X)),
    p([?D:breakpoint(debugged, L, false) || L <- [4, 7, 11]]),
    p(?D:unregister(self(), S)).

%% expect: [ok,ok,ok]
%% expect: [{debugged,go,1},4,running,running,running,running]
%% expect: {4,#{function => {erts_internal,breakpoint,4},line => undefined},[{value,[]},{value,[]},{value,[]},{value,[]},{value,[]},ref]}
%% expect: {3,'<breakpoint>',[pid]}
%% expect: {2,#{function => {debugged,go,1},line => 4},[{value,[]},pid,{value,[]}]}
%% expect: {1,ours,[pid]}
%% expect: {0,'<terminate process normally>',[]}
%% expect: [true,true,true,true,true,true,true,true,true,true,true]
%% expect: [{value,[]},{value,[]},{value,[]},{value,[]},{value,[]},{too_large,3},pid,{value,[]},pid,{value,[]},pid]
%% expect: [0,undefined,undefined,undefined]
%% expect: [{erts_internal,breakpoint,4,[]},{debugged,go,1,[{file,"debugged.erl"},{line,4}]}]
%% expect: ok
%% expect: [{debugged,foo,3},11,running,running,running,running]
%% expect: {5,#{function => {erts_internal,breakpoint,4},line => undefined},[{value,[]},{value,[]},{value,[]},{value,[]},{value,[]},ref]}
%% expect: {4,'<breakpoint>',[pid,{value,"*"},{value,"lit"}]}
%% expect: {3,#{function => {debugged,foo,3},line => 11},[]}
%% expect: {2,#{function => {debugged,go,1},line => 6},[{value,[pid,42]},pid,{'catch',#{function => {debugged,go,1},line => 6}}]}
%% expect: {1,ours,[pid]}
%% expect: {0,'<terminate process normally>',[]}
%% expect: [true,true,true,true,true,true,true,true,true,true,true,true,true]
%% expect: [{value,[]},{value,[]},{value,[]},{value,[]},{value,[]},{too_large,3},pid,{too_large,2},{too_large,6},{too_large,4},pid,{'catch',#{function => {debugged,go,1},line => 6}},pid]
%% expect: [0,undefined,undefined,undefined]
%% expect: [{erts_internal,breakpoint,4,[]},{debugged,foo,3,[{file,"debugged.erl"},{line,11}]},{debugged,go,1,[{file,"debugged.erl"},{line,6}]}]
%% expect: ok
%% expect: [{debugged,go,1},7,running,running,running,running]
%% expect: {4,#{function => {erts_internal,breakpoint,4},line => undefined},[{value,[]},{value,[]},{value,[]},{value,[]},{value,[]},ref]}
%% expect: {3,'<breakpoint>',[{value,"lit"}]}
%% expect: {2,#{function => {debugged,go,1},line => 7},[{value,[pid,42]},pid,{value,[]}]}
%% expect: {1,ours,[pid]}
%% expect: {0,'<terminate process normally>',[]}
%% expect: [true,true,true,true,true,true,true,true,true,true,true]
%% expect: [{value,[]},{value,[]},{value,[]},{value,[]},{value,[]},{too_large,3},{too_large,6},{too_large,4},pid,{value,[]},pid]
%% expect: [0,undefined,undefined,undefined]
%% expect: [{erts_internal,breakpoint,4,[]},{debugged,go,1,[{file,"debugged.erl"},{line,7}]}]
%% expect: ok
%% expect: true
%% expect: {a,[a,42]}
%% expect: [badarg,badarg,badarg,badarg,badarg,badarg,badarg,badarg,running,running]
%% expect: [ok,ok,ok]
%% expect: ok

look(X, S) ->
    {debugger_event, S, {breakpoint, X, MFA, Line, Resume}} = receive E -> E after 5000 -> none end,
    p([MFA, Line, ?D:stack_frames(X, 1), ?D:xregs_count(X), ?D:peek_xreg(X, 0, 1), ?D:peek_stack_frame_slot(X, 0, 0, 1)]),
    erlang:suspend_process(X),
    Frames = ?D:stack_frames(X, 100),
    [p({N, place(Fun), [shown(V) || V <- Slots]}) || {N, Fun, #{slots := Slots, code := C}} <- Frames, is_integer(C), C > 0],
    p([?D:peek_stack_frame_slot(X, N, I, 100) =:= V || {N, _, #{slots := Slots}} <- Frames, {I, V} <- lists:enumerate(0, Slots)]),
    p([shown(V) || {_, _, #{slots := Slots}} <- ?D:stack_frames(X, 0), V <- Slots]),
    p([?D:xregs_count(X), ?D:peek_xreg(X, 0, 100), ?D:peek_stack_frame_slot(X, 9, 0, 1), ?D:peek_stack_frame_slot(X, 0, 0, 1)]),
    p([At || At <- element(2, process_info(X, current_stacktrace)), element(1, At) =/= ?MODULE]),
    erlang:resume_process(X),
    p(Resume()).

place(#{function := {?MODULE, _, _}}) -> ours;
place(Fun) -> Fun.

shown({value, P}) when is_pid(P) -> pid;
shown({value, [P | T]}) when is_pid(P) -> {value, [pid | T]};
shown({value, R}) when is_reference(R) -> ref;
shown(V) -> V.

asked(X) ->
    [why(F) || F <- [fun() -> ?D:stack_frames(self(), 1) end, fun() -> ?D:stack_frames(X, -1) end, fun() -> ?D:stack_frames(y, 1) end,
                     fun() -> ?D:stack_frames(X, 1 bsl 70) end, fun() -> ?D:xregs_count(self()) end, fun() -> ?D:peek_xreg(X, -1, 1) end,
                     fun() -> ?D:peek_xreg(X, 0, -1) end, fun() -> ?D:peek_stack_frame_slot(X, -1, 0, 1) end, fun() -> ?D:xregs_count(X) end,
                     fun() -> ?D:stack_frames(X, 1) end]].

%% All registers are as they were.
many_registers() ->
    {ok, S} = ?D:register(self()),
    Self = self(),
    p([?D:breakpoint(debugged, 15, true), ?D:breakpoint(debugged, 16, true)]),
    X = spawn(fun() -> Self ! {done, [debugged:wide({1 bsl 60, 1 bsl 61, 3, 4, 5, 6, 7, N}) || N <- lists:seq(1, 3)]} end),
    p(go_on(X, S, 0)),
    p([?D:breakpoint(debugged, 15, false), ?D:breakpoint(debugged, 16, false)]),
    ?D:unregister(self(), S).

%% expect: [{error,{unsupported,15}},ok]
%% expect: {3,[3458764513820540954,3458764513820540955,3458764513820540956]}
%% expect: [{error,{unsupported,15}},ok]

%% The stack grows at each of them.
deep() ->
    {ok, S} = ?D:register(self()),
    Self = self(),
    ?D:breakpoint(debugged, 19, true),
    X = spawn(fun() -> Self ! {done, debugged:deep(1000)} end),
    p(go_on(X, S, 0)),
    ?D:unregister(self(), S),
    p(debugged:deep(10)).

%% expect: {1000,1000}
%% expect: 10

go_on(X, S, N) ->
    receive
        {debugger_event, S, {breakpoint, X, _, _, Resume}} -> garbage_collect(X), Resume(), go_on(X, S, N + 1);
        {done, R} -> {N, R}
    after 5000 -> {stuck, N, process_info(X, status)}
    end.

why(F) -> try F() catch _:R -> R end.
p(X) -> io:format("~0p~n", [X]).
