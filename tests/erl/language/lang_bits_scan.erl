%% SPDX-License-Identifier: Apache-2.0
-module(lang_bits_scan).
-export([main/0, blanks/1, word/2, string/2, lines/2, text/2, back/2, many/4, utf8/2]).
%% Functions that are loops over bytes, which pass over many of these at once: beside the same done byte by byte on a
%% list; from every bit of a byte on; with counters that are not small; and their calls as traces, counts and reductions
%% have them.
%% expect: as lists [ok,ok,ok,ok,ok,ok,ok,ok]
%% expect: bits [ok,ok,ok,ok,ok,ok,ok,ok]
%% expect: counters {576460752303423490,576460752303423487,576460752303423488,576460752303423500,3.5,-576460752303423491}
%% expect: no numbers [badarith,badarith,{a,<<"x">>},badarith]
%% expect: large {100000,{0,100000},<<>>,{200000,<<"\"">>}}
%% expect: traced [{blanks,[<<"  x">>]},{blanks,[<<" x">>]},{blanks,[<<"x">>]}]
%% expect: counted {24,23,1}
%% expect: reductions ok
%% expect: shared {3,<<"   y">>,<<"   y">>}
main() ->
    Functions = [blanks, word, string, lines, text, back, many, utf8],
    Inputs = inputs(),
    io:format("as lists ~w~n", [[first_wrong(F, Inputs) || F <- Functions]]),
    Odd = [<<I/bits, Rest:Bits>> || I <- Inputs, {Rest, Bits} <- [{1, 1}, {0, 3}, {5, 7}]],
    io:format("bits ~w~n", [[first_wrong(F, Odd ++ [I || <<_:3, I/bits>> <- Inputs]) || F <- Functions]]),
    Most = 1 bsl 59 - 1,
    io:format("counters ~w~n", [{word(<<"abc">>, Most), word(<<>>, Most), word(<<"a">>, Most),
                                 word(<<"aaa">>, Most + 10), word(<<"abc">>, 0.5),
                                 element(1, back(<<"def">>, - Most - 1))}]),
    io:format("no numbers ~p~n", [[failed(fun() -> word(<<"abc">>, id(x)) end),
                                   failed(fun() -> text(<<"+-">>, id(x)) end),
                                   back(<<"x">>, id(a)), failed(fun() -> lines(<<"ab\n">>, id([])) end)]]),
    Long = binary:copy(<<"abcdefghij">>, 10000),
    io:format("large ~p~n", [{word(Long, 0), lines(binary:copy(<<"\n">>, 100000), 0),
                              blanks(binary:copy(<<"\s\n">>, 100000)), string(<<Long/binary, Long/binary, "\"">>, 0)}]),
    io:format("traced ~p~n", [traced()]),
    Counts = {counted(<<"                       x">>), counted(binary:copy(<<" ">>, 22)), counted(<<"x">>)},
    io:format("counted ~p~n", [Counts]),
    io:format("reductions ~w~n", [reductions()]),
    io:format("shared ~p~n", [shared(<<"   y">>)]).

id(X) -> X.

failed(F) -> try F() catch error:Why -> Why end.

inputs() ->
    All = << <<C>> || C <- lists:seq(0, 255) >>,
    [<<>>, All, <<"abc">>, <<"   ">>, <<" \t\n\r abc">>, <<"\\\"\"">>, <<"ab\\\"c\"d">>, <<"+-+--+++x">>,
     <<"aaaaaaaaaaaaaaaa">>, <<"a\n\nb\nc">>,
     <<"abc", 16#c3, 16#a4, "de">>, <<"zyx">>, <<"abcabcab">>, <<"ababab+">>]
        ++ [binary:part(All, N, 100) || N <- [1, 9, 30, 60, 120, 150]].

%% What each function gives beside what `slow` does.
first_wrong(F, Inputs) ->
    case [I || I <- Inputs, result(fun() -> fast(F, I) end) =/= result(fun() -> slow(F, I, 0) end)] of
        [] -> ok;
        [I | _] -> {F, I, result(fun() -> fast(F, I) end), result(fun() -> slow(F, I, 0) end)}
    end.

result(F) -> try F() catch error:Why -> Why end.

fast(blanks, I) -> blanks(I);
fast(many, I) -> many(x, 0, I, y);
fast(F, I) -> ?MODULE:F(I, 0).

%% The loops. The first byte that is not of the loop, and what the function makes of the rest.
blanks(<<$\s, R/binary>>) -> blanks(R);
blanks(<<C, R/binary>>) when C =:= $\t; C =:= $\n; C =:= $\r -> blanks(R);
blanks(R) -> R.

word(<<C, R/binary>>, N) when C >= $a, C =< $z -> word(R, N + 1);
word(_, N) -> N.

string(<<$", _/binary>> = R, N) -> {N, R};
string(<<$\\, _, R/binary>>, N) -> string(R, N + 2);
string(<<_, R/binary>>, N) -> string(R, N + 1);
string(<<>>, N) -> N.

lines(<<$\n, R/bits>>, N) -> lines(R, N + 1);
lines(<<_, R/bits>>, N) -> lines(R, N);
lines(R, N) -> {bit_size(R), N}.

%% Two steps, of which one is down.
text(<<$+, R/binary>>, N) -> text(R, N + 1);
text(<<$-, R/binary>>, N) -> text(R, N - 1);
text(R, N) -> {R, N}.

back(<<"abc", R/binary>>, N) -> back(R, N);
back(<<C, R/binary>>, N) when C band 16#e0 =:= 16#60, C =/= $x -> back(R, N - 1);
back(R, N) -> {N, R}.

many(A, N, <<C, R/binary>>, B) when C < $a -> many(A, 3 + N, R, B);
many(A, N, <<C, R/binary>>, B) when C - $a > 3, C =/= $x -> many(A, N, R, B);
many(A, N, R, B) -> {A, N, R, B}.

utf8(<<C/utf8, R/binary>>, N) when C =/= $b -> utf8(R, N + 1);
utf8(R, N) -> {R, N}.

%% The same on what is left, byte by byte.
slow(F, <<C, R/bits>>, N) when F =:= lines -> slow(F, R, N + case C of $\n -> 1; _ -> 0 end);
slow(lines, R, N) -> {bit_size(R), N};
slow(utf8, R, N) when is_binary(R) ->
    case utf8_size(binary_to_list(R)) of
        none -> {R, N};
        Size -> <<_:Size/binary, Rest/binary>> = R, slow(utf8, Rest, N + 1)
    end;
slow(F, R, N) when is_binary(R) ->
    case step(F, binary_to_list(R)) of
        {Used, Step} -> <<_:Used/binary, Rest/binary>> = R, slow(F, Rest, N + Step);
        stop -> stopped(F, R, N)
    end;
slow(F, _, _) when F =:= string -> function_clause;
slow(F, R, N) -> stopped(F, R, N).

step(blanks, [C | _]) when C =:= $\s; C =:= $\t; C =:= $\n; C =:= $\r -> {1, 0};
step(word, [C | _]) when $a =< C, C =< $z -> {1, 1};
step(string, [$" | _]) -> stop;
step(string, [$\\, _ | _]) -> {2, 2};
step(string, [_ | _]) -> {1, 1};
step(text, [$+ | _]) -> {1, 1};
step(text, [$- | _]) -> {1, -1};
step(back, [$a, $b, $c | _]) -> {3, 0};
step(back, [C | _]) when C >= $`, C =< 127, C =/= $x -> {1, -1};
step(many, [C | _]) when C < $a -> {1, 3};
step(many, [C | _]) when C > $d, C =/= $x -> {1, 0};
step(_, _) -> stop.

stopped(blanks, R, _) -> R;
stopped(word, _, N) -> N;
stopped(string, <<>>, N) -> N;
stopped(string, R, N) -> {N, R};
stopped(text, R, N) -> {R, N};
stopped(back, R, N) -> {N, R};
stopped(many, R, N) -> {x, N, R, y};
stopped(utf8, R, N) -> {R, N}.

utf8_size([C | _]) when C < 128, C =/= $b -> 1;
utf8_size([A, B | _]) when A >= 16#c2, A < 16#e0, B band 16#c0 =:= 16#80 -> 2;
utf8_size(_) -> none.

traced() ->
    Me = self(),
    Tracer = spawn_link(fun() -> collect(Me, []) end),
    1 = erlang:trace_pattern({?MODULE, blanks, 1}, true, [local]),
    1 = erlang:trace(Me, true, [call, {tracer, Tracer}]),
    <<"x">> = blanks(<<"  x">>),
    1 = erlang:trace(Me, false, [call]),
    1 = erlang:trace_pattern({?MODULE, blanks, 1}, false, [local]),
    Ref = erlang:trace_delivered(Me),
    receive {trace_delivered, Me, Ref} -> Tracer ! done end,
    receive {calls, Calls} -> Calls end.

collect(To, Calls) ->
    receive
        {trace, _, call, {_, F, Arguments}} -> collect(To, [{F, Arguments} | Calls]);
        done -> To ! {calls, lists:reverse(Calls)}
    end.

counted(Input) ->
    1 = erlang:trace_pattern({?MODULE, blanks, 1}, true, [local, call_count]),
    _ = blanks(Input),
    {call_count, N} = erlang:trace_info({?MODULE, blanks, 1}, call_count),
    1 = erlang:trace_pattern({?MODULE, blanks, 1}, false, [local, call_count]),
    N.

%% Each byte is a call, and a call a reduction.
reductions() ->
    Input = binary:copy(<<"a">>, 100000),
    {reductions, Before} = process_info(self(), reductions),
    100000 = word(Input, 0),
    {reductions, After} = process_info(self(), reductions),
    case After - Before of
        N when N >= 100000, N < 110000 -> ok;
        N -> N
    end.

%% Who has the binary, or another match of it, sees nothing of it.
shared(<<Rest/binary>> = Whole) -> shared(Rest, Whole, 0).

shared(<<$\s, R/binary>>, Whole, N) -> shared(R, Whole, N + 1);
shared(<<"y">>, Whole, N) -> {N, Whole, <<Whole/binary>>}.
