%% SPDX-License-Identifier: Apache-2.0
%% Terms that a driver describes: what arrives, and what is refused.
%% expect: {0,1,[]}
%% expect: {1,1,a}
%% expect: {2,1,-7}
%% expect: {3,1,-9223372036854775808}
%% expect: {4,1,18446744073709551615}
%% expect: {5,1,-9223372036854775808}
%% expect: {6,1,18446744073709551615}
%% expect: {7,1,port}
%% expect: {8,1,pid}
%% expect: {9,1,<<"23456">>}
%% expect: {10,1,
%% expect:  <<"3456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`a0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ">>}
%% expect: {11,1,<<>>}
%% expect: {12,1,<<"some">>}
%% expect: {13,1,
%% expect:  <<"some text that has more than a few characters, so that it is no small binary any">>}
%% expect: {14,1,<<>>}
%% expect: {15,1,"some"}
%% expect: {16,1,[]}
%% expect: {17,1,[115,111,109,101|a]}
%% expect: {18,1,1.5}
%% expect: {19,1,{1,<<"ab">>}}
%% expect: {20,1,{}}
%% expect: {21,1,[1,2]}
%% expect: {22,1,[1|2]}
%% expect: {23,1,1}
%% expect: {24,1,#{}}
%% expect: {25,1,#{a => 2,b => 1}}
%% expect: {26,1,{{a,[]},1.5}}
%% expect: {27,-1,none}
%% expect: {28,-1,none}
%% expect: {29,-1,none}
%% expect: {30,-1,none}
%% expect: {31,-1,none}
%% expect: {32,-1,none}
%% expect: {33,-1,none}
%% expect: {34,-1,none}
%% expect: {35,-1,none}
%% expect: {36,-1,none}
%% expect: {37,-1,none}
%% expect: {38,-1,none}
%% expect: {39,-1,none}
%% expect: {40,-1,none}
%% expect: {41,-1,none}
%% expect: {42,-1,none}
%% expect: {43,-1,none}
%% expect: {44,-1,none}
%% expect: {45,-1,none}
%% expect: {46,-1,none}
%% expect: {47,-1,none}
%% expect: {48,-1,none}
%% expect: {49,-1,none}
%% expect: {50,-1,none}
%% expect: {51,-1,none}
%% expect: {52,-1,none}
%% expect: {53,-1,none}
%% expect: {54,-1,none}
%% expect: {55,-1,none}
%% expect: {56,-1,none}
%% expect: {57,-1,none}
%% expect: [{1,"t","2",a},{1,"p","1",none},{27,"p","0",none},{56,"p","1",none}]
%% expect: {31,"d","2",{31,true}}
%% expect: {31,"s","0",none}
%% expect: {32,"d","2",{32,true}}
%% expect: {32,"s","0",none}
%% expect: {33,"d","2",{33,true}}
%% expect: {33,"s","0",none}
%% expect: {1000,"d","2",{1000,true}}
%% expect: {1000,"s","0",none}
%% expect: {"2",arrived}
-module(driver_terms).
-export([main/0]).

main() ->
    ok = erl_ddll:load(filename:dirname(code:which(?MODULE)), ?MODULE),
    P = open_port({spawn_driver, ?MODULE}, []),
    all(P, 0),
    To = [{1, "t"}, {1, "p"}, {27, "p"}, {56, "p"}],
    io:format("~p~n", [[{K, A, port_control(P, K, A), arrived(P)} || {K, A} <- To]]),
    [begin
         R = port_control(P, 1000 + N, A),
         M = receive X when is_map(X) -> {map_size(X), X =:= maps:from_list([{I, I * I} || I <- lists:seq(0, N - 1)])}
             after 0 -> none end,
         io:format("~p~n", [{N, A, R, M}])
     end || N <- [31, 32, 33, 1000], A <- ["d", "s"]],
    Self = self(),
    spawn(fun() -> Q = open_port({spawn_driver, ?MODULE}, []),
                   true = port_connect(Q, Self),
                   unlink(Q),
                   Self ! {made, Q}
          end),
    Q = receive {made, Port} -> Port end,
    io:format("~p~n", [{port_control(Q, 1, "o"), receive a -> arrived end}]),
    port_close(Q),
    port_close(P),
    ok = erl_ddll:unload_driver(?MODULE).

all(P, N) ->
    case port_control(P, N, "o") of
        [] -> ok;
        R -> io:format("~p~n", [{N, hd(R) - $1, arrived(P)}]), all(P, N + 1)
    end.

arrived(P) ->
    receive
        P -> port;
        Pid when Pid =:= self() -> pid;
        X -> X
    after 0 -> none
    end.
