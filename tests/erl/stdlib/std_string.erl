%% SPDX-License-Identifier: Apache-2.0
%% string: grapheme clusters, case, search.
-module(std_string).
-export([main/0]).

main() ->
    S = "Hello, World",
    d([string:length(S), string:uppercase(S), string:lowercase(S), string:titlecase("abc"), string:reverse("abc"), string:slice(S, 7), string:slice(S, 0, 5)]),
    d([string:split("a,b,c", ","), string:split("a,b,c", ",", all), string:split("a,b,c", ",", trailing), string:lexemes("a b  c", " "),
       string:join(["a", "b"], "-"), string:tokens("x y", " ")]),
    d([string:trim("  x "), string:trim("  x ", leading), string:trim("xxaxx", both, "x"), string:pad("ab", 5), string:pad("ab", 5, leading, $0), string:chomp("a\n")]),
    d([string:find(S, "o"), string:find(S, "o", trailing), string:find(S, "zz"), string:prefix("abc", "ab"), string:prefix("abc", "x"), string:equal("abc", "ABC", true)]),
    d([string:replace("a-b-c", "-", "+", all), string:concat("a", "b"), string:str("abcabc", "ca"), string:rstr("abcabc", "ab"), string:chr("abc", $c), string:sub_string("hello", 2, 4)]),
    d([string:to_integer("42x"), string:is_empty(""), string:next_grapheme("ab"), string:to_graphemes("abc"), string:strip(" a "), string:copies("ab", 3), string:words("a b c")]),
    U = unicode:characters_to_list(<<"E", 204, 129, "clair ", 195, 159, 32, 240, 159, 145, 168, 226, 128, 141, 240, 159, 145, 169>>),
    d([string:length(U), length(U), string:reverse(U), string:uppercase(U), string:slice(U, 0, 1)]),
    d([string:uppercase(<<"abc">>), string:lowercase([<<"AB">>, "C"]), string:length(<<"a", 204, 129>>), string:casefold("STRASSE")]),
    d(string:take("abc123", "abc")),
    d(string:nth_lexeme("a.b.c", 2, ".")).

d(T) -> erlang:display(T).

%% expect: [12,"HELLO, WORLD","hello, world","Abc","cba","World","Hello"]
%% expect: [["a","b,c"],["a","b","c"],["a,b","c"],["a","b","c"],"a-b",["x","y"]]
%% expect: ["x","x ","a",["ab",32,32,32],["000","ab"],"a"]
%% expect: ["o, World","orld",nomatch,"c",nomatch,true]
%% expect: [["a","+","b","+","c"],"ab",3,4,3,"ell"]
%% expect: [{42,"x"},true,"ab","abc","a","ababab",3]
%% expect: [10,13,[[128104,8205,128105],32,223,32,114,105,97,108,99,[69,769]],[69,769,67,76,65,73,82,32,83,83,32,128104,8205,128105],[69,769]]
%% expect: [<<"ABC">>,"abc",1,"strasse"]
%% expect: {"abc","123"}
%% expect: "b"
