%% SPDX-License-Identifier: Apache-2.0
%% What tests of tools run on a stock emulator: work/1 makes the file "ready", waits for the file "go", does what it is asked for a known number
%% of times, makes the file "done", and waits for "end". Waiting sends no message and makes no process.
-module(stock_target).
-export([work/1, init/1, child/0, crash/1, die/1, echo/2, answer/1, look/0, burn/1, collect/1]).

work([load]) ->
	alone(10),
	Children = [spawn_link(?MODULE, burn, [0]) || _ <- lists:seq(1, 7)],
	go_on(fun() -> [exit(P, kill) || P <- Children, unlink(P)] end);
work(What) ->
	alone(10),
	go_on(What).

go_on(What) ->
	ok = prim_file:write_file("ready", <<>>),
	wait("go"),
	do(What),
	ok = prim_file:write_file("done", <<>>),
	wait("end"),
	halt().

%% Returns when nobody else ran or wanted to, however often it looked: what the start has to do is done.
alone(0) -> ok;
alone(N) ->
	receive after 20 -> ok end,
	alone(case erlang:statistics(total_active_tasks_all) of 1 -> N - 1; _ -> 10 end).

wait(File) ->
	case prim_file:read_file_info(File) of
		{ok, _} -> ok;
		_ -> receive after 20 -> wait(File) end
	end.

do(Fun) when is_function(Fun) ->
	Fun();
%% 23 end with a reason, 7 normally, 5 are asked for asynchronously.
do([spawns]) ->
	[down(spawn_monitor(?MODULE, crash, [I])) || I <- lists:seq(1, 23)],
	[down(spawn_monitor(?MODULE, child, [])) || _ <- lists:seq(1, 7)],
	[begin
		R = spawn_request(?MODULE, child, [], [monitor]),
		receive {spawn_reply, R, ok, P} -> down({P, R}) end
	end || _ <- lists:seq(1, 5)];
%% No two reasons of a kind are equal, but for what is kept of them.
do([reasons]) ->
	[lists:foreach(fun(I) -> down(spawn_monitor(?MODULE, die, [Reason(I)])) end, lists:seq(1, N)) || {N, Reason} <- reasons()];
%% 9 calls that return, and 5 that throw.
do([erpc]) ->
	[1 = erpc:call(node(), erlang, abs, [-1], 5000) || _ <- lists:seq(1, 9)],
	[a = catch erpc:call(node(), erlang, throw, [a], 5000) || _ <- lists:seq(1, 5)];
%% 11 servers, 3 with names, 2 supervisors, 5 managers of events; 13 by proc_lib, 7 with a fun.
do([behaviours]) ->
	[{ok, _} = gen_server:start(?MODULE, server, []) || _ <- lists:seq(1, 8)],
	[{ok, _} = gen_server:start({local, N}, ?MODULE, server, []) || N <- [one, two, three]],
	[{ok, _} = supervisor:start_link(?MODULE, supervisor) || _ <- lists:seq(1, 2)],
	[{ok, _} = gen_event:start() || _ <- lists:seq(1, 5)],
	[proc_lib:spawn(?MODULE, child, []) || _ <- lists:seq(1, 13)],
	[proc_lib:spawn(fun child/0) || _ <- lists:seq(1, 7)];
%% 13 that proc_lib begins, each with a message that is there before.
do([begun]) ->
	[proc_lib:spawn(?MODULE, child, []) ! early || _ <- lists:seq(1, 13)];
%% 1,009 messages and 1,009 answers.
do([ring]) ->
	P = spawn(?MODULE, echo, [self(), 1009]),
	[begin P ! {m, I}, receive ok -> ok end end || I <- lists:seq(1, 1009)];
%% 23 collections that are asked for, of one process.
do([collections]) ->
	down(spawn_monitor(?MODULE, collect, [23]));
%% 101 datagrams, 53 timers, 31 'EXIT' and 29 signals that are none, and 17 'DOWN'.
do([origins]) ->
	Take = fun(Name, N, Flag) ->
		P = spawn(fun() -> process_flag(trap_exit, Flag), register(Name, self()), receive {go, F} -> F() end, take(N) end),
		receive after 20 -> P end
	end,
	Me = self(),
	Down = fun(P) -> R = monitor(process, P), receive {'DOWN', R, process, P, _} -> ok end end,
	Udp = Take(datagrams, 101, false),
	Udp ! {go, fun() -> {ok, U} = gen_udp:open(0, [binary, {ip, {127, 0, 0, 1}}, {active, true}]), Me ! inet:port(U) end},
	{ok, Port} = receive X -> X end,
	{ok, C} = gen_udp:open(0, []),
	[begin ok = gen_udp:send(C, {127, 0, 0, 1}, Port, <<"x">>), receive after 1 -> ok end end || _ <- lists:seq(1, 101)],
	Down(Udp),
	Timed = Take(timed, 53, false),
	Timed ! {go, fun() -> ok end},
	[erlang:send_after(N, Timed, x) || N <- lists:seq(1, 53)],
	Down(Timed),
	Linked = Take(trapping, 31, true),
	Linked ! {go, fun() -> ok end},
	[exit(Linked, I) || I <- lists:seq(1, 20)],
	[spawn(fun() -> link(Linked), exit(harmless) end) || _ <- lists:seq(1, 11)],
	Down(Linked),
	Deaf = Take(deaf, 1, false),
	Deaf ! {go, fun() -> ok end},
	[exit(Deaf, normal) || _ <- lists:seq(1, 29)],
	Deaf ! last,
	Down(Deaf),
	Watch = Take(watching, 17, false),
	Watch ! {go, fun() -> [monitor(process, spawn(?MODULE, child, [])) || _ <- lists:seq(1, 17)] end},
	Down(Watch);
%% 211 requests and 211 replies, which go to aliases.
do([calls]) ->
	P = spawn(?MODULE, answer, [211]),
	[begin
		R = monitor(process, P, [{alias, reply_demonitor}]),
		P ! {call, R, I},
		receive {R, I} -> ok end
	end || I <- lists:seq(1, 211)];
%% 307 messages to who calls a native on a dirty scheduler all the time.
do([natives]) ->
	P = spawn(?MODULE, look, []),
	[begin P ! {m, I}, receive after 1 -> ok end end || I <- lists:seq(1, 307)],
	exit(P, kill);
%% 1,009 messages and answers; after every 5th a version of another module is loaded, run, and purged.
do([reload]) ->
	Beams = [beam(reloaded, N) || N <- [1, 2]],
	P = spawn(?MODULE, echo, [self(), 1009]),
	[begin
		P ! {m, I},
		receive ok -> ok end,
		I rem 5 =:= 0 andalso reload(lists:nth(1 + I div 5 rem 2, Beams))
	end || I <- lists:seq(1, 1009)];
%% A module is loaded and purged 5,003 times.
do([purges]) ->
	{1, Beam} = beam(reloaded, 1),
	[begin
		{module, reloaded} = code:load_binary(reloaded, "reloaded", Beam),
		code:purge(reloaded)
	end || _ <- lists:seq(1, 5003)];
%% 8 opens (3 fail), 5 closes, 29 writes of 31 bytes, 7 reads, 13 renames (2 fail), 11 deletes, 2 directories made and deleted.
do([files]) ->
	[file(I) || I <- lists:seq(1, 5)],
	[{error, enoent} = file:open("none/x", [read, raw]) || _ <- lists:seq(1, 3)],
	[ok = prim_file:rename("f1", "f1") || _ <- lists:seq(1, 11)],
	[{error, enoent} = prim_file:rename("missing", "new") || _ <- lists:seq(1, 2)],
	[ok = prim_file:delete("f" ++ integer_to_list(I)) || I <- lists:seq(1, 5)],
	[{error, enoent} = prim_file:delete("missing") || _ <- lists:seq(1, 6)],
	[ok = prim_file:make_dir(D) || D <- ["d1", "d2"]],
	[ok = prim_file:del_dir(D) || D <- ["d1", "d2"]].

file(I) ->
	{ok, F} = file:open("f" ++ integer_to_list(I), [write, read, raw, binary]),
	[ok = file:write(F, binary:copy(<<"x">>, 31)) || _ <- lists:seq(1, case I of 1 -> 17; _ -> 3 end)],
	I =:= 1 andalso [{ok, _} = file:pread(F, J, 5) || J <- lists:seq(1, 7)],
	ok = file:close(F).

reasons() ->
	[{20011, fun(I) -> {bye, I} end}, {10007, fun(I) -> {bye, I, make_ref()} end}, {9001, fun(I) -> {{bad, I}, [x, I]} end},
	 {1009, fun(I) -> 1000 + I end}, {701, fun(I) -> {-1000000000000000000000 - I, x} end}, {601, fun(I) -> I / 7 end},
	 {503, fun(I) -> #{a => I} end}, {401, fun(I) -> [a, I] end}, {307, fun(I) -> "text " ++ integer_to_list(I) end},
	 {211, fun(I) -> {[I, a], I} end}, {199, fun(I) -> <<I:64, "bytes">> end}, {101, fun(_) -> {make_ref(), 1} end},
	 {59, fun(I) -> {make_ref(), return, I} end}, {3, fun(I) -> {make_ref(), return, I, I} end},
	 {97, fun(I) -> {fun() -> I end, 1} end}, {89, fun(_) -> {self(), 1} end}, {83, fun(_) -> {{{a, b}, c}, d} end},
	 {79, fun(I) -> {'it\'s \\ odd', I} end}, {73, fun(_) -> [] end}, {71, fun(_) -> {} end}, {67, fun(_) -> -17 end}].

die(X) -> exit(X).

look() ->
	{ok, _} = prim_file:read_file_info("."),
	receive {m, _} -> look() after 0 -> look() end.

%% A version of a module whose function waits for one message.
beam(Module, N) ->
	{ok, Module, Beam} = compile:forms([{attribute, 1, module, Module}, {attribute, 2, export, [{list_to_atom("wait" ++ integer_to_list(N)), 0}]},
		{function, 3, list_to_atom("wait" ++ integer_to_list(N)), 0,
			[{clause, 3, [], [], [{'receive', 3, [{clause, 3, [{var, 3, '_'}], [], [{atom, 3, ok}]}]}]}]}]),
	{N, Beam}.

reload({N, Beam}) ->
	{module, reloaded} = code:load_binary(reloaded, "reloaded", Beam),
	{P, R} = spawn_monitor(reloaded, list_to_atom("wait" ++ integer_to_list(N)), []),
	receive after 1 -> ok end,
	P ! go,
	down({P, R}),
	true = code:delete(reloaded),
	code:purge(reloaded).

down({P, R}) -> receive {'DOWN', R, process, P, _} -> ok end.

init(server) -> {ok, none};
init(supervisor) -> {ok, {#{}, []}}.

child() -> ok.
collect(N) -> [erlang:garbage_collect() || _ <- lists:seq(1, N)].
crash(X) -> exit({stock_reason, X}).

echo(_, 0) -> ok;
echo(P, N) -> receive {m, _} -> P ! ok end, echo(P, N - 1).

%% Spawns and sends for ever.
burn(N) ->
	down(spawn_monitor(?MODULE, child, [])),
	self() ! N,
	receive M -> burn(M + 1) end.

take(0) -> ok;
take(N) -> receive _ -> take(N - 1) end.

answer(0) -> ok;
answer(N) -> receive {call, A, I} -> A ! {A, I} end, answer(N - 1).
