%% SPDX-License-Identifier: Apache-2.0
%% erl_nif.h 2.18: how much memory a term takes, and where an atom stands in a cache of atoms.
-module(since29_nif).
-export([main/0]).
-nifs([bytes/1, place/1, places/0]).

main() ->
    ok = erlang:load_nif(filename:join(filename:dirname(code:which(?MODULE)), "since29_nif"), 0),
    Terms = [a, 1, [], {}, {1}, [1, 2], "abc", 1.5, 1 bsl 70, #{a => 1}, self(), lists:duplicate(3, {a, [b]})],
    p([bytes(T) || T <- Terms]),
    p([T || T <- [{id([x, y]), binary:copy(<<1>>, 1000)}, maps:from_list([{N, N} || N <- lists:seq(1, 100)]) | Terms],
            bytes(T) =/= 8 * erts_debug:flat_size(T)]),
    Places = [place(A) || A <- [ok, error, list_to_atom("a new one")]],
    p([is_integer(N) andalso N >= 0 andalso N =< places() || N <- Places]),
    p([places(), place(ok) =:= hd(Places), length(lists:usort([place(list_to_atom("new" ++ integer_to_list(N))) || N <- lists:seq(1, 2000)])) > 1000]),
    p([place(X) || X <- [1, "ok", {}]]).

%% expect: [0,0,0,8,16,32,48,16,24,40,0,168]
%% expect erl 29: [0,0,0,0,16,32,48,16,24,48,0,168]
%% expect: []
%% expect: [true,true,true]
%% expect: [2038,true,true]
%% expect: [none,none,none]

id(X) -> X.
bytes(_) -> erlang:nif_error(undef).
place(_) -> erlang:nif_error(undef).
places() -> erlang:nif_error(undef).

p(T) -> io:format("~0p~n", [T]).
