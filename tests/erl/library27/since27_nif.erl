%% SPDX-License-Identifier: Apache-2.0
%% erl_nif.h 2.17: texts in UTF-8, and what libraries ask for the end of the VM: a callback, and that it waits for their natives.
-module(since27_nif).
-export([main/0]).
-nifs([refused/0, say/1, is_waiting/0, wait_for_halt/0, string/3, made/2, named/0, atom/3, listed/2]).
-define(LATIN1, 1).
-define(UTF8, 2).

%% Written by the library alone, so that its lines at the end come behind the others.
main() ->
    ok = erlang:load_nif(filename:join(filename:dirname(code:which(?MODULE)), "since27_nif"), 0),
    p(refused()),
    texts(),
    atoms(),
    spawn(fun() -> wait_for_halt() end),
    wait_until_it_waits().

%% expect: {[1,0,1,0,1,1],1}

texts() ->
    Texts = ["", "abc", [16#e5, $b], [16#20ac, $b], [16#1f600], [16#d800], [$a | b], [$a, x], x],
    [p([{E, string(T, 64, E)} || E <- [?LATIN1, ?UTF8]]) || T <- Texts],
    p([string([$a, 16#20ac, $b], Room, ?UTF8) || Room <- [0, 1, 2, 3, 4, 5, 6, 7]]),
    p([string("abc", Room, ?LATIN1) || Room <- [0, 1, 3, 4]]),
    p([catch_class(fun() -> listed(B, ?UTF8) end) || B <- [<<>>, <<"abc">>, <<"å€"/utf8>>, <<255>>, <<226, 130>>]]).

%% expect: [{1,{0,1,[]}},{2,{0,1,[]}}]
%% expect: [{1,{3,4,[97,98,99]}},{2,{3,4,[97,98,99]}}]
%% expect: [{1,{2,3,[229,98]}},{2,{3,4,[195,165,98]}}]
%% expect: [{1,{none,0,[]}},{2,{4,5,[226,130,172,98]}}]
%% expect: [{1,{none,0,[]}},{2,{4,5,[240,159,152,128]}}]
%% expect: [{1,{none,0,[]}},{2,{none,0,[]}}]
%% expect: [{1,{none,0,[97]}},{2,{none,0,[]}}]
%% expect: [{1,{none,0,[97]}},{2,{none,0,[]}}]
%% expect: [{1,{none,0,[]}},{2,{none,0,[]}}]
%% expect: [{5,0,[117,110,116,111,117,99,104,101,100]},{5,-1,[]},{5,-2,[97]},{5,-2,[97]},{5,-2,[97]},{5,-5,[97,226,130,172]},{5,6,[97,226,130,172,98]},{5,6,[97,226,130,172,98]}]
%% expect: [{3,0,[117,110,116,111,117,99,104,101,100]},{3,-1,[]},{3,-3,[97,98]},{3,4,[97,98,99]}]
%% expect: [[],[97,98,99],[229,8364],{error,badarg},{error,badarg}]

atoms() ->
    p([made(<<"brand new å"/utf8>>, ?UTF8), made(<<"quite new ", 16#e5>>, ?LATIN1), made(<<"euro €"/utf8>>, ?UTF8), made(<<255>>, ?UTF8),
        made(binary:copy(<<"€"/utf8>>, 256), ?UTF8), element(1, made(binary:copy(<<"€"/utf8>>, 255), ?UTF8))]),
    p(atom_to_binary(named())),
    p([{E, atom(A, 64, E)} || A <- [abc, 'å', '€', []], E <- [?LATIN1, ?UTF8]]),
    p([atom('å€', Room, ?UTF8) || Room <- [0, 1, 5, 6]]).

%% expect: [{none,'brand new å','brand new å'},{none,'quite new å','quite new å'},{none,'euro €','euro €'},{none,none,none},{none,none,none},none]
%% expect: <<115,109,195,184,114>>
%% expect: [{1,{3,4,[97,98,99]}},{2,{3,4,[97,98,99]}},{1,{1,2,[229]}},{2,{2,3,[195,165]}},{1,{none,0,[]}},{2,{3,4,[226,130,172]}},{1,{none,0,[]}},{2,{none,0,[]}}]
%% expect: [{5,0,[]},{5,0,[]},{5,0,[]},{5,6,[195,165,226,130,172]}]

wait_until_it_waits() ->
    case is_waiting() of
        1 -> ok;
        0 -> timer:sleep(10), wait_until_it_waits()
    end.

%% expect: on_halt
%% expect: returned

p(T) -> say(unicode:characters_to_binary(io_lib:format("~tw~n", [T]))).

refused() -> erlang:nif_error(stub).
say(_) -> erlang:nif_error(stub).
is_waiting() -> erlang:nif_error(stub).
wait_for_halt() -> erlang:nif_error(stub).
string(_, _, _) -> erlang:nif_error(stub).
made(_, _) -> erlang:nif_error(stub).
named() -> erlang:nif_error(stub).
atom(_, _, _) -> erlang:nif_error(stub).
listed(_, _) -> erlang:nif_error(stub).

catch_class(F) ->
    try F() of
        V -> V
    catch
        C:R -> {C, R}
    end.
