%% SPDX-License-Identifier: Apache-2.0
%% A birth as a sequential trace tells it: the request, the child's answer, and what they count.
-module(trace_seq_spawn).
-export([main/0, say/2]).

main() ->
    Args = [self(), hello],
    [show(Name, How, Args) || {Name, How} <- [
        {spawn, fun() -> {spawn(?MODULE, say, Args), none} end},
        {spawn_link, fun() -> {spawn_link(?MODULE, say, Args), none} end},
        {spawn_monitor, fun() -> spawn_monitor(?MODULE, say, Args) end},
        {spawn_opt, fun() -> {spawn_opt(?MODULE, say, Args, [link, {priority, low}]), none} end},
        {request, fun() -> asked([link, {reply_tag, {my, tag}}], {my, tag}) end},
        {monitored, fun() -> asked([monitor], spawn_reply) end},
        {unanswered, fun() -> asked([{reply, no}], none) end},
        {wrong, fun() -> asked([{priority, foo}], spawn_reply) end}]].

say(To, What) -> To ! What.

asked(Options, Tag) ->
    R = spawn_request(?MODULE, say, [self(), hello], Options),
    receive
        {Tag, R, ok, P} -> {P, R};
        {Tag, R, error, badopt} -> self() ! hello, {none, R};
        hello when Tag =:= none -> self() ! hello, {none, R}
    end.

show(Name, How, Args) ->
    Collector = spawn(fun() -> collect([]) end),
    seq_trace:set_system_tracer(Collector),
    seq_trace:reset_trace(),
    seq_trace:set_token(label, Name),
    [seq_trace:set_token(Flag, true) || Flag <- [send, 'receive']],
    {Child, Ref} = How(),
    receive hello -> ok end,
    seq_trace:set_token([]),
    Known = #{self() => me, Child => child, Ref => ref, group_leader() => leader, Args => args},
    Collector ! {give, self()},
    [io:format("~p ~0p~n", [Name, named(E, Known)]) || E <- receive {heard, Events} -> lists:keysort(2, Events) end],
    flush().

collect(Events) ->
    receive
        {seq_trace, _, {send, _, _, _, {'EXIT', _, normal}}} -> collect(Events); % it may come too late
        {seq_trace, _, {Type, Serial, From, To, Message}} -> collect([{Type, Serial, From, To, Message} | Events]);
        {give, To} -> To ! {heard, lists:reverse(Events)}
    after infinity -> ok
    end.

named(T, Known) when is_map_key(T, Known) -> map_get(T, Known);
named({spawn_request, Ref, Parent, Leader, {erts_internal, spawn_init, 1}, Options, Tag, [{M, F, A}]}, Known) -> % as OTP starts some
    named({spawn_request, Ref, Parent, Leader, {M, F, length(A)}, Options, Tag, A}, Known);
named(T, Known) when is_tuple(T) -> list_to_tuple([named(E, Known) || E <- tuple_to_list(T)]);
named(T, Known) when is_list(T) -> [named(E, Known) || E <- T];
named(T, _) when is_reference(T) -> a_reference;
named(T, _) when is_pid(T) -> a_process;
named(T, _) -> T.

flush() -> receive _ -> flush() after 0 -> ok end.

%% expect: spawn {send,{0,1},me,child,{spawn_request,a_reference,me,leader,{trace_seq_spawn,say,2},[],spawn_reply,args}}
%% expect: spawn {'receive',{0,1},me,child,{spawn_request,a_reference,me,leader,{trace_seq_spawn,say,2},[],spawn_reply,args}}
%% expect: spawn {send,{1,2},child,me,{spawn_reply,a_reference,ok,child}}
%% expect: spawn {'receive',{1,2},child,me,{spawn_reply,a_reference,ok,child}}
%% expect: spawn {send,{1,3},child,me,hello}
%% expect: spawn {'receive',{1,3},child,me,hello}
%% expect: spawn_link {send,{0,1},me,child,{spawn_request,a_reference,me,leader,{trace_seq_spawn,say,2},[link],spawn_reply,args}}
%% expect: spawn_link {'receive',{0,1},me,child,{spawn_request,a_reference,me,leader,{trace_seq_spawn,say,2},[link],spawn_reply,args}}
%% expect: spawn_link {send,{1,2},child,me,{spawn_reply,a_reference,ok,child}}
%% expect: spawn_link {'receive',{1,2},child,me,{spawn_reply,a_reference,ok,child}}
%% expect: spawn_link {send,{1,3},child,me,hello}
%% expect: spawn_link {'receive',{1,3},child,me,hello}
%% expect: spawn_monitor {send,{0,1},me,child,{spawn_request,ref,me,leader,{trace_seq_spawn,say,2},[monitor],spawn_reply,args}}
%% expect: spawn_monitor {'receive',{0,1},me,child,{spawn_request,ref,me,leader,{trace_seq_spawn,say,2},[monitor],spawn_reply,args}}
%% expect: spawn_monitor {send,{1,2},child,me,{spawn_reply,ref,ok,child}}
%% expect: spawn_monitor {'receive',{1,2},child,me,{spawn_reply,ref,ok,child}}
%% expect: spawn_monitor {send,{1,3},child,me,hello}
%% expect: spawn_monitor {'receive',{1,3},child,me,hello}
%% expect: spawn_opt {send,{0,1},me,child,{spawn_request,a_reference,me,leader,{trace_seq_spawn,say,2},[link,{priority,low}],spawn_reply,args}}
%% expect: spawn_opt {'receive',{0,1},me,child,{spawn_request,a_reference,me,leader,{trace_seq_spawn,say,2},[link,{priority,low}],spawn_reply,args}}
%% expect: spawn_opt {send,{1,2},child,me,{spawn_reply,a_reference,ok,child}}
%% expect: spawn_opt {'receive',{1,2},child,me,{spawn_reply,a_reference,ok,child}}
%% expect: spawn_opt {send,{1,3},child,me,hello}
%% expect: spawn_opt {'receive',{1,3},child,me,hello}
%% expect: request {send,{0,1},me,child,{spawn_request,ref,me,leader,{trace_seq_spawn,say,2},[link,{reply_tag,{my,tag}}],{my,tag},args}}
%% expect: request {'receive',{0,1},me,child,{spawn_request,ref,me,leader,{trace_seq_spawn,say,2},[link,{reply_tag,{my,tag}}],{my,tag},args}}
%% expect: request {send,{1,2},child,me,{{my,tag},ref,ok,child}}
%% expect: request {'receive',{1,2},child,me,{{my,tag},ref,ok,child}}
%% expect: request {send,{1,3},child,me,hello}
%% expect: request {'receive',{1,3},child,me,hello}
%% expect: monitored {send,{0,1},me,child,{spawn_request,ref,me,leader,{trace_seq_spawn,say,2},[monitor],spawn_reply,args}}
%% expect: monitored {'receive',{0,1},me,child,{spawn_request,ref,me,leader,{trace_seq_spawn,say,2},[monitor],spawn_reply,args}}
%% expect: monitored {send,{1,2},child,me,{spawn_reply,ref,ok,child}}
%% expect: monitored {'receive',{1,2},child,me,{spawn_reply,ref,ok,child}}
%% expect: monitored {send,{1,3},child,me,hello}
%% expect: monitored {'receive',{1,3},child,me,hello}
%% expect: unanswered {send,{0,1},me,a_process,{spawn_request,ref,me,leader,{trace_seq_spawn,say,2},[{reply,no}],spawn_reply,args}}
%% expect: unanswered {'receive',{0,1},me,a_process,{spawn_request,ref,me,leader,{trace_seq_spawn,say,2},[{reply,no}],spawn_reply,args}}
%% expect: unanswered {send,{1,3},a_process,me,hello}
%% expect: unanswered {'receive',{1,3},a_process,me,hello}
%% expect: unanswered {send,{3,4},me,me,hello}
%% expect: unanswered {'receive',{3,4},me,me,hello}
%% expect: wrong {send,{0,1},me,me,hello}
%% expect: wrong {'receive',{0,1},me,me,hello}
