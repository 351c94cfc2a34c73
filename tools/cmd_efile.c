/* SPDX-License-Identifier: Apache-2.0 */
/*
 * File operations by kind, the slowest, and each one's story. Invariant: counts are of operations that ended while we
 * watched.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>

#include "cmd.h"
#include "fail.h"
#include "hist.h"
#include "otp_threads.h"
#include "session.h"
#include "tally.h"

#include "../bpf/efile_latency.h"
#include "efile_latency.skel.h"

struct state {
    struct tally *by_op;
    uint64_t totals[EFILE_NTOTALS];
    struct wire_hist durations;
    uint64_t slower_ns, top;
    struct efile_latency *skeleton;
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

/* Who asked for it: the name of the process, or else its pid; NULL: not known. */
static const char *owner_of(struct session *s, uint32_t vm, const struct efile_story *story, char *buf, size_t size)
{
    if (story->owner.form != WIRE_TEXT)
        return session_name(s, vm, &story->owner);
    snprintf(buf, size, "<0.%u.%u>", story->pid.id, story->pid.serial);
    return story->pid.id || story->pid.serial ? buf : NULL;
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
    char pid[WIRE_PID_TEXT];
    const char *owner;

    (void)ctx;
    if (size < sizeof *rec)
        return;
    owner = owner_of(s, rec->key.vm, story, pid, sizeof pid);
    describe_entry(&entry, story);
    if (owner)
        append(&entry, " by %s", owner);
    describe_return(&result, story);
    print_step(s, rec, "entry", story->entry_ns, entry.bytes);
    print_step(s, rec, "work begins", story->work_ns, "");
    print_step(s, rec, "work ends", story->worked_ns, "");
    print_step(s, rec, "return", story->return_ns, result.bytes);
}

/* ---- results */

static const struct sink_column op_columns[] = {
    {"op", "OPERATION", SINK_TEXT, 10}, {"count", "COUNT", SINK_COUNT, 7}, {"errors", "ERRORS", SINK_COUNT, 6},
    {"queued", "QUEUED", SINK_NS, 8},   {"work", "SYSCALL", SINK_NS, 8},   {"p50", "P50", SINK_NS, 8},
    {"p99", "P99", SINK_NS, 8},         {"max", "MAX", SINK_NS, 8},        {"vm", "VM", SINK_COUNT, 7}};
static const struct sink_table op_table = {
    "efile", "By operation: all time queued, all in system calls; of one operation, in all", op_columns, 9};

static void print_ops(struct state *st, struct session *s)
{
    const struct tally_row *rows;
    size_t n = tally_rows(st->by_op, offsetof(struct efile_op, total.count) / 8, &rows);

    for (size_t i = 0; i < n; i++) {
        const struct efile_op_key *key = rows[i].key;
        struct efile_op op;

        memcpy(&op, rows[i].values, sizeof op);
        hist_bound_max(&op.total);
        sink_row(session_sink(s), &op_table,
                 (struct sink_value[]){SINK_S(find_op(key->command)->name), SINK_N(op.total.count), SINK_N(op.errors),
                                       op.queued_count ? SINK_N(op.queued_ns) : SINK_NONE,
                                       op.work_ns ? SINK_N(op.work_ns) : SINK_NONE,
                                       sink_percentile(&op.total, 0.5), sink_percentile(&op.total, 0.99),
                                       SINK_N(op.total.max), SINK_N(key->vm)});
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

/* ---- the slowest */

static const struct sink_column slow_columns[] = {
    {"began", "BEGAN", SINK_TIME, 0}, {"total", "TOOK", SINK_NS, 8}, {"queued", "QUEUED", SINK_NS, 8},
    {"work", "SYSCALL", SINK_NS, 8},  {"vm", "VM", SINK_COUNT, 7},   {"owner", "OWNER", SINK_TEXT, 0},
    {"what", "WHAT", SINK_TEXT, 0}};
static const struct sink_table slow_table = {"efile_slowest", "The slowest", slow_columns, 7};

static int compare_slow(const void *a, const void *b)
{
    const struct efile_slow *x = a, *y = b;

    return (x->total_ns < y->total_ns) - (x->total_ns > y->total_ns);
}

static struct sink_value span_of(uint64_t from, uint64_t to)
{
    return from && to >= from ? SINK_N(to - from) : SINK_NONE;
}

static void print_slow(struct session *s, const struct efile_slow *slow)
{
    const struct efile_story *story = &slow->story;
    char pid[WIRE_PID_TEXT];
    const char *owner = owner_of(s, slow->key.vm, story, pid, sizeof pid);
    struct text what = {.used = 0};

    describe_entry(&what, story);
    if (!story->success) {
        append(&what, ": ");
        describe_return(&what, story);
    }
    sink_row(session_sink(s), &slow_table,
             (struct sink_value[]){SINK_N(story->entry_ns ? story->entry_ns : story->work_ns), SINK_N(slow->total_ns),
                                   span_of(story->entry_ns, story->work_ns), span_of(story->work_ns, story->worked_ns),
                                   SINK_N(slow->key.vm), owner ? SINK_S(owner) : SINK_NONE, SINK_S(what.bytes)});
}

/* Operations go by the thread that does them, which tells whose they are. */
static int on_hooked(void *ctx, struct session *s, const struct target *t, const struct plan *plan, uint32_t slot)
{
    int err = 0;

    (void)ctx;
    if (!plan->vm->ours) /* an erlvm's schedulers are laid out in another way: who asks there is not told */
        err = otp_threads_put(names_memory(session_names(s), (uint32_t)t->pid), &plan->vm->layout, plan->vm->symbols,
                              slot, session_map(s, "threads"));
    if (err)
        note("who asks for operations of '%s' (process %d) is not told: %s", t->name, t->pid, strerror(-err));
    return 0;
}

/* What took the longest since the last result; programs write the other side from now on. */
static int print_slowest(struct state *st, struct session *s)
{
    uint32_t side = session_change_sides(&st->skeleton->bss->efile_side);
    struct efile_slowest *all = calloc(2, sizeof *all);
    int err = all ? 0 : -ENOMEM, map = session_map(s, "slowest");

    if (!err && (bpf_map_lookup_elem(map, &side, &all[0]) || bpf_map_update_elem(map, &side, &all[1], BPF_EXIST)))
        err = -errno;
    if (!err)
        qsort(all->at, EFILE_SLOWEST, sizeof *all->at, compare_slow);
    for (size_t i = 0; !err && i < EFILE_SLOWEST && all->at[i].total_ns; i++)
        print_slow(s, &all->at[i]);
    free(all);
    return err;
}

static int print_durations(struct state *st, struct session *s)
{
    struct wire_hist now, change;
    uint32_t zero = 0;

    if (bpf_map_lookup_elem(session_map(s, "durations"), &zero, &now))
        return -errno;
    change = now;
    hist_subtract(&change, &st->durations);
    st->durations = now;
    sink_hist(session_sink(s), "efile_durations", "Total time of an operation", SINK_NS, &change);
    return 0;
}

/* Operations that were under way may have ended unseen. */
static void on_missed(void *ctx, struct session *s)
{
    (void)ctx;
    session_forget(s, "stories");
    session_forget(s, "errnos");
}

static int on_result(void *ctx, struct session *s)
{
    struct state *st = ctx;
    int err = print_totals(st, s);

    if (!err)
        err = tally_update(st->by_op, session_map(s, "by_op"));
    if (err)
        return err;
    print_ops(st, s);
    err = print_durations(st, s);
    return !err && st->top ? print_slowest(st, s) : err;
}

static int set_top(void *ctx, const char *value)
{
    return options_number("--top", value, 0, EFILE_SLOWEST, &((struct state *)ctx)->top);
}

static int set_slower(void *ctx, const char *value)
{
    return options_ns("--slower", value, &((struct state *)ctx)->slower_ns);
}

int cmd_efile(int argc, char **argv)
{
    static const struct session_ops ops = {
        .record = on_record, .result = on_result, .hooked = on_hooked, .missed = on_missed};
    static const struct options_extra extras[] = {
        {"top", "N", "of the slowest operations so many (5); 0: none", set_top, false},
        {"slower", "TIME", "with --events: only operations of at least TIME (5ms)", set_slower, true},
        {0}};
    struct state st = {.top = 5};
    const struct options_spec spec = {
        "efile", "Follows file operations from the caller through the async threads and back.", OPTIONS_LIVE,
        extras, &st, NULL};
    struct options o;
    int err = options_parse(&spec, argc, argv, &o);

    if (err || o.done)
        return err;

    struct efile_latency *skel = st.skeleton = efile_latency__open();

    st.by_op = tally_new(sizeof(struct efile_op_key), sizeof(struct efile_op) / 8, EFILE_OP_ADDITIVE);
    if (skel) {
        skel->rodata->efile_events = o.events;
        skel->rodata->efile_slower_ns = st.slower_ns;
        skel->rodata->efile_top = (uint32_t)st.top;
    }
    err = session_run(&o, skel ? skel->skeleton : NULL, &ops, &st);
    efile_latency__destroy(skel);
    tally_free(st.by_op);
    return err;
}
