%% SPDX-License-Identifier: Apache-2.0
%% What is told of allocators has the shape that tools for memory read.
-module(proc_allocators).
-export([main/0]).

main() ->
    Util = erlang:system_info(alloc_util_allocators),
    p(util, lists:sort(Util)),
    {Library, Version, Features, Settings} = erlang:system_info(allocator),
    p(library, {Library, lists:all(fun is_integer/1, Version), lists:member(sys_alloc, Features)}),
    p(settings, [{Name, lists:keymember(e, 1, Options)} || {Name, Options} <- Settings, lists:member(Name, [sys_alloc | Util])]),
    p(sys, lists:sublist(erlang:system_info({allocator, sys_alloc}), 1) =/= []),
    p(sizes, erlang:system_info({allocator_sizes, [sys_alloc]})),
    p(each, [is_list(Told) orelse Told =:= false || {_, Told} <- erlang:system_info({allocator_sizes, Util})]),
    p(below, [is_list(Told) orelse Told =:= false || Told <- [erlang:system_info({allocator, Name}) || Name <- [mseg_alloc, erts_mmap]]]),
    p(blocks, case erts_debug:alloc_blocks_size(ets_alloc) of undefined -> true; Bytes -> Bytes > 0 end),
    p(wrong, [catch_info(Item) || Item <- [{allocator, foo}, {allocator, [foo]}, {allocator_sizes, [sys_alloc | x]}, {allocator, []}]]),
    recon(Util),
    halt(0).

%% ---- what recon_alloc makes of it

recon(Util) ->
    All = instances(Util),
    p(instances, All =/= []),
    Used = sum(All, fun block_bytes/2),
    Obtained = sum(All, fun carrier_bytes/2),
    p(used, {Used > 1000000, Used =< Obtained, Obtained < 1000000000}),
    p(carriers, lists:all(fun(Instance) -> within(Instance) end, All)),
    p(averages, [Average || {Name, _, Props} <- All, Type <- [mbcs, sbcs],
                            Average <- [average(Name, Type, Props)], not (Average =:= none orelse Average > 8)]),
    p(usage, lists:all(fun(Usage) -> Usage > 0 andalso Usage =< 1 end, [Used / Obtained])),
    p(versions, lists:all(fun({_, _, Props}) -> is_tuple(lists:keyfind(versions, 1, Props)) end, All)),
    Holder = spawn(fun() -> L = lists:seq(1, 4000000), receive stop -> length(L) end end),
    p(grows, grows(Used + 40000000, 500)),
    exit(Holder, kill),
    p(sizes, [size_of(Name, Sizes) || {Name, Sizes} <- erlang:system_info({allocator_sizes, [eheap_alloc, std_alloc]})]).

instances(Util) ->
    [{Name, N, Props} || Name <- Util, Told <- [erlang:system_info({allocator, Name})], Told =/= false,
                         {instance, N, Props} <- Told].

types(Props) -> [{Type, Of} || {Type, Of} <- Props, lists:member(Type, [mbcs, mbcs_pool, sbcs])].

sum(All, F) -> lists:sum([F(Type, Of) || {_, _, Props} <- All, {Type, Of} <- types(Props)]).

blocks(Key, Of) ->
    {blocks, Each} = lists:keyfind(blocks, 1, Of),
    lists:sum([element(2, lists:keyfind(Key, 1, Told)) || {_, Told} <- Each]).

block_bytes(_, Of) -> blocks(size, Of).
carrier_bytes(_, Of) -> element(2, lists:keyfind(carriers_size, 1, Of)).

within({_, _, Props}) ->
    lists:all(fun({mbcs_pool, _}) -> true;
                 ({_, Of}) ->
                      {carriers, N, _, _} = lists:keyfind(carriers, 1, Of),
                      {carriers_size, Bytes, _, Most} = lists:keyfind(carriers_size, 1, Of),
                      blocks(size, Of) =< Bytes andalso Bytes =< Most andalso (N > 0) =:= (Bytes > 0)
              end, types(Props)).

average(_, Type, Props) ->
    Of = proplists:get_value(Type, Props),
    case {blocks(size, Of), blocks(count, Of)} of
        {0, 0} -> none;
        {Size, Count} -> Size / Count
    end.

grows(_, 0) -> false;
grows(Bytes, Tries) ->
    case sum(instances([eheap_alloc, std_alloc]), fun block_bytes/2) > Bytes of
        true -> true;
        false -> timer:sleep(20), grows(Bytes, Tries - 1)
    end.

size_of(Name, Instances) ->
    {Name, lists:sum([blocks(size, Of) || {instance, _, Props} <- Instances, {mbcs, Of} <- Props]) > 1000}.

p(L, X) -> erlang:display({L, X}).

catch_info(Item) -> try erlang:system_info(Item) catch error:Reason -> Reason end.
%% expect: {util,[binary_alloc,driver_alloc,eheap_alloc,ets_alloc,fix_alloc,literal_alloc,ll_alloc,sl_alloc,std_alloc,temp_alloc]}
%% expect: {library,{glibc,true,true}}
%% expect: {settings,[{sys_alloc,true},{temp_alloc,true},{sl_alloc,true},{std_alloc,true},{ll_alloc,true},{eheap_alloc,true},{ets_alloc,true},{fix_alloc,true},{literal_alloc,true},{binary_alloc,true},{driver_alloc,true}]}
%% expect: {sys,true}
%% expect: {sizes,[{sys_alloc,[{instance,0,[]}]}]}
%% expect: {each,[true,true,true,true,true,true,true,true,true,true]}
%% expect: {below,[true,true]}
%% expect: {blocks,true}
%% expect: {wrong,[badarg,badarg,badarg,badarg]}
%% expect: {instances,true}
%% expect: {used,{true,true,true}}
%% expect: {carriers,true}
%% expect: {averages,[]}
%% expect: {usage,true}
%% expect: {versions,true}
%% expect: {grows,true}
%% expect: {sizes,[{eheap_alloc,true},{std_alloc,true}]}
