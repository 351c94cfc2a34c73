%% SPDX-License-Identifier: Apache-2.0
%% process_info(Pid, binary): a collection leaves binaries in their order.
-module(proc_binaries).
-export([main/0]).

main() ->
    Held = [binary:copy(<<Size>>, Size) || Size <- lists:seq(165, 174)],
    [erlang:garbage_collect() || _ <- [1, 2]],
    Told = sizes(),
    Same = [begin erlang:garbage_collect(self(), [{type, Type}]), sizes() =:= Told end || Type <- [major, minor, minor, major]],
    erlang:display({list_to_tuple(lists:sort(Told)), Same, length(Held)}).

sizes() -> [Size || {_, Size, _} <- element(2, process_info(self(), binary)), Size >= 165, Size < 175].
%% expect: {{165,166,167,168,169,170,171,172,173,174},[true,true,true,true],10}
