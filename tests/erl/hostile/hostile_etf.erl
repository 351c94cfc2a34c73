%% SPDX-License-Identifier: Apache-2.0
%% Bytes from outside: a term or badarg, also after a valid term was damaged, and whatever was decoded can be encoded.
%% expect: {random,20000}
%% expect: {damaged,20000}
%% expect: [badarg,badarg,badarg,badarg,badarg,badarg]
%% expect: [badarg,badarg,badarg]
-module(hostile_etf).
-export([main/0]).

main() ->
    rand:seed(exsss, {1, 2, 3}),
    io:format("~p~n", [{random, count(fun() -> <<131, (rand:bytes(rand:uniform(40)))/binary>> end)}]),
    Good = term_to_binary({[1, -2.5, "text", a], #{k => <<1, 2, 3:4>>}, 1 bsl 200, fun lists:map/2, self(), make_ref(), lists:seq(1, 300)}),
    io:format("~p~n", [{damaged, count(fun() -> damage(Good, rand:uniform(5)) end)}]),
    Huge = [<<131, $l, -1:32>>, <<131, $i, -1:32>>, <<131, $t, -1:32>>, <<131, $m, -1:32>>, <<131, $o, -1:32, 0, 1>>, <<131, 80, -1:32, 120, 156>>],
    io:format("~p~n", [[try binary_to_term(B) catch error:E -> E end || B <- Huge]]),
    Stray = binary:copy(<<16#a2>>, 10), % no character begins with it
    Names = [fun() -> binary_to_term(<<131, 119, 10, Stray/binary>>) end,
             fun() -> binary_to_term(<<131, 119, 11, 16#ff, Stray/binary>>) end, fun() -> binary_to_atom(Stray) end],
    io:format("~p~n", [[try F() catch error:E -> E end || F <- Names]]).

count(Make) -> length([ok || _ <- lists:seq(1, 20000), ok =:= decode(Make())]).

decode(B) ->
    try binary_to_term(B, [safe]) of
        T -> _ = byte_size(term_to_binary(T)), true = T =:= binary_to_term(term_to_binary(T)), ok
    catch
        error:badarg -> ok
    end.

damage(B, 0) -> B;
damage(B, N) ->
    At = rand:uniform(byte_size(B) - 1),
    <<Head:At/binary, _, Tail/binary>> = B,
    damage(<<Head/binary, (rand:uniform(256) - 1), Tail/binary>>, N - 1).
