%% SPDX-License-Identifier: Apache-2.0
%% vmbench - a portable benchmark set for BEAM virtual machines.
%%
%%   erl -noshell -run vmbench main NAME [OPT...] -run erlang halt
%%   erl -noshell -run vmbench main NAME halt
%%   vmbench:main(["fib"])                         direct call, returns ok
%%   vmbench:main(["list"])                        all names
%%
%% Prints one line:  NAME VALUE UNIT   (UNIT is us, or B/proc for many_procs_mem).
%% A wrong result crashes with badmatch instead of printing a value.
%%
%% Options (strings, after the name):
%%   div=N    do 1/N of the work and print time*N ("extrapolated"; for slow VMs)
%%   display  print with erlang:display({Name,Value,Unit}), not io:format
%%   halt     erlang:halt(0) at the end (1 on a crash)
%%
%% Needs, by group (see names/0):
%%   cpu    erlang BIFs, lists, maps, erlang:monotonic_time/1 only
%%   proc   + spawn, send, receive, monitors, send_after/cancel_timer
%%   otp    + gen_server / ets / file / erl_scan / erl_parse / io_lib
%% Set the environment variable VMBENCH_DIR for the files of `file` (default /tmp).
%% many_procs* need +P 1000000 (or more) on OTP.
-module(vmbench).
-export([main/1, names/0, run/2]).
%% gen_server callbacks
-export([init/1, handle_call/3, handle_cast/2, handle_info/2, terminate/2, code_change/3]).
%% for local/remote calls and spawns by name
-export([ident/1]).

names() ->
    [{cpu, ["fib", "tak", "loop", "nrev", "sort", "msort", "hof", "gctree", "bin", "binparse", "utf8",
            "bignum", "bignum256", "nbody", "maps", "smallmap", "bigmap", "trycatch", "dispatch", "t2b"]},
     {proc, ["ring", "spawns", "pingpong", "pingpong2s", "bigmsg", "selrecv", "monref",
             "many_procs", "many_procs_mem", "timers_cancel", "timers_fire"]},
     {otp, ["gencall", "ets", "ets_ordered", "ets_counter", "file", "scanparse"]}].

main(Args) ->
    case lists:member("halt", Args) of
        true ->
            try main1(Args) of _ -> erlang:halt(0)
            catch C:R -> erlang:display({failed, Args, C, R}), erlang:halt(1) end;
        false -> main1(Args)
    end.

main1(["list" | _]) -> erlang:display(names()), ok;
main1([Name | Opts]) ->
    Div = divisor(Opts),
    {Value, Unit} = run(Name, Div),
    case lists:member("display", Opts) of
        true -> erlang:display({list_to_atom(Name), Value, Unit});
        false -> io:format("~s ~w ~s~n", [Name, Value, atom_to_list(Unit)])
    end,
    ok.

divisor([[$d, $i, $v, $= | N] | _]) -> list_to_integer(N);
divisor([_ | T]) -> divisor(T);
divisor([]) -> 1.

run("many_procs_mem", Div) -> {many_procs_mem(500000 div Div), 'B/proc'};
run(Name, Div) ->
    F = bench(Name, Div),
    T0 = erlang:monotonic_time(microsecond),
    F(),
    T1 = erlang:monotonic_time(microsecond),
    {(T1 - T0) * Div, us}.

n(N, Div) -> case N div Div of 0 -> 1; M -> M end.

%% bench(Name, Div) prepares the input and returns the fun to time.
bench("noop", _) -> fun() -> ok end;
%% ---- cpu
bench("fib", D) ->
    N = fibn(39, D), fun() -> fibcheck(N, fib(N)) end;
bench("tak", D) -> N = n(100, D), fun() -> tak_rep(N) end;
bench("loop", D) -> N = n(250000000, D), fun() -> loop(N, 0) end;
bench("nrev", D) -> N = n(300000, D), L = lists:seq(1, 30), fun() -> nrev(N, L) end;
bench("sort", D) ->
    N = n(1000000, D), L = rnd(N, 12345),
    fun() -> S = lists:sort(L), N = length(S), true = sorted(S) end;
bench("msort", D) ->
    N = n(1000000, D), L = rnd(N, 12345),
    fun() -> S = msort(L), N = length(S), true = sorted(S) end;
bench("hof", D) -> N = n(60, D), L = lists:seq(1, 100000), fun() -> hof(N, L) end;
bench("gctree", D) -> N = n(600, D), fun() -> gctree(N) end;
bench("bin", D) -> N = n(2500, D), fun() -> bin(N) end;
bench("binparse", D) -> N = n(700, D), B = bp_input(5000), fun() -> binparse(N, B) end;
bench("utf8", D) -> N = n(450, D), B = utf8_input(20000), fun() -> utf8(N, B) end;
bench("bignum", D) -> N = n(40, D), fun() -> bignum(N) end;
bench("bignum256", D) -> N = n(3000000, D), fun() -> bignum256(N) end;
bench("nbody", D) -> N = n(400000, D), fun() -> nbody(N, D) end;
bench("maps", D) -> N = n(1000000, D), fun() -> maps(N) end;
bench("smallmap", D) -> N = n(30000000, D), fun() -> smallmap(N) end;
bench("bigmap", D) ->
    N = n(1000000, D), K = 10000,
    M = lists:foldl(fun(I, A) -> A#{I => 0} end, #{}, lists:seq(1, K)),
    fun() -> bigmap(N, K, M) end;
bench("trycatch", D) -> N = n(8000000, D), fun() -> trycatch(N) end;
bench("dispatch", D) -> N = n(40000000, D), fun() -> N = dispatch(N, ?MODULE, 0) end;
bench("t2b", D) ->
    N = n(40, D),
    T = [{I, <<"key", I:32>>, [a, b, I], #{id => I, name => "abc"}, 1.5 * I} || I <- lists:seq(1, 20000)],
    fun() -> t2b(N, T) end;
%% ---- processes
bench("ring", D) -> N = n(3000000, D), fun() -> ring(100, N) end;
bench("spawns", D) -> N = n(500000, D), fun() -> spawns(N) end;
bench("pingpong", D) ->
    N = n(1000000, D),
    fun() -> P = spawn(fun() -> pong() end), ping(N, P), P ! stop end;
bench("pingpong2s", D) ->
    %% the two processes bound to schedulers 1 and 2 (undocumented OTP option)
    N = n(50000, D),
    fun() ->
        Me = self(),
        R = make_ref(),
        sp(fun() -> P = sp(fun() -> pong() end, 2), ping(N, P), P ! stop, Me ! R end, 1),
        receive R -> ok end
    end;
bench("bigmsg", D) -> N = n(10000, D), L = lists:seq(1, 10000), fun() -> bigmsg(N, L) end;
bench("selrecv", D) -> N = n(50000, D), fun() -> selrecv(N, 2000) end;
bench("monref", D) ->
    N = n(600000, D),
    fun() -> P = spawn(fun() -> server(0) end), N = monref(N, P, 0), P ! stop end;
bench("many_procs", D) -> N = n(500000, D), fun() -> Ps = idle(N), N = length(Ps), stop(Ps) end;
bench("timers_cancel", D) -> N = n(100000, D), fun() -> timers_cancel(10, N) end;
bench("timers_fire", D) -> N = n(100000, D), fun() -> timers_fire(20, N) end;
%% ---- otp
bench("gencall", D) ->
    N = n(400000, D),
    fun() -> {ok, P} = gen_server:start(?MODULE, 0, []), gencall(N, P), N = gen_server:call(P, get),
             gen_server:stop(P) end;
bench("ets", D) -> N = n(1000000, D), fun() -> ets_t(set, N, 1) end;
bench("ets_ordered", D) -> N = n(1000000, D), fun() -> ets_t(ordered_set, N, 2654435761) end;
bench("ets_counter", D) -> N = n(3000000, D), fun() -> ets_counter(N) end;
bench("file", D) -> N = n(20000, D), Dir = tmpdir(), fun() -> files(N, Dir) end;
bench("scanparse", D) -> N = n(40, D), Src = source(200), fun() -> scanparse(N, Src) end.

%% ------------------------------------------------------------------ helpers
ident(X) -> X.

%% Linear congruential generator, 31-bit state: all intermediates are small ints (< 2^59).
rnd(N, Seed) -> rnd(N, Seed, []).
rnd(0, _, A) -> A;
rnd(N, S, A) -> S1 = (S * 1103515245 + 12345) band 16#7fffffff, rnd(N - 1, S1, [S1 | A]).

sorted([A | [B | _] = T]) when A =< B -> sorted(T);
sorted([_]) -> true;
sorted([]) -> true;
sorted(_) -> false.

%% ------------------------------------------------------------------ cpu
fib(0) -> 0;
fib(1) -> 1;
fib(N) -> fib(N - 1) + fib(N - 2).

%% fib(N) costs about phi^N: 1/D of the work is N - log(D)/log(phi). Powers of phi only, so
%% use D = 11 (N-5), 123 (N-10) for exact extrapolation.
fibn(N, D) when D =< 1 -> N;
fibn(N, D) -> fibn(N - 5, D div 11).
fibcheck(N, V) -> V = fibi(N, 0, 1).
fibi(0, A, _) -> A;
fibi(N, A, B) -> fibi(N - 1, B, A + B).

tak_rep(0) -> ok;
tak_rep(N) -> 7 = tak(18, 12, 6), 9 = tak(24, 16, 8), tak_rep(N - 1).
tak(X, Y, Z) when Y < X -> tak(tak(X - 1, Y, Z), tak(Y - 1, Z, X), tak(Z - 1, X, Y));
tak(_, _, Z) -> Z.

loop(0, A) -> A;
loop(N, A) -> loop(N - 1, (A bxor N) band 16#ffffff).

app([], L) -> L;
app([H | T], L) -> [H | app(T, L)].
rev([]) -> [];
rev([H | T]) -> app(rev(T), [H]).
nrev(0, _) -> ok;
nrev(N, L) -> [30 | _] = rev(L), nrev(N - 1, L).

%% merge sort written here, so that it runs as bytecode on VMs with a native lists:sort
msort([]) -> [];
msort([_] = L) -> L;
msort(L) -> {A, B} = split(L, [], []), merge(msort(A), msort(B)).
split([X, Y | T], A, B) -> split(T, [X | A], [Y | B]);
split([X], A, B) -> {[X | A], B};
split([], A, B) -> {A, B}.
merge([], B) -> B;
merge(A, []) -> A;
merge([X | A], [Y | _] = B) when X =< Y -> [X | merge(A, B)];
merge(A, [Y | B]) -> [Y | merge(A, B)].

hof(0, _) -> ok;
hof(N, L) ->
    M = lists:map(fun(X) -> X * N end, L),
    F = lists:filter(fun(X) -> X rem 2 =:= 0 end, M),
    S = lists:foldl(fun(X, A) -> X + A end, 0, F),
    true = S > 0,
    Z = [{X, Y} || X <- lists:sublist(L, 200), Y <- lists:sublist(L, 200), X + Y > N],
    true = length(Z) > 38000,
    hof(N - 1, L).

%% binary-trees: short-lived trees on top of a long-lived one
gctree(N) ->
    Long = tree(18),
    gct(N),
    524287 = count(Long).
gct(0) -> ok;
gct(N) -> 65535 = count(tree(15)), gct(N - 1).
tree(0) -> {leaf, nil, nil};
tree(D) -> {node, tree(D - 1), tree(D - 1)}.
count({leaf, _, _}) -> 1;
count({node, L, R}) -> 1 + count(L) + count(R).

bin(0) -> ok;
bin(N) ->
    B = << <<X:16, (X * 3):32/little, "abc">> || X <- lists:seq(1, 5000) >>,
    5000 = dec(B, 0),
    bin(N - 1).
dec(<<_:16, _:32/little, "abc", R/binary>>, A) -> dec(R, A + 1);
dec(<<>>, A) -> A.

%% a byte-wise parser: "key123=45678;" records with sub-binaries, and a bit-level header
bp_input(N) ->
    list_to_binary([[<<5:4, 3:3, 1:1, I:24>>, "key", integer_to_list(I), $=, integer_to_list(I * 7), $;]
                    || I <- lists:seq(1, N)]).
binparse(0, _) -> ok;
binparse(N, B) -> 5000 = bp_rec(B, 0), binparse(N - 1, B).
bp_rec(<<5:4, 3:3, 1:1, I:24, R/binary>>, N) ->
    {K, R1} = bp_key(R, R, 0),
    {V, R2} = bp_int(R1, 0),
    V = I * 7,
    true = byte_size(K) > 3,
    bp_rec(R2, N + 1);
bp_rec(<<>>, N) -> N.
bp_key(<<$=, R/binary>>, B, N) -> <<K:N/binary, _/binary>> = B, {K, R};
bp_key(<<_, R/binary>>, B, N) -> bp_key(R, B, N + 1).
bp_int(<<C, R/binary>>, A) when C >= $0, C =< $9 -> bp_int(R, A * 10 + C - $0);
bp_int(<<$;, R/binary>>, A) -> {A, R}.

utf8_input(N) -> << <<(16#20 + (I rem 16#500))/utf8>> || I <- lists:seq(1, N) >>.
utf8(0, _) -> ok;
utf8(N, B) ->
    L = utf8_dec(B, []),
    20000 = length(L),
    B = utf8_enc(L, <<>>),
    utf8(N - 1, B).
utf8_dec(<<C/utf8, R/binary>>, A) -> utf8_dec(R, [C | A]);
utf8_dec(<<>>, A) -> lists:reverse(A).
utf8_enc([C | T], A) -> utf8_enc(T, <<A/binary, C/utf8>>);
utf8_enc([], A) -> A.

%% factorial 2000 (19053 bits), multiplied up and divided down again
bignum(0) -> ok;
bignum(N) ->
    F = fact(2000, 1),
    2000 = undo(F, 1),
    bignum(N - 1).
fact(0, A) -> A;
fact(N, A) -> fact(N - 1, A * N).
undo(2000, I) when I > 1 -> I;
undo(F, I) when F rem I =:= 0 -> undo(F div I, I + 1);
undo(_, I) -> I - 1.

%% bignums that fit 256 bits (for VMs with bounded integers): 127-bit modular products
bignum256(N) ->
    M = 170141183460469231731687303715884105727,
    X = bn256(N, 3, M),
    true = X < M.
bn256(0, X, _) -> X;
bn256(N, X, M) -> bn256(N - 1, (X * X + N) rem M, M).

%% n-body, after the Computer Language Benchmarks Game
nbody(N, D) ->
    Bs = nb_init(),
    E0 = nb_energy(Bs, 0.0),
    true = abs(E0 + 0.169075164) < 1.0e-8,
    Bs1 = nb_adv(N, Bs),
    E1 = nb_energy(Bs1, 0.0),
    true = D > 1 orelse abs(E1 + 0.169075) < 1.0e-4.
nb_init() ->
    Pi = 3.141592653589793, SM = 4 * Pi * Pi, DP = 365.24,
    P = [{4.84143144246472090e+00, -1.16032004402742839e+00, -1.03622044471123109e-01,
          1.66007664274403694e-03 * DP, 7.69901118419740425e-03 * DP, -6.90460016972063023e-05 * DP,
          9.54791938424326609e-04 * SM},
         {8.34336671824457987e+00, 4.12479856412430479e+00, -4.03523417114321381e-01,
          -2.76742510726411899e-03 * DP, 4.99852801234917238e-03 * DP, 2.30417297573763929e-05 * DP,
          2.85885980666130812e-04 * SM},
         {1.28943695621391310e+01, -1.51111514016986312e+01, -2.23307578892655734e-01,
          2.96460137564761618e-03 * DP, 2.37847173959480950e-03 * DP, -2.96589568540237556e-05 * DP,
          4.36624404335156298e-05 * SM},
         {1.53796971148509165e+01, -2.59193146099879641e+01, 1.79258772950371181e-01,
          2.68067772490389322e-03 * DP, 1.62824170038242295e-03 * DP, -9.51592254519715870e-05 * DP,
          5.15138902046611451e-05 * SM}],
    {Px, Py, Pz} = lists:foldl(fun({_, _, _, VX, VY, VZ, M}, {A, B, C}) ->
        {A + VX * M, B + VY * M, C + VZ * M} end, {0.0, 0.0, 0.0}, P),
    [{0.0, 0.0, 0.0, -Px / SM, -Py / SM, -Pz / SM, SM} | P].
nb_adv(0, Bs) -> Bs;
nb_adv(N, Bs) -> nb_adv(N - 1, nb_step(Bs, [])).
nb_step([], Done) -> nb_move(Done, []);
nb_step([B | T], Done) ->
    {B1, T1} = nb_pair(B, T, []),
    nb_step(T1, [B1 | Done]).
nb_pair(B, [], A) -> {B, lists:reverse(A)};
nb_pair({X1, Y1, Z1, U1, V1, W1, M1}, [{X2, Y2, Z2, U2, V2, W2, M2} | T], A) ->
    DX = X1 - X2, DY = Y1 - Y2, DZ = Z1 - Z2,
    D2 = DX * DX + DY * DY + DZ * DZ,
    Mag = 0.01 / (D2 * math:sqrt(D2)),
    A1 = M1 * Mag, A2 = M2 * Mag,
    nb_pair({X1, Y1, Z1, U1 - DX * A2, V1 - DY * A2, W1 - DZ * A2, M1}, T,
            [{X2, Y2, Z2, U2 + DX * A1, V2 + DY * A1, W2 + DZ * A1, M2} | A]).
nb_move([], A) -> A;
nb_move([{X, Y, Z, U, V, W, M} | T], A) ->
    nb_move(T, [{X + 0.01 * U, Y + 0.01 * V, Z + 0.01 * W, U, V, W, M} | A]).
nb_energy([], E) -> E;
nb_energy([{X, Y, Z, U, V, W, M} | T], E) ->
    nb_energy(T, nb_epair(X, Y, Z, M, T, E + 0.5 * M * (U * U + V * V + W * W))).
nb_epair(_, _, _, _, [], E) -> E;
nb_epair(X, Y, Z, M, [{X2, Y2, Z2, _, _, _, M2} | T], E) ->
    DX = X - X2, DY = Y - Y2, DZ = Z - Z2,
    nb_epair(X, Y, Z, M, T, E - M * M2 / math:sqrt(DX * DX + DY * DY + DZ * DZ)).

maps(N) ->
    M = lists:foldl(fun(I, M) -> M#{I => I} end, #{}, lists:seq(1, N)),
    N = map_size(M),
    S = N * (N + 1) div 2,
    S = lists:foldl(fun(I, A) -> A + maps:get(I, M) end, 0, lists:seq(1, N)).

%% flatmap of 8 keys: match, update, lookup
smallmap(N) -> smallmap(N, #{a => 0, b => 1, c => 2, d => 3, e => 4, f => 5, g => 6, h => 7}).
smallmap(0, #{a := A}) -> true = A > 0;
smallmap(N, #{a := A, e := E} = M) ->
    smallmap(N - 1, M#{a := A + 1, e := E bxor N}).

%% hash map of 10000 keys: lookup and update at pseudo-random keys
bigmap(N, K, M0) ->
    M = bm(N, 7, K, M0),
    N = maps:fold(fun(_, V, A) -> A + V end, 0, M).
bm(0, _, _, M) -> M;
bm(N, S, K, M) ->
    S1 = (S * 1103515245 + 12345) band 16#7fffffff,
    Key = 1 + (S1 bsr 8) rem K,
    #{Key := V} = M,
    bm(N - 1, S1, K, M#{Key := V + 1}).

trycatch(N) -> tc(N, 0, 0, 0).
tc(0, _, _, _) -> ok;
tc(N, A, B, C) ->
    try thrower(N) of
        _ -> tc(N - 1, A, B, C)
    catch
        throw:_ -> tc(N - 1, A + 1, B, C);
        error:_ -> tc(N - 1, A, B + 1, C);
        exit:_ -> tc(N - 1, A, B, C + 1)
    end.
thrower(N) when N rem 4 =:= 0 -> throw({a, N});
thrower(N) when N rem 4 =:= 1 -> error(badness);
thrower(N) when N rem 4 =:= 2 -> exit(normal);
thrower(N) -> try hd(?MODULE:ident([])) + N catch error:badarg -> N end.

%% remote calls through a variable module, funs, and a wide case
dispatch(0, _, A) -> A;
dispatch(N, M, A) -> dispatch(N - 1, M, M:ident(A) + sel(N band 15)).
sel(0) -> 1; sel(1) -> 1; sel(2) -> 1; sel(3) -> 1; sel(4) -> 1; sel(5) -> 1; sel(6) -> 1; sel(7) -> 1;
sel(8) -> 1; sel(9) -> 1; sel(10) -> 1; sel(11) -> 1; sel(12) -> 1; sel(13) -> 1; sel(14) -> 1; sel(_) -> 1.

t2b(0, _) -> ok;
t2b(N, T) -> B = term_to_binary(T), T = binary_to_term(B), t2b(N - 1, T).

%% ------------------------------------------------------------------ processes
ring(N, M) ->
    First = lists:foldl(fun(_, Next) -> spawn(fun() -> rl(Next) end) end, self(), lists:seq(1, N - 1)),
    First ! M,
    rmain(First).
rmain(First) -> receive 0 -> ok; K -> First ! (K - 1), rmain(First) end.
rl(Next) -> receive 0 -> Next ! 0; K -> Next ! (K - 1), rl(Next) end.

spawns(0) -> ok;
spawns(N) -> P = self(), spawn(fun() -> P ! done end), receive done -> ok end, spawns(N - 1).

ping(0, _) -> ok;
ping(N, P) -> P ! {self(), N}, receive {P, N} -> ping(N - 1, P) end.
pong() -> receive {From, N} -> From ! {self(), N}, pong(); stop -> ok end.

sp(F, Sched) ->
    try spawn_opt(F, [{scheduler, Sched}]) catch _:_ -> spawn(F) end.

bigmsg(N, L) ->
    Me = self(),
    P = spawn(fun() -> sink(Me) end),
    bigmsg1(N, P, L),
    P ! stop.
bigmsg1(0, _, _) -> ok;
bigmsg1(N, P, L) -> P ! {N, L}, receive N -> bigmsg1(N - 1, P, L) end.
sink(Me) -> receive {N, [_ | _]} -> Me ! N, sink(Me); stop -> ok end.

%% selective receive past a backlog of B messages
selrecv(N, B) ->
    Me = self(),
    P = spawn(fun() -> [self() ! {junk, I} || I <- lists:seq(1, B)], selserver(Me) end),
    seldrive(N, P),
    P ! stop.
seldrive(0, _) -> ok;
seldrive(N, P) -> P ! {ask, N}, receive {answer, N} -> seldrive(N - 1, P) end.
selserver(Me) -> receive {ask, N} -> Me ! {answer, N}, selserver(Me); stop -> ok end.

%% the gen_server:call protocol written out: monitor, send, selective receive on the ref, demonitor
server(S) ->
    receive
        {call, {From, Ref}, inc} -> From ! {Ref, S + 1}, server(S + 1);
        stop -> ok
    end.
monref(0, _, Last) -> Last;
monref(N, P, _) ->
    Ref = monitor(process, P),
    P ! {call, {self(), Ref}, inc},
    receive
        {Ref, Reply} -> demonitor(Ref, [flush]), monref(N - 1, P, Reply);
        {'DOWN', Ref, _, _, R} -> exit(R)
    end.

idle(N) -> idle(N, []).
idle(0, A) -> A;
idle(N, A) -> idle(N - 1, [spawn(fun() -> receive stop -> ok end end) | A]).
stop([]) -> ok;
stop([P | T]) -> P ! stop, stop(T).

many_procs_mem(N) ->
    Before = rss(),
    Ps = idle(N),
    N = length(Ps),
    After = rss(),
    stop(Ps),
    (After - Before) div N.
rss() ->
    {ok, B} = file:read_file("/proc/self/status"),
    rss(B).
rss(<<"VmRSS:", R/binary>>) -> rss_kb(R, 0) * 1024;
rss(<<_, R/binary>>) -> rss(R).
rss_kb(<<C, R/binary>>, A) when C >= $0, C =< $9 -> rss_kb(R, A * 10 + C - $0);
rss_kb(<<$k, _/binary>>, A) -> A;
rss_kb(<<_, R/binary>>, A) -> rss_kb(R, A).

timers_cancel(0, _) -> ok;
timers_cancel(R, N) ->
    Ts = tset(N, 3600000, []),
    N = tcancel(Ts, 0),
    timers_cancel(R - 1, N).
tset(0, _, A) -> A;
tset(N, Max, A) -> tset(N - 1, Max, [erlang:send_after(Max - N, self(), {t, N}) | A]).
tcancel([], N) -> N;
tcancel([T | Ts], N) -> L = erlang:cancel_timer(T), true = is_integer(L), tcancel(Ts, N + 1).

%% timers that expire within 1..5 ms, all received: the floor is 5 ms a round
timers_fire(0, _) -> ok;
timers_fire(R, N) -> tfire(N), trecv(N), timers_fire(R - 1, N).
tfire(0) -> ok;
tfire(N) -> erlang:send_after(1 + N rem 5, self(), t), tfire(N - 1).
trecv(0) -> ok;
trecv(N) -> receive t -> trecv(N - 1) end.

%% ------------------------------------------------------------------ otp
init(S) -> {ok, S}.
handle_call(get, _From, S) -> {reply, S, S};
handle_call({add, N}, _From, S) -> {reply, ok, S + N}.
handle_cast(_, S) -> {noreply, S}.
handle_info(_, S) -> {noreply, S}.
terminate(_, _) -> ok.
code_change(_, S, _) -> {ok, S}.

gencall(0, _) -> ok;
gencall(N, P) -> ok = gen_server:call(P, {add, 1}), gencall(N - 1, P).

%% keys N*K mod 2^32: K = 1 descending, a large odd K scrambled (and still distinct)
ets_t(Type, N, K) ->
    T = ets:new(t, [Type, public]),
    e1(T, N, K),
    S = N * (N + 1),
    S = e2(T, N, K, 0),
    ets:delete(T).
e1(_, 0, _) -> ok;
e1(T, N, K) -> ets:insert(T, {N * K band 16#ffffffff, a, N * 2}), e1(T, N - 1, K).
e2(_, 0, _, A) -> A;
e2(T, N, K, A) -> [{_, _, V}] = ets:lookup(T, N * K band 16#ffffffff), e2(T, N - 1, K, A + V).

ets_counter(N) ->
    T = ets:new(t, [set, public, {write_concurrency, true}]),
    ets:insert(T, {c, 0}),
    Me = self(),
    F = fun() -> ec(T, N), Me ! {self(), done} end,
    Ps = [spawn(F), spawn(F)],
    [receive {P, done} -> ok end || P <- Ps],
    N2 = 2 * N,
    [{c, N2}] = ets:lookup(T, c),
    ets:delete(T).
ec(_, 0) -> ok;
ec(T, N) -> ets:update_counter(T, c, 1), ec(T, N - 1).

tmpdir() ->
    Base = case os:getenv("VMBENCH_DIR") of false -> "/tmp"; D -> D end,
    Base ++ "/vmbench." ++ os:getpid().
files(N, Dir) ->
    ok = file:make_dir(Dir),
    Data = list_to_binary(lists:duplicate(100, "0123456789")),
    files1(N, Dir, Data),
    ok = file:del_dir(Dir).
files1(0, _, _) -> ok;
files1(N, Dir, Data) ->
    A = Dir ++ "/a" ++ integer_to_list(N),
    B = Dir ++ "/b" ++ integer_to_list(N),
    ok = file:write_file(A, Data),
    {ok, Data} = file:read_file(A),
    ok = file:rename(A, B),
    ok = file:delete(B),
    files1(N - 1, Dir, Data).

%% stdlib as a load: tokenise, parse and pretty-print Erlang forms
source(N) ->
    lists:append(["f" ++ integer_to_list(I) ++
                  "(X, [H|T], #{k := V}) when is_integer(X), X > " ++ integer_to_list(I) ++
                  " -> case lists:map(fun(Y) -> Y * X + V end, T) of [] -> {ok, H, \"text\"};"
                  " [A, B | _] -> <<A:8, B/binary>>; _ -> try foo:bar(X) catch error:R -> {error, R} end end;\n"
                  "f" ++ integer_to_list(I) ++ "(_, _, _) -> undefined.\n" || I <- lists:seq(1, N)]).
scanparse(0, _) -> ok;
scanparse(N, Src) ->
    {ok, Toks, _} = erl_scan:string(Src),
    200 = sp_forms(Toks, [], 0),
    scanparse(N - 1, Src).
sp_forms([], [], N) -> N;
sp_forms([{dot, _} = D | T], A, N) ->
    {ok, Form} = erl_parse:parse_form(lists:reverse([D | A])),
    true = length(lists:flatten(io_lib:format("~p~n", [Form]))) > 100,
    sp_forms(T, [], N + 1);
sp_forms([Tok | T], A, N) -> sp_forms(T, [Tok | A], N).
