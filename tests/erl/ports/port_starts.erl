%% SPDX-License-Identifier: Apache-2.0
%% Names that are no port's, programs that cannot be started, the environment.
-module(port_starts).
-export([main/0]).
-include("port_end.hrl").

main() ->
    process_flag(trap_exit, true),
    Dir = "port_starts_" ++ os:getpid(),
    ok = file:make_dir(Dir),
    names(),
    try
        failures(Dir)
    after
        file:del_dir_r(Dir)
    end,
    environment(),
    strangers(),
    halt(0).

%% Since OTP 27 a file's name is none of a port (port_plain_files has what it was before).
names() ->
    [p(named, failure(N, [in])) || N <- ["/dev/null", '/dev/null', "/nonexistent/x"]],
    [p(refused, failure(N, O)) || {N, O} <- [{"", [in]}, {[1000], [in]}, {["a"], [in]}, {[$a | b], [in]}, {<<"/dev/null">>, [in]},
                                             {"/dev/null", [in, exit_status]}, {"/dev/null", [in, {args, []}]}, {5, [in]}, {{}, [in]}]].

%% What the program's start failed with is its exit status.
failures(Dir) ->
    Long = lists:duplicate(200000, $a),
    Garbage = Dir ++ "/garbage",
    ok = file:write_file(Garbage, <<0, 1, 2, 3>>),
    ok = file:change_mode(Garbage, 8#755),
    [p(status, rest(open_port(N, [exit_status | O]))) ||
        {N, O} <- [{{spawn_executable, "/bin/ls"}, [{args, [Long]}]}, {{spawn, "ls"}, [{env, [{"LONG", Long}]}]},
                   {{spawn_executable, "/tmp"}, []}, {{spawn_executable, Garbage}, []}, {{spawn, "cat"}, [in, {env, [{"LONG", Long}]}]}]].

environment() ->
    p(name, [os:putenv("", "x"), os:getenv(""), os:unsetenv(""), os:getenv("")]),
    p(deep, [os:putenv(["DE", [$E], "P"], [1000 | "x"]), os:getenv("DEEP"), os:cmd("printenv DEEP")]),
    p(gone, [os:unsetenv("DEEP"), os:getenv("DEEP", none), os:cmd("printenv DEEP")]),
    [p(bad, try os:putenv(N, V) catch error:E -> E end) || {N, V} <- [{"=", "x"}, {"A=B", "x"}, {a, "x"}, {"A", <<"x">>}, {"A", [0]}, {"A", a}]],
    many_variables(),
    true = os:putenv("TZ", "Asia/Tokyo"),
    p(zone, os:cmd("printenv TZ")),
    p(env, [rest(open_port({spawn, "env | grep ^ENV_"}, [exit_status, {env, E}])) ||
               E <- [[{"ENV_A", "1"}, {"ENV_B", "2"}, {"ENV_A", false}, {"ENV_B", ["3"]}], [{"ENV_A", "1"}, {"ENV_A", ""}], [{"", "1"}, {"ENV_", "2"}]]]),
    [p(bad_env, failure({spawn, "ls"}, [{env, [E]}])) || E <- [{"=", "1"}, {"A=", "1"}, {"A", <<"b">>}, {<<"A">>, "b"}, {"A", true}, a]].

%% Set, changed and dropped in any order: the environment is what a map of the same changes is.
many_variables() ->
    Names = ["MANY" ++ integer_to_list(I) || I <- lists:seq(1, 40)],
    rand:seed(exsss, 3),
    Change =
        fun(_, Map) ->
            Name = lists:nth(rand:uniform(40), Names),
            case rand:uniform(3) of
                1 -> os:unsetenv(Name), maps:remove(Name, Map);
                _ -> Value = lists:duplicate(rand:uniform(100) - 1, 96 + rand:uniform(26)), os:putenv(Name, Value), Map#{Name => Value}
            end
        end,
    Map = lists:foldl(Change, #{}, lists:seq(1, 3000)),
    p(many, [maps:with(Names, maps:from_list(os:env())) =:= Map, length(os:env()) - map_size(Map) =:= length(os:env() -- maps:to_list(Map)),
             [N || N <- Names, os:getenv(N, none) =/= maps:get(N, Map, none)]]),
    lists:foreach(fun os:unsetenv/1, Names).

%% What is no command, or not the owner's, is told to the owner.
strangers() ->
    P = open_port({spawn, "cat"}, []),
    [begin
         {Pid, Ref} = spawn_monitor(fun() -> process_flag(trap_exit, true), P ! M, receive X -> exit(X) after 0 -> ok end end),
         receive {'DOWN', Ref, process, Pid, Why} -> p(stranger, Why) end,
         receive {'EXIT', P, Owner} -> p(owner, Owner) end
     end || M <- [foo, {self(), {command, foo}}, {P, close}]],
    p(open, [erlang:port_info(P, name), port_close(P), rest(P)]).

%% expect: named [{exit,normal}]
%% expect 27: named badarg
%% expect: named [{exit,normal}]
%% expect 27: named badarg
%% expect: named einval
%% expect 27: named badarg
%% expect: refused badarg
%% expect: refused badarg
%% expect: refused badarg
%% expect: refused badarg
%% expect: refused badarg
%% expect: refused badarg
%% expect: refused badarg
%% expect: refused badarg
%% expect: refused badarg
%% expect: status [{exit_status,7},{exit,normal}]
%% expect: status [{exit_status,7},{exit,normal}]
%% expect: status [{exit_status,13},{exit,normal}]
%% expect: status [{exit_status,8},{exit,normal}]
%% expect: status [{exit_status,7},{exit,normal}]
%% expect: name [true,"x",true,false]
%% expect: deep [true,[1000,120],[1000,120,10]]
%% expect: gone [true,none,[]]
%% expect: bad badarg
%% expect: bad badarg
%% expect: bad badarg
%% expect: bad badarg
%% expect: bad badarg
%% expect: bad badarg
%% expect: many [true,true,[]]
%% expect: zone "Asia/Tokyo\n"
%% expect: env [[{data,"ENV_B=3\n"},{exit_status,0},{exit,normal}],
%% expect:      [{exit_status,1},{exit,normal}],
%% expect:      [{data,"ENV_=2\n"},{exit_status,0},{exit,normal}]]
%% expect: bad_env badarg
%% expect: bad_env badarg
%% expect: bad_env badarg
%% expect: bad_env badarg
%% expect: bad_env badarg
%% expect: bad_env badarg
%% expect: stranger normal
%% expect: owner badsig
%% expect: stranger normal
%% expect: owner badsig
%% expect: stranger normal
%% expect: owner badsig
%% expect: open [{name,"cat"},true,[{exit,normal}]]
