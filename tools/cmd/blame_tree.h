/* SPDX-License-Identifier: Apache-2.0 */
/* Who waits for whom, as people read it: trees of rows, below each of which stands who waits for it. */
#ifndef TOOLS_BLAME_TREE_H
#define TOOLS_BLAME_TREE_H

#include "diagnose/blame.h"
#include "ps_known.h"

enum {
    BLAME_WHO_BYTES = PS_NAME_BYTES + 64,
    BLAME_TEXT_BYTES = PS_NAME_BYTES + 1024,
};

/* What was seen of a VM. Empty when all 0, but for `vm`, which stays the caller's; blame_tree_end frees the rest. */
struct blame_tree {
    const struct inspected *vm;
    uint64_t now_ns; /* CLOCK_MONOTONIC: of the look */
    struct blame waits;
    struct ps_known known;
    struct pending *works; /* what processes do that takes long: files, native functions, collections */
    size_t nworks, room;
    const struct blame_node **roots; /* whom others wait for in the end, of a circle its first; the worst first */
    size_t nroots;
};

/* One, or several of one name that wait for the same. */
struct blame_row {
    unsigned depth;   /* 0: it waits for nobody, or in a circle */
    uint64_t waiters; /* processes that wait for it, themselves or through others */
    uint64_t circle;  /* the number of the circle that it is in, from 1; 0: none */
    bool is_rest;     /* those that there was no room for: `who` says how many */
    const char *who, *does; /* untrusted */
};

/* Reads what takes long in the VM, and puts the roots in order. Fails: -ENOMEM. */
int blame_tree_grow(struct blame_tree *tree);
/* Finds the names of all, or of those in the rows of the first `top` roots. Fails: -ENOMEM. */
int blame_tree_name(struct blame_tree *tree, bool all, size_t top);
/* Tells `take` the rows of the first `top` roots; their texts are good until it returns. */
void blame_tree_walk(const struct blame_tree *tree, size_t top,
                     void (*take)(void *ctx, const struct blame_row *row), void *ctx);
void blame_tree_end(struct blame_tree *tree);

/* "name <0.1.0>", or what it is that is no process; what who waits for nobody does. */
void blame_tree_who(const struct blame_tree *tree, const struct blame_node *node, char *buf, size_t size);
void blame_tree_work(const struct blame_tree *tree, const struct blame_node *node, char *buf, size_t size);
/* NULL: nobody. */
const struct blame_node *blame_tree_node(const struct blame_tree *tree, int64_t number);

#endif
