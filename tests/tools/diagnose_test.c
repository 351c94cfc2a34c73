/* SPDX-License-Identifier: Apache-2.0 */
/* erlsnoop diagnose of some illnesses of tests/zoo, on this machine's Erlang and on erlvm; make check-zoo tries them all. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

static const char *const erls[] = {"erl", "$ERLVM"};

/* A node that is $p and has the illness, or has it not. */
#define NODE                                                                                                           \
    "cp $SOURCE/tests/zoo/zoo.erl . && erlc zoo.erl; mkfifo in\n"                                                      \
    "%s -noshell -pa . -run zoo %s %s < in > said & p=$!; exec 9> in\n"                                                \
    "until grep -q '^{ready' said; do sleep .05; kill -0 $p || exit 97; done\n"

static const struct {
    const char *rule, *who;
} ills[] = {
    {"selective_receive", "searching_server"}, {"mailbox_ignored", "deaf_server"}, {"mailbox_grows", "slow_server"},
    {"suspended", "frozen_server"},            {"port_busy", "connection"},        {"restart_storm", "storm_sup"},
    {"processes_leak", "zoo:helper/1"},        {"atoms_grow", ""},
    {"crashes", "zoo:worker/1"},               {"calls_time_out", "late_replier"},
    {"disk_slow", "journal"},                  {"tables_leak", "table_maker"},
    {"table_grows", "cache"},                  {"table_fixed", "sessions"},
    {"deadlock", ""},                          {"never_run", "zoo:hog/0"},
    {"scheduler_asleep", "loader"},            {"purge_hangs", "comparer"},
    {"module_missing", "zoo_hooks"},           {"calls_abandoned", "swamped_server"},
    {"purge_kills", "zoo_worker"},             {"monitors_leak", "watcher"},
    {"sends_held", "to 127.0.0.1:"},           {"table_contended", "hits"},
    {"literals_swept", ""},
};

/*
 * In two seconds there may be a moment between two long turns in which all run, so that nobody waits for a second; and
 * calls and monitors are read once a second, and two readings are needed in which enough of them stand still, or three.
 */
static int seconds_of(const char *rule)
{
    static const char *const slow[] = {"never_run", "calls_abandoned", "monitors_leak", "table_contended", "literals_swept"};

    for (size_t i = 0; i < sizeof slow / sizeof *slow; i++)
        if (!strcmp(rule, slow[i]))
            return 4;
    return 2;
}

/* Calls of servers are not told of an emulator that exports no functions, nor waits for locks, of an erlvm neither. */
static bool is_not_known(const char *rule, bool ours)
{
    return (!strcmp(rule, "calls_time_out") && !ours && !support_emulator_exports()) ||
           (!strcmp(rule, "table_contended") && (ours || !support_emulator_exports()));
}

/* That the machine is busy may be found, too. */
START_TEST(test_diagnose_names_who_is_ill)
{
    const char *erl = erls[_i % 2], *rule = ills[_i / 2].rule;
    const struct support_run *r = support_run(
        NODE "$ERLSNOOP diagnose -p $p -d %d --json > j; echo status $?; grep '\"rule\":\"%s\"\\|\"what\":\"%s\"' j; kill -9 $p", erl,
        "ill", rule, seconds_of(rule), rule, rule);
    char who[128];

    if (is_not_known(rule, _i % 2)) {
        ck_assert_msg(strstr(r->out, "\"diagnosis_not_known\"") != NULL, "%s%s", r->out, r->err);
        return;
    }
    snprintf(who, sizeof who, "\"who\":\"%s%s", ills[_i / 2].who, strcmp(rule, "sends_held") ? "\"" : "");
    ck_assert_msg(strstr(r->out, "status 3\n{") && (!*ills[_i / 2].who || strstr(r->out, who)), "%s%s", r->out, r->err);
}
END_TEST

/* What is worst stands first, in lines that fit; status 0 says that it is what was expected. */
START_TEST(test_diagnose_says_whether_it_is_as_expected)
{
    const struct support_run *r = support_run(
        NODE "$ERLSNOOP diagnose -p $p -d 2 --expect selective_receive; echo status $?\n"
             "$ERLSNOOP diagnose -p $p -d 2 --expect none > no; echo status $?; kill -9 $p", erls[_i], "ill", "selective_receive");

    ck_assert_msg(!strncmp(r->out, "SCORE FINDING\n", 14) && strstr(r->out, "a full mailbox is searched for one message: searching_server\n"),
                  "%s%s", r->out, r->err);
    ck_assert_msg(strstr(r->out, "status 0\nstatus 1\n") != NULL, "%s%s", r->out, r->err);
    ck_assert_int_le(support_width(r->out), 80);
}
END_TEST

START_TEST(test_diagnose_finds_nothing_in_one_that_is_well)
{
    const char *erl = erls[_i % 2];
    const struct support_run *r = support_run(
        NODE "$ERLSNOOP diagnose -p $p -d 2 --json > j; echo status $?; grep -E '\"score\":([5-9].|100)' j | grep -v '\"rule\":\"starved\"'; kill -9 $p", erl,
        "healed", ills[_i / 2].rule);

    /* a busy machine may be worth a remark; that it keeps the VM waiting is true of some */
    ck_assert_msg(!strcmp(r->out, "status 0\n") || !strcmp(r->out, "status 3\n"), "%s%s", r->out, r->err);
    ck_assert_msg(strstr(r->err, "looked ") != NULL, "%s", r->err);
}
END_TEST

static const char *const tripwires[] = {"never_run", "scheduler_asleep", "purge_hangs"};

/* What never is so in a VM that is well is not told of one that has its hands full, however it is looked at. */
START_TEST(test_diagnose_tells_no_tripwire_under_load)
{
    const char *erl = erls[_i % 2], *rule = tripwires[_i / 2];
    const struct support_run *r = support_run(
        "cp $SOURCE/tests/zoo/zoo.erl . && erlc zoo.erl; mkfifo in\n"
        "%s -noshell -pa . -run zoo load -run zoo healed %s < in > said & p=$!; exec 9> in\n"
        "until grep -q '^{ready' said; do sleep .05; kill -0 $p || exit 97; done\n"
        "$ERLSNOOP ps -p $p --schedulers --json | grep -q '\"queued\":[1-9]' && echo full\n"
        "$ERLSNOOP diagnose -p $p -d 5 --json > j; grep '\"rule\":\"\\(never_run\\|scheduler_asleep\\|purge_hangs\\)\"' j; kill -9 $p",
        erl, rule);

    ck_assert_msg(!strcmp(r->out, "full\n") && strstr(r->err, "looked "), "%s%s", r->out, r->err);
}
END_TEST

/* Without events it goes by looks, and says once what it does not look for then. */
START_TEST(test_diagnose_by_looks_alone)
{
    const struct support_run *r = support_run(
        NODE "$ERLSNOOP diagnose -p $p -d 1 --looks > short; grep -c '^calls_hang  *it was looked at for too short' short >&2\n"
             "$ERLSNOOP diagnose -p $p -d 2 --looks; echo status $?\n"
             "$ERLSNOOP diagnose -p $p -d 2 --looks --json | grep -c '\"why\":\"--looks'; kill -9 $p", erls[_i], "ill",
        "suspended");
    const char *unknown = strstr(r->out, "--looks: nothing was attached; not looked for: ");

    ck_assert_msg(strstr(r->out, "a process is suspended: frozen_server") && strstr(r->out, "status 3"), "%s%s", r->out, r->err);
    ck_assert_msg(unknown && strstr(unknown, "calls_time_out") && !strstr(unknown + 1, "events   "), "%s", r->out);
    ck_assert_msg(strstr(r->out, "status 3\n12\n") != NULL, "%s", r->out); /* as many as need events, or samples */
    ck_assert_msg(strstr(r->err, "\n1\n") != NULL, "%s", r->err); /* two seconds are needed to say that a call hangs */
    ck_assert_int_le(support_width(r->out), 80);
}
END_TEST

/* Who may read the VM's memory and attach nothing is answered all the same. */
START_TEST(test_diagnose_without_rights_to_attach)
{
    const struct support_run *r = support_run(
        NODE "setpriv --bounding-set=-all,+sys_ptrace,+dac_override $ERLSNOOP diagnose -p $p -d 2; echo status $?; kill -9 $p",
        erls[_i], "ill", "suspended");

    ck_assert_msg(strstr(r->out, "a process is suspended: frozen_server") && strstr(r->out, "status 3"), "%s%s", r->out, r->err);
    ck_assert_msg(strstr(r->out, "not permitted; run as root") && strstr(r->out, "calls_time_out"), "%s%s", r->out, r->err);
    ck_assert_int_eq(support_lines(r->err, "erlsnoop:"), 1);
    ck_assert_int_le(support_width(r->out), 80);
}
END_TEST

/* The page has every finding, no script, and what is not known; it is there as a whole or not at all. */
START_TEST(test_diagnose_writes_a_page)
{
    const struct support_run *r = support_run(
        NODE "$ERLSNOOP diagnose -p $p -d 2 --html page > said.txt; echo status $?; stat -c %%a page\n"
             "grep -c '<section' page; grep -c '^ *[0-9]* [a-z]' said.txt; grep -c '<script\\|src=\"\\|href=' page\n"
             "grep -o 'selective_receive\\|a full mailbox is searched for one message: searching_server</h2>' page; tail -1 page\n"
             "python3 -c 'import xml.sax; xml.sax.parseString(open(\"page\").read().split(\"</head>\")[1].replace(\"</html>\", \"\"), xml.sax.ContentHandler())' && echo well-formed\n"
             "$ERLSNOOP diagnose -p $p -d 2 --html no/page; echo status $?; kill -9 $p", erls[_i], "ill", "selective_receive");

    ck_assert_msg(!strncmp(r->out, "status 3\n600\n", 13), "%s%s", r->out, r->err);
    ck_assert_msg(strstr(r->out, "\na full mailbox is searched for one message: searching_server</h2>\n</html>\nwell-formed\nstatus 1\n") != NULL,
                  "%s%s", r->out, r->err);
    ck_assert_msg(strstr(r->err, "cannot write 'no/page'") != NULL, "%s", r->err);
}
END_TEST

/* A recording is asked for what its events tell; what only memory tells is not known. */
START_TEST(test_diagnose_of_a_recording)
{
    const struct support_run *r = support_run(
        NODE "$ERLSNOOP trace -o r -p $p 2> up & e=$!; until grep -q 'is recorded' up; do sleep .05; done; sleep 3; kill -INT $e; wait $e\n"
             "$ERLSNOOP report r diagnose; echo status $?; $ERLSNOOP report r diagnose --json > j\n"
             "grep -c '\"rule\":\"crashes\",.*\"who\":\"zoo:worker/1\".*\"more\":\"erlsnoop report r exits\"' j\n"
             "grep -c '\"what\":\"mailbox_grows\",\"why\":\"a recording holds events' j; $ERLSNOOP report r diagnose 1; kill -9 $p", erls[_i], "ill",
        "crashes");

    ck_assert_msg(strstr(r->out, "processes crash: zoo:worker/1\n") && strstr(r->out, "status 3\n1\n1\n"), "%s%s", r->out, r->err);
    ck_assert_msg(strstr(r->err, "unexpected argument '1' behind diagnose") != NULL, "%s", r->err);
    ck_assert_int_le(support_width(r->out), 80);
}
END_TEST

/* One that is stopped answers, and that is the first finding. */
START_TEST(test_diagnose_tells_that_it_is_stopped)
{
    const struct support_run *r = support_run(
        NODE "kill -STOP $p; $ERLSNOOP diagnose -p $p -d 2; echo status $?; kill -9 $p", erls[_i], "healed", "suspended");

    ck_assert_msg(strstr(r->out, "  100 the VM is stopped\n") && strstr(r->out, "status 3"), "%s%s", r->out, r->err);
}
END_TEST

/* What was seen of one that ends meanwhile counts. */
START_TEST(test_diagnose_of_one_that_ends)
{
    const struct support_run *r = support_run(
        NODE "$ERLSNOOP diagnose -p $p -d 60 & e=$!; attached $e; sleep 4; kill -9 $p; wait $e; echo status $?", erls[_i], "ill", "suspended");

    ck_assert_msg(strstr(r->out, "a process is suspended: frozen_server") && strstr(r->out, "status 3"), "%s%s", r->out, r->err);
    ck_assert_msg(strstr(r->out, "the rest ") && strstr(r->out, "  it has ended\n"), "%s", r->out);
}
END_TEST

static const struct {
    const char *line, *says;
} wrong[] = {
    {"-d 0.5", "-d must be seconds from 1 to 86400, not '0.5'"},
    {"--expect rain", "--expect must be none or one of the findings of the manual, not 'rain'"},
    {"-p 1 5", "unexpected argument '5'"},
    {"-p 1", "process 1 "},
};

START_TEST(test_diagnose_refuses)
{
    const struct support_run *r = support_run("$ERLSNOOP diagnose %s", wrong[_i].line);

    ck_assert_msg(r->status && strstr(r->err, wrong[_i].says) && !*r->out, "%s%s", r->out, r->err);
}
END_TEST

Suite *diagnose_suite(void)
{
    Suite *suite = suite_create("diagnose");
    TCase *live = tcase_create("live"), *usage = tcase_create("usage");
    int n = sizeof ills / sizeof *ills;

    tcase_set_timeout(live, 60);
    tcase_add_loop_test(live, test_diagnose_names_who_is_ill, 0, 2 * n);
    tcase_add_loop_test(live, test_diagnose_says_whether_it_is_as_expected, 0, 2);
    tcase_add_loop_test(live, test_diagnose_finds_nothing_in_one_that_is_well, 0, 4 * 2); /* the first four */
    tcase_add_loop_test(live, test_diagnose_tells_no_tripwire_under_load, 0, 2 * (int)(sizeof tripwires / sizeof *tripwires));
    tcase_add_loop_test(live, test_diagnose_by_looks_alone, 0, 2);
    tcase_add_loop_test(live, test_diagnose_without_rights_to_attach, 0, 2);
    tcase_add_loop_test(live, test_diagnose_writes_a_page, 0, 2);
    tcase_add_loop_test(live, test_diagnose_of_a_recording, 0, 2);
    tcase_add_loop_test(live, test_diagnose_tells_that_it_is_stopped, 0, 2);
    tcase_add_loop_test(live, test_diagnose_of_one_that_ends, 0, 2);
    tcase_add_loop_test(usage, test_diagnose_refuses, 0, sizeof wrong / sizeof *wrong);
    suite_add_tcase(suite, live);
    suite_add_tcase(suite, usage);
    return suite;
}
