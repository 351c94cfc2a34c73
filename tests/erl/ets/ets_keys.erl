%% SPDX-License-Identifier: Apache-2.0
%% ets: maps as patterns whose keys are terms of every kind. Maps and zeros as the keys of objects: a pattern's key that has no variable
%% is looked up, and 0.0 there is -0.0; what is found is then matched, and 0.0 there is not -0.0.
-module(ets_keys).
-export([main/0]).

main() ->
    Map = #{#{"wazzup" => 3} => "awesome", "1337" => "42", "hi" => "hello", {a, 1.5} => b},
    T = ets:new(t, []),
    ets:insert(T, {1, Map}),
    [erlang:display({Number, catch_error(fun() -> length(ets:match_object(T, {'_', Pattern})) end)}) || {Number, Pattern} <- [
        {all, Map}, {inner, #{#{"wazzup" => 3} => '_'}}, {text, #{"hi" => "hello"}}, {tuple, #{{a, 1.5} => '$1'}},
        {other, #{#{"wazzup" => 4} => '_'}}, {within, #{{a, '$1'} => '_'}}, {within_map, #{#{'$1' => 3} => '_'}},
        {list, #{["h" | '_'] => '_'}}, {underscore, #{'_' => b}}, {variable, #{'$1' => b}}]],
    [erlang:display({Type, keys_of(Type)}) || Type <- [set, ordered_set, bag, duplicate_bag]],
    erlang:display(values()),
    erlang:display([ets:test_ms({-1, a}, [{{'$1', '_'}, [{Operator, {'<', '$1', 0}, {is_atom, '$1'}}], [found]}])
                    || Operator <- ['and', 'andalso', 'andthen', 'or', 'orelse', 'orthen']]).

rows() -> [{zero(""), a}, {zero("-"), b}, {#{}, c}, {#{1 => 1}, d}, {#{1 => 1, 2 => 2}, e}].

keys_of(Type) ->
    T = ets:new(t, [Type]),
    ets:insert(T, rows()),
    Found = [[Value || {_, Value} <- ets:match_object(T, {Key, '_'})] || Key <- [zero(""), zero("-"), #{}, #{1 => 1}, #{1 => '_'}]],
    true = ets:match_delete(T, {#{1 => 1}, '_'}),
    1 = ets:select_delete(T, [{{#{}, '_'}, [], [true]}]),
    {[lists:sort(Values) || Values <- Found], lists:sort([Value || {_, Value} <- ets:tab2list(T)])}.

%% The same terms as values: a map is there a pattern of the maps that hold it.
values() ->
    T = ets:new(t, []),
    ets:insert(T, [{Name, Term} || {Term, Name} <- rows()]),
    [lists:sort([Name || {Name, _} <- ets:match_object(T, {'_', Pattern})]) ||
        Pattern <- [zero(""), zero("-"), #{}, #{1 => 1}, {zero("")}]].

zero(Sign) -> list_to_float(Sign ++ "0.0").

catch_error(F) -> try F() catch error:Reason -> Reason end.
%% expect: {all,1}
%% expect: {inner,1}
%% expect: {text,1}
%% expect: {tuple,1}
%% expect: {other,0}
%% expect: {within,0}
%% expect: {within_map,0}
%% expect: {list,0}
%% expect: {underscore,badarg}
%% expect: {variable,badarg}
%% expect: {set,{[[],[b],[c],[d],[d,e]],[b,e]}}
%% expect 27: {set,{[[a],[b],[c,d,e],[d,e],[d,e]],[a,b]}}
%% expect: {ordered_set,{[[],[b],[c],[d],[d,e]],[b,e]}}
%% expect 27: {ordered_set,{[[],[b],[c,d,e],[d,e],[d,e]],[b]}}
%% expect: {bag,{[[a],[b],[c],[d],[d,e]],[a,b,e]}}
%% expect 27: {bag,{[[a],[b],[c,d,e],[d,e],[d,e]],[a,b]}}
%% expect: {duplicate_bag,{[[a],[b],[c],[d],[d,e]],[a,b,e]}}
%% expect 27: {duplicate_bag,{[[a],[b],[c,d,e],[d,e],[d,e]],[a,b]}}
%% expect: [[a],[b],[c,d,e],[d,e],[]]
%% expect: [{ok,false},{ok,false},{ok,false},{ok,found},{ok,found},{error,[{error,"Function orthen/2 does_not_exist."}]}]
