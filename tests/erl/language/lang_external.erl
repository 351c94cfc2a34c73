%% SPDX-License-Identifier: Apache-2.0
%% The external term format, both ways.
-module(lang_external).
-export([main/0]).

main() ->
    [erlang:display(term_to_binary(T))
     || T <- [0, 255, 256, -1, 1 bsl 31, -(1 bsl 31), 1 bsl 40, -(1 bsl 64), 1.5, a, 'é', [], "abc", [1, 300], [a | b], {}, {a, {b}},
              <<>>, <<1, 2>>, <<5:3>>, #{}, #{a => 1}, fun lists:map/2]],
    erlang:display(byte_size(term_to_binary(list_to_tuple(lists:seq(1, 300))))),
    erlang:display(byte_size(term_to_binary(lists:duplicate(70000, $x)))),
    erlang:display(byte_size(term_to_binary(1 bsl 3000))),
    [erlang:display(binary_to_term(B))
     || B <- [<<131, 97, 7>>, <<131, 98, 255, 255, 255, 254>>, <<131, 100, 0, 2, "ok">>, <<131, 115, 2, "ok">>, <<131, 119, 2, "ok">>,
              <<131, 104, 2, 97, 1, 106>>, <<131, 107, 0, 2, 1, 2>>, <<131, 108, 0, 0, 0, 1, 97, 1, 97, 2>>, <<131, 109, 0, 0, 0, 1, 9>>,
              <<131, 110, 8, 1, 0, 0, 0, 0, 0, 0, 0, 128>>, <<131, 77, 0, 0, 0, 1, 3, 160>>, <<131, 116, 0, 0, 0, 1, 97, 1, 97, 2>>,
              <<131, 111, 0, 0, 0, 2, 0, 1, 2>>, <<131, 113, 100, 0, 5, "lists", 100, 0, 3, "map", 97, 2>>]],
    erlang:display(float_to_list(binary_to_term(<<131, 99, "1.50000000000000000000e+00", 0, 0, 0, 0, 0>>), [short])),
    Ts = [self(), make_ref(), lists:seq(1, 1000), #{x => [y, {z, <<"bin">>}]}, binary:copy(<<7>>, 100000), <<1:1>>, 1 bsl 500, -0.0],
    erlang:display([binary_to_term(term_to_binary(T)) =:= T || T <- Ts]),
    Z = term_to_binary(lists:duplicate(10000, abc), [compressed]),
    erlang:display({byte_size(Z) < 1000, binary_to_term(Z) =:= lists:duplicate(10000, abc)}),
    erlang:display(erlang:external_size({a, 1, "x"})),
    erlang:display(binary_to_term(<<131, 97, 7, "rest">>, [used])),
    [erlang:display(try binary_to_term(B, O) catch C:R -> {C, R} end)
     || {B, O} <- [{<<131, 104, 2, 97, 1>>, []}, {<<130, 97, 1>>, []}, {<<>>, []}, {<<131, 108, 255, 255, 255, 255, 97>>, []},
                   {<<131, 119, 12, "no_such_atom">>, [safe]}, {<<131, 116, 0, 0, 0, 2, 97, 1, 97, 1, 97, 1, 97, 1>>, []},
                   {<<131, 103, 119, 1, $a, 0:32, 0:32, 4>>, []}, {fake_fun(256), []}]],
    F = binary_to_term(fake_fun(255)),
    erlang:display(length(element(2, erlang:fun_info(F, env)))).

%% A fun of no module, with so many free variables.
fake_fun(N) ->
    Creator = <<103, 119, 1, $a, 0:32, 0:32, 1>>,
    Rest = <<0, 0:128, 0:32, N:32, 119, 4, "none", 97, 0, 97, 0, Creator/binary, (binary:copy(<<106>>, N))/binary>>,
    <<131, 112, (byte_size(Rest) + 4):32, Rest/binary>>.

%% expect: <<131,97,0>>
%% expect: <<131,97,255>>
%% expect: <<131,98,0,0,1,0>>
%% expect: <<131,98,255,255,255,255>>
%% expect: <<131,110,4,0,0,0,0,128>>
%% expect: <<131,98,128,0,0,0>>
%% expect: <<131,110,6,0,0,0,0,0,0,1>>
%% expect: <<131,110,9,1,0,0,0,0,0,0,0,0,1>>
%% expect: <<131,70,63,248,0,0,0,0,0,0>>
%% expect: <<131,100,0,1,97>>
%% expect 27: <<131,119,1,97>>
%% expect: <<131,100,0,1,233>>
%% expect 27: <<131,119,2,195,169>>
%% expect: <<131,106>>
%% expect: <<131,107,0,3,97,98,99>>
%% expect: <<131,108,0,0,0,2,97,1,98,0,0,1,44,106>>
%% expect: <<131,108,0,0,0,1,100,0,1,97,100,0,1,98>>
%% expect 27: <<131,108,0,0,0,1,119,1,97,119,1,98>>
%% expect: <<131,104,0>>
%% expect: <<131,104,2,100,0,1,97,104,1,100,0,1,98>>
%% expect 27: <<131,104,2,119,1,97,104,1,119,1,98>>
%% expect: <<131,109,0,0,0,0>>
%% expect: <<131,109,0,0,0,2,1,2>>
%% expect: <<131,77,0,0,0,1,3,160>>
%% expect: <<131,116,0,0,0,0>>
%% expect: <<131,116,0,0,0,1,100,0,1,97,97,1>>
%% expect 27: <<131,116,0,0,0,1,119,1,97,97,1>>
%% expect: <<131,113,100,0,5,108,105,115,116,115,100,0,3,109,97,112,97,2>>
%% expect 27: <<131,113,119,5,108,105,115,116,115,119,3,109,97,112,97,2>>
%% expect: 741
%% expect: 140007
%% expect: 383
%% expect: 7
%% expect: -2
%% expect: ok
%% expect: ok
%% expect: ok
%% expect: {1,[]}
%% expect: [1,2]
%% expect: [1|2]
%% expect: <<9>>
%% expect: -9223372036854775808
%% expect: <<5:3>>
%% expect: #{1=>2}
%% expect: 513
%% expect: fun lists:map/2
%% expect: "1.5"
%% expect: [true,true,true,true,true,true,true,true]
%% expect: {true,true}
%% expect: 13
%% expect 27: 12
%% expect: {7,3}
%% expect: {error,badarg}
%% expect: {error,badarg}
%% expect: {error,badarg}
%% expect: {error,badarg}
%% expect: {error,badarg}
%% expect: {error,badarg}
%% expect: {error,badarg}
%% expect: {error,badarg}
%% expect: 255
