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
    /* seldom another is seen, always sent to a process that runs */
    ck_assert_int_le(messages, 2 * n + (to_running < 5 ? to_running : 5));
    ck_assert_int_le(wakeups, 2 * n);
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

#endif
