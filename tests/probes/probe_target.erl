%% SPDX-License-Identifier: Apache-2.0
%% What tests/probes/cases.def counts: each function does its thing 23 times and prints the words that the case names.
-module(probe_target).
-export([spawn/0, exit_signal/0, wake/0, hibernate/0, grow/0, shrink/0, message/0, wait/0, scan/0, timed/0, trapping/0, requests/0, copy/0, collect/0, collect_minor/0, calls/0,
         files/0, crash/0, rest/0, drivers/0, library/0, native/0, ports/0, sockets/0, nodes/0,
         busy/0, flush/0, output_by_fd/0, token/0, advise/0, user/0, numbered/0, traced/0, literals/0, literal/0, own/0,
         unwatched/0, token_of_term/0, lines/0, handle_info/0, output/0, operations/0, lookups/0, loads/0, on_loads/0, purges/0,
         tables/0, locked/0, timers/0, dropped/0]).
-export([child/1, scanner/1, linked/1, watched/1, sender/2, acceptor/1, victim/0, sleeper/0, dozer/1, woken/2, grower/1, shrinker/1, receiver/1, copied/1, taker/1, collector/2, global/1, answerer/1]).

-define(N, 23).
%% Flags that a connection is offered, but for those of headers with atom caches and of fragments: its other end writes
%% plain packets.
-define(PLAIN(Flags), ((Flags) band bnot 16#802000)).

%% Onto standard error, at once.
print(Words) ->
    erlang:display_string(lists:flatten(lists:join(" ", [to_list(W) || W <- Words])) ++ "\n"),
    halt(0).

to_list(P) when is_pid(P) -> pid_to_list(P);
to_list(P) when is_port(P) -> erlang:port_to_list(P);
to_list(L) when is_list(L) -> L;
to_list(I) when is_integer(I) -> integer_to_list(I).

times(0, _) -> ok;
times(N, F) -> F(N), times(N - 1, F).

wait_dead({P, R}) -> receive {'DOWN', R, process, P, _} -> ok end.

spawn() ->
    print([born()]).

child(_) -> exit(probe_reason).

%% The last of them.
born() -> last(fun(N) -> {P, R} = spawn_monitor(?MODULE, child, [N]), wait_dead({P, R}), P end).

%% What the last call returns.
last(F) -> times(?N - 1, F), F(1).

%% Ends the VM by a broken invariant.
crash() ->
    born(),
    halt(abort).

%% Is still there when somebody ends the VM.
rest() ->
    born(),
    erlang:display_string("rests\n"),
    receive never -> ok end.

exit_signal() ->
    Victim = last(fun(_) ->
        {P, R} = spawn_monitor(?MODULE, victim, []),
        exit(P, probe_signal),
        wait_dead({P, R}),
        P
    end),
    print([self(), Victim]).

victim() -> receive never -> ok end.

wake() ->
    P = erlang:spawn(?MODULE, sleeper, []),
    P ! {begin_, self()},
    receive ready -> ok end,
    times(?N, fun(_) -> P ! {ping, self()}, receive pong -> ok end end),
    print([P]).

%% Scheduled once at its start, when its first message waits already, and 23 times in asleep/1.
sleeper() -> asleep(0).
asleep(N) ->
    receive
        {begin_, From} -> From ! ready;
        {ping, From} -> From ! pong
    end,
    asleep(N + 1).

hibernate() ->
    P = erlang:spawn(?MODULE, dozer, [self()]),
    times(?N - 1, fun(_) -> receive dozing -> ok end, P ! wake end),
    receive dozing -> ok end,
    print([P]).

dozer(Parent) -> doze(Parent, 1).
doze(Parent, N) -> Parent ! dozing, erlang:hibernate(?MODULE, woken, [Parent, N]).
woken(Parent, N) -> receive wake -> doze(Parent, N + 1) end.

%% One allocation that no heap of the first size holds.
grow() ->
    {P, R} = spawn_monitor(?MODULE, grower, [self()]),
    receive {sizes, Old, New} -> ok end,
    wait_dead({P, R}),
    print([P, Old, New]).

grower(Parent) ->
    {total_heap_size, Old} = process_info(self(), total_heap_size),
    T = erlang:make_tuple(50000, a),
    true = erlang:garbage_collect(),
    {total_heap_size, New} = process_info(self(), total_heap_size),
    Parent ! {sizes, Old, New},
    50000 = tuple_size(T).

shrink() ->
    {P, R} = spawn_monitor(?MODULE, shrinker, [self()]),
    receive {sizes, Old, New} -> ok end,
    wait_dead({P, R}),
    print([P, Old, New]).

shrinker(Parent) ->
    50000 = tuple_size(erlang:make_tuple(50000, a)),
    {total_heap_size, Old} = process_info(self(), total_heap_size),
    true = erlang:garbage_collect(),
    true = erlang:garbage_collect(),
    {total_heap_size, New} = process_info(self(), total_heap_size),
    Parent ! {sizes, Old, New}.

%% With one scheduler, all are sent before the receiver runs: who sends is of higher priority, as on a busy machine its
%% slice may end between two messages.
message() ->
    P = erlang:spawn(?MODULE, receiver, [self()]),
    process_flag(priority, high),
    times(?N, fun(N) -> P ! {a, b, N} end),
    receive done -> ok end,
    print([P, self()]).

%% Messages that hold a literal: ten words are copied, as many as of no message of the quick start, and four are not.
literals() -> send_all(fun(N) -> {a, {b, c, d}, N, 1, 2, 3, 4, 5, 6} end).

%% A literal alone, which is not copied: a list of one tuple.
literal() -> send_all(fun(_) -> [{a, b}] end).

send_all(Make) ->
    P = erlang:spawn(?MODULE, taker, [self()]),
    times(?N, fun(N) -> P ! Make(N), receive taken -> ok end end),
    print([P]).

%% To oneself: an immediate, and what stays where it is, with a literal in it.
own() ->
    times(?N, fun(N) -> self() ! N, receive N -> ok end, self() ! {own, {b, c, d}, N}, receive {own, _, N} -> ok end end),
    print([self()]).

%% The same, of a sender whose sends nobody looks at.
unwatched() -> literals().

%% The same; prints how long the receiver waited for its turn at least, in nanoseconds.
wait() ->
    P = erlang:spawn(?MODULE, receiver, [self()]),
    process_flag(priority, high),
    times(?N, fun(N) -> P ! {a, b, N} end),
    Sent = erlang:monotonic_time(nanosecond),
    times(100000, fun(_) -> ok end),
    Least = (erlang:monotonic_time(nanosecond) - Sent) * 9 div 10,
    receive done -> ok end,
    print([P, Least]).

%% Each receive goes over ten messages that nobody takes, to the one behind them.
scan() ->
    P = erlang:spawn(?MODULE, scanner, [self()]),
    times(10, fun(N) -> P ! {filler, N} end),
    times(?N, fun(N) -> P ! {wanted, N} end),
    receive done -> ok end,
    print([P]).

scanner(Parent) ->
    wanted(?N),
    Parent ! done.

wanted(0) -> ok;
wanted(N) -> receive {wanted, _} -> wanted(N - 1) end.

%% Messages of timers.
timed() ->
    P = erlang:spawn(?MODULE, receiver, [self()]),
    times(?N, fun(N) -> erlang:send_after(N, P, {a, b, N}) end),
    receive done -> ok end,
    print([P]).

%% Messages that are made of exit signals.
%% Messages to an alias that its process has given up, and one to the process.
dropped() ->
    Self = self(),
    P = erlang:spawn(fun() ->
        Alias = alias(),
        true = unalias(Alias),
        Self ! {alias, Alias},
        receive done -> Self ! done end
    end),
    Alias = receive {alias, A} -> A end,
    times(?N, fun(_) -> Alias ! late end),
    P ! done,
    receive done -> ok end,
    print([P]).

trapping() ->
    Self = self(),
    P = erlang:spawn(fun() ->
        process_flag(trap_exit, true),
        Self ! ready,
        times(?N, fun(_) -> receive {'EXIT', Self, _} -> ok end end),
        Self ! done
    end),
    receive ready -> ok end,
    times(?N, fun(N) -> exit(P, N) end),
    receive done -> ok end,
    print([P]).

%% Calls, whose monitor ends in each; and one of a server that dies of it.
requests() ->
    Self = self(),
    Server = erlang:spawn(fun() -> serve() end),
    Caller = erlang:spawn(fun() ->
        times(?N, fun(N) -> {ok, N} = gen:call(Server, '$gen_call', N, 5000) end),
        Self ! done
    end),
    receive done -> ok end,
    Mortal = erlang:spawn(fun() -> receive _ -> exit(probe_reason) end end),
    Orphan = erlang:spawn(fun() -> (catch gen:call(Mortal, '$gen_call', die, 5000)), Self ! done end),
    receive done -> ok end,
    print([Server, Caller, Orphan]).

serve() ->
    receive {'$gen_call', From, N} -> gen:reply(From, N), serve() end.

%% The same with a sequential token; prints its serials at the last message.
token() ->
    P = erlang:spawn(?MODULE, receiver, [self()]),
    erlang:seq_trace(label, 17),
    times(?N, fun(N) -> P ! {a, b, N} end),
    {serial, {Previous, Current}} = erlang:seq_trace_info(serial),
    erlang:seq_trace(sequential_trace_token, []),
    receive done -> ok end,
    print([P, Previous, Current]).

%% A label that no integer of 32 bits stands for.
token_of_term() ->
    P = erlang:spawn(?MODULE, receiver, [self()]),
    erlang:seq_trace(label, {label, 1}),
    times(?N, fun(N) -> P ! {a, b, N} end),
    {serial, {Previous, Current}} = erlang:seq_trace_info(serial),
    erlang:seq_trace(sequential_trace_token, []),
    receive done -> ok end,
    print([P, Previous, Current]).

receiver(Parent) ->
    times(?N, fun(_) -> receive {a, b, _} -> ok end end),
    Parent ! done.

%% 1009 cells sent are 2018 words; the same list as a spawn's argument takes the cells of the argument list and of its closure as well.
copy() ->
    L = lists:seq(1, 1009),
    Taker = erlang:spawn(?MODULE, taker, [self()]),
    times(?N, fun(_) -> Taker ! L, receive taken -> ok end end),
    print([last(fun(_) -> {P, R} = spawn_monitor(?MODULE, copied, [{L, a, b, c, d}]), wait_dead({P, R}), P end)]).

copied(_) -> ok.

taker(From) ->
    receive _ -> From ! taken end,
    taker(From).

release() -> list_to_integer(erlang:system_info(otp_release)).

%% Each collection gives back a tuple of 1,009 elements, and nine words of the call before it; thirteen of OTP 27's.
collect() -> run_collector(major).
collect_minor() -> run_collector(minor).

run_collector(Type) ->
    P = spawn_opt(?MODULE, collector, [self(), Type], [{min_heap_size, 100000}]),
    receive done -> ok end,
    print([P, 1010 + case release() of Release when Release < 27 -> 9; _ -> 13 end]).

collector(Parent, Type) ->
    times(?N, fun(_) -> 1009 = tuple_size(erlang:make_tuple(1009, a)), erlang:garbage_collect(self(), [{type, Type}]) end),
    Parent ! done,
    receive never -> ok end.

%% The VM announced its drivers when it started.
drivers() -> print([]).

%% The driver of a library: each of its callbacks, and the end of it.
library() ->
    {ok, loaded} = erl_ddll:try_load(directory(), "probe_driver", []),
    {Port, Watched} = last(fun(_) -> use_library() end),
    {ok, pending_driver, Ref} = erl_ddll:try_unload("probe_driver", [{monitor, pending_driver}]),
    receive {'DOWN', Ref, driver, probe_driver, unloaded} -> ok end,
    print([self(), Port, Watched, byte_size(term_to_binary(question))]).

directory() -> os:getenv("BUILD", "build") ++ "/tests/probe_beams".

use_library() ->
    Port = open_port({spawn_driver, "probe_driver"}, []),
    [] = port_control(Port, 17, <<"abc">>),
    [receive {Port, {data, What}} -> ok end || What <- ["output", "input", "timeout", "async"]],
    {P, R} = spawn_monitor(?MODULE, watched, [Port]),
    wait_dead({P, R}),
    receive {Port, {data, "exit"}} -> ok end,
    question = erlang:port_call(Port, 7, question),
    true = port_command(Port, <<"queued">>),
    Port ! {self(), close},
    receive {Port, closed} -> {Port, P} end.

watched(Port) -> [] = port_control(Port, 19, <<>>).

%% The native function of a library.
native() ->
    ok = erlang:load_nif(directory() ++ "/probe_driver", 0),
    times(?N, fun(I) -> I = native(I) end),
    print([self()]).

native(_) -> erlang:nif_error(undef).

%% A connection: what is sent, and what is waited for in vain; and one that is waited for.
sockets() ->
    {ok, L} = prim_inet:open(tcp, inet, stream),
    {ok, Number} = prim_inet:bind(L, {127,0,0,1}, 0),
    ok = prim_inet:listen(L),
    wait_polled(),
    {ok, C} = prim_inet:open(tcp, inet, stream, [{active, false}]),
    {P, R} = spawn_monitor(?MODULE, acceptor, [L]),
    wait_accepting(L),
    ok = prim_inet:connect(C, {127,0,0,1}, Number),
    wait_dead({P, R}),
    last(fun(_) -> prim_inet:send(C, <<"question">>) end),
    last(fun(_) -> {error, timeout} = prim_inet:recv(C, 0, 1) end),
    print([self(), C, L, byte_size(<<"question">>) + reference_bytes(release(), C)]).

%% From OTP 27 on what is sent begins with the reference that its answer has, in front of which stand two bytes of its size.
reference_bytes(Release, _) when Release < 27 -> 0;
reference_bytes(_, Port) -> 2 + byte_size(term_to_binary(monitor(port, Port), [local])).

%% What polls for ports has seen that of a socket which does not listen yet nothing comes; before it has, it may tell of input
%% that there is not, and what is counted is one input.
wait_polled() ->
    P = open_port({spawn_executable, "/bin/true"}, [exit_status]),
    receive {P, {exit_status, 0}} -> ok end.

%% The connection outlives it.
acceptor(L) -> {ok, S} = prim_inet:accept(L), unlink(S).

wait_accepting(L) ->
    case prim_inet:getstatus(L) of
        {ok, [accepting | _]} -> ok;
        _ -> receive after 1 -> wait_accepting(L) end
    end.

%% The VM is a node, and its net_kernel is this process. The other node is the end of a connection that it reads itself.
nodes() ->
    true = register(net_kernel, self()),
    true = erlang:setnode('probe@here', 1),
    {ok, L} = prim_inet:open(tcp, inet, stream, [{packet, 4}]),
    {ok, Number} = prim_inet:bind(L, {127,0,0,1}, 0),
    ok = prim_inet:listen(L),
    {ok, C} = prim_inet:open(tcp, inet, stream, [{active, false}, {packet, 4}]),
    Self = self(),
    {P, R} = spawn_monitor(fun() -> {ok, S} = prim_inet:accept(L), unlink(S), prim_inet:setopts(S, [{active, false}]),
                                    erlang:port_connect(S, Self), unlink(S), exit({socket, S}) end),
    wait_accepting(L),
    ok = prim_inet:connect(C, {127,0,0,1}, Number),
    {socket, Other} = receive {'DOWN', R, process, P, Reason} -> Reason end,
    _ = erts_internal:new_connection('probe@there'),
    _ = erlang:setnode('probe@there', C, {?PLAIN(element(2, erts_internal:get_dflags())) bor 1, 7}),
    receive {dist_ctrlr, C, 'probe@there', Self} -> ok end,
    Remote = binary_to_term(<<131, 88, 119, 11, "probe@there", 0:32, 9:32, 7:32>>, []),
    last(fun(_) -> {name, 'probe@there'} ! {a, b}, {ok, _} = prim_inet:recv(Other, 0) end),
    last(fun(_) -> exit(Remote, probe_reason), {ok, _} = prim_inet:recv(Other, 0) end),
    Big = binary:copy(<<"x">>, 1 bsl 20),
    {P2, R2} = spawn_monitor(fun() -> last(fun(_) -> Remote ! Big end) end),
    last(fun(_) -> {ok, _} = prim_inet:recv(Other, 0) end),
    wait_dead({P2, R2}),
    ok = prim_inet:setopts(C, [{active, true}, {deliver, port}]),
    Message = [112, term_to_binary({6, Remote, '', net_kernel}, [{minor_version, 1}]), term_to_binary(hello, [{minor_version, 1}])], % REG_SEND
    last(fun(_) -> ok = prim_inet:send(Other, Message), receive hello -> ok end end),
    print([self(), C, P2, Remote]).

%% A connection that a driver without outputv carries.
output() ->
    true = register(net_kernel, self()),
    true = erlang:setnode('probe@here', 1),
    {ok, loaded} = erl_ddll:try_load(directory(), "probe_driver", []),
    Port = open_port({spawn_driver, "probe_driver"}, []),
    _ = erts_internal:new_connection('probe@there'),
    Self = self(),
    _ = erlang:setnode('probe@there', Port, {?PLAIN(element(2, erts_internal:get_dflags())) bor 1, 7}),
    receive {dist_ctrlr, Port, 'probe@there', Self} -> ok end,
    last(fun(_) -> {name, 'probe@there'} ! {a, b}, receive after 3 -> ok end end),
    print([Port]).

%% A port of a program that answers each byte with the same byte.
ports() ->
    {Port, Linked} = last(fun(_) -> use_port() end),
    print([self(), Port, Linked]).

use_port() ->
    Port = open_port({spawn, "cat"}, [binary]),
    Port ! {self(), {command, <<"x">>}},
    receive {Port, {data, <<"x">>}} -> ok end,
    Port ! {self(), {connect, self()}},
    receive {Port, connected} -> ok end,
    {P, R} = spawn_monitor(?MODULE, linked, [Port]),
    wait_dead({P, R}),
    {'EXIT', {badarg, _}} = (catch port_control(Port, 7, <<"abc">>)),
    Port ! {self(), close},
    receive {Port, closed} -> {Port, P} end.

linked(Port) -> link(Port).

%% What a pipe holds, and so much more that the port is busy, before anybody reads: then the rest is written at once.
busy() ->
    Go = "/tmp/probe_target." ++ os:getpid(),
    Wait = "while [ ! -e " ++ Go ++ " ]; do sleep 0.01; done; cat > /dev/null",
    Port = open_port({spawn_executable, "/bin/sh"}, [{args, ["-c", Wait]}, binary]),
    {P, R} = spawn_monitor(?MODULE, sender, [Port, binary:copy(<<"x">>, 65536 + 16384)]),
    wait_queued(Port, 16384),
    ok = prim_file:write_file(Go, <<>>),
    wait_dead({P, R}),
    ok = prim_file:delete(Go),
    print([Port, P, self()]).

%% The second command waits.
sender(Port, Data) -> [true, true] = [port_command(Port, D) || D <- [Data, <<"x">>]].

wait_queued(Port, Bytes) ->
    case erlang:port_info(Port, queue_size) of
        {queue_size, Bytes} -> ok;
        {queue_size, _} -> erlang:yield(), wait_queued(Port, Bytes)
    end.

%% A port of a FIFO that is closed while there is something left to write, which its thread does as soon as somebody has read.
flush() ->
    Fifo = "/tmp/probe_target." ++ os:getpid(),
    Maker = open_port({spawn, "mkfifo " ++ Fifo}, [exit_status]),
    receive {Maker, {exit_status, 0}} -> ok end,
    {ok, File} = prim_file:open(Fifo, [read, write, raw, binary]),
    ok = prim_file:delete(Fifo),
    <<Fd:32/native>> = prim_file:get_handle(File),
    Port = open_port({fd, Fd, Fd}, [out, binary]),
    true = port_command(Port, binary:copy(<<"x">>, 65536 + 1)),
    Port ! {self(), close},
    {ok, <<"x", _/binary>>} = prim_file:read(File, 65536),
    receive {Port, closed} -> ok end,
    print([Port, self(), integer_to_list(Fd) ++ "/" ++ integer_to_list(Fd)]).

%% A thread writes; the port is closed when it has.
output_by_fd() ->
    Last = last(fun(_) ->
        Port = open_port({fd, 2, 2}, [out, binary]),
        Port ! {self(), {command, <<" ">>}},
        Port ! {self(), close},
        receive {Port, closed} -> Port end
    end),
    print([self(), Last]).

calls() ->
    times(?N, fun(N) -> N = local(N) - 1 end),
    <<>> = bytes(binary:copy(<<"x">>, ?N - 1)),
    times(?N, fun(N) -> N = ?MODULE:global(N) - 1 end),
    times(?N, fun(N) -> 16 = byte_size(erlang:md5(<<N>>)) end),
    print([self()]).

local(N) -> 1 + hide(N).
hide(N) -> N.
bytes(<<$x, R/binary>>) -> bytes(R); % passes over many bytes at once while nobody watches calls
bytes(R) -> R.
global(N) -> N + 1.

files() ->
    erlang:dt_put_tag(<<"probe tag">>),
    times(?N, fun(_) -> {error, enoent} = prim_file:rename("/nonexistent/old", "/nonexistent/new") end),
    print([self()]).

%% The operation with the most numbers.
advise() ->
    {ok, File} = prim_file:open("/dev/zero", [read, raw, binary]),
    <<Fd:32/native>> = prim_file:get_handle(File),
    times(?N, fun(_) -> prim_file:advise(File, 17, 19, sequential) end),
    print([Fd]).

%% Each line is read anew, as nothing is read ahead that has one.
lines() ->
    {ok, File} = prim_file:open("/dev/zero", [read, raw, binary]),
    {ok, _} = prim_file:read(File, 17),
    Name = lines_file(),
    {ok, Lines} = prim_file:open(Name, [read, raw, binary]),
    ok = prim_file:delete(Name),
    <<Fd:32/native>> = prim_file:get_handle(Lines),
    times(?N, fun(_) -> {ok, <<_:255/binary, "\n">>} = prim_file:read_line(Lines) end),
    times(?N, fun(_) -> {ok, _} = prim_file:read_file_info("/dev/zero") end),
    print([Fd, self()]).

%% Of lines of 256 bytes.
lines_file() ->
    Name = directory() ++ "/probe_lines_" ++ os:getpid(),
    ok = prim_file:write_file(Name, [[lists:duplicate(255, $x), $\n] || _ <- lists:seq(1, ?N)]),
    Name.

handle_info() ->
    {ok, File} = prim_file:open("/dev/zero", [read, raw, binary]),
    <<Fd:32/native>> = prim_file:get_handle(File),
    times(?N, fun(_) -> {ok, _} = prim_file:read_handle_info(File) end),
    print([Fd]).

%% Every operation that another function does not do; those on paths fail, and are told all the same. Writing what is known
%% of a file writes its owner and its times too.
operations() ->
    {ok, File} = prim_file:open("/dev/zero", [read, write, raw, binary]),
    <<Fd:32/native>> = prim_file:get_handle(File),
    Folder = directory() ++ "/probe_folder_" ++ os:getpid(),
    ok = prim_file:make_dir(Folder),
    Mode = setelement(8, erlang:make_tuple(14, undefined, [{1, file_info}]), 8#640),
    Times = setelement(7, setelement(6, setelement(5, setelement(8, Mode, undefined), 17), 19), 23),
    times(?N, fun(_) ->
        [on_file(F, File) || F <- [fun(H) -> prim_file:read(H, 17) end, fun(H) -> prim_file:position(H, {cur, 5}) end,
                                   fun(H) -> prim_file:write(H, <<"abc">>) end, fun prim_file:sync/1, fun prim_file:datasync/1,
                                   fun prim_file:truncate/1, fun(H) -> prim_file:pwrite(H, 29, <<"four">>) end,
                                   fun(H) -> prim_file:pread(H, 31, 37) end,
                                   fun(H) -> prim_file:ipread_s32bu_p32bu(H, 41, 43) end,
                                   fun(H) -> prim_file:allocate(H, 47, 53) end]],
        {ok, Other} = prim_file:open("/dev/null", [write, raw]),
        ok = prim_file:close(Other),
        {ok, _} = prim_file:file_desc_to_ref(Fd, [raw]),
        {ok, _} = prim_file:get_cwd(),
        [{error, enoent} = F("/nonexistent/" ++ Name)
         || {Name, F} <- [{"readdir", fun prim_file:list_dir/1}, {"chdir", fun prim_file:set_cwd/1},
                          {"mkdir", fun prim_file:make_dir/1}, {"delete", fun prim_file:delete/1},
                          {"rmdir", fun prim_file:del_dir/1}, {"read_file", fun prim_file:read_file/1},
                          {"lstat", fun prim_file:read_link_info/1}, {"readlink", fun prim_file:read_link/1},
                          {"link", fun(Path) -> prim_file:make_link(Path, "/nonexistent/new") end},
                          {"symlink", fun(Path) -> prim_file:make_symlink("target", Path) end}]],
        ok = prim_file:write_file_info(Folder, Times, [{time, posix}]),
        ok = prim_file:write_file_info(Folder, Mode),
        {error, enotsup} = prim_file:altname("/nonexistent/altname")
    end),
    ok = prim_file:del_dir(Folder),
    print([Fd, self()]).

%% Each kind of operation on a table: 23 objects, of which a pattern fits 19, and 20,011 that are looked at in more than one
%% time slice; the last of a kind is told.
tables() ->
    T = ets:new(probe_table, [bag, public]),
    Large = ets:new(probe_large, [public]),
    true = ets:insert(Large, [{N} || N <- lists:seq(1, 20011)]),
    times(?N, fun(N) -> true = ets:insert(T, {N, probe, N}) end),
    times(?N, fun(_) -> [{17, probe, 17}] = ets:lookup(T, 17) end),
    times(?N, fun(_) -> 19 = length(ets:select(T, [{{'$1', probe, '_'}, [{'=<', '$1', 19}], ['$1']}])) end),
    times(?N, fun(_) -> 1 = ets:select_count(Large, [{{'$1'}, [{'=:=', '$1', 13}], [true]}]) end),
    times(?N, fun(_) -> First = ets:first(T), true = First =/= ets:next(T, First) end),
    times(?N, fun(_) -> 20011 = ets:info(Large, size) end),
    times(?N, fun(_) -> {'EXIT', _} = catch ets:update_counter(T, 17, 1) end),
    times(?N, fun(N) -> true = ets:delete(T, N) end),
    times(?N, fun(_) -> true = ets:delete_all_objects(T), true = ets:delete(ets:new(probe_short, [])) end),
    print([self()]).

%% Timers that fire, for a process and for nobody; that are cancelled in time, and too late; whose process ends; and one that
%% was due before.
timers() ->
    P = erlang:spawn(?MODULE, receiver, [self()]),
    V = erlang:spawn(?MODULE, victim, []),
    times(?N, fun(N) -> erlang:send_after(3, P, {a, b, N}) end),
    receive done -> ok end,
    times(?N, fun(_) -> true = is_integer(erlang:cancel_timer(erlang:start_timer(60000, self(), late))) end),
    times(?N, fun(_) -> erlang:send_after(1, nobody_there, {a, b}) end),
    times(?N, fun(_) -> erlang:send_after(60000, V, {a, b}) end),
    R = monitor(process, V),
    exit(V, kill),
    wait_dead({V, R}),
    false = erlang:cancel_timer(erlang:send_after(60000, V, {a, b})),
    Last = erlang:start_timer(erlang:monotonic_time(millisecond) - 1, self(), over, [{abs, true}]),
    receive {timeout, Last, over} -> ok end,
    times(?N, fun(_) -> false = erlang:cancel_timer(Last) end),
    receive after 5 -> ok end,
    print([self(), P, V]).

%% A list is inserted under the table's lock, with the scheduler lent; who looks up meanwhile waits.
locked() ->
    T = ets:new(probe_locked, [public]),
    {P, R} = spawn_monitor(fun() -> true = ets:insert(T, [{N} || N <- lists:seq(1, 300000)]) end),
    find(T, 7),
    wait_dead({P, R}),
    print([self()]).

find(T, Key) ->
    case ets:lookup(T, Key) of
        [] -> receive after 1 -> find(T, Key) end;
        [_] -> ok
    end.

%% A device may refuse it.
on_file(F, File) -> F(File).

%% Numbers beyond 64 bits, atoms and what is too long are not told.
user() ->
    Long = binary:copy(<<"x">>, 1025),
    times(?N, fun(_) ->
        true = dyntrace:user_trace_s1(["probe ", <<"message">>]),
        true = dyntrace:user_trace_i4s4(<<"probe tag">>, 1, 2, 1 bsl 64, 1 bsl 62, "probe text", "second", Long, [<<"fou">>, "rth"])
    end),
    badarg = dyntrace:user_trace_s1(Long),
    badarg = dyntrace:user_trace_s1(undef),
    print([self()]).

%% Each of the numbered probes once.
numbered() ->
    Watched = [N || N <- lists:seq(0, 950), dyntrace:user_trace_n(N, <<"tag">>, N, undef, undef, -N, "text", undef, undef, "last")],
    [badarg] = lists:usort([dyntrace:user_trace_n(N, undef, 0, 0, 0, 0, "", "", "", "") || N <- [-1, 951, 1 bsl 64, n]]),
    print([self(), length(Watched)]).

%% Another process is traced by dyntrace (which erlang:trace/3 would load, by a code server), and takes and sends messages; some with a sequential token.
traced() ->
    P = erlang:spawn(?MODULE, answerer, [self()]),
    1 = erts_internal:trace(P, true, [send, 'receive', {tracer, dyntrace, probe_state}]),
    {tracer, {dyntrace, probe_state}} = erlang:trace_info(P, tracer),
    times(?N, fun(_) -> P ! probe_message, receive probe_answer -> ok end end),
    1 = erts_internal:trace(P, false, [all]),
    false = erlang:system_flag(sequential_tracer, {dyntrace, probe_state}),
    erlang:seq_trace(label, 17),
    erlang:seq_trace(send, true),
    times(?N, fun(_) -> self() ! probe_token end),
    erlang:seq_trace(sequential_trace_token, []),
    {dyntrace, probe_state} = erlang:system_flag(sequential_tracer, false),
    Self = pid_to_list(self()),
    print([P, self(), ["{send,{0,", integer_to_list(?N), "},", Self, ",", Self, ",probe_token}"]]).

answerer(To) ->
    receive probe_message -> To ! probe_answer end,
    answerer(To).

%% Asks a code server of its own for modules, of which it finds one. The library is loaded before: there is no other
%% server in a quick start.
lookups() ->
    [M:module_info() || M <- [code, code_server, lists, error_handler]],
    register(code_server, erlang:spawn(fun() -> answer_lookups() end)),
    persistent_term:put(code_server, interactive), % what the server of OTP 26 and later tells of itself
    times(?N, fun(_) -> {error, nofile} = code:ensure_loaded(probe_missing) end),
    times(19, fun(_) -> {module, probe_there} = code:ensure_loaded(probe_there) end),
    print([self()]).

answer_lookups() ->
    receive
        {code_call, From, {_, probe_missing}} -> From ! {code_server, {error, nofile}};
        {code_call, From, {_, probe_there}} -> From ! {code_server, {module, probe_there}}
    end,
    answer_lookups().

%% Takes the name of who may purge, as all that load.
loads() ->
    {ok, M, Code} = compile:forms([{attribute, 1, module, probe_loaded}]),
    register(erts_code_purger, self()),
    times(?N, fun(_) ->
        ok = erlang:finish_loading([erlang:prepare_loading(M, Code)]),
        unload(M)
    end),
    print([self()]).

unload(M) ->
    true = erlang:delete_module(M),
    true = erts_internal:purge_module(M, prepare),
    true = erts_internal:purge_module(M, complete).

on_loads() ->
    {ok, M, Code} = compile:forms([{attribute, 1, module, probe_on_load}, {attribute, 1, on_load, {begin_, 0}},
                                   {function, 1, begin_, 0, [{clause, 1, [], [], [{atom, 1, ok}]}]}]),
    register(erts_code_purger, self()),
    times(?N, fun(_) ->
        {on_load, [M]} = erlang:finish_loading([erlang:prepare_loading(M, Code)]),
        ok = erlang:call_on_load_function(M),
        true = erlang:finish_after_on_load(M, true),
        unload(M)
    end),
    print([self()]).

%% Each time a process waits in the old code, and is killed; one purge is given up before that, and begins again.
purges() ->
    Wait = {'receive', 1, [{clause, 1, [{atom, 1, stop}], [], [{atom, 1, ok}]}]},
    {ok, M, Code} = compile:forms([{attribute, 1, module, probe_old}, {attribute, 1, export, [{wait, 0}]},
                                   {function, 1, wait, 0, [{clause, 1, [], [], [Wait]}]}]),
    register(erts_code_purger, self()),
    print([self(), last(fun(N) ->
        ok = erlang:finish_loading([erlang:prepare_loading(M, Code)]),
        {P, R} = spawn_monitor(M, wait, []),
        wait_waiting(P),
        true = erlang:delete_module(M),
        [false = erts_internal:purge_module(M, abort) || N =:= 2, erts_internal:purge_module(M, prepare)],
        true = erts_internal:purge_module(M, prepare),
        true = erlang:check_process_code(P, M),
        exit(P, kill),
        wait_dead({P, R}),
        true = erts_internal:purge_module(M, complete),
        P
    end)]).

wait_waiting(P) ->
    case process_info(P, status) of
        {status, waiting} -> ok;
        _ -> erlang:yield(), wait_waiting(P)
    end.
