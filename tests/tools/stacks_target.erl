%% SPDX-License-Identifier: Apache-2.0
%% What erlsnoop stacks is held against: known shares of time, known numbers of events.
-module(stacks_target).
-export([chain/0, links/1, plunges/0, plunge/1, swaps/0, swap/2, natives/0, use/1, crash/0, shares/0, spend/0, contend/0, spin/0, events/0, deep/0, dig/1, act/0, nap/1, storm/0, rage/1, servers/0, init/1, handle_call/3, handle_cast/2, handle_info/2]).

%% Three functions that spend 50, 30 and 20 parts of the time.
shares() ->
    register(shares, spawn(?MODULE, spend, [])),
    ready().

spend() ->
    K = 5 + abs(erlang:monotonic_time()) rem 11, half(5 * K), third(3 * K), fifth(2 * K), % not as long each time: a round may take as long as a sample
    spend().

half(N) -> work(N * 2000, 1), half.
third(N) -> work(N * 2000, 1), third.
fifth(N) -> work(N * 2000, 1), fifth.

work(0, A) -> A;
work(N, A) -> work(N - 1, (A * 17 + N) band 65535).

%% Two that always could run, and one that sleeps, on one scheduler.
contend() ->
    erlang:system_flag(schedulers_online, 1),
    [register(Name, spawn(?MODULE, spin, [])) || Name <- [first, second]],
    register(sleeper, spawn(?MODULE, nap, [1000000])),
    ready().

spin() -> spin().

%% Built-in functions in a loop, with many modules loaded.
natives() ->
    [code:ensure_loaded(list_to_atom(filename:basename(F, ".beam"))) ||
        L <- [stdlib, compiler], F <- filelib:wildcard(code:lib_dir(L) ++ "/ebin/*.beam")],
    register(natives, spawn(?MODULE, use, [0])),
    ready().

use(N) ->
    T = list_to_tuple(lists:duplicate(10, N)),
    _ = {erlang:phash2(T), term_to_binary(T), maps:from_list([{N, T}]), length(erlang:pre_loaded()), binary_to_list(list_to_binary("abc"))},
    self() ! lists:reverse(tuple_to_list(T)),
    receive _ -> use(N + 1) end.

%% A chain of functions, each with operations of several kinds before and after it calls the next.
chain() ->
    register(chain, spawn(?MODULE, links, [0])),
    ready().

links(N) -> first(N), links(N + 1).

first(N) ->
    A = <<N:16, 1>>, B = second({N, A}), #{N => B, 0 => A}.

second({N, A}) ->
    L = [N | binary_to_list(A)], M = #{N => L}, [third_of(M) | L].

third_of(M) ->
    [{K, L}] = maps:to_list(M), {K * 2.5, length(L), M#{K := <<K:32>>}}.

%% 40 functions deep comparing, hashing and looking up all the time.
plunges() ->
    register(plunge, spawn(?MODULE, plunge, [40])),
    ready().

plunge(0) -> churn(lists:seq(1, 300), lists:seq(1, 300), maps:from_list([{{N, N}, N} || N <- lists:seq(1, 100)]));
plunge(N) -> plunged(N - 1), N.

plunged(N) -> plunge(N - 1), N.

churn(A, B, Map) ->
    true = A =:= B andalso A =< B,
    #{{17, 17} := 17, {93, 93} := 93} = Map,
    _ = is_map_key({A, B}, Map),
    case get(done) of % without an end the compiler would leave the stack out
        undefined -> churn(B, A, Map);
        _ -> ok
    end.

%% When the file "go" is there: two modules take turns in being loaded, and in sending.
swaps() ->
    register(swaps, spawn(fun() -> wait(), swap(spawn(fun drain/0), 20), file:write_file("done", <<>>) end)),
    ready().

swap(_, 0) -> ok;
swap(Pid, N) ->
    [begin
         {module, Module} = code:load_file(Module),
         ok = Module:tell(Pid, Sends),
         timer:sleep(150), %% erlsnoop looks whose the code was while it is there
         true = code:delete(Module),
         false = code:purge(Module)
     end || {Module, Sends} <- [{here, 101}, {there, 103}]],
    swap(Pid, N - 1).

%% When the file "go" is there: 1000 spawns from 41 frames deep.
deep() ->
    register(deep, spawn(?MODULE, dig, [40])),
    ready().

dig(0) -> wait(), make(1000), file:write_file("done", <<>>);
dig(N) -> dug(N - 1), N.

dug(N) -> dig(N - 1), N.

%% When the file "go" is there: 23 spawns, 1009 sends, 7 naps of 20 ms.
events() ->
    register(actor, spawn(?MODULE, act, [])),
    ready().

ready() ->
    ok = file:write_file("ready", <<>>),
    receive after infinity -> ok end.

act() ->
    wait(),
    Pid = spawn(fun drain/0),
    make(22),
    tell(Pid, 1009),
    nap(7),
    ok = file:write_file("done", <<>>),
    receive after infinity -> ok end.

wait() ->
    case filelib:is_file("go") of
        true -> ok;
        false -> timer:sleep(50), wait()
    end.

%% A gen_server with many keys in its dictionary, and two processes of proc_lib, one of them with a fun: each wakes every 5 ms.
servers() ->
    {ok, _} = gen_server:start(?MODULE, [], []),
    proc_lib:spawn(?MODULE, nap, [1000000]),
    proc_lib:spawn(fun() -> nap(1000000) end),
    ready().

init(_) ->
    [put({key, N}, N) || N <- lists:seq(1, 211)],
    handle_info(tick, none),
    {ok, none}.

handle_call(_, _, State) -> {reply, ok, State}.
handle_cast(_, State) -> {noreply, State}.
handle_info(tick, State) ->
    erlang:send_after(5, self(), tick),
    {noreply, State}.

%% When the file "go" is there: 211 sends from 23 functions deep, and a little later the node ends.
crash() ->
    register(actor, spawn(fun() -> wait(), deep(23), nap(20), erlang:halt(1) end)),
    ready().

deep(0) -> tell(spawn(fun drain/0), 211), deep;
deep(N) -> deep(N - 1), deep.

drain() -> receive _ -> drain() end.

make(0) -> ok;
make(N) -> spawn(fun() -> ok end), make(N - 1).

tell(_, 0) -> ok;
tell(Pid, N) -> Pid ! N, tell(Pid, N - 1).

nap(0) -> ok;
nap(N) -> receive after 20 -> ok end, nap(N - 1).

%% On every CPU deep stacks through many modules, down to built-in functions: samples that cost much to name.
storm() ->
    [spawn(?MODULE, rage, [N]) || N <- lists:seq(1, 4)],
    ready().

rage(N) ->
    _ = descend(N, 40),
    rage(N + 1).

descend(N, 0) ->
    _ = erlang:md5(term_to_binary(lists:seq(1, 200))),
    _ = string:uppercase(io_lib:format("~p ~s~n", [{N, #{a => [N]}}, "text"])),
    _ = re:run("some text of no worth", "o.*[w]", []),
    _ = gb_sets:from_list([N rem K || K <- lists:seq(1, 20)]),
    1;
descend(N, Depth) ->
    [Deeper] = lists:map(fun(D) -> maps:fold(fun(_, V, A) -> A + descend(N, V) end, 0, #{d => D}) end, [Depth - 1]),
    Deeper + 1.
