%% SPDX-License-Identifier: Apache-2.0
%% Who waits for whom: 20 for a cache, which waits for a database, which waits for nobody; two for each other; one for a
%% program that reads nothing. A server that has asked the database, too, and goes on with its work does not wait.
-module(blame_target).
-export([main/0, many/0, web/0, init/1, handle_call/3, handle_cast/2]).

main() ->
    named(database, fun() -> receive never -> ok end end),
    named(cache, fun() -> ask(database) end),
    Webs = [spawn(?MODULE, web, []) || _ <- lists:seq(1, 20)],
    named(left, fun() -> ask(right) end),
    named(right, fun() -> ask(left) end),
    named(writer, fun() -> write(open_port({spawn, "sh -c 'while kill -0 $PPID; do sleep 1; done 2> /dev/null'"}, [binary])) end),
    {ok, _} = gen_server:start({local, busy_server}, ?MODULE, [], []),
    await(fun() -> lists:all(fun asks/1, [whereis(N) || N <- [cache, left, right]] ++ Webs) end),
    await(fun() -> process_info(whereis(writer), status) =:= {status, suspended} end),
    io:format("ready~n"),
    _ = io:get_line(""),
    halt().

%% More than a picture has room for: 3,000 of as many names wait for one whose name attacks who draws it; 300 pairs, of
%% which each waits for the other.
many() ->
    Hostile = list_to_atom("</text><script>\"&'\e[31m" ++ [16#202e] ++ "]]>"),
    named(Hostile, fun() -> receive never -> ok end end),
    [named(list_to_atom("asks_" ++ integer_to_list(N)), fun() -> ask(Hostile) end) || N <- lists:seq(1, 3000)],
    Pairs = [begin
                 A = spawn(fun() -> receive {ask, Other} -> ask(Other) end end),
                 B = spawn(fun() -> ask(A) end),
                 A ! {ask, B},
                 [A, B]
             end || _ <- lists:seq(1, 300)],
    Names = [whereis(list_to_atom("asks_" ++ integer_to_list(N))) || N <- lists:seq(1, 3000)],
    await(fun() -> lists:all(fun asks/1, lists:append([Names | Pairs])) end),
    io:format("ready~n"),
    _ = io:get_line(""),
    halt().

named(Name, F) -> register(Name, spawn(F)).

await(F) ->
    case F() of
        true -> ok;
        false -> receive after 20 -> await(F) end
    end.

%% Whether it has asked, and waits for the answer.
asks(P) -> process_info(P, current_function) =:= {current_function, {gen, do_call, 4}} andalso
               process_info(P, status) =:= {status, waiting}.

ask(Server) ->
    await(fun() -> is_pid(Server) orelse is_pid(whereis(Server)) end),
    gen:call(Server, '$gen_call', question, infinity).

web() -> ask(cache).

write(Port) ->
    port_command(Port, <<0:(8 * 100000)>>),
    write(Port).

init([]) ->
    _ = gen_server:send_request(database, question),
    {ok, []}.
handle_call(_, _, State) -> {reply, ok, State}.
handle_cast(_, State) -> {noreply, State}.
