/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shares of the time of spans (OPEN_TIME of bpf/views.def): what a result has of those under way, in place of all of it
 * in the result that they end in. By VM in a TOTAL table, by VM and name in others.
 */
#ifndef TOOLS_SHARES_H
#define TOOLS_SHARES_H

#include "views.h"

/* Begins as zeros. */
struct open_shares {
    struct open_share *all; /* by time, VM and name */
};

/* A result ends: nothing is known to be under way yet. */
void shares_begin(struct open_shares *shares);
/*
 * Spans of the time (of view_open_times) are under way: their ages together, and, of those that began before their VM
 * was watched, their time in this result. name: of the row; of a TOTAL table "". Fails: -ENOMEM.
 */
int shares_add(struct open_shares *shares, size_t time, uint32_t vm, const char *name, uint64_t ages_ns,
               uint64_t before_ns, bool vm_ended);

/* A table of a result. */
struct shares_table {
    const struct view_table *is;
    uint64_t *all; /* the sum of its rows */
    /* The row of the VM and name, which is made if `make`; *row NULL: it is not told apart. 1: there is none. Fails:
     * -errno. */
    int (*find)(void *ctx, uint32_t vm, const char *name, bool make, uint64_t **row);
    void *ctx;
};
/*
 * Gives it its shares. A row's counter holds the time of spans that ended; it gets what was not told yet of those under
 * way, less what was told before of those that have ended. It never gets negative: what is left to be taken away is
 * taken from the next result, and not from one behind that, as the spans were lost then, or ended under another name.
 * Fails: as `find`.
 */
int shares_settle(struct open_shares *shares, const struct shares_table *table);
/* The VM's spans, or those of all (0), are not known any more: what they were told of stays told. */
void shares_forget(struct open_shares *shares, uint32_t vm);
void shares_free(struct open_shares *shares);

#endif
