%% SPDX-License-Identifier: Apache-2.0
%% Modules that a generator writes, the same on every VM: calls of their functions have the same results, the same
%% exceptions at the same lines, and the same functions on the stack, whoever runs them and however.
-module(lang_generated).
-export([main/0, each_call/2]).
%% until: 26
-define(MODULES, 12).
-define(FUNCTIONS, 10).
-define(CALLS, 6).

main() ->
    [io:format("~w ~w~n", [N, digest(N)]) || N <- lists:seq(1, ?MODULES)].

digest(N) -> each_call(N, fun(M, F, Args, Hash) -> erlang:phash2({Hash, outcome(M, F, Args)}, 1 bsl 32) end).

%% Folds Do over the calls of the N-th module, which is loaded before and purged behind.
each_call(N, Do) ->
    Name = list_to_atom("lang_generated_" ++ integer_to_list(N)),
    {Text, Seed} = module_text(Name, N * 7919 + 23),
    {ok, Name, Code, _} = compile:forms(forms(Text), [return]),
    {module, Name} = code:load_binary(Name, "generated", Code),
    {Hash, _} = lists:foldl(fun(F, Acc) -> calls(Do, Name, F, ?CALLS, Acc) end, {0, Seed}, lists:seq(1, ?FUNCTIONS)),
    code:delete(Name),
    code:purge(Name),
    Hash.

calls(_, _, _, 0, Acc) -> Acc;
calls(Do, M, F, Left, {Hash, Seed}) ->
    {Args, Seed1} = lists:mapfoldl(fun argument/2, Seed, ["iiiiingf", "llllllib", "ingfltmsb"]),
    Function = list_to_atom("f" ++ integer_to_list(F)),
    calls(Do, M, F, Left - 1, {Do(M, Function, [3 | Args], Hash), Seed1}).

outcome(M, F, Args) ->
    try {value, apply(M, F, Args)}
    catch Class:Reason:Stack ->
        {Class, Reason, [{G, if is_list(A) -> length(A); true -> A end, proplists:get_value(line, At)} || {Mod, G, A, At} <- Stack, Mod =:= M]}
    end.

%% ---- arguments

argument(Types, S) ->
    {Type, S1} = pick(Types, S),
    {V, S2} = random(1000, S1),
    {case Type of
         $i -> V - 500;
         $n -> (1 bsl 59) - V;
         $g -> (V bsl 70) - 3;
         $f -> V / 8;
         $l -> lists:seq(1, V rem 9);
         $t -> {ok, V, [V]};
         $m -> #{a => V, {b} => V rem 3, 3 => x};
         $s -> <<V:16, V:3>>;
         $b -> binary:copy(<<(V rem 256), "text">>, V rem 20)
     end, S2}.

%% ---- text

module_text(Name, Seed) ->
    {Functions, S} = lists:mapfoldl(fun function/2, Seed, lists:seq(1, ?FUNCTIONS)),
    {[["-module(", atom_to_list(Name), ").\n-compile(export_all).\n"], Functions,
      "catch_all(I, F) -> try F() of X -> {X, I} catch C:R -> {C, R, I} end.\n"
      "where() ->\n {current_stacktrace, S} = process_info(self(), current_stacktrace),\n [{F, A} || {M, F, A, _} <- S, M =:= ", atom_to_list(Name), "].\n"], S}.

%% Fuel goes down at each call, of itself or of one before it. A mostly is an integer, B a list of them, C anything.
function(N, S) ->
    {G, S1} = pick(["is_integer(A)", "A < 0", "is_list(C), length(C) > 2", "element(1, C) =:= ok", "is_map_key(a, C)", "byte_size(C) > 3",
                    "A =/= 3, not is_float(A)", "tuple_size(C) > 1; hd(B) > 1", "abs(A) > 250", "A == hd(B) orelse A > C"], S),
    {Clauses, S2} = expand("(0, A, _, _) ->\n A;\n$f(Fuel, A, B, C) when " ++ G ++ " ->\n D = {$i, $l, $a},\n $i;\n"
                           "$f(Fuel, A, B, C) ->\n D = {A, B},\n $i.\n", 5, N, S1),
    {[name(N), Clauses], S2}.

name(N) -> "f" ++ integer_to_list(N).

%% What an expression may be, by its type: integer, list, tuple, map, binary, anything. $v is a variable of its own, $f
%% the function, $g one before it.
templates($i) ->
    ["($i + $i)", "($i - $i)", "($i * $i)", "($i div $i)", "($i rem 7)", "($i band $i)", "($i bor 255)", "($i bxor $i)", "($i bsl 3)", "($i bsr 2)",
     "(- $i)", "abs($i)", "(bnot $i)", "length($l)", "hd($l)", "byte_size($b)", "tuple_size($t)", "element(1, $t)", "map_size($m)", "maps:get(a, $m)",
     "lists:sum($l)", "lists:nth(1, $l)", "max($i, $i)", "trunc($i / 3)", "binary:at($b, 0)", "map_get(a, $m)", "binary_to_integer(integer_to_binary($i))",
     "case $i < $i of\n true -> $i;\n false -> $i end", "case $i of 3 -> $i; 255 -> 1; $v when $v > 4 -> $v - 1; _ -> $i end",
     "case $a of\n {ok, $v, _} -> $v;\n [$v | _] -> $v;\n #{a := $v} -> $v;\n <<$v:12, _/bits>> -> $v;\n $v when is_float($v) -> trunc($v * 2.5 + 1);\n _ -> $i end",
     "(fun($v) -> $v * 2 + length($l) end)($i)", "$f(Fuel - 1, $i, $l, $a)", "$f(Fuel - 1, $i,\n $l, $a)", "$g(Fuel - 1, $i, $l, $a)",
     "try $i of $v -> $v + 1\n catch error:badarg -> 1; error:$ve -> length(B) end", "begin $v = $i, [_, _ | _] = [$v | $l], $v end",
     "lists:foldl(fun($v, $vs) -> $v + $vs end, $i, $l)", "if Fuel > 1 -> $i; true -> $i end", "(catch $i)"];
templates($l) ->
    ["[$i | $l]", "[$v + 1 || $v <- $l, $v =/= $i]", "lists:reverse($l)", "lists:sort($l)", "($l ++ $l)", "($l -- $l)", "binary_to_list($b)",
     "[$i, $i]", "tl($l)", "lists:delete($i, $l)", "lists:seq(1, abs($i) rem 9)", "[$v || {_, $v} <- maps:to_list($m), is_integer($v)]",
     "case $l of [$v, _ | $vt] -> [$v | $vt]; [] -> [$i]; $vx -> $vx end", "[$v || <<$v>> <= $b]", "lists:map(fun($v) -> $v rem 5 end, $l)"];
templates($t) ->
    ["{$i, $a, $l}", "{ok, $i}", "setelement(2, $t, $a)", "list_to_tuple([$i | $l])", "{$i, $b, $m, $a}", "erlang:append_element($t, $i)"];
templates($m) ->
    ["#{a => $i, b => $a}", "#{a => $i, {c} => $l, 3 => $i}", "($m)#{c => $a}", "($m)#{a := $i}", "maps:put(b, $a, $m)", "maps:remove(b, $m)",
     "maps:merge($m, #{a => $i})", "maps:from_list([{$v, 1} || $v <- [a | $l]])"];
templates($b) ->
    ["<<($i):16, ($b)/binary>>", "integer_to_binary($i)", "<< <<($v band 255)>> || $v <- $l>>", "<<($i):3, ($i):13>>", "binary:copy($b, 2)",
     "binary_part($b, 0, 1)", "term_to_binary($a)", "case $b of <<_, $v/binary>> -> $v; $v -> $v end"];
templates($a) ->
    ["$i", "$l", "$t", "$m", "$b", "{where(), $i}", "(catch $t)", "($i / $i)", "(float($i) * 0.5)", "lists:keyfind($i, 1, [$t, {1, 2}])",
     "try {$i, $l}\n catch _:$v -> {$v, $i} end", "(catch throw($t))", "catch_all($i, fun() -> $a end)", "is_function($a)"].

leaves($i) -> ["A", "A", "Fuel", "0", "1", "-77", "255", "4294967296", "576460752303423487", "hd([A | B])"];
leaves($l) -> ["B", "B", "[]", "[1, 2, 3]", "[A, Fuel]"];
leaves($t) -> ["{A, B}", "{ok, 2, []}", "{A, C, 3}"];
leaves($m) -> ["#{a => 1}", "#{a => A, b => B}"];
leaves($b) -> ["<<1, 2, 3, 4>>", "<<\"abc\">>", "<<Fuel, 7:16>>"];
leaves($a) -> ["A", "B", "C", "three", "1.5"].

%% Now and then one of another type.
expression(Depth, Type, N, S) ->
    {Other, S1} = random(60, S),
    {Of, S2} = case Other of 0 -> pick("iltmba", S1); _ -> {Type, S1} end,
    {Template, S3} = pick(if Depth =< 0 -> leaves(Of); true -> templates(Of) end, S2),
    expand(Template, Depth, N, S3).

%% No state comes twice, so that no variable's name does.
expand(Template, Depth, N, S) ->
    {_, S1} = random(1, S),
    expand(Template, Depth, N, "V" ++ integer_to_list(S), S1).

expand([$$, $v | Rest], Depth, N, V, S) -> put_before(V, expand(Rest, Depth, N, V, S));
expand([$$, $f | Rest], Depth, N, V, S) -> put_before(name(N), expand(Rest, Depth, N, V, S));
expand([$$, $g | Rest], Depth, N, V, S) ->
    {F, S1} = random(max(1, N - 1), S),
    put_before(name(F + 1), expand(Rest, Depth, N, V, S1));
expand([$$, Type | Rest], Depth, N, V, S) ->
    {Less, S1} = random(3, S),
    {Text, S2} = expression(Depth - 1 - Less div 2, Type, N, S1),
    put_before(Text, expand(Rest, Depth, N, V, S2));
expand([C | Rest], Depth, N, V, S) -> put_before(C, expand(Rest, Depth, N, V, S));
expand([], _, _, _, S) -> {[], S}.

put_before(Text, {Rest, S}) -> {[Text | Rest], S}.

%% ---- numbers of our own, as a release may have others

random(N, S) -> {(S bsr 16) rem N, (S * 1103515245 + 12345) band 16#7fffffff}.
pick(List, S) ->
    {N, S1} = random(length(List), S),
    {lists:nth(N + 1, List), S1}.

forms(Text) ->
    {ok, Tokens, _} = erl_scan:string(lists:flatten(Text), 1),
    [begin {ok, F} = erl_parse:parse_form(T), F end || T <- split(Tokens, [])].

split([], []) -> [];
split([{dot, _} = Dot | Rest], Form) -> [lists:reverse([Dot | Form]) | split(Rest, [])];
split([Token | Rest], Form) -> split(Rest, [Token | Form]).

%% expect: 1 3426726445
%% expect: 2 4101162341
%% expect: 3 1061838328
%% expect: 4 2572369725
%% expect: 5 2689787837
%% expect: 6 2709412861
%% expect: 7 599513126
%% expect: 8 1496674227
%% expect: 9 4235638922
%% expect: 10 2458786146
%% expect: 11 3792043512
%% expect: 12 2115538883
