%% SPDX-License-Identifier: Apache-2.0
%% Persistent terms read while others put, replace and erase them: a reader finds a value that the key has had, or none, whatever moves in the
%% table under it, and never another key's.
-module(persistent_readers).
-export([main/0]).

-define(KEYS, 5).
-define(ROUNDS, 7).

%% expect: written 4
%% expect: read 4
%% expect: left [{1,7},{2,7},{3,7},{4,7}]
%% expect: grown 1201
%% expect: none left 1201
main() ->
    Before = maps:get(count, persistent_term:info()),
    Self = self(),
    Readers = [spawn_link(fun() -> read(Self, N) end) || N <- lists:seq(1, 4)],
    Writers = [spawn_link(fun() -> write(Self, N) end) || N <- lists:seq(1, 4)],
    io:format("written ~p~n", [length([ok || P <- Writers, wait(P) =:= ok])]),
    [P ! stop || P <- Readers],
    io:format("read ~p~n", [length([ok || P <- Readers, wait(P) =:= ok])]),
    io:format("left ~p~n", [lists:usort([{N, R} || N <- lists:seq(1, 4), K <- lists:seq(1, ?KEYS), {N1, _, R} <- [value(N, K)], N1 =:= N])]),
    [persistent_term:put({?MODULE, grown, K}, K) || K <- lists:seq(1, 1201)],
    io:format("grown ~p~n", [length([K || K <- lists:seq(1, 1201), persistent_term:get({?MODULE, grown, K}) =:= K])]),
    [persistent_term:erase(key(N, K)) || N <- lists:seq(1, 4), K <- lists:seq(1, ?KEYS)],
    io:format("none left ~p~n", [maps:get(count, persistent_term:info()) - Before]).

wait(P) -> receive {P, Answer} -> Answer end.

%% Small integers, atoms and tuples, so that some entries have no words at all.
key(1, K) -> 1000000 + K;
key(2, K) -> list_to_atom("persistent_reader_" ++ integer_to_list(K));
key(N, K) -> {?MODULE, N, K}.

value(N, K) ->
    case persistent_term:get(key(N, K), none) of
        V when is_integer(V) -> {V rem 10, V div 10 rem 100, V div 1000};
        V -> V
    end.

make_value(N, K, R) when N rem 2 =:= 1 -> R * 1000 + K * 10 + N;
make_value(N, K, R) -> {N, K, R}.

write(To, N) ->
    [write_round(N, R) || R <- lists:seq(1, ?ROUNDS)],
    To ! {self(), ok}.

write_round(N, R) ->
    [persistent_term:put(key(N, K), make_value(N, K, R)) || K <- lists:seq(1, ?KEYS)],
    [true = persistent_term:erase(key(N, K)) || R =/= ?ROUNDS, K <- lists:seq(1, ?KEYS), (K + R) rem 5 =:= 0].

read(To, N) ->
    read_all(N, lists:seq(1, ?KEYS)),
    receive stop -> To ! {self(), ok} after 0 -> read(To, N) end.

read_all(N, Keys) ->
    [case value(N, K) of
         none -> ok;
         {N, K, R} when R >= 1, R =< ?ROUNDS -> ok
     end || K <- Keys].
