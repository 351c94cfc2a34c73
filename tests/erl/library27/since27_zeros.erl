%% SPDX-License-Identifier: Apache-2.0
%% Since OTP 27 0.0 and -0.0 are two terms: =:=, matching, keys of maps and tables tell them apart; == does not.
-module(since27_zeros).
-export([main/0]).
-compile(nowarn_deprecated_function). %% phash/2

main() ->
    compared(),
    matched(),
    listed(),
    [mapped(N) || N <- [0, 20, 40, 2000]],
    ordered(),
    [stored(Type) || Type <- [set, bag, duplicate_bag, ordered_set]],
    kept(),
    hashed().

compared() ->
    P = plus(),
    M = minus(),
    Wrapped = [{fun() -> P end, fun() -> M end}, {{a, P}, {a, M}}, {[P], [M]}, {#{a => P}, #{a => M}}, {#{P => a}, #{M => a}}, {large(P), large(M)},
        {P, M}, {P, binary_to_term(term_to_binary(P))}],
    p([{A =:= B, A =/= B, A == B, A /= B, A < B, A > B} || {A, B} <- Wrapped]),
    p([P =:= 0, P == 0, M == 0, M < 0, M =:= -P, M + 0.0 =:= P, P * -1 =:= M, max(P, M) =:= P, min(M, P) =:= M]).

%% expect: [{false,true,false,true,true,false},{false,true,true,false,false,false},{false,true,true,false,false,false},{false,true,true,false,false,false},{false,true,false,true,false,true},{false,true,false,true,false,true},{false,true,true,false,false,false},{true,false,true,false,false,false}]
%% expect: [false,true,true,false,true,true,true,true,true]

%% By the compiler of the library: that of 25 takes both for one.
matched() ->
    made("-module(since27_made).\n"
        "-export([clause/1, selected/1, guarded/2, key/1, bound/2, in_guard/1]).\n"
        "clause(+0.0) -> plus; clause(-0.0) -> minus; clause(0) -> int; clause({x, -0.0}) -> in_tuple; clause([+0.0 | _]) -> in_list; clause(_) -> none.\n"
        "selected(X) -> case X of 1.5 -> a; +0.0 -> b; 2.5 -> c; -0.0 -> d; 3.5 -> e; _ -> f end.\n"
        "guarded(A, B) when A =:= B -> same; guarded(A, B) when A == B -> equal; guarded(_, _) -> other.\n"
        "key(#{-0.0 := V}) -> {minus, V}; key(#{+0.0 := V}) -> {plus, V}; key(_) -> none.\n"
        "bound(A, A) -> same; bound(_, _) -> other.\n"
        "in_guard(X) when X =:= -0.0 -> minus; in_guard(X) when X =/= +0.0 -> other; in_guard(_) -> plus.\n"),
    Zeros = [plus(), minus(), 0, {x, minus()}, {x, plus()}, [plus()], [minus()], 1.5],
    p([since27_made:clause(X) || X <- Zeros]),
    p([since27_made:selected(X) || X <- Zeros ++ [2.5, 3.5]]),
    p([since27_made:guarded(plus(), X) || X <- Zeros]),
    p([since27_made:key(#{X => 1}) || X <- Zeros] ++ [since27_made:key(#{plus() => 1, minus() => 2})]),
    p([since27_made:bound(A, B) || A <- [plus(), minus()], B <- [plus(), minus()]]),
    p([since27_made:in_guard(X) || X <- [plus(), minus(), 0, a]]).

%% expect: [plus,minus,int,in_tuple,none,in_list,none,none]
%% expect: [b,d,f,f,f,f,f,a,c,e]
%% expect: [same,equal,equal,other,other,other,other,other]
%% expect: [{plus,1},{minus,1},none,none,none,none,none,none,{minus,2}]
%% expect: [same,other,other,same]
%% expect: [plus,minus,other,other]

listed() ->
    P = plus(),
    M = minus(),
    Many = lists:seq(1, 100),
    p([lists:member(M, [P]), lists:member(M, [P, M]), lists:delete(M, [P, M]), [P, M] -- [M], (Many ++ [P]) -- (Many ++ [M]), lists:keyfind(M, 1, [{P}]),
        lists:usort([P, M]), lists:sort([P, M, P]), ordsets:from_list([M, P]), lists:sort(sets:to_list(sets:from_list([P, M, P], [{version, 2}]))),
        length(lists:uniq([P, M, P, M]))]).

%% expect: [false,true,[0.0],[0.0],[0.0],{0.0},[0.0],[0.0,-0.0,0.0],[-0.0],[-0.0,0.0],2]

mapped(N) ->
    P = plus(),
    M = minus(),
    Rest = maps:from_list([{I, x} || I <- lists:seq(1, N)]),
    One = Rest#{P => 1},
    Both = One#{M => 2},
    Merged = maps:merge(One, #{M => 3}),
    p({map_size(Both) - N, map_get(P, Both), map_get(M, Both), maps:find(M, One), is_map_key(M, Both), map_size(maps:remove(M, Both)) - N,
        maps:get(P, maps:remove(M, Both)), maps:get(P, Merged), maps:get(M, Merged), maps:take(M, One), map_size(maps:from_list([{P, 1}, {M, 2}, {P, 3}])),
        Both =:= maps:put(P, 1, maps:put(M, 2, Rest)), maps:from_keys([P, M | maps:keys(Rest)], x) =:= maps:map(fun(_, _) -> x end, Both),
        catch_class(fun() -> One#{M := 1} end), binary_to_term(term_to_binary(Both)) =:= Both}).

%% expect: {2,1,2,error,true,1,1,1,3,error,2,true,true,{error,{badkey,-0.0}},true}
%% expect: {2,1,2,error,true,1,1,1,3,error,2,true,true,{error,{badkey,-0.0}},true}
%% expect: {2,1,2,error,true,1,1,1,3,error,2,true,true,{error,{badkey,-0.0}},true}
%% expect: {2,1,2,error,true,1,1,1,3,error,2,true,true,{error,{badkey,-0.0}},true}

%% As keys -0.0 stands between negative floats and 0.0.
ordered() ->
    Keys = [plus(), minus(), -1.0e-300, 1.0e-300, -2.5, 2.5],
    p(maps:to_list(maps:iterator(maps:from_keys(Keys, x), ordered))),
    p([#{A => x} < #{B => x} || {A, B} <- [{minus(), plus()}, {plus(), minus()}, {minus(), -1.0e-300}, {-1.0e-300, minus()}]]).

%% expect: [{-2.5,x},{-1.0e-300,x},{-0.0,x},{0.0,x},{1.0e-300,x},{2.5,x}]
%% expect: [true,false,false,true]

stored(Type) ->
    T = ets:new(t, [Type]),
    P = plus(),
    M = minus(),
    ets:insert(T, [{P, 1}, {M, 2}]),
    p({Type, ets:info(T, size), lists:sort(ets:lookup(T, P)), ets:lookup(T, M), ets:member(T, M), ets:match(T, {P, '$1'}), ets:match(T, {M, '$1'}),
        ets:select(T, [{{'$1', '$2'}, [{'=:=', '$1', M}], ['$2']}]), lists:sort(ets:select(T, [{{'$1', '$2'}, [{'==', '$1', M}], ['$2']}])),
        length(ets:match_object(T, {M, '_'}))}),
    ets:insert(T, [{k, P}, {k, M}, {k, P}]),
    p({length(ets:lookup(T, k)), ets:delete_object(T, {k, M}), length(ets:lookup(T, k)), ets:delete(T, M), ets:info(T, size)}).

%% expect: {set,2,[{0.0,1}],[{-0.0,2}],true,[[1]],[[2]],[2],[1,2],1}
%% expect: {1,true,1,true,2}
%% expect: {bag,2,[{0.0,1}],[{-0.0,2}],true,[[1]],[[2]],[2],[1,2],1}
%% expect: {2,true,1,true,2}
%% expect: {duplicate_bag,2,[{0.0,1}],[{-0.0,2}],true,[[1]],[[2]],[2],[1,2],1}
%% expect: {3,true,2,true,3}
%% expect: {ordered_set,1,[{-0.0,2}],[{-0.0,2}],true,[],[[2]],[2],[2],1}
%% expect: {1,true,1,true,1}

kept() ->
    put(plus(), 1),
    put({minus()}, 2),
    persistent_term:put({?MODULE, plus()}, 3),
    p([get(plus()), get(minus()), get({minus()}), get({plus()}), erase(minus()), persistent_term:get({?MODULE, plus()}),
        persistent_term:get({?MODULE, minus()}, none)]).

%% expect: [1,undefined,2,undefined,undefined,3,none]

%% Portable hashes are those of before.
hashed() ->
    p([erlang:phash2(plus()) =:= erlang:phash2(minus()), erlang:phash2({a, plus()}) =:= erlang:phash2({a, minus()}), erlang:phash2(minus()),
        erlang:phash(minus(), 1 bsl 32) =:= erlang:phash(plus(), 1 bsl 32), term_to_binary(minus()), term_to_binary(plus())]).

%% expect: [true,true,20875736,true,<<131,70,128,0,0,0,0,0,0,0>>,<<131,70,0,0,0,0,0,0,0,0>>]

large(K) -> maps:from_list([{K, x} | [{I, x} || I <- lists:seq(1, 40)]]).
plus() -> binary_to_term(<<131, 70, 0:64>>).
minus() -> binary_to_term(<<131, 70, 1:1, 0:63>>).

made(Source) ->
    {ok, Tokens, _} = erl_scan:string(Source),
    Forms = [begin {ok, F} = erl_parse:parse_form(Ts), F end || Ts <- split(Tokens, [])],
    {ok, Module, Code} = compile:forms(Forms, []),
    {module, Module} = code:load_binary(Module, "made", Code).

split([], []) -> [];
split([{dot, _} = T | Rest], Ts) -> [lists:reverse(Ts, [T]) | split(Rest, [])];
split([T | Rest], Ts) -> split(Rest, [T | Ts]).

p(T) -> io:format("~0p~n", [T]).

catch_class(F) ->
    try F() of
        V -> V
    catch
        C:R -> {C, R}
    end.
