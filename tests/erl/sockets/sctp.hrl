%% SPDX-License-Identifier: Apache-2.0
%% For programs with SCTP sockets: what differs from run to run is left out of what they show.
-include_lib("kernel/include/inet_sctp.hrl").
-compile(nowarn_unused_function).

open(Opts) -> open_on([{ip, {127,0,0,1}} | Opts]).

open_on(Opts) ->
    {ok, S} = gen_sctp:open([binary | Opts]),
    {ok, Port} = inet:port(S),
    {S, Port}.

received(S) -> received(S, 5000).
received(S, Timeout) -> show(gen_sctp:recv(S, Timeout)).

told() -> told(5000).
told(Timeout) -> show(receive Message -> Message after Timeout -> nothing end).

stock() -> string:find(erlang:system_info(system_version), "[erlvm]") =:= nomatch.

%% What was told of ends that nobody waits for.
forget() -> receive _ -> forget() after 50 -> ok end.

show(T) -> io:format("~0p~n", [same(T)]).

%% Numbers of ports and of associations, serial numbers, times; long data by its size.
same(P) when is_port(P) -> port;
same(P) when is_pid(P) -> pid;
same(#sctp_sndrcvinfo{} = I) -> I#sctp_sndrcvinfo{tsn = tsn, cumtsn = tsn, assoc_id = id};
same(#sctp_assoc_change{} = I) -> I#sctp_assoc_change{assoc_id = id};
same(#sctp_shutdown_event{}) -> #sctp_shutdown_event{assoc_id = id};
same(#sctp_adaptation_event{} = I) -> I#sctp_adaptation_event{assoc_id = id};
same(#sctp_send_failed{} = I) -> I#sctp_send_failed{assoc_id = id, info = same(I#sctp_send_failed.info)};
same(#sctp_paddrinfo{} = I) ->
    I#sctp_paddrinfo{assoc_id = id, address = same(I#sctp_paddrinfo.address), cwnd = n, srtt = n, rto = n,
                     mtu = n};
same(#sctp_status{} = I) ->
    I#sctp_status{assoc_id = id, rwnd = n, fragmentation_point = n, primary = same(I#sctp_status.primary)};
same({Ip, Port}) when is_tuple(Ip), is_integer(Port), Port > 0 -> {Ip, n};
same({Ip, Port, Beside, What}) when is_tuple(Ip), is_integer(Port) -> {Ip, n, same(Beside), same(What)};
same({Tag, S, Ip, _, {Beside, What}}) when Tag =:= sctp; Tag =:= sctp_error ->
    {Tag, same(S), Ip, n, {same(Beside), same(What)}};
%% As the driver tells it, which gen_sctp leaves as it is.
same({[1, _, _ | Ip], Beside, What}) -> {Ip, same(Beside), same(What)};
same(T) when is_tuple(T) -> list_to_tuple(same(tuple_to_list(T)));
same([H | T]) -> [same(H) | same(T)];
same(B) when is_binary(B), byte_size(B) > 60 -> {byte_size(B), bytes, erlang:crc32(B)};
same(T) -> T.
