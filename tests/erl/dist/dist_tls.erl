%% SPDX-License-Identifier: Apache-2.0
-module(dist_tls).
-export([main/0, first/0, second/1]).

%% Two nodes, each this VM or the stock one, in three ways, over TLS with OTP's inet_tls_dist: what is sent arrives, and
%% who has no certificate of the same authority gets in nowhere. The first listens at a port that both know, so no epmd
%% is needed; the others do not listen. All of them end with this program.

main() ->
    Self = self_program(),
    Stock = os:find_executable("erl"),
    Directory = make_directory(20),
    [make_certificates(filename:join(Directory, Who)) || Who <- ["friends", "strangers"]],
    [run(Directory, First, Second) || {First, Second} <- [{Self, Self}, {Self, Stock}, {Stock, Self}]],
    ok = file:del_dir_r(Directory).

self_program() ->
    {ok, Path} = file:read_link("/proc/self/exe"),
    case filename:basename(Path) of
        "beam" ++ _ -> os:find_executable("erl");
        _ -> Path
    end.

make_directory(Tries) when Tries > 0 ->
    Name = "/tmp/dist_tls." ++ os:getpid() ++ "." ++ integer_to_list(Tries),
    case file:make_dir(Name) of
        ok -> Name;
        {error, eexist} -> make_directory(Tries - 1)
    end.

%% An authority of its own, and what a server and a client of it show; FILE.conf for -ssl_dist_optfile.
make_certificates(File) ->
    Address = {'Extension', {2, 5, 29, 17}, false, [{dNSName, "127.0.0.1"}]}, % subjectAltName
    Common = [{digest, sha256}, {key, {namedCurve, secp256r1}}], % the first one of OTP 29 is not taken by its own server
    Chain = #{root => Common, intermediates => [], peer => [{extensions, [Address]} | Common]},
    #{server_config := Server, client_config := Client} =
        public_key:pkix_test_data(#{server_chain => Chain, client_chain => Chain}),
    Options = [{server, [{fail_if_no_peer_cert, true} | write(File ++ ".server", Server)]},
               {client, [{server_name_indication, disable} | write(File ++ ".client", Client)]}],
    ok = file:write_file(File ++ ".conf", io_lib:format("~tp.~n", [Options])).

write(File, Config) ->
    {Type, Key} = proplists:get_value(key, Config),
    Cert = proplists:get_value(cert, Config),
    [{certfile, pem(File ++ ".cert", [{'Certificate', Cert}])},
     {keyfile, pem(File ++ ".key", [{Type, Key}])},
     {cacertfile, pem(File ++ ".authority", [{'Certificate', C} || C <- proplists:get_value(cacerts, Config)])},
     {verify, verify_peer}].

pem(File, Entries) ->
    ok = file:write_file(File, public_key:pem_encode([{Type, Der, not_encrypted} || {Type, Der} <- Entries])),
    File.

run(Directory, First, Second) ->
    {Port, A} = start_first(Directory, First, 20),
    show(start_second(Directory, "friends", Second, Port, "friend")),
    show(start_second(Directory, "strangers", Second, Port, "stranger")),
    port_close(A).

start_second(Directory, Who, Program, Port, Visit) ->
    start(Directory, Who, Program, Port,
          ["-name", Visit ++ "@127.0.0.1", "-dist_listen", "false", "-s", "dist_tls", "second", Visit]).

show(Node) ->
    receive
        {Node, {data, {eol, Line}}} ->
            io:format("~ts~n", [Line]),
            show(Node);
        {Node, {exit_status, Status}} ->
            io:format("ended ~p~n", [Status])
    end.

%% The port lies below those that the kernel gives to clients; where another has it the node says nothing and ends.
start_first(Directory, Program, Tries) when Tries > 0 ->
    Number = 20000 + (list_to_integer(os:getpid()) + 97 * Tries + erlang:unique_integer([positive])) rem 10000,
    Port = integer_to_list(Number),
    A = start(Directory, "friends", Program, Port, ["-name", "a@127.0.0.1", "-s", "dist_tls", "first"]),
    receive
        {A, {data, {eol, <<"listens">>}}} -> {Port, A};
        {A, {exit_status, _}} -> start_first(Directory, Program, Tries - 1)
    end.

start(Directory, Who, Program, Port, Args) ->
    Path = filename:dirname(code:which(?MODULE)),
    open_port({spawn_executable, Program},
              [{args, ["-noshell", "-pa", Path, "-setcookie", "crumbs", "-start_epmd", "false", "-erl_epmd_port", Port,
                       "-proto_dist", "inet_tls", "-ssl_dist_optfile", filename:join(Directory, Who ++ ".conf"),
                       "-kernel", "inet_dist_use_interface", "{127,0,0,1}", "logger_level", "none" | Args]},
               exit_status, {line, 1000}, binary]).

%% ---- in the nodes

first() ->
    io:format("listens~n"),
    end_with_input().

second([Who]) ->
    end_with_input(),
    spawn(fun() -> visit(Who, 'a@127.0.0.1') end).

visit(stranger, Node) ->
    io:format("stranger: ~p ~p~n", [net_adm:ping(Node), nodes(connected)]),
    halt(0);
visit(friend, Node) ->
    io:format("friend: ~p ~p~n", [net_adm:ping(Node), nodes(connected)]),
    nodes(connected) =:= [Node] orelse halt(1),
    Large = binary:copy(<<"0123456789">>, 300000),
    Sum = erpc:call(Node, erlang, md5, [Large]),
    io:format("~p ~p~n", [Sum =:= erlang:md5(Large), net_kernel:dflag_unicode_io(erpc:call(Node, erlang, whereis, [init]))]),
    {Pid, Ref} = spawn_monitor(Node, erlang, exit, [{left, Large}]),
    receive {'DOWN', Ref, process, Pid, {left, Large}} -> io:format("left~n") end,
    halt(0).

%% Ends with the program that started it.
end_with_input() ->
    spawn(fun F() ->
                  case io:get_line("") of
                      eof -> halt(3);
                      {error, _} -> halt(3);
                      _ -> F()
                  end
          end).

%% expect: friend: pong ['a@127.0.0.1']
%% expect: true true
%% expect: left
%% expect: ended 0
%% expect: stranger: pang []
%% expect: ended 0
%% expect: friend: pong ['a@127.0.0.1']
%% expect: true true
%% expect: left
%% expect: ended 0
%% expect: stranger: pang []
%% expect: ended 0
%% expect: friend: pong ['a@127.0.0.1']
%% expect: true true
%% expect: left
%% expect: ended 0
%% expect: stranger: pang []
%% expect: ended 0
