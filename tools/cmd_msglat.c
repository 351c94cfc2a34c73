/* SPDX-License-Identifier: Apache-2.0 */
/* How long receivers wait to be scheduled. Invariant: messages and wake-ups are exact; quantiles are of the histogram. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>

#include "cmd.h"
#include "fail.h"
#include "hist.h"
#include "session.h"
#include "tally.h"

#include "../bpf/msg_sched.h"
#include "msg_sched.skel.h"

/* Of a value of by_mfa: slots, count and sum grow; the maximum and the text stand. */
enum {
    TOP = 15,
    MFA_WORDS = sizeof(struct msg_sched_mfa) / 8,
    MFA_ADDITIVE = offsetof(struct wire_hist, max) / 8,
    MFA_COUNT_WORD = offsetof(struct wire_hist, count) / 8
};

struct state {
    struct tally *by_mfa;
    uint64_t totals[MSG_SCHED_NTOTALS];
    struct wire_hist others;
    uint64_t slower_ns;
};

static const struct sink_column event_columns[] = {
    {"time", "TIME", SINK_TIME, 0},        {"vm", "VM", SINK_COUNT, 7},
    {"receiver", "RECEIVER", SINK_TEXT, 14}, {"latency", "WAITED", SINK_NS, 0},
    {"messages", "MSGS", SINK_COUNT, 5},   {"mfa", "RESUMES AT", SINK_TEXT, 0}};
static const struct sink_table event_table = {"msglat_event", NULL, event_columns, 6};

static const struct sink_column total_columns[] = {
    {"messages", "MESSAGES", SINK_COUNT, 11}, {"messages", "PER S", SINK_RATE, 14},
    {"wakeups", "WAKE-UPS", SINK_COUNT, 11},  {"wakeups", "PER S", SINK_RATE, 14},
    {"to_running", "TO RUNNING", SINK_COUNT, 11}};
static const struct sink_table total_table = {"msglat", NULL, total_columns, 5};

static const struct sink_column mfa_columns[] = {
    {"wakeups", "WAKE-UPS", SINK_COUNT, 9}, {"p50", "P50", SINK_NS, 0},   {"p99", "P99", SINK_NS, 0},
    {"p99_9", "P99.9", SINK_NS, 0},         {"max", "MAX", SINK_NS, 0},   {"vm", "VM", SINK_COUNT, 7},
    {"mfa", "RECEIVER RESUMES AT", SINK_TEXT, 0}};
static const struct sink_table mfa_table = {"msglat_by_mfa", NULL, mfa_columns, 7};

static void on_record(void *ctx, struct session *s, const struct wire_header *header, size_t size)
{
    const struct msg_sched_record *rec = (const struct msg_sched_record *)header;
    char pid[WIRE_PID_TEXT + 8];

    (void)ctx;
    if (size < sizeof *rec)
        return;
    snprintf(pid, sizeof pid, "<%u.%u.%u>", rec->pid.node, rec->pid.id, rec->pid.serial);
    sink_row(session_sink(s), &event_table,
             (struct sink_value[]){SINK_N(header->time_ns), SINK_N(header->vm), SINK_S(pid),
                                   SINK_N(rec->latency_ns), SINK_N(rec->messages),
                                   SINK_S(session_name(s, header->vm, &rec->mfa))});
}

static int print_totals(struct state *st, struct session *s)
{
    uint64_t delta[MSG_SCHED_NTOTALS];
    double seconds = session_seconds(s);

    for (uint32_t i = 0; i < MSG_SCHED_NTOTALS; i++) {
        uint64_t now;
        int err = session_read_percpu(s, "totals", i, &now, 1);

        if (err)
            return err;
        delta[i] = now - st->totals[i];
        st->totals[i] = now;
    }
    sink_row(session_sink(s), &total_table,
             (struct sink_value[]){SINK_N(delta[MSG_SCHED_SENT]),
                                   SINK_R((double)delta[MSG_SCHED_SENT] / seconds),
                                   SINK_N(delta[MSG_SCHED_WOKEN]),
                                   SINK_R((double)delta[MSG_SCHED_WOKEN] / seconds),
                                   SINK_N(delta[MSG_SCHED_RUNNING])});
    return 0;
}

/* A function: a stock emulator's receivers resume at several places of it. */
struct function {
    uint32_t vm;
    char *name;
    struct wire_hist hist;
};

static int compare_functions(const void *a, const void *b)
{
    uint64_t x = ((const struct function *)a)->hist.count, y = ((const struct function *)b)->hist.count;

    return x < y ? 1 : x > y ? -1 : 0;
}

/* The rows by function, the most frequent first. Returns how many. Owns: the caller frees them and their names. */
static size_t merge_rows(struct session *s, const struct tally_row *rows, size_t n, struct function *functions)
{
    size_t found = 0;

    for (size_t i = 0; i < n; i++) {
        const struct msg_sched_mfa *value = (const struct msg_sched_mfa *)rows[i].values;
        uint32_t vm = ((const struct wire_name_key *)rows[i].key)->vm;
        const char *name = session_name(s, vm, &value->mfa);
        size_t at = value->mfa.form == WIRE_TEXT ? found : 0; /* texts are different */

        while (at < found && (functions[at].vm != vm || strcmp(functions[at].name, name)))
            at++;
        if (at == found)
            functions[found++] = (struct function){.vm = vm, .name = strdup(name)};
        if (!functions[at].name)
            return found - 1;
        hist_merge(&functions[at].hist, &value->latencies);
    }
    qsort(functions, found, sizeof *functions, compare_functions);
    return found;
}

static int print_mfas(struct session *s, const struct tally_row *rows, size_t n)
{
    struct function *functions = calloc(n + 1, sizeof *functions);
    size_t found = functions ? merge_rows(s, rows, n, functions) : 0;

    for (size_t i = 0; i < found && i < TOP; i++) {
        struct wire_hist *hist = &functions[i].hist;

        hist_bound_max(hist);
        sink_row(session_sink(s), &mfa_table,
                 (struct sink_value[]){SINK_N(hist->count), sink_percentile(hist, 0.5), sink_percentile(hist, 0.99),
                                       sink_percentile(hist, 0.999), SINK_N(hist->max),
                                       SINK_N(functions[i].vm), SINK_S(functions[i].name)});
    }
    for (size_t i = 0; i < found; i++)
        free(functions[i].name);
    free(functions);
    return functions ? 0 : -ENOMEM;
}

static int on_result(void *ctx, struct session *s)
{
    struct state *st = ctx;
    const struct tally_row *rows;
    struct wire_hist all, now;
    uint32_t zero = 0;
    int err = print_totals(st, s);
    size_t n;

    if (!err)
        err = tally_update(st->by_mfa, session_map(s, "by_mfa"));
    if (err)
        return err;
    if (bpf_map_lookup_elem(session_map(s, "others"), &zero, &now))
        return -errno;
    all = now;
    hist_subtract(&all, &st->others);
    st->others = now;
    n = tally_rows(st->by_mfa, MFA_COUNT_WORD, &rows);
    for (size_t i = 0; i < n; i++)
        hist_merge(&all, (const struct wire_hist *)rows[i].values);
    hist_bound_max(&all);
    sink_hist(session_sink(s), "msglat_latencies", "From send to receiver scheduled", SINK_NS, &all);
    return print_mfas(s, rows, n);
}

static int set_slower(void *ctx, const char *value)
{
    struct state *st = ctx;
    uint64_t us;
    int err = options_number("--slower", value, 0, 3600000000u, &us);

    st->slower_ns = us * 1000;
    return err;
}

int cmd_msglat(int argc, char **argv)
{
    static const struct session_ops ops = {.record = on_record, .result = on_result};
    static const struct options_extra extras[] = {
        {"slower", "US", "with --events: only waits of at least US microseconds", set_slower, true},
        {0}};
    struct state st = {0};
    const struct options_spec spec = {
        "msglat", "Measures the time from a send until its receiver is scheduled.", OPTIONS_LIVE, extras,
        &st};
    struct options o;
    int err = options_parse(&spec, argc, argv, &o);

    if (err || o.done)
        return err;

    struct msg_sched *skel = msg_sched__open();

    st.by_mfa = tally_new(sizeof(struct wire_name_key), MFA_WORDS, MFA_ADDITIVE);
    if (skel) {
        skel->rodata->msg_sched_events = o.events;
        skel->rodata->msg_sched_slower_ns = st.slower_ns;
    }
    err = session_run(&o, skel ? skel->skeleton : NULL, &ops, &st);
    msg_sched__destroy(skel);
    tally_free(st.by_mfa);
    return err;
}
