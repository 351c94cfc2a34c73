/* SPDX-License-Identifier: Apache-2.0 */
/* A table of rows of one size, by two numbers: what views keep in user space. */
#ifndef TOOLS_VIEW_STORE_H
#define TOOLS_VIEW_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/table.h"

enum { VIEW_STORE_RECENT = 1024 };

struct view_store {
    size_t row_bytes, most; /* most: rows that there is room for */
    struct view_store_row *rows; /* by vm and key; those that were dropped lately, too */
    struct view_store_row *apart; /* rows that are not found any more, only visited */
    struct view_store_row *dropped; /* of the rows, the longest ago first: to be the same row again, or another one */
    size_t napart, ndropped;
    struct view_store_row *recent[VIEW_STORE_RECENT]; /* rows of the table that were found last, by their key */
};

struct view_store_row {
    UT_hash_handle hh;
    struct view_store_row *next, *prev; /* of those dropped; next: of those apart */
    uint64_t vm, key; /* vm: above the VM's 32 bits there may be more of the key */
    bool is_dropped;
    uint64_t words[]; /* the row; zero when it is new */
};

/* Who chooses keys that share a place gains nothing: the table is as it would be without. */
static inline struct view_store_row **view_store_recent(struct view_store *store, uint64_t key)
{
    return &store->recent[key * 0x9e3779b97f4a7c15u >> 54];
}
_Static_assert(VIEW_STORE_RECENT == 1 << (64 - 54), "a place for each value of the highest bits");

/* The same of what was not found lately, or was dropped. */
void *view_store_look_up(struct view_store *store, uint64_t vm, uint64_t key, bool make);

/* The row, made when it is new and `make`; NULL: there is none, no room or no memory. It never moves. */
static inline void *view_store_find(struct view_store *store, uint64_t vm, uint64_t key, bool make)
{
    struct view_store_row *row = *view_store_recent(store, key);

    if (row && row->key == key && row->vm == vm && !row->is_dropped)
        return row->words;
    return view_store_look_up(store, vm, key, make);
}

/* The row goes; nothing when there is none. */
void view_store_drop(struct view_store *store, uint64_t vm, uint64_t key);
/* Drops the rows of a VM: whose `vm` has it in its low 32 bits. */
void view_store_drop_vm(struct view_store *store, uint64_t vm);
/*
 * Hands each row of a VM to `leave`, and sets it apart: another VM with this number does not find it, and it stays
 * until all rows go.
 */
void view_store_set_apart(struct view_store *store, uint64_t vm, void (*leave)(void *ctx, struct view_store_row *row),
                          void *ctx);
/* Visits every row; a nonzero return of `visit` ends it and is returned. */
int view_store_each(const struct view_store *store, int (*visit)(void *ctx, const struct view_store_row *row),
                    void *ctx);
void view_store_clear(struct view_store *store);

#endif
