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
    halt(0).

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
