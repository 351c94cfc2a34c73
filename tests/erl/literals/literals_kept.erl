%% SPDX-License-Identifier: Apache-2.0
%% A persistent term is erased, and its memory used again, while every kind of place still holds it.
%% expect: {literal,true}
%% expect: {stack,true,true}
%% expect: {dictionary,true,true}
%% expect: {environment,true,true}
%% expect: {match,true,true}
%% expect: {queue,true,true}
%% expect: {inside,true,true}
%% expect: {skipped,true,true}
%% expect: {suspended,true,true}
%% expect: {hibernated,true,true}
%% expect: {preempted,true,true}
%% expect: {table,true,true}
%% expect: {heir,true,true}
%% expect: {timer,true,true}
%% expect: {tag,true,true}
%% expect: {reason,true,true}
%% expect: {other,true,true}
%% expect: {key,true,true}
%% expect: {answer,true,true}
%% expect: {shared,true}
%% expect: {again,true}
%% expect: {parts,{4,6,true,true}}
%% expect: {told_once,true}
-module(literals_kept).
-export([main/0, wake/1]).

main() ->
    Value = make_value(),
    persistent_term:put({?MODULE, key, make_value()}, Value),
    [Key] = [K || {{?MODULE, key, _} = K, _} <- persistent_term:get()],
    Literal = persistent_term:get(Key),
    show({literal, erts_debug:size_shared(Literal) =:= 0}),
    Holders = [{Name, start(Name, Key)} || Name <- [stack, dictionary, environment, match, queue, inside, skipped, suspended,
                                                    hibernated, preempted, table, heir, timer, tag, reason, other]],
    Parts = [element(1, Literal), Literal, element(4, Literal)],
    true = persistent_term:erase(Key),
    await_copied(Literal),
    await_collector(),
    [persistent_term:put({?MODULE, N}, lists:duplicate(100, N)) || N <- lists:seq(1, 3000)],
    [ask(Name, Pid, Value) || {Name, Pid} <- Holders],
    show({key, is_kept(Key), Key =:= {?MODULE, key, Value}}),
    show({answer, is_kept(Literal), Literal =:= Value}),
    [First, Whole, Fourth] = Parts,
    show({shared, erts_debug:same(First, element(1, Whole)) andalso erts_debug:same(Fourth, element(4, Whole))}),
    show({again, lists:all(fun(N) -> persistent_term:get({?MODULE, N}) =:= lists:duplicate(100, N) end, lists:seq(1, 3000))}),
    [persistent_term:erase({?MODULE, N}) || N <- lists:seq(1, 3000)],
    show({parts, shared_parts()}),
    show({told_once, told() =< 1 orelse string:find(erlang:system_info(system_version), "[erlvm]") =:= nomatch}).

%% How often the collector is told of areas before it looks; stock OTP tells it of each. While it works, messages about
%% areas that it has switched to by itself stay in its mailbox: it is idle before it is counted.
told() ->
    Pid = collector(),
    await_idle(Pid),
    true = erlang:suspend_process(Pid),
    [persistent_term:put(?MODULE, [N]) || N <- lists:seq(1, 100)],
    {message_queue_len, N} = process_info(Pid, message_queue_len),
    true = erlang:resume_process(Pid),
    await_idle(Pid),
    true = persistent_term:erase(?MODULE),
    N.

%% What a term has twice a persistent term has once.
shared_parts() ->
    Part = [self()],
    Term = {Part, Part, [x | Part]},
    persistent_term:put(?MODULE, Term),
    {A, B, [x | C]} = Stored = persistent_term:get(?MODULE),
    {erts_debug:size(Part) + erts_debug:size([x]), erts_debug:size(Stored) - erts_debug:size(Part),
     erts_debug:same(A, B) andalso erts_debug:same(A, C), Stored =:= Term}.

make_value() ->
    {lists:seq(1, 500), binary:copy(<<"long">>, 100), <<"short">>, #{a => [b], {c} => 1 bsl 100}, 1.5,
     maps:from_list([{N, {N}} || N <- lists:seq(1, 100)])}.

show(T) -> io:format("~p~n", [T]).

%% Is no part of it a literal?
is_kept(Term) -> erts_debug:size_shared(Term) >= erts_debug:size_shared(binary_to_term(term_to_binary(Term))).

%% An erased term gets to the collector of literals some time after erase/1: until then the collector is idle.
await_copied(Literal) ->
    case is_kept(Literal) of
        true -> ok;
        false -> receive after 5 -> await_copied(Literal) end
    end.

await_collector() -> await_idle(collector()).

collector() ->
    [Pid] = [P || P <- processes(), {initial_call, {erts_literal_area_collector, start, 0}} =:= process_info(P, initial_call)],
    Pid.

await_idle(Pid) ->
    Ref = make_ref(),
    Pid ! {get_status, Ref, self()},
    receive
        {Ref, idle} -> ok;
        {Ref, working} -> receive after 5 -> await_idle(Pid) end
    end.

start(Name, Key) ->
    Main = self(),
    {Pid, _} = spawn_monitor(fun() -> hold(Name, Main, Key) end),
    receive {Pid, ready} -> ok end,
    before(Name, Pid, persistent_term:get(Key)),
    Pid.

%% What is done to the holder before the term is erased.
before(queue, Pid, Literal) -> Pid ! Literal;
before(inside, Pid, Literal) -> Pid ! {in, [Literal]};
before(skipped, Pid, Literal) ->
    [Pid ! {skip, N, Literal} || N <- lists:seq(1, 100)],
    Pid ! {take, Literal};
before(suspended, Pid, _) -> erlang:suspend_process(Pid);
before(_, _, _) -> ok.

ask(Name, Pid, Value) ->
    Name =/= suspended orelse erlang:resume_process(Pid),
    Pid ! {tell, self()},
    receive
        {Pid, Kept, Term} -> show({Name, Kept, Term =:= Value});
        {'DOWN', _, process, Pid, {held, Term}} -> show({Name, is_kept(Term), Term =:= Value});
        {'DOWN', _, process, Pid, Why} -> show({Name, Why})
    end.

answer(Term) ->
    receive {tell, From} -> From ! {self(), is_kept(Term), Term} end,
    Term.

hold(Name, Main, Key) ->
    Held = take(Name, persistent_term:get(Key), fun() -> Main ! {self(), ready} end),
    answer(Held).

take(stack, Literal, Ready) -> Ready(), answer(Literal);
take(dictionary, Literal, Ready) ->
    put(held, Literal),
    put(Literal, held),
    Ready(),
    awake(),
    held = get(get(held)),
    get(held);
take(environment, Literal, Ready) ->
    F = fun() -> Literal end,
    Ready(),
    awake(),
    F();
take(match, Literal, Ready) ->
    Ready(),
    <<"sh", Rest/binary>> = element(3, Literal),
    awake(),
    <<"ort">> = Rest,
    setelement(3, Literal, <<"sh", Rest/binary>>);
take(queue, _, Ready) -> Ready(), awake(), receive T when is_tuple(T), tuple_size(T) =:= 6 -> T end;
take(inside, _, Ready) -> Ready(), awake(), receive {in, [T]} -> T end;
take(skipped, _, Ready) ->
    Ready(),
    receive {take, T} -> awake(), [receive {skip, N, T} -> ok end || N <- lists:seq(100, 1, -1)], T end;
take(suspended, Literal, Ready) -> Ready(), answer(Literal);
take(hibernated, Literal, Ready) -> Ready(), erlang:hibernate(?MODULE, wake, [Literal]);
take(preempted, Literal, Ready) -> Ready(), spin(erlang:monotonic_time(millisecond) + 300), answer(Literal);
take(table, Literal, Ready) ->
    T = ets:new(t, []),
    ets:insert(T, {Literal, Literal}),
    Ready(),
    awake(),
    [{K, V}] = ets:tab2list(T),
    [{K, K}] = ets:lookup(T, V),
    K;
take(heir, Literal, Ready) ->
    Self = self(),
    Owner = spawn(fun() -> ets:new(t, [{heir, Self, Literal}]), Self ! owned, receive stop -> ok end end),
    receive owned -> Ready() end,
    awake(),
    Owner ! stop,
    receive {'ETS-TRANSFER', _, Owner, T} -> T end;
take(timer, Literal, Ready) -> erlang:send_after(500, self(), {late, Literal}), Ready(), receive {late, T} -> T end;
take(tag, Literal, Ready) ->
    Pid = spawn(fun() -> receive stop -> ok end end),
    Ref = monitor(process, Pid, [{tag, {down, Literal}}]),
    Ready(),
    awake(),
    Pid ! stop,
    receive {{down, T}, Ref, process, Pid, normal} -> T end;
take(reason, Literal, Ready) -> Ready(), awake(), exit({held, Literal});
take(other, Literal, Ready) ->
    persistent_term:put({?MODULE, other}, {Literal, self()}),
    Ready(),
    awake(),
    T = element(1, persistent_term:get({?MODULE, other})),
    persistent_term:erase({?MODULE, other}),
    receive {tell, From} -> From ! {self(), true, T} end, %% a literal still
    T.

%% Asked to tell, but not yet told.
awake() -> receive {tell, _} = M -> self() ! M end.

wake(Literal) -> answer(Literal).

%% Without the literal among its arguments: OTP 25 (not 29) forgets those of a process that is preempted.
spin(Until) -> erlang:monotonic_time(millisecond) >= Until orelse spin(Until).
