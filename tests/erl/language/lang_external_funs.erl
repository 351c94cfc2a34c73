%% SPDX-License-Identifier: Apache-2.0
%% Funs that foreign bytes name: each number in them in every form and sign that an integer can have there. What was read is written as what
%% can be read again, and is the same; numbers that differ are other funs.
%% OTP 29 knows one fun of a module and an index, and tells the numbers of the first that it met.
%% erl differs: 29
-module(lang_external_funs).
-export([main/0]).

main() ->
    Funs = [binary_to_term(fun_bytes(Index, Old, Uniq)) || Index <- [0, 5, -1], {Old, Uniq} <- numbers()],
    [io:format("~w ~w~n", [F, [{Item, Value} || Item <- [index, uniq, new_index], {_, Value} <- [erlang:fun_info(F, Item)]]]) || F <- Funs],
    io:format("~w~n", [[Same || F <- Funs, Same <- [binary_to_term(term_to_binary(F)) =:= F, erlang:external_size(F) >= byte_size(term_to_binary(F))],
                                not Same]]),
    io:format("~w ~w~n", [length(Funs), length(lists:usort(Funs))]),
    io:format("~w~n", [erlang:phash2(Funs)]),
    io:format("~w~n", [[try binary_to_term(fun_bytes(0, Old, Uniq)) catch error:badarg -> badarg end ||
                        {Old, Uniq} <- [{<<119, 1, "a">>, <<97, 3>>}, {<<97, 1>>, <<70, 1.0/float>>}, {<<97, 1>>, <<110, 8, 0, -1:64>>},
                                        {<<97, 1>>, <<110, 12, 0, 1:96>>}, {<<106>>, <<97, 1>>}]]]).

numbers() ->
    [{<<97, 1>>, <<97, 2>>}, {<<97, 1>>, <<98, -5:32>>}, {<<98, -1:32>>, <<98, 1000000:32>>}, {<<98, -2:32>>, <<98, -1:32>>},
     {<<98, 16#7fffffff:32>>, <<98, 16#80000000:32>>}, {<<97, 1>>, <<110, 4, 0, 16#fffffff0:32/little>>},
     {<<97, 1>>, <<110, 4, 1, 16#7ffffff0:32/little>>}, {<<110, 5, 0, 1:40/little>>, <<97, 3>>}].

fun_bytes(Index, Old, Uniq) ->
    <<131, Creator/binary>> = term_to_binary(hd(processes())),
    Body = <<2, 1:128, Index:32, 0:32, 119, 6, "absent", Old/binary, Uniq/binary, Creator/binary>>,
    <<131, 112, (byte_size(Body) + 4):32, Body/binary>>.

%% expect: #Fun<absent.1.2> [{index,1},{uniq,2},{new_index,0}]
%% expect: #Fun<absent.1.-5> [{index,1},{uniq,-5},{new_index,0}]
%% expect: #Fun<absent.-1.1000000> [{index,-1},{uniq,1000000},{new_index,0}]
%% expect: #Fun<absent.-2.-1> [{index,-2},{uniq,-1},{new_index,0}]
%% expect: #Fun<absent.2147483647.-2147483648> [{index,2147483647},{uniq,-2147483648},{new_index,0}]
%% expect: #Fun<absent.1.-16> [{index,1},{uniq,-16},{new_index,0}]
%% expect: #Fun<absent.1.-2147483632> [{index,1},{uniq,-2147483632},{new_index,0}]
%% expect: #Fun<absent.1.3> [{index,1},{uniq,3},{new_index,0}]
%% expect: #Fun<absent.1.2> [{index,1},{uniq,2},{new_index,5}]
%% expect: #Fun<absent.1.-5> [{index,1},{uniq,-5},{new_index,5}]
%% expect: #Fun<absent.-1.1000000> [{index,-1},{uniq,1000000},{new_index,5}]
%% expect: #Fun<absent.-2.-1> [{index,-2},{uniq,-1},{new_index,5}]
%% expect: #Fun<absent.2147483647.-2147483648> [{index,2147483647},{uniq,-2147483648},{new_index,5}]
%% expect: #Fun<absent.1.-16> [{index,1},{uniq,-16},{new_index,5}]
%% expect: #Fun<absent.1.-2147483632> [{index,1},{uniq,-2147483632},{new_index,5}]
%% expect: #Fun<absent.1.3> [{index,1},{uniq,3},{new_index,5}]
%% expect: #Fun<absent.1.2> [{index,1},{uniq,2},{new_index,-1}]
%% expect: #Fun<absent.1.-5> [{index,1},{uniq,-5},{new_index,-1}]
%% expect: #Fun<absent.-1.1000000> [{index,-1},{uniq,1000000},{new_index,-1}]
%% expect: #Fun<absent.-2.-1> [{index,-2},{uniq,-1},{new_index,-1}]
%% expect: #Fun<absent.2147483647.-2147483648> [{index,2147483647},{uniq,-2147483648},{new_index,-1}]
%% expect: #Fun<absent.1.-16> [{index,1},{uniq,-16},{new_index,-1}]
%% expect: #Fun<absent.1.-2147483632> [{index,1},{uniq,-2147483632},{new_index,-1}]
%% expect: #Fun<absent.1.3> [{index,1},{uniq,3},{new_index,-1}]
%% expect: []
%% expect: 24 24
%% expect: 133828358
%% expect: [badarg,badarg,badarg,badarg,badarg]
