%% SPDX-License-Identifier: Apache-2.0
%% Libraries of native functions: what is refused and how, on_load, taking over from an older version, going with the module's code.
%% expect: {stub,{'EXIT',stub}}
%% expect: {nif_load_newer,{error,{bad_lib,"That 'nif_load_one' NIF library needs erts-99.0 or newer. Either try to recompile the NIF lib or use a newer erts runtime."}}}
%% expect: {nif_load_old,{error,{bad_lib,"That old NIF library (2.5) is not compatible with this erts runtime (2.16). Try recompile the NIF lib."}}}
%% expect 27: {nif_load_old,{error,{bad_lib,"That old NIF library (2.5) is not compatible with this erts runtime (2.17). Try recompile the NIF lib."}}}
%% expect 29: {nif_load_old,{error,{bad_lib,"That old NIF library (2.5) is not compatible with this erts runtime (2.18). Try recompile the NIF lib."}}}
%% expect: {nif_load_ancient,{error,{bad_lib,"That old NIF library (1.16) is not compatible with this erts runtime (2.16). Try recompile the NIF lib."}}}
%% expect 27: {nif_load_ancient,{error,{bad_lib,"That old NIF library (1.16) is not compatible with this erts runtime (2.17). Try recompile the NIF lib."}}}
%% expect 29: {nif_load_ancient,{error,{bad_lib,"That old NIF library (1.16) is not compatible with this erts runtime (2.18). Try recompile the NIF lib."}}}
%% expect: {nif_load_variant,{error,{bad_lib,"Library (beam.other) not compiled for this vm variant (beam.vanilla)."}}}
%% expect: {nif_load_null,{error,{bad_lib,"Library init-call unsuccessful"}}}
%% expect: {nif_load_no_init,{error,{bad_lib,no_init}}}
%% expect: {nif_load_unresolved,{error,{load_failed,"Failed to load NIF library"}}}
%% expect: {nif_load_other,{error,{bad_lib,"Library module name 'nif_load_two' does not match calling module 'nif_load_one'"}}}
%% expect: {nif_load_missing,{error,{bad_lib,"Function not found nif_load_one:watch/2"}}}
%% expect: {nif_load_twice,{error,{bad_lib,"Duplicate NIF entry for nif_load_one:generation/0"}}}
%% expect: {nif_load_flags,{error,{bad_lib,"Illegal flags field value 3 for NIF nif_load_one:generation/0"}}}
%% expect: {nif_load_veto,{error,{load,"Library load-call unsuccessful (17)."}}}
%% expect: {nowhere,{error,{load_failed,"Failed to load NIF library"}}}
%% expect: {text,{error,{load_failed,"Failed to load NIF library"}}}
%% expect: {cut_off,{error,{load_failed,"Failed to load NIF library"}}}
%% expect: {empty,{error,{load_failed,"Failed to load NIF library"}}}
%% expect: {folder,{error,{load_failed,"Failed to load NIF library"}}}
%% expect: {applied,{error,{bad_lib,"load_nif/2 must be explicitly called from the NIF module. It cannot be called through apply/3."}}}
%% expect: {badarg,[badarg,badarg,badarg,badarg]}
%% expect: {binary_name,true}
%% expect: {still_stub,{'EXIT',stub}}
%% expect: {loaded,ok,1,1}
%% expect: {again,{error,{reload,"NIF library already loaded (reload disallowed since OTP 20)."}}}
%% expect: {nifs,[{generation,0},{watch,1}]}
%% expect: {exported,true,1}
%% expect: {traced,[{call,{nif_load_one,generation,[]}},
%% expect:          {return_from,{nif_load_one,generation,0},1},
%% expect:          {call,{nif_load_one,generation,[]}},
%% expect:          {return_from,{nif_load_one,generation,0},1}]}
%% expect: {unloaded,[{unloaded,1}]}
%% expect: {gone,false}
%% expect: {old_entry,ok}
%% expect: {generation,5,1}
%% expect: {unloaded,[{unloaded,5}]}
%% expect: {on_load,10,1}
%% expect: {upgraded,11,1}
%% expect: {old_unloaded,[{unloaded,10}],11}
%% expect: {vetoed,{error,on_load_failure},11}
%% expect: {no_upgrade,{error,on_load_failure},11}
%% expect: {unloaded,[{unloaded,11}]}
%% expect: {old_code,{error,{old_code,"Calling load_nif from old module 'nif_load_one' not allowed"}}}
%% expect: {beside,40,[{at_last,true}]}
%% expect: {declared,{error,{bad_lib,"Function not declared as nif nif_load_one:watch/1"}}}
%% expect: {declared,ok,1}
%% expect: {concurrent,1,9,1}
-module(nif_load).
-export([main/0, id/1]).

main() ->
    refused(),
    loaded(),
    taken_over(),
    beside(),
    declared(),
    concurrent().

refused() ->
    make(nif_load_one, ""),
    show({stub, catch nif_load_one:generation()}),
    [show({Name, short(nif_load_one:load(path(Name), 1))}) || Name <- [nif_load_newer, nif_load_old, nif_load_ancient, nif_load_variant,
        nif_load_null, nif_load_no_init, nif_load_unresolved, nif_load_other, nif_load_missing, nif_load_twice, nif_load_flags, nif_load_veto, nowhere]],
    no_libraries(),
    show({applied, apply(id(erlang), load_nif, [path(nif_load_good), 1])}),
    show({badarg, [try nif_load_one:load(P, 1) catch error:E -> E end || P <- [a, 1, [a | b], {}]]}),
    show({binary_name, element(2, catch nif_load_one:load(<<"nowhere">>, 1)) =/= []}),
    show({still_stub, catch nif_load_one:generation()}).

%% Files that are there and hold no library.
no_libraries() ->
    Dir = "/tmp/nif_load." ++ os:getpid(),
    {ok, Whole} = file:read_file(path(nif_load_good) ++ ".so"),
    ok = filelib:ensure_path(filename:join(Dir, "folder.so")),
    [ok = file:write_file(filename:join(Dir, Name), Bytes)
     || {Name, Bytes} <- [{"text.so", <<"no library\n">>}, {"cut_off.so", binary:part(Whole, 0, 40)}, {"empty.so", <<>>}]],
    [show({Name, short(nif_load_one:load(filename:join(Dir, Name), 1))}) || Name <- [text, cut_off, empty, folder]],
    ok = file:del_dir_r(Dir).

loaded() ->
    show({loaded, nif_load_one:load(path(nif_load_good), 1), nif_load_one:generation(), nif_load_one:watch(self())}),
    show({again, nif_load_one:load(path(nif_load_good), 1)}),
    show({nifs, lists:sort(nif_load_one:module_info(nifs))}),
    show({exported, erlang:function_exported(nif_load_one, generation, 0), catch nif_load_one:call_locally()}),
    show({traced, traced()}),
    remove(nif_load_one),
    show({unloaded, told()}),
    show({gone, (catch nif_load_one:generation()) =:= 1}),
    make(nif_load_one, ""),
    show({old_entry, nif_load_one:load(path(nif_load_2_6), 5)}),
    show({generation, nif_load_one:generation(), nif_load_one:watch(self())}),
    remove(nif_load_one),
    show({unloaded, told()}).

%% Calls of a native function are traced as those of any other.
traced() ->
    erlang:trace_pattern({nif_load_one, generation, 0}, [{'_', [], [{return_trace}]}], [local]),
    Self = self(),
    Tracer = spawn(fun() -> collect(Self, []) end),
    erlang:trace(self(), true, [call, {tracer, Tracer}]),
    1 = nif_load_one:generation(),
    1 = nif_load_one:call_locally(),
    erlang:trace(self(), false, [call]),
    erlang:trace_pattern({nif_load_one, generation, 0}, false, [local]),
    Ref = erlang:trace_delivered(self()),
    receive {trace_delivered, Self, Ref} -> ok end,
    Tracer ! done,
    receive {Tracer, L} -> L end.

collect(To, L) ->
    receive
        done -> To ! {self(), lists:reverse(L)};
        Trace -> collect(To, [list_to_tuple(tl(tl(tuple_to_list(Trace)))) | L])
    end.

taken_over() ->
    make(nif_load_one, "-on_load(start/0). start() -> load(\"" ++ path(nif_load_good) ++ "\", 10)."),
    show({on_load, nif_load_one:generation(), nif_load_one:watch(self())}),
    make(nif_load_one, "-on_load(start/0). start() -> load(\"" ++ path(nif_load_good) ++ "\", 11)."),
    show({upgraded, nif_load_one:generation(), nif_load_one:watch(self())}),
    true = code:soft_purge(nif_load_one),
    show({old_unloaded, told(), nif_load_one:generation()}),
    show({vetoed, make(nif_load_one, "-on_load(start/0). start() -> load(\"" ++ path(nif_load_good) ++ "\", 100)."), nif_load_one:generation()}),
    code:purge(nif_load_one),
    show({no_upgrade, make(nif_load_one, "-on_load(start/0). start() -> {error, _} = E = load(\"" ++ path(nif_load_plain) ++ "\", 1), self() ! E, E."), nif_load_one:generation()}),
    code:purge(nif_load_one),
    remove(nif_load_one),
    show({unloaded, told()}),
    show({old_code, old_code()}),
    remove(nif_load_one).

%% Natives are called while one version of the library takes over from another: each call is one of the two's.
beside() ->
    Load = "-on_load(start/0). start() -> load(\"" ++ path(nif_load_good) ++ "\", 20).",
    make(nif_load_one, Load),
    Callers = [spawn_monitor(fun() -> call(20) end) || _ <- lists:seq(1, 4)],
    [begin make(nif_load_one, Load), go_softly(nif_load_one) end || _ <- lists:seq(1, 20)],
    Last = nif_load_one:generation(),
    [Pid ! {stop, Last} || {Pid, _} <- Callers],
    show({beside, Last, lists:usort([receive {'DOWN', M, process, Pid, Why} -> Why end || {Pid, M} <- Callers])}),
    remove(nif_load_one).

call(Before) ->
    Now = nif_load_one:generation(),
    true = Now >= Before,
    receive {stop, Last} -> exit({at_last, Now =< Last}) after 0 -> call(Now) end.

go_softly(Module) -> code:soft_purge(Module) orelse begin erlang:yield(), go_softly(Module) end.

%% A process in old code cannot load a library for it.
old_code() ->
    make(nif_load_one, ""),
    Self = self(),
    {P, M} = spawn_monitor(fun() -> nif_load_one:late(path(nif_load_good), Self) end),
    receive {P, ready} -> ok end,
    make(nif_load_one, ""),
    P ! go,
    receive {P, Result} -> receive {'DOWN', M, _, _, _} -> code:purge(nif_load_one), Result end end.

%% With an attribute -nifs nothing else may be native.
declared() ->
    make(nif_load_one, "-nifs([generation/0])."),
    show({declared, nif_load_one:load(path(nif_load_good), 1)}),
    make(nif_load_one, "-nifs([generation/0, watch/1])."),
    code:purge(nif_load_one),
    show({declared, nif_load_one:load(path(nif_load_good), 1), nif_load_one:generation()}),
    remove(nif_load_one).

%% Of many who load at once one does.
concurrent() ->
    make(nif_load_one, ""),
    Self = self(),
    Pids = [spawn_link(fun() -> Self ! {self(), nif_load_one:load(path(nif_load_good), 1)} end) || _ <- lists:seq(1, 10)],
    Results = [receive {P, R} -> R end || P <- Pids],
    show({concurrent, length([ok || ok <- Results]), length([E || {error, {reload, _}} = E <- Results]), nif_load_one:generation()}),
    remove(nif_load_one).

make(Module, More) ->
    Source = lists:flatten(io_lib:format(
        "-module(~s). -export([load/2, late/2, generation/0, watch/1, call_locally/0]). ~ts "
        "load(Path, Info) -> erlang:load_nif(Path, Info). "
        "late(Path, To) -> To ! {self(), ready}, receive go -> ok end, R = load(Path, 1), To ! {self(), R}, done. "
        "generation() -> exit(stub). watch(P) -> erlang:nif_error({stub, P}). call_locally() -> X = generation(), X. ", [Module, More])),
    Beam = compile(Source),
    code:load_binary(Module, atom_to_list(Module), Beam).

compile(Source) ->
    {ok, Tokens, _} = erl_scan:string(Source),
    {ok, _, Beam} = compile:forms([begin {ok, F} = erl_parse:parse_form(Form), F end || Form <- forms(Tokens, [])], []),
    Beam.

forms([], []) -> [];
forms([{dot, _} = Dot | Rest], Form) -> [lists:reverse([Dot | Form]) | forms(Rest, [])];
forms([T | Rest], Form) -> forms(Rest, [T | Form]).

remove(Module) ->
    code:purge(Module),
    code:delete(Module),
    code:purge(Module).

path(Name) -> filename:join(filename:dirname(code:which(?MODULE)), Name).

%% Texts of the dynamic linker's own, and names of folders, are left out.
short({error, {load_failed, Text}}) -> {error, {load_failed, lists:sublist(Text, 26)}};
short({error, {bad_lib, "Failed to find library init" ++ _}}) -> {error, {bad_lib, no_init}};
short(R) -> R.

id(X) -> X.

%% A library is unloaded when nobody is in its code any more, which may be a moment after the purge.
told() -> receive M -> [M | flush()] after 5000 -> [] end.

flush() -> receive M -> [M | flush()] after 0 -> [] end.

show(T) -> io:format("~p~n", [T]).
