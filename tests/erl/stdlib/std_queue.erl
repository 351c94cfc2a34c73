%% SPDX-License-Identifier: Apache-2.0
%% queue and array.
-module(std_queue).
-export([main/0]).

main() ->
    Q = queue:from_list([1, 2, 3]),
    {{value, X}, Q1} = queue:out(queue:in(4, Q)),
    {{value, Y}, Q2} = queue:out_r(queue:in_r(0, Q1)),
    d([X, Y, queue:to_list(Q2), queue:len(Q2), queue:member(3, Q2), queue:get(Q2), queue:get_r(Q2), queue:is_empty(queue:new())]),
    d([queue:to_list(queue:reverse(Q)), queue:to_list(queue:join(Q, Q)), queue:to_list(queue:filter(fun(E) -> E > 1 end, Q)),
       queue:peek(queue:new()), queue:to_list(queue:drop(Q)), element(1, queue:out(queue:new()))]),
    {A, B} = queue:split(2, Q),
    d([queue:to_list(A), queue:to_list(B), queue:fold(fun(E, S) -> E + S end, 0, Q), queue:any(fun(E) -> E =:= 2 end, Q)]),
    Ar = lists:foldl(fun(I, Acc) -> array:set(I * 3, I, Acc) end, array:new({default, none}), lists:seq(0, 50)),
    d([array:size(Ar), array:get(30, Ar), array:get(31, Ar), array:sparse_size(Ar), array:sparse_foldl(fun(_, V, S) -> V + S end, 0, Ar)]),
    d(array:to_list(array:resize(5, Ar))),
    d(try array:get(99, array:fix(Ar)), array:get(999, array:fix(Ar)) catch error:R -> R end).

d(T) -> erlang:display(T).

%% expect: [1,4,[0,2,3],3,true,0,3,true]
%% expect: [[3,2,1],[1,2,3,1,2,3],[2,3],empty,[2,3],empty]
%% expect: [[1,2],[3],6,true]
%% expect: [151,10,none,151,1275]
%% expect: [0,none,none,1,none]
%% expect: badarg
