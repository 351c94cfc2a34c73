/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Terms in the memory of a VM, as text. As a shape atoms stand as they are; of all else only what it is and how large
 * (up to the next power of two), so that messages of one kind have one shape: {put, integer, binary(<=64)}.
 */
#ifndef TOOLS_SNAPSHOT_TERMS_H
#define TOOLS_SNAPSHOT_TERMS_H

#include "snapshot.h"

enum snapshot_form {
    SNAPSHOT_SHAPE,
    SNAPSHOT_CONTENTS, /* as Erlang prints it, cut where it is long or deep */
};

/* Returns `buf`. Untrusted: atoms and strings may be anything. Bytes of a binary that are no text stand as numbers. */
const char *snapshot_term_text(struct snapshot *snapshot, uint64_t term, enum snapshot_form form, char *buf,
                               size_t size);
/* Which reference of this node the term is, as a number that no other one has. False: it is none. */
bool snapshot_reference(struct snapshot *snapshot, uint64_t term, uint64_t *out);
/* The reference of three numbers, the last of which is printed first. */
void snapshot_reference_text(const uint32_t numbers[3], char *buf, size_t size);
/* The port's term as it is printed; "port" when its number is not known. */
void snapshot_port_text(const struct snapshot *snapshot, uint64_t term, char *buf, size_t size);

#endif
