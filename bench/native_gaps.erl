%% SPDX-License-Identifier: Apache-2.0
%% How long native functions keep a scheduler from everybody else (native_args has the rows): a process that wakes
%% every millisecond
%% notes the longest time between two wakings while another process calls the native. To be run with one scheduler. Of
%% two wakings the
%% time that passed and the CPU time that the VM used are taken, and the lesser counts: a machine that gives its
%% processors to others
%% does not make a gap.
%%   run OUT FILE SECONDS TEXT [ROWS]
%%                                the natives of FILE whose row names have TEXT in them, with huge arguments, then with
%% typical ones;
%%                                OUT: "MILLISECONDS<tab>CALLED<tab>ROW" a line, one for a single call, one for calls
%% in a loop.
%%                                ROWS: a file of lines "CALLED<tab>ROW": only those
-module(native_gaps).
-export([run/1]).

-define(LOOP_MS, 20). % a time slice lasts two milliseconds at most

run([Out, File, Seconds, Text]) -> run(Out, File, Seconds, fun(_, Row) -> string:find(Row, Text) =/= nomatch end);
run([Out, File, Seconds, _, Rows]) ->
    {ok, Wanted} = file:read_file(Rows),
    Keys = maps:from_keys(binary:split(Wanted, <<"\n">>, [global, trim_all]), wanted),
    run(Out, File, Seconds,
        fun(Called, Row) -> is_map_key(unicode:characters_to_binary([atom_to_list(Called), $\t, Row]), Keys) end).

run(Out, File, Seconds, IsWanted) ->
    {ok, Log} = file:open(Out, [write, raw, binary]),
    Natives = native_bench:read_natives(File),
    Ticker = spawn_opt(fun() -> tick(now_ns(), 0) end, [{priority, normal}]),
    put(patience, list_to_integer(Seconds) * 1000),
    [ok = file:write(Log, line(Ticker, Called, Row, Make))
     || {Called, Sizes} <- [{once, [huge]}, {looped, [typical]}], {Row, _, Make} <- native_args:rows(Natives, Sizes),
        IsWanted(Called, Row)],
    ok = file:close(Log),
    erlang:halt(0, [{flush, false}]).

line(Ticker, Called, Row, Make) ->
    case gap(Ticker, Called, Make) of
        {ok, Gap} -> io_lib:format("~.2f\t~s\t~ts~n", [Gap / 1.0e6, Called, Row]);
        failed -> []
    end.

%% The longest gap in nanoseconds; failed: the native raised, or took longer than there is patience.
gap(Ticker, Called, Make) ->
    {Pid, Ref} = spawn_monitor(fun() -> exit(work(Ticker, Called, Make)) end),
    Patience = get(patience),
    receive
        {'DOWN', Ref, process, Pid, {gap, Gap}} -> {ok, Gap};
        {'DOWN', Ref, process, Pid, _} -> failed
    after Patience ->
        exit(Pid, kill),
        receive {'DOWN', Ref, process, Pid, _} -> failed end
    end.

%% What arguments leave behind is collected before, so that it is the call alone that is measured.
work(Ticker, Called, Make) ->
    {Fun, Arguments} = Make(),
    erlang:garbage_collect(),
    _ = ask(Ticker, reset),
    Worked = try call(Called, Fun, Arguments) catch _:_ -> failed end,
    Gap = ask(Ticker, longest),
    case Worked of failed -> failed; ok -> {gap, Gap} end.

call(once, Fun, Arguments) -> _ = apply(Fun, Arguments), ok;
call(looped, Fun, Arguments) -> call_until(erlang:monotonic_time(millisecond) + ?LOOP_MS, Fun, Arguments).

call_until(End, Fun, Arguments) ->
    _ = [apply(Fun, Arguments) || _ <- "0123456789"],
    case erlang:monotonic_time(millisecond) of
        Now when Now < End -> call_until(End, Fun, Arguments);
        _ -> ok
    end.

ask(Ticker, What) ->
    Ticker ! {What, self()},
    receive {Ticker, Answer} -> Answer end.

%% Notes the time between two of its wakings. Who asks ends the gap of before, and a new one begins at once: what is called
%% next may hold the scheduler before the timer that is set now has fired.
tick(Last, Longest) ->
    _ = erlang:send_after(1, self(), tick),
    wait(Last, Longest).

wait(Last, Longest) ->
    receive
        tick ->
            Now = now_ns(),
            tick(Now, max(Longest, gap_ns(Last, Now)));
        {What, From} ->
            Now = now_ns(),
            Noted = max(Longest, gap_ns(Last, Now)),
            From ! {self(), Noted},
            wait(Now, case What of reset -> 0; longest -> Noted end)
    end.

%% What passed, and what this VM's threads ran for.
now_ns() ->
    {Runtime, _} = erlang:statistics(runtime),
    {erlang:monotonic_time(nanosecond), Runtime * 1000000}.

gap_ns({Passed, Ran}, {PassedNow, RanNow}) -> min(PassedNow - Passed, RanNow - Ran + 1000000). % the runtime is in milliseconds
