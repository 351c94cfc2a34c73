%% SPDX-License-Identifier: Apache-2.0
%% Operation                      Test
%% update_record copy             set/2, swap/1
%% update_record reuse            same/2
%% update_record inplace          build/2, grow/2
%% badrecord                      read/1, set/2
%% call_fun2, a local fun         local/1
%% call_fun2 safe                 safe/2
%% call_fun2 unsafe               unsafe/2
%% call_ext of a known function as a fun   remote/1
%% init_yregs, of 1 to 7          frame/1, frames/1
%% maybe, else                    steps/1
-module(ops27_records).
-export([main/0]).

-record(point, {x = 0, y = 0, z = 0}).
-record(acc, {count = 0, sum = 0, list = [], text = <<>>}).

main() ->
    P = #point{x = 1, y = 2, z = 3},
    io:format("~0p~n", [[set(P, 9), swap(P), same(P, 1), same(P, 2), P]]),
    io:format("~0p~n", [[try F(T) catch C:R -> {C, R} end || F <- [fun read/1, fun(T) -> set(T, 1) end, fun swap/1], T <- [{point, 1}, {other, 1, 2, 3}, x]]]),
    io:format("~0p~n", [[copied(P, a), only(#acc{}, 1)]]),
    io:format("~0p~n", [build(1000, #acc{})]),
    A = #acc{list = [kept]},
    io:format("~0p~n", [{grow(50, A), A}]),
    io:format("~0p~n", [old_and_young(20000, #acc{})]),
    io:format("~0p~n", [[local(5), safe(fun(X) -> X * 2 end, 4), unsafe(fun lists:sum/1, [[1, 2, 3]]), remote([3, 1, 2])]]),
    io:format("~0p~n", [[try unsafe(F, [1]) catch C:R -> {C, tidy(R)} end || F <- [fun(X) -> X + 1 end, fun() -> no end, atom, {m, f}, fun erlang:abs/1, fun no:such/1]]]),
    io:format("~0p~n", [[frame(N) || N <- [0, 1, 2]]]),
    io:format("~0p~n", [[frames(N) || N <- [1, 2, 3]]]),
    io:format("~0p~n", [[steps(X) || X <- [{ok, 1}, {ok, a}, {error, e}, other]]]),
    io:format("~0p~n", [[try strict(X) catch C:R -> {C, R} end || X <- [{ok, 1}, nope, {bad, 1}]]]).

set(#point{} = P, V) -> P#point{y = V, z = {V, V}}.

%% The new element differs in type from what was there.
copied(#point{x = X} = P, V) when is_integer(X), is_atom(V) -> Q = P#point{x = V}, {P, Q}.

only(#acc{count = 0} = A, N) -> [A#acc{count = N + 1}, A#acc{count = 1, list = [N]}].

swap(P) -> P#point{x = P#point.y, y = P#point.x}.

same(#point{y = 2} = P, V) -> P#point{x = V, y = 2}.

read(P) -> P#point.x + P#point.y.

build(0, A) -> {A#acc.count, A#acc.sum, length(A#acc.list), byte_size(A#acc.text)};
build(N, #acc{count = C, sum = S, list = L, text = T} = A) ->
    build(N - 1, A#acc{count = C + 1, sum = S + N * 1.5, list = [N | L], text = <<T/binary, N:16>>}).

grow(0, A) -> A;
grow(N, A) -> grow(N - 1, A#acc{sum = A#acc.sum + N}).

%% A record that is old when what is put into it is young.
old_and_young(0, #acc{list = L, sum = S}) -> {length(L), hd(L), S};
old_and_young(N, A0) ->
    A1 = A0#acc{list = [{N, integer_to_list(N)} | lists:sublist(A0#acc.list, 20)]},
    _ = [lists:seq(1, 200) || N rem 100 =:= 0],
    old_and_young(N - 1, A1#acc{sum = {N, A1#acc.count}}).

local(N) -> F = fun(X) -> X + N end, G = id2(F), F(1) + G(2).
id2(F) when is_function(F, 1) -> F.

safe(F, X) when is_function(F, 1) -> [F(X), F(F(X)) | F(0)].

unsafe(F, [X]) -> R = F(X), id(F), R.

remote(L) -> F = fun lists:sort/1, G = fun erlang:hd/1, {F(L), G(L)}.

tidy({badarity, {_, A}}) -> {badarity, A};
tidy(R) -> R.

frame(N) ->
    A = id(N),
    B = case A of 0 -> id(zero); _ -> id(A + 1), id(some) end,
    erlang:garbage_collect(),
    {A, B}.

frames(N) ->
    case id(N) of
        1 -> X = id(a), Y = id(b), Z = id(c), id(gc()), {X, Y, Z};
        2 -> A = id(1), B = id(2), C = id(3), D = id(4), E = id(5), F = id(6), G = id(7), id(gc()), [A, B, C, D, E, F, G];
        _ -> try id(gc()), throw({x, N}) catch throw:T -> {caught, T} after id(done) end
    end.

steps(X) ->
    maybe
        {ok, V} ?= id(X),
        true ?= is_integer(V),
        W = V + 1,
        {done, W}
    else
        false -> no_integer;
        {error, _} = E -> E;
        Other -> {else_, Other}
    end.

strict(X) ->
    maybe
        {ok, V} ?= id(X),
        V
    else
        {bad, N} when N > 5 -> N;
        nope -> nope
    end.

gc() -> erlang:garbage_collect().
id(X) -> X.

%% expect: [{point,1,9,{9,9}},{point,2,1,3},{point,1,2,3},{point,2,2,3},{point,1,2,3}]
%% expect: [{error,{badrecord,{point,1}}},{error,{badrecord,{other,1,2,3}}},{error,{badrecord,x}},{error,function_clause},{error,function_clause},{error,function_clause},{error,{badrecord,{point,1}}},{error,{badrecord,{other,1,2,3}}},{error,{badrecord,x}}]
%% expect: [{{point,1,2,3},{point,a,2,3}},[{acc,2,0,[],<<>>},{acc,1,0,[1],<<>>}]]
%% expect: {1000,750750.0,1000,2000}
%% expect: {{acc,0,1275,[kept],<<>>},{acc,0,0,[kept],<<>>}}
%% expect: {21,{1,"1"},{1,0}}
%% expect: [13,[8,16|0],6,{[1,2,3],3}]
%% expect: [2,{error,{badarity,[1]}},{error,{badfun,atom}},{error,{badfun,{m,f}}},1,{error,undef}]
%% expect: [{0,zero},{1,some},{2,some}]
%% expect: [{a,b,c},[1,2,3,4,5,6,7],{caught,{x,3}}]
%% expect: [{done,2},no_integer,{error,e},{else_,other}]
%% expect: [1,nope,{error,{else_clause,{bad,1}}}]
