%% SPDX-License-Identifier: Apache-2.0
%% Match specifications: the functions of guards that they know since OTP 27, and where a traced call comes from.
-module(since27_guards).
-export([main/0, outer/1, inner/1]).

main() ->
    Bodies = [{tuple_size, {{'$1'}}}, {ceil, '$2'}, {floor, '$2'}, {is_bitstring, '$1'}, {is_boolean, true}, {is_function, '$3', '$1'},
              {min, '$1', '$2'}, {max, '$1', {{'$2'}}}, {tuple_size, '$1'}, {ceil, '$3'}],
    [d(erlang:match_spec_test({1, 1.5, fun(_) -> 1 end}, [{{'$1', '$2', '$3'}, [], [Body]}], table)) || Body <- Bodies],
    d(unknown()),
    [d(erlang:match_spec_test([a], [{'_', [], [{message, Form}]}], Dialect)) ||
        {Form, Dialect} <- [{{current_stacktrace, a}, trace}, {{current_stacktrace, -1}, trace}, {{current_stacktrace, 1, 2}, trace}]],
    d(dialect(erlang:match_spec_test({a}, [{'_', [], [{current_stacktrace}]}], table))),
    [traced(Form) || Form <- [{current_stacktrace}, {current_stacktrace, 1}, {current_stacktrace, 0}, {current_stacktrace, 100}]].

%% Those of the guards of the language that they do not know.
unknown() ->
    [{F, A} || {F, A} <- erlang:module_info(functions), F =/= is_record,
        erl_internal:arith_op(F, A) orelse erl_internal:bool_op(F, A) orelse erl_internal:comp_op(F, A) orelse erl_internal:guard_bif(F, A),
        element(1, erlang:match_spec_test({a}, [{{'$1'}, [list_to_tuple([F | lists:duplicate(A, '$1')])], ['$1']}], table)) =/= ok].

dialect({error, [{error, Text}]}) -> Text.

traced(Form) ->
    Self = self(),
    {P, M} = spawn_monitor(fun() -> receive go -> outer(x) end end),
    erlang:trace(P, true, [call]),
    erlang:trace_pattern({?MODULE, inner, 1}, [{'_', [], [{message, Form}]}], [local]),
    P ! go,
    receive {'DOWN', M, process, P, normal} -> ok end,
    receive {trace, P, call, {?MODULE, inner, [x]}, Stack} when Self =:= self() -> d([{F, A, is_list(proplists:get_value(file, L))} || {?MODULE, F, A, L} <- Stack]) end,
    erlang:trace_pattern({?MODULE, inner, 1}, false, [local]).

outer(X) -> [inner(X)].
inner(X) -> X.
d(T) -> io:format("~0p~n", [T]).

%% expect: {ok,1,[],[]}
%% expect: {ok,2,[],[]}
%% expect: {ok,1,[],[]}
%% expect: {ok,false,[],[]}
%% expect: {ok,true,[],[]}
%% expect: {ok,true,[],[]}
%% expect: {ok,1,[],[]}
%% expect: {ok,{1.5},[],[]}
%% expect: {ok,'EXIT',[],[]}
%% expect: {ok,'EXIT',[],[]}
%% expect: []
%% expect: {error,[{error,"Special form 'current_stacktrace' called with non small argument."}]}
%% expect: {error,[{error,"Special form 'current_stacktrace' called with negative integer argument."}]}
%% expect: {error,[{error,"Special form 'current_stacktrace' called with wrong number of arguments in {current_stacktrace,1,2}"}]}
%% expect: "Special form 'current_stacktrace' used in wrong dialect."
%% expect: [{outer,1,true}]
%% expect: [{outer,1,true}]
%% expect: []
%% expect: [{outer,1,true}]
