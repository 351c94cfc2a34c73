/* SPDX-License-Identifier: Apache-2.0 */
/* Stencils: machine code of operations with holes, made while building from the loop's own text (vm/stencils). An
 * operation has one for each combination of what its operands may be; those that no stencil could be made of are left
 * to the loop, and a build without stencils (another compiler, a sanitizer) has an empty table.
 * Registers: rbx an instruction (only where the loop takes over, or an address is looked up), r12 the stack's top, r13
 * the heap's, r14 the process, r15 x[0]. All others but rbp and rsp are free between two stencils. */
#ifndef VM_JIT_STENCIL_H
#define VM_JIT_STENCIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "code/code_area.h"
#include "code/opcodes.h"
#include "proc/process.h"

/* Calls of native functions, and what may send or handle a signal, have a stencil that jumps to one that all of them
 * share, which reads the operation at rbx: it never moves nor goes, so that what is called may do to the module what it
 * likes. STENCIL_SHARED(operation, n of N) */
#define STENCILS_SHARED                                                                            \
	STENCIL_SHARED(call_bif, 0)                                                                \
	STENCIL_SHARED(call_bif_only, 1)                                                           \
	STENCIL_SHARED(call_bif_last, 2)                                                           \
	STENCIL_SHARED(send, 3)                                                                    \
	STENCIL_SHARED(loop_rec, 4)
#define STENCIL_SHARED(op, n) + 1
enum { STENCIL_SHARED_COUNT = 0 STENCILS_SHARED };
#undef STENCIL_SHARED
#define STENCIL_SHARED_J 8000 /* its struct stencil.j, in hexadecimal: that of no operation */

/* What a word of an operation holds, two bits each. */
enum stencil_word { STENCIL_X, STENCIL_Y, STENCIL_WIDE, STENCIL_NARROW /* 0 to 2^31 - 1 */ };

/* What goes into a hole: STENCIL_HOLE(name, letter of its symbol, has a number). */
#define STENCIL_HOLES                                                                              \
	STENCIL_HOLE(FIELD, "O", 1)      /* halfword n */                                          \
	STENCIL_HOLE(SCALED, "S", 1)     /* the same, as words */                                  \
	STENCIL_HOLE(TUPLE, "T", 1)      /* the same, as the header of a tuple of so many */       \
	STENCIL_HOLE(NUMBER, "J", 1)     /* 32 bits n */                                           \
	STENCIL_HOLE(BYTES, "B", 1)      /* the same, of words */                                  \
	STENCIL_HOLE(REGISTER, "R", 1)   /* word n: a register as a source */                      \
	STENCIL_HOLE(WORD, "W", 1)                                                                 \
	STENCIL_HOLE(LABEL, "L", 1)      /* machine code of the label in 32 bits n */              \
	STENCIL_HOLE(WORD_LABEL, "M", 1) /* in word n */                                           \
	STENCIL_HOLE(PREEMPT, "P", 1)    /* the loop's preempt: at the label in 32 bits n; 0: at rbx */ \
	STENCIL_HOLE(PREEMPT_RETURN, "PR", 0)                                                      \
	STENCIL_HOLE(NEXT, "CONT", 0)    /* machine code behind this one */                        \
	STENCIL_HOLE(EXIT, "EXIT", 0)    /* the loop does this operation */                        \
	STENCIL_HOLE(LEAVE, "LEAVE", 0)  /* the loop goes on at rbx */                             \
	STENCIL_HOLE(NATIVE, "N", 1)     /* the shared stencil n: the call at rbx */               \
	STENCIL_HOLE(FAILED, "TO_native_failed", 0) /* the loop's tails of those names, with rbx at the call */ \
	STENCIL_HOLE(TAIL_FAILED, "TO_bif_tail_failed", 0)                                         \
	STENCIL_HOLE(COLLECT, "TO_bif_collect", 0) /* and this with rbx behind it */               \
	STENCIL_HOLE(EXITED, "TO_exited", 0)                                                       \
	STENCIL_HOLE(HERE, "HERE", 0)    /* the operation itself */                                \
	STENCIL_HOLE(RANGE, "range", 0)  /* of code: its address >> CODE_RANGE_SHIFT */            \
	STENCIL_HOLE(FUNCTION, "", 0)    /* of C, by its number in stencil_functions */
enum stencil_hole {
#define STENCIL_HOLE(name, letter, numbered) STENCIL_##name,
	STENCIL_HOLES
#undef STENCIL_HOLE
	STENCIL_HOLE_COUNT
};

enum stencil_form { STENCIL_ABS32 /* not negative */, STENCIL_ABS64, STENCIL_REL32 };

struct stencil_patch {
	uint16_t at;         /* the byte of the code */
	uint8_t hole, form;  /* enum stencil_hole, enum stencil_form */
	uint16_t number;     /* of the hole: n above */
	int32_t addend;      /* to what goes there */
};

struct stencil {
	uint16_t op, size;       /* enum opcode; bytes of code */
	uint16_t y, j;           /* halfwords that are of the stack; 32 bits that hold a label, not 0 */
	uint16_t w;              /* enum stencil_word of each word */
	uint8_t patch_count;
	const uint8_t *code;
	const struct stencil_patch *patches;
};

/* By rising op, then as made. */
extern const struct stencil stencils[];
extern const size_t stencil_count;
extern const struct stencil_function {
	const char *name;
	void (*call)(void);
} stencil_functions[];
extern const size_t stencil_function_count;

/* The words of its list, which always has as many, that are constants: STENCIL_WIDE there, as w. */
static inline uint16_t stencil_list_constants(unsigned op)
{
	return op == OP_select_2_x || op == OP_select_2_r ? STENCIL_WIDE << 2 * 2 | STENCIL_WIDE << 2 * 4 : 0;
}

/* Whose stencil does for `op`: one that does those behind it too, which all stand there, is what it would be alone. */
static inline unsigned stencil_op(unsigned op)
{
	switch (op) {
	case OP_add_xix_call_only:
	case OP_add_xix_move_call_only:
		return OP_add_xix;
	case OP_add_xxx_call_only:
		return OP_add_xxx;
#define WHOLE(name, bits, is_little, is_signed)                                                    \
	case OP_bs_start_get_##name:                                                               \
	case OP_bs_start_get_##name##_sum:
#include "data/bits_whole.def"
	case OP_bs_start_get_utf8:
	case OP_bs_start_get_utf16:
		return OP_bs_start_match3;
	case OP_bs_start_position_get_8:
	case OP_bs_start_position_get_8_position:
	case OP_bs_start_position_get_8_eq:
		return OP_bs_start_match3_position;
	case OP_bs_set_position_test_unit:
		return OP_bs_set_position;
	default:
		return op;
	}
}

/* The stencil of operation `op` with the operands that stand at i (whatever operation number stands there). NULL: it is
 * the loop's. */
const struct stencil *stencil_find(unsigned op, const Inst *i);
/* The shared stencil n. NULL: there is none. */
const struct stencil *stencil_shared(unsigned n);

/* Addresses of machine code. */
struct stencil_ways {
	uintptr_t next;      /* behind the stencil */
	uintptr_t leave, preempt, preempt_return;
	void *arg;           /* of what follows */
	uintptr_t (*label)(void *arg, const Inst *at);
	uintptr_t (*exit_at)(void *arg, const Inst *at);
	uintptr_t (*preempt_at)(void *arg, const Inst *at);
	uintptr_t (*function)(void *arg, unsigned number);
	const uintptr_t *shared; /* of STENCIL_SHARED_COUNT; NULL: no stencil that is filled needs them */
	uintptr_t failed, tail_failed, collect, exited; /* the same */
};
/* Do the operands fit their holes? Ways, which are near, do. */
bool stencil_fits(const struct stencil *s, const Inst *i);
/* Writes the stencil of the operation at i, that will stand at address `at`, into `to`. Fails: false, a value does not
 * fit its hole: the operation is the loop's. */
bool stencil_fill(const struct stencil *s, const Inst *i, const struct stencil_ways *ways, uint8_t *to, uintptr_t at);

#endif
