%% SPDX-License-Identifier: Apache-2.0
%% With one scheduler, another process runs before a native that has much to do is done.
%% expect: {list_of_list,true,true}
%% expect: {list_of_binary,true,true}
%% expect: {binary_of_list,true,true}
%% expect: {binary_of_nested,true,true}
%% expect: {mixed,true,true}
%% expect: {incomplete,true,true}
%% expect: {persistent,true,true}
%% expect: {persistent_again,true,true}
%% expect: {hash,true,true}
%% expect: {hash_range,true,true}
%% expect: {keyfind,true,true}
%% expect: {keymember,true,true}
%% expect: {keysearch,true,true}
%% expect: {keyfind_improper,true,true}
%% expect: {pattern,error}
%% expect: {world_stopped,true}
-module(proc_long_natives).
-export([main/0]).

main() ->
    erlang:system_flag(schedulers_online, 1),
    unicode(),
    terms(),
    keys(),
    pattern(),
    world(),
    halt(0).

%% {Name, did we run meanwhile?, is the answer right?} On a busy machine it may end before it gives way: then it is called again.
long(Name, Native, IsRight) -> long(Name, Native, IsRight, 50).

long(Name, Native, IsRight, Rounds) ->
    Self = self(),
    spawn_link(fun() ->
        garbage_collect(),
        erlang:yield(), %% a whole slice
        Self ! begun,
        Self ! {answer, Native()}
    end),
    receive begun -> ok end,
    Meanwhile = receive {answer, _} = A -> self() ! A, false after 0 -> true end,
    receive
        {answer, _} when not Meanwhile, Rounds > 1 -> long(Name, Native, IsRight, Rounds - 1);
        {answer, Answer} -> io:format("~p~n", [{Name, Meanwhile, IsRight(Answer)}])
    end.

unicode() ->
    N = 3000000,
    Wide = lists:append(lists:duplicate(N div 4, [$a, 16#e5, 16#400, 16#1F600])),
    Binary = binary:copy(<<$a, 16#e5/utf8, 16#400/utf8, 16#1F600/utf8>>, N div 4),
    long(list_of_list, fun() -> unicode:characters_to_list(Wide) end, fun(L) -> L =:= Wide end),
    long(list_of_binary, fun() -> unicode:characters_to_list(Binary) end, fun(L) -> L =:= Wide end),
    long(binary_of_list, fun() -> unicode:characters_to_binary(Wide) end, fun(B) -> B =:= Binary end),
    long(binary_of_nested, fun() -> unicode:characters_to_binary([[Wide], [[Binary], "abc"]]) end,
         fun(B) -> B =:= <<Binary/binary, Binary/binary, "abc">> end),
    long(mixed, fun() -> unicode:characters_to_list([Binary, 16#c3]) end, fun(L) -> L =:= Wide ++ [16#c3] end),
    long(incomplete, fun() -> unicode:characters_to_list([Binary, <<16#e5>>]) end, fun(R) -> R =:= {incomplete, Wide, <<16#e5>>} end).

terms() ->
    Term = [{N, [a, b, N], #{id => N}} || N <- lists:seq(1, 300000)],
    Key = {?MODULE, key},
    long(persistent, fun() -> persistent_term:erase(Key), persistent_term:put(Key, Term) end, fun(ok) -> persistent_term:get(Key) =:= Term end),
    long(persistent_again, fun() -> persistent_term:put(Key, x), persistent_term:put(Key, [x | Term]) end, fun(ok) -> tl(persistent_term:get(Key)) =:= Term end),
    true = persistent_term:erase(Key),
    long(hash, fun() -> erlang:phash2(Term) end, fun(H) -> H =:= 37113986 end),
    long(hash_range, fun() -> erlang:phash2(Term, 1 bsl 32) end, fun(H) -> H band 16#7ffffff =:= 37113986 end).

%% A list that is searched for longer than a time slice lasts.
keys() ->
    Big = 1 bsl 80,
    Others = lists:duplicate(3000000, {x, 1}),
    Pairs = Others ++ [{1.0, a}, {Big, b}],
    long(keyfind, fun() -> lists:keyfind(1, 1, Pairs) end, fun(Found) -> Found =:= {1.0, a} end),
    long(keymember, fun() -> lists:keymember(c, 2, Pairs) end, fun(Found) -> Found =:= false end),
    long(keysearch, fun() -> lists:keysearch(Big, 1, Pairs) end, fun(Found) -> Found =:= {value, {Big, b}} end),
    Improper = Others ++ y,
    long(keyfind_improper, fun() -> try lists:keyfind(y, 1, Improper) catch error:E -> E end end, fun(E) -> E =:= badarg end).

%% Each of these ranges is one that PCRE2 refuses and PCRE 8 takes, up to the size that a pattern may have.
pattern() ->
    {Answer, _} = re:compile(lists:append(lists:duplicate(150000, "[a-w\\d-x]"))),
    io:format("~p~n", [{pattern, Answer}]).

%% What has lent its scheduler does not keep the world from being stopped.
world() ->
    Self = self(),
    Binary = binary:copy(<<"abcdefgh">>, 50000000),
    spawn_link(fun() -> Self ! begun, Self ! {sum, erlang:md5(Binary)} end),
    receive begun -> ok end,
    [erlang:yield() || _ <- lists:seq(1, 10000)],
    erlang:trace(new, true, [procs]),
    erlang:trace(new, false, [procs]),
    [erlang:yield() || _ <- lists:seq(1, 10000)], %% a millisecond
    say_stopped(receive {sum, _} = S -> self() ! S, false after 0 -> true end),
    receive {sum, _} -> ok end.

say_stopped(Meanwhile) -> io:format("~p~n", [{world_stopped, Meanwhile}]).
