%% SPDX-License-Identifier: Apache-2.0
%% SCTP by the module socket: options that are structures, an association as a stream, messages of whole sockets.
%% expect: {ok,#{asocmaxrxt => 10,assoc_id => 0,cookie_life => 60000,local_rwnd => 0,number_peer_destinations => 0,peer_rwnd => 0}}
%% expect: ok
%% expect: {ok,#{asocmaxrxt => 7,assoc_id => 0,cookie_life => 30000,local_rwnd => 0,number_peer_destinations => 0,peer_rwnd => 0}}
%% expect: {ok,#{max_attempts => 8,max_init_timeo => 60000,max_instreams => 65535,num_outstreams => 10}}
%% expect: ok
%% expect: {ok,#{max_attempts => 4,max_init_timeo => 60000,max_instreams => 65535,num_outstreams => 20}}
%% expect: [[ok,{ok,7}],[ok,{ok,true}],[ok,{ok,true}],[ok,{ok,1000}]]
%% expect: [ok,{error,{invalid,{socket_option,{sctp,events}}}}]
%% expect: {{ok,#{assoc_id => 0,initial => 3000,max => 60000,min => 1000}},ok}
%% expect: [{associnfo,invalid},{associnfo,invalid},{initmsg,invalid},{events,invalid},{events,invalid},{nodelay,invalid},{maxseg,invalid},{status,invalid}]
%% expect: ok
%% expect: [ok,{ok,<<"to the server">>},ok,{ok,<<1,2,3>>}]
%% expect: true
%% expect: ok
%% expect: true
%% expect: [ok,sctp]
%% expect: {error,closed}
%% expect: [ok,ok]
%% expect: [{[<<"message 1">>],[eor],{127,0,0,1}},{[<<"message 2">>],[eor],{127,0,0,1}}]
%% expect: ok
%% expect: ok
%% expect: [<<"answer to message 1">>,<<"answer to message 2">>]
%% expect: {error,timeout}
-module(sctp_socket).
-export([main/0]).

main() ->
    options(),
    stream(),
    messages().

options() ->
    {ok, S} = socket:open(inet, seqpacket, sctp),
    Get = fun(O) -> socket:getopt(S, sctp, O) end,
    Set = fun(O, V) -> socket:setopt(S, sctp, O, V) end,
    {ok, Association} = show(Get(associnfo)),
    show(Set(associnfo, Association#{asocmaxrxt := 7, cookie_life := 30000})),
    show(Get(associnfo)),
    {ok, Init} = show(Get(initmsg)),
    show(Set(initmsg, Init#{num_outstreams := 20, max_attempts := 65536 + 4})),
    show(Get(initmsg)),
    show([[Set(O, V), Get(O)] || {O, V} <- [{autoclose, 7}, {nodelay, true}, {disable_fragments, true}, {maxseg, 1000}]]),
    show([Set(events, events()), Get(events)]),
    show(timeouts(Get(rtoinfo), Set)),
    Bad = [{associnfo, maps:remove(peer_rwnd, Association)}, {associnfo, Association#{assoc_id := 1 bsl 32}},
           {initmsg, Init#{max_instreams := -1}}, {events, (events())#{address := 1}}, {events, []}, {nodelay, 1},
           {maxseg, x}, {status, 1}],
    show([{O, element(1, element(2, Set(O, V)))} || {O, V} <- Bad]),
    ok = socket:close(S).

events() ->
    #{data_io => true, association => false, address => false, send_failure => false, peer_error => false,
      shutdown => false, partial_delivery => false, adaptation_layer => false, authentication => false,
      sender_dry => false}.

%% OTP 25 takes the option's number, which is 0, for one that is not there.
timeouts({error, {invalid, _}}, _) ->
    nomatch = string:find(erlang:system_info(system_version), "[erlvm]"),
    {{ok, #{assoc_id => 0, initial => 3000, max => 60000, min => 1000}}, ok};
timeouts({ok, Timeouts}, Set) ->
    ok = Set(rtoinfo, Timeouts#{min := 500}),
    {{ok, Timeouts}, Set(rtoinfo, Timeouts)}.

stream() ->
    {Listener, Address} = listen(stream),
    {ok, C} = socket:open(inet, stream, sctp),
    show(socket:connect(C, Address)),
    {ok, S} = socket:accept(Listener),
    show([socket:send(C, "to the server"), socket:recv(S), socket:send(S, <<1, 2, 3>>), socket:recv(C)]),
    Large = binary:copy(<<"0123456789">>, 10000),
    Self = self(),
    spawn_link(fun() -> Self ! {sent, socket:send(C, Large)} end),
    show(receive_all(S, byte_size(Large), []) =:= Large),
    show(receive {sent, Sent} -> Sent end),
    show(socket:recv(S, 0, nowait) =/= {error, closed}),
    show([socket:shutdown(C, read_write), maps:get(protocol, socket:info(S))]),
    show(until_closed(S)),
    [ok = socket:close(Each) || Each <- [C, S, Listener]].

receive_all(_, 0, Parts) -> iolist_to_binary(lists:reverse(Parts));
receive_all(S, Left, Parts) ->
    {ok, Part} = socket:recv(S, 0, 5000),
    receive_all(S, Left - byte_size(Part), [Part | Parts]).

until_closed(S) ->
    case socket:recv(S, 0, 5000) of
        {ok, _} -> until_closed(S);
        Ended -> Ended
    end.

messages() ->
    {Server, Address} = listen(seqpacket),
    Clients = [begin {ok, C} = socket:open(inet, seqpacket, sctp), C end || _ <- [1, 2]],
    show([socket:sendto(C, <<"message ", (N + $0)>>, Address) || {N, C} <- lists:zip([1, 2], Clients)]),
    Got = [begin {ok, M} = socket:recvmsg(Server, [], 5000), M end || _ <- Clients],
    show(lists:sort([{maps:get(iov, M), maps:get(flags, M), maps:get(addr, maps:get(addr, M))} || M <- Got])),
    [show(socket:sendmsg(Server, #{addr => maps:get(addr, M), iov => [<<"answer to ">> | maps:get(iov, M)]})) || M <- Got],
    show([receive_text(C) || C <- Clients]),
    show(socket:recvmsg(Server, [], 0)),
    [ok = socket:close(S) || S <- [Server | Clients]].

receive_text(S) ->
    {ok, #{iov := Text}} = socket:recvmsg(S, [], 5000),
    iolist_to_binary(Text).

listen(Type) ->
    {ok, S} = socket:open(inet, Type, sctp),
    ok = socket:bind(S, #{family => inet, addr => loopback, port => 0}),
    ok = socket:listen(S),
    {ok, Address} = socket:sockname(S),
    {S, Address}.

show(T) -> io:format("~0p~n", [T]), T.
