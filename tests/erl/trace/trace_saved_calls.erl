%% SPDX-License-Identifier: Apache-2.0
%% process_flag(save_calls, N): the last calls of a process through exports, its sends, receives and time-outs.
-module(trace_saved_calls).
-export([main/0, two/1, three/0]).

main() ->
    calls(), bounds(), sizes(), sensitive(), others().

%% What `!` calls beside is the machine's own business.
calls() ->
    [p(saved(20, F)) || F <- [
        fun() -> ?MODULE:two(1) end,
        fun() -> apply(id(lists), id(reverse), id([[1]])) end,
        fun() -> M = id(lists), M:reverse([1]), M:last([1]) end,
        fun() -> (id(fun lists:reverse/1))([1]), (id(fun ?MODULE:two/1))(2), (id(fun erlang:atom_to_list/1))(a) end,
        fun() -> apply(id(fun() -> ok end), []), apply(id(fun lists:reverse/1), [[]]), apply(lists, reverse, [[]]) end,
        fun() -> self() ! x, receive x -> ok end, receive after 1 -> ok end, receive after 0 -> ok end end,
        fun() -> catch erlang:error(id(a)), catch throw(id(b)) end,
        fun() -> three() end]],
    p([C || C <- saved(40, fun() -> catch ?MODULE:none() end), C =:= {?MODULE, none, 0} orelse C =:= {error_handler, undefined_function, 3}]).

two(X) -> X.
three() -> lists:reverse([two(1)]), ?MODULE:two(2), atom_to_list(id(a)).

%% The oldest first.
bounds() ->
    p(saved(3, fun() -> [?MODULE:two(N) || N <- [1, 2, 3]], lists:map(fun(X) -> X end, [1]), ?MODULE:two(4) end)),
    p(saved(1, fun() -> ?MODULE:two(1) end)).

sizes() ->
    p(process_info(self(), last_calls)),
    p([catch_it(fun() -> process_flag(save_calls, N) end) || N <- [5, 0, -1, 10000, 10001, a, 3]]),
    ?MODULE:two(1), process_flag(save_calls, 4),
    p(process_info(self(), [last_calls])),
    p(process_flag(save_calls, 0)), p(process_info(self(), last_calls)).

%% Nothing is saved meanwhile; what was is told.
sensitive() ->
    process_flag(save_calls, 10), process_flag(sensitive, true),
    p(process_info(self(), last_calls)), ?MODULE:two(1), p(process_info(self(), last_calls)),
    process_flag(sensitive, false), process_flag(save_calls, 0).

%% What another process saved; code that is loaded or purged meanwhile does no harm.
others() ->
    {P, R} = spawn_monitor(fun() -> process_flag(save_calls, 4), saving(), receive stop -> ok end end),
    wait_until(fun() -> process_info(P, status) =:= {status, waiting} end),
    p(process_info(P, last_calls)),
    P ! stop, receive {'DOWN', R, process, P, Why} -> p(Why) end.

saving() -> ?MODULE:two(1), garbage_collect().

saved(N, F) ->
    Me = self(),
    {P, R} = spawn_monitor(fun() -> process_flag(save_calls, N), F(), {last_calls, L} = process_info(self(), last_calls), Me ! {self(), L} end),
    L = receive {P, X} -> X end,
    receive {'DOWN', R, _, _, normal} -> ok end,
    [C || C <- L, C =/= {erlang, send, 2}].

wait_until(F) -> F() orelse begin timer:sleep(1), wait_until(F) end.
id(X) -> X.
catch_it(F) -> try F() catch C:R -> {C, R} end.
p(X) -> io:format("~p~n", [X]).
%% expect: [{trace_saved_calls,two,1},{erlang,process_info,2}]
%% expect: [{lists,reverse,1},{erlang,process_info,2}]
%% expect: [{lists,reverse,1},{lists,last,1},{erlang,process_info,2}]
%% expect: [{lists,reverse,1},
%% expect:  {trace_saved_calls,two,1},
%% expect:  {erlang,atom_to_list,1},
%% expect:  {erlang,process_info,2}]
%% expect: [{lists,reverse,1},{lists,reverse,1},{erlang,process_info,2}]
%% expect: [send,'receive',timeout,timeout,{erlang,process_info,2}]
%% expect: [{erlang,error,1},{erlang,throw,1},{erlang,process_info,2}]
%% expect: [{lists,reverse,1},
%% expect:  {trace_saved_calls,two,1},
%% expect:  {erlang,atom_to_list,1},
%% expect:  {erlang,process_info,2}]
%% expect: [{trace_saved_calls,none,0},{error_handler,undefined_function,3}]
%% expect: [{lists,map,2},{trace_saved_calls,two,1},{erlang,process_info,2}]
%% expect: [{erlang,process_info,2}]
%% expect: {last_calls,false}
%% expect: [0,5,{error,badarg},0,{error,badarg},{error,badarg},10000]
%% expect: [{last_calls,[{erlang,process_info,2}]}]
%% expect: 4
%% expect: {last_calls,false}
%% expect: {last_calls,[{erlang,process_flag,2}]}
%% expect: {last_calls,[{erlang,process_flag,2}]}
%% expect: {last_calls,[{trace_saved_calls,two,1},
%% expect:              {erlang,garbage_collect,0},
%% expect:              {erts_internal,garbage_collect,1}]}
%% expect: normal
