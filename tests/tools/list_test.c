/* SPDX-License-Identifier: Apache-2.0 */
/* erlsnoop list and doctor: what they say of VMs that run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

/* How many subcommands are views. */
enum {
    NVIEWS = 0
#define VIEW(view, family, text, what) +1
#include "../../bpf/views.def"
};

START_TEST(test_list_shows_a_vm_with_notes)
{
    const struct support_run *r = support_run(
        "$EMITTER -s 9 process__spawn=1 > /dev/null & p=$!\n"
        "runs $p emitter; $ERLSNOOP list --json -p $p; s=$?; kill $p; exit $s");

    ck_assert_int_eq(r->status, 0);
    ck_assert_int_eq(support_number(r->out, "\"type\":\"vm\"", "events"), SUPPORT_NPROBES);
    ck_assert(strstr(r->out, "\"provider\":\"erlvm\"") != NULL);
    ck_assert(strstr(r->out, "\"name\":\"emitter\"") != NULL);
}
END_TEST

START_TEST(test_list_shows_a_stock_vm_without_notes)
{
    const struct support_run *r = support_run(
        "erl -noshell -noinput -eval 'file:write_file(\"up\", \"up\")' & p=$!; await up; $ERLSNOOP list --json -p $p; $ERLSNOOP doctor --json -v -p $p; kill $p");
    const char *none = strstr(r->out, "\"source\":\"none\"");

    ck_assert(strstr(r->out, "\"provider\":\"otp-uprobe\"") != NULL);
    ck_assert_int_eq(support_number(r->out, "\"type\":\"vm\"", "events"), support_lines(r->out, "\"source\":\"hook\""));
    ck_assert(strstr(r->out, "\"event\":\"message__send\",\"source\":\"hook\"") != NULL);
    ck_assert(strstr(r->out, "\"event\":\"bif__entry\",\"source\":\"none\"") != NULL);
    ck_assert_msg(none && !strstr(none, "\"source\":\"hook\""), "what is served does not come first");
    ck_assert(strstr(r->out, "\"name\":\"beam.smp\"") != NULL);
}
END_TEST

/* What an operator asks of a VM first: as many processes and schedulers as it says itself, and how long it runs. */
START_TEST(test_list_tells_what_a_vm_is_about)
{
    const struct support_run *r = support_run(
        "erl +S 3 -noinput -eval 'timer:sleep(100), file:write_file(\"count\", integer_to_list(erlang:system_info(process_count)))' & p=$!\n"
        "await count; $ERLSNOOP list --json -p $p; $ERLSNOOP list -p $p; echo \"{\\\"told\\\":$(cat count)}\"; kill $p");

    ck_assert_int_eq(support_number(r->out, "\"type\":\"vm\"", "schedulers"), 3);
    /* the one that counted has ended, or not yet */
    ck_assert_int_le(labs(support_number(r->out, "\"type\":\"vm\"", "processes") - support_number(r->out, "told", "told")), 1);
    ck_assert_int_gt(support_number(r->out, "\"type\":\"vm\"", "up_ns"), 100000000);
    ck_assert_msg(!support_emulator_exports() || strstr(r->out, "\"commands\":\"all but calls, user\"") != NULL, "%s", r->out);
    ck_assert_msg(strstr(r->out, "OTP ") != NULL, "%s", r->out);
}
END_TEST

/* The arguments tell VMs apart: the node's name, or else the module it was started with; none behind -extra. */
START_TEST(test_list_names_a_vm_by_what_it_was_told_to_be)
{
    static const char *const names[] = {"shop@127.0.0.1", "depot", "beam.smp"};

    const struct support_run *r = support_run(
        "printf '%%s\\n' '-module(depot).' '-export([start/0]).' 'start() -> ok = file:write_file(os:getpid(), \"up\").' > depot.erl; erlc depot.erl\n"
        "erl -noinput -dist_listen false -s depot -name shop@127.0.0.1 & a=$!; erl -noinput -run depot & b=$!\n"
        "erl -noinput -eval 'depot:start()' -extra -s depot & c=$!\n"
        "for p in $a $b $c; do await $p; $ERLSNOOP list --json -p $p; done; kill $a $b $c");
    const char *at = r->out;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char name[64];

        snprintf(name, sizeof name, "\"name\":\"%s\"", names[i]);
        at = strstr(at, name);
        ck_assert_msg(at != NULL, "no %s in %s", name, r->out);
    }
}
END_TEST

/* Two nodes of one short name are told apart by the whole names that the VMs have made of it. */
START_TEST(test_list_names_a_node_whole)
{
    SUPPORT_EXPORTS(); /* the name stands at one of its symbols */
    const struct support_run *r = support_run(
        "cat > told.erl <<'END'\n-module(told).\n-export([start/0]).\n"
        "start() -> ok = file:write_file(os:getpid(), \"up\"), ok = file:write_file(os:getpid() ++ \".node\", atom_to_list(node())).\nEND\n"
        "erlc told.erl; erl -noinput -start_epmd false -erl_epmd_port 1 -sname shop -s told & a=$!\n"
        "await $a.node; $ERLSNOOP list --json -p $a | grep -F \"\\\"name\\\":\\\"$(cat $a.node)\\\"\"; s=$?; cat $a.node; kill $a; exit $s");

    ck_assert_msg(!r->status, "%s%s", r->out, r->err);
    ck_assert_msg(strstr(r->out, "shop@") != NULL, "%s", r->out);
}
END_TEST

/* As a stock emulator does, an erlvm tells the whole name, and is found by it. */
START_TEST(test_list_names_a_node_of_erlvm_whole)
{
    const struct support_run *r = support_run(
        "cat > told.erl <<'END'\n-module(told).\n-export([start/0]).\n"
        "start() -> ok = file:write_file(os:getpid() ++ \".node\", atom_to_list(node())).\nEND\n"
        "erlc told.erl; $ERLVM -noinput -start_epmd false -erl_epmd_port 1 -sname shop -pa . -s told & a=$!\n"
        "await $a.node; $ERLSNOOP list --json -p \"$(cat $a.node)\" | grep -F \"\\\"name\\\":\\\"$(cat $a.node)\\\"\"; s=$?; kill $a; exit $s");

    ck_assert_msg(!r->status && strstr(r->out, "shop@") != NULL, "%s%s", r->out, r->err);
}
END_TEST

/* What works is said by subcommand; what cannot be had is a list only for who asks. A subcommand that cannot work says which can. */
START_TEST(test_list_doctor_tells_which_commands_work)
{
    const struct support_run *r = support_run(
        "erl -noshell -noinput -eval 'file:write_file(\"up\", \"up\")' & p=$!; await up; $EMITTER -s 60 process__spawn=1 > /dev/null & n=$!; runs $n emitter\n"
        "$ERLSNOOP doctor -p $p; $ERLSNOOP doctor -p $n | grep '^ *[0-9]* erlvm'; $ERLSNOOP doctor -p $n | grep stacks\n"
        "$ERLSNOOP stacks -p $n; s=$?; kill $p $n; exit $s");

    ck_assert_int_eq(r->status, 1);
    ck_assert_ptr_ne(strstr(r->out, support_emulator_exports() ? " otp-uprobe all but calls, user\n" : " otp-uprobe all but mailboxes, requests, calls, user\n"), NULL);
    ck_assert_ptr_ne(strstr(r->out, " stacks    yes   the VM's memory is read\n"), NULL);
    ck_assert_ptr_ne(strstr(r->out, " erlvm      all but stacks\n"), NULL);
    ck_assert_ptr_ne(strstr(r->out, " stacks    no    it publishes no table of its memory (erlvm_layout)"), NULL);
    ck_assert_int_eq(support_lines(r->out, " none "), 0);
    ck_assert_ptr_ne(strstr(r->err, "events that such VMs do not have"), NULL);
    ck_assert_ptr_ne(strstr(r->err, "cannot be watched: it publishes no table of its memory"), NULL);
}
END_TEST

START_TEST(test_list_doctor_fits_80_columns)
{
    const struct support_run *r = support_run("$EMITTER -s 60 process__spawn=1 > /dev/null & n=$!; runs $n emitter\n"
                                              "terminal 80 \"$ERLSNOOP doctor -v -p $n\"; kill $n");

    ck_assert_ptr_ne(strstr(r->out, "one trap; the VM also prints strings\n"), NULL);
    ck_assert_int_le(support_width(r->out), 80);
}
END_TEST

/* A subcommand that works on a stock Erlang, but for a part of what it shows, says which. */
START_TEST(test_list_doctor_tells_what_commands_lack_on_a_stock_vm)
{
    bool exports = support_emulator_exports();
    const char *const rows[] = {
        " spawns    yes   by hooks\n",
        " msglat    yes   by hooks\n",
        " exits     yes   by hooks; no SIGNALS\n",
        exports ? " messages  yes   by hooks; no sizes, queues, QUEUED, RECEIVED\n"
                : " messages  yes   by hooks; no sizes, queues, OTHERS, QUEUED, RECEIVED\n",
        exports ? " mailboxes yes   by hooks; no WALKED\n" : " mailboxes no ",
        exports ? " requests  yes   by hooks\n" : " requests  no ",
        " efile     yes   by hooks\n",
        " ports     yes   by hooks; no BYTES OUT, READS of libraries\n",
        " drivers   yes   by hooks; no drivers of libraries\n",
        " user      no    no event for it here; erlvm has one, see the manual\n",
    };
    const struct support_run *r = support_run(
        "erl -noshell -noinput -eval 'file:write_file(\"up\", \"up\")' & p=$!; await up\n"
        "terminal 80 \"$ERLSNOOP doctor -p $p\" | tr -d '\\r'; kill $p");

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        ck_assert_msg(strstr(r->out, rows[i]) != NULL, "no%sin\n%s", rows[i], r->out);
    ck_assert_int_le(support_width(r->out), 80);
}
END_TEST

/* A question whose functions are hidden is refused, and not answered with zeros by what else it is told of. */
START_TEST(test_list_refuses_what_an_emulator_hides)
{
    if (support_emulator_exports()) {
        printf("SKIP %s: the emulator of this Erlang exports its functions\n", __func__);
        return;
    }
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "erl -noshell -noinput -eval 'file:write_file(\"up\", \"up\")' & p=$!; await up\n"
        "$ERLSNOOP requests -p $p .1 1; s=$?; $ERLSNOOP watch requests,spawns -p $p .1 1; echo status $s $?; kill $p");

    ck_assert_msg(strstr(r->out, "status 1 0\n") != NULL, "%s%s", r->out, r->err);
    ck_assert_int_eq(support_lines(r->err, "does not have requests: no function of it stands for these events"), 2);
    ck_assert_ptr_eq(strstr(r->out, "TIMEOUTS"), NULL);
}
END_TEST

/* An erlvm lacks no event, whichever way it is asked, and pages only what the kernel counts of threads; an event on a page
 * has the price that was measured. */
START_TEST(test_list_doctor_tells_that_nothing_is_missing_on_erlvm)
{
    const struct support_run *r = support_run(
        "$ERLVM -noinput -eval 'file:write_file(\"up\", \"up\")' & p=$!; await up; $ERLSNOOP doctor -p $p; kill $p");

    ck_assert_int_eq(support_lines(r->out, " yes   its pages of events; with --source notes its notes"), NVIEWS);
    ck_assert_int_eq(support_lines(r->out, "; no "), 1);
    ck_assert_int_eq(support_lines(r->out, "; no ON CPU, WAITING, ASLEEP by pages"), 1);
    ck_assert_ptr_ne(strstr(r->out, " message__send                pages  by the page, about 50 ns\n"), NULL);
}
END_TEST

/* Two VMs of which one must be chosen are told as list tells them. */
START_TEST(test_list_names_the_vms_to_choose_from)
{
    const struct support_run *r = support_run(
        "cp $EMITTER one; cp $EMITTER two; unshare --fork --pid --mount-proc bash -c './one -s 9 process__spawn=1 > /dev/null & a=$!; ./two -s 9 process__spawn=1 > /dev/null & b=$!\n"
        "until cmp -s /proc/$a/exe one && cmp -s /proc/$b/exe two; do sleep .05; done\n"
        "$ERLSNOOP spawns; s=$?; echo \"$a $b\"; for i in 3 4 5 6; do ./one -s 9 process__spawn=1 > /dev/null & "
        "until cmp -s /proc/$!/exe one; do sleep .05; done; done; $ERLSNOOP spawns; kill $(jobs -p); exit $s'");
    char said[160];
    int a, b;

    ck_assert_int_eq(r->status, 2);
    ck_assert_int_eq(sscanf(r->out, "%d %d", &a, &b), 2);
    snprintf(said, sizeof said, "several Erlang VMs run here: %d 'one', %d 'two'; choose one with -p, by process id or name, or -a\n", a, b);
    ck_assert_msg(strstr(r->err, said) != NULL, "%s", r->err);
    ck_assert_msg(strstr(r->err, " 'one', and others; choose one with") != NULL, "%s", r->err);
    ck_assert_int_eq(support_lines(r->err, "several Erlang VMs"), 2);
}
END_TEST

/* -p takes what list prints: a whole name, or that of a node without its host. */
START_TEST(test_list_finds_a_vm_by_its_name)
{
    const struct support_run *r = support_run(
        "printf '%%s\\n' '-module(inn).' '-export([start/0]).' 'start() -> ok = file:write_file(os:getpid(), \"up\").' > inn.erl; erlc inn.erl\n"
        "node() { erl -noinput -dist_listen false -s inn -name $1 & await $!; }\n"
        "node shop@127.0.0.1; a=$!; node depot@127.0.0.1; b=$!; node depot@localhost.here; c=$!\n"
        "for n in shop shop@127.0.0.1 depot@127.0.0.1; do $ERLSNOOP list -p $n --json; done\n"
        "$ERLSNOOP list -p depot; s=$?; $ERLSNOOP doctor -p sho; echo $a $b $c $s $?; kill $a $b $c");
    const char *last = strrchr(r->out, '}');
    int a, b, c, several, none;

    ck_assert_msg(last && sscanf(last + 1, "%d %d %d %d %d", &a, &b, &c, &several, &none) == 5, "%s%s", r->out, r->err);
    ck_assert_int_eq(support_lines(r->out, "\"name\":\"shop@127.0.0.1\""), 2);
    ck_assert_int_eq(support_lines(r->out, "\"name\":\"depot@127.0.0.1\""), 1);
    ck_assert_msg(several == 2 && strstr(r->err, "several Erlang VMs are named so: ") && strstr(r->err, "choose one by its process id"),
                  "%s", r->err);
    ck_assert_msg(none == 1 && strstr(r->err, "no Erlang VM 'sho' runs here; "), "%s", r->err);
}
END_TEST

START_TEST(test_list_says_why_a_process_is_not_listed)
{
    static const char *const commands[] = {"list", "doctor", "spawns"};

    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        const struct support_run *r = support_run("sleep 0 & p=$!; wait $p; $ERLSNOOP %s -p $p", commands[i]);

        ck_assert_int_eq(r->status, 1);
        ck_assert_ptr_ne(strstr(r->err, "no process with pid"), NULL);
    }
}
END_TEST

START_TEST(test_list_without_rights_may_not_say_that_nothing_runs)
{
    const struct support_run *r = support_run("cp $ERLSNOOP snoop; chmod 755 snoop\n"
                                              "setpriv --reuid=65534 --regid=65534 --clear-groups ./snoop list");

    ck_assert_int_eq(r->status, 0);
    ck_assert_ptr_ne(strstr(r->err, "run as root"), NULL);
}
END_TEST

START_TEST(test_list_escapes_a_hostile_name)
{
    const struct support_run *r = support_run(
        "n=$'e\\e[2J'; cp $EMITTER \"$n\"; \"./$n\" -s 9 process__spawn=1 > /dev/null & p=$!\n"
        "runs $p \"$n\"; terminal 80 \"$ERLSNOOP list -p $p\"; kill $p");

    ck_assert(strchr(r->out, '\033') == NULL);
    ck_assert(strstr(r->out, "e\\x1b[2J") != NULL);
    ck_assert_int_le(support_width(r->out), 80);
}
END_TEST

/* /proc/PID/stat holds the name as it is. */
START_TEST(test_list_knows_a_vm_whose_name_has_two_lines)
{
    const struct support_run *r = support_run(
        "n=$'a\nb) Z 1'; cp $EMITTER \"$n\"; \"./$n\" -s 60 process__spawn=1 > /dev/null & p=$!\n"
        "until cmp -s /proc/$p/exe $EMITTER; do sleep .05; done; sleep 1; $ERLSNOOP list --json -p $p; kill $p");

    ck_assert_int_ge(support_number(r->out, "\"type\":\"vm\"", "up_ns"), 1000000000);
    ck_assert(strstr(r->out, "\"name\":\"a") != NULL);
}
END_TEST

START_TEST(test_list_without_rights_says_what_is_missing)
{
    const struct support_run *r = support_run(
        "cp $ERLSNOOP snoop; chmod 755 snoop\n"
        "terminal 80 \"setpriv --reuid=65534 --regid=65534 --clear-groups ./snoop doctor\"");

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
    tcase_add_test(live, test_list_tells_what_a_vm_is_about);
    tcase_add_test(live, test_list_names_a_vm_by_what_it_was_told_to_be);
    tcase_add_test(live, test_list_names_a_node_whole);
    tcase_add_test(live, test_list_doctor_tells_which_commands_work);
    tcase_add_test(live, test_list_doctor_fits_80_columns);
    tcase_add_test(live, test_list_doctor_tells_what_commands_lack_on_a_stock_vm);
    tcase_add_test(live, test_list_refuses_what_an_emulator_hides);
    tcase_add_test(live, test_list_doctor_tells_that_nothing_is_missing_on_erlvm);
    tcase_add_test(live, test_list_names_the_vms_to_choose_from);
    tcase_add_test(live, test_list_finds_a_vm_by_its_name);
    tcase_add_test(live, test_list_names_a_node_of_erlvm_whole);
    tcase_add_test(live, test_list_finds_a_vm_by_its_name);
    tcase_add_test(live, test_list_says_why_a_process_is_not_listed);
    tcase_add_test(live, test_list_without_rights_may_not_say_that_nothing_runs);
    tcase_add_test(live, test_list_escapes_a_hostile_name);
    tcase_add_test(live, test_list_knows_a_vm_whose_name_has_two_lines);
    tcase_add_test(live, test_list_without_rights_says_what_is_missing);
    tcase_add_test(live, test_list_doctor_tries_to_see_other_processes);
    suite_add_tcase(suite, live);
    return suite;
}
