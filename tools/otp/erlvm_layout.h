/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the memory of an erlvm that runs is read: its table erlvm_layout (vm/layout.h). It comes from the memory of
 * another process, which may hold anything.
 */
#ifndef TOOLS_ERLVM_LAYOUT_H
#define TOOLS_ERLVM_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#include "../../vm/layout.h"
#include "otp_user.h"
#include "target/memory.h"

enum erlvm_field {
#define LAYOUT(room, name, number, what) ERLVM_##name,
#include "../../vm/layout.def"
    ERLVM_NFIELDS
};

struct erlvm_layout {
    uint64_t roots[LAYOUT_NROOMS]; /* addresses in memory, by room; 0: the VM is older than the room */
    uint32_t numbers[ERLVM_NFIELDS];
    uint64_t code, exports; /* addresses in memory: the first page of code, the first export */
    uint64_t native;        /* the first page of machine code; 0: there is none */
    int64_t self;           /* what SCHEDS_SELF tells */
};

/*
 * Reads the table at this address, and holds it against the VM: its atoms, processes, schedulers and code must be where
 * it says. Fails: -EAGAIN the VM is not far enough yet, -ENOTSUP it is refused, both with a line in `why`.
 */
int erlvm_layout_read(struct memory *memory, uint64_t address, struct erlvm_layout *out, char *why, size_t size);
/* A process, an atom, a name are read as those of a stock emulator are, whose terms look alike. Leaves vm, release and
 * bias of *out. */
void erlvm_layout_fill(const struct erlvm_layout *ours, struct otp_layout *out);

#endif
