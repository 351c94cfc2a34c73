/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic beyond the fast paths of the loop. */
#include "exec/arith.h"

#include "exec/call.h"

static Term num_negate_2(struct heap *h, Term a, Term b)
{
	(void)b;
	return num_negate(h, a);
}

static Term num_bnot_2(struct heap *h, Term a, Term b)
{
	(void)b;
	return num_bnot(h, a);
}

static Term num_plus_2(struct heap *h, Term a, Term b)
{
	(void)b;
	return num_add(h, a, term_from_small(0)); /* of -0.0: 0.0 */
}

static Term num_abs_2(struct heap *h, Term a, Term b)
{
	(void)b;
	return num_abs(h, a);
}

static const struct {
	Term (*call)(struct heap *h, Term a, Term b);
	Term name;
	unsigned arity;
} ops[ARITH_COUNT] = {
#define ARITH_OP(name, atom, function, arity) [ARITH_##name] = { function, atom, arity },
	ARITH_OPS
#undef ARITH_OP
};

Term arith_call(enum arith_op op, struct heap *h, Term a, Term b)
{
	return ops[op].call(h, a, b);
}

Term arith_usual(Process *p, Term a, Term b, enum arith_op op)
{
	Term r = ops[op].call(&p->heap, a, b);

	return likely(!call_wants_gc(p)) ? r : TERM_NONE;
}

Term arith_failure(enum arith_op op, Term a, Term b)
{
	switch (op) {
	case ARITH_add: case ARITH_sub: case ARITH_mul: case ARITH_bsl: case ARITH_bsr:
		return num_failure(a, b);
	case ARITH_bnot:
		return num_failure(a, a);
	case ARITH_abs:
		return am_badarg;
	default:
		return am_badarith;
	}
}

Term arith_name(enum arith_op op)
{
	return ops[op].name;
}

unsigned arith_arity(enum arith_op op)
{
	return ops[op].arity;
}
