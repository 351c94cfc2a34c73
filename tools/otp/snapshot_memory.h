/* SPDX-License-Identifier: Apache-2.0 */
/* What a VM has memory for, as erlang:memory/0 says it, by the counters that its allocators keep. */
#ifndef TOOLS_SNAPSHOT_MEMORY_H
#define TOOLS_SNAPSHOT_MEMORY_H

#include "snapshot.h"

enum snapshot_memory_kind {
    SNAPSHOT_MEMORY_TOTAL,
    SNAPSHOT_MEMORY_PROCESSES,
    SNAPSHOT_MEMORY_SYSTEM,
    SNAPSHOT_MEMORY_ATOM, /* that are used: atom_used */
    SNAPSHOT_MEMORY_BINARY,
    SNAPSHOT_MEMORY_CODE,
    SNAPSHOT_MEMORY_ETS,
    SNAPSHOT_MEMORY_KINDS
};

/* As erlang:memory/0 names them. */
const char *snapshot_memory_text(enum snapshot_memory_kind kind);

struct snapshot_memory {
    uint64_t bytes[SNAPSHOT_MEMORY_KINDS];
    bool has[SNAPSHOT_MEMORY_KINDS];
    const char *lacks[SNAPSHOT_MEMORY_KINDS]; /* what erlang:memory/0 has in it besides; NULL: nothing */
    const char *why; /* why one is missing; NULL: none is */
};

/* Counters are read one after the other while they change. What cannot be had is missing, never 0. */
void snapshot_memory(struct snapshot *snapshot, struct snapshot_memory *out);

#endif
