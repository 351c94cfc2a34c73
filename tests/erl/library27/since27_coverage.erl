%% SPDX-License-Identifier: Apache-2.0
-module(since27_coverage).
-export([main/0]).
%% Native coverage: which functions and lines of a module ran, in each mode, and the tool cover on it.

main() ->
    true = code:coverage_support(),
    modes(),
    [covered(Mode) || Mode <- [function, function_counters, line, line_counters]],
    unmarked(),
    loops(),
    reloaded(),
    counted_by_all(),
    tool().

source() ->
    "-module(covered).\n"
    "-export([pick/1, sum/1, same/1]).\n"
    "pick(X) ->\n"
    "    case X of\n"
    "        a ->\n"
    "            helper(1);\n"
    "        b ->\n"
    "            helper(2) +\n"
    "                2\n"
    "    end.\n"
    "helper(N) -> N.\n"
    "sum([]) ->\n"
    "    0;\n"
    "sum([H | T]) ->\n"
    "    H + sum(T).\n"
    "same(X) -> case X of 1 -> one; 2 -> two; _ -> case X of 3 -> three; _ -> more end end.\n"
    "unused() ->\n"
    "    ok.\n"
    "-compile({nowarn_unused_function, [unused/0]}).\n".

compiled(Module, Text, Options) ->
    {ok, Tokens, _} = erl_scan:string(Text),
    {ok, Module, Binary} = compile:forms(forms(Tokens, []), Options),
    Binary.

forms([], []) ->
    [];
forms([{dot, _} = Dot | Rest], Form) ->
    {ok, Parsed} = erl_parse:parse_form(lists:reverse(Form, [Dot])),
    [Parsed | forms(Rest, [])];
forms([Token | Rest], Form) ->
    forms(Rest, [Token | Form]).

load(Module, Binary) ->
    code:purge(Module),
    {module, Module} = code:load_binary(Module, "covered.erl", Binary),
    ok.

fails(F) ->
    try F() catch Class:Reason -> {Class, Reason} end.

modes() ->
    io:format("~p~n", [[code:set_coverage_mode(M) || M <- [line, function, none, none]]]),
    io:format("~p~n", [[code:get_coverage_mode(), code:get_coverage_mode(lists)]]),
    io:format("~0p~n", [[fails(F) || F <- [fun() -> code:set_coverage_mode(lines) end, fun() -> code:get_coverage_mode(no_such_module) end,
        fun() -> code:get_coverage_mode(1) end, fun() -> code:get_coverage(function, lists) end, fun() -> code:get_coverage(line, 1) end,
        fun() -> code:reset_coverage(lists) end, fun() -> code:reset_coverage(no_such_module) end]]]).

%% expect: [none,line,function,none]
%% expect: [none,none]
%% expect: [{error,badarg},{error,badarg},{error,badarg},{error,badarg},{error,badarg},{error,badarg},{error,badarg}]

run() ->
    1 = covered:pick(a),
    4 = covered:pick(b),
    6 = covered:sum([1, 2, 3]),
    two = covered:same(2).

covered(Mode) ->
    none = code:set_coverage_mode(Mode),
    load(covered, compiled(covered, source(), [line_coverage, {inline, []}])),
    Mode = code:set_coverage_mode(none),
    Mode = code:get_coverage_mode(covered),
    run(),
    run(),
    io:format("~p~n", [Mode]),
    [io:format("~0p~n", [fails(fun() -> code:get_coverage(Level, covered) end)]) || Level <- [function, line, cover_id_line, other]],
    ok = code:reset_coverage(covered),
    io:format("~0p~n", [lists:usort([V || {_, V} <- code:get_coverage(function, covered)])]).

%% expect: function
%% expect: [{{pick,1},true},{{helper,1},true},{{sum,1},true},{{same,1},true}]
%% expect: {error,badarg}
%% expect: {error,badarg}
%% expect: {error,badarg}
%% expect: [false]
%% expect: function_counters
%% expect: [{{pick,1},4},{{helper,1},4},{{sum,1},8},{{same,1},2}]
%% expect: {error,badarg}
%% expect: {error,badarg}
%% expect: {error,badarg}
%% expect: [0]
%% expect: line
%% expect: [{{pick,1},true},{{helper,1},true},{{sum,1},true},{{same,1},true}]
%% expect: [{4,true},{8,true},{6,true},{11,true},{15,true},{13,true},{16,true}]
%% expect: {error,badarg}
%% expect: {error,badarg}
%% expect: [false]
%% expect: line_counters
%% expect: [{{pick,1},true},{{helper,1},true},{{sum,1},true},{{same,1},true}]
%% expect: [{4,4},{8,2},{6,2},{11,4},{15,6},{13,2},{16,2}]
%% expect: [{1,4},{3,2},{2,2},{4,4},{6,6},{5,2},{7,2}]
%% expect: {error,badarg}
%% expect: [false]

%% Without marks there is nothing to count by line.
unmarked() ->
    none = code:set_coverage_mode(line),
    load(covered, compiled(covered, source(), [])),
    code:set_coverage_mode(none),
    io:format("~p~n", [code:get_coverage_mode(covered)]),
    load(covered, compiled(covered, source(), [line_coverage, force_line_counters])),
    io:format("~p~n", [code:get_coverage_mode(covered)]).

%% expect: none
%% expect: line_counters

%% Functions that pass over bytes are counted call by call.
loops() ->
    Text = "-module(covered).\n"
        "-export([skip/1, count/2]).\n"
        "skip(<<$\\s, R/binary>>) -> skip(R);\n"
        "skip(R) -> R.\n"
        "count(<<C, R/binary>>, N) when C >= $a, C =< $z -> count(R, N + 1);\n"
        "count(_, N) ->\n"
        "    N.\n",
    Binary = compiled(covered, Text, [line_coverage]),
    [begin
         code:set_coverage_mode(Mode),
         load(covered, Binary),
         code:set_coverage_mode(none),
         <<"x">> = covered:skip(<<"       x">>),
         11 = covered:count(<<"abcdefghijk!">>, 0),
         io:format("~0p~n", [code:get_coverage(Level, covered)])
     end || {Mode, Level} <- [{function_counters, function}, {line_counters, line}]].

%% expect: [{{skip,1},8},{{count,2},12}]
%% expect: [{3,7},{4,1},{5,11},{7,1}]

%% What was counted goes with the code; what is old keeps its own while it runs.
reloaded() ->
    Binary = compiled(covered, source(), [line_coverage]),
    code:set_coverage_mode(line_counters),
    load(covered, Binary),
    run(),
    code:set_coverage_mode(function),
    load(covered, Binary),
    code:set_coverage_mode(none),
    io:format("~0p~n", [{code:get_coverage_mode(covered), code:get_coverage(function, covered)}]),
    code:purge(covered),
    true = code:delete(covered),
    io:format("~0p~n", [fails(fun() -> code:get_coverage(function, covered) end)]),
    code:purge(covered),
    io:format("~0p~n", [fails(fun() -> code:get_coverage_mode(covered) end)]).

%% expect: {function,[{{pick,1},false},{{helper,1},false},{{sum,1},false},{{same,1},false}]}
%% expect: {error,badarg}
%% expect: {error,badarg}

counted_by_all() ->
    code:set_coverage_mode(function_counters),
    load(covered, compiled(covered, source(), [])),
    code:set_coverage_mode(none),
    Tasks = [spawn_monitor(fun() -> [covered:pick(a) || _ <- lists:seq(1, 10000)] end) || _ <- lists:seq(1, 8)],
    [receive {'DOWN', Monitor, process, _, normal} -> ok end || {_, Monitor} <- Tasks],
    io:format("~0p~n", [code:get_coverage(function, covered)]).

%% expect: [{{pick,1},80000},{{helper,1},80000},{{sum,1},0},{{same,1},0}]

tool() ->
    Folder = filename:join("/tmp", "since27_coverage." ++ os:getpid()),
    File = filename:join(Folder, "covered.erl"),
    ok = file:make_dir(Folder),
    try
        ok = file:write_file(File, source()),
        {ok, _} = cover:start(),
        {ok, covered} = cover:compile(File),
        io:format("~p~n", [code:get_coverage_mode(covered)]),
        run(),
        run(),
        io:format("~0p~n", [cover:analyse(covered, calls, line)]),
        io:format("~0p~n", [cover:analyse(covered, coverage, function)]),
        io:format("~0p~n", [code:get_coverage(cover_id_line, covered)]),
        ok = cover:reset(covered),
        io:format("~0p~n", [cover:analyse(covered, coverage, module)]),
        ok = cover:stop()
    after
        file:del_dir_r(Folder)
    end.

%% expect: line_counters
%% expect: {ok,[{{covered,4},4},{{covered,6},2},{{covered,8},2},{{covered,11},4},{{covered,13},2},{{covered,15},6},{{covered,16},2},{{covered,18},0}]}
%% expect: {ok,[{{covered,helper,1},{1,0}},{{covered,pick,1},{3,0}},{{covered,same,1},{1,0}},{{covered,sum,1},{2,0}},{{covered,unused,0},{0,1}}]}
%% expect: [{1,0},{3,0},{2,0},{4,0},{6,0},{5,0},{7,0}]
%% expect: {ok,{covered,{0,8}}}
