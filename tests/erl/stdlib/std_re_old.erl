%% SPDX-License-Identifier: Apache-2.0
%% Patterns that PCRE 8 takes and PCRE2 by itself does not, and letters of Latin-1 in patterns of Unicode.
%% Since OTP 28 OTP has PCRE2 by itself.
%% until: 27
-module(std_re_old).
-export([main/0]).

main() ->
    [p({Pattern, catch re:run(Subject, Pattern, Options)}) || {Subject, Pattern, Options} <- [
        {"12-34z", "[\\d-z]+", []}, {"1-b", "[a\\d-b]+", []}, {"a-]", "[[:digit:]-z]]", []}, {"a]", "[\\d-]]", []},
        {"-9w", "[\\d-\\w]+", []}, {"M", "\\M", []}, {"yy", "\\y+", []},
        {[229], "\\w", [unicode]}, {[32, 229], "\\w+", [unicode]}, {[1024], "\\w", [unicode]}, {[1024], "\\w", [unicode, ucp]},
        {[233], "\\w", []}]],
    [p({Pattern, place(re:compile(Pattern))}) || Pattern <- ["[\\d-z](", "[\\d-z][\\w-y](", "[z-y]", "(", "[\\d-z"]].

%% The words for what is wrong differ.
place({error, {_, Place}}) -> Place;
place({ok, _}) -> ok.

p(T) -> io:format("~tp~n", [T]).
%% expect: {"[\\d-z]+",{match,[{0,6}]}}
%% expect: {"[a\\d-b]+",{match,[{0,3}]}}
%% expect: {"[[:digit:]-z]]",{match,[{1,2}]}}
%% expect: {"[\\d-]]",nomatch}
%% expect: {"[\\d-\\w]+",{match,[{0,3}]}}
%% expect: {"\\M",{match,[{0,1}]}}
%% expect: {"\\y+",{match,[{0,2}]}}
%% expect: {"\\w",{match,[{0,2}]}}
%% expect: {"\\w+",nomatch}
%% expect: {"\\w",nomatch}
%% expect: {"\\w",{match,[{0,2}]}}
%% expect: {"\\w",{match,[{0,1}]}}
%% expect: {"[\\d-z](",7}
%% expect: {"[\\d-z][\\w-y](",13}
%% expect: {"[z-y]",3}
%% expect: {"(",1}
%% expect: {"[\\d-z",5}
