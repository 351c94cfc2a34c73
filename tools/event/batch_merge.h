/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pages of all threads of all VMs as one stream of events, in the order of their times. A thread hands its page
 * over when it is full, and when its first event is BATCH_PATIENCE_MS old: what happened BATCH_MERGE_PATIENCE_NS ago
 * has arrived from every thread, and is told. The bytes come from the memory of other processes: they may hold
 * anything.
 * Invariants: the kernel's time of a page is believed, not its own; what waits takes no more than BATCH_MERGE_BYTES,
 * and what cannot be told is counted.
 */
#ifndef TOOLS_BATCH_MERGE_H
#define TOOLS_BATCH_MERGE_H

#include "batch_names.h"
#include "event.h"

#include "../../bpf/batch.h"

#define BATCH_MERGE_PATIENCE_NS 125000000ull
#define BATCH_MERGE_BYTES ((size_t)8 << 20)

struct batch_counts {
    uint64_t events, pages;
    uint64_t lost_pages, lost_events; /* that threads handed over and nobody received */
    uint64_t damaged; /* pages that made no sense, from some record on or altogether */
    uint64_t refused; /* pages and names for which there was no room */
    uint64_t late;    /* events that were told after one of a later time */
    uint64_t unwanted;  /* events that came when nothing more was wanted */
};

struct batch_merge_ops {
    void (*event)(void *ctx, const union ev_any *ev); /* good during the call */
    /*
     * A process, as events tell its pid, is called so from now on (event_name_of_record); told in the order of events.
     * May be NULL.
     */
    void (*named)(void *ctx, uint32_t vm, ev_id id, const struct wire_name *name);
    /* Events of the VM are missing between those told before and those told from now on. May be NULL. */
    void (*gap)(void *ctx, uint32_t vm);
    /* The VM ends as it should: all that its threads held has come. May be NULL. */
    void (*closed)(void *ctx, uint32_t vm);
    /*
     * Asked every few hundred events: whether no more are wanted, from then on. They are counted as unwanted. May be
     * NULL.
     */
    bool (*is_over)(void *ctx);
    void *ctx;
};

/*
 * `names` learns the atoms that pages tell, and stays the caller's. Owns: batch_merge_free frees. NULL: out of memory.
 */
struct batch_merge *batch_merge_new(struct batch_names *names, const struct batch_merge_ops *ops);
void batch_merge_free(struct batch_merge *merge);
/* Copies a page; its bytes are behind `received`, which the kernel wrote. Tells events where too many wait. */
void batch_merge_take(struct batch_merge *merge, const struct batch_received *received);
/*
 * Tells all events up to this time (CLOCK_MONOTONIC): what is older than BATCH_MERGE_PATIENCE_NS, or UINT64_MAX at the
 * end.
 */
void batch_merge_until(struct batch_merge *merge, uint64_t time_ns);
/* The VM has ended: nothing that comes with its pid has to do with what came. All it told is to be told before. */
void batch_merge_forget(struct batch_merge *merge, uint32_t vm);
/* Since the beginning. */
const struct batch_counts *batch_merge_counts(const struct batch_merge *merge);

#endif
