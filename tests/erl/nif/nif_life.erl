%% SPDX-License-Identifier: Apache-2.0
%% Native functions: resources, monitors, messages, threads, dirty functions, functions in place of others, descriptors, queues.
%% expect: {resource,true,{1,1,0,0},badarg}
%% expect: {late,{0,3}}
%% expect: {sent_around,{1,1,0,0}}
%% expect: {bytes,<<1,0,0,0>>}
%% expect: {bytes,<<2,0,0,0>>}
%% expect: [{dtor,5,1}]
%% expect: [{dtor,3,1}]
%% expect: {bytes,<<2,0,0,0>>}
%% expect: {many,1000}
%% expect: true
%% expect: {kept,[],<<2,0,0,0>>}
%% expect: {monitor,0,-1}
%% expect: [{down,10,2}]
%% expect: {monitor,0,{0,1,1}}
%% expect: {dead,1,[]}
%% expect: {monitor,0}
%% expect: [{dtor,11,1}]
%% expect: {10,10,0,0}
%% expect: {sent,3,[once,again,once]}
%% expect: {sent,0}
%% expect: {thread,[10,1,1,1,1],same}
%% expect: {keys,3000}
%% expect: {known,[1,0,0,1,1,1,"a value"]}
%% expect: {times,true,true,true,true,true}
%% expect: {dirty_cpu,2,{"term",dirty_cpu},1,true,{"term",dirty_cpu}}
%% expect: {dirty_cpu,raised,{reason,dirty_cpu,[reason]}}
%% expect: {dirty_io,3,{"term",dirty_io},1,true,{"term",dirty_io}}
%% expect: {dirty_io,raised,{reason,dirty_io,[reason]}}
%% expect: {many,[1000]}
%% expect: {count,{sum,5050}}
%% expect: {counts,true}
%% expect: {bad_later,badarg}
%% expect: {bad_later,fail_later,[[],{who,"called"}]}
%% expect: {bad_later,fail_later,[[0],{who,"called"}]}
%% expect: {bad_later,fail_later,[[1],{who,"called"}]}
%% expect: {bad_later,fail_later,[[0,0],{who,"called"}]}
%% expect: {bad_later,fail_later,[[0,2],{who,"called"}]}
%% expect: {bad_later,fail_later,[[1,0],{who,"called"}]}
%% expect: {bad_later,fail_later,[[2,1,0,1],{who,"called"}]}
%% expect: {bad_later,count,[3,not_a_number]}
%% expect: {slices,1}
%% expect: {errors,0,64,0}
%% expect: {error,0,-1,ok}
%% expect: {error_and_write,0,0,ok,ok}
%% expect: {stopped,1,[{stop,21,0}]}
%% expect: {selected,0,0}
%% expect: "enif_select(_, FD, READ WRITE, nif_life:told, REF) stealing control of fd=FD from resource nif_life:told with in-pid PID\n\n"
%% expect: {ready,ok,[]}
%% expect: {stopped,1,[{stop,22,1}]}
%% expect: "enif_select(_, FD, READ WRITE, nif_life:told, REF) stealing control of fd=FD from resource nif_life:told\n\n"
%% expect: {pipe,0,0}
%% expect: {ready,ok}
%% expect: {again,0,ok}
%% expect: {custom,0,ok}
%% expect: {cancelled,0,16,0}
%% expect: {nothing,[]}
%% expect: {write,0,ok}
%% expect: {bad,1}
%% expect: {stopped,1,[{stop,20,1}]}
%% expect: {queued,219,true,<<"irst">>}
%% expect: {long,51,10}
%% expect: {bad,badarg,badarg}
%% expect: {dirty_sends,1,{trace,send},got}
%% expect: {dead,0,[]}
%% expect: {commands,1,<<"plain">>,1,<<"dirty">>,<<"ended">>,0}
%% expect: {settled,[true,true,true,true,true]}
%% expect: {nobody,{monitored_by,[]}}
%% expect: {watched,[me,{20,20,0,0},{21,21,0,0}],[true,true]}
%% expect: {watched,true}
%% expect: [{down,20,2}]
%% expect: {gone,undefined}
%% expect: {taints,[nif_life]}
-module(nif_life).
-export([main/0, log/2]).
-export([make_told/1, late_type/0, number_of/1, bytes/1, monitor/2, demonitor/1, send_thrice/2, thread_sends/2, known/2, times/0, dirty_cpu/1, dirty_io/1,
         send_dirty/2, send_dead/1, command/2, command_dirty/2, keys/0, count/2, fail_later/2, slices/0, open_pipe/1, share_pipe/2, select_pipe/3, use_pipe/2, queued/1]).
-compile({no_auto_import, [monitor/2, demonitor/1]}).
-compile({nowarn_deprecated_function, {erlang, now, 0}}).
-on_load(load/0).

load() -> erlang:load_nif(filename:join(filename:dirname(code:which(?MODULE)), "nif_life"), 0).

make_told(_) -> erlang:nif_error(not_loaded).
late_type() -> erlang:nif_error(not_loaded).
number_of(_) -> erlang:nif_error(not_loaded).
bytes(_) -> erlang:nif_error(not_loaded).
monitor(_, _) -> erlang:nif_error(not_loaded).
demonitor(_) -> erlang:nif_error(not_loaded).
send_thrice(_, _) -> erlang:nif_error(not_loaded).
thread_sends(_, _) -> erlang:nif_error(not_loaded).
known(_, _) -> erlang:nif_error(not_loaded).
times() -> erlang:nif_error(not_loaded).
send_dirty(_, _) -> erlang:nif_error(not_loaded).
send_dead(_) -> erlang:nif_error(not_loaded).
command(_, _) -> erlang:nif_error(not_loaded).
command_dirty(_, _) -> erlang:nif_error(not_loaded).
keys() -> erlang:nif_error(not_loaded).
dirty_cpu(_) -> erlang:nif_error(not_loaded).
dirty_io(_) -> erlang:nif_error(not_loaded).
count(_, _) -> erlang:nif_error(not_loaded).
fail_later(_, _) -> erlang:nif_error(not_loaded).
slices() -> erlang:nif_error(not_loaded).
open_pipe(_) -> erlang:nif_error(not_loaded).
share_pipe(_, _) -> erlang:nif_error(not_loaded).
select_pipe(_, _, _) -> erlang:nif_error(not_loaded).
use_pipe(_, _) -> erlang:nif_error(not_loaded).
queued(_) -> erlang:nif_error(not_loaded).

main() ->
    resources(),
    monitors(),
    messages(),
    facts(),
    dirty(),
    instead(),
    errors(),
    stolen(),
    descriptors(),
    queues(),
    dirty_messages(),
    commands(),
    settled(),
    watched(),
    show({taints, [M || M <- erlang:system_info(taints), M =:= ?MODULE]}).

resources() ->
    R = make_told(1),
    show({resource, is_reference(R), number_of(R), catch_badarg(fun() -> number_of(make_ref()) end)}),
    %% OTP 25 does not look whether it is loading.
    show({late, case list_to_integer(erlang:system_info(otp_release)) >= 27 of true -> late_type(); false -> {0, 3} end}),
    show({sent_around, number_of(pass_on(R))}),
    show({bytes, bytes(R)}),
    drop(R),
    %% one that only a binary holds, one in a table, one in a message that nobody takes, one of a process that ends
    B = bytes(make_told(2)),
    T = ets:new(t, []),
    ets:insert(T, {a, make_told(3)}),
    Self = self(),
    {P, M} = spawn_monitor(fun() -> process_flag(priority, high), X = make_told(4), Self ! {self(), made}, receive stop -> X end end),
    receive {P, made} -> ok end,
    P ! {never_taken, make_told(5)},
    garbage_collect(),
    show({bytes, B}),
    erlang:exit(P, kill),
    receive {'DOWN', M, _, _, killed} -> ok end,
    show(wait_for([{dtor, 5, 1}])),
    ets:delete(T),
    show(wait_for([{dtor, 3, 1}])),
    show({bytes, binary:copy(B)}),
    show({many, length([make_told(N) || N <- lists:seq(100, 1099)])}),
    garbage_collect(),
    show(wait_for([{dtor, N, 1} || N <- lists:seq(100, 1099)]) =:= [{dtor, N, 1} || N <- lists:seq(100, 1099)]),
    show({kept, [N || {dtor, 2, N} <- flush()], B}).

%% All destructors have run when auxiliary work is waited for.
settled() ->
    catch erts_debug:set_internal_state(available_internal_state, true),
    show({settled, [begin
        _ = length([make_told(N) || N <- lists:seq(2000, 2099)]), garbage_collect(), erts_debug:set_internal_state(wait, aux_work),
        length([told || {dtor, N, 1} <- flush(), N >= 2000]) =:= 100
    end || _ <- [1, 2, 3, 4, 5]]}),
    erts_debug:set_internal_state(available_internal_state, false).

drop(_) -> ok.

pass_on(X) ->
    Self = self(),
    P = spawn(fun() -> receive {Self, Y} -> garbage_collect(), Self ! {self(), Y} end end),
    P ! {self(), X},
    receive {P, Y} -> Y end.

monitors() ->
    P = spawn(fun() -> receive stop -> ok end end),
    R = make_told(10),
    show({monitor, monitor(R, P), monitor(none, P)}),
    P ! stop,
    show(wait_for([{down, 10, 2}])),
    Q = spawn(fun() -> receive stop -> ok end end),
    show({monitor, monitor(R, Q), demonitor(R)}),
    {_, M} = {Q, erlang:monitor(process, Q)},
    Q ! stop,
    receive {'DOWN', M, _, _, _} -> ok end,
    show({dead, monitor(R, Q), flush()}),
    Alive = spawn(fun() -> receive stop -> ok end end),
    show({monitor, monitor(make_told(11), Alive)}),
    garbage_collect(),
    show(wait_for([{dtor, 11, 1}])),
    Alive ! stop,
    show(number_of(R)).

%% Resources are among those who monitor a process.
watched() ->
    P = spawn(fun() -> receive stop -> ok end end), R = make_told(20), S = make_told(21), Me = self(),
    show({nobody, process_info(P, monitored_by)}),
    0 = monitor(R, P), 0 = monitor(S, P), M = erlang:monitor(process, P),
    {monitored_by, L} = process_info(P, monitored_by),
    show({watched, lists:sort([case X of Me -> me; _ -> number_of(X) end || X <- L]), [lists:member(X, L) || X <- [R, S]]}),
    demonitor(S), {monitored_by, K} = process_info(P, monitored_by), show({watched, lists:sort(K) =:= lists:sort([R, Me])}),
    P ! stop, receive {'DOWN', M, _, _, _} -> ok end, show(wait_for([{down, 20, 2}])),
    show({gone, process_info(P, monitored_by)}).

messages() ->
    T = {"text", <<1, 2, 3>>, binary:copy(<<"x">>, 100), #{a => [1.5]}, 1 bsl 80},
    show({sent, send_thrice(self(), T), [receive T -> once; {again, T} -> again end || _ <- [1, 2, 3]]}),
    Dead = spawn(fun() -> ok end),
    M = erlang:monitor(process, Dead),
    receive {'DOWN', M, _, _, _} -> ok end,
    show({sent, send_thrice(Dead, T)}),
    show({thread, thread_sends(self(), T), receive T -> same end}).

facts() ->
    show({keys, keys()}),
    os:putenv("NIF_LIFE", "a value"),
    show({known, known(init, no_such_name)}),
    [1, 1, 1, -2, Offset, {A, B, C}] = times(),
    show({times, abs(Offset - erlang:time_offset(second)) =< 1, is_integer(A), B < 1000000, C < 1000000, now() > {A, B, C}}).

dirty() ->
    [begin
         {Type, T, L, Alive} = ?MODULE:F({"term", F}),
         garbage_collect(),
         show({F, Type, T, Alive, lists:all(fun(X) -> X =:= binary:copy(<<(byte_size(X)):8>>, byte_size(X)) end, L), receive {from_dirty, X} -> X end}),
         show({F, raised, try ?MODULE:F(reason) catch error:E:S -> {E, element(2, hd(S)), element(3, hd(S))} end})
     end || F <- [dirty_cpu, dirty_io]],
    Self = self(),
    Many = [spawn(fun() -> {2, N, L, 1} = dirty_cpu(N), receive {from_dirty, N} -> Self ! {self(), length(L)} end end) || N <- lists:seq(1, 20)],
    show({many, lists:usort([receive {P, N} -> N end || P <- Many])}).

instead() ->
    show({count, count(100, 0)}),
    Self = self(),
    Pids = [spawn(fun() -> Self ! {self(), count(N, 0)} end) || N <- lists:seq(1, 30)],
    show({counts, [element(2, receive {P, R} -> R end) || P <- Pids] =:= [N * (N + 1) div 2 || N <- lists:seq(1, 30)]}),
    show({bad_later, catch_badarg(fun() -> count(3, not_a_number) end)}),
    [show({bad_later, F, A}) || {F, A} <- failed_calls()],
    show({slices, slices()}).

%% An error is one of the function that was called, whatever others have run in its place.
failed_calls() ->
    Who = {who, atom_to_list(called)},
    Flags = [[], [0], [1], [0, 0], [0, 2], [1, 0], [2, 1, 0, 1]],
    [failed(fun() -> fail_later(F, Who) end) || F <- Flags] ++ [failed(fun() -> count(3, not_a_number) end)].

failed(Call) ->
    try Call() catch error:badarg:Stack -> [{?MODULE, F, A, _} | _] = Stack, {F, A} end.

%% Of a pipe's end for writing: nobody reads any more.
errors() ->
    R = make_told(21),
    Ref = make_ref(),
    0 = open_pipe(R),
    show({errors, select_pipe(R, error, Ref), select_pipe(R, cancel_error, Ref), select_pipe(R, cancel_error, Ref)}),
    0 = select_pipe(R, error, Ref),
    0 = use_pipe(R, close_read),
    ok = receive {select, R, Ref, ready_error} -> ok end,
    show({error, select_pipe(R, custom_error, {my, Ref}), use_pipe(R, put), receive {my, Ref} -> ok end}),
    show({error_and_write, select_pipe(R, error, Ref), select_pipe(R, write, Ref), receive {select, R, Ref, ready_error} -> ok end,
          receive {select, R, Ref, ready_output} -> ok end}),
    show({stopped, select_pipe(R, stop_write, Ref), wait_for([{stop, 21, 0}])}).

descriptors() ->
    R = make_told(20),
    Ref = make_ref(),
    flush(), % the destructor of what is no more used
    show({pipe, open_pipe(R), select_pipe(R, read, Ref)}),
    1 = use_pipe(R, put),
    show({ready, receive {select, R, Ref, ready_input} -> ok end}),
    show({again, select_pipe(R, read, undefined), receive {select, R, undefined, ready_input} -> ok end}),
    show({custom, select_pipe(R, custom, {my, "own", Ref}), receive {my, "own", Ref} -> ok end}),
    1 = use_pipe(R, get),
    show({cancelled, select_pipe(R, read, Ref), select_pipe(R, cancel, Ref), select_pipe(R, cancel, Ref)}),
    1 = use_pipe(R, put),
    receive after 20 -> ok end,
    show({nothing, [Got || Got <- flush(), element(1, Got) =:= select]}),
    show({write, select_pipe(R, write, Ref), receive {select, R, Ref, ready_output} -> ok end}),
    show({bad, select_pipe(R, bad, Ref)}),
    show({stopped, select_pipe(R, stop, Ref), wait_for([{stop, 20, 1}])}).

%% Whoever selects a descriptor last has it, and the logger hears of it.
stolen() ->
    [A, B] = [make_told(N) || N <- [22, 23]],
    Ref = make_ref(),
    0 = open_pipe(A),
    Fd = share_pipe(A, B),
    ok = logger:add_handler(?MODULE, ?MODULE, #{config => self()}),
    ok = logger:set_handler_config(default, level, none),
    #{level := Level} = logger:get_primary_config(),
    ok = logger:set_primary_config(level, error),
    show({selected, select_pipe(A, read, Ref), select_pipe(B, read, Ref)}),
    Texts = [{ref_to_list(Ref), "REF"}, {pid_to_list(self()), "PID"}, {integer_to_list(Fd), "FD"}],
    Named = fun(Text) -> lists:foldl(fun({From, To}, T) -> string:replace(T, From, To, all) end, Text, Texts) end,
    show(receive {logged, Text} -> lists:flatten(Named(Text)) end),
    1 = use_pipe(B, put),
    show({ready, receive {select, B, Ref, ready_input} -> ok end, [Got || Got <- flush(), element(1, Got) =:= select]}),
    show({stopped, select_pipe(A, stop, Ref), wait_for([{stop, 22, 1}])}),
    show(receive {logged, Text2} -> lists:flatten(Named(Text2)) end),
    ok = logger:set_primary_config(level, Level),
    ok = logger:set_handler_config(default, level, all),
    ok = logger:remove_handler(?MODULE).

log(#{msg := {Format, Args}}, #{config := Pid}) ->
    Pid ! {logged, lists:flatten(io_lib:format(Format, Args))};
log(_, _) -> ok.

queues() ->
    L = [<<"first">>, binary:copy(<<"0123456789">>, 10), <<>>, <<"last">>],
    {Size, Bytes, [], [], 1, Head, 0} = queued(L),
    <<_, Rest/binary>> = All = iolist_to_binary(L),
    show({queued, Size, Bytes =:= <<Rest/binary, All/binary, "yz">>, Head}),
    Long = [<<N>> || N <- lists:seq(1, 30)],
    {Size2, _, [], Left, 1, _, 0} = queued(Long),
    show({long, Size2, length(Left)}),
    show({bad, catch_badarg(fun() -> queued([<<"a">>, b]) end), catch_badarg(fun() -> queued(<<"a">>) end)}).

dirty_messages() ->
    Self = self(),
    P = spawn(fun() -> receive go -> Self ! {sent, send_dirty(Self, {from, self()})} end end),
    erlang:trace(P, true, [send]),
    P ! go,
    show({dirty_sends, receive {sent, N} -> N end, receive {trace, P, send, {from, P}, Self} -> {trace, send} end,
          receive {from, P} -> got end}),
    Q = spawn(fun() -> send_dead(Self) end),
    receive {alive, Q} -> exit(Q, kill) end,
    show({dead, receive {dead, Sent} -> Sent end, [never || never <- flush()]}).

commands() ->
    Port = open_port({spawn, "cat"}, [binary, stream]),
    Sent = command(Port, "plain"),
    Plain = take_bytes(Port, 5, <<>>),
    SentDirty = command_dirty(Port, ["di", <<"rty">>]),
    Dirty = take_bytes(Port, 5, <<>>),
    register(told_port, Port),
    {P, M} = spawn_monitor(fun() -> make_told(30) end),
    receive {'DOWN', M, process, P, normal} -> ok end,
    FromDestructor = take_bytes(Port, 5, <<>>),
    port_close(Port),
    show({commands, Sent, Plain, SentDirty, Dirty, FromDestructor, command(Port, "more")}).

take_bytes(_, N, Bytes) when byte_size(Bytes) >= N -> Bytes;
take_bytes(Port, N, Bytes) -> receive {Port, {data, More}} -> take_bytes(Port, N, <<Bytes/binary, More/binary>>) end.

%% Those of the messages that come, in their order.
wait_for(Messages) -> [receive M -> M after 60000 -> {missing, M} end || M <- Messages].

catch_badarg(F) -> try F() catch error:badarg -> badarg end.

flush() -> receive M -> [M | flush()] after 0 -> [] end.

show(T) -> io:format("~0p~n", [T]).
