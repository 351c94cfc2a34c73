/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: a table is counted only where a lock is being taken, by the word nearest to the place that says so. */
#include "contention.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evidence.h"
#include "target/thread_call.h"

enum {
    MOST_THREADS = 64, /* schedulers that are sampled: the others wait for the same */
    NEAR = 40,         /* words above the place in which the table stands */
};

void contention_end(struct contention *c)
{
    thread_samples_free(c->samples);
    c->samples = NULL;
}

/* ---- beginning */

static int begin_samples(struct contention *c, uint32_t vm)
{
    int threads[MOST_THREADS], err;
    struct thread_name *names;
    size_t n = 0, all;

    err = thread_names((int)vm, &names, &all);
    for (size_t i = 0; !err && i < all && n < MOST_THREADS; i++)
        if (thread_name_is_scheduler(&names[i]))
            threads[n++] = names[i].id;
    if (!err)
        free(names);
    if (!err && n)
        return thread_samples_new(threads, n, &c->samples, c->why) == -ENOMEM ? -ENOMEM : 0;
    snprintf(c->why, sizeof c->why, "which threads its schedulers have cannot be read");
    return err == -ENOMEM ? err : 0;
}

static int begin(struct evidence *e)
{
    static const char *const functions[] = {"ethr_rwmutex_rlock", "ethr_rwmutex_rwlock"};
    struct contention *c = &e->contention;

    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (!snapshot_function(e->snapshot, functions[i], &c->locks[i].begin, &c->locks[i].end)) {
            snprintf(c->why, sizeof c->why, "where this VM waits for locks is not known (erlsnoop ets asks an erlvm)");
            return 0;
        }
    return begin_samples(c, e->vm);
}

/* ---- samples */

struct looking {
    struct evidence *e;
    struct evidence_table **tables; /* by address; NULL: not asked for yet */
    size_t n;
    int err;
};

static int compare_tables(const void *a, const void *b)
{
    const struct evidence_table *x = *(struct evidence_table *const *)a, *y = *(struct evidence_table *const *)b;

    return x->key.address < y->key.address ? -1 : x->key.address > y->key.address;
}

static int sort_tables(struct looking *l)
{
    l->tables = malloc((HASH_COUNT(l->e->tables) + 1) * sizeof *l->tables);
    if (!l->tables)
        return -ENOMEM;
    for (struct evidence_table *t = l->e->tables; t; t = t->hh.next)
        l->tables[l->n++] = t;
    qsort(l->tables, l->n, sizeof *l->tables, compare_tables);
    return 0;
}

/* The table that the address is in; NULL: none. */
static struct evidence_table *table_of(const struct looking *l, uint64_t address, uint64_t bytes)
{
    size_t low = 0, high = l->n;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (l->tables[middle]->key.address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low && address - l->tables[low - 1]->key.address < bytes ? l->tables[low - 1] : NULL;
}

static bool takes_lock(const struct contention *c, uint64_t code)
{
    for (size_t i = 0; i < sizeof c->locks / sizeof *c->locks; i++)
        if (code >= c->locks[i].begin && code < c->locks[i].end)
            return true;
    return false;
}

/* The first word above the place at which a lock is being taken; s->n: none is. */
static size_t find_lock(const struct contention *c, const struct thread_sample *s)
{
    size_t at = 0;

    if (takes_lock(c, s->ip))
        return 0;
    while (at < s->n && !takes_lock(c, s->words[at]))
        at++;
    return at < s->n ? at + 1 : s->n;
}

static void take_sample(void *ctx, const struct thread_sample *s)
{
    struct looking *l = ctx;
    size_t from = find_lock(&l->e->contention, s);

    l->e->contention.all++;
    if (from < s->n && !l->tables && !l->err)
        l->err = sort_tables(l);
    for (size_t i = from; !l->err && i < s->n && i < from + NEAR; i++) {
        struct evidence_table *table = table_of(l, s->words[i], snapshot_table_bytes(l->e->snapshot));

        if (!table)
            continue;
        table->waits++;
        return;
    }
}

int contention_look(struct evidence *e)
{
    struct looking l = {.e = e};
    int err = e->contention.samples || e->contention.why[0] ? 0 : begin(e);

    if (err || !e->contention.samples)
        return err;
    thread_samples_read(e->contention.samples, take_sample, &l);
    free(l.tables);
    return l.err;
}
