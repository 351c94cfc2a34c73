%% SPDX-License-Identifier: Apache-2.0
%% One version of a module that is replaced while it is watched; LOOP is the name of its function.
-module(stock_upgrade).
-export([start/0, ?LOOP/0]).

start() -> spawn(?MODULE, ?LOOP, []).

?LOOP() -> receive _ -> ?LOOP() end.
