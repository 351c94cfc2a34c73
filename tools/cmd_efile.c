/* SPDX-License-Identifier: Apache-2.0 */
/* File operations by kind, and each one's story. Invariant: counts are of operations that ended while we watched. */
#include <errno.h>
#include <string.h>

#include <bpf/bpf.h>

#include "cmd.h"
#include "fail.h"
#include "hist.h"
#include "session.h"
#include "tally.h"

#include "../bpf/efile_latency.h"
#include "efile_latency.skel.h"

struct state {
    struct tally *by_op;
    uint64_t totals[EFILE_NTOTALS];
    struct wire_hist durations;
    uint64_t slower_ns;
};

/* What a command is called, and what its arguments hold. */
struct op_text {
    const char *name, *s1, *s2, *ints[EFILE_INTS];
};

static const struct op_text *find_op(uint32_t command)
{
    static const struct op_text ops[] = {
#define EFILE_OP(number, op, s1, s2, i1, i2, i3, i4) [number] = {#op, s1, s2, {i1, i2, i3, i4}},
#include "../vm/probes.def"
    };
    static const struct op_text unknown = {"?", "s1", "s2", {"i1", "i2", "i3", "i4"}};

    return command < sizeof ops / sizeof *ops && ops[command].name ? &ops[command] : &unknown;
}

/* ---- events */

static const struct sink_column event_columns[] = {
    {"time", "TIME", SINK_TIME, 0},    {"vm", "VM", SINK_COUNT, 7},    {"op", "OPERATION", SINK_TEXT, 11},
    {"step", "STEP", SINK_TEXT, 11}, {"after", "AFTER", SINK_NS, 0}, {"what", "WHAT", SINK_TEXT, -1}};
static const struct sink_table event_table = {"efile_event", NULL, event_columns, 6};

struct text {
    char bytes[480];
    size_t used;
};

static __attribute__((format(printf, 2, 3))) void append(struct text *t, const char *format, ...)
{
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(t->bytes + t->used, sizeof t->bytes - t->used, format, args);
    va_end(args);
    if (n > 0)
        t->used += (size_t)n < sizeof t->bytes - t->used ? (size_t)n : sizeof t->bytes - t->used - 1;
}

static void describe_entry(struct text *t, const struct efile_story *story)
{
    const struct op_text *op = find_op(story->command);

    append(t, "%s (%u)", op->name, story->command);
    if (*op->s1 && story->s1[0])
        append(t, " %s", story->s1);
    if (*op->s2 && story->s2[0])
        append(t, " %s", story->s2);
    for (int i = 0; i < EFILE_INTS; i++)
        if (*op->ints[i] && story->known & 1u << i)
            append(t, " %s=%lld", op->ints[i], (long long)story->ints[i]);
    if (story->user_tag[0])
        append(t, " [%s]", story->user_tag);
}

static void describe_return(struct text *t, const struct efile_story *story)
{
    const char *name = story->success ? NULL : strerrorname_np((int)story->err);

    if (story->success)
        append(t, "ok");
    else
        append(t, "%s (errno %u)", name ? name : "error", story->err);
}

static void print_step(struct session *s, const struct efile_record *rec, const char *step, uint64_t at_ns,
                       const char *what)
{
    uint64_t first_ns = rec->story.entry_ns ? rec->story.entry_ns : rec->story.work_ns;
    char op[32];

    if (rec->key.tag == EFILE_NO_TAG)
        snprintf(op, sizeof op, "{%u,-}", rec->key.thread);
    else
        snprintf(op, sizeof op, "{%u,%llu}", rec->key.thread, (unsigned long long)rec->key.tag);
    sink_row(session_sink(s), &event_table,
             (struct sink_value[]){at_ns ? SINK_N(at_ns) : SINK_NONE, SINK_N(rec->key.vm), SINK_S(op), SINK_S(step),
                                   at_ns ? SINK_N(at_ns - first_ns) : SINK_NONE, SINK_S(what)});
}

static void on_record(void *ctx, struct session *s, const struct wire_header *header, size_t size)
{
    const struct efile_record *rec = (const struct efile_record *)header;
    const struct efile_story *story = &rec->story;
    struct text entry = {.used = 0}, result = {.used = 0};

    (void)ctx;
    if (size < sizeof *rec)
        return;
    describe_entry(&entry, story);
    describe_return(&result, story);
    print_step(s, rec, "entry", story->entry_ns, entry.bytes);
    print_step(s, rec, "work begins", story->work_ns, "");
    print_step(s, rec, "work ends", story->worked_ns, "");
    print_step(s, rec, "return", story->return_ns, result.bytes);
}

/* ---- results */

static const struct sink_column op_columns[] = {
    {"op", "OPERATION", SINK_TEXT, 10},     {"count", "COUNT", SINK_COUNT, 8},
    {"errors", "ERRORS", SINK_COUNT, 7},    {"queued", "QUEUED", SINK_NS, 0},
    {"work", "SYSCALL", SINK_NS, 0},        {"total", "TOTAL", SINK_NS, 0},
    {"total_max", "MAX", SINK_NS, 0},       {"vm", "VM", SINK_COUNT, 7}};
static const struct sink_table op_table = {"efile", "Means by operation: time queued, in the system call, in all", op_columns, 8};

static uint64_t mean(uint64_t sum, uint64_t count)
{
    return count ? sum / count : 0;
}

static void print_ops(struct state *st, struct session *s)
{
    const struct tally_row *rows;
    size_t n = tally_rows(st->by_op, 0, &rows);

    for (size_t i = 0; i < n; i++) {
        const struct efile_op_key *key = rows[i].key;
        struct efile_op op;

        memcpy(&op, rows[i].values, sizeof op);
        sink_row(session_sink(s), &op_table,
                 (struct sink_value[]){SINK_S(find_op(key->command)->name), SINK_N(op.count), SINK_N(op.errors),
                                       op.queued_count ? SINK_N(mean(op.queued_ns, op.queued_count)) : SINK_NONE, SINK_N(mean(op.work_ns, op.count)),
                                       SINK_N(mean(op.total_ns, op.count)), SINK_N(op.total_max_ns),
                                       SINK_N(key->vm)});
    }
}

static const struct sink_column total_columns[] = {
    {"started", "STARTED", SINK_COUNT, 0}, {"ended", "ENDED", SINK_COUNT, 0}, {"ended", "PER S", SINK_RATE, 12},
    {"unseen", "STARTED BEFORE", SINK_COUNT, 14}};
static const struct sink_table total_table = {"efile_totals", NULL, total_columns, 4};

static int print_totals(struct state *st, struct session *s)
{
    uint64_t delta[EFILE_NTOTALS];

    for (uint32_t i = 0; i < EFILE_NTOTALS; i++) {
        uint64_t now;

        if (bpf_map_lookup_elem(session_map(s, "totals"), &i, &now))
            return -errno;
        delta[i] = now - st->totals[i];
        st->totals[i] = now;
    }
    sink_row(session_sink(s), &total_table,
             (struct sink_value[]){SINK_N(delta[EFILE_STARTED]), SINK_N(delta[EFILE_ENDED]),
                                   SINK_R((double)delta[EFILE_ENDED] / session_seconds(s)),
                                   SINK_N(delta[EFILE_STRANGERS])});
    return 0;
}

static int on_result(void *ctx, struct session *s)
{
    struct state *st = ctx;
    struct wire_hist now, change;
    uint32_t zero = 0;
    int err = print_totals(st, s);

    if (!err)
        err = tally_update(st->by_op, session_map(s, "by_op"));
    if (err)
        return err;
    print_ops(st, s);
    if (bpf_map_lookup_elem(session_map(s, "durations"), &zero, &now))
        return -errno;
    change = now;
    hist_subtract(&change, &st->durations);
    st->durations = now;
    sink_hist(session_sink(s), "efile_durations", "Total time of an operation", SINK_NS, &change);
    return 0;
}

static int set_slower(void *ctx, const char *value)
{
    return options_ns("--slower", value, &((struct state *)ctx)->slower_ns);
}

int cmd_efile(int argc, char **argv)
{
    static const struct session_ops ops = {.record = on_record, .result = on_result};
    static const struct options_extra extras[] = {
        {"slower", "TIME", "with --events: only operations of at least TIME (5ms)", set_slower, true},
        {0}};
    struct state st = {0};
    const struct options_spec spec = {
        "efile", "Follows file operations from the caller through the async threads and back.", OPTIONS_LIVE,
        extras, &st, NULL};
    struct options o;
    int err = options_parse(&spec, argc, argv, &o);

    if (err || o.done)
        return err;

    struct efile_latency *skel = efile_latency__open();

    st.by_op = tally_new(sizeof(struct efile_op_key), sizeof(struct efile_op) / 8, EFILE_OP_ADDITIVE);
    if (skel) {
        skel->rodata->efile_events = o.events;
        skel->rodata->efile_slower_ns = st.slower_ns;
    }
    err = session_run(&o, skel ? skel->skeleton : NULL, &ops, &st);
    efile_latency__destroy(skel);
    tally_free(st.by_op);
    return err;
}
