%% SPDX-License-Identifier: Apache-2.0
%% Loading several modules at once; how a fun of purged code is called; processes that ended are not counted.
-module(otp_code).
-export([main/0]).

main() ->
    Prepared = [erlang:prepare_loading(M, beam(M)) || M <- [code_a, code_b]],
    {duplicated, Again} = erlang:finish_loading(Prepared ++ Prepared),
    erlang:display(lists:sort(Again)),
    erlang:display(erlang:finish_loading(Prepared)),
    F = code_a:f(),
    erlang:display({F(), erlang:fun_info(F, name)}),
    true = code:delete(code_a),
    erlang:display({F(), erlang:fun_info(F, name)}),
    code:purge(code_a),
    erlang:display({erlang:fun_info(F, name), erlang:fun_info(F, module), erlang:fun_info(F, arity)}),
    Count = erlang:system_info(process_count),
    Ended = [spawn_monitor(fun() -> receive stop -> ok end end) || _ <- lists:seq(1, 100)],
    erlang:display(erlang:system_info(process_count) - Count),
    [exit(P, stop) || {P, _} <- Ended],
    [receive {'DOWN', R, process, _, stop} -> ok end || {_, R} <- Ended],
    erlang:display(erlang:system_info(process_count) - Count),
    erlang:display(chunks()).

%% A chunk is part of the file's own binary, which may begin at any bit.
chunks() ->
    Chunk = fun(Beam, Id) -> try erts_internal:beamfile_chunk(Beam, Id) catch error:E -> E end end,
    Long = binary:copy(<<"0123456789">>, 10),
    Form = <<"BEAM", "Shrt", 3:32, "abc", 0, "Long", 100:32, Long/binary, "None", 0:32>>,
    Beam = <<"FOR1", (byte_size(Form)):32, Form/binary>>,
    <<_:3, Moved/bitstring>> = <<5:3, Beam/binary>>,
    true = binary:referenced_byte_size(Chunk(Beam, "Long")) >= byte_size(Beam),
    [{Chunk(B, "Shrt"), Chunk(B, "Long") =:= Long, [Chunk(B, Id) || Id <- ["None", "Else", "Sho", "Short", [$S, 256, $r, $t], <<"Shrt">>,
        ["Sh", $r, $t], "Shr" ++ $t]]} || B <- [Beam, Moved, binary:part(Beam, 0, byte_size(Beam) - 1), <<Beam/binary, 0>>, x]].

beam(M) ->
    A = erl_anno:new(1),
    {ok, M, Beam} = compile:forms([
        {attribute, A, module, M}, {attribute, A, export, [{f, 0}]},
        {function, A, f, 0, [{clause, A, [], [], [{'fun', A, {clauses, [{clause, A, [], [], [{atom, A, M}]}]}}]}]}]),
    Beam.

%% expect: [code_a,code_b]
%% expect: ok
%% expect: {code_a,{name,'-f/0-fun-0-'}}
%% expect: {code_a,{name,'-f/0-fun-0-'}}
%% expect: {{name,[]},{module,code_a},{arity,0}}
%% expect: 100
%% expect: 0
%% expect: [{<<"abc">>,true,[undefined,undefined,badarg,badarg,badarg,badarg,badarg,badarg]},{<<"abc">>,true,[undefined,undefined,badarg,badarg,badarg,badarg,badarg,badarg]},{undefined,false,[undefined,undefined,badarg,badarg,badarg,badarg,badarg,badarg]},{<<"abc">>,true,[undefined,undefined,badarg,badarg,badarg,badarg,badarg,badarg]},{badarg,false,[badarg,badarg,badarg,badarg,badarg,badarg,badarg,badarg]}]
