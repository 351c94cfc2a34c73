%% SPDX-License-Identifier: Apache-2.0
%% Named tables come, go, and get other names while others look for them: what is found by a name is the table of that
%% name, or it is said that there is none; a table that is there all the time is found each time.
%% expect: always: 0 missed
%% expect: one of a ring of names: ok
%% expect: comes and goes: ok
%% expect: whereis: ok
%% expect: left: []
-module(ets_names).
-export([main/0]).

-define(ROUNDS, 1500).
-define(READERS, 2).

%% Names that stand together in the registry's lists as often as not: there are many.
-define(NAMES, [list_to_atom("ets_names_" ++ integer_to_list(I)) || I <- lists:seq(1, 100)]).

main() ->
    [ets:new(N, [named_table, public]) || N <- ?NAMES],
    [ets:insert(N, {name, N}) || N <- ?NAMES],
    Ring = list_to_tuple([list_to_atom("ring_" ++ integer_to_list(I)) || I <- lists:seq(1, 5)]),
    Readers = [{What, [spawn_monitor(fun() -> exit({done, loop(Read, 0)}) end) || _ <- lists:seq(1, ?READERS)]}
        || {What, Read} <- readers(Ring)],
    Writers = [spawn_monitor(Write) || Write <- [fun() -> rename(Ring) end, fun() -> come_and_go(?ROUNDS) end]],
    [receive {'DOWN', Ref, process, _, normal} -> ok end || {_, Ref} <- Writers],
    [tell(What, lists:sum([stop(R) || R <- Rs])) || {What, Rs} <- Readers],
    [ets:delete(N) || N <- ?NAMES],
    io:format("left: ~p~n", [[N || N <- [comes_and_goes | ?NAMES] ++ tuple_to_list(Ring), ets:whereis(N) =/= undefined]]).

tell("always", Missed) -> io:format("always: ~b missed~n", [Missed]);
tell(What, 0) -> io:format("~s: ok~n", [What]);
tell(What, Wrong) -> io:format("~s: ~b wrong~n", [What, Wrong]).

stop({Pid, Ref}) ->
    Pid ! stop,
    receive {'DOWN', Ref, process, _, {done, Count}} -> Count; {'DOWN', Ref, process, _, Why} -> exit(Why) end.

%% Each returns how often something was wrong.
readers(Ring) ->
    [{"always", fun() -> missed(?NAMES) end},
     {"one of a ring of names", fun() -> wrong([element(I, Ring) || I <- [1, 2, 3, 4, 5]], ring) end},
     {"comes and goes", fun() -> wrong([comes_and_goes], comes_and_goes) end},
     {"whereis", fun() -> not_whereis(comes_and_goes) + not_whereis(element(1, Ring)) end}].

loop(Read, Count) ->
    receive stop -> Count after 0 -> loop(Read, Count + Read()) end.

missed(Names) -> length([N || N <- Names, found(N) =/= N]).

wrong(Names, Is) -> length([N || N <- Names, not lists:member(found(N), [Is, none, empty])]).

found(Name) ->
    try ets:lookup(Name, name) of
        [{name, Is}] -> Is;
        [] -> empty
    catch error:badarg -> none
    end.

not_whereis(Name) ->
    case ets:whereis(Name) of
        undefined -> 0;
        Tid ->
            try ets:lookup(Tid, name) of
                [{name, Is}] when Is =:= ring; Is =:= comes_and_goes -> 0;
                [] -> 0;
                _ -> 1
            catch error:badarg -> 0
            end
    end.

rename(Ring) ->
    ets:new(element(1, Ring), [named_table, public]),
    ets:insert(element(1, Ring), {name, ring}),
    [begin
         To = element(I rem 5 + 1, Ring),
         To = ets:rename(element((I - 1) rem 5 + 1, Ring), To)
     end || I <- lists:seq(1, ?ROUNDS)],
    ok.

%% Deleted, or left to the end of its owner; new ones may not be there before the old one is gone.
come_and_go(0) -> ok;
come_and_go(N) when N rem 8 =:= 0 ->
    {_, Ref} = spawn_monitor(fun() -> make() end),
    receive {'DOWN', Ref, process, _, normal} -> ok end,
    undefined = ets:whereis(comes_and_goes),
    come_and_go(N - 1);
come_and_go(N) ->
    make(),
    true = ets:delete(comes_and_goes),
    undefined = ets:whereis(comes_and_goes),
    come_and_go(N - 1).

make() ->
    comes_and_goes = ets:new(comes_and_goes, [named_table, public]),
    true = ets:insert(comes_and_goes, {name, comes_and_goes}).
