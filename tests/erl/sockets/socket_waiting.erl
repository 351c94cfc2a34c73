%% SPDX-License-Identifier: Apache-2.0
%% The module socket: who waits, in what order, and what becomes of them: nowait, cancel, close by another, death.
%% expect: [true,ok,error]
%% expect: selected
%% expect: [ok,{ok,<<"there">>}]
%% expect: selected
%% expect: {ok,<<"again">>}
%% expect: ok
%% expect: {error,badarg}
%% expect: error
%% expect: {ok,<<"1">>}
%% expect: {ok,<<"2">>}
%% expect: {ok,<<"3">>}
%% expect: {ok,<<"x">>}
%% expect: [bound,listening,accepting,selected]
%% expect: [ok,ok]
%% expect: [{error,timeout},{error,{invalid,state}}]
%% expect: ok
%% expect: error
%% expect: [ok,{error,{invalid,state}},ok,{ok,<<"connected">>}]
%% expect: {error,econnrefused}
%% expect: ok
%% expect: [{error,closed},{error,closed}]
%% expect: #{num_readers => 0,rstates => [selected,closing,closed],wstates => [closing,closed]}
%% expect erl 27: #{num_readers => 0,rstates => [selected,closing,closed],wstates => [connected,closing,closed]}
%% expect: [ok,closed]
%% expect: {error,closed}
%% expect: [{error,closed},{error,closed}]
%% expect: [ok,true,{error,{invalid,not_owner}},{error,{invalid,not_owner}}]
%% expect: {error,closed}
%% expect: [ok,{error,closed}]
%% expect: ok
%% expect: [{error,closed},ok]
%% expect: [2,true,1,2]
%% expect: closed
%% expect: [ok,ok]
%% expect: [ok,true]
%% expect: [#{domain => inet,protocol => tcp,type => stream,wstates => [connected]},fromfd,fromfd]
%% expect: [ok,{ok,<<"seen">>},{ok,<<" by both">>}]
%% expect: {error,{invalid,{options,domain,#{}}}}
%% expect: nothing_left
-module(socket_waiting).
-export([main/0]).
-include("pair.hrl").

main() ->
    Before = descriptors(),
    nowait(), order(), accepting(), connecting(), closed(), owners(), closers(), monitors(), given(), from_fd(),
    %% Not by its counters: OTP's num_sockets was seen at 1 when there was no socket any more.
    wait(fun () -> descriptors() =:= Before andalso socket:number_of() =:= 0 end),
    show(nothing_left).

nowait() ->
    {C, S} = pair(),
    {select, {select_info, recv, Ref} = Info} = socket:recv(S, 0, nowait),
    show([is_reference(Ref), socket:cancel(S, Info), element(1, socket:cancel(S, Info))]),
    {select, {select_info, recv, Ref2} = Info2} = socket:recv(S, 0, nowait),
    ok = socket:send(C, "there"),
    receive {'$socket', S, select, Ref2} -> show(selected) end,
    show([socket:cancel(S, Info2), socket:recv(S, 0, nowait)]),
    Mine = make_ref(),
    {select, {select_info, recv, Mine}} = socket:recv(S, 0, Mine),
    ok = socket:send(C, "again"),
    receive {'$socket', S, select, Mine} -> show(selected) end,
    show(socket:recv(S, 0, Mine)),
    ok = socket:send(C, "ab"),
    {ok, <<"a">>} = socket:recv(S, 1),
    Info3 = case socket:recv(S, 10, nowait) of
        {select, {{select_info, recv, _} = Waits, <<"b">>}} -> Waits;
        {select, {select_info, recv, _} = Waits} -> Waits % OTP 27 keeps what came
    end,
    show(socket:cancel(S, Info3)),
    show(why(fun () -> socket:cancel(S, {select_info, dance, make_ref()}) end)),
    [ok = socket:close(X) || X <- [C, S]],
    show(element(1, socket:cancel(S, Info3))).

%% Each has what came after it asked, in turn.
order() ->
    {C, S} = pair(),
    Readers = [begin P = reader(S), wait(fun () -> maps:get(num_readers, socket:info(S)) =:= N end), P end ||
               N <- [1, 2, 3]],
    [begin ok = socket:send(C, [N]), receive {P, R} -> show(R) end end || {P, N} <- lists:zip(Readers, "123")],
    [Dies, Stays] = [begin P = reader(S), wait(fun () -> maps:get(num_readers, socket:info(S)) =:= N end), P end ||
                     N <- [1, 2]],
    exit(Dies, kill),
    wait(fun () -> maps:get(num_readers, socket:info(S)) =:= 1 end),
    ok = socket:send(C, "x"),
    receive {Stays, R} -> show(R) end,
    [ok = socket:close(X) || X <- [C, S]].

reader(S) ->
    Me = self(),
    spawn(fun () -> Me ! {self(), socket:recv(S)} end).

accepting() ->
    {ok, L} = socket:open(inet, stream, tcp),
    ok = socket:bind(L, #{family => inet, addr => loopback, port => 0}),
    ok = socket:listen(L),
    {ok, At} = socket:sockname(L),
    Me = self(),
    Ps = [begin P = spawn(fun () -> Me ! {self(), element(1, socket:accept(L))}, receive stop -> ok end end),
                wait(fun () -> maps:get(num_acceptors, socket:info(L)) =:= N end), P end || N <- [1, 2, 3]],
    show(maps:get(rstates, socket:info(L))),
    Cs = [begin {ok, C} = socket:open(inet, stream, tcp), ok = socket:connect(C, At), C end || _ <- [1, 2]],
    show([receive {P, R} -> R end || P <- lists:sublist(Ps, 2)]),
    show([socket:accept(L, 10), socket:recv(L)]),
    show(socket:close(L)),
    Last = lists:last(Ps),
    show(receive {Last, Q} -> Q end),
    [begin M = monitor(process, P), P ! stop, receive {'DOWN', M, process, P, _} -> ok end end || P <- Ps],
    [ok = socket:close(C) || C <- Cs].

connecting() ->
    {ok, L} = socket:open(inet, stream, tcp),
    ok = socket:bind(L, #{family => inet, addr => loopback, port => 0}),
    ok = socket:listen(L),
    {ok, At} = socket:sockname(L),
    {ok, C} = socket:open(inet, stream, tcp),
    R = case socket:connect(C, At, nowait) of
            ok -> ok;
            {select, {select_info, connect, Ref}} -> receive {'$socket', C, select, Ref} -> socket:connect(C) end
        end,
    {ok, S} = socket:accept(L),
    show([R, why(fun () -> socket:connect(C) end), socket:send(S, "connected"), socket:recv(C, 9)]),
    ok = socket:close(L),
    {ok, N} = socket:open(inet, stream, tcp),
    show(socket:connect(N, At)),
    [ok = socket:close(X) || X <- [C, S, N]].

%% By another, while a process waits to receive, and one behind it.
closed() ->
    {C, S} = pair(),
    Ps = [begin P = reader(S), wait(fun () -> maps:get(num_readers, socket:info(S)) =:= N end), P end || N <- [1, 2]],
    show(socket:close(S)),
    show([receive {P, R} -> R end || P <- Ps]),
    show(maps:with([rstates, wstates, num_readers], socket:info(S))),
    ok = socket:close(C),
    {C2, S2} = pair(),
    {select, {select_info, recv, Ref}} = socket:recv(C2, 0, nowait),
    {Q, M} = spawn_monitor(fun () -> exit(socket:close(C2)) end),
    show([receive {'DOWN', M, process, Q, R} -> R end, receive {'$socket', C2, abort, {Ref, Why}} -> Why end]),
    ok = socket:close(S2).

%% What a dead process owned is closed.
owners() ->
    Me = self(),
    {P, M} = spawn_monitor(fun () -> {C, S} = pair(), Me ! {self(), C, S}, {error, closed} = socket:recv(S) end),
    {C, S} = receive {P, C0, S0} -> {C0, S0} end,
    wait(fun () -> maps:get(num_readers, socket:info(S)) =:= 1 end),
    Q = reader(C),
    wait(fun () -> maps:get(num_readers, socket:info(C)) =:= 1 end),
    exit(P, kill),
    receive {'DOWN', M, process, P, _} -> ok end,
    show(receive {Q, R} -> R end),
    wait(fun () -> lists:member(closed, maps:get(rstates, socket:info(S))) end),
    show([socket:recv(S), socket:send(C, "x")]),
    {C2, S2} = pair(),
    {T, MT} = spawn_monitor(fun () -> receive stop -> ok end end),
    show([socket:setopt(S2, {otp, controlling_process}, T), maps:get(owner, socket:info(S2)) =:= T,
          socket:setopt(S2, {otp, controlling_process}, self()), socket:setopt(S2, {otp, meta}, x)]),
    T ! stop,
    receive {'DOWN', MT, process, T, _} -> ok end,
    show(socket:recv(C2)),
    show([socket:setopt(C2, {otp, controlling_process}, T), socket:recv(C2)]).

%% Whoever closes dies, or is not the owner.
closers() ->
    {C, S} = pair(),
    {P, M} = spawn_monitor(fun () -> exit(socket:close(S)) end),
    show(receive {'DOWN', M, process, P, R} -> R end),
    show([socket:recv(C), socket:close(C)]).

monitors() ->
    wait(fun () -> socket:number_of() =:= 0 end),
    {C, S} = pair(),
    M = socket:monitor(S),
    N = socket:monitor(C),
    show([socket:number_of_monitors(), socket:cancel_monitor(N), socket:number_of_monitors(),
          length(socket:which_sockets())]),
    ok = socket:close(S),
    receive {'DOWN', M, socket, S, Why} -> show(Why) end,
    show([socket:close(C), wait(fun () -> socket:which_sockets() =:= [] end)]).

given() ->
    {C, S} = pair(),
    show([socket:setopt(S, {otp, meta}, {some, "term", C}), socket:getopt(S, {otp, meta}) =:= {ok, {some, "term", C}}]),
    [ok = socket:close(X) || X <- [C, S]].

from_fd() ->
    {C, S} = pair(),
    {ok, Fd} = socket:getopt(S, {otp, fd}),
    {ok, D} = socket:open(Fd),
    {ok, E} = socket:open(Fd, #{dup => false}),
    show([maps:with([domain, type, protocol, wstates], socket:info(D)), element(1, maps:get(ctype, socket:info(D))),
          maps:get(ctype, socket:info(E))]),
    ok = socket:close(E),
    show([socket:send(C, "seen by both"), socket:recv(D, 4), socket:recv(S, 8)]),
    [ok = socket:close(X) || X <- [C, S, D]],
    show(socket:open(99999)).

why(F) -> try F() catch C:R -> {C, R} end.
