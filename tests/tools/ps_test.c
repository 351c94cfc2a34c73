/* SPDX-License-Identifier: Apache-2.0 */
/* erlsnoop ps of nodes whose processes are known (snapshot_target.erl): this machine's Erlang, and erlvm. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

static const char *const erls[] = {"erl", "$ERLVM"};

/* A node that is $p, and says what it is in the file "said". It ends when descriptor 9 is closed. */
#define NODE                                                                                                           \
    "mkfifo in; ulimit -c unlimited\n"                                                                                 \
    "%s -noshell -eval '{ok, M, B} = compile:file(\"'$SOURCE/tests/tools/snapshot_target'\", [binary]), "              \
    "code:load_binary(M, \"\", B), M:main().' < in > said & p=$!; exec 9> in\n"                                        \
    "until grep -q '^ready' said; do sleep .05; kill -0 $p || exit 97; done\n"                                         \
    "e() { $ERLSNOOP ps \"$@\"; }\n"

/* Whether the first line that holds `mark` has, from there on, this too. */
static bool line_has(const char *text, const char *mark, const char *what)
{
    const char *line = strstr(text, mark);
    char copy[512];

    if (!line)
        return false;
    snprintf(copy, sizeof copy, "%.*s", (int)strcspn(line, "\n"), line);
    return strstr(copy, what) != NULL;
}

/* Who has most stands first, whatever most is of; nobody is left out of what programs get. */
START_TEST(test_ps_tells_who_has_most)
{
    const struct support_run *r = support_run(
        NODE "for s in mailbox memory binaries reductions; do echo \"by $s\"; e -p $p --sort $s --top 2; done\n"
             "e -p $p --json > j; grep -c '\"type\":\"process\"' j; grep -c '^process \\|^busy ' said\n"
             "grep '\"owner\":\"\\(box\\|off_box\\|frozen\\|sleeper\\|holder\\)\"' j; cat j | grep vm_now; sed -n 's/^node/said/p' said; kill -9 $p",
        erls[_i]);
    const char *by = strstr(r->out, "by mailbox");
    long listed, said;

    ck_assert_msg(by && line_has(by, "<0.", "box") && line_has(by, "<0.", " 997 "), "%s%s", r->out, r->err);
    by = strstr(r->out, "by binaries");
    ck_assert_msg(by && line_has(by, "<0.", "holder") && line_has(by, "<0.", "2.30 MB"), "%s", r->out);
    by = strstr(r->out, "by reductions");
    ck_assert_msg(by && line_has(by, "<0.", "spinner") &&
                      (line_has(by, "<0.", " running ") || line_has(by, "<0.", " runnable ")), /* between two slices */
                  "%s", r->out);
    ck_assert_int_eq(support_number(r->out, "\"owner\":\"box\"", "messages"), 997);
    ck_assert_int_eq(support_number(r->out, "\"owner\":\"off_box\"", "messages"), 503);
    ck_assert_int_eq(support_number(r->out, "\"owner\":\"frozen\"", "messages"), 89);
    ck_assert(line_has(strstr(r->out, "\"owner\":\"frozen\""), "", "\"status\":\"suspended\""));
    ck_assert(line_has(strstr(r->out, "\"owner\":\"sleeper\""), "", "\"status\":\"hibernated\""));
    ck_assert_int_ge(support_number(r->out, "\"owner\":\"holder\"", "binaries_bytes"), 2300000);
    listed = support_number(r->out, "vm_now", "processes");
    ck_assert_int_eq(sscanf(strstr(r->out, "said "), "said %*d %ld", &said), 1);
    ck_assert_int_eq(listed, said);
    said = support_number(r->out, "vm_now", "process_limit");
    ck_assert(said == 262144 || said == 1048576); /* of OTP up to 28; of later ones, and of an erlvm */
    ck_assert_int_eq(support_number(r->out, "vm_now", "atom_limit"), 1048576);
}
END_TEST

/* All of one, by its pid or its name, with its stack; a node that is stopped answers, too. */
START_TEST(test_ps_tells_all_of_one)
{
    const struct support_run *r = support_run(
        NODE "kill -STOP $p; e -p $p holder; q=$(e -p $p holder | sed -n 's/^process *//p'); e -p $p $q --json\n"
             "e -p $p ${q:1:-1} --terms | head -1; e -p $p nobody_there; echo status $?; e -p $p '<0.12345.9>'; kill -9 $p",
        erls[_i]);

    ck_assert_msg(line_has(r->out, "name ", "holder"), "%s%s", r->out, r->err);
    ck_assert(line_has(r->out, "began with", "snapshot_target:hold/2") && line_has(r->out, "binaries", "2.30 MB"));
    ck_assert(line_has(r->out, "status", "waiting") && line_has(r->out, "messages", " 0"));
    ck_assert_msg(line_has(r->out, "    1 snapshot_target:hold/2", "snapshot_target.erl:"), "%s", r->out);
    ck_assert(strstr(r->out, "\"type\":\"process_frame\"") && strstr(r->out, "\"depth\":1,\"function\":\"snapshot_target:hold/2\""));
    ck_assert_msg(strstr(r->out, "#{time => ") && strstr(r->out, "registered => <<\"holder\"/utf8>>"), "%s%s", r->out, r->err);
    ck_assert(strstr(r->out, "status 1") && strstr(r->err, "no process 'nobody_there' is in the VM"));
    ck_assert(strstr(r->err, "no process '<0.12345.9>' is in the VM") != NULL);
}
END_TEST

/* With an interval rates are told: of one that runs on a processor of its own, millions a second. */
START_TEST(test_ps_tells_rates)
{
    const struct support_run *r = support_run(
        NODE "e -p $p --sort reductions --top 1 .5 2 > t; grep -c PROCESSES t; grep '<0\\.' t; e -p $p --json .5 2 > j\n"
             "grep spinner j; kill -9 $p", erls[_i]);
    const char *spins = strstr(r->out, "\"owner\":\"spinner\"");

    ck_assert_msg(!strncmp(r->out, "2\n", 2), "%s%s", r->out, r->err);
    ck_assert_int_eq(support_lines(r->out, "snapshot_target:spin/0"), 4);
    ck_assert_msg(spins && !line_has(spins, "", "_per_s") && (spins = strstr(spins + 1, "\"owner\":\"spinner\"")) &&
                      line_has(spins, "", "_per_s"), "%s", r->out);
    ck_assert_int_gt(support_number(spins, "spinner", "reductions_per_s"), 10000);
}
END_TEST

/* Whose port is busy, with what, and on which scheduler the one process is that runs, but between two of its slices. */
START_TEST(test_ps_tells_ports_and_schedulers)
{
    const struct support_run *r = support_run(
        NODE "e -p $p --ports; e -p $p --ports --json; echo; for i in 1 2 3 4 5; do e -p $p --schedulers; done; kill -9 $p", erls[_i]);

    ck_assert_msg(line_has(r->out, "#Port<0.", "sh -c") && line_has(r->out, "#Port<0.", " busy ") &&
                      line_has(r->out, "#Port<0.", " kB "), "%s%s", r->out, r->err);
    ck_assert_int_gt(support_number(r->out, "\"state\":\"busy\"", "waiting_bytes"), 900000);
    ck_assert_int_le(support_number(r->out, "\"state\":\"busy\"", "waiting_bytes"), 1000003);
    ck_assert_msg(strstr(r->out, "normal 1") && strstr(r->out, "spinner") && strstr(r->out, "snapshot_target:spin/0"), "%s",
                  r->out);
}
END_TEST

/* A node that has died answers by its core file, as it would have. */
START_TEST(test_ps_tells_of_a_core_file)
{
    const struct support_run *r = support_run(
        NODE "x=$(readlink /proc/$p/exe); kill -ABRT $p; wait $p; c=$(echo core*)\n"
             "[ -s \"$c\" ] || { echo nowhere; exit; }\n"
             "e --core $c --top 2; e --core $c box; e --core $c --emulator $x --json > j; wc -l < j; e --core $c --emulator /bin/true\n"
             "e --core $c 1; e --core said; e --core none", erls[_i]);

    if (!strcmp(r->out, "nowhere\n")) {
        printf("SKIP %s: /proc/sys/kernel/core_pattern leads cores elsewhere\n", __func__);
        return;
    }
    ck_assert_msg(line_has(r->out, "<0.", "box") && line_has(r->out, "<0.", " 997 "), "%s%s", r->out, r->err);
    ck_assert_msg(line_has(r->out, "messages ", "997") && line_has(r->out, "    1 snapshot", "snapshot_target:'-main/1-"), "%s", r->out);
    ck_assert_msg(strstr(r->err, "/bin/true, cannot be read as an Erlang VM") != NULL, "%s", r->err);
    ck_assert(strstr(r->err, "a core file does not change: it has no interval"));
    ck_assert_msg(strstr(r->err, "'said': it is no core file") != NULL, "%s", r->err);
    ck_assert_msg(strstr(r->err, "'none': it cannot be read: No such file") != NULL, "%s", r->err);
}
END_TEST

static const struct {
    const char *line, *says;
} wrong[] = {
    {"--sort size", "--sort must be mailbox, memory, binaries or reductions, not 'size'"},
    {"--top 0", "--top must be a number from 1"},
    {"--ports --schedulers", "choose one of a process, --ports and --schedulers"},
    {"init --ports", "choose one of a process, --ports and --schedulers"},
    {"--ports --top 3", "--sort and --top are of the table of processes"},
    {"--emulator /bin/true", "--emulator needs --core"},
    {"-p 1 --core x", "choose one of -p PID and --core FILE"},
    {"init logger", "unexpected argument 'logger'"},
    {"1 2 3", "unexpected argument '3'"},
    {"1 0", "count must be a number from 1"},
    {"-p 1", "process 1 "},
};

START_TEST(test_ps_refuses)
{
    const struct support_run *r = support_run("$ERLSNOOP ps %s", wrong[_i].line);

    ck_assert_int_ne(r->status, 0);
    ck_assert_msg(strstr(r->err, wrong[_i].says) && support_lines(r->err, "") <= 1 && !*r->out, "%s%s", r->out, r->err);
}
END_TEST

Suite *ps_suite(void)
{
    Suite *suite = suite_create("ps");
    TCase *live = tcase_create("live"), *usage = tcase_create("usage");
    int n = sizeof erls / sizeof *erls;

    tcase_set_timeout(live, 60);
    tcase_add_loop_test(live, test_ps_tells_who_has_most, 0, n);
    tcase_add_loop_test(live, test_ps_tells_all_of_one, 0, n);
    tcase_add_loop_test(live, test_ps_tells_rates, 0, n);
    tcase_add_loop_test(live, test_ps_tells_ports_and_schedulers, 0, n);
    tcase_add_loop_test(live, test_ps_tells_of_a_core_file, 0, n);
    tcase_add_loop_test(usage, test_ps_refuses, 0, sizeof wrong / sizeof *wrong);
    suite_add_tcase(suite, live);
    suite_add_tcase(suite, usage);
    return suite;
}
