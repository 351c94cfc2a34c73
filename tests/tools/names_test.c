/* SPDX-License-Identifier: Apache-2.0 */
/* Who a process is at an event: one name in every view, live and in recordings. */
#include <stdlib.h>
#include <string.h>

#include "support.h"

/* ---- registered names */

/*
 * One process gets 103 messages as `first', 101 without a name and 110 as `second', the one that has it change its name
 * among those before; 17 more are born and end before they can be asked. A VM in the background, its pid in $p.
 */
#define NAMED_TARGET                                                                                                     \
    "cat > named.erl << 'E'\n-module(named).\n-export([start/0, serve/0, brief/0]).\n"                                   \
    "start() -> wait(), [spawn(?MODULE, brief, []) || _ <- lists:seq(1, 17)], P = spawn(?MODULE, serve, []),\n"          \
    " change(P, fun() -> register(first, self()) end), ask(P, 102),\n"                                                   \
    " change(P, fun() -> unregister(first) end), ask(P, 100),\n"                                                         \
    " change(P, fun() -> register(second, self()) end), ask(P, 109), P ! stop, receive after 300 -> halt(0) end.\n"      \
    "change(P, F) -> P ! {F, self()}, receive done -> ok end.\n"                                                         \
    "ask(P, N) -> [change(P, fun() -> ok end) || _ <- lists:seq(1, N)].\n"                                               \
    "serve() -> receive {F, From} -> F(), From ! done, serve(); stop -> ok end.\n"                                       \
    "brief() -> ok.\n"                                                                                                   \
    "wait() -> case prim_file:read_file_info(\"go\") of {ok, _} -> ok; _ -> receive after 20 -> wait() end end.\nE\n"    \
    "erlc named.erl\n"

#define NAMED_OURS "$ERLVM -quick +S 1 -pa . -s named & p=$!; runs $p erlvm\n"
#define NAMED_STOCK "erl -noshell -pa . -s named & p=$!; runs $p beam.smp\n"

/* Views of one result, then of a recording, by a file and out of memory. */
#define WATCHED(options)                                                                                                 \
    "$ERLSNOOP watch messages,sched,msglat,exits -p $p --json --budget off " options                                     \
    " > told & a=$!; attached $a; touch go; wait $a; echo status $?; cat told"
#define RECORDED(options)                                                                                                \
    "$ERLSNOOP trace -p $p -o r " options " & a=$!; attached $a; touch go; wait $a; echo status $?\n"                    \
    "$ERLSNOOP report r --json messages sched msglat exits"

static const struct {
    const char *vm, *watched;
} names_ways[] = {
    {NAMED_OURS, WATCHED("")},  {NAMED_OURS, WATCHED("--source notes")}, {NAMED_STOCK, WATCHED("")},
    {NAMED_OURS, RECORDED("")}, {NAMED_OURS, RECORDED("--ring 60s")},    {NAMED_STOCK, RECORDED("")},
    {NAMED_STOCK, RECORDED("--ring 60s")},
};

/* The member of the row of that table and name; -1: there is none. */
static long number_of(const char *json, const char *table, const char *name, const char *key)
{
    char mark[128];

    snprintf(mark, sizeof mark, "\"type\":\"%s\"", table);
    for (const char *line = strstr(json, mark); line; line = strstr(line + 1, mark)) {
        char row[4096], owner[64];
        const char *end = strchr(line, '\n');

        snprintf(row, sizeof row, "%.*s", (int)(end ? end - line : 0), line);
        snprintf(owner, sizeof owner, "\"owner\":\"%s\"", name);
        if (strstr(row, owner))
            return support_number(row, owner, key);
    }
    return -1;
}

/* Each event is of the name that its process had then, and no row is of a process by its number. */
START_TEST(test_names_are_those_of_the_event)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(NAMED_TARGET "%s%s", names_ways[_i].vm, names_ways[_i].watched);

    ck_assert_msg(strstr(r->out, "status 0\n") != NULL, "%s%s", r->out, r->err);
    ck_assert_int_eq(number_of(r->out, "messages_by_owner", "first", "sent"), 103);
    ck_assert_int_eq(number_of(r->out, "messages_by_owner", "named:serve/0", "sent"), 102);
    ck_assert_int_eq(number_of(r->out, "messages_by_owner", "second", "sent"), 110);
    ck_assert_int_gt(number_of(r->out, "sched_by_owner", "first", "slices"), 0);
    ck_assert_msg(support_lines(r->out, "\"owner\":\"<0.") == 0, "%s", r->out);
}
END_TEST

/* ---- */

Suite *names_suite(void)
{
    Suite *suite = suite_create("names");
    TCase *live = tcase_create("live");

    tcase_set_timeout(live, 60);
    tcase_add_loop_test(live, test_names_are_those_of_the_event, 0, sizeof names_ways / sizeof *names_ways);
    suite_add_tcase(suite, live);
    return suite;
}
