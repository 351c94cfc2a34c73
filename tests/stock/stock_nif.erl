%% SPDX-License-Identifier: Apache-2.0
%% The functions of the library stock_nif.c.
-module(stock_nif).
-export([load/1]).
-export([plain/1, fails/1, lasts/1, yields/1, goes_dirty/1]).
-export([dirty_cpu/1, dirty_io/1, dirty_fails/1, dirty_yields/1, dirty_stays/1, dirty_for_ever/1]).

load(Path) -> erlang:load_nif(Path, 0).

plain(_) -> erlang:nif_error(not_loaded).
fails(_) -> erlang:nif_error(not_loaded).
lasts(_) -> erlang:nif_error(not_loaded).
yields(_) -> erlang:nif_error(not_loaded).
goes_dirty(_) -> erlang:nif_error(not_loaded).
dirty_cpu(_) -> erlang:nif_error(not_loaded).
dirty_io(_) -> erlang:nif_error(not_loaded).
dirty_fails(_) -> erlang:nif_error(not_loaded).
dirty_yields(_) -> erlang:nif_error(not_loaded).
dirty_stays(_) -> erlang:nif_error(not_loaded).
dirty_for_ever(_) -> erlang:nif_error(not_loaded).
