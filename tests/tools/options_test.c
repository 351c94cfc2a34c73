/* SPDX-License-Identifier: Apache-2.0 */
/* Command lines: exit status, and one line that says what is wrong. */
#include <stdio.h>
#include <string.h>

#include "support.h"
#include "view/views.h"

static const struct {
    const char *line, *says;
    int status;
} bad_lines[] = {
    {"", "no command", 2},
    {"nonsense", "no command 'nonsense'", 2},
    {"top", "no command 'top'; did you mean 'ps'?", 2},
    {"mslat", "did you mean 'msglat'?", 2},
    {"help mslat", "did you mean 'msglat'?", 2},
    {"watch spwans,gc -a", "watch cannot ask 'spwans'; did you mean 'spawns'?", 2},
    {"serve -a --views spwans", "did you mean 'spawns'?", 2},
    {"help gc more", "unexpected argument 'more'", 2},
    {"--version more", "unexpected argument 'more'", 2},
    {"report f gc 0", "interval must be seconds from 0.01 to 86400, not '0'", 2},
    {"stacks -a --svg ''", "cannot write ''", 1},
    {"hlep", "did you mean 'help'?", 2},
    {"version", "did you mean '--version'?", 2},
    {"diag", "did you mean 'diagnose'?", 2},
    {"procs", "did you mean 'ps'?", 2},
    {"crash", "did you mean 'exits'?", 2},
    {"-p 1", "no command stands beside '-p'", 2},
    {"-p abc spawns", "no Erlang VM 'abc' runs here", 1},
    {"1 2 spawns -p abc", "no Erlang VM 'abc' runs here", 1},
    {"--json -p gc spawns 1", "no Erlang VM 'gc' runs here", 1},
    {"--json --evnets spawns", "unknown option '--evnets'; did you mean '--events'?", 2},
    {"stacks -F 99", "unknown option '-F'; did you mean '--hz'?", 2},
    {"spawns -F 99", "unknown option '-F'; did you mean 'erlsnoop stacks --hz'?", 2},
    {"spawns --pid 1", "unknown option '--pid'; did you mean '-p'?", 2},
    {"spawns -by pid", "unknown option '-by'; did you mean '--by'?", 2},
    {"spawns -Tx", "unknown option '-Tx'", 2},
    {"spawns --interval 1", "are words: erlsnoop spawns 10 1", 2},
    {"spawns shop", "not 'shop'; the VM of that name is meant with -p shop", 2},
    {"trace -o f -a mesages", "'mesages'; did you mean 'messages'?", 2},
    {"trace -o f -a message-snd", "'message-snd'; did you mean 'message__send'?", 2},
    {"report f mslat", "cannot read 'f'", 1},
    {"report 1 f", "a result each interval is one of views", 2},
    {"report spawns", "a file is missing", 2},
    {"report 1 spawns nofile", "cannot read 'nofile'", 1},
    {"spawns --evnets", "unknown option '--evnets'; did you mean '--events'?", 2},
    {"spawns --bogus", "unknown option '--bogus'", 2},
    {"spawns -x", "unknown option '-x'", 2},
    {"spawns -p", "value is missing", 2},
    {"spawns -p abc", "no Erlang VM 'abc' runs here; erlsnoop list shows those that do", 1},
    {"doctor -p abc", "no Erlang VM 'abc'", 1},
    {"list -p abc", "no Erlang VM 'abc'", 1},
    {"spawns -p -1", "'-1'", 2},
    {"spawns -p 0", "from 1", 2},
    {"spawns -p 99999999999999999999", "must be a number", 2},
    {"spawns -a -p 1", "choose one", 2},
    {"spawns -a -- true", "choose one", 2},
    {"spawns --", "the command to start is missing after --; see erlsnoop spawns -h", 2},
    {"list -- true", "erlsnoop list starts no command: nothing may stand after --", 2},
    {"spawns -a 0", "interval", 2},
    {"spawns -a 1x", "interval", 2},
    {"spawns -a nan", "interval", 2},
    {"spawns -a 1 0", "count", 2},
    {"spawns -a 1 2 3", "unexpected argument '3'", 2},
    {"list -a", "unknown option '-a'", 2},
    {"list 1", "unexpected argument '1'", 2},
    {"list --events", "unknown option", 2},
    {"doctor --events", "unknown option", 2},
    {"doctor -p $$", "no Erlang VM", 1},
    {"msglat -a --slower fast", "--slower must be a time with its unit", 2},
    {"efile -a --slower -1", "--slower must be a time with its unit", 2},
    {"msglat -a --slower 5", "--slower must be a time with its unit", 2},
    {"msglat -a --slower 2h", "--slower must be a time with its unit", 2},
    {"msglat -a --slower 5ms", "--slower needs --events", 2},
    {"efile -a --slower 5ms", "--slower needs --events", 2},
    {"spawns -a --source pages", "--source must be batches or notes, not 'pages'", 2},
    {"watch", "it can ask spawns msglat", 2},
    {"watch -a", "it can ask spawns msglat", 2},
    {"watch -a spawns gc nonsense", "interval must be seconds from 0.01 to 86400, not 'nonsense'", 2},
    {"watch -p abc spawns gc,sched 1", "no Erlang VM 'abc'", 1},
    {"watch -p abc spawns,gc 1", "no Erlang VM 'abc'", 1},
    {"watch -p gc spawns 1", "no Erlang VM 'gc'", 1},
    {"watch spawns sched,gc gc -a 1 1", "gc is named twice", 2},
    {"watch spawns,nonsense -a", "cannot ask 'nonsense'; it can ask spawns msglat mailboxes gc", 2},
    {"watch spawns, -a", "cannot ask ''", 2},
    {"watch owners -a", "cannot ask 'owners'", 2},
    {"watch spawns,spawns -a", "spawns is named twice", 2},
    {"watch spawns,exits -a --slower 5ms", "--slower is for msglat, mailboxes, gc", 2},
    {"watch spawns -a --top 3", "--top is for requests, efile; none of these is asked", 2},
    {"spawns -a --slower 5ms", "--slower is for msglat", 2},
    {"messages -a --events", "--events is for spawns, msglat", 2},
    {"watch messages,inet -a --events", "--events is for spawns", 2},
    {"report f messages --events", "--events is for spawns", 2},
    {"watch spawns -a --slower", "value is missing", 2},
    {"trace -o f -a --max-time 0s", "--max-time must be 100ms or longer, not '0s'", 2},
    {"trace -o f -a --max-time 1ns", "--max-time must be 100ms or longer, not '1ns'", 2},
    {"trace -o f -a --ring 0ms", "--ring must be 100ms or longer, not '0ms'", 2},
    {"trace -o f -a 5 1", "trace has no interval: --max-time 5s --files 1 ends a recording", 2},
    {"trace -o f -a msglat,nonsense", "no probe, family of probes or view is called 'nonsense'", 2},
    {"trace -o f -a msglat,", "no probe, family of probes or view is called ''", 2},
    {"trace -o f -a 0", "no probe, family of probes or view is called '0'", 2},
    {"--version > /dev/full", "cannot write results: No space left", 1},
    {"--help > /dev/full", "cannot write results: No space left", 1},
    {"spawns -h > /dev/full", "cannot write results: No space left", 1},
    {"$'spawns\\e[2J'", "no command 'spawns\\x1b[2J'", 2},
};

START_TEST(test_options_bad_line_is_status_2_and_one_line)
{
    const struct support_run *r = support_run("$ERLSNOOP %s", bad_lines[_i].line);

    ck_assert_int_eq(r->status, bad_lines[_i].status);
    ck_assert_msg(strstr(r->err, bad_lines[_i].says) != NULL, "%s", r->err);
    ck_assert_int_eq(support_lines(r->err, "erlsnoop:"), 1);
    ck_assert_int_eq(support_lines(r->err, ""), support_lines(r->err, "erlsnoop:"));
    ck_assert_str_eq(r->out, "");
}
END_TEST

static const struct {
    const char *script, *says;
} bad_targets[] = {
    {"$ERLSNOOP spawns -p $$", "is no Erlang VM"},
    {"$ERLSNOOP spawns -p 2", "process 2"},
    {"$ERLSNOOP spawns -p 4194303", "no process with pid 4194303"},
    {"$ERLSNOOP spawns -- ./nothing", "No such file"},
    {"$ERLSNOOP spawns -- no-such-command-anywhere", "No such file"},
    {"$ERLSNOOP spawns -- /etc/passwd", "Permission denied"},
    {"$ERLSNOOP spawns -- /bin/true", "started no Erlang VM"},
    {"echo '#!/nowhere/sh' > s; chmod +x s; $ERLSNOOP spawns -- ./s", "cannot run"},
    {"$ERLSNOOP list -p $$", "is no Erlang VM"},
};

START_TEST(test_options_bad_target_is_status_1_and_one_line)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run("%s", bad_targets[_i].script);

    ck_assert_int_eq(r->status, 1);
    ck_assert_msg(strstr(r->err, bad_targets[_i].says) != NULL, "%s", r->err);
    ck_assert_int_eq(support_lines(r->err, "erlsnoop:"), 1);
}
END_TEST

START_TEST(test_options_missing_right_says_what_to_do)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "cp $ERLSNOOP snoop; chmod 755 snoop\n"
        "setpriv --reuid=65534 --regid=65534 --clear-groups ./snoop spawns -a");

    ck_assert_int_eq(r->status, 1);
    ck_assert_msg(strstr(r->err, "not permitted; run as root") != NULL, "%s", r->err);
    ck_assert_int_eq(support_lines(r->err, "erlsnoop:"), 1);
}
END_TEST

/*
 * `as CAPS CMD`: for the command, as somebody who is not root and has these rights alone. $o and $p: an erlvm and a
 * stock Erlang of somebody else, each with a birth every now and then.
 */
#define SOMEBODY_ELSE \
    "cp $ERLSNOOP snoop; cp $ERLVM vm; chmod 755 . snoop vm\n" \
    "printf '%%s\\n' '-module(quiet).' '-export([main/0, child/0]).' 'child() -> ok.' " \
    "'main() -> spawn(quiet, child, []), receive after 10 -> main() end.' > quiet.erl; erlc quiet.erl\n" \
    "chmod 644 *.beam\n" \
    "as() { setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all,$1 --ambient-caps=-all,$1 " \
    "--bounding-set=-all,$1 \"${@:2}\"; }\n" \
    "other() { HOME=/tmp setpriv --reuid=1234 --regid=1234 --clear-groups \"$@\" > /dev/null 2>&1; }\n" \
    "other ./vm -quick -pa . -s quiet main & o=$!; other erl +S 1 -noinput -pa . -s quiet main & p=$!\n" \
    "o=$(until pgrep -P $o; do sleep .1; done); p=$(until pgrep -P $p; do sleep .1; done)\n" \
    "runs $o vm; runs $p beam.smp\n" \
    "trap 'kill $o $p' EXIT\n"

START_TEST(test_options_three_rights_are_enough_for_the_vms_of_others)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        SOMEBODY_ELSE "for v in $o $p; do for s in batches notes; do [ $v$s = ${p}batches ] || "
        "as +bpf,+perfmon,+sys_ptrace ./snoop spawns --source $s --json -p $v 1 2; done; done\n"
        "as +bpf,+perfmon,+sys_ptrace ./snoop doctor --json");

    ck_assert_msg(support_lines(r->out, "\"mfa\":\"quiet:child/0\"") >= 3, "%s%s", r->out, r->err);
    ck_assert_int_eq(support_lines(r->out, "\"ok\":\"no\""), 0);
}
END_TEST

/* Which of them is missing is said. */
START_TEST(test_options_missing_right_over_the_vm_of_another_is_named)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        SOMEBODY_ELSE "as +bpf,+perfmon ./snoop spawns -p $p; as +bpf,+perfmon ./snoop doctor --json; "
        "as +bpf,+sys_ptrace ./snoop doctor --json");

    ck_assert_msg(strstr(r->err, "CAP_SYS_PTRACE is missing") != NULL, "%s", r->err);
    ck_assert_int_eq(support_lines(r->out, "\"check\":\"see other processes\",\"ok\":\"no\""), 1);
    ck_assert_int_eq(support_lines(r->out, "\"check\":\"perf_event_paranoid\",\"ok\":\"yes\""), 1);
}
END_TEST

START_TEST(test_options_machine_without_sys_says_so)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "unshare -m true || exit 77\n"
        "unshare -m bash -c 'umount -l /sys; $ERLSNOOP spawns -- $EMITTER process__spawn=1; s=$?; $ERLSNOOP doctor; "
        "exit $s'");

    if (r->status == 77) {
        printf("SKIP %s: no mount namespace here\n", __func__);
        return;
    }
    ck_assert_int_eq(r->status, 1);
    ck_assert_msg(strstr(r->err, "/sys is not mounted: mount -t sysfs sysfs /sys\n") != NULL, "%s", r->err);
    ck_assert_int_eq(support_lines(r->out, "no  /sys is not mounted"), 3);
}
END_TEST

/* Where the kernel's uprobe event source is hidden, and links of many places are not asked for. */
START_TEST(test_options_kernel_without_uprobes_says_so)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "unshare -m true || exit 77\n"
        "unshare -m bash -c 'mount -t tmpfs none /sys/bus/event_source/devices || exit 77\n"
        "ERLSNOOP_PERF_EVENTS=1 $ERLSNOOP spawns -- $EMITTER process__spawn=1; s=$?; $ERLSNOOP doctor; exit $s'");

    if (r->status == 77) {
        printf("SKIP %s: no mount namespace here\n", __func__);
        return;
    }
    ck_assert_int_eq(r->status, 1);
    ck_assert_msg(strstr(r->err, "this kernel has no uprobes") != NULL, "%s", r->err);
    ck_assert_int_eq(support_lines(r->err, "erlsnoop:"), 2);
    ck_assert(strstr(r->err, "of the checks say no, and what to do") != NULL);
    ck_assert(strstr(r->out, "needs CONFIG_UPROBE_EVENTS") != NULL);
}
END_TEST

/* The way of kernels before 6.6 counts the same. */
START_TEST(test_options_perf_events_count_the_same)
{
    SUPPORT_BPF();
    const struct support_run *r =
        support_run("ERLSNOOP_PERF_EVENTS=1 $ERLSNOOP spawns --json -- $EMITTER process__spawn=23 process__exit=17");

    ck_assert_int_eq(support_number(r->out, "\"type\":\"spawns\"", "births"), 23);
    ck_assert_int_eq(support_number(r->out, "\"type\":\"spawns\"", "deaths"), 17);
}
END_TEST

static const char *const help_lines[] = {
#define CMD(name, text) #name " -h",
#include "cmd/cmds.def"
    "-h", "--help", "doctor --help", "help gc", "help help"};

/* Which views have an option is told where it is refused, in the order of bpf/views.def. */
START_TEST(test_options_refused_tell_who_has_them)
{
    static const char slower[] = ""
#define FILTER(view, filter, unit, text) #view ", "
#include "../../bpf/views.def"
        ;
    static const enum view_id tell[] = {
#define EVENT(view, event, json) VIEW_##view,
#include "../../bpf/views.def"
    };
    char events[VIEWS_NAMES_BYTES] = "", said[2 * VIEWS_NAMES_BYTES + 128];
    const struct support_run *r;

    for (size_t i = 0; i < sizeof tell / sizeof *tell; i++)
        if (!i || tell[i] != tell[i - 1])
            snprintf(events + strlen(events), sizeof events - strlen(events), "%s, ", views[tell[i]].name);
    snprintf(said, sizeof said, "--slower is for %.*s; none of these is asked", (int)strlen(slower) - 2, slower);
    r = support_run("$ERLSNOOP watch spawns,exits -a --slower 5ms");
    ck_assert_msg(strstr(r->err, said) != NULL, "%s: %s", said, r->err);
    r = support_run("$ERLSNOOP spawns -a --by pid");
    ck_assert_msg(r->status == 2 && strstr(r->err, "--by is for msglat, mailboxes, gc, memory, sched, exits, messages, ") != NULL, "%s", r->err);
    r = support_run("$ERLSNOOP sched -a --by call");
    ck_assert_int_eq(r->status, 2);
    snprintf(said, sizeof said, "--events is for %.*s; none of these is asked", (int)strlen(events) - 2, events);
    r = support_run("$ERLSNOOP messages -a --events");
    ck_assert_msg(strstr(r->err, said) != NULL, "%s: %s", said, r->err);
}
END_TEST

START_TEST(test_options_help_is_status_0)
{
    const struct support_run *r = support_run("$ERLSNOOP %s", help_lines[_i]);

    ck_assert_int_eq(r->status, 0);
    ck_assert(strstr(r->out, "Usage: erlsnoop") == r->out);
    ck_assert_int_le(support_width(r->out), 80);
    ck_assert_str_eq(r->err, "");
}
END_TEST

/* At a terminal a message is broken between words; the status is as ever. */
START_TEST(test_options_messages_fit_a_terminal)
{
    const struct support_run *r = support_run("terminal 80 \"$ERLSNOOP serve --listen localhost:80\"; echo; terminal 200 \"$ERLSNOOP serve --listen localhost:80\"");

    ck_assert_str_eq(r->out, "erlsnoop: --listen must be ADDRESS:PORT, such as 127.0.0.1:9464 or [::1]:9464,\n  or a port, not 'localhost:80'\n\n"
                             "erlsnoop: --listen must be ADDRESS:PORT, such as 127.0.0.1:9464 or [::1]:9464, "
                             "or a port, not 'localhost:80'\n");
}
END_TEST

/* All that its views have, where none is named yet; one that several have is told once. */
START_TEST(test_options_watch_help_has_those_of_views)
{
    const struct support_run *r = support_run("$ERLSNOOP watch -h | grep -A3 slower; $ERLSNOOP watch msglat -h | grep slower\n"
                                              "$ERLSNOOP watch spawns -h | grep -c slower\n"
                                              "$ERLSNOOP messages -h | grep -c 'print each event'; $ERLSNOOP watch inet,gc -h | grep -c 'print each event'");

    ck_assert_str_eq(r->out, "  --slower TIME  with --events: only what took at least TIME (5ms)\n"
                             "  --top N        of the slowest operations so many (5); 0: none\n"
                             "  --by owner|pid|mfa\n                 what has a row of its own (owner)\n"
                             "  --slower TIME  with --events: only waits of at least TIME (5ms)\n0\n0\n1\n");
}
END_TEST

START_TEST(test_options_version_is_that_of_erlvm)
{
    const struct support_run *r = support_run("$ERLSNOOP --version | head -1; $ERLVM --version");
    char snoop[32] = "", vm[32] = "";

    ck_assert_int_eq(sscanf(r->out, "erlsnoop %31s erlvm %31s", snoop, vm), 2);
    ck_assert_str_eq(snoop, vm);
}
END_TEST

START_TEST(test_options_erlvm_output_that_cannot_be_written_is_status_1)
{
    static const char *const lines[] = {"--help", "--version"};
    const struct support_run *r = support_run("$ERLVM %s > /dev/full", lines[_i]);

    ck_assert_int_eq(r->status, 1);
    ck_assert_str_eq(r->err, "erlvm: cannot write: No space left on device\n");
}
END_TEST

static const char *const hungry[] = {"spawns -- $EMITTER process__spawn=1", "trace -o r -- $EMITTER process__spawn=1", "list",
                                     "doctor"};

START_TEST(test_options_too_few_open_files_says_what_to_do)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run("ulimit -n 20; $ERLSNOOP %s", hungry[_i]);

    ck_assert_int_eq(r->status, 1);
    ck_assert_msg(strstr(r->err, "raise ulimit -n") != NULL, "%s", r->err);
    ck_assert_int_eq(support_lines(r->err, ""), 1);
}
END_TEST

/* A line a row: its arguments, and whether somebody at a terminal is told, or who reads what is no terminal. */
static const struct {
    const char *line;
    int told;
} terminal_lines[] = {
    {"spawns -- $EMITTER process__spawn=1", 1},
    {"spawns --events -- $EMITTER process__spawn=1", 1},
    {"spawns 0.1 2 -- $EMITTER -s 1 process__spawn=1", 0},
    {"spawns 0.1 2 -- $EMITTER -s 1 process__spawn=1 | cat", 1},
    {"spawns -- $EMITTER process__spawn=1 2> err", 0},
};

START_TEST(test_options_terminal_without_interval_is_told_how_to_end)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run("script -qec \"$ERLSNOOP %s\" /dev/null", terminal_lines[_i].line);
    const char *watching = strstr(r->out, "watching '"), *head = strstr(r->out, "BIRTHS");

    ck_assert_ptr_ne(head, NULL);
    ck_assert_int_eq(support_lines(r->out, "Ctrl-C ends"), terminal_lines[_i].told);
    ck_assert(!terminal_lines[_i].told || watching < head);
}
END_TEST

/* The byte comes when every probe is on, and the descriptor is closed then: what is done after that is counted. */
START_TEST(test_options_ready_fd_tells_when_every_probe_is_on)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "$EMITTER -w go -s 60 process__spawn=23 > counts & p=$!; runs $p emitter; mkfifo ready\n"
        "$ERLSNOOP spawns --json --ready-fd 7 -p $p 7> ready > told & e=$!; wc -c < ready; touch go; await counts\n"
        "kill -INT $e; wait $e; kill $p; cat told");

    ck_assert_msg(!strncmp(r->out, "1\n", 2), "%s%s", r->out, r->err);
    ck_assert_int_eq(support_number(r->out, "\"type\":\"spawns\"", "births"), 23);
    r = support_run("$ERLSNOOP trace -o r --ready-fd 7 spawns -- $EMITTER process__spawn=23 7> ready > told; "
                    "wc -c < ready");
    ck_assert_msg(!strcmp(r->out, "1\n"), "%s%s", r->out, r->err);
}
END_TEST

Suite *options_suite(void)
{
    Suite *suite = suite_create("options");
    TCase *lines = tcase_create("lines"), *rights = tcase_create("rights");

    tcase_set_timeout(lines, 30);
    tcase_add_loop_test(lines, test_options_bad_line_is_status_2_and_one_line, 0,
                        sizeof bad_lines / sizeof *bad_lines);
    tcase_add_loop_test(lines, test_options_bad_target_is_status_1_and_one_line, 0,
                        sizeof bad_targets / sizeof *bad_targets);
    tcase_add_test(lines, test_options_ready_fd_tells_when_every_probe_is_on);
    tcase_add_test(lines, test_options_missing_right_says_what_to_do);
    tcase_add_test(lines, test_options_kernel_without_uprobes_says_so);
    tcase_add_test(lines, test_options_perf_events_count_the_same);
    tcase_add_test(lines, test_options_refused_tell_who_has_them);
    tcase_add_loop_test(lines, test_options_help_is_status_0, 0, sizeof help_lines / sizeof *help_lines);
    tcase_add_test(lines, test_options_version_is_that_of_erlvm);
    tcase_add_test(lines, test_options_messages_fit_a_terminal);
    tcase_add_test(lines, test_options_watch_help_has_those_of_views);
    tcase_add_loop_test(lines, test_options_erlvm_output_that_cannot_be_written_is_status_1, 0, 2);
    tcase_add_loop_test(lines, test_options_too_few_open_files_says_what_to_do, 0, sizeof hungry / sizeof *hungry);
    tcase_add_loop_test(lines, test_options_terminal_without_interval_is_told_how_to_end, 0,
                        sizeof terminal_lines / sizeof *terminal_lines);
    suite_add_tcase(suite, lines);
    tcase_set_timeout(rights, 60);
    tcase_add_test(rights, test_options_three_rights_are_enough_for_the_vms_of_others);
    tcase_add_test(rights, test_options_missing_right_over_the_vm_of_another_is_named);
    tcase_add_test(rights, test_options_machine_without_sys_says_so);
    suite_add_tcase(suite, rights);
    return suite;
}
