/* SPDX-License-Identifier: Apache-2.0 */
/* The C library's arenas, for base/alloc.c alone: memory that several threads share, from which their blocks are
 * cut. */
#ifndef VM_BASE_ARENA_H
#define VM_BASE_ARENA_H

#include <stddef.h>

/* From the calling thread, once, when it has its first block: its arena can be trimmed from now on. */
void arena_mark_own(void);
/* Gives free memory of all arenas that were marked, also at their ends, back to the system. From one thread at a time.
 * kept_bytes: so much is left at an end while the VM does not trim. */
void arena_trim_all(size_t kept_bytes);

#endif
