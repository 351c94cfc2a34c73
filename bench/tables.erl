%% SPDX-License-Identifier: Apache-2.0
%% What is found in tables of the VM, by one process and by two at once, each bound to a scheduler of its own: lines
%% `NAME NS_A_CALL`. Each of the two finds in another table of ets than the other, so that they meet only where tables are
%% found; but for `one_name`, which all read. The median of several batches counts: in the least, one may have run when the other had ended.
-module(tables).
-export([main/0]).

-define(BATCHES, 9).

main() ->
    ets:new(one_name, [named_table, public, {read_concurrency, true}]),
    ets:insert(one_name, {key, 1, <<"value">>}),
    [io:format("~s_by_~b ~.1f~n", [Name, N, time(Make, N, Calls)]) || {Name, Calls, Make} <- rows(), N <- [1, 2]],
    halt(0).

%% Of each row what a process calls so many times, made by that process.
rows() ->
    [{ets_lookup_by_name, 200000, fun() -> T = table([named_table]), fun() -> ets:lookup(T, key) end end},
     {ets_lookup_of_one_name, 200000, fun() -> fun() -> ets:lookup(one_name, key) end end},
     {ets_lookup_by_reference, 200000, fun() -> T = table([]), fun() -> ets:lookup(T, key) end end},
     {ets_whereis, 200000, fun() -> T = table([named_table]), fun() -> ets:whereis(T) end end},
     {ets_new_and_delete_named, 20000, fun() -> fun() -> ets:delete(table([named_table])) end end},
     {port_info, 200000, fun() -> P = port(), fun() -> erlang:port_info(P, id) end end},
     {port_open_and_close, 20000, fun() -> fun() -> port_close(port()) end end}].

%% Names are a process's own: one that has ended may still have its table.
table(Options) ->
    T = ets:new(list_to_atom(pid_to_list(self())), [public | Options]),
    ets:insert(T, {key, 1, <<"value">>}),
    T.

port() -> open_port({spawn_driver, "ram_file_drv"}, []).

time(Make, N, Calls) ->
    lists:nth(?BATCHES div 2 + 1, lists:sort([batch(Make, N, Calls) || _ <- lists:seq(1, ?BATCHES)])).

batch(Make, N, Calls) ->
    Self = self(),
    Pids = [spawn_opt(fun() -> work(Self, Make(), Calls) end, [link, {min_heap_size, 100000}, {scheduler, I}])
        || I <- lists:seq(1, N)],
    [receive {P, ready} -> ok end || P <- Pids],
    [P ! go || P <- Pids],
    lists:sum([receive {P, T} -> T end || P <- Pids]) / N / Calls.

work(Parent, Call, Calls) ->
    Call(),
    Parent ! {self(), ready},
    receive go -> ok end,
    Begin = erlang:monotonic_time(),
    repeat(Call, Calls),
    Ns = erlang:convert_time_unit(erlang:monotonic_time() - Begin, native, nanosecond),
    Parent ! {self(), Ns}.

repeat(_, 0) -> ok;
repeat(Call, N) -> Call(), repeat(Call, N - 1).
