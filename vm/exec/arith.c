/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic beyond the fast paths of the loop. */
#include "exec/arith.h"

#include "code/breakpoint.h"
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

/* ---- low bits */

/* Operations whose lower bits depend on none above them. CONSTANT: the second operand is small, in word `second`;
 * REGISTER: both are of x, the second is halfword `second` or the one before it. */
enum masked_kind { MASKED_NOT, MASKED_CONSTANT, MASKED_REGISTER };
static const struct {
	uint8_t kind, op, second, words;
} masked_ops[OP_COUNT] = {
#define MASKED(kind, name, op, second) [OP_##name] = { kind, ARITH_##op, second, OPWORDS_##name }
#define MASKED_BY_CONSTANT(op)                                                                     \
	MASKED(MASKED_CONSTANT, op##_xix, op, 1), MASKED(MASKED_CONSTANT, op##_ri, op, 2)
	MASKED_BY_CONSTANT(band), MASKED_BY_CONSTANT(add), MASKED_BY_CONSTANT(sub), MASKED_BY_CONSTANT(mul),
	MASKED(MASKED_CONSTANT, bsl_ri, bsl, 2), MASKED(MASKED_REGISTER, add_xxx, add, 2),
	MASKED(MASKED_REGISTER, bor_xxx, bor, 2), MASKED(MASKED_REGISTER, bxor_xxx, bxor, 2),
#undef MASKED_BY_CONSTANT
#undef MASKED
};
enum { MASKED_MOST = 6 /* with the mask */ };

/* The low 64 bits of the result; false: not so. */
static bool low_bits(enum arith_op op, uint64_t a, uint64_t b, uint64_t *to)
{
	switch (op) {
	case ARITH_add:
		*to = a + b;
		return true;
	case ARITH_sub:
		*to = a - b;
		return true;
	case ARITH_mul:
		*to = a * b;
		return true;
	case ARITH_band:
		*to = a & b;
		return true;
	case ARITH_bor:
		*to = a | b;
		return true;
	case ARITH_bxor:
		*to = a ^ b;
		return true;
	case ARITH_bsl:
		*to = a << (b & 63);
		return b < 64;
	default:
		return false;
	}
}

/* What the operation at `at` does to dst, which is its result, too, is done with `*other`: false, there is no such
 * thing. */
static bool find_other(const Inst *at, unsigned opcode, uint32_t dst, const Term *x, Term *other)
{
	const uint16_t *fields = (const uint16_t *)at;
	unsigned second = masked_ops[opcode].second;

	if (masked_ops[opcode].kind == MASKED_CONSTANT) {
		*other = at[second];
		return fields[1] == dst && fields[2] == dst && term_is_small(*other);
	}
	if (fields[3] != dst || (fields[1] == dst) == (fields[2] == dst))
		return false;
	*other = *(const Term *)((const char *)x + fields[fields[1] == dst ? second : second - 1]);
	return term_is_small(*other);
}

struct arith_masked arith_masked(enum arith_op op, Term a, Term b, const Inst *next, uint32_t dst, const Term *x)
{
	static const struct arith_masked none = { TERM_NONE, NULL };
	unsigned opcode = breakpoint_opcode(next);
	uint64_t bits;

	if (masked_ops[opcode].kind == MASKED_NOT || !terms_both_small(a, b) ||
	    !low_bits(op, (uint64_t)small_value(a), (uint64_t)small_value(b), &bits))
		return none;
	for (unsigned n = 0; n < MASKED_MOST; n++) {
		enum arith_op by = masked_ops[opcode].op;
		Term other;

		if (masked_ops[opcode].kind == MASKED_NOT || !find_other(next, opcode, dst, x, &other) ||
		    !low_bits(by, bits, (uint64_t)small_value(other), &bits))
			return none;
		next += masked_ops[opcode].words;
		if (by == ARITH_band && small_value(other) >= 0)
			return (struct arith_masked){ term_from_small((int64_t)bits), next };
		opcode = breakpoint_opcode(next);
	}
	return none;
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
