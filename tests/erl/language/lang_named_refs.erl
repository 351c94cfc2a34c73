%% SPDX-License-Identifier: Apache-2.0
%% References that name an object of the VM, through the external term format and back: they name it again, as long as it lives.
-module(lang_named_refs).
-export([main/0]).

%% expect: {atomics,true,7}
%% expect: {counters,8}
%% expect: {pattern,[{1,2}]}
%% expect: {table,[{a,1}]}
%% expect: {in_a_term,{7,7}}
%% expect: {elsewhere,9}
%% expect: {alone,1}
%% expect: {gone,true,badarg}
%% expect: {plain,true}
%% expect: {many,true}
main() ->
    A = atomics:new(1, []),
    atomics:put(A, 1, 7),
    show({atomics, again(A) =:= A, atomics:get(again(A), 1)}),
    {_, C} = Counters = counters:new(1, []),
    counters:add(again(Counters), 1, 8),
    show({counters, atomics:get(C, 1)}),
    show({pattern, binary:matches(<<"abcd">>, again(binary:compile_pattern([<<"bc">>])))}),
    T = ets:new(t, []),
    ets:insert(again(T), {a, 1}),
    show({table, ets:tab2list(T)}),
    {[X], #{y := Y}} = again({[A], #{y => A}}),
    show({in_a_term, {atomics:get(X, 1), atomics:get(Y, 1)}}),
    Bytes = term_to_binary(A),
    {_, M} = spawn_monitor(fun() -> atomics:put(binary_to_term(Bytes), 1, 9) end),
    receive {'DOWN', M, _, _, normal} -> show({elsewhere, atomics:get(A, 1)}) end,
    show({alone, atomics:get(kept(), 1)}),
    gone(),
    R = make_ref(),
    show({plain, again(R) =:= R}),
    Me = self(),
    Pids = [spawn_link(fun() -> Me ! {self(), churn(3000)} end) || _ <- lists:seq(1, 4)],
    show({many, lists:all(fun(P) -> receive {P, Good} -> Good end end, Pids)}).

%% What was read is all that keeps it.
kept() ->
    A = atomics:new(1, []),
    atomics:put(A, 1, 1),
    B = again(A),
    garbage_collect(),
    B.

gone() ->
    {Pid, M} = spawn_monitor(fun() -> exit(term_to_binary(atomics:new(1, []))) end),
    Bytes = receive {'DOWN', M, process, Pid, B} -> B end,
    gone(Bytes, 1000).

%% The heap of the process that made it goes a moment later.
gone(Bytes, Tries) ->
    R = binary_to_term(Bytes),
    case catch atomics:get(R, 1) of
        0 when Tries > 0 -> timer:sleep(5), gone(Bytes, Tries - 1);
        {'EXIT', {Why, _}} -> show({gone, is_reference(R), Why})
    end.

%% Some live on, others end at once.
churn(N) -> churn(N, []).

churn(0, Kept) -> lists:all(fun({N, Bytes, A}) -> atomics:get(A, 1) =:= N andalso atomics:get(binary_to_term(Bytes), 1) =:= N end, Kept);
churn(N, Kept) ->
    A = atomics:new(1, []),
    atomics:put(A, 1, N),
    Bytes = term_to_binary(A),
    N = atomics:get(binary_to_term(Bytes), 1),
    churn(N - 1, case N rem 10 of 0 -> [{N, Bytes, A} | Kept]; _ -> Kept end).

again(Term) -> binary_to_term(term_to_binary(Term)).

show(Term) -> io:format("~w~n", [Term]).
