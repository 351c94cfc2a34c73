/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is under way when a result ends (OPEN of bpf/views.def): how many spans have begun and not ended, by VM, and
 * which is the oldest; those too that began before it was watched, where its memory shows them (before.h).
 */
#ifndef TOOLS_OPEN_H
#define TOOLS_OPEN_H

#include "views.h"

struct result_source;

/* A state as it is kept. */
struct open_state {
    uint32_t vm;
    uint64_t key;   /* the process, or the key of a KEY; 0: not known */
    const void *at; /* struct state_<view>_<state>; good during the call */
    uint64_t seen_ns; /* when it was; 0: when the result ends */
};

/* Who is told each state. Fails: -ENOMEM, which ends it. */
struct open_taker {
    int (*take)(void *ctx, const struct open_state *state);
    void *ctx;
};

/* Of a VM. */
struct open_vm {
    uint32_t vm;
    bool ended; /* it has: nothing is under way any more (count is 0) */
    uint64_t count, before; /* before: of them, those that began before it was watched */
    uint64_t oldest_ns;     /* the age of the oldest */
    bool at_least;          /* the oldest may be older: it began before */
    char *owner, *what;     /* of it, untrusted; empty: not known */
};
struct open_list {
    struct open_vm *vms;
    size_t nvms;
};

/* Reads what is under way of the views that are on, and gives it to the source's shares. Fails: -errno; the lists are
 * to be freed in any case. */
int open_read(const struct result_source *source, const bool on[VIEW_COUNT], struct open_list out[VIEW_NOPENS]);
/* Whether the VM, or some VM (0), does not tell when such spans begin, or when they end: nothing is known of them. */
bool open_unknown(const struct result_source *source, const struct view_open *open, uint32_t vm);
/* Whether those that began before the VM, or all (0), was watched are among them. */
bool open_knows_before(const struct result_source *source, const struct view_open *open, uint32_t vm);
/* Whether which of QUEUED wait still is known of the VM, or of all (0). */
bool open_knows_queued(const struct result_source *source, uint32_t vm);
/* Fails: -ENOMEM; *out as it was. */
int open_copy(const struct open_list *from, struct open_list *out);
void open_free(struct open_list *list);
/* The VM with the oldest; NULL: nothing is under way. */
const struct open_vm *open_oldest(const struct open_list *list);
/* How many there are of all VMs. */
uint64_t open_count(const struct open_list *list);
uint64_t open_count_before(const struct open_list *list);

#endif
