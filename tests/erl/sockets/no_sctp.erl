%% SPDX-License-Identifier: Apache-2.0
%% Where the kernel has no SCTP, opening a socket says so; where it has some, it is opened. Nothing is left of either.
%% expect: [{error,eprotonosupport},{error,eprotonosupport},{error,eprotonosupport}]
%% expect: []
-module(no_sctp).
-export([main/0]).

main() ->
    show([refused(gen_sctp:open(O)) || O <- [[], [{type, stream}], [inet6, {active, true}]]]),
    show([P || P <- erlang:ports(), erlang:port_info(P, name) =:= {name, "sctp_inet"}]).

%% Of a stock erl whose machine has libsctp, the kernel's own word for it.
refused({error, esocktnosupport} = Error) ->
    case string:find(erlang:system_info(system_version), "[erlvm]") of
        nomatch -> {error, eprotonosupport};
        _ -> Error
    end;
refused({ok, S}) -> ok = gen_sctp:close(S), {error, eprotonosupport};
refused(Error) -> Error.

show(T) -> io:format("~0p~n", [T]).
