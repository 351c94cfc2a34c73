/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: a row is in the table, apart or spare; a recent one is in the table. */
#include "view_store.h"

#include <stdlib.h>
#include <string.h>

enum {
    KEY_BYTES = offsetof(struct view_store_row, words) - offsetof(struct view_store_row, vm),
    MOST_SPARE = 64, /* rows; of what begins and ends with each event, such as slices, hardly more are there at once */
};

static void forget_row(struct view_store *s, struct view_store_row *row)
{
    struct view_store_row **place = view_store_recent(s, row->key);

    if (*place == row)
        *place = NULL;
    HASH_DEL(s->rows, row);
}

/* A row of zeros; NULL: no memory. */
static struct view_store_row *new_row(struct view_store *s)
{
    struct view_store_row *row = s->spare;

    if (!row)
        return calloc(1, sizeof *row + s->row_bytes);
    s->spare = row->next;
    s->nspare--;
    memset(row, 0, sizeof *row + s->row_bytes);
    return row;
}

static void free_row(struct view_store *s, struct view_store_row *row)
{
    if (s->nspare == MOST_SPARE) {
        free(row);
        return;
    }
    row->next = s->spare;
    s->spare = row;
    s->nspare++;
}

static struct view_store_row *make_row(struct view_store *s, uint64_t vm, uint64_t key, unsigned hash)
{
    struct view_store_row *row = HASH_COUNT(s->rows) + s->napart < s->most ? new_row(s) : NULL;

    if (!row)
        return NULL;
    row->vm = vm;
    row->key = key;
    HASH_ADD_BYHASHVALUE(hh, s->rows, vm, KEY_BYTES, hash, row);
    if (table_has(row))
        return row;
    free_row(s, row);
    return NULL;
}

void *view_store_look_up(struct view_store *s, uint64_t vm, uint64_t key, bool make)
{
    const uint64_t both[] = {vm, key};
    struct view_store_row *row;
    unsigned hash;

    HASH_VALUE(both, KEY_BYTES, hash);
    HASH_FIND_BYHASHVALUE(hh, s->rows, both, KEY_BYTES, hash, row);
    if (!row && make)
        row = make_row(s, vm, key, hash);
    if (row)
        *view_store_recent(s, key) = row;
    return row ? row->words : NULL;
}

static void drop_row(struct view_store *s, struct view_store_row *row)
{
    forget_row(s, row);
    free_row(s, row);
}

void view_store_drop(struct view_store *s, uint64_t vm, uint64_t key)
{
    if (view_store_find(s, vm, key, false)) /* it is recent now */
        drop_row(s, *view_store_recent(s, key));
}

void view_store_drop_vm(struct view_store *s, uint64_t vm)
{
    struct view_store_row *row, *next;

    HASH_ITER(hh, s->rows, row, next)
        if ((uint32_t)row->vm == vm)
            drop_row(s, row);
}

void view_store_set_apart(struct view_store *s, uint64_t vm, void (*leave)(void *ctx, struct view_store_row *row),
                          void *ctx)
{
    struct view_store_row *row, *next;

    HASH_ITER(hh, s->rows, row, next) {
        if (row->vm != vm)
            continue;
        leave(ctx, row);
        forget_row(s, row);
        row->next = s->apart;
        s->apart = row;
        s->napart++;
    }
}

int view_store_each(const struct view_store *s, int (*visit)(void *ctx, const struct view_store_row *row), void *ctx)
{
    int err = 0;

    for (const struct view_store_row *row = s->apart; row && !err; row = row->next)
        err = visit(ctx, row);
    for (const struct view_store_row *row = s->rows; row && !err; row = row->hh.next)
        err = visit(ctx, row);
    return err;
}

void view_store_clear(struct view_store *s)
{
    struct view_store_row *row, *next;

    HASH_ITER(hh, s->rows, row, next)
        drop_row(s, row);
    for (row = s->apart; row; row = next) {
        next = row->next;
        free(row);
    }
    for (row = s->spare; row; row = next) {
        next = row->next;
        free(row);
    }
    s->apart = s->spare = NULL;
    s->napart = s->nspare = 0;
}
