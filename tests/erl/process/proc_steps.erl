%% SPDX-License-Identifier: Apache-2.0
%% Natives that take long give way in between: results, errors, ends, what is said meanwhile.
%% OTP 27.3's machine ends at split_trim: "no next heap size found: 18446744073541549008". Without that, it prints the same lines.
%% erl crashes: 27
-module(proc_steps).
-export([main/0]).

main() ->
    [one(Name, Fun, Check) || {Name, Fun, Check} <- works()],
    [io:format("~p ~p~n", [Name, error_of(Fun)]) || {Name, Fun} <- errors()],
    small(),
    killed(),
    disturbed().

n() -> 200000.
list() -> lists:seq(1, n()).
bytes() -> lists:duplicate(1000000, $x).

%% {Name, what makes the work of its data, the check of its result}
works() ->
    L = list(),
    N = n(),
    M = maps:from_list([{I, I + 1} || I <- L]),
    Term = [{I, <<I:64>>, #{I => "text"}} || I <- lists:seq(1, 60000)],
    Bin = term_to_binary(Term),
    Zipped = term_to_binary(Term, [{compressed, 9}]),
    Noise = << <<(erlang:phash2(I)):24>> || I <- L >>,
    Bytes = list_to_binary([bytes(), bytes()]),
    <<_:3, Odd:2000000/binary, _/bits>> = <<0:3, Bytes/binary, 0>>,
    Long = <<(binary:copy(<<"x">>, 8000000))/binary, "yxxxxz">>,
    [{from_list, fun() -> maps:from_list([{I div 2, I} || I <- L]) end, fun(R) -> map_size(R) =:= N div 2 + 1 andalso lists:all(fun(I) -> maps:get(I, R) =:= 2 * I + 1 end, lists:seq(1, N div 2 - 1)) end},
     {from_keys, fun() -> maps:from_keys(L, v) end, fun(R) -> map_size(R) =:= N andalso lists:sort(maps:keys(R)) =:= L end},
     {few_keys, fun() -> maps:from_keys([I rem 5 || I <- L], v) end, fun(R) -> R =:= #{0 => v, 1 => v, 2 => v, 3 => v, 4 => v} end},
     {keys, fun() -> maps:keys(M) end, fun(R) -> lists:sort(R) =:= L end},
     {values, fun() -> maps:values(M) end, fun(R) -> lists:sum(R) =:= lists:sum(L) + N end},
     {to_list, fun() -> maps:to_list(M) end, fun(R) -> lists:sort(R) =:= [{I, I + 1} || I <- L] end},
     {append, fun() -> L ++ L ++ [x] end, fun(R) -> length(R) =:= 2 * N + 1 andalso lists:sublist(R, N) =:= L andalso lists:last(R) =:= x end},
     {reverse, fun() -> lists:reverse(L, [x]) end, fun(R) -> hd(R) =:= N andalso lists:last(R) =:= x andalso length(R) =:= N + 1 end},
     {subtract, fun() -> L -- lists:seq(2, N, 2) end, fun(R) -> R =:= lists:seq(1, N, 2) end},
     {list_to_binary, fun() -> list_to_binary([bytes(), <<"yz">> | bytes()]) end, fun(R) -> byte_size(R) =:= 2000002 andalso binary:part(R, 1000000, 2) =:= <<"yz">> end},
     {iolist_to_binary, fun() -> iolist_to_binary([[[I, <<"b">>] || I <- bytes()] | <<"end">>]) end, fun(R) -> byte_size(R) =:= 2000003 end},
     {list_to_bitstring, fun() -> list_to_bitstring([<<1:1>>, bytes()]) end, fun(R) -> bit_size(R) =:= 8000001 end},
     {iolist_size, fun() -> iolist_size([bytes(), bytes()]) end, fun(R) -> R =:= 2000000 end},
     {term_to_binary, fun() -> term_to_binary(Term) end, fun(R) -> R =:= Bin end},
     {compressed, fun() -> term_to_binary(Term, [compressed]) end, fun(R) -> byte_size(R) < byte_size(Bin) andalso binary_to_term(R) =:= Term end},
     {inflated, fun() -> binary_to_term(Zipped) end, fun(R) -> R =:= Term end},
     {inflated_used, fun() -> binary_to_term(<<Zipped/binary, 1, 2>>, [used]) end, fun(R) -> R =:= {Term, byte_size(Zipped)} end},
     {no_shorter, fun() -> term_to_binary(Noise, [{compressed, 1}]) end, fun(R) -> R =:= term_to_binary(Noise) end},
     {external_size, fun() -> erlang:external_size(Term) end, fun(R) -> R >= byte_size(Bin) end},
     {binary_to_term, fun() -> binary_to_term(Bin) end, fun(R) -> R =:= Term end},
     {used, fun() -> binary_to_term(<<Bin/binary, 1, 2>>, [used]) end, fun(R) -> R =:= {Term, byte_size(Bin)} end},
     {binary_to_list, fun() -> binary_to_list(Bytes) end, fun(R) -> R =:= binary_to_list(Bytes, 1, 1000000) ++ lists:duplicate(byte_size(Bytes) - 1000000, $x) end},
     {binary_to_list_3, fun() -> binary_to_list(Odd, 2, 1999999) end, fun(R) -> length(R) =:= 1999998 andalso lists:all(fun(X) -> X =:= $x end, R) end},
     {bitstring_to_list, fun() -> bitstring_to_list(<<Bytes/binary, 5:3>>) end, fun(R) -> R =:= lists:duplicate(byte_size(Bytes), $x) ++ [<<5:3>>] end},
     {copy, fun() -> binary:copy(Odd, 40) end, fun(R) -> R =:= iolist_to_binary(lists:duplicate(40, Odd)) end},
     {copy_short, fun() -> binary:copy(<<"abcdefg">>, 1500001) end,
      fun(R) -> byte_size(R) =:= 10500007 andalso
                   binary:matches(R, <<"gabcdef">>) =:= [{I, 7} || I <- lists:seq(6, 10499999, 7)] end},
     {iolist_to_iovec, fun() -> erlang:iolist_to_iovec([[bytes(), I] || I <- [Bytes, <<"y">>, <<"z">>, Odd]]) end,
      fun(R) -> iolist_to_binary(R) =:= iolist_to_binary([[bytes(), I] || I <- [Bytes, <<"y">>, <<"z">>, Odd]]) andalso lists:all(fun is_binary/1, R) end},
     {match, fun() -> binary:match(Long, <<"yxxxxz">>) end, fun(R) -> R =:= {8000000, 6} end},
     {match_any, fun() -> binary:match(Long, [<<"yxz">>, <<"xxz">>, <<"xxxz">>, <<"y">>], [{scope, {1, 8000005}}]) end, fun(R) -> R =:= {8000000, 1} end},
     {matches, fun() -> binary:matches(binary:copy(<<"abc">>, N), <<"b">>) end, fun(R) -> R =:= [{I, 1} || I <- lists:seq(1, 3 * N, 3)] end},
     {matches_any, fun() -> binary:matches(binary:copy(<<"abc">>, N), [<<"bc">>, <<"b">>, <<"ca">>]) end, fun(R) -> R =:= [{I, 2} || I <- lists:seq(1, 3 * N, 3)] end},
     {split, fun() -> binary:split(binary:copy(<<"abc">>, N), <<"b">>, [global]) end, fun(R) -> R =:= [<<"a">>] ++ lists:duplicate(N - 1, <<"ca">>) ++ [<<"c">>] end},
     {split_trim, fun() -> binary:split(binary:copy(<<"abb">>, N), [<<"b">>, <<"cd">>], [global, trim]) end, fun(R) -> R =:= tl(lists:append(lists:duplicate(N, [<<>>, <<"a">>]))) end},
     {common_prefix, fun() -> binary:longest_common_prefix([Long, binary:copy(<<"x">>, 9000000), Long]) end, fun(R) -> R =:= 8000000 end},
     {common_suffix, fun() -> binary:longest_common_suffix([<<Long/binary, Long/binary>>, <<$a, Long/binary>>]) end, fun(R) -> R =:= byte_size(Long) end},
     {merge, fun() -> maps:merge(M, maps:from_list([{I, -I} || I <- lists:seq(N - 1000, N + 100000)])) end,
      fun(R) -> map_size(R) =:= N + 100000 andalso lists:all(fun(I) -> maps:get(I, R) =:= (if I < N - 1000 -> I + 1; true -> -I end) end, lists:seq(1, N + 100000)) end},
     {re_run, fun() -> re:run(binary:copy(<<"ab\x{100}\n"/utf8>>, 100000), <<"b">>, [unicode, {offset, 5}]) end, fun(R) -> R =:= {match, [{6, 1}]} end}].

%% Did it give way, where it says it gives way, and is the result right?
one(Name, Fun, Check) ->
    Self = self(),
    {Pid, Ref} = spawn_monitor(fun() -> receive go -> ok end, R = Fun(), Self ! {self(), Check(R)} end),
    1 = erlang:trace(Pid, true, [running]),
    Pid ! go,
    Right = receive {Pid, X} -> X; {'DOWN', Ref, _, _, Why} -> Why end,
    receive {'DOWN', Ref, process, Pid, normal} -> ok end,
    Yields = yields(Pid, Name),
    io:format("~p ~p ~p~n", [Name, Right, Yields]).

yields(Pid, Name) ->
    D = erlang:trace_delivered(Pid),
    receive {trace_delivered, Pid, D} -> ok end,
    case lists:usort([F || {M, F, _} <- outs(Pid), M =/= ?MODULE, lists:member(F, places(Name))]) of
        [] when Name =:= to_list; Name =:= external_size -> gives_way; %% OTP's way there differs
        [] -> never;
        _ -> gives_way
    end.

places(Name) when Name =:= from_keys; Name =:= few_keys -> [from_keys];
places(term_to_binary) -> [term_to_binary_trap];
places(Name) when Name =:= compressed; Name =:= no_shorter -> [term_to_binary_trap];
places(Name) when Name =:= inflated; Name =:= inflated_used -> [binary_to_term_trap];
places(external_size) -> [external_size, external_size_trap, term_to_binary_trap];
places(binary_to_term) -> [binary_to_term_trap];
places(used) -> [binary_to_term_trap];
places(re_run) -> [re_run_trap];
places(Name) when Name =:= binary_to_list; Name =:= binary_to_list_3; Name =:= bitstring_to_list -> [binary_to_list_continue];
places(Name) when Name =:= match; Name =:= match_any; Name =:= matches; Name =:= matches_any; Name =:= split; Name =:= split_trim -> [binary_find_trap];
places(Name) when Name =:= copy; Name =:= copy_short -> [binary_copy_trap];
places(common_prefix) -> [binary_longest_prefix_trap];
places(common_suffix) -> [binary_longest_suffix_trap];
places(merge) -> [merge_trap, merge];
places(append) -> ['++', append];
places(subtract) -> ['--', subtract];
places(iolist_size) -> [iolist_size, list_to_binary_continue, iolist_size_continue];
places(N) when N =:= list_to_binary; N =:= iolist_to_binary; N =:= list_to_bitstring -> [list_to_binary_continue, list_to_bitstring_continue];
places(iolist_to_iovec) -> [iolist_to_iovec, iolist_to_iovec_continue];
places(Name) -> [Name].

outs(Pid) -> receive {trace, Pid, out, MFA} when is_tuple(MFA) -> [MFA | outs(Pid)]; {trace, Pid, _, _} -> outs(Pid) after 0 -> [] end.

%% The native and how many arguments its stack trace tells.
errors() ->
    L = list(),
    [{list_to_binary, fun() -> list_to_binary([bytes(), bytes(), x]) end},
     {iolist_to_binary, fun() -> iolist_to_binary([bytes(), bytes(), <<1:1>>]) end},
     {binary_to_term, fun() -> B = term_to_binary(L), binary_to_term(binary:part(B, 0, byte_size(B) - 1)) end},
     {binary_to_term, fun() -> B = term_to_binary({L, L}, [compressed]), binary_to_term(binary:part(B, 0, byte_size(B) - 5)) end},
     {binary_to_term, fun() -> <<A:3/binary, B/binary>> = term_to_binary({L, L}, [compressed]), binary_to_term(<<A/binary, (binary:first(B) + 1), (binary:part(B, 1, byte_size(B) - 1))/binary>>) end},
     {binary_to_term, fun() -> binary_to_term(<<(term_to_binary({L, L}))/binary, 0>>, [safe, x]) end}].

error_of(Fun) ->
    try Fun() of R -> {ok, is_tuple(R)}
    catch error:E:Trace ->
        case hd(Trace) of
            {M, F, A, _} when is_list(A) -> {E, M, F, length(A)};
            {M, F, A, _} -> {E, M, F, A, no_arguments}
        end
    end.

small() ->
    io:format("~p~n", [[[] ++ [], [] ++ x, [1] ++ x, lists:reverse([], x), lists:reverse([1], x), [] -- [], [1, 2] -- [], maps:keys(#{}), maps:to_list(#{}),
                        maps:from_list([]), maps:from_keys([], x), list_to_binary([]), iolist_size(<<>>), iolist_to_binary([<<1>> | <<2>>])]]).

%% Ended in the middle of each.
killed() ->
    Works = works(),
    [begin
         {Pid, Ref} = spawn_monitor(fun() -> forever(Fun) end),
         receive after Wait -> ok end,
         exit(Pid, kill),
         receive {'DOWN', Ref, process, Pid, killed} -> ok end
     end || {Name, Fun, _} <- Works, Name =/= external_size, Wait <- [1, 5]],
    io:format("killed~n").

forever(Fun) -> _ = Fun(), forever(Fun).

%% Collections asked for, messages, suspensions and questions in the middle.
disturbed() ->
    [begin
         Self = self(),
         {Pid, Ref} = spawn_monitor(fun() -> Self ! {self(), Check(Fun())}, receive after infinity -> ok end end),
         Right = disturb(Pid, 0),
         exit(Pid, kill),
         receive {'DOWN', Ref, process, Pid, killed} -> ok end,
         case Right of true -> ok; _ -> io:format("~p ~p~n", [Name, Right]) end
     end || {Name, Fun, Check} <- works(), lists:member(Name, [from_list, to_list, subtract, list_to_binary, term_to_binary, binary_to_term, binary_to_list, iolist_to_iovec, matches, split_trim, merge])],
    io:format("disturbed~n").

disturb(Pid, 20) -> receive {Pid, Right} -> Right end;
disturb(Pid, N) ->
    Pid ! {message, N},
    erlang:garbage_collect(Pid, [{async, N}]),
    true = erlang:suspend_process(Pid, [asynchronous]),
    true = erlang:resume_process(Pid),
    {_, {M, F, A}} = process_info(Pid, current_function),
    true = is_atom(M) andalso is_atom(F) andalso is_integer(A),
    disturb(Pid, N + 1).

%% expect: from_list true gives_way
%% expect: from_keys true gives_way
%% expect: few_keys true gives_way
%% expect: keys true gives_way
%% expect: values true gives_way
%% expect: to_list true gives_way
%% expect: append true gives_way
%% expect: reverse true gives_way
%% expect: subtract true gives_way
%% expect: list_to_binary true gives_way
%% expect: iolist_to_binary true gives_way
%% expect: list_to_bitstring true gives_way
%% expect: iolist_size true gives_way
%% expect: term_to_binary true gives_way
%% expect: compressed true gives_way
%% expect: inflated true gives_way
%% expect: inflated_used true gives_way
%% expect: no_shorter true gives_way
%% expect: external_size true gives_way
%% expect: binary_to_term true gives_way
%% expect: used true gives_way
%% expect: binary_to_list true gives_way
%% expect: binary_to_list_3 true gives_way
%% expect: bitstring_to_list true gives_way
%% expect: copy true gives_way
%% expect: copy_short true gives_way
%% expect: iolist_to_iovec true gives_way
%% expect: match true gives_way
%% expect: match_any true gives_way
%% expect: matches true gives_way
%% expect: matches_any true gives_way
%% expect: split true gives_way
%% expect: split_trim true gives_way
%% expect: common_prefix true gives_way
%% expect: common_suffix true gives_way
%% expect: merge true gives_way
%% expect: re_run true gives_way
%% expect: list_to_binary {badarg,erlang,list_to_binary,1}
%% expect: iolist_to_binary {badarg,erlang,iolist_to_binary,1}
%% expect: binary_to_term {badarg,erlang,binary_to_term,1}
%% expect: binary_to_term {badarg,erlang,binary_to_term,1}
%% expect: binary_to_term {badarg,erlang,binary_to_term,1}
%% expect: binary_to_term {badarg,erlang,binary_to_term,2}
%% expect: [[],x,[1|x],x,[1|x],[],[1,2],[],[],#{},#{},<<>>,0,<<1,2>>]
%% expect: killed
%% expect: disturbed
