%% SPDX-License-Identifier: Apache-2.0
%% Programs of the kinds that people publish as benchmarks, and hot paths as libraries have them: a third set, beside
%% vmbench.erl. Each is run thrice in one VM, by a process of its own.
%%   VM -noshell -pa DIR -run programs main [NAME...]    prints "NAME best_us hash" for each; VMs must agree on the hash
-module(programs).
-export([main/0, main/1, names/0, stage/2, subscriber/2]).
-define(RUNS, 3).

names() ->
    [ackermann, collatz, sieve, hanoi, permutations, matrix, levenshtein, knapsack, life, sudoku, fft, gauss, kmers, complement, fasta,
     pidigits, brainfuck, evaluator, matcher, huffman, lzw, base64, crc, xorshift, csv, headers, msgpack, redblack, dijkstra, breadth, trie,
     escape, lru, pubsub, pipeline, accounts, calculator, quicksort, memo, bloom, calendar, logging, lcs, search, rays, proplist].

main() -> main([]).
main([]) -> main([atom_to_list(N) || N <- names()]);
main(Names) ->
    [print(list_to_atom(N)) || N <- Names],
    erlang:halt(0).

print(Name) ->
    Runs = [timed(Name) || _ <- lists:seq(1, ?RUNS)],
    [Hash] = lists:usort([H || {_, H} <- Runs]),
    io:format("~s ~w ~w~n", [Name, lists:min([Us || {Us, _} <- Runs]), Hash]).

timed(Name) ->
    {Pid, Ref} = spawn_monitor(fun() ->
        Before = erlang:monotonic_time(microsecond),
        Value = run(Name),
        exit({erlang:monotonic_time(microsecond) - Before, erlang:phash2(Value)})
    end),
    receive {'DOWN', Ref, process, Pid, Result} -> Result end.

run(ackermann) -> ackermann(2, 300) + ackermann(3, 7);
run(collatz) -> collatz(1, 12000, {0, 0});
run(sieve) -> length(sieve(lists:seq(2, 30000)));
run(hanoi) -> hanoi(20, a, b, c, 0);
run(permutations) -> length(permutations([1, 2, 3, 4, 5, 6, 7, 8]));
run(matrix) -> M = [[(I * J) rem 17 || J <- lists:seq(1, 60)] || I <- lists:seq(1, 60)], multiply(M, multiply(M, M));
run(levenshtein) -> [levenshtein(words(250, S), words(250, S + 7)) || S <- [1, 2, 3]];
run(knapsack) -> knapsack([{W * 7 rem 23 + 1, W * 13 rem 37} || W <- lists:seq(1, 60)], 400);
run(life) -> maps:size(life(#{{0, 1} => 1, {1, 3} => 1, {2, 0} => 1, {2, 1} => 1, {2, 4} => 1, {2, 5} => 1, {2, 6} => 1}, 60));
run(sudoku) -> sudoku();
run(fft) -> [{trunc(Re * 1000), trunc(Im * 1000)} || {Re, Im} <- fft([{float(X rem 17), 0.0} || X <- lists:seq(1, 8192)])];
run(gauss) -> [trunc(X * 100000) || X <- gauss([[1.0 / (1 + abs(I - J)) || J <- lists:seq(1, 100)] ++ [float(I)] || I <- lists:seq(1, 100)])];
run(kmers) -> kmers(dna(20000, 42), 8, #{});
run(complement) -> complement(dna(150000, 3));
run(fasta) -> dna(400000, 11);
run(pidigits) -> pidigits(800);
run(brainfuck) -> brainfuck();
run(evaluator) -> evaluate({call, {var, fib}, [{int, 23}]}, definitions());
run(matcher) -> length([x || W <- lists:seq(1, 3000), matches(pattern(), words(24, W))]);
run(huffman) -> huffman(words(60000, 5));
run(lzw) -> length(lzw(words(40000, 9)));
run(base64) -> B = list_to_binary(words(30000, 2)), decode64(encode64(B)) =:= B;
run(crc) -> crc(list_to_binary(words(60000, 4)), 16#ffffffff, crc_table());
run(xorshift) -> xorshift(80000, 88172645463325252, 0);
run(csv) -> csv(list_to_binary([[integer_to_list(I), ",\"name ", words(5, I), "\",", words(9, I), ",", integer_to_list(I * 3), "\n"] || I <- lists:seq(1, 3000)]));
run(headers) -> [headers(request(N), []) || N <- lists:seq(1, 800)];
run(msgpack) -> D = document(), [D = element(1, unpack(iolist_to_binary(pack(D)))) || _ <- lists:seq(1, 100)], ok;
run(redblack) -> T = lists:foldl(fun(K, T) -> insert(K * 7919 rem 20011, K, T) end, empty, lists:seq(1, 15000)), sum(T);
run(dijkstra) -> dijkstra(60);
run(breadth) -> breadth(12000);
run(trie) -> T = lists:foldl(fun(N, T) -> trie_add(words(7, N), T) end, #{}, lists:seq(1, 4000)), trie_count(T);
run(escape) -> [iolist_size(escape(list_to_binary(["<a href=\"", words(200, N), "\">&'", words(400, N)]))) || N <- lists:seq(1, 300)];
run(lru) -> lru(40000, {#{}, gb_trees:empty(), 0, 0});
run(pubsub) -> pubsub(200, 200);
run(pipeline) -> pipeline(20, 3000);
run(accounts) -> accounts(60000);
run(calculator) -> [calculate("(1 + 2 * " ++ integer_to_list(N) ++ " - 7) * (3 + 4 * (5 - 6)) / 3 - -2") || N <- lists:seq(1, 1500)];
run(quicksort) -> lists:sum(lists:sublist(quicksort(numbers(25000, 1)), 100));
run(memo) -> [begin erase(), memo(N) end || N <- lists:seq(300, 500)];
run(bloom) -> bloom(12000);
run(calendar) -> lists:sum([element(3, days(D)) || D <- lists:seq(700000, 730000)]);
run(logging) -> [iolist_size(io_lib:format("~4..0w-~2..0w ~s [~p] ~ts: ~w~n", [2020 + N rem 5, N rem 12, "info", {N, a}, "text", [N]])) || N <- lists:seq(1, 3000)];
run(lcs) -> length(lcs(words(500, 3), words(500, 8)));
run(search) -> B = list_to_binary(words(100000, 6)), search(B, list_to_binary(lists:sublist(words(100000, 6), 90000, 20)));
run(rays) -> rays(130);
run(proplist) -> proplist(30000).

%% ---- data

numbers(0, _) -> [];
numbers(N, S) -> [S bsr 8 | numbers(N - 1, (S * 1103515245 + 12345) band 16#7fffffff)].
words(N, S) -> [case X rem 27 of 26 -> $\s; L -> $a + L end || X <- numbers(N, S * 7919 + 1)].

%% ---- arithmetic and recursion

ackermann(0, N) -> N + 1;
ackermann(M, 0) -> ackermann(M - 1, 1);
ackermann(M, N) -> ackermann(M - 1, ackermann(M, N - 1)).

collatz(Most, Most, Best) -> Best;
collatz(N, Most, {Length, _} = Best) ->
    case chain(N, 1) of
        L when L > Length -> collatz(N + 1, Most, {L, N});
        _ -> collatz(N + 1, Most, Best)
    end.
chain(1, L) -> L;
chain(N, L) when N band 1 =:= 0 -> chain(N bsr 1, L + 1);
chain(N, L) -> chain(3 * N + 1, L + 1).

sieve([]) -> [];
sieve([P | Rest]) when P * P > 30000 -> [P | Rest];
sieve([P | Rest]) -> [P | sieve([X || X <- Rest, X rem P =/= 0])].

hanoi(0, _, _, _, Moves) -> Moves;
hanoi(N, From, To, By, Moves) -> hanoi(N - 1, By, To, From, hanoi(N - 1, From, By, To, Moves) + 1).

permutations([]) -> [[]];
permutations(L) -> [[H | T] || H <- L, T <- permutations(L -- [H])].

memo(N) when N < 2 -> N;
memo(N) ->
    case get(N) of
        undefined -> V = memo(N - 1) + memo(N - 2), put(N, V), V;
        V -> V
    end.

xorshift(0, _, Sum) -> Sum;
xorshift(N, X, Sum) ->
    A = X bxor (X bsl 13) band 16#ffffffffffffffff,
    B = A bxor (A bsr 7),
    C = B bxor (B bsl 17) band 16#ffffffffffffffff,
    xorshift(N - 1, C, (Sum + C) band 16#ffffffff).

pidigits(N) -> pidigits(N, 1, 180, 60, 2, []).
pidigits(0, _, _, _, _, Digits) -> lists:reverse(Digits);
pidigits(N, Q, R, T, I, Digits) ->
    U = 3 * (3 * I + 1) * (3 * I + 2),
    Y = (Q * (27 * I - 12) + 5 * R) div (5 * T),
    pidigits(N - 1, 10 * Q * I * (2 * I - 1), 10 * U * (Q * (5 * I - 2) + R - Y * T), T * U, I + 1, [Y | Digits]).

days(D) -> calendar:gregorian_days_to_date(D).

%% ---- floats

fft([X]) -> [X];
fft(L) ->
    {Even, Odd} = halves(L, [], []),
    N = length(L),
    combine(fft(Even), fft(Odd), 0, N, [], []).
halves([A, B | T], Even, Odd) -> halves(T, [A | Even], [B | Odd]);
halves([], Even, Odd) -> {lists:reverse(Even), lists:reverse(Odd)}.
combine([{A, B} | E], [{C, D} | O], K, N, Low, High) ->
    Angle = -2 * math:pi() * K / N,
    Cos = math:cos(Angle), Sin = math:sin(Angle),
    Re = C * Cos - D * Sin, Im = C * Sin + D * Cos,
    combine(E, O, K + 1, N, [{A + Re, B + Im} | Low], [{A - Re, B - Im} | High]);
combine([], [], _, _, Low, High) -> lists:reverse(Low, lists:reverse(High)).

gauss([]) -> [];
gauss(Rows) ->
    {[[P | Pivot] | Rest], _} = {lists:sort(fun([A | _], [B | _]) -> abs(A) >= abs(B) end, Rows), x},
    Lower = [eliminate(A / P, Row, Pivot) || [A | Row] <- Rest],
    Known = gauss(Lower),
    [(lists:last(Pivot) - dot(Pivot, Known, 0.0)) / P | Known].
eliminate(F, [A | As], [B | Bs]) -> [A - F * B | eliminate(F, As, Bs)];
eliminate(_, [], []) -> [].
dot([A | As], [B | Bs], Sum) -> dot(As, Bs, Sum + A * B);
dot([_], [], Sum) -> Sum.

multiply(A, B) -> Columns = transpose(B), [[product(Row, Column, 0) || Column <- Columns] || Row <- A].
transpose([[] | _]) -> [];
transpose(M) -> [[hd(R) || R <- M] | transpose([tl(R) || R <- M])].
product([A | As], [B | Bs], Sum) -> product(As, Bs, Sum + A * B);
product([], [], Sum) -> Sum.

rays(N) ->
    Spheres = [{{float(X), float(X rem 3), 6.0 + X}, 0.8 + X / 10} || X <- lists:seq(-2, 3)],
    [trunc(255 * shade({0.0, 0.0, 0.0}, unit({X / N - 0.5, Y / N - 0.5, 1.0}), Spheres)) || X <- lists:seq(1, N), Y <- lists:seq(1, N)].
shade(From, Way, Spheres) ->
    case nearest(Spheres, From, Way, none) of
        none -> 0.1;
        {T, {Centre, _}} ->
            Normal = unit(minus(plus(From, scaled(Way, T)), Centre)),
            max(0.0, dot3(Normal, {0.57, 0.57, -0.57}))
    end.
nearest([], _, _, Best) -> Best;
nearest([{Centre, R} = S | Rest], From, Way, Best) ->
    Oc = minus(From, Centre),
    B = dot3(Oc, Way),
    D = B * B - dot3(Oc, Oc) + R * R,
    case D > 0 andalso -B - math:sqrt(D) of
        T when is_float(T), T > 0.001, Best =:= none -> nearest(Rest, From, Way, {T, S});
        T when is_float(T), T > 0.001, T < element(1, Best) -> nearest(Rest, From, Way, {T, S});
        _ -> nearest(Rest, From, Way, Best)
    end.
unit(V) -> scaled(V, 1.0 / math:sqrt(dot3(V, V))).
dot3({A, B, C}, {D, E, F}) -> A * D + B * E + C * F.
plus({A, B, C}, {D, E, F}) -> {A + D, B + E, C + F}.
minus({A, B, C}, {D, E, F}) -> {A - D, B - E, C - F}.
scaled({A, B, C}, S) -> {A * S, B * S, C * S}.

%% ---- lists, strings

levenshtein(A, B) -> levenshtein(A, B, lists:seq(0, length(B)), 1).
levenshtein([], _, Row, _) -> lists:last(Row);
levenshtein([C | A], B, Row, I) -> levenshtein(A, B, distances(C, B, Row, I, [I]), I + 1).
distances(_, [], _, _, Acc) -> lists:reverse(Acc);
distances(C, [C | B], [D | Row], _, Acc) -> distances(C, B, Row, D, [D | Acc]);
distances(C, [_ | B], [D | [U | _] = Row], _, [L | _] = Acc) ->
    V = 1 + min(D, min(U, L)),
    distances(C, B, Row, V, [V | Acc]).

lcs(A, B) -> element(2, lists:last(lcs_rows(A, B, [{0, []} || _ <- [x | B]]))).
lcs_rows([], _, Row) -> Row;
lcs_rows([C | A], B, Row) -> lcs_rows(A, B, lcs_row(C, B, Row, [{0, []}])).
lcs_row(_, [], _, Acc) -> lists:reverse(Acc);
lcs_row(C, [C | B], [{N, L} | Row], Acc) -> lcs_row(C, B, Row, [{N + 1, [C | L]} | Acc]);
lcs_row(C, [_ | B], [_ | [{N, _} = Up | _] = Row], [{M, _} = Left | _] = Acc) ->
    lcs_row(C, B, Row, [if N >= M -> Up; true -> Left end | Acc]).

quicksort([]) -> [];
quicksort([P | L]) -> quicksort([X || X <- L, X < P]) ++ [P | quicksort([X || X <- L, X >= P])].

lzw(Text) -> lzw(Text, maps:from_list([{[C], C} || C <- lists:seq(0, 255)]), [], 256, []).
lzw([], _, [], _, Out) -> lists:reverse(Out);
lzw([], Codes, Seen, _, Out) -> lists:reverse([maps:get(Seen, Codes) | Out]);
lzw([C | Text], Codes, Seen, Next, Out) ->
    case Codes of
        #{[C | Seen] := _} -> lzw(Text, Codes, [C | Seen], Next, Out);
        _ -> lzw(Text, Codes#{[C | Seen] => Next}, [C], Next + 1, [maps:get(Seen, Codes) | Out])
    end.

huffman(Text) ->
    Counts = lists:foldl(fun(C, M) -> maps:update_with(C, fun(N) -> N + 1 end, 1, M) end, #{}, Text),
    Tree = grow(lists:sort([{N, {leaf, C}} || {C, N} <- maps:to_list(Counts)])),
    Codes = maps:from_list(codes(Tree, [])),
    bit_size(<< <<(maps:get(C, Codes))/bits>> || C <- Text>>).
grow([{_, Tree}]) -> Tree;
grow([{N, A}, {M, B} | Rest]) -> grow(lists:merge([{N + M, {node, A, B}}], Rest)).
codes({leaf, C}, Path) -> [{C, << <<B:1>> || B <- lists:reverse(Path)>>}];
codes({node, A, B}, Path) -> codes(A, [0 | Path]) ++ codes(B, [1 | Path]).

pattern() -> {seq, {star, any}, {seq, {alt, {char, $a}, {alt, {char, $e}, {char, $i}}}, {seq, any, {seq, {star, {char, $b}}, {seq, {alt, {char, $t}, {char, $s}}, {star, any}}}}}}.
matches(P, Text) -> matches(P, Text, fun(Rest) -> Rest =:= [] end).
matches({char, C}, [C | T], Next) -> Next(T);
matches({char, _}, _, _) -> false;
matches(any, [_ | T], Next) -> Next(T);
matches(any, [], _) -> false;
matches({alt, A, B}, T, Next) -> matches(A, T, Next) orelse matches(B, T, Next);
matches({seq, A, B}, T, Next) -> matches(A, T, fun(Rest) -> matches(B, Rest, Next) end);
matches({star, A} = P, T, Next) -> Next(T) orelse matches(A, T, fun(Rest) -> Rest =/= T andalso matches(P, Rest, Next) end).

calculate(Text) -> {Value, []} = sum_of(tokens(Text)), Value.
tokens([]) -> [];
tokens([$\s | T]) -> tokens(T);
tokens([C | _] = T) when C >= $0, C =< $9 -> {N, Rest} = number(T, 0), [N | tokens(Rest)];
tokens([C | T]) -> [list_to_existing_atom([C]) | tokens(T)].
number([C | T], N) when C >= $0, C =< $9 -> number(T, N * 10 + C - $0);
number(T, N) -> {N, T}.
sum_of(T) -> {V, Rest} = product_of(T), more_sum(Rest, V).
more_sum(['+' | T], V) -> {W, Rest} = product_of(T), more_sum(Rest, V + W);
more_sum(['-' | T], V) -> {W, Rest} = product_of(T), more_sum(Rest, V - W);
more_sum(T, V) -> {V, T}.
product_of(T) -> {V, Rest} = factor_of(T), more_product(Rest, V).
more_product(['*' | T], V) -> {W, Rest} = factor_of(T), more_product(Rest, V * W);
more_product(['/' | T], V) -> {W, Rest} = factor_of(T), more_product(Rest, V div W);
more_product(T, V) -> {V, T}.
factor_of(['(' | T]) -> {V, [')' | Rest]} = sum_of(T), {V, Rest};
factor_of(['-' | T]) -> {V, Rest} = factor_of(T), {-V, Rest};
factor_of([N | T]) -> {N, T}.

proplist(N) ->
    Options = [{host, "here"}, {port, N}, verbose, {retries, 3}, {headers, [{a, 1}, {b, 2}]}, {timeout, 5000}, {pool, main}],
    lists:sum([proplists:get_value(timeout, Options) + length(proplists:get_all_values(port, [{port, I} | Options])) +
               case proplists:get_bool(verbose, Options) of true -> 1; false -> 0 end +
               proplists:get_value(missing, Options, I) || I <- lists:seq(1, N)]).

%% ---- maps, trees, graphs

knapsack(Items, Room) -> element(1, fill(list_to_tuple(Items), tuple_size(list_to_tuple(Items)), Room, #{})).
fill(_, 0, _, Known) -> {0, Known};
fill(Items, I, Room, Known) ->
    case Known of
        #{{I, Room} := V} -> {V, Known};
        _ ->
            {Weight, Value} = element(I, Items),
            {Without, K1} = fill(Items, I - 1, Room, Known),
            {Best, K2} = if Weight > Room -> {Without, K1};
                            true -> {With, K} = fill(Items, I - 1, Room - Weight, K1), {max(Without, With + Value), K} end,
            {Best, K2#{{I, Room} => Best}}
    end.

life(Cells, 0) -> Cells;
life(Cells, N) ->
    Counts = maps:fold(fun({X, Y}, _, M) ->
        lists:foldl(fun(At, Sums) -> maps:update_with(At, fun(C) -> C + 1 end, 1, Sums) end, M,
                    [{X + Dx, Y + Dy} || Dx <- [-1, 0, 1], Dy <- [-1, 0, 1], {Dx, Dy} =/= {0, 0}])
    end, #{}, Cells),
    life(maps:from_list([{At, 1} || {At, C} <- maps:to_list(Counts), C =:= 3 orelse (C =:= 2 andalso is_map_key(At, Cells))]), N - 1).

insert(K, V, T) -> setelement(1, put_in(K, V, T), black).
put_in(K, V, empty) -> {red, empty, K, V, empty};
put_in(K, V, {C, L, K1, V1, R}) when K < K1 -> balance(C, put_in(K, V, L), K1, V1, R);
put_in(K, V, {C, L, K1, V1, R}) when K > K1 -> balance(C, L, K1, V1, put_in(K, V, R));
put_in(K, V, {C, L, _, _, R}) -> {C, L, K, V, R}.
balance(black, {red, {red, A, Xk, Xv, B}, Yk, Yv, C}, Zk, Zv, D) -> {red, {black, A, Xk, Xv, B}, Yk, Yv, {black, C, Zk, Zv, D}};
balance(black, {red, A, Xk, Xv, {red, B, Yk, Yv, C}}, Zk, Zv, D) -> {red, {black, A, Xk, Xv, B}, Yk, Yv, {black, C, Zk, Zv, D}};
balance(black, A, Xk, Xv, {red, {red, B, Yk, Yv, C}, Zk, Zv, D}) -> {red, {black, A, Xk, Xv, B}, Yk, Yv, {black, C, Zk, Zv, D}};
balance(black, A, Xk, Xv, {red, B, Yk, Yv, {red, C, Zk, Zv, D}}) -> {red, {black, A, Xk, Xv, B}, Yk, Yv, {black, C, Zk, Zv, D}};
balance(C, L, K, V, R) -> {C, L, K, V, R}.
sum(empty) -> 0;
sum({_, L, K, V, R}) -> sum(L) + K bxor V + sum(R).

%% On a grid, with a pairing heap.
dijkstra(N) -> dijkstra(N, {heap, 0, {1, 1}, []}, #{}).
dijkstra(N, nothing, Done) -> maps:get({N, N}, Done);
dijkstra(N, {heap, D, At, Rest}, Done) when is_map_key(At, Done) -> _ = D, dijkstra(N, meld_all(Rest), Done);
dijkstra(N, {heap, D, {X, Y} = At, Rest}, Done) ->
    Heap = lists:foldl(fun({A, B} = To, H) when A > 0, B > 0, A =< N, B =< N, not is_map_key(To, Done) ->
                               meld({heap, D + 1 + (A * 7 + B * 13) rem 10, To, []}, H);
                          (_, H) -> H
                       end, meld_all(Rest), [{X + 1, Y}, {X - 1, Y}, {X, Y + 1}, {X, Y - 1}]),
    dijkstra(N, Heap, Done#{At => D}).
meld(nothing, H) -> H;
meld(H, nothing) -> H;
meld({heap, A, X, As}, {heap, B, _, _} = H) when A =< B -> {heap, A, X, [H | As]};
meld(H, {heap, B, Y, Bs}) -> {heap, B, Y, [H | Bs]}.
meld_all([]) -> nothing;
meld_all([H]) -> H;
meld_all([A, B | Rest]) -> meld(meld(A, B), meld_all(Rest)).

breadth(N) -> breadth(N, queue:from_list([1]), #{1 => 0}).
breadth(N, Queue, Seen) ->
    case queue:out(Queue) of
        {empty, _} -> lists:sum(maps:values(Seen));
        {{value, At}, Left} ->
            New = [To || To <- [At * 2 rem N, At * 3 rem N, (At + 1) rem N], not is_map_key(To, Seen)],
            Depth = maps:get(At, Seen) + 1,
            {Queue1, Seen1} = lists:foldl(fun(To, {Q, S}) -> {queue:in(To, Q), S#{To => Depth}} end, {Left, Seen}, New),
            breadth(N, Queue1, Seen1)
    end.

trie_add([], Node) -> Node#{is_end => true};
trie_add([C | W], Node) -> Node#{C => trie_add(W, maps:get(C, Node, #{}))}.
trie_count(Node) -> maps:fold(fun(is_end, _, N) -> N + 1; (_, Below, N) -> N + trie_count(Below) end, 0, Node).

lru(0, {_, _, _, Hits}) -> Hits;
lru(N, {Values, Ages, Now, Hits}) ->
    Key = N * N rem 1009,
    case Values of
        #{Key := {V, Age}} ->
            lru(N - 1, {Values#{Key := {V, Now}}, gb_trees:insert(Now, Key, gb_trees:delete(Age, Ages)), Now + 1, Hits + 1});
        _ when map_size(Values) >= 300 ->
            {_, Oldest, Ages1} = gb_trees:take_smallest(Ages),
            lru(N - 1, {maps:put(Key, {N, Now}, maps:remove(Oldest, Values)), gb_trees:insert(Now, Key, Ages1), Now + 1, Hits});
        _ -> lru(N - 1, {Values#{Key => {N, Now}}, gb_trees:insert(Now, Key, Ages), Now + 1, Hits})
    end.

-record(account, {id, owner, balance = 0, history = [], limit = 1000}).
accounts(N) ->
    Bank = list_to_tuple([#account{id = I, owner = {user, I}, balance = 500} || I <- lists:seq(1, 20)]),
    lists:sum([A#account.balance * A#account.id || A <- tuple_to_list(transfer(N, Bank))]).
transfer(0, Bank) -> Bank;
transfer(N, Bank) ->
    From = N * 7 rem 20 + 1, To = N * 11 rem 20 + 1, Sum = N rem 90,
    A = element(From, Bank), B = element(To, Bank),
    case A of
        #account{balance = Has, limit = Limit} when From =/= To, Has >= Sum, Sum < Limit ->
            Paid = A#account{balance = Has - Sum, history = lists:sublist([{out, To, Sum} | A#account.history], 5)},
            Got = B#account{balance = B#account.balance + Sum, history = lists:sublist([{in, From, Sum} | B#account.history], 5)},
            transfer(N - 1, setelement(To, setelement(From, Bank, Paid), Got));
        _ -> transfer(N - 1, Bank)
    end.

sudoku() ->
    Rows = ["53  7    ", "6  195   ", " 98    6 ", "8   6   3", "4  8 3  1", "7   2   6", " 6    28 ", "   419  5", "    8  79"],
    Given = maps:from_list([{{R, C}, D - $0} || {R, Row} <- lists:zip(lists:seq(0, 8), Rows), {C, D} <- lists:zip(lists:seq(0, 8), Row), D =/= $\s]),
    lists:sort(maps:to_list(solve([{R, C} || R <- lists:seq(0, 8), C <- lists:seq(0, 8), not is_map_key({R, C}, Given)], Given))).
solve([], Board) -> Board;
solve([At | Rest], Board) -> attempt(candidates(At, Board), At, Rest, Board).
attempt([], _, _, _) -> none;
attempt([D | Ds], At, Rest, Board) ->
    case solve(Rest, Board#{At => D}) of
        none -> attempt(Ds, At, Rest, Board);
        Solved -> Solved
    end.
candidates({R, C}, Board) ->
    R0 = R div 3 * 3, C0 = C div 3 * 3,
    Taken = lists:foldl(fun(At, Bits) -> case Board of #{At := D} -> Bits bor (1 bsl D); _ -> Bits end end, 0,
                        [{R, X} || X <- [0, 1, 2, 3, 4, 5, 6, 7, 8]] ++ [{X, C} || X <- [0, 1, 2, 3, 4, 5, 6, 7, 8]] ++
                        [{R0 + I, C0 + J} || I <- [0, 1, 2], J <- [0, 1, 2]]),
    [D || D <- [1, 2, 3, 4, 5, 6, 7, 8, 9], Taken band (1 bsl D) =:= 0].

%% ---- binaries

dna(N, S) -> dna(N, S, <<>>).
dna(0, _, Acc) -> Acc;
dna(N, S, Acc) ->
    S1 = (S * 3877 + 29573) rem 139968,
    Base = if S1 < 42000 -> $A; S1 < 70000 -> $C; S1 < 98000 -> $G; true -> $T end,
    dna(N - 1, S1, <<Acc/binary, Base>>).

kmers(B, K, Counts) when byte_size(B) < K -> lists:sublist(lists:reverse(lists:keysort(2, maps:to_list(Counts))), 1);
kmers(<<_, Rest/binary>> = B, K, Counts) ->
    Key = binary_part(B, 0, K),
    kmers(Rest, K, case Counts of #{Key := N} -> Counts#{Key := N + 1}; _ -> Counts#{Key => 1} end).

complement(B) -> << <<(case C of $A -> $T; $C -> $G; $G -> $C; $T -> $A end)>> || <<C>> <= B>>.

encode64(B) -> encode64(B, <<>>).
encode64(<<A:6, B:6, C:6, D:6, Rest/binary>>, Acc) -> encode64(Rest, <<Acc/binary, (e64(A)), (e64(B)), (e64(C)), (e64(D))>>);
encode64(<<A:6, B:6, C:4>>, Acc) -> <<Acc/binary, (e64(A)), (e64(B)), (e64(C bsl 2)), $=>>;
encode64(<<A:6, B:2>>, Acc) -> <<Acc/binary, (e64(A)), (e64(B bsl 4)), $=, $=>>;
encode64(<<>>, Acc) -> Acc.
e64(N) when N < 26 -> $A + N;
e64(N) when N < 52 -> $a + N - 26;
e64(N) when N < 62 -> $0 + N - 52;
e64(62) -> $+;
e64(63) -> $/.
decode64(B) -> decode64(B, <<>>).
decode64(<<A, B, $=, $=>>, Acc) -> <<Acc/binary, (d64(A)):6, (d64(B) bsr 4):2>>;
decode64(<<A, B, C, $=>>, Acc) -> <<Acc/binary, (d64(A)):6, (d64(B)):6, (d64(C) bsr 2):4>>;
decode64(<<A, B, C, D, Rest/binary>>, Acc) -> decode64(Rest, <<Acc/binary, (d64(A)):6, (d64(B)):6, (d64(C)):6, (d64(D)):6>>);
decode64(<<>>, Acc) -> Acc.
d64(C) when C >= $a, C =< $z -> C - $a + 26;
d64(C) when C >= $A, C =< $Z -> C - $A;
d64(C) when C >= $0, C =< $9 -> C - $0 + 52;
d64($+) -> 62;
d64($/) -> 63.

crc_table() -> list_to_tuple([crc_entry(N, 8) || N <- lists:seq(0, 255)]).
crc_entry(N, 0) -> N;
crc_entry(N, K) when N band 1 =:= 1 -> crc_entry((N bsr 1) bxor 16#edb88320, K - 1);
crc_entry(N, K) -> crc_entry(N bsr 1, K - 1).
crc(<<C, Rest/binary>>, Crc, Table) -> crc(Rest, element(((Crc bxor C) band 255) + 1, Table) bxor (Crc bsr 8), Table);
crc(<<>>, Crc, _) -> Crc bxor 16#ffffffff.

csv(B) -> csv(B, [], [], 0).
csv(<<>>, [], [], Rows) -> Rows;
csv(<<$", Rest/binary>>, Fields, [], Rows) -> quoted(Rest, 0, Rest, Fields, Rows);
csv(<<$,, Rest/binary>>, Fields, Field, Rows) -> csv(Rest, [lists:reverse(Field) | Fields], [], Rows);
csv(<<$\n, Rest/binary>>, Fields, Field, Rows) -> csv(Rest, [], [], Rows + erlang:phash2([lists:reverse(Field) | Fields]) rem 7);
csv(<<C, Rest/binary>>, Fields, Field, Rows) -> csv(Rest, Fields, [C | Field], Rows).
quoted(<<$", $,, Rest/binary>>, N, From, Fields, Rows) -> csv(Rest, [binary_part(From, 0, N) | Fields], [], Rows);
quoted(<<_, Rest/binary>>, N, From, Fields, Rows) -> quoted(Rest, N + 1, From, Fields, Rows).

request(N) ->
    iolist_to_binary(["Host: example.org\r\nUser-Agent: test/", integer_to_list(N), "\r\nAccept: text/html, */*\r\nAccept-Encoding: gzip\r\n",
                      "Content-Length: ", integer_to_list(N * 37), "\r\nConnection: keep-alive\r\nCookie: a=", words(30, N), "\r\n\r\n"]).
headers(<<"\r\n">>, Acc) -> lists:reverse(Acc);
headers(B, Acc) -> header_name(B, <<>>, Acc).
header_name(<<": ", Rest/binary>>, Name, Acc) -> header_value(Rest, 0, Rest, Name, Acc);
header_name(<<C, Rest/binary>>, Name, Acc) when C >= $A, C =< $Z -> header_name(Rest, <<Name/binary, (C + 32)>>, Acc);
header_name(<<C, Rest/binary>>, Name, Acc) -> header_name(Rest, <<Name/binary, C>>, Acc).
header_value(<<"\r\n", Rest/binary>>, N, From, Name, Acc) -> headers(Rest, [{Name, binary_part(From, 0, N)} | Acc]);
header_value(<<_, Rest/binary>>, N, From, Name, Acc) -> header_value(Rest, N + 1, From, Name, Acc).

document() -> #{<<"id">> => 17, <<"items">> => [#{<<"n">> => N, <<"price">> => N / 4, <<"tags">> => [<<"x">>, <<"long tag">>, true, nil]} || N <- lists:seq(1, 60)]}.
pack(nil) -> <<16#c0>>;
pack(false) -> <<16#c2>>;
pack(true) -> <<16#c3>>;
pack(N) when is_integer(N), N >= 0, N < 128 -> <<N>>;
pack(N) when is_integer(N) -> <<16#d3, N:64>>;
pack(F) when is_float(F) -> <<16#cb, F/float>>;
pack(B) when is_binary(B), byte_size(B) < 32 -> [<<(16#a0 bor byte_size(B))>>, B];
pack(L) when is_list(L) -> [<<16#dc, (length(L)):16>>, [pack(E) || E <- L]];
pack(M) when is_map(M) -> [<<16#de, (map_size(M)):16>>, [[pack(K), pack(V)] || {K, V} <- maps:to_list(M)]].
unpack(<<N, Rest/binary>>) when N < 128 -> {N, Rest};
unpack(<<16#c0, Rest/binary>>) -> {nil, Rest};
unpack(<<16#c2, Rest/binary>>) -> {false, Rest};
unpack(<<16#c3, Rest/binary>>) -> {true, Rest};
unpack(<<16#d3, N:64, Rest/binary>>) -> {N, Rest};
unpack(<<16#cb, F/float, Rest/binary>>) -> {F, Rest};
unpack(<<5:3, N:5, B:N/binary, Rest/binary>>) -> {B, Rest};
unpack(<<16#dc, N:16, Rest/binary>>) -> unpack_list(N, Rest, []);
unpack(<<16#de, N:16, Rest/binary>>) -> unpack_map(N, Rest, #{}).
unpack_list(0, Rest, Acc) -> {lists:reverse(Acc), Rest};
unpack_list(N, B, Acc) -> {V, Rest} = unpack(B), unpack_list(N - 1, Rest, [V | Acc]).
unpack_map(0, Rest, M) -> {M, Rest};
unpack_map(N, B, M) -> {K, B1} = unpack(B), {V, Rest} = unpack(B1), unpack_map(N - 1, Rest, M#{K => V}).

escape(B) -> escape(B, 0, B, []).
escape(<<C, Rest/binary>>, N, From, Acc) ->
    case C of
        $< -> escape(Rest, 0, Rest, [<<"&lt;">>, binary_part(From, 0, N) | Acc]);
        $> -> escape(Rest, 0, Rest, [<<"&gt;">>, binary_part(From, 0, N) | Acc]);
        $& -> escape(Rest, 0, Rest, [<<"&amp;">>, binary_part(From, 0, N) | Acc]);
        $" -> escape(Rest, 0, Rest, [<<"&quot;">>, binary_part(From, 0, N) | Acc]);
        $' -> escape(Rest, 0, Rest, [<<"&#39;">>, binary_part(From, 0, N) | Acc]);
        _ -> escape(Rest, N + 1, From, Acc)
    end;
escape(<<>>, N, From, Acc) -> lists:reverse([binary_part(From, 0, N) | Acc]).

%% Knuth, Morris and Pratt.
search(Text, Wanted) -> search(Text, 0, 0, Wanted, failures(Wanted, 1, 0, #{0 => 0})).
search(_, At, K, Wanted, _) when K =:= byte_size(Wanted) -> At - K;
search(<<>>, _, _, _, _) -> none;
search(<<C, Rest/binary>> = Text, At, K, Wanted, F) ->
    case binary:at(Wanted, K) of
        C -> search(Rest, At + 1, K + 1, Wanted, F);
        _ when K =:= 0 -> search(Rest, At + 1, 0, Wanted, F);
        _ -> search(Text, At, maps:get(K - 1, F), Wanted, F)
    end.
failures(W, I, _, F) when I =:= byte_size(W) -> F;
failures(W, I, K, F) ->
    case binary:at(W, I) =:= binary:at(W, K) of
        true -> failures(W, I + 1, K + 1, F#{I => K + 1});
        false when K =:= 0 -> failures(W, I + 1, 0, F#{I => 0});
        false -> failures(W, I, maps:get(K - 1, F), F)
    end.

bloom(N) ->
    Filter = lists:foldl(fun(K, A) -> [atomics:put(A, H, 1) || H <- hashes(K)], A end, atomics:new(65536, []), lists:seq(1, N)),
    length([K || K <- lists:seq(N, 2 * N), lists:all(fun(H) -> atomics:get(Filter, H) =:= 1 end, hashes(K))]).
hashes(K) -> A = erlang:phash2(K, 65536), B = erlang:phash2({K}, 65536), [1 + (A + I * B) rem 65536 || I <- [0, 1, 2, 3]].

%% ---- interpreters

brainfuck() ->
    Text = "++++++++[>++++[>++>+++>+++>+<<<<-]>+>+>->>+[<]<-]>>.>---.+++++++..+++.>>.<-.<.+++.------.--------.>>+.>++.",
    {Program, []} = bf_parse(Text, []),
    [bf_run(Program, {[], 0, []}, []) || _ <- lists:seq(1, 900)].
bf_parse([], Acc) -> {lists:reverse(Acc), []};
bf_parse([$[ | T], Acc) -> {Loop, Rest} = bf_parse(T, []), bf_parse(Rest, [{loop, Loop} | Acc]);
bf_parse([$] | T], Acc) -> {lists:reverse(Acc), T};
bf_parse([C | T], Acc) -> bf_parse(T, [C | Acc]).
bf_run([], Tape, Out) -> {Tape, Out};
bf_run([{loop, Body} | P] = All, {_, V, _} = Tape, Out) ->
    case V of
        0 -> bf_run(P, Tape, Out);
        _ -> {Tape1, Out1} = bf_run(Body, Tape, Out), bf_run(All, Tape1, Out1)
    end;
bf_run([$+ | P], {L, V, R}, Out) -> bf_run(P, {L, (V + 1) band 255, R}, Out);
bf_run([$- | P], {L, V, R}, Out) -> bf_run(P, {L, (V - 1) band 255, R}, Out);
bf_run([$> | P], {L, V, []}, Out) -> bf_run(P, {[V | L], 0, []}, Out);
bf_run([$> | P], {L, V, [N | R]}, Out) -> bf_run(P, {[V | L], N, R}, Out);
bf_run([$< | P], {[N | L], V, R}, Out) -> bf_run(P, {L, N, [V | R]}, Out);
bf_run([$< | P], {[], V, R}, Out) -> bf_run(P, {[], 0, [V | R]}, Out);
bf_run([$. | P], {_, V, _} = Tape, Out) -> bf_run(P, Tape, [V | Out]).

definitions() ->
    #{fib => {function, [n], {'if', {op, '<', {var, n}, {int, 2}}, {var, n},
        {op, '+', {call, {var, fib}, [{op, '-', {var, n}, {int, 1}}]}, {call, {var, fib}, [{op, '-', {var, n}, {int, 2}}]}}}}}.
evaluate({int, N}, _) -> N;
evaluate({var, Name}, Env) -> maps:get(Name, Env);
evaluate({op, Op, A, B}, Env) -> operate(Op, evaluate(A, Env), evaluate(B, Env));
evaluate({'if', If, Then, Else}, Env) -> case evaluate(If, Env) of true -> evaluate(Then, Env); false -> evaluate(Else, Env) end;
evaluate({call, F, Args}, Env) ->
    {function, Names, Body} = evaluate(F, Env),
    evaluate(Body, bind(Names, [evaluate(A, Env) || A <- Args], Env)).
operate('+', A, B) -> A + B;
operate('-', A, B) -> A - B;
operate('<', A, B) -> A < B.
bind([N | Ns], [V | Vs], Env) -> bind(Ns, Vs, Env#{N => V});
bind([], [], Env) -> Env.

%% ---- processes

pubsub(Subscribers, Messages) ->
    Self = self(),
    Pids = [spawn_link(?MODULE, subscriber, [Self, 0]) || _ <- lists:seq(1, Subscribers)],
    [[Pid ! {event, N, [N, N + 1]} || Pid <- Pids] || N <- lists:seq(1, Messages)],
    [Pid ! stop || Pid <- Pids],
    lists:sum([receive {Pid, Sum} -> Sum end || Pid <- Pids]).
subscriber(To, Sum) ->
    receive
        {event, N, [N | _]} -> subscriber(To, Sum + N);
        stop -> To ! {self(), Sum}
    end.

pipeline(Stages, Messages) ->
    First = lists:foldl(fun(N, To) -> spawn_link(?MODULE, stage, [N, To]) end, self(), lists:seq(1, Stages)),
    [First ! N || N <- lists:seq(1, Messages)],
    First ! stop,
    gather(0).
stage(N, To) ->
    receive
        stop -> To ! stop;
        X -> To ! (X + N), stage(N, To)
    end.
gather(Sum) -> receive stop -> Sum; X -> gather(Sum + X) end.
