%% SPDX-License-Identifier: Apache-2.0
%% Natives that their own module calls, erlang:apply at a process's start and in stacks, and what process_dump tells.
-module(trace_natives).
-export([main/0, id/1, called/1]).

main() ->
    [own_module(Kind) || Kind <- [local, global]],
    start(),
    stacks(),
    text().

id(X) -> X.
called(X) -> X.

own_module(Kind) ->
    N = erlang:trace_pattern({prim_file, get_cwd_nif, 0}, [{'_', [], [{message, {caller}}]}], [Kind]),
    Self = self(),
    P = spawn(fun() -> receive go -> ok end, prim_file:get_cwd(), Self ! done end),
    erlang:trace(P, true, [call, return_to, arity]),
    P ! go,
    receive done -> ok end,
    io:format("~p ~p ~0p~n", [Kind, N, told()]),
    erlang:trace_pattern({prim_file, get_cwd_nif, 0}, false, [Kind]).

told() -> receive T when element(1, T) =:= trace -> [erlang:delete_element(1, erlang:delete_element(1, T)) | told()] after 100 -> [] end.

start() ->
    erlang:trace_pattern({erlang, apply, 2}, true, [call_count, call_time]),
    erlang:trace(new_processes, true, [call]),
    Ends = [spawn_monitor(erlang, apply, [fun() -> called(N) end, []]) || N <- lists:seq(1, 7)],
    [receive {'DOWN', M, _, _, normal} -> ok end || {_, M} <- Ends],
    erlang:trace(new_processes, false, [call]),
    {call_time, Times} = erlang:trace_info({erlang, apply, 2}, call_time),
    io:format("starts ~p~n", [[lists:sum([N || {P, N, _, _} <- Times, lists:keymember(P, 1, Ends)]), erlang:trace_info({erlang, apply, 2}, call_count)]]),
    erlang:trace_pattern({erlang, apply, 2}, false, [call_count, call_time]).

stacks() ->
    F = fun(_) -> ok end,
    Apply2 = id(fun erlang:apply/2),
    Apply3 = id(fun erlang:apply/3),
    Erlang = id(erlang),
    [io:format("~0p~n", [raised(T)]) || T <- [
        fun() -> X = Erlang:apply(F, []), {X} end,
        fun() -> X = Apply2(F, []), {X} end,
        fun() -> X = apply(Erlang, apply, [F, []]), {X} end,
        fun() -> X = Erlang:apply(no_fun, []), {X} end,
        fun() -> X = Apply2(F, no_list), {X} end,
        fun() -> X = Erlang:apply(no_module, no_function, []), {X} end,
        fun() -> X = Apply3(no_module, no_function, no_list), {X} end,
        fun() -> X = apply(Erlang, apply, [a, b, no_list]), {X} end,
        fun() -> X = apply(1, b, []), {X} end]],
    {_, M} = spawn_monitor(erlang, apply, [no_fun, []]),
    receive {'DOWN', M, _, _, Reason} -> io:format("~p~n", [Reason]) end.

raised(T) ->
    try T() catch _:R:Stack -> {case R of {What, _} -> What; _ -> R end, [{M, F, if is_list(A) -> length(A); true -> A end} ||
        {M, F, A, _} <- lists:takewhile(fun(E) -> element(1, E) =/= ?MODULE end, Stack)]} end.

text() ->
    erlang:trace_pattern({?MODULE, called, 1}, [{'_', [], [{message, {process_dump}}]}], [local]),
    Self = self(),
    P = spawn(fun() -> put(key, value), link(Self), receive go -> ok end, called(1), receive never -> ok end end),
    monitor(process, P),
    erlang:trace(P, true, [call]),
    P ! go,
    Text = receive {trace, P, call, _, Binary} -> binary_to_list(Binary) end,
    erlang:trace_pattern({?MODULE, called, 1}, false, [local]),
    Lines = string:split(Text, "\n", all),
    [io:format("~s~p~n", [Name, value(Name, Lines)]) || Name <- ["State: ", "Spawned as: ", "Message queue length: ", "Number of heap fragments: ",
        "Heap fragment data: ", "Dictionary: ", "Stack+heap: ", "OldHeap: ", "OldHeap unused: "]],
    io:format("~p~n", [[value(Name, Lines) =/= missing || Name <- ["Reductions: ", "Heap unused: ", "BinVHeap: ", "OldBinVHeap: ", "BinVHeap unused: ", "OldBinVHeap unused: ",
        "Memory: ", "Program counter: "]]]),
    io:format("queue ~p~n", [value("Message queue: ", Lines)]),
    io:format("state ~p~n", [lists:prefix("ACT_PRIO_NORMAL | USR_PRIO_NORMAL | PRQ_PRIO_NORMAL | ACTIVE | RUNNING", value("Internal State: ", Lines))]),
    io:format("links ~p~n", [[string:str(value("Link list: ", Lines), What) > 0 || What <- ["[" ++ pid_to_list(Self), "{from," ++ pid_to_list(Self)]]]),
    io:format("stack ~p~n", [string:str(Text, "(trace_natives:'-text/0-fun-0-'/1 + ") > 0]),
    unlink(P),
    exit(P, kill).

value(Name, Lines) ->
    case [lists:nthtail(length(Name), L) || L <- Lines, lists:prefix(Name, L)] of
        [Value] -> Value;
        [] -> missing
    end.

%% expect: local 1 [{call,{prim_file,get_cwd_nif,0},{prim_file,get_cwd,0}},{return_to,{prim_file,get_cwd,0}}]
%% expect: global 0 []
%% expect: starts [7,{call_count,7}]
%% expect: {badarity,[{erlang,apply,2}]}
%% expect: {badarity,[{erlang,apply,2}]}
%% expect: {badarity,[{erlang,apply,2}]}
%% expect: {badfun,[{erlang,apply,2}]}
%% expect: {badarg,[{erlang,apply,2},{erlang,apply,2}]}
%% expect: {undef,[{no_module,no_function,0}]}
%% expect: {badarg,[{erlang,apply,3},{erlang,apply,3}]}
%% expect: {badarg,[{erlang,apply,3}]}
%% expect: {badarg,[{erlang,apply,3}]}
%% expect: {{badfun,no_fun},[{erlang,apply,2,[]}]}
%% expect: State: "Running"
%% expect: Spawned as: "erlang:apply/2"
%% expect: Message queue length: "0"
%% expect: Number of heap fragments: "0"
%% expect: Heap fragment data: "0"
%% expect: Dictionary: "[{key,value}]"
%% expect: Stack+heap: "233"
%% expect: OldHeap: "0"
%% expect: OldHeap unused: "0"
%% expect: [true,true,true,true,true,true,true,true]
%% expect: queue missing
%% expect: state true
%% expect: links [true,true]
%% expect: stack true
