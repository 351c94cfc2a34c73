/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What holds programs to places of targets: groups of links, each of one program. They can be taken away for a while
 * and made again, which removes the traps themselves: a program that does nothing costs almost as much as one that
 * counts.
 */
#ifndef TOOLS_LINKS_H
#define TOOLS_LINKS_H

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
    struct links_closer *closer; /* removes groups of processes that have ended; NULL: none have */
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

#endif
