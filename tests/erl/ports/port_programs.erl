%% SPDX-License-Identifier: Apache-2.0
%% Programs as ports: commands, framing, ends, names, links, owners, and who may wait.
-module(port_programs).
-export([main/0]).
p(L, X) -> erlang:display({L, X}).
%% What ports tell: the next, as many as that, up to an end; bytes of one of them.
next() -> receive {P, X} when is_port(P) -> X; {'EXIT', P, R} when is_port(P) -> {exit, R} end.
told(N) -> [next() || _ <- lists:seq(1, N)].
rest() -> case next() of {exit, R} -> [{exit, R}]; X -> [X | rest()] end.
got(_, 0) -> [];
got(P, N) -> receive {P, {data, D}} -> D ++ got(P, N - length(D)) end.
left() -> receive X -> [X | left()] after 0 -> [] end.
await_closed(P) -> case erlang:port_info(P) of undefined -> undefined; _ -> erlang:yield(), await_closed(P) end.
join(L) -> join(L, []).
join([{data, A}, {data, B} | T], Acc) when is_list(A), is_list(B) -> join([{data, A ++ B} | T], Acc);
join([H | T], Acc) -> join(T, [H | Acc]);
join([], Acc) -> lists:reverse(Acc).
main() ->
    process_flag(trap_exit, true),
    P = open_port({spawn, "cat"}, []),
    p(name, erlang:port_info(P, name)), p(conn, erlang:port_info(P, connected) =:= {connected, self()}),
    p(par, [begin O = open_port({spawn, "cat"}, L), I = erlang:port_info(O, parallelism), unlink(O), port_close(O), I end ||
        L <- [[], [{parallelism, false}], [{parallelism, true}], [{parallelism, true}, {parallelism, false}]]]),
    p(links, erlang:port_info(P, links) =:= {links, [self()]}),
    p(plinks, lists:member(P, element(2, process_info(self(), links)))),
    p(inlist, lists:member(P, erlang:ports())),
    p(cmd, port_command(P, ["ab", <<"cd">>, $e])), p(got, got(P, 5)),
    P ! {self(), {command, "xyz"}}, p(got, got(P, 3)),
    p(io, [erlang:port_info(P, I) || I <- [input, output, registered_name]]),
    p(foo, catch element(1, element(2, catch erlang:port_info(P, foo)))),
    p(ctl, catch element(1, element(2, catch port_control(P, 1, [])))),
    p(badopt, catch element(1, element(2, catch port_command(P, "a", [foo])))),
    p(force, catch element(1, element(2, catch port_command(P, "a", [force])))),
    p(reg, register(my_port, P)), p(wh, whereis(my_port) =:= P), p(rn, erlang:port_info(P, registered_name)),
    p(cmd, port_command(my_port, "named")), p(got, got(P, 5)),
    my_port ! {self(), {command, "n2"}}, p(got, got(P, 2)),
    p(data, [erlang:port_get_data(P), erlang:port_set_data(P, {a, "b"}), erlang:port_get_data(P)]),
    P ! {self(), close}, p(closed, told(2)), p(wh, whereis(my_port)), p(info, erlang:port_info(P)),
    p(dead, catch element(1, element(2, catch port_command(P, "a")))), p(dead, element(2, P ! {self(), close})),
    p(close2, catch element(1, element(2, catch port_close(P)))),
    Q = open_port({spawn, "sh -c 'echo out; echo err 1>&2; exit 7'"}, [exit_status, stderr_to_stdout, binary, {line, 10}]),
    p(sh, told(4)), p(gone, erlang:port_info(Q)),
    _ = open_port({spawn, "printf 'abcdefghijklmnop\nqr\n\nst'"}, [{line, 5}, eof]), p(lines, told(8)),
    R = open_port({spawn, "cat"}, [{packet, 2}, binary]), port_command(R, <<"hello">>), port_command(R, <<>>), port_command(R, binary:copy(<<"z">>, 3)), p(packets, told(3)),
    p(close, port_close(R)), p(exit, told(1)),
    _ = open_port({spawn_executable, "/bin/echo"}, [{args, ["a b", "c", <<"d">>]}, {arg0, "foo"}]), p(echo, join(rest())),
    _ = open_port({spawn_executable, "/usr/bin/env"}, [{env, [{"IOT_X", "1"}, {"PATH", false}]}, {args, []}]),
    E = lists:append([X || {data, X} <- rest()]), p(env, [lists:member(X, string:lexemes(E, "\n")) || X <- ["IOT_X=1"]]), p(nopath, string:find(E, "\nPATH=")),
    _ = open_port({spawn, "pwd"}, [{cd, "/tmp"}]), p(cd, join(rest())),
    [begin I = open_port({spawn, "sleep 20"}, [in | O]), p(inonly, [port_command(I, Data), next()]) end || {O, Data} <- [{[], "x"}, {[], ""},
        {[{packet, 1}], lists:duplicate(300, $x)}]],
    p(errs, [catch element(1, element(2, catch open_port(N, S))) || {N, S} <- [{{spawn_executable, "/nonexistent"}, []}, {{spawn_executable, "/etc/passwd"}, []}, {{spawn_driver, "nope"}, []}, {{fd, a, b}, []}, {{spawn, "ls"}, [foo]}, {{fd, 0, 1}, [exit_status]}, {{spawn, "ls"}, [{packet, 3}]}, {{spawn, "ls"}, [{args, ["a"]}]}, {{spawn, "ls"}, [{line, 3}, {packet, 2}]}]]),
    S = open_port({spawn, "cat"}, []), Self = self(),
    C = spawn_link(fun() -> receive {S, connected} -> ok after 0 -> ok end, Self ! ready, receive {S, {data, D}} -> Self ! {child, D} end, receive stop -> ok end end),
    receive ready -> ok end,
    p(connect, port_connect(S, C)), unlink(S), port_command(S, "tochild"), receive M -> p(child, M) end,
    C ! stop, receive {'EXIT', C, normal} -> ok end, p(dead, await_closed(S)),
    T = open_port({spawn, "cat"}, []), exit(T, kaput), p(kaput, told(1)),
    U = open_port({spawn, "cat"}, []), Mr = erlang:monitor(port, U), port_close(U), receive {'DOWN', Mr, port, U, Why} -> p(down, Why) end, p(exit, told(1)),
    {V, Vr} = spawn_monitor(fun() -> Self ! open_port({spawn, "cat"}, []), exit(boom) end), receive Vp when is_port(Vp) -> receive {'DOWN', Vr, _, V, _} -> ok end, p(owner, await_closed(Vp)) end,
    W = open_port({spawn, "cat >/dev/null"}, [out]), p(bulk, [port_command(W, binary:copy(<<"0123456789">>, 10000)) || _ <- lists:seq(1, 20)]), port_close(W), p(x, told(1)),
    B = open_port({spawn, "sleep 1000"}, [out]), {os_pid, Sleeper} = erlang:port_info(B, os_pid), p(busy, length([X || X <- [port_command(B, binary:copy(<<"0123456789">>, 10000), [nosuspend]) || _ <- lists:seq(1, 5)], X =:= false]) > 0), port_close(B), p(x, told(1)), os:cmd("kill " ++ integer_to_list(Sleeper)),
    Z = open_port({spawn, "cat"}, [binary]), Big = binary:copy(<<"0123456789">>, 50000), spawn(fun() -> port_command(Z, Big) end), p(echo, rec(Z, 500000, [])=:= Big), port_close(Z), p(x, told(1)), p(left, left()),
    halt(0).
rec(_, 0, A) -> iolist_to_binary(lists:reverse(A));
rec(Z, N, A) -> receive {Z, {data, D}} -> rec(Z, N - byte_size(D), [D | A]) end.

%% expect: {name,{name,"cat"}}
%% expect: {conn,true}
%% expect: {par,[{parallelism,false},{parallelism,false},{parallelism,true},{parallelism,false}]}
%% expect: {links,true}
%% expect: {plinks,true}
%% expect: {inlist,true}
%% expect: {cmd,true}
%% expect: {got,"abcde"}
%% expect: {got,"xyz"}
%% expect: {io,[{input,8},{output,8},[]]}
%% expect: {foo,badarg}
%% expect: {ctl,badarg}
%% expect: {badopt,badarg}
%% expect: {force,notsup}
%% expect: {reg,true}
%% expect: {wh,true}
%% expect: {rn,{registered_name,my_port}}
%% expect: {cmd,true}
%% expect: {got,"named"}
%% expect: {got,"n2"}
%% expect: {data,[undefined,true,{a,"b"}]}
%% expect: {closed,[{exit,normal},closed]}
%% expect: {wh,undefined}
%% expect: {info,undefined}
%% expect: {dead,badarg}
%% expect: {dead,close}
%% expect: {close2,badarg}
%% expect: {sh,[{data,{eol,<<"out">>}},{data,{eol,<<"err">>}},{exit_status,7},{exit,normal}]}
%% expect: {gone,undefined}
%% expect: {lines,[{data,{noeol,"abcde"}},{data,{noeol,"fghij"}},{data,{noeol,"klmno"}},{data,{eol,"p"}},{data,{eol,"qr"}},{data,{eol,[]}},{data,{noeol,"st"}},eof]}
%% expect: {packets,[{data,<<"hello">>},{data,<<>>},{data,<<"zzz">>}]}
%% expect: {close,true}
%% expect: {exit,[{exit,normal}]}
%% expect: {echo,[{data,"a b c d\n"},{exit,normal}]}
%% expect: {env,[true]}
%% expect: {nopath,nomatch}
%% expect: {cd,[{data,"/tmp\n"},{exit,normal}]}
%% expect: {inonly,[true,{exit,ebadf}]}
%% expect: {inonly,[true,{exit,ebadf}]}
%% expect: {inonly,[true,{exit,einval}]}
%% expect: {errs,[enoent,eacces,badarg,badarg,badarg,badarg,badarg,badarg,badarg]}
%% expect: {connect,true}
%% expect: {child,{child,"tochild"}}
%% expect: {dead,undefined}
%% expect: {kaput,[{exit,kaput}]}
%% expect: {down,normal}
%% expect: {exit,[{exit,normal}]}
%% expect: {owner,undefined}
%% expect: {bulk,[true,true,true,true,true,true,true,true,true,true,true,true,true,true,true,true,true,true,true,true]}
%% expect: {x,[{exit,normal}]}
%% expect: {busy,true}
%% expect: {x,[{exit,normal}]}
%% expect: {echo,true}
%% expect: {x,[{exit,normal}]}
%% expect: {left,[]}
