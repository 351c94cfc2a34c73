%% SPDX-License-Identifier: Apache-2.0
%% Calls what is pure with random terms of the right types, large and odd ones among them, and writes what comes out.
%% The same seed makes the same terms on every VM.
%%   run OUT ROUNDS TEXT    the works whose names TEXT is in; OUT: "NAME ROUND DIGEST RESULT", a line a call
-module(native_values).
-export([run/1, show/2]).

run([Out, Rounds, Text]) ->
    {ok, Log} = file:open(Out, [write, raw, delayed_write]),
    [ok = file:write(Log, line(Name, Work, Round)) || {Name, Work} <- works(), string:find(atom_to_list(Name), Text) =/= nomatch,
                                                      Round <- lists:seq(1, list_to_integer(Rounds))],
    ok = file:write(Log, "end\n"),
    ok = file:close(Log),
    erlang:halt(0).

line(Name, Work, Round) ->
    Result = result(Name, Work, Round),
    Whole = term_to_binary(Result, [{minor_version, 2}]),
    Shown = unicode:characters_to_binary(io_lib:format("~0P", [Result, 40])),
    [atom_to_list(Name), $\s, integer_to_list(Round), $\s, binary:encode_hex(erlang:md5(Whole)), $\s, binary:part(Shown, 0, min(300, byte_size(Shown))), $\n].

%% For whoever looks for a difference: the whole result of one round.
show(Name, Round) -> result(Name, proplists:get_value(Name, works()), Round).

result(Name, Work, Round) ->
    rand:seed(exsss, {erlang:phash2(Name), Round, 23}),
    plain(Work()).

%% What is in maps, in an order that tells 1 from 1.0.
plain(X) when is_map(X) -> {map, [{K, V} || {_, K, V} <- lists:sort([{term_to_binary(plain(K)), plain(K), plain(V)} || {K, V} <- maps:to_list(X)])]};
plain(X) when is_tuple(X) -> list_to_tuple(plain(tuple_to_list(X)));
plain([H | T]) -> [plain(H) | plain(T)];
plain(X) -> X.

try_all(Funs) -> [tried(F) || F <- Funs].

tried(F) ->
    try F()
    catch Class:Reason:Stack -> {Class, Reason, top(Stack)}
    end.

top([{M, F, A, _} | _]) when M =/= ?MODULE -> {M, F, if is_list(A) -> length(A); true -> A end};
top(_) -> here.

works() ->
    numbers() ++ hashes() ++ external() ++ lists_of_terms() ++ maps_of_terms() ++ binaries() ++ bits() ++ characters() ++ formats() ++ others().

%% ---- numbers
numbers() ->
    [{integers, fun() ->
         {A, B} = {integer(), integer()},
         try_all([fun() -> A + B end, fun() -> A - B end, fun() -> A * B end, fun() -> A div B end, fun() -> A rem B end, fun() -> A band B end,
                  fun() -> A bor B end, fun() -> A bxor B end, fun() -> bnot A end, fun() -> -A end, fun() -> abs(A) end, fun() -> A / B end,
                  fun() -> {A < B, A =< B, A == B, A =:= B, min(A, B), max(A, B)} end, fun() -> float(A) end,
                  fun() -> math:sqrt(A) end, fun() -> (A * B) div B end, fun() -> (A * B + 1) rem B end])
     end},
     {shifts, fun() ->
         {A, N} = {integer(), uniform(300) - 150},
         {A bsl N, A bsr N, (A bsl abs(N)) bsr abs(N), 1 bsl abs(N), -1 bsr abs(N), tried(fun() -> A bsl integer() bsr 1 end) =:= x}
     end},
     {numbers, fun() ->
         {A, B} = {number(), number()},
         try_all([fun() -> A + B end, fun() -> A - B end, fun() -> A * B end, fun() -> A / B end, fun() -> trunc(A) end, fun() -> round(A) end,
                  fun() -> ceil(A) end, fun() -> floor(A) end, fun() -> {A < B, A == B, A =:= B, A =< B} end, fun() -> abs(A) end,
                  fun() -> max(A, B) end, fun() -> min(A, B) end])
     end},
     {near_integers, fun() ->
         I = integer(), F = (catch float(I)),
         try_all([fun() -> {F < I, F == I, F > I, I + 1 < F, I - 1 > F} end, fun() -> trunc(F) end, fun() -> round(F) - I end,
                  fun() -> #{I => a, F => b} end, fun() -> lists:sort([F, I + 1, I, I - 1]) end, fun() -> erlang:phash2({I, F}) end])
     end},
     {math, fun() ->
         {A, B} = {number(), number()},
         [{F, tried(fun() -> math:F(A) end)} || F <- [sqrt, floor, ceil, log2, log10, log, exp, sin, cos, tan, asin, acos, atan, sinh, cosh, tanh, asinh, acosh, atanh, erf, erfc]]
             ++ [{F, tried(fun() -> math:F(A, B) end)} || F <- [pow, atan2, fmod]]
     end},
     {integer_text, fun() ->
         {I, Base} = {integer(), 1 + uniform(35)},
         Text = integer_to_list(I, Base),
         {Text, integer_to_list(I), integer_to_binary(I), integer_to_binary(I, Base), list_to_integer(Text, Base) =:= I,
          binary_to_integer(list_to_binary(Text), Base) =:= I, list_to_integer("+" ++ integer_to_list(abs(I))),
          try_all([fun() -> list_to_integer(damaged(Text), Base) end, fun() -> binary_to_integer(list_to_binary(damaged(Text))) end,
                   fun() -> string:to_integer(damaged(Text)) end])}
     end},
     {float_text, fun() -> % without decimals, erl's compact drops zeros of whole numbers: docs/vm.md
         {F, D} = {real(), uniform(40) - 1},
         try_all([fun() -> float_to_list(F) end, fun() -> float_to_list(F, [short]) end, fun() -> float_to_binary(F, [{decimals, D}]) end,
                  fun() -> float_to_binary(F, [{decimals, max(1, D)}, compact]) end, fun() -> float_to_list(F, [{scientific, D}]) end,
                  fun() -> float_to_list(F, [compact, {decimals, 253 - D}]) end, fun() -> float_to_list(F, [{scientific, 249 - D}]) end,
                  fun() -> list_to_float(float_to_list(F, [short])) =:= F end, fun() -> binary_to_float(float_to_binary(F)) end,
                  fun() -> list_to_float(damaged(float_to_list(F))) end, fun() -> string:to_float(damaged(float_to_list(F, [short]))) end,
                  fun() -> io_lib:format("~p ~w ~e ~g", [F, F, F, F]) end])
     end},
     {decimals, fun() ->
         Text = [digits(1 + uniform(25)), $., digits(1 + uniform(30)), pick(["", ["e", integer_to_list(uniform(700) - 350)], "E+5"])],
         Flat = lists:flatten(Text),
         try_all([fun() -> list_to_float(Flat) end, fun() -> binary_to_float(list_to_binary(Flat)) end, fun() -> erl_scan:string(Flat ++ ".") end])
     end},
     {number_bits, fun() ->
         {I, S, F} = {integer(), uniform(200), real()},
         try_all([fun() -> <<I:S>> end, fun() -> <<I:S/little>> end, fun() -> <<1:1, I:S/little, 0:3>> end, fun() -> <<I:S/signed-native, F/float>> end,
                  fun() -> <<X:S/signed>> = <<I:S>>, X end, fun() -> <<_:3, X:S/signed-little, _/bits>> = <<5:3, I:S/little, 7:9>>, X end,
                  fun() -> <<X:S/little>> = <<I:S/little>>, X end, fun() -> <<F:32/float>> end, fun() -> <<F:16/float, F:64/little-float>> end,
                  fun() -> <<X:32/float>> = <<F:32/float>>, X end, fun() -> <<_:5, X:64/float-little, _:2>> = <<0:5, F:64/float-little, 0:2>>, X =:= F end,
                  fun() -> <<X:64/float>> = random_bytes(8), X end, fun() -> <<X:16/float>> = random_bytes(2), X end])
     end},
     {unsigned, fun() ->
         {B, I} = {aligned(binary_of(uniform(100))), abs(integer())},
         {binary:decode_unsigned(B), binary:decode_unsigned(odd(B), little), binary:encode_unsigned(I), binary:encode_unsigned(I, little)}
     end}].

%% ---- hashes and checksums
hashes() ->
    [{phash2, fun() -> T = any(4), {erlang:phash2(T), erlang:phash2(T, 1 + uniform(1 bsl 32 - 1)), erlang:phash2({T, T}), erlang:phash2([T | T])} end},
     {phash, fun() -> T = any(4), {erlang:phash(T, 1 bsl 32), erlang:phash(T, 1 + uniform(1 bsl 27)), erlang:phash({T, T}, 1000)} end},
     {phash2_large, fun() -> erlang:phash2(large()) end},
     {phash2_binary, fun() -> B = bitstring(), {erlang:phash2(B), erlang:phash2({a, B}), erlang:phash2(odd(B))} end},
     {checksums, fun() ->
         L = io_list(),
         {A, B} = {crc32, erlang:adler32(L)},
         {A, B, erlang:md5(L), erlang:crc32(L), erlang:crc32(uniform(1 bsl 32) - 1, L), erlang:adler32(uniform(65520), L),
          erlang:crc32_combine(erlang:crc32(L), erlang:crc32("abc"), 3), erlang:adler32_combine(B, erlang:adler32("abc"), 3),
          erlang:md5_final(erlang:md5_update(erlang:md5_update(erlang:md5_init(), L), binary_of(uniform(200))))}
     end}].

%% ---- the external format
external() ->
    [{encode, fun() ->
         T = pick([any(5), large(), large_list()]),
         [tried(fun() -> B = term_to_binary(T, [deterministic | Options]), {byte_size(B), erlang:md5(B), binary_to_term(B) =:= T, erlang:external_size(T)} end)
          || Options <- [[], [compressed], [{compressed, 1 + uniform(8)}], [{minor_version, 0}], [{minor_version, 1}], [{minor_version, 2}]], no_floats(T) orelse Options =/= [{minor_version, 0}]]
     end},
     {encode_plain, fun() -> T = any(5), {term_to_binary(T), term_to_binary(T, [{minor_version, 1}]), iolist_to_binary(erlang:term_to_iovec(T)), binary_to_term(odd(term_to_binary(T)), [used])} end},
     {encode_maps, fun() -> T = {map_of(uniform(3000)), any(3)}, B = term_to_binary(T, pick([[], [compressed], [deterministic]])), {byte_size(term_to_binary(T)), binary_to_term(B) =:= T} end},
     {decode_damaged, fun() ->
         B = term_to_binary(any(4), pick([[], [deterministic], [compressed]])),
         D = list_to_binary(damaged(binary_to_list(B))),
         try_all([fun() -> binary_to_term(D) end, fun() -> binary_to_term(D, [safe, used]) end, fun() -> binary_to_term(binary:part(B, 0, uniform(byte_size(B)))) end])
     end}].

%% ---- lists
lists_of_terms() ->
    [{compare, fun() ->
         {A, B} = {any(3), any(3)},
         {A < B, A =< B, A == B, A =:= B, lists:sort([any(2) || _ <- lists:seq(1, uniform(30))]), lists:usort([leaf() || _ <- lists:seq(1, uniform(60))])}
     end},
     {keys, fun() ->
         L = [pick([{key(), I}, {I, key()}, {key()}, key()]) || I <- lists:seq(1, uniform(200))],
         K = key(),
         [{F, tried(fun() -> lists:F(K, 1, L) end)} || F <- [keyfind, keymember, keysearch, keydelete, keytake]]
             ++ [lists:member(K, L), lists:keysort(1, [X || X <- L, is_tuple(X)])]
     end},
     {append, fun() -> {A, B} = {list(300), list(300)}, {A ++ B, lists:reverse(A, B), length(A), A -- B, (A ++ B) -- A, tried(fun() -> A ++ x end), lists:append([A, B, A])} end},
     {subtract, fun() ->
         A = [uniform(50) * pick([1, 1.0]) || _ <- lists:seq(1, uniform(500))],
         B = [uniform(50) || _ <- lists:seq(1, uniform(500))],
         {A -- B, B -- A, (A -- B) -- A}
     end},
     {sorts, fun() ->
         L = pick([[number() || _ <- lists:seq(1, uniform(500))], [key() || _ <- lists:seq(1, uniform(500))]]),
         {lists:sort(L), lists:usort(L), lists:reverse(lists:sort(fun(A, B) -> A >= B end, L)), lists:min([x | L]), lists:max([1 | L]), lists:umerge(lists:usort(L), [1, 2])}
     end},
     {tuples, fun() ->
         T = list_to_tuple(list(100)), N = tuple_size(T), I = uniform(N + 1),
         try_all([fun() -> setelement(I, T, x) end, fun() -> element(I, T) end, fun() -> erlang:delete_element(I, T) end, fun() -> erlang:insert_element(I, T, new) end,
                  fun() -> erlang:append_element(T, I) end, fun() -> erlang:make_tuple(I, T, [{pick([1, I, N]), last}]) end, fun() -> tuple_to_list(T) end,
                  fun() -> is_record(pick([T, {a, b}]), pick([a, b]), pick([2, integer()])) end])
     end},
     {io_lists, fun() ->
         L = io_list(), X = pick([L, [L | <<1:1>>], [L, 256], [L | foo], [L | $a], [L, bitstring()]]),
         try_all([fun() -> iolist_size(X) end, fun() -> iolist_to_binary(X) end, fun() -> list_to_binary([X]) end, fun() -> list_to_bitstring([X]) end,
                  fun() -> iolist_to_binary(erlang:iolist_to_iovec(X)) end])
     end}].

%% ---- maps
maps_of_terms() ->
    [{maps, fun() ->
         {M, K} = {map(), key()}, N = map(),
         try_all([fun() -> maps:get(K, M) end, fun() -> maps:find(K, M) end, fun() -> M#{K => new} end, fun() -> M#{K := new} end, fun() -> maps:remove(K, M) end,
                  fun() -> maps:take(K, M) end, fun() -> maps:merge(M, N) end, fun() -> maps:merge(N, M) =:= maps:merge_with(fun(_, _, B) -> B end, N, M) end,
                  fun() -> maps:without(maps:keys(N), M) end, fun() -> maps:with([K | maps:keys(N)], M) end, fun() -> maps:intersect(M, N) end,
                  fun() -> {map_size(M), maps:is_key(K, M), M < N, M =:= N, M == N, lists:sort([M, N, #{}, K])} end,
                  fun() -> maps:from_list(maps:to_list(M)) =:= M end, fun() -> lists:sort(maps:values(M)) =:= lists:sort([V || {_, V} <- maps:to_list(M)]) end,
                  fun() -> maps:fold(fun(_, V, A) -> erlang:phash2(V) + A end, 0, M) end, fun() -> maps:filter(fun(X, _) -> X < K end, M) end,
                  fun() -> maps:map(fun(X, V) -> {X, V} end, N) end, fun() -> erlang:phash2(M) end, fun() -> maps:update_with(K, fun(V) -> [V] end, zero, M) end])
     end},
     {map_changes, fun() ->
         lists:foldl(fun(_, M) ->
             K = key(),
             case uniform(3) of 1 -> maps:remove(K, M); 2 -> M#{K => uniform(5)}; 3 -> maps:merge(M, map_of(uniform(5))) end
         end, map(), lists:seq(1, 300))
     end},
     {map_keys, fun() ->
         Keys = [key() || _ <- lists:seq(1, uniform(80))],
         {maps:from_keys(Keys, x), maps:from_list([{K, I} || {I, K} <- lists:zip(lists:seq(1, length(Keys)), Keys)]), length(maps:keys(maps:from_keys(Keys, x)))}
     end},
     {map_order, fun() -> lists:sort([map_of(uniform(4)) || _ <- lists:seq(1, 20)]) end},
     {map_merges, fun() ->
         {A, B} = {map_of(uniform(3000)), map_of(uniform(3000))}, M = maps:merge(A, B),
         {map_size(M), M =:= maps:from_list(maps:to_list(A) ++ maps:to_list(B)), erlang:phash2(M), maps:merge(M, B) =:= M, maps:merge(A, M) =:= M}
     end}].

%% ---- binaries
binaries() ->
    [{search, fun() ->
         {B, P} = {few_letters(uniform(3000)), pattern()}, S = uniform(byte_size(B) + 1) - 1, Scope = {scope, {S, uniform(byte_size(B) - S + 1) - 1}},
         try_all([fun() -> binary:match(B, P) end, fun() -> binary:match(B, P, [Scope]) end, fun() -> binary:matches(odd(B), P) end, fun() -> binary:matches(B, P, [Scope]) end,
                  fun() -> binary:split(B, P) end, fun() -> binary:split(B, P, [global, trim]) end, fun() -> binary:split(odd(B), P, [global, trim_all]) end,
                  fun() -> binary:split(B, P, [global, Scope]) end, fun() -> binary:replace(B, P, <<"[]">>, [global, {insert_replaced, 1}]) end,
                  fun() -> binary:matches(B, binary:compile_pattern(P)) end, fun() -> binary:replace(B, P, fun(X) -> <<X/binary, X/binary>> end, [global]) end])
     end},
     {parts, fun() ->
         B = pick([binary_of(uniform(300)), odd(binary_of(uniform(300)))]), {S, N} = {uniform(320) - 10, uniform(320) - 160},
         try_all([fun() -> binary:part(B, S, N) end, fun() -> binary_part(B, {S, N}) end, fun() -> binary:bin_to_list(B, S, N) end, fun() -> binary_to_list(B, S, N) end,
                  fun() -> split_binary(B, S) end, fun() -> binary:at(B, S) end, fun() -> binary:first(B) end, fun() -> binary:last(B) end, fun() -> binary:copy(B, abs(N) rem 7) end,
                  fun() -> binary:encode_hex(B) end, fun() -> base64:encode(B) end, fun() -> base64:decode(base64:encode(B)) =:= B end])
     end},
     {common, fun() ->
         A = few_letters(uniform(400)),
         L = [pick([A, <<A/binary, (few_letters(uniform(20)))/binary>>, <<(few_letters(uniform(20)))/binary, A/binary>>, odd(A), binary:part(A, 0, uniform(byte_size(A)))]) || _ <- lists:seq(1, uniform(4))],
         {binary:longest_common_prefix(L), binary:longest_common_suffix(L)}
     end},
     {order, fun() -> L = [bitstring() || _ <- lists:seq(1, 12)], {lists:sort(L ++ [odd(X) || X <- L]), lists:usort(L ++ [odd(X) || X <- L]), [A == B || A <- L, B <- L]} end},
     {to_list, fun() -> B = bitstring(), {bitstring_to_list(B), list_to_bitstring(bitstring_to_list(B)) =:= B, byte_size(B), bit_size(B), tried(fun() -> binary_to_list(B) end)} end},
     {deflate, fun() -> B = iolist_to_binary([few_letters(uniform(3000)), binary_of(uniform(1000))]), Z = zlib:compress(B), {Z, zlib:zip(B), zlib:uncompress(Z) =:= B, zlib:gunzip(zlib:gzip(B)) =:= B} end}].

%% ---- bits
bits() ->
    [{walk, fun() -> B = bitstring(), N = uniform(70), {[X || <<X:N>> <= B], [X || <<X:N/little-signed, _:3>> <= B], << <<X:(N + 1)>> || <<X:N>> <= B >>, << <<X:3>> || <<X:5>> <= odd(B) >>} end},
     {pieces, fun() ->
         B = bitstring(), N = bit_size(B), S = uniform(N + 1) - 1, <<A:S/bits, C/bits>> = B,
         {A, C, <<C/bits, A/bits>>, <<A/bits, C/bits>> =:= B, <<1:3, C/bits>>, erlang:phash2(<<C/bits, A/bits>>), tried(fun() -> <<A/binary, C/bits>> end)}
     end},
     {utf, fun() ->
         C = code_point(), B = list_to_binary(damaged(binary_to_list(unicode:characters_to_binary(text(5), utf8, utf16)))),
         try_all([fun() -> <<C/utf8, 1:1, C/utf16, C/utf32, C/utf16-little>> end, fun() -> [X || <<X/utf16>> <= B] end, fun() -> [X || <<X/utf8>> <= B] end,
                  fun() -> <<X/utf16-little, _/bits>> = B, X end, fun() -> [X || <<X/utf32>> <= B] end, fun() -> <<_:3, X/utf8, _/bits>> = <<1:3, B/binary>>, X end])
     end},
     {appends, fun() -> lists:foldl(fun(_, A) -> X = pick([bitstring(), <<(uniform(8)):3>>, <<>>]), <<A/bits, X/bits>> end, <<>>, lists:seq(1, 30)) end}].

%% ---- characters
characters() ->
    [{unicode, fun() ->
         T = character_data(),
         [tried(fun() -> unicode:F(T, In, Out) end) || F <- [characters_to_binary], In <- [utf8, latin1], Out <- [utf8, latin1, utf16, {utf32, little}]]
             ++ [tried(fun() -> unicode:characters_to_list(T, In) end) || In <- [utf8, latin1, utf16, {utf16, little}, utf32]] ++ [tried(fun() -> unicode:characters_to_list(T) end)]
     end},
     {normal_forms, fun() -> T = text(30), [tried(fun() -> unicode:F(T) end) || F <- [characters_to_nfc_list, characters_to_nfd_binary, characters_to_nfkc_list, characters_to_nfkd_list]] end},
     {strings, fun() ->
         {T, P} = {pick([text(40), unicode:characters_to_binary(text(40))]), text(2)},
         [tried(fun() -> string:F(T) end) || F <- [length, to_graphemes, reverse, uppercase, lowercase, titlecase, casefold, trim, is_empty, next_grapheme, next_codepoint]]
             ++ [tried(fun() -> string:F(T, P) end) || F <- [find, prefix, equal, split]]
             ++ [tried(fun() -> string:lexemes(T, [$\s, $a]) end), tried(fun() -> string:slice(T, 2, 5) end), tried(fun() -> string:pad(T, 50, both) end), string:replace(T, P, "x", all)]
     end},
     {atoms, fun() ->
         T = lists:sublist(text(30), 255), B = unicode:characters_to_binary(T),
         try_all([fun() -> list_to_atom(T) end, fun() -> atom_to_list(list_to_atom(T)) =:= T end, fun() -> binary_to_atom(B, latin1) end, fun() -> atom_to_binary(binary_to_atom(B), latin1) end,
                  fun() -> atom_to_binary(binary_to_atom(list_to_binary(damaged(binary_to_list(B))))) end, fun() -> io_lib:format("~p ~tp ~w ~tw", [X || X <- [binary_to_atom(B)], _ <- "1234"]) end,
                  fun() -> lists:sort([list_to_atom(text(3)) || _ <- "12345"]) end])
     end},
     {regular, fun() ->
         {S, R} = {few_letters(uniform(60)), pick(["a+", "(a|b)*c", "[^a]b?", "(?i)A(b)", "^..", "c$", "(a)(?:b)|(c)", "a{2,3}", "(?<x>ab)+", "\\w+", "a.*?c"])},
         try_all([fun() -> re:run(S, R) end, fun() -> re:run(S, R, [global]) end, fun() -> re:replace(S, R, "<&\\1>", [global, {return, binary}]) end, fun() -> re:split(S, R, [group]) end,
                  fun() -> re:run(S, R, [{capture, all, list}, {offset, uniform(byte_size(S) + 1) - 1}]) end, fun() -> re:run(S, R, [{capture, all_names, binary}, notempty]) end])
     end}].

%% ---- formats
formats() ->
    [{format_terms, fun() -> T = pick([any(4), large_list(), text(20), any(2)]), [tried(fun() -> unicode:characters_to_binary(io_lib:format(F, [no_maps(T)])) end) || F <- ["~p", "~w", "~tp", "~0p", "~30p", "~tw", "~10.2p"]] end},
     {format_numbers, fun() ->
         {I, F, N, M} = {integer(), real(), uniform(30), uniform(20)},
         try_all([fun() -> io_lib:format("~b ~.16b ~.*x ~.16# ~B ~.36B ~+.2#", [I, I, 1 + M, I, "0x", I, I, I, I]) end, fun() -> io_lib:format("~.*f", [N, F]) end, fun() -> io_lib:format("~.*e", [N, F]) end,
                  fun() -> io_lib:format("~.*g ~*.*f", [N, F, 40, M, F]) end, fun() -> io_lib:format("~10w|~-10w|~10..0w", [I, I, uniform(1000)]) end, fun() -> io_lib:format("~*c ~c", [M, $x, $y]) end])
     end},
     {format_text, fun() -> {T, N} = {text(20), uniform(30)}, try_all([fun() -> io_lib:format("~ts|~*ts|~-*ts|~.*ts", [T, N, T, N, T, N, T]) end, fun() -> io_lib:format("~s", [T]) end, fun() -> io_lib:write_string(T) end, fun() -> io_lib:format("~p", [T]) end]) end},
     {parse, fun() -> T = no_maps(any(3)), Text = lists:flatten(io_lib:format("~tw.", [T])), tried(fun() -> {ok, Tokens, _} = erl_scan:string(Text), {ok, X} = erl_parse:parse_term(Tokens), X =:= T end) end}].

others() ->
    [{packets, fun() -> B = list_to_binary(damaged(binary_to_list(pick([<<"GET /a HTTP/1.1\r\nHost: b\r\n\r\n">>, <<0, 0, 0, 3, "abc">>, <<"line\nline\n">>, <<16#30, 3, 1, 2, 3, 4>>])))), [tried(fun() -> erlang:decode_packet(T, B, []) end) || T <- [raw, 1, 2, 4, line, http, http_bin, httph, asn1, fcgi, tpkt, cdr, sunrm]] end},
     {calendar, fun() ->
         S = uniform(1 bsl 37) - (1 bsl 35),
         try_all([fun() -> calendar:gregorian_seconds_to_datetime(abs(S)) end, fun() -> erlang:posixtime_to_universaltime(abs(S)) end,
                  fun() -> erlang:universaltime_to_posixtime(calendar:gregorian_seconds_to_datetime(abs(S))) end, fun() -> calendar:system_time_to_rfc3339(S div 8, [{offset, "Z"}]) end])
     end},
     {conversions, fun() -> T = any(2), [tried(fun() -> erlang:F(T) end) || F <- [list_to_tuple, tuple_to_list, list_to_atom, atom_to_list, list_to_integer, list_to_float, list_to_binary, iolist_size, bit_size, byte_size, length, hd, tl, map_size, tuple_size, trunc, round, abs, float, size, binary_to_atom, list_to_bitstring, is_number, bitstring_to_list, atom_to_binary, integer_to_list, float_to_list, binary_to_integer, list_to_pid, list_to_ref]] end},
     {accumulate, fun() -> array:to_list(lists:foldl(fun(_, A) -> array:set(uniform(500), leaf(), A) end, array:new(), lists:seq(1, 50))) end},
     {trees, fun() -> gb_sets:to_list(gb_sets:from_list([key() || _ <- lists:seq(1, 100)])) end}].

%% ---- terms
uniform(N) -> rand:uniform(N).
pick(L) -> lists:nth(rand:uniform(length(L)), L).

integer() ->
    case uniform(5) of
        1 -> uniform(20) - 10;
        2 -> near(pick([27, 28, 31, 32, 47, 48, 53, 58, 59, 60, 61, 62, 63, 64, 65, 119, 120, 127, 128, 129, 191, 192, 256, 1024]));
        3 -> random_integer(uniform(200));
        4 -> random_integer(pick([8, 27, 28, 59, 60, 64, 128, 192, 1000, 3000]));
        5 -> sign(pick([10, 100, 1000000000, 10000000000000000000, 3]) * uniform(1000))
    end.

near(Bits) -> sign((1 bsl Bits) + uniform(5) - 3).
sign(X) -> case uniform(2) of 1 -> X; 2 -> -X end.
random_integer(Bits) -> <<X:Bits>> = random_bits(Bits), sign(X).
random_bytes(N) -> list_to_binary([uniform(256) - 1 || _ <- lists:seq(1, N)]).
random_bits(N) -> <<B:N/bits, _/bits>> = random_bytes(N div 8 + 1), B.

real() ->
    case uniform(7) of
        1 -> float_of_bits();
        2 -> float_of_bits();
        3 -> pick([0.0, -0.0, 1.0, 0.1, 0.5, 1.5, 2.5, -2.5, 0.3, 1.0e22, 1.0e23, 123456789.125, 5.0e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 9007199254740993.0, 0.045]);
        4 -> uniform(2000000) / pick([1000, 8, 3, 7, 100]);
        5 -> sign(float((1 bsl uniform(120)) + uniform(5) - 3));
        6 -> sign(math:pow(10.0, uniform(600) - 300));
        7 -> sign(uniform(1000000) * 0.5)
    end.

float_of_bits() -> case random_bytes(8) of <<F/float>> -> F; _ -> float_of_bits() end.
number() -> case uniform(2) of 1 -> integer(); 2 -> real() end.
digits(N) -> [$0 + uniform(10) - 1 || _ <- lists:seq(1, N)].

binary_of(N) -> random_bytes(N).
aligned(B) -> binary:copy(B).
%% The same bits from a place between bytes.
odd(B) -> S = uniform(7), N = bit_size(B), <<_:S, X:N/bits, _/bits>> = <<0:S, B/bits, 1:3>>, X.
bitstring() -> B = random_bits(uniform(pick([16, 64, 513, 5000]))), case uniform(3) of 1 -> B; 2 -> odd(B); 3 -> S = uniform(bit_size(B)), <<_:S, X/bits>> = B, X end.
few_letters(N) -> list_to_binary([pick("aabbc") || _ <- lists:seq(1, N)]).
pattern() -> case uniform(2) of 1 -> few_letters(uniform(5)); 2 -> [few_letters(uniform(6)) || _ <- lists:seq(1, uniform(4))] end.
damaged(L) -> {A, B} = lists:split(uniform(length(L) + 1) - 1, L), A ++ pick([[], [uniform(128) - 1], "1", [pick("0123456789eE+-._")]]) ++ case {uniform(2), B} of {1, [_ | T]} -> T; _ -> B end.
io_list() -> io_list(4).
io_list(0) -> pick([binary_of(uniform(20)), uniform(256) - 1, [], binary_of(uniform(600)), odd(binary_of(uniform(300)))]);
io_list(D) -> [io_list(D - 1) || _ <- lists:seq(1, uniform(4) - 1)] ++ pick([[], <<"end">>, binary_of(uniform(400))]).

code_point() ->
    case pick([$a, uniform(127), uniform(255), uniform(16#7ff), uniform(16#ffff), uniform(16#10ffff), 16#300 + uniform(100), 16#AC00 + uniform(11000), 16#1F600 + uniform(50), 16#1100 + uniform(100), $ß, 16#130, 16#200D, 16#FE0F, $\r, $\n, $\s]) of
        C when C >= 16#d800, C =< 16#dfff -> $d;
        C -> C
    end.
text(N) -> [code_point() || _ <- lists:seq(1, uniform(N))].
character_data() ->
    L = [pick([code_point(), unicode:characters_to_binary(text(10)), text(5), binary_of(uniform(6)), [text(3), [unicode:characters_to_binary(text(3))]]]) || _ <- lists:seq(1, uniform(8))],
    pick([L, text(50), unicode:characters_to_binary(text(50)), [text(10), unicode:characters_to_binary(text(10))], unicode:characters_to_binary(text(20), utf8, utf16),
          split_text(unicode:characters_to_binary(text(10))), L ++ [16#d800, $a], L ++ <<"tail">>]).
split_text(B) -> {A, C} = split_binary(B, uniform(byte_size(B) + 1) - 1), [A, C].

leaf() ->
    case uniform(9) of
        1 -> integer();
        2 -> real();
        3 -> pick([a, b, true, undefined, '', 'x y', '\x{e5}', '\x{400}', ok]);
        4 -> bitstring();
        5 -> binary_of(uniform(30));
        6 -> [];
        7 -> text(6);
        8 -> uniform(100);
        9 -> unicode:characters_to_binary(text(6))
    end.

any(0) -> leaf();
any(D) ->
    case uniform(7) of
        1 -> [any(D - 1) || _ <- lists:seq(1, uniform(6))];
        2 -> list_to_tuple([any(D - 1) || _ <- lists:seq(1, uniform(6) - 1)]);
        3 -> maps:from_list([{any(D - 1), any(D - 1)} || _ <- lists:seq(1, uniform(6) - 1)]);
        4 -> [any(D - 1) | any(D - 1)];
        _ -> leaf()
    end.

large() -> list_to_tuple([any(2) || _ <- lists:seq(1, uniform(600))]).
large_list() -> pick([[uniform(256) - 1 || _ <- lists:seq(1, uniform(70000))], [leaf() || _ <- lists:seq(1, uniform(500))], lists:duplicate(uniform(300), $a)]).
list(N) -> [leaf() || _ <- lists:seq(1, uniform(N) - 1)].

%% Few enough that two maps have some in common.
key() ->
    I = uniform(60),
    case uniform(8) of
        1 -> I;
        2 -> float(I);
        3 -> {I};
        4 -> [I, x];
        5 -> <<I>>;
        6 -> pick([a, b, c, d, e, f]);
        7 -> integer_to_list(I);
        8 -> I bsl 60
    end.
map() -> map_of(pick([0, 1, 5, 31, 32, 33, 34, 100, 500])).
map_of(N) -> maps:from_list([{pick([key(), I, {I, key()}]), leaf()} || I <- lists:seq(1, N)]).

no_floats(T) -> nomatch =:= re:run(io_lib:format("~w", [T]), "\\d\\.\\d").
no_maps(M) when is_map(M), map_size(M) > 32 -> map;
no_maps(M) when is_map(M) -> maps:from_list([{no_maps(K), no_maps(V)} || {K, V} <- maps:to_list(M)]);
no_maps(T) when is_tuple(T) -> list_to_tuple(no_maps(tuple_to_list(T)));
no_maps([H | T]) -> [no_maps(H) | no_maps(T)];
no_maps(X) -> X.
