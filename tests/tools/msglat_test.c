/* SPDX-License-Identifier: Apache-2.0 */
/* erlsnoop msglat, held against what the emitter really fired. */
#include <string.h>

#include "support.h"

#define TOTALS "\"type\":\"msglat\""

START_TEST(test_msglat_counts_messages_and_wakeups)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "$ERLSNOOP msglat --json -- $EMITTER 'message__send=23||<0.1%%d.0>' 'process__scheduled=17|<0.1%%d.0>|m:f/1'");

    ck_assert_int_eq(r->status, 0);
    ck_assert_int_eq(support_number(r->out, TOTALS, "messages"), 23);
    ck_assert_int_eq(support_number(r->out, TOTALS, "wakeups"), 17);
    ck_assert_int_eq(support_number(r->out, TOTALS, "to_running"), 0);
    ck_assert_int_eq(support_number(r->out, "msglat_latencies", "count"), 17);
    ck_assert_int_eq(support_number(r->out, "\"m:f/1\"", "wakeups"), 17);
    ck_assert_int_eq(support_lines(r->out, "\"lost\""), 0);
}
END_TEST

START_TEST(test_msglat_tells_mfas_apart)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "$ERLSNOOP msglat --json -- $EMITTER 'message__send=30||<0.%%d.0>' 'process__scheduled=13|<0.%%d.0>|a:f/1' "
        "'process__scheduled=19|<0.%%d.0>|b:g/2' 'message__send=7||<0.900.0>' 'process__scheduled=1|<0.900.0>|c:h/3'");

    /* those of 0..12 woke in a:f/1; the others of b:g/2 are 13..18 */
    ck_assert_int_eq(support_number(r->out, "\"a:f/1\"", "wakeups"), 13);
    ck_assert_int_eq(support_number(r->out, "\"b:g/2\"", "wakeups"), 6);
    ck_assert_int_eq(support_number(r->out, "\"c:h/3\"", "wakeups"), 1);
    ck_assert_int_eq(support_number(r->out, TOTALS, "messages"), 37);
}
END_TEST

START_TEST(test_msglat_several_waiting_messages_are_one_wait)
{
    SUPPORT_BPF();
    const struct support_run *r =
        support_run("$ERLSNOOP msglat --json --events -- $EMITTER -r 3 'message__send=7||<0.5.0>' "
                    "'process__scheduled=1|<0.5.0>' 'process__unscheduled=1|<0.5.0>'");

    ck_assert_int_eq(support_number(r->out, TOTALS, "messages"), 21);
    ck_assert_int_eq(support_number(r->out, TOTALS, "wakeups"), 3);
    ck_assert_int_eq(support_lines(r->out, "\"msglat_event\""), 3);
    ck_assert_int_eq(support_lines(r->out, "\"messages\":7,"), 3);
    ck_assert(strstr(r->out, "\"receiver\":\"<0.5.0>\"") != NULL);
}
END_TEST

START_TEST(test_msglat_send_to_a_running_process_waits_for_nothing)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "$ERLSNOOP msglat --json --events -- $EMITTER 'process__scheduled=1|<0.5.0>' 'message__send=11||<0.5.0>' "
        "'process__unscheduled=1|<0.5.0>' 'message__send=5||<0.5.0>' 'process__scheduled=1|<0.5.0>'");

    ck_assert_int_eq(support_number(r->out, TOTALS, "messages"), 16);
    ck_assert_int_eq(support_number(r->out, TOTALS, "to_running"), 11);
    ck_assert_int_eq(support_number(r->out, TOTALS, "wakeups"), 1);
    ck_assert_int_eq(support_number(r->out, "msglat_event", "messages"), 5);
}
END_TEST

START_TEST(test_msglat_exit_forgets_the_process)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "$ERLSNOOP msglat --json -- $EMITTER 'message__send=3||<0.5.0>' 'process__exit=1|<0.5.0>' "
        "'process__scheduled=1|<0.5.0>' 'process__exit=1|<0.5.0>' 'message__send=2||<0.5.0>'");

    ck_assert_int_eq(support_number(r->out, TOTALS, "messages"), 5);
    ck_assert_int_eq(support_number(r->out, TOTALS, "wakeups"), 0);
    ck_assert_int_eq(support_number(r->out, TOTALS, "to_running"), 0);
}
END_TEST

/* Each firing takes 20 ms at least: the first message waits for three of them. */
START_TEST(test_msglat_measures_from_the_first_message)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run("$ERLSNOOP msglat --json -- $EMITTER -r 7 -d 20000 "
                                              "'message__send=3||<0.5.0>' 'process__scheduled=1|<0.5.0>' "
                                              "'process__unscheduled=1|<0.5.0>'");

    ck_assert_int_eq(support_number(r->out, "msglat_latencies", "count"), 7);
    ck_assert_int_ge(support_number(r->out, "msglat_latencies", "sum_ns"), 7 * 60000000);
    ck_assert_int_ge(support_number(r->out, "msglat_latencies", "p50_ns"), 33554432);
    ck_assert_int_ge(support_number(r->out, "msglat_latencies", "max_ns"), 60000000);
    ck_assert_int_lt(support_number(r->out, "msglat_latencies", "max_ns"), 60000000000);
}
END_TEST

/* <0.5.0> waits for a hundred steps of 30 ms, <0.6.0> for one. */
START_TEST(test_msglat_slower_leaves_short_waits_out_of_events_only)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "$ERLSNOOP msglat --json --events --slower 2500ms -- $EMITTER -d 30000 'message__send=1||<0.5.0>' "
        "'message__send=1||<0.6.0>' 'process__scheduled=1|<0.6.0>' gc_minor__start=100 'process__scheduled=1|<0.5.0>'");

    ck_assert_int_eq(support_lines(r->out, "\"msglat_event\""), 1);
    ck_assert_int_eq(support_lines(r->out, "\"receiver\":\"<0.5.0>\""), 1);
    ck_assert_int_eq(support_number(r->out, TOTALS, "wakeups"), 2);
}
END_TEST

START_TEST(test_msglat_ring_loses_nothing)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "$ERLSNOOP msglat --json -- $EMITTER -r 50021 'process__spawn=1|<0.1%%d.0>|ring:start/1' "
        "'message__send=1||<0.1%%d.0>' 'process__scheduled=1|<0.1%%d.0>|ring:hop/1' 'process__unscheduled=1|<0.1%%d.0>'");

    ck_assert_int_eq(support_number(r->out, TOTALS, "messages"), 50021);
    ck_assert_int_eq(support_number(r->out, TOTALS, "wakeups"), 50021);
    ck_assert_int_eq(support_number(r->out, "ring:hop/1", "wakeups"), 50021);
    ck_assert_int_eq(support_number(r->out, "\"owner\":\"ring:start/1\"", "wakeups"), 50021);
    ck_assert_int_eq(support_lines(r->out, "\"lost\""), 0);
}
END_TEST

/* Two tables fill up while nobody reads them, as on a machine that is busy: no birth was seen, so each process is known
 * by its pid. */
START_TEST(test_msglat_full_maps_of_names_are_counted_and_totals_stay_exact)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "$EMITTER -w go 'message__send=20011||<0.%%d.0>' 'process__scheduled=20011|<0.%%d.0>|m%%d:f/0' > counts & p=$!\n"
        "runs $p emitter; $ERLSNOOP msglat --json -p $p > out 2> err & s=$!; attached $s; kill -STOP $s\n"
        "echo > go; wait $p; kill -CONT $s; wait $s; cat out");

    ck_assert_int_eq(support_number(r->out, TOTALS, "wakeups"), 20011);
    ck_assert_int_eq(support_number(r->out, "msglat_latencies", "count"), 20011);
    ck_assert_int_eq(support_number(r->out, "\"mfa\":\"(other)\"", "wakeups"), 20011 - 15);
    ck_assert_int_eq(support_number(r->out, "\"owner\":\"(other)\"", "wakeups"), 20011 - 15);
    ck_assert_int_eq(support_number(r->out, "map full", "count"), 2 * (20011 - 16384));
}
END_TEST

/* More receivers than there are places: those that have one, and those whose place is taken. */
START_TEST(test_msglat_full_map_of_receivers_is_counted_and_messages_stay_exact)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run("$ERLSNOOP msglat --json -- $EMITTER 'message__send=524331||<0.%%d.0>'");

    ck_assert_int_eq(support_number(r->out, TOTALS, "messages"), 524331);
    ck_assert_int_eq(support_number(r->out, "map full", "count"), 524331 - 65536 - 262144);
}
END_TEST

/*
 * Two receivers whose numbers fall on one place. The one that has it ends while a message waits for the other, which
 * stands in the hash; then another comes: every wait is counted, from its first message on, with the receiver's name.
 * Counted in the kernel, and from a recording.
 */
START_TEST(test_msglat_keeps_the_state_of_who_shares_a_place)
{
    static const char *const ways[] = {"$ERLSNOOP msglat --json -- $EMITTER -d 20000 $fires",
                                       "$ERLSNOOP trace -o r msglat -- $EMITTER -d 20000 $fires > t; "
                                       "$ERLSNOOP report r --json msglat"};

    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "A='<0.7.0>' B='<0.262151.0>' C='<0.7.1>'\n"
        "fires=\"process__spawn=1|$A|a:f/1 process__spawn=1|$B|b:f/1 message__send=1||$A message__send=5||$B "
        "process__exit=1|$A \"\n"
        "fires+=\"message__send=1||$B process__scheduled=1|$B|b:g/1 process__unscheduled=1|$B "
        "process__spawn=1|$C|c:f/1 \"\n"
        "fires+=\"message__send=2||$C message__send=1||$B process__scheduled=1|$C|c:g/1 process__scheduled=1|$B|b:g/1 "
        "\"\n"
        "fires+=\"process__exit=1|$B process__unscheduled=1|$C message__send=1||$C process__scheduled=1|$C|c:g/1\"\n"
        "%s", ways[_i]);

    ck_assert_int_eq(support_number(r->out, TOTALS, "messages"), 11);
    ck_assert_int_eq(support_number(r->out, TOTALS, "wakeups"), 4);
    ck_assert_int_eq(support_number(r->out, "\"owner\":\"b:f/1\"", "wakeups"), 2);
    ck_assert_int_eq(support_number(r->out, "\"owner\":\"c:f/1\"", "wakeups"), 2);
    ck_assert_int_ge(support_number(r->out, "\"mfa\":\"b:g/1\"", "max_ns"), 7 * 20000000); /* from the first of five */
}
END_TEST

/* The one that has the place is another VM's, which is killed: the other receiver's state stays where it is. */
START_TEST(test_msglat_keeps_the_state_of_who_shares_a_place_with_a_vm_that_ends)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "$EMITTER -w a -s 60 'message__send=1||<0.7.0>' > ended & a=$!\n"
        "cat > other <<END\n"
        "n=\\$(((7 + ($a - \\$\\$) * 0x9e3779b1) & 0x3fffff))\n"
        "exec $EMITTER -w b \"message__send=1||<0.\\$n.0>\" +sent @gone \"process__scheduled=1|<0.\\$n.0>|b:g/1\"\nEND\n"
        "bash other > counts & b=$!; runs $a emitter; runs $b emitter\n"
        "$ERLSNOOP msglat --json --events --slower 1s -a > out & e=$!; attached $e; touch a; await ended; touch b; "
        "comes sent; kill -9 $a; wait $a; let_go $e message__send > let_go.out; touch gone; await counts\n"
        "kill -INT $e; wait $e; s=$?; cat out; exit $s");

    ck_assert_int_eq(support_number(r->out, "\"mfa\":\"b:g/1\"", "messages"), 1);
}
END_TEST

START_TEST(test_msglat_counts_what_is_no_pid_as_lost)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "$ERLSNOOP msglat --json -- $EMITTER 'message__send=3||<0.4294967295.4294967295>' 'message__send=2||registered_name' "
        "'process__scheduled=1|<0.1.0' 'process__unscheduled=1|0.1.0>' 'process__exit=1|<0.1.0.0>' "
        "'message__send=1||<0.%040d.0>' 'message__send=1||<1.2>'",
        7);

    ck_assert_int_eq(support_number(r->out, TOTALS, "messages"), 3);
    ck_assert_int_eq(support_number(r->out, "no pid", "count"), 7);
}
END_TEST

START_TEST(test_msglat_escapes_hostile_text)
{
    SUPPORT_BPF();
    const struct support_run *r = support_hostile("msglat", "\"message__send=1||<0.5.0>\" \"process__scheduled=1|<0.5.0>|$evil\"");

    ck_assert_int_eq(support_lines(r->out, "x1b"), 2);
}
END_TEST

START_TEST(test_msglat_all_tells_equal_pids_of_two_vms_apart)
{
    SUPPORT_BPF();
    const struct support_run *r = support_two_vms("msglat", "-s 2 'message__send=13||<0.5.0>'", "'process__scheduled=11|<0.5.0>|two_vms:b/1'", ".");

    ck_assert_int_ge(support_number(r->out, TOTALS, "messages"), 13);
    ck_assert_int_eq(support_lines(r->out, "two_vms:b/1"), 0);
}
END_TEST

START_TEST(test_msglat_interrupt_gives_result_and_detaches)
{
    SUPPORT_BPF();
    support_interrupt("msglat", "-d 1000 'message__send=41||<0.5.0>'", TOTALS, "messages");
}
END_TEST

START_TEST(test_msglat_intervals_add_up)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "$ERLSNOOP msglat --json 0.2 -- $EMITTER -r 29 -d 10000 'message__send=1||<0.5.0>' "
        "'process__scheduled=1|<0.5.0>|m:f/1' 'process__unscheduled=1|<0.5.0>' > j\n"
        "python3 -c 'import json\n"
        "n = m = h = f = 0\n"
        "for l in open(\"j\"):\n"
        "    if l[0] != \"{\": continue\n"
        "    o = json.loads(l)\n"
        "    n += o[\"type\"] == \"msglat\"\n"
        "    m += o.get(\"messages\", 0)\n"
        "    h += o[\"count\"] if o[\"type\"] == \"msglat_latencies\" else 0\n"
        "    f += o[\"wakeups\"] if o[\"type\"] == \"msglat_by_mfa\" else 0\n"
        "print(n > 3, m, h, f)'");

    ck_assert_str_eq(r->out, "True 29 29 29\n");
}
END_TEST

START_TEST(test_msglat_table_fits_80_columns)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "terminal 80 \"$ERLSNOOP msglat --events -T -- $EMITTER 'message__send=3||<0.%%d.0>' 'process__scheduled=3|<0.%%d.0>|%0100d:f/1'\" "
        "| grep -v ^process__", 7);

    ck_assert_int_le(support_width(r->out), 80);
    ck_assert(strstr(r->out, "WAITED") && strstr(r->out, "TO RUNNING") && strstr(r->out, "p99.9"));
}
END_TEST

Suite *msglat_suite(void)
{
    Suite *suite = suite_create("msglat");
    TCase *live = tcase_create("live");

    tcase_set_timeout(live, 60);
    tcase_add_test(live, test_msglat_counts_messages_and_wakeups);
    tcase_add_test(live, test_msglat_tells_mfas_apart);
    tcase_add_test(live, test_msglat_several_waiting_messages_are_one_wait);
    tcase_add_test(live, test_msglat_send_to_a_running_process_waits_for_nothing);
    tcase_add_test(live, test_msglat_exit_forgets_the_process);
    tcase_add_test(live, test_msglat_measures_from_the_first_message);
    tcase_add_test(live, test_msglat_slower_leaves_short_waits_out_of_events_only);
    tcase_add_test(live, test_msglat_ring_loses_nothing);
    tcase_add_test(live, test_msglat_full_maps_of_names_are_counted_and_totals_stay_exact);
    tcase_add_test(live, test_msglat_full_map_of_receivers_is_counted_and_messages_stay_exact);
    tcase_add_loop_test(live, test_msglat_keeps_the_state_of_who_shares_a_place, 0, 2);
    tcase_add_test(live, test_msglat_keeps_the_state_of_who_shares_a_place_with_a_vm_that_ends);
    tcase_add_test(live, test_msglat_counts_what_is_no_pid_as_lost);
    tcase_add_test(live, test_msglat_escapes_hostile_text);
    tcase_add_test(live, test_msglat_all_tells_equal_pids_of_two_vms_apart);
    tcase_add_test(live, test_msglat_interrupt_gives_result_and_detaches);
    tcase_add_test(live, test_msglat_intervals_add_up);
    tcase_add_test(live, test_msglat_table_fits_80_columns);
    suite_add_tcase(suite, live);
    return suite;
}
