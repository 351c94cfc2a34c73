/* SPDX-License-Identifier: Apache-2.0 */
/* erlsnoop when its reader is slow, stuck or gone, and while records come faster than they are read. */
#include <string.h>

#include "support.h"

/* The emitter fires on until it is killed; a FIFO that we hold open and do not read is stuck once full. */
#define STUCK_READER                                                                                                   \
    "$EMITTER -r 100000000 process__spawn=100 process__exit=100 > e & v=$!; runs $v emitter; mkfifo f; exec 3<>f\n"    \
    "$ERLSNOOP spawns --events --json -p $v%s > f 2> err & s=$!; attached $s; %s\n"                                      \
    "for i in `seq 60`; do kill -0 $s 2> /dev/null || break; sleep .1; done\n"                                         \
    "kill -0 $s 2> /dev/null && echo stuck; kill -9 $s; wait $s; echo status $?; kill -0 $v && echo alive; cat err"

START_TEST(test_output_stuck_reader_does_not_hold_back_a_signal)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(STUCK_READER, "", "kill -TERM $s");

    ck_assert_ptr_eq(strstr(r->out, "stuck"), NULL);
    ck_assert_ptr_ne(strstr(r->out, "status 1"), NULL);
    ck_assert_ptr_ne(strstr(r->out, "alive"), NULL);
    ck_assert_ptr_ne(strstr(r->out, "a signal came before the results were read"), NULL);
}
END_TEST

START_TEST(test_output_second_signal_needs_no_patience)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(STUCK_READER, "", "kill -INT $s; while kill -TERM $s 2> /dev/null; do sleep .02; done");

    ck_assert_ptr_ne(strstr(r->out, "a second signal: it ends at once"), NULL);
}
END_TEST

/* 100,000 bytes a second are read of the megabytes that come; what is left after the count is 4 MB at most. */
START_TEST(test_output_slow_reader_does_not_hold_back_results)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        STUCK_READER, " .2 2", "python3 -c 'import os, time, sys\n"
        "end = time.time() + 2\n"
        "while time.time() < end: os.read(3, 2000); time.sleep(.02)\n"
        "while b\"\\\"type\\\":\\\"spawns\\\"\" not in os.read(3, 65536): pass\n"
        "print(\"result\")'; cat <&3 > /dev/null &");

    ck_assert_ptr_ne(strstr(r->out, "result"), NULL);
    ck_assert_ptr_ne(strstr(r->out, "status 0"), NULL);
}
END_TEST

START_TEST(test_output_closed_files_are_not_written_to)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "$ERLSNOOP spawns -- $EMITTER process__spawn=3 >&-; echo status $?\n"
        "$ERLSNOOP spawns -- $EMITTER process__spawn=3 <&- >&- 2>&-; echo status $?");

    ck_assert_int_eq(support_lines(r->out, "status 1"), 2);
    ck_assert_ptr_ne(strstr(r->err, "cannot write results: Bad file descriptor"), NULL);
}
END_TEST

Suite *output_suite(void)
{
    Suite *suite = suite_create("output");
    TCase *live = tcase_create("live");

    tcase_set_timeout(live, 30);
    tcase_add_test(live, test_output_stuck_reader_does_not_hold_back_a_signal);
    tcase_add_test(live, test_output_second_signal_needs_no_patience);
    tcase_add_test(live, test_output_slow_reader_does_not_hold_back_results);
    tcase_add_test(live, test_output_closed_files_are_not_written_to);
    suite_add_tcase(suite, live);
    return suite;
}
