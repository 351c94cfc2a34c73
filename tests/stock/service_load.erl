%% SPDX-License-Identifier: Apache-2.0
%% What the loads on servers share: counting what was published and what was consumed, and telling it.
-module(service_load).
-export([new_counts/0, published/2, consumed/2, underway/1, run/3]).

new_counts() -> counters:new(2, []).
published(Counts, N) -> counters:add(Counts, 1, N).
consumed(Counts, N) -> counters:add(Counts, 2, N).
underway(Counts) -> counters:get(Counts, 1) - counters:get(Counts, 2).

%% Prints "published N consumed M" four times a second until Dir/stop is there, the sums over all Counts; then stops the publishers
%% ({stop, self()}, answered by {stopped, Publisher}), lets be consumed what is underway, prints "total N M" and ends the node.
run(Dir, Counts, Publishers) ->
    report(Counts, filename:join(atom_to_list(Dir), "stop")),
    [begin P ! {stop, self()}, receive {stopped, P} -> ok end end || P <- Publishers],
    drain(Counts, 200),
    say("total", Counts),
    halt(0).

report(Counts, Stop) ->
    say("published", Counts),
    receive after 250 -> ok end,
    case prim_file:read_file_info(Stop) of
        {ok, _} -> ok;
        {error, _} -> report(Counts, Stop)
    end.

%% Until all that was published has come, or nothing has for a while.
drain(Counts, Tries) ->
    case lists:all(fun(C) -> underway(C) =:= 0 end, Counts) of
        false when Tries > 0 -> receive after 100 -> drain(Counts, Tries - 1) end;
        _ -> ok
    end.

say(Word, Counts) -> io:format("~s ~w ~w~n", [Word, sum(Counts, 1), sum(Counts, 2)]).

sum(Counts, I) -> lists:sum([counters:get(C, I) || C <- Counts]).
