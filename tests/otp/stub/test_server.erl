%% SPDX-License-Identifier: Apache-2.0
%% What suites ask of common_test's test_server. Cases that start another node are skipped: see peer.erl.
-module(test_server).
-export([lookup_config/2, timetrap/1, timetrap_cancel/0, timetrap_cancel/1, timetrap_scale_factor/0, seconds/1, minutes/1, sleep/1, do_times/2, do_times/4,
         timecall/3, comment/1, temp_name/1, is_cover/0, is_debug/0, is_asan/0, is_valgrind/0, memory_checker/0,
         app_test/1, app_test/2, start_node/3, stop_node/1, start_peer/3, start_peer/4, start_peer/5, peer_name/2]).

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

timecall(M, F, A) ->
    {Us, Value} = timer:tc(M, F, A),
    {Us / 1000000, Value}.

comment(Text) -> ct:comment(Text).
temp_name(Stem) -> Stem ++ integer_to_list(erlang:unique_integer([positive])).

is_cover() -> false.
is_debug() -> false.
is_asan() -> false.
is_valgrind() -> false.
memory_checker() -> none.

app_test(_) -> otp_case:skip("test_server's checks of applications").
app_test(Application, _) -> app_test(Application).
start_node(_, _, _) -> peer:start().
stop_node(_) -> ok.
start_peer(_, _, _) -> peer:start().
start_peer(_, _, _, _) -> peer:start().
start_peer(_, _, _, _, _) -> peer:start().
peer_name(_, _) -> peer:start().
