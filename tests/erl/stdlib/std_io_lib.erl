%% SPDX-License-Identifier: Apache-2.0
%% io_lib: format, write, read.
-module(std_io_lib).
-export([main/0]).

main() ->
    [d(lists:flatten(io_lib:format(F, A)))
     || {F, A} <- [{"~w ~p ~s", [a, "str", "str"]}, {"~p", [lists:seq(1, 50)]}, {"~5w|~-5w|~5..0w", [1, 2, 3]}, {"~.2f ~e ~g", [3.14159, 1.5, 0.1]},
                   {"~c~c~3c", [97, 98, 99]}, {"~p", [#{1 => "x", 2 => [1, 2]}]}, {"~n~~", []},
                   {"~s", [<<"bin">>]}, {"~p ~w", [<<"bin">>, <<"bin">>]}, {"~10s|~-10s|~.3s", ["abc", "abc", "abcdef"]}, {"~p", [{a, [b, {c, "d"}], 1.0}]},
                   {"~i~w", [skip, shown]}, {"~*w", [6, x]}, {"~P", [lists:seq(1, 20), 8]}, {"~W", [[a, b, c, d], 3]}, {"~p", [[]]}, {"~p", ["a\nb"]},
                   {"~0p", [[{long_atom_name, I} || I <- lists:seq(1, 10)]]}, {"~p", [[{long_atom_name, I} || I <- lists:seq(1, 10)]]},
                   {"~tp ~ts", ['ab', "x"]}, {"~p", ['quoted atom']}, {"~w", [1.0e-10]}, {"~p", [-0.0]}]],
    d([lists:flatten(io_lib:format("~.16b", [255])), lists:flatten(io_lib:format("~.2B", [5])), lists:flatten(io_lib:format("~8.16.0b", [48879]))]),
    d(lists:flatten(io_lib:write({a, [1, "x"], #{k => v}}))),
    d(io_lib:fread("~d ~s ~f", "42 word 1.5") =:= {ok, [42, "word", 1.5], []}),
    d([io_lib:printable_list("abc"), io_lib:printable_list([1, 2]), io_lib:latin1_char_list("a"), io_lib:quote_atom('a b', []), io_lib:nl()]),
    {ok, Ts, _} = erl_scan:string("{foo, [1, 2.5, \"s\", $a, <<1:8>>], #{k => 'V'}}."),
    d(length(Ts)),
    {ok, [E]} = erl_parse:parse_exprs(Ts),
    d(element(1, E)),
    {ok, Ts2, _} = erl_scan:string("f(X) when X > 0 -> [X | f(X - 1)]; f(_) -> []."),
    {ok, Form} = erl_parse:parse_form(Ts2),
    d(lists:flatten(erl_pp:form(Form))),
    {ok, Ts3, _} = erl_scan:string("{term, [1, \"two\", three]}."),
    d(erl_parse:parse_term(Ts3)),
    {ok, Ts4, _} = erl_scan:string("lists:sum([X * X || X <- lists:seq(1, 10)])."),
    {ok, Es} = erl_parse:parse_exprs(Ts4),
    d(erl_eval:exprs(Es, [])),
    [d(try io_lib:format(F, A) catch C:R -> {C, R} end) || {F, A} <- [{"~d", [x]}, {"~s", [1]}, {"~w", []}]].

d(T) -> erlang:display(T).

%% expect: "a \"str\" str"
%% expect: "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,\n 29,30,31,32,33,34,35,36,37,38,39,40,41,42,43,44,45,46,47,48,49,50]"
%% expect: "    1|2    |00003"
%% expect: "3.14 1.50000e+0 0.100000"
%% expect: "abccc"
%% expect: "#{1 => \"x\",2 => [1,2]}"
%% expect: "\n~"
%% expect: "bin"
%% expect: "<<\"bin\">> <<98,105,110>>"
%% expect: "       abc|abc       |abc"
%% expect: "{a,[b,{c,\"d\"}],1.0}"
%% expect: "shown"
%% expect: "     x"
%% expect: "[1,2,3,4,5,6,7|...]"
%% expect: "[a,b|...]"
%% expect: "[]"
%% expect: "\"a\nb\""
%% expect: "[{long_atom_name,1},{long_atom_name,2},{long_atom_name,3},{long_atom_name,4},{long_atom_name,5},{long_atom_name,6},{long_atom_name,7},{long_atom_name,8},{long_atom_name,9},{long_atom_name,10}]"
%% expect: "[{long_atom_name,1},\n {long_atom_name,2},\n {long_atom_name,3},\n {long_atom_name,4},\n {long_atom_name,5},\n {long_atom_name,6},\n {long_atom_name,7},\n {long_atom_name,8},\n {long_atom_name,9},\n {long_atom_name,10}]"
%% expect: "ab x"
%% expect: "'quoted atom'"
%% expect: "1.0e-10"
%% expect: "-0.0"
%% expect: ["ff","101","0000beef"]
%% expect: "{a,[1,[120]],#{k => v}}"
%% expect: true
%% expect: [true,false,true,true,"\n"]
%% expect: 27
%% expect: tuple
%% expect: "f(X) when X > 0 ->\n    [X | f(X - 1)];\nf(_) ->\n    [].\n"
%% expect: {ok,{term,[1,"two",three]}}
%% expect: {value,385,[]}
%% expect: {error,badarg}
%% expect: {error,badarg}
%% expect: {error,badarg}
