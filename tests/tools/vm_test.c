/* SPDX-License-Identifier: Apache-2.0 */
/* erlsnoop on erlvm itself: what is told, held against what the Erlang program did. */
#include <string.h>

#include "support.h"

/*
 * Runs events:start(KIND, N) of bench/events.erl while COMMAND watches from before its first event to its end: when it
 * waits, the VM has started, whose own messages are not told then.
 */
#define WATCH_EVENTS                                                                                                 \
    "erlc $SOURCE/bench/events.erl; $ERLVM -quick +S %d -pa . -s events start %s %d go > times 2>&1 & p=$!\n"       \
    "await go.waits\n"                                                                                              \
    "$ERLSNOOP %s --json -p $p & e=$!; attached $e; touch go; wait $p; wait $e"

START_TEST(test_vm_spawns_counts_every_process)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(WATCH_EVENTS, 1, "spawn", 5003, "spawns");

    ck_assert_int_eq(r->status, 0);
    ck_assert_int_eq(support_number(r->out, "events:child/0", "count"), 5003);
    ck_assert_int_ge(support_number(r->out, "\"type\":\"spawns\"", "deaths"), 5003);
    ck_assert_int_ge(support_number(r->out, "spawns_lifetimes", "count"), 5003);
    ck_assert_int_eq(support_lines(r->out, "\"lost\""), 0);
}
END_TEST

/* 50,000 messages go round a ring of 100, then one that stops each. On one scheduler each wakes its receiver. */
START_TEST(test_vm_msglat_loses_no_message_of_a_ring)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(WATCH_EVENTS, 1, "ring", 50000, "msglat");

    ck_assert_int_eq(support_number(r->out, "\"type\":\"msglat\"", "messages"), 50100);
    ck_assert_int_eq(support_number(r->out, "\"type\":\"msglat\"", "wakeups"), 50100);
    ck_assert_int_eq(support_number(r->out, "msglat_latencies", "count"), 50100);
    ck_assert_int_eq(support_lines(r->out, "\"lost\""), 0);
}
END_TEST

/* With several schedulers a receiver may run as it is sent to: each message is one or the other, or joins a wait. */
START_TEST(test_vm_msglat_counts_every_message_of_two_schedulers)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(WATCH_EVENTS, 2, "ring", 50000, "msglat");
    long wakeups = support_number(r->out, "\"type\":\"msglat\"", "wakeups");

    ck_assert_int_eq(support_number(r->out, "\"type\":\"msglat\"", "messages"), 50100);
    ck_assert_int_le(wakeups + support_number(r->out, "\"type\":\"msglat\"", "to_running"), 50100);
    ck_assert_int_eq(support_number(r->out, "msglat_latencies", "count"), wakeups);
    ck_assert_int_eq(support_lines(r->out, "\"lost\""), 0);
}
END_TEST

START_TEST(test_vm_efile_follows_every_rename)
{
    SUPPORT_BPF();
    const struct support_run *r =
        support_run("$ERLSNOOP efile --json --events --top 0 -- $ERLVM -quick +S 1 -pa $BEAMS -s probe_target files");

    ck_assert_int_eq(support_number(r->out, "\"RENAME\"", "count"), 23);
    ck_assert_int_eq(support_number(r->out, "\"RENAME\"", "errors"), 23);
    ck_assert_int_eq(support_lines(r->out, "RENAME (12) /nonexistent/old /nonexistent/new [probe tag]"), 23);
    ck_assert_int_eq(support_lines(r->out, "ENOENT (errno 2)") >= 23, true);
    ck_assert_int_eq(support_lines(r->out, "\"lost\""), 0);
}
END_TEST

START_TEST(test_vm_list_and_doctor_know_it)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "erlc $SOURCE/bench/events.erl; $ERLVM -quick -pa . -s events start ring 1 never & p=$!; runs $p erlvm\n"
        "until $ERLSNOOP doctor -p $p | grep -q ' stacks *yes'; do sleep .1; done\n" /* not before its memory is laid out */
        "$ERLSNOOP list --json -p $p; s=$?; $ERLSNOOP doctor > d; grep \" $p erlvm \" d; $ERLSNOOP doctor -p $p > e; grep ' yes  *its pages of' e\n"
        "grep ' pages  by the page' e; grep ' note ' e; kill $p; exit $s");

    ck_assert_int_eq(r->status, 0);
    ck_assert(strstr(r->out, "\"provider\":\"erlvm\"") != NULL);
    ck_assert_int_gt(support_number(r->out, "\"type\":\"vm\"", "events"), 40);
#define VIEW(view, family, text, what) \
    ck_assert_msg(strstr(r->out, " " #view " ") != NULL, "no %s in %s", #view, r->out);
#include "../../bpf/views.def"
    ck_assert_msg(strstr(r->out, " erlvm      all\n") != NULL, "%s", r->out);
    ck_assert_int_gt(support_number(r->out, "\"type\":\"vm\"", "processes"), 0);
    ck_assert_msg(support_lines(r->out, " pages  by the page") > 40 && !support_lines(r->out, " note "), "%s", r->out);
}
END_TEST

Suite *vm_suite(void)
{
    Suite *suite = suite_create("vm");
    TCase *live = tcase_create("live");

    tcase_set_timeout(live, 90);
    tcase_add_test(live, test_vm_spawns_counts_every_process);
    tcase_add_test(live, test_vm_msglat_loses_no_message_of_a_ring);
    tcase_add_test(live, test_vm_msglat_counts_every_message_of_two_schedulers);
    tcase_add_test(live, test_vm_efile_follows_every_rename);
    tcase_add_test(live, test_vm_list_and_doctor_know_it);
    suite_add_tcase(suite, live);
    return suite;
}
