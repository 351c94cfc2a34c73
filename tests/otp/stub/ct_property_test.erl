%% SPDX-License-Identifier: Apache-2.0
%% As common_test's on a machine without a tool for property tests.
-module(ct_property_test).
-export([init_per_suite/1, init_tool/1, quickcheck/2]).

init_per_suite(_) -> {skip, "no tool for property tests"}.
init_tool(_) -> {skip, "no tool for property tests"}.
quickcheck(_, _) -> otp_case:skip("no tool for property tests").
