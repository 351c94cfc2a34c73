%% SPDX-License-Identifier: Apache-2.0
%% Names of files and of variables of the environment, of every length to 700 and in every form; and what is no name.
-module(names_of_lengths).
-export([main/0]).
main() ->
    R = [begin
        L = lists:duplicate(N, C), 
        E = unicode:characters_to_binary(L),
        B = prim_file:internal_name2native(L), B = <<E/binary, 0>>,
        B = prim_file:internal_name2native([L]), B = prim_file:internal_name2native([[], L]),
        <<"a", B/binary>> = prim_file:internal_name2native([$a | L]),
        B = prim_file:internal_name2native(E),
        true = os:putenv("NM", L), L = os:getenv("NM"), 
        true = os:putenv([$N, $M | L], "v"), "v" = os:getenv("NM" ++ L), true = os:unsetenv("NM" ++ L), false = os:getenv("NM" ++ L),
        N end || N <- lists:seq(0, 700), C <- [$a, $z]],
    Bad = [catch_(F, A) || A <- [[1,0], lists:duplicate(200,$a) ++ [0], lists:duplicate(200,$a) ++ [x], [-1], a, <<"a",0>>, "a" ++ $b, [16#d800], "a=", lists:duplicate(300,$b) ++ "="],
            F <- [fun prim_file:internal_name2native/1, fun os:getenv/1, fun os:unsetenv/1, fun(X) -> os:putenv(X, "a") end, fun(X) -> os:putenv("NM", X) end]],
    io:format("~p ~w~n", [length(R), [is_binary(B) orelse B || B <- Bad, B =/= badarg]]).
catch_(F, A) -> try F(A) catch _:E -> E end.

%% expect: 1402 [true,true,true,true]
