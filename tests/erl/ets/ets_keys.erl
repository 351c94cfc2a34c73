%% SPDX-License-Identifier: Apache-2.0
%% ets: maps as patterns whose keys are terms of every kind.
-module(ets_keys).
-export([main/0]).

main() ->
    Map = #{#{"wazzup" => 3} => "awesome", "1337" => "42", "hi" => "hello", {a, 1.5} => b},
    T = ets:new(t, []),
    ets:insert(T, {1, Map}),
    [erlang:display({Number, catch_error(fun() -> length(ets:match_object(T, {'_', Pattern})) end)}) || {Number, Pattern} <- [
        {all, Map}, {inner, #{#{"wazzup" => 3} => '_'}}, {text, #{"hi" => "hello"}}, {tuple, #{{a, 1.5} => '$1'}},
        {other, #{#{"wazzup" => 4} => '_'}}, {within, #{{a, '$1'} => '_'}}, {within_map, #{#{'$1' => 3} => '_'}},
        {list, #{["h" | '_'] => '_'}}, {underscore, #{'_' => b}}, {variable, #{'$1' => b}}]].

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
