%% SPDX-License-Identifier: Apache-2.0
%% Functions that OTP 28 and 29 brought.
-module(since29_natives).
-export([main/0]).

main() ->
    integers(),
    put_new(),
    unaligned(),
    exported_patterns(),
    iterated(),
    told(),
    terminal().

integers() ->
    B = 1 bsl 70,
    p([why(fun() -> apply(erlang, is_integer, A) end)
       || A <- [[1, 0, 2], [1, 2, 0], [a, 0, 2], [1, a, 2], [1, 0, b], [B, 0, B], [B + 1, 0, B], [-B, -B, B], [1.0, 0, 2], [1, 1.0, 2], [1, 1, 1], [a, 1, c]]]).

%% expect: [true,false,false,badarg,badarg,true,false,true,false,badarg,true,badarg]

%% Of many who put a value, one does.
put_new() ->
    K = {since29, key},
    p([persistent_term:put_new(K, [1]), persistent_term:put_new(K, [1]), why(fun() -> persistent_term:put_new(K, [1.0]) end), persistent_term:get(K)]),
    Large = lists:seq(1, 10000),
    p([persistent_term:put_new({K, Large}, Large), why(fun() -> persistent_term:put_new({K, Large}, 1) end)]),
    p(lists:usort([race({K, N}) || N <- lists:seq(1, 50)])).

%% expect: [ok,ok,badarg,[1]]
%% expect: [ok,badarg]
%% expect: [{1,true}]

race(Key) ->
    Main = self(),
    Ps = [spawn(fun() -> receive go -> ok end, Main ! {self(), why(fun() -> persistent_term:put_new(Key, {N}) end), N} end) || N <- lists:seq(1, 4)],
    [P ! go || P <- Ps],
    Won = [N || P <- Ps, {ok, N} <- [receive {P, R, N} -> {R, N} end]],
    {length(Won), [{N} || N <- Won] =:= [persistent_term:get(Key)]}.

unaligned() ->
    Large = binary:copy(<<"abc">>, 100),
    p([erts_debug:unaligned_bitstring(B, N) =:= B || B <- [<<"abc">>, <<>>, <<5:3>>, <<1, 2:7>>, Large], N <- lists:seq(1, 7)] =:= lists:duplicate(35, true)),
    p([why(fun() -> erts_debug:unaligned_bitstring(B, N) end) || {B, N} <- [{<<"a">>, 0}, {<<"a">>, 8}, {<<"a">>, -1}, {a, 1}, {<<"a">>, a}]]),
    U = erts_debug:unaligned_bitstring(Large, 3),
    p([binary:match(U, <<"cab">>), erlang:md5(U) =:= erlang:md5(Large), binary_to_list(U) =:= binary_to_list(Large), byte_size(<<U/binary, 1>>)]).

%% expect: true
%% expect: [badarg,badarg,badarg,badarg,badarg]
%% expect: [{2,3},true,true,301]

exported_patterns() ->
    {ok, E} = re:compile("a(b)c", [export, caseless]),
    M = re:import(E),
    p([element(1, E), element(3, E), element(4, E), element(1, M), re:run("xABCx", M), why(fun() -> re:run("abc", E) end)]),
    {ok, U} = re:compile([97, 8364], [export, unicode]),
    p(re:run([120, 97, 8364], re:import(binary_to_term(term_to_binary(U))), [{capture, all, list}])),
    p([why(fun() -> re:import(X) end)
       || X <- [foo, M, setelement(2, E, <<"x">>), setelement(2, E, x), setelement(5, E, <<"zz">>), setelement(5, E, z)]]).

%% expect: [re_exported_pattern,<<"a(b)c">>,[export,caseless],re_pattern,{match,[{1,3},{2,1}]},badarg]
%% expect: {match,[[97,8364]]}
%% expect: [badarg,badarg,badarg,badarg,badarg,badarg]

iterated() ->
    Ps = [spawn(fun() -> receive stop -> ok end end) || _ <- lists:seq(1, 1000)],
    All = walk(erlang:processes_next(erlang:processes_iterator())),
    p([Ps -- All, lists:sort(All) =:= lists:usort(All), lists:member(self(), All), All -- processes()]),
    [P ! stop || P <- Ps],
    p([why(fun() -> erts_internal:processes_next(X) end) || X <- [a, -1, 1.0]]).

%% expect: [[],true,true,[]]
%% expect: [badarg,badarg,badarg]

walk(none) -> [];
walk({P, Next}) -> [P | walk(erlang:processes_next(Next))].

told() ->
    p([code:get_debug_info(lists), why(fun() -> code:get_debug_info(no_such) end), erl_debugger:supported()]).

%% expect: [none,badarg,false]

%% Signals that a terminal sends, and what terminals can do.
terminal() ->
    p([os:set_signal(S, default) || S <- [sigcont, sigwinch]]),
    I = prim_tty:tinfo(),
    p([lists:sort(maps:keys(I)), [length(L) > 20 || L <- maps:values(I)], lists:usort([lists:sort(maps:keys(M)) || L <- maps:values(I), M <- L])]).

%% expect: [ok,ok]
%% expect: [[bool,num,str],[true,true,true],[[code,full_name,name]]]

why(F) -> try F() catch error:Why -> Why end.

p(T) -> io:format("~0p~n", [T]).
