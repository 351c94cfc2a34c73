/* SPDX-License-Identifier: Apache-2.0 */
/* The arithmetic operations that the loop knows: ARITH_OP(name, atom, function, arity). */
#ifndef VM_EXEC_ARITH_H
#define VM_EXEC_ARITH_H

#include "data/number.h"
#include "proc/process.h"
#include "term/atom.h"

#define ARITH_OPS                                                                                  \
	ARITH_OP(add, am_op_plus, num_add, 2)                                                      \
	ARITH_OP(sub, am_op_minus, num_sub, 2)                                                     \
	ARITH_OP(mul, am_op_times, num_mul, 2)                                                     \
	ARITH_OP(div, am_div, num_div_int, 2)                                                      \
	ARITH_OP(rem, am_rem, num_rem, 2)                                                          \
	ARITH_OP(band, am_band, num_band, 2)                                                       \
	ARITH_OP(bor, am_bor, num_bor, 2)                                                          \
	ARITH_OP(bxor, am_bxor, num_bxor, 2)                                                       \
	ARITH_OP(bsl, am_bsl, num_bsl, 2)                                                          \
	ARITH_OP(bsr, am_bsr, num_bsr, 2)                                                          \
	ARITH_OP(divide, am_op_divide, num_div_float, 2)                                           \
	ARITH_OP(negate, am_op_minus, num_negate_2, 1)                                             \
	ARITH_OP(bnot, am_bnot, num_bnot_2, 1)                                                     \
	ARITH_OP(plus, am_op_plus, num_plus_2, 1)                                                  \
	ARITH_OP(abs, am_abs, num_abs_2, 1)

enum arith_op {
#define ARITH_OP(name, atom, function, arity) ARITH_##name,
	ARITH_OPS
#undef ARITH_OP
	ARITH_COUNT
};

/* The operation on any terms (b is ignored where the arity is 1). Fails: TERM_NONE. GC: none. */
Term arith_call(enum arith_op op, struct heap *h, Term a, Term b);
/* The same with p's heap, for machine code. Fails: TERM_NONE, too, when a collection is due. */
Term arith_usual(Process *p, Term a, Term b, enum arith_op op);
/* A product, or an integer that is shifted, of which what follows at `next` uses the low bits alone: operations of the
 * same register with small constants or small integers of x, as in `(X * Y + 1) band 65535`, the last of them a mask.
 * No large integer is made then. dst: the register, as an operand. Returns the value behind the mask and where to go
 * on; next is NULL: it is not so. */
struct arith_masked {
	Term value;
	const Inst *next;
} arith_masked(enum arith_op op, Term a, Term b, const Inst *next, uint32_t dst, const Term *x);
/* Why it failed: am_badarith or am_system_limit. */
Term arith_failure(enum arith_op op, Term a, Term b);
Term arith_name(enum arith_op op);
unsigned arith_arity(enum arith_op op);

#endif
