/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every script of bpftrace/ and every one-liner of ONELINERS.md, attached to a target that fires a known number of
 * probes: each must print the figure expected. One-liners are read from the file; one without an expectation fails.
 */
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "support.h"

enum { GROUP = 6, MAX_ONELINERS = 64, ROUNDS = 7 };

/* What the target fires in each of its ROUNDS. */
#define FIRES                                                                                                        \
    "'process__spawn=3|<0.1%d.0>|a:f/1' 'process__spawn=1|<0.9%d.0>|b:g/2' 'process__exit=2|<0.1%d.0>|normal' "      \
    "'process__exit=1|<0.9%d.0>|killed' 'process__exit_signal=1|<0.5.0>|<0.6.0>|boom' "                              \
    "'message__send=5|<0.5.0>|<0.6.0>|8' 'message__send=3|<0.7.0>|<0.8.0>|40' 'message__queued=2|<0.6.0>|8|%d' "     \
    "'process__scheduled=1|<0.6.0>|c:h/3' 'gc_minor__start=1|<0.6.0>' 'gc_minor__end=1|<0.6.0>|100' "                \
    "'gc_major__start=1|<0.6.0>' 'gc_major__end=1|<0.6.0>|1000' 'process__heap_grow=1|<0.6.0>|233|%d00' "            \
    "'bif__entry=2|<0.6.0>|erlang:md5/1' 'bif__return=1|<0.6.0>|erlang:md5/1' "                                      \
    "'global__function__entry=4|<0.6.0>|lists:map/2|3' 'local__function__entry=1|<0.6.0>|m:l/1|%d' "                 \
    "'process__unscheduled=1|<0.6.0>' 'efile_drv__entry=3|1|%d|tag|12|/a|/b' 'aio_pool__add=1|#Port<0.1>|%d' "       \
    "'efile_drv__int_entry=3|1|%d|12' 'efile_drv__int_return=3|1|%d|12' 'efile_drv__return=3|1|%d|tag|12|0|2' "          \
    "'user_trace__s1=1|told' 'user_trace__i4s4=1|<0.6.0>|tag|%d' 'trace=1|<0.6.0>|send|[]|message|<0.7.0>' "  \
    "'port__open=1|<0.6.0>|cat|#Port<0.5>' 'port__command=2|<0.6.0>|#Port<0.5>|cat|command' 'driver__output=2|<0.6.0>|#Port<0.5>|cat|23' " \
    "'port__busy=1|#Port<0.5>' 'port__not_busy=1|#Port<0.5>' 'port__exit=1|<0.6.0>|#Port<0.5>|cat|normal' "  \
    "'nif__entry=1|<0.6.0>|n:f/1' 'nif__return=2|<0.6.0>|n:f/1' 'port__open=1|<0.6.0>|tcp_inet|#Port<0.9>' " \
    "'port__control=3|<0.6.0>|#Port<0.9>|tcp_inet|0x03f1a303' 'driver__outputv=2|<0.6.0>|#Port<0.9>|tcp_inet|100' " \
    "'driver__return=2|tcp_inet|#Port<0.9>|outputv|2000' 'dist__monitor=1|a@h|nodeup|b@h|visible|[]' " \
    "'dist__outputv=2|a@h|#Port<0.9>|b@h|100' 'dist__input=1|a@h|#Port<0.9>|b@h|50' " \
    "'dist__port_busy=1|a@h|#Port<0.9>|b@h|<0.6.0>' 'process__port_unblocked=1|<0.6.0>|#Port<0.9>'"

/*
 * How a figure is taken from what was printed: lines that match (LINES), numbers of histograms in all (HIST), numbers of the
 * second column, or first when there is one only, in all (SUM).
 */
struct expectation {
    const char *title, *how, *pattern;
    long figure;
};

static const struct expectation oneliners[] = {
    {"Births of processes, by initial call", "LINES", "^@\\[(a:f/1\\]: 21|b:g/2\\]: 7)$", 2},
    {"Deaths, by reason", "LINES", "^@\\[(normal\\]: 14|killed\\]: 7)$", 2},
    {"Who ends abnormally, as it happens", "LINES", "^<0\\.9[0-6]\\.0> killed$", ROUNDS},
    {"Births a second", "SUM", "^[0-9]+$", 4 * ROUNDS},
    {"Lifetimes in microseconds", "HIST", "", 3 * ROUNDS},
    {"Sizes of messages sent, in words", "LINES", "^\\[(8, 16\\) +35|32, 64\\) +21) ", 2},
    {"Who sends the most messages", "LINES", "^@\\[<0\\.(5\\.0>\\]: 35|7\\.0>\\]: 21)$", 2},
    {"The busiest pairs of sender and receiver", "LINES", "^@\\[<0\\.(5\\.0>, <0.6.0>\\]: 35|7\\.0>, <0.8.0>\\]: 21)$", 2},
    {"Lengths of mailboxes as messages arrive", "HIST", "", 2 * ROUNDS},
    {"The longest mailbox of each receiver", "LINES", "^@\\[<0\\.6\\.0>\\]: 13$", 1},
    {"Where processes resume when they are scheduled", "LINES", "^@\\[c:h/3\\]: 7$", 1},
    {"Time slices in microseconds", "HIST", "", ROUNDS},
    {"Pauses for young and full collections, in microseconds", "HIST", "", 2 * ROUNDS},
    {"Words that collections reclaim, by process", "LINES", "^@\\[<0\\.6\\.0>\\]: 7700$", 1},
    {"Heaps that grow, to how many words", "LINES", "^@\\[<0\\.6\\.0>\\]: 600$", 1},
    {"Built-in functions called, by name", "LINES", "^@\\[erlang:md5/1\\]: 14$", 1},
    {"Time in each built-in function, in nanoseconds", "LINES", "^@ns\\[erlang:md5/1\\]: [1-9][0-9]*$", 1},
    {"External calls, by function", "LINES", "^@\\[lists:map/2\\]: 28$", 1},
    {"Depth of the stack at calls within a module", "HIST", "", ROUNDS},
    {"File operations, by command number", "LINES", "^@\\[12\\]: 21$", 1},
    {"File operations that fail, with their errno", "LINES", "^@\\[12, 2\\]: 21$", 1},
    {"Jobs waiting for the async threads", "HIST", "", ROUNDS},
    {"Texts that Erlang code tells by user_trace_s1 of the module dyntrace, as they come", "LINES", "^told$", ROUNDS},
    {"First integers that Erlang code tells by p of the module dyntrace (of pn, the probe is user_trace__n and a number), in all",
     "LINES", "^@\\[<0\\.6\\.0>, tag\\]: 21$", 1},
    {"What a trace with the tracer {dyntrace, State} tells, as it happens", "LINES",
     "^<0\\.6\\.0> send message <0\\.7\\.0>$", ROUNDS},
};

static const struct expectation scripts[] = {
    {"spawn-exit.bt", "LINES", " (spawn +<0\\.|exit +<0\\.|exit signal <0\\.5\\.0> +-> <0\\.6\\.0> boom$)", 8 * ROUNDS},
    {"spawn-exit-counts.bt", "SUM", "^[0-9]+ +[0-9]+ +[0-9]+$", 4 * ROUNDS},
    {"spawn-exit-counts.bt", "LINES", "^@by_(mfa\\[a:f/1\\]: 21|mfa\\[b:g/2\\]: 7|reason\\[normal\\]: 14|reason\\[killed\\]: 7)$", 4},
    {"msg-sched.bt", "HIST", "", ROUNDS},
    {"msg-sched.bt", "LINES", "^@messages: 56$", 1},
    {"efile.bt", "LINES", "^efile_drv (enter .* 12 \\| /a /b$|return .*errno 2$)|^async worker .*(begins|ends)$", 12 * ROUNDS},
    {"efile.bt", "HIST", "", 6 * ROUNDS},
    {"ports.bt", "LINES", "^(open|close) +#Port<0[.]5> +cat +(by <0[.]6[.]0>|of <0[.]6[.]0>: normal)$", 2 * ROUNDS},
    {"ports.bt", "HIST", "", ROUNDS},
    {"nifs.bt", "LINES", "^@calls\\[n:f/1\\]: 7$", 1},
    {"nifs.bt", "HIST", "", ROUNDS},
    {"user.bt", "LINES", "^(<0[.]6[.]0> tag tag: [0-6] [0-9]+ [0-9]+ [0-9]+|text: told)$", 2 * ROUNDS},
    {"user.bt", "LINES", "^@by_tag\\[tag\\]: 7$", 1},
    {"inet.bt", "LINES", "^open  tcp_inet #Port<0[.]9> by <0[.]6[.]0>$", ROUNDS},
    {"inet.bt", "LINES", "^@(controls\\[<0[.]6[.]0>, 3\\]: 21|bytes.*: 1400)$", 2},
    {"drivers.bt", "LINES", "^@(calls\\[tcp_inet, outputv\\]: 14|ports_ns\\[#Port<0[.]9>, tcp_inet\\]: 28000)$", 2},
    {"dist.bt", "LINES", "^nodeup b@h visible \\[\\]$", ROUNDS},
    {"dist.bt", "LINES", "^@(out\\[b@h\\]: 14|out_bytes\\[b@h\\]: 1400|in\\[b@h\\]: 7|in_bytes\\[b@h\\]: 350|suspends\\[b@h\\]: 7)$", 5},
    {"dist.bt", "HIST", "", ROUNDS},
    {"drivers.bt", "HIST", "", 2 * ROUNDS},
    {"ports.bt", "LINES", "^@(commands.*, cat, command\\]: 14|bytes.*, cat\\]: 322)$", 2},
};

struct oneliner {
    char title[160], command[640];
};

/* Titles end with a colon; a command stands below, indented. */
static int read_oneliners(struct oneliner *out)
{
    FILE *file = fopen("bpftrace/ONELINERS.md", "r");
    char line[1024], title[160] = "";
    int n = 0;

    ck_assert_msg(file != NULL, "no bpftrace/ONELINERS.md");
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        if (!strncmp(line, "    bpftrace ", 13) && n < MAX_ONELINERS) {
            snprintf(out[n].title, sizeof out[n].title, "%.*s", (int)strcspn(title, ":"), title);
            snprintf(out[n++].command, sizeof out->command, "%.639s", line + 4);
        } else if (line[0] && line[0] != ' ') {
            snprintf(title, sizeof title, "%.159s", line);
        }
    }
    fclose(file);
    return n;
}

static const struct expectation *find_expectation(const char *title)
{
    for (size_t i = 0; i < sizeof oneliners / sizeof *oneliners; i++)
        if (!strcmp(oneliners[i].title, title))
            return &oneliners[i];
    ck_abort_msg("no expectation for the one-liner \"%s\"", title);
    return NULL;
}

/*
 * bpftrace 0.27 asks tracefs for the kernel's functions, whatever it is to watch, and runs nothing where that is not mounted: it is,
 * for the process that runs a test and what that starts.
 */
static void require_tracefs(void)
{
    static const char at[] = "/sys/kernel/tracing";

    if (access("/sys/kernel/tracing/available_events", F_OK) && !unshare(CLONE_NEWNS) && !mount("", "/", NULL, MS_REC | MS_PRIVATE, NULL))
        mount("tracefs", at, "tracefs", 0, NULL); /* fails: bpftrace says what it lacks */
}

/* `watch COMMAND` for each, then `fire`; `figure FILE HOW PATTERN` prints one number. */
static const char prologue[] =
    "n=0 pids=()\n"
    "watch() { n=$((n+1)); eval \"exec ${1//-p PID/-p $p}\" > $n.out 2> $n.err & pids+=($!); }\n"
    "attached() { read -r call rest < /proc/$1/syscall 2>/dev/null; [ \"$call\" = 232 ] || [ \"$call\" = 281 ]; }\n"
    "fire() { for w in \"${pids[@]}\"; do for i in {1..400}; do attached $w && break; sleep .05; done; done\n"
    "  touch go; wait $p; wait; }\n"
    "figure() { case $2 in\n"
    "  LINES) grep -cE -- \"$3\" $1 ;;\n"
    "  HIST) awk -F'|' 'NF > 2 && /^[[(]/ { n = split($1, a, \" \"); s += a[n] } END { print s + 0 }' $1 ;;\n"
    "  SUM) grep -E -- \"$3\" $1 | awk '{ s += NF > 1 ? $2 : $1 } END { print s + 0 }' ;; esac; }\n";

/* Appends to the script of size SCRIPT_BYTES. */
enum { SCRIPT_BYTES = 8000 };

static __attribute__((format(printf, 2, 3))) void append(char *script, const char *format, ...)
{
    size_t used = strlen(script);
    va_list args;

    va_start(args, format);
    ck_assert_int_lt(vsnprintf(script + used, SCRIPT_BYTES - used, format, args), (int)(SCRIPT_BYTES - used));
    va_end(args);
}

static void open_script(char *script)
{
    script[0] = '\0';
    append(script, "%s$EMITTER -r %d -s 2 -w go %s > /dev/null & p=$!; runs $p emitter\n", prologue, ROUNDS, FIRES);
}

START_TEST(test_bpftrace_oneliners_print_what_is_expected)
{
    static struct oneliner all[MAX_ONELINERS];
    char script[SCRIPT_BYTES];
    int n = read_oneliners(all), first = _i * GROUP, last = first + GROUP < n ? first + GROUP : n;
    const struct support_run *r;
    const char *at;

    SUPPORT_BPF();
    if (first >= n)
        return;
    require_tracefs();
    open_script(script);
    for (int i = first; i < last; i++)
        append(script, "read -r -d '' c << 'EOC'\n%s\nEOC\nwatch \"$c\"\n", all[i].command);
    append(script, "fire\n");
    for (int i = first; i < last; i++) {
        const struct expectation *e = find_expectation(all[i].title);

        append(script, "figure %d.out %s '%s'\n", i - first + 1, e->how, e->pattern);
    }
    append(script, "head -20 [0-9]*.out >&2\n");
    r = support_run("%s", script);
    at = r->out;
    for (int i = first; i < last; i++, at += strcspn(at, "\n"), at += *at == '\n') {
        long wanted = find_expectation(all[i].title)->figure;

        ck_assert_msg(atol(at) == wanted, "%s: %ld, not %ld\n%.1500s", all[i].title, atol(at), wanted, r->err);
    }
}
END_TEST

START_TEST(test_bpftrace_scripts_print_what_is_expected)
{
    const size_t nscripts = sizeof scripts / sizeof *scripts;
    char script[SCRIPT_BYTES], *root = realpath("bpftrace", NULL);
    const char *at;

    SUPPORT_BPF();
    require_tracefs();
    open_script(script);
    for (size_t i = 0; i < nscripts; i++)
        append(script, "watch 'bpftrace -p PID %s/%s'\n", root, scripts[i].title);
    append(script, "fire\n");
    for (size_t i = 0; i < nscripts; i++)
        append(script, "figure %zu.out %s '%s'\n", i + 1, scripts[i].how, scripts[i].pattern);
    append(script, "head -20 [0-9]*.out >&2\n");

    const struct support_run *r = support_run("%s", script);

    at = r->out;
    for (size_t i = 0; i < nscripts; i++, at += strcspn(at, "\n"), at += *at == '\n')
        ck_assert_msg(atol(at) == scripts[i].figure, "%s: %ld, not %ld\n%.1500s", scripts[i].title, atol(at), scripts[i].figure,
                      r->err);
    free(root);
}
END_TEST

/* The tag that a process put goes with its request to the file server, which asks the pool of threads. */
START_TEST(test_bpftrace_tells_a_rename_with_its_tag)
{
    char *root = realpath("bpftrace", NULL);
    const struct support_run *r;

    SUPPORT_BPF();
    r = support_run("%s$(dirname $ERLVM)/erl -noshell -eval 'W = fun W() -> case prim_file:read_file_info(\"go\") of {ok, _} -> ok; _ -> timer:sleep(50), W() end end,\n"
                    "W(), dyntrace:put_tag(<<\"some-user-tag\">>), {error, enoent} = file:rename(\"old-name\", \"new-name\"), halt().' & p=$!\n"
                    "runs $p erlvm; watch 'bpftrace -p PID %s/efile.bt'; fire\n"
                    "grep -E 'enter .*user tag some-user-tag . command 12 . (/.*/)?old-name (/.*/)?new-name$' 1.out | wc -l\n"
                    "grep -E 'async worker .*command 12 . (begins|ends)$' 1.out | wc -l\n"
                    "grep -E 'return .*user tag some-user-tag . command 12 . errno 2$' 1.out | wc -l; head -c 900 1.out >&2\n",
                    prologue, root);
    ck_assert_msg(!strcmp(r->out, "1\n2\n1\n"), "%s%s", r->out, r->err);
    free(root);
}
END_TEST

START_TEST(test_bpftrace_every_file_is_tested)
{
    const struct support_run *r = support_run("ls %s/bpftrace/*.bt | sed 's,.*/,,'", getenv("PWD"));
    static struct oneliner all[MAX_ONELINERS];
    int n = read_oneliners(all);

    ck_assert_int_eq(support_lines(r->out, ".bt"), 10);
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++)
        ck_assert_msg(strstr(r->out, scripts[i].title) != NULL, "no bpftrace/%s", scripts[i].title);
    ck_assert_int_ge(n, 15);
    ck_assert_int_eq(n, sizeof oneliners / sizeof *oneliners);
    for (int i = 0; i < n; i++)
        find_expectation(all[i].title);
}
END_TEST

Suite *bpftrace_suite(void)
{
    Suite *suite = suite_create("bpftrace");
    TCase *live = tcase_create("live");

    tcase_set_timeout(live, 120);
    tcase_add_test(live, test_bpftrace_every_file_is_tested);
    tcase_add_loop_test(live, test_bpftrace_oneliners_print_what_is_expected, 0, (MAX_ONELINERS + GROUP - 1) / GROUP);
    tcase_add_test(live, test_bpftrace_scripts_print_what_is_expected);
    tcase_add_test(live, test_bpftrace_tells_a_rename_with_its_tag);
    suite_add_tcase(suite, live);
    return suite;
}
