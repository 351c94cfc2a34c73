%% SPDX-License-Identifier: Apache-2.0
%% What native functions are measured with: for each its rows, a small, a typical and a large one. A row is {Label,
%% fun(() -> {Fun, Arguments})};
%% the outer fun is called in the process that measures, so that tables, files and processes are its own. Arguments
%% come from
%% the native's spec where nothing better is known (argument/3), else from special/4, which knows how arguments hang
%% together.
%% What undoes itself (spawn, monitor, ets:new) is measured with what undoes it: {call, Fun, Arguments}.
-module(native_args).
-export([rows/2]).

count(small) -> 3;
count(typical) -> 30;
count(large) -> 10000;
count(huge) -> 1000000.

bytes(small) -> 8;
bytes(typical) -> 200;
bytes(large) -> 100000;
bytes(huge) -> 10000000.

%% Why a native is in no row; false: it is in some.
left_out({M, F, A}) ->
    Reasons = [Reason || {Names, Reason} <- not_repeated(), lists:member({M, F, A}, Names) orelse lists:member({M, F},
        Names)],
    case Reasons of [] -> false; [Reason | _] -> Reason end.

not_repeated() ->
    [{[{erlang, halt}, {erlang, exit}, {erlang, error}, {erlang, throw}, {erlang, raise}, {erlang, nif_error}, {erlang,
        exit_signal}],
      "ends the process or raises"},
     {[{erlang, hibernate}, {erts_internal, dirty_process_handle_signals}], "does not come back"},
     {[{erlang, F} || F <- [display, display_nl, display_string]] ++ [{erts_internal, process_display}],
         "writes to the terminal"},
     {[{erlang, F} || F <- [call_on_load_function, finish_after_on_load, finish_loading, delete_module, load_nif,
                            has_prepared_code_on_load]] ++
          [{erts_internal, F} || F <- [prepare_loading, purge_module, check_dirty_process_code]],
              "changes the code of the VM"},
     {[{erlang, F} || F <- [dist_ctrl_get_data, dist_ctrl_get_data_notification, dist_ctrl_get_opt,
                            dist_ctrl_input_handler, dist_ctrl_put_data, dist_ctrl_set_opt, dist_get_stat, setnode,
                            monitor_node, nodes]] ++
          [{erts_internal, F} || F <- [abort_pending_connection, create_dist_channel, dist_spawn_request,
              new_connection, get_dflags]],
      "needs a distributed node"},
     {[{erlang, F} || F <- [system_flag, system_monitor, system_profile, trace_delivered, seq_trace, seq_trace_print,
         trace_info]] ++
          [{erts_internal, F} || F <- [trace, trace_pattern, scheduler_wall_time, system_check, erase_persistent_terms,
                                       spawn_system_process, ets_super_user, gather_alloc_histograms,
                                           gather_carrier_info]] ++
          [{os, set_signal}], "changes how the whole VM works"},
     {[{erts_internal, F} || F <- [open_port, port_call, port_close, port_command, port_connect, port_control,
                                   port_info, request_system_task, group_leader, suspend_process, process_flag,
                                   is_process_alive,
                                   check_process_code, garbage_collect, spawn_request, ets_raw_first, ets_raw_next,
                                   ets_lookup_binary_info, mc_refill, mc_iterator, map_next, ets_drain, ets_select,
                                   yield_return,
                                   counters_new, counters_get, counters_add, counters_put, counters_info,
                                   atomics_new]] ++
          [{ets, F} || F <- [internal_delete_all, internal_request_all, internal_select_delete]] ++
          [{re, internal_run}, {erlang, resume_process}, {erlang, port_get_data}, {erlang, port_set_data},
           {prim_file, internal_get_nif_resource}, {prim_file, internal_normalize_utf8}],
      "half of a protocol, or called by nobody: measured by the function around it"},
     {[{erts_internal, map_hashmap_children}], "answers inner nodes of a map, which nothing else may look at"},
     {[{erlang, F} || F <- [dt_append_vm_tag_data, dt_get_tag, dt_get_tag_data, dt_prepend_vm_tag_data, dt_put_tag,
                            dt_restore_tag, dt_spread_tag]], "erl has no dynamic trace to tag for"},
     {[{prim_file, F} || F <- [start, sendfile, file_desc_to_ref, altname, set_cwd, on_load, sync, datasync,
                               module_info, write_file_info, allocate, advise]],
                                   "waits for the disk, or changes what all processes see"}].

%% ---- rows
%% {Name, Native, Make} for each row of these natives (but for those left out) and of what is no native, whose Native
%% is none.
%% Sizes: which of small, typical, large, huge. Natives whose arguments have no size are in rows without one.
rows(Natives, Sizes) ->
    [{name(Native, Label), Native, Make} || Native <- Natives, left_out(Native) =:= false,
                                            {Label, Make} <- rows_of(Native, Sizes)] ++
    [{Label, none, Make} || {Label, Make} <- more(Sizes)].

name({M, F, A}, Label) -> lists:flatten(io_lib:format("~s:~ts/~b ~ts", [M, atom_to_list(F), A, Label])).

rows_of({M, F, A} = Native, Sizes) ->
    case enumerated(Native, Sizes) of
        none when M =:= ets, A > 0 ->
            [{Kind ++ " " ++ atom_to_list(Size), fun() -> ets_row(F, A, list_to_atom(Kind), Size) end}
             || F =/= new, F =/= match_spec_compile, F =/= match_spec_run_r, F =/= is_compiled_ms, F =/= whereis,
                Kind <- ["set", "ordered_set", "bag"], has_kind(F, Kind), Size <- Sizes] ++
            [{atom_to_list(Size), fun() -> row(Native, Size) end}
             || lists:member(F, [new, match_spec_compile, match_spec_run_r, is_compiled_ms, whereis]),
                 Size <- [typical]];
        none when A =:= 0 -> [{"", fun() -> row(Native, typical) end}];
        none -> [{atom_to_list(Size), fun() -> row(Native, Size) end} || Size <- Sizes];
        Labels -> [{Label, fun() -> {fun M:F/A, Arguments()} end} || {Label, Arguments} <- Labels]
    end.

has_kind(F, "bag") -> not lists:member(F, [update_counter, update_element, select_replace]);
has_kind(_, _) -> true.

row({M, F, A} = Native, Size) ->
    case special(M, F, A, Size) of
        {call, Fun, Arguments} -> {Fun, Arguments};
        default -> {fun M:F/A, from_spec(Native, Size)};
        Arguments -> {fun M:F/A, Arguments}
    end.

%% ---- arguments that are items of a list, each a row
enumerated({erlang, process_info, 2}, _) ->
    [{atom_to_list(I), fun() -> [self(), I] end}
     || I <- [backtrace, binary, catchlevel, current_function, current_location, current_stacktrace, dictionary,
              error_handler, garbage_collection, garbage_collection_info, group_leader, heap_size, initial_call,
              links, last_calls,
              memory, message_queue_len, messages, min_heap_size, monitored_by, monitors, priority, reductions,
              registered_name,
              sequential_trace_token, stack_size, status, suspending, total_heap_size, trap_exit]] ++
    [{"another's " ++ atom_to_list(I), fun() -> [friend(), I] end} || I <- [message_queue_len, current_function, memory,
        dictionary]];
enumerated({erlang, system_info, 1}, _) ->
    [{atom_to_list(I), fun() -> [I] end}
     || I <- [atom_count, atom_limit, build_type, compat_rel, creation, dirty_cpu_schedulers, dist_ctrl, end_time,
              ets_count, ets_limit, fullsweep_after, garbage_collection, logical_processors, machine, min_heap_size,
              multi_scheduling, otp_release, port_count, port_limit, process_count, process_limit, scheduler_id,
              schedulers,
              schedulers_online, start_time, system_architecture, system_version, threads, thread_pool_size, version,
              wordsize]];
enumerated({erlang, statistics, 1}, _) ->
    [{atom_to_list(I), fun() -> [I] end} || I <- [context_switches, garbage_collection, io, reductions,
                                                  exact_reductions, run_queue, run_queue_lengths,
                                                  total_run_queue_lengths, runtime, wall_clock]];
enumerated({erlang, memory, 1}, _) ->
    [{atom_to_list(I), fun() -> [I] end} || I <- [total, processes, binary, ets, atom]];
enumerated({erlang, fun_info, 2}, _) ->
    [{atom_to_list(I), fun() -> [closure(), I] end} || I <- [arity, env, index, module, name, pid, type, uniq]];
enumerated({erlang, F, 2}, _) when F =:= float_to_list; F =:= float_to_binary ->
    [{lists:concat([io_lib:write(X), " ", lists:flatten(io_lib:format("~0p", [O]))]), fun() -> [X, O] end}
     || X <- [0.1, 123456.789, 1.0e22, 3.141592653589793, 2.5e-300],
        O <- [[short], [{decimals, 2}], [{decimals, 10}, compact], [{scientific, 6}]],
        X < 1.0e20 orelse not lists:keymember(decimals, 1, O)];
enumerated({erlang, F, 1}, _) when F =:= float_to_list; F =:= float_to_binary ->
    [{io_lib:write(X), fun() -> [X] end} || X <- [0.1, 123456.789, 1.0e22, 2.5e-300]];
enumerated({erlang, F, 1}, _) when F =:= list_to_float; F =:= binary_to_float -> float_texts(F =:= list_to_float);
enumerated({string, list_to_float, 1}, _) -> float_texts(true);
enumerated({erlang, decode_packet, 3}, _) ->
    [{atom_to_list(T), fun() -> [T, B, []] end}
     || {T, B} <- [{raw, text(200)}, {line, <<"a line of text\nanother\n">>}, {http_bin,
         <<"GET /index.html HTTP/1.1\r\n">>},
                   {httph_bin, <<"Content-Type: text/plain\r\n\r\n">>}, {asn1, <<16#30, 3, 1, 2, 3, 4>>}]] ++
    [{integer_to_list(N), fun() -> [N, <<100:N/unit:8, (text(120))/binary>>, []] end} || N <- [1, 2, 4]];
enumerated({erlang, F, 1}, _) when F =:= hd; F =:= tl -> [{"", fun() -> [lists:seq(1, 10)] end}];
enumerated({erlang, F, 1}, _) when F =:= monotonic_time; F =:= system_time; F =:= time_offset ->
    [{atom_to_list(U), fun() -> [U] end} || U <- [second, millisecond, microsecond, native]];
enumerated({os, system_time, 1}, _) -> [{atom_to_list(U), fun() -> [U] end} || U <- [second, native]];
enumerated({binary, F, A}, Sizes) when (F =:= match) or (F =:= matches) or (F =:= split), A < 4 -> searches(A, Sizes);
enumerated({re, run, A}, Sizes) when A < 4 -> expressions(A, Sizes);
enumerated({re, compile, A}, _) ->
    [{P, fun() -> lists:sublist([P, []], A) end} || P <- compiled()];
enumerated({re, inspect, 2}, _) -> [{"", fun() -> {ok, P} = re:compile("(?<x>a)(?<y>b)"), [P, namelist] end}];
enumerated({unicode, F, 2}, Sizes) when F =:= characters_to_binary; F =:= characters_to_list ->
    [{lists:concat([What, " ", Size]), fun() -> [characters(What, Size), unicode] end}
     || What <- [ascii_binary, ascii_list, wide_binary, wide_list], Size <- Sizes];
enumerated(_, _) -> none.

float_texts(IsList) ->
    [{T, fun() -> [if IsList -> T; true -> list_to_binary(T) end] end}
     || T <- ["0.1", "3.141592653589793", "1.0e22", "123456789012345678901234567890.5", "2.5e-300"]].

%% Patterns of one, a few and many bytes, found late or never, one and more of them.
searches(A, Sizes) ->
    [{lists:concat([What, " in ", Size]), fun() -> lists:sublist([text(bytes(Size)), Pattern, []], A) end}
     || Size <- Sizes, {What, Pattern} <- [{"a byte", <<"#">>}, {"two bytes", <<"#!">>}, {"ten bytes",
         <<"abcdefghi#">>},
                                             {"a common byte", <<"a">>}, {"three patterns", [<<"#">>, <<"xyzzy">>,
                                                 <<"jkl#">>]}]] ++
    [{"compiled in large", fun() -> lists:sublist([text(bytes(large)), binary:compile_pattern([<<"#!">>, <<"xyzzy">>]),
        []], A) end}].

compiled() -> ["a", "(a|b)*c", "^[a-z_][a-zA-Z0-9_]*\\s*=\\s*(\"[^\"]*\"|\\d+)$"].

%% Compiles another pattern at each call, of so many that one which comes again is long forgotten. They are literals, so
%% that no collection moves them.
compile_others(Pattern) ->
    persistent_term:put(native_args_patterns, [iolist_to_binary([Pattern, integer_to_list(N)]) || N <- lists:seq(1,
        30000)]),
    put(patterns, []),
    fun() ->
        [P | Rest] = case get(patterns) of [] -> persistent_term:get(native_args_patterns); Left -> Left end,
        put(patterns, Rest),
        {ok, _} = re:compile(P, []),
        ok
    end.

expressions(A, Sizes) ->
    [{lists:concat([Label, " ", Size]), fun() -> {ok, P} = re:compile(Pattern), lists:sublist([text(bytes(Size)), P,
        []], A) end}
     || {Label, Pattern} <- [{"literal", "#!"}, {"class", "[0-9]+"}, {"anchored", "^abc"}, {"captures", "(\\w+)(z)"},
                             {"alternation", "xyzzy|foo|#"}], Size <- Sizes] ++
    [{"not compiled", fun() -> lists:sublist(["some text 42", "[0-9]+", []], A) end}].

%% ---- arguments that hang together
special(erlang, F, 2, large) when F =:= 'div'; F =:= 'rem' ->
    [big(4000), (1 bsl 1900) div 11]; % the quotient of two of big/1 would be a power of two: digits that erl passes over
special(erlang, F, 2, S) when F =:= '+'; F =:= '-'; F =:= '*'; F =:= 'div'; F =:= 'rem'; F =:= 'band'; F =:= 'bor';
    F =:= 'bxor' ->
    case S of small -> [17, 5]; typical -> [1 bsl 75, 98765432123456789]; _ -> [big(4000), big(1900)] end;
special(erlang, F, 2, S) when F =:= '/' ->
    case S of small -> [17, 5]; typical -> [1.0e10, 3.0]; _ -> [big(900), big(500)] end;
special(erlang, F, 2, S) when F =:= 'bsl'; F =:= 'bsr' ->
    case S of small -> [12345, 3]; typical -> [1 bsl 70, 10]; _ -> [big(10000), 1001] end;
special(erlang, F, 2, S) when F =:= '=='; F =:= '/='; F =:= '=:='; F =:= '=/='; F =:= '<'; F =:= '=<'; F =:= '>';
    F =:= '>='; F =:= min; F =:= max ->
    [term(S), term(S)];
special(erts_internal, cmp_term, 2, S) -> [term(S), term(S)];
special(erlang, F, 2, _) when F =:= 'and'; F =:= 'or'; F =:= 'xor' -> [true, false];
special(erlang, apply, 2, _) -> [closure(), [x]];
special(erlang, apply, 3, _) -> [erlang, abs, [1]];
special(erlang, 'not', 1, _) -> [true];
special(erlang, F, 1, S) when F =:= '+'; F =:= '-'; F =:= 'bnot'; F =:= abs -> [integer(S)];
special(erlang, F, 1, S) when F =:= trunc; F =:= round; F =:= ceil; F =:= floor ->
    [case S of small -> 7.5; typical -> 1.0e15; _ -> 1.0e200 end];
special(erlang, float, 1, S) -> [case S of small -> 7; typical -> 123456789; _ -> big(900) end];
special(math, pow, 2, S) -> case S of small -> [2, 3]; typical -> [1.5, 20.5]; _ -> [10.0, 300] end;
special(math, F, 2, _) when F =:= fmod; F =:= atan2 -> [12.5, 3.0];
special(math, F, 1, S) ->
    X = case S of small -> 0.5; typical -> 0.123456789; _ -> 0.99 end,
    [case F of acosh -> 1 + X; _ -> X end];
special(erlang, F, 2, S) when F =:= '++'; F =:= append; F =:= '--'; F =:= subtract ->
    [lists:seq(1, count(S)), lists:seq(1, count(S))];
special(lists, F, 3, S) when F =:= keyfind; F =:= keymember; F =:= keysearch -> [count(S), 1, pairs(count(S))];
special(lists, member, 2, S) -> [count(S), lists:seq(1, count(S))];
special(lists, reverse, 2, S) -> [lists:seq(1, count(S)), [x]];
special(erlang, element, 2, S) -> [count(S), tuple(S)];
special(erlang, setelement, 3, S) -> [count(S), tuple(S), x];
special(erlang, insert_element, 3, S) -> [count(S), tuple(S), x];
special(erlang, delete_element, 2, S) -> [count(S), tuple(S)];
special(erlang, append_element, 2, S) -> [tuple(S), x];
special(erlang, make_tuple, 2, S) -> [count(S), x];
special(erlang, make_tuple, 3, S) -> [count(S), x, [{1, a}, {2, b}]];
special(erlang, is_record, A, _) -> lists:sublist([{rec, 1, 2}, rec, 3], A);
special(erlang, is_function, 2, _) -> [closure(), 1];
special(erlang, is_integer, 3, _) -> [7, 1, 10];
special(erlang, F, 2, S) when F =:= map_get; F =:= is_map_key -> [count(S), map(S)];
special(maps, F, 2, S) when F =:= get; F =:= find; F =:= is_key; F =:= remove; F =:= take -> [count(S), map(S)];
special(maps, F, 3, S) when F =:= put; F =:= update -> [count(S), new, map(S)];
special(maps, merge, 2, S) -> [map(S), maps:from_list([{{K}, K} || K <- lists:seq(1, count(S))])];
special(maps, from_list, 1, S) -> [pairs(count(S))];
special(maps, from_keys, 2, S) -> [lists:seq(1, count(S)), x];
special(erts_internal, map_to_tuple_keys, 1, S) -> [maps:from_list(pairs(min(30, count(S))))];
special(erts_internal, map_hashmap_children, 1, _) -> [map(large)];
special(erts_internal, F, 1, _) when F =:= is_process_executing_dirty; F =:= is_system_process -> [self()];
special(erts_internal, beamfile_chunk, 2, _) -> [beam(), "Atom"];
special(erts_internal, beamfile_module_md5, 1, _) -> [beam()];
special(erts_internal, check_process_code, 1, _) -> [lists];

special(erlang, integer_to_list, A, S) -> lists:sublist([integer(S), 16], A);
special(erlang, integer_to_binary, A, S) -> lists:sublist([integer(S), 16], A);
special(erlang, list_to_integer, A, S) -> [integer_to_list(integer(S), base(A)) | [16 || A =:= 2]];
special(string, list_to_integer, 1, S) -> [integer_to_list(integer(S)) ++ " rest"];
special(erlang, binary_to_integer, A, S) -> [integer_to_binary(integer(S), base(A)) | [16 || A =:= 2]];
special(erlang, F, 1, S) when F =:= atom_to_list -> [atom(S)];
special(erlang, F, 1, S) when F =:= list_to_atom; F =:= list_to_existing_atom -> [atom_to_list(atom(S))];
special(erlang, atom_to_binary, 2, S) -> [atom(S), utf8];
special(erlang, F, 2, S) when F =:= binary_to_atom; F =:= binary_to_existing_atom ->
    [atom_to_binary(atom(S), utf8), utf8];
special(erlang, list_to_pid, 1, _) -> [pid_to_list(self())];
special(erlang, list_to_ref, 1, _) -> [ref_to_list(make_ref())];
special(erlang, list_to_port, 1, _) -> [port_to_list(port())];
special(erlang, port_to_list, 1, _) -> [port()];
special(erlang, F, 1, _) when F =:= fun_to_list; F =:= fun_info_mfa -> [closure()];
special(erlang, list_to_tuple, 1, S) -> [lists:seq(1, count(S))];
special(erlang, F, 1, S) when F =:= list_to_binary; F =:= iolist_to_binary; F =:= iolist_size; F =:= iolist_to_iovec;
    F =:= list_to_bitstring; F =:= md5;
                              F =:= crc32; F =:= adler32 -> [iolist(S)];
special(erlang, F, 2, S) when F =:= crc32; F =:= adler32 -> [1, text(bytes(S))];
special(erlang, F, 3, _) when F =:= crc32_combine; F =:= adler32_combine -> [12345, 6789, 1000];
special(erlang, md5_update, 2, S) -> [erlang:md5_init(), text(bytes(S))];
special(erlang, md5_final, 1, _) -> [erlang:md5_update(erlang:md5_init(), <<"abc">>)];
special(erlang, split_binary, 2, S) -> [text(bytes(S)), bytes(S) div 2];
special(_, F, 2, S) when F =:= binary_part; F =:= part -> [text(bytes(S)), {1, bytes(S) - 2}];
special(_, F, 3, S) when F =:= binary_part; F =:= part -> [text(bytes(S)), 1, bytes(S) - 2];
special(erlang, binary_to_list, 3, S) -> [text(bytes(S)), 2, bytes(S) - 1];
special(erlang, binary_to_term, A, S) -> lists:sublist([term_to_binary(term(S)), []], A);
special(erlang, F, A, S) when F =:= term_to_binary; F =:= term_to_iovec; F =:= external_size ->
    lists:sublist([term(S), []], A);
special(erlang, phash2, A, S) -> lists:sublist([term(S), 1000], A);
special(erlang, phash, 2, S) -> [term(S), 1000];
special(binary, at, 2, S) -> [text(bytes(S)), bytes(S) div 2];
special(binary, copy, 2, S) -> [text(bytes(S)), 3];
special(binary, list_to_bin, 1, S) -> [iolist(S)];
special(binary, encode_unsigned, A, S) -> lists:sublist([integer(S), little], A);
special(binary, decode_unsigned, A, S) -> lists:sublist([binary:encode_unsigned(integer(S)), little], A);
special(binary, compile_pattern, 1, S) -> [case S of small -> <<"a">>; typical -> [<<"abc">>, <<"def">>]; _ ->
    [<<"word", N:32>> || N <- lists:seq(1, 100)] end];
special(binary, F, 1, S) when F =:= longest_common_prefix; F =:= longest_common_suffix ->
    [[text(bytes(S)), binary:copy(text(bytes(S)))]];

special(erlang, spawn, 3, _) -> {call, fun(M, F, A) -> spawn(M, F, A) end, [erlang, abs, [1]]};
special(erlang, spawn_link, 3, _) -> {call, fun(M, F, A) -> spawn_link(M, F, A) end, [erlang, abs, [1]]};
special(erlang, spawn_opt, 4, _) ->
    {call, fun(M, F, A, O) -> {_, R} = spawn_opt(M, F, A, O), receive {'DOWN', R, _, _, _} -> ok end end, [erlang, abs,
        [1], [monitor]]};
special(erlang, spawn_request_abandon, 1, _) -> [make_ref()];
special(erlang, send, A, S) -> sent(A, S);
special(erlang, '!', 2, S) -> sent(2, S);
special(erlang, link, 1, _) -> {call, fun(P) -> link(P), unlink(P) end, [friend()]};
special(erlang, unlink, 1, _) -> [friend()];
special(erlang, monitor, A, _) ->
    {call, fun(T, P) -> demonitor(apply(erlang, monitor, [T, P | [[] || A =:= 3]])) end, [process, friend()]};
special(erlang, demonitor, A, _) -> lists:sublist([make_ref(), [flush]], A);
special(erlang, alias, 1, _) -> {call, fun(O) -> unalias(alias(O)) end, [[]]};
special(erlang, unalias, 1, _) -> [make_ref()];
special(erlang, register, 2, _) -> {call, fun(N, P) -> register(N, P), unregister(N) end, [native_args_name, friend()]};
special(erlang, unregister, 1, _) -> {call, fun(N) -> register(N, self()), unregister(N) end, [native_args_name]};
special(erlang, whereis, 1, _) -> [init];
special(erlang, is_process_alive, 1, S) -> [case S of small -> self(); typical -> friend(); _ -> dead() end];
special(erlang, F, A, _) when F =:= send_after; F =:= start_timer ->
    {call, fun(T, P, M) -> erlang:cancel_timer(apply(erlang, F, [T, P, M | [[] || A =:= 4]])) end, [100000, self(), x]};
special(erlang, F, A, _) when F =:= cancel_timer; F =:= read_timer ->
    lists:sublist([erlang:send_after(1000000, self(), x), []], A);
special(erlang, process_flag, 2, _) -> [trap_exit, false];
special(erlang, bump_reductions, 1, _) -> [1];
special(erlang, process_info, 1, _) -> [friend()];
special(erlang, seq_trace_info, 1, _) -> [label];
special(erlang, node, 1, _) -> [self()];
special(erlang, put, 2, S) -> [put(K, v) || K <- lists:seq(1, count(S))], [count(S) div 2, w];
special(erlang, F, 1, S) when F =:= get -> [put(K, v) || K <- lists:seq(1, count(S))], [count(S) div 2];
special(erlang, get, 0, _) -> [put(K, v) || K <- lists:seq(1, 30)], [];
special(erlang, get_keys, A, S) -> [put(K, v) || K <- lists:seq(1, count(S))], lists:sublist([v], A);
special(erlang, erase, 1, S) ->
    [put(K, v) || K <- lists:seq(1, count(S))], {call, fun(K) -> put(K, v), erase(K) end, [1]};
special(erlang, erase, 0, _) -> {call, fun() -> put(a, 1), put(b, 2), erase() end, []};
special(erlang, function_exported, 3, _) -> [lists, map, 2];
special(erlang, is_builtin, 3, _) -> [erlang, element, 2];
special(erlang, make_fun, 3, _) -> [lists, map, 2];
special(erlang, F, 1, _) when F =:= module_loaded; F =:= check_old_code; F =:= get_module_info -> [lists];
special(erlang, get_module_info, 2, _) -> [lists, exports];
special(erlang, match_spec_test, 3, _) -> [{a, 1}, [{{'$1', '$2'}, [{'>', '$2', 0}], ['$1']}], table];
special(erlang, unique_integer, 1, _) -> [[positive]];
special(erlang, localtime_to_universaltime, 2, _) -> [{{2024, 5, 6}, {7, 8, 9}}, undefined];
special(erlang, F, 1, _) when F =:= universaltime_to_localtime; F =:= universaltime_to_posixtime ->
    [{{2024, 5, 6}, {7, 8, 9}}];
special(erlang, posixtime_to_universaltime, 1, _) -> [1714979289];

special(ets, new, 2, _) -> {call, fun(N, O) -> ets:delete(ets:new(N, O)) end, [t, [set]]};
special(ets, whereis, 1, _) ->
    [ets:new(native_args_table, [named_table]) || ets:whereis(native_args_table) =:= undefined], [native_args_table];
special(ets, match_spec_compile, 1, _) -> [match_spec()];
special(ets, is_compiled_ms, 1, _) -> [ets:match_spec_compile(match_spec())];
special(ets, match_spec_run_r, 3, S) -> [objects(set, count(S)), ets:match_spec_compile(match_spec()), []];

special(persistent_term, put, 2, S) ->
    {call, fun(K, A) -> T = case get(turn) of true -> put(turn, false), A; _ -> put(turn, true), [A] end,
        persistent_term:put(K, T) end, [native_args_term, lists:seq(1, count(S))]};
special(persistent_term, erase, 1, _) ->
    {call, fun(K) -> persistent_term:put(K, x), persistent_term:erase(K) end, [native_args_erased]};
special(persistent_term, get, A, S) when A > 0 ->
    persistent_term:put({k, S}, term(S)), lists:sublist([{k, S}, none], A);
special(atomics, F, 1, _) when F =:= info -> [atomics:new(10, [])];
special(atomics, F, A, _) ->
    [atomics:new(10, []), 3 | lists:sublist(case F of compare_exchange -> [0, 0]; _ -> [1] end, A - 2)];
special(counters, new, 2, S) -> [count(S), [atomics]];
special(counters, info, 1, _) -> [counters:new(10, [])];
special(counters, F, A, S) when F =:= get; F =:= add; F =:= sub; F =:= put ->
    lists:sublist([counters:new(10, case S of small -> [atomics]; _ -> [write_concurrency] end), 3, 1], A);
special(os, getenv, 1, _) -> ["PATH"];
special(os, F, A, _) when F =:= putenv; F =:= unsetenv -> lists:sublist(["NATIVE_ARGS", "value"], A);
special(prim_file, F, A, S) -> file_row(F, A, S);
special(_, _, _, _) -> default.

sent(A, S) -> {call, fun(P, M) -> apply(erlang, send, [P, M | [[] || A =:= 3]]), receive X -> X end end, [self(),
    term(S)]}.

base(1) -> 10;
base(2) -> 16.

%% ---- files, in the directory that the VM runs in
file_row(F, A, S) when F =:= read; F =:= write; F =:= pread; F =:= pwrite; F =:= position; F =:= read_line; F =:= close;
    F =:= truncate;
                       F =:= ipread_s32bu_p32bu; F =:= get_handle; F =:= read_handle_info ->
    Data = text(bytes(S)),
    ok = prim_file:write_file("native_args_file", Data),
    {ok, Fd} = prim_file:open("native_args_file", [read, write, raw, binary]),
    N = bytes(S),
    Rewound = fun(Do) -> fun(X) -> {ok, 0} = prim_file:position(Fd, 0), Do(X) end end,
    case {F, A} of
        {read, 2} -> {call, Rewound(fun(X) -> prim_file:read(Fd, X) end), [N]};
        {read_line, 1} -> {call, Rewound(fun(X) -> prim_file:read_line(X) end), [Fd]};
        {write, 2} -> {call, Rewound(fun(X) -> prim_file:write(Fd, X) end), [Data]};
        {pread, 3} -> [Fd, 0, N];
        {pread, 2} -> [Fd, [{0, 2}, {3, 2}]];
        {pwrite, 3} -> [Fd, 0, Data];
        {pwrite, 2} -> [Fd, [{0, Data}]];
        {position, 2} -> [Fd, {bof, 3}];
        {close, 1} -> {call, fun(Name) -> {ok, X} = prim_file:open(Name, [read]), prim_file:close(X) end,
            ["native_args_file"]};
        {truncate, 1} -> [Fd];
        {ipread_s32bu_p32bu, 3} -> prim_file:pwrite(Fd, 0, <<3:32, 8:32, "abc">>), [Fd, 0, 100];
        {get_handle, 1} -> [Fd];
        {read_handle_info, _} -> lists:sublist([Fd, [{time, posix}]], A)
    end;
file_row(open, 2, _) ->
    ok = prim_file:write_file("native_args_file", <<"abc">>),
    {call, fun(Name, Modes) -> {ok, X} = prim_file:open(Name, Modes), prim_file:close(X) end, ["native_args_file",
        [read, raw]]};
file_row(F, _, S) when F =:= read_file; F =:= read_file_info; F =:= read_link_info ->
    ok = prim_file:write_file("native_args_file", text(bytes(S))), default_file(F);
file_row(write_file, 2, S) -> ["native_args_file", text(bytes(S))];
file_row(copy, 3, S) ->
    ok = prim_file:write_file("native_args_file", text(bytes(S))),
    {ok, From} = prim_file:open("native_args_file", [read]),
    {ok, To} = prim_file:open("native_args_copy", [write]),
    {call, fun(A, B, N) -> [{ok, 0} = prim_file:position(Fd, 0) || Fd <- [A, B]], prim_file:copy(A, B, N) end, [From,
        To, infinity]};
file_row(F, 1, _) when F =:= read_link; F =:= read_link_all ->
    _ = prim_file:make_symlink("native_args_file", "native_args_link"), ["native_args_link"];
file_row(F, 1, S) when F =:= list_dir; F =:= list_dir_all ->
    Dir = "native_args_dir_" ++ atom_to_list(S),
    _ = prim_file:make_dir(Dir),
    [ok = prim_file:write_file(Dir ++ "/" ++ integer_to_list(N), <<>>) || N <- lists:seq(1, min(300, count(S)))],
    [Dir];
file_row(get_cwd, A, _) ->
    lists:sublist(["/"], A), case A of 0 -> []; 1 -> {call, fun() -> prim_file:get_cwd() end, []} end;
file_row(delete, 1, _) ->
    {call, fun(N) -> ok = prim_file:make_symlink("x", N), prim_file:delete(N) end, ["native_args_gone"]};
file_row(rename, 2, _) ->
    {call, fun(A, B) -> prim_file:rename(A, B), prim_file:rename(B, A) end,
        begin ok = prim_file:write_file("native_args_a", <<>>), ["native_args_a", "native_args_b"] end};
file_row(F, 1, _) when F =:= make_dir; F =:= del_dir ->
    {call, fun(N) -> ok = prim_file:make_dir(N), prim_file:del_dir(N) end, ["native_args_new"]};
file_row(make_link, 2, _) ->
    ok = prim_file:write_file("native_args_file", <<>>), {call, fun(A, B) -> ok = prim_file:make_link(A, B),
        prim_file:delete(B) end, ["native_args_file", "native_args_hard"]};
file_row(make_symlink, 2, _) ->
    {call, fun(A, B) -> ok = prim_file:make_symlink(A, B), prim_file:delete(B) end, ["x", "native_args_soft"]};
file_row(F, 1, S) when F =:= internal_name2native; F =:= internal_native2name; F =:= is_translatable ->
    [case {F, S} of {is_translatable, small} -> <<"name">>; {internal_name2native, small} -> "name";
        {internal_name2native, _} -> lists:duplicate(100, $a); {_, small} -> <<"name">>; _ -> binary:copy(<<"name">>,
            25) end];
file_row(_, _, _) -> default.

default_file(read_file) -> ["native_args_file"];
default_file(F) when F =:= read_file_info; F =:= read_link_info ->
    {call, fun(N) -> prim_file:F(N) end, ["native_args_file"]}.

%% ---- tables
table_count(small) -> 10;
table_count(typical) -> 1000;
table_count(large) -> 20000;
table_count(huge) -> 1000000.

objects(bag, N) -> [{K div 5, K, <<"value">>} || K <- lists:seq(1, N)];
objects(_, N) -> [{K, K * 2, <<"value">>} || K <- lists:seq(1, N)].

match_spec() -> [{{'$1', '$2', '_'}, [{'>', '$2', 10}, {'<', '$1', 20}], ['$1']}].

%% Functions of one key find it in a table of any size: a huge one is made for those that go through it.
ets_row(F, A, Kind, Size) ->
    N = table_count(case Size =:= huge andalso not goes_through(F, A) of true -> large; false -> Size end),
    T = ets:new(table, [Kind, public]),
    ets:insert(T, objects(Kind, N)),
    K = case Kind of bag -> N div 10; _ -> N div 2 end,
    case ets_arguments(F, A, T, K, Kind) of
        {call, Fun, Arguments} -> {Fun, Arguments};
        Arguments -> {fun ets:F/A, Arguments}
    end.

goes_through(F, 1) -> F =:= delete;
goes_through(F, A) ->
    A =:= 2 andalso lists:member(F, [match, match_object, select, select_reverse, select_count, select_replace]).

ets_arguments(delete, 1, _, K, Kind) -> {call, fun(Name, Objects) -> T = ets:new(Name, [Kind]), ets:insert(T, Objects),
    ets:delete(T) end, [t, objects(Kind, K)]};
ets_arguments(F, 2, T, K, Kind) when F =:= insert -> [T, {K, if Kind =:= bag -> K * 5; true -> x end, <<"value">>}];
ets_arguments(insert_new, 2, T, K, _) -> [T, {K, x, y}];
ets_arguments(F, 2, T, K, _) when F =:= lookup; F =:= member; F =:= next; F =:= prev -> [T, K];
ets_arguments(slot, 2, T, _, _) -> [T, 3];
ets_arguments(F, 2, T, K, _) when F =:= delete; F =:= take ->
    {call, fun(X, Key) -> ets:insert(X, {Key, 1, 2}), ets:F(X, Key) end, [T, {K}]};
ets_arguments(delete_object, 2, T, K, _) ->
    {call, fun(X, O) -> ets:insert(X, O), ets:delete_object(X, O) end, [T, {K, 1, x}]};
ets_arguments(lookup_element, 3, T, K, _) -> [T, K, 2];
ets_arguments(update_counter, 3, T, K, _) -> [T, K, {2, 1}];
ets_arguments(update_counter, 4, T, K, _) -> [T, K, {2, 1}, {K, 0, x}];
ets_arguments(update_element, 3, T, K, _) -> [T, K, {2, 7}];
ets_arguments(info, 2, T, _, _) -> [T, size];
ets_arguments(rename, 2, T, _, _) -> [T, other_name];
ets_arguments(setopts, 2, T, _, _) -> [T, []];
ets_arguments(safe_fixtable, 2, T, _, _) ->
    {call, fun(X, _) -> ets:safe_fixtable(X, true), ets:safe_fixtable(X, false) end, [T, true]};
ets_arguments(give_away, 3, _, _, Kind) -> {call, fun() -> T = ets:new(t, [Kind]), ets:give_away(T, element(1,
    spawn_monitor(fun() -> receive {'ETS-TRANSFER', _, _, _} -> ok end end)), x), receive {'DOWN', _, _, _, _} ->
        ok end end, []};
ets_arguments(F, 2, T, _, _) when F =:= match; F =:= match_object -> [T, {'$1', 4, '_'}];
ets_arguments(F, 3, T, _, _) when F =:= match; F =:= match_object -> [T, {'$1', '_', '_'}, 10];
ets_arguments(F, 1, T, _, _) when F =:= match; F =:= match_object -> {_, C} = ets:F(T, {'$1', '_', '_'}, 5), [C];
ets_arguments(F, 1, T, _, _) when F =:= select; F =:= select_reverse ->
    {_, C} = ets:F(T, [{{'$1', '_', '_'}, [], ['$1']}], 5), [C];
ets_arguments(F, 2, T, _, _) when F =:= select; F =:= select_reverse; F =:= select_count -> [T, match_spec()];
ets_arguments(F, 3, T, _, _) when F =:= select; F =:= select_reverse -> [T, [{{'$1', '_', '_'}, [], ['$1']}], 10];
ets_arguments(select_replace, 2, T, _, _) -> [T, [{{'$1', '$2', '_'}, [{'<', '$2', 10}], [{{'$1', '$2', 1}}]}]];
ets_arguments(_, A, T, _, _) -> lists:sublist([T, x, x], A).

%% ---- arguments from specs
from_spec(Native, Size) ->
    case native_spec:spec(Native) of
        [{Types, Constraints} | _] -> [argument(T, {element(1, Native), Constraints}, Size) || T <- Types];
        [] -> [term(Size) || _ <- lists:seq(1, element(3, Native))]
    end.

argument({ann_type, _, [_, Type]}, Env, S) -> argument(Type, Env, S);
argument({var, _, Name}, {_, Constraints} = Env, S) ->
    case lists:member(Name, ['Options', 'OptionList', 'Opts']) orelse lists:keyfind(Name, 1, Constraints) of
        true -> [];
        {Name, Type} -> argument(Type, Env, S);
        false -> term(S)
    end;
argument({Literal, _, Value}, _, _) when Literal =:= atom; Literal =:= integer; Literal =:= char -> Value;
argument({type, _, union, Types}, Env, S) ->
    case [T || T <- Types, is_sized(T)] of
        [Sized | _] when S =/= small -> argument(Sized, Env, S);
        _ -> argument(hd(Types), Env, S)
    end;
argument({type, _, Name, Arguments}, Env, S) -> argument_of(Name, Arguments, Env, S);
argument({Named, _, Name, Arguments}, {M, _} = Env, S) when Named =:= user_type -> named(M, Name, Arguments, Env, S);
argument({remote_type, _, [{atom, _, M}, {atom, _, Name}, Arguments]}, Env, S) -> named(M, Name, Arguments, Env, S);
argument(_, _, S) -> term(S).

named(M, Name, Arguments, {_, Constraints}, S) ->
    case [T || {attribute, _, _, {N, T, Vars}} <- native_spec:forms(M), N =:= Name,
        length(Vars) =:= length(Arguments)] of
        [Type | _] -> argument(Type, {M, Constraints}, S);
        [] -> term(S)
    end.

is_sized({type, _, Name, _}) ->
    lists:member(Name, [list, nonempty_list, string, binary, bitstring, iolist, iodata, map, tuple, integer]);
is_sized(_) -> false.

argument_of(Integer, _, _, S) when Integer =:= integer; Integer =:= non_neg_integer; Integer =:= pos_integer;
    Integer =:= number -> integer(S);
argument_of(range, [A, B], _, S) -> max(erl_parse:normalise(A), min(erl_parse:normalise(B), integer(S)));
argument_of(float, _, _, _) -> 1.5;
argument_of(Atom, _, _, S) when Atom =:= atom; Atom =:= module -> atom(S);
argument_of(boolean, _, _, _) -> true;
argument_of(Binary, _, _, S) when Binary =:= binary; Binary =:= nonempty_binary -> text(bytes(S));
argument_of(Bits, _, _, S) when Bits =:= bitstring; Bits =:= nonempty_bitstring -> <<(text(bytes(S)))/binary, 5:3>>;
argument_of(Text, _, _, S) when Text =:= string; Text =:= nonempty_string -> binary_to_list(text(bytes(S)));
argument_of(Io, _, _, S) when Io =:= iolist; Io =:= iodata -> iolist(S);
argument_of(nil, _, _, _) -> [];
argument_of(List, [], _, S) when List =:= list; List =:= nonempty_list; List =:= maybe_improper_list ->
    lists:seq(1, count(S));
argument_of(List, [Type | _], Env, S) when List =:= list; List =:= nonempty_list; List =:= maybe_improper_list ->
    [argument(Type, Env, small) || _ <- lists:seq(1, count(S))];
argument_of(tuple, Types, Env, S) when is_list(Types) -> list_to_tuple([argument(T, Env, S) || T <- Types]);
argument_of(tuple, any, _, S) -> tuple(S);
argument_of(map, _, _, S) -> map(S);
argument_of(Fun, _, _, _) when Fun =:= 'fun'; Fun =:= function -> closure();
argument_of(Pid, _, _, _) when Pid =:= pid; Pid =:= identifier -> self();
argument_of(port, _, _, _) -> port();
argument_of(reference, _, _, _) -> make_ref();
argument_of(_, _, _, S) -> term(S).

%% ---- terms
integer(small) -> 7;
integer(typical) -> 123456789;
integer(large) -> big(10000);
integer(huge) -> big(300000).

big(Bits) -> (1 bsl Bits) div 7.
atom(small) -> ok;
atom(typical) -> a_typical_atom;
atom(_) -> list_to_atom(lists:duplicate(250, $a)).
text(N) -> binary:part(binary:copy(<<"abcdefghij klmno pqrst uvwx ">>, N div 28 + 1), 0, N).
tuple(S) -> list_to_tuple(lists:seq(1, count(S))).
map(S) -> maps:from_list(pairs(count(S))).
pairs(N) -> [{K, x} || K <- lists:seq(1, N)].
iolist(small) -> [<<"ab">>, $c, "de"];
iolist(S) -> [[text(20), $x, [text(80) | <<"tail">>]] || _ <- lists:seq(1, bytes(S) div 100)].
term(small) -> {a, 1};
term(S) -> [{N, <<"key">>, [a, b, N], #{id => N, name => "abc"}, 1.5 * N} || N <- lists:seq(1, count(S) div 5)].
closure() -> X = self(), fun(Y) -> {X, Y} end.
beam() -> {ok, B, _} = erl_prim_loader:get_file(filename:join([code:lib_dir(stdlib), "ebin", "lists.beam"])), B.
port() -> case get(port) of undefined -> P = hd(erlang:ports()), P; P -> P end.
friend() -> spawn_link(fun() -> receive after infinity -> ok end end).
dead() -> {P, R} = spawn_monitor(fun() -> ok end), receive {'DOWN', R, _, _, _} -> P end.
characters(ascii_binary, S) -> text(bytes(S));
characters(ascii_list, S) -> binary_to_list(text(bytes(S)));
characters(wide_binary, S) -> unicode:characters_to_binary(characters(wide_list, S));
characters(wide_list, S) -> lists:flatten(lists:duplicate(bytes(S) div 4, [$a, 16#e5, 16#400, 16#1F600])).

%% ---- what is no native: operators on large terms, bits, messages
more(Sizes) ->
    [{lists:concat([Name, " ", Size]), fun() -> {Fun, Make} = Row, {Fun, Make(Size)} end} || {Name,
        Row} <- plain_rows(), Size <- Sizes] ++
    [{lists:concat(["match ", Name]), fun() -> {Fun, [text(4000)]} end} || {Name, Fun} <- matches()] ++
    [{lists:concat(["build ", Name]), fun() -> {fun() -> build(Fun, 100) end, []} end} || {Name, Fun} <- builds()] ++
    [{lists:concat(["append ", Name]), fun() -> {fun() -> Fun(1000, <<>>) end, []} end} || {Name, Fun} <- appends()] ++
    [{lists:concat(["send to ", Whom, " and back ", Size]), fun() -> {ping(Whom), [term(Size)]} end} || Whom <- [self,
        another], Size <- Sizes] ++
    [{"re:compile/2 never seen " ++ P, fun() -> {compile_others(P), []} end} || P <- compiled()] ++
    [{Name ++ " huge", fun() -> Make() end} || lists:member(huge, Sizes), {Name, Make} <- lives()].

%% What happens beside calls to a process, or at its end.
lives() ->
    N = count(huge),
    Held = fun(Have) -> fun() -> {fun ended/1, [holder(Have)]} end end,
    [{"spawn with arguments", fun() -> {fun(T) -> done(spawn_monitor(erlang, hd, [T])) end, [term(huge)]} end},
     {"end with a heap", Held(fun() -> lists:seq(1, N) end)},
     {"end with messages", Held(fun() -> [self() ! M || M <- lists:seq(1, N)] end)},
     {"end with links", Held(fun() -> [link(friend()) || _ <- lists:seq(1, 20000)] end)},
     {"end with monitors", Held(fun() -> F = friend(), [monitor(process, F) || _ <- lists:seq(1, 100000)] end)},
     {"end with timers", Held(fun() -> [erlang:send_after(10000000, self(), x) || _ <- lists:seq(1, 100000)] end)},
     {"end with a table", Held(fun() -> ets:insert(ets:new(t, [set]), objects(set, table_count(huge))) end)},
     {"exit with a reason", fun() -> {fun(T) -> done(spawn_monitor(fun() -> exit(T) end)) end, [term(huge)]} end},
     {"collect", fun() -> {fun(T) -> erlang:garbage_collect(), T end, [term(huge)]} end},
     {"grow", fun() -> {fun(T) -> [{X} || X <- T] end, [term(huge)]} end},
     {"insert a list", fun() -> {fun ets:insert/2, [ets:new(t, [set]), objects(set, table_count(huge))]} end},
     {"messages of another", fun() -> {fun(P) -> process_info(P, messages) end, [with_messages(N)]} end}].

done({P, R}) -> receive {'DOWN', R, process, P, _} -> ok end.

ended(P) ->
    R = monitor(process, P),
    exit(P, kill),
    receive {'DOWN', R, process, P, _} -> ok end.

holder(Have) ->
    Me = self(),
    P = spawn(fun() -> Kept = Have(), Me ! {self(), made}, receive never -> Kept end end),
    receive {P, made} -> P end.

with_messages(N) ->
    P = friend(),
    _ = [P ! M || M <- lists:seq(1, N)],
    P.

plain_rows() ->
    [{"equal binaries", {fun(A, B) -> A =:= B end, fun(S) -> [text(bytes(S)), binary:copy(text(bytes(S)))] end}},
     {"compare binaries", {fun(A, B) -> A < B end, fun(S) -> [text(bytes(S)), <<(text(bytes(S)))/binary, 1>>] end}},
     {"equal strings", {fun(A, B) -> A == B end, fun(S) -> [lists:seq(1, bytes(S)), lists:seq(1, bytes(S))] end}},
     {"compare maps", {fun(A, B) -> A < B end, fun(S) -> [map(S), map(S)] end}},
     {"equal maps", {fun(A, B) -> A =:= B end, fun(S) -> [map(S), map(S)] end}},
     {"equal tuples", {fun(A, B) -> A =:= B end, fun(S) -> [tuple(S), tuple(S)] end}},
     {"compare integers", {fun(A, B) -> A < B end, fun(S) -> [integer(S), integer(S) + 1] end}},
     {"compare floats with integers", {fun(A, B) -> A < B end, fun(S) -> [1.5, integer(S)] end}},
     {"match alternatives of atoms", {fun(A, _) -> is_atom(A) end, fun(S) -> [atom(S), x] end}}].

ping(self) -> fun(T) -> self() ! T, receive X -> X end end;
ping(another) ->
    Me = self(),
    Echo = spawn_link(fun() -> echo(Me) end),
    fun(T) -> Echo ! T, receive X -> X end end.

echo(To) -> receive X -> To ! X, echo(To) end.

matches() ->
    [{"8", fun(B) -> m8(B, 0) end}, {"16", fun(B) -> m16(B, 0) end}, {"16/little", fun(B) -> m16l(B, 0) end},
     {"16/little-signed", fun(B) -> m16ls(B, 0) end}, {"32", fun(B) -> m32(B, 0) end}, {"32/little", fun(B) -> m32l(B,
         0) end},
     {"64/signed", fun(B) -> m64s(B, 0) end}, {"7", fun(B) -> m7(B, 0) end}, {"12 and 4", fun(B) -> m12(B, 0) end},
     {"3/signed", fun(B) -> m3s(B, 0) end}, {"utf8", fun(B) -> mutf8(B, 0) end}, {"utf16", fun(B) -> mutf16(B, 0) end},
     {"float", fun(B) -> mfloat(B, 0) end}, {"float 32", fun(B) -> mfloat32(B, 0) end}, {"binary 5", fun(B) -> mbin(B,
         0) end},
     {"size and binary", fun(B) -> msize(B, 0) end}, {"bits 3", fun(B) -> mbits(B, 0) end}, {"literal", fun(B) ->
         mliteral(B, 0) end}].

m8(<<X, R/binary>>, A) -> m8(R, A + X); m8(_, A) -> A.
m16(<<X:16, R/binary>>, A) -> m16(R, A + X); m16(_, A) -> A.
m16l(<<X:16/little, R/binary>>, A) -> m16l(R, A + X); m16l(_, A) -> A.
m16ls(<<X:16/little-signed, R/binary>>, A) -> m16ls(R, A + X); m16ls(_, A) -> A.
m32(<<X:32, R/binary>>, A) -> m32(R, A + X); m32(_, A) -> A.
m32l(<<X:32/little, R/binary>>, A) -> m32l(R, A + X); m32l(_, A) -> A.
m64s(<<X:64/signed, R/binary>>, A) -> m64s(R, A bxor (X bsr 10)); m64s(_, A) -> A.
m7(<<X:7, R/bits>>, A) -> m7(R, A + X); m7(_, A) -> A.
m12(<<X:12, Y:4, R/bits>>, A) -> m12(R, A + X + Y); m12(_, A) -> A.
m3s(<<X:3/signed, R/bits>>, A) -> m3s(R, A + X); m3s(_, A) -> A.
mutf8(<<X/utf8, R/binary>>, A) -> mutf8(R, A + X); mutf8(_, A) -> A.
mutf16(<<X/utf16, R/binary>>, A) -> mutf16(R, A + X); mutf16(_, A) -> A.
mfloat(<<X/float, R/binary>>, A) -> mfloat(R, max(X, A)); mfloat(_, A) -> A.
mfloat32(<<X:32/float, R/binary>>, A) -> mfloat32(R, max(X, A)); mfloat32(_, A) -> A.
mbin(<<X:5/binary, R/binary>>, A) -> mbin(R, A + byte_size(X)); mbin(_, A) -> A.
msize(<<N, X:(N band 7)/binary, R/binary>>, A) -> msize(R, A + byte_size(X)); msize(_, A) -> A.
mbits(<<X:3/bits, R/bits>>, A) -> mbits(R, A + bit_size(X)); mbits(_, A) -> A.
mliteral(<<"abc", R/binary>>, A) ->
    mliteral(R, A); mliteral(<<_, R/binary>>, A) -> mliteral(R, A + 1); mliteral(<<>>, A) -> A.

build(_, 0) -> ok;
build(Fun, N) -> _ = Fun(N), build(Fun, N - 1).

builds() ->
    [{"8", fun(X) -> <<X>> end}, {"7", fun(X) -> <<X:7>> end}, {"16", fun(X) -> <<X:16>> end}, {"16/little", fun(X) ->
        <<X:16/little>> end},
     {"32, 32", fun(X) -> <<X:32, X:32>> end}, {"64", fun(X) -> <<X:64>> end}, {"3, 5, 24", fun(X) -> <<X:3, X:5,
         X:24>> end},
     {"float", fun(X) -> <<(X * 1.5)/float>> end}, {"float 32", fun(X) -> <<(X * 1.5):32/float>> end}, {"utf8",
         fun(X) -> <<X/utf8, X/utf8>> end},
     {"utf16", fun(X) -> <<X/utf16>> end}, {"integer and binary", fun(X) -> B = <<"some text">>, <<X:32, B/binary,
         X>> end},
     {"size of a variable", fun(X) -> <<1:X>> end}, {"100 bytes", fun(X) ->
         B = <<"0123456789012345678901234567890123456789">>, <<X:32, B/binary, B/binary>> end}].

appends() ->
    [{"8", fun a8/2}, {"7", fun a7/2}, {"utf8", fun autf8/2}, {"binary", fun abin/2}].

a8(0, A) -> A; a8(N, A) -> a8(N - 1, <<A/binary, N>>).
a7(0, A) -> A; a7(N, A) -> a7(N - 1, <<A/bits, N:7>>).
autf8(0, A) -> A; autf8(N, A) -> autf8(N - 1, <<A/binary, N/utf8>>).
abin(0, A) -> A; abin(N, A) -> abin(N - 1, <<A/binary, "a piece">>).
