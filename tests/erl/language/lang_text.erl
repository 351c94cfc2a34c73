%% SPDX-License-Identifier: Apache-2.0
%% Conversions between terms and text.
-module(lang_text).
-export([main/0]).

main() ->
    erlang:display([list_to_integer("-42"), list_to_integer("+7"), binary_to_integer(<<"12345678901234567890">>), list_to_integer("ff", 16)]),
    erlang:display([integer_to_list(-255, 16), integer_to_binary(0), integer_to_binary(1 bsl 70, 2)]),
    erlang:display([list_to_atom("hello world"), hd(atom_to_list(binary_to_atom(<<195, 169>>))), atom_to_list('A b'), atom_to_binary('é'), list_to_existing_atom("ok")]),
    erlang:display([pid_to_list(list_to_pid("<0.1.0>")), is_pid(self()), is_list(ref_to_list(make_ref()))]),
    [erlang:display(try F() catch C:R -> {C, R} end)
     || F <- [fun() -> list_to_integer(id("")) end, fun() -> list_to_integer(id("1 ")) end, fun() -> list_to_integer(id("12"), 2) end,
              fun() -> list_to_atom(id(lists:duplicate(256, $a))) end, fun() -> list_to_existing_atom(id("surely_no_such_atom")) end,
              fun() -> list_to_pid(id("<0.1>")) end, fun() -> atom_to_list(id(1)) end, fun() -> list_to_binary(id([256])) end]],
    erlang:display(list_to_binary([1, [2, <<3, 4>>], [[]] | <<5>>])),
    erlang:display(iolist_to_binary(["abc", [<<"d">>, $e], []])),
    erlang:display([iolist_size([1, <<2, 3>>, [[4]]]), byte_size(<<1, 2>>), bit_size(<<1:3>>), size({a, b})]),
    erlang:display([binary_to_list(<<"abc">>), binary_to_list(<<"abcde">>, 2, 4), bitstring_to_list(<<1, 2:3>>), list_to_bitstring([<<1:1>>, <<1:2>>])]),
    erlang:display(split_binary(<<1, 2, 3>>, 1)),
    erlang:display([string:to_integer("12abc"), element(2, string:to_float("1.5e1x"))]),
    erlang:display(['a b', 'A', a@b, [], "", [0], "tab\t", [1, a], {'', ""}, <<"bin">>, <<200, 201>>]).

id(X) -> X.

%% expect: [-42,7,12345678901234567890,255]
%% expect: ["-FF",<<"0">>,<<"10000000000000000000000000000000000000000000000000000000000000000000000">>]
%% expect: ['hello world',233,"A b",<<195,169>>,ok]
%% expect: ["<0.1.0>",true,true]
%% expect: {error,badarg}
%% expect: {error,badarg}
%% expect: {error,badarg}
%% expect: {error,system_limit}
%% expect: {error,badarg}
%% expect: {error,badarg}
%% expect: {error,badarg}
%% expect: {error,badarg}
%% expect: <<1,2,3,4,5>>
%% expect: <<"abcde">>
%% expect: [4,2,3,2]
%% expect: ["abc","bcd",[1,<<2:3>>],<<5:3>>]
%% expect: {<<1>>,<<2,3>>}
%% expect: [{12,"abc"},"x"]
%% expect: ['a b','A','a@b',[],[],[0],"tab	",[1,a],{'',[]},<<"bin">>,<<200,201>>]
