%% SPDX-License-Identifier: Apache-2.0
%% Tracing and ports: what ports do is traced, and a port traces: each message is a command to it, in the external term format.
-module(trace_ports).
-export([main/0, called/1]).

main() ->
    process_flag(trap_exit, true),
    life(), messages(), ends(), slices(), flags(), counts(), born(),
    events_to_port(), calls_to_port(), port_to_port(), gone(), others_to_port(), many_to_port().

%% ---- ports that are traced

life() ->
    section("life"),
    Me = self(), T = tracer(),
    P = opened(T, [ports], {spawn, "cat"}, [binary]),
    register(trace_ports_a, P), unregister(trace_ports_a), register(trace_ports_b, P),
    unlink(P), link(P), link(P),
    Q = spawn(fun() -> link(P), receive go -> ok end, unlink(P), Me ! gone, receive stop -> ok end end),
    wait_until(fun() -> {links, L} = erlang:port_info(P, links), lists:member(Q, L) end), Q ! go, receive gone -> ok end,
    _ = erlang:port_info(P, links),
    port_connect(P, Q), port_close(P), Q ! stop,
    show(T, P).

messages() ->
    section("messages"),
    Me = self(), T = tracer(),
    P = opened(T, [send, 'receive'], {spawn, "cat"}, [binary, {packet, 2}]),
    P ! {Me, {command, "hello"}}, data(P), port_command(P, [<<"a">>, "bc", [<<"def">>]]), data(P),
    port_command(P, binary:copy(<<"x">>, 100)), data(P),
    catch port_control(P, 17, "x"),
    Q = spawn(fun() -> receive go -> P ! {self(), {connect, Me}}, receive {P, connected} -> ok end, Me ! given end, receive stop -> ok end end),
    port_connect(P, Q), Q ! go, receive given -> ok end,
    P ! {Me, close}, receive {P, closed} -> ok end, Q ! stop,
    show(T, P),
    U = tracer(), R = opened(U, [send, 'receive'], {fd, 0, 1}, [out]),
    port_command(R, ""), port_close(R), show(U, R),
    V = tracer(), S = opened(V, [send], {spawn, "sh -c 'echo one; echo two; exit 3'"}, [exit_status, eof, {line, 80}]),
    receive {S, {exit_status, 3}} -> ok end, receive {S, eof} -> ok end, port_close(S),
    show(V, S).

ends() ->
    section("ends"),
    [begin
        T = tracer(), Me = self(),
        {Q, R} = spawn_monitor(fun() ->
            P = opened(T, [ports, 'receive'], {spawn, Command}, []), Me ! {port, P}, receive go -> End(P) end,
            receive {'EXIT', P, _} -> ok; stop -> ok end end),
        P = receive {port, X} -> X end, M = monitor(port, P), Q ! go, receive {'DOWN', M, _, _, Why} -> p(Why) end,
        Q ! stop, receive {'DOWN', R, _, _, _} -> ok end,
        show(T, P)
     end || {Command, End} <- [
        {"cat", fun(_) -> exit(foo) end}, {"cat", fun(P) -> process_flag(trap_exit, true), exit(P, kill) end},
        {"cat", fun(P) -> process_flag(trap_exit, true), exit(P, normal) end}, {"cat", fun(P) -> process_flag(trap_exit, true), exit(P, bar) end},
        {"sleep 0.1", fun(_) -> process_flag(trap_exit, true) end}]].

%% What comes from outside is the machine's own business.
slices() ->
    section("slices"),
    T = tracer(), P = opened(T, [running_ports], {spawn, "cat"}, [binary]),
    P ! {self(), {command, "hello"}}, data(P), port_command(P, "x"), data(P), catch port_control(P, 1, "x"),
    unlink(P), link(P), erlang:port_info(P), demonitor(monitor(port, P)), port_connect(P, self()), P ! {self(), {connect, self()}},
    receive {P, connected} -> ok end, port_close(P),
    p([{E, What} || {trace, _, E, What} <- told(T), What =/= 0]).

flags() ->
    section("flags"),
    T = tracer(), P = open_port({spawn, "cat"}, []),
    [p({On, F, catch_it(fun() -> erlang:trace(P, On, [{tracer, T} | F]) end), erlang:trace_info(P, flags)}) || {On, F} <- [
        {true, [send]}, {true, [ports, timestamp]}, {false, [send]}, {true, ['receive', monotonic_timestamp, running_ports]}, {false, [all]}]],
    erlang:trace(P, true, [send, {tracer, T}]),
    p(catch_it(fun() -> erlang:trace(P, true, [send, {tracer, T}]) end)),
    p(erlang:trace_info(P, tracer) =:= {tracer, T}),
    told(T), exit(T, kill), wait_until(fun() -> not is_process_alive(T) end),
    p({erlang:trace_info(P, tracer), erlang:trace_info(P, flags)}),
    port_close(P),
    p({catch_it(fun() -> erlang:trace(P, true, [send]) end), erlang:trace_info(P, flags)}).

counts() ->
    section("counts"),
    T = tracer(), P = open_port({spawn, "cat"}, []), N = length(erlang:ports()),
    p([{S, F, try erlang:trace(S, true, [F, {tracer, T}]) of N -> ports; 0 -> 0; M when M > N -> more after erlang:trace(S, false, [F]) end} ||
        S <- [existing_ports, ports, existing, all, processes, existing_processes, new_ports, new],
        F <- [ports, running_ports, silent]]),
    p([erlang:trace(S, true, [F, {tracer, T}]) || S <- [existing_ports, ports], F <- [call, procs, running, garbage_collection]]),
    told(T), port_close(P).

born() ->
    section("born"),
    T = tracer(),
    erlang:trace(new_ports, true, [ports, monotonic_timestamp, {tracer, T}]),
    p({erlang:trace_info(new_ports, flags), erlang:trace_info(new_ports, tracer) =:= {tracer, T}}),
    P = open_port({spawn, "cat"}, []), p(erlang:trace_info(P, flags)),
    erlang:trace(new, false, [all]), Q = open_port({spawn, "cat"}, []), p({erlang:trace_info(Q, flags), erlang:trace_info(new_ports, flags)}),
    port_close(P), port_close(Q),
    p([{E, is_integer(Time)} || {trace_ts, _, E, _, Time} <- told(T)] ++ [open || {trace_ts, _, open, _, cat, _} <- []]).

%% ---- ports that trace

events_to_port() ->
    section("events to a port"),
    P = listener(), Me = self(),
    {Q, R} = spawn_monitor(fun() -> receive go -> ok end, Me ! {self(), hello}, exit(done) end),
    erlang:trace(Q, true, [send, 'receive', procs, {tracer, P}]),
    p(erlang:trace_info(Q, tracer) =:= {tracer, P}),
    Q ! go, receive {Q, hello} -> ok end, receive {'DOWN', R, _, _, _} -> ok end,
    [p(clean(heard(P), [{Q, traced}, {Me, me}])) || _ <- [1, 2, 3]],
    port_close(P).

calls_to_port() ->
    section("calls to a port"),
    P = listener(), Me = self(),
    erlang:trace_pattern({?MODULE, called, 1}, [{'_', [], [{return_trace}, {message, {const, [said]}}]}], [local]),
    erlang:trace(Me, true, [call, timestamp, {tracer, erl_tracer, P}]),
    called([<<1:3>>, 1.5, a, #{b => self()}]),
    erlang:trace(Me, false, [all]),
    [p(clean(setelement(size(M), M, time), [{Me, me}])) || M <- [heard(P), heard(P)]],
    erlang:trace_pattern({?MODULE, called, 1}, true, [{meta, P}]),
    p(erlang:trace_info({?MODULE, called, 1}, meta) =:= {meta, P}), called(meta),
    M = heard(P), p(clean(setelement(5, M, time), [{Me, me}])),
    erlang:trace_pattern({?MODULE, called, 1}, false, [local, meta]), port_close(P).

called(X) -> X.

port_to_port() ->
    section("a port to a port"),
    P = listener(), Me = self(),
    Q = open_port({spawn, "cat"}, [binary]), erlang:trace(Q, true, [ports, send, 'receive', {tracer, P}]),
    port_command(Q, "x"), data(Q), register(trace_ports_c, Q), port_close(Q),
    [p(clean(heard(P), [{Q, port}, {Me, me}])) || _ <- [1, 2, 3, 4, 5, 6]], port_close(P).

gone() ->
    section("gone"),
    P = listener(), erlang:trace(self(), true, [send, {tracer, P}]), port_close(P), self() ! lost,
    p({erlang:trace_info(self(), flags), erlang:trace_info(self(), tracer)}),
    p([catch_it(fun() -> erlang:system_flag(sequential_tracer, P) end), catch_it(fun() -> erlang:system_profile(P, [scheduler]) end),
       catch_it(fun() -> erlang:trace(self(), true, [send, {tracer, P}]) end), erlang:trace_info(self(), tracer)]),
    receive lost -> ok end.

others_to_port() ->
    section("sequential and profile"),
    P = listener(), p({erlang:system_flag(sequential_tracer, P), seq_trace:get_system_tracer() =:= P}),
    seq_trace:set_token(label, 17), seq_trace:set_token(print, true), seq_trace:print(17, note), seq_trace:set_token([]),
    {seq_trace, L, {print, _, _, _, What}} = heard(P), p({L, What}),
    p(erlang:system_flag(sequential_tracer, false) =:= P), port_close(P),
    Q = listener(), p(catch_it(fun() -> erlang:system_monitor(Q, [busy_port]) end)),
    p(erlang:system_profile(Q, [runnable_ports, monotonic_timestamp])),
    p(erlang:system_profile() =:= {Q, [runnable_ports]}),
    R = open_port({spawn, "cat"}, [binary]), port_command(R, "x"), data(R), port_close(R),
    {profile, R, active, 0, Time} = profiled(Q, R), p(is_integer(Time)),
    erlang:system_profile(undefined, []), port_close(Q).

profiled(P, Port) -> case heard(P) of M when element(2, M) =:= Port -> M; _ -> profiled(P, Port) end.

%% In their order, none lost, whoever else speaks to the port.
many_to_port() ->
    section("many"),
    P = listener(), N = 3000, Me = self(),
    Q = spawn(fun() -> receive go -> ok end, [Me ! I || I <- lists:seq(1, N)], port_command(P, term_to_binary(last)) end),
    erlang:trace(Q, true, [send, {tracer, P}]), Q ! go,
    p([M || {trace, _, send, M, _} <- [heard(P) || _ <- lists:seq(1, N)]] =:= lists:seq(1, N)), p(heard(P)),
    port_close(P), [receive I -> ok end || I <- lists:seq(1, N)].

%% ---- help

listener() -> open_port({spawn, "cat"}, [binary, {packet, 4}]).
heard(P) -> receive {P, {data, B}} -> binary_to_term(B) end.
data(P) -> receive {P, {data, D}} -> D end.

opened(T, Flags, Name, Options) ->
    erlang:trace(new_ports, true, [{tracer, T} | Flags]), P = open_port(Name, Options), erlang:trace(new_ports, false, [all]), P.

tracer() -> spawn(fun() -> collect([]) end).
collect(L) -> receive {told, From} -> From ! {self(), lists:reverse(L)}, collect([]); M -> collect([M | L]) end.
told(T) ->
    R = erlang:trace_delivered(all), receive {trace_delivered, all, R} -> ok end,
    T ! {told, self()}, receive {T, L} -> L end.

%% Pids as they come.
show(T, P) ->
    lists:foldl(fun({trace, Q, E, X}, Seen) when Q =:= P -> say(Seen, P, [E, X]);
                   ({trace, _, send, {_, {control, <<>>}}, _}, Seen) -> Seen; % from where OTP starts programs
                   ({trace, Q, E, X, Y}, Seen) when Q =:= P -> say(Seen, P, [E, X, Y]) end, [{P, port}], told(T)).
say(Seen, P, M) ->
    New = pids(M) -- [Q || {Q, _} <- Seen],
    All = Seen ++ lists:zip(New, [{pid, N} || N <- lists:seq(length(Seen), length(Seen) + length(New) - 1)]),
    io:format("~w~n", [clean(list_to_tuple(M), [{P, port} | All])]), All.
pids(X) when is_pid(X) -> [X];
pids(X) when is_tuple(X) -> pids(tuple_to_list(X));
pids(X) when is_list(X) -> lists:usort(lists:flatmap(fun pids/1, X));
pids(_) -> [].

clean(X, Names) ->
    case lists:keyfind(X, 1, Names) of
        {_, Name} -> Name;
        false when is_tuple(X) -> list_to_tuple(clean(tuple_to_list(X), Names));
        false when is_map(X) -> maps:map(fun(_, V) -> clean(V, Names) end, X);
        false when is_list(X) -> [clean(Y, Names) || Y <- X];
        false -> X
    end.

wait_until(F) -> F() orelse begin timer:sleep(1), wait_until(F) end.
catch_it(F) -> try F() catch C:R -> {C, R} end.
section(S) -> io:format("~s~n", [S]).
p(X) -> io:format("~w~n", [X]).
%% expect: life
%% expect: {open,{pid,1},cat}
%% expect: {getting_linked,{pid,1}}
%% expect: {register,trace_ports_a}
%% expect: {unregister,trace_ports_a}
%% expect: {register,trace_ports_b}
%% expect: {getting_unlinked,{pid,1}}
%% expect: {getting_linked,{pid,1}}
%% expect: {getting_linked,{pid,2}}
%% expect: {getting_unlinked,{pid,2}}
%% expect: {getting_linked,{pid,2}}
%% expect: {closed,normal}
%% expect: {unregister,trace_ports_b}
%% expect: messages
%% expect: {'receive',{{pid,1},{command,<<104,101,108,108,111>>}}}
%% expect: {send,{port,{data,<<104,101,108,108,111>>}},{pid,1}}
%% expect: {'receive',{{pid,1},{command,<<97,98,99,100,101,102>>}}}
%% expect: {send,{port,{data,<<97,98,99,100,101,102>>}},{pid,1}}
%% expect: {'receive',{{pid,1},{command,<<120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120>>}}}
%% expect: {send,{port,{data,<<120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120>>}},{pid,1}}
%% expect: {'receive',{{pid,1},{control,{17,<<120>>}}}}
%% expect: {'receive',{{pid,1},{connect,{pid,2}}}}
%% expect: {send,{port,connected},{pid,1}}
%% expect: {'receive',{{pid,2},{connect,{pid,1}}}}
%% expect: {send,{port,connected},{pid,2}}
%% expect: {'receive',{{pid,1},close}}
%% expect: {send,closed,{pid,1}}
%% expect: {'receive',{{pid,1},{command,[]}}}
%% expect: {'receive',{{pid,1},close}}
%% expect: {send,{port,{data,{eol,[111,110,101]}}},{pid,1}}
%% expect: {send,{port,{data,{eol,[116,119,111]}}},{pid,1}}
%% expect: {send,{port,{exit_status,3}},{pid,1}}
%% expect: {send,{port,eof},{pid,1}}
%% expect: ends
%% expect: foo
%% expect: {open,{pid,1},cat}
%% expect: {getting_linked,{pid,1}}
%% expect: {'receive',{{pid,1},close}}
%% expect: {closed,foo}
%% expect: killed
%% expect: {open,{pid,1},cat}
%% expect: {getting_linked,{pid,1}}
%% expect: {'receive',{{pid,1},close}}
%% expect: {closed,kill}
%% expect: normal
%% expect: {open,{pid,1},cat}
%% expect: {getting_linked,{pid,1}}
%% expect: {'receive',{{pid,1},close}}
%% expect: {closed,normal}
%% expect: bar
%% expect: {open,{pid,1},cat}
%% expect: {getting_linked,{pid,1}}
%% expect: {'receive',{{pid,1},close}}
%% expect: {closed,bar}
%% expect: normal
%% expect: {open,{pid,1},'sleep 0.1'}
%% expect: {getting_linked,{pid,1}}
%% expect: {closed,normal}
%% expect: slices
%% expect: [{in,open},{out,open},{in,command},{out,command},{in,command},{out,command},{in,control},{out,control},{in,unlink},{out,unlink},{in,link},{out,link},{in,info},{out,info},{in,monitor},{out,monitor},{in,demonitor},{out,demonitor},{in,connect},{out,connect},{in,connect},{out,connect},{in,close}]
%% expect: flags
%% expect: {true,[send],1,{flags,[send]}}
%% expect: {true,[ports,timestamp],1,{flags,[ports,send,timestamp]}}
%% expect: {false,[send],1,{flags,[ports,timestamp]}}
%% expect: {true,['receive',monotonic_timestamp,running_ports],1,{flags,[running_ports,ports,'receive',monotonic_timestamp,timestamp]}}
%% expect: {false,[all],1,{flags,[]}}
%% expect: 1
%% expect: true
%% expect: {{tracer,[]},{flags,[]}}
%% expect: {{error,badarg},undefined}
%% expect: counts
%% expect: [{existing_ports,ports,ports},{existing_ports,running_ports,ports},{existing_ports,silent,ports},{ports,ports,ports},{ports,running_ports,ports},{ports,silent,ports},{existing,ports,ports},{existing,running_ports,ports},{existing,silent,more},{all,ports,ports},{all,running_ports,ports},{all,silent,more},{processes,ports,0},{processes,running_ports,0},{processes,silent,more},{existing_processes,ports,0},{existing_processes,running_ports,0},{existing_processes,silent,more},{new_ports,ports,0},{new_ports,running_ports,0},{new_ports,silent,0},{new,ports,0},{new,running_ports,0},{new,silent,0}]
%% expect: [0,0,0,0,0,0,0,0]
%% expect: born
%% expect: {{flags,[ports,monotonic_timestamp]},true}
%% expect: {flags,[ports,monotonic_timestamp]}
%% expect: {{flags,[]},{flags,[]}}
%% expect: [{getting_linked,true},{closed,true}]
%% expect: events to a port
%% expect: true
%% expect: {trace,traced,'receive',go}
%% expect: {trace,traced,send,{traced,hello},me}
%% expect: {trace,traced,exit,done}
%% expect: calls to a port
%% expect: {trace_ts,me,call,{trace_ports,called,[[<<1:3>>,1.5,a,#{b => me}]]},[said],time}
%% expect: {trace_ts,me,return_from,{trace_ports,called,1},[<<1:3>>,1.5,a,#{b => me}],time}
%% expect: true
%% expect: {trace_ts,me,call,{trace_ports,called,[meta]},time}
%% expect: a port to a port
%% expect: {trace,port,'receive',{me,{command,<<120>>}}}
%% expect: {trace,port,send,{port,{data,<<120>>}},me}
%% expect: {trace,port,register,trace_ports_c}
%% expect: {trace,port,'receive',{me,close}}
%% expect: {trace,port,closed,normal}
%% expect: {trace,port,unregister,trace_ports_c}
%% expect: gone
%% expect: {{flags,[]},{tracer,[]}}
%% expect: [{error,badarg},{error,badarg},1,{tracer,[]}]
%% expect: sequential and profile
%% expect: {false,true}
%% expect: {17,note}
%% expect: true
%% expect: {error,badarg}
%% expect: undefined
%% expect: true
%% expect: true
%% expect: many
%% expect: true
%% expect: last
