%% SPDX-License-Identifier: Apache-2.0
%% try, catch, after: classes, values, order of effects.
-module(lang_exceptions).
-export([main/0]).

main() ->
    [erlang:display(run(F)) || F <- [fun() -> 1 end, fun() -> throw(t) end, fun() -> exit(e) end, fun() -> error(r) end,
                                     fun() -> error(r, [1, 2]) end, fun() -> hd(id([])) end, fun() -> 1 / id(0) end,
                                     fun() -> id(a) + 1 end, fun() -> {_, _} = id(x) end,
                                     fun() -> case id(x) of y -> 1 end end, fun() -> Z = id(1), if Z > 2 -> 1 end end,
                                     fun() -> (id(fun(X) -> X end))(1, 2) end, fun() -> (id(notfun))(1) end,
                                     fun() -> nomodule:nofunction(1) end, fun() -> clause(id(2)) end,
                                     fun() -> element(id(3), {1, 2}) end, fun() -> list_to_atom(id(["x"])) end,
                                     fun() -> maps:get(k, id(#{})) end, fun() -> (id(m))#{a => 1} end,
                                     fun() -> (id(#{}))#{a := 1} end,
                                     fun() -> try id(1) of 2 -> x catch _:_ -> y end end,
                                     fun() -> erlang:raise(throw, raised, []) end, fun() -> binary_to_atom(id(1)) end]],
    erlang:display((catch throw(caught))),
    erlang:display((catch exit(gone))),
    {'EXIT', {badarith, [_ | _]}} = (catch id(x) * 2),
    erlang:display(nested()),
    erlang:display(get(trail)).

run(F) ->
    try F() of
        V -> {value, V}
    catch
        throw:T -> {throw, T};
        C:R when is_function(element(2, {R, R})) -> {C, with_fun};
        error:{badarity, {Fun, A}} when is_function(Fun) -> {badarity, A};
        C:R -> {C, R}
    end.

nested() ->
    try
        try
            note(one),
            throw(first)
        catch
            throw:first -> note(two), error(second)
        after
            note(three)
        end
    catch
        error:second -> note(four), done
    after
        note(five)
    end.

note(X) -> put(trail, case get(trail) of undefined -> [X]; L -> [X | L] end).

clause(1) -> one.

id(X) -> X.

%% expect: {value,1}
%% expect: {throw,t}
%% expect: {exit,e}
%% expect: {error,r}
%% expect: {error,r}
%% expect: {error,badarg}
%% expect: {error,badarith}
%% expect: {error,badarith}
%% expect: {error,{badmatch,x}}
%% expect: {error,{case_clause,x}}
%% expect: {error,if_clause}
%% expect: {badarity,[1,2]}
%% expect: {error,{badfun,notfun}}
%% expect: {error,undef}
%% expect: {error,function_clause}
%% expect: {error,badarg}
%% expect: {error,badarg}
%% expect: {error,{badkey,k}}
%% expect: {error,{badmap,m}}
%% expect: {error,{badkey,a}}
%% expect: {error,{try_clause,1}}
%% expect: {throw,raised}
%% expect: {error,badarg}
%% expect: caught
%% expect: {'EXIT',gone}
%% expect: done
%% expect: [five,four,three,two,one]
