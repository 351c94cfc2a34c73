%% SPDX-License-Identifier: Apache-2.0
%% Old code goes while others call what replaced it, call its funs, fail in it and ask about it: nobody finds half of it.
-module(otp_purge).
-export([main/0]).
-define(M, otp_purge_one).
-define(VERSIONS, 60).

main() ->
    load(1),
    Work = [fun calls/1, fun funs/1, fun fails/1, fun asks/1],
    Pids = [spawn_monitor(fun() -> repeat(Do, 1, 0) end) || Do <- Work],
    [begin go_softly(), load(Version) end || Version <- lists:seq(2, ?VERSIONS)],
    go_softly(),
    io:format("~p~n", [?M:version()]),
    [Pid ! stop || {Pid, _} <- Pids],
    io:format("~0p~n", [[receive {'DOWN', M, process, Pid, Why} -> Why end || {Pid, M} <- Pids]]),
    io:format("~p~n", [erlang:check_old_code(?M)]),
    true = code:delete(?M),
    io:format("~p~n", [{code:soft_purge(?M), catch_undef()}]).

catch_undef() -> try ?M:version() catch error:Reason -> Reason end.

%% Until it is told to stop; it must have done something.
repeat(Do, Last, N) ->
    Now = Do(Last),
    receive stop -> exit({last, Now =< ?VERSIONS, worked, N > 0})
    after 0 -> repeat(Do, Now, N + 1)
    end.

%% Versions only rise.
calls(Last) ->
    Now = ?M:version(),
    true = Now >= Last,
    Now.

%% A fun runs, or is found to be gone.
funs(Last) ->
    {Version, Fun} = ?M:make(),
    try Fun(1) of {Version, 1} -> Version
    catch error:Reason when Reason =:= undef; element(1, Reason) =:= badfun -> Last
    end.

fails(Last) ->
    try ?M:fail(Last)
    catch error:{failed, Version, Last}:Stack -> [{?M, fail, 1, _} | _] = Stack, Version
    end.

asks(Last) ->
    true = is_list(?M:module_info(exports)),
    true = is_binary(?M:module_info(md5)),
    [true = is_list(Stack) || P <- processes(), {current_stacktrace, Stack} <- [process_info(P, current_stacktrace)]],
    true = erlang:module_loaded(?M),
    Last.

go_softly() -> code:soft_purge(?M) orelse begin erlang:yield(), go_softly() end.

load(Version) ->
    Forms = [begin {ok, Tokens, _} = erl_scan:string(Text), {ok, Form} = erl_parse:parse_form(Tokens), Form end || Text <- [
        "-module(otp_purge_one).", "-export([version/0, make/0, fail/1]).",
        "version() -> " ++ integer_to_list(Version) ++ ".",
        "make() -> V = version(), {V, fun(X) -> {V, X} end}.",
        "fail(X) -> V = version(), error({failed, V, X})."]],
    {ok, ?M, Binary} = compile:forms(Forms),
    {module, ?M} = code:load_binary(?M, "none", Binary).

%% expect: 60
%% expect: [{last,true,worked,true},{last,true,worked,true},{last,true,worked,true},{last,true,worked,true}]
%% expect: false
%% expect: {true,undef}
