%% SPDX-License-Identifier: Apache-2.0
%% For programs that open ports and see how they end.

p(What, Value) -> io:format("~p ~p~n", [What, Value]).

failure(Name, Options) -> try open_port(Name, Options) of P -> rest(P) catch error:E -> E end.

%% What the port tells up to its end.
rest(P) ->
    receive
        {P, closed} -> rest(P);
        {P, eof} -> port_close(P), [eof];
        {P, What} -> [What | rest(P)];
        {'EXIT', P, Reason} -> [{exit, Reason}]
    after 10000 -> [late]
    end.
