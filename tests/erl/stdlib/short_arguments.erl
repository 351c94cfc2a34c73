%% SPDX-License-Identifier: Apache-2.0
%% Natives that have a way of their own for short or plain arguments answer there as they do for long and mixed ones.
%% expect: moments true
%% expect: subtraction true
%% expect: integers true
%% expect: bad integers true
%% expect: characters true
%% expect: rest [{error,[97,98],[55296]},{incomplete,[97],<<195>>},{error,[],<<255,254>>}]
%% expect: atoms true
%% expect: long names [system_limit,system_limit,badarg]
-module(short_arguments).
-export([main/0]).

main() ->
    rand:seed(exsss, {1, 2, 3}),
    io:format("moments ~p~n", [lists:all(fun is_moment/1, [rand:uniform(1 bsl N) - 1 || N <- lists:seq(1, 38),
        _ <- lists:seq(1, 200)])]),
    io:format("subtraction ~p~n", [lists:all(fun(_) -> is_difference(some(18), some(18)) end, lists:seq(1, 20000))]),
    io:format("integers ~p~n", [lists:all(fun is_integer_text/1, [N + D || E <- lists:seq(0, 130), N <- [1 bsl E,
        -(1 bsl E)], D <- [-1, 0, 1]])]),
    io:format("bad integers ~p~n", [lists:all(fun is_bad/1, ["", "+", "-", "1-", "1 ", " 1", "12_", "1.0",
        "99999999999x", "999999999999x", [$1 | x], [$1, 300]])]),
    io:format("characters ~p~n", [lists:all(fun is_text/1, texts())]),
    io:format("rest ~w~n", [[unicode:characters_to_list(T) || T <- [["ab", 16#d800], <<"a", 195>>, <<255, 254>>]]]),
    io:format("atoms ~p~n", [lists:all(fun(B) -> atom_to_binary(binary_to_atom(B)) =:= B end, [<<>>, <<"abc">>,
        binary:copy(<<"a">>, 255), binary:copy(<<"å"/utf8>>, 255)])]),
    io:format("long names ~p~n", [[reason(fun() -> binary_to_atom(B) end) || B <- [binary:copy(<<"a">>, 256),
        binary:copy(<<"å"/utf8>>, 256), <<"12345678", 200>>]]]).

%% Against the calendar of the library, which is Erlang code.
is_moment(S) ->
    Moment = erlang:posixtime_to_universaltime(S),
    Moment =:= calendar:gregorian_seconds_to_datetime(S + 62167219200) andalso
        erlang:universaltime_to_posixtime(Moment) =:= S.

some(N) ->
    Terms = {1, 1.0, 2, a, "b", {2}, 1 bsl 70, <<"c">>},
    [element(rand:uniform(8), Terms) || _ <- lists:seq(1, rand:uniform(N))].

is_difference(A, B) -> A -- B =:= lists:foldl(fun lists:delete/2, A, B).

is_integer_text(N) ->
    lists:all(fun(Base) ->
                      Text = integer_to_list(N, Base),
                      Padded = case Text of [$- | Digits] -> "-" ++ lists:duplicate(20, $0) ++ Digits; _ ->
                          "+0000000000" ++ Text end,
                      list_to_integer(Text, Base) =:= N andalso list_to_integer(Padded, Base) =:= N andalso
                          binary_to_integer(list_to_binary(Text), Base) =:= N
              end, [2, 10, 16, 36]).

is_bad(Text) -> reason(fun() -> list_to_integer(Text) end) =:= badarg.

reason(Fun) -> try Fun() catch error:Reason -> Reason end.

texts() ->
    ["", "abc", [16#400, $a], [16#10ffff], lists:duplicate(300000, $x), lists:seq(0, 255)].

%% As a flat list, nested, as a binary, and as both.
is_text(T) ->
    B = unicode:characters_to_binary(T),
    lists:all(fun(X) -> unicode:characters_to_list(X) =:= T end, [T, [T], B, [B], [[], T]]).
