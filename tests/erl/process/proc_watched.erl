%% SPDX-License-Identifier: Apache-2.0
%% Monitors of nobody: names of processes and of ports, pids of an earlier life of this node. A process moved to another scheduler.
-module(proc_watched).
-export([main/0]).

main() ->
    [show(monitor(Type, What)) || Type <- [process, port], What <- [nobody, {nobody, node()}]],
    show(monitor(port, nobody, [{alias, reply_demonitor}, {tag, gone}])),
    Earlier = earlier(self()),
    true = Earlier =/= self(),
    R = monitor(process, Earlier),
    receive {'DOWN', R, process, Earlier, Why} -> erlang:display(Why) end,
    erlang:display(process_flag(scheduler, 1)),
    erlang:yield(),
    erlang:display({process_flag(scheduler, 0), erlang:system_info(scheduler_id)}),
    erlang:display(try process_flag(scheduler, 100000) catch error:E -> E end),
    {reductions, Before} = process_info(self(), reductions),
    [erlang:yield() || _ <- lists:seq(1, 10)],
    {reductions, After} = process_info(self(), reductions),
    erlang:display(After - Before < 1000),
    erlang:display([N || N <- [1, 2, 1, 2], N =< erlang:system_info(schedulers_online), hop(N) =/= N]).

show(R) -> receive Down when element(2, Down) =:= R -> erlang:display(setelement(2, Down, r)) end.

hop(N) ->
    process_flag(scheduler, N),
    erlang:system_info(scheduler_id).

%% The creation, its last byte, differs.
earlier(Pid) ->
    Bytes = term_to_binary(Pid),
    Size = byte_size(Bytes) - 1,
    <<Start:Size/binary, Creation>> = Bytes,
    binary_to_term(<<Start/binary, (Creation + 1)>>).

%% expect: {'DOWN',r,process,{nobody,'nonode@nohost'},noproc}
%% expect: {'DOWN',r,process,{nobody,'nonode@nohost'},noproc}
%% expect: {'DOWN',r,port,{nobody,'nonode@nohost'},noproc}
%% expect: {'DOWN',r,port,{nobody,'nonode@nohost'},noproc}
%% expect: {gone,r,port,{nobody,'nonode@nohost'},noproc}
%% expect: noproc
%% expect: 0
%% expect: {1,1}
%% expect: badarg
%% expect: true
%% expect: []
