%% SPDX-License-Identifier: Apache-2.0
-module(port_children).
-export([main/0, nested/0]).
-import(lists, [sort/1]).

%% What programs find that a VM starts: a session and a process group of their own, no signal blocked, those ignored that the
%% VM ignores, and of descriptors their pipes alone, whatever else the VM was started with, or has open.

main() ->
    %% This one has more: a few descriptors, and signals that are ignored; and is in a session that the others are not in.
    Line = "trap '' HUP TERM; exec setsid -w \"$0\" \"$@\" 5</dev/null 7<. 9</dev/null",
    Args = ["-noshell", "-pa", filename:dirname(code:which(?MODULE)), "-s", ?MODULE_STRING, "nested", "-s", "erlang", "halt"],
    Vm = open_port({spawn_executable, "/bin/sh"}, [{args, ["-c", Line, self_program() | Args]}, exit_status, {line, 1000}]),
    pass_on(Vm).

pass_on(Vm) ->
    receive
        {Vm, {data, {eol, Line}}} -> io:format("~ts~n", [Line]), pass_on(Vm);
        {Vm, {exit_status, S}} -> io:format("ended ~p~n", [S])
    end.

self_program() ->
    {ok, Path} = file:read_link("/proc/self/exe"),
    case filename:basename(Path) of
        "beam" ++ _ -> os:find_executable("erl");
        _ -> Path
    end.

nested() ->
    {ok, _} = file:open("/dev/null", [read, raw]),
    [io:format("~p ~0p~n", [Name, look(What, Options)]) || {Name, What, Options} <- looks()],
    ok = os:set_signal(sigusr1, ignore),
    ok = os:set_signal(sigchld, ignore),
    ok = os:set_signal(sigquit, default),
    io:format("set ~0p~n", [ignored(run({spawn, "cat /proc/self/status"}, []))]),
    io:format("cmd ~0p~n", [[sort(string:lexemes(os:cmd(C), "\n")) || C <- ["kill -TERM $$; echo not ended", "(yes 2>/dev/null; echo $? >&2) | head -1", "echo $PPID >/dev/null; umask"]]]),
    io:format("group ~0p~n", [[ended(C) || C <- ["sh -c 'kill -TERM 0'", "sh -c 'kill -KILL 0'", "sh -c 'kill -USR1 0'",
                                                 "sh -c 'kill -FPE 0; exit 11'", "sh -c 'kill -PIPE 0; exit 13'"]]]),
    io:format("lives~n").

looks() ->
    [{executable, fun executable/2, []}, {command, fun command/2, []}, {in, fun executable/2, [in]},
     {both_outputs, fun executable/2, [in, stderr_to_stdout]}, {hidden, fun executable/2, [hide, binary]}].

executable(Command, Options) -> run({spawn_executable, "/bin/sh"}, [{args, ["-c", "exec " ++ Command]} | Options]).
command(Command, Options) -> run({spawn, Command}, Options).

look(Run, Options) ->
    Status = Run("cat /proc/self/status", Options),
    [Pid, _, _, _, Group, Session, Terminal | _] = string:lexemes(Run("cat /proc/self/stat", Options), " "),
    {own_group, Group =:= Pid, own_session, Session =:= Pid, terminal, Terminal, blocked, field(Status, "SigBlk"),
     ignored(Status), descriptors(Run("ls -l /proc/self/fd", Options))}.

field(Status, Name) ->
    [Value] = [V || L <- string:lexemes(Status, "\n"), [N, V | _] <- [string:lexemes(L, ":\t ")], N =:= Name],
    Value.

%% Of those that are looked at.
ignored(Status) ->
    Mask = list_to_integer(field(Status, "SigIgn"), 16),
    [Name || {Name, N} <- [{hup, 1}, {int, 2}, {quit, 3}, {fpe, 8}, {usr1, 10}, {usr2, 12}, {pipe, 13}, {term, 15}, {chld, 17}],
             Mask band (1 bsl (N - 1)) =/= 0].

%% The last is that of ls.
descriptors(Listing) ->
    Words = [string:lexemes(L, " ") || L <- string:lexemes(Listing, "\n")],
    sort([{list_to_integer(N), kind(To)} || W <- Words, [N, "->", To] <- [lists:nthtail(max(0, length(W) - 3), W)]]).

kind("pipe:" ++ _) -> pipe;
kind("/proc/" ++ _) -> folder;
kind("/dev/null") -> null;
kind(_) -> other.

run(What, Options) ->
    P = open_port(What, [exit_status | Options]),
    gather(P, []).

gather(P, Data) ->
    receive
        {P, {data, D}} -> gather(P, [Data, D]);
        {P, {exit_status, 0}} -> binary_to_list(iolist_to_binary(Data))
    after 5000 -> exit({no_end, Data})
    end.

ended(Command) ->
    P = open_port({spawn, Command}, [exit_status]),
    receive {P, {exit_status, S}} -> S after 5000 -> no_end end.

%% expect: executable {own_group,true,own_session,true,terminal,"0",blocked,"0000000000000000",[hup,fpe,pipe],[{0,pipe},{1,pipe},{2,other},{3,folder}]}
%% expect: command {own_group,true,own_session,true,terminal,"0",blocked,"0000000000000000",[hup,fpe,pipe],[{0,pipe},{1,pipe},{2,other},{3,folder}]}
%% expect: in {own_group,true,own_session,true,terminal,"0",blocked,"0000000000000000",[hup,fpe,pipe],[{0,pipe},{1,pipe},{2,other},{3,folder}]}
%% expect: both_outputs {own_group,true,own_session,true,terminal,"0",blocked,"0000000000000000",[hup,fpe,pipe],[{0,pipe},{1,pipe},{2,pipe},{3,folder}]}
%% expect: hidden {own_group,true,own_session,true,terminal,"0",blocked,"0000000000000000",[hup,fpe,pipe],[{0,pipe},{1,pipe},{2,other},{3,folder}]}
%% expect: set [hup,fpe,pipe]
%% expect: cmd [["not ended"],["1","y"],["0022"]]
%% expect: group [143,137,138,11,13]
%% expect: lives
%% expect: ended 0
