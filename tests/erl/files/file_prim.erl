%% SPDX-License-Identifier: Apache-2.0
%% Every operation of prim_file, its results and errors, and the end of a file with its owner.
-module(file_prim).
-export([main/0]).
-include_lib("kernel/include/file.hrl").
p(L, X) -> erlang:display({L, X}).
%% A name in D.
in(D, {ok, Name}) -> {ok, "DIR" ++ lists:nthtail(length(D), Name)};
in(_, Error) -> Error.
main() ->
    D = "/tmp/file_prim." ++ os:getpid(),
    os_clean(D),
    p(mkdir, prim_file:make_dir(D)),
    p(mkdir2, prim_file:make_dir(D)),
    F = D ++ "/a",
    p(open_none, prim_file:open(D ++ "/none", [read])),
    p(open_dir, prim_file:open(D, [read])),
    {ok, Fd} = prim_file:open(F, [read, write, binary, raw]),
    p(write, prim_file:write(Fd, ["hello ", <<"world\n">>, [[$x], "yz\n"]])),
    p(pos, prim_file:position(Fd, {bof, 6})),
    p(read, prim_file:read(Fd, 5)),
    p(read, prim_file:read(Fd, 100)),
    p(read, prim_file:read(Fd, 100)),
    p(pread, prim_file:pread(Fd, 0, 5)),
    p(pread, prim_file:pread(Fd, [{0,2},{100,1},{3,4}])),
    p(pwrite, prim_file:pwrite(Fd, 0, "J")),
    p(pwrite, prim_file:pwrite(Fd, [{1,"E"},{20,"end"}])),
    p(pread, prim_file:pread(Fd, 0, 100)),
    p(pos, [prim_file:position(Fd, P) || P <- [cur, bof, eof, {cur,-3}, {eof,-1}, 4, {bof,-1}, foo]]),
    p(trunc, prim_file:truncate(Fd)),
    p(sync, prim_file:sync(Fd)), p(datasync, prim_file:datasync(Fd)),
    p(advise, [prim_file:advise(Fd, 0, 0, A) || A <- [normal,random,sequential,will_need,dont_need,no_reuse,foo]]),
    p(advise, prim_file:advise(Fd, -1, 0, normal)),
    p(allocate, prim_file:allocate(Fd, 0, 4096)),
    p(hinfo, fi(prim_file:read_handle_info(Fd))),
    p(neg, prim_file:read(Fd, -1)),
    p(closebad, prim_file:close(Fd)),
    p(close2, prim_file:close(Fd)),
    p(readclosed, prim_file:read(Fd, 1)),
    p(wf, prim_file:write_file(D ++ "/b", lists:duplicate(100, "line\n"))),
    {ok, B} = prim_file:read_file(D ++ "/b"), p(rf, byte_size(B)),
    {ok, L} = prim_file:open(D ++ "/b", [read, {read_ahead, 100}]),
    p(rl, [prim_file:read_line(L), prim_file:read_line(L), prim_file:read(L, 3), prim_file:position(L, cur)]),
    p(rls, rls(L, 0)),
    p(close, prim_file:close(L)),
    p(empty, prim_file:write_file(D ++ "/e", <<>>)), p(empty, prim_file:read_file(D ++ "/e")),
    p(link, prim_file:make_link(D ++ "/b", D ++ "/c")),
    p(sym, prim_file:make_symlink(D ++ "/b", D ++ "/s")),
    p(rlink, in(D, prim_file:read_link(D ++ "/s"))), p(rlink, prim_file:read_link(D ++ "/b")), p(rlink, in(D, prim_file:read_link_all(D ++ "/s"))),
    p(info, fi(prim_file:read_file_info(D ++ "/b"))), p(linfo, fi(prim_file:read_link_info(D ++ "/s")) =:= {length(D ++ "/b"), symlink, read_write, 8#700, 1}),
    p(info, prim_file:read_file_info(D ++ "/none")),
    p(chmod, prim_file:write_file_info(D ++ "/b", #file_info{mode = 8#600})),
    p(info, fi(prim_file:read_file_info(D ++ "/b"))),
    p(times, prim_file:write_file_info(D ++ "/b", #file_info{mtime = {{2001,2,3},{4,5,6}}, atime={{2002,2,3},{4,5,6}}})),
    {ok, I} = prim_file:read_file_info(D ++ "/b"), p(mt, {I#file_info.mtime, I#file_info.atime}),
    {ok, I2} = prim_file:read_file_info(D ++ "/b", [{time, posix}]), p(mt, is_integer(I2#file_info.mtime)),
    p(rename, prim_file:rename(D ++ "/c", D ++ "/d")), p(rename, prim_file:rename(D ++ "/c", D ++ "/d")),
    {ok, Ls} = prim_file:list_dir(D), p(ls, lists:sort(Ls)), p(ls, prim_file:list_dir(D ++ "/none")),
    p(deldir, prim_file:del_dir(D)), p(del, prim_file:delete(D)), p(del, prim_file:delete(D ++ "/none")),
    {ok, C} = prim_file:get_cwd(), p(cwd, is_list(C)),
    p(setcwd, prim_file:set_cwd(D)), p(cwd, in(D, prim_file:get_cwd())), p(setcwd, prim_file:set_cwd(D ++ "/none")), prim_file:set_cwd(C),
    p(uni, prim_file:write_file(D ++ "/\x{20ac}", "x")), {ok, Ls2} = prim_file:list_dir(D), p(uni, lists:member([16#20ac], Ls2)),
    p(raw, prim_file:write_file(<<(list_to_binary(D))/binary, "/", 255>>, "x")),
    {ok, Ls4} = prim_file:list_dir_all(D), p(raw, length(Ls4)),
    p(nul, prim_file:read_file([$a, 0, $b])), p(atom, prim_file:read_file(foo)),
    p(excl, element(1, prim_file:open(D ++ "/b", [write, exclusive]))), p(excl, prim_file:open(D ++ "/b", [exclusive])),
    {ok, Ap} = prim_file:open(D ++ "/b", [append]), p(ap, prim_file:write(Ap, "tail")), p(ap, prim_file:read(Ap, 1)), prim_file:close(Ap),
    {ok, B2} = prim_file:read_file(D ++ "/b"), p(apsz, byte_size(B2)),
    p(dcwd, prim_file:get_cwd("c:")), p(alt, prim_file:altname(D)),
    p(nne, file:native_name_encoding()),
    {ok, Ip} = prim_file:open(D ++ "/ip", [read, write]), prim_file:write(Ip, <<3:32, 8:32, "abcd">>),
    p(ip, [prim_file:ipread_s32bu_p32bu(Ip, 0, infinity), prim_file:ipread_s32bu_p32bu(Ip, 0, 2), prim_file:ipread_s32bu_p32bu(Ip, 8, infinity), prim_file:ipread_s32bu_p32bu(Ip, -8, infinity)]),
    Self = self(),
    %% other process may not use it
    spawn(fun() -> Self ! (catch element(1, element(2, (catch prim_file:read(Ip, 1))))) end), receive M -> p(other, M) end,
    %% owner death closes
    {Pid, Ref} = spawn_monitor(fun() -> {ok, _} = prim_file:open(D ++ "/e", [read]), Self ! holds(D ++ "/e") end),
    receive R -> p(held, R) end, receive {'DOWN', Ref, process, Pid, _} -> ok end,
    p(orphan, gone(D ++ "/e")),
    p(big, bigio(D ++ "/big")),
    p(par, par(D, 20)),
    os_clean(D), halt(0).
holds(F) -> {ok, L} = prim_file:list_dir("/proc/self/fd"), lists:member({ok, F}, [prim_file:read_link("/proc/self/fd/" ++ X) || X <- L]).
gone(F) -> case holds(F) of true -> receive after 10 -> gone(F) end; false -> true end.
rls(L, N) -> case prim_file:read_line(L) of {ok, _} -> rls(L, N + 1); eof -> N end.
fi({ok, I}) -> {I#file_info.size, I#file_info.type, I#file_info.access, I#file_info.mode band 8#700, I#file_info.links};
fi(X) -> X.
bigio(F) ->
    Bin = binary:copy(<<"0123456789abcdef">>, 65536),
    ok = prim_file:write_file(F, [Bin, Bin, "x" | [Bin]]),
    {ok, B} = prim_file:read_file(F), byte_size(B) =:= 3 * 1048576 + 1.
par(D, N) ->
    Ps = [spawn_monitor(fun() -> F = D ++ "/p" ++ integer_to_list(I),
        [begin ok = prim_file:write_file(F, integer_to_list(K)), {ok, B} = prim_file:read_file(F), K = binary_to_integer(B) end || K <- lists:seq(1, 50)],
        ok = prim_file:delete(F) end) || I <- lists:seq(1, N)],
    [receive {'DOWN', R, process, P, X} -> X end || {P, R} <- Ps] =:= lists:duplicate(N, normal).
os_clean(D) ->
    case prim_file:list_dir_all(D) of {ok, L} -> [prim_file:delete(if is_list(X) -> D ++ "/" ++ X; true -> <<(list_to_binary(D))/binary, "/", X/binary>> end) || X <- L], prim_file:del_dir(D); _ -> ok end.

%% expect: {mkdir,ok}
%% expect: {mkdir2,{error,eexist}}
%% expect: {open_none,{error,enoent}}
%% expect: {open_dir,{error,eisdir}}
%% expect: {write,ok}
%% expect: {pos,{ok,6}}
%% expect: {read,{ok,<<"world">>}}
%% expect: {read,{ok,<<10,120,121,122,10>>}}
%% expect: {read,eof}
%% expect: {pread,{ok,<<"hello">>}}
%% expect: {pread,{ok,[<<"he">>,eof,<<"lo w">>]}}
%% expect: {pwrite,ok}
%% expect: {pwrite,ok}
%% expect: {pread,{ok,<<74,69,108,108,111,32,119,111,114,108,100,10,120,121,122,10,0,0,0,0,101,110,100>>}}
%% expect: {pos,[{ok,16},{ok,0},{ok,23},{ok,20},{ok,22},{ok,4},{error,einval},{error,badarg}]}
%% expect: {trunc,ok}
%% expect: {sync,ok}
%% expect: {datasync,ok}
%% expect: {advise,[ok,ok,ok,ok,ok,ok,{error,einval}]}
%% expect: {advise,{error,einval}}
%% expect: {allocate,ok}
%% expect: {hinfo,{4096,regular,read_write,384,1}}
%% expect: {neg,{error,badarg}}
%% expect: {closebad,ok}
%% expect: {close2,{error,einval}}
%% expect: {readclosed,{error,einval}}
%% expect: {wf,ok}
%% expect: {rf,500}
%% expect: {rl,[{ok,<<108,105,110,101,10>>},{ok,<<108,105,110,101,10>>},{ok,<<"lin">>},{ok,13}]}
%% expect: {rls,98}
%% expect: {close,ok}
%% expect: {empty,ok}
%% expect: {empty,{ok,<<>>}}
%% expect: {link,ok}
%% expect: {sym,ok}
%% expect: {rlink,{ok,"DIR/b"}}
%% expect: {rlink,{error,einval}}
%% expect: {rlink,{ok,"DIR/b"}}
%% expect: {info,{500,regular,read_write,384,2}}
%% expect: {linfo,true}
%% expect: {info,{error,enoent}}
%% expect: {chmod,ok}
%% expect: {info,{500,regular,read_write,384,2}}
%% expect: {times,ok}
%% expect: {mt,{{{2001,2,3},{4,5,6}},{{2002,2,3},{4,5,6}}}}
%% expect: {mt,true}
%% expect: {rename,ok}
%% expect: {rename,{error,enoent}}
%% expect: {ls,["a","b","d","e","s"]}
%% expect: {ls,{error,enoent}}
%% expect: {deldir,{error,eexist}}
%% expect: {del,{error,eperm}}
%% expect: {del,{error,enoent}}
%% expect: {cwd,true}
%% expect: {setcwd,ok}
%% expect: {cwd,{ok,"DIR"}}
%% expect: {setcwd,{error,enoent}}
%% expect: {uni,ok}
%% expect: {uni,true}
%% expect: {raw,ok}
%% expect: {raw,7}
%% expect: {nul,{error,badarg}}
%% expect: {atom,{error,badarg}}
%% expect: {excl,error}
%% expect: {excl,{error,eexist}}
%% expect: {ap,ok}
%% expect: {ap,{error,ebadf}}
%% expect: {apsz,504}
%% expect: {dcwd,{error,enotsup}}
%% expect: {alt,{error,enotsup}}
%% expect: {nne,utf8}
%% expect: {ip,[{ok,{3,8,<<"abc">>}},eof,eof,{error,einval}]}
%% expect: {other,not_on_controlling_process}
%% expect: {held,true}
%% expect: {orphan,true}
%% expect: {big,true}
%% expect: {par,true}
