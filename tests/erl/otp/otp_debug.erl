%% SPDX-License-Identifier: Apache-2.0
%% erts_debug: shared parts are counted and copied once; the nodes of large maps.
-module(otp_debug).
-export([main/0]).

main() ->
    Shared = lists:seq(1, 100),
    Term = {Shared, Shared, [Shared | Shared]},
    d({erts_debug:size_shared(Term), erts_debug:flat_size(Term)}),
    d([copied(Term, Literals) || Literals <- [true, false]]),
    Map = maps:from_list([{N, {N, Shared}} || N <- lists:seq(1, 1000)]),
    Mixed = {Map, fun() -> Map end, binary:copy(<<1>>, 1000), make_ref(), 1 bsl 100, 1.5, <<1:3>>},
    erlang:garbage_collect(),
    Copy = erts_debug:copy_shared(Mixed, true),
    erlang:garbage_collect(),
    d(Copy =:= Mixed),
    {_, Fun, _, _, _, _, _} = Copy,
    d(Fun() =:= Map),
    [{depth, _}, {arrays, _, []}, {bitmaps, Bitmaps, Of}, {leafs, 1000, At}] = erts_debug:map_info(Map),
    d({lists:sum(tuple_to_list(Of)) =:= Bitmaps, lists:sum(tuple_to_list(At))}),
    d(length(erts_internal:map_hashmap_children(Map)) > 1),
    d([try erts_debug:map_info(T) catch error:R -> R end || T <- [#{}, a]]),
    d([try erts_debug:copy_shared(T, nothing) catch error:R -> R end || T <- [a]]),
    d(erts_internal:system_check(schedulers)).

copied(Term, Literals) ->
    Copy = erts_debug:copy_shared(Term, Literals),
    {Copy =:= Term, erts_debug:size_shared(Copy)}.

d(T) -> erlang:display(T).

%% expect: {206,806}
%% expect: [{true,206},{true,206}]
%% expect: true
%% expect: true
%% expect: {true,1000}
%% expect: true
%% expect: [badarg,{badmap,a}]
%% expect: [badarg]
%% expect: ok
