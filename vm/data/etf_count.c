/* SPDX-License-Identifier: Apache-2.0 */
/* How many bytes terms take, without writing them: what is in a term may come in any order. */
#include "data/etf_encoder.h"
#include "data/map.h"
#include "term/atom.h"

/* Of what comes often and has nothing inside; 0: it is something else. */
static inline size_t leaf_bytes(Term t, unsigned flags)
{
	size_t n;

	if (term_is_small(t) && small_value(t) == (int32_t)small_value(t))
		return (uint64_t)small_value(t) < 256 ? 2 : 5;
	if (term_is_atom(t))
		return (flags & ETF_ATOMS_LATIN1) && atom_latin1_size(t, &n) ? 3 + n : 0;
	return t == NIL;
}

static void count_boxed(struct etf_encoder *e, Term t)
{
	const Term *p = boxed_ptr(t);
	unsigned sub = header_sub(*p);

	if (sub == SUB_TUPLE || (sub == SUB_MAP && map_kind(*p) == MAP_FLAT))
		word_stack_push(&e->todo, t);
	else if (sub == SUB_FLOAT && !(e->flags & ETF_MINOR_0))
		e->used += 1 + sizeof(double);
	else
		etf_encode_boxed(e, t);
}

/* What has nothing inside is counted at once, what comes often without a look at how it is written. */
static inline void count_term(struct etf_encoder *e, Term t)
{
	size_t n;

	if (term_is_boxed(t)) {
		count_boxed(e, t);
	} else if (term_is_cons(t)) {
		word_stack_push(&e->todo, t);
	} else {
		n = leaf_bytes(t, e->flags);
		e->used += n;
		if (unlikely(n == 0))
			etf_encode_term(e, t);
	}
}

static void count_terms(struct etf_encoder *e, const Term *at, size_t n, int64_t *left)
{
	for (const Term *end = at + n; at < end; at++)
		count_term(e, *at);
	*left -= (int64_t)n;
}

static void count_rest(struct etf_encoder *e, Term t, int64_t *left)
{
	for (; term_is_cons(t) && *left > 0; --*left, t = cons_tail(t))
		count_term(e, cons_head(t));
	if (!term_is_cons(t)) {
		count_term(e, t);
		return;
	}
	word_stack_push(&e->todo, t);
	word_stack_push(&e->todo, MARK_REST);
}

static void count_list(struct etf_encoder *e, Term t, int64_t *left)
{
	size_t n;

	if (etf_is_byte_string(t, &n)) {
		e->used += 3 + n;
		return;
	}
	e->used += 5;
	count_rest(e, t, left);
}

void etf_count_some(struct etf_encoder *e, int64_t *left)
{
	while (e->todo.count > 0 && !e->failed && *left > 0) {
		Term t = word_stack_pop(&e->todo);

		--*left;
		if (t == MARK_REST) {
			count_rest(e, word_stack_pop(&e->todo), left);
		} else if (t == MARK_FUN_END) {
			word_stack_pop(&e->todo);
		} else if (term_is_cons(t)) {
			count_list(e, t, left);
		} else if (term_is_tuple(t)) {
			e->used += tuple_arity(t) < 256 ? 2 : 5;
			count_terms(e, boxed_ptr(t) + 1, tuple_arity(t), left);
		} else if (term_is_map(t) && map_is_flat(t)) {
			e->used += 5;
			count_terms(e, boxed_ptr(boxed_ptr(t)[1]) + 1, map_size(t), left);
			count_terms(e, boxed_ptr(t) + 2, map_size(t), left);
		} else {
			etf_encode_term(e, t);
		}
	}
}

size_t etf_count_small(Term t, unsigned flags, int64_t *left)
{
	size_t n = 2, leaf;

	if (!term_is_tuple(t))
		return leaf_bytes(t, flags);
	if (tuple_arity(t) > 255)
		return 0;
	for (size_t i = 1; i <= tuple_arity(t); i++, n += leaf) {
		leaf = leaf_bytes(boxed_ptr(t)[i], flags);
		if (leaf == 0)
			return 0;
	}
	*left -= (int64_t)tuple_arity(t);
	return n;
}
