%% SPDX-License-Identifier: Apache-2.0
%% A node with one process, hub, whose links, monitors, messages and dictionary are known, with two, post and box, whose
%% calls are, and with ETS tables of each kind. It says all of it, a line each as the test prints what erlsnoop tells, and stays until its input ends.
-module(ps_target).
-export([main/0]).

main() ->
    Main = self(),
    Watched = [spawn(fun rest/0) || _ <- lists:seq(1, 3)],
    register(known_one, spawn(fun rest/0)),
    Hub = spawn(fun() -> be_hub(Main, Watched) end),
    register(hub, Hub),
    Linked = receive {hub, Pids} -> Pids end,
    [watch(Hub) || _ <- lists:seq(1, 7)],
    send(Hub),
    call_post(),
    register(watcher, spawn(fun() -> receive watch -> [monitor(process, hub) || _ <- lists:seq(1, 101)], rest() end end)),
    Tables = make_tables(),
    say_hub(Hub),
    [say_table(T) || T <- Tables],
    io:format("said tables ~b~n", [length(ets:all())]),
    garbage_collect(),
    [io:format("said memory ~s ~b~n", [Kind, Bytes]) || {Kind, Bytes} <- erlang:memory()], % which makes atoms
    Nothing = os:getenv("NO_SUCH_VARIABLE", ""), % so that the compiler does not make the atoms
    _ = list_to_atom("an \e[31m evil\n one" ++ Nothing),
    _ = list_to_atom("the_newest" ++ Nothing),
    io:format("said atoms ~b~n", [erlang:system_info(atom_count)]),
    io:format("ready ~p~n", [length(Linked)]),
    io:get_line(""),
    [list_to_atom("made_" ++ integer_to_list(N)) || N <- lists:seq(1, 211)],
    watcher ! watch,
    io:format("made~n"),
    io:get_line(""),
    erlang:halt(0).

rest() -> receive never -> ok end.

watch(Hub) ->
    Me = self(),
    Pid = spawn(fun() -> monitor(process, Hub), Me ! watches, rest() end),
    receive watches -> Pid end.

be_hub(Main, Watched) ->
    Linked = [spawn_link(fun rest/0) || _ <- lists:seq(1, 5)],
    Gone = spawn_link(fun rest/0),
    unlink(Gone),
    _ = open_port({spawn, "cat"}, []),
    [monitor(process, P) || P <- Watched],
    monitor(process, known_one),
    demonitor(monitor(process, hd(Watched))),
    put(key_a, {value, 1, <<"secret">>}),
    put({two, 2}, "secret"),
    put(<<"text">>, 3.5),
    [put({many, N}, N) || N <- lists:seq(1, 11)],
    Main ! {hub, Linked},
    rest().

send(Hub) ->
    [Hub ! {'$gen_call', {self(), [alias | make_ref()]}, {put, N}} || N <- lists:seq(1, 5)],
    [Hub ! {'$gen_cast', {stop, list_to_binary(lists:duplicate(N, $x))}} || N <- [5, 7, 8]],
    [Hub ! M || M <- [binary:copy(<<1>>, 1000), binary:copy(<<2>>, 1023)]],
    Hub ! {"secret", [1, 2, 3, 4, 5, 6, 7, 8, 9], #{a => 1, <<"k">> => []}, 1 bsl 100, -1.5, fun rest/0},
    Hub ! <<5:3>>,
    <<_:1/binary, Part/binary>> = binary:copy(<<"part">>, 100),
    Hub ! {part, Part, maps:from_list([{N, N} || N <- lists:seq(1, 100)])}.

%% 37 calls of post, which takes none: 11 callers have given up and 13 ended; of the other 13 all wait, 5 with a timeout,
%% 7 without, one by an alias that is no monitor's. 3 messages are no calls. box gets 3 calls of such callers: one lives
%% and waits for none of them, one has ended, one's tag is no alias, so that it may wait.
call_post() ->
    Main = self(),
    register(post, Post = spawn(fun rest/0)),
    Call = fun(Timeout) -> catch gen_server:call(post, {ask, Timeout}, Timeout), Main ! {gave_up, self()}, rest() end,
    GiveUp = [spawn(fun() -> Call(1) end) || _ <- lists:seq(1, 11)],
    [receive {gave_up, Pid} -> ok end || Pid <- GiveUp],
    Callers = [spawn(fun() -> Call(T) end) || T <- lists:duplicate(18, 3600000) ++ lists:duplicate(7, infinity)],
    spawn(fun() -> post ! {'$gen_call', {self(), [[alias | alias()] | more]}, by_alias}, Main ! asked, rest() end),
    receive asked -> ok end,
    [Post ! {self(), N, no_call} || N <- lists:seq(1, 3)],
    until(fun() -> process_info(Post, message_queue_len) =:= {message_queue_len, 40} end),
    {Killed, _} = lists:split(13, Callers),
    [kill(Pid) || Pid <- Killed],
    register(box, Box = spawn(fun rest/0)),
    [Box ! {label, {Pid, Tag}, request}
     || {Pid, Tag} <- [{Main, [alias | make_ref()]}, {hd(Killed), make_ref()}, {Main, make_ref()}]].

kill(Pid) ->
    Ref = monitor(process, Pid),
    exit(Pid, kill),
    receive {'DOWN', Ref, process, Pid, _} -> ok end.

until(Done) ->
    case Done() of
        true -> ok;
        false -> erlang:yield(), until(Done)
    end.

make_tables() ->
    Set = ets:new(own_set, [named_table, public]),
    [ets:insert(Set, {N, N}) || N <- lists:seq(1, 1009)],
    Fixed = ets:new(own_fixed, [bag, private, {keypos, 2}]),
    ets:insert(Fixed, [{x, N, y} || N <- lists:seq(1, 13)]),
    ets:safe_fixtable(Fixed, true),
    Squeezed = ets:new(own_squeezed, [duplicate_bag, compressed, {heir, whereis(known_one), data}]),
    ets:insert(Squeezed, [{same, lists:seq(1, 100)} || _ <- lists:seq(1, 17)]),
    Tree = ets:new(own_tree, [ordered_set, {read_concurrency, true}]),
    ets:insert(Tree, [{N} || N <- lists:seq(1, 23)]),
    Spread = ets:new(own_spread, [ordered_set, public, named_table, {write_concurrency, true}, {decentralized_counters, true}]),
    [ets:insert(Spread, {N}) || N <- lists:seq(1, 29)],
    Fine = ets:new(own_fine, [set, public, {write_concurrency, true}, {decentralized_counters, false}]),
    [ets:insert(Fine, {N}) || N <- lists:seq(1, 31)],
    Auto = ets:new(own_auto, [set, public, {write_concurrency, auto}]),
    [ets:insert(Auto, {N}) || N <- lists:seq(1, 37)],
    Deleted = ets:new(own_deleted, []),
    ets:delete(Deleted),
    [Set, Fixed, Squeezed, Tree, Spread, Fine, Auto].

say_hub(Hub) ->
    [{_, Links}, {_, Monitors}, {_, Watchers}, {_, Keys}, {_, Messages}] =
        process_info(Hub, [links, monitors, monitored_by, dictionary, messages]),
    [io:format("tie link ~s~n", [text(L)]) || L <- Links],
    [io:format("tie monitors ~s~n", [case W of {Name, _} -> atom_to_list(Name); _ -> text(W) end])
     || {process, W} <- Monitors],
    [io:format("tie monitored by ~s~n", [text(W)]) || W <- Watchers],
    io:format("said keys ~b messages ~b~n", [length(Keys), length(Messages)]).

text(Pid) when is_pid(Pid) -> pid_to_list(Pid);
text(Port) -> erlang:port_to_list(Port).

say_table(T) ->
    Get = fun(Item) -> ets:info(T, Item) end,
    Id = case Get(named_table) of true -> "true"; false -> "false " ++ ref_to_list(T) end,
    io:format("table ~s ~s ~s ~b ~b ~s ~b ~s~n",
              [Get(name), Id, Get(type), Get(size), Get(memory), Get(protection), Get(keypos), text(Get(owner))]).
