%% SPDX-License-Identifier: Apache-2.0
%% erlang:match_spec_test/3 of the trace dialect: what a call with these arguments would tell; nothing of the system is changed.
%% OTP 27's machine falls over enable_trace, disable_trace and trace, which have no session here whose flags they could change.
%% erl crashes: 27
-module(trace_spec_test).
-export([main/0]).

main() ->
    Old = seq_trace:set_token([]), p(Old),
    [test([a, 1], [{'_', [], Body}]) || Body <- bodies()],
    [test([a, 1], [{['$1', '_'], Guards, []}]) || Guards <- [
        [{'==', '$1', b}], [{is_seq_trace}], [{get_tcw}], [{'==', 17, {get_tcw}}], [{foo}]]],
    test([a, 1], [{['$1', '_'], [], [{message, {{'$_', '$$'}}}]}]), test([a, 1], [{['$1', '_'], [], ['$_', '$$']}]),
    test([a, 1], [{['$1', '_'], [], [{message, '$1'}, {message, '$2'}]}]),
    test([], [{'_', [], [{message, 1}]}, {'_', [], [{message, 2}]}]),
    test([], [{'_', [{'not', true}], [{message, 1}]}, {'_', [], [{message, 2}]}]),
    [test(A, [{['$1', '_'], [], []}]) || A <- [a, {a}, [a | b], []]],
    p({seq_trace:get_token(), erlang:trace_info(self(), flags), erlang:system_info(trace_control_word)}),
    seq_trace:set_token(label, 5), test([], [{'_', [], [{message, {set_seq_token, label, 6}}]}]), p(seq_trace:get_token(label)),
    test([], [{'_', [{is_seq_trace}], []}]), seq_trace:set_token([]).

bodies() ->
    S = {self},
    [[{message, {get_seq_token}}], [{message, {set_seq_token, label, 1}}], [{message, {get_tcw}}], [{message, {set_tcw, 17}}], [{set_tcw, 17}],
     [{silent, true}], [{message, {silent, true}}], [{message, {silent, foo}}], [{return_trace}], [{exception_trace}],
     [{exception_trace}, {return_trace}], [{message, {exception_trace}}], [{message, {return_trace}}], [{message, {caller}}],
     [{message, {caller_line}}], [{message, {is_seq_trace}}], [{message, {enable_trace, call}}], [{message, {disable_trace, call}}],
     [{message, {enable_trace, S, call}}], [{message, {trace, [], [call]}}], [{trace, [], [call]}], [{message, {trace, S, [call], []}}],
     [{message, {trace, S, [call], [foo]}}], [{message, '$_'}, {message, false}], [{message, true}], [{message, {const, foo}}, {return_trace}],
     [{message, {'div', 1, 0}}], [{message, {hd, {const, []}}}], [{foo}], [{message, {size, {is_binary, {process_dump}}}}]].

test(A, Spec) ->
    p({Spec, try erlang:match_spec_test(A, Spec, trace) catch C:R -> {C, R} end}).

p(X) -> io:format("~p~n", [X]).
%% expect: []
%% expect: {[{'_',[],[{message,{get_seq_token}}]}],{ok,[],[],[]}}
%% expect: {[{'_',[],[{message,{set_seq_token,label,1}}]}],{ok,[],[],[]}}
%% expect: {[{'_',[],[{message,{get_tcw}}]}],{ok,0,[],[]}}
%% expect: {[{'_',[],[{message,{set_tcw,17}}]}],{ok,0,[],[]}}
%% expect: {[{'_',[],[{set_tcw,17}]}],{ok,true,[],[]}}
%% expect: {[{'_',[],[{silent,true}]}],{ok,true,[],[]}}
%% expect: {[{'_',[],[{message,{silent,true}}]}],{ok,true,[],[]}}
%% expect: {[{'_',[],[{message,{silent,foo}}]}],{ok,true,[],[]}}
%% expect: {[{'_',[],[{return_trace}]}],{ok,true,[return_trace],[]}}
%% expect: {[{'_',[],[{exception_trace}]}],{ok,true,[exception_trace],[]}}
%% expect: {[{'_',[],[{exception_trace},{return_trace}]}],
%% expect:  {ok,true,[return_trace,exception_trace],[]}}
%% expect: {[{'_',[],[{message,{exception_trace}}]}],{ok,true,[exception_trace],[]}}
%% expect: {[{'_',[],[{message,{return_trace}}]}],{ok,true,[return_trace],[]}}
%% expect: {[{'_',[],[{message,{caller}}]}],{ok,undefined,[],[]}}
%% expect: {[{'_',[],[{message,{caller_line}}]}],{ok,undefined,[],[]}}
%% expect: {[{'_',[],[{message,{is_seq_trace}}]}],{ok,false,[],[]}}
%% expect: {[{'_',[],[{message,{enable_trace,call}}]}],{ok,true,[],[]}}
%% expect: {[{'_',[],[{message,{disable_trace,call}}]}],{ok,true,[],[]}}
%% expect: {[{'_',[],[{message,{enable_trace,{self},call}}]}],{ok,true,[],[]}}
%% expect: {[{'_',[],[{message,{trace,[],[call]}}]}],{ok,false,[],[]}}
%% expect: {[{'_',[],[{trace,[],[call]}]}],{ok,true,[],[]}}
%% expect: {[{'_',[],[{message,{trace,{self},[call],[]}}]}],{ok,false,[],[]}}
%% expect: {[{'_',[],[{message,{trace,{self},[call],[foo]}}]}],{ok,'EXIT',[],[]}}
%% expect: {[{'_',[],[{message,'$_'},{message,false}]}],{ok,false,[],[]}}
%% expect: {[{'_',[],[{message,true}]}],{ok,true,[],[]}}
%% expect: {[{'_',[],[{message,{const,foo}},{return_trace}]}],{ok,foo,[return_trace],[]}}
%% expect: {[{'_',[],[{message,{'div',1,0}}]}],{ok,'EXIT',[],[]}}
%% expect: {[{'_',[],[{message,{hd,{const,[]}}}]}],{ok,'EXIT',[],[]}}
%% expect: {[{'_',[],[{foo}]}],{error,[{error,"Function foo/0 does_not_exist."}]}}
%% expect: {[{'_',[],[{message,{size,{is_binary,{process_dump}}}}]}],{ok,'EXIT',[],[]}}
%% expect: {[{['$1','_'],[{'==','$1',b}],[]}],{ok,false,[],[]}}
%% expect: {[{['$1','_'],[{is_seq_trace}],[]}],{ok,false,[],[]}}
%% expect: {[{['$1','_'],[{get_tcw}],[]}],{ok,false,[],[]}}
%% expect: {[{['$1','_'],[{'==',17,{get_tcw}}],[]}],{ok,false,[],[]}}
%% expect: {[{['$1','_'],[{foo}],[]}],{error,[{error,"Function foo/0 does_not_exist."}]}}
%% expect: {[{['$1','_'],[],[{message,{{'$_','$$'}}}]}],{ok,{[a,1],[a]},[],[]}}
%% expect: {[{['$1','_'],[],['$_','$$']}],{ok,true,[],[]}}
%% expect: {[{['$1','_'],[],[{message,'$1'},{message,'$2'}]}],
%% expect:  {error,[{error,"Variable $2 is unbound."}]}}
%% expect: {[{'_',[],[{message,1}]},{'_',[],[{message,2}]}],{ok,1,[],[]}}
%% expect: {[{'_',[{'not',true}],[{message,1}]},{'_',[],[{message,2}]}],{ok,2,[],[]}}
%% expect: {[{['$1','_'],[],[]}],{error,badarg}}
%% expect: {[{['$1','_'],[],[]}],{error,badarg}}
%% expect: {[{['$1','_'],[],[]}],{ok,false,[],[]}}
%% expect: {[{['$1','_'],[],[]}],{ok,false,[],[]}}
%% expect: {[],{flags,[]},0}
%% expect: {[{'_',[],[{message,{set_seq_token,label,6}}]}],{ok,{label,5},[],[]}}
%% expect: {label,5}
%% expect: {[{'_',[{is_seq_trace}],[]}],{ok,true,[],[]}}
