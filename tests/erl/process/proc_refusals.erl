%% SPDX-License-Identifier: Apache-2.0
%% Arguments at the edge of what is accepted, and the causes of refusals.
-module(proc_refusals).
-export([main/0]).

main() ->
    process_flag(trap_exit, false),
    requests(),
    timers(),
    names(),
    numbers(),
    descriptors(),
    links(),
    halt(0).

p(L, F) ->
    erlang:display({L, try F() of X -> X catch C:E:S -> {C, E, cause(S)} end}).

cause([{_, _, _, Info} | _]) ->
    case lists:keyfind(error_info, 1, Info) of
        {_, #{cause := Cause}} -> Cause;
        _ -> none
    end.

ms(Item) -> erlang:convert_time_unit(erlang:system_info(Item), native, millisecond).

%% What follows an option that nobody knows tells who hears of it, and how.
requests() ->
    p(request, fun() ->
        R = spawn_request(erlang, exit, [x], [links, {reply_tag, tag}]),
        receive {tag, R, error, W} -> W end
    end),
    p(quiet, fun() ->
        R = spawn_request(erlang, exit, [x], [links, {reply, no}]),
        receive {_, R, _, W} -> W after 0 -> none end
    end).

timers() ->
    Abs = [{abs, true}],
    End = ms(end_time),
    p(before_start, fun() -> erlang:start_timer(ms(start_time) - 10, self(), x, Abs) end),
    p(at_start, fun() -> is_reference(erlang:start_timer(ms(start_time) + 1, self(), past, Abs)) end),
    receive {timeout, _, past} -> ok end,
    p(before_end, fun() -> erlang:cancel_timer(erlang:start_timer(End - 1000, self(), x, Abs)) > 0 end),
    p(after_end, fun() -> erlang:start_timer(End + 1000, self(), x, Abs) end),
    p(too_long, fun() -> erlang:send_after(End - ms(start_time) + 1000, self(), x) end),
    p(too_low, fun() -> erlang:send_after(-(1 bsl 80), self(), x, Abs) end),
    p(negative, fun() -> erlang:send_after(-1, self(), x) end).

names() ->
    Port = open_port({spawn, "cat"}, []),
    p(register, fun() -> register(one, Port) end),
    p(again, fun() -> register(two, Port) end),
    p(taken, fun() -> register(one, self()) end),
    port_close(Port),
    p(closed, fun() -> register(two, Port) end).

numbers() ->
    Long = 1 bsl 32,
    p(bump, fun() -> erlang:bump_reductions(0) end),
    p(crc, fun() -> erlang:crc32_combine(1, 2, Long) end),
    p(adler, fun() -> erlang:adler32_combine(1, 2, Long) end),
    p(adler_most, fun() -> erlang:adler32_combine(1, 2, Long - 1) end),
    p(group, fun() -> re:run("abc", "b", [{capture, [Long]}]) end),
    p(group_most, fun() -> re:run("abc", "b", [{capture, [0, (1 bsl 31) - 1]}]) end),
    p(group_low, fun() -> re:run("abc", "b", [{capture, [-1]}]) end),
    p(group_big, fun() -> re:run("abc", "z", [{capture, [1 bsl 80]}]) end),
    p(limit, fun() -> re:run("abc", "b", [{match_limit, 0}]) end),
    p(limit_told, fun() -> re:run("abc", "b", [{match_limit, 0}, report_errors]) end),
    p(depth, fun() -> re:run("abc", "b", [{match_limit_recursion, 0}]) end),
    p(depth_told, fun() -> re:run("abc", "b", [{match_limit_recursion, 0}, report_errors]) end),
    p(atomics, fun() -> atomics:new(-(1 bsl 80), []) end).

descriptors() ->
    p(none, fun() -> open_port({fd, -1, -1}, []) end),
    p(half, fun() -> open_port({fd, 0, -1}, []) end),
    p(high, fun() -> open_port({fd, 1 bsl 40, 0}, []) end).

%% Nobody there: an error, but a message to who traps exits.
links() ->
    {Gone, Monitor} = spawn_monitor(fun() -> ok end),
    receive {'DOWN', Monitor, process, _, _} -> ok end,
    p(link, fun() -> link(Gone) end),
    p(linked, fun() -> {links, All} = process_info(self(), links), lists:member(Gone, All) end),
    process_flag(trap_exit, true),
    p(link, fun() -> link(Gone) end),
    receive {'EXIT', Gone, Reason} -> erlang:display(Reason) end,
    process_flag(trap_exit, false).
%% expect: {request,badopt}
%% expect: {quiet,none}
%% expect: {before_start,{error,badarg,time}}
%% expect: {at_start,true}
%% expect: {before_end,true}
%% expect: {after_end,{error,badarg,time}}
%% expect: {too_long,{error,badarg,time}}
%% expect: {too_low,{error,badarg,time}}
%% expect: {negative,{error,badarg,time}}
%% expect: {register,true}
%% expect: {again,{error,badarg,registered_name}}
%% expect: {taken,{error,badarg,none}}
%% expect: {closed,{error,badarg,none}}
%% expect: {bump,true}
%% expect: {crc,{error,badarg,none}}
%% expect: {adler,{error,badarg,none}}
%% expect: {adler_most,2}
%% expect: {group,{error,badarg,none}}
%% expect: {group_most,{match,[{1,1},{-1,0}]}}
%% expect: {group_low,{error,badarg,none}}
%% expect: {group_big,{error,badarg,none}}
%% expect: {limit,nomatch}
%% expect: {limit_told,{error,match_limit}}
%% expect: {depth,nomatch}
%% expect: {depth_told,{error,match_limit_recursion}}
%% expect: {atomics,{error,badarg,none}}
%% expect: {none,{error,einval,none}}
%% expect: {half,{error,einval,none}}
%% expect: {high,{error,einval,none}}
%% expect: {link,{error,noproc,none}}
%% expect: {linked,false}
%% expect: {link,true}
%% expect: noproc
