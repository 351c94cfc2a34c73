%% SPDX-License-Identifier: Apache-2.0
%% Code is upgraded and purged while its dirty native functions run, and trace patterns come and go: each of them stops
%% all schedulers. Nobody waits for ever.
%% expect: {workers,8}
%% expect: {loads,true}
%% expect: {calls,{2,one},{3,one}}
-module(nif_upgrade).
-export([main/0]).

-define(MS, 2500).

main() ->
    logger:set_primary_config(level, none),
    Codes = [compiled(V) || V <- [one, two, three]],
    load(hd(Codes)),
    End = erlang:monotonic_time(millisecond) + ?MS,
    Workers = [spawn_monitor(fun() -> work(I, End, 0) end) || I <- lists:seq(1, 8)],
    {_, Upgrader} = spawn_monitor(fun() -> exit({loads, upgrade(End, Codes, 0)}) end),
    Ended = [receive {'DOWN', R, process, _, Why} when Why =:= normal; Why =:= killed -> 1 end || {_, R} <- Workers],
    io:format("~p~n", [{workers, length(Ended)}]),
    receive {'DOWN', Upgrader, process, _, {loads, N}} -> io:format("~p~n", [{loads, N > 0}]) end,
    erlang:trace_pattern({nif_upgraded, '_', '_'}, false, [local]),
    code:purge(nif_upgraded),
    code:delete(nif_upgraded),
    code:purge(nif_upgraded),
    load(hd(Codes)),
    io:format("~p~n", [{calls, {nif_upgraded:slow(2), nif_upgraded:version()}, {nif_upgraded:quick(3), nif_upgraded:version()}}]).

load(Code) ->
    code:load_binary(nif_upgraded, "nif_upgraded", Code).

upgrade(End, Codes, N) ->
    case erlang:monotonic_time(millisecond) > End of
        true -> N;
        false ->
            N rem 2 =:= 0 andalso (code:soft_purge(nif_upgraded) andalso code:delete(nif_upgraded)),
            code:purge(nif_upgraded),
            load(lists:nth(1 + N rem 3, Codes)),
            upgrade(End, Codes, N + 1)
    end.

work(I, End, N) ->
    case erlang:monotonic_time(millisecond) > End of
        true -> ok;
        false ->
            I =< 4 andalso ask(spawn(fun() -> catch nif_upgraded:slow(N) end)),
            I =< 4 andalso (catch nif_upgraded:slow(N)),
            case N rem 2 of
                0 ->
                    catch erlang:trace_pattern({nif_upgraded, '_', '_'}, [{'_', [], [{exception_trace}]}], [local]),
                    spawn(fun() -> catch erlang:trace(self(), true, [call]), catch nif_upgraded:quick(N) end);
                1 -> catch erlang:trace_pattern({nif_upgraded, '_', '_'}, false, [local])
            end,
            work(I, End, N + 1)
    end.

%% A scheduler has to run P for each of these, while its native runs.
ask(P) ->
    [erlang:process_info(P, status) || _ <- lists:seq(1, 10)].

compiled(Version) ->
    Library = filename:join(filename:dirname(code:which(?MODULE)), "nif_upgrade"),
    Lines = ["-module(nif_upgraded).", "-export([version/0, slow/1, quick/1]).", "-on_load(load/0).",
             io_lib:format("load() -> erlang:load_nif(~p, 0).", [Library]),
             io_lib:format("version() -> ~p.", [Version]),
             "slow(_) -> erlang:nif_error(not_loaded).", "quick(_) -> erlang:nif_error(not_loaded)."],
    {ok, nif_upgraded, Code} = compile:forms([form(lists:flatten(L)) || L <- Lines], []),
    Code.

form(Line) ->
    {ok, Tokens, _} = erl_scan:string(Line),
    {ok, Form} = erl_parse:parse_form(Tokens),
    Form.
