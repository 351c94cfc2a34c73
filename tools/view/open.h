/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is under way when a result ends (OPEN of bpf/views.def): how many spans have begun and not ended, by VM, and
 * which is the oldest; those too that began before it was watched, where its memory tells of them (before.h).
 */
#ifndef TOOLS_OPEN_H
#define TOOLS_OPEN_H

#include "views.h"

struct result_source;
struct result_taken;

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
    bool ended; /* it has: nothing is under way any more (count is 0), and sum_ns is of what was */
    uint64_t count, sum_ns; /* sum_ns: of their ages when the result ends */
    uint64_t oldest_ns;     /* the age of the oldest */
    uint64_t before, before_ns; /* of them, those that began before: how many; their time in this result */
    bool at_least;          /* the oldest may be older: it began before */
    char *owner, *what;     /* of it, untrusted; empty: not known */
};
struct open_list {
    struct open_vm *vms;
    size_t nvms;
};

/* Reads what is under way of the views that are on. Fails: -errno; the lists are to be freed in any case. */
int open_read(const struct result_source *source, const bool on[VIEW_COUNT], struct open_list out[VIEW_NOPENS]);
/* Whether the VM, or some VM (0), does not tell when such spans begin, or when they end: nothing is known of them. */
bool open_unknown(const struct result_source *source, const struct view_open *open, uint32_t vm);
/* Whether those that began before the VM, or all (0), was watched are among them. */
bool open_knows_before(const struct result_source *source, const struct view_open *open, uint32_t vm);
/* Fails: -ENOMEM; *out as it was. */
int open_copy(const struct open_list *from, struct open_list *out);
void open_free(struct open_list *list);
/* The VM with the oldest; NULL: nothing is under way. */
const struct open_vm *open_oldest(const struct open_list *list);
/* How many there are of all VMs. */
uint64_t open_count(const struct open_list *list);
uint64_t open_count_before(const struct open_list *list);

/*
 * Shares of the time of spans (OPEN_TIME): what a result has of those under way, in place of all of it in the result
 * that they end in. Begins as zeros.
 */
struct open_shares {
    struct open_share *vms;
    size_t nvms;
};
/*
 * Gives a result its shares. The counter of a VM's row holds the time of spans that ended; it gets what was not told
 * yet of those under way, less what was told before of those that have ended. It never gets negative: what is left to
 * be taken away is taken from the next result, and not from one behind that, as the spans were lost then. Fails:
 * -ENOMEM.
 */
int open_settle(const struct result_source *source, const struct view_table *table,
                const struct open_list open[VIEW_NOPENS], struct result_taken *taken);
/* Its spans, or those of all (0), are not known any more: what they were told of stays told. */
void open_forget(struct open_shares *shares, uint32_t vm);
void open_shares_free(struct open_shares *shares);

#endif
