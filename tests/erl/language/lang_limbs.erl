%% SPDX-License-Identifier: Apache-2.0
-module(lang_limbs).
-export([main/0]).
%% Arithmetic of integers around the sizes of a small one, of one word and of two, as operators and as functions.
%% expect: '+' 64089054 ok
%% expect: '-' 54001443 ok
%% expect: '*' 113244112 ok
%% expect: 'div' 109206637 ok
%% expect: 'rem' 26154470 ok
%% expect: 'band' 76324168 ok
%% expect: 'bor' 70694401 ok
%% expect: 'bxor' 113020179 ok
%% expect: shifts 20644839 ok
%% expect: done
main() ->
    Values = values(),
    [io:format("~p ~p ~p~n", [Op, digest(Op, Values), as_functions(Op, Values)])
     || Op <- ['+', '-', '*', 'div', 'rem', 'band', 'bor', 'bxor']],
    io:format("shifts ~p ~p~n", [erlang:phash2([{shift(V, N), shift(V, -N)} || V <- Values, N <- shifts()]),
                                 inverse(Values)]),
    io:format("done~n").

values() ->
    Around = [(1 bsl K) + D || K <- [0, 31, 58, 59, 60, 62, 63, 64, 65, 122, 124, 125, 126, 127, 128, 129, 192],
                               D <- [-1, 0, 1]],
    lists:usort(Around ++ [-V || V <- Around] ++ [12345678901234567890123, -98765432109876543210]).

shifts() -> [0, 1, 3, 31, 58, 59, 60, 61, 63, 64, 65, 100, 125, 126, 127, 128, 200].

digest(Op, Values) -> erlang:phash2([value(Op, A, B) || A <- Values, B <- Values]).

value(Op, A, B) -> try apply(erlang, Op, [A, B]) catch error:Why -> Why end.

as_functions(Op, Values) ->
    Different = [{A, Op, B} || A <- Values, B <- Values, operator(Op, A, B) =/= value(Op, A, B)],
    case Different of [] -> ok; _ -> hd(Different) end.

operator(Op, _, 0) when Op =:= 'div'; Op =:= 'rem' -> badarith;
operator('+', A, B) -> A + B;
operator('-', A, B) -> A - B;
operator('*', A, B) -> A * B;
operator('div', A, B) -> A div B;
operator('rem', A, B) -> A rem B;
operator('band', A, B) -> A band B;
operator('bor', A, B) -> A bor B;
operator('bxor', A, B) -> A bxor B.

shift(V, N) when V bsl N =:= V -> N;
shift(V, N) -> {V bsl N, V bsr N}.

inverse(Values) ->
    case [{V, N} || V <- Values, N <- shifts(), (V bsl N) bsr N =/= V orelse V bsl N =/= V * (1 bsl N)] of
        [] -> ok;
        Wrong -> hd(Wrong)
    end.
