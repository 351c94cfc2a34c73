%% SPDX-License-Identifier: Apache-2.0
%% Damaged code that is still made of operations: frames that do not fit, a function's head without its label, the table of types.
-module(hostile_frames).
-export([main/0]).

main() ->
    io:format("sound ~w~n", [load(code(sound))]),
    io:format("loads all the same: ~w~n", [[Name || is_ours(), Name <- [larger, smaller, none, twice, register, joined, back], load(code(Name)) =/= refused]]),
    io:format("no label ~w~n", [load(code(no_label))]),
    {ok, Sound} = chunks(code(sound)),
    [io:format("types ~w ~w ~w~n", [Version, Name, load(with_types(Sound, <<Version:32, Types/binary>>))]) ||
        Version <- [1, 3, 4, 77], {Name, Types} <- types(Version)].

%% A release reads those of its own version: 25 has 1, 27 has 3, 29 has 4, and reads 3.
types(1) ->
    Any = <<16#1fff:16, 0:64, -1:64>>,
    [{first, <<1:32, 1:16, 0:64, -1:64>>}, {bounds, <<1:32, 16#1fff:16, 0:128>>} | types_with(Any)];
types(3) -> types_to(16#1000);
types(4) -> types_to(16#2000);
types(_) -> [{unknown, <<1:32>>}].

%% Lower: the bit that says that a lower bound follows; the next says it of an upper one, those below are types.
types_to(Lower) ->
    Any = <<(Lower - 1):16>>,
    [{first, <<1:32, 1:16>>}, {bounds, <<1:32, (4 * Lower - 1):16, 0:128>>}, {no_bounds, <<1:32, (4 * Lower - 1):16>>},
     {bounded_atom, <<2:32, Any/binary, (Lower + 1):16, 0:64>>} | types_with(Any)].

types_with(Any) ->
    [{sound, <<1:32, Any/binary>>}, {none, <<0:32>>}, {cut, <<2:32, Any/binary>>}, {empty, <<2:32, Any/binary, 0:144>>}, {short, <<>>}].

%% OTP believes its compiler in what would run wild there.
is_ours() -> string:find(erlang:system_info(system_version), "erlvm") =/= nomatch.

load(Code) ->
    case erlang:prepare_loading(damaged, Code) of
        {error, badfile} -> refused;
        R when is_reference(R) -> loads
    end.

chunks(Code) -> {ok, damaged, Chunks} = beam_lib:all_chunks(Code), {ok, Chunks}.

with_types(Chunks, Types) ->
    {ok, Code} = beam_lib:build_module(lists:keystore("Type", 1, Chunks, {"Type", Types})),
    Code.

code(Name) ->
    Function = {function, f, 1, 2, body(Name)},
    Assembly = {damaged, [{f, 1}], [], [Function], 5},
    {ok, Code} = beam_asm:module(case erlang:system_info(otp_release) >= "29" of
                                     true -> erlang:insert_element(4, Assembly, #{}); % annotations
                                     false -> Assembly
                                 end, [], [], []),
    Code.

head() -> [{label, 1}, {func_info, {atom, damaged}, {atom, f}, 1}, {label, 2}].

body(sound) -> head() ++ [{allocate, 1, 1}, {move, {x, 0}, {y, 0}}, call(), {deallocate, 1}, return];
body(larger) -> head() ++ [{allocate, 1, 1}, {move, {x, 0}, {y, 0}}, call(), {deallocate, 3}, return];
body(smaller) -> head() ++ [{allocate, 2, 1}, {move, {x, 0}, {y, 0}}, {move, {x, 0}, {y, 1}}, {call_last, 1, {f, 2}, 1}];
body(none) -> head() ++ [call(), return];
body(twice) -> head() ++ [{allocate, 0, 1}, {allocate, 0, 1}, {deallocate, 0}, return];
body(register) -> head() ++ [{allocate, 1, 1}, {move, {x, 0}, {y, 0}}, {deallocate, 1}, {move, {y, 0}, {x, 0}}, return];
body(joined) -> head() ++ [{test, is_atom, {f, 3}, [{x, 0}]}, {allocate, 1, 1}, {move, {x, 0}, {y, 0}}, {label, 3}, {deallocate, 1}, return];
body(back) -> head() ++ [{jump, {f, 4}}, {label, 3}, {deallocate, 1}, return, {label, 4}, {test, is_atom, {f, 3}, [{x, 0}]}, return];
body(no_label) -> tl(head()) ++ [return].

call() -> {call, 1, {f, 2}}.

%% expect: sound loads
%% expect: loads all the same: []
%% expect: no label refused
%% expect: types 1 first refused
%% expect 27: types 1 first loads
%% expect: types 1 bounds refused
%% expect 27: types 1 bounds loads
%% expect: types 1 sound loads
%% expect: types 1 none refused
%% expect 27: types 1 none loads
%% expect: types 1 cut refused
%% expect 27: types 1 cut loads
%% expect: types 1 empty refused
%% expect 27: types 1 empty loads
%% expect: types 1 short refused
%% expect 27: types 1 short loads
%% expect: types 3 first loads
%% expect 27: types 3 first refused
%% expect: types 3 bounds loads
%% expect 27: types 3 bounds refused
%% expect: types 3 no_bounds loads
%% expect 27: types 3 no_bounds refused
%% expect: types 3 bounded_atom loads
%% expect 27: types 3 bounded_atom refused
%% expect: types 3 sound loads
%% expect: types 3 none loads
%% expect 27: types 3 none refused
%% expect: types 3 cut loads
%% expect 27: types 3 cut refused
%% expect: types 3 empty loads
%% expect 27: types 3 empty refused
%% expect: types 3 short loads
%% expect 27: types 3 short refused
%% expect: types 4 first loads
%% expect 29: types 4 first refused
%% expect: types 4 bounds loads
%% expect 29: types 4 bounds refused
%% expect: types 4 no_bounds loads
%% expect 29: types 4 no_bounds refused
%% expect: types 4 bounded_atom loads
%% expect 29: types 4 bounded_atom refused
%% expect: types 4 sound loads
%% expect: types 4 none loads
%% expect 29: types 4 none refused
%% expect: types 4 cut loads
%% expect 29: types 4 cut refused
%% expect: types 4 empty loads
%% expect 29: types 4 empty refused
%% expect: types 4 short loads
%% expect 29: types 4 short refused
%% expect: types 77 unknown loads
