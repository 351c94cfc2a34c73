%% SPDX-License-Identifier: Apache-2.0
%% A small busy system for `make demo`: a pool of workers behind a dispatcher, short-lived jobs that end in several ways,
%% and a journal on disk. It runs for the seconds given (default 30) and halts.
-module(demo).
-export([start/0, start/1]).
-export([dispatcher/1, worker/1, job/1, journal/2]).

start() -> start(['30']).

start([Seconds]) ->
    Ms = atom_to_integer(Seconds) * 1000,
    io:format("demo: running for ~w s as ~s~n", [Ms div 1000, os:getpid()]),
    Dir = "/tmp/erlsnoop-demo." ++ os:getpid(),
    ok = prim_file:make_dir(Dir),
    Workers = [spawn(?MODULE, worker, [0]) || _ <- lists:seq(1, 4)],
    register(dispatcher, spawn(?MODULE, dispatcher, [Workers])),
    spawn(?MODULE, journal, [Dir, 0]),
    erlang:send_after(Ms, self(), stop),
    tick(0),
    clean(Dir),
    halt(0).

atom_to_integer(A) -> list_to_integer(atom_to_list(A)).

tick(N) ->
    receive stop -> ok
    after 5 ->
        dispatcher ! {work, N},
        spawn(?MODULE, job, [N]),
        tick(N + 1)
    end.

dispatcher([W | Ws]) ->
    receive {work, N} -> W ! {do, N, self()} end,
    dispatcher(Ws ++ [W]).

worker(Sum) ->
    receive {do, N, _From} ->
        worker(Sum + lists:sum(lists:seq(1, N rem 500)))
    end.

job(N) when N rem 7 =:= 0 -> exit(timed_out);
job(N) when N rem 11 =:= 0 -> exit({shutdown, full});
job(N) -> lists:sort([X * 7919 rem 1009 || X <- lists:seq(1, N rem 300)]).

%% Writes, syncs, renames and removes a file now and then; every fifth rename names a file that is not there.
journal(Dir, N) ->
    Name = filename:join(Dir, "journal." ++ integer_to_list(N)),
    erlang:dt_put_tag(<<"journal">>),
    ok = prim_file:write_file(Name, binary:copy(<<"entry ">>, 200)),
    {ok, _} = prim_file:read_file(Name),
    case N rem 5 of
        0 -> {error, enoent} = prim_file:rename(Name ++ ".gone", Name ++ ".old");
        _ -> ok = prim_file:rename(Name, Name ++ ".old"), ok = prim_file:delete(Name ++ ".old")
    end,
    timer_sleep(20),
    journal(Dir, N + 1).

timer_sleep(Ms) -> receive after Ms -> ok end.

clean(Dir) ->
    {ok, Names} = prim_file:list_dir(Dir),
    [prim_file:delete(filename:join(Dir, Name)) || Name <- Names],
    prim_file:del_dir(Dir).
