%% SPDX-License-Identifier: Apache-2.0
%% Prints what the library that runs this wants of its VM and does not get, a line each: functions that its modules import and nobody
%% has, natives for which a module has only the stub, modules that do not load.
%% Not those of wxe_util, which are loaded when wx starts, nor what eunit's test of itself calls because it is nowhere,
%% nor what all stubs of crypto call. A module whose library does not load here has no stubs.
-module(library_natives).
-export([main/0]).

main() ->
    logger:set_primary_config(level, none),
    Files = filelib:wildcard(filename:join([code:root_dir(), "lib", "*", "ebin", "*.beam"])),
    Preloaded = [F || M <- erlang:pre_loaded(), F <- [preloaded_file(M)], filelib:is_file(F)],
    Modules = [module(F) || F <- Files ++ (Preloaded -- Files)],
    Exported = maps:from_keys([{M, F, A} || {M, _, _, Exports} <- Modules, {F, A} <- Exports], true),
    [say("~w does not load: ~0p", [M, Why]) || {M, _, _, _} <- Modules, {error, Why} <- [code:ensure_loaded(M)], not is_excused(Why)],
    Imports = lists:usort([I || {_, _, Is, _} <- Modules, I <- Is]),
    [say("~w:~tw/~w is imported and not there", [M, F, A])
     || {M, F, A} = I <- Imports, M =/= wxe_util, I =/= {eunit_test, nonexisting_function, 0}, not is_map_key(I, Exported), not erlang:is_builtin(M, F, A), not erlang:function_exported(M, F, A)],
    [say("~w:~tw/~w is a stub without a native", [M, F, A]) || {M, File, _, _} <- Modules, M =/= wxe_util, code:is_loaded(M) =/= false,
        {F, A} <- stubs(M, File), {M, F} =/= {crypto, nif_stub_error}],
    say("~w modules", [length(Modules)]),
    halt().

preloaded_file(M) -> filename:join([code:lib_dir(erts), "ebin", atom_to_list(M) ++ ".beam"]).

module(File) ->
    {ok, {M, [{imports, Imports}, {exports, Exports}]}} = beam_lib:chunks(File, [imports, exports]),
    {M, File, Imports, Exports}.

%% Its library needs another of the system, which is not here.
is_excused(Why) -> Why =:= on_load_failure.

%% Functions that do nothing but tell that the native is missing.
stubs(M, File) ->
    {beam_file, M, _, _, _, Functions} = beam_disasm:file(File),
    Natives = try M:module_info(nifs) catch error:_ -> [] end,
    [{F, A} || {function, F, A, _, Code} <- Functions, lists:any(fun is_stub/1, Code), not lists:member({F, A}, Natives), not erlang:is_builtin(M, F, A)].

is_stub({call_ext_only, _, {extfunc, erlang, nif_error, _}}) -> true;
is_stub({call_ext_last, _, {extfunc, erlang, nif_error, _}, _}) -> true;
is_stub({call_ext, _, {extfunc, erlang, nif_error, _}}) -> true;
is_stub(_) -> false.

say(Format, Args) -> io:format(Format ++ "~n", Args).
