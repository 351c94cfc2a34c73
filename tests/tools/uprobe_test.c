/* SPDX-License-Identifier: Apache-2.0 */
/* Probes in processes whose system calls are filtered, or that have a shadow stack; links of many places. */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "support.h"
#include "probe/uprobe.h"

/* Kernels before 6.11 end a probe at a return with a trap, those from 6.14 on leave its system call through; between them it depends. */
START_TEST(test_uprobe_returns_pass_filters_as_the_kernel_says)
{
    struct utsname name;
    int major = 0, minor = 0;

    SUPPORT_BPF();
    uname(&name);
    ck_assert_int_eq(sscanf(name.release, "%d.%d", &major, &minor), 2);
    if (major == 6 && minor >= 11 && minor < 14)
        printf("SKIP %s: %s may have it either way\n", __func__, name.release);
    else
        ck_assert(uprobe_returns_pass_filters());
}
END_TEST

/* A node that may make every system call but those of probes outlives probes at returns, or has none. */
START_TEST(test_uprobe_filtered_node_lives)
{
    const struct support_run *run;

    SUPPORT_BPF();
    run = support_run("cat > filter.py <<'END'\n"
                      "import ctypes, os, struct\n"
                      "rules = b''.join(struct.pack('HBBI', *r) for r in [(0x20, 0, 0, 0), (0x35, 0, 2, 335), (0x35, 1, 0, 337),\n"
                      "                                                  (6, 0, 0, 0x80000000), (6, 0, 0, 0x7fff0000)])\n"
                      "keep = ctypes.create_string_buffer(rules)\n"
                      "prog = ctypes.create_string_buffer(struct.pack('HxxxxxxP', 5, ctypes.addressof(keep)))\n"
                      "prctl = ctypes.CDLL(None).prctl\n"
                      "assert prctl(38, 1, 0, 0, 0) == 0 and prctl(22, 2, prog, 0, 0) == 0\n"
                      "os.execvp('erl', ['erl', '-noinput', '-eval', 'F = fun G(N) -> spawn(fun() -> ok end), timer:sleep(1), "
                      "N rem 100 =:= 0 andalso io:format(\"~b~n\", [N]), G(N + 1) end, F(1).'])\n"
                      "END\n"
                      "python3 filter.py > beats & node=$!\n"
                      "until [ -s beats ]; do sleep 0.05; kill -0 $node || exit 1; done\n"
                      "grep Seccomp: /proc/$node/status\n"
                      "$ERLSNOOP spawns -p $node --json 1 1; echo \"spawns $?\"\n"
                      "before=$(wc -l < beats); until [ $(wc -l < beats) -gt $((before + 1)) ]; do kill -0 $node || exit 2; sleep 0.05; done\n"
                      "echo lives; kill -9 $node");
    ck_assert_msg(strstr(run->out, "Seccomp:\t2") && strstr(run->out, "lives\n"), "%d: %s%s", run->status, run->out, run->err);
    if (uprobe_returns_pass_filters())
        ck_assert_msg(support_number(run->out, "\"births\"", "births") > 0, "%s%s", run->out, run->err);
}
END_TEST

/*
 * The machine's Erlang, whose /proc/PID/status says what the script writes: it has a shadow stack. What is told where a
 * function is left needs no probe at its return.
 */
START_TEST(test_uprobe_no_return_is_probed_over_a_shadow_stack)
{
    const struct support_run *run;

    SUPPORT_BPF();
    run = support_run("erl -noinput -eval 'file:write_file(\"up\", \"1\").' & node=$!; await up\n"
                      "$ERLSNOOP doctor -p $node --json > before; grep 'process__unscheduled\\|process__spawn\"' before\n"
                      "(grep -v x86_Thread_features: /proc/$node/status; printf 'x86_Thread_features:\\tshstk wrss \\n') > status\n"
                      "unshare -m bash -c \"mount --bind status /proc/$node/status && \\$ERLSNOOP doctor -p $node -v --json\" > after\n"
                      "grep '\"pid\":[0-9]*,\"event\":\"process__\\(unscheduled\\|scheduled\\|spawn\\)\"' after; kill -9 $node");
    ck_assert_msg(support_lines(run->out, "\"event\":\"process__spawn\",\"source\":\"hook\"") == 1, "%s%s", run->out,
                  run->err);
    ck_assert_msg(support_lines(run->out, "\"event\":\"process__spawn\",\"source\":\"none\",\"about\":\"it has a shadow stack") == 1, "%s%s", run->out, run->err);
    ck_assert_msg(support_lines(run->out, "\"event\":\"process__unscheduled\",\"source\":\"hook\"") >= 1, "%s%s",
                  run->out, run->err);
    ck_assert_msg(support_lines(run->out, "\"event\":\"process__scheduled\",\"source\":\"hook\"") == 1, "%s%s", run->out, run->err);
}
END_TEST

/*
 * Links of many places are made where they count every thread of a process: since 6.10, and wherever that was mended
 * before.
 */
START_TEST(test_uprobe_has_many_where_they_count_every_thread)
{
    struct utsname name;
    int major = 0, minor = 0;

    SUPPORT_BPF();
    uname(&name);
    ck_assert_int_eq(sscanf(name.release, "%d.%d", &major, &minor), 2);
    if (major > 6 || (major == 6 && minor >= 10))
        ck_assert(uprobe_has_many());
    if (major < 6 || (major == 6 && minor < 6))
        ck_assert(!uprobe_has_many());
}
END_TEST

void uprobe_milestone(void);

/* A trap of our own can be set, and is taken away again: one that stayed would be paid for ever. */
START_TEST(test_uprobe_settles_and_leaves_nothing)
{
    SUPPORT_BPF();
    const unsigned char *code = (const unsigned char *)uprobe_milestone, before = *code;

    for (int i = 0; i < 3; i++) {
        ck_assert(uprobe_settle());
        ck_assert_uint_eq(*(const volatile unsigned char *)code, before);
        uprobe_milestone();
    }
}
END_TEST

Suite *uprobe_suite(void)
{
    Suite *suite = suite_create("uprobe");
    TCase *filters = tcase_create("filters");

    tcase_set_timeout(filters, 60);
    tcase_add_test(filters, test_uprobe_returns_pass_filters_as_the_kernel_says);
    tcase_add_test(filters, test_uprobe_filtered_node_lives);
    tcase_add_test(filters, test_uprobe_no_return_is_probed_over_a_shadow_stack);
    tcase_add_test(filters, test_uprobe_has_many_where_they_count_every_thread);
    tcase_add_test(filters, test_uprobe_settles_and_leaves_nothing);
    suite_add_tcase(suite, filters);
    return suite;
}
