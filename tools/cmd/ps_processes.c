/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: of a look only rows that are shown are kept, and the reductions of all when another look comes. */
#include "ps_processes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/clock.h"
#include "ps_texts.h"

enum { STATUSES = SNAPSHOT_EXITING + 1 };

struct row {
    struct snapshot_process is;
    uint64_t recent; /* reductions since the look before; all when it was born since */
    uint64_t birth;  /* its order */
};

/* How many reductions a process had. */
struct past {
    ev_id id;
    uint64_t reductions;
};

struct ps_processes {
    enum ps_sort sort;
    size_t top; /* 0: all */
    struct row *rows;
    size_t n, room;
    uint64_t statuses[STATUSES];
    struct past *before, *now; /* before: by id; NULL: this is the first look */
    size_t nbefore, nnow, room_now;
    bool repeats;
    uint64_t before_ns, now_ns;
    const struct snapshot *snapshot; /* of the look */
    uint64_t limit;                  /* how many processes there may be */
};

struct ps_processes *ps_processes_new(enum ps_sort sort, size_t top)
{
    struct ps_processes *p = calloc(1, sizeof *p);

    if (p)
        *p = (struct ps_processes){.sort = sort, .top = top};
    return p;
}

void ps_processes_free(struct ps_processes *p)
{
    if (!p)
        return;
    free(p->rows);
    free(p->before);
    free(p->now);
    free(p);
}

/* ---- the order */

static uint64_t key_of(const struct row *row, enum ps_sort sort)
{
    switch (sort) {
    case PS_MAILBOX: return row->is.messages;
    case PS_MEMORY: return snapshot_memory_bytes(&row->is);
    case PS_BINARIES: return snapshot_binary_bytes(&row->is);
    case PS_AGE: return ~row->birth;
    default: return row->recent;
    }
}

/* Those that have as much of it: by memory, then by pid. */
static int compare_rows(const void *a, const void *b, void *ctx)
{
    const struct row *x = a, *y = b;
    enum ps_sort sort = *(enum ps_sort *)ctx;
    uint64_t keys[][2] = {{key_of(y, sort), key_of(x, sort)},
                          {snapshot_memory_bytes(&y->is), snapshot_memory_bytes(&x->is)},
                          {x->is.id, y->is.id}};

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i][0] != keys[i][1])
            return keys[i][0] < keys[i][1] ? -1 : 1;
    return 0;
}

static void sort_rows(struct ps_processes *p)
{
    if (p->n)
        qsort_r(p->rows, p->n, sizeof *p->rows, compare_rows, &p->sort);
    if (p->top && p->n > p->top)
        p->n = p->top;
}

/* ---- a look */

static int compare_past(const void *a, const void *b)
{
    const struct past *x = a, *y = b;

    return x->id < y->id ? -1 : x->id > y->id;
}

static int keep_past(struct ps_processes *p, const struct snapshot_process *is)
{
    int err = array_room((void **)&p->now, p->nnow, &p->room_now, sizeof *p->now);

    if (!err)
        p->now[p->nnow++] = (struct past){is->id, is->reductions};
    return err;
}

/* Rows that are too many go once they are twice as many as are kept. */
static int keep_row(struct ps_processes *p, const struct row *row)
{
    int err;

    if (p->top && p->n >= 2 * p->top)
        sort_rows(p);
    err = array_room((void **)&p->rows, p->n, &p->room, sizeof *p->rows);
    if (!err)
        p->rows[p->n++] = *row;
    return err;
}

static int take(void *ctx, const struct snapshot_process *is)
{
    struct ps_processes *p = ctx;
    struct row row = {.is = *is, .recent = is->reductions};
    const struct past *past =
        p->before ? bsearch(&(struct past){.id = is->id}, p->before, p->nbefore, sizeof *p->before, compare_past)
                  : NULL;
    int err;

    if (past)
        row.recent = is->reductions > past->reductions ? is->reductions - past->reductions : 0;
    snapshot_birth(p->snapshot, is->id, p->limit, &row.birth);
    p->statuses[is->status]++;
    err = keep_row(p, &row);
    return err || !p->repeats ? err : keep_past(p, is);
}

int ps_processes_look(struct ps_processes *p, const struct inspected *vm, bool repeats, struct snapshot_count *count)
{
    int err;

    free(p->before);
    p->before = p->now;
    p->nbefore = p->nnow;
    p->now = NULL;
    p->n = p->nnow = p->room_now = 0;
    p->repeats = repeats;
    p->snapshot = vm->snapshot;
    p->limit = 0;
    snapshot_process_limit(vm->snapshot, &p->limit);
    memset(p->statuses, 0, sizeof p->statuses);
    if (p->before)
        qsort(p->before, p->nbefore, sizeof *p->before, compare_past);
    p->before_ns = p->now_ns;
    p->now_ns = clock_ns(CLOCK_MONOTONIC);
    err = snapshot_processes(vm->snapshot, take, p, count);
    sort_rows(p);
    return err;
}

uint64_t ps_processes_count(const struct ps_processes *p, enum snapshot_status status)
{
    return p->statuses[status];
}

/* ---- tables */

static const struct sink_column columns[] = {
    {"process", "PROCESS", SINK_TEXT, 0},   {"owner", "OWNER", SINK_TEXT, 14},
    {"messages", "MAILBOX", SINK_COUNT, 7}, {"memory", "MEMORY", SINK_SIZE, 7},
    {"binaries", "BINARIES", SINK_SIZE, 8}, {"reductions", "REDS", SINK_COUNT, 8},
    {"status", "STATUS", SINK_TEXT, 0},     {"at", "AT", SINK_TEXT, 0}};
static const struct sink_column rate_columns[] = {
    {"process", "PROCESS", SINK_TEXT, 0},   {"owner", "OWNER", SINK_TEXT, 14},
    {"messages", "MAILBOX", SINK_COUNT, 7}, {"memory", "MEMORY", SINK_SIZE, 7},
    {"binaries", "BINARIES", SINK_SIZE, 8}, {"reductions", "REDS/S", SINK_COUNT, 8},
    {"status", "STATUS", SINK_TEXT, 0},     {"at", "AT", SINK_TEXT, 0}};
static const struct sink_column born_columns[] = {
    {"process", "PROCESS", SINK_TEXT, 0},   {"owner", "OWNER", SINK_TEXT, 14},
    {"messages", "MAILBOX", SINK_COUNT, 7}, {"memory", "MEMORY", SINK_SIZE, 7},
    {"binaries", "BINARIES", SINK_SIZE, 8}, {"born", "BORN", SINK_COUNT, 8},
    {"status", "STATUS", SINK_TEXT, 0},     {"at", "AT", SINK_TEXT, 0}};
static const struct sink_table table = {"process", NULL, columns, 8}, rate_table = {"process", NULL, rate_columns, 8},
                               born_table = {"process", NULL, born_columns, 8};

static void print_row(const struct ps_processes *p, const struct inspected *vm, const struct row *row,
                      struct sink *sink)
{
    const struct snapshot_process *is = &row->is;
    double seconds = (double)(p->now_ns - p->before_ns) / 1e9;
    bool rates = p->before && seconds > 0;
    double rate = rates ? (double)row->recent / seconds : 0;
    struct sink_value born = ps_born(vm, is, p->limit);
    struct ps_texts t;

    ps_texts_fill(vm, is, &t);
    if (sink->ops->for_programs)
        ps_print_whole(vm, is, &t, rates ? SINK_R(rate) : SINK_NONE, born, sink);
    else
        sink_row(sink, p->sort == PS_AGE ? &born_table : p->before ? &rate_table : &table,
                 (struct sink_value[]){SINK_S(t.pid), sink_text(t.owner), SINK_N(is->messages),
                                       SINK_N(snapshot_memory_bytes(is)), SINK_N(snapshot_binary_bytes(is)),
                                       p->sort == PS_AGE ? born
                                                         : SINK_N(rates ? (uint64_t)rate : is->reductions),
                                       SINK_S(ps_status_text(is)), sink_text(t.at)});
}

void ps_processes_print(const struct ps_processes *p, const struct inspected *vm, struct sink *sink)
{
    uint64_t cut = 0, unsure = 0, order;

    for (size_t i = 0; i < p->n; i++) {
        print_row(p, vm, &p->rows[i], sink);
        cut += p->rows[i].is.more;
        unsure += !snapshot_birth(vm->snapshot, p->rows[i].is.id, p->limit, &order);
    }
    if (p->sort == PS_AGE)
        sink_lost(sink, unsure, "of these have a pid that was used before: which is older is not known");
    sink_lost(sink, cut, "of these mailboxes hold more messages than are counted");
}
