%% SPDX-License-Identifier: Apache-2.0
-module(since27_natives).
-export([main/0]).
%% What OTP 26 and 27 have and 25 has not: natives, and the terminal's library below user.

main() ->
    io:format("~s~n", [erlang:system_info(otp_release)]),
    io:format("~p~n", [[erlang:function_exported(M, F, A) || {M, F, A} <- [{erlang, display_string, 2}, {erlang, display_nl, 0}, {ets, first_lookup, 1},
        {erts_debug, display, 1}, {erts_internal, term_to_string, 2}]]]),
    integers(),
    strings(),
    walks(),
    elements(),
    asked(),
    services(),
    terminal(),
    funs(),
    compiled().

%% expect: 27
%% expect 29: 29
%% expect: [true,false,true,false,true]

integers() ->
    io:format("~p~n", [[erlang:list_to_integer("-" ++ lists:duplicate(30, $9)), erlang:binary_to_integer(<<"zz">>, 36), erlang:list_to_integer("+0"),
        catch_class(fun() -> erlang:list_to_integer(unknown("12x")) end), catch_class(fun() -> erlang:binary_to_integer(unknown(<<>>)) end)]]),
    io:format("~p~n", [[string:list_to_integer("12x"), string:list_to_integer("-"), string:list_to_integer("0007."), string:to_integer("-00"),
        string:list_to_integer(lists:duplicate(25, $1) ++ "abc")]]),
    io:format("~p~n", [[erts_internal:list_to_integer(L, B) || {L, B} <- [{"ff!", 16}, {"", 10}, {a, 10}, {"1", 37}, {"-12", 10}, {"+", 10}, {"00", 10}]]]),
    io:format("~p~n", [[erts_internal:binary_to_integer(Text, B) || {Text, B} <- [{<<"ff">>, 16}, {<<"-101">>, 2}, {<<"1x">>, 10}, {<<"1">>, 1}, {a, 10}]]]).

%% expect: [-999999999999999999999999999999,1295,0,{error,badarg},{error,badarg}]
%% expect: [{12,"x"},{error,no_integer},{7,"."},{0,[]},{1111111111111111111111111,"abc"}]
%% expect: [{255,"!"},no_integer,not_a_list,badarg,{-12,[]},no_integer,{0,[]}]
%% expect: [255,-5,badarg,badarg,badarg]

strings() ->
    io:format("~p~n", [[erts_internal:term_to_string({a, [1, "b"], <<1>>}), erts_internal:term_to_string(#{}, undefined),
        catch_class(fun() -> erts_internal:term_to_string(a, 1) end)]]),
    erlang:display_string(stdout, "text\n"),
    erlang:display_string(stdout, <<"bytes\n">>),
    erlang:display_string(stdout, [16#e5, $\n]),
    io:format("~p~n", [[catch_class(fun() -> erlang:display_string(D, S) end) || {D, S} <- [{file, "a"}, {stdout, a}, {stdout, [-1]}, {stdout, <<1:3>>}]]]).

%% expect: ["{a,[1,\"b\"],<<1>>}","#{}",{error,badarg}]
%% expect: text
%% expect: bytes
%% expect: å
%% expect: [{error,badarg},{error,badarg},{error,badarg},{error,badarg}]

walks() ->
    [walk(Type) || Type <- [set, ordered_set, bag, duplicate_bag]],
    T = ets:new(t, [ordered_set]),
    io:format("~w~n", [{ets:first_lookup(T), ets:last_lookup(T), ets:next_lookup(T, 1), ets:prev_lookup(T, 1),
        catch_class(fun() -> ets:next_lookup(ets:new(t, []), 1) end), catch_class(fun() -> ets:first_lookup(none) end)}]).

walk(Type) ->
    T = ets:new(t, [Type, {keypos, 2}]),
    [ets:insert(T, {V, K}) || K <- lists:seq(1, 20), V <- [a, b]],
    Forward = go(ets:first_lookup(T), fun(K) -> ets:next_lookup(T, K) end),
    Back = go(ets:last_lookup(T), fun(K) -> ets:prev_lookup(T, K) end),
    Same = [{K, ets:lookup(T, K)} || {K, _} <- Forward] =:= Forward,
    io:format("~p ~p ~p ~p ~p~n", [Type, Same, length(Forward), lists:sort(Back) =:= lists:sort(Forward), hd(lists:sort(Forward))]).

go('$end_of_table', _) -> [];
go({K, _} = Found, Next) -> [Found | go(Next(K), Next)].

%% expect: set true 20 true {1,[{b,1}]}
%% expect: ordered_set true 20 true {1,[{b,1}]}
%% expect: bag true 20 true {1,[{a,1},{b,1}]}
%% expect: duplicate_bag true 20 true {1,[{a,1},{b,1}]}
%% expect: {'$end_of_table','$end_of_table','$end_of_table','$end_of_table',{error,badarg},{error,badarg}}

elements() ->
    T = ets:new(t, []),
    ets:insert(T, {a, 1, 2}),
    io:format("~p~n", [[ets:lookup_element(T, a, 2, none), ets:lookup_element(T, b, 2, none), catch_class(fun() -> ets:lookup_element(T, a, 4, none) end),
        catch_class(fun() -> ets:lookup_element(T, b, 0, none) end)]]),
    io:format("~w~n", [[ets:update_element(T, a, {2, x}, {k, 0, 0}), ets:update_element(T, b, [{2, x}, {3, y}], {k, 0, 0, rest}),
        catch_class(fun() -> ets:update_element(T, c, {5, x}, {k, 0, 0}) end), catch_class(fun() -> ets:update_element(T, c, {2, x}, {}) end),
        catch_class(fun() -> ets:update_element(T, c, {2, x}, list) end), lists:sort(ets:tab2list(T)), ets:info(T, size)]]).

%% expect: [1,none,{error,badarg},{error,badarg}]
%% expect: [true,true,{error,badarg},{error,badarg},{error,badarg},[{a,x,2},{b,x,y,rest}],2]

%% Of a process that is told itself, one that sleeps, and one that runs.
asked() ->
    Key = {key, [1]},
    put(Key, <<"value">>),
    proc_lib:set_label({label, 1}),
    io:format("~w~n", [[process_info(self(), I) || I <- [{dictionary, Key}, {dictionary, none}, label]]]),
    Sleeper = spawn(fun() -> put(Key, [slept]), proc_lib:set_label("sleeper"), receive after infinity -> ok end end),
    erlang:yield(),
    Busy = spawn(fun() -> put(Key, ran), spin() end),
    timer:sleep(50),
    io:format("~w~n", [[process_info(P, [{dictionary, Key}, trap_exit, {dictionary, none}, label]) || P <- [Sleeper, Busy]]]),
    io:format("~w~n", [[process_info(P, {dictionary, Key}) || P <- [Sleeper, Busy]]]),
    io:format("~w~n", [[catch_class(fun() -> process_info(Sleeper, I) end) || I <- [{dictionary}, {dictionary, a, b}, {links, a}, [{dictionary}]]]]),
    io:format("~w~n", [[proc_lib:get_label(P) || P <- [self(), Sleeper, Busy]]]),
    exit(Busy, kill).

spin() -> spin().

%% expect: [{{dictionary,{key,[1]}},<<118,97,108,117,101>>},{{dictionary,none},undefined},{label,{label,1}}]
%% expect: [[{{dictionary,{key,[1]}},[slept]},{trap_exit,false},{{dictionary,none},undefined},{label,[115,108,101,101,112,101,114]}],[{{dictionary,{key,[1]}},ran},{trap_exit,false},{{dictionary,none},undefined},{label,undefined}]]
%% expect: [{{dictionary,{key,[1]}},[slept]},{{dictionary,{key,[1]}},ran}]
%% expect: [{error,badarg},{error,badarg},{error,badarg},{error,badarg}]
%% expect: [{label,1},[115,108,101,101,112,101,114],undefined]

services() ->
    io:format("~p~n", [[net:getservbyname("https", tcp), net:getservbyport(53, udp), net:getservbyname("http", any), net:getservbyname("no service", tcp),
        net:getservbyport(1, sctp)]]).

%% expect: [{ok,443},{ok,"domain"},{ok,80},{error,einval},{error,einval}]

terminal() ->
    io:format("~w~n", [[prim_tty:isatty(stdout), is_pid(whereis(user_drv)), is_pid(whereis(user_drv_writer)), prim_tty:npwcwidth($a),
        catch_class(fun() -> prim_tty:isatty(other) end)]]).

%% expect: [false,true,true,1,{error,badarg}]

%% Whoever made them, equal funs have equal external terms. What is wrong with an argument of native coverage is told.
funs() ->
    Self = self(),
    Make = fun() -> X = unknown(1), fun() -> X end end,
    spawn(fun() -> Self ! {made, Make()} end),
    Other = receive {made, F} -> F end,
    io:format("~p~n", [[Other =:= Make(), term_to_binary(Other) =:= term_to_binary(Make()),
        erlang:fun_info(Make(), pid) =:= {pid, whereis(init)}, erlang:fun_info(binary_to_term(term_to_binary(Other)), pid) =:= {pid, whereis(init)},
        try code:get_coverage(unknown(foo), lists) catch error:badarg:Trace -> element(4, hd(Trace)) end]]).

%% expect: [true,true,true,true,[{error_info,#{module => erl_kernel_errors}}]]

compiled() ->
    Forms = [{attribute, 1, module, since27_made}, {attribute, 1, export, [{f, 1}]},
        {function, 1, f, 1, [{clause, 1, [{var, 1, 'X'}], [], [{op, 1, '+', {var, 1, 'X'}, {integer, 1, 1}}]}]}],
    {ok, since27_made, Code} = compile:forms(Forms),
    {module, since27_made} = code:load_binary(since27_made, "made", Code),
    io:format("~p~n", [apply(since27_made, f, [41])]).

%% expect: 42

%% To the compiler.
unknown(Term) ->
    put(unknown, Term),
    get(unknown).

catch_class(F) ->
    try F() of
        V -> V
    catch
        C:R -> {C, R}
    end.
