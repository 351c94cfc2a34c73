%% SPDX-License-Identifier: Apache-2.0
%% Workloads of `make bench`, part (b): what a watched event costs.
%%   events:start([Kind, N, GoFile])   writes GoFile.waits, waits for GoFile, does the work, prints "Kind NanosecondsPerEvent"
%%   events:traced([Kind, N])          the same under erlang:trace/3, without and with, on the stock erl
-module(events).
-export([start/1, traced/1]).
-export([hop/1, child/0, swallow/0]).

start([Kind, N, Go]) ->
    ok = prim_file:write_file(atom_to_list(Go) ++ ".waits", <<"1">>),
    await(atom_to_list(Go)),
    erlang:display_string(atom_to_list(Kind) ++ " " ++ integer_to_list(measure(Kind, number(N))) ++ "\n"),
    halt(0).

await(File) ->
    case prim_file:read_file_info(File) of
        {ok, _} -> ok;
        {error, _} -> receive after 20 -> await(File) end
    end.

number(A) -> list_to_integer(atom_to_list(A)).

%% Of processor time, which others on the machine change less than the time that passes.
measure(Kind, N) ->
    T0 = runtime_ms(),
    work(Kind, N),
    (runtime_ms() - T0) * 1000000 div N.

runtime_ms() -> element(1, erlang:statistics(runtime)).

%% N messages through a ring of 100 processes.
work(ring, N) ->
    First = lists:foldl(fun(_, Next) -> erlang:spawn(?MODULE, hop, [Next]) end, self(), lists:seq(1, 99)),
    ring(First, N div 100),
    First ! stop,
    receive stop -> ok end;
work(spawn, 0) -> ok;
work(spawn, N) ->
    {P, R} = spawn_monitor(?MODULE, child, []),
    receive {'DOWN', R, process, P, _} -> ok end,
    work(spawn, N - 1).

ring(_, 0) -> ok;
ring(First, N) -> First ! token, receive token -> ring(First, N - 1) end.

hop(Next) ->
    receive
        token -> Next ! token, hop(Next);
        stop -> Next ! stop
    end.

child() -> ok.

traced([Kind, N0]) ->
    N = number(N0),
    Plain = measure(Kind, N),
    Flags = case Kind of ring -> [send, running]; spawn -> [procs] end,
    Tracer = erlang:spawn(?MODULE, swallow, []),
    erlang:trace(all, true, [{tracer, Tracer} | Flags]),
    Traced = measure(Kind, N),
    io:format("~s ~w ~w~n", [Kind, Plain, Traced]),
    halt(0).

swallow() -> receive _ -> swallow() end.
