%% SPDX-License-Identifier: Apache-2.0
%% What is told of natives and of the machine's inside; stack traces of what is applied last; binaries to which nothing is appended.
%% expect: {builtin,[{yield,0},{apply,3},{node,0}]}
%% expect 27: {builtin,[{max,2},{yield,0},{apply,3},{node,0}]}
%% expect 29: {builtin,[{max,2},{yield,0},{apply,3},{is_integer,3},{node,0}]}
%% expect: {listed,[{node,0}]}
%% expect 27: {listed,[{max,2},{node,0}]}
%% expect 29: {listed,[{max,2},{is_integer,3},{node,0}]}
%% expect: {nifs,true,[]}
%% expect: {same,true,true,true}
%% expect erl 27: {same,false,false,false}
%% expect erl 29: {same,true,true,true}
%% expect: {differs,false,<<"123a">>}
%% expect: {trace,[{once,[x]},{begin_here,2}]}
%% expect: {trace,[{twice,[x]},{begin_here,2}]}
%% expect: {trace,[{often,[x]},{begin_here,2}]}
%% expect: {trace,[{once,[x]},{begin_here,2}]}
%% expect: {trace,[{twice,[x]},{begin_here,2}]}
%% expect: {trace,[{often,[x]},{begin_here,2}]}
%% expect: {applied,[3,[{often,1},{begin_here,2}]]}
%% expect: {inside,true,true,true,true}
%% expect: {hash,true,true}
%% expect erl 27: {hash,true,false}
-module(otp_natives).
-export([main/0, id/1]).

main() ->
    Natives = [{max, 2}, {memory, 0}, {yield, 0}, {apply, 3}, {is_integer, 3}, {node, 0}],
    show({builtin, [FA || {F, A} = FA <- Natives, erlang:is_builtin(erlang, F, A)]}),
    show({listed, [FA || {F, A} = FA <- Natives, lists:member({erlang, F, A}, erlang:system_info(snifs))]}),
    show({nifs, lists:member({enabled, 3}, erl_tracer:module_info(nifs)), module_info(nifs)}),
    appended(),
    traces(),
    erlang:trace_pattern({erlang, error, 2}, true, [local]),
    traces(),
    erlang:trace_pattern({erlang, error, 2}, false, [local]),
    show({applied, [apply(id(erlang), id(apply), id([erlang, apply, [erlang, '+', [1, 2]]])), trace(often, id([erlang, apply, [erlang, id(nothing)]]))]}),
    inside().

show(T) -> io:format("~p~n", [T]).

appended() ->
    Literal = <<"123">>,
    Writable = <<(id(<<>>))/binary, 0, 1, 2, 3>>,
    Long = binary:copy(<<"x">>, 200),
    show({same, erts_debug:same(Literal, append(Literal, id(<<>>))), erts_debug:same(Writable, append(Writable, id(<<>>))),
          erts_debug:same(Long, append(Long, id(<<>>)))}),
    show({differs, erts_debug:same(Literal, append(Literal, id(<<"a">>))), append(Literal, <<"a">>)}).

append(A, B) -> <<A/binary, B/binary>>.

traces() ->
    [show({trace, trace(What, id([oops, [x]]))}) || What <- [once, twice, often]].

%% In a process of its own, so that nothing stands below.
trace(What, Args) ->
    {_, Ref} = spawn_monitor(fun() -> begin_here(What, Args) end),
    receive {'DOWN', Ref, process, _, {_, Stack}} -> [{F, A} || {?MODULE, F, A, _} <- Stack, F =/= '-trace/2-fun-0-'] end.

begin_here(What, Args) ->
    last(What, Args),
    id(end_here).

last(once, Args) -> once(Args);
last(twice, Args) -> twice(Args);
last(often, Args) -> often(Args).

once(Args) -> apply(id(erlang), id(error), id(Args)).
twice(Args) -> erlang:apply(id(erlang), id(apply), [id(erlang), id(error), id(Args)]).
often(Args) -> erlang:apply(id(erlang), id(apply), [erlang, apply, [erlang, apply, [erlang, error, id(Args)]]]).

inside() ->
    erts_debug:set_internal_state(available_internal_state, true),
    Args = erts_debug:get_internal_state(process_info_args),
    show({inside, lists:member(links, Args), is_atom(erts_debug:get_internal_state({atom, 1})), erts_debug:get_internal_state(stack_check) > 1000,
          lists:all(fun({K, _}) -> lists:member(K, Args) end, process_info(self()))}),
    Hash = fun(T) -> erts_debug:get_internal_state({internal_hash, T}) end,
    show({hash, Hash({a, 1}) =:= Hash(id({a, 1})), Hash({a, 1}) < 1 bsl 32}),
    erts_debug:set_internal_state(available_internal_state, false).

id(X) -> X.
