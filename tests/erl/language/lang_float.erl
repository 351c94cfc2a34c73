%% SPDX-License-Identifier: Apache-2.0
%% Floats: arithmetic, comparison, conversion.
-module(lang_float).
-export([main/0]).

main() ->
    [p(X) || X <- [0.1 + 0.2, 1 / 3, 2.0 * 3, 1.0e308 * 1.0, 5.0e-324, 1.7976931348623157e308, 0.0, 100.0, 1.0e22, 1.0e21, 123456789.125,
                   math:pi(), math:sqrt(2), math:pow(2, 0.5), float(1 bsl 53)]],
    erlang:display([1 == 1.0, 1 =:= 1.0, 1 < 1.5, 1.5 < 2, 0.0 == -0.0, (1 bsl 53) + 1 == 9007199254740992.0]),
    erlang:display([trunc(-2.7), round(-2.5), round(2.5), ceil(2.1), floor(-2.1), trunc(1.0e18), abs(-3) + trunc(abs(-0.5))]),
    erlang:display(float_to_list(3.14159, [{decimals, 2}])),
    erlang:display(float_to_list(2.5, [{decimals, 6}, compact])),
    erlang:display(float_to_list(1.0e10, [{scientific, 3}])),
    erlang:display(float_to_list(0.1)),
    erlang:display(float_to_binary(12.5, [short])),
    erlang:display([list_to_float("1.5e3") == 1500.0, binary_to_float(<<"-0.25">>) == -0.25]),
    erlang:display([list_to_float("1.5\0007") == 1.5, binary_to_float(<<"1.5", 0>>) == 1.5]), %% a NUL ends the text
    erlang:display([<<X/float>> || X <- [-id(0.0), negated(id(0.0)), negated(id(-0.0)), negated(id(1.5)), + id(-0.0)]]),
    [erlang:display(try F() catch C:R -> {C, R} end)
     || F <- [fun() -> 1 / id(0) end, fun() -> id(1.0e308) * 10 end, fun() -> math:sqrt(id(-1)) end, fun() -> math:log(id(0)) end,
              fun() -> list_to_float(id("1")) end, fun() -> float(id(1 bsl 2000)) end]],
    erlang:display(lists:sort([3, 1.5, 2, -1.0, 1, 1.0, 0])  == [-1.0, 0, 1, 1.0, 1.5, 2, 3]),
    p(lists:foldl(fun(I, A) -> A + 1 / I end, 0, lists:seq(1, 1000))),
    rand:seed(exsss, 19),
    %% `compact` without decimals drops zeros of the number itself on OTP 25.
    erlang:display([erlang:phash2([float_to_binary(X, [{decimals, D} | More]) || X <- decimal_floats(), More <- [[] | [[compact] || D > 0]]])
                    || D <- lists:seq(0, 20)]),
    erlang:display(erlang:phash2([float_to_binary(X, [short]) || X <- decimal_floats()])).

%% Around halves of the last digit, of every size, and what is next to them.
decimal_floats() ->
    Halves = [(N + 0.5) / math:pow(10, D) || N <- [0, 1, 4, 9, 99, 12345, 999999], D <- lists:seq(0, 18)],
    Near = [begin <<B:64>> = <<X/float>>, <<Y/float>> = <<(B + Step):64>>, Y end || X <- Halves, Step <- [-1, 0, 1]],
    Whole = [math:pow(2, E) - Less || E <- lists:seq(0, 54), Less <- [0, 0.25, 0.5, 1]],
    Any = [rand:uniform() * math:pow(10, rand:uniform(40) - 20) || _ <- lists:seq(1, 1000)],
    [Sign * X || X <- Near ++ Whole ++ Any ++ [0.0, 1.0e200], Sign <- [1, -1]].

p(X) -> erlang:display(float_to_list(X, [short])).

%% A float, as the compiler knows.
negated(X) when is_float(X) -> Y = X * 1.0, -Y.

id(X) -> X.

%% expect: "0.30000000000000004"
%% expect: "0.3333333333333333"
%% expect: "6.0"
%% expect: "1.0e308"
%% expect: "5.0e-324"
%% expect: "1.7976931348623157e308"
%% expect: "0.0"
%% expect: "100.0"
%% expect: "1.0e22"
%% expect: "1.0e21"
%% expect: "123456789.125"
%% expect: "3.141592653589793"
%% expect: "1.4142135623730951"
%% expect: "1.4142135623730951"
%% expect: "9.007199254740992e15"
%% expect: [true,false,true,true,true,false]
%% expect: [-2,-3,3,3,-3,1000000000000000000,3]
%% expect: "3.14"
%% expect: "2.5"
%% expect: "1.000e+10"
%% expect: "1.00000000000000005551e-01"
%% expect: <<"12.5">>
%% expect: [true,true]
%% expect: [true,true]
%% expect: [<<128,0,0,0,0,0,0,0>>,<<0,0,0,0,0,0,0,0>>,<<0,0,0,0,0,0,0,0>>,<<191,248,0,0,0,0,0,0>>,<<0,0,0,0,0,0,0,0>>]
%% expect 27: [<<128,0,0,0,0,0,0,0>>,<<128,0,0,0,0,0,0,0>>,<<0,0,0,0,0,0,0,0>>,<<191,248,0,0,0,0,0,0>>,<<0,0,0,0,0,0,0,0>>]
%% expect: {error,badarith}
%% expect: {error,badarith}
%% expect: {error,badarith}
%% expect: {error,badarith}
%% expect: {error,badarg}
%% expect: {error,badarg}
%% expect: true
%% expect: "7.485470860550343"
%% expect: [85175623,77223082,74191534,9942027,77598459,65643465,53962479,85250060,21159715,44691225,9735226,96080070,30548257,18642463,68264413,106676383,88527872,35747656,30737529,112302292,64556337]
%% expect: 17495467
