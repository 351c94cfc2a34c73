%% SPDX-License-Identifier: Apache-2.0
%% Bit syntax: integers of constant sizes, at every kind of place and of every kind, put and matched by code that is compiled here.
-module(lang_bits_sizes).
-export([main/0]).

main() ->
    Sizes = [1, 3, 7, 8, 12, 16, 17, 31, 32, 40, 56, 57, 59, 60, 63, 64, 65],
    Kinds = ["big", "little", "signed", "little-signed"],
    Places = [0, 3, 7],
    All = [{S, K, P} || K <- Kinds, S <- Sizes, P <- Places],
    load(["-module(made).\n-export([f/4]).\n" | lists:join(";\n", [clause(Each) || Each <- All])] ++ ".\n"),
    Values = [0, 1, -1, 16#123456789ABCDEF, -16#123456789ABCDEF, 1 bsl 58, -(1 bsl 59), 1 bsl 59, (1 bsl 70) - 12345, 85],
    [erlang:display({K, erlang:phash2([made:f({S, P}, K, V, B) || {S, K1, P} <- All, K1 =:= K, V <- Values, B <- [<<>>, <<1>>, <<6:3>>]])})
     || K <- Kinds],
    erlang:display(made:f({12, 3}, "little", 16#ABC, <<2:2>>)),
    erlang:display(grown(40, <<>>)),
    erlang:display([catch made:f({7, 3}, "big", X, <<>>) =:= x || X <- [a, 1.0]] =/= [false, false]),
    %% What was there stays as it was when the same bits are appended to twice.
    A = grown(9, <<>>), B = <<A/bits, 1:3>>, C = <<A/bits, 6:3>>,
    erlang:display({bit_size(A), B =:= C, <<A/bits, 1:3>> =:= B, C, erlang:phash2(A)}).

clause({S, K, P}) ->
    io_lib:format("f({~w, ~w}, ~p, X, B) -> P = <<5:~w, X:~w/~s>>, <<_:~w, Y:~w/~s, _/bits>> = <<P/bits, 0:77>>, <<_:~w, Z:~w/~s>> = P,"
                  " Q = <<B/bits, X:~w/~s>>, R = <<Q/bits, X:~w/~s, 1:1>>, T = <<Q/bits, 2:2>>, {P, Y, Z, Q, R, T, <<5:~w, X:~w/~s, 9:~w, \"ab\">>}",
                  [S, P, K, P, S, K, P, S, K, P, S, K, S, K, S, K, P, S, K, 64 - (P + S) rem 8]).

grown(0, B) -> B;
grown(N, B) -> grown(N - 1, <<B/bits, N:7, (N band 1):1, N:5/little>>).

load(Text) ->
    {ok, Tokens, _} = erl_scan:string(lists:flatten(Text)),
    {ok, made, Code} = compile:forms(forms(Tokens, [])),
    {module, made} = code:load_binary(made, "made", Code).

forms([], _) -> [];
forms([{dot, _} = Dot | Rest], Form) ->
    {ok, Parsed} = erl_parse:parse_form(lists:reverse(Form, [Dot])),
    [Parsed | forms(Rest, [])];
forms([Token | Rest], Form) -> forms(Rest, [Token | Form]).

%% expect: {"big",20232324}
%% expect: {"little",81979100}
%% expect: {"signed",102011170}
%% expect: {"little-signed",101369547}
%% expect: {<<183,74:7>>,2748,2748,<<175,10:6>>,<<175,42,242,5:3>>,<<175,42>>,<<183,148,0,0,0,0,0,0,9,97,98>>}
%% expect: <<80,66,121,211,12,150,84,130,35,141,16,72,97,64,1,255,207,60,119,211,142,27,236,211,70,121,48,193,125,203,44,87,82,138,19,204,146,68,113,32,128,251,199,28,54,209,134,11,172,81,66,105,16,64,121,195,12,22,80,130,3,140,16,64,97>>
%% expect: true
%% expect: {117,false,true,<<19,72,130,3,206,24,96,178,132,16,28,96,130,3,14>>,55424567}
