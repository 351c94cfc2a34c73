%% SPDX-License-Identifier: Apache-2.0
%% Records, macros, tuple functions.
-module(lang_records).
-export([main/0]).

-record(point, {x = 0, y = 0, name :: atom()}).
-define(SQUARE(X), ((X) * (X))).

main() ->
    P = #point{x = 3, name = origin},
    erlang:display(P),
    erlang:display(P#point{y = 4}),
    erlang:display(norm(P#point{y = 4})),
    erlang:display([is_record(P, point), is_record({point, 1}, point), is_record(x, point), #point.y, record_info(size, point)]),
    erlang:display(record_info(fields, point)),
    erlang:display(try (id({other, 1}))#point.x catch C:R -> {C, R} end),
    erlang:display([element(2, P), setelement(2, P, 9), tuple_size(P), erlang:append_element({a}, b), erlang:insert_element(1, {a}, b),
                    erlang:delete_element(2, {a, b, c}), erlang:make_tuple(3, z), erlang:make_tuple(4, 0, [{2, two}, {4, four}]),
                    tuple_to_list({1, 2}), list_to_tuple([1, 2])]).

norm(#point{x = X, y = Y}) -> ?SQUARE(X) + ?SQUARE(Y).

id(X) -> X.

%% expect: {point,3,0,origin}
%% expect: {point,3,4,origin}
%% expect: 25
%% expect: [true,false,false,3,4]
%% expect: [x,y,name]
%% expect: {error,{badrecord,{other,1}}}
%% expect: [3,{point,9,0,origin},4,{a,b},{b,a},{a,c},{z,z,z},{0,two,0,four},[1,2],{1,2}]
