%% SPDX-License-Identifier: Apache-2.0
%% Names of functions that do not exist, by the hundred thousand: applied, spawned, and in terms from outside. The VM lives, and knows the
%% functions that there are.
-module(hostile_names).
-export([main/0]).

-define(NAMES, 100000).

main() ->
    logger:set_primary_config(level, none),
    Functions = [list_to_atom("f" ++ integer_to_list(N)) || N <- lists:seq(1, 1000)],
    Arguments = [lists:duplicate(N, x) || N <- lists:seq(1, ?NAMES div 1000)],
    erlang:display(lists:usort([undefined(fun() -> apply(lists, F, Args) end, F, Args) || F <- Functions, Args <- Arguments])),
    erlang:display(lists:usort([undefined(fun() -> lists:F(x, y) end, F, [x, y]) || F <- Functions])),
    erlang:display(lists:usort([undefined(fun() -> apply(erlang, apply, [lists, F, [x]]) end, F, [x]) || F <- Functions])),
    erlang:display(lists:usort([spawned(F) || F <- lists:sublist(Functions, 23)])),
    erlang:display(length(lists:usort([external(atom_to_binary(F), Arity) || F <- Functions, Arity <- lists:seq(0, ?NAMES div 1000 - 1)]))),
    erlang:display([lists:reverse([1, 2]), apply(lists, reverse, [[1, 2]]), (external(<<"reverse">>, 1))([1, 2])]),
    erlang:display([erlang:function_exported(lists, F, 1) || F <- [f1, reverse]]).

undefined(Call, F, Args) ->
    try Call() of
        Result -> {returned, Result}
    catch
        error:undef:Stack ->
            [{lists, Name, Given, []} | _] = Stack,
            {undef, {Name, Given} =:= {F, Args}}
    end.

spawned(F) ->
    {Pid, Ref} = spawn_opt(lists, F, [1, 2], [monitor]),
    receive {'DOWN', Ref, process, Pid, {undef, [{lists, Name, Args, _} | _]}} -> {Name =:= F, Args} end.

external(Name, Arity) -> binary_to_term(<<131, 113, 119, 5, "lists", 119, (byte_size(Name)), Name/binary, 97, Arity>>).

%% expect: [{undef,true}]
%% expect: [{undef,true}]
%% expect: [{undef,true}]
%% expect: [{true,[1,2]}]
%% expect: 100000
%% expect: [[2,1],[2,1],[2,1]]
%% expect: [false,true]
