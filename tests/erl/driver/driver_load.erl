%% SPDX-License-Identifier: Apache-2.0
%% Drivers of libraries: loading, unloading, reloading, what is refused, and who is told.
%% expect: {"driver_old",{error,driver_incorrect_version}}
%% expect: {"driver_new_major",{error,driver_incorrect_version}}
%% expect: {"driver_new_minor",{error,driver_incorrect_version}}
%% expect: {"driver_unmarked",{error,driver_incorrect_version}}
%% expect: {"driver_other",{error,bad_driver_name}}
%% expect: {"driver_veto",{error,driver_init_failed}}
%% expect: {"driver_null",{error,driver_init_failed}}
%% expect: {"driver_no_init",{error,no_driver_init}}
%% expect: [true,true]
%% expect: {"text","file too short",true}
%% expect: {"cut_off","file too short",true}
%% expect: {"empty","file too short",true}
%% expect: {"long_text","invalid ELF header",true}
%% expect: {"other_class","wrong ELF class: ELFCLASS32",true}
%% expect: {"folder","cannot read file data: Is a directory",true}
%% expect: {"nowhere","cannot open shared object file: No such file or directory",true}
%% expect: {refused_leave,[{mapped,[]},{drivers,[]},{ports,[]},{descriptors,0}]}
%% expect: {starts_leave,[{mapped,[]},{drivers,[]},{ports,[]},{descriptors,0}]}
%% expect: ok
%% expect: ok
%% expect: {error,linked_in_driver}
%% expect: {error,linked_in_driver}
%% expect: {error,not_loaded}
%% expect: inconsistent Driver name and/or driver options are inconsistent with currently loaded driver
%% expect: linked_in_driver Driver is statically linked and cannot be loaded/unloaded
%% expect: permanent DDLL driver is permanent an cannot be unloaded/loaded
%% expect: not_loaded DDLL driver is not loaded
%% expect: not_loaded_by_this_process DDLL driver was not loaded by this process
%% expect: not_pending DDLL load not pending for this driver name
%% expect: already_loaded DDLL driver is already loaded successfully
%% expect: pending_reload Driver reloading is already pending
%% expect: pending_process Driver is loaded by others when attempting option {reload, pending_driver}
%% expect: no_error No error
%% expect: no_driver_init No driver init in dynamic library
%% expect: driver_init_failed Driver init failed
%% expect: bad_driver_name Bad driver name
%% expect: driver_name_to_long Driver name to long
%% expect: driver_incorrect_version Driver compiled with incorrect version of erl_driver.h
%% expect: no_ddll_available DDLL functionality not available on this platform
%% expect: unspecified_error Unspecified dynamic library error
%% expect: symbol_not_found Symbol not found in dynamic library
%% expect: load_cancelled Loading was cancelled from other process
%% expect: {open_error,-9999} Unknown dlload error
%% expect: {open_error,3} Unspecified error
%% expect: [{error,badarg},{error,badarg},{error,badarg},{error,badarg}]
%% expect: {error,badarg}
%% expect: {"driver_good",[],{ok,1}}
%% expect: {"driver_good with more",[],{ok,1}}
%% expect: {"driver_good general",[],{error,einval}}
%% expect: {"driver_good errno",[],{error,emfile}}
%% expect: {"driver_good badarg",[],{error,badarg}}
%% expect: {"driver_good",[exit_status],{error,badarg}}
%% expect: {"driver_goo",[],{error,badarg}}
%% expect: {"driver_good",[{args,["a"]}],{error,badarg}}
%% expect: [{name,"driver_good a b"},{queue_size,0},{os_pid,undefined}]
%% expect: {error,badarg}
%% expect: {2,
%% expect:  [{driver_options,[]},
%% expect:   {port_count,1},
%% expect:   {linked_in_driver,false},
%% expect:   {permanent,false},
%% expect:   {awaiting_load,[]},
%% expect:   {awaiting_unload,[]}]}
%% expect: {error,inconsistent}
%% expect: {error,inconsistent}
%% expect: [true,true,false,false]
%% expect: [{linked_in_driver,true}]
%% expect: linked_in_driver
%% expect: {'DOWN',driver_good,unloaded}
%% expect: {'DOWN',driver_good,load_cancelled}
%% expect: 1
%% expect: {error,not_loaded_by_this_process}
%% expect: [{'UP',driver_good,unload_cancelled},{'UP',driver_good,unload_cancelled}]
%% expect: driver_unloaded
%% expect: [{'DOWN',driver_good,unloaded},{'DOWN',driver_good,unloaded}]
%% expect: [{'DOWN',driver_good,unloaded},
%% expect:  {'DOWN',"driver_good",unloaded},
%% expect:  {'UP',<<"tcp_inet">>,permanent}]
%% expect: true
%% expect: untold
%% expect: {error,not_loaded}
%% expect: {error,pending_reload}
%% expect: {'UP',driver_good,loaded}
%% expect: [1]
%% expect: {error,not_loaded_by_this_process}
%% expect: {error,not_loaded_by_this_process}
%% expect: {error,pending_process}
%% expect: normal
%% expect: {'DOWN',driver_good,load_cancelled}
%% expect: {'DOWN',driver_good,unloaded}
%% expect: {killed,driver_unloaded}
%% expect: {'DOWN',driver_good,unloaded}
%% expect: [0]
%% expect: {'UP',driver_locked,permanent}
%% expect: {error,permanent}
%% expect: {error,permanent}
%% expect: [{processes,permanent},
%% expect:  {driver_options,[]},
%% expect:  {port_count,permanent},
%% expect:  {linked_in_driver,false},
%% expect:  {permanent,true},
%% expect:  {awaiting_load,permanent},
%% expect:  {awaiting_unload,permanent}]
%% expect: [{error,badarg},
%% expect:  {error,badarg},
%% expect:  {error,badarg},
%% expect:  {error,badarg},
%% expect:  {error,badarg},
%% expect:  {error,badarg},
%% expect:  {error,badarg},
%% expect:  {error,badarg},
%% expect:  {error,badarg},
%% expect:  {error,badarg},
%% expect:  {error,badarg},
%% expect:  {error,badarg},
%% expect:  {error,badarg},
%% expect:  {error,badarg},
%% expect:  {error,badarg},
%% expect:  {error,badarg}]
-module(driver_load).
-export([main/0]).

main() ->
    Dir = filename:dirname(code:which(?MODULE)),
    refused(Dir),
    formats(),
    opened(Dir),
    counted(Dir),
    unloaded(Dir),
    reloaded(Dir),
    died(Dir),
    permanent(Dir),
    arguments(Dir).

refused(Dir) ->
    [io:format("~p~n", [{N, erl_ddll:load(Dir, N)}])
     || N <- ["driver_old", "driver_new_major", "driver_new_minor", "driver_unmarked", "driver_other", "driver_veto",
              "driver_null", "driver_no_init"]],
    {error, {open_error, _} = E} = erl_ddll:load(Dir, "driver_unresolved"),
    {error, {open_error, _} = F} = erl_ddll:load(Dir, "driver_missing"),
    io:format("~p~n", [[string:find(erl_ddll:format_error(X), T) =/= nomatch
                        || {X, T} <- [{E, "there_is_no_such_function"}, {F, "cannot open shared object file"}]]]),
    no_libraries(),
    left_behind(Dir),
    io:format("~p~n", [erl_ddll:load(Dir, "driver_two")]),
    io:format("~p~n", [erl_ddll:unload(driver_two)]),
    io:format("~p~n", [erl_ddll:load(Dir, "tcp_inet")]),
    io:format("~p~n", [erl_ddll:try_unload("tcp_inet", [])]),
    io:format("~p~n", [erl_ddll:try_unload("no_such", [])]).

%% Files that hold no library: what is said of them, by a number that stays the same.
no_libraries() ->
    Dir = "/tmp/driver_load." ++ os:getpid(),
    ok = filelib:ensure_path(filename:join(Dir, "folder.so")),
    [ok = file:write_file(filename:join(Dir, Name ++ ".so"), Bytes)
     || {Name, Bytes} <- [{"text", <<"no library\n">>}, {"cut_off", <<127, "ELF", 2, 1, 1>>}, {"empty", <<>>},
                          {"long_text", binary:copy(<<"no library\n">>, 100)},
                          {"other_class", <<127, "ELF", 1, 1, 1, 0:(8 * 1000)>>}]],
    [begin
         {error, {open_error, N} = E} = erl_ddll:load(Dir, Name),
         Again = erl_ddll:load(Dir, Name),
         io:format("~p~n", [{Name, erl_ddll:format_error(E), is_integer(N) andalso Again =:= {error, E}}])
     end || Name <- ["text", "cut_off", "empty", "long_text", "other_class", "folder", "nowhere"]],
    ok = file:del_dir_r(Dir).

%% Nothing stays of libraries that are refused, nor of ports whose driver does not start.
left_behind(Dir) ->
    Before = held(),
    Refuse = fun() -> [{error, _} = erl_ddll:load(Dir, N)
                       || N <- ["driver_old", "driver_new_major", "driver_unmarked", "driver_other", "driver_veto",
                                "driver_null", "driver_no_init", "driver_unresolved", "driver_missing"]] end,
    [Refuse() || _ <- lists:seq(1, 50)],
    io:format("~p~n", [{refused_leave, more_than(Before)}]),
    ok = erl_ddll:load_driver(Dir, driver_good),
    [{'EXIT', _} = (catch open_port({spawn_driver, "driver_good " ++ W}, []))
     || _ <- lists:seq(1, 200), W <- ["general", "errno", "badarg"]],
    M = erl_ddll:monitor(driver, {driver_good, unloaded}),
    ok = erl_ddll:unload_driver(driver_good),
    {'DOWN', driver_good, unloaded} = down(M),
    io:format("~p~n", [{starts_leave, more_than(Before)}]).

held() ->
    {ok, Drivers} = erl_ddll:loaded_drivers(),
    {ok, Descriptors} = file:list_dir("/proc/self/fd"),
    [{mapped, mapped()}, {drivers, Drivers}, {ports, erlang:ports()}, {descriptors, length(Descriptors)}].

%% Names of our libraries in the VM's memory.
mapped() ->
    {ok, F} = file:open("/proc/self/maps", [read, raw, binary, read_ahead]),
    Names = mapped(F, []),
    ok = file:close(F),
    lists:usort(Names).

mapped(F, L) ->
    case file:read_line(F) of
        {ok, Line} ->
            case re:run(Line, "/(driver_[a-z_]+)\\.so", [{capture, [1], list}]) of
                {match, [Name]} -> mapped(F, [Name | L]);
                nomatch -> mapped(F, L)
            end;
        eof -> L
    end.

more_than(Before) ->
    [{K, if is_list(Now) -> Now -- Then; true -> Now - Then end}
     || {{K, Then}, {K, Now}} <- lists:zip(Before, held())].

formats() ->
    [io:format("~p ~s~n", [E, erl_ddll:format_error(E)])
     || E <- [inconsistent, linked_in_driver, permanent, not_loaded, not_loaded_by_this_process, not_pending,
              already_loaded, pending_reload, pending_process, no_error, no_driver_init, driver_init_failed,
              bad_driver_name, driver_name_to_long, driver_incorrect_version, no_ddll_available, unspecified_error,
              symbol_not_found, load_cancelled, {open_error, -9999}, {open_error, 3}]],
    io:format("~p~n", [[catch_error(fun() -> erl_ddll:format_error(E) end) || E <- [nonsense, {open_error}, 7, "x"]]]).

opened(Dir) ->
    Open = fun(What, O) -> try open_port(What, O) of P -> [H] = port_control(P, 0, []), port_close(P), {ok, H}
                           catch C:R -> {C, R} end end,
    io:format("~p~n", [Open({spawn_driver, "driver_good"}, [])]),
    ok = erl_ddll:load_driver(Dir, driver_good),
    [io:format("~p~n", [{N, O, Open({K, N}, O)}])
     || {K, N, O} <- [{spawn_driver, "driver_good", []}, {spawn, "driver_good with more", []},
                      {spawn_driver, "driver_good general", []}, {spawn_driver, "driver_good errno", []},
                      {spawn_driver, "driver_good badarg", []}, {spawn, "driver_good", [exit_status]},
                      {spawn_driver, "driver_goo", []}, {spawn_driver, "driver_good", [{args, ["a"]}]}]],
    process_flag(trap_exit, true),
    Q = open_port({spawn_driver, "driver_good a b"}, []),
    io:format("~p~n", [[erlang:port_info(Q, name), erlang:port_info(Q, queue_size), erlang:port_info(Q, os_pid)]]),
    unlink(Q),
    port_close(Q),
    ok = erl_ddll:unload_driver(driver_good).

counted(Dir) ->
    io:format("~p~n", [catch_error(fun() -> erl_ddll:info("driver_good", processes) end)]),
    {ok, loaded} = erl_ddll:try_load(Dir, driver_good, []),
    {ok, already_loaded} = erl_ddll:try_load(Dir, "driver_good", []),
    P = open_port({spawn_driver, driver_good}, []),
    Self = self(),
    [{processes, [{Self, N}]} | More] = erl_ddll:info(driver_good),
    io:format("~p~n", [{N, More}]),
    io:format("~p~n", [erl_ddll:try_load(Dir, driver_good, [{driver_options, [kill_ports]}])]),
    io:format("~p~n", [erl_ddll:try_load(Dir ++ "/../other", driver_good, [])]),
    {ok, Names} = erl_ddll:loaded_drivers(),
    io:format("~p~n", [[lists:member(X, Names) || X <- ["driver_good", "tcp_inet", "fd", "nothing"]]]),
    io:format("~p~n", [lists:sort([E || {linked_in_driver, _} = E <- erl_ddll:info("tcp_inet")])]),
    io:format("~p~n", [erl_ddll:info("tcp_inet", driver_options)]),
    port_close(P),
    {ok, pending_process} = erl_ddll:try_unload(driver_good, []),
    {ok, pending_driver, R} = erl_ddll:try_unload(driver_good, [{monitor, pending}]),
    io:format("~p~n", [down(R)]).

down(R) ->
    receive
        {Kind, R, driver, Name, What} -> {Kind, Name, What};
        {'EXIT', _, _} -> down(R)
    end.

unloaded(Dir) ->
    {ok, loaded} = erl_ddll:try_load(Dir, driver_good, []),
    P = open_port({spawn_driver, driver_good}, []),
    {ok, pending_driver, R1} = erl_ddll:try_unload(driver_good, [{monitor, pending_driver}]),
    M1 = erl_ddll:monitor(driver, {driver_good, unloaded}),
    M2 = erl_ddll:monitor(driver, {driver_good, unloaded_only}),
    M3 = erl_ddll:monitor(driver, {driver_good, loaded}),
    io:format("~p~n", [down(M3)]),
    io:format("~p~n", [length(erl_ddll:info(driver_good, awaiting_unload))]),
    [{_, 3}] = erl_ddll:info(driver_good, awaiting_unload),
    io:format("~p~n", [erl_ddll:try_load(Dir, driver_good, [{reload, pending}])]),
    {ok, already_loaded} = erl_ddll:try_load(Dir, driver_good, []),
    io:format("~p~n", [[down(R1), down(M1)]]),
    {ok, pending_driver, R2} = erl_ddll:try_unload(driver_good, [{monitor, pending_driver}, kill_ports]),
    receive {'EXIT', P, Why} -> io:format("~p~n", [Why]) end,
    io:format("~p~n", [[down(R2), down(M2)]]),
    M4 = erl_ddll:monitor(driver, {driver_good, loaded}),
    M5 = erl_ddll:monitor(driver, {"driver_good", unloaded}),
    M6 = erl_ddll:monitor(driver, {<<"tcp_inet">>, unloaded}),
    io:format("~p~n", [[down(M4), down(M5), down(M6)]]),
    {ok, loaded} = erl_ddll:try_load(Dir, driver_good, []),
    M7 = erl_ddll:monitor(driver, {driver_good, unloaded}),
    io:format("~p~n", [erl_ddll:demonitor(M7)]),
    ok = erl_ddll:unload_driver(driver_good),
    io:format("~p~n", [receive {_, M7, _, _, _} -> told after 0 -> untold end]).

reloaded(Dir) ->
    io:format("~p~n", [erl_ddll:reload(Dir, driver_good)]),
    ok = erl_ddll:load(Dir, driver_good),
    P = open_port({spawn_driver, driver_good}, []),
    Reload = [{reload, pending_driver}, {monitor, pending_driver}],
    {ok, pending_driver, R1} = erl_ddll:try_load(Dir, driver_good, Reload),
    io:format("~p~n", [erl_ddll:try_load(Dir, driver_good, [{reload, pending}])]),
    [{_, 1}] = erl_ddll:info(driver_good, awaiting_load),
    port_close(P),
    io:format("~p~n", [down(R1)]),
    Q = open_port({spawn_driver, driver_good}, []),
    io:format("~p~n", [port_control(Q, 0, [])]),
    Load = fun(O) -> erl_ddll:try_load(Dir, driver_good, O) end,
    {Other, Ref} = spawn_monitor(fun() -> io:format("~p~n", [Load([{reload, pending}])]),
                                          io:format("~p~n", [erl_ddll:try_unload(driver_good, [])]),
                                          {ok, already_loaded} = Load([]),
                                          io:format("~p~n", [Load([{reload, pending_driver}])])
                                 end),
    receive {'DOWN', Ref, process, Other, Why} -> io:format("~p~n", [Why]) end,
    {ok, pending_driver, R3} = erl_ddll:try_load(Dir, driver_good, Reload),
    {ok, pending_driver} = erl_ddll:try_unload(driver_good, []),
    io:format("~p~n", [down(R3)]),
    M = erl_ddll:monitor(driver, {driver_good, unloaded}),
    port_close(Q),
    io:format("~p~n", [down(M)]).

%% Who loaded a driver ends.
died(Dir) ->
    Self = self(),
    {Pid, Ref} = spawn_monitor(fun() -> ok = erl_ddll:load_driver(Dir, driver_good),
                                        Self ! {self(), open_port({spawn_driver, driver_good}, [])},
                                        receive go -> ok end end),
    Port = receive {Pid, P} -> P end,
    link(Port),
    port_connect(Port, Self),
    M = erl_ddll:monitor(driver, {driver_good, unloaded}),
    Pid ! go,
    receive {'DOWN', Ref, process, Pid, _} -> ok end,
    receive {'EXIT', Port, Why} -> io:format("~p~n", [{killed, Why}]) end,
    io:format("~p~n", [down(M)]).

permanent(Dir) ->
    ok = erl_ddll:load(Dir, driver_locked),
    P = open_port({spawn_driver, driver_locked}, []),
    M = erl_ddll:monitor(driver, {driver_locked, unloaded}),
    io:format("~p~n", [port_control(P, 1, [])]),
    io:format("~p~n", [down(M)]),
    io:format("~p~n", [erl_ddll:try_unload(driver_locked, [])]),
    io:format("~p~n", [erl_ddll:try_load(Dir, driver_locked, [])]),
    io:format("~p~n", [erl_ddll:info(driver_locked)]),
    port_close(P).

arguments(Dir) ->
    Bad = [{driver_options, [x]}],
    io:format("~p~n", [[catch_error(F) || F <- [fun() -> erl_ddll:try_load(Dir, driver_good, [x]) end,
                                                fun() -> erl_ddll:try_load(Dir, driver_good, [{monitor, x}]) end,
                                                fun() -> erl_ddll:try_load(Dir, driver_good, [{reload, x}]) end,
                                                fun() -> erl_ddll:try_load(Dir, driver_good, Bad) end,
                                                fun() -> erl_ddll:try_load(Dir, driver_good, x) end,
                                                fun() -> erl_ddll:try_load(7, driver_good, []) end,
                                                fun() -> erl_ddll:try_load(Dir, 7, []) end,
                                                fun() -> erl_ddll:try_load(Dir, '', []) end,
                                                fun() -> erl_ddll:try_unload(driver_good, [x]) end,
                                                fun() -> erl_ddll:try_unload({}, []) end,
                                                fun() -> erl_ddll:info(driver_locked, x) end,
                                                fun() -> erl_ddll:info(7, processes) end,
                                                fun() -> erl_ddll:monitor(x, {driver_good, loaded}) end,
                                                fun() -> erl_ddll:monitor(driver, {driver_good, x}) end,
                                                fun() -> erl_ddll:monitor(driver, x) end,
                                                fun() -> erl_ddll:demonitor(x) end]]]).

catch_error(F) -> try F() catch C:R -> {C, R} end.
