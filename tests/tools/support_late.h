/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An erlvm in the background, its pid in $p: a process of late:c/0 is there from the beginning. Once the file `go` is
 * there it registers as `known`, another one is born and registers as `young`; then the file `named` is there.
 */
#ifndef TESTS_TOOLS_SUPPORT_LATE_H
#define TESTS_TOOLS_SUPPORT_LATE_H

/* The beginning of a support_run's script. */
#define SUPPORT_LATE_NAMES \
    "cat > late.erl << 'E'\n-module(late).\n-export([start/0, c/0]).\n" \
    "start() -> P = spawn(?MODULE, c, []), wait(), register(known, P), register(young, spawn(?MODULE, c, [])),\n" \
    " prim_file:write_file(\"named\", \"1\"), c().\n" \
    "wait() -> case prim_file:read_file_info(\"go\") of {ok, _} -> ok; _ -> receive after 20 -> wait() end end.\n" \
    "c() -> receive after 5 -> c() end.\nE\nerlc late.erl\n" \
    "$ERLVM -quick +S 1 -pa . -s late & p=$!; runs $p erlvm\n"

#endif
