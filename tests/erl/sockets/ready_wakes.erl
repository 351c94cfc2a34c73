%% SPDX-License-Identifier: Apache-2.0
%% What becomes ready is dealt with, whoever waits for it: schedulers that have nothing else to do, one of them or more,
%% busy ones, and while the number of those that run changes. Nothing is timed: a wake-up that is lost leaves a
%% conversation waiting for ever.
%% expect: {gen_tcp,one,1600}
%% expect: {socket,one,1600}
%% expect: {gen_tcp,idle,1600}
%% expect: {socket,idle,1600}
%% expect: {gen_tcp,busy,1600}
%% expect: {socket,busy,1600}
%% expect: {gen_tcp,changing,1600}
%% expect: {socket,changing,1600}
%% expect: {gen_tcp,blocked,1600}
%% expect: {socket,blocked,1600}
%% expect: {closed,200}
%% expect: {slow,true}
-module(ready_wakes).
-export([main/0]).

-define(TALKS, 8).
-define(TRIPS, 200). % of each

main() ->
    [show({Kind, Load, talks(Kind, Load)}) || Load <- [one, idle, busy, changing, blocked], Kind <- [gen_tcp, socket]],
    show({closed, closed(200)}),
    show({slow, slow(os:find_executable("cat"))}),
    halt().

%% How many messages went there and back in all.
talks(Kind, Load) ->
    Loaded = load(Load),
    Pids = [spawn_monitor(fun() -> exit({trips, talk(Kind, N)}) end) || N <- lists:seq(1, ?TALKS)],
    Sum = lists:sum([receive {'DOWN', Ref, process, Pid, {trips, N}} -> N end || {Pid, Ref} <- Pids]),
    unload(Load, Loaded),
    Sum.

load(one) -> erlang:system_flag(schedulers_online, 1);
load(idle) -> none;
load(busy) -> [spawn_link(fun spin/0) || _ <- lists:seq(1, erlang:system_info(schedulers_online))];
load(changing) -> [spawn_link(fun() -> change(erlang:system_info(schedulers)) end)];
load(blocked) -> [spawn_link(fun block/0)].

unload(one, Before) -> erlang:system_flag(schedulers_online, Before);
unload(idle, none) -> ok;
unload(_, Pids) -> [begin P ! {stop, self()}, receive {stopped, P} -> ok end end || P <- Pids].

spin() ->
    receive {stop, From} -> stopped(From) after 0 -> lists:sum(lists:seq(1, 3000)), spin() end.

%% Schedulers come and go, with pauses in which the others fall asleep.
change(All) ->
    erlang:system_flag(schedulers_online, 1),
    receive after 1 -> ok end,
    erlang:system_flag(schedulers_online, All),
    receive {stop, From} -> stopped(From) after 1 -> change(All) end.

block() ->
    erlang:system_flag(multi_scheduling, block),
    receive after 1 -> ok end,
    erlang:system_flag(multi_scheduling, unblock),
    receive {stop, From} -> stopped(From) after 1 -> block() end.

stopped(From) ->
    unlink(From),
    From ! {stopped, self()}.

%% Every few trips somebody sleeps, so that timers wake who polls.
talk(Kind, N) ->
    {Here, There} = connected(Kind),
    Echo = spawn_link(fun() -> receive go -> echo(Kind, There) end end),
    ok = give(Kind, There, Echo),
    Echo ! go,
    Trips = trips(Kind, Here, N, 0),
    unlink(Echo),
    close(Kind, Here),
    Trips.

trips(_, _, _, ?TRIPS) -> ?TRIPS;
trips(Kind, S, N, Done) ->
    Message = <<N:32, Done:32>>,
    ok = send(Kind, S, Message),
    Message = get_8(Kind, S),
    case Done rem 50 of
        N -> receive after 1 -> ok end;
        _ -> ok
    end,
    trips(Kind, S, N, Done + 1).

connected(gen_tcp) ->
    {ok, L} = gen_tcp:listen(0, [binary, {ip, {127, 0, 0, 1}}, {active, false}, {nodelay, true}]),
    {ok, Port} = inet:port(L),
    {ok, Here} = gen_tcp:connect({127, 0, 0, 1}, Port, [binary, {active, false}, {nodelay, true}]),
    {ok, There} = gen_tcp:accept(L),
    ok = gen_tcp:close(L),
    {Here, There};
connected(socket) ->
    {ok, L} = socket:open(inet, stream, tcp),
    ok = socket:bind(L, #{family => inet, addr => {127, 0, 0, 1}, port => 0}),
    ok = socket:listen(L),
    {ok, Name} = socket:sockname(L),
    {ok, Here} = socket:open(inet, stream, tcp),
    ok = socket:connect(Here, Name),
    {ok, There} = socket:accept(L),
    ok = socket:close(L),
    {Here, There}.

give(gen_tcp, S, Pid) -> gen_tcp:controlling_process(S, Pid);
give(socket, S, Pid) -> socket:setopt(S, otp, controlling_process, Pid).

send(gen_tcp, S, Bytes) -> gen_tcp:send(S, Bytes);
send(socket, S, Bytes) -> socket:send(S, Bytes).

get_8(gen_tcp, S) -> {ok, Bytes} = gen_tcp:recv(S, 8), Bytes;
get_8(socket, S) -> {ok, Bytes} = socket:recv(S, 8), Bytes.

close(gen_tcp, S) -> gen_tcp:close(S);
close(socket, S) -> socket:close(S).

echo(gen_tcp, S) ->
    ok = inet:setopts(S, [{active, once}]),
    receive
        {tcp, S, Bytes} -> ok = gen_tcp:send(S, Bytes), echo(gen_tcp, S);
        {tcp_closed, S} -> ok
    end;
echo(socket, S) ->
    case socket:recv(S, 0) of
        {ok, Bytes} -> ok = socket:send(S, Bytes), echo(socket, S);
        {error, closed} -> socket:close(S)
    end.

%% One closes while another waits to receive from it.
closed(N) ->
    length([closed || _ <- lists:seq(1, N), begin
        {Here, There} = connected(socket),
        {Pid, Ref} = spawn_monitor(fun() -> exit(socket:recv(Here, 1)) end),
        await_waiting(Pid),
        ok = socket:close(Here),
        ok = socket:close(There),
        receive {'DOWN', Ref, process, Pid, Why} -> Why =:= {error, closed} end
    end]).

await_waiting(Pid) ->
    case process_info(Pid, [status, current_function]) of
        [{status, waiting}, _] -> ok;
        undefined -> ok;
        _ -> erlang:yield(), await_waiting(Pid)
    end.

%% What a program gives back, of much that it was given, with nobody else awake.
slow(Cat) ->
    P = open_port({spawn_executable, Cat}, [binary, stream]),
    Bytes = binary:copy(<<"0123456789">>, 100000),
    true = port_command(P, Bytes),
    Back = gather(P, byte_size(Bytes), []),
    port_close(P),
    Back =:= Bytes.

gather(_, 0, Parts) -> iolist_to_binary(lists:reverse(Parts));
gather(P, Left, Parts) -> receive {P, {data, Part}} -> gather(P, Left - byte_size(Part), [Part | Parts]) end.

show(T) -> io:format("~0p~n", [T]).
