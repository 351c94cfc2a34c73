%% SPDX-License-Identifier: Apache-2.0
%% Lines of programs: they end with LF or CR LF, whose CR is no part of them and needs no room.
%% expect: [{eol,"a"},{eol,"bb"}]
%% expect: [{eol,"abcd"}]
%% expect: [{noeol,"abcd"},{eol,"e"}]
%% expect: [{eol,[]},{eol,[]},{eol,"\r"}]
%% expect: [{eol,"a\rb"}]
%% expect: [{noeol,"a\r"}]
%% expect: [{noeol,"abcd"},{noeol,"\r"}]
%% expect: [{eol,"abcd"},{noeol,"x"}]
-module(port_lines).
-export([main/0]).

main() ->
    process_flag(trap_exit, true),
    [io:format("~p~n", [lines("printf '" ++ Text ++ "'")])
     || Text <- ["a\\r\\nbb\\n", "abcd\\r\\n", "abcde\\r\\n", "\\r\\n\\n\\r\\r\\n", "a\\rb\\n", "a\\r", "abcd\\r"]],
    io:format("~p~n", [lines("sh -c \"printf 'abcd\\r'; sleep 0.2; printf '\\nx'\"")]).

lines(Command) ->
    collect(open_port({spawn, Command}, [{line, 4}])).

collect(Port) ->
    receive
        {Port, {data, Line}} -> [Line | collect(Port)];
        {'EXIT', Port, normal} -> []
    end.
