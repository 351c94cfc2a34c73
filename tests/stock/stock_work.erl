%% SPDX-License-Identifier: Apache-2.0
%% Work whose events are counted from outside, held against what it says it did.
%%   stock_work:start([Kind, Dir])   says "ready", waits for the file Dir/go, works, prints a line of JSON for each thing that
%%                                   must be counted, then "done", and lives on
%% A line: {"table":T,"where":{member:text, "..*": a prefix, "*..": an end},"member":M or null (count the rows),"expect":N, "least":N or "most":N}.
%% Waiting and printing make no process, send no message, and look at no file but Dir/go.
-module(stock_work).
-include_lib("kernel/include/file.hrl").
-export([start/1]).
-export([burn/1]).
-export([by_spawn/1, by_link/1, by_monitor/1, by_opt/1, by_opt_both/1, by_request/1, by_proc_lib/1]).
-export([sink/0, sink_alias/1, init/1, handle_call/3, handle_cast/2]).
-export([send_lists/2, take_lists/1, nap/1]).
-export([peer/0, start_link/0, register_node/3, address_please/3, port_please/2, listen_port_please/2]).

-define(DEADLINE, 30000).

start([Kind, Dir0]) ->
    Dir = atom_to_list(Dir0),
    process_flag(trap_exit, true),
    [{module, M} = code:ensure_loaded(M) || M <- [gen_server, gen, proc_lib, re, erl_scan, io_lib, io_lib_format, maps, binary,
                                                     gen_tcp, inet_tcp, gen_udp, inet_udp, inet, inet_db, prim_inet]],
    Work = prepare(Kind, Dir),
    display("ready"),
    await_file(filename:join(Dir, "go")),
    Told = Work(),
    [display(L) || L <- Told ++ [expect("lost", [], "count", 0)]],
    display("done"),
    receive never -> ok end.

display(Line) -> erlang:display_string(Line ++ "\n").

await_file(File) ->
    case prim_file:read_file_info(File) of
        {ok, _} -> ok;
        {error, _} -> receive after 20 -> await_file(File) end
    end.

prepare(spawns, _) -> fun spawns/0;
prepare(messages, _) -> prepare_messages();
prepare(calls, _) -> prepare_calls();
prepare(upgrade, Dir) -> prepare_upgrade(Dir);
prepare(files, Dir) -> prepare_files(Dir);
prepare(ports, _) -> prepare_ports(fun told_ports/0);
prepare(drivers, _) -> prepare_ports(fun told_drivers/0);
prepare(sockets, _) -> prepare_sockets();
prepare(dist, Dir) -> prepare_dist(Dir);
prepare(natives, Dir) -> prepare_natives(Dir);
prepare(code, _) -> prepare_code();
prepare(tables, _) -> fun work_tables/0;
prepare(timers, _) -> fun work_timers/0;
prepare(exits, _) -> fun exits/0;
prepare(collections, _) -> fun collections/0;
prepare(copies, _) -> prepare_lists(fun told_copies/0);
prepare(lists, _) -> prepare_lists(fun told_lists/0);
prepare(mailboxes, _) -> prepare_lists(fun told_mailboxes/0);
prepare(requests, _) -> prepare_requests();
prepare(slices, _) -> fun slices/0;
prepare(user, _) -> fun tell_user/0;
prepare(stacks_spawn, _) -> prepare_stacks(fun() -> make(22) end, [told_stack([mfa(?MODULE, make, 1), "erlang:spawn/1"], 22)]);
prepare(stacks_send, _) -> prepare_stacks(fun() -> tell(spawn(?MODULE, sink, []), 1009) end, [told_stack([mfa(?MODULE, act, 1), mfa(?MODULE, tell, 2)], 1009)]);
prepare(stacks_file, Dir) -> prepare_stacks(fun() -> look(Dir, 29) end, [expect_stack("stacks_actor;*", 29), told_function(look, 2)]);
prepare(stacks_off, _) -> prepare_stacks(fun() -> nap(7) end, [expect_stack("*;" ++ mfa(?MODULE, nap, 1), 7)]);
prepare(stacks_cpu, _) -> prepare_stacks(fun burn/0, [told_function(burn, 1)]).

%% ---- what is told

expect(Table, Where, Member, N) -> line(Table, Where, Member, "expect", N).
least(Table, Where, Member, N) -> line(Table, Where, Member, "least", N).
most(Table, Where, Member, N) -> line(Table, Where, Member, "most", N).

line(Table, Where, Member, How, N) ->
    "{\"table\":" ++ json(Table) ++ ",\"where\":{" ++ lists:append(lists:join(",", [json(K) ++ ":" ++ json(V) || {K, V} <- Where]))
        ++ "},\"member\":" ++ member(Member) ++ ",\"" ++ How ++ "\":" ++ integer_to_list(N) ++ "}".

member(null) -> "null";
member(M) -> json(M).

json(Text) -> "\"" ++ lists:flatmap(fun json_char/1, Text) ++ "\"".

json_char(C) when C >= 32, C < 127, C =/= $", C =/= $\\ -> [C];
json_char(C) when C < 16#10000 -> lists:flatten(io_lib:format("\\u~4.16.0b", [C])).

repeat(N, Fun) -> [Fun(I) || I <- lists:seq(1, N)].

mfa(Module, Function, Arity) -> name(Module) ++ ":" ++ name(Function) ++ "/" ++ integer_to_list(Arity).

%% An atom, quoted when it is not plain.
name(Atom) ->
    Text = atom_to_list(Atom),
    case re:run(Text, "^[a-z][a-zA-Z0-9_@]*\\z", [unicode]) =/= nomatch andalso not erl_scan:reserved_word(Atom) of
        true -> Text;
        false -> "'" ++ lists:flatmap(fun(C) when C =:= $'; C =:= $\\ -> [$\\, C]; (C) -> [C] end, Text) ++ "'"
    end.

%% ---- births and deaths: {how many, how, initial call, argument, reason as it is shown}

lives() ->
    [{23, fun spawn/3, by_spawn, normal, "normal"},
     {29, fun spawn_link/3, by_link, {shutdown, x}, "{shutdown,...}"},
     {31, fun spawn_monitor/3, by_monitor, error, "{badarith,...}"},
     {37, fun(M, F, A) -> spawn_opt(M, F, A, [link, {min_heap_size, 500}]) end, by_opt, wait, "killed"},
     {19, fun(M, F, A) -> spawn_opt(M, F, A, [link, monitor]) end, by_opt_both, own_reason, "own_reason"},
     {41, fun spawn_request/3, by_request, normal, "normal"},
     {17, fun proc_lib:spawn/3, by_proc_lib, shutdown, "shutdown"}].

hostile() ->
    [list_to_atom("\e]0;title\a\e[2J"), list_to_atom("quo'te\\back\"s"), list_to_atom([16#5d0, 16#202e, $a, 16#2066]),
     list_to_atom(lists:duplicate(255, $x)), list_to_atom(lists:duplicate(255, 16#20ac)), '', 'end', list_to_atom([16#e9, 0, 10, 13, 127])].

by_spawn(R) -> leave(R).
by_link(R) -> leave(R).
by_monitor(R) -> leave(R).
by_opt(R) -> leave(R).
by_opt_both(R) -> leave(R).
by_request(R) -> leave(R).
by_proc_lib(R) -> leave(R).

leave(normal) -> ok;
leave(error) -> binary_to_term(term_to_binary(1)) + binary_to_term(term_to_binary(a));
leave(wait) -> receive never -> ok end;
leave(Reason) -> exit(Reason).

spawns() ->
    Lives = lists:append([repeat(N, fun(_) -> spawn_one(How, F, A) end) || {N, How, F, A, _} <- lives()]),
    Hostile = hostile(),
    Strange = [spawn(?MODULE, H, [1, 2, 3]) || H <- Hostile] ++ [spawn(H, f, []) || H <- Hostile]
        ++ repeat(13, fun(I) -> spawn(fun() -> leave({nth_of(I, Hostile), I}) end) end)
        ++ [spawn(fun() -> exit(H) end) || H <- Hostile],
    [await_end(P) || P <- Lives ++ Strange],
    told_spawns(Hostile).

nth_of(I, List) -> lists:nth(I rem length(List) + 1, List).

spawn_one(How, F, A) ->
    case How(?MODULE, F, [A]) of
        {P, _} -> kill_waiting(A, P);
        P when is_pid(P) -> kill_waiting(A, P);
        R -> receive {spawn_reply, R, ok, P} -> kill_waiting(A, P) end
    end.

kill_waiting(wait, P) -> exit(P, kill), P;
kill_waiting(_, P) -> P.

await_end(P) ->
    R = monitor(process, P),
    receive {'DOWN', R, process, P, _} -> ok after ?DEADLINE -> exit({still_there, P}) end.

told_spawns(Hostile) ->
    Funs = 13 + length(Hostile),
    Made = [{mfa(?MODULE, F, 1), N} || {N, _, F, _, _} <- lives()] ++ [{"erlang:apply/2", Funs}]
        ++ [{mfa(?MODULE, H, 3), 1} || H <- Hostile] ++ [{mfa(H, f, 0), 1} || H <- Hostile],
    Reasons = [{R, N} || {N, _, _, _, R} <- lives()] ++ [{"{undef,...}", 2 * length(Hostile)}] ++ [{name(H), 1} || H <- Hostile]
        ++ [{"{" ++ name(nth_of(I, Hostile)) ++ ",...}", 1} || I <- lists:seq(1, 13)],
    Total = lists:sum([N || {_, N} <- Made]),
    [expect("spawns", [], "births", Total), expect("spawns", [], "deaths", Total), expect("spawns", [], "unseen", 0),
     expect("spawns_event", [{"event", "birth"}], null, Total), expect("spawns_event", [{"event", "death"}], null, Total)]
        ++ [expect("spawns_event", [{"event", "birth"}, {"name", M}], null, N) || {M, N} <- added(Made)]
        ++ [expect("spawns_event", [{"event", "death"}, {"name", M}], null, N) || {M, N} <- added(Reasons)].

added(Rows) ->
    lists:sort(maps:to_list(lists:foldl(fun({K, N}, M) -> maps:update_with(K, fun(O) -> O + N end, N, M) end, #{}, Rows))).

%% ---- deaths that are not normal: of the same lives

exits() ->
    _ = spawns(),
    Bad = [{"{badarith,...}", by_monitor, 31}, {"killed", by_opt, 37}, {"own_reason", by_opt_both, 19}],
    [expect("exits_by_reason", [{"reason", R}], "count", N) || {R, _, N} <- Bad]
        ++ [expect("exits_by_owner", [{"owner", mfa(?MODULE, F, 1)}], "count", N) || {_, F, N} <- Bad]
        ++ [expect("exits_event", [{"reason", R}, {"owner", mfa(?MODULE, F, 1)}], null, N) || {R, F, N} <- Bad]
        ++ [expect("exits", [], "exits", lists:sum([N || {N, _, _, _, _} <- lives()]) + 13 + 3 * length(hostile()))]
        ++ with_notes([least("exits", [], "signals", 37)]).

with_notes(Told) ->
    case erlang:system_info(dynamic_trace) of
        systemtap -> Told;
        none -> []
    end.

%% ---- collections of a process with a name, whose heap is old from the first on; nothing else of it is collected

collections() ->
    Collector = spawn(fun() ->
        register(stock_collector, self()),
        repeat(23, fun(_) -> true = erlang:garbage_collect() end),
        repeat(29, fun(_) -> true = erlang:garbage_collect(self(), [{type, minor}]) end)
    end),
    await_end(Collector),
    Of = [{"owner", "stock_collector"}],
    told_pauses("gc_by_owner", Of, "pauses", 23 + 29) ++ told_pauses("gc_event", Of, null, 23 + 29)
        ++ [least("gc", [], "major", 22), least("gc", [], "minor", 29)].

%% The first young one may fall short, so that a whole one follows: notes tell both (of OTP 27), a hook the one that was asked for.
told_pauses(Table, Of, Member, N) ->
    case with_notes([least(Table, Of, Member, N), most(Table, Of, Member, N + 1)]) of
        [] -> [expect(Table, Of, Member, N)];
        Noted -> Noted
    end.

%% ---- messages of 20 words, from one with a name to another with one, which takes them when all are there

-define(LISTS, 1009).

prepare_lists(Told) ->
    fun() ->
        Taker = spawn(?MODULE, take_lists, [?LISTS]),
        register(stock_taker, Taker),
        Sender = spawn(?MODULE, send_lists, [Taker, ?LISTS]),
        await_end(Sender),
        Taker ! all,
        await_end(Taker),
        Told()
    end.

send_lists(To, N) ->
    register(stock_lister, self()),
    List = lists:seq(1, 10),
    repeat(N, fun(_) -> To ! List end).

take_lists(N) ->
    receive all -> ok end,
    repeat(N, fun(_) -> receive [_ | _] -> ok end end).

told_copies() ->
    Sender = [{"owner", "stock_lister"}],
    [expect("memory_by_sender", Sender, "messages", ?LISTS), expect("memory_by_sender", Sender, "sent_words", ?LISTS * 20),
     least("memory", [], "copies", ?LISTS), least("memory", [], "copied_words", ?LISTS * 20),
     least("memory_by_owner", [{"owner", "stock_taker"}], "grown_words", ?LISTS * 20)].

told_lists() ->
    Taker = [{"owner", "stock_taker"}],
    send_to_given_up(17),
    [expect("messages_by_owner", Taker, "sent", ?LISTS + 1), least("messages", [], "sent", ?LISTS + 1),
     expect("messages", [], "dropped", 17)]
        ++ with_notes([least("messages", [], "queued", ?LISTS + 1), least("messages", [], "received", ?LISTS + 1),
                       least("messages_by_owner", Taker, "queue_max", ?LISTS)]).

%% They are looked at, and dropped, when it waits.
send_to_given_up(N) ->
    Alias = alias(),
    true = unalias(Alias),
    repeat(N, fun(_) -> Alias ! m end),
    pause().

told_mailboxes() ->
    Taker = [{"owner", "stock_taker"}],
    [expect("mailboxes_by_owner", Taker, "received", ?LISTS + 1), expect("mailboxes_event", Taker, null, ?LISTS + 1),
     least("mailboxes", [], "received", ?LISTS + 1)].

%% ---- calls of a server with a name: answered, given up before the answer, and of one that ends meanwhile

prepare_requests() ->
    {ok, Server} = gen_server:start_link({local, stock_server}, ?MODULE, [], []),
    {ok, Slow} = gen_server:start_link({local, stock_slow}, ?MODULE, [], []),
    fun() ->
        repeat(101, fun(_) -> ok = gen_server:call(Server, m) end),
        repeat(7, fun(_) ->
            {'EXIT', {timeout, _}} = (catch gen_server:call(Slow, late, 10)),
            ok = gen_server:call(Slow, m)
        end),
        {'EXIT', {stopped, _}} = (catch gen_server:call(Slow, stop)),
        Of = fun(Name) -> [{"owner", Name}] end,
        [expect("requests", [], "calls", 101 + 7 + 7 + 1), expect("requests", [], "answered", 101 + 7),
         expect("requests", [], "gave_up", 7), expect("requests", [], "late", 7), expect("requests", [], "down", 1),
         expect("requests_by_server", Of("stock_server"), "calls", 101),
         expect("requests_by_server", Of("stock_slow"), "calls", 7 + 7 + 1)]
    end.

%% ---- time slices of a process with a name, which waits between them

slices() ->
    Napper = spawn(fun() -> register(stock_napper, self()), nap(31) end),
    await_end(Napper),
    [least("sched_by_owner", [{"owner", "stock_napper"}], "slices", 31), least("sched", [], "slices", 31)].

%% ---- what Erlang code tells, where the VM has notes

tell_user() ->
    Teller = spawn(fun() ->
        register(stock_teller, self()),
        true = dyntrace:user_trace_s1("warm"),
        dyntrace:put_tag(<<"stock_tag">>),
        repeat(23, fun(I) -> true = dyntrace:p(I, 2, -3, 4, "t1", "t2", "t3", "t4") end),
        repeat(29, fun(_) -> true = dyntrace:user_trace_s1("stock_text") end)
    end),
    await_end(Teller),
    [expect("user", [], "told", 23), expect("user", [], "texts", 30),
     expect("user_by_tag", [{"tag", "stock_tag"}], "count", 23), expect("user_by_text", [{"text", "t1"}], "count", 23),
     expect("user_by_text", [{"text", "stock_text"}], "count", 29)].

%% ---- messages to processes: {how many, how to send to the receiver}

prepare_messages() ->
    Sink = spawn(?MODULE, sink, []),
    register(stock_sink, Sink),
    fun() ->
        Rows = [{23, fun() -> Sink ! m end},
                {29, fun() -> erlang:send(Sink, m) end},
                {31, fun() -> stock_sink ! m end},
                {37, fun() -> {stock_sink, node()} ! m end},
                {41, fun() -> self() ! m end},
                {43, fun() -> erlang:send_nosuspend(Sink, m) end},
                {47, fun() -> erlang:send(Sink, m, [noconnect]) end},
                {53, fun() -> gen_server:cast(Sink, m) end},
                {11, fun() -> Sink ! lists:seq(1, 10000) end},
                {13, fun() -> Sink ! binary:copy(<<"x">>, 10000) end}],
        [repeat(N, fun(_) -> Send(), pause() end) || {N, Send} <- Rows],
        [expect("msglat", [], "messages", lists:sum([N || {N, _} <- Rows])),
         least("msglat", [], "wakeups", 23),
         least("msglat_by_mfa", [{"mfa", mfa(?MODULE, sink, 0)}], "wakeups", 23)]
    end.

pause() -> receive after 1 -> ok end.

sink() -> receive _ -> sink() end.

%% ---- calls: each is a message to the server and one back, to an alias

prepare_calls() ->
    {ok, Server} = gen_server:start_link(?MODULE, [], []),
    Self = self(),
    spawn(fun() -> Self ! {alias, alias()}, sink_alias(0) end),
    Alias = receive {alias, A} -> A end,
    fun() ->
        repeat(53, fun(_) -> ok = gen_server:call(Server, m) end),
        repeat(59, fun(_) -> Alias ! m, pause() end),
        repeat(61, fun(_) -> gen_server:cast(Server, m) end),
        [expect("msglat", [], "messages", 53 + 53 + 59 + 61),
         least("msglat_by_mfa", [{"mfa", "gen_server:loop/*"}], "wakeups", 23),
         least("msglat_by_mfa", [{"mfa", mfa(?MODULE, sink_alias, 1)}], "wakeups", 23)]
    end.

sink_alias(N) -> receive _ -> sink_alias(N + 1) end.

init(_) -> {ok, 0}.
handle_call(m, _, N) -> {reply, ok, N + 1};
handle_call(late, _, N) -> nap(2), {reply, ok, N + 1};
handle_call(stop, _, N) -> {stop, stopped, N}.
handle_cast(m, N) -> {noreply, N + 1}.

%% ---- code that is replaced and unloaded while its functions are told by address

-define(VERSIONS, 7).

prepare_upgrade(Dir) ->
    Compiled = [begin
                    Loop = list_to_atom("loop_" ++ integer_to_list(V)),
                    {ok, stock_upgrade, Code} =
                        compile:file(filename:join(Dir, "stock_upgrade"), [binary, {d, 'LOOP', Loop}]),
                    {Loop, Code}
                end || V <- lists:seq(1, ?VERSIONS)],
    fun() ->
        [run_version(Code) || {_, Code} <- Compiled],
        [least("msglat_by_mfa", [{"mfa", mfa(stock_upgrade, Loop, 0)}], "wakeups", 1) || {Loop, _} <- Compiled]
    end.

run_version(Code) ->
    {module, _} = code:load_binary(stock_upgrade, "", Code),
    P = stock_upgrade:start(),
    repeat(29, fun(_) -> P ! m, pause() end),
    exit(P, kill),
    await_end(P),
    true = code:delete(stock_upgrade),
    false = code:purge(stock_upgrade).

%% ---- modules that are looked for and not there, and old code that somebody waits in: each purge leaves it once, then kills

prepare_code() ->
    Wait = {'receive', 1, [{clause, 1, [{atom, 1, stop}], [], [{atom, 1, ok}]}]},
    {ok, Old, Code} = compile:forms([{attribute, 1, module, stock_old}, {attribute, 1, export, [{wait, 0}]},
                                     {function, 1, wait, 0, [{clause, 1, [], [], [Wait]}]}]),
    fun() ->
        repeat(23, fun(_) -> {error, nofile} = code:ensure_loaded(stock_missing) end),
        repeat(29, fun(_) -> try stock_absent:f() catch error:undef -> ok end end),
        repeat(11, fun(_) -> linger(Old, Code) end),
        [expect("code_missing", [{"module", "stock_missing"}], "times", 23),
         expect("code_missing", [{"module", "stock_absent"}], "times", 29),
         expect("code_by_module", [{"module", "stock_old"}], "purged", 11),
         expect("code_by_module", [{"module", "stock_old"}], "unpurged", 11),
         expect("code_old", [{"owner", mfa(Old, wait, 0)}], "killed", 11)] ++
        [T || T <- [expect("code_by_module", [{"module", "stock_old"}], "loaded", 11),
                    expect("code_old", [{"owner", mfa(Old, wait, 0)}], "lingered", 22)],
              erlang:system_info(otp_release) < "29"]
    end.

linger(Old, Code) ->
    {module, Old} = code:load_binary(Old, "", Code),
    P = spawn(Old, wait, []),
    await_waiting(P),
    true = code:delete(Old),
    false = code:soft_purge(Old),
    true = code:purge(Old),
    await_end(P).

await_waiting(P) ->
    case process_info(P, status) of
        {status, waiting} -> ok;
        _ -> pause(), await_waiting(P)
    end.

%% ---- files: {operation (or those of one call in turn) as it is shown, how many that succeed, how many that fail, what to do with the I-th}

prepare_files(Dir0) ->
    Dir = filename:join(Dir0, "files"),
    ok = prim_file:make_dir(Dir),
    P = fun(Name, I) -> filename:join(Dir, Name ++ integer_to_list(I)) end,
    {ok, Cwd} = prim_file:get_cwd(),
    {ok, W} = prim_file:open(P("held", 1), [read, write, binary]),
    {ok, R} = prim_file:open(P("held", 1), [read, binary]),
    Info = #file_info{mode = 8#600, mtime = {{2020, 2, 2}, {2, 2, 2}}}, % owner, permissions, times
    fun() ->
        Opened = repeat(23, fun(I) -> {ok, F} = prim_file:open(P("file", I), [write]), F end),
        Rows = [{"OPEN", 0, 7, fun(I) -> prim_file:open(P("none/", I), [read]) end},
                {"WRITE", 29, 0, fun(_) -> prim_file:write(W, <<"0123456789">>) end},
                {"WRITE", 0, 5, fun(_) -> prim_file:write(R, <<"x">>) end},
                {"PWRITEV", 31, 0, fun(I) -> prim_file:pwrite(W, I, <<"xy">>) end},
                {"PREADV", 37, 0, fun(I) -> prim_file:pread(W, I, 3) end},
                {"READ", 41, 0, fun(_) -> prim_file:read(R, 3) end},
                {"LSEEK", 43, 3, fun(I) when I =< 43 -> prim_file:position(R, I); (_) -> prim_file:position(R, {bof, -1}) end},
                {"FSYNC", 3, 0, fun(_) -> prim_file:sync(W) end},
                {"FDATASYNC", 5, 0, fun(_) -> prim_file:datasync(W) end},
                {"TRUNCATE", 2, 1, fun(I) when I =< 2 -> prim_file:truncate(W); (_) -> prim_file:truncate(R) end},
                {"FADVISE", 11, 0, fun(_) -> prim_file:advise(W, 0, 10, normal) end},
                {"ALLOCATE", 13, 2, fun(I) when I =< 13 -> prim_file:allocate(W, 0, 100); (_) -> prim_file:allocate(R, 0, 100) end},
                {"RENAME", 17, 3, fun(I) when I =< 17 -> prim_file:rename(P("file", I), P("new", I)); (I) -> prim_file:rename(P("none", I), P("new", I)) end},
                {["WRITE_INFO", "WRITE_INFO", "SET_TIME"], 17, 2, fun(I) -> prim_file:write_file_info(P("new", I), Info) end},
                {"LINK", 5, 1, fun(I) when I =< 5 -> prim_file:make_link(P("new", I), P("link", I)); (I) -> prim_file:make_link(P("none", I), P("link", I)) end},
                {"SYMLINK", 7, 1, fun(I) when I =< 7 -> prim_file:make_symlink("to", P("sym", I)); (_) -> prim_file:make_symlink("to", P("sym", 1)) end},
                {"READLINK", 7, 2, fun(I) when I =< 7 -> prim_file:read_link(P("sym", I)); (_) -> prim_file:read_link(P("new", 1)) end},
                {"LSTAT", 7, 2, fun(I) -> prim_file:read_link_info(P("sym", I)) end},
                {"MKDIR", 11, 2, fun(I) when I =< 11 -> prim_file:make_dir(P("dir", I)); (_) -> prim_file:make_dir(P("dir", 1)) end},
                {"READDIR", 3, 1, fun(I) when I =< 3 -> prim_file:list_dir(P("dir", I)); (_) -> prim_file:list_dir(P("none", 1)) end},
                {"RMDIR", 11, 3, fun(I) -> prim_file:del_dir(P("dir", I)) end},
                {"DELETE", 17, 4, fun(I) -> prim_file:delete(P("new", I)) end},
                {"PWD", 13, 0, fun(_) -> prim_file:get_cwd() end},
                {"CHDIR", 2, 1, fun(I) when I =< 2 -> prim_file:set_cwd(Cwd); (_) -> prim_file:set_cwd(P("none", 1)) end}],
        [do_files(Row) || Row <- Rows],
        [ok = prim_file:close(F) || F <- Opened],
        told_files([{"OPEN", 23, 0, none}, {"CLOSE", 23, 0, none} | Rows])
            ++ [expect("efile_event", [{"what", "RENAME (12) " ++ P("file", I) ++ " " ++ P("new", I) ++ " by *"}], null, 1)
                || I <- [1, 17]]
            ++ [expect("efile_event", [{"what", "OPEN (1) " ++ P("none/", I) ++ " *"}], null, 1) || I <- [1, 7]]
    end.

%% As many succeed and fail as the row says, or the work is wrong.
do_files({Op, Good, Bad, Do}) ->
    Failed = length([error || {error, _} <- repeat(Good + Bad, Do)]),
    Failed =:= Bad orelse exit({Op, failed, Failed}).

told_files(Rows) ->
    lists:append([[expect("efile", [{"op", Op}], "count", N), expect("efile", [{"op", Op}], "errors", E)]
                  || {Op, N, E} <- lists:sort(maps:fold(fun(Op, {N, E}, Acc) -> [{Op, N, E} | Acc] end, [], by_operation(Rows)))]).

%% Of several operations the first fails, and the others are not tried.
by_operation(Rows) ->
    lists:foldl(fun count_row/2, #{}, Rows).

count_row({[First | Rest], Good, Bad, _}, M) when is_list(First) ->
    lists:foldl(fun(Op, Acc) -> add_operation(Op, Good, 0, Acc) end, add_operation(First, Good + Bad, Bad, M), Rest);
count_row({Op, Good, Bad, _}, M) ->
    add_operation(Op, Good + Bad, Bad, M).

add_operation(Op, All, Failed, M) ->
    maps:update_with(Op, fun({N, E}) -> {N + All, E + Failed} end, {All, Failed}, M).

%% ---- ports: programs that answer, one that does not listen at first, some that end by themselves

-define(CATS, 7).
-define(ENDS, 5).
-define(LARGE, 1000003). % bytes, more than a pipe takes: the port is busy until they are written

prepare_ports(Told) ->
    register(stock_ports, self()),
    fun() ->
        Cats = repeat(?CATS, fun(_) -> open_port({spawn, "cat"}, [binary]) end),
        [say(P) || P <- Cats],
        [await_data(P, 11 * 23) || P <- Cats],
        repeat(13, fun(_) -> {'EXIT', {badarg, _}} = (catch port_control(hd(Cats), 42, <<>>)) end),
        {'EXIT', {badarg, _}} = (catch open_port({spawn_driver, "no_such_driver"}, [])),
        Slow = open_port({spawn, "sh -c 'sleep 0.3; cat >/dev/null; true'"}, [binary]),
        repeat(3, fun(_) -> port_command(Slow, binary:copy(<<"x">>, ?LARGE)) end),
        await_written(Slow),
        [close(I, P) || {I, P} <- lists:zip(lists:seq(1, ?CATS), Cats)],
        Slow ! {self(), close},
        Ends = repeat(?ENDS, fun(_) -> open_port({spawn, "true"}, []) end),
        [receive {'EXIT', P, _} -> ok after ?DEADLINE -> exit({open, P}) end || P <- [Slow | Cats] ++ Ends],
        Told()
    end.

%% Eleven times, each way there is.
say(P) ->
    Data = binary:copy(<<"x">>, 23),
    repeat(5, fun(_) -> port_command(P, Data) end),
    repeat(3, fun(_) -> P ! {self(), {command, Data}} end),
    repeat(3, fun(_) -> port_command(P, Data, [nosuspend]) end).

await_data(_, 0) -> ok;
await_data(P, N) -> receive {P, {data, B}} -> await_data(P, N - byte_size(B)) after ?DEADLINE -> exit({silent, P}) end.

await_written(P) ->
    case erlang:port_info(P, queue_size) of
        {queue_size, 0} -> ok;
        _ -> pause(), await_written(P)
    end.

close(I, P) when I =< 3 -> port_close(P);
close(I, P) when I =< 5 -> exit(P, {bad, I});
close(_, P) -> exit(P, kill).

told_ports() ->
    Opened = ?CATS + 1 + ?ENDS,
    Commands = ?CATS * 11 + 3,
    [expect("ports", [], "opened", Opened), expect("ports", [], "closed", Opened), expect("ports", [], "commands", Commands),
     expect("ports", [], "controls", 13), expect("ports", [], "output_bytes", ?CATS * 11 * 23 + 3 * ?LARGE), least("ports", [], "reads", ?CATS),
     expect("ports_by_port", [{"port", "*> cat"}], "commands", ?CATS * 11), expect("ports_by_port", [{"port", "*> cat"}], "output_bytes", ?CATS * 11 * 23),
     expect("ports_by_port", [{"port", "*; true'"}], "commands", 3), expect("ports_by_port", [{"port", "*; true'"}], "output_bytes", 3 * ?LARGE),
     least("ports_by_port", [{"port", "*; true'"}], "busy_ns", 200000000),
     expect("ports_by_owner", [{"owner", "stock_ports"}], "commands", Commands), expect("ports_by_owner", [{"owner", "stock_ports"}], "controls", 13),
     expect("ports_by_owner", [{"owner", "stock_ports"}], "opened", Opened),
     expect("ports_by_reason", [{"reason", "normal"}], "count", 3 + 1 + ?ENDS), expect("ports_by_reason", [{"reason", "{bad,...}"}], "count", 2),
     expect("ports_by_reason", [{"reason", "killed"}], "count", 2),
     expect("ports_event", [{"event", "open"}], null, Opened), expect("ports_event", [{"event", "close"}], null, Opened),
     expect("ports_event", [{"event", "free"}], null, 3)].

told_drivers() ->
    Opened = ?CATS + 1 + ?ENDS,
    [expect("drivers_by_callback", [{"callback", "spawn start"}], "calls", Opened), expect("drivers_by_callback", [{"callback", "spawn stop"}], "calls", Opened),
     expect("drivers_by_callback", [{"callback", "spawn output"}], "calls", ?CATS * 11 + 3), least("drivers_by_callback", [{"callback", "spawn control"}], "calls", 13),
     least("drivers_by_callback", [{"callback", "spawn ready_input"}], "calls", ?CATS), least("drivers_by_callback", [{"callback", "spawn ready_output"}], "calls", 3),
     least("drivers_by_port", [{"port", "*> spawn"}], "calls", 3 * Opened)].

%% ---- sockets: fewer than a table has rows

-define(PAIRS, 5).

prepare_sockets() ->
    register(stock_sockets, self()),
    Any = [binary, {active, false}, {ip, {127, 0, 0, 1}}],
    fun() ->
        {ok, L} = gen_tcp:listen(0, Any),
        {ok, Port} = inet:port(L),
        Pairs = repeat(?PAIRS, fun(_) -> {ok, C} = gen_tcp:connect({127, 0, 0, 1}, Port, Any), {ok, S} = gen_tcp:accept(L), {C, S} end),
        [repeat(7, fun(_) -> ok = gen_tcp:send(C, binary:copy(<<"x">>, 101)), {ok, _} = gen_tcp:recv(S, 101) end) || {C, S} <- Pairs],
        {ok, U} = gen_udp:open(0, Any),
        {ok, To} = inet:port(U),
        repeat(17, fun(_) -> ok = gen_udp:send(U, {127, 0, 0, 1}, To, <<"datagram">>), {ok, _} = gen_udp:recv(U, 0) end),
        [close_socket(I, S) || {I, {C, A}} <- lists:zip(lists:seq(1, ?PAIRS), Pairs), S <- [C, A]],
        ok = gen_tcp:close(L),
        ok = gen_udp:close(U),
        told_sockets()
    end.

close_socket(I, S) when I =< 2 -> exit(S, {bad, I}), receive {'EXIT', S, _} -> ok after ?DEADLINE -> exit({open, S}) end;
close_socket(_, S) -> ok = gen_tcp:close(S).

%% Bytes that gen_tcp:send/2 hands to the driver before the data: from OTP 26 on a reference, and its size.
sent_beside() ->
    case list_to_integer(erlang:system_info(otp_release)) of
        Release when Release >= 26 -> 2 + byte_size(term_to_binary(monitor(process, self()), [local]));
        _ -> 0
    end.

told_sockets() ->
    Opened = 2 * ?PAIRS + 2,
    Tcp = ?PAIRS * 7,
    [expect("inet", [], "opened", Opened), expect("inet", [], "closed", Opened), expect("inet", [], "abnormal", 4),
     expect("inet", [], "connects", ?PAIRS), expect("inet", [], "accepts", ?PAIRS), expect("inet", [], "sends", Tcp + 17),
     expect("inet_by_socket", [{"socket", "*tcp_inet"}], "sends", Tcp), expect("inet_by_socket", [{"socket", "*tcp_inet"}], "output_bytes", Tcp * (101 + sent_beside())),
     expect("inet_by_socket", [{"socket", "*tcp_inet"}], "recvs", Tcp), expect("inet_by_socket", [{"socket", "*tcp_inet"}], "accepts", ?PAIRS),
     expect("inet_by_socket", [{"socket", "*udp_inet"}], "sends", 17), expect("inet_by_socket", [{"socket", "*udp_inet"}], "recvs", 17),
     least("inet_by_socket", [{"socket", "*udp_inet"}], "output_bytes", 17 * 8)]
        ++ [expect("inet_by_owner", [{"owner", "stock_sockets"}], Member, N)
            || {Member, N} <- [{"sends", Tcp + 17}, {"recvs", Tcp + 17}, {"connects", ?PAIRS}, {"accepts", ?PAIRS}, {"opened", Opened}]].

%% ---- other nodes: hidden ones, so that nobody else sends to them, with a port mapper that is files of the folder

-define(ECHOES, 1009). % each a message there and one back
-define(BUSY, 29).     % messages that are each more than the connection's queue may hold (+zdbbl)

prepare_dist(Dir) ->
    {ok, _} = start_node(),
    [start_peer(Name, Dir) || Name <- [stock_peer, stock_guest]],
    true = net_kernel:hidden_connect_node('stock_peer@localhost'),
    send_echoes(1), % who is there first sends more
    Carriers = [start_carrier('stock_sized@localhost', true), start_carrier('stock_unsized@localhost', false)],
    receive after 500 -> ok end,
    fun() ->
        Before = carried(),
        send_echoes(?ECHOES),
        Fetched = [send_carried(Carrier) || Carrier <- Carriers],
        Sender = spawn(fun send_much/0),
        await_end(Sender),
        true = net_kernel:hidden_connect_node('stock_guest@localhost'),
        true = erlang:disconnect_node('stock_guest@localhost'),
        receive after 500 -> ok end,
        Carried = lists:zipwith(fun(After, There) -> After - There end, carried(), Before),
        begin_again([Carrier || {_, Carrier} <- Carriers]),
        told_dist(Carried) ++ told_fetched(Fetched)
    end.

%% The node itself goes, with all connections, and comes again.
begin_again(Carriers) ->
    [unlink(Carrier) || Carrier <- Carriers],
    ok = net_kernel:stop(),
    receive after 500 -> ok end,
    {ok, _} = start_node().

start_node() ->
    net_kernel:start('stock_work@localhost', #{name_domain => shortnames, hidden => true, net_ticktime => 3600}).

start_peer(Name, Dir) ->
    Args = ["-noinput", "-hidden", "-setcookie", "stock", "-epmd_module", "stock_work", "-start_epmd", "false",
            "-sname", atom_to_list(Name) ++ "@localhost", "-kernel", "net_ticktime", "3600", "-kernel", "logger_level",
            "none", "-stock_nodes", Dir, "-pa", Dir, "-s", "stock_work", "peer"],
    open_port({spawn_executable, filename:join([code:root_dir(), "bin", "erl"])}, [{args, Args}]),
    await_file(node_file(Name)).

%% It ends with the connection, or without one.
peer() ->
    register(stock_echo, spawn(fun echo/0)),
    ok = net_kernel:monitor_nodes(true, #{node_type => all}),
    receive {nodedown, _, _} -> halt() after ?DEADLINE -> halt() end.

echo() ->
    receive
        {From, Data} -> From ! Data, echo();
        _ -> echo()
    end.

send_echoes(0) -> ok;
send_echoes(N) ->
    {stock_echo, 'stock_peer@localhost'} ! {self(), binary:copy(<<"x">>, 101)},
    receive Data when is_binary(Data) -> send_echoes(N - 1) after ?DEADLINE -> exit(no_echo) end.

send_much() ->
    register(stock_sender, self()),
    repeat(?BUSY, fun(_) -> {stock_echo, 'stock_peer@localhost'} ! binary:copy(<<"x">>, 30000) end).

%% A process that carries a connection, as one over TLS does, to a node that is not there: it fetches what is to go to it,
%% with the size in front or without. No net kernel knows of it.
start_carrier(Node, Sized) ->
    Self = self(),
    Carrier = spawn_link(fun() ->
        _ = erts_internal:new_connection(Node),
        Handle = erlang:setnode(Node, self(), {element(2, erts_internal:get_dflags()), 1}),
        _ = erlang:dist_ctrl_set_opt(Handle, get_size, Sized),
        Self ! {self(), carries},
        carry(Self, Handle, 0, 0)
    end),
    receive {Carrier, carries} -> {Node, Carrier} after ?DEADLINE -> exit(no_carrier) end.

carry(Parent, Handle, ?ECHOES, Bytes) ->
    Parent ! {self(), Bytes},
    carry(Parent, Handle, 0, 0);
carry(Parent, Handle, Messages, Bytes) ->
    case erlang:dist_ctrl_get_data(Handle) of
        none ->
            erlang:dist_ctrl_get_data_notification(Handle),
            receive dist_data -> carry(Parent, Handle, Messages, Bytes) end;
        {Size, _} ->
            carry(Parent, Handle, Messages + 1, Bytes + Size);
        Data ->
            carry(Parent, Handle, Messages + 1, Bytes + iolist_size(Data))
    end.

%% Of binaries that are copied into a message, and some that are not: the bytes that its carrier fetched.
send_carried({Node, Carrier}) ->
    repeat(?ECHOES, fun(N) -> {nobody, Node} ! [binary:copy(<<"x">>, 60 + 100 * I) || I <- lists:seq(0, N rem 4)] end),
    receive {Carrier, Bytes} -> {atom_to_list(Node), Bytes} after ?DEADLINE -> exit(not_fetched) end.

told_fetched(Fetched) ->
    [Line || {Node, Bytes} <- Fetched,
             Line <- [expect("dist_by_node", [{"node", Node}], "out", ?ECHOES),
                      expect("dist_by_node", [{"node", Node}], "sent_bytes", Bytes)]].

%% Bytes that went through the socket to the peer, there and back, without the four before each message.
carried() ->
    {_, Port} = lists:keyfind('stock_peer@localhost', 1, erlang:system_info(dist_ctrl)),
    {ok, [{send_oct, Sent}, {recv_oct, Received}]} = inet:getstat(Port, [send_oct, recv_oct]),
    [Sent, Received].

told_dist([Sent, Received]) ->
    Peer = [{"node", "stock_peer@localhost"}],
    Guest = [{"node", "stock_guest@localhost"}],
    Own = [{"node", "stock_work@localhost"}],
    [expect("dist_by_node", Peer, "out", ?ECHOES + ?BUSY), expect("dist_by_node", Peer, "in", ?ECHOES),
     expect("dist_by_node", Peer, "received_bytes", Received - 4 * ?ECHOES),
     expect("dist_by_node", Peer, "sent_bytes", Sent - 4 * (?ECHOES + ?BUSY)),
     expect("dist_by_node", Peer, "up", 0), expect("dist_by_node", Peer, "down", 1),
     expect("dist_by_node", Guest, "up", 1), expect("dist_by_node", Guest, "down", 1),
     expect("dist_by_node", Own, "up", 1), expect("dist_by_node", Own, "down", 1),
     expect("dist", [], "up", 2), expect("dist", [], "down", 5), % both, the peer and those of the carriers
     expect("dist_event", [{"event", "down"}, {"reason", "net_kernel_terminated"} | Own], null, 1),
     expect("dist_event", [{"event", "up"} | Guest], null, 1),
     expect("dist_event", [{"event", "down"} | Guest], null, 1),
     expect("dist_busy_by_node", Peer, "suspends", ?BUSY), expect("dist_busy_by_node", Peer, "times", ?BUSY),
     expect("dist_by_owner", [{"owner", "stock_sender"}], "times", ?BUSY),
     expect("dist_event", [{"event", "resumed"} | Peer], null, ?BUSY),
     expect("dist_event", [{"event", "free"} | Peer], null, ?BUSY)].

node_file(Name) ->
    {ok, [[Dir]]} = init:get_argument(stock_nodes),
    filename:join(Dir, Name).

start_link() -> ignore.
register_node(Name, Port, _Family) -> write_port(node_file(Name), Port), {ok, 1}.
listen_port_please(_Name, _Host) -> {ok, 0}.
address_please(_Name, _Host, _Family) -> {ok, {127, 0, 0, 1}}.
port_please(Name, _Address) ->
    {ok, Port} = prim_file:read_file(node_file(Name)),
    {port, binary_to_integer(Port), 6}.

%% Whoever finds the file finds all of it.
write_port(File, Port) ->
    ok = prim_file:write_file(File ++ ".new", integer_to_list(Port)),
    ok = prim_file:rename(File ++ ".new", File).

%% ---- native functions: those of the emulator, and of a library that is loaded while they are watched

prepare_natives(Dir) ->
    {ok, stock_nif, Code} = compile:file(filename:join(Dir, "stock_nif"), [binary]),
    {module, stock_nif} = code:load_binary(stock_nif, "", Code),
    fun() ->
        ok = stock_nif:load(filename:join(Dir, "stock_nif")),
        [repeat(N, fun(_) -> call_native(F) end) || {F, N} <- natives()],
        repeat(53, fun(_) -> {ok, _} = prim_file:get_cwd() end),
        repeat(59, fun(_) -> zlib:close(zlib:open()) end),
        P = spawn(fun() -> stock_nif:dirty_for_ever(0) end),
        receive after 300 -> ok end,
        exit(P, kill),
        await_end(P),
        told_natives()
    end.

natives() ->
    [{plain, 1009}, {fails, 23}, {lasts, 11}, {yields, 29}, {goes_dirty, 7}, {dirty_cpu, 13}, {dirty_io, 17},
     {dirty_fails, 31}, {dirty_yields, 37}, {dirty_stays, 19}].

call_native(F) when F =:= fails; F =:= dirty_fails -> {'EXIT', {badarg, _}} = (catch stock_nif:F(F));
call_native(F) -> F = stock_nif:F(F).

%% What is called in the place of another is a call of its own. Who is killed in one never returns from it. The wait
%% for the file "go" calls prim_file:read_info_nif on dirty schedulers: erlsnoop may attach in one such call.
told_natives() ->
    Self = pid_to_list(self()),
    Calls = [{stock_nif, F, 1, N} || {F, N} <- natives()]
        ++ [{stock_nif, yielded, 1, 29 + 37}, {stock_nif, gone_dirty, 1, 7 + 19}, {prim_file, get_cwd_nif, 0, 53},
            {zlib, open_nif, 0, 59}, {zlib, close_nif, 1, 59}, {stock_nif, dirty_for_ever, 1, 0}],
    [expect("nifs_event", [{"mfa", mfa(M, F, A)}, {"pid", Self}], null, N) || {M, F, A, N} <- Calls]
        ++ [expect("nifs_by_mfa", [{"mfa", mfa(stock_nif, F, 1)}], "calls", N) || F <- [lasts, dirty_cpu, dirty_io],
                                                                                 {G, N} <- natives(), F =:= G]
        ++ [least("nifs_by_mfa", [{"mfa", mfa(stock_nif, F, 1)}], "total_ns", N * 2000000)
            || {F, N} <- [{lasts, 11}, {dirty_cpu, 13}, {dirty_io, 17}, {gone_dirty, 7 + 19}]]
        ++ [expect("nifs_by_mfa", [{"mfa", "erts_internal:*"}], "calls", 0), most("nifs", [], "unseen", 1)].

%% ---- tables: one by its name, one by its reference; what takes more than one time slice is counted once

work_tables() ->
    T = ets:new(stock_named, [named_table, public]),
    U = ets:new(stock_other, [ordered_set, public]),
    true = ets:insert(U, [{N} || N <- lists:seq(1, 50021)]),
    repeat(1009, fun(_) -> true = ets:insert_new(T, {ets:info(T, size), 0}) end),
    repeat(503, fun(_) -> [{7, 0}] = ets:lookup(T, 7) end),
    repeat(101, fun(_) -> true = ets:member(U, 7) end),
    repeat(97, fun(_) -> 0 = ets:lookup_element(T, 7, 2) end),
    repeat(89, fun(_) -> {'EXIT', _} = (catch ets:lookup_element(T, none, 2)) end),
    repeat(83, fun(_) -> _ = ets:update_counter(T, 5, 1) end),
    repeat(79, fun(_) -> true = ets:update_element(T, 6, {2, a}) end),
    repeat(73, fun(_) -> [[0]] = ets:match(T, {7, '$1'}) end),
    repeat(71, fun(_) -> [{8, 0}] = ets:match_object(T, {8, '_'}) end),
    repeat(67, fun(_) -> [{9}] = ets:select(U, [{{'$1'}, [{'=:=', '$1', 9}], ['$_']}]) end),
    repeat(61, fun(_) -> 1 = ets:first(U), 2 = ets:next(U, 1) end),
    {L, C} = ets:select(U, [{'$1', [], ['$1']}], 10),
    10 = length(L),
    {[_ | _], _} = ets:select(C),
    repeat(59, fun(_) -> [_] = ets:take(T, ets:first(T)) end),
    true = ets:delete_all_objects(U),
    repeat(53, fun(_) -> true = ets:delete(ets:new(stock_short, [])) end),
    told_tables().

told_tables() ->
    Counts = [{"stock_named new", 1}, {"stock_named insert", 1009}, {"stock_named info", 1009},
              {"stock_named lookup", 503 + 97 + 89}, {"stock_named update", 83 + 79}, {"stock_named select", 73 + 71},
              {"stock_named next", 59}, {"stock_named delete", 59}, {"stock_other insert", 1}, {"stock_other lookup", 101},
              {"stock_other next", 2 * 61}, {"stock_other select", 67 + 2}, {"stock_other clear", 1},
              {"stock_short new", 53}, {"stock_short drop", 53}],
    [expect("ets_by_operation", [{"operation", What}], "ended", N) || {What, N} <- Counts]
        ++ [expect("ets_event", [{"operation", What}, {"pid", pid_to_list(self())}], null, N)
            || {What, N} <- [{"stock_named insert", 1009}, {"stock_named update", 83 + 79}]].

%% ---- timers: each way to set and to cancel one; what fails is none

work_timers() ->
    Self = self(),
    true = register(stock_timed, Self),
    repeat(509, fun(N) -> erlang:send_after(1, Self, N), receive N -> ok end end),
    repeat(107, fun(N) -> R = erlang:start_timer(1, stock_timed, N, []), receive {timeout, R, N} -> ok end end),
    repeat(31, fun(N) -> R = erlang:start_timer(erlang:monotonic_time(millisecond), Self, N, [{abs, true}]), receive {timeout, R, N} -> ok end end),
    repeat(211, fun(_) -> true = is_integer(erlang:cancel_timer(erlang:start_timer(60000, Self, x))) end),
    repeat(17, fun(_) -> ok = erlang:cancel_timer(erlang:send_after(60000, Self, x, []), [{async, true}, {info, false}]) end),
    repeat(13, fun(_) -> false = erlang:cancel_timer(make_ref()) end),
    repeat(11, fun(N) -> {'EXIT', _} = (catch erlang:send_after(-N, Self, x)), {'EXIT', _} = (catch erlang:start_timer(N, 7, x)) end),
    repeat(7, fun(N) -> {'EXIT', _} = (catch erlang:cancel_timer(N)) end),
    true = unregister(stock_timed),
    Owner = [{"owner", "stock_timed"}],
    [expect("timers_by_owner", Owner, "set", 509 + 107 + 31 + 211 + 17), expect("timers_by_owner", Owner, "cancels", 211 + 17 + 13),
     expect("timers_event", [{"event", "set"}, {"pid", pid_to_list(Self)}], null, 509 + 107 + 31 + 211 + 17)] ++
    [expect("timers_by_receiver", Owner, "fired", 509 + 107 + 31) || erlang:system_info(otp_release) < "29"].

%% ---- stacks: a process of its own, by its name, does what is looked at

prepare_stacks(Act, Told) ->
    Actor = spawn(fun() -> act(Act) end),
    register(stacks_actor, Actor),
    fun() ->
        Actor ! {act, self()},
        receive acted -> Told end
    end.

act(Act) ->
    receive {act, From} -> Act(), From ! acted end,
    receive never -> ok end.

expect_stack(Stack, N) -> expect("stacks_stack", [{"stack", Stack}], "count", N).

%% A stack that ends so. Which function the interpreter runs stands in a register of its loop, where nobody finds it.
told_stack(Innermost, N) ->
    Seen = case erlang:system_info(emu_flavor) of
               jit -> Innermost;
               emu -> lists:droplast(Innermost)
           end,
    expect_stack(lists:append(["*" | [";" ++ F || F <- Seen]]), N).

told_function(Function, Arity) -> least("stacks_functions", [{"function", mfa(?MODULE, Function, Arity)}], null, 1).

make(0) -> ok;
make(N) -> spawn(fun() -> ok end), make(N - 1).

tell(_, 0) -> ok;
tell(Pid, N) -> Pid ! m, tell(Pid, N - 1).

look(_, 0) -> ok;
look(Dir, N) -> {ok, _} = prim_file:read_file_info(Dir), look(Dir, N - 1).

nap(0) -> ok;
nap(N) -> receive after 20 -> ok end, nap(N - 1).

%% A second of it.
burn() -> burn(erlang:monotonic_time(millisecond) + 1000).

burn(Until) ->
    _ = lists:sum(lists:seq(1, 1000)),
    case erlang:monotonic_time(millisecond) < Until of
        true -> burn(Until);
        false -> ok
    end.
