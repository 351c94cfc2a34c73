/* SPDX-License-Identifier: Apache-2.0 */
/* What stock_target.erl does, as results in JSON must count it, live or recorded. */
#ifndef TESTS_TOOLS_STOCK_COUNTS_H
#define TESTS_TOOLS_STOCK_COUNTS_H

#include "support.h"

/* Its work `spawns`, of the view of that name. */
static inline void stock_counts_spawns(const char *json)
{
    ck_assert_int_eq(support_number(json, "\"type\":\"spawns\"", "births"), 35);
    ck_assert_int_eq(support_number(json, "\"type\":\"spawns\"", "deaths"), 35);
    ck_assert_int_eq(support_number(json, "\"type\":\"spawns\"", "unseen"), 0);
    ck_assert_int_eq(support_number(json, "spawns_lifetimes", "count"), 35);
    ck_assert_int_eq(support_number(json, "\"mfa\":\"stock_target:crash/1\"", "count"), 23);
    ck_assert_int_eq(support_number(json, "\"mfa\":\"stock_target:child/0\"", "count"), 12);
    ck_assert_int_eq(support_number(json, "\"reason\":\"{stock_reason,...}\"", "count"), 23);
    ck_assert_int_eq(support_number(json, "\"reason\":\"normal\"", "count"), 12);
}

/* `n` messages and as many answers, one at a time, of msglat. */
static inline void stock_counts_answered(const char *json, long n)
{
    const char *row = "\"type\":\"msglat\"";
    long messages = support_number(json, row, "messages"), wakeups = support_number(json, row, "wakeups");
    long to_running = support_number(json, row, "to_running");

    ck_assert_int_ge(messages, 2 * n);
    /* a few others are seen, such as those of the system to who handles signals of processes on dirty schedulers */
    ck_assert_int_le(messages, 2 * n + 5);
    ck_assert_int_le(wakeups, 2 * n + 5);
    ck_assert_int_le(wakeups + to_running, messages);
    ck_assert_int_ge(wakeups + to_running, n);
}

/* Its work `ring`. */
static inline void stock_counts_ring(const char *json)
{
    stock_counts_answered(json, 1009);
}

/* Its work `calls`. */
static inline void stock_counts_calls(const char *json)
{
    stock_counts_answered(json, 211);
}

/*
 * A shell function: kept MAP PID BYTE prints how many entries there are of the process in maps of that name, whose keys
 * have it at that byte.
 */
#define STOCK_KEPT                                                                                 \
    "kept() { $(command -v bpftool || echo /usr/sbin/bpftool) -j map dump name $1 | python3 -c '\n"  \
    "import json, sys\n"                                                                           \
    "def entries(x):\n"                                                                            \
    "    if x and not (isinstance(x[0], dict) and \"key\" in x[0]):\n"                             \
    "        return [e for m in x for e in m.get(\"elements\", [])]\n"                             \
    "    return x\n"                                                                               \
    "pid, at = map(int, sys.argv[1:])\n"                                                           \
    "keys = [bytes(int(b, 16) for b in e[\"key\"]) for e in entries(json.load(sys.stdin))]\n"        \
    "print(sum(int.from_bytes(key[at:at + 4], \"little\") == pid for key in keys))' $2 $3; }\n"

/*
 * Kills a VM while one of its drivers' callbacks runs and `watch` looks. Prints how many entries there are of it, in the
 * end, in these maps of programs, whose keys begin with bpf_get_current_pid_tgid(), a line each.
 */
static inline const struct support_run *stock_kills_in_callback(const char *watch, const char *maps)
{
    return support_run(
        STOCK_KEPT
        "$ERLSNOOP %s > seen 2>&1 & E=$!\n"
        "erl -noshell -eval 'F = fun F() -> catch port_close(open_port({spawn, \"true\"}, [])), F() end, "
        "[spawn(F) || _ <- [1, 2, 3, 4]].' & p=$!\n"
        "attached $E\n"
        "for t in $(seq 600); do kill -0 $E || exit 1; kill -STOP $p; n=$(kept calling_back $p 4)\n"
        "[ $n -gt 0 ] && break; kill -CONT $p; sleep .01; done\n"
        "[ $n -gt 0 ] || echo no callback was ever caught\n"
        "kill -9 $p; wait $p\n"
        "for m in %s; do for t in $(seq 300); do n=$(kept $m $p 4); [ $n -eq 0 ] && break; sleep .1; done\n"
        "echo $n; done\n"
        "kill -INT $E; wait $E", watch, maps);
}

#endif
