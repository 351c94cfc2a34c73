%% SPDX-License-Identifier: Apache-2.0
%% Files in memory: file:open(Data, [ram | _]), and archives that are read from a binary.
-module(file_ram).
-export([main/0]).
main() ->
    [modes(M) || M <- [[binary], []]],
    {ok, F} = file:open(<<"abc">>, [ram, read, write, binary]),
    show([file:read(F, 2), file:read(F, 5), file:read(F, 1), file:read(F, 0)]),
    show([file:position(F, {bof, 1}), file:position(F, {cur, -2}), file:position(F, {eof, 3}), file:position(F, -1), file:position(F, foo)]),
    show([file:write(F, "xyz"), ram_file:get_file(F), ram_file:get_size(F)]),
    show([file:pread(F, 1, 2), file:pread(F, [{0, 1}, {100, 1}, {8, 5}]), file:pwrite(F, 1, [$B, <<"C">>]), file:pwrite(F, [{12, <<"end">>}, {0, "A"}])]),
    show([ram_file:get_file(F), file:pread(F, -1, 1), file:pwrite(F, -1, "x"), file:pread(F, 0, 1 bsl 40)]),
    show([file:position(F, 4), file:truncate(F), ram_file:get_file(F), file:position(F, 6), file:write(F, "z"), ram_file:get_file(F)]),
    show([file:sync(F), file:datasync(F), file:advise(F, 0, 1, normal), file:allocate(F, 0, 10)]),
    {ok, G} = file:open(<<>>, [ram, write]),
    show([file:copy(F, G), file:position(F, bof), file:copy(F, G), ram_file:get_file(G)]),
    show([file:close(F), file:close(F), file:read(F, 1)]),
    {ok, R} = file:open("read only", [ram, read]),
    show([file:write(R, "x"), file:truncate(R), file:read(R, 4), file:close(R)]),
    {ok, W} = file:open([], [ram, write]),
    show([file:read(W, 1), file:write(W, lists:duplicate(100000, $a)), file:position(W, cur), ram_file:get_size(W), file:position(W, {eof, 5000}), file:truncate(W), ram_file:get_size(W), file:close(W)]),
    show([file:open(<<>>, [ram, foo]), file:open(foo, [ram, read])]),
    P = open_port({spawn_driver, ram_file_drv}, [binary]),
    show([erlang:port_info(P, name), erlang:port_info(P, output), port_close(P)]),
    tar().
modes(M) ->
    {ok, E} = file:open(<<>>, [ram, read, write | M]),
    show([ram_file:get_file(E), file:read(E, 0), file:read(E, 1), file:pread(E, 0, 0), file:write(E, "some"), ram_file:get_file(E), file:pread(E, 1, 2), file:close(E)]).
tar() ->
    {ok, T} = file:open([], [ram, read, write, binary]),
    {ok, A} = erl_tar:init(T, write, fun(write, {Fd, D}) -> file:write(Fd, D); (position, {Fd, Pos}) -> file:position(Fd, Pos); (close, _) -> ok end),
    ok = erl_tar:add(A, <<"content">>, "name", []),
    ok = erl_tar:close(A),
    {ok, B} = ram_file:get_file(T),
    show([erl_tar:table({binary, B}), erl_tar:extract({binary, B}, [memory])]).
show(L) -> [io:format("~0p~n", [X]) || X <- L].

%% expect: {ok,<<>>}
%% expect: {ok,<<>>}
%% expect: eof
%% expect: {ok,<<>>}
%% expect: ok
%% expect: {ok,<<"some">>}
%% expect: {ok,<<"om">>}
%% expect: ok
%% expect: {ok,[]}
%% expect: {ok,[]}
%% expect: eof
%% expect: {ok,[]}
%% expect: ok
%% expect: {ok,"some"}
%% expect: {ok,"om"}
%% expect: ok
%% expect: {ok,<<"ab">>}
%% expect: {ok,<<"c">>}
%% expect: eof
%% expect: {ok,<<>>}
%% expect: {ok,1}
%% expect: {error,einval}
%% expect: {ok,6}
%% expect: {error,einval}
%% expect: {error,badarg}
%% expect: ok
%% expect: {ok,<<97,98,99,0,0,0,120,121,122>>}
%% expect: {ok,9}
%% expect: {ok,<<"bc">>}
%% expect: {ok,[<<"a">>,eof,<<"z">>]}
%% expect: ok
%% expect: ok
%% expect: {ok,<<65,66,67,0,0,0,120,121,122,0,0,0,101,110,100>>}
%% expect: {error,einval}
%% expect: {error,einval}
%% expect: {error,einval}
%% expect: {ok,4}
%% expect: ok
%% expect: {ok,<<65,66,67,0>>}
%% expect: {ok,6}
%% expect: ok
%% expect: {ok,<<65,66,67,0,0,0,122>>}
%% expect: ok
%% expect: ok
%% expect: ok
%% expect: ok
%% expect: {ok,0}
%% expect: {ok,0}
%% expect: {ok,7}
%% expect: {ok,[65,66,67,0,0,0,122]}
%% expect: ok
%% expect: ok
%% expect: {error,einval}
%% expect: {error,ebadf}
%% expect: {error,eacces}
%% expect: {ok,"read"}
%% expect: ok
%% expect: {error,ebadf}
%% expect: ok
%% expect: {ok,100000}
%% expect: {ok,100000}
%% expect: {ok,105000}
%% expect: ok
%% expect: {ok,105000}
%% expect: ok
%% expect: {error,badarg}
%% expect: {error,badarg}
%% expect: {name,"ram_file_drv"}
%% expect: {output,0}
%% expect: true
%% expect: {ok,["name"]}
%% expect: {ok,[{"name",<<"content">>}]}
