%% SPDX-License-Identifier: Apache-2.0
%% ets: patterns made by chance over tables of every kind, maps and floats among their keys and values, and every function that takes
%% a pattern. What each finds, deletes and replaces is compared with a model of matching, written here from the reference manual.
%% Two things that the manual does not say, as the stock VM does them: a key without variables is looked up, and only then
%% matched, so that a map there does not find the maps that hold it; and 0.0 in a pattern is not -0.0, though they are =:=.
%% The stock VM matches all objects of the bucket in which it looks a key up; one that stands there by chance and holds the key's map is
%% found as well (one pair in 256). Such a surplus is counted, and must be rare.
-module(ets_generated).
-export([main/0]).

-define(TABLES, 24).
-define(PATTERNS, 14).

main() ->
    rand:seed(exsss, {25, 30, 15}),
    [io:format("~w ~w: ~s~n", [Type, Options, run_kind(Type, Options)]) ||
        Type <- [set, ordered_set, bag, duplicate_bag], Options <- [[], [compressed], [{write_concurrency, true}, {keypos, 2}]]],
    io:format("several clauses: ~s~n", [run_clauses()]),
    io:format("surplus is rare: ~w~n", [count(surplus) * 50 =< count(looked_up)]),
    io:format("cases: thousands ~w, maps looked up: hundreds ~w, found something: thousands ~w~n",
              [count(cases) > 5000, count(looked_up) > 500, count(found) > 2000]).

count(What) -> case get(What) of undefined -> 0; N -> N end.
add(What, N) -> put(What, count(What) + N).

%% ---- the kinds of tables
run_kind(Type, Options) ->
    Position = proplists:get_value(keypos, Options, 1),
    verdict([Wrong || _ <- lists:seq(1, ?TABLES), Rows <- [rows(Position)], _ <- lists:seq(1, ?PATTERNS),
                      Wrong <- check(Type, Options, Position, Rows, pattern(Rows))]).

verdict([]) -> "right";
verdict(Wrong) -> io_lib:format("~w wrong, such as ~0tP", [length(Wrong), hd(Wrong), 60]).

check(Type, Options, Position, Rows, Pattern) ->
    add(cases, 1),
    Model = model(Type, Position, [Pattern]),
    [{Name, Type, Options, Pattern, Said} || {Name, Function} <- functions(),
        Said <- [with_table(Type, Options, Rows, fun(T, Held) -> judge(Type, Function(T, Pattern, Position), Model, Held) end)],
        Said =/= ok].

with_table(Type, Options, Rows, Act) ->
    T = ets:new(t, [Type | Options]),
    ets:insert(T, Rows),
    Said = Act(T, ets:tab2list(T)),
    ets:delete(T),
    Said.

%% ---- every function: what it found, as {Bindings, Row} gives it, or what it left
functions() ->
    [{match_object, fun(T, P, _) -> {rows, forward, ets:match_object(T, P)} end},
     {match_object_limit, fun(T, P, _) -> {rows, forward, all(ets:match_object(T, P, limit()), fun ets:match_object/1)} end},
     {match, fun(T, P, _) -> {bindings, forward, ets:match(T, P)} end},
     {match_limit, fun(T, P, _) -> {bindings, forward, all(ets:match(T, P, limit()), fun ets:match/1)} end},
     {select, fun(T, P, _) -> {rows, forward, ets:select(T, [{P, [], ['$_']}])} end},
     {select_bindings, fun(T, P, _) -> {bindings, forward, ets:select(T, [{P, [], ['$$']}])} end},
     {select_limit, fun(T, P, _) -> {rows, forward, all(ets:select(T, [{P, [], ['$_']}], limit()), fun ets:select/1)} end},
     {select_reverse, fun(T, P, _) -> {rows, backward, ets:select_reverse(T, [{P, [], ['$_']}])} end},
     {select_reverse_limit, fun(T, P, _) ->
         {rows, backward, all(ets:select_reverse(T, [{P, [], ['$_']}], limit()), fun ets:select_reverse/1)} end},
     {select_andthen, fun(T, P, _) -> {rows, forward, ets:select(T, [{P, [{'andthen', true, {'orelse', false, true}}], ['$_']}])} end},
     {select_count, fun(T, P, _) -> {count, ets:select_count(T, [{P, [], [true]}])} end},
     {match_delete, fun(T, P, _) -> true = ets:match_delete(T, P), {left, ets:tab2list(T)} end},
     {select_delete, fun(T, P, _) -> N = ets:select_delete(T, [{P, [], [true]}]), {left, N, ets:tab2list(T)} end},
     {select_replace, fun(T, P, Position) ->
         N = try ets:select_replace(T, [{P, [], [replacement(Position)]}]) catch error:badarg -> badarg end,
         {replaced, Position, is_tuple(P) andalso tuple_size(P) >= Position, N, ets:tab2list(T)} end}].

limit() -> rand:uniform(4).

all('$end_of_table', _) -> [];
all({Some, Continuation}, Next) -> Some ++ all(Next(Continuation), Next).

replacement(1) -> {{{element, 1, '$_'}, replaced}};
replacement(2) -> {{replaced, {element, 2, '$_'}}}.

replaced(1, Row) -> {element(1, Row), replaced};
replaced(2, Row) -> {replaced, element(2, Row)}.

%% ---- is it what the model says?
%% Model(Row) gives no, {yes, Bindings}, or {surplus, Bindings}: it matches, but its key is not the one that is looked up.
judge(Type, Answer, Model, Held) ->
    Found = [{Row, Bindings} || Row <- Held, {yes, Bindings} <- [Model(Row)]],
    Surplus = [{Row, Bindings} || Row <- Held, {surplus, Bindings} <- [Model(Row)]],
    add(found, length(Found)),
    add(looked_up, min(1, length(Surplus))),
    case agrees(Type, Answer, Model, Found, Held) of
        true -> ok;
        false when Surplus =/= [], Type =/= ordered_set -> judge_surplus(Type, Answer, Model, Found, Surplus, Held);
        false -> {Answer, instead_of, Found, in, Held}
    end.

judge_surplus(Type, Answer, Model, Found, Surplus, Held) ->
    add(surplus, 1),
    case lists:any(fun(More) -> agrees(Type, Answer, Model, Found ++ More, Held) end, subsets(Surplus)) of
        true -> ok;
        false -> {Answer, instead_of, Found, in, Held}
    end.

subsets([]) -> [[]];
subsets([Row | Rows]) -> [Some || Less <- subsets(Rows), Some <- [Less, [Row | Less]]].

agrees(Type, {rows, Way, Rows}, _, Found, _) -> same(Type, Way, Rows, [Row || {Row, _} <- Found]);
agrees(Type, {bindings, Way, All}, _, Found, _) -> same(Type, Way, All, [Bindings || {_, Bindings} <- Found]);
agrees(_, {count, N}, _, Found, _) -> N =:= length(Found);
agrees(_, {left, Left}, _, Found, Held) -> bits(Left) =:= bits(Held) -- bits([Row || {Row, _} <- Found]);
agrees(Type, {left, N, Left}, Model, Found, Held) -> N =:= length(Found) andalso agrees(Type, {left, Left}, Model, Found, Held);
agrees(Type, {replaced, _, KeepsKey, badarg, Left}, Model, _, Held) ->
    (Type =:= bag orelse not KeepsKey) andalso agrees(Type, {left, Left}, Model, [], Held);
agrees(Type, {replaced, Position, KeepsKey, N, Left}, _, Found, Held) ->
    Rows = [Row || {Row, _} <- Found],
    Type =/= bag andalso KeepsKey andalso N =:= length(Rows) andalso
        bits(Left) =:= lists:sort((bits(Held) -- bits(Rows)) ++ bits([replaced(Position, Row) || Row <- Rows])).

%% What was expected comes in the order of the table: of its keys, for an ordered set.
same(ordered_set, forward, All, Expected) -> bits_in_order(All) =:= bits_in_order(Expected);
same(ordered_set, backward, All, Expected) -> bits_in_order(All) =:= bits_in_order(lists:reverse(Expected));
same(_, _, All, Expected) -> bits(All) =:= bits(Expected).

%% 0.0 and -0.0 are told apart, and have an order.
bits_in_order(Terms) -> [term_to_binary(Term) || Term <- Terms].

bits(Terms) -> lists:sort(bits_in_order(Terms)).

%% ---- the model
model(Type, Position, Patterns) ->
    fun(Row) -> first([model(Type, Position, Pattern, Row) || Pattern <- Patterns]) end.

first([]) -> no;
first([no | More]) -> first(More);
first([Yes | _]) -> Yes.

model(Type, Position, Pattern, Row) ->
    case match(Pattern, Row, #{}) of
        no -> no;
        Bindings ->
            Values = [maps:get(Variable, Bindings) || Variable <- ['$1', '$2', '$10'], is_map_key(Variable, Bindings)],
            case is_tuple(Pattern) andalso is_ground(element(Position, Pattern)) of
                false -> {yes, Values};
                true ->
                    case same_key(Type, element(Position, Pattern), element(Position, Row)) of
                        true -> {yes, Values};
                        false -> {surplus, Values}
                    end
            end
    end.

same_key(ordered_set, A, B) -> A == B;
same_key(_, A, B) -> A =:= B.

is_ground(Term) when is_atom(Term) -> Term =/= '_' andalso variable(Term) =:= no;
is_ground([Head | Tail]) -> is_ground(Head) andalso is_ground(Tail);
is_ground(Term) when is_tuple(Term) -> is_ground(tuple_to_list(Term));
is_ground(Term) when is_map(Term) -> not opens_map_keys() andalso is_ground(maps:to_list(Term));
is_ground(_) -> true.

%% On OTP 27 a map in a key is a pattern, too.
opens_map_keys() -> list_to_integer(erlang:system_info(otp_release)) >= 27.

variable(Term) when Term =:= '$1'; Term =:= '$2'; Term =:= '$10' -> Term;
variable(_) -> no.

match('_', _, Bindings) -> Bindings;
match(Pattern, Term, Bindings) when is_atom(Pattern) ->
    case {variable(Pattern), Bindings} of
        {no, _} when Pattern =:= Term -> Bindings;
        {no, _} -> no;
        {_, #{Pattern := Bound}} when Bound =:= Term -> Bindings;
        {_, #{Pattern := _}} -> no;
        _ -> Bindings#{Pattern => Term}
    end;
match([P | Ps], [T | Ts], Bindings) ->
    case match(P, T, Bindings) of no -> no; More -> match(Ps, Ts, More) end;
match(Pattern, Term, Bindings) when is_tuple(Pattern), is_tuple(Term), tuple_size(Pattern) =:= tuple_size(Term) ->
    match(tuple_to_list(Pattern), tuple_to_list(Term), Bindings);
match(Pattern, Term, Bindings) when is_map(Pattern), is_map(Term) ->
    match_pairs(lists:sort(maps:to_list(Pattern)), Term, Bindings);
match(Pattern, Term, Bindings) when is_float(Pattern), is_float(Term) ->
    case <<Pattern/float>> =:= <<Term/float>> of true -> Bindings; false -> no end;
match(Pattern, Term, Bindings) when is_list(Pattern), Pattern =/= []; is_tuple(Pattern); is_map(Pattern); is_float(Pattern) ->
    _ = Term, _ = Bindings, no;
match(Pattern, Term, Bindings) -> case Pattern =:= Term of true -> Bindings; false -> no end.

match_pairs([], _, Bindings) -> Bindings;
match_pairs([{Key, Pattern} | Pairs], Term, Bindings) ->
    case Term of
        #{Key := Value} -> case match(Pattern, Value, Bindings) of no -> no; More -> match_pairs(Pairs, Term, More) end;
        _ -> no
    end.

%% ---- several clauses: what one names is looked up, what another leaves open is searched for
run_clauses() ->
    verdict([Wrong || Type <- [set, ordered_set, bag, duplicate_bag], _ <- lists:seq(1, ?TABLES), Rows <- [rows(1)],
                      _ <- lists:seq(1, ?PATTERNS), Wrong <- check_clauses(Type, Rows, [pattern(Rows) || _ <- lists:seq(1, 1 + rand:uniform(3))])]).

%% Whatever a clause finds alone is found; what is found matches some clause.
check_clauses(Type, Rows, Patterns) ->
    Model = model(Type, 1, Patterns),
    add(cases, 1),
    with_table(Type, [], Rows, fun(T, Held) ->
        Spec = [{Pattern, [], ['$_']} || Pattern <- Patterns],
        Found = ets:select(T, Spec),
        Surplus = [Row || Row <- Found, Model(Row) =:= no],
        Missed = [Row || Row <- Held, Pattern <- Patterns, {yes, _} <- [model(Type, 1, Pattern, Row)], not lists:member(Row, Found)],
        Backward = all(ets:select_reverse(T, Spec, limit()), fun ets:select_reverse/1),
        True = [{Pattern, [], [true]} || Pattern <- Patterns],
        Counts = [ets:select_count(T, True), ets:select_delete(T, True)],
        Left = ets:tab2list(T),
        case {Surplus, Missed, bits(Backward), Counts, bits(Left ++ Found)} =:=
             {[], [], bits(Found), [length(Found), length(Found)], bits(Held)} of
            true -> [];
            false -> [{Type, Patterns, Found, Surplus, Missed, Backward, Counts, Left, in, Held}]
        end
    end).

%% ---- rows and patterns by chance
rows(Position) -> [row(Position) || _ <- lists:seq(1, 6 + rand:uniform(14))].

row(Position) -> list_to_tuple([term(3) || _ <- lists:seq(1, Position - 1 + rand:uniform(2))]).

one_of(List) -> lists:nth(rand:uniform(length(List)), List).

%% Few values, so that they meet.
term(0) -> one_of([a, b, 0, 1, 2, zero(""), zero("-"), 1.0, 2.0, -1.5, <<"a">>, <<1:3>>, 1 bsl 70, -(1 bsl 70), [], {}, #{}, 'X']);
term(Depth) ->
    case rand:uniform(12) of
        N when N =< 5 -> term(0);
        6 -> [term(Depth - 1) || _ <- lists:seq(1, rand:uniform(2))];
        7 -> [term(Depth - 1) | term(Depth - 1)];
        N when N =< 9 -> list_to_tuple([term(Depth - 1) || _ <- lists:seq(1, rand:uniform(2))]);
        10 -> large_map(rand:uniform(2));
        _ -> maps:from_list([{term(min(1, Depth - 1)), term(Depth - 1)} || _ <- lists:seq(1, rand:uniform(3))])
    end.

zero(Sign) -> list_to_float(Sign ++ "0.0").

%% Some hold the others.
large_map(N) -> maps:from_list([{Key, Key rem 2} || Key <- lists:seq(1, 38 + N)]).

%% Most patterns come from a row: something of it is left open, taken from a map, or made another.
pattern(Rows) ->
    case rand:uniform(20) of
        1 -> one_of(['_', '$1', term(2)]);
        2 -> row(1);
        _ -> list_to_tuple([from_element(Element) || Element <- tuple_to_list(one_of(Rows))])
    end.

from_element(Element) ->
    case rand:uniform(5) of
        1 -> Element;
        2 -> opened();
        3 -> narrowed(Element);
        _ -> patterned(Element, 4)
    end.

opened() -> one_of(['_', '_', '$1', '$1', '$2', '$10']).

%% A map that the term's own holds; nothing is left open.
narrowed(Map) when is_map(Map), map_size(Map) > 0 -> maps:remove(hd(lists:sort(maps:keys(Map))), Map);
narrowed(Tuple) when is_tuple(Tuple) -> list_to_tuple([narrowed(Element) || Element <- tuple_to_list(Tuple)]);
narrowed(Term) -> other(Term).

%% What is == to it, or =:= to it, and still another.
other(Term) when Term == 0 -> one_of([0, zero(""), zero("-")]);
other(1) -> 1.0;
other(1.0) -> 1;
other(Term) -> Term.

patterned(Term, Depth) ->
    case rand:uniform(6) of
        1 -> opened();
        2 -> other(Term);
        _ when Depth =:= 0 -> Term;
        _ when is_tuple(Term) -> list_to_tuple([patterned(Element, Depth - 1) || Element <- tuple_to_list(Term)]);
        _ when is_map(Term) ->
            Pairs = lists:sort(maps:to_list(narrowed_sometimes(Term))),
            maps:from_list([{Key, patterned(Value, Depth - 1)} || {Key, Value} <- Pairs]);
        _ when is_list(Term), Term =/= [] -> [patterned(hd(Term), Depth - 1) | patterned(tl(Term), Depth - 1)];
        _ -> Term
    end.

narrowed_sometimes(Map) -> case rand:uniform(2) of 1 -> Map; _ when map_size(Map) > 0 -> narrowed(Map); _ -> Map end.

%% expect: set []: right
%% expect: set [compressed]: right
%% expect: set [{write_concurrency,true},{keypos,2}]: right
%% expect: ordered_set []: right
%% expect: ordered_set [compressed]: right
%% expect: ordered_set [{write_concurrency,true},{keypos,2}]: right
%% expect: bag []: right
%% expect: bag [compressed]: right
%% expect: bag [{write_concurrency,true},{keypos,2}]: right
%% expect: duplicate_bag []: right
%% expect: duplicate_bag [compressed]: right
%% expect: duplicate_bag [{write_concurrency,true},{keypos,2}]: right
%% expect: several clauses: right
%% expect: surplus is rare: true
%% expect: cases: thousands true, maps looked up: hundreds true, found something: thousands true
%% expect 27: cases: thousands true, maps looked up: hundreds false, found something: thousands true
