%% SPDX-License-Identifier: Apache-2.0
%% Compiles modules of the installation anew, from the abstract code that their .beam files hold, and prints the MD5 of each
%% result. Modules: those named, or all of stdlib.
-module(compile_check).
-export([main/0, main/1]).

main() ->
    main([]).

main([]) ->
    Beams = filelib:wildcard(filename:join(code:lib_dir(stdlib), "ebin/*.beam")),
    main([filename:basename(Beam, ".beam") || Beam <- lists:sort(Beams)]);
main(Names) ->
    [io:format("~s ~s~n", [Name, compile(list_to_atom(Name))]) || Name <- Names],
    ok.

compile(Module) ->
    {ok, {Module, [{abstract_code, {raw_abstract_v1, Forms}}]}} = beam_lib:chunks(code:which(Module), [abstract_code]),
    {ok, Module, Beam} = compile:forms(Forms, [debug_info, report]),
    [io_lib:format("~2.16.0b", [Byte]) || <<Byte>> <= erlang:md5(Beam)].
