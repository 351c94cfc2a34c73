/* SPDX-License-Identifier: Apache-2.0 */
/* erlsnoop list and doctor: what they say of VMs that run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support.h"

START_TEST(test_list_shows_a_vm_with_notes)
{
    const struct support_run *r = support_run(
        "$EMITTER -s 9 process__spawn=1 > /dev/null & p=$!\n"
        "sleep .3; $ERLSNOOP list --json -p $p; s=$?; kill $p; exit $s");

    ck_assert_int_eq(r->status, 0);
    ck_assert_int_eq(support_number(r->out, "\"type\":\"vm\"", "events"), SUPPORT_NPROBES);
    ck_assert(strstr(r->out, "\"provider\":\"erlvm\"") != NULL);
    ck_assert(strstr(r->out, "\"name\":\"emitter\"") != NULL);
}
END_TEST

START_TEST(test_list_shows_a_stock_vm_without_notes)
{
    if (access("/usr/bin/erl", X_OK)) {
        printf("SKIP %s: no stock erl here\n", __func__);
        return;
    }

    const struct support_run *r = support_run(
        "erl -noshell -noinput & p=$!; sleep 2; $ERLSNOOP list --json -p $p; $ERLSNOOP doctor --json -p $p; kill $p");

    ck_assert(strstr(r->out, "\"provider\":\"otp-uprobe\"") != NULL);
    ck_assert_int_eq(support_number(r->out, "\"type\":\"vm\"", "events"), support_lines(r->out, "\"source\":\"hook\""));
    ck_assert(strstr(r->out, "\"event\":\"message__send\",\"source\":\"hook\"") != NULL);
    ck_assert(strstr(r->out, "\"event\":\"bif__entry\",\"source\":\"none\"") != NULL);
}
END_TEST

START_TEST(test_list_escapes_a_hostile_name)
{
    const struct support_run *r = support_run(
        "n=$'e\\e[2J'; cp $EMITTER \"$n\"; \"./$n\" -s 9 process__spawn=1 > /dev/null & p=$!\n"
        "sleep .3; $ERLSNOOP list -p $p; kill $p");

    ck_assert(strchr(r->out, '\033') == NULL);
    ck_assert(strstr(r->out, "e\\x1b[2J") != NULL);
    ck_assert_int_le(support_width(r->out), 80);
}
END_TEST

START_TEST(test_list_without_rights_says_what_is_missing)
{
    const struct support_run *r = support_run(
        "cp $ERLSNOOP snoop; chmod 755 snoop\n"
        "setpriv --reuid=65534 --regid=65534 --clear-groups ./snoop doctor");

    ck_assert_int_eq(r->status, 1);
    ck_assert(strstr(r->out, "run as root, or with CAP_BPF") != NULL);
    ck_assert_int_le(support_width(r->out), 80);
}
END_TEST

/* Root without the right to see others is told so, and how many it sees. */
START_TEST(test_list_doctor_tries_to_see_other_processes)
{
    const struct support_run *r = support_run(
        "sleep 9 & $ERLSNOOP doctor --json; setpriv --bounding-set -sys_ptrace $ERLSNOOP doctor --json; s=$?; kill $!; exit $s");
    const char *row = "see other processes\",\"ok\":\"";
    const char *with = strstr(r->out, row), *without = with ? strstr(with + 1, row) : NULL;
    int seen, all;

    ck_assert_int_eq(r->status, 1);
    ck_assert(with && without);
    ck_assert_int_eq(sscanf(with + strlen(row), "yes\",\"found\":\"%d of %d\"", &seen, &all), 2);
    ck_assert_int_gt(seen, 1);
    ck_assert_int_ge(all, seen);
    ck_assert_int_eq(sscanf(without + strlen(row), "no\",\"found\":\"%d of %d; run as root", &seen, &all), 2);
    ck_assert_int_lt(seen, all);
}
END_TEST

Suite *list_suite(void)
{
    Suite *suite = suite_create("list");
    TCase *live = tcase_create("live");

    tcase_set_timeout(live, 30);
    tcase_add_test(live, test_list_shows_a_vm_with_notes);
    tcase_add_test(live, test_list_shows_a_stock_vm_without_notes);
    tcase_add_test(live, test_list_escapes_a_hostile_name);
    tcase_add_test(live, test_list_without_rights_says_what_is_missing);
    tcase_add_test(live, test_list_doctor_tries_to_see_other_processes);
    suite_add_tcase(suite, live);
    return suite;
}
