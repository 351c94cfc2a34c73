%% SPDX-License-Identifier: Apache-2.0
%% seq_trace:reset_trace/0 ends every trace, though messages carry tokens to and fro between the oldest processes and the
%% youngest of many meanwhile, and children are born with tokens: nobody has one afterwards.
%% expect: {had_tokens,true}
%% expect: {have_tokens,[0,0,0,0,0]}
-module(trace_seq_reset).
-export([main/0]).

-define(PAIRS, 20).
-define(IDLE, 30000).
-define(TIMES, 5).

main() ->
    Old = [spawn(fun bounce/0) || _ <- lists:seq(1, ?PAIRS)],
    [spawn(fun() -> receive never -> ok end end) || _ <- lists:seq(1, ?IDLE)],
    Young = [spawn(fun bounce/0) || _ <- lists:seq(1, ?PAIRS)],
    Pairs = lists:zip(Old, Young),
    io:format("~p~n", [{had_tokens, begin start(Pairs), have_tokens() > 0 end}]),
    io:format("~p~n", [{have_tokens, [begin start(Pairs), seq_trace:reset_trace(), have_tokens() end || _ <- lists:seq(1, ?TIMES)]}]),
    halt(0).

%% Each pair has one message that goes to and fro for ever, and one more each time.
start(Pairs) ->
    seq_trace:set_token(label, 5),
    [A ! {ball, B} || {A, B} <- Pairs],
    seq_trace:set_token([]),
    timer:sleep(20).

bounce() ->
    receive
        {ball, From} ->
            spawn(fun() -> receive after 50 -> ok end end),
            From ! {ball, self()},
            bounce()
    end.

have_tokens() ->
    length([P || P <- processes(), {sequential_trace_token, T} <- [process_info(P, sequential_trace_token)], T =/= []]).
