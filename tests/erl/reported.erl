%% SPDX-License-Identifier: Apache-2.0
%% What the VM has to say of a file that is no module reaches the handlers of the logger.
-module(reported).
-export([main/0, log/2]).

log(#{msg := {Format, Args}}, #{config := Pid}) ->
    Pid ! {logged, lists:flatten(io_lib:format(Format, Args))};
log(_, _) ->
    ok.

main() ->
    logger:remove_handler(default),
    ok = logger:add_handler(reported, ?MODULE, #{config => self()}),
    io:format("~p~n", [code:load_binary(nothing, "nothing.beam", <<"no module">>)]),
    {ok, hello, Beam} = compile:forms([{attribute, 1, module, hello}]),
    io:format("~p~n", [code:load_binary(goodbye, "goodbye.beam", Beam)]),
    wait_for(["Error loading module nothing:\n  ", "Error loading module goodbye:\n  module name in object code is hello\n"]),
    io:format("reported~n"),
    init:stop().

%% erl names a line of its own sources before the text.
wait_for([]) ->
    ok;
wait_for(Texts) ->
    receive
        {logged, Logged} -> wait_for([Text || Text <- Texts, string:find(Logged, Text) =:= nomatch])
    end.
