%% SPDX-License-Identifier: Apache-2.0
%% Damaged modules are refused as badfile, or load and fail as Erlang code does; the VM lives.
%% expect: [{error,badfile},{error,badfile},{error,badfile},{error,nofile}]
%% expect: {300,true}
%% expect: still_here
-module(hostile_beams).
-export([main/0, small/1]).

main() ->
    logger:set_primary_config(level, none),
    {ok, Good} = file:read_file(code:which(?MODULE)),
    Bad = [{hostile_none, <<>>}, {hostile_random, crypto_free(300)}, {hostile_short, binary:part(Good, 0, 200)}],
    Dir = "/tmp/hostile_beams." ++ os:getpid(),
    ok = file:make_dir(Dir),
    [ok = file:write_file(file(Dir, M), B) || {M, B} <- Bad],
    code:add_patha(Dir),
    io:format("~p~n", [[code:load_file(M) || {M, _} <- Bad] ++ [code:load_file(hostile_absent)]]),
    [ok = file:delete(file(Dir, M)) || {M, _} <- Bad],
    ok = file:del_dir(Dir),
    rand:seed(exsss, {1, 2, 3}),
    Answers = [try_load(cut(Good, N)) || N <- lists:seq(1, 300)],
    io:format("~p~n", [{length(Answers), lists:all(fun is_atom/1, Answers)}]),
    io:format("~p~n", [still_here]).

file(Dir, M) -> filename:join(Dir, atom_to_list(M) ++ ".beam").

crypto_free(N) -> << <<(X * X rem 251)>> || X <- lists:seq(1, N) >>.

%% Truncated anywhere: never a module.
cut(B, N) -> binary:part(B, 0, byte_size(B) * N div 301).

try_load(B) ->
    case erlang:prepare_loading(hostile_beams_cut, B) of
        {error, Why} -> Why;
        _ -> {loaded}
    end.

small(X) -> X.
