/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: of a look only rows that may be shown are kept, and who watched how many when another look comes. */
#include "ps_monitors.h"

#include <errno.h>
#include <stdlib.h>

#include "common/array.h"
#include "otp/snapshot_one.h"

struct row {
    struct snapshot_process is;
    uint64_t counts[SNAPSHOT_WATCHED_BY + 1]; /* by enum snapshot_tie */
    int64_t more;                             /* monitors than before */
    bool cut;                                 /* it has more than were counted */
};

/* How many monitors a process held. */
struct past {
    ev_id id;
    uint64_t monitors;
};

struct ps_monitors {
    size_t top;
    struct row *rows;
    size_t n, room;
    struct past *before, *now; /* before: by id; NULL: this is the first look */
    size_t nbefore, nnow, room_now;
    bool repeats;
    uint64_t before_ns;
    const struct inspected *vm; /* of the look */
    uint64_t moved;             /* processes whose links or monitors changed while they were read */
};

struct ps_monitors *ps_monitors_new(size_t top)
{
    struct ps_monitors *m = calloc(1, sizeof *m);

    if (m)
        m->top = top;
    return m;
}

void ps_monitors_free(struct ps_monitors *m)
{
    if (!m)
        return;
    free(m->rows);
    free(m->before);
    free(m->now);
    free(m);
}

/* ---- a look */

static int compare_past(const void *a, const void *b)
{
    const struct past *x = a, *y = b;

    return x->id < y->id ? -1 : x->id > y->id;
}

/* Those that got most monitors since; of as many, those that have most; then by pid. */
static int compare_rows(const void *a, const void *b)
{
    const struct row *x = a, *y = b;

    if (x->more != y->more)
        return x->more > y->more ? -1 : 1;
    for (int tie = SNAPSHOT_WATCHES; tie <= SNAPSHOT_WATCHED_BY; tie++)
        if (x->counts[tie] != y->counts[tie])
            return x->counts[tie] > y->counts[tie] ? -1 : 1;
    return x->is.id < y->is.id ? -1 : x->is.id > y->is.id;
}

static void sort_rows(struct ps_monitors *m)
{
    if (m->n)
        qsort(m->rows, m->n, sizeof *m->rows, compare_rows);
    if (m->top && m->n > m->top)
        m->n = m->top;
}

static int count_tie(void *ctx, const struct snapshot_peer *peer)
{
    ((struct row *)ctx)->counts[peer->tie]++;
    return 0;
}

/* Rows that are too many go once they are twice as many as are kept. */
static int keep_row(struct ps_monitors *m, const struct row *row)
{
    int err;

    if (m->top && m->n >= 2 * m->top)
        sort_rows(m);
    err = array_room((void **)&m->rows, m->n, &m->room, sizeof *m->rows);
    if (!err)
        m->rows[m->n++] = *row;
    return err;
}

static int keep_past(struct ps_monitors *m, const struct row *row)
{
    int err = array_room((void **)&m->now, m->nnow, &m->room_now, sizeof *m->now);

    if (!err)
        m->now[m->nnow++] = (struct past){row->is.id, row->counts[SNAPSHOT_WATCHES]};
    return err;
}

/* One that ends meanwhile has nothing any more. */
static int take(void *ctx, const struct snapshot_process *is)
{
    struct ps_monitors *m = ctx;
    struct row row = {.is = *is};
    struct snapshot_seen seen;
    const struct past *past;
    int err = snapshot_peers(m->vm->snapshot, is, count_tie, &row, &seen);

    if (err)
        return err == -ESRCH ? 0 : err;
    row.cut = seen.more;
    m->moved += seen.moved;
    past = m->before ? bsearch(&(struct past){.id = is->id}, m->before, m->nbefore, sizeof *m->before, compare_past)
                     : NULL;
    row.more = m->before ? (int64_t)(row.counts[SNAPSHOT_WATCHES] - (past ? past->monitors : 0)) : 0;
    err = m->repeats ? keep_past(m, &row) : 0;
    return err ? err : keep_row(m, &row);
}

static int look(struct ps_monitors *m, const struct inspected *vm, bool repeats, struct snapshot_count *count)
{
    int err;

    free(m->before);
    m->before = m->now;
    m->nbefore = m->nnow;
    m->now = NULL;
    m->n = m->nnow = m->room_now = m->moved = 0;
    m->repeats = repeats;
    m->vm = vm;
    if (m->before)
        qsort(m->before, m->nbefore, sizeof *m->before, compare_past);
    err = snapshot_processes(vm->snapshot, take, m, count);
    sort_rows(m);
    return err;
}

/* ---- the table */

/* Processes without any are told to programs alone. */
static void print_row(const struct ps_monitors *m, const struct row *row, struct sink *sink)
{
    static const struct sink_column columns[] = {
        {"vm", NULL, SINK_COUNT, 0},
        {"process", "PROCESS", SINK_TEXT, 0},
        {"owner", "OWNER", SINK_TEXT, 14},
        {"monitors", "MONITORS", SINK_COUNT, 8},
        {"more", "MORE PER S", SINK_RATE, 10},
        {"watched_by", "WATCHED BY", SINK_COUNT, 10},
        {"links", "LINKS", SINK_COUNT, 7},
        {"at", "AT", SINK_TEXT, 0}};
    static const struct sink_table people = {"process_monitors", NULL, columns + 1, 7},
                                   programs = {"process_monitors", NULL, columns, 8};
    bool whole = sink->ops->for_programs, rates = m->before && sink->now_ns > m->before_ns;
    double seconds = rates ? (double)(sink->now_ns - m->before_ns) / 1e9 : 0;
    const uint64_t *counts = row->counts;
    struct ps_texts t;

    if (!whole && !counts[SNAPSHOT_WATCHES] && !counts[SNAPSHOT_WATCHED_BY] && !row->more)
        return;
    ps_texts_fill(m->vm, &row->is, &t);
    sink_row(sink, whole ? &programs : &people,
             (struct sink_value[]){SINK_N(m->vm->pid), SINK_S(t.pid), sink_text(t.owner),
                                   SINK_N(counts[SNAPSHOT_WATCHES]),
                                   rates ? SINK_R((double)row->more / seconds) : SINK_NONE,
                                   SINK_N(counts[SNAPSHOT_WATCHED_BY]), SINK_N(counts[SNAPSHOT_LINK]),
                                   sink_text(t.at)} + !whole);
}

int ps_monitors_print(struct ps_monitors *m, const struct inspected *vm, bool repeats, struct sink *sink)
{
    struct snapshot_count count;
    uint64_t cut = 0;
    int err = look(m, vm, repeats, &count);

    if (err && !count.read)
        return err;
    for (size_t i = 0; i < m->n; i++) {
        print_row(m, &m->rows[i], sink);
        cut += m->rows[i].cut;
    }
    m->before_ns = sink->now_ns;
    sink_lost(sink, cut, "of these have more links or monitors than are counted");
    sink_lost(sink, m->moved, "processes changed their links or monitors while these were counted");
    sink_lost(sink, count.unclear, "processes whose memory makes no sense");
    return err;
}
