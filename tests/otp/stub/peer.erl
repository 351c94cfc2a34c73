%% SPDX-License-Identifier: Apache-2.0
%% In place of stdlib's peer: erlvm has no distribution, so a case that starts another node is skipped, on every VM.
%% Kernel's start asks it too, on a node that is no peer itself.
-module(peer).
-export([start/0, start/1, start/4, start_link/0, start_link/1, random_name/0, random_name/1,
         supervision_child_spec/0]).

start() -> otp_case:skip("starts another node").
start(_) -> start().
start(_, _, _, _) -> start().
start_link() -> start().
start_link(_) -> start().
random_name() -> start().
random_name(_) -> start().
supervision_child_spec() -> none.
