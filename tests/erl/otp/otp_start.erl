%% SPDX-License-Identifier: Apache-2.0
%% What OTP's own start leaves running: applications, the code server, the logger, init.
-module(otp_start).
-export([main/0, log/2]).

main() ->
    io:format("~p~n", [lists:sort([A || {A, _, _} <- application:which_applications()])]),
    io:format("~p~n", [[N || N <- [init, erl_prim_loader, erts_code_purger, logger, application_controller, kernel_sup, code_server,
                                   file_server_2, user, standard_error, global_name_server, kernel_refc, erl_signal_server],
                             not is_pid(whereis(N))]]),
    io:format("~p~n", [init:get_status()]),
    io:format("~p~n", [[code:get_mode(), code:root_dir() =:= os:getenv("ROOTDIR")]]),
    io:format("~p~n", [code:ensure_loaded(no_such_module)]),
    {'EXIT', {undef, [{no_such_module, f, [], []} | _]}} = (catch no_such_module:f()),
    starts(),
    logs(),
    reports(),
    code(),
    script().

starts() ->
    ok = application:start(sasl),
    io:format("~p~n", [is_pid(whereis(sasl_sup))]),
    ok = application:stop(sasl),
    io:format("~p~n", [whereis(sasl_sup)]),
    {ok, Started} = application:ensure_all_started(sasl),
    io:format("~p~n", [Started]),
    ok = application:stop(sasl).

%% A handler of ours gets what processes log, and what the machine itself says of processes that fail.
logs() ->
    ok = logger:set_primary_config(level, info),
    ok = logger:add_handler(mine, ?MODULE, #{config => self()}),
    [logger:remove_handler(default) || lists:member(default, logger:get_handler_ids())],
    logger:notice("hello ~p", [world]),
    receive {logged, notice, M} -> io:format("~p~n", [M]) end,
    Pid = spawn(fun() -> error(failed_here) end),
    receive {logged, error, {"Error in process ~p with exit value:~n~p~n", [Pid, {failed_here, [{?MODULE, _, 0, _} | _]}]}} -> io:format("told~n") end.

log(#{level := Level, msg := Msg}, #{config := To}) ->
    To ! {logged, Level, case Msg of {report, R} -> R; _ -> Msg end}.

reports() ->
    {Pid, Ref} = spawn_monitor(fun() -> proc_lib:init_p(self(), [], fun() -> exit(enough) end) end),
    receive {'DOWN', Ref, _, _, R} -> io:format("~p~n", [R]) end,
    receive
        {logged, error, #{label := {proc_lib, crash}, report := [Info | _]}} ->
            io:format("~p~n", [{proplists:get_value(pid, Info) =:= Pid, element(2, proplists:get_value(error_info, Info))}])
    end.

%% Code is replaced while a process runs in it.
code() ->
    {ok, a, Bin1} = compile:forms(forms(1)),
    {ok, a, Bin2} = compile:forms(forms(2)),
    {module, a} = code:load_binary(a, "a.beam", Bin1),
    Pid = spawn(a, loop, []),
    Ask = fun() -> Pid ! {self(), v}, receive {v, V} -> V end end,
    A = Ask(),
    {module, a} = code:load_binary(a, "a.beam", Bin2),
    B = Ask(),
    Pid ! next,
    io:format("~p~n", [{A, B, Ask()}]),
    io:format("~p~n", [[erlang:check_old_code(a), code:soft_purge(a), erlang:check_old_code(a), code:delete(a), code:is_loaded(a)]]),
    io:format("~p~n", [[is_process_alive(Pid), code:purge(a), is_process_alive(Pid)]]).

forms(V) ->
    [erl_parse_form(S) || S <- ["-module(a).", "-export([loop/0]).",
        lists:concat(["loop() -> receive {P, v} -> P ! {v, ", V, "}, loop(); next -> a:loop() end."])]].

erl_parse_form(S) ->
    {ok, Ts, _} = erl_scan:string(S),
    {ok, F} = erl_parse:parse_form(Ts),
    F.

script() ->
    {Name, _} = init:script_id(),
    io:format("~p~n", [Name]),
    io:format("~p~n", [[init:get_argument(noshell), init:get_plain_arguments(), init:get_argument(nothing)]]).
%% expect: [kernel,stdlib]
%% expect: []
%% expect: {starting,started}
%% expect: [interactive,true]
%% expect: {error,nofile}
%% expect: true
%% expect: undefined
%% expect: [sasl]
%% expect: {"hello ~p",[world]}
%% expect: told
%% expect: enough
%% expect: {true,enough}
%% expect: {1,1,2}
%% expect: [true,true,false,true,false]
%% expect: [true,true,false]
%% expect: "Erlang/OTP"
%% expect: [{ok,[[]]},[],error]
