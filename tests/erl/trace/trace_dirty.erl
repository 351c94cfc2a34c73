%% SPDX-License-Identifier: Apache-2.0
%% A process is traced while a dirty scheduler runs its native: it is scheduled in there once, whatever it gets meanwhile.
%% expect: {ends,[in,out,in,out,in,out,in,exit,out_exited]}
%% expect: {got,[in,out,in,'receive',getting_linked,getting_unlinked,out,in,exit,out_exited]}
%% expect: {killed,[in,out,in,in_exiting,exit,out_exited]}
%% expect: {sends,[send,send]}
%% expect: {code,[true,false]}
%% expect: {purged,killed,true}
-module(trace_dirty).
-export([main/0]).

main() ->
    ends(),
    got(),
    killed(),
    sends(),
    code().

dirty(Ms, Flags, Then) ->
    P = spawn(fun() -> receive go -> ok end, erts_debug:dirty_io(wait, Ms), Then() end),
    waits(P),
    erlang:trace(P, true, Flags),
    P ! go,
    P.

waits(P) ->
    {status, Status} = process_info(P, status),
    Status =:= waiting orelse begin erlang:yield(), waits(P) end.

%% A moment more: on OTP it is seen to be there a little before it is told that it was scheduled in.
await_dirty(P) ->
    case erts_internal:is_process_executing_dirty(P) of
        true -> timer:sleep(50);
        false -> erlang:yield(), await_dirty(P)
    end.

%% Until it has ended, and all was delivered.
events(P) ->
    Ref = monitor(process, P),
    receive {'DOWN', Ref, process, P, _} -> ok end,
    Delivered = erlang:trace_delivered(all),
    receive {trace_delivered, all, Delivered} -> ok end,
    taken(P).

taken(P) ->
    receive Event when element(1, Event) =:= trace, element(2, Event) =:= P -> [element(3, Event) | taken(P)] after 0 -> [] end.

%% How often it waits afterwards nobody says: it ends at once.
ends() ->
    P = dirty(20, [running, exiting, procs], fun() -> receive after 1 -> ok end end),
    io:format("~0p~n", [{ends, events(P)}]).


got() ->
    P = dirty(1000, [running, exiting, procs, 'receive'], fun() -> ok end),
    await_dirty(P),
    P ! hello,
    link(P),
    {links, [_]} = process_info(P, links),
    unlink(P),
    io:format("~0p~n", [{got, lists:delete('receive', events(P))}]).

killed() ->
    P = dirty(1000, [running, exiting, procs], fun() -> ok end),
    await_dirty(P),
    exit(P, kill),
    io:format("~0p~n", [{killed, events(P)}]).

sends() ->
    Self = self(),
    P = dirty(10, [send], fun() -> Self ! {one, Self}, Self ! {two, Self} end),
    io:format("~p~n", [{sends, events(P)}]).

%% Whose native runs uses the code that it returns to, and tells it at once.
code() ->
    Forms = [{attribute, 1, module, traced_once}, {attribute, 1, export, [{f, 0}]},
             {function, 1, f, 0, [{clause, 1, [], [], [{call, 1, {remote, 1, {atom, 1, erts_debug}, {atom, 1, dirty_io}},
                                                       [{atom, 1, wait}, {integer, 1, 3000}]}, {atom, 1, ok}]}]}],
    {ok, Module, Binary} = compile:forms(Forms),
    Load = fun() -> {module, Module} = code:load_binary(Module, "nowhere", Binary) end,
    Load(),
    P = spawn(Module, f, []),
    Ref = monitor(process, P),
    await_dirty(P),
    Load(),
    io:format("~p~n", [{code, [check_process_code(P, Module), code:soft_purge(Module)]}]),
    Purged = code:purge(Module),
    receive {'DOWN', Ref, process, P, Why} -> io:format("~p~n", [{purged, Why, Purged}]) end.
