%% SPDX-License-Identifier: Apache-2.0
%% ets: match specifications.
-module(ets_match).
-export([main/0]).

main() ->
    T = ets:new(t, [ordered_set, public]),
    ets:insert(T, [{1, a}, {2, b}, {3, c, x}, {{k, 1}, x}, {{k, 2}, y}, {m, #{a => 1, b => [2]}}, {l, [1, 2, 3]}, {s, "str", 9}]),
    S = fun(MS) -> d(try ets:select(T, MS) catch C:R -> {C, R} end) end,
    [S([M]) || M <- [{{'$1', '$2'}, [], ['$$']}, {{'$2', '$1'}, [], ['$$']}, {'_', [], [{element, 1, '$_'}]}, {{'$1', '_'}, [], ['$1', {self}, '$1']},
                     {{{k, '$1'}, '$2'}, [], [{{'$2', '$1'}}]}, {{{'$1', '$2'}, '_'}, [], [['$2', x | '$1']]}, {{'_', #{a => '$1'}}, [], ['$1']},
                     {{'_', #{z => '$1'}}, [], ['$1']}, {{l, ['$1', '$2' | '$3']}, [], ['$3']}, {{'$1', '$1'}, [], ['$1']}, {{'_', '_', '$1'}, [], [#{v => '$1'}]},
                     {{'$1', '_'}, [{is_integer, '$1'}, {'>', '$1', 1}], ['$1']}, {{'$1', '_'}, [{'or', {'==', '$1', 1}, {'==', '$1', 2.0}}], ['$1']},
                     {{'$1', '_'}, [{'orelse', {is_atom, '$1'}, {'andalso', {is_tuple, '$1'}, {'=:=', {element, 2, '$1'}, 2}}}], ['$1']},
                     {{'$1', '_'}, [], [{hd, '$1'}]}, {{'$1', '_'}, [{hd, '$1'}], ['$1']}, {{1, '_'}, [], [{const, {'$1', '_'}}]}, {{1, '_'}, [], ["text"]},
                     {{'$1', '_'}, [{'not', {is_integer, '$1'}}], [true]}, {{'_', '$1'}, [{is_map, '$1'}], [{map_get, b, '$1'}]},
                     {{'$1', '_', '_'}, [], [{{{'+', 1, 2}, {'-', 5}, {abs, -3}, {'div', 7, 2}, {'rem', 7, 2}, {'*', 3, 4}, {'bsl', 1, 5}, {'band', 6, 3}}}]},
                     {{s, '$1', '_'}, [], [{{{length, '$1'}, {size, {{1, 2}}}, {trunc, 2.5}, {round, 2.5}, {tl, '$1'}, {node}, {is_record, '$_', s, 3}}}]}]],
    [S(MS) || MS <- [[], [{{1, '_'}, [], [one]}, {{'_', b}, [], [two]}, {'_', [], [other]}], [{{1, '_'}, [false], [one]}, {{1, '$1'}, [], ['$1']}],
                     [{{1, '_'}, [], ['$_']}, {{m, '_'}, [], [{{m}}]}],
                     [{{'$1', '$2'}, [], []}], [{{'$1'}, [], ['$2']}], [{x}], x, [{{'$1', '_'}, [{foo, 1}], ['$1']}], [{{'_', #{'$1' => 1}}, [], [x]}],
                     [{'$1', [], [{}]}], [{'$1', true, ['$1']}]]],
    d([ets:match(T, {'$1', a}), ets:match(T, '$1'), ets:match_object(T, {{k, '_'}, '_'}), ets:match(T, {'_', b}), ets:match(T, {'$01', '_'})]),
    d([ets:select_count(T, [{{'_', '_'}, [], [true]}]), ets:select_count(T, [{'_', [], [x]}]), ets:select_replace(T, [{{'$1', a}, [], [{{'$1', replaced}}]}]),
       ets:lookup(T, 1), ets:select_delete(T, [{{'_', '_', '_'}, [], [true]}]), ets:info(T, size)]),
    d([try ets:select_replace(T, [{{'$1', '$2'}, [], [{{'$2', '$1'}}]}]) catch error:badarg -> badarg end, ets:match_delete(T, {{k, '_'}, '_'}), ets:info(T, size)]),
    [d([try ets:select_replace(T, [{{Key, '$9'}, [], [{{Same, '$9'}}]}]) catch error:badarg -> badarg end || Same <- Sames])
     || {Key, Sames} <- [{a, [{const, a}, a, {const, b}, '$9']}, {{a, '$1'}, [{{{const, a}, '$1'}}, {const, {a, '$1'}}, {{a, {const, '$1'}}}]},
                         {{a, {1}}, [{{a, {{1}}}}, {const, {a, {1}}}, {{a, {const, {1}}}}, {a, {1}}]},
                         {[a, {1} | '$1'], [[a, {const, {1}} | '$1'], {const, [a, {1} | '$1']}]}, {'$1', [{const, '$1'}, {const, 1}, '$1']}]],
    MS = ets:match_spec_compile([{{'$1', '$2'}, [{'<', '$1', 3}], ['$2']}]),
    d([ets:match_spec_run([{1, a}, {2, b}, {3, c}, x], MS), ets:is_compiled_ms(MS), ets:is_compiled_ms(x)]),
    d([ets:test_ms({1, 2}, [{{'$1', '_'}, [], [{{'$1', 9}}]}]), ets:test_ms({1}, [{{2}, [], [x]}])]),
    d(ets:test_ms({1, 2}, [{{'$1', '_'}, [], ['$3', {foo, 1}]}])),
    d(erlang:match_spec_test([1, 2], [{['$1', '_'], [], [{return_trace}, {message, '$1'}]}], trace)).

d(T) -> erlang:display(T).

%% expect: [[1,a],[2,b],[l,[1,2,3]],[m,#{a=>1,b=>[2]}],[{k,1},x],[{k,2},y]]
%% expect: [[a,1],[b,2],[[1,2,3],l],[#{a=>1,b=>[2]},m],[x,{k,1}],[y,{k,2}]]
%% expect: [1,2,3,l,m,s,{k,1},{k,2}]
%% expect: [1,2,l,m,{k,1},{k,2}]
%% expect: [{x,1},{y,2}]
%% expect: [[1,x|k],[2,x|k]]
%% expect: [1]
%% expect: []
%% expect: [[3]]
%% expect: []
%% expect: [#{v=>x},#{v=>9}]
%% expect: [2]
%% expect: [1,2]
%% expect: [l,m,{k,2}]
%% expect: ['EXIT','EXIT','EXIT','EXIT','EXIT','EXIT']
%% expect: []
%% expect: [{'$1','_'}]
%% expect: ["text"]
%% expect: [true,true,true,true]
%% expect: [[2]]
%% expect: [{3,-5,3,3,1,12,32,2},{3,-5,3,3,1,12,32,2}]
%% expect: [{3,2,2,3,"tr",'nonode@nohost',true}]
%% expect: []
%% expect: [one,two,other,other,other,other,other,other]
%% expect: [a]
%% expect: [{1,a},{m}]
%% expect: {error,badarg}
%% expect: {error,badarg}
%% expect: {error,badarg}
%% expect: {error,badarg}
%% expect: {error,badarg}
%% expect: {error,badarg}
%% expect: {error,badarg}
%% expect: {error,badarg}
%% expect: [[[1]],[[{1,a}],[{2,b}],[{3,c,x}],[{l,[1,2,3]}],[{m,#{a=>1,b=>[2]}}],[{s,"str",9}],[{{k,1},x}],[{{k,2},y}]],[{{k,1},x},{{k,2},y}],[[]],[]]
%% expect: [6,0,1,[{1,replaced}],2,6]
%% expect: [badarg,true,4]
%% expect: [0,0,badarg,badarg]
%% expect: [0,badarg,badarg]
%% expect: [0,0,0,badarg]
%% expect: [0,badarg]
%% expect: [badarg,badarg,4]
%% expect: [[a,b],true,false]
%% expect: [{ok,{1,9}},{ok,false}]
%% expect: {error,[{error,"Variable $3 is unbound."},{error,"Function foo/1 does_not_exist."}]}
%% expect: {ok,1,[return_trace],[]}
