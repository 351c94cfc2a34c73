%% SPDX-License-Identifier: Apache-2.0
%% Why a native function refused its arguments: the cause in the stack trace, and the library's words for it.
-module(lang_causes).
-export([main/0]).

main() ->
    S = ets:new(set, []),
    B = ets:new(bag, [bag]),
    ets:insert(S, {a, 1, x}),
    Deleted = ets:new(deleted, []),
    ets:delete(Deleted),
    Private = foreign(private),
    Named = ets:new(?MODULE, [named_table]),
    Self = self(),
    [show(Name, F) || {Name, F} <- [
        {insert_name, fun() -> ets:insert(nope, {1}) end},
        {insert_deleted, fun() -> ets:insert(Deleted, [{1}]) end},
        {insert_type, fun() -> ets:insert(1, {1}) end},
        {insert_element, fun() -> ets:insert(S, [a]) end},
        {lookup_private, fun() -> ets:lookup(Private, a) end},
        {select_private, fun() -> ets:select(Private, [{{a}, [], [a]}]) end},
        {lookup_element_key, fun() -> ets:lookup_element(S, b, 2) end},
        {lookup_element_position, fun() -> ets:lookup_element(S, a, 4) end},
        {counter_key, fun() -> ets:update_counter(S, b, 1) end},
        {counter_keypos, fun() -> ets:update_counter(S, a, {1, 1}) end},
        {counter_position, fun() -> ets:update_counter(S, a, {9, 1}) end},
        {counter_value, fun() -> ets:update_counter(S, a, {3, 1}) end},
        {counter_bag, fun() -> ets:update_counter(B, a, 1) end},
        {element_keypos, fun() -> ets:update_element(S, a, {1, 1}) end},
        {element_position, fun() -> ets:update_element(S, a, {9, 1}) end},
        {new_name, fun() -> ets:new(Named, [named_table]) end},
        {give_owner, fun() -> ets:give_away(S, Self, x) end},
        {give_foreign, fun() -> ets:give_away(foreign(public), Self, x) end},
        {give_dead, fun() -> ets:give_away(S, dead(), x) end},
        {setopts_foreign, fun() -> ets:setopts(foreign(public), {heir, none}) end},
        {process_flag, fun() -> process_flag(foo, true) end},
        {process_flag_value, fun() -> process_flag(priority, foo) end},
        {flag_of_another, fun() -> process_flag(whereis(init), foo, 3) end},
        {flag_of_dead, fun() -> process_flag(dead(), save_calls, 3) end},
        {flag_of_none, fun() -> process_flag(foo, save_calls, 3) end},
        {flag_of_another_value, fun() -> process_flag(whereis(init), save_calls, -3) end},
        {system_flag, fun() -> erlang:system_flag(foo, 3) end},
        {system_flag_value, fun() -> erlang:system_flag(min_heap_size, foo) end},
        {system_flag_time, fun() -> erlang:system_flag(time_offset, foo) end},
        {halt, fun() -> halt(0, [foo]) end},
        {spawn_opt, fun() -> spawn_opt(lists, seq, [1, 2], [foo]) end},
        {start_timer, fun() -> erlang:start_timer(1 bsl 70, Self, x) end},
        {start_timer_option, fun() -> erlang:start_timer(1, Self, x, [foo]) end},
        {monitor, fun() -> monitor(process, Self, [foo]) end},
        {send, fun() -> erlang:send(Self, x, [foo]) end},
        {binary_to_term, fun() -> binary_to_term(<<131, 97, 1>>, [foo]) end},
        {register_dead, fun() -> register(no_name, dead()) end},
        {register_named, fun() -> register(no_name, whereis(init)) end},
        {register_undefined, fun() -> register(undefined, Self) end},
        {register_taken, fun() -> register(init, Self) end},
        {set_signal, fun() -> os:set_signal(sigusr1, foo) end},
        {re_compile, fun() -> re:compile("a", [foo]) end},
        {re_run, fun() -> re:run("a", "a", [foo]) end},
        {bits, fun() -> Wide = size(S, 59), <<0:Wide/unit:32, 0:64>> end}]],
    ok.

%% The largest small number; the compiler does not know it.
size(Table, Bits) -> ets:insert(Table, {bits, Bits}), (1 bsl ets:lookup_element(Table, bits, 2)) - 1.

foreign(Protection) ->
    Self = self(),
    spawn(fun() -> Self ! {table, ets:new(foreign, [Protection])}, receive stop -> ok end end),
    receive {table, T} -> T end.

dead() ->
    {P, R} = spawn_monitor(fun() -> ok end),
    receive {'DOWN', R, _, _, _} -> P end.

show(Name, F) ->
    try F() of
        V -> io:format("~p: ~p~n", [Name, V])
    catch
        C:R:Trace ->
            [{_, _, _, Info} | _] = Trace,
            {error_info, Map} = lists:keyfind(error_info, 1, Info),
            Text = lists:flatten(erl_error:format_exception(C, R, Trace)),
            Words = [string:trim(L) || L <- string:split(Text, "\n", all), string:find(L, "***") =/= nomatch],
            io:format("~0p: ~0p ~0p~n", [Name, maps:get(cause, Map, none), Words])
    end.

%% expect: insert_name: id ["*** argument 1: the table identifier does not refer to an existing ETS table"]
%% expect: insert_deleted: id ["*** argument 1: the table identifier does not refer to an existing ETS table"]
%% expect: insert_type: type ["*** argument 1: not an atom or a table identifier"]
%% expect: insert_element: none ["*** argument 2: not a non-empty tuple or a list of non-empty tuples"]
%% expect: lookup_private: access ["*** argument 1: the table identifier refers to an ETS table with insufficient access rights"]
%% expect: select_private: access ["*** argument 1: the table identifier refers to an ETS table with insufficient access rights"]
%% expect: lookup_element_key: badkey ["*** argument 2: not a key that exists in the table"]
%% expect: lookup_element_position: none ["*** argument 3: position is greater than the size of the object"]
%% expect: counter_key: badkey ["*** argument 2: not a key that exists in the table"]
%% expect: counter_keypos: keypos ["*** argument 3: the position is the same as the key position"]
%% expect: counter_position: position ["*** argument 3: the position in the update operation is out of range"]
%% expect: counter_value: none ["*** argument 3: the value in the given position, in the object, is not an integer"]
%% expect: counter_bag: table_type ["*** argument 1: the table identifier refers to an ETS table of a type not supported by this operation"]
%% expect: element_keypos: keypos ["*** argument 3: the position is the same as the key position"]
%% expect: element_position: none ["*** argument 3: out of range"]
%% expect 27: element_position: position ["*** argument 3: the position in the update operation is out of range"]
%% expect: new_name: already_exists ["*** argument 1: table name already exists"]
%% expect: give_owner: owner ["*** argument 2: the process is already the owner of the table"]
%% expect: give_foreign: not_owner ["*** argument 2: the current process is not the owner"]
%% expect: give_dead: none ["*** argument 2: the pid refers to a terminated process"]
%% expect: setopts_foreign: none ["*** argument 2: invalid options"]
%% expect: process_flag: badopt ["*** argument 1: invalid process flag"]
%% expect: process_flag_value: none ["*** argument 2: invalid value for this process flag"]
%% expect: flag_of_another: none ["*** argument 2: invalid process flag"]
%% expect: flag_of_dead: badtype ["*** argument 1: the pid does not refer to an existing process"]
%% expect: flag_of_none: badtype ["*** argument 1: not a pid"]
%% expect: flag_of_another_value: none ["*** argument 3: invalid value for process flag 'save_calls'"]
%% expect: system_flag: badopt ["*** argument 1: invalid system flag"]
%% expect: system_flag_value: none ["*** argument 2: invalid value for this system flag"]
%% expect: system_flag_time: badopt ["*** argument 1: invalid system flag"]
%% expect: halt: badopt ["*** argument 2: invalid option in list"]
%% expect: spawn_opt: badopt ["*** argument 4: invalid spawn option"]
%% expect: start_timer: time ["*** argument 1: exceeds the maximum supported time value"]
%% expect: start_timer_option: badopt ["*** argument 3: invalid option in list"]
%% expect: monitor: badopt ["*** argument 3: invalid option in list"]
%% expect: send: badopt ["*** argument 3: invalid option in list"]
%% expect: binary_to_term: badopt ["*** argument 2: invalid option in list"]
%% expect: register_dead: notalive ["*** argument 2: the pid does not refer to an existing process"]
%% expect: register_named: registered_name ["*** argument 2: this process or port already has a name"]
%% expect: register_undefined: none ["*** argument 1: 'undefined' is not a valid name"]
%% expect: register_taken: none ["*** argument 1: name is in use"]
%% expect: set_signal: badopt ["*** argument 2: invalid signal handling option"]
%% expect: re_compile: badopt ["*** argument 2: invalid options"]
%% expect: re_run: badopt ["*** argument 3: invalid options"]
%% expect: bits: {1,integer,size,576460752303423487} ["*** segment 1 of type 'integer': the size 576460752303423487 is too large"]
