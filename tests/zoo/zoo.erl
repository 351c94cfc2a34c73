%% SPDX-License-Identifier: Apache-2.0
%% Illnesses of Erlang systems as small workloads, and the same healed: each is named as the finding that erlsnoop
%% diagnose makes of it. Beside it runs healthy traffic: a ticker, and calls of a server.
%%   erl -noshell -run zoo ill mailbox_grows [RULE...] | healed mailbox_grows | list
%% Says {begins, Rule}, and {ready, Rule, Culprit} once it is ill, the culprit as a finding names it (any: it names no
%% process), and stays until its standard input is closed. With -run zoo load before that all schedulers have their hands
%% full beside it.
-module(zoo).
-export([ill/1, healed/1, list/0, helper/1, start_link/0, flaky/0, init/1, worker/1, reporter/1, log/2, big_owner/1,
         hog/0, load/0]).

%% {Rule, how to make it: fun(Ill :: boolean()) -> Culprit}
rules() ->
    [{mailbox_grows, fun mailbox_grows/1},
     {selective_receive, fun selective_receive/1},
     {mailbox_waits, fun mailbox_waits/1},
     {mailbox_ignored, fun mailbox_ignored/1},
     {mailbox_long, fun mailbox_long/1},
     {calls_abandoned, fun calls_abandoned/1},
     {bottleneck, fun bottleneck/1},
     {suspended, fun suspended/1},
     {huge_heap, fun huge_heap/1},
     {binaries_held, fun binaries_held/1},
     {state_copied, fun state_copied/1},
     {restart_storm, fun restart_storm/1},
     {processes_leak, fun processes_leak/1},
     {exit_slow, fun exit_slow/1},
     {monitors_leak, fun monitors_leak/1},
     {ports_leak, fun ports_leak/1},
     {tables_leak, fun tables_leak/1},
     {table_fixed, fun table_fixed/1},
     {table_grows, fun table_grows/1},
     {table_contended, fun table_contended/1},
     {atoms_grow, fun atoms_grow/1},
     {near_limit, fun near_limit/1},
     {port_busy, fun port_busy/1},
     {dirty_io_full, fun dirty_io_full/1},
     {file_hangs, fun file_hangs/1},
     {overloaded, fun overloaded/1},
     {crashes, fun crashes/1},
     {crash_costs, fun crash_costs/1},
     {module_missing, fun module_missing/1},
     {literals_swept, fun literals_swept/1},
     {calls_time_out, fun calls_time_out/1},
     {server_slow, fun server_slow/1},
     {deadlock, fun deadlock/1},
     {calls_hang, fun calls_hang/1},
     {disk_slow, fun disk_slow/1},
     {port_suspends, fun port_suspends/1},
     {sends_held, fun sends_held/1},
     {scheduler_held, fun scheduler_held/1},
     {gc_costs, fun gc_costs/1},
     {halted, fun halted/1},
     {throttled, fun throttled/1},
     {starved, fun starved/1},
     {busy_waiting, fun busy_waiting/1},
     {dirty_cpu_full, fun dirty_cpu_full/1},
     {long_native, fun long_native/1},
     {queues_uneven, fun queues_uneven/1},
     {node_busy, fun node_busy/1},
     {node_suspends, fun node_suspends/1},
     {never_run, fun never_run/1},
     {scheduler_asleep, fun scheduler_asleep/1},
     {purge_hangs, fun purge_hangs/1},
     {purge_kills, fun purge_kills/1}].

list() ->
    [io:format("~s~n", [Rule]) || {Rule, _} <- rules()],
    halt().

ill(Rules) -> run(Rules, true).
healed(Rules) -> run(Rules, false).

run(Names, Ill) ->
    logger:set_primary_config(level, none),
    [{module, M} = code:ensure_loaded(M) || M <- [io_lib_pretty, timer, string, filename]], % whatever becomes of files
    Echo = spawn(fun echo/0),
    spawn(fun() -> tick() end),
    spawn(fun() -> ask(Echo) end),
    [make(list_to_atom(Name), Ill) || Name <- Names],
    _ = io:get_line(""),
    erlang:halt(0, [{flush, false}]).

load() -> [spawn(fun work/0) || _ <- lists:seq(1, 20 * erlang:system_info(schedulers))].
work() ->
    _ = lists:sum(lists:seq(1, 100)),
    work().

make(Rule, Ill) ->
    io:format("~p.~n", [{begins, Rule}]),
    {Rule, Make} = lists:keyfind(Rule, 1, rules()),
    Culprit = Make(Ill),
    io:format("~p.~n", [{ready, Rule, Culprit}]).

tick() -> receive never -> ok after 5 -> tick() end.
echo() -> receive {ask, From, Ref} -> From ! {Ref, ok}, echo() end.
ask(Echo) ->
    Ref = make_ref(),
    Echo ! {ask, self(), Ref},
    receive {Ref, ok} -> ok end,
    receive never -> ok after 5 -> ask(Echo) end.

%% Works for so many microseconds.
spin(Us) -> spin_until(erlang:monotonic_time(microsecond) + Us).
spin_until(End) -> erlang:monotonic_time(microsecond) >= End orelse spin_until(End).

named(Name, F) ->
    register(Name, spawn(F)),
    Name.

%% Every so many milliseconds.
each(Ms, F) -> spawn(fun() -> repeat(Ms, F) end).
repeat(Ms, F) ->
    F(),
    receive never -> ok after Ms -> repeat(Ms, F) end.

%% ---- mailboxes

mailbox_grows(Ill) ->
    Name = named(slow_server, fun() -> serve(case Ill of true -> 2000; false -> 10 end) end),
    each(2, fun() -> [slow_server ! {work, N} || N <- lists:seq(1, 8)] end),
    timer:sleep(500),
    Name.

serve(Us) -> receive {work, _} -> spin(Us), serve(Us) end.

%% Its reply is no reference made in the function that waits for it: the whole mailbox is searched.
selective_receive(Ill) ->
    Back = spawn(fun back/0),
    Name = named(searching_server, fun() -> search(Back, 0) end),
    [searching_server ! {work, N} || Ill, N <- lists:seq(1, 150000)],
    each(5, fun() -> searching_server ! {work, 0} end),
    timer:sleep(200),
    Name.

back() -> receive {ask, From, Key} -> From ! {reply, Key}, back() end.
search(Back, N) ->
    receive {work, _} -> Back ! {ask, self(), N} end,
    receive {reply, N} -> search(Back, N + 1) end.

%% A server that calls another, which takes its time.
mailbox_waits(Ill) ->
    Other = spawn(fun() -> answer_late(case Ill of true -> 400; false -> 0 end) end),
    Name = named(calling_server, fun() -> call_other(Other) end),
    each(5, fun() -> [calling_server ! work || _ <- lists:seq(1, case Ill of true -> 20; false -> 1 end)] end),
    timer:sleep(500),
    Name.

answer_late(Ms) -> receive {ask, From, Ref} -> timer:sleep(Ms), From ! {Ref, ok}, answer_late(Ms) end.
call_other(Other) ->
    receive work -> ok end,
    Ref = make_ref(),
    Other ! {ask, self(), Ref},
    receive {Ref, ok} -> call_other(Other) end.

mailbox_ignored(Ill) ->
    Name = named(deaf_server, fun() -> case Ill of true -> receive wanted -> ok end; false -> take_all() end end),
    [deaf_server ! {unwanted, N} || N <- lists:seq(1, 5000)],
    each(10, fun() -> deaf_server ! unwanted end),
    Name.

take_all() -> receive _ -> take_all() end.

%% As many come as it takes, and those that came before stay before it.
mailbox_long(Ill) ->
    Name = named(late_server, fun() -> echo_work() end),
    Clients = case Ill of true -> 3000; false -> 3 end,
    [spawn(fun() -> ask_again(late_server, Ill) end) || _ <- lists:seq(1, Clients)],
    timer:sleep(500),
    Name.

echo_work() -> receive {ask, From, Ref} -> spin(50), From ! {Ref, ok}, echo_work() end.
ask_again(Server, Ill) ->
    Ref = make_ref(),
    Server ! {ask, self(), Ref},
    receive {Ref, ok} -> ok end,
    Ill orelse timer:sleep(20),
    ask_again(Server, Ill).

%% Callers ask again as soon as they have given up, so that ever more calls come before those that somebody waits for.
calls_abandoned(Ill) ->
    Name = named(swamped_server, fun() -> reply(fun() -> spin(case Ill of true -> 2000; false -> 10 end) end) end),
    [spawn(fun() -> ask_for_ever(swamped_server, Ill) end) || _ <- lists:seq(1, case Ill of true -> 400; false -> 4 end)],
    timer:sleep(1500),
    Name.

ask_for_ever(Server, Ill) ->
    catch gen_server:call(Server, ask, 300),
    receive never -> ok after case Ill of true -> 5; false -> 20 end -> ask_for_ever(Server, Ill) end.

bottleneck(Ill) ->
    Options = case Ill of true -> []; false -> [raw] end,
    [spawn(fun() -> read_infos(Options) end) || _ <- lists:seq(1, case Ill of true -> 100; false -> 2 end)],
    timer:sleep(300),
    file_server_2.

read_infos(Options) ->
    {ok, _} = file:read_file_info("/", Options),
    Options =:= [] orelse timer:sleep(5),
    read_infos(Options).

suspended(Ill) ->
    Name = named(frozen_server, fun take_all/0),
    spawn(fun() -> Ill andalso erlang:suspend_process(whereis(frozen_server)), receive never -> ok end end),
    timer:sleep(100),
    each(50, fun() -> frozen_server ! message end),
    Name.

%% ---- memory

huge_heap(Ill) ->
    Words = case Ill of true -> 12000000; false -> 1000 end,
    Name = named(hoarder, fun() -> hoard(lists:seq(1, Words), 0) end),
    each(20, fun() -> hoarder ! message end),
    timer:sleep(2000),
    Name.

hoard(List, N) ->
    receive message -> ok end,
    N rem 10 =:= 9 andalso garbage_collect(),
    hoard(List, N + 1).

%% Of each large binary that passes by its head is kept, and with that all of it.
binaries_held(Ill) ->
    Routers = [spawn(fun() -> route([], Ill) end) || _ <- lists:seq(1, 40)],
    each(20, fun() -> [R ! {packet, binary:copy(<<0>>, 100000)} || R <- Routers] end),
    timer:sleep(2000),
    any.

route(Kept, Ill) ->
    receive {packet, <<Head:200/binary, _/binary>>} ->
        Part = case Ill of true -> Head; false -> binary:copy(Head) end,
        Ill orelse garbage_collect(),
        route(lists:sublist([Part | Kept], 500), Ill)
    end.

state_copied(Ill) ->
    named(fat_server, fun() -> start_tasks(lists:seq(1, 50000), Ill) end).

start_tasks(State, Ill) ->
    Needed = length(State),
    case Ill of
        true -> spawn(fun() -> timer:sleep(50), length(State) end);
        false -> spawn(fun() -> timer:sleep(50), Needed end)
    end,
    timer:sleep(20),
    start_tasks(State, Ill).

%% ---- births

start_link() -> supervisor:start_link({local, storm_sup}, ?MODULE, []).
init([]) -> {ok, {#{intensity => 1000000, period => 1}, [#{id => flaky, start => {?MODULE, flaky, []}}]}}.
flaky() ->
    Ill = persistent_term:get(?MODULE),
    {ok, spawn_link(fun() -> timer:sleep(case Ill of true -> 5; false -> infinity end), exit(econnrefused) end)}.

restart_storm(Ill) ->
    persistent_term:put(?MODULE, Ill),
    spawn(fun() -> {ok, _} = start_link(), receive never -> ok end end),
    timer:sleep(200),
    storm_sup.

helper(Ill) -> Ill andalso receive never -> ok end.

processes_leak(Ill) ->
    each(5, fun() -> spawn(?MODULE, helper, [Ill]) end),
    any.

%% It watches whom it asks, and forgets that it did when the answer has come.
monitors_leak(Ill) ->
    Server = spawn(fun echo/0),
    named(watcher, fun() -> watch(Server, Ill) end).

watch(Server, Ill) ->
    Ref = erlang:monitor(process, Server),
    Server ! {ask, self(), Ref},
    receive {Ref, ok} -> ok end,
    Ill orelse erlang:demonitor(Ref, [flush]),
    timer:sleep(5),
    watch(Server, Ill).

%% What it owns is freed row by row.
exit_slow(Ill) ->
    Parts = case Ill of true -> 400; false -> 1 end,
    [spawn(fun() -> make_owners(Parts) end) || _ <- [1, 2]],
    any.

make_owners(Parts) ->
    {_, Monitor} = spawn_monitor(?MODULE, big_owner, [Parts]),
    receive {'DOWN', Monitor, _, _, _} -> timer:sleep(20), make_owners(Parts) end.

big_owner(Parts) ->
    Table = ets:new(rows, []),
    [ets:insert(Table, [{N} || N <- lists:seq(Part * 10000, Part * 10000 + 9999)]) || Part <- lists:seq(1, Parts)].

ports_leak(Ill) ->
    {ok, Listen} = gen_tcp:listen(0, [{ip, {127, 0, 0, 1}}]),
    {ok, Number} = inet:port(Listen),
    spawn(fun() -> keep_open(Number, Ill, 600) end),
    spawn(fun() -> ok = gen_tcp:controlling_process(Listen, self()), receive never -> Listen end end),
    persistent_term:put(listen, Listen),
    any.

keep_open(_, _, 0) -> receive never -> ok end;
keep_open(Number, Ill, Left) ->
    {ok, Socket} = gen_udp:open(0),
    Ill orelse gen_udp:close(Socket),
    timer:sleep(20),
    keep_open(Number, Ill, Left - 1).

tables_leak(Ill) -> named(table_maker, fun() -> make_tables(Ill) end).

make_tables(Ill) ->
    Table = ets:new(scratch, []),
    Ill orelse ets:delete(Table),
    timer:sleep(5),
    make_tables(Ill).

%% Somebody began to walk over it, and does not go on.
table_fixed(Ill) ->
    sessions = ets:new(sessions, [public, named_table]),
    spawn(fun() -> Ill andalso ets:safe_fixtable(sessions, true), receive never -> ok end end),
    timer:sleep(50),
    each(10, fun() -> [come_and_go(sessions, erlang:unique_integer()) || _ <- lists:seq(1, 500)] end),
    sessions.

come_and_go(Table, Key) ->
    ets:insert(Table, {Key, lists:seq(1, 20)}),
    ets:delete(Table, Key).

table_grows(Ill) ->
    cache = ets:new(cache, [public, named_table]),
    each(10, fun() -> [ets:insert(cache, {cache_key(Ill, N), lists:seq(1, 20)}) || N <- lists:seq(1, 200)] end),
    cache.

cache_key(true, _) -> erlang:unique_integer();
cache_key(false, N) -> N.

%% All count in one row of one table; healed, by what is made for that.
table_contended(Ill) ->
    hits = ets:new(hits, [public, named_table]),
    ets:insert(hits, {all, 0}),
    Counter = counters:new(1, [write_concurrency]),
    [spawn(fun() -> count_hits(Counter, Ill) end) || _ <- lists:seq(1, 4 * erlang:system_info(schedulers))],
    hits.

count_hits(Counter, true) ->
    ets:update_counter(hits, all, 1),
    count_hits(Counter, true);
count_hits(Counter, false) ->
    [counters:add(Counter, 1, 1) || _ <- lists:seq(1, 100)],
    ets:insert(hits, {all, counters:get(Counter, 1)}),
    receive never -> ok after 5 -> count_hits(Counter, false) end.

atoms_grow(Ill) ->
    each(10, fun() ->
        Text = "ctl_" ++ integer_to_list(case Ill of true -> erlang:unique_integer([positive]); false -> 0 end),
        list_to_atom(Text)
    end),
    any.

%% To be started with +P 1024.
near_limit(Ill) ->
    Limit = erlang:system_info(process_limit),
    [spawn(fun take_all/0) || Ill, _ <- lists:seq(1, Limit * 9 div 10 - erlang:system_info(process_count))],
    any.

%% ---- what does not answer

port_busy(Ill) ->
    {ok, Listen} = gen_tcp:listen(0, [binary, {active, false}, {recbuf, 4096}, {ip, {127, 0, 0, 1}}]),
    {ok, Number} = inet:port(Listen),
    spawn(fun() ->
        {ok, Socket} = gen_tcp:connect({127, 0, 0, 1}, Number, [binary, {sndbuf, 4096}]),
        register(connection, self()),
        send_on(Socket)
    end),
    {ok, Peer} = gen_tcp:accept(Listen),
    Ill orelse spawn(fun() -> read_all(Peer) end),
    timer:sleep(100),
    each(5, fun() -> connection ! {send, <<0:65536>>} end),
    timer:sleep(500),
    connection.

send_on(Socket) -> receive {send, Bytes} -> gen_tcp:send(Socket, Bytes), send_on(Socket) end.
read_all(Peer) -> case gen_tcp:recv(Peer, 0) of {ok, _} -> read_all(Peer); _ -> ok end.

%% Opening a pipe that nobody writes to waits as a disk does that has gone.
fifo() ->
    Name = filename:join("/tmp", "zoo_fifo." ++ os:getpid()),
    _ = os:cmd("mkfifo " ++ Name),
    Name.

dirty_io_full(Ill) -> hang(Ill, dirty_io_threads()).
file_hangs(Ill) -> hang(Ill, 1).

%% An erlvm's file operations are done by its pool of threads.
dirty_io_threads() ->
    erlang:system_info(case is_erlvm() of true -> thread_pool_size; false -> dirty_io_schedulers end).

is_erlvm() -> string:find(erlang:system_info(system_version), "[erlvm]") =/= nomatch.

hang(Ill, Count) ->
    Name = fifo(),
    _ = file:read_file_info("."), % what else is needed is loaded by now
    spawn(fun() -> timer:sleep(120000), file:delete(Name) end),
    %% later: what we say goes through those threads too, of an erlvm
    [spawn(fun() -> timer:sleep(300), file:open(Name, [read, raw]) end) || Ill, _ <- lists:seq(1, Count)],
    [each(100, fun() -> file:read_file_info(".", [raw]) end) || _ <- lists:seq(1, 4)],
    any.

%% ---- schedulers

overloaded(Ill) ->
    [spawn(fun() -> work_on(Ill) end) || _ <- lists:seq(1, 100)],
    any.

work_on(Ill) ->
    spin(100),
    Ill orelse timer:sleep(1000),
    work_on(Ill).

%% ---- what only events tell

crashes(Ill) ->
    each(50, fun() -> spawn(?MODULE, worker, [Ill]) end),
    'zoo:worker/1'.

worker(Ill) -> Ill andalso exit({no_luck, self()}).

%% The report of a crash has the process dictionary as text, all that is shared in it written out.
crash_costs(Ill) ->
    logger:remove_handler(default),
    ok = logger:add_handler(?MODULE, ?MODULE, #{}),
    logger:set_primary_config(level, error),
    each(400, fun() -> proc_lib:spawn(?MODULE, reporter, [Ill]) end),
    'zoo:reporter/1'.

reporter(Ill) ->
    put(state, share(case Ill of true -> 15; false -> 1 end)),
    Ill andalso exit({no_luck, self()}).

%% An optional callback of a module that nobody ships.
module_missing(Ill) ->
    Module = case Ill of true -> zoo_hooks; false -> lists end,
    each(20, fun() -> code:ensure_loaded(Module) end),
    zoo_hooks.

%% What is put is another term each time; healed, the same.
literals_swept(Ill) ->
    [spawn(fun() -> receive never -> ok end end) || _ <- lists:seq(1, 3000)],
    Name = named(config_writer, fun() -> put_config(Ill, 0) end),
    case is_erlvm() of true -> any; false -> Name end. % who puts one does not stand still there

put_config(Ill, N) ->
    persistent_term:put(zoo_config, {case Ill of true -> N; false -> 0 end, [some, more]}),
    receive never -> ok after 5 -> put_config(Ill, N + 1) end.

share(0) -> [x];
share(N) -> Term = share(N - 1), [Term | Term].

log(Event, _) -> iolist_size(logger_formatter:format(Event, #{})).

calls_time_out(Ill) ->
    Name = named(late_replier, fun() -> reply(fun() -> timer:sleep(case Ill of true -> 250; false -> 1 end) end) end),
    [each(700, fun() -> catch gen_server:call(late_replier, ask, 100) end) || _ <- [1, 2]],
    Name.

reply(Before) -> receive {'$gen_call', From, _} -> Before(), gen_server:reply(From, ok), reply(Before) end.

%% Each has asked the other before it can answer; healed, the second answers.
deadlock(Ill) ->
    named(right_server, fun() -> case Ill of true -> ask_once(left_server); false -> reply(fun() -> ok end) end end),
    named(left_server, fun() -> timer:sleep(100), ask_once(right_server), receive never -> ok end end),
    timer:sleep(300),
    any.

ask_once(Server) ->
    receive never -> ok after 50 -> ok end,
    gen_server:call(Server, ask, infinity).

calls_hang(Ill) ->
    Name = named(hung_server, fun() -> case Ill of true -> receive never -> ok end; false -> reply(fun() -> ok end) end end),
    named(middle_server, fun() -> reply(fun() -> gen_server:call(hung_server, ask, infinity) end) end),
    [each(50, fun() -> gen_server:call(middle_server, ask, infinity) end) || _ <- lists:seq(1, 30)],
    timer:sleep(300),
    Name.

server_slow(Ill) ->
    Us = case Ill of true -> 15000; false -> 10 end,
    Name = named(asked_server, fun() -> reply(fun() -> spin(Us) end) end),
    [each(case Ill of true -> 0; false -> 20 end, fun() -> gen_server:call(asked_server, ask, infinity) end)
     || _ <- lists:seq(1, 8)],
    Name.

%% Opening a pipe lasts until somebody else has opened it, too.
disk_slow(Ill) ->
    Name = fifo(),
    Open = "while kill -0 " ++ os:getpid() ++ " && [ -p " ++ Name ++ " ]; do sleep 0.06; : <> " ++ Name ++ "; done",
    spawn(fun() -> open_port({spawn, "sh -c '" ++ Open ++ "'"}, []), receive never -> ok end end),
    named(journal, fun() -> write_journal(case Ill of true -> Name; false -> "/dev/null" end, Ill) end).

write_journal(Name, Ill) ->
    case file:open(Name, [read, raw]) of
        {ok, File} -> file:close(File);
        {error, _} -> ok
    end,
    %% while the other end is open for a moment, many would be quick
    timer:sleep(case Ill of true -> 5; false -> 60 end),
    write_journal(Name, Ill).

%% The peer reads what comes at once in small pieces; then all is well until more comes.
port_suspends(Ill) ->
    {ok, Listen} = gen_tcp:listen(0, [binary, {active, false}, {recbuf, 4096}, {ip, {127, 0, 0, 1}}]),
    {ok, Number} = inet:port(Listen),
    spawn(fun() ->
        {ok, Socket} = gen_tcp:connect({127, 0, 0, 1}, Number, [binary, {sndbuf, 4096}]),
        send_often(Socket, case Ill of true -> 600000; false -> 100 end)
    end),
    {ok, Peer} = gen_tcp:accept(Listen),
    spawn(fun() -> receive peer -> read_slowly(Peer) end end) ! peer,
    any.

%% What is sent while something else waits makes the port busy.
send_often(Socket, Bytes) ->
    [gen_tcp:send(Socket, <<0:(Bytes * 4)>>) || _ <- [1, 2]],
    timer:sleep(700),
    send_often(Socket, Bytes).

read_slowly(Peer) ->
    case gen_tcp:recv(Peer, 0) of
        {ok, Bytes} when byte_size(Bytes) > 1000 -> timer:sleep(1), read_slowly(Peer);
        {ok, _} -> read_slowly(Peer);
        _ -> ok
    end.

%% A request in two small pieces: the second waits for the acknowledgement of the first, and that for something to go with.
sends_held(Ill) ->
    {ok, Listen} = gen_tcp:listen(0, [binary, {active, false}, {packet, 2}, {nodelay, true}, {ip, {127, 0, 0, 1}}]),
    {ok, Number} = inet:port(Listen),
    spawn(fun() ->
        {ok, Socket} = gen_tcp:connect({127, 0, 0, 1}, Number, [binary, {active, false}, {packet, 2}, {nodelay, not Ill}]),
        ask_in_pieces(Socket)
    end),
    {ok, Peer} = gen_tcp:accept(Listen),
    spawn(fun() -> receive peer -> answer_pieces(Peer) end end) ! peer,
    list_to_atom("to 127.0.0.1:" ++ integer_to_list(Number)).

ask_in_pieces(Socket) ->
    [ok = gen_tcp:send(Socket, Piece) || Piece <- [<<"head">>, <<"body">>]],
    {ok, _} = gen_tcp:recv(Socket, 0),
    receive never -> ok after 5 -> ask_in_pieces(Socket) end.

answer_pieces(Peer) ->
    {ok, _} = gen_tcp:recv(Peer, 0),
    {ok, Body} = gen_tcp:recv(Peer, 0),
    ok = gen_tcp:send(Peer, Body),
    answer_pieces(Peer).

%% A product of two large integers is calculated at one go.
scheduler_held(Ill) ->
    Factor = find_factor(1 bsl 18, 50000),
    named(multiplier, fun() -> multiply(case Ill of true -> Factor; false -> 7 end) end).

%% One whose square takes so many microseconds.
find_factor(Bits, Least) ->
    Factor = (1 bsl Bits) - 1,
    {Us, _} = timer:tc(fun() -> Factor * Factor end),
    case Us > Least orelse Bits > 1 bsl 25 of
        true -> Factor;
        false -> find_factor(Bits * 5 div 4, Least)
    end.

multiply(Factor) ->
    Factor * Factor > 0 andalso timer:sleep(100),
    multiply(Factor).

gc_costs(Ill) ->
    named(collector, fun() -> collect(lists:seq(1, case Ill of true -> 3500000; false -> 1000 end)) end).

collect(List) ->
    garbage_collect(),
    timer:sleep(100),
    length(List) > 0 andalso collect(List).

%% ---- the machine

%% Whatever it runs ends with this VM, however that ends.
beside(Command) -> open_port({spawn, "sh -c '" ++ Command ++ "'"}, []).
lives() -> "kill -0 " ++ os:getpid() ++ " 2>/dev/null".

halted(Ill) ->
    Ill andalso spawn(fun() -> timer:sleep(500), os:cmd("kill -STOP " ++ os:getpid()) end),
    any.

%% To be started as root, who may make a control group.
throttled(Ill) ->
    os:cmd("bash -c '" ++ quota_group() ++ "'"),
    Busy = case Ill of true -> 20000; false -> 100 end,
    [spawn(fun() -> spin_and_rest(Busy) end) || _ <- lists:seq(1, 4)],
    timer:sleep(500),
    any.

%% Two fifths of a processor, by version 2 or 1 of control groups.
quota_group() ->
    "if [ -f /sys/fs/cgroup/cgroup.controllers ]; then g=/sys/fs/cgroup/zoo." ++ os:getpid() ++ "; mkdir $g;"
    " echo 40000 100000 > $g/cpu.max; else g=/sys/fs/cgroup/cpu/zoo." ++ os:getpid() ++ "; mkdir $g;"
    " echo 100000 > $g/cpu.cfs_period_us; echo 40000 > $g/cpu.cfs_quota_us; fi;"
    " echo " ++ os:getpid() ++ " > $g/cgroup.procs".

spin_and_rest(Us) -> spin(Us), timer:sleep(10), spin_and_rest(Us).

starved(Ill) ->
    Hog = "while " ++ lives() ++ "; do :; done",
    [beside(Hog) || Ill, _ <- lists:seq(1, 4 * erlang:system_info(schedulers))],
    [spawn(fun() -> spin_and_rest(5000) end) || _ <- lists:seq(1, erlang:system_info(schedulers))],
    receive never -> ok after 500 -> any end.

%% To be started with +sbwt very_long.
busy_waiting(Ill) ->
    [each(1 + N rem 9, fun() -> ok end) || Ill, N <- lists:seq(1, 200)],
    any.

%% Keys take as long as primes are hard to find.
dirty_cpu_full(Ill) ->
    {ok, _} = application:ensure_all_started(crypto),
    {Bits, Count} = case Ill of true -> {8192, 4 * erlang:system_info(dirty_cpu_schedulers)}; false -> {512, 1} end,
    [spawn(fun() -> make_keys(Bits) end) || _ <- lists:seq(1, Count)],
    timer:sleep(500),
    any.

make_keys(Bits) ->
    crypto:generate_key(rsa, {Bits, 65537}),
    timer:sleep(200),
    make_keys(Bits).

long_native(Ill) ->
    Factor = find_factor(1 bsl 20, 700000),
    named(multiplier, fun() -> multiply(case Ill of true -> Factor; false -> 7 end) end).

%% Bound to one scheduler by an option that is not documented.
queues_uneven(Ill) ->
    Options = case Ill of true -> [{scheduler, 1}]; false -> [] end,
    [spawn_opt(fun() -> spin_on(Ill) end, Options) || _ <- lists:seq(1, 12)],
    any.

spin_on(Ill) ->
    spin(1000),
    Ill orelse timer:sleep(20),
    spin_on(Ill).

%% ---- other nodes

%% To be started with +zdbbl 64, and with a small buffer of connections.
node_busy(Ill) ->
    send_to_peer(case Ill of
                     true -> "kill -STOP $p; while ~s; do sleep .2; done";
                     false -> "while ~s; do sleep .2; done"
                 end).

node_suspends(Ill) ->
    send_to_peer(case Ill of
                     true -> "while ~s; do kill -STOP $p; sleep .2; kill -CONT $p; sleep .3; done";
                     false -> "while ~s; do sleep .2; done"
                 end).

%% A node of this machine's erl, and a shell beside it that does what is to be done to it.
send_to_peer(Then) ->
    _ = os:cmd("epmd -daemon"),
    {ok, _} = net_kernel:start([list_to_atom("zoo_" ++ os:getpid() ++ "@127.0.0.1"), longnames]),
    Name = "zoo_peer_" ++ os:getpid() ++ "@127.0.0.1",
    Peer = list_to_atom(Name),
    Run = "erl -noinput -name " ++ Name ++ " -setcookie " ++ atom_to_list(erlang:get_cookie()) ++
        " -kernel inet_dist_listen_options \"[{recbuf,65536}]\" & p=$!; read go; ",
    Port = open_port({spawn, "bash -c '" ++ Run ++ lists:flatten(io_lib:format(Then, [lives()])) ++ "; kill -9 $p'"}, []),
    await_peer(Peer),
    named(sender, fun() -> send_packets({sink, Peer}) end),
    timer:sleep(500),
    port_command(Port, "go\n"),
    timer:sleep(1500),
    Peer.

await_peer(Peer) -> net_kernel:connect_node(Peer) =:= true orelse begin timer:sleep(100), await_peer(Peer) end.

send_packets(To) ->
    To ! <<0:(16384 * 8)>>,
    timer:sleep(1),
    send_packets(To).

%% One for each scheduler works for ten seconds at a time, before all others: in any four seconds they wait for more than one.
never_run(Ill) ->
    Priority = case Ill of true -> high; false -> normal end,
    [erlang:spawn_opt(?MODULE, hog, [], [{priority, Priority}])
     || _ <- lists:seq(1, erlang:system_info(schedulers_online))],
    'zoo:hog/0'.

hog() ->
    receive never -> ok after 200 -> spin(10000000) end,
    hog().

%% A driver whose file is a pipe that nobody writes to: who loads it sleeps in the kernel, and a server that is bound to
%% the same scheduler has a message. (The option is not documented.)
scheduler_asleep(Ill) ->
    File = "zoo_asleep.so",
    file:delete(File),
    case Ill of true -> os:cmd("mkfifo " ++ File); false -> file:write_file(File, "no driver") end,
    Bound = [{scheduler, 1}],
    register(bound_server, spawn_opt(fun take_all/0, Bound)),
    register(loader, spawn_opt(fun() -> timer:sleep(300), load_driver() end, Bound)),
    loader.

load_driver() ->
    bound_server ! work,
    {error, _} = erl_ddll:try_load(".", "zoo_asleep", []),
    timer:sleep(10),
    load_driver().

%% Who waits in a module that is loaded anew twice is in old code then, and killed. Healed, nobody waits in it.
purge_kills(Ill) ->
    Wait = {'receive', 1, [{clause, 1, [{atom, 1, never}], [], [{atom, 1, ok}]}]},
    {ok, zoo_worker, Code} = compile:forms([{attribute, 1, module, zoo_worker}, {attribute, 1, export, [{wait, 0}]},
                                            {function, 1, wait, 0, [{clause, 1, [], [], [Wait]}]}]),
    each(200, fun() ->
        {module, zoo_worker} = code:load_binary(zoo_worker, "", Code),
        [spawn(zoo_worker, wait, []) || Ill, _ <- lists:seq(1, 3)],
        code:purge(zoo_worker)
    end),
    zoo_worker.

%% One compares two terms that are small and large at once, which nothing ends, while old code is purged.
purge_hangs(Ill) ->
    {ok, zoo_part, Code} = compile:forms([{attribute, 1, module, zoo_part}]),
    [load_part(Code) || _ <- [current, old]],
    Depth = case Ill of true -> 40; false -> 10 end,
    %% Timers of a scheduler that is held do not run, and one that sleeps does not see what waits behind that: it is woken.
    Others = [{scheduler, N} || N <- lists:seq(2, erlang:system_info(schedulers))],
    [spawn_opt(fun tick/0, [Other]) || Other <- Others],
    Start = fun() -> timer:sleep(300), compare(share(Depth), share(Depth)) end,
    register(comparer, spawn_opt(Start, [{scheduler, 1}])),
    spawn_opt(fun() -> timer:sleep(600), purge_again(Code) end, lists:sublist(Others, 1)),
    comparer.

compare(A, B) ->
    A =:= B orelse exit(differs),
    timer:sleep(20),
    compare(A, B).

purge_again(Code) ->
    code:purge(zoo_part),
    load_part(Code),
    timer:sleep(20),
    purge_again(Code).

load_part(Code) -> {module, zoo_part} = code:load_binary(zoo_part, "zoo_part", Code).
