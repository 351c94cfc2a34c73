%% SPDX-License-Identifier: Apache-2.0
%% erlc: +line_coverage
%% executable_line stands before every line. Traces and values must be as without.
-module(ops27_lines).
-export([main/0]).

main() ->
    io:format("~0p~n", [[branch(N) || N <- [0, 1, 2, x]]]),
    io:format("~0p~n", [try fails(3) catch error:R:S -> {R, [{F, A, proplists:get_value(line, I)} || {?MODULE, F, A, I} <- S]} end]),
    io:format("~0p~n", [receives()]).

branch(0) ->
    zero;
branch(N) when is_integer(N) ->
    case N band 1 of
        1 ->
            odd;
        0 ->
            even
    end;
branch(_) ->
    none.

fails(0) ->
    1 / id(0);
fails(N) ->
    X = fails(N - 1),
    X + 1.

receives() ->
    self() ! b,
    self() ! a,
    receive
        a ->
            receive
                b ->
                    {a, b}
            after 1000 ->
                late
            end
    end.

id(X) -> X.

%% expect: [zero,odd,even,none]
%% expect: {badarith,[{fails,1,25},{fails,1,27},{main,0,9}]}
%% expect: {a,b}
