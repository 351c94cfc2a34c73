%% SPDX-License-Identifier: Apache-2.0
%% Reads a crash dump with OTP's own reader and prints what dump_make left in it, in words that are the same for every VM.
-module(dump_read).
-export([main/1]).
-include_lib("stdlib/include/assert.hrl").

%% Fields are told by their place: the records are not published.

main([File]) ->
    {ok, _} = crashdump_viewer:start_link(),
    ok = crashdump_viewer:read_file(File),
    Info = wait_for_general(1000),
    p(slogan, element(3, Info)),
    p(node, element(7, Info)),
    ?assert(list_to_integer(element(8, Info)) > 1000), % atoms
    {ok, Processes, []} = crashdump_viewer:processes(),
    ?assert(length(Processes) > 20),
    [Pid] = [element(2, P) || P <- Processes, element(3, P) =:= "dumped_process"],
    {ok, Details, []} = crashdump_viewer:proc_details(pid_to_list(Pid)),
    details(Details),
    {ok, Tables, []} = crashdump_viewer:ets_tables(all),
    p(tables, [{element(5, T), element(9, T)} || T <- Tables, element(5, T) =:= "dumped_table"]),
    {ok, Timers, []} = crashdump_viewer:timers(all),
    p(timers, [timer || T <- Timers, string:find(element(4, T), "dumped_timer") =/= nomatch]),
    {ok, Modules, []} = crashdump_viewer:loaded_modules(),
    p(module, [dump_make || M <- Modules, element(2, M) =:= {<<"dump_make">>, nq}]),
    {ok, Atoms, []} = crashdump_viewer:atoms(),
    p(atom, [found || A <- Atoms, string:find(io_lib:format("~p", [A]), "dumped_process") =/= nomatch]),
    {ok, Memory, []} = crashdump_viewer:memory(),
    p(memory, [K || {K, V} <- Memory, lists:member(K, [total, processes, atom, code, ets]), list_to_integer(V) > 0]),
    halt().

%% The file is read in another process; the reader of OTP 29 ends when it is asked before it has one.
wait_for_general(0) ->
    timeout;
wait_for_general(N) ->
    case element(2, sys:get_state(crashdump_viewer_server)) =/= undefined andalso crashdump_viewer:general_info() of
        {ok, Info, []} when element(8, Info) =/= undefined -> Info;
        _ -> timer:sleep(10), wait_for_general(N - 1)
    end.

details(D) ->
    p(spawned_as, element(4, D)),
    p(state, element(7, D)),
    p(messages, [plain(M) || {M, _} <- element(10, D)]),
    p(links, length(element(12, D))),
    p(dictionary, [E || L <- tuple_to_list(D), is_list(L), {dictionary_key, _} = E <- L]),
    p(current, string:find(element(15, D), "dump_make:deep/2") =/= nomatch),
    Stack = lists:last([L || L <- tuple_to_list(D), is_list(L), is_tuple(catch hd(L)), tuple_size(hd(L)) =:= 2,
                             lists:member(element(1, hd(L)), [y0, y1])]),
    p(stack, [plain(V) || {Y, V} <- Stack, Y =:= y0 orelse Y =:= y1, V =/= [], not is_catch(V)]),
    p(returns, length([R || {_, R} <- Stack, is_list(R), string:find(R, "dump_make:deep/2") =/= nomatch])).

is_catch(V) -> is_list(V) andalso lists:prefix("Catch", V).

%% Without numbers that are a VM's own.
plain(['#CDVBin', Offset, Size, _]) -> {binary, Offset, Size};
plain(['#CDVPid' | _]) -> pid;
plain(R) when is_reference(R) -> reference;
plain([H | T]) -> [plain(H) | plain(T)];
plain(M) when is_map(M) -> maps:to_list(M) =:= [] orelse lists:sort(maps:to_list(M));
plain(T) when is_tuple(T) -> list_to_tuple(plain(tuple_to_list(T)));
plain(T) -> T.

p(Name, Value) -> io:format("~p: ~0p~n", [Name, Value]).
