/* SPDX-License-Identifier: Apache-2.0 */
/* How erlsnoop ends, and what it says when it cannot tell: signals under a flood of records, kills, VMs that are stopped, full disks. */
#include <stdio.h>
#include <string.h>

#include "support.h"

/* An emitter that fires on until it is killed; $v is its process. */
#define FLOOD "$EMITTER -r 100000000 process__spawn=100 process__exit=100 > counts & v=$!; runs $v emitter\n"
/* One that rests; $v is its process. */
#define REST "$EMITTER -w never process__spawn=1 & v=$!; runs $v emitter\n"

/* Records come faster than the reader takes them: what it has not taken by then is counted as lost. */
START_TEST(test_endings_one_signal_ends_a_flood_that_is_read_slowly)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        FLOOD "mkfifo f; exec 3<>f; yes '\"spawns_event\"' | head -c 65536 > f; $ERLSNOOP spawns --events --json -p $v > f 2> err & s=$!\n"
              "python3 -c 'import os, time\n"
              "while True: os.read(3, 2000); time.sleep(.02)' & reader=$!\n"
              "attached $s; kill -INT $s; until [ $(links $s) = 0 ]; do kill -0 $s || break; done\n"
              "sleep .5; kill $reader; cat < f 3>&- > out & c=$!; wait $s; echo status $?\n" /* it reads on for 150 ms at most */
              "exec 3>&-; wait $c; grep -v '\"spawns_event\"' out");

    ck_assert_msg(strstr(r->out, "status 0") != NULL, "%s", r->out);
    ck_assert_int_gt(support_number(r->out, "\"type\":\"spawns\"", "births"), 0);
    ck_assert_int_gt(support_number(r->out, "not read before the end", "count"), 0);
}
END_TEST

START_TEST(test_endings_one_signal_ends_a_flood_of_samples)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "erlc $SOURCE/tests/tools/stacks_target.erl && erl -noshell -pa . -s stacks_target storm > vm.log 2>&1 &\n"
        "comes ready\n"
        "for q in $(pgrep -g 0 beam.smp); do p=$q; done\n"
        "$ERLSNOOP stacks --hz 4999 --json -p $p 2 > out & s=$!; await out; kill -INT $s\n"
        "for i in `seq 50`; do kill -0 $s 2> /dev/null || break; sleep .1; done; kill -0 $s 2> /dev/null && echo stuck\n"
        "kill -9 $s 2> /dev/null; wait $s; echo status $?; kill $p; cat out");

    ck_assert_ptr_eq(strstr(r->out, "stuck"), NULL);
    ck_assert_msg(strstr(r->out, "status 0") != NULL, "%.200s %s", r->out, r->err);
    ck_assert_int_gt(support_number(r->out, "\"type\":\"stacks\"", "samples"), 0);
}
END_TEST

/* Two that come as one, as those of timeout(1) do, ask for the end once; one that comes later ends at once, and that is said. */
START_TEST(test_endings_signals_that_come_together_are_one)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        FLOOD "$ERLSNOOP spawns --json -p $v 1 > out 2> err & s=$!\n"
              "until grep -q '\"births\":[1-9]' out; do kill -0 $s || break; sleep .05; done\n"
              "kill -STOP $s; kill -INT $s; kill -TERM $s; kill -CONT $s; wait $s; echo status $?; cat out err");

    ck_assert_msg(strstr(r->out, "status 0") != NULL, "%s", r->out);
    ck_assert_int_gt(support_number(r->out, "\"type\":\"spawns\"", "births"), 0);
}
END_TEST

START_TEST(test_endings_second_signal_says_what_is_lost)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        FLOOD "mkfifo f; exec 3<>f; head -c 65536 /dev/zero > f; $ERLSNOOP spawns --events --json -p $v > f 2> err & s=$!; attached $s\n"
              "while kill -INT $s 2> /dev/null; do sleep .02; done; wait $s; echo status $?; cat err");

    ck_assert_msg(strstr(r->out, "status 1") != NULL, "%s", r->out);
    ck_assert_msg(strstr(r->out, "a second signal: it ends at once") != NULL, "%s", r->out);
}
END_TEST

/* The terminal shows the Ctrl-C in the line where the cursor stands: the table begins in the next one. */
START_TEST(test_endings_table_begins_below_the_ctrl_c)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run("$EMITTER -s 60 process__spawn=1 > /dev/null & n=$!; runs $n emitter\n"
                                              "script -qfec \"echo \\$\\$ > pid; exec $ERLSNOOP spawns -p $n\" out > /dev/null < /dev/null & t=$!\n"
                                              "until grep -q 'Ctrl-C ends' out; do sleep .1; done; kill -INT $(cat pid); wait $t; tr -d '\\r' < out; kill $n");

    ck_assert_msg(strstr(r->out, "Ctrl-C ends\n\n    BIRTHS ") != NULL, "%s%s", r->out, r->err);
}
END_TEST

START_TEST(test_endings_nohup_is_respected)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        FLOOD "nohup $ERLSNOOP spawns --json -p $v .2 > out & s=$!; attached $s; kill -HUP $s\n"
              "results() { grep -c '\"type\":\"spawns\"' out; }\n"
              "end=$(($(results) + 2)); until [ $(results) -ge $end ]; do kill -0 $s || break; sleep .05; done; kill -0 $s && echo alive\n"
              "kill -INT $s; wait $s; echo status $?; cat out");

    ck_assert_msg(strstr(r->out, "alive\nstatus 0") != NULL, "%s", r->out);
    ck_assert_int_gt(support_number(r->out, "\"type\":\"spawns\"", "births"), 0);
}
END_TEST

/*
 * Probes go and the command ends with an erlsnoop that is killed. The kernel takes probes back a moment after their
 * owner is gone: on a busy machine a good part of a second.
 */
START_TEST(test_endings_kill_leaves_nothing_behind)
{
    long on, off;

    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "$EMITTER -w go -u fired -r 1000 process__spawn=1 > counts & v=$!; runs $v emitter\n"
        "$ERLSNOOP spawns -p $v & s=$!; attached $s; kill -9 $s; wait $s; touch go; wait $v; cat counts\n"
        "$ERLSNOOP spawns -- $EMITTER -w never process__exit=1 & s=$!; attached $s; c=$(pgrep -P $s); kill -9 $s; wait $s\n"
        "while kill -0 $c; do sleep .1; done; echo ended");

    ck_assert_msg(sscanf(r->out, "process__spawn %ld %ld", &on, &off) == 2 && off >= 1000, "%s", r->out);
    ck_assert_ptr_ne(strstr(r->out, "ended"), NULL);
}
END_TEST

START_TEST(test_endings_foreign_proc_is_named)
{
    const struct support_run *r = support_run(
        REST "unshare -pf true || exit 77\n"
             "unshare -pf $ERLSNOOP spawns -p $v .1 1; echo status $?; unshare -pf $ERLSNOOP trace -o r -p $v; echo trace $?\n"
             "unshare -pf $ERLSNOOP doctor; kill $v");

    if (r->status == 77) {
        printf("SKIP %s: no name space may be made here\n", __func__);
        return;
    }
    ck_assert_msg(strstr(r->out, "status 1\ntrace 1\n") != NULL, "%s", r->out);
    ck_assert_msg(strstr(r->err, "/proc here is of another pid namespace; mount its own") != NULL, "%s", r->err);
    ck_assert_ptr_ne(strstr(r->out, "mount its own: unshare --mount-proc"), NULL);
}
END_TEST

/* Said when it begins, at the attach or later, not with each result. */
START_TEST(test_endings_stopped_vm_is_told)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        FLOOD "kill -STOP $v; $ERLSNOOP spawns --json -p $v .2 3 > out 2> err; echo status $?; grep -c '\"spawns\"' out; cat err; kill -CONT $v\n"
              "$ERLSNOOP spawns --json -p $v .1 > out2 2> err2 & s=$!; await out2; grep -q stopped err2 && echo early\n"
              "kill -STOP $v; until grep -q stopped err2; do sleep .1; done; cat err2\n"
              "kill -CONT $v; kill -INT $s; wait $s");

    ck_assert_msg(strstr(r->out, "status 0\n3\n") != NULL, "%s", r->out);
    ck_assert_int_eq(support_lines(r->out, "is stopped by a signal; nothing happens in it until kill -CONT"), 2);
    ck_assert_ptr_eq(strstr(r->out, "early"), NULL);
}
END_TEST

START_TEST(test_endings_stopped_vm_is_told_by_trace)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        REST "kill -STOP $v; $ERLSNOOP trace -o r -p $v > t 2> err & s=$!; until grep -q 'is stopped by a signal' err; do sleep .02; done\n"
             "kill -CONT $v; kill -INT $s; wait $s; echo status $?; grep -c 'is stopped' err; kill $v");

    ck_assert_str_eq(r->out, "status 0\n1\n");
}
END_TEST

/* What is lost with a VM is said; one that ends as it should loses nothing. */
START_TEST(test_endings_killed_vm_is_told_by_trace)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "end() { $ERLVM -noinput -eval 'F = fun F() -> receive after 1 -> spawn(fun() -> ok end), F() end end, spawn(F), "
        "fun G() -> receive after 10 -> case prim_file:read_file_info(\"go\") of {ok, _} -> halt(); _ -> G() end end end().' & v=$!\n"
        "runs $v erlvm; $ERLSNOOP trace -o r -p $v processes > t 2> err & s=$!; attached $s\n"
        "until $ERLSNOOP report r --json 2> /dev/null | grep -q process__spawn; do sleep .05; done; $1; wait $s; echo status $?\n"
        "grep -c 'was killed: what its threads did' err; }\n"
        "end 'eval kill -9 $v'; end 'touch go'");

    ck_assert_msg(!strcmp(r->out, "status 0\n1\nstatus 0\n0\n"), "%s%s", r->out, r->err);
}
END_TEST

/* A command that ends before it is a machine (a flag that it refuses) is said to have ended with its status, and no more. */
START_TEST(test_endings_refused_command_was_not_killed)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run("$ERLSNOOP %s -- $ERLVM +S 99999", _i ? "trace -o r spawns" : "spawns");

    ck_assert_int_eq(support_lines(r->err, "ended with status 1"), 1);
    ck_assert_ptr_eq(strstr(r->err, "was killed"), NULL);
}
END_TEST

/* An interval that took longer says so, and its rates are of the time it took. */
START_TEST(test_endings_rates_are_of_the_time_that_passed)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        FLOOD "$ERLSNOOP spawns --json -p $v 1 2 > out & s=$!; await out; kill -STOP $s; sleep 3; kill -CONT $s; wait $s\n"
              "sed -n '/\"spawns\"/d; /spawns_by/d; /lifetimes/d; p' out; grep '\"spawns\"' out | tail -1");
    long took_ns = support_number(r->out, "\"type\":\"interval\"", "took_ns"), births = support_number(r->out, "\"spawns\"", "births");
    long rate = support_number(r->out, "\"spawns\"", "births_per_s");
    double expected = (double)births / ((double)took_ns / 1e9);

    ck_assert_int_eq(support_number(r->out, "\"type\":\"interval\"", "asked_ns"), 1000000000);
    ck_assert_int_ge(took_ns, 2000000000);
    ck_assert_msg((double)rate > 0.99 * expected && (double)rate < 1.01 * expected, "%ld is not %f: %s", rate, expected, r->out);
}
END_TEST

/* What a file had stays when the disk is full, and nothing is left beside it. */
START_TEST(test_endings_full_disk_leaves_the_old_file)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "unshare -m true || exit 77\n"
        "erlc $SOURCE/tests/tools/stacks_target.erl && erl -noshell -pa . -s stacks_target shares > vm.log 2>&1 &\n"
        "comes ready; for q in $(pgrep -g 0 beam.smp); do p=$q; done; export p; mkdir d\n"
        "unshare -m bash -c 'mount -t tmpfs -o size=8k none d; echo old > d/a.svg; ln -s a.svg d/link\n"
        "for how in \"--svg d/link\" \"--pprof d/a.svg\" \"--svg d/b\" \"--svg none/a\"; do head -c 9999 /dev/zero > d/fill 2> /dev/null\n"
        "$ERLSNOOP stacks -p $p $how .3 1 > /dev/null; echo $?; rm d/fill; done\n"
        "ls d; cat d/a.svg; $ERLSNOOP stacks -p $p --folded .3 1 > /dev/full; echo $?'; kill $p");

    if (r->status == 77) {
        printf("SKIP %s: no name space may be made here\n", __func__);
        return;
    }
    ck_assert_msg(!strcmp(r->out, "1\n1\n1\n1\na.svg\nlink\nold\n1\n"), "%s%s", r->out, r->err);
    ck_assert_msg(support_lines(r->err, "No space left on device") == 3, "%s", r->err);
    ck_assert_msg(support_lines(r->err, "it is a link") == 1, "%s", r->err);
    ck_assert_msg(support_lines(r->err, "erlsnoop: cannot write") == 5, "%s", r->err);
    ck_assert_msg(strstr(r->err, "cannot read") == NULL, "%s", r->err);
}
END_TEST

Suite *endings_suite(void)
{
    Suite *suite = suite_create("endings");
    TCase *live = tcase_create("live");

    tcase_set_timeout(live, 40);
    tcase_add_test(live, test_endings_one_signal_ends_a_flood_that_is_read_slowly);
    tcase_add_test(live, test_endings_one_signal_ends_a_flood_of_samples);
    tcase_add_test(live, test_endings_signals_that_come_together_are_one);
    tcase_add_test(live, test_endings_second_signal_says_what_is_lost);
    tcase_add_test(live, test_endings_nohup_is_respected);
    tcase_add_test(live, test_endings_table_begins_below_the_ctrl_c);
    tcase_add_test(live, test_endings_kill_leaves_nothing_behind);
    tcase_add_test(live, test_endings_foreign_proc_is_named);
    tcase_add_test(live, test_endings_stopped_vm_is_told);
    tcase_add_test(live, test_endings_stopped_vm_is_told_by_trace);
    tcase_add_test(live, test_endings_killed_vm_is_told_by_trace);
    tcase_add_loop_test(live, test_endings_refused_command_was_not_killed, 0, 2);
    tcase_add_test(live, test_endings_rates_are_of_the_time_that_passed);
    tcase_add_test(live, test_endings_full_disk_leaves_the_old_file);
    suite_add_tcase(suite, live);
    return suite;
}
