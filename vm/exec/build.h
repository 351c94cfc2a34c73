/* SPDX-License-Identifier: Apache-2.0 */
/* Binaries that are made in place: segments are written at once, behind a writable binary or into one on the heap.
 * Until all are there nothing shows them. */
#ifndef VM_EXEC_BUILD_H
#define VM_EXEC_BUILD_H

#include "code/opcodes.h"
#include "proc/process.h"

/* The segments from list to end, as opcodes.h has them, are a binary on the heap, or come behind the first of them, a
 * writable binary. bytes: what those of them may take whose size the compiler knows. The heap's top is stored, with
 * room for the result there. Fails: TERM_NONE, something is not as it mostly is, and call_create_bin does it, or tells
 * what is wrong. GC: none. */
Term build_small(Process *p, const Term *x, const Term *stack, const Inst *list, const Inst *end, uint32_t bytes);
Term build_append(Process *p, const Term *x, const Term *stack, const Inst *list, const Inst *end, uint32_t bytes);

#endif
