%% SPDX-License-Identifier: Apache-2.0
%% What suites ask of common_test's test_server, nodes that they start included.
-module(test_server).
-export([lookup_config/2, timetrap/1, timetrap_cancel/0, timetrap_cancel/1, timetrap_scale_factor/0, seconds/1, minutes/1, sleep/1, do_times/2, do_times/4,
         m_out_of_n/3, timecall/3, comment/1, format/1, format/2, format/3, temp_name/1, messages_get/0, is_cover/0, is_debug/0, is_asan/0,
         is_valgrind/0, memory_checker/0, app_test/1, app_test/2, appup_test/1, is_release_available/1,
         start_node/3, stop_node/1, start_peer/3, start_peer/5, peer_name/2]).

lookup_config(Key, Config) ->
    case lists:keyfind(Key, 1, Config) of
        {Key, Value} -> Value;
        false -> undefined
    end.

timetrap(_) -> make_ref().
timetrap_cancel() -> ok.
timetrap_cancel(_) -> ok.
timetrap_scale_factor() -> 1.
seconds(N) -> timer:seconds(N).
minutes(N) -> timer:minutes(N).
sleep(Ms) -> timer:sleep(Ms).

do_times(0, _) -> ok;
do_times(N, Fun) -> Fun(), do_times(N - 1, Fun).
do_times(N, M, F, A) -> do_times(N, fun() -> apply(M, F, A) end).

%% Calls Fun up to N times, until it has returned M times.
m_out_of_n(0, _, _) -> ok;
m_out_of_n(M, N, _) when M > N -> exit({m_out_of_n_failed, {M, left_to_do}});
m_out_of_n(M, N, Fun) ->
    case catch Fun() of
        {'EXIT', _} -> m_out_of_n(M, N - 1, Fun);
        _ -> m_out_of_n(M - 1, N - 1, Fun)
    end.

timecall(M, F, A) ->
    {Us, Value} = timer:tc(M, F, A),
    {Us / 1000000, Value}.

comment(Text) -> ct:comment(Text).
format(Text) -> ct:log(Text).
format(Format, Arguments) when is_list(Format) -> ct:log(Format, Arguments);
format(_, Text) -> ct:log(Text).
format(_, Format, Arguments) -> ct:log(Format, Arguments).
temp_name(Stem) -> Stem ++ integer_to_list(erlang:unique_integer([positive])).

messages_get() ->
    receive Message -> [Message | messages_get()]
    after 0 -> []
    end.

is_cover() -> false.
is_debug() -> false.
is_asan() -> false.
is_valgrind() -> false.
memory_checker() -> none.

app_test(_) -> otp_case:skip("test_server's checks of applications").
app_test(Application, _) -> app_test(Application).
appup_test(Application) -> app_test(Application).
is_release_available(_) -> false.

%% ---- nodes; what is left of them when a case is over ends with the harness

peer_name(Module, Case) -> peer:random_name(lists:concat([Module, "-", Case])).

start_peer(Arguments, Module, Case) when is_list(Arguments) ->
    start_peer(#{args => Arguments}, Module, Case);
start_peer(Options, Module, Case) ->
    Arguments = maps:get(args, Options, []),
    Cookie = case lists:member("-setcookie", Arguments) of
                 true -> [];
                 false -> ["-setcookie", atom_to_list(erlang:get_cookie())]
             end,
    Named = maps:merge(#{name => peer_name(Module, Case)}, Options),
    Path = ["-pa", filename:dirname(code:which(Module))],
    case peer:start_link(Named#{args => Cookie ++ Path ++ Arguments}) of
        {ok, Peer, Node} ->
            net_adm:ping(Node),
            {ok, Peer, Node};
        Other -> Other
    end.

start_peer(_, _, _, _Release, _) -> not_available.

%% A slave is linked to this node, a peer is not; {wait, false} does not wait until it is up.
start_node(Name, Type, Options) ->
    Arguments = lists:flatten(proplists:get_value(args, Options, "")),
    [_, Host] = string:lexemes(atom_to_list(node()), "@"),
    Node = list_to_atom(lists:concat([Name, "@", Host])),
    case proplists:get_value(erl, Options, [this]) of
        [{release, _} | _] -> otp_case:skip("no other release is here");
        _ when Type =:= slave -> slave:start(Host, Name, Arguments);
        _ -> start_detached(Name, Node, Arguments, proplists:get_value(wait, Options, true))
    end.

start_detached(Name, Node, Arguments, Wait) ->
    NameFlag = case net_kernel:longnames() of true -> " -name "; _ -> " -sname " end,
    [] = os:cmd(lists:concat([ct:get_progname(), " -detached", NameFlag, Name, " -setcookie ", erlang:get_cookie(), " ", Arguments])),
    case not Wait orelse answers(Node, 100) of
        true -> {ok, Node};
        false -> {error, timeout}
    end.

answers(_, 0) -> false;
answers(Node, Left) ->
    case net_adm:ping(Node) of
        pong -> true;
        pang ->
            timer:sleep(100),
            answers(Node, Left - 1)
    end.

stop_node(Node) ->
    erlang:monitor_node(Node, true),
    rpc:cast(Node, erlang, halt, []),
    receive {nodedown, Node} -> true
    after 10000 -> false
    end.
