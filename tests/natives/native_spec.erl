%% SPDX-License-Identifier: Apache-2.0
%% What is known of native functions without calling them: which there are, the types of their arguments, and which
%% answers may be
%% compared between two VMs. For the programs that call every one of them (tests/natives, bench).
-module(native_spec).
-export([natives/0, spec/1, forms/1, plain/2, is_volatile/3]).

%% Those of the VM that this runs on, as {M, F, A}: built into it, or natives of its preloaded modules.
natives() ->
    Loaded = [{M, F, A} || M <- erlang:pre_loaded(), {F, A} <- M:module_info(nifs)],
    Builtin = [{M, F, A} || {M, _} <- code:all_loaded(), {F, A} <- M:module_info(functions), erlang:is_builtin(M, F,
        A)],
    lists:usort(erlang:system_info(snifs) ++ Builtin ++ Loaded).

%% ---- answers
%% What differs from run to run is named; what is deep or long is cut.
plain(_, 0) -> '...';
plain(X, _) when is_pid(X) -> pid;
plain(X, _) when is_port(X) -> port;
plain(X, _) when is_reference(X) -> reference;
plain(X, _) when is_function(X) -> 'fun';
plain(X, D) when is_map(X) -> {map, [plain(P, D - 1) || P <- lists:sublist(lists:sort(maps:to_list(X)), 20)]};
plain({re_pattern, A, B, C, X}, _) when is_binary(X) -> {re_pattern, A, B, C};
plain(X, D) when is_tuple(X), tuple_size(X) < 100 -> list_to_tuple([plain(E, D - 1) || E <- tuple_to_list(X)]);
plain(X, _) when is_tuple(X) -> {tuple_of, tuple_size(X)};
plain([H | T], D) -> [plain(H, D - 1) | plain_tail(T, D, 20)];
plain(X, _) when is_bitstring(X), bit_size(X) > 400 -> {bits, bit_size(X), erlang:phash2(X)};
plain(X, _) when is_integer(X), abs(X) > 1 bsl 200 -> {integer, erlang:phash2(X)};
plain(X, _) -> X.

plain_tail(_, _, 0) -> '...';
plain_tail([H | T], D, N) -> [plain(H, D - 1) | plain_tail(T, D, N - 1)];
plain_tail(T, D, _) -> plain(T, D - 1).

%% Their values tell of the machine, the moment or what ran before.
is_volatile(erlang, F, _) ->
    lists:member(F, [adler32_volatile, date, time, localtime, universaltime, now, timestamp, system_time,
        monotonic_time, time_offset,
                     unique_integer, memory, statistics, system_info, process_info, processes, ports, port_info,
                         registered,
                     garbage_collect, get_stacktrace, loaded, pre_loaded, get_module_info, system_profile,
                         system_monitor,
                     external_size, make_ref, md5_init, md5_update, get, get_keys, trace_info, bump_reductions, erase,
                         exit_signal, dist_ctrl_get_data,
                     pid_to_list, ref_to_list, port_to_list, fun_to_list, fun_info, nodes, read_timer, cancel_timer,
                         '!']);
is_volatile(erts_internal, _, _) -> true;
is_volatile(erts_debug, _, _) -> true;
is_volatile(os, F, _) -> lists:member(F, [system_time, timestamp, perf_counter, getpid, env, getenv, version]);
is_volatile(prim_file, F, _) -> lists:member(F, [read_info_nif, get_cwd_nif, get_cwd, list_dir_nif, get_device_cwd_nif,
    get_handle, read_file_info, read_link_info,
                                                              read_handle_info]);
is_volatile(persistent_term, F, _) -> F =:= info orelse F =:= get;
is_volatile(ets, F, A) ->
    lists:member(F, [all, internal_request_all]) orelse {F, A} =:= {info, 1} orelse {F, A} =:= {info, 2};
is_volatile(M, F, _) when M =:= atomics; M =:= counters -> F =:= info;
is_volatile(re, F, _) -> F =:= version;
is_volatile(_, _, _) -> false.

%% ---- specs
%% The types of the arguments and the constraints on their variables, one a clause; [] where there is none.
spec({M, F, A}) ->
    [spec_clause(Type) || {attribute, _, spec, {Name, Types}} <- forms(M), Name =:= {F, A} orelse Name =:= {M, F, A},
        Type <- Types].

spec_clause({type, _, bounded_fun, [Fun, Constraints]}) ->
    {Arguments, _} = spec_clause(Fun),
    {Arguments, [{Name, Type} || {type, _, constraint, [_, [{var, _, Name}, Type]]} <- Constraints]};
spec_clause({type, _, 'fun', [{type, _, product, Arguments}, _]}) -> {Arguments, []}.

forms(M) ->
    case persistent_term:get({?MODULE, M}, none) of
        none ->
            Forms = read_forms(M),
            persistent_term:put({?MODULE, M}, Forms),
            Forms;
        Forms -> Forms
    end.

read_forms(M) ->
    Path = case code:which(M) of
               preloaded -> filename:join([code:lib_dir(erts), "ebin", atom_to_list(M) ++ ".beam"]);
               Found -> Found
           end,
    case catch beam_lib:chunks(Path, [abstract_code]) of
        {ok, {_, [{abstract_code, {_, Forms}}]}} -> [X || {attribute, _, Kind, _} = X <- Forms, lists:member(Kind,
            [spec, type, opaque])];
        _ -> []
    end.
