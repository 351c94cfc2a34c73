%% SPDX-License-Identifier: Apache-2.0
%% What runs inside the VM for check_otp.py: compiles suites, lists their cases, runs a plan of them.
%%
%% A case's name is the path to it, "group/group/case". What happens is told in a file, one line each:
%%   begin NAME                          a case is begun, its group's and suite's preparation included
%%   end   NAME  ok|skip|fail  REASON    it is over
%%   done                                the plan is through
%% (tabs between the words). The VM halts at the first case that fails: what it leaves behind must not disturb another.
-module(otp_case).
-export([compile/1, list/1, run/1, skip/1, capture/1, captured/0]).

%% ---- compiling and listing, on the host's VM only

%% compile([OUT, INCLUDES, FILE...]) prints "FILE  REASON" for what cannot be compiled; INCLUDES are separated by colons.
compile([Out, Includes | Files]) ->
    Options = [{outdir, Out}, return_errors, debug_info, nowarn_export_all] ++
        [{i, Dir} || Dir <- string:lexemes(Includes, ":")],
    [compile_file(File, Options) || File <- Files],
    halt(0).

compile_file(File, Options) ->
    case compile:file(File, [{i, filename:dirname(File)} | Options]) of
        {ok, _} -> ok;
        {error, Errors, _} -> io:format("~ts\t~ts~n", [File, one_line(Errors)])
    end.

%% list([OUT, SUITE...]) writes a line "SUITE  NAME" for each case, or "SUITE  !REASON" for a suite that has none to run.
list([Out | Suites]) ->
    Lines = [[Suite, $\t, Name, $\n] || Suite <- Suites, Name <- list_suite(list_to_atom(Suite))],
    ok = file:write_file(Out, unicode:characters_to_binary(Lines)),
    halt(0).

list_suite(Suite) ->
    try expand(Suite, Suite:all(), [])
    catch throw:{skip, Reason} -> ["!" ++ one_line(Reason)];
          Class:Reason -> ["!all/0: " ++ one_line({Class, Reason})]
    end.

expand(_, {skip, Reason}, _) -> throw({skip, Reason});
expand(Suite, Cases, Path) ->
    lists:flatmap(fun(Case) -> expand_case(Suite, Case, Path) end, lists:flatten(Cases)).

expand_case(Suite, Cases, Path) when is_list(Cases) -> expand(Suite, Cases, Path);
expand_case(_, Case, Path) when is_atom(Case) -> [path_name([Case | Path])];
expand_case(_, {testcase, Case, _}, Path) -> [path_name([Case | Path])];
expand_case(Suite, {group, Group}, Path) -> expand_group(Suite, Group, Path);
expand_case(Suite, {group, Group, _}, Path) -> expand_group(Suite, Group, Path);
expand_case(Suite, {group, Group, _, _}, Path) -> expand_group(Suite, Group, Path);
expand_case(Suite, {Group, _, Cases}, Path) -> expand(Suite, Cases, [Group | Path]);
expand_case(Suite, {Group, Cases}, Path) -> expand(Suite, Cases, [Group | Path]).

expand_group(Suite, Group, Path) ->
    case lists:keyfind(Group, 1, Suite:groups()) of
        {Group, _, Cases} -> expand(Suite, Cases, [Group | Path]);
        {Group, Cases} -> expand(Suite, Cases, [Group | Path])
    end.

path_name(Path) -> lists:join("/", [atom_to_list(Step) || Step <- lists:reverse(Path)]).

%% ---- running

%% run([SUITE, PLAN, OUT, DATA, PRIV]): the cases that the file PLAN names, in its order.
run([Name, Plan, Out, Data, Priv]) ->
    {ok, File} = file:open(Out, [append, raw]),
    register(?MODULE, self()),
    register(otp_case_io, Leader = spawn(fun() -> lead(off) end)),
    group_leader(Leader, self()),
    put(out, File),
    {ok, Text} = file:read_file(Plan),
    Names = string:lexemes(unicode:characters_to_list(Text), "\n"),
    Suite = list_to_atom(Name),
    Cases = [{N, [list_to_atom(Step) || Step <- string:lexemes(N, "/")]} || N <- Names],
    Config = [{data_dir, Data ++ "/"}, {priv_dir, Priv ++ "/"}, {watchdog, self()}],
    {Open, Last} = lists:foldl(fun(Case, At) -> run_case(Suite, Case, At) end, {[], Config}, Cases),
    close(Suite, [], Open, Last),
    tell(["done"]),
    halt(0, [{flush, false}]).

%% Open is what is prepared, the innermost first: {Step, Config before it}; a step is a group, or {suite, Suite}.
run_case(Suite, {Name, Path}, {Open, Config}) ->
    tell(["begin", Name]),
    [Case | Steps] = lists:reverse([{suite, Suite} | Path]),
    {Kept, KeptConfig} = close(Suite, Steps, Open, Config),
    Missing = lists:reverse(lists:sublist(Steps, length(Steps) - length(Kept))),
    {Result, Opened, CaseConfig} = open(Suite, Missing, Kept, KeptConfig),
    finish(Name, case Result of ok -> case_result(Suite, Case, CaseConfig); _ -> Result end),
    {Opened, CaseConfig}.

%% Ends the steps that are open and not on the way to the next case.
close(Suite, Steps, [{Step, Before} | Rest] = Open, Config) ->
    case lists:suffix([S || {S, _} <- Open], Steps) of
        true -> {Open, Config};
        false ->
            prepare(Suite, 'end', Step, Config),
            close(Suite, Steps, Rest, Before)
    end;
close(_, _, [], Config) -> {[], Config}.

open(_, [], Open, Config) -> {ok, Open, Config};
open(Suite, [Step | Steps], Open, Config) ->
    case prepare(Suite, init, Step, tell_groups(Suite, [Step | [S || {S, _} <- Open]], Config)) of
        {value, NewConfig} when is_list(NewConfig) -> open(Suite, Steps, [{Step, Config} | Open], NewConfig);
        {value, Other} -> {case verdict(Other) of ok -> {fail, {init, Step, Other}}; Said -> Said end, Open, Config};
        {skip, Reason} -> {{skip, Reason}, Open, Config};
        {fail, Reason} -> {{fail, {init, Step, Reason}}, Open, Config}
    end.

prepare(Suite, init, {suite, _}, Config) -> optional_step(Suite, init_per_suite, [Config], Config);
prepare(Suite, 'end', {suite, _}, Config) -> optional_step(Suite, end_per_suite, [Config], Config);
prepare(Suite, init, Group, Config) -> optional_step(Suite, init_per_group, [Group, Config], Config);
prepare(Suite, 'end', Group, Config) -> optional_step(Suite, end_per_group, [Group, Config], Config).

%% What a group's own preparation, and all in it, is told of the group and of those around it, the innermost first.
tell_groups(_, [{suite, _}], Config) -> Config;
tell_groups(Suite, Steps, Config) ->
    [Own | Around] = [group_properties(Suite, Group) || Group <- Steps, is_atom(Group)],
    lists:foldl(fun(Told, Sum) -> lists:keystore(element(1, Told), 1, Sum, Told) end, Config,
                [{tc_group_properties, Own}, {tc_group_path, Around}]).

group_properties(Suite, Group) ->
    case lists:keyfind(Group, 1, Suite:groups()) of
        {Group, Properties, _} -> [{name, Group} | Properties];
        _ -> [{name, Group}]
    end.

optional_step(Suite, Function, Arguments, Default) ->
    step(fun() -> optional(Suite, Function, Arguments, Default) end).

case_result(Suite, Case, Config) ->
    case step(fun() -> call_case(Suite, Case, Config) end) of
        {value, Result} -> Result;
        Other -> Other
    end.

call_case(Suite, Case, Config) ->
    case optional(Suite, init_per_testcase, [Case, Config], Config) of
        CaseConfig when is_list(CaseConfig) ->
            Result = try verdict(Suite:Case(CaseConfig))
                     catch throw:{skip, Why} -> {skip, Why};
                           Class:Reason:Stack -> {fail, {Class, Reason, Stack}}
                     end,
            case catch optional(Suite, end_per_testcase, [Case, [{tc_status, ok} | CaseConfig]], ok) of
                {fail, Reason2} when Result =:= ok -> {fail, {end_per_testcase, Reason2}};
                _ -> Result
            end;
        Other -> verdict(Other)
    end.

optional(Suite, Function, Arguments, Default) ->
    {module, Suite} = code:ensure_loaded(Suite),
    case erlang:function_exported(Suite, Function, length(Arguments)) of
        true -> apply(Suite, Function, Arguments);
        false -> Default
    end.

verdict({skip, Reason}) -> {skip, Reason};
verdict({skipped, Reason}) -> {skip, Reason};
verdict({skip_and_save, Reason, _}) -> {skip, Reason};
verdict({fail, Reason}) -> {fail, Reason};
verdict({failed, Reason}) -> {fail, Reason};
verdict({'EXIT', Reason}) -> {fail, Reason};
verdict(_) -> ok.

%% Runs Fun in a process of its own, which any process can end by skip/1.
step(Fun) ->
    Key = make_ref(),
    {Pid, Monitor} = spawn_monitor(fun() -> exit({Key, Fun()}) end),
    receive
        {'DOWN', Monitor, process, Pid, {Key, Value}} -> {value, Value};
        {'DOWN', Monitor, process, Pid, {skip, Reason}} -> {skip, Reason};
        {'DOWN', Monitor, process, Pid, Reason} -> {fail, Reason};
        {?MODULE, skip, Reason} ->
            exit(Pid, kill),
            receive {'DOWN', Monitor, process, Pid, _} -> {skip, Reason} end
    end.

skip(Reason) ->
    ?MODULE ! {?MODULE, skip, Reason},
    receive after infinity -> ok end.

finish(Name, ok) -> tell(["end", Name, "ok", ""]);
finish(Name, {skip, Reason}) -> tell(["end", Name, "skip", one_line(Reason)]);
finish(Name, {fail, Reason}) ->
    tell(["end", Name, "fail", one_line(Reason)]),
    halt(0, [{flush, false}]).

tell(Words) ->
    ok = file:write(get(out), unicode:characters_to_binary([lists:join($\t, Words), $\n])).

one_line(Term) ->
    Text = case io_lib:printable_unicode_list(Term) of
               true -> Term;
               false -> io_lib:format("~tP", [Term, 40])
           end,
    string:slice(lists:join($\s, string:lexemes(lists:flatten(Text), "\s\n\t\r")), 0, 600).

%% ---- the group leader of every case: user's, which can keep what is written

capture(OnOff) ->
    otp_case_io ! {capture, OnOff},
    ok.

captured() ->
    otp_case_io ! {captured, self()},
    receive {otp_case_io, Texts} -> Texts end.

lead(Kept) ->
    receive
        {capture, true} -> lead([]);
        {capture, false} when is_list(Kept) -> lead({kept, Kept});
        {captured, Who} ->
            Texts = case Kept of {kept, T} -> T; T -> T end,
            Who ! {otp_case_io, if Texts =:= off -> []; true -> lists:reverse(Texts) end},
            lead(if is_list(Kept) -> []; true -> off end);
        {io_request, From, As, Request} = Message ->
            case is_list(Kept) andalso written(Request) of
                {ok, Text} ->
                    From ! {io_reply, As, ok},
                    lead([Text | Kept]);
                false ->
                    user ! Message,
                    lead(Kept)
            end;
        _ -> lead(Kept)
    end.

written({put_chars, _, Chars}) -> {ok, unicode:characters_to_list(Chars)};
written({put_chars, _, M, F, A}) -> {ok, unicode:characters_to_list(apply(M, F, A))};
written(_) -> false.
