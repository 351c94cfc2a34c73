/* SPDX-License-Identifier: Apache-2.0 */
/* erlsnoop stacks on the stock Erlang of this machine and on erlvm, held against what stacks_target did. Counts and
 * shares, no times. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

/* Starts the stock emulator on a function of stacks_target; $p is its process. */
#define START(function)                                                                            \
    "erlc $SOURCE/tests/tools/stacks_target.erl && erl -noshell -pa . -s stacks_target " function " > vm.log 2>&1 &\n" \
    "comes ready\n"                                                                                                    \
    "for q in $(pgrep -g 0 beam.smp); do p=$q; done\n"

/* The same for erlvm. */
#define START_OURS(function)                                                                       \
    "erlc $SOURCE/tests/tools/stacks_target.erl; $ERLVM -noshell -pa . -s stacks_target " function " > vm.log 2>&1 & p=$!\n" \
    "comes ready\n"

/* The same, with machine code. */
#define START_MACHINE(function)                                                                    \
    "erlc $SOURCE/tests/tools/stacks_target.erl; $ERLVM +JIT all -noshell -pa . -s stacks_target " function " > vm.log 2>&1 & p=$!\n" \
    "comes ready\n"

/* In a test that runs once for each of the two, or for each of the three. */
enum { EMULATORS = 2, MODES = 3 };
#define START_MODE(function) ((const char *const[MODES]){START(function), START_OURS(function), START_MACHINE(function)}[_i])
#define START_EITHER(function) ((const char *const[EMULATORS]){START(function), START_OURS(function)}[_i % EMULATORS])

/* Runs erlsnoop with these options while the target acts, until it is done. */
#define WATCH_ACTS(options)                                                                        \
    "$ERLSNOOP stacks -p $p " options " > out & e=$!\n"                                            \
    "attached $e; touch go\n"                                                                      \
    "comes done\n"                                                                                 \
    "kill -INT $e; wait $e; s=$?; cat out; kill $p; exit $s"

/* Number at `key` of the function's row, rounded down; -1 without. */
static long share_of(const struct support_run *r, const char *function, const char *key)
{
    char mark[128];

    snprintf(mark, sizeof mark, "\"function\":\"stacks_target:%s\"", function);
    return support_number(r->out, mark, key);
}

START_TEST(test_stacks_tells_shares_of_time)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run("%s $ERLSNOOP stacks -p $p --proc shares --hz 797 --json 1 1; s=$?; kill $p; exit $s", START_MODE("shares"));

    ck_assert_int_eq(r->status, 0);
    ck_assert_int_gt(support_number(r->out, "\"type\":\"stacks\"", "samples"), 50);
    ck_assert_int_ge(share_of(r, "work/2", "self_percent"), 75);
    ck_assert_int_ge(share_of(r, "spend/0", "total_percent"), 90);
    ck_assert_int_ge(share_of(r, "half/1", "total_percent"), 35);
    ck_assert_int_le(share_of(r, "half/1", "total_percent"), 65);
    ck_assert_int_ge(share_of(r, "third/1", "total_percent"), 18);
    ck_assert_int_le(share_of(r, "third/1", "total_percent"), 42);
    ck_assert_int_ge(share_of(r, "fifth/1", "total_percent"), 9);
    ck_assert_int_le(share_of(r, "fifth/1", "total_percent"), 31);
    ck_assert_msg(support_lines(r->out, "\"lost\"") == 0, "%s", strstr(r->out, "\"lost\""));
}
END_TEST

START_TEST(test_stacks_names_frames_and_lines)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run("%s $ERLSNOOP stacks -p $p --proc stacks_target:spend/0 --by none --lines --hz 397 --folded .5 1 "
                                              "| sed 's/ [0-9]*$//'; kill $p", START_MODE("shares"));

    ck_assert_ptr_ne(strstr(r->out, "stacks_target:spend/0 (stacks_target.erl:12);stacks_target:half/1 (stacks_target.erl:15);stacks_target:work/2"), NULL);
    r = support_run("%s $ERLSNOOP stacks -p $p --proc shares --hz 397 --json 2 1; kill $p", START_MODE("shares"));
    ck_assert_int_ge(support_number(r->out, "\"type\":\"stacks\"", "frames"), 60);
    ck_assert_int_le(support_number(r->out, "\"type\":\"stacks\"", "unnamed") * 100, support_number(r->out, "\"type\":\"stacks\"", "frames") * 3);
}
END_TEST

/* What reads folded stacks reads nothing else: what watching cost stands on standard error. */
START_TEST(test_stacks_folded_are_nothing_but_stacks)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "%s $ERLSNOOP stacks -p $p --by none --hz 4999 --folded .5 2 > out 2> said; kill $p\n"
        "grep -c ' [0-9][0-9]*$' out; echo rest; grep -v ' [0-9][0-9]*$' out; echo told; cat said", START_EITHER("shares"));

    ck_assert_int_gt(atol(r->out), 0);
    ck_assert_msg(strstr(r->out, "\nrest\ntold\n") != NULL, "%s", r->out);
}
END_TEST

START_TEST(test_stacks_counts_events_where_they_happen)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run("%s" WATCH_ACTS("--event spawn --proc actor --json"),
                                              START_EITHER("events"));

    ck_assert_int_eq(r->status, 0);
    ck_assert_int_eq(support_number(r->out, "\"type\":\"stacks\"", "samples"), 23);
    ck_assert_int_eq(support_number(r->out, "stacks_target:make/1;erlang:spawn/1\"", "count"), 22);
    r = support_run("%s" WATCH_ACTS("--event send --proc actor --by none --folded"), START_EITHER("events"));
    ck_assert_ptr_ne(strstr(r->out, "stacks_target:act/0;stacks_target:tell/2 1009\n"), NULL);
}
END_TEST

START_TEST(test_stacks_sums_time_off_the_cpu)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run("%s" WATCH_ACTS("--off-cpu --proc actor --json"), START_EITHER("events"));
    const char *at;

    ck_assert_int_eq(support_number(r->out, "stacks_target:act/0;stacks_target:nap/1\"", "count"), 7);
    ck_assert_int_ge(support_number(r->out, "stacks_target:act/0;stacks_target:nap/1\"", "off_ns"), 20000000);
    ck_assert_int_eq(support_lines(r->out, "normal_exit"), 0);
    r = support_run("%s" WATCH_ACTS("--off-cpu --proc actor --folded"), START_EITHER("events"));
    at = strstr(r->out, "stacks_target:nap/1 ");
    ck_assert_ptr_ne(at, NULL);
    ck_assert_int_ge(atol(at + strlen("stacks_target:nap/1 ")), 20000000);
}
END_TEST

/* Who is put off its scheduler and could run on is told from who sleeps. */
START_TEST(test_stacks_tell_runnable_from_waiting)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "%s $ERLSNOOP stacks -p $p --off-cpu --folded 1 1 > out; kill $p\n"
        "ms() { grep -E \"$1\" out | awk '{ n += $NF } END { printf \"%%d\\n\", n / 1000000 }'; }\n"
        "ms '^first;stacks_target:spin/0;[(]runnable[)] '; ms '^second;stacks_target:spin/0;[(]runnable[)] '; ms '^sleeper;stacks_target:nap/1 '\n"
        "grep -cE '%s|spin/0 ' out", START_EITHER("contend"),
        _i % EMULATORS ? "^sleeper;.*runnable" : "^sleeper;.*runnable.*;"); /* a stock Erlang tells that it was woken */
    long first, second, sleeper, wrong;

    ck_assert_int_eq(sscanf(r->out, "%ld %ld %ld %ld", &first, &second, &sleeper, &wrong), 4);
    ck_assert_msg(first > 200 && second > 200 && sleeper > 200 && wrong == 0, "%s", r->out); /* half a second each, or more */
}
END_TEST

/*
 * Of 200 processes that take turns on one scheduler each message waits: its receiver tells in ns how long all did
 * together, from when they were sent.
 */
START_TEST(test_stacks_tell_how_long_who_was_woken_waits_for_a_scheduler)
{
    SUPPORT_BPF();
    SUPPORT_EXPORTS();
    const struct support_run *r = support_run(
        "cat > turns.erl << 'END'\n-module(turns).\n-export([main/0, spin/1, take/2]).\n"
        "main() ->\n"
        "    register(taker, Taker = spawn(?MODULE, take, [self(), 0])), ok = file:write_file(\"ready\", \"1\"), wait(),\n"
        "    erlang:system_flag(schedulers_online, 1), [spawn(?MODULE, spin, [0]) || _ <- lists:seq(1, 200)],\n"
        "    [begin timer:sleep(20), Taker ! erlang:monotonic_time(nanosecond) end || _ <- lists:seq(1, 101)],\n"
        "    Taker ! tell, receive Ns -> ok end,\n"
        "    ok = file:write_file(\"done\", [\"{\\\"waited_ns\\\":\", integer_to_list(Ns), \"}\\n\"]), receive never -> ok end.\n"
        "take(Main, Sum) ->\n"
        "    receive tell -> Main ! Sum; Sent -> take(Main, Sum + erlang:monotonic_time(nanosecond) - Sent) end.\n"
        "spin(N) -> spin((N * 7 + 1) rem 100003).\n"
        "wait() -> case filelib:is_file(\"go\") of true -> ok; false -> timer:sleep(20), wait() end.\n"
        "END\n"
        "erlc turns.erl; erl -noinput -s turns main & p=$!; await ready\n"
        "$ERLSNOOP stacks -p $p --off-cpu --proc taker --folded --budget off > out & e=$!; attached $e; touch go\n"
        "await done; kill -INT $e; wait $e; kill $p; cat done\n"
        "awk '/[(]runnable[)]/ { n += $NF } END { printf \"{\\\"told_ns\\\":%%.0f}\\n\", n }' out");
    int64_t waited = support_number(r->out, "waited_ns", "waited_ns"), told = support_number(r->out, "told_ns", "told_ns");

    ck_assert_int_gt(waited, 101 * 1000000);
    ck_assert_msg(told > waited - waited / 10 && told <= waited, "%s", r->out);
}
END_TEST

/* Of a process that stands 40 functions deep and calls natives that store nothing of it before, each stack has all of
 * these. */
START_TEST(test_stacks_are_whole)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run("%s $ERLSNOOP stacks -p $p --proc plunge --by none --hz 1499 --folded 1 1 > out; kill $p\n"
                                              "whole='^(stacks_target:plunge/1;stacks_target:plunged/1;){20}stacks_target:churn/3'\n"
                                              "count() { awk '{ n += $NF } END { printf \"%%d\\n\", n / 1000000 }'; }\n"
                                              "grep -E \"$whole\" out | count; grep -vE \"$whole\" out | count; grep -vE \"$whole\" out | head -5",
                                              START_MODE("plunges"));
    char *end;
    long whole = strtol(r->out, &end, 10), cut = strtol(end, &end, 10);

    ck_assert_msg(whole > 66, "%s", r->out); /* milliseconds: a hundred samples */
    ck_assert_msg(cut * 50 <= whole, "%s", r->out);
}
END_TEST

/*
 * One that goes from function to function, and has what machine code leaves to the loop in each: it stands nowhere else
 * than it can. Each function is on the stack below the ones that it calls. Of an erlvm: what a stock Erlang does in code
 * that all functions share is told alone.
 */
START_TEST(test_stacks_are_those_that_can_be)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "%s $ERLSNOOP stacks -p $p --proc chain --by none --hz 4999 --folded 2 1 > out; kill $p\n"
        "can='^stacks_target:links/1(;stacks_target:first/1(;stacks_target:second/1(;stacks_target:third_of/1(;maps:to_list/1(;maps:to_list_internal/1)?)?)?)?)?'\n"
        "native='(;[^:;]*|;__[a-z]*san[a-z]*::[^;]*|;(erlang|erts_internal|maps):[a-z_]+/[0-9])*'\n" /* sanitizers' too */
        "count() { awk '{ n += $NF } END { printf \"%%d\\n\", n / 200000 }'; }\n"
        "grep -E \"$can$native [0-9]+\\$\" out | count; grep -vE \"$can$native [0-9]+\\$\" out | count; grep -vE \"$can$native [0-9]+\\$\" out | head -5\n"
        "grep -c third_of out", START_MODE("chain"));
    char *end;
    long can = strtol(r->out, &end, 10), cannot = strtol(end, &end, 10);

    ck_assert_msg(can > 1000, "%s", r->out);
    ck_assert_msg(cannot * 500 <= can, "%s", r->out);
}
END_TEST

/* Code goes and other code takes its place, twenty times: each send is told of the function that did it. */
START_TEST(test_stacks_tell_code_that_took_the_place_of_other)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "for m in here there; do printf '%%s\\n' \"-module($m). -export([tell/2]).\" 'tell(_, 0) -> ok; tell(P, N) -> P ! N, tell(P, N - 1).' > $m.erl; erlc $m.erl; done\n"
        "%s" WATCH_ACTS("--event send --proc swaps --by none --json"), START_EITHER("swaps"));

    ck_assert_int_eq(r->status, 0);
    ck_assert_int_eq(support_lines(r->out, "0x"), 0);
    ck_assert_int_eq(support_sum(r->out, ";here:tell/2\"", "count"), 20 * 101);
    ck_assert_int_eq(support_sum(r->out, ";there:tell/2\"", "count"), 20 * 103);
}
END_TEST

START_TEST(test_stacks_writes_files)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        START("shares") "echo old > a.svg; $ERLSNOOP stacks -p $p --hz 199 --svg a.svg --pprof a.pb.gz .5 1 > /dev/null; s=$?; kill $p\n"
                        "python3 -c 'import xml.dom.minidom as m; m.parse(\"a.svg\")' && gzip -t a.pb.gz && grep -q \">On the CPU: process $p, [0-9]* samples in \" a.svg && grep -c 'data-n=\"stacks_target:work/2\"' a.svg; exit $s");

    ck_assert_int_eq(r->status, 0);
    ck_assert_int_ge(atoi(r->out), 1);
}
END_TEST

/*
 * The profile for pprof and the folded stacks of one run: the same names from the root on, the same nanoseconds; opened
 * with the reader of Protocol Buffers that tests/stock has, which is not the tools'. Folded stacks without lines have a
 * function that calls itself once; the profile, which has lines, has each of its frames.
 */
START_TEST(test_stacks_pprof_holds_what_is_folded)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "%s cat > sums.py <<'END'\nimport collections, gzip, itertools, sys\n"
        "sys.path.insert(0, sys.argv[1] + '/tests/stock')\nfrom perf_map import fields, numbers\n"
        "p = fields(gzip.open('a.pb.gz').read())\ntext = [s.decode() for s in p[6]]\n"
        "function = {f[1][0]: text[f[2][0]] for f in map(fields, p[5])}\n"
        "name = {l[1][0]: function[fields(l[4][0])[1][0]] for l in map(fields, p[4])}\n"
        "told, folded, samples = collections.Counter(), collections.Counter(), 0\n"
        "for s in map(fields, p[2]):\n"
        "    count, value = numbers(s[2]); samples += count\n"
        "    told[';'.join(n for n, _ in itertools.groupby(name[l] for l in reversed(list(numbers(s[1])))))] += value\n"
        "for line in open('folded'):\n"
        "    stack, value = line.rsplit(' ', 1); folded[stack] += int(value)\n"
        "print('same' if told == folded else set(told.items()) ^ set(folded.items()), samples > 0)\n"
        "END\n$ERLSNOOP stacks -p $p --hz 797 --pprof a.pb.gz --folded .5 1 > folded; kill $p\n"
        "python3 sums.py $SOURCE; grep -c 'stacks_target:half/1;stacks_target:work/2 ' folded", START_EITHER("shares"));

    ck_assert_msg(!strcmp(r->out, "same True\n1\n"), "%s%s", r->out, r->err);
}
END_TEST

/* A full disk, a file that may not grow: said in a line; a pipe is no file to empty. */
START_TEST(test_stacks_files_that_cannot_be_written)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        START("shares") "$ERLSNOOP stacks -p $p --svg /dev/full 0.5 1 > /dev/null; echo $?\n"
                        "(ulimit -f 1; $ERLSNOOP stacks -p $p --svg a.svg 0.5 1 > /dev/null; echo $?)\n"
                        "$ERLSNOOP stacks -p $p --svg /dev/stdout 0.5 1 | grep '</svg>'; kill $p");

    ck_assert_msg(!strcmp(r->out, "1\n1\n</svg>\n"), "%s%s", r->out, r->err);
    ck_assert_int_eq(support_lines(r->err, "cannot write"), 2);
}
END_TEST

/* Of whom nothing was seen it is told whether he is there. */
START_TEST(test_stacks_tells_who_is_not_there)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "%s for w in nobody kernel_refc nobody:is/0 '<0.9999.0>'; do $ERLSNOOP stacks -p $p --event spawn --proc \"$w\" 0.3 1 > /dev/null || s=1; done; kill $p; exit $s", START_EITHER("shares"));

    ck_assert_int_eq(r->status, 0);
    ck_assert_int_eq(support_lines(r->err, "no process is registered as 'nobody'"), 1);
    ck_assert_int_eq(support_lines(r->err, "no stack of 'kernel_refc' was seen: it is there, and did none of these"), 1);
    ck_assert_int_eq(support_lines(r->err, "began with 'nobody:is/0' was seen: there is none, or it did none of these"), 1);
    ck_assert_int_eq(support_lines(r->err, "no stack of process <0.9999.0> was seen: it is gone, or did none of these"), 1);
}
END_TEST

/* Frames are left out of the middle of a stack that is long, not its process. */
START_TEST(test_stacks_shows_the_process_of_a_long_stack)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run("(%s" WATCH_ACTS("--event spawn --proc deep") ") | grep -A 2 'more)' | sed 's/^ *//'", START_EITHER("deep"));

    ck_assert_msg(!strcmp(r->out, "(33 more)\ndeep\n\n") || !strcmp(r->out, "(33 more)\ndeep\n"), "%s%s", r->out, r->err);
}
END_TEST

START_TEST(test_stacks_table_fits_80_columns)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(START("shares") "terminal 80 \"$ERLSNOOP stacks -p $p --hz 199 .5 1\"; s=$?; kill $p; exit $s");

    ck_assert_int_eq(r->status, 0);
    ck_assert_int_le(support_width(r->out), 80);
    ck_assert_ptr_ne(strstr(r->out, "SELF %"), NULL);
}
END_TEST

START_TEST(test_stacks_refuses_what_makes_no_sense)
{
    static const char *const lines[] = {"--off-cpu --hz 7", "--event nothing", "--event spawn --off-cpu", "--off-cpu --event spawn", "--hz 0", "--proc '<1.2>'", "--by sun", "--folded --json"};

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        const struct support_run *r = support_run("$ERLSNOOP stacks %s", lines[i]);

        ck_assert_int_eq(r->status, 2);
        ck_assert_int_eq(support_lines(r->err, "erlsnoop:"), 1);
    }
}
END_TEST

START_TEST(test_stacks_says_what_it_cannot)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run("$ERLSNOOP stacks --svg /nowhere/a.svg -- $EMITTER process__spawn=1");

    ck_assert_int_eq(r->status, 1);
    ck_assert_int_eq(support_lines(r->err, "/nowhere/a.svg"), 1);
    r = support_run("$ERLSNOOP stacks -- $EMITTER process__spawn=1");
    ck_assert_int_eq(r->status, 1);
    ck_assert_ptr_ne(strstr(r->err, "erlsnoop:"), NULL);
}
END_TEST

/* Starts the emulator, with this option too, on a loop of built-in functions. */
#define START_NATIVES(option)                                                                      \
    "erlc $SOURCE/tests/tools/stacks_target.erl && erl " option " -noshell -pa . -s stacks_target natives > vm.log 2>&1 &\n" \
    "comes ready\n"                                                                                                          \
    "for q in $(pgrep -g 0 beam.smp); do p=$q; done\n"

/* Only what the loop calls is in the stacks: with and without frame pointers, which the perf map brings. */
START_TEST(test_stacks_names_nothing_that_was_not_called)
{
    SUPPORT_BPF();
    static const char *const starts[] = {START_NATIVES(""), START_NATIVES("+JPperf map"), START_OURS("natives"),
                                         START_MACHINE("natives")};
    const struct support_run *r = support_run(
        "%s $ERLSNOOP stacks -p $p --proc natives --by none --hz 1997 --folded .5 1 > out; kill $p; rm -f /tmp/perf-$p.map\n"
        "grep -c 'stacks_target:use/1' out; tr ' ;' '\\n\\n' < out | grep -E '^[^ ]+:[^ ]+/[0-9]+$' | "
        "grep -vE '^(stacks_target|lists|maps|erlang|binary):' | sort | uniq -c; echo; grep -c 'shared' out", starts[_i]);
    char *end;

    ck_assert_int_gt(strtol(r->out, &end, 10), 3);
    ck_assert_msg(!strncmp(end, "\n\n", 2), "%s", r->out); /* nothing between */
    ck_assert(_i >= 2 ? !atoi(end) : atoi(end) > 0); /* code that all functions share is a matter of the JIT */
}
END_TEST

START_TEST(test_stacks_names_are_those_of_the_perf_map)
{
    SUPPORT_BPF();
    static const char *const modes[] = {"--hz 499", "--event send", "--event gc", "--off-cpu"};
    const struct support_run *r = support_run("%s $ERLSNOOP stacks -p $p %s --pprof a.pb.gz 1 1 > /dev/null\n"
                                              "python3 $SOURCE/tests/stock/perf_map.py /tmp/perf-$p.map a.pb.gz /proc/$p/maps; s=$?\n"
                                              "kill $p; rm -f /tmp/perf-$p.map; exit $s",
                                              START_NATIVES("+JPperf map"), modes[_i]);

    ck_assert_msg(r->status == 0, "%s", r->out);
}
END_TEST

START_TEST(test_stacks_tell_what_proc_lib_does)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run("%s $ERLSNOOP stacks -p $p --off-cpu --by mfa --folded .5 1 | sed 's/;.*//' | sort -u\n"
                                              "$ERLSNOOP stacks -p $p --off-cpu --proc stacks_target:init/1 --by none --folded .5 1 | sed 's/ [0-9]*$//'; kill $p", START_EITHER("servers"));

    ck_assert_msg(strstr(r->out, "stacks_target:'-servers/0-fun-0-'/0\nstacks_target:init/1\nstacks_target:nap/1\n") != NULL, "%s", r->out);
    ck_assert_ptr_ne(strstr(r->out, "\nproc_lib:init_p_do_apply/3;gen_server:loop/"), NULL); /* of another arity in OTP 29 */
}
END_TEST

/*
 * The node ends by itself in the middle: what was seen has its names. Off the CPU it is last seen where it waits for its own end,
 * when nobody may be left to read the names of that one stack.
 */
START_TEST(test_stacks_have_names_when_the_vm_has_ended)
{
    SUPPORT_BPF();
    static const char *const modes[] = {"--event send", "--off-cpu"};
    const struct support_run *r = support_run("%s $ERLSNOOP stacks -p $p --proc actor %s --json > out & e=$!\n"
                                              "attached $e; touch go; wait $e; s=$?; cat out; exit $s", START_EITHER("crash"), modes[_i / EMULATORS]);

    ck_assert_int_eq(r->status, 0);
    ck_assert_int_gt(support_number(r->out, "\"type\":\"stacks\"", "frames"), 0);
    if (_i / EMULATORS) {
        ck_assert_msg(support_lines(r->out, "stacks_target:nap/1") > 0, "%s", r->out);
        ck_assert_msg(support_number(r->out, "\"type\":\"stacks\"", "unnamed") * 3 <= support_number(r->out, "\"type\":\"stacks\"", "frames"), "%s", r->out);
    } else {
        ck_assert_msg(support_number(r->out, "\"type\":\"stacks\"", "unnamed") == 0, "%s", r->out);
        ck_assert_int_ge(support_number(r->out, "\"type\":\"stacks\"", "samples"), 211);
        ck_assert_int_eq(support_number(r->out, "stacks_target:deep/1;stacks_target:tell/2\"", "count"), 211);
    }
}
END_TEST

Suite *stacks_suite(void)
{
    Suite *suite = suite_create("stacks");
    TCase *live = tcase_create("live");

    tcase_set_timeout(live, 120);
    tcase_add_loop_test(live, test_stacks_tells_shares_of_time, 0, MODES);
    tcase_add_loop_test(live, test_stacks_tell_runnable_from_waiting, 0, EMULATORS);
    tcase_add_test(live, test_stacks_tell_how_long_who_was_woken_waits_for_a_scheduler);
    tcase_add_loop_test(live, test_stacks_names_frames_and_lines, 0, MODES);
    tcase_add_loop_test(live, test_stacks_folded_are_nothing_but_stacks, 0, EMULATORS);
    tcase_add_loop_test(live, test_stacks_counts_events_where_they_happen, 0, EMULATORS);
    tcase_add_loop_test(live, test_stacks_sums_time_off_the_cpu, 0, EMULATORS);
    tcase_add_loop_test(live, test_stacks_are_whole, 0, MODES);
    tcase_add_loop_test(live, test_stacks_are_those_that_can_be, 1, MODES);
    tcase_add_loop_test(live, test_stacks_tell_code_that_took_the_place_of_other, 0, EMULATORS);
    tcase_add_test(live, test_stacks_writes_files);
    tcase_add_loop_test(live, test_stacks_pprof_holds_what_is_folded, 0, EMULATORS);
    tcase_add_test(live, test_stacks_files_that_cannot_be_written);
    tcase_add_test(live, test_stacks_table_fits_80_columns);
    tcase_add_loop_test(live, test_stacks_tells_who_is_not_there, 0, EMULATORS);
    tcase_add_loop_test(live, test_stacks_shows_the_process_of_a_long_stack, 0, EMULATORS);
    tcase_add_loop_test(live, test_stacks_names_nothing_that_was_not_called, 0, 4);
    tcase_add_loop_test(live, test_stacks_names_are_those_of_the_perf_map, 0, 4);
    tcase_add_loop_test(live, test_stacks_tell_what_proc_lib_does, 0, EMULATORS);
    tcase_add_loop_test(live, test_stacks_have_names_when_the_vm_has_ended, 0, 2 * EMULATORS);
    tcase_add_test(live, test_stacks_refuses_what_makes_no_sense);
    tcase_add_test(live, test_stacks_says_what_it_cannot);
    suite_add_tcase(suite, live);
    return suite;
}
