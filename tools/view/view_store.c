/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: a row is in the table or apart; one that was dropped or is recent is in the table. */
#include "view_store.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

enum {
    KEY_BYTES = offsetof(struct view_store_row, is_dropped) - offsetof(struct view_store_row, vm),
    /*
     * Rows that stay when they are dropped: what begins and ends with each event, such as slices, is most often the
     * same few again, and to put a row into the table, or take it out, costs more than all else of an event.
     */
    MOST_DROPPED = 64,
};

/* The row is not in the table any more. */
static void forget_row(struct view_store *s, struct view_store_row *row)
{
    struct view_store_row **place = view_store_recent(s, row->key);

    if (*place == row)
        *place = NULL;
    if (row->is_dropped) {
        DL_DELETE(s->dropped, row);
        s->ndropped--;
    }
    HASH_DEL(s->rows, row);
}

static void free_row(struct view_store *s, struct view_store_row *row)
{
    forget_row(s, row);
    free(row);
}

/* A row of zeros, in no table; NULL: no memory. */
static struct view_store_row *new_row(struct view_store *s)
{
    struct view_store_row *row = s->dropped;

    if (s->ndropped < MOST_DROPPED)
        return calloc(1, sizeof *row + s->row_bytes);
    forget_row(s, row);
    memset(row, 0, sizeof *row + s->row_bytes);
    return row;
}

static bool has_room(const struct view_store *s)
{
    return HASH_COUNT(s->rows) - s->ndropped + s->napart < s->most;
}

static struct view_store_row *make_row(struct view_store *s, uint64_t vm, uint64_t key, unsigned hash)
{
    struct view_store_row *row = has_room(s) ? new_row(s) : NULL;

    if (!row)
        return NULL;
    row->vm = vm;
    row->key = key;
    HASH_ADD_BYHASHVALUE(hh, s->rows, vm, KEY_BYTES, hash, row);
    if (table_has(row))
        return row;
    free(row);
    return NULL;
}

/* A row that was dropped is a new one. Returns false when there is no room. */
static bool revive(struct view_store *s, struct view_store_row *row)
{
    if (!has_room(s))
        return false;
    DL_DELETE(s->dropped, row);
    s->ndropped--;
    row->is_dropped = false;
    memset(row->words, 0, s->row_bytes);
    return true;
}

static struct view_store_row *find_row(struct view_store *s, uint64_t vm, uint64_t key, bool make)
{
    struct view_store_row *row = *view_store_recent(s, key);
    const uint64_t both[] = {vm, key};
    unsigned hash;

    if (row && row->key == key && row->vm == vm)
        return row;
    HASH_VALUE(both, KEY_BYTES, hash);
    HASH_FIND_BYHASHVALUE(hh, s->rows, both, KEY_BYTES, hash, row);
    return row || !make ? row : make_row(s, vm, key, hash);
}

void *view_store_look_up(struct view_store *s, uint64_t vm, uint64_t key, bool make)
{
    struct view_store_row *row = find_row(s, vm, key, make);

    if (!row || (row->is_dropped && (!make || !revive(s, row))))
        return NULL;
    *view_store_recent(s, key) = row;
    return row->words;
}

void view_store_drop(struct view_store *s, uint64_t vm, uint64_t key)
{
    struct view_store_row *row = find_row(s, vm, key, false);

    if (!row || row->is_dropped)
        return;
    if (s->ndropped == MOST_DROPPED)
        free_row(s, s->dropped);
    row->is_dropped = true;
    DL_APPEND(s->dropped, row);
    s->ndropped++;
}

void view_store_drop_vm(struct view_store *s, uint64_t vm)
{
    struct view_store_row *row, *next;

    HASH_ITER(hh, s->rows, row, next)
        if ((uint32_t)row->vm == vm)
            free_row(s, row);
}

void view_store_set_apart(struct view_store *s, uint64_t vm, void (*leave)(void *ctx, struct view_store_row *row),
                          void *ctx)
{
    struct view_store_row *row, *next;

    HASH_ITER(hh, s->rows, row, next) {
        if (row->vm != vm || row->is_dropped)
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
        err = row->is_dropped ? 0 : visit(ctx, row);
    return err;
}

void view_store_clear(struct view_store *s)
{
    struct view_store_row *row, *next;

    HASH_ITER(hh, s->rows, row, next)
        free_row(s, row);
    for (row = s->apart; row; row = next) {
        next = row->next;
        free(row);
    }
    s->apart = NULL;
    s->napart = 0;
}
