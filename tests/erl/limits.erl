%% SPDX-License-Identifier: Apache-2.0
%% What cannot be had any more is an error of the process that wants it; the others, and the machine, go on.
-module(limits).
-export([main/1]).

main([What | Rest]) ->
    io:format("~p~n", [limit(What, Rest)]),
    true = is_process_alive(whereis(init)),
    halt().

limit(processes, _) ->
    Pids = until_failure(fun() -> spawn(fun wait/0) end, []),
    Error = attempt(fun() -> spawn(fun wait/0) end),
    [exit(P, kill) || P <- Pids],
    [receive {'DOWN', M, _, _, _} -> ok end || M <- [monitor(process, P) || P <- Pids]],
    {length(Pids) > 900, Error, is_pid(spawn(fun wait/0))};
limit(ports, _) ->
    Open = fun() -> open_port({fd, 0, 1}, [out]) end,
    Ports = until_failure(Open, []),
    Error = attempt(Open),
    [port_close(P) || P <- Ports],
    {length(Ports) > 900, Error, is_port(Open())};
limit(tables, _) ->
    Tables = [ets:new(many, []) || _ <- lists:seq(1, 20000)],
    [ets:insert(T, {key, value}) || T <- Tables],
    length([T || T <- Tables, ets:lookup(T, key) =:= [{key, value}]]);
limit(sizes, _) ->
    [attempt(F) || F <- [
        fun() -> 1 bsl id(1 bsl 60) end,
        fun() -> <<0:(id(1 bsl 70))>> end,
        fun() -> list_to_tuple(lists:duplicate(17000000, a)) end,
        fun() -> erlang:make_tuple(1 bsl 40, a) end,
        fun() -> list_to_atom(lists:duplicate(256, $a)) end,
        fun() -> binary_to_atom(binary:copy(<<"a">>, 256)) end]];
%% Functions that foreign bytes name, then those that code chooses: when no more of them are kept, known ones go on,
%% and what is applied is found undefined as ever.
limit(exports, _) ->
    io:format("~p~n", [first]), % what prints must be loaded before
    Foreign = fun(M, F, A) -> binary_to_term(<<131, 113, (atom_bytes(M))/binary, (atom_bytes(F))/binary, 97, A>>) end,
    {Named, NoMore} = count_functions(Foreign, foreign),
    {Chosen, NoneAtAll} = count_functions(fun erlang:make_fun/3, chosen),
    {Named div 100000, NoMore, Chosen div 100000, NoneAtAll, attempt(fun() -> apply(id(unknown_module), id(f), []) end),
     apply(Foreign(lists, reverse, 1), [[1, 2]])};
limit(heap, _) ->
    Limit = #{size => 100000, kill => true, error_logger => false},
    {_, Ref} = spawn_opt(fun() -> grow([]) end, [monitor, {max_heap_size, Limit}]),
    receive {'DOWN', Ref, process, _, Reason} -> Reason end;
%% Least sizes that no machine has; a process whose least size is there is made, and collects.
limit(leasts, _) ->
    None = 1 bsl 39,
    Ask = spawn_request(fun wait/0, [{min_heap_size, None}]),
    P = spawn_opt(fun() -> receive From -> garbage_collect(), From ! {self(), ok} end end, [{min_heap_size, 5000000}]),
    P ! self(),
    {[attempt(F) || F <- [
        fun() -> spawn_opt(fun wait/0, [{min_heap_size, None}]) end,
        fun() -> process_flag(min_heap_size, None) end,
        fun() -> erlang:system_flag(min_heap_size, None) end,
        fun() -> is_pid(spawn_opt(fun wait/0, [{min_bin_vheap_size, None}, {max_heap_size, None}])) end,
        fun() -> is_list(ets:tab2list(ets:new(t, [{keypos, 1 bsl 31 - 1}]))) end,
        fun() -> ets:new(t, [{keypos, 1 bsl 31}]) end,
        fun() -> ets:new(t, [ordered_set, {keypos, 1 bsl 32 + 1}]) end]],
     receive {spawn_reply, Ask, error, Why} -> Why end, receive {P, Answer} -> Answer end};
%% The same asked of another node, which lives on.
limit(remote_leasts, _) ->
    {ok, Vm} = file:read_link("/proc/self/exe"),
    [_, Host] = string:lexemes(atom_to_list(node()), "@"),
    Name = "leasts" ++ os:getpid(),
    Node = list_to_atom(Name ++ "@" ++ Host),
    open_port({spawn_executable, Vm}, [{args, ["-noshell", "-sname", Name]}]),
    true = is_up(Node, 300),
    Ask = spawn_request(Node, erlang, self, [], [{min_heap_size, 1 bsl 39}]),
    Answers = [begin
                   {_, Ref} = spawn_opt(Node, erlang, self, [], [monitor, {min_heap_size, Words}]),
                   receive {'DOWN', Ref, _, _, Why} -> Why end
               end || Words <- [233, 5000000]],
    Result = {attempt(fun() -> spawn_opt(Node, erlang, self, [], [{min_heap_size, 1 bsl 39}]) end),
              receive {spawn_reply, Ask, Error, What} -> {Error, What} end, Answers, rpc:call(Node, erlang, node, []) =:= Node},
    rpc:call(Node, erlang, halt, []),
    Result;
%% A peer's packet that as a list needs more memory than there is ends its connection; the listener takes the next one.
limit(packet, _) ->
    {ok, Listener} = gen_tcp:listen(0, [list, {packet, 4}, {active, false}]),
    {ok, Port} = inet:port(Listener),
    limit_addresses(),
    [begin
         Peer = spawn(fun() -> {ok, S} = gen_tcp:connect("localhost", Port, [{packet, raw}]), send_packet(S, Size), receive stop -> ok end end),
         {ok, Accepted} = gen_tcp:accept(Listener),
         Answer = gen_tcp:recv(Accepted, 0),
         Peer ! stop,
         case Answer of {ok, Received} -> length(Received); Error -> Error end
     end || Size <- [1000, 40000000, 2000]];
%% The same of a program that a port runs; its end is the port's, and the next one is heard.
limit(port_packet, _) ->
    process_flag(trap_exit, true),
    limit_addresses(),
    [begin
         Port = open_port({spawn, "sh -c 'printf \"" ++ lists:flatten([io_lib:format("\\~3.8.0b", [B]) || <<B>> <= <<Size:32>>])
                          ++ "\"; head -c " ++ integer_to_list(Size) ++ " /dev/zero; exec cat'"}, [{packet, 4}]),
         receive {Port, {data, Data}} -> length(Data); {'EXIT', Port, Why} -> Why end
     end || Size <- [1000, 40000000, 2000]];
limit(port_lines, _) ->
    process_flag(trap_exit, true),
    limit_addresses(),
    [begin
         Port = open_port({spawn, "sh -c 'head -c " ++ integer_to_list(Size) ++ " /dev/zero; echo'"}, [{line, 100000000}]),
         receive {Port, {data, {eol, Data}}} -> length(Data); {'EXIT', Port, Why} -> Why end
     end || Size <- [1000, 40000000, 2000]];
%% A connection's number that is too large names none: the connection is still on its way.
limit(connection, _) ->
    Node = list_to_atom("nobody@" ++ hd(tl(string:lexemes(atom_to_list(node()), "@")))),
    Id = {Number, _} = erts_internal:new_connection(Node),
    Aborted = erts_internal:abort_pending_connection(Node, {Number + (1 bsl 32), Node}),
    {Aborted, erts_internal:new_connection(Node) =:= Id, erts_internal:abort_pending_connection(Node, Id),
     erts_internal:new_connection(Node) =:= Id};
%% A megabyte put more often than there is room for, while others read it and keep what they read.
limit(literals, _) ->
    Number = 1 bsl 4000000,
    persistent_term:put(?MODULE, {0, Number}),
    Readers = [spawn_monitor(fun() -> read(persistent_term:get(?MODULE)) end) || _ <- lists:seq(1, 4)],
    [ok = persistent_term:put(?MODULE, {N, Number}) || N <- lists:seq(1, 2400)],
    [Pid ! stop || {Pid, _} <- Readers],
    {lists:usort([receive {'DOWN', Ref, process, _, Reason} -> Reason end || {_, Ref} <- Readers]), persistent_term:erase(?MODULE)};
limit(disk, _) ->
    {ok, Raw} = file:open("/dev/full", [raw, write]),
    {ok, Served} = file:open("/dev/full", [write]),
    {ok, Delayed} = file:open("/dev/full", [write, delayed_write]),
    [file:write(Raw, <<0:80000>>), file:close(Raw), file:write_file("/dev/full", <<"x">>),
     file:write(Served, <<0:80000>>), file:close(Served),
     file:write(Delayed, <<0:80000>>), file:sync(Delayed), file:close(Delayed)];
limit(files, _) -> % run with few file descriptors
    "x\n" = os:cmd("echo x"), % what is wanted then must be loaded before
    Files = until_failure(fun() -> {ok, File} = file:open("/dev/null", [raw, read]), File end, []),
    Errors = [file:read_file("/dev/null"), file:list_dir("/"), file:open("/dev/null", [read]),
              attempt(fun() -> open_port({spawn, "cat"}, []) end), attempt(fun() -> open_port({spawn_executable, "/bin/cat"}, []) end),
              attempt(fun() -> os:cmd("echo x") end)],
    [file:close(File) || File <- Files],
    {length(Files) > 10, Errors, file:read_file("/dev/null"), os:cmd("echo x")};
limit(room, [Directory]) -> % run where 256 kB can be written
    At = fun(Name) -> filename:join(atom_to_list(Directory), Name) end,
    Block = fun(N) -> binary:copy(<<N:32>>, 250) end,
    {ok, Raw} = file:open(At("raw"), [raw, write]),
    Files = [file:write(Raw, binary:copy(<<0>>, 300000)), file:write(Raw, <<"x">>), file:position(Raw, cur), file:close(Raw),
             file:write_file(At("b"), <<0:8000>>), file:copy(At("raw"), At("c")), file:delete(At("raw")), file:delete(At("c"))],
    {ok, Dets} = dets:open_file(limits, [{file, At("dets")}]),
    Inserts = lists:usort([dets:insert(Dets, {N, Block(N)}) || N <- lists:seq(1, 600)]),
    Dets3 = [lists:usort([element(1, E) || E <- Inserts, is_tuple(E)]), is_tuple(dets:close(Dets)), file:delete(At("dets"))],
    {ok, limits_log} = disk_log:open([{name, limits_log}, {file, At("log")}]),
    Logged = [disk_log:log(limits_log, Block(N)) || N <- lists:seq(1, 600)],
    Log = {length([ok || ok <- Logged]) > 100, lists:usort([{A, C} || {error, {A, _, C}} <- Logged]), is_tuple(disk_log:close(limits_log)),
           file:delete(At("log"))},
    Table = ets:new(limits, []),
    true = ets:insert(Table, [{N, Block(N)} || N <- lists:seq(1, 600)]),
    {error, {file_error, _, Ets}} = ets:tab2file(Table, At("tab")),
    {Files, Dets3, Log, Ets, element(1, ets:file2tab(At("tab")))};
limit(atoms, _) ->
    io:format("~p~n", [first]), % what prints must be loaded before
    Error = attempt(fun() -> atoms(0) end),
    {Error, attempt(fun() -> binary_to_term(<<131, 119, 8, "no_such_">>) end), lists:sum([1, 2])}.

read({N, Number}) ->
    {Next, _} = Term = persistent_term:get(?MODULE),
    {true, true} = {Next >= N, Number > 1 bsl 64},
    receive stop -> 1 = Number bsr 4000000, exit(whole)
    after 0 -> read(Term)
    end.

until_failure(F, Done) ->
    case attempt(F) of
        {error, _} -> Done;
        X -> until_failure(F, [X | Done])
    end.

attempt(F) ->
    try F() catch Class:Reason -> {Class, Reason} end.

atoms(N) ->
    _ = list_to_atom("limits_" ++ integer_to_list(N)),
    atoms(N + 1).

grow(L) -> grow([L | L]).
wait() -> receive stop -> ok end.
id(X) -> X.

atom_bytes(Atom) -> Text = atom_to_binary(Atom), <<119, (byte_size(Text)), Text/binary>>.

%% How many functions of a module can be named, and what the next one gives.
count_functions(Make, Module) -> count_functions(Make, Module, 0).

count_functions(Make, Module, N) ->
    Function = list_to_atom("f" ++ integer_to_list(N div 256)),
    case attempt(fun() -> is_function(Make(Module, Function, N rem 256)) end) of
        true -> count_functions(Make, Module, N + 1);
        Error -> {N, Error}
    end.

send_packet(Socket, Size) ->
    Piece = <<0:8000>>,
    gen_tcp:send(Socket, <<Size:32>>),
    [gen_tcp:send(Socket, Piece) || _ <- lists:seq(1, Size, 1000)].

is_up(_, 0) -> false;
is_up(Node, N) -> net_adm:ping(Node) =:= pong orelse (timer:sleep(100) =:= ok andalso is_up(Node, N - 1)).

%% 800 MB more than there are.
limit_addresses() ->
    {ok, Statm} = file:read_file("/proc/self/statm"),
    Bytes = 4096 * binary_to_integer(hd(binary:split(Statm, <<" ">>))) + 800000000,
    "" = os:cmd("prlimit --as=" ++ integer_to_list(Bytes) ++ " --pid " ++ os:getpid()).
