%% SPDX-License-Identifier: Apache-2.0
%% ets: what errors are said to be: a table that cannot be used is told beside another bad argument.
-module(ets_errors).
-export([main/0]).

main() ->
    Gone = ets:new(gone, []),
    ets:delete(Gone),
    Me = self(),
    spawn_link(fun() -> Me ! {table, ets:new(private, [private])}, receive stop -> ok end end),
    Private = receive {table, T} -> T end,
    [d([F | lists:usort([tell(F, [Table | Rest]) || Table <- [Gone, Private]])]) || {F, Rest} <- calls()],
    d(tell(insert, [ets:new(keypos, [{keypos, 3}]), {a, b}])),
    Bag = ets:new(bag, [bag, public]),
    ets:insert(Bag, {k, 1}),
    d([tell(F, [Bag | Rest]) || {F, Rest} <- [{update_counter, [k, 1]}, {update_element, [k, {2, x}]},
                                              {select_replace, [[{{'$1', '$2'}, [], [{{'$1', x}}]}]]}]]),
    Set = ets:new(set, []),
    ets:insert(Set, {k, 1}),
    d([tell(update_counter, [Set | Rest]) || Rest <- [[k, {4, x}], [k, {4, 1}], [no, {1, x}, {a, 0}], [no, {1, 1}, {a, 0}]]]),
    Tree = ets:new(tree, [ordered_set]),
    ets:insert(Tree, [{1}, {a}]),
    d([tell(F, [Tree, '$end_of_table']) || F <- [next, prev]]).

calls() ->
    [{rename, [1]}, {give_away, [1, x]}, {setopts, [x]}, {safe_fixtable, [x]}, {lookup_element, [k, 0]}, {delete_object, [x]},
     {slot, [x]}, {update_element, [k, x]}, {select, [x]}, {select, [[{'_', [], ['$_']}], 0]}, {select_reverse, [x, 1]},
     {select_count, [x]}, {select_delete, [x]}, {select_replace, [x]}, {match, ['_', x]}, {match_object, ['_', 0]}, {insert, [{}]}].

tell(F, Arguments) ->
    try apply(ets, F, Arguments) of
        Value -> {ok, Value}
    catch
        error:Reason:Stack ->
            [{N, last(unicode:characters_to_list(Text))} || {N, Text} <- lists:sort(maps:to_list(erl_stdlib_errors:format_error(Reason, Stack)))]
    end.

last(Text) -> lists:nthtail(max(0, length(Text) - 24), Text).

d(T) -> erlang:display(T).
%% expect: [rename,[{1,"sufficient access rights"},{2,"e name (must be an atom)"}],[{1,"to an existing ETS table"},{2,"e name (must be an atom)"}]]
%% expect: [give_away,[{1,"sufficient access rights"},{2,"not a pid"}],[{1,"to an existing ETS table"},{2,"not a pid"}]]
%% expect: [setopts,[{1,"sufficient access rights"}],[{1,"to an existing ETS table"}]]
%% expect: [safe_fixtable,[{1,"sufficient access rights"}],[{1,"to an existing ETS table"}]]
%% expect: [lookup_element,[{1,"sufficient access rights"},{3,"out of range"}],[{1,"to an existing ETS table"},{3,"out of range"}]]
%% expect: [delete_object,[{1,"sufficient access rights"},{2,"not a tuple"}],[{1,"to an existing ETS table"},{2,"not a tuple"}]]
%% expect: [slot,[{1,"sufficient access rights"}],[{1,"to an existing ETS table"}]]
%% expect: [update_element,[{1,"sufficient access rights"},{3,"id element specification"}],[{1,"to an existing ETS table"},{3,"id element specification"}]]
%% expect: [select,[{1,"sufficient access rights"}],[{1,"to an existing ETS table"}]]
%% expect: [select,[{1,"sufficient access rights"},{3,"out of range"}],[{1,"to an existing ETS table"},{3,"out of range"}]]
%% expect: [select_reverse,[{1,"sufficient access rights"},{2,"alid match specification"}],[{1,"to an existing ETS table"},{2,"alid match specification"}]]
%% expect: [select_count,[{1,"sufficient access rights"}],[{1,"to an existing ETS table"}]]
%% expect: [select_delete,[{1,"sufficient access rights"}],[{1,"to an existing ETS table"}]]
%% expect: [select_replace,[{1,"sufficient access rights"}],[{1,"to an existing ETS table"}]]
%% expect: [match,[{1,"sufficient access rights"},{3,"not an integer"}],[{1,"to an existing ETS table"},{3,"not an integer"}]]
%% expect: [match_object,[{1,"sufficient access rights"},{3,"out of range"}],[{1,"to an existing ETS table"},{3,"out of range"}]]
%% expect: [insert,[{1,"sufficient access rights"},{2,"is an empty tuple"}],[{1,"to an existing ETS table"},{2,"is an empty tuple"}]]
%% expect: []
%% expect: [[{1,"ported by this operation"}],[{3,"out of range"}],[{1,"ported by this operation"}]]
%% expect: [[{3,"a valid update operation"}],[{3,"peration is out of range"}],[{3,"a valid update operation"}],[{3,"same as the key position"}]]
%% expect: [[{2,"that exists in the table"}],[{2,"that exists in the table"}]]
