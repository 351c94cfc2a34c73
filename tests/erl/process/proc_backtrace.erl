%% SPDX-License-Identifier: Apache-2.0
%% A process's stack as text; a sensitive process shows nothing of its data.
-module(proc_backtrace).
-export([main/0]).

main() ->
    Secret = {secret, self()},
    P = spawn_link(fun() -> put(k, Secret), outer(Secret) end),
    P ! kept,
    asleep(P),
    {backtrace, Text} = process_info(P, backtrace),
    Lines = binary:split(Text, <<"\n">>, [global, trim_all]),
    <<"Program counter: 0x", _/binary>> = hd(Lines),
    [erlang:display(count(Lines, Form)) || Form <- ["{secret,<", "^0x[0-9a-f]{16} Return addr 0x[0-9a-f]{8,16} \\(proc_backtrace:outer/1 \\+ \\d+\\)$",
                                                    "Return addr 0x", "^y\\(\\d\\) +Catch 0x[0-9a-f]{8,16} \\(proc_backtrace:outer/1 \\+ \\d+\\)$",
                                                    "\\(<terminate process normally>\\)$"]],
    erlang:display(process_info(P, messages)),
    P ! hide,
    asleep(P),
    erlang:display([process_info(P, I) || I <- [backtrace, messages, dictionary]]).

count(Lines, Form) -> length([L || L <- Lines, re:run(L, Form) =/= nomatch]).

asleep(P) ->
    case process_info(P, [status, message_queue_len]) of
        [{status, waiting}, {message_queue_len, 1}] -> ok;
        _ -> erlang:yield(), asleep(P)
    end.

outer(Secret) ->
    try inner() catch throw:never -> ok end,
    {outer, Secret}.

inner() ->
    receive hide -> process_flag(sensitive, true) end,
    receive never -> ok end,
    ok.

%% expect: 1
%% expect: 1
%% expect: 2
%% expect: 1
%% expect: 1
%% expect: {messages,[kept]}
%% expect: [{backtrace,<<>>},{messages,[]},{dictionary,[]}]
