/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all views have in common: their output, held against tests/tools/golden/<view>.txt and .json, and the rows of bpf/views.def against
 * what they name. In the files what differs from run to run is a letter: R a rate, T a time or how long something took, V the VM. Lines of
 * histograms (in JSON their slots) are left out, and of the slowest of efile the opens, of which it is chance whether one is among them; the
 * slowest are sorted, as their order is one of times.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/plan.h"
#include "support.h"
#include "view/views.h"

static const struct {
    const char *view, *options, *fires;
} runs[VIEW_COUNT] = {
#define WORKLOAD(view, options, fires) [VIEW_##view] = {#view, options, fires},
#include "workloads.def"
};

/* A row of workloads.def for each view but helpers. */
START_TEST(test_views_have_a_workload)
{
    for (size_t v = 0; v < VIEW_COUNT; v++)
        ck_assert_msg(!views[v].text == !runs[v].view, "%s", views[v].name);
}
END_TEST

/* UPDATE_GOLDEN=1 writes the files anew. */
START_TEST(test_views_print_what_the_golden_files_have)
{
    if (!runs[_i].view)
        return;
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        /* how long each took is not told: their order is by chance */
        "slowest_sorted() { awk -v rows=\"$1\" '$0 ~ rows { print | \"sort\"; next } { close(\"sort\"); print; fflush() }'; }\n"
        "ask() { rm -f go; $EMITTER -w go \"${fires[@]}\" > counts & p=$!; runs $p emitter; $ERLSNOOP %s %s $1 -p $p > told 2> said & e=$!; attached $e\n"
        "touch go; wait $e; }; fires=(%s)\n"
        "ask; sed -E \"/ [.][.] /d; /^ +[.]{3}$/d; /^[0-9:.]+ .* -     OPEN/d; s,[0-9]{2}:[0-9]{2}:[0-9]{2}[.][0-9]+,T,; s,(^| +)[0-9.]+ (ns|us|ms|s)\\\\b,  T,g; s, +[0-9]+[.][0-9]( |$),  R\\1,g; "
        "s, +$p( +[<a-z{(]), V\\\\1,\" told | slowest_sorted '^T +T ' > now.txt\n"
        "ask --json; sed -E '/\"efile_slowest\".*OPEN/d; s,\"(time|began)\":\"[^\"]*\",\"\\1\":T,g; s,(_per_s\":)[0-9.]+,\\1R,g; "
        "s,((_|\")[a-z0-9_]+_ns\":)[0-9]+,\\1T,g; s,\"vm\":[0-9]+,\"vm\":V,; s,\"slots\":.*,\"slots\":[]},' told | slowest_sorted '_slowest\"' > now.json\n"
        "cd $SOURCE/tests/tools/golden; v=%s; [ -z \"$UPDATE_GOLDEN\" ] || cp $OLDPWD/now.txt $v.txt; [ -z \"$UPDATE_GOLDEN\" ] || cp $OLDPWD/now.json $v.json\n"
        "diff $v.txt $OLDPWD/now.txt && diff $v.json $OLDPWD/now.json",
        runs[_i].view, runs[_i].options, runs[_i].fires, runs[_i].view);

    ck_assert_str_eq(r->out, "");
    ck_assert_int_eq(r->status, 0);
}
END_TEST

/* Each probe is attached to once, by the program that hands its events to both. */
START_TEST(test_views_watch_asks_two_with_one_link_a_probe)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "$EMITTER -w go 'message__send=23||<0.%%d.0>' 'process__spawn=19|<0.%%d.0>' 'process__scheduled=17|<0.%%d.0>' "
        "'process__exit=13|<0.%%d.0>' & p=$!; runs $p emitter\n"
        "$ERLSNOOP watch spawns,msglat --json -p $p & e=$!; attached $e\n"
        "echo \"{\\\"links\\\":$(ls -l /proc/$e/fd | grep -c bpf_link)}\"; touch go; wait $e");

    ck_assert_int_eq(r->status, 0);
    ck_assert_int_eq(support_number(r->out, "\"type\":\"spawns\"", "births"), 19);
    ck_assert_int_eq(support_number(r->out, "\"type\":\"spawns\"", "deaths"), 13);
    ck_assert_int_eq(support_number(r->out, "\"type\":\"msglat\"", "messages"), 23);
    ck_assert_int_eq(support_number(r->out, "\"type\":\"msglat\"", "wakeups"), 17);
    ck_assert_int_eq(support_number(r->out, "\"links\"", "links"), 6);
}
END_TEST

/* ---- what a live VM does */

static const struct {
    enum view_id view;
    const char *functions;
    bool ours; /* no erl serves the view */
} works[] = {
#define WORK(view, functions) {VIEW_##view, functions, false},
#define OUR_WORK(view, functions) {VIEW_##view, functions, true},
#include "workloads.def"
};
enum { NWORKS = sizeof works / sizeof *works };

static const struct {
    enum view_id view;
    const char *table, *key, *member;
    long n;
    bool hidden, ours; /* ours: no erl tells it */
} counts[] = {
#define COUNTS(view, table, key, member, n) {VIEW_##view, table, key, member, n, false, false},
#define HIDDEN_COUNTS(view, table, key, member, n) {VIEW_##view, table, key, member, n, true, false},
#define OUR_COUNTS(view, table, key, member, n) {VIEW_##view, table, key, member, n, false, true},
#include "workloads.def"
};

/* The next line of the table from `line` on, its length in `n`; NULL: there is none. */
static const char *next_row(const char *line, const char *table, size_t *n)
{
    char type[128];

    snprintf(type, sizeof type, "\"type\":\"%s\",", table);
    for (; *line; line += *n + (line[*n] == '\n')) {
        *n = strcspn(line, "\n");
        if (memmem(line, *n, type, strlen(type)))
            return line;
    }
    return NULL;
}

/* The line of the table whose last member is the key, or the first where key is NULL; NULL: there is none. */
static const char *find_row(const char *json, const char *table, const char *key)
{
    char last[128];
    size_t n, bytes = (size_t)snprintf(last, sizeof last, "\"%s\"}", key ? key : "");

    if (!key)
        return next_row(json, table, &n);
    for (const char *row = json; (row = next_row(row, table, &n)); row += n)
        if (n > bytes && !memcmp(row + n - bytes, last, bytes))
            return row;
    return NULL;
}

/* Whether a row of the table has the member. */
static bool has_member(const char *json, const char *table, const char *member)
{
    char name[128];
    size_t n, bytes = (size_t)snprintf(name, sizeof name, "\"%s\":", member);

    for (const char *row = json; (row = next_row(row, table, &n)); row += n)
        if (memmem(row, n, name, bytes))
            return true;
    return false;
}

START_TEST(test_views_count_what_a_vm_does)
{
    static const char *const vms[] = {"erl", "$ERLVM"};
    int at = _i % NWORKS;

    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "cat > work.erl <<'END'\n"
        "-module(work).\n-compile([export_all, nowarn_export_all]).\n"
        "main() ->\n"
        "    file:write_file(\"ready\", \"1\"),\n"
        "    wait(\"go\"),\n"
        "    work(),\n"
        "    file:write_file(\"done\", \"1\"),\n"
        "    wait(\"end\"),\n"
        "    halt().\n"
        "wait(Name) ->\n"
        "    case filelib:is_file(Name) of\n"
        "        true -> ok;\n"
        "        false -> timer:sleep(20), wait(Name)\n"
        "    end.\n%sEND\n"
        "erlc work.erl; %s -noshell -pa . -s work main & p=$!; await ready\n"
        "$ERLSNOOP %s --json -p $p > told & e=$!; attached $e; touch go; await done; kill -INT $e; wait $e; s=$?; touch end; wait $p; cat told; exit $s",
        works[at].functions, vms[_i / NWORKS], views[works[at].view].name);

    if (_i < NWORKS && works[at].ours) {
        ck_assert_int_ne(r->status, 0);
        ck_assert_msg(strstr(r->err, "has none of the probes needed") != NULL, "%s", r->err);
        return;
    }
    if (_i < NWORKS && !support_emulator_exports() && (strstr(r->err, "does not have") || strstr(r->err, "are hidden in it"))) {
        printf("SKIP %s: the emulator of this Erlang cannot tell %s\n", __func__, views[works[at].view].name);
        return;
    }
    ck_assert_msg(!r->status, "%s", r->err);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        const char *row;

        if (counts[i].view != works[at].view || (counts[i].ours && _i < NWORKS))
            continue;
        if (counts[i].hidden && _i < NWORKS && !support_emulator_exports()) {
            ck_assert_msg(!has_member(r->out, counts[i].table, counts[i].member), "%s is told: %s", counts[i].member, r->out);
            continue;
        }
        row = find_row(r->out, counts[i].table, counts[i].key);
        ck_assert_msg(row != NULL, "no %s of %s: %s", counts[i].table, counts[i].key ? counts[i].key : "all", r->out);
        ck_assert_msg(support_number(row, "", counts[i].member) == counts[i].n, "%s of %s is not %ld: %s", counts[i].member,
                      counts[i].key ? counts[i].key : "all", counts[i].n, r->out);
    }
    ck_assert_int_eq(support_lines(r->out, "\"lost\""), 0);
}
END_TEST

/* Threads of an erlvm have told the names of their atoms to the first watcher, and tell them again a second later. */
START_TEST(test_views_know_names_that_another_watcher_was_told)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "cat > orderly.erl <<'END'\n"
        "-module(orderly).\n-export([main/0, main/1, pass/0]).\n"
        "main() -> file:write_file(\"ready\", \"1\"), main(0).\n"
        "pass() -> ok.\n"
        "main(N) -> spawn(orderly, pass, []), timer:sleep(5), main(N + 1).\n"
        "END\n"
        "erlc orderly.erl; $ERLVM -noshell -pa . -s orderly main & p=$!; await ready\n"
        "$ERLSNOOP watch spawns,exits -p $p > first & f=$!; attached $f\n"
        "$ERLSNOOP watch spawns,exits --json -p $p .2 1; s=$?; kill -INT $f; wait $f; kill $p; exit $s");

    ck_assert_msg(!r->status, "%s", r->err);
    ck_assert_int_gt(support_number(r->out, "\"type\":\"exits\"", "exits"), 0);
    ck_assert_msg(!support_number(r->out, "\"type\":\"exits\"", "abnormal"), "%s", r->out);
    ck_assert_msg(support_lines(r->out, "\"mfa\":\"orderly:pass/0\"") == 1, "%s", r->out);
    ck_assert_msg(!support_lines(r->out, "atom#"), "%s", r->out);
}
END_TEST

/* Each question under a line that says what it is, in the order in which they were asked. */
START_TEST(test_views_watch_keeps_the_order_asked_for)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run("$EMITTER -s 30 process__spawn=1 > /dev/null & p=$!; runs $p emitter\n"
                                              "$ERLSNOOP watch msglat,exits,spawns -p $p .2 1; kill $p");
    static const char *const parts[] = {"[msglat] from a send to its receiver scheduled", "MESSAGES  ", "\n\n[exits] exits that are",
                                        " ABNORMAL ", "\n\n[spawns] births and deaths", " BIRTHS "};
    const char *at = r->out;

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        at = at ? strstr(at, parts[i]) : NULL;
        ck_assert_msg(at != NULL && (i || at == r->out), "no '%s' where it belongs: %s%s", parts[i], r->out, r->err);
    }
}
END_TEST

/* 23 processes crash, 19 end normally; a registered one gets 29 messages. */
START_TEST(test_views_watch_counts_what_a_vm_did)
{
    static const char *const vms[] = {"erl", "$ERLVM"};

    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "cat > busy.erl <<'END'\n"
        "-module(busy).\n-export([main/0, crash/1, pass/0, take/1]).\n"
        "crash(N) -> exit({bad_day, N}).\n"
        "pass() -> ok.\n"
        "take(0) -> main ! taken, receive stop -> ok end;\n"
        "take(N) -> receive {message, _} -> take(N - 1) end.\n"
        "main() ->\n"
        "    register(main, self()), register(taker, spawn(busy, take, [29])),\n"
        "    file:write_file(\"ready\", \"1\"),\n"
        "    wait(\"go\"),\n"
        "    [spawn(busy, crash, [N]) || N <- lists:seq(1, 23)],\n"
        "    [spawn(busy, pass, []) || _ <- lists:seq(1, 19)],\n"
        "    timer:sleep(100),\n"
        "    [taker ! {message, N} || N <- lists:seq(1, 29)],\n"
        "    receive taken -> file:write_file(\"done\", \"1\") end,\n"
        "    wait(\"end\"),\n"
        "    halt().\n"
        "wait(Name) ->\n"
        "    case filelib:is_file(Name) of\n"
        "        true -> ok;\n"
        "        false -> timer:sleep(20), wait(Name)\n"
        "    end.\nEND\n"
        "erlc busy.erl; %s -noshell -pa . -s busy main & p=$!; await ready\n"
        "$ERLSNOOP watch exits,messages,sched --json -p $p > told & e=$!; attached $e; touch go; await done; kill -INT $e; wait $e; s=$?\n"
        "touch end; wait $p; cat told; exit $s",
        vms[_i]);

    ck_assert_msg(!r->status, "%s", r->err);
    ck_assert_int_eq(support_number(r->out, "{bad_day,...}", "count"), 23);
    ck_assert_int_eq(support_number(r->out, "\"type\":\"exits\"", "abnormal"), 23);
    ck_assert_int_ge(support_number(r->out, "\"type\":\"exits\"", "exits"), 42);
    ck_assert_int_eq(support_number(strstr(r->out, "\"exits_by_owner\""), "\"owner\":\"busy:crash/1\"", "count"), 23);
    ck_assert_int_ge(support_number(r->out, "\"type\":\"messages\"", "sent"), 29);
    ck_assert_int_ge(support_number(r->out, "\"type\":\"sched\"", "slices"), 43);
    ck_assert_int_le(support_number(r->out, "\"type\":\"sched\"", "unseen"), 4); /* what ran when it began */
    if (!_i)
        ck_assert_int_eq(support_number(strstr(r->out, "\"messages_by_owner\""), "\"owner\":\"taker\"", "sent"), 29);
    else
        ck_assert_int_ge(support_number(r->out, "\"type\":\"messages\"", "received"), 29);
}
END_TEST

/* A port gets busy and stays so: each result has it, and of its time what lies in the result. */
START_TEST(test_views_tell_what_is_under_way_in_each_result)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "$EMITTER -w go -s 60 'port__command=1|<0.7.0>|#Port<0.66>|cat|command' 'port__busy=1|#Port<0.66>' > /dev/null & p=$!; runs $p emitter\n"
        "$ERLSNOOP ports --json -p $p --ready-fd 3 .5 4 3> ready & e=$!; await ready; touch go; wait $e; s=$?; kill $p; exit $s");
    long long busy = 0, oldest = 0;
    const char *at = r->out;

    ck_assert_msg(!r->status, "%s", r->err);
    ck_assert_int_eq(support_lines(r->out, "\"ports_open\""), 4);
    while ((at = strstr(at, "\"type\":\"ports\""))) {
        const char *open = strstr(at, "\"ports_open\"");

        ck_assert_ptr_nonnull(open);
        if (support_number(open, "", "open") == 1) { /* its age is of a moment later than what results have of it */
            ck_assert_int_gt(support_number(at, "", "busy_ns"), 0);
            busy += support_number(at, "", "busy_ns");
            oldest = support_number(open, "", "oldest_ns");
            ck_assert_msg(busy <= oldest, "%lld of %lld: %s", busy, oldest, r->out);
        }
        at = open;
    }
    ck_assert_msg(oldest > 0, "%s", r->out);
    ck_assert_int_ge(support_lines(r->out, "\"owner\":\"<0.7.0>\",\"what\":\"#Port<0.66> cat\""), 1);
}
END_TEST

/* The kernel numbers the second emitter as the first: what was kept of the first is not there for it. */
START_TEST(test_views_forget_a_vm_that_ended)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "[ -w /proc/sys/kernel/ns_last_pid ] || exit 77\n"
        "$EMITTER -s 60 process__heap_grow=1 > /dev/null & k=$!; runs $k emitter\n"
        "$ERLSNOOP spawns -a --json --events > out & e=$!; attached $e; $EMITTER -s 60 'process__spawn=7|<0.%%d.0>' > first & p=$!\n"
        "cp $EMITTER b; ./b -e process__spawn=1 > b.out\n" /* returns when erlsnoop has looked for new VMs, and has seen the first */
        "await first; kill $p; wait $p; let_go $e process__spawn > let_go.out\n"
        "for i in $(seq 300); do echo $((p - 1)) > /proc/sys/kernel/ns_last_pid; "
        "$EMITTER -w go$i 'process__exit=7|<0.%%d.0>' > second$i & q=$!; [ $q = $p ] && break; kill $q; done\n"
        "touch go$i; wait $q; kill -INT $e; wait $e; kill $k; echo \"{\\\"same\\\":$((p == q))}\"; grep spawns_event out | grep \"\\\"vm\\\":$p,\"");

    if (r->status == 77) {
        printf("SKIP %s: the kernel does not let us choose the next process id\n", __func__);
        return;
    }
    ck_assert_int_eq(support_number(r->out, "\"same\"", "same"), 1);
    ck_assert_int_eq(support_lines(r->out, "\"birth\""), 7);
    ck_assert_int_eq(support_lines(r->out, "\"death\""), 7);
    ck_assert_int_eq(support_lines(r->out, "\"lived_ns\""), 0);
}
END_TEST

START_TEST(test_views_name_probes_and_arguments_that_there_are)
{
    for (size_t i = 0; i < view_nons; i++) {
        ck_assert_msg(plan_find_probe(view_ons[i].probe) < PLAN_NEVENTS, "%s: no event %s", views[view_ons[i].view].name, view_ons[i].probe);
        view_reads(view_ons[i].view, view_ons[i].probe); /* aborts on an argument that there is not */
    }
}
END_TEST

/* What is kept by process ends with it. */
/* An event of two names tells both: who ended, and of what. */
START_TEST(test_views_events_tell_owner_and_reason)
{
    static const char *const vms[] = {"erl", "$ERLVM"};

    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "cat > crash.erl <<'END'\n"
        "-module(crash).\n-export([main/0, child/0]).\n"
        "main() -> file:write_file(\"ready\", \"1\"), work().\n"
        "work() ->\n"
        "    case filelib:is_file(\"go\") of\n"
        "        true -> [wait(spawn_monitor(?MODULE, child, [])) || _ <- lists:seq(1, 23)], halt();\n"
        "        false -> timer:sleep(20), work()\n"
        "    end.\n"
        "wait({P, R}) -> receive {'DOWN', R, process, P, _} -> ok end.\n"
        "child() -> exit({bad_day, self()}).\nEND\n"
        "erlc crash.erl; %s -noshell -pa . -s crash main & p=$!; await ready\n"
        "$ERLSNOOP exits --events --json -p $p > told & e=$!; attached $e; touch go; wait $e; s=$?; cat told; exit $s",
        vms[_i]);

    ck_assert_msg(!r->status, "%s", r->err);
    ck_assert_int_eq(support_lines(r->out, "\"owner\":\"crash:child/0\",\"reason\":\"{bad_day,...}\""), 23);
}
END_TEST

START_TEST(test_views_with_state_are_told_of_exits)
{
    for (size_t i = 0; i < VIEW_NSTATES; i++)
        ck_assert_msg(view_states[i].keyed || view_wants(view_states[i].view, "process__exit", VIEW_BY_NOTE),
                      "%s keeps states of processes that ended", view_states[i].map);
}
END_TEST

/* The reference of views has a line for each column that is shown, by the name that it has in JSON. */
START_TEST(test_views_reference_has_every_column)
{
    const struct support_run *r = support_run("gcc -o print $SOURCE/docs/views.c && ./print");
    char line[256];

    ck_assert_int_eq(r->status, 0);
    for (size_t i = 0; i < VIEW_NTABLES; i++) {
        const struct view_table *t = view_table((enum view_table_id)i);

        for (size_t c = 0; c < t->ncolumns; c++) {
            snprintf(line, sizeof line, "| %s | %s", t->columns[c].head ? t->columns[c].head : "", t->columns[c].key);
            ck_assert_msg(!t->columns[c].head || strstr(r->out, line), "%s", line);
        }
    }
    ck_assert(strstr(r->out, "| PER S | births_per_s |") && strstr(r->out, "| P99 | p99_ns |") && !strstr(r->out, "owners"));
}
END_TEST

START_TEST(test_views_tables_fit_their_sinks)
{
    for (size_t i = 0; i < VIEW_NTABLES; i++) {
        const struct view_table *t = view_table((enum view_table_id)i);

        ck_assert_int_gt(t->sink.ncolumns, 0);
        ck_assert_int_le(t->sink.ncolumns, SINK_MAX_COLUMNS);
        for (size_t c = 0; c < t->ncolumns; c++)
            ck_assert_msg(t->columns[c].table == i && *t->columns[c].text, "%s: a column does not follow it, or says nothing", t->sink.name);
    }
}
END_TEST

/* Numbers are never cut: a table of several VMs whose numbers are as wide as its columns leaves eight to the name. */
START_TEST(test_views_tables_fit_a_line_of_80)
{
    for (size_t i = 0; i < VIEW_NTABLES; i++) {
        const struct view_table *t = view_table((enum view_table_id)i);
        struct sink_value cells[SINK_MAX_COLUMNS];
        char *text = NULL, *row;
        size_t size;
        FILE *out = open_memstream(&text, &size);
        struct sink sink;

        for (int c = 0; c < t->sink.ncolumns; c++)
            cells[c] = t->sink.columns[c].type == SINK_TEXT ? SINK_S("ownwidth") : SINK_NONE;
        sink_init(&sink, out, OPTIONS_FORM_table, false);
        sink_row(&sink, &t->sink, cells);
        sink_flush(&sink);
        fclose(out);
        row = text + strlen(text) - 1; /* the last of its lines */
        while (row > text && row[-1] != '\n')
            row--;
        ck_assert_msg(strlen(row) - 1 <= 80, "%s takes %zu columns", t->sink.name, strlen(row) - 1);
        free(text);
    }
}
END_TEST

Suite *views_suite(void)
{
    Suite *suite = suite_create("views");
    TCase *rows = tcase_create("rows"), *live = tcase_create("live");

    tcase_add_test(rows, test_views_have_a_workload);
    tcase_add_test(rows, test_views_name_probes_and_arguments_that_there_are);
    tcase_add_test(rows, test_views_with_state_are_told_of_exits);
    tcase_add_test(rows, test_views_reference_has_every_column);
    tcase_add_test(rows, test_views_tables_fit_their_sinks);
    tcase_add_test(rows, test_views_tables_fit_a_line_of_80);
    suite_add_tcase(suite, rows);
    tcase_set_timeout(live, 60);
    tcase_add_loop_test(live, test_views_print_what_the_golden_files_have, 0, VIEW_COUNT);
    tcase_add_test(live, test_views_watch_asks_two_with_one_link_a_probe);
    tcase_add_test(live, test_views_watch_keeps_the_order_asked_for);
    tcase_add_test(live, test_views_know_names_that_another_watcher_was_told);
    tcase_add_loop_test(live, test_views_watch_counts_what_a_vm_did, 0, 2);
    tcase_add_loop_test(live, test_views_events_tell_owner_and_reason, 0, 2);
    tcase_add_test(live, test_views_tell_what_is_under_way_in_each_result);
    tcase_add_test(live, test_views_forget_a_vm_that_ended);
    tcase_add_loop_test(live, test_views_count_what_a_vm_does, 0, 2 * NWORKS);
    suite_add_tcase(suite, live);
    return suite;
}
