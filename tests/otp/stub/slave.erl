%% SPDX-License-Identifier: Apache-2.0
%% In place of stdlib's slave: see peer.erl.
-module(slave).
-export([start/1, start/2, start/3, start/5, start_link/1, start_link/2, start_link/3]).

start(_) -> peer:start().
start(_, _) -> peer:start().
start(_, _, _) -> peer:start().
start(_, _, _, _, _) -> peer:start().
start_link(_) -> peer:start().
start_link(_, _) -> peer:start().
start_link(_, _, _) -> peer:start().
