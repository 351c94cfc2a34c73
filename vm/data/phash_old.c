/* SPDX-License-Identifier: Apache-2.0 */
/* erlang:phash/2, the older portable hash: byte by byte, multiplying by a prime a type. The primes are part of its
 * definition. */
#include <endian.h>

#include "data/binary.h"
#include "data/bitcopy.h"
#include "data/extern_id.h"
#include "data/fun_link.h"
#include "data/phash.h"
#include "data/word_stack.h"
#include "term/atom.h"

/* Primes just above 2^28. */
enum {
	PRIME_ATOM = 268440163, PRIME_INTEGER = 268439161, PRIME_POSITIVE = 268435459, PRIME_NEGATIVE = 268436141,
	PRIME_PID = 268438633, PRIME_PID_END = 268437017, PRIME_LIST_END = 268437511, PRIME_TUPLE = 268439627,
	PRIME_PORT_END = 268440479, PRIME_EXPORT = 268440577, PRIME_BITS = 268440581, PRIME_MAP = 268440593,
	MAP_ADDEND = 268440611,
};

#define MARK_TAIL HEADER(0, SUB_MATCH)
#define MARK_LIST_END HEADER(1, SUB_MATCH)
#define MARK_TUPLE_END(arity) HEADER((arity) + 2, SUB_MATCH)

/* Four steps of hash * prime + byte, from the lowest byte of w on, multiplied out: one multiplication waits for the
 * hash before. */
static inline uint32_t step_word(uint32_t hash, uint32_t w, uint32_t prime)
{
	uint32_t square = prime * prime, cube = square * prime;

	return hash * (square * square) + (w & 0xff) * cube + (w >> 8 & 0xff) * square + (w >> 16 & 0xff) * prime +
	       (w >> 24);
}

/* A magnitude's limbs: as many 32-bit words as it needs, at least one. */
static uint32_t step_integer(uint32_t hash, const uint64_t *limbs, size_t n, bool negative)
{
	for (size_t i = 0; i < n; i++) {
		hash = step_word(hash, (uint32_t)limbs[i], PRIME_INTEGER);
		if (i + 1 < n || limbs[i] >> 32 != 0)
			hash = step_word(hash, (uint32_t)(limbs[i] >> 32), PRIME_INTEGER);
	}
	return hash * (negative ? PRIME_NEGATIVE : PRIME_POSITIVE);
}

static uint32_t step_bitstring(uint32_t hash, Term t)
{
	struct bits_view v = binary_view(t);
	unsigned bits = v.size % 8;
	uint64_t bytes = v.size / 8, i = 0;

	for (uint32_t w; v.offset == 0 && bytes - i >= sizeof(w); i += sizeof(w)) {
		memcpy(&w, v.base + i, sizeof(w));
		hash = step_word(hash, le32toh(w), PRIME_ATOM);
	}
	for (; i < bytes; i++)
		hash = hash * PRIME_ATOM + (uint32_t)bitcopy_read(v.base, v.offset + i * 8, 8);
	if (bits > 0)
		hash = (hash * PRIME_ATOM + (uint32_t)bitcopy_read(v.base, v.offset + bytes * 8, bits)) * PRIME_BITS +
		       bits;
	return hash * PRIME_NEGATIVE + (uint32_t)bytes;
}

static uint32_t step_id(uint32_t hash, Term t)
{
	struct extern_facts f;

	extern_id_describe(t, &f);
	if (term_is_pid(t))
		return step_word(hash, f.ids[0], PRIME_PID) * PRIME_PID_END;
	if (term_is_port(t) && f.ids[1] != 0)
		hash = step_word(hash, f.ids[1], PRIME_EXPORT);
	return step_word(hash, f.ids[0], PRIME_TUPLE) * PRIME_PORT_END;
}

static uint32_t step_fun(struct word_stack *s, uint32_t hash, const struct fun *f)
{
	struct fun_facts facts;

	fun_link_describe(f->entry, &facts);
	hash = hash * PRIME_PORT_END + fun_num_free(f);
	hash = hash * PRIME_ATOM + atom_hash(facts.module);
	hash = hash * PRIME_INTEGER + facts.index;
	for (unsigned i = fun_num_free(f); i-- > 0;)
		word_stack_push(s, f->env[i]);
	return hash * PRIME_INTEGER + facts.old_uniq;
}

static uint32_t step_export(uint32_t hash, Term t)
{
	struct export_facts facts;

	fun_link_describe_export(export_fun_ptr(t), &facts);
	hash = hash * PRIME_EXPORT + facts.arity;
	hash = hash * PRIME_ATOM + atom_hash(facts.module);
	return hash * PRIME_ATOM + atom_hash(facts.function);
}

static uint32_t step_immediate(uint32_t hash, Term t)
{
	uint64_t magnitude;

	if (term_is_small(t)) {
		magnitude = small_value(t) < 0 ? -(uint64_t)small_value(t) : (uint64_t)small_value(t);
		return step_integer(hash, &magnitude, 1, small_value(t) < 0);
	}
	if (term_is_atom(t))
		return hash * PRIME_ATOM + atom_hash(t);
	return t == NIL ? hash * PRIME_POSITIVE + 1 : step_id(hash, t);
}

/* Elements at the front of a tuple are a step each while they are immediate, and take one of *left; what follows is
 * pushed. */
static uint32_t step_tuple(struct word_stack *s, uint32_t hash, const Term *p, int64_t *left)
{
	size_t arity = header_arity(*p), i = 1;

	if (unlikely((int64_t)arity > *left)) {
		*left = -1;
		return 0;
	}
	for (; i <= arity && term_is_immed(p[i]); i++)
		hash = step_immediate(hash, p[i]);
	*left -= (int64_t)(i - 1);
	word_stack_push(s, MARK_TUPLE_END(arity));
	for (size_t k = arity; k >= i; k--)
		word_stack_push(s, p[k]);
	return hash;
}

static uint32_t step_boxed(struct word_stack *s, uint32_t hash, Term t, int64_t *left)
{
	const Term *p = boxed_ptr(t);
	uint64_t bits;
	uint32_t inner = 0;

	switch (header_sub(*p)) {
	case SUB_TUPLE:
		return step_tuple(s, hash, p, left);
	case SUB_BIG_POS:
	case SUB_BIG_NEG:
		return step_integer(hash, p + 1, header_arity(*p), header_sub(*p) == SUB_BIG_NEG);
	case SUB_FLOAT:
		bits = float_value(t) == 0.0 ? 0 : p[1];
		return hash * PRIME_PID_END + (uint32_t)(bits ^ bits >> 32);
	case SUB_FUN:
		return step_fun(s, hash, fun_ptr(t));
	case SUB_EXPORT:
		return step_export(hash, t);
	case SUB_MAP:
	case SUB_RECORD:
		phash2_within(t, left, &inner);
		return hash * PRIME_MAP + MAP_ADDEND + inner;
	case SUB_REFBIN:
	case SUB_HEAPBIN:
	case SUB_SUBBIN:
		*left -= (int64_t)(binary_size_bytes(t) / sizeof(Term));
		return *left >= 0 ? step_bitstring(hash, t) : 0;
	default:
		return step_id(hash, t);
	}
}

static inline bool is_byte(Term t) { return (t & ~(Term)0xff0) == TAG_SMALL; }

/* Immediate elements at the front are a step each, and take one of *left; what follows is pushed. */
static uint32_t step_list(struct word_stack *s, uint32_t hash, Term t, int64_t *left)
{
	int64_t elements = *left;

	for (; elements-- > 0 && term_is_cons(t) && term_is_immed(cons_head(t)); t = cons_tail(t)) {
		Term head = cons_head(t);

		hash = is_byte(head) ? hash * PRIME_INTEGER + (uint32_t)small_value(head) : step_immediate(hash, head);
	}
	*left = elements;
	if (t == NIL)
		return step_immediate(hash, t) * PRIME_LIST_END;
	if (term_is_cons(t)) {
		word_stack_push(s, cons_tail(t));
		word_stack_push(s, MARK_TAIL);
		word_stack_push(s, cons_head(t));
	} else {
		word_stack_push(s, MARK_LIST_END);
		word_stack_push(s, t);
	}
	return hash;
}

bool phash_within(Term t, int64_t *left, uint32_t *out)
{
	struct word_stack s;
	uint32_t hash = 0;

	word_stack_init(&s);
	word_stack_push(&s, t);
	while (s.count > 0 && --*left >= 0) {
		t = word_stack_pop(&s);
		if (t == MARK_TAIL)
			hash = step_list(&s, hash, word_stack_pop(&s), left);
		else if (t == MARK_LIST_END)
			hash *= PRIME_LIST_END;
		else if (term_is_header(t))
			hash = hash * PRIME_TUPLE + (uint32_t)header_arity(t) - 2;
		else if (term_is_cons(t))
			hash = step_list(&s, hash, t, left);
		else if (term_is_boxed(t))
			hash = step_boxed(&s, hash, t, left);
		else
			hash = step_immediate(hash, t);
	}
	word_stack_free(&s);
	*out = hash;
	return *left >= 0;
}

uint32_t phash(Term t)
{
	int64_t left = INT64_MAX;
	uint32_t hash;

	phash_within(t, &left, &hash);
	return hash;
}
