%% SPDX-License-Identifier: Apache-2.0
%% Where the kernel has no SCTP, opening a socket says so; where it has some, it is opened. Nothing is left of either.
%% What the module socket has for SCTP does not hang on the kernel.
%% expect: [{error,eprotonosupport},{error,eprotonosupport},{error,eprotonosupport}]
%% expect: []
%% expect: [true,true,[associnfo,autoclose,disable_fragments,events,initmsg,maxseg,nodelay,rtoinfo],31]
%% expect erl 29: [true,true,[adaptation_layer,associnfo,autoclose,default_send_param,disable_fragments,events,get_assoc_stats,get_peer_addr_info,i_want_mapped_v4_addr,initmsg,maxseg,nodelay,primary_addr,rtoinfo,set_peer_primary_addr,status],32]
%% expect: [{error,enoprotoopt},invalid,invalid,invalid,invalid]
%% expect erl 29: [{error,enoprotoopt},invalid,invalid,{error,enoprotoopt},invalid]
-module(no_sctp).
-export([main/0]).

main() ->
    show([refused(gen_sctp:open(O)) || O <- [[], [{type, stream}], [inet6, {active, true}]]]),
    show([P || P <- erlang:ports(), erlang:port_info(P, name) =:= {name, "sctp_inet"}]),
    Options = [{O, Is} || {{sctp, O}, Is} <- socket:supports(options)],
    show([socket:is_supported(sctp), socket:is_supported(protocols, sctp), lists:sort([O || {O, true} <- Options]),
          length(Options)]),
    {ok, S} = socket:open(inet, stream, tcp),
    Init = #{num_outstreams => 1, max_instreams => 1, max_attempts => 1, max_init_timeo => 1},
    show([refused(socket:setopt(S, sctp, O, V)) || {O, V} <- [{initmsg, Init}, {initmsg, Init#{max_attempts := -1}},
                                                              {initmsg, #{}}, {events, Init}, {status, 1}]]),
    ok = socket:close(S).

%% Of a stock erl whose machine has libsctp, the kernel's own word for it.
refused({error, esocktnosupport} = Error) ->
    case string:find(erlang:system_info(system_version), "[erlvm]") of
        nomatch -> {error, eprotonosupport};
        _ -> Error
    end;
refused({error, {invalid, {socket_option, _, _}}}) -> invalid;
refused({error, {invalid, {socket_option, _}}}) -> invalid;
refused({ok, S}) -> ok = gen_sctp:close(S), {error, eprotonosupport};
refused(Error) -> Error.

show(T) -> io:format("~0p~n", [T]).
