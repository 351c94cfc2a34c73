%% SPDX-License-Identifier: Apache-2.0
%% Terms in native functions: what a library sees of each kind, and what it makes.
%% expect: {kinds,[{1,[atom]},{2,[binary]},{2,[]},{10,[ref]},{4,['fun']},{4,['fun']},{8,[pid]},{9,[port]},{6,[list,nil]},{6,[list]},{11,[tuple]},{11,[tuple]},{5,[number]},{5,[number]},{5,[number]},{3,[number]},{7,[map]},{7,[map]},{7,[map]}]}
%% expect: {numbers,[{i,0},{u,0},{l,0},{ul,0},{i64,0},{u64,0}]}
%% expect: {numbers,[{i,-1},{l,-1},{i64,-1}]}
%% expect: {numbers,[{i,2147483647},{u,2147483647},{l,2147483647},{ul,2147483647},{i64,2147483647},{u64,2147483647}]}
%% expect: {numbers,[{u,2147483648},{l,2147483648},{ul,2147483648},{i64,2147483648},{u64,2147483648}]}
%% expect: {numbers,[{i,-2147483648},{l,-2147483648},{i64,-2147483648}]}
%% expect: {numbers,[{l,-2147483649},{i64,-2147483649}]}
%% expect: {numbers,[{u,4294967295},{l,4294967295},{ul,4294967295},{i64,4294967295},{u64,4294967295}]}
%% expect: {numbers,[{l,4294967296},{ul,4294967296},{i64,4294967296},{u64,4294967296}]}
%% expect: {numbers,[{l,576460752303423488},{ul,576460752303423488},{i64,576460752303423488},{u64,576460752303423488}]}
%% expect: {numbers,[{l,-576460752303423489},{i64,-576460752303423489}]}
%% expect: {numbers,[{l,9223372036854775807},{ul,9223372036854775807},{i64,9223372036854775807},{u64,9223372036854775807}]}
%% expect: {numbers,[{ul,9223372036854775808},{u64,9223372036854775808}]}
%% expect: {numbers,[{l,-9223372036854775808},{i64,-9223372036854775808}]}
%% expect: {numbers,[]}
%% expect: {numbers,[{ul,18446744073709551615},{u64,18446744073709551615}]}
%% expect: {numbers,[]}
%% expect: {numbers,[{d,2.5}]}
%% expect: {numbers,[]}
%% expect: {bad_double,{error,badarg,{nif_terms,bad_double,[0.0],[]}}}
%% expect: {atoms,[{2,1,0,1,a,[97]},{1,0,0,1,'',[]},{11,10,0,1,'with space',[119,105,116,104,32,115,112,97,99,101]},{11,10,0,1,smørrebrød,[115,109,248,114,114,101,98,114,248,100]},{256,255,0,1,xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx,[120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120,120]}]}
%% expect: {wide,wide}
%% expect: {new_atom,'brand new',aå,{error,badarg,{nif_terms,new_atom,long,[]}},0}
%% expect: {lists,[{1,0,none,[]},{1,1,{a,[]},[a]},{0,12345,{a,[b|c]},none},{1,3,{97,[98,99]},[99,98,97]},{0,12345,none,none}]}
%% expect: {tuples,{[],{},[1,{},{}]},{[a,{b},[99]],{a,{b},[99]},[1,{a,{b},[99]},{}]},{error,badarg,{nif_terms,tuples,[[]],[]}}}
%% expect: {strings,[{1,[]},{4,[97,98,99]},{-4,[97,98,99]},{-4,[97,98,99]},{0,[97]},{0,[]},{0,[97]},{0,[]},{2,[229]}]}
%% expect: {order,[{1,0,2614250,1},{0,0,2614250,0},{0,0,77147068,0},{0,1,97,0},{0,-1,2614250,0},{0,-1,117343302,0},{1,0,91564110,1},{1,0,125354872,1},{1,0,59617982,1}]}
%% expect: {inspected,{same,0}}
%% expect: {inspected,{same,3}}
%% expect: {inspected,{same,200}}
%% expect: {inspected,{same,10}}
%% expect: {inspected,{same,100}}
%% expect: {inspected,none}
%% expect: {inspected,none}
%% expect: {inspected,none}
%% expect: {flat,<<97,98,99>>,<<97,98,99>>,<<120>>,<<>>,{error,badarg,{nif_terms,flat,[[a]],[]}},{error,badarg,{nif_terms,flat,[a],[]}},410}
%% expect: {resized,<<97,97,97,97,97>>,0,<<38,73,174,205,143,134,11,154,37,7,213,12,152,105,186,97>>}
%% expect: {grown,{<<97,98,99>>,<<97,98,99,120,121,122>>},<<163,138,171,100,118,17,4,63,88,207,193,40,234,78,193,136>>}
%% expect: {part,<<48,49,50>>,<<53,54>>,true,<<>>}
%% expect: {external,[{<<131,100,0,1,97>>,a,5,5,0},{<<131,104,3,97,1,70,64,4,0,0,0,0,0,0,107,0,1,120>>,{1,2.5,[120]},18,18,0},{<<131,116,0,0,0,1,100,0,1,107,109,0,0,0,1,118>>,#{k => <<118>>},16,16,0}]}
%% expect 27: {external,[{<<131,119,1,97>>,a,4,4,0},{<<131,104,3,97,1,70,64,4,0,0,0,0,0,0,107,0,1,120>>,{1,2.5,[120]},18,18,0},{<<131,116,0,0,0,1,119,1,107,109,0,0,0,1,118>>,#{k => <<118>>},15,15,0}]}
%% expect: {map,{2,[{a,1},{b,new}],[{a,1},{b,new}],[{a,1}],2,[]}}
%% expect: {map,{1,[{a,1},{c,new}],none,[{a,1}],none,[]}}
%% expect: {map,{0,none,none,none,none,#{}}}
%% expect: {map_of,#{a => 1,[98] => 2},twice,#{},true}
%% expect: {walks,3,true,true,2}
%% expect: {walks,100,true,true,2}
%% expect: {raised,{error,{0,[119,104,121]},{nif_terms,raised,[[119,104,121]],[]}}}
%% expect: {refused,{error,badarg,{nif_terms,refused,[1,x],[]}}}
%% expect: {refused,{error,badarg,{nif_terms,refused,[2,y],[]}}}
%% expect: {much,20000,true}
%% expect: {in_processes,[1500,1500,1500]}
%% expect: [{nif_major,2},{nif_minor,16},{threads,1},{dirty,1}]
%% expect 27: [{nif_major,2},{nif_minor,17},{threads,1},{dirty,1}]
%% expect 29: [{nif_major,2},{nif_minor,18},{threads,1},{dirty,1}]
%% expect: {printed,{70,[123,97,44,34,98,34,44,60,60,49,62,62,44,91,49,46,53,48,48,48,48,48,101,43,48,48,124,99,93,125,124,32,32,32,52,50,124,97,98,32,32,124,122,124,49,50,51,52,53,54,55,56,57,48,49,124,37,124,50,46,53,48,124,32,32,32,55,124,102,102],1,[108,111,110,103,101,114,32]}}
%% expect: {nifs,24,true,true,false}
-module(nif_terms).
-export([main/0]).
-export([kinds/1, numbers/1, bad_double/1, atoms/1, new_atom/1, unknown_atom/0, lists/1, tuples/1, strings/1, order/2, inspected/1, flat/1,
         resized/1, grown/1, part/3, external/1, map_changes/3, map_of/1, map_walks/1, raised/1, refused/2, much/1, sizes/0, printed/1]).
-on_load(load/0).

load() -> erlang:load_nif(filename:join(filename:dirname(code:which(?MODULE)), "nif_terms"), 0).

kinds(_) -> erlang:nif_error(not_loaded).
numbers(_) -> erlang:nif_error(not_loaded).
bad_double(_) -> erlang:nif_error(not_loaded).
atoms(_) -> erlang:nif_error(not_loaded).
new_atom(_) -> erlang:nif_error(not_loaded).
unknown_atom() -> erlang:nif_error(not_loaded).
lists(_) -> erlang:nif_error(not_loaded).
tuples(_) -> erlang:nif_error(not_loaded).
strings(_) -> erlang:nif_error(not_loaded).
order(_, _) -> erlang:nif_error(not_loaded).
inspected(_) -> erlang:nif_error(not_loaded).
flat(_) -> ok.
resized(_) -> erlang:nif_error(not_loaded).
grown(_) -> erlang:nif_error(not_loaded).
part(_, _, _) -> erlang:nif_error(not_loaded).
external(_) -> erlang:nif_error(not_loaded).
map_changes(_, _, _) -> erlang:nif_error(not_loaded).
map_of(_) -> erlang:nif_error(not_loaded).
map_walks(_) -> erlang:nif_error(not_loaded).
raised(_) -> erlang:nif_error(not_loaded).
refused(_, _) -> erlang:nif_error(not_loaded).
much(_) -> erlang:nif_error(not_loaded).
sizes() -> erlang:nif_error(not_loaded).
printed(_) -> erlang:nif_error(not_loaded).

main() ->
    io:setopts([{encoding, unicode}]),
    Large = maps:from_list([{K, K * K} || K <- lists:seq(1, 100)]),
    Port = open_port({spawn, "cat"}, []),
    Terms = [a, <<"b">>, <<1:3>>, make_ref(), fun main/0, fun() -> Port end, self(), Port, [], [a | b], {}, {a, b}, 1, -1, 1 bsl 70, 1.5, #{}, #{a => b}, Large],
    show({kinds, [kinds(T) || T <- Terms]}),
    [show({numbers, numbers(N)}) || N <- [0, -1, 2147483647, 2147483648, -2147483648, -2147483649, 4294967295, 4294967296, 1 bsl 59, -(1 bsl 59) - 1,
                                          (1 bsl 63) - 1, 1 bsl 63, -(1 bsl 63), -(1 bsl 63) - 1, (1 bsl 64) - 1, 1 bsl 64, 2.5, a]],
    show({bad_double, outcome(fun() -> bad_double(0.0) end)}),
    show({atoms, [atoms(A) || A <- [a, '', 'with space', 'smørrebrød', list_to_atom(lists:duplicate(255, $x))] ]}),
    show({wide, atoms('λ')}),
    show({new_atom, new_atom("brand new"), new_atom([<<"a">>, 229]), outcome(fun() -> new_atom(lists:duplicate(256, $x)) end), unknown_atom()}),
    show({lists, [lists(L) || L <- [[], [a], [a, b | c], "abc", x]]}),
    show({tuples, tuples({}), tuples({a, {b}, "c"}), outcome(fun() -> tuples([]) end)}),
    show({strings, [strings(S) || S <- ["", "abc", "abcd", "abcde", [$a, 256], [a], [$a | $b], x, [229]]]}),
    show({order, [order(A, B) || {A, B} <- [{1, 1}, {1, 1.0}, {1.0, 1}, {a, 1}, {1, a}, {"abc", "abd"}, {{1, 2}, {1, 2}}, {<<"x">>, <<"x">>}, {#{a => 1}, #{a => 1}}]]}),
    binaries(),
    show({external, [external(T) || T <- [a, {1, 2.5, "x"}, #{k => <<"v">>}]]}),
    show({map, listed(map_changes(#{a => 1, b => 2}, b, new))}),
    show({map, listed(map_changes(#{a => 1}, c, new))}),
    show({map, map_changes(not_a_map, c, new)}),
    show({map_of, map_of([{a, 1}, {"b", 2}]), map_of([{a, 1}, {a, 2}]), map_of([]), map_of(maps:to_list(Large)) =:= Large}),
    [begin
         {There, Back, Ends} = map_walks(M),
         show({walks, length(There), There =:= lists:reverse(Back), lists:sort(There) =:= lists:sort(maps:to_list(M)), Ends})
     end || M <- [#{a => 1, b => 2, "c" => 3}, Large]],
    show({raised, outcome(fun() -> raised("why") end)}),
    show({refused, outcome(fun() -> refused(1, x) end)}),
    show({refused, outcome(fun() -> apply(?MODULE, refused, [2, y]) end)}),
    Much = much(20000),
    garbage_collect(),
    show({much, length(Much), lists:all(fun({N, B}) -> B =:= binary:copy(<<N:8>>, N rem 100) end, Much)}),
    show({in_processes, [receive {P, R} -> R end || P <- [spawn_link(fun() -> M = much(1000), garbage_collect(), Root ! {self(), length(M) + length(much(500))} end) || Root <- [self()], _ <- [1, 2, 3]]]}),
    show(sizes()),
    show({printed, printed({a, "b", <<1>>, [1.5 | c]})}),
    show({nifs, length(module_info(nifs)), lists:member({much, 1}, module_info(nifs)), erlang:function_exported(?MODULE, much, 1), erlang:is_builtin(?MODULE, much, 1)}).

binaries() ->
    Big = binary:copy(<<"0123456789">>, 20),
    <<_:3, Shifted:80/bitstring, _/bits>> = Big,
    Sub = binary:part(Big, 5, 100),
    [show({inspected, same(inspected(B), B)}) || B <- [<<>>, <<"abc">>, Big, Shifted, Sub, <<1:7>>, list, <<Big/binary, 1:1>>]],
    show({flat, flat("abc"), flat([<<"a">>, [$b | <<"c">>]]), flat(<<"x">>), flat([]), outcome(fun() -> flat([a]) end), outcome(fun() -> flat(a) end), byte_size(flat([Big, Big, Shifted]))}),
    show({resized, resized(5), byte_size(resized(0)), erlang:md5(resized(70000))}),
    show({grown, grown(<<"abc">>), erlang:md5(element(2, grown(Big)))}),
    show({part, part(Big, 10, 3), part(Sub, 0, 2), part(Shifted, 1, 2) =:= binary:part(Shifted, 1, 2), part(<<>>, 0, 0)}).

%% Maps in a tuple in an order of their own.
listed(T) -> list_to_tuple([if is_map(X) -> lists:sort(maps:to_list(X)); true -> X end || X <- tuple_to_list(T)]).

same({Size, A, B}, Bin) when A =:= B, A =:= Bin -> {same, Size};
same(Other, _) -> Other.

outcome(F) ->
    try F() catch Class:Reason:Stack -> {M, N, A, Info} = hd(Stack), {Class, Reason, {M, N, short(A), Info}} end.

short([L]) when length(L) > 100 -> long;
short(A) -> A.

show(T) -> io:format("~tw~n", [T]).
