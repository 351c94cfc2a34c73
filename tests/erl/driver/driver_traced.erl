%% SPDX-License-Identifier: Apache-2.0
%% What a driver's port is asked and what its callbacks send, as tracers of the port are told.
%% expect: terms
%% expect: {said,true,7}
%% expect: {trace,port,send,{said,port,7},me}
%% expect: {said,true,7}
%% expect: {trace,port,send,{said,port,7},me}
%% expect: {said,true,7}
%% expect: {trace,port,send,{said,port,7},me}
%% expect: {said,true,7}
%% expect: {trace,port,send,{said,port,7},me}
%% expect: {a,[]}
%% expect: {trace,port,send,{a,[]},me}
%% expect: 1
%% expect: {trace,port,send,1,me}
%% expect: {data,<<98>>}
%% expect: {trace,port,send,{port,{data,<<98>>}},me}
%% expect: to nobody
%% expect: {trace,port,send_to_non_existing_process,{said,port,7},gone}
%% expect: {trace,port,send_to_non_existing_process,{said,port,7},gone}
%% expect: nobody looks
%% expect: {said,true,7}
%% expect: {said,true,7}
%% expect: {data,<<98>>}
%% expect: timer
%% expect: {said,true,7}
%% expect: {trace,port,'receive',{me,{command,<<116>>}}}
%% expect: {trace,port,'receive',timeout}
%% expect: {trace,port,send,{said,port,7},me}
%% expect: long
%% expect: {true,{port_op,timeout}}
%% expect: {said,true,7}
%% expect: calls
%% expect: {0,{hello,1.5,[1,2]}}
%% expect: {0,{bytes,70}}
%% expect: {1,{error,badarg}}
%% expect: {2,{error,badarg}}
%% expect: {trace,port,'receive',{me,{call,{0,<<131,104,3,100,0,5,104,101,108,108,111,70,63,248,0,0,0,0,0,0,107,0,2,1,2>>}}}}
%% expect 27: {trace,port,'receive',{me,{call,{0,<<131,104,3,119,5,104,101,108,108,111,70,63,248,0,0,0,0,0,0,107,0,2,1,2>>}}}}
%% expect: {trace,port,send,{port,{call,<<131,104,3,100,0,5,104,101,108,108,111,70,63,248,0,0,0,0,0,0,107,0,2,1,2>>}},me}
%% expect 27: {trace,port,send,{port,{call,<<131,104,3,119,5,104,101,108,108,111,70,63,248,0,0,0,0,0,0,107,0,2,1,2>>}},me}
%% expect: {trace,port,'receive',{me,{call,{0,{bytes,76}}}}}
%% expect: {trace,port,send,{port,{call,{bytes,76}}},me}
%% expect: {trace,port,'receive',{me,{call,{1,<<131,100,0,1,97>>}}}}
%% expect 27: {trace,port,'receive',{me,{call,{1,<<131,119,1,97>>}}}}
%% expect: {trace,port,'receive',{me,{call,{2,<<131,100,0,1,97>>}}}}
%% expect 27: {trace,port,'receive',{me,{call,{2,<<131,119,1,97>>}}}}
%% expect: taints
%% expect: [driver_traced]
-module(driver_traced).
-export([main/0]).

main() ->
    ok = erl_ddll:load(filename:dirname(code:which(?MODULE)), ?MODULE),
    section("terms"),
    [traced([send], fun(P) -> port_command(P, C), p(heard()) end) || C <- ["o", "O", "s", "S", "2", "1", "b"]],
    section("to nobody"),
    [traced([send], fun(P) -> {Q, R} = spawn_monitor(fun() -> port_command(P, "k") end), receive {'DOWN', R, _, _, _} -> ok end,
                              port_command(P, C), told(P, [{Q, gone}]), told(P, []) end) || C <- ["s", "S"]],
    section("nobody looks"),
    traced([], fun(P) -> [begin port_command(P, C), p(clean(heard(), [{P, port}])) end || C <- ["o", "s", "b"]] end),
    section("timer"),
    traced([send, 'receive'], fun(P) -> port_command(P, "t"), p(clean(heard(), [{P, port}])) end),
    section("long"),
    Me = self(),
    Watcher = spawn_link(fun() -> receive {monitor, _, long_schedule, [{timeout, _} | _]} = Told -> Me ! {watcher, Told} end end),
    erlang:system_monitor(Watcher, [{long_schedule, 20}]),
    traced([], fun(P) -> port_command(P, "l"), receive {watcher, {_, P, _, [{_, Ms}, Kind]}} -> p({Ms >= 30, Kind}) end, p(clean(heard(), [{P, port}])) end),
    erlang:system_monitor(undefined),
    section("calls"),
    traced([send, 'receive'], fun(P) ->
        [p(clean({C, catch_it(fun() -> erlang:port_call(P, C, X) end)}, [])) || {C, X} <- [{0, {hello, 1.5, [1, 2]}}, {0, binary:copy(<<"x">>, 70)},
            {1, a}, {2, a}]]
    end),
    ok = erl_ddll:unload_driver(?MODULE),
    section("taints"), p([M || M <- erlang:system_info(taints), M =:= ?MODULE]).

traced(Flags, Do) ->
    P = open_port({spawn_driver, ?MODULE}, [binary]), T = tracer(), put(tracer, T),
    erlang:trace(P, true, [{tracer, T} | Flags]),
    Do(P), told(P, []), port_close(P).

%% What the driver says; it names the port.
heard() -> receive {said, P, N} -> {said, is_port(P), N}; {P, {data, D}} when is_port(P) -> {data, D}; {a, []} = M -> M; 1 -> 1 end.

told(P, Names) ->
    R = erlang:trace_delivered(all), receive {trace_delivered, all, R} -> ok end,
    get(tracer) ! {told, self()},
    receive {tracer, L} -> [p(clean(M, [{P, port}, {self(), me} | Names])) || M <- L] end.

tracer() -> spawn_link(fun() -> collect([]) end).
collect(L) -> receive {told, From} -> From ! {tracer, lists:reverse(L)}, collect([]); M -> collect([M | L]) end.

clean(X, Names) ->
    case lists:keyfind(X, 1, Names) of
        {_, Name} -> Name;
        false when byte_size(X) > 64 -> {bytes, byte_size(X)};
        false when is_tuple(X) -> list_to_tuple(clean(tuple_to_list(X), Names));
        false when is_list(X) -> [clean(Y, Names) || Y <- X];
        false -> X
    end.

catch_it(F) -> try F() catch C:R -> {C, R} end.
section(S) -> io:format("~s~n", [S]).
p(X) -> io:format("~w~n", [X]).
