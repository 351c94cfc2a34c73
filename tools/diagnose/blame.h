/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who waits for whom, as a graph: each process waits for one other, or for a thing that is no process (a port, a node).
 * So it falls into trees, whose roots wait for nobody, and circles, of which each waits for the next: a deadlock.
 */
#ifndef TOOLS_BLAME_H
#define TOOLS_BLAME_H

#include <stddef.h>
#include <stdint.h>

#include "otp/waits.h"

enum { BLAME_NOBODY = -1 };

struct blame_node {
    ev_id id;         /* of a process; 0: a thing */
    char *thing;      /* what else it is, untrusted; NULL: a process */
    int64_t next;     /* number of whom it waits for; BLAME_NOBODY: it waits for nobody, as far as is known */
    struct wait wait; /* of one that waits */
    bool waits;
    uint64_t since_ns; /* CLOCK_MONOTONIC: of the earliest look since which it waits for the same, and did nothing */
    bool in_circle;
    int64_t root;     /* number of the root, or of the first of the circle, that it leads to: its own of these */
    uint64_t waiters; /* processes that wait for it, and for those who do; of a circle for all of it, itself included */
    int64_t child, sibling; /* the first that waits for it, the next of those; BLAME_NOBODY: none */
};

/* Empty when all 0. Owns: blame_end frees. */
struct blame {
    struct blame_node *nodes;
    size_t n, room;
    size_t waiting; /* how many processes wait */
    struct blame_index *index;
};

/*
 * Who waits for whom now, whole: blame_add for each, and blame_link. before: as of blame_link; *count may be NULL.
 * Fails: as waits_read; what is there then is to be ended all the same.
 */
int blame_look(struct blame *blame, struct snapshot *snapshot, uint64_t now_ns, const struct blame *before,
               struct snapshot_count *count);
/* Adds what waits_read tells; a second time for the same process: what was told first holds. Fails: -ENOMEM. */
int blame_add(struct blame *blame, const struct wait *wait);
/* When all are there. now_ns: of this look; before: of the one before; NULL: there was none. Fails: -ENOMEM. */
int blame_link(struct blame *blame, uint64_t now_ns, const struct blame *before);
void blame_end(struct blame *blame);
/* The node of the process; NULL: it neither waits nor is waited for. */
const struct blame_node *blame_find(const struct blame *blame, ev_id id);

#endif
