%% SPDX-License-Identifier: Apache-2.0
%% Tracers that are modules with native functions: who hears of what, what they may answer, and modules that go.
%% expect: {module,nif_tracer_plain}
%% expect: {send,[{trace,send,tracee,message,#{extra => pid},true}]}
%% expect: {send_to_nobody,[{trace,send_to_non_existing_process,tracee,message,
%% expect:                         #{extra => pid},
%% expect:                         true}]}
%% expect: {'receive',[{trace,'receive',tracee,message,#{},false}]}
%% expect: {procs,[{trace,spawn,tracee,pid,#{extra => {nif_tracer,id,[1]}},false},
%% expect:         {trace,link,tracee,pid,#{},false},
%% expect:         {trace,unlink,tracee,pid,#{},false},
%% expect:         {trace,register,tracee,nif_tracer_name,#{},false},
%% expect:         {trace,unregister,tracee,nif_tracer_name,#{},false},
%% expect:         {trace,exit,tracee,normal,#{},false}]}
%% expect: {spawned,[{trace,spawned,pid,tracee,#{extra => {nif_tracer,id,[1]}},false},
%% expect:           {trace,exit,pid,normal,#{},false},
%% expect:           {trace,exit,tracee,normal,#{},false}]}
%% expect: {linked,[{trace,getting_linked,tracee,pid,#{},false},
%% expect:          {trace,getting_unlinked,tracee,pid,#{},false}]}
%% expect: {running,[{trace,in,tracee,#{},true},{trace,out,tracee,#{},true}]}
%% expect: {exiting,[{trace,out_exited,tracee,#{},true}]}
%% expect: {collections,[{trace,gc_major_end,tracee,#{},true},
%% expect:               {trace,gc_major_start,tracee,#{},true}]}
%% expect: {module,nif_tracer_each}
%% expect: {send,[{trace_send,send,tracee,message,#{extra => pid},true}]}
%% expect: {send_to_nobody,[{trace_send,send_to_non_existing_process,tracee,message,
%% expect:                              #{extra => pid},
%% expect:                              true}]}
%% expect: {'receive',[{trace_receive,'receive',tracee,message,#{},false}]}
%% expect: {procs,[{trace_procs,spawn,tracee,pid,#{extra => {nif_tracer,id,[1]}},false},
%% expect:         {trace_procs,link,tracee,pid,#{},false},
%% expect:         {trace_procs,unlink,tracee,pid,#{},false},
%% expect:         {trace_procs,register,tracee,nif_tracer_name,#{},false},
%% expect:         {trace_procs,unregister,tracee,nif_tracer_name,#{},false},
%% expect:         {trace_procs,exit,tracee,normal,#{},false}]}
%% expect: {spawned,[{trace_procs,spawned,pid,tracee,
%% expect:                        #{extra => {nif_tracer,id,[1]}},
%% expect:                        false},
%% expect:           {trace_procs,exit,pid,normal,#{},false},
%% expect:           {trace_procs,exit,tracee,normal,#{},false}]}
%% expect: {linked,[{trace_procs,getting_linked,tracee,pid,#{},false},
%% expect:          {trace_procs,getting_unlinked,tracee,pid,#{},false}]}
%% expect: {running,[{trace_running_procs,in,tracee,#{},true},
%% expect:           {trace_running_procs,out,tracee,#{},true}]}
%% expect: {exiting,[{trace_running_procs,out_exited,tracee,#{},true}]}
%% expect: {collections,[{trace_garbage_collection,gc_major_end,tracee,#{},true},
%% expect:               {trace_garbage_collection,gc_major_start,tracee,#{},true}]}
%% expect: {[scheduler_id],[#{extra => pid}]}
%% expect: {[timestamp],[#{extra => pid,timestamp => timestamp}]}
%% expect: {[monotonic_timestamp],[#{extra => pid,timestamp => monotonic}]}
%% expect: {[strict_monotonic_timestamp],[#{extra => pid,timestamp => strict_monotonic}]}
%% expect: {[timestamp,scheduler_id],[#{extra => pid,timestamp => timestamp}]}
%% expect: {#{send => trace},1}
%% expect: {#{send => discard},0}
%% expect: {#{},0}
%% expect: {#{send => trace,trace_status => discard},1}
%% expect: {look,{nif_tracer_plain,same},{flags,[call]}}
%% expect: {other,badarg}
%% expect: {look,{tracer,[]},{flags,[]}}
%% expect: {removes,{tracer,[]},{flags,[]}}
%% expect: {taken_over,{nif_tracer_plain,same},{flags,[call,send]}}
%% expect: {{tracer,foobar},badarg,badarg}
%% expect: {{tracer,foobar,[]},undef,undef}
%% expect: {{tracer,17,[]},badarg,badarg}
%% expect: {{tracer,lists,[]},badarg,badarg}
%% expect: {{tracer,nif_tracer_half,[]},badarg,badarg}
%% expect: {seq,[undef,badarg,badarg]}
%% expect: {erl_tracer,1,1}
%% expect: {call,[{trace,call,tracee,{nif_tracer,called,[1]},#{},true},
%% expect:        {trace,call,tracee,{nif_tracer,raise,[1]},#{},true},
%% expect:        {trace,call,tracee,{nif_tracer,called,[2]},#{},true}]}
%% expect: {arity,[{trace_call,call,tracee,{nif_tracer,called,1},#{},true}]}
%% expect: {return_to,[{trace_call,call,tracee,#{},true},
%% expect:             {trace_call,return_to,tracee,#{},true}]}
%% expect: {discards,[]}
%% expect: {matched,[{trace_call,call,tracee,
%% expect:                       {nif_tracer,called,[17]},
%% expect:                       #{match_spec_result => {seen,1}},
%% expect:                       true},
%% expect:           {trace_call,return_from,tracee,
%% expect:                       {nif_tracer,called,1},
%% expect:                       #{extra => 17},
%% expect:                       true}]}
%% expect: {matched_discards,[]}
%% expect: {raised,[{trace,call,tracee,{nif_tracer,raise,[1]},#{},true},
%% expect:          {trace,exception_from,tracee,
%% expect:                 {nif_tracer,raise,1},
%% expect:                 #{extra => {throw,thrown}},
%% expect:                 true}]}
%% expect: {send_matched,[{trace_send,send,tracee,message,
%% expect:                            #{extra => pid,match_spec_result => sent},
%% expect:                            true}]}
%% expect: {receive_matched,[{trace_receive,'receive',tracee,m,
%% expect:                                  #{match_spec_result => got},
%% expect:                                  false}]}
%% expect: {meta_info,true}
%% expect: {meta,[{trace,call,tracee,
%% expect:               {nif_tracer,called,[3]},
%% expect:               #{timestamp => timestamp},
%% expect:               true},
%% expect:        {trace,return_from,tracee,
%% expect:               {nif_tracer,called,1},
%% expect:               #{extra => 3,timestamp => timestamp},
%% expect:               true}]}
%% expect: {meta_removed,[],{meta,[]}}
%% expect: {new,{nif_tracer_plain,same},{flags,[procs]}}
%% expect: {born,[{trace,spawned,tracee,pid,#{extra => {nif_tracer,id,[done]}},false},
%% expect:        {trace,exit,tracee,normal,#{},false}],
%% expect:       {tracer,[]}}
%% expect: {removed,{tracer,[]},{flags,[]}}
%% expect: {[ports],
%% expect:  [{trace_ports,closed},{trace_ports,getting_linked},{trace_ports,open}]}
%% expect: {[send],[{trace_send,send}]}
%% expect: {['receive'],[{trace_receive,'receive'}]}
%% expect: {[running_ports],[{trace_running_ports,in},{trace_running_ports,out}]}
%% expect: {seq,false,true}
%% expect: {seq,trace,seq_trace,17,
%% expect:      {print,{0,1},true,[],"text"},
%% expect:      #{timestamp => timestamp},
%% expect:      false}
%% expect: {seq_off,true,false}
%% expect: {seq_removed,badarg}
%% expect: {loaded_again,{tracer,[]}}
%% expect: {deleted,{tracer,[]},{flags,[]}}
%% expect: {heard,[]}
-module(nif_tracer).
-export([main/0, called/1, raise/1, id/1]).

main() ->
    logger:set_primary_config(level, none),
    make(nif_tracer_plain), make(nif_tracer_each), make(nif_tracer_half),
    [events(M) || M <- [nif_tracer_plain, nif_tracer_each]],
    options(),
    answers(),
    refused(),
    calls(),
    meta(),
    born(),
    ports(),
    seq(),
    gone().

%% ---- events of a process

events(M) ->
    show({module, M}),
    show({send, traced(M, [send], [send], fun() -> sink() ! message end)}),
    show({send_to_nobody, traced(M, [send], [send, send_to_non_existing_process], fun() -> dead() ! message end)}),
    show({'receive', traced(M, ['receive'], ['receive'], fun() -> self() ! message, receive message -> ok end end)}),
    show({procs, traced(M, [procs], [spawn, link, unlink, register, unregister, exit], fun procs/0)}),
    show({spawned, traced(M, [procs, set_on_first_spawn], [spawned, exit],
                           fun() -> wait(spawn(?MODULE, id, [1])) end)}),
    show({linked, traced(M, [procs], [getting_linked, getting_unlinked], fun linked/0)}),
    show({running, names(traced(M, [running], [in, out], fun() -> receive never -> ok after 1 -> ok end end))}),
    show({exiting, names(traced(M, [running, exiting], [out_exited], fun() -> ok end))}),
    show({collections, names(traced(M, [garbage_collection], [gc_major_start, gc_major_end],
                                    fun() -> erlang:garbage_collect() end))}).

procs() ->
    P = spawn(?MODULE, id, [1]),
    wait(P),
    Q = sink(),
    link(Q),
    unlink(Q),
    register(nif_tracer_name, self()),
    unregister(nif_tracer_name).

linked() ->
    Self = self(),
    wait(spawn(fun() -> link(Self), unlink(Self) end)).

%% The flags and the options that follow from them.
options() ->
    Send = fun() -> sink() ! message end,
    [show({Flags, [begin
                       true = is_integer(maps:get(scheduler_id, O, 0)),
                       maps:remove(scheduler_id, O)
                   end || {_, _, _, _, O, _} <- traced(nif_tracer_plain, [send | Flags], [send], Send)]})
     || Flags <- [[scheduler_id], [timestamp], [monotonic_timestamp], [strict_monotonic_timestamp],
                 [timestamp, scheduler_id]]].

%% What it answers about an event, and about its status.
answers() ->
    Send = fun() -> sink() ! message end,
    [show({Answers, length(traced_with(nif_tracer_plain, [send], Answers, Send))})
     || Answers <- [#{send => trace}, #{send => discard}, #{}, #{send => trace, trace_status => discard}]],
    P = tracee(Send),
    State = {#{call => trace, trace_status => trace}, self(), []},
    1 = erlang:trace(P, true, [call, {tracer, nif_tracer_plain, State}]),
    show({look, same(State, erlang:trace_info(P, tracer)), erlang:trace_info(P, flags)}),
    show({other, catch_error(fun() ->
        erlang:trace(P, true, [call, {tracer, nif_tracer_plain, {#{}, self(), 2}}])
    end)}),
    1 = erlang:trace(P, false, [call]),
    show({look, erlang:trace_info(P, tracer), erlang:trace_info(P, flags)}),
    Removes = {#{trace_status => remove}, self(), []},
    1 = erlang:trace(P, true, [call, {tracer, nif_tracer_plain, Removes}]),
    show({removes, erlang:trace_info(P, tracer), erlang:trace_info(P, flags)}),
    1 = erlang:trace(P, true, [call, {tracer, nif_tracer_plain, Removes}]),
    1 = erlang:trace(P, true, [send, {tracer, nif_tracer_plain, State}]),
    show({taken_over, same(State, erlang:trace_info(P, tracer)), erlang:trace_info(P, flags)}),
    run(P).

same(State, {tracer, {M, State}}) -> {M, same};
same(_, Other) -> Other.

%% Not a module, no library, half a library.
refused() ->
    [show({T, catch_error(fun() -> erlang:trace(self(), true, [call, T]) end),
           catch_error(fun() -> erlang:trace_pattern({?MODULE, called, 1}, true, [setelement(1, T, meta)]) end)})
     || T <- [{tracer, foobar}, {tracer, foobar, []}, {tracer, 17, []}, {tracer, lists, []},
              {tracer, nif_tracer_half, []}]],
    show({seq, [catch_error(fun() -> seq_trace:set_system_tracer(T) end)
                || T <- [{foobar, []}, {lists, []}, {nif_tracer_half, []}]]}),
    show({erl_tracer, erlang:trace(self(), true, [call, {tracer, erl_tracer, sink()}]),
          erlang:trace(self(), false, [call])}).

%% ---- calls

calls() ->
    Call = fun() -> catch raise(called(1)), called(2) end,
    Call1 = fun() -> called(17) end,
    [begin
         erlang:trace_pattern({?MODULE, F, 1}, Spec, [local])
     end || F <- [called, raise], Spec <- [true]],
    show({call, traced(nif_tracer_plain, [call], [call], Call)}),
    show({arity, traced(nif_tracer_each, [call, arity], [call], Call1)}),
    show({return_to, names(traced(nif_tracer_each, [call, return_to], [call, return_to], Call1))}),
    show({discards, traced(nif_tracer_each, [call, return_to], [return_to, return_from], Call1)}),
    erlang:trace_pattern({?MODULE, called, 1}, [{'_', [], [{message, {{seen, 1}}}, {return_trace}]}], [local]),
    show({matched, traced(nif_tracer_each, [call], [call], Call1)}),
    show({matched_discards, traced(nif_tracer_each, [call], [return_from], Call1)}),
    erlang:trace_pattern({?MODULE, raise, 1}, [{'_', [], [{exception_trace}]}], [local]),
    erlang:trace_pattern({?MODULE, called, 1}, false, [local]),
    show({raised, traced(nif_tracer_plain, [call], [call], Call)}),
    erlang:trace_pattern({?MODULE, raise, 1}, false, [local]),
    erlang:trace_pattern(send, [{['_', message], [], [{message, sent}]}], []),
    show({send_matched, traced(nif_tracer_each, [send], [send], fun() -> sink() ! message, sink() ! other end)}),
    erlang:trace_pattern(send, true, []),
    erlang:trace_pattern('receive', [{['_', '_', '_'], [], [{message, got}]}], []),
    show({receive_matched, traced(nif_tracer_each, ['receive'], ['receive'],
                                   fun() -> self() ! m, receive m -> ok end end)}),
    erlang:trace_pattern('receive', true, []).

meta() ->
    State = {#{call => trace}, self(), {some, <<0:1024>>}},
    1 = erlang:trace_pattern({?MODULE, called, 1}, [{'_', [], [{return_trace}]}], [{meta, nif_tracer_plain, State}]),
    show({meta_info, erlang:trace_info({?MODULE, called, 1}, meta) =:= {meta, {nif_tracer_plain, State}}}),
    P = tracee(fun() -> called(3) end),
    run(P),
    show({meta, heard(P)}),
    1 = erlang:trace_pattern({?MODULE, called, 1}, false, [meta]),
    1 = erlang:trace_pattern({?MODULE, called, 1}, true, 
                                   [{meta, nif_tracer_plain, {#{trace_status => remove}, self(), []}}]),
    Q = tracee(fun() -> called(3) end),
    run(Q),
    show({meta_removed, heard(Q), erlang:trace_info({?MODULE, called, 1}, meta)}),
    1 = erlang:trace_pattern({?MODULE, called, 1}, false, [meta]).

%% ---- processes and ports to come, ports

born() ->
    State = {#{spawned => trace, exit => trace}, self(), []},
    0 = erlang:trace(new_processes, true, [procs, {tracer, nif_tracer_plain, State}]),
    show({new, same(State, erlang:trace_info(new_processes, tracer)), erlang:trace_info(new_processes, flags)}),
    P = spawn(?MODULE, id, [done]),
    wait(P),
    0 = erlang:trace(new_processes, false, [procs]),
    show({born, heard(P), erlang:trace_info(new_processes, tracer)}),
    0 = erlang:trace(new_processes, true, 
                     [procs, {tracer, nif_tracer_plain, {#{trace_status => remove}, self(), []}}]),
    show({removed, erlang:trace_info(new_processes, tracer), erlang:trace_info(new_processes, flags)}),
    0 = erlang:trace(new_processes, false, [procs]).

ports() ->
    State = {maps:from_list([{T, trace} || T <-
        [open, closed, link, unlink, getting_linked, getting_unlinked, send, 'receive', in, out]]), self(), []},
    [begin
         0 = erlang:trace(new_ports, true, Flags ++ [{tracer, nif_tracer_each, State}]),
         Port = open_port({spawn, "cat"}, [binary]),
         true = port_command(Port, <<"text">>),
         receive {Port, {data, <<"text">>}} -> ok end,
         port_close(Port),
         0 = erlang:trace(new_ports, false, Flags),
         show({Flags, ports_heard(Port)})
     end || Flags <- [[ports], [send], ['receive'], [running_ports]]].

ports_heard(Port) ->
    lists:usort([{F, E} || {F, E, _, _, _, _} <- heard(Port)]).

seq() ->
    Self = self(),
    State = {#{seq_trace => trace}, Self, []},
    show({seq, seq_trace:set_system_tracer({nif_tracer_each, State}),
          seq_trace:get_system_tracer() =:= {nif_tracer_each, State}}),
    wait(spawn(fun() ->
        [seq_trace:set_token(Item, Value) || {Item, Value} <- [{label, 17}, {print, true}, {timestamp, true}]],
        seq_trace:print(17, "text")
    end)),
    receive
        {F, Tag, Label, {print, Serial, From, To, Info}, Options, Is_self} ->
            show({seq, F, Tag, Label, {print, Serial, is_pid(From), To, Info}, Options, Is_self})
    end,
    show({seq_off, seq_trace:set_system_tracer(false) =:= {nif_tracer_each, State}, seq_trace:get_system_tracer()}),
    show({seq_removed, catch_error(fun() ->
        seq_trace:set_system_tracer({nif_tracer_each, {#{trace_status => remove}, Self, []}})
    end)}).

%% ---- the module goes while it traces

gone() ->
    P = tracee(fun() -> sink() ! message, called(1) end),
    State = {#{send => trace, call => trace}, self(), []},
    erlang:trace_pattern({?MODULE, called, 1}, true, [local]),
    1 = erlang:trace(P, true, [send, call, {tracer, nif_tracer_plain, State}]),
    code:purge(nif_tracer_plain),
    code:delete(nif_tracer_plain),
    code:purge(nif_tracer_plain),
    make(nif_tracer_plain),
    show({loaded_again, same(State, erlang:trace_info(P, tracer))}),
    code:purge(nif_tracer_plain),
    code:delete(nif_tracer_plain),
    show({deleted, erlang:trace_info(P, tracer), erlang:trace_info(P, flags)}),
    code:purge(nif_tracer_plain),
    run(P),
    show({heard, heard(P)}),
    erlang:trace_pattern({?MODULE, called, 1}, false, [local]).

%% ---- who is traced

%% The events of a process that does something, traced by a module that wants these events.
traced(Module, Flags, Events, Do) -> traced_with(Module, Flags, maps:from_list([{E, trace} || E <- Events]), Do).

traced_with(Module, Flags, Answers, Do) ->
    P = tracee(Do),
    1 = erlang:trace(P, true, [{tracer, Module, {Answers, self(), {<<0:1024>>, fun id/1}}} | Flags]),
    run(P),
    heard(P).

tracee(Do) -> spawn(fun() -> receive {go, M} -> M end, Do() end).

run(P) ->
    M = monitor(process, P),
    P ! {go, M},
    receive {'DOWN', M, _, _, _} -> ok end.

wait(P) ->
    M = monitor(process, P),
    receive {'DOWN', M, _, _, _} -> ok end.

%% What was told, with names for whom it is about; before that everything has to be there.
heard(Tracee) ->
    Ref = erlang:trace_delivered(all),
    receive {trace_delivered, all, Ref} -> ok end,
    [list_to_tuple([plain(E, Tracee) || E <- tuple_to_list(Told)]) || Told <- flush(), not is_start(Told)].

%% The message that begins it all, and timers.
is_start({_, 'receive', _, {go, _}, _, _}) -> true;
is_start({_, 'receive', _, {'DOWN', _, _, _, _}, _, _}) -> true;
is_start({_, send, _, {'DOWN', _, _, _, _}, _, _}) -> true;
is_start(_) -> false.

plain(Tracee, Tracee) -> tracee;
plain(P, _) when is_pid(P) -> pid;
plain(R, _) when is_reference(R) -> ref;
plain(T, Tracee) when is_tuple(T) -> list_to_tuple([plain(E, Tracee) || E <- tuple_to_list(T)]);
plain(L, Tracee) when is_list(L) -> [plain(E, Tracee) || E <- L];
plain(M, Tracee) when is_map(M) -> maps:map(fun(_, V) -> plain(V, Tracee) end, M);
plain(X, _) -> X.

%% Which functions heard of which events: how often depends on the scheduler.
names(Told) -> lists:usort([{F, E, T, O, S} || {F, E, T, _, O, S} <- Told]).

flush() -> receive T when tuple_size(T) =:= 6 -> [T | flush()] after 0 -> [] end.

sink() ->
    case whereis(nif_tracer_sink) of
        undefined ->
            P = spawn(fun Loop() -> receive _ -> Loop() end end),
            register(nif_tracer_sink, P),
            P;
        P -> P
    end.

dead() ->
    P = spawn(?MODULE, id, [1]),
    wait(P),
    P.

called(X) -> id(X), X.
raise(X) -> id(X), throw(thrown).
id(X) -> X.

catch_error(F) -> try F() of R -> R catch error:E -> E end.

%% ---- modules

make(Module) ->
    Kinds = ["", "_send", "_receive", "_call", "_running_procs", "_running_ports", "_garbage_collection", "_procs",
             "_ports"],
    Functions = [["enabled", K, "(_, _, _) -> error(no_library). ",
                  "trace", K, "(_, _, _, _, _) -> error(no_library). "] || K <- Kinds],
    Source = lists:flatten(io_lib:format(
        "-module(~s). -compile(export_all). -compile(nowarn_export_all). -on_load(load/0). "
        "load() -> erlang:load_nif(\"~ts\", 0). ~ts",
        [Module, path(Module), Functions])),
    {module, Module} = code:load_binary(Module, atom_to_list(Module), compile(Source)).

compile(Source) ->
    {ok, Tokens, _} = erl_scan:string(Source),
    {ok, _, Beam} = compile:forms([begin {ok, F} = erl_parse:parse_form(Form), F end || Form <- forms(Tokens, [])], []),
    Beam.

forms([], []) -> [];
forms([{dot, _} = Dot | Rest], Form) -> [lists:reverse([Dot | Form]) | forms(Rest, [])];
forms([T | Rest], Form) -> forms(Rest, [T | Form]).

path(Name) -> filename:join(filename:dirname(code:which(?MODULE)), Name).

show(T) -> io:format("~p~n", [T]).
