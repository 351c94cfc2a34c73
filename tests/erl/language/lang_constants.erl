%% SPDX-License-Identifier: Apache-2.0
%% Arithmetic with a constant: where results stop being small, and what is no number.
-module(lang_constants).
-export([main/0]).

main() ->
    Least = -(1 bsl 59),
    [d([result(F, X) || F <- all()])
     || X <- [0, 7, -7, (1 bsl 59) - 1, Least, 1 bsl 59, Least - 1, 1 bsl 70, 1.5, a]].

result(F, X) ->
    try F(X)
    catch error:E:Stack -> {M, N, A, _} = hd(Stack), {E, M, N, A}
    end.

all() ->
    [fun(X) -> times(X) end, fun(X) -> times_minus(X) end, fun(X) -> left(X) end, fun(X) -> left_minus(X) end, fun(X) -> left_none(X) end,
     fun(X) -> bits(X) end, fun(X) -> bits_minus(X) end, fun(X) -> down(X) end, fun(X) -> down_far(X) end, fun(X) -> down_up(X) end,
     fun(X) -> plus(X) end, fun(X) -> minus(X) end].

times(X) -> id(X * 3).
times_minus(X) -> id(X * -1).
left(X) -> id(X rem 5).
left_minus(X) -> id(X rem -1).
left_none(X) -> id(X rem 0).
bits(X) -> id(X band 255).
bits_minus(X) -> id(X band -4).
down(X) -> id(X bsr 3).
down_far(X) -> id(X bsr 100).
down_up(X) -> id(X bsr -2).
plus(X) -> id(X + 1).
minus(X) -> id(X - 1).

id(X) -> X.

d(T) -> erlang:display(T).

%% expect: [0,0,0,0,{badarith,erlang,rem,[0,0]},0,0,0,0,0,1,-1]
%% expect: [21,-7,2,0,{badarith,erlang,rem,[7,0]},7,4,0,0,28,8,6]
%% expect: [-21,7,-2,0,{badarith,erlang,rem,[-7,0]},249,-8,-1,-1,-28,-6,-8]
%% expect: [1729382256910270461,-576460752303423487,2,0,{badarith,erlang,rem,[576460752303423487,0]},255,576460752303423484,72057594037927935,0,2305843009213693948,576460752303423488,576460752303423486]
%% expect: [-1729382256910270464,576460752303423488,-3,0,{badarith,erlang,rem,[-576460752303423488,0]},0,-576460752303423488,-72057594037927936,-1,-2305843009213693952,-576460752303423487,-576460752303423489]
%% expect: [1729382256910270464,-576460752303423488,3,0,{badarith,erlang,rem,[576460752303423488,0]},0,576460752303423488,72057594037927936,0,2305843009213693952,576460752303423489,576460752303423487]
%% expect: [-1729382256910270467,576460752303423489,-4,0,{badarith,erlang,rem,[-576460752303423489,0]},255,-576460752303423492,-72057594037927937,-1,-2305843009213693956,-576460752303423488,-576460752303423490]
%% expect: [3541774862152233910272,-1180591620717411303424,4,0,{badarith,erlang,rem,[1180591620717411303424,0]},0,1180591620717411303424,147573952589676412928,0,4722366482869645213696,1180591620717411303425,1180591620717411303423]
%% expect: [4.500000e+00,-1.500000e+00,{badarith,erlang,rem,[1.500000e+00,5]},{badarith,erlang,rem,[1.500000e+00,-1]},{badarith,erlang,rem,[1.500000e+00,0]},{badarith,erlang,band,[1.500000e+00,255]},{badarith,erlang,band,[1.500000e+00,-4]},{badarith,erlang,bsr,[1.500000e+00,3]},{badarith,erlang,bsr,[1.500000e+00,100]},{badarith,erlang,bsr,[1.500000e+00,-2]},2.500000e+00,5.000000e-01]
%% expect: [{badarith,erlang,'*',[a,3]},{badarith,erlang,'*',[a,-1]},{badarith,erlang,rem,[a,5]},{badarith,erlang,rem,[a,-1]},{badarith,erlang,rem,[a,0]},{badarith,erlang,band,[a,255]},{badarith,erlang,band,[a,-4]},{badarith,erlang,bsr,[a,3]},{badarith,erlang,bsr,[a,100]},{badarith,erlang,bsr,[a,-2]},{badarith,lang_constants,plus,1},{badarith,lang_constants,minus,1}]
%% expect 27: [{badarith,erlang,'*',[a,3]},{badarith,erlang,'*',[a,-1]},{badarith,erlang,rem,[a,5]},{badarith,erlang,rem,[a,-1]},{badarith,erlang,rem,[a,0]},{badarith,erlang,band,[a,255]},{badarith,erlang,band,[a,-4]},{badarith,erlang,bsr,[a,3]},{badarith,erlang,bsr,[a,100]},{badarith,erlang,bsr,[a,-2]},{badarith,erlang,'+',[a,1]},{badarith,erlang,'-',[a,1]}]
