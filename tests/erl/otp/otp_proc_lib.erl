%% SPDX-License-Identifier: Apache-2.0
%% proc_lib and timer: synchronous starts, translated calls, timer server.
-module(otp_proc_lib).
-export([main/0, child/1]).

main() ->
    process_flag(trap_exit, true),
    d(element(1, proc_lib:start_link(?MODULE, child, [ack]))),
    d(proc_lib:start_link(?MODULE, child, [refuse])),
    d(proc_lib:start(?MODULE, child, [hang], 20)),
    Me = self(),
    P = proc_lib:spawn(fun() -> Me ! up, receive after infinity -> ok end end),
    receive up -> ok end,
    d(element(1, proc_lib:initial_call(P)) =:= ?MODULE),
    whereis(kernel_sup) =:= undefined andalso timer:start_link(), %% without the kernel application
    {ok, _} = timer:send_after(10, hello), d(receive hello -> got end),
    {ok, T} = timer:send_interval(10, tick), [receive tick -> ok end || _ <- [1, 2, 3]], d(timer:cancel(T)),
    {ok, _} = timer:apply_after(10, erlang, send, [Me, applied]), d(receive applied -> yes end),
    d(timer:sleep(1)),
    d(element(2, timer:tc(lists, sum, [[1, 2, 3]]))).

child(ack) -> proc_lib:init_ack({ok, self()}), receive after 100 -> ok end;
child(refuse) -> proc_lib:init_ack({error, refused});
child(hang) -> receive after infinity -> ok end.

d(T) -> erlang:display(T).

%% expect: ok
%% expect: {error,refused}
%% expect: {error,timeout}
%% expect: true
%% expect: got
%% expect: {ok,cancel}
%% expect: yes
%% expect: ok
%% expect: 6
