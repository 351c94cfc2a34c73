%% SPDX-License-Identifier: Apache-2.0
%% Which argument is blamed when several are wrong, and what is taken although it looks odd.
%% expect: [{error,badarg,{id,erl_stdlib_errors}},{error,badarg,{type,erl_stdlib_errors}},{error,badarg,{none,erl_stdlib_errors}},{error,badarg,{id,erl_stdlib_errors}},{error,badarg,{id,erl_stdlib_errors}},[]]
%% expect: [{error,badarg,{id,erl_stdlib_errors}},{error,badarg,{id,erl_stdlib_errors}},{error,badarg,{type,erl_stdlib_errors}},{error,badarg,{id,erl_stdlib_errors}},{error,badarg,{id,erl_stdlib_errors}},{error,badarg,{id,erl_stdlib_errors}}]
%% expect: [{error,badarg,{id,erl_stdlib_errors}},{error,badarg,{id,erl_stdlib_errors}},{error,badarg,{none,erl_stdlib_errors}},{error,badarg,{none,erl_stdlib_errors}}]
%% expect: [{error,badarg,{table_type,erl_stdlib_errors}},{error,badarg,{none,erl_stdlib_errors}},false,{error,badarg,{none,erl_stdlib_errors}},{error,badarg,{table_type,erl_stdlib_errors}}]
%% expect erl 29: [{error,badarg,{table_type,erl_stdlib_errors}},{error,badarg,{none,erl_stdlib_errors}},false,{error,badarg,{default,erl_stdlib_errors}},{error,badarg,{table_type,erl_stdlib_errors}}]
%% expect: [arguments_named]
%% expect: [{error,badarg,{badtype,erl_erts_errors}},{error,badarg,{none,erl_erts_errors}},{error,notalive,{none,erl_erts_errors}},{error,badarg,{badopt,erl_erts_errors}},{error,badarg,{none,erl_erts_errors}}]
%% expect: [noconnect,ok]
%% expect: [{error,badarg,{time,erl_erts_errors}},{error,badarg,{none,erl_erts_errors}},{error,badarg,{badopt,erl_erts_errors}}]
%% expect: [{error,why,{none,b}},{error,why,{hostile_arguments,'-main/0-fun-23-'}},{error,why,{hostile_arguments,'-main/0-fun-22-'}}]
%% expect: [{throw,x,{a,b}},{throw,x,{a,b}},badarg,badarg]
%% expect: [{error,badarg,{none,erl_erts_errors}},{error,badarg,{none,erl_erts_errors}},3,-0.0]
%% expect 27: [4,4,3,0.0]
%% expect: [nomatch,{error,badarg,{none,erl_stdlib_errors}},[<<>>],{error,badarg,{none,erl_stdlib_errors}},{error,badarg,{none,erl_stdlib_errors}}]
%% expect 27: [{error,badarg,{none,erl_stdlib_errors}},{error,badarg,{none,erl_stdlib_errors}},{error,badarg,{none,erl_stdlib_errors}},{error,badarg,{none,erl_stdlib_errors}},{error,badarg,{none,erl_stdlib_errors}}]
%% expect: [{{18267316009,3,8},{6,58,8}},{error,badarg,{none,erl_erts_errors}},true,{error,badarg,{none,erl_erts_errors}}]
%% expect: [{error,[{error,"Match programs are not in a list."}]},{error,[{error,"Match programs are not in a list."}]},{error,[{error,"Match programs are not in a proper list."}]},{error,[{error,"Match program part is not a tuple of arity 3."}]},{error,[{error,"Body clause does not return anything."}]}]
%% expect: [{error,[{error,"Match head is invalid in this context."}]},{ok,true,[],[]}]
-module(hostile_arguments).
-export([main/0]).

main() ->
    S = ets:new(set, []),
    B = ets:new(bag, [bag]),
    O = ets:new(arguments_named, [ordered_set, named_table]),
    ets:insert(S, {a, 1}),
    ets:insert(O, [{N, N} || N <- lists:seq(1, 3)]),
    Self = self(),
    Bits = ets:info(S, size) * 59,
    [io:format("~0p~n", [[answer(F) || F <- Fs]]) || Fs <- [
        [fun() -> ets:select(nope, no_spec) end, fun() -> ets:select({x}, no_spec) end, fun() -> ets:select(S, no_spec) end,
         fun() -> ets:select(nope, [], 0) end, fun() -> ets:match(nope, a, 0) end, fun() -> ets:select(S, []) end],
        [fun() -> ets:delete_object(nope, x) end, fun() -> ets:lookup_element(nope, a, 0) end, fun() -> ets:slot(1, x) end,
         fun() -> ets:rename(nope, 1) end, fun() -> ets:give_away(nope, x, y) end, fun() -> ets:setopts(nope, x) end],
        [fun() -> ets:select({nope, 1}) end, fun() -> ets:select({x, 1}) end, fun() -> ets:select({}) end, fun() -> ets:select(x) end],
        [fun() -> ets:select_replace(B, x) end, fun() -> ets:update_element(B, a, {2, 1}) end, fun() -> ets:update_element(S, b, {1, x}) end,
         fun() -> ets:update_counter(B, a, 1, x) end, fun() -> ets:update_counter(B, a, 1, {x, 1}) end],
        [fun() -> element(1, element(2, ets:select(O, [{'_', [], [x]}], 1))) end],
        [fun() -> monitor(no_type, Self) end, fun() -> monitor(process, 1) end, fun() -> monitor_node(nobody@nowhere, 1) end,
         fun() -> erlang:monitor_node(nobody@nowhere, true, [x]) end, fun() -> erlang:nodes(this, #{x => true}) end],
        [fun() -> erlang:send({a, nobody@nowhere}, x, [noconnect]) end, fun() -> erlang:send({a, nobody@nowhere}, x, [nosuspend]) end],
        [fun() -> erlang:start_timer(x, 1, y) end, fun() -> erlang:send_after(1, 1, y) end, fun() -> spawn_opt(1, 2, 3, [x]) end],
        [fun() -> erlang:error(why, none, [{error_info, #{module => a}}, {error_info, #{module => b}}]) end,
         fun() -> erlang:error(why, none, [{error_info, #{module => a}} | x]) end, fun() -> erlang:error(why, none, x) end],
        [fun() -> erlang:raise(throw, x, [{a, b, y}]) end, fun() -> erlang:raise(throw, x, [{a, b, [c | d], []}]) end,
         fun() -> erlang:raise(throw, x, [{a, b, 1, c}]) end, fun() -> erlang:raise(throw, x, [{a, 1, 1}]) end],
        [fun() -> erlang:external_size(a, [{minor_version, 2}]) end, fun() -> erlang:external_size(a, [compressed]) end,
         fun() -> erlang:adler32_combine(3, 3, 0) end, fun() -> abs(Bits * -0.0) end],
        [fun() -> binary:match(<<>>, x) end, fun() -> binary:matches(<<1>>, [], [{scope, {1, 0}}]) end, fun() -> binary:split(<<>>, [x]) end,
         fun() -> binary:match(<<1>>, x) end, fun() -> binary:match(<<>>, x, [y]) end],
        [fun() -> erlang:posixtime_to_universaltime(1 bsl Bits) end, fun() -> erlang:posixtime_to_universaltime((1 bsl 64) div 2) end,
         fun() -> erlang:system_time(1 bsl 100) > 1 bsl 80 end, fun() -> erlang:system_time(-(1 bsl 100)) end],
        [fun() -> erlang:match_spec_test({}, Spec, table) end || Spec <- [[], x, [a | b], [{a}], [{'_', [], []}]]],
        [fun() -> erlang:match_spec_test([], Spec, trace) end || Spec <- [[{a, [], []}], [{'$1', [], []}]]]]],
    ok.

answer(F) ->
    try F() of
        Value -> Value
    catch
        Class:Reason:Trace -> {Class, Reason, blame(Trace)}
    end.

blame([{M, F, _, Info} | _]) ->
    case proplists:get_value(error_info, Info) of
        undefined -> {M, F};
        Map -> {maps:get(cause, Map, none), maps:get(module, Map)}
    end;
blame([]) -> [].
