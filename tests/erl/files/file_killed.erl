%% SPDX-License-Identifier: Apache-2.0
%% Owners killed in the middle of operations: every descriptor is closed, every one of them dies, others go on.
-module(file_killed).
-export([main/0]).

main() ->
    Name = "/tmp/file_killed." ++ os:getpid(),
    ok = prim_file:write_file(Name, binary:copy(<<"0123456789">>, 10000)),
    [round(Name, N) || N <- lists:seq(1, 40)],
    erlang:display({left, settle(Name)}),
    {ok, B} = prim_file:read_file(Name),
    erlang:display(byte_size(B)),
    ok = prim_file:delete(Name),
    halt(0).

round(Name, N) ->
    Ps = [spawn_monitor(fun() -> work(Name) end) || _ <- lists:seq(1, 5)],
    receive after N rem 4 -> ok end,
    [exit(P, kill) || {P, _} <- Ps],
    [receive {'DOWN', R, process, P, killed} -> ok end || {P, R} <- Ps].

work(Name) ->
    {ok, F} = prim_file:open(Name, [read]),
    {ok, _} = prim_file:read(F, 50000),
    {ok, _} = prim_file:pread(F, 100, 1000),
    case erlang:unique_integer() rem 2 of
        0 -> ok = prim_file:close(F);
        _ -> ok
    end,
    work(Name).

descriptors(Name) ->
    {ok, L} = prim_file:list_dir("/proc/self/fd"),
    length([X || X <- L, prim_file:read_link("/proc/self/fd/" ++ X) =:= {ok, Name}]).

settle(Name) ->
    case descriptors(Name) of
        0 -> 0;
        _ -> receive after 10 -> settle(Name) end
    end.

%% expect: {left,0}
%% expect: 100000
