%% SPDX-License-Identifier: Apache-2.0
%% Compiled patterns are terms like others: they can be compared, written down and read again. Those of OTP 28 and later
%% are references.
%% erl differs: 29
%% expect: {match,["123-abc","123","abc"]}
%% expect: true
%% expect: {match,[{3,7},{3,3},{7,3}]}
%% expect: {match,[{3,7},{3,3},{7,3}]}
%% expect: {namelist,[<<"n">>]}
%% expect: {re_pattern,1,1,0}
%% expect: [badarg,badarg,badarg,badarg]
%% expect: 1000
%% expect: [<<"a">>,<<"b">>,<<"c">>]
%% expect: [{match,[{0,1}]},{match,[{0,1}]},{match,[{0,0}]},{match,[{1,2}]},badarg]
-module(std_re).
-export([main/0]).

main() ->
    {ok, P} = re:compile("(\\d+)-(\\w+)"),
    S = "xx 123-abc",
    p(re:run(S, P, [{capture, all, list}])),
    {ok, Again} = re:compile(<<"(\\d+)-(\\w+)">>),
    p(P =:= Again),
    p(re:run(S, binary_to_term(term_to_binary(P)))),
    Self = self(),
    spawn(fun() -> Self ! re:run(S, P) end),
    p(receive R -> R end),
    {ok, Named} = re:compile("(?<n>é)", [unicode, caseless]),
    p(re:inspect(Named, namelist)),
    p(list_to_tuple([element(I, Named) || I <- lists:seq(1, 4)])),
    Bad = [<<>>, <<0:800>>, list_to_binary(lists:reverse(binary_to_list(element(5, P)))), not_a_binary],
    p([try re:run(S, setelement(5, P, B)) catch error:E -> E end || B <- Bad]),
    p(length([match || I <- lists:seq(1, 1000), {ok, Q} <- [re:compile(integer_to_list(I))],
                       match <- [re:run(integer_to_list(I), Q, [{capture, none}])]])),
    p(re:split(<<"a,b;c">>, element(2, re:compile("[,;]")))),
    %% A NUL ends a pattern.
    p([try re:run(T, X, O) catch error:E -> E end || {T, X, O} <- [{"ac", "a\000b", []}, {"a\000b", <<"a", 0, "b">>, [unicode]}, {"ac", <<0, "b">>, []},
                                                                  {"a\000b", "\\x{0}b", []}, {"x\000", "[\000]", []}]]).

p(T) -> io:format("~tp~n", [T]).
