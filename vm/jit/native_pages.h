/* SPDX-License-Identifier: Apache-2.0 */
/* Pages that machine code stands in: runs of pages of the room beside the code. They can be written, or run, and never
 * both: filled once, then sealed. */
#ifndef VM_JIT_NATIVE_PAGES_H
#define VM_JIT_NATIVE_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "code/module.h"

/* Machine code from byte `at` on, up to the next piece, is of the operation at this word of its module. returns: it
 * takes the return address off the stack, which is in rbx from then on. */
struct native_piece {
	uint32_t at, word;
	uint32_t returns;    /* 0 or 1 */
};

/* A module's machine code. */
struct native_code {
	uint8_t *at;         /* its pages */
	size_t bytes;
	const Inst *words;   /* of its module */
	uint64_t taken;      /* code_area_given() when it got its pages */
	struct native_piece *pieces; /* all of it, by rising `at`; mem_alloc */
	uint32_t piece_count;
};

/* base: of a room of CODE_NATIVE_BYTES that nobody may read or write yet. Once, before all else here. */
void native_pages_init(uintptr_t base);
/* For so many bytes, to be written, of `owner`; NULL: of no module. Owns: native_pages_give, with the same bytes.
 * Fails: NULL, there is no room. */
uint8_t *native_pages_take(const struct native_code *owner, size_t bytes);
/* From now on they are run. Fails: false, the system refuses. */
bool native_pages_seal(uint8_t *at, size_t bytes);
/* Nothing leads there any more. */
void native_pages_give(uint8_t *at, size_t bytes);

#endif
