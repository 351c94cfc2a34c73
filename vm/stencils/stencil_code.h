/* SPDX-License-Identifier: Apache-2.0 */
/* Machine code of one stencil: read, proven, laid out anew. */
#ifndef VM_JIT_MAKE_STENCIL_CODE_H
#define VM_JIT_MAKE_STENCIL_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jit/stencil.h"

enum { CODE_BYTES_MAX = 4096, CODE_STEPS_MAX = 512, CODE_STEP_PATCHES = 2, CODE_PATCHES_MAX = 255 };
enum { CODE_STACK_MAX = 512 };

/* A relocation of the object file, as what shall go there. is_pure: a function that changes nothing. */
struct code_reloc {
	size_t at;
	bool is_pure;
	struct stencil_patch patch;
};

enum code_flow {
	FLOW_ON,
	FLOW_JUMP,           /* to a step, or by its patch out of the stencil */
	FLOW_BRANCH,         /* the same, or on */
	FLOW_INDIRECT,
	FLOW_RETURN,
};

/* An instruction. */
struct code_step {
	const uint8_t *bytes;
	uint8_t length, condition; /* of a branch */
	enum code_flow flow;
	int to;              /* a step; -1: out, or none */
	bool drops;          /* a jump out that was a call: it takes its function's part of the stack away */
	bool calls, writes;  /* calls C; may change memory, or the top of heap or stack */
	int16_t stack;       /* bytes that it takes from the machine's stack */
	int16_t stack_use;   /* those that it looks at, from rsp on */
	unsigned patch_count;
	struct stencil_patch patches[CODE_STEP_PATCHES]; /* at: from the step's first byte */
	bool reached, dirty; /* dirty: something may have changed before it */
	int depth;           /* of the machine's stack before it; -1: not known yet */
	unsigned offset;     /* in the new code */
	bool is_long;        /* a jump to a step, of 32 bits */
};

struct code {
	struct code_step steps[CODE_STEPS_MAX];
	int count;
	uint8_t bytes[CODE_BYTES_MAX];
	size_t size;
	struct stencil_patch patches[CODE_PATCHES_MAX];
	size_t patch_count;
	char why[120];       /* it is no stencil; empty: it is one */
};

/* Reads the function of n bytes with its relocations (by rising place), and makes a stencil of it: false, with why. */
bool code_make(struct code *c, const uint8_t *bytes, size_t n, const struct code_reloc *relocs, size_t reloc_count);
/* Is it nothing but a way to the loop? */
bool code_only_leaves(const struct code *c);

#endif
