%% SPDX-License-Identifier: Apache-2.0
%% Measures native functions (native_args has the rows): nanoseconds a call, through a fun, in a loop, less what calls
%% of an empty
%% Erlang function take in the same loop, which is measured beside each row, batch by batch: so both met the same
%% machine. Each row
%% has a process of its own. A batch of calls lasts about a millisecond; the least of several batches counts.
%%   list OUT                     OUT: a line "M F A" for each native of this VM
%%   run OUT FILE SECONDS TEXT [ROWS]
%%                                the natives of FILE, and what is no native, whose row names have TEXT in them, or
%%                                stand in the file ROWS, one a line;
%%                                OUT: "NANOSECONDS<tab>ANSWER<tab>ROW" a line; ANSWER: a hash, "-" where answers may
%% differ, or
%%                                "raises ..."
-module(native_bench).
-export([list/1, run/1, read_natives/1, empty/0, empty/1, empty/2, empty/3, empty/4]).

-define(BATCH_NS, 1000000).
-define(BATCHES, 5).
-define(EMPTY_LOOPS, 20000).
-define(CALLS, 4). % in one turn of the loop

list([Out]) ->
    ok = file:write_file(Out, [io_lib:format("~s ~s ~b~n", [M, F, A]) || {M, F, A} <- natives()]),
    erlang:halt(0).

%% Those that there is something to measure of: the modules whose natives programs call.
natives() ->
    Modules = [erlang, erts_internal, binary, lists, maps, unicode, ets, re, math, persistent_term, atomics, os,
        string],
    Around = [{M, F, A} || M <- [counters, prim_file], {F, A} <- M:module_info(exports), F =/= module_info],
    lists:usort([N || {M, F, A} = N <- native_spec:natives(), lists:member(M, Modules), erlang:function_exported(M, F,
        A)] ++ Around).

run([Out, File, Seconds, Text]) -> run(Out, File, Seconds, fun(Row) -> string:find(Row, Text) =/= nomatch end);
run([Out, File, Seconds, _, Rows]) ->
    {ok, Wanted} = file:read_file(Rows),
    Names = maps:from_keys(binary:split(Wanted, <<"\n">>, [global, trim_all]), wanted),
    run(Out, File, Seconds, fun(Row) -> is_map_key(unicode:characters_to_binary(Row), Names) end).

run(Out, File, Seconds, IsWanted) ->
    process_flag(priority, high),
    {ok, Log} = file:open(Out, [write, raw, binary]),
    Natives = read_natives(File),
    put(patience, list_to_integer(Seconds) * 1000),
    [ok = file:write(Log, line(Row, Native, Make)) 
     || {Row, Native, Make} <- native_args:rows(Natives, [small, typical, large]),
        IsWanted(Row)],
    ok = file:close(Log),
    erlang:halt(0).

read_natives(File) ->
    {ok, Lines} = file:read_file(File),
    [native(Line) || Line <- binary:split(Lines, <<"\n">>, [global, trim_all])].

native(Line) ->
    [M, F, A] = binary:split(Line, <<" ">>, [global]),
    {binary_to_atom(M), binary_to_atom(F), binary_to_integer(A)}.

line(Row, Native, Make) ->
    {Nanoseconds, Answer} =
        case measure(Native, Make) of
            {ok, Time, Value} -> {Time, answer(Native, Row, Value)};
            {failed, Why} -> {0, "raises " ++ shown(Why)}
        end,
    io_lib:format("~.2f\t~ts\t~ts~n", [float(Nanoseconds), Answer, Row]).

shown(Why) -> lists:sublist(lists:flatten(io_lib:format("~0P", [Why, 12])), 100).

%% What a table or a map that is not ordered gives is compared without its order, if at all.
answer({M, F, A}, Row, Value) ->
    IsOrdered = M =/= ets orelse string:find(Row, "ordered") =/= nomatch,
    case native_spec:is_volatile(M, F, A) orelse not IsOrdered andalso is_walk(F, A) of
        true -> "-";
        false -> digest(Value)
    end;
answer(_, _, Value) -> digest(Value).

is_walk(F, A) ->
    lists:member(F, [first, last, next, prev, slot]) orelse
        A =/= 2 andalso lists:member(F, [match, match_object, select, select_reverse]).

digest(Value) -> integer_to_list(erlang:phash2(Value)).

%% {ok, nanoseconds a call, what it answers}
measure(Native, Make) ->
    {Pid, Ref} = spawn_monitor(fun() -> process_flag(priority, high), exit({measured, measure_here(Native, Make)}) end),
    Patience = get(patience),
    receive
        {'DOWN', Ref, process, Pid, {measured, Measured}} -> Measured;
        {'DOWN', Ref, process, Pid, Why} -> {failed, Why}
    after Patience ->
        exit(Pid, kill),
        receive {'DOWN', Ref, process, Pid, _} -> {failed, late} end
    end.

%% What arguments leave behind is collected before, so that it is the calls alone that are measured.
measure_here(Native, Make) ->
    {Fun, Arguments} = Make(),
    erlang:garbage_collect(),
    try apply(Fun, Arguments) of
        Value ->
            Kept = native_spec:plain(comparable(Native, Value), 8),
            Loops = calibrate(Fun, Arguments, 1),
            {ok, net(Loops, Fun, Arguments), Kept}
    catch
        Class:Reason -> {failed, {Class, Reason}}
    end.

%% Where the parts of an iovec begin and end is each VM's own choice (docs/vm.md), the order of many lists too.
comparable({erlang, iolist_to_iovec, 1}, Parts) -> iolist_to_binary(Parts);
comparable(_, Value) when is_list(Value), length(Value) < 100000 -> lists:sort(Value);
comparable(_, Value) -> Value.

calibrate(Fun, Arguments, Loops) ->
    case batch(Loops, Fun, Arguments) of
        Time when Time >= ?BATCH_NS -> Loops;
        Time -> calibrate(Fun, Arguments, max(Loops * 2, min(Loops * 10, Loops * ?BATCH_NS div max(Time, 1))))
    end.

%% What takes long is repeated less, and the loop is nothing beside it.
net(1, Fun, Arguments) ->
    Times = [batch(1, Fun, Arguments)],
    Rest = case hd(Times) of Time when Time > 100 * ?BATCH_NS -> 0; _ -> ?BATCHES end,
    lists:min(Times ++ [batch(1, Fun, Arguments) || _ <- lists:seq(1, Rest)]) / ?CALLS;
net(Loops, Fun, Arguments) ->
    Arity = length(Arguments),
    Empty = fun ?MODULE:empty/Arity,
    EmptyLoops = min(Loops, ?EMPTY_LOOPS),
    Both = [{batch(Loops, Fun, Arguments), batch(EmptyLoops, Empty, Arguments)} || _ <- lists:seq(1, ?BATCHES)],
    {Times, EmptyTimes} = lists:unzip(Both),
    lists:min(Times) / (?CALLS * Loops) - lists:min(EmptyTimes) / (?CALLS * EmptyLoops).

batch(Loops, Fun, Arguments) ->
    Begin = erlang:monotonic_time(nanosecond),
    loop(Loops, Fun, Arguments),
    erlang:monotonic_time(nanosecond) - Begin.

loop(N, F, []) -> loop0(N, F);
loop(N, F, [A]) -> loop1(N, F, A);
loop(N, F, [A, B]) -> loop2(N, F, A, B);
loop(N, F, [A, B, C]) -> loop3(N, F, A, B, C);
loop(N, F, [A, B, C, D]) -> loop4(N, F, A, B, C, D).

loop0(0, _) -> ok;
loop0(N, F) -> F(), F(), F(), F(), loop0(N - 1, F).
loop1(0, _, _) -> ok;
loop1(N, F, A) -> F(A), F(A), F(A), F(A), loop1(N - 1, F, A).
loop2(0, _, _, _) -> ok;
loop2(N, F, A, B) -> F(A, B), F(A, B), F(A, B), F(A, B), loop2(N - 1, F, A, B).
loop3(0, _, _, _, _) -> ok;
loop3(N, F, A, B, C) -> F(A, B, C), F(A, B, C), F(A, B, C), F(A, B, C), loop3(N - 1, F, A, B, C).
loop4(0, _, _, _, _, _) -> ok;
loop4(N, F, A, B, C, D) -> F(A, B, C, D), F(A, B, C, D), F(A, B, C, D), F(A, B, C, D), loop4(N - 1, F, A, B, C, D).

empty() -> ok.
empty(_) -> ok.
empty(_, _) -> ok.
empty(_, _, _) -> ok.
empty(_, _, _, _) -> ok.
