%% SPDX-License-Identifier: Apache-2.0
%% Registered names.
-module(proc_registry).
-export([main/0]).

main() ->
    d([whereis(nobody), catch_it(fun() -> register(undefined, self()) end), register(someone, self()), whereis(someone) =:= self(),
       catch_it(fun() -> register(someone, self()) end), lists:member(someone, registered()), process_info(self(), registered_name)]),
    someone ! hello,
    d(receive hello -> got end),
    {someone, node()} ! hello2,
    d(receive hello2 -> got end),
    d([unregister(someone), whereis(someone), catch_it(fun() -> unregister(someone) end)]),
    Me = self(),
    P = spawn(fun() -> register(child, self()), Me ! registered, receive stop -> ok end end),
    receive registered -> ok end,
    d(whereis(child) =:= P),
    R = monitor(process, child),
    child ! stop,
    d(receive {'DOWN', R, process, Who, Why} -> {element(1, Who), Why} end),
    d(whereis(child)),
    d([N || N <- lists:seq(1, 300), not is_successor_free()]).

%% Who sees that the name of a process is free finds the names of its tables free, too.
is_successor_free() ->
    Me = self(),
    P = spawn(fun() -> register(owner, self()), owned = ets:new(owned, [named_table]), Me ! ready, receive stop -> ok end end),
    receive ready -> ok end,
    P ! stop,
    await_free(whereis(owner)),
    try ets:delete(ets:new(owned, [named_table])) catch error:badarg -> false end.

await_free(undefined) -> ok;
await_free(_) -> await_free(whereis(owner)).

catch_it(F) -> try F() catch C:R -> {C, R} end.

d(T) -> erlang:display(T).

%% expect: [undefined,{error,badarg},true,true,{error,badarg},true,{registered_name,someone}]
%% expect: got
%% expect: got
%% expect: [true,undefined,{error,badarg}]
%% expect: true
%% expect: {child,normal}
%% expect: undefined
%% expect: []
