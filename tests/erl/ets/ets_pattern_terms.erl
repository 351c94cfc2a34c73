%% SPDX-License-Identifier: Apache-2.0
%% ets: terms of every type in every position of a pattern, funs that hold what looks like variables and maps among them: what a fun holds
%% is data. Each line: a type, and what the functions find of an object with that term in each position, the same for all.
-module(ets_pattern_terms).
-export([main/0, main/1]).

main() ->
    Terms = terms(),
    [io:format("~s ~w~n", [Name, lists:usort([hold(Term, Place) || Place <- places()])]) || {Name, Term} <- Terms],
    [io:format("beside a variable: ~s ~w~n", [Name, lists:usort([hold_open(Term, Place) || Place <- places()])]) || {Name, Term} <- Terms].

main(X) -> X.

terms() ->
    Port = open_port({spawn, "true"}, []),
    [{"fun", holding(1)}, {"fun of a map", holding(#{a => '$1', '_' => b})}, {"fun of variables", holding(['_', {'$1', '$2'} | '$3'])},
     {"fun of a fun", holding(holding('_'))}, {"fun of nothing", fun() -> 1 end}, {"fun M:F/A", fun ?MODULE:main/1},
     {"evaluated fun", evaluate("fun() -> 1 end.")}, {"large map", maps:from_list([{{N, N}, [N]} || N <- lists:seq(1, 100)])},
     {"large map of funs", maps:from_list([{N, holding(#{N => '_'})} || N <- lists:seq(1, 100)])}, {"map", #{a => #{b => holding('$1')}}},
     {"ref", make_ref()}, {"magic ref", ets:whereis(ets:new(named, [named_table]))}, {"pid", self()}, {"port", Port},
     {"external pid", binary_to_term(<<131, 88, 119, 3, "a@b", 1:32, 2:32, 3:32>>)},
     {"external ref", binary_to_term(<<131, 90, 2:16, 119, 3, "a@b", 3:32, 1:32, 2:32>>)},
     {"bits", <<1, 2, 3:4>>}, {"part", binary:part(binary:copy(<<"abc">>, 100), 1, 270)}, {"binary", binary:copy(<<"abc">>, 100)},
     {"improper", [holding(#{}) | holding([])]}, {"integer", 1 bsl 200}, {"float", -1.5}, {"empty map", #{}}, {"empty tuple", {}}].

holding(X) -> fun() -> {X, X} end.

evaluate(Text) ->
    {ok, Tokens, _} = erl_scan:string(Text),
    {ok, Forms} = erl_parse:parse_exprs(Tokens),
    {value, F, _} = erl_eval:exprs(Forms, #{'X' => '_', 'Y' => #{a => '$1'}}),
    F.

%% An object, and the places of a term in it.
places() ->
    [fun(X) -> {X} end, fun(X) -> {key, X} end, fun(X) -> {key, [X]} end, fun(X) -> {key, [a | X]} end, fun(X) -> {[X, {X}], b} end,
     fun(X) -> {key, #{a => X}} end, fun(X) -> {key, #{X => a}} end, fun(X) -> {key, {#{b => #{a => {X}}}, X}} end, fun(X) -> {#{k => X}, b} end,
     fun(X) -> {key, maps:from_list([{N, {N, X}} || N <- lists:seq(1, 50)])} end].

hold(X, Place) -> counts(Place(X), Place(X), {const, Place(X)}).

%% The same with a variable beside it.
hold_open(X, Place) -> counts({k, Place(X), v}, {k, Place(X), '$1'}, '$1').

counts(Object, Pattern, Body) ->
    [in_table(Type, Object, Pattern, Body) || Type <- [set, ordered_set]] ++
        case ets:test_ms(Object, [{Pattern, [], [Body]}]) of {ok, false} -> [false]; {ok, _} -> [true]; {error, _} -> [error] end ++
        [length(ets:match_spec_run([Object, {other}], ets:match_spec_compile([{Pattern, [], [Body]}])))].

in_table(Type, Object, Pattern, Body) ->
    T = ets:new(t, [Type]),
    ets:insert(T, [Object, {other}, {z, other, v}]),
    Found = [length(ets:match_object(T, Pattern)), length(ets:match(T, Pattern)), length(ets:select(T, [{Pattern, [], [Body]}])),
             length(ets:select(T, [{'_', [{'=:=', '$_', {const, Object}}], ['$_']}])), ets:select_count(T, [{Pattern, [], [true]}]),
             ets:match_delete(T, Pattern), ets:info(T, size)],
    ets:delete(T),
    list_to_tuple(Found).

%% expect: fun [[{1,1,1,1,1,true,2},{1,1,1,1,1,true,2},true,1]]
%% expect: fun of a map [[{1,1,1,1,1,true,2},{1,1,1,1,1,true,2},true,1]]
%% expect: fun of variables [[{1,1,1,1,1,true,2},{1,1,1,1,1,true,2},true,1]]
%% expect: fun of a fun [[{1,1,1,1,1,true,2},{1,1,1,1,1,true,2},true,1]]
%% expect: fun of nothing [[{1,1,1,1,1,true,2},{1,1,1,1,1,true,2},true,1]]
%% expect: fun M:F/A [[{1,1,1,1,1,true,2},{1,1,1,1,1,true,2},true,1]]
%% expect: evaluated fun [[{1,1,1,1,1,true,2},{1,1,1,1,1,true,2},true,1]]
%% expect: large map [[{1,1,1,1,1,true,2},{1,1,1,1,1,true,2},true,1]]
%% expect: large map of funs [[{1,1,1,1,1,true,2},{1,1,1,1,1,true,2},true,1]]
%% expect: map [[{1,1,1,1,1,true,2},{1,1,1,1,1,true,2},true,1]]
%% expect: ref [[{1,1,1,1,1,true,2},{1,1,1,1,1,true,2},true,1]]
%% expect: magic ref [[{1,1,1,1,1,true,2},{1,1,1,1,1,true,2},true,1]]
%% expect: pid [[{1,1,1,1,1,true,2},{1,1,1,1,1,true,2},true,1]]
%% expect: port [[{1,1,1,1,1,true,2},{1,1,1,1,1,true,2},true,1]]
%% expect: external pid [[{1,1,1,1,1,true,2},{1,1,1,1,1,true,2},true,1]]
%% expect: external ref [[{1,1,1,1,1,true,2},{1,1,1,1,1,true,2},true,1]]
%% expect: bits [[{1,1,1,1,1,true,2},{1,1,1,1,1,true,2},true,1]]
%% expect: part [[{1,1,1,1,1,true,2},{1,1,1,1,1,true,2},true,1]]
%% expect: binary [[{1,1,1,1,1,true,2},{1,1,1,1,1,true,2},true,1]]
%% expect: improper [[{1,1,1,1,1,true,2},{1,1,1,1,1,true,2},true,1]]
%% expect: integer [[{1,1,1,1,1,true,2},{1,1,1,1,1,true,2},true,1]]
%% expect: float [[{1,1,1,1,1,true,2},{1,1,1,1,1,true,2},true,1]]
%% expect: empty map [[{1,1,1,1,1,true,2},{1,1,1,1,1,true,2},true,1]]
%% expect: empty tuple [[{1,1,1,1,1,true,2},{1,1,1,1,1,true,2},true,1]]
%% expect: beside a variable: fun [[{1,1,1,1,1,true,2},{1,1,1,1,1,true,2},true,1]]
%% expect: beside a variable: fun of a map [[{1,1,1,1,1,true,2},{1,1,1,1,1,true,2},true,1]]
%% expect: beside a variable: fun of variables [[{1,1,1,1,1,true,2},{1,1,1,1,1,true,2},true,1]]
%% expect: beside a variable: fun of a fun [[{1,1,1,1,1,true,2},{1,1,1,1,1,true,2},true,1]]
%% expect: beside a variable: fun of nothing [[{1,1,1,1,1,true,2},{1,1,1,1,1,true,2},true,1]]
%% expect: beside a variable: fun M:F/A [[{1,1,1,1,1,true,2},{1,1,1,1,1,true,2},true,1]]
%% expect: beside a variable: evaluated fun [[{1,1,1,1,1,true,2},{1,1,1,1,1,true,2},true,1]]
%% expect: beside a variable: large map [[{1,1,1,1,1,true,2},{1,1,1,1,1,true,2},true,1]]
%% expect: beside a variable: large map of funs [[{1,1,1,1,1,true,2},{1,1,1,1,1,true,2},true,1]]
%% expect: beside a variable: map [[{1,1,1,1,1,true,2},{1,1,1,1,1,true,2},true,1]]
%% expect: beside a variable: ref [[{1,1,1,1,1,true,2},{1,1,1,1,1,true,2},true,1]]
%% expect: beside a variable: magic ref [[{1,1,1,1,1,true,2},{1,1,1,1,1,true,2},true,1]]
%% expect: beside a variable: pid [[{1,1,1,1,1,true,2},{1,1,1,1,1,true,2},true,1]]
%% expect: beside a variable: port [[{1,1,1,1,1,true,2},{1,1,1,1,1,true,2},true,1]]
%% expect: beside a variable: external pid [[{1,1,1,1,1,true,2},{1,1,1,1,1,true,2},true,1]]
%% expect: beside a variable: external ref [[{1,1,1,1,1,true,2},{1,1,1,1,1,true,2},true,1]]
%% expect: beside a variable: bits [[{1,1,1,1,1,true,2},{1,1,1,1,1,true,2},true,1]]
%% expect: beside a variable: part [[{1,1,1,1,1,true,2},{1,1,1,1,1,true,2},true,1]]
%% expect: beside a variable: binary [[{1,1,1,1,1,true,2},{1,1,1,1,1,true,2},true,1]]
%% expect: beside a variable: improper [[{1,1,1,1,1,true,2},{1,1,1,1,1,true,2},true,1]]
%% expect: beside a variable: integer [[{1,1,1,1,1,true,2},{1,1,1,1,1,true,2},true,1]]
%% expect: beside a variable: float [[{1,1,1,1,1,true,2},{1,1,1,1,1,true,2},true,1]]
%% expect: beside a variable: empty map [[{1,1,1,1,1,true,2},{1,1,1,1,1,true,2},true,1]]
%% expect: beside a variable: empty tuple [[{1,1,1,1,1,true,2},{1,1,1,1,1,true,2},true,1]]
