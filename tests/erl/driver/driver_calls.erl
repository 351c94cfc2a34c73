%% SPDX-License-Identifier: Apache-2.0
%% Every callback of a driver, and what drivers ask of their ports.
%% expect: {start,27}
%% expect: {outputv,6}
%% expect: {data,"hdbcdef"}
%% expect: {outputv,4}
%% expect: {data,"hdent"}
%% expect: 2001
%% expect: {outputv,2}
%% expect: {data,"hdy"}
%% expect: [{data,"hdxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"},
%% expect:  {data,"xxx"}]
%% expect: [{input,2101},{output,2012},{os_pid,4711}]
%% expect: {start,27}
%% expect: {outputv,6}
%% expect: {data,[104,100|<<"bcdef">>]}
%% expect: {outputv,4}
%% expect: {data,[104,100|<<"ent">>]}
%% expect: 2001
%% expect: {outputv,2}
%% expect: {data,[104,100|<<"y">>]}
%% expect: [{data,[104,100|
%% expect:         <<"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx">>]},
%% expect:  {data,<<"xxx">>}]
%% expect: [{input,2101},{output,2012},{os_pid,4711}]
%% expect: {start,26}
%% expect: {data,"abcdef"}
%% expect: {data,"sent"}
%% expect: 2000
%% expect: {data,"abxy"}
%% expect: [{data,"hdxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"},
%% expect:  {data,"xxx"}]
%% expect: [{input,2099},{output,2012},{os_pid,4711}]
%% expect: {start,26}
%% expect: {data,<<"abcdef">>}
%% expect: {data,<<"sent">>}
%% expect: 2000
%% expect: {data,[97,98|<<"xy">>]}
%% expect: [{data,[104,100|
%% expect:         <<"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx">>]},
%% expect:  {data,<<"xxx">>}]
%% expect: [{input,2099},{output,2012},{os_pid,4711}]
%% expect: {start,30}
%% expect: {data,"abcdef"}
%% expect: {data,"sent"}
%% expect: 2000
%% expect: {data,"abxy"}
%% expect: [{data,"hdxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"},
%% expect:  {data,"xxx"}]
%% expect: [{input,2099},{output,2012},{os_pid,4711}]
%% expect: {start,30}
%% expect: {data,<<"abcdef">>}
%% expect: {data,<<"sent">>}
%% expect: 2000
%% expect: {data,[97,98|<<"xy">>]}
%% expect: [{data,[104,100|
%% expect:         <<"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx">>]},
%% expect:  {data,<<"xxx">>}]
%% expect: [{input,2099},{output,2012},{os_pid,4711}]
%% expect: {start,12}
%% expect: [[],"abc","de"]
%% expect: 1000
%% expect: []
%% expect: {error,badarg}
%% expect: [<<"abc">>,<<"xyz">>,100000,[]]
%% expect: 0 3 3 1 0 set it 6 eacces
%% expect: "set it"
%% expect: 1
%% expect: 10
%% expect: {error,badarg}
%% expect: {start,12}
%% expect: [a,{1,"b",<<"c">>},#{k => 1.5}]
%% expect: true
%% expect: [77,{error,badarg},{error,badarg},{error,badarg}]
%% expect: {error,badarg}
%% expect: {start,12}
%% expect: {ready_output,1}
%% expect: [{written,3},{ready_input,3}]
%% expect: [{written,5},{ready_input,5}]
%% expect: [{written,7},{ready_input,7}]
%% expect: {timeout,1}
%% expect: [{ready_async,1},
%% expect:  {ready_async,2},
%% expect:  {ready_async,3},
%% expect:  {ready_async,4},
%% expect:  {ready_async,5}]
%% expect: {ready_async,6}
%% expect: none
%% expect: {start,15}
%% expect: {ready_output,1}
%% expect: [{written,3},{ready_input,3}]
%% expect: [{written,5},{ready_input,5}]
%% expect: [{written,7},{ready_input,7}]
%% expect: {timeout,1}
%% expect: [{ready_async,1},
%% expect:  {ready_async,2},
%% expect:  {ready_async,3},
%% expect:  {ready_async,4},
%% expect:  {ready_async,5}]
%% expect: {ready_async,6}
%% expect: none
%% expect: {start,12}
%% expect: {"F",{'EXIT',it_failed},undefined}
%% expect: {start,12}
%% expect: {"f",{'EXIT',17},undefined}
%% expect: {start,12}
%% expect: {"x",{'EXIT',enoent},undefined}
%% expect: {start,12}
%% expect: {"E",{'EXIT',normal},undefined}
%% expect: {start,12}
%% expect: {eacces,none}
%% expect: {start,12}
%% expect: {eof,{name,"driver_calls"}}
%% expect: {start,12}
%% expect: 2 3 9 1<>123452 7 1
%% expect: 1 1 2 2 3 1
%% expect: {queue_size,17}
%% expect: {'EXIT',normal}
%% expect: closed
%% expect: {start,12}
%% expect: [{name,"made by a driver"},true,true]
%% expect: 2
%% expect: "to the new one"
%% expect: [{start,20},{timeout,1}]
%% expect: {error,badarg}
%% expect: {start,12}
%% expect: {monitor,0}
%% expect: {true,0}
%% expect: {demonitor,1}
%% expect: [{monitor,0},{demonitor,0}]
%% expect: {start,11}
%% expect: [{data,{eol,"abc"}},{data,{noeol,"defgh"}},{data,{eol,"ij"}}]
%% expect: {data,{eol,"k"}}
%% expect: []
-module(driver_calls).
-export([main/0]).

main() ->
    process_flag(trap_exit, true),
    Dir = filename:dirname(code:which(?MODULE)),
    [ok = erl_ddll:load(Dir, N) || N <- ["driver_calls", "driver_flat", "driver_old_lock", "driver_ack"]],
    [outputs(N) || N <- ["driver_calls", "driver_flat", "driver_old_lock"]],
    controls(),
    calls(),
    [events(N) || N <- ["driver_calls", "driver_old_lock"]],
    failures(),
    queues(),
    made(),
    acks(),
    monitors(),
    lines(),
    [ok = erl_ddll:unload_driver(N) || N <- ["driver_calls", "driver_flat", "driver_old_lock", "driver_ack"]],
    io:format("~p~n", [[N || N <- element(2, erl_ddll:loaded_drivers()), lists:prefix("driver_", N)]]).

open(N, Options) ->
    P = open_port({spawn_driver, N}, Options),
    io:format("~p~n", [next(P)]),
    P.

next(P) ->
    receive
        {P, What, N} -> {What, N};
        {P, What} -> What;
        {'EXIT', P, Why} -> {'EXIT', Why};
        {process_exit, Who, N} -> {process_exit, Who =:= self(), N}
    end.

none(P) ->
    receive
        {P, What, N} -> {What, N};
        {P, What} -> What;
        {'EXIT', P, Why} -> {'EXIT', Why}
    after 0 -> none
    end.

close(P) ->
    unlink(P),
    true = port_close(P),
    receive {'EXIT', P, _} -> ok after 0 -> ok end.

outputs(N) ->
    [begin
         P = open(N ++ " with arguments", Options),
         port_command(P, [<<"abc">>, "def"]),
         io:format("~p~n", [next(P)]),
         if N =:= "driver_calls" -> io:format("~p~n", [next(P)]); true -> ok end,
         P ! {self(), {command, <<"sent">>}},
         io:format("~p~n", [next(P)]),
         if N =:= "driver_calls" -> io:format("~p~n", [next(P)]); true -> ok end,
         port_command(P, binary:copy(<<"0123456789">>, 200)),
         {data, Much} = next(P),
         io:format("~p~n", [iolist_size(Much)]),
         port_control(P, $m, "h"),
         port_command(P, "xy"),
         io:format("~p~n", [next(P)]),
         if N =:= "driver_calls" -> io:format("~p~n", [next(P)]); true -> ok end,
         port_control(P, $o, ""),
         io:format("~p~n", [[next(P), next(P)]]),
         io:format("~p~n", [[erlang:port_info(P, I) || I <- [input, output, os_pid]]]),
         close(P)
     end || Options <- [[], [binary]]].

controls() ->
    P = open("driver_calls", []),
    io:format("~p~n", [[port_control(P, $r, X) || X <- ["", "abc", [<<"d">>, "e"]]]]),
    io:format("~p~n", [length(port_control(P, $r, lists:duplicate(1000, $x)))]),
    io:format("~p~n", [port_control(P, $0, "")]),
    io:format("~p~n", [catch_error(fun() -> port_control(P, $-, "") end)]),
    port_control(P, $B, "1"),
    io:format("~p~n", [[port_control(P, $r, "abc"), port_control(P, $R, "xyz"),
                        byte_size(port_control(P, $R, lists:duplicate(100000, $x))), port_control(P, $0, "")]]),
    port_control(P, $B, "0"),
    io:format("~s~n", [port_control(P, $i, "")]),
    io:format("~p~n", [os:getenv("A_DRIVER_HAS")]),
    io:format("~s~n", [port_control(P, $T, "")]),
    io:format("~s~n", [port_control(P, $s, "")]),
    close(P),
    io:format("~p~n", [catch_error(fun() -> port_control(P, $r, "") end)]).

calls() ->
    P = open("driver_calls", []),
    io:format("~p~n", [[erlang:port_call(P, 0, X) || X <- [a, {1, "b", <<"c">>}, #{k => 1.5}]]]),
    Long = lists:seq(1, 1000),
    io:format("~p~n", [erlang:port_call(P, 0, Long) =:= Long]),
    io:format("~p~n", [[erlang:port_call(P, 1, x), catch_error(fun() -> erlang:port_call(P, 2, x) end),
                        catch_error(fun() -> erlang:port_call(P, 3, x) end),
                        catch_error(fun() -> erlang:port_call(P, -1, x) end)]]),
    io:format("~p~n", [catch_error(fun() -> erlang:port_call(P, 4, x) end)]),
    close(P).

events(N) ->
    P = open(N, []),
    port_control(P, $p, ""),
    io:format("~p~n", [next(P)]),
    [begin port_control(P, $w, lists:duplicate(K, $x)), io:format("~p~n", [[next(P), next(P)]]) end || K <- [3, 5, 7]],
    port_control(P, $t, ""),
    io:format("~p~n", [next(P)]),
    port_control(P, $c, ""),
    port_control(P, $a, ""),
    io:format("~p~n", [[next(P) || _ <- lists:seq(1, 5)]]),
    port_control(P, $A, ""),
    io:format("~p~n", [next(P)]),
    io:format("~p~n", [none(P)]),
    close(P).

failures() ->
    [begin
         P = open("driver_calls", []),
         port_control(P, C, ""),
         io:format("~p~n", [{[C], next(P), erlang:port_info(P)}])
     end || C <- "FfxE"],
    Q = open("driver_calls", []),
    R = erlang:monitor(port, Q),
    port_control(Q, $e, ""),
    receive {'DOWN', R, port, Q, Why} -> io:format("~p~n", [{Why, none(Q)}]) end,
    S = open("driver_calls", [eof]),
    port_control(S, $E, ""),
    io:format("~p~n", [{next(S), erlang:port_info(S, name)}]),
    close(S).

queues() ->
    P = open("driver_calls", []),
    io:format("~s~n", [port_control(P, $q, "12345")]),
    io:format("~s~n", [port_control(P, $l, "")]),
    port_control(P, $m, "q"),
    port_command(P, "left in the queue"),
    io:format("~p~n", [erlang:port_info(P, queue_size)]),
    P ! {self(), close},
    io:format("~p~n", [next(P)]),
    io:format("~p~n", [next(P)]).

made() ->
    P = open("driver_calls", []),
    port_control(P, $P, ""),
    Q = receive {Port, made, 0} -> Port end,
    io:format("~p~n", [[erlang:port_info(Q, name), erlang:port_info(Q, connected) =:= {connected, self()},
                        lists:member(Q, element(2, process_info(self(), links)))]]),
    io:format("~p~n", [erl_ddll:info("driver_calls", port_count)]),
    io:format("~p~n", [port_control(Q, $r, "to the new one")]),
    close(P),
    close(Q).

acks() ->
    Q = open_port({spawn_driver, "driver_ack ack_later"}, []),
    io:format("~p~n", [[next(Q), next(Q)]]),
    close(Q),
    io:format("~p~n", [catch_error(fun() -> open_port({spawn_driver, "driver_ack ack_bad"}, []) end)]).

monitors() ->
    P = open("driver_calls", []),
    Self = self(),
    Pid = spawn(fun() -> port_control(P, $M, ""), Self ! set, receive go -> ok end end),
    io:format("~p~n", [next(P)]),
    receive set -> ok end,
    Pid ! go,
    receive {process_exit, Who, N} -> io:format("~p~n", [{Who =:= Pid, N}]) end,
    port_control(P, $D, ""),
    io:format("~p~n", [next(P)]),
    port_control(P, $M, ""),
    port_control(P, $D, ""),
    io:format("~p~n", [[next(P), next(P)]]),
    close(P).

lines() ->
    P = open("driver_flat", [{line, 5}]),
    port_command(P, "abc\ndefghij\nk"),
    io:format("~p~n", [[next(P), next(P), next(P)]]),
    port_command(P, "\n"),
    io:format("~p~n", [next(P)]),
    close(P).

catch_error(F) -> try F() catch C:R -> {C, R} end.
