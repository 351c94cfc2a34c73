%% SPDX-License-Identifier: Apache-2.0
%% What memory(binary) tells: binaries outside of heaps that processes hold, few or many, and no more once these have ended.
%% expect: {5,true,true}
%% expect: {400,true,true}
-module(proc_memory_binary).
-export([main/0]).

main() ->
    [garbage_collect(P) || P <- processes()],
    hold(5),
    hold(400).

%% Others of the VM make and free binaries as well: what is told is right in one of some tries.
hold(Count) ->
    io:format("~p~n", [try_to_hold(Count, 20)]).

try_to_hold(Count, Tries) ->
    case hold_once(Count) of
        {Count, true, true} = Right -> Right;
        _ when Tries > 1 -> try_to_hold(Count, Tries - 1);
        Wrong -> Wrong
    end.

hold_once(Count) ->
    Main = self(),
    Before = erlang:memory(binary),
    Holders = [spawn_monitor(fun() -> keep(Main, binary:copy(<<N:16>>, 500)) end) || N <- lists:seq(1, Count)],
    [receive {P, held} -> ok end || {P, _} <- Holders],
    Held = erlang:memory(binary) - Before,
    [P ! stop || {P, _} <- Holders],
    [receive {'DOWN', Ref, process, _, 1000} -> ok end || {_, Ref} <- Holders],
    {Count, Held >= 1000 * Count andalso Held < 1300 * Count + 5000, is_given_back(Before, Count, 500)}.

keep(Main, Binary) ->
    Main ! {self(), held},
    receive stop -> exit(byte_size(Binary)) end.

%% The last of it goes with the process, which may be a moment after its 'DOWN'.
is_given_back(Before, Count, Tries) ->
    erlang:memory(binary) - Before < 200 * Count orelse
        Tries > 0 andalso begin timer:sleep(10), is_given_back(Before, Count, Tries - 1) end.
