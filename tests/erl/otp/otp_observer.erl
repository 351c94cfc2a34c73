%% SPDX-License-Identifier: Apache-2.0
%% What watches a system: sasl, the logger's handlers on files, observer_backend's questions, etop.
%% expect: {ok,[kernel,sasl,stdlib]}
%% expect: {50,"error message 1","error message 50"}
%% expect: {true,50}
%% expect: []
%% expect: {true,true,true}
%% expect: [[{key,value}]]
%% expect: true
%% expect: {true,true}
%% expect: {true,true,[]}
-module(otp_observer).
-export([main/0]).

main() ->
    {ok, _} = application:ensure_all_started(sasl),
    p({ok, lists:sort([A || {A, _, _} <- application:which_applications()])}),
    Dir = filename:join(["/tmp", "otp_observer." ++ os:getpid()]),
    _ = file:del_dir_r(Dir),
    ok = file:make_dir(Dir),
    handlers(Dir),
    _ = file:del_dir_r(Dir),
    system(),
    process(),
    table(),
    p(lists:all(fun(P) -> is_port(proplists:get_value(port_id, P)) end, observer_backend:get_port_list())),
    etop().

handlers(Dir) ->
    Plain = {logger_formatter, #{template => [level, " ", msg, "\n"]}},
    Config = fun(Name, More) -> #{level => error, formatter => Plain, config => More#{file => filename:join(Dir, Name)}} end,
    logger:set_primary_config(level, error), % the test's own command line silences it
    logger:remove_handler(default),
    ok = logger:add_handler(plain, logger_std_h, Config("plain", #{})),
    ok = logger:add_handler(wrapping, logger_disk_log_h, Config("wrapping", #{type => wrap, max_no_files => 3, max_no_bytes => 1000})),
    [logger:error("message ~p", [N]) || N <- lists:seq(1, 50)],
    ok = logger_std_h:filesync(plain),
    ok = logger_disk_log_h:filesync(wrapping),
    {ok, Text} = file:read_file(filename:join(Dir, "plain")),
    Lines = string:lexemes(binary_to_list(Text), "\n"),
    p({length(Lines), hd(Lines), lists:last(Lines)}),
    Wrapped = lists:append([string:lexemes(binary_to_list(element(2, file:read_file(F))), "\n")
                            || F <- filelib:wildcard(filename:join(Dir, "wrapping.[0-9]*"))]),
    p({length(Wrapped) =< 50, list_to_integer(lists:last(string:lexemes(lists:last(lists:sort(fun by_number/2, Wrapped)), " ")))}),
    ok = logger:remove_handler(plain),
    ok = logger:remove_handler(wrapping).

by_number(A, B) -> number(A) =< number(B).
number(Line) -> list_to_integer(lists:last(string:lexemes(Line, " "))).

system() ->
    Known = observer_backend:sys_info(),
    Wanted = [uptime, run_queue, io_input, schedulers, otp_release, kernel_poll, threads, wordsize_internal, process_count,
              atom_limit, process_limit, port_count, ets_limit, ets_count, dist_buf_busy_limit, total, processes, binary, code, ets],
    p([K || K <- Wanted, not lists:keymember(K, 1, Known)]).

process() ->
    Self = self(),
    Pid = spawn(fun() -> observer_backend:procs_info(Self) end),
    Info = receive {procs_info, Pid, I} -> I after 10000 -> timeout end,
    p({length(Info) > 10, is_list(erlang:process_info(self(), [current_stacktrace, garbage_collection, memory, reductions])),
       lists:keymember(Self, 2, Info)}).

table() ->
    T = ets:new(watched, [public]),
    ets:insert(T, {key, value}),
    Pid = observer_backend:get_table(self(), T, ets),
    receive {Pid, Rows} -> p(Rows) after 10000 -> p(timeout) end.

etop() ->
    Self = self(),
    Held = binary:copy(<<"x">>, 1000), % so that there is one
    Pid = spawn_link(fun() -> observer_backend:etop_collect(Self) end),
    Top = receive {Pid, I} -> I after 10000 -> timeout end,
    Fields = tuple_to_list(Top),
    p({is_tuple(Top), lists:any(fun(F) -> is_list(F) andalso length(F) > 10 end, Fields)}),
    Memory = hd([F || F <- Fields, is_list(F), lists:keymember(total, 1, [X || X <- F, is_tuple(X)])]),
    p({proplists:get_value(total, Memory) > 0, proplists:get_value(binary, Memory) > 0,
       [total, processes, atom, binary, code, ets] -- [K || {K, _} <- Memory]}),
    1000 = byte_size(Held).

p(T) -> io:format("~p~n", [T]).
