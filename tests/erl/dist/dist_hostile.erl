%% SPDX-License-Identifier: Apache-2.0
-module(dist_hostile).
-export([main/0, victim/0]).
-export([start_link/0, register_node/2, register_node/3, listen_port_please/2, address_please/3, names/1]).

%% A node that hostile peers connect to. Whatever they send, it lives, closes their connections, and has as many
%% processes, ports, descriptors and threads, and as little memory, as before. The peers are plain sockets which know
%% the handshake (OTP, erts/doc, erl_dist_protocol) and what is wrong.

-define(COOKIE, "crumbs").
%% What OTP 25 can do, without and with the atom cache and fragments.
-define(PLAIN, 16#d075f5fbd).
-define(FLAGS, 16#d07df7fbd).
-define(FEW, 23).
-define(MANY, 1009).

main() ->
    Victim = start_victim(),
    [Port] = answer(Victim, "port"),
    rand:seed(exsss, {1, 2, 3}),
    true = talk(Victim, Port, "friend"),
    Before = {_, Memory} = at_rest(Victim),
    Attacks = [{garbage, fun garbage/2}, {half_open, fun half_open/2}, {wrong_cookie, fun wrong_cookie/2},
               {no_message, fun no_message/2}, {bad_header, fun bad_header/2},
               {lying_cache, fun lying_cache/2},
               {endless, fun endless/2}, {many_begun, fun many_begun/2}, {not_reading, fun not_reading/2}],
    [begin
         Result = Attack(Victim, Port),
         io:format("~p ~p ~p~n", [Name, Result, is_as(Before, Victim)])
     end || {Name, Attack} <- Attacks],
    io:format("talks ~p~n", [talk(Victim, Port, "friend")]),
    io:format("memory ~p~n", [await(fun() -> {_, M} = at_rest(Victim), M < Memory + (8 bsl 20) end)]),
    port_command(Victim, "halt\n"),
    io:format("ended ~p~n", [receive {Victim, {exit_status, S}} -> S end]).

%% ---- the victim, and what it is asked

self_program() ->
    {ok, Path} = file:read_link("/proc/self/exe"),
    case filename:basename(Path) of
        "beam" ++ _ -> os:find_executable("erl");
        _ -> Path
    end.

%% It needs no epmd: this module is its epmd_module.
start_victim() ->
    Directory = filename:dirname(code:which(?MODULE)),
    open_port({spawn_executable, self_program()},
              [{args, ["-noshell", "-pa", Directory, "-name", "victim@127.0.0.1", "-setcookie", ?COOKIE,
                       "-start_epmd", "false", "-epmd_module", ?MODULE_STRING, "+zdbbl", "64",
                       "-kernel", "inet_dist_use_interface", "{127,0,0,1}", "logger_level", "none",
                       "-s", ?MODULE_STRING, "victim"]},
               exit_status, {line, 1000}, binary]).

start_link() -> ignore.
register_node(Name, Port) -> register_node(Name, Port, inet).
register_node(_, Port, _) ->
    persistent_term:put(dist_hostile_port, Port),
    {ok, 1}.
listen_port_please(_, _) -> {ok, 0}.
%% The victim may want to answer a peer that is gone, and is not to start a resolver for it.
address_please(_, _, _) -> {error, nxdomain}.
names(_) -> {error, address}.

victim() ->
    spawn(fun() -> register(victim, self()), serve() end).

serve() ->
    case io:get_line("") of
        eof -> halt(3);
        {error, _} -> halt(3);
        Line ->
            io:format("~w.~n", [serve(string:lexemes(Line, " \n"))]),
            serve()
    end.

serve(["port"]) -> [persistent_term:get(dist_hostile_port)];
serve(["rest"]) ->
    erlang:garbage_collect(),
    [erlang:system_info(process_count), erlang:system_info(port_count), entries("fd"), entries("task"),
     erlang:memory(total)];
serve(["nodes"]) -> nodes(connected);
serve(["heard"]) -> receive {heard, What} -> What after 0 -> nothing end;
serve(["fill", Node]) ->
    To = {no_such_name, list_to_atom(Node)},
    register(filler, spawn(fun() -> fill(To, binary:copy(<<0>>, 80021)) end)),
    ok;
serve(["filler"]) ->
    case whereis(filler) of
        undefined -> gone;
        Pid -> process_info(Pid, status)
    end;
serve(["halt"]) -> halt(0).

fill(To, Data) ->
    case erlang:send(To, Data, [noconnect]) of
        ok -> fill(To, Data);
        noconnect -> ok
    end.

entries(Of) ->
    {ok, Names} = file:list_dir_all("/proc/self/" ++ Of),
    length(Names).

answer(Victim, Question) ->
    port_command(Victim, Question ++ "\n"),
    receive
        {Victim, {data, {eol, Line}}} ->
            {ok, Tokens, _} = erl_scan:string(binary_to_list(Line)),
            {ok, Term} = erl_parse:parse_term(Tokens),
            Term;
        {Victim, {exit_status, Status}} -> exit({victim_ended, Status})
    end.

%% When nobody is connected: processes, ports, descriptors, threads; and memory.
at_rest(Victim) ->
    await(fun() -> answer(Victim, "nodes") =:= [] end),
    [Processes, Ports, Descriptors, Threads, Memory] = answer(Victim, "rest"),
    {[Processes, Ports, Descriptors, Threads], Memory}.

%% A thread or two may be there for what takes long.
is_as({[Processes, Ports, Descriptors, Threads], _}, Victim) ->
    await(fun() ->
                  {[Processes2, Ports2, Descriptors2, Threads2], _} = at_rest(Victim),
                  Processes2 =< Processes andalso Ports2 =< Ports andalso Descriptors2 =< Descriptors andalso
                      Threads2 =< Threads + 2
          end).

await(F) ->
    case F() of
        true -> true;
        false -> receive after 20 -> await(F) end
    end.

%% ---- a peer

open(Port) ->
    {ok, S} = gen_tcp:connect({127, 0, 0, 1}, Port, [binary, {active, false}, {packet, 2}, {nodelay, true}]),
    S.

%% As a node of that name. A connection of the name's may not have ended yet, and a slow victim may lose its patience.
connect(Port, Name, Flags) ->
    S = open(Port),
    case join(S, Name, Flags, ?COOKIE) of
        {ok, <<"a", _:16/binary>>} ->
            inet:setopts(S, [{packet, 4}]),
            S;
        _ ->
            gen_tcp:close(S),
            receive after 20 -> connect(Port, Name, Flags) end
    end.

%% What is said to its digest, or before that.
join(S, Name, Flags, Cookie) ->
    Full = list_to_binary([Name, "@127.0.0.1"]),
    _ = gen_tcp:send(S, [<<"N", Flags:64, 1:32, (byte_size(Full)):16>>, Full]),
    case gen_tcp:recv(S, 0) of
        {ok, <<"sok">>} -> join(S, Cookie);
        Other -> Other
    end.

join(S, Cookie) ->
    case gen_tcp:recv(S, 0) of
        {ok, <<"N", _:64, Challenge:32, _/binary>>} ->
            _ = gen_tcp:send(S, [<<"r", 1:32>>, digest(Cookie, Challenge)]),
            gen_tcp:recv(S, 0);
        Other ->
            Other
    end.

digest(Cookie, Challenge) ->
    erlang:md5([Cookie, integer_to_list(Challenge)]).

%% Ticks and what else comes may come before.
is_closed(S) ->
    case gen_tcp:recv(S, 0) of
        {ok, _} -> is_closed(S);
        {error, _} -> gen_tcp:close(S) =:= ok
    end.

%% A message to the victim's process of that name, from a peer that does all right.
talk(Victim, Port, Name) ->
    S = connect(Port, Name, ?PLAIN),
    ok = gen_tcp:send(S, [112, control({6, self(), '', victim}), term_to_binary({heard, Name})]),
    Heard = await(fun() -> answer(Victim, "heard") =:= Name end),
    gen_tcp:close(S),
    Heard.

control(Tuple) ->
    term_to_binary(Tuple).

%% Each runs in a process of its own, ?FEW at a time. Are they all true?
all(N, F) ->
    lists:all(fun(R) -> R end, lists:append([some(I, min(N, I + ?FEW - 1), F) || I <- lists:seq(1, N, ?FEW)])).

some(From, To, F) ->
    Started = [spawn_monitor(fun() -> rand:seed(exsss, {I, 2, 3}), exit({result, F(I)}) end)
               || I <- lists:seq(From, To)],
    [receive {'DOWN', M, process, _, {result, R}} -> R; {'DOWN', M, process, _, R} -> exit(R) end
     || {_, M} <- Started].

%% ---- before the end of the handshake

garbage(_, Port) ->
    all(?MANY, fun(I) -> said(Port, garbage_of(I rem 7)) end).

%% Sent as it is, and nothing after it.
said(Port, Bytes) ->
    S = open(Port),
    inet:setopts(S, [{packet, raw}]),
    _ = gen_tcp:send(S, Bytes),
    _ = gen_tcp:shutdown(S, write),
    is_closed(S).

garbage_of(0) -> rand:bytes(rand:uniform(1000));
garbage_of(1) -> framed(rand:bytes(rand:uniform(1000)));
garbage_of(2) -> framed([$N, rand:bytes(40)]);
garbage_of(3) -> framed(<<"N", ?FLAGS:64, 1:32, 65535:16, "short@127.0.0.1">>);
garbage_of(4) -> framed(<<"N", 0:64, 1:32, 11:16, "a@127.0.0.1">>);
garbage_of(5) -> framed(<<"n", 5:16, 0:32, 255, 254, "@">>);
garbage_of(6) -> [framed(<<"N", ?FLAGS:64, 1:32, 11:16, "a@127.0.0.1">>), framed(rand:bytes(21)), rand:bytes(99)].

framed(Bytes) -> [<<(iolist_size(Bytes)):16>>, Bytes].

%% They say nothing, until the victim loses its patience.
half_open(_, Port) ->
    Sockets = [open(Port) || _ <- lists:seq(1, 101)],
    lists:all(fun is_closed/1, Sockets).

wrong_cookie(Victim, Port) ->
    Refused = all(101, fun(I) -> refused(Port, "crumb" ++ integer_to_list(I)) end),
    [Refused, answer(Victim, "nodes")].

refused(Port, Cookie) ->
    S = open(Port),
    Result = join(S, Cookie, ?FLAGS, Cookie),
    gen_tcp:close(S),
    Result =:= {error, closed}.

%% ---- after it

%% Each of them ends the connection.
ends(Port, Flags, Messages) ->
    all(length(Messages),
        fun(I) ->
                S = connect(Port, "peer" ++ integer_to_list(I), Flags),
                _ = gen_tcp:send(S, lists:nth(I, Messages)),
                is_closed(S)
        end).

no_message(_, Port) ->
    ends(Port, ?PLAIN,
         [<<1>>, <<112>>, <<112, 131>>, <<112, 131, 104, 255>>, <<131>>, <<131, 0, 1, 2>>, rand:bytes(1000),
                [112, rand:bytes(1000)], [112, control([])], [112, control({})], [112, control({99, 1, 2})],
                [112, control({a, b, c})], [112, control({2, '', 17}), control(x)],
                [112, control({1, 1, 2})], [112, control({19, 1, 2, 3})],
                [112, control({29, 1, 2, 3, 4, 5}), control(x)], [112, control({35, 1, 2, 3})],
                [112, <<131, 108, 16#7fffffff:32>>], [112, <<131, 109, 16#ffffffff:32, 1>>],
                [112, <<131, 80, 16#7fffffff:32, 120, 156, 1>>]]).

%% Terms behind headers have no version.
bad_header(_, Port) ->
    ends(Port, ?FLAGS,
         [<<131>>, <<131, 0>>, <<131, 71, 0:64, 0:64>>, <<131, 68, 0>>, <<131, 68, 0, 131>>,
          <<131, 68, 0, 104, 255>>, <<131, 68, 0, 104, 1, 97, 2>>, <<131, 69, 1:64, 0:64, 0>>, <<131, 69, 1>>,
          <<131, 70, 1:64, 1:64, 1>>, <<131, 70, 1:64>>]).

%% Headers with references to atoms that nobody put into the cache, or that are not there.
lying_cache(_, Port) ->
    Send = <<104, 4, 97, 6, 82, 0, 82, 1, 82, 2>>,
    ends(Port, ?FLAGS,
         [<<131, 68>>, <<131, 68, 255>>, <<131, 68, 1>>, <<131, 68, 3, 0, 0, 1, 2, 3, Send/binary, 97, 1>>,
                <<131, 68, 1, 8, 0, 200, "short">>, <<131, 68, 1, 8:4, 8:4, 0, 16#ffff:16, "short">>,
                <<131, 68, 1, 8, 0, 2, 255, 255, Send/binary>>, <<131, 68, 0, 104, 3, 82, 0, 82, 1, 82, 2>>,
                <<131, 68, 2, 16#88, 0, 0, 1, "a", 1, 1, "b", Send/binary, 97, 1>>]).

%% The first says how many there are. OTP 25 allocates for them and ends when it cannot.
fragments() ->
    case filename:basename(self_program()) of
        "erl" -> 1009;
        _ -> 1 bsl 40
    end.

first_of(Id, Count) ->
    <<131, Control/binary>> = control({2, '', 1}),
    <<131, 69, Id:64, Count:64, 0, Control/binary>>.

next_of(Id, Left, Bytes) ->
    <<131, 70, Id:64, Left:64, Bytes/binary>>.

%% Until the victim has enough, or 16 MB are sent. What is held is let go at the end of the connection.
endless(_, Port) ->
    S = connect(Port, "endless", ?FLAGS),
    Count = fragments(),
    _ = gen_tcp:send(S, first_of(1, Count)),
    Piece = binary:copy(<<109>>, 65536),
    _ = [gen_tcp:send(S, next_of(1, Count - I, Piece)) || I <- lists:seq(1, 256)],
    gen_tcp:close(S) =:= ok.

many_begun(_, Port) ->
    S = connect(Port, "begins", ?FLAGS),
    Count = fragments(),
    _ = [gen_tcp:send(S, first_of(I, Count)) || I <- lists:seq(1, 10007)],
    gen_tcp:close(S) =:= ok.

%% Senders wait, so that what waits for the peer is bounded.
not_reading(Victim, Port) ->
    S = connect(Port, "deaf", ?PLAIN),
    Before = lists:last(answer(Victim, "rest")),
    ok = answer(Victim, "fill deaf@127.0.0.1"),
    Waits = await(fun() -> answer(Victim, "filler") =:= {status, suspended} end),
    Bounded = lists:last(answer(Victim, "rest")) < Before + (16 bsl 20),
    gen_tcp:close(S),
    [Waits, Bounded, await(fun() -> answer(Victim, "filler") =:= gone end)].

%% expect: garbage true true
%% expect: half_open true true
%% expect: wrong_cookie [true,[]] true
%% expect: no_message true true
%% expect: bad_header true true
%% expect: lying_cache true true
%% expect: endless true true
%% expect: many_begun true true
%% expect: not_reading [true,true,true] true
%% expect: talks true
%% expect: memory true
%% expect: ended 0
