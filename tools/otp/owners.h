/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a VM had before its events told of it, read from its memory: who its processes are that were born before, and
 * the names of its atoms, which a thread of an erlvm may have told to another watcher alone.
 */
#ifndef TOOLS_OWNERS_H
#define TOOLS_OWNERS_H

#include "target/target.h"

#include "../../bpf/event.h"

/* Who is told; nonzero ends the reading and is returned. */
struct owners_ops {
    /* An atom, before anything that holds it; maybe again and again. */
    int (*atom)(void *ctx, uint32_t vm, uint64_t index, const char *text, size_t bytes);
    /* A process: what it is to do, then its label (WIRE_LABEL, of an erlvm) and its registered name if it has them.
     * NULL: none of them. */
    int (*owner)(void *ctx, uint32_t vm, ev_id id, const struct wire_name *name);
    void *ctx;
    bool all_atoms; /* 65,536 of them at most; without, those of owners and of orderly ends */
};

/*
 * Tells the processes of the target that can be named; none of a VM that cannot be read. Fails: as of `ops`;
 * -ENOMEM.
 */
int owners_read(const struct target *t, const struct owners_ops *ops);

#endif
