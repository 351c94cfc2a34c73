%% SPDX-License-Identifier: Apache-2.0
%% Ends in a crash dump, with what is to be found in it.
-module(dump_make).
-export([main/0, wait/3]).
main() ->
    T = ets:new(dumped_table, [named_table]),
    ets:insert(T, [{N, N * N} || N <- lists:seq(1, 23)]),
    erlang:start_timer(3600000, self(), dumped_timer),
    Big = binary:copy(<<"0123456789">>, 100),
    P = spawn_link(?MODULE, wait, [self(), Big, maps:from_list([{N, -N} || N <- lists:seq(1, 100)])]),
    register(dumped_process, P),
    P ! {first, [1.5, 1 bsl 100, -(1 bsl 90)], "text", #{a => {b}}, <<"small">>, binary:part(Big, 10, 80)},
    P ! {second, self(), make_ref(), fun lists:map/2, 'odd atom', [improper | tail]},
    receive ready -> ok end,
    erlang:halt("told to stop").
wait(Parent, Big, Map) ->
    put(dictionary_key, {dictionary_value, [1, 2, 3]}),
    Parent ! ready,
    deep(3, {Big, Map}).
deep(0, Held) -> receive never -> Held end;
deep(N, Held) -> [N | deep(N - 1, Held)].
