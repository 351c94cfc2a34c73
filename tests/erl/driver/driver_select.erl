%% SPDX-License-Identifier: Apache-2.0
%% Ports of one driver that wait for a descriptor in turn, each told while it is its own; one that is closed, by whomever,
%% and opened again with the same number; what is given up in parts; a port that is killed with bytes in its queue.
%% expect: [input,none]
%% expect: [none,input]
%% expect: [input,none]
%% expect: [[input,none],[input,none],[input,none]]
%% expect: [output,none]
%% expect: [output,none]
%% expect: {killed,1}
-module(driver_select).
-export([main/0]).

main() ->
    process_flag(trap_exit, true),
    ok = erl_ddll:load(filename:dirname(code:which(?MODULE)), "driver_select"),
    [A, B] = Both = [open_port({spawn, "driver_select"}, []) || _ <- [a, b]],
    act(A, "osw"),
    show(told(Both)),
    act(A, "d"),
    act(B, "sw"),
    show(told(Both)),
    act(B, "d"),
    act(A, "s"),
    act(B, "x"),   % B had it before A: what it closes is not A's any more
    act(A, "osw"), % with the numbers that the pipe had before
    show(told(Both)),
    act(A, "d"),
    act(B, "w"),
    quiet(),
    act(A, "x"),
    show([begin act(A, "orw"), Told = told(Both), act(A, "c"), Told end || _ <- [1, 2, 3]]),
    act(A, "ob"),
    show(told(Both)),
    act(A, "a"),
    show(told(Both)),
    act(B, "q"),
    exit(B, kill),
    receive {'EXIT', B, Reason} -> show({Reason, stops(A, 100)}) end,
    port_close(A).

%% Each of these commands answers 0.
act(Port, Commands) -> [[0] = port_control(Port, C, []) || C <- Commands].

%% What each is told; one of them is, and once.
told(Ports) ->
    receive {Port, What} -> quiet(), [case Port of P -> What; _ -> none end || P <- Ports]
    after 5000 -> nothing
    end.

quiet() -> receive More -> show({more, More}) after 100 -> ok end.

%% stop may come a moment after the exit is told.
stops(Port, Left) ->
    case port_control(Port, $?, []) of
        [0] when Left > 0 -> timer:sleep(10), stops(Port, Left - 1);
        [N] -> N
    end.

show(T) -> io:format("~0p~n", [T]).
