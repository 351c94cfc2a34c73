%% SPDX-License-Identifier: Apache-2.0
%% Ports to plain files, which OTP has no more since 27.
%% until: 26
-module(port_plain_files).
-export([main/0]).
-include("port_end.hrl").

main() ->
    process_flag(trap_exit, true),
    Dir = "port_plain_files_" ++ os:getpid(),
    ok = file:make_dir(Dir),
    try
        files(Dir ++ "/plain")
    after
        file:del_dir_r(Dir)
    end,
    halt(0).

files(Name) ->
    P = open_port(Name, [out]),
    p(out, [port_command(P, "abc"), is_tuple(P ! {self(), {command, [<<"def">>, $\n]}}), erlang:port_info(P, name) =:= {name, Name}]),
    P ! {self(), close},
    p(read, file:read_file(Name)),
    p(closed, rest(P)),
    p(in, rest(open_port(Name, [in]))),
    p(atom, rest(open_port(list_to_atom(Name), [in, binary, {line, 4}]))),
    p(eof, rest(open_port(Name, [in, eof]))),
    Q = open_port(Name, [out, {packet, 2}]),
    port_command(Q, "xyz"),
    port_close(Q),
    p(packet, file:read_file(Name)),
    p(packets, rest(open_port(Name, [in, {packet, 2}]))),
    Full = open_port("/dev/full", [out]),
    p(full, [port_command(Full, "x"), rest(Full)]),
    [p(refused, failure(N, O)) || {N, O} <- [{"/nonexistent/x", [in]}, {nonexistent_x, [in]}, {"/tmp", [out]}, {"", [in]}, {'', [in]}, {[1000], [in]},
                                             {["a"], [in]}, {[$a | b], [in]}, {<<"/dev/null">>, [in]}, {"/dev/null", [in, exit_status]},
                                             {"/dev/null", [in, {args, []}]}, {5, [in]}, {{}, [in]}]].

%% expect: out [true,true,true]
%% expect: read {ok,<<"abcdef\n">>}
%% expect: closed [{exit,normal}]
%% expect: in [{data,"abcdef\n"},{exit,normal}]
%% expect: atom [{data,{noeol,<<"abcd">>}},{data,{eol,<<"ef">>}},{exit,normal}]
%% expect: eof [{data,"abcdef\n"},eof]
%% expect: packet {ok,<<0,3,120,121,122>>}
%% expect: packets [{data,"xyz"},{exit,normal}]
%% expect: full [true,[{exit,enospc}]]
%% expect: refused einval
%% expect: refused einval
%% expect: refused einval
%% expect: refused badarg
%% expect: refused einval
%% expect: refused badarg
%% expect: refused badarg
%% expect: refused badarg
%% expect: refused badarg
%% expect: refused badarg
%% expect: refused badarg
%% expect: refused badarg
%% expect: refused badarg
