/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What holds programs to places of targets: groups of links, each of one program. They can be taken away for a while
 * and made again, which removes the traps themselves: a program that does nothing costs almost as much as one that
 * counts. Links of some groups can be made by a thread, while who has the others goes on.
 */
#ifndef TOOLS_LINKS_H
#define TOOLS_LINKS_H

#include <pthread.h>
#include <stdatomic.h>

#include "uprobe.h"
#include "vm_maps.h"

/* What a group is for. */
struct links_wish {
    int program;  /* its descriptor */
    int file;     /* an open file that the places are in; the group keeps a descriptor of its own. -1: of a clock */
    int pid;      /* only of this process; -1: of every one that maps the file */
    int owner;    /* the process with whose end the group goes; 0: it stays to the end */
    bool returns; /* the places are entries of functions whose returns are meant */
    bool stays;   /* it is not taken away */
};

struct links_group {
    struct links_wish wish;
    struct uprobe_place *places;
    size_t nplaces;
    int *fds; /* of links: one, or one a place */
    size_t nfds;
};

struct links_set {
    struct links_group *groups;
    size_t n;
    bool many; /* the kernel has links of many places */
    bool away; /* what may be taken away is */
    bool later; /* groups that are added get no links yet */
    struct links_opening *openings; /* groups that will join this set; NULL: none */
    struct links_closer *closer; /* removes groups of processes that have ended; NULL: none have */
};

/* Groups whose links a thread makes; they join a set when all are there. */
struct links_opening {
    struct links_set links; /* the thread's, from when it begins until it has ended */
    struct links_opening *next;
    pthread_t thread;
    bool runs;        /* nobody has waited for it yet */
    atomic_bool done; /* it touches nothing any more */
    int err;          /* its failure: there are no links then */
};

/* Makes a group, with its links unless they are away. Fails: -errno; -ESRCH: the process has ended. */
int links_add(struct links_set *l, const struct links_wish *wish, const struct uprobe_place *places, size_t n);
/* A group of one link that there is already, which it takes over, also when it fails; it stays. */
int links_take(struct links_set *l, int link);
/* Removes all groups behind the first n. */
void links_cut(struct links_set *l, size_t n);
/* Removes the groups of processes, in the background: nobody waits for the kernel, nor for those that ended before. */
void links_drop(struct links_set *l, const struct vm_set *owners);
/* Takes away what may be; returns when the kernel has removed the traps. */
void links_leave(struct links_set *l);
/* Makes again what was taken away; of processes that have ended nothing. Fails: -errno. */
int links_return(struct links_set *l);

/*
 * Groups for the set that are to be linked by a thread: links_add adds them to `links` of what is returned. Owns:
 * links_join or links_give_up frees. NULL: out of memory.
 */
struct links_opening *links_begin(struct links_set *l);
/*
 * Makes their links on a thread, which leaves those out that may be away where the set's are; without a thread before
 * it returns.
 */
void links_open(struct links_opening *o);
/* Whether the thread is done: links_join does not wait. */
bool links_is_open(const struct links_opening *o);
/* Adds the groups, linked, to the set. Fails: -errno, and adds none; -ESRCH: the process has ended. */
int links_join(struct links_set *l, struct links_opening *o);
/* Removes them instead, and waits for that. */
void links_give_up(struct links_set *l, struct links_opening *o);

#endif
