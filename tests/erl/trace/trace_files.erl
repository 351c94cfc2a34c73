%% SPDX-License-Identifier: Apache-2.0
%% dbg:trace_port(file, _): traces in a file, in a run of files by size or time, read back by dbg's own client.
-module(trace_files).
-export([main/0, called/1]).

main() ->
    Dir = filename:join(os:getenv("TMPDIR", "/tmp"), "trace_files_" ++ os:getpid()), ok = file:make_dir(Dir),
    try one(Dir), follow(Dir), by_size(Dir), by_time(Dir), big(Dir), alone(Dir), refused(Dir)
    after [ok = file:delete(F) || F <- filelib:wildcard(Dir ++ "/*")], ok = file:del_dir(Dir) end.

called(X) -> X.

traced(Target, F) ->
    {ok, _} = dbg:tracer(port, dbg:trace_port(file, Target)), {ok, _} = dbg:tpl(?MODULE, called, 1, x), {ok, _} = dbg:p(self(), [c]),
    F(), ok = dbg:stop().

one(Dir) ->
    File = Dir ++ "/one", traced(File, fun() -> called(1), called({a, "text", <<1:3>>, self()}), p(dbg:flush_trace_port()),
        p(dbg:trace_port_control(get_listen_port)), called(3) end),
    p([clean(M) || M <- read(File, end_of_trace)]).

%% What was flushed can be read while more is written.
follow(Dir) ->
    File = Dir ++ "/follow",
    traced(File, fun() -> [called(N) || N <- lists:seq(1, 5)], ok = dbg:flush_trace_port(), p(length(terms(File))), called(6) end),
    p(length(terms(File))).

by_size(Dir) ->
    traced({Dir ++ "/size", wrap, ".bin", 2000, 3}, fun() -> [called(N) || N <- lists:seq(1, 400)] end),
    Files = lists:sort(filelib:wildcard(Dir ++ "/size*")), p(length(Files)), p([filename:basename(F) || F <- Files] -- ["size0.bin", "size1.bin", "size2.bin", "size3.bin"]),
    p([{S >= 2000, S < 2200} || F <- Files, S <- [filelib:file_size(F)], S >= 2000]),
    Calls = [N || {trace, _, call, {_, called, [N]}} <- read({Dir ++ "/size", wrap, ".bin", 2000, 3}, end_of_trace)],
    p({lists:last(Calls), Calls =:= lists:seq(hd(Calls), 400), hd(Calls) > 1}).

by_time(Dir) ->
    traced({Dir ++ "/time", wrap, ".bin", {time, 50}, 4}, fun() ->
        wait_until(fun() -> called(x), length(filelib:wildcard(Dir ++ "/time*")) =:= 4 end) end),
    p(length(filelib:wildcard(Dir ++ "/time*")) =< 4).

%% More than any buffer holds.
big(Dir) ->
    File = Dir ++ "/big", B = binary:copy(<<"0123456789">>, 50000),
    traced(File, fun() -> called(small), called(B), called(B), called(small) end),
    p([case M of {trace, _, call, {_, _, [A]}} -> A =:= B; {trace, _, return_from, _, A} -> A =:= B end || M <- terms(File)]).

%% The port by itself.
alone(Dir) ->
    load(), File = Dir ++ "/alone", P = open_port({spawn, "trace_file_drv n " ++ File}, []),
    port_command(P, "abc"), P ! {self(), {command, [<<>>]}}, p(port_control(P, $f, "")), p(file:read_file(File)),
    p(catch_it(fun() -> port_control(P, $g, "") end)), port_close(P),
    Q = open_port({spawn, "trace_file_drv w 1 2 0 " ++ integer_to_list(length(File)) ++ " n " ++ File ++ ".end"}, []),
    [port_command(Q, [N]) || N <- lists:seq(1, 9)], port_close(Q),
    p([{lists:nthtail(length(File), F), element(2, file:read_file(F))} || F <- lists:sort(filelib:wildcard(File ++ "*.end"))]).

%% Here there is nothing to load.
load() -> catch erl_ddll:load_driver(filename:join(code:priv_dir(runtime_tools), "lib"), "trace_file_drv").

refused(Dir) ->
    [p(catch_it(fun() -> open_port({spawn, "trace_file_drv " ++ T}, []) end)) || T <- ["n " ++ Dir ++ "/no/such/folder", "n " ++ Dir]],
    [p(element(1, catch_it(fun() -> open_port({spawn, "trace_file_drv " ++ T}, []) end))) || T <- ["x", "n ", "w 1 2 n " ++ Dir ++ "/x", "w 1 2 0 1000 n " ++ Dir ++ "/x"]],
    p(catch_it(fun() -> open_port({spawn, "trace_file_drv"}, []) end) =/= ok).

%% ---- reading

read(What, End) ->
    Me = self(),
    dbg:trace_client(file, What, {fun(M, _) when M =:= End -> Me ! {all, done}; (M, _) -> Me ! {read, M} end, []}), heard().
heard() -> receive {read, M} -> [M | heard()]; {all, done} -> dbg:stop(), [] end.

terms(File) -> {ok, B} = file:read_file(File), split(B).
split(<<0, N:32, T:N/binary, Rest/binary>>) -> [binary_to_term(T) | split(Rest)];
split(<<>>) -> [].

clean(X) when is_pid(X) -> pid;
clean(X) when is_tuple(X) -> list_to_tuple(clean(tuple_to_list(X)));
clean(X) when is_list(X) -> [clean(Y) || Y <- X];
clean(X) -> X.

wait_until(F) -> F() orelse begin timer:sleep(2), wait_until(F) end.
catch_it(F) -> try F() catch C:R -> {C, R} end.
p(X) -> io:format("~w~n", [X]).
%% expect: ok
%% expect: {error,not_supported_by_trace_driver}
%% expect: [{trace,pid,call,{trace_files,called,[1]}},{trace,pid,return_from,{trace_files,called,1},1},{trace,pid,call,{trace_files,called,[{a,[116,101,120,116],<<1:3>>,pid}]}},{trace,pid,return_from,{trace_files,called,1},{a,[116,101,120,116],<<1:3>>,pid}},{trace,pid,call,{trace_files,called,[3]}},{trace,pid,return_from,{trace_files,called,1},3}]
%% expect: 10
%% expect: 12
%% expect: 3
%% expect: []
%% expect: [{true,true},{true,true}]
%% expect: {400,true,true}
%% expect: true
%% expect: [false,false,true,true,true,true,false,false]
%% expect: [0]
%% expect: {ok,<<0,0,0,0,3,97,98,99>>}
%% expect: {error,badarg}
%% expect: [{[48,46,101,110,100],<<>>},{[50,46,101,110,100],<<0,0,0,0,1,9>>}]
%% expect: {error,enoent}
%% expect: {error,eisdir}
%% expect: error
%% expect: error
%% expect: error
%% expect: error
%% expect: true
