/* SPDX-License-Identifier: Apache-2.0 */
/* A table of rows of one size, by two numbers: what views keep in user space. */
#ifndef TOOLS_VIEW_STORE_H
#define TOOLS_VIEW_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct view_store {
    size_t row_bytes, most; /* most: rows that there is room for */
    size_t count, nbuckets;
    struct view_store_row **buckets;
};

struct view_store_row {
    struct view_store_row *next;
    uint64_t vm, key;
    uint64_t words[]; /* the row; zero when it is new */
};

/* The row, made when it is new and `make`; NULL: there is none, no room or no memory. It never moves. */
void *view_store_find(struct view_store *store, uint64_t vm, uint64_t key, bool make);
void view_store_drop(struct view_store *store, uint64_t vm, uint64_t key);
/* Drops the rows of a VM. */
void view_store_drop_vm(struct view_store *store, uint64_t vm);
void view_store_clear(struct view_store *store);

#endif
