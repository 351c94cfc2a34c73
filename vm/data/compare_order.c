/* SPDX-License-Identifier: Apache-2.0 */
/* Order of terms, without recursion (compare_walk.h). What has nothing to look into, and what has the same words, is
 * compared before there are any frames. */
#include "data/compare_walk.h"
#include "data/binary.h"
#include "data/extern_id.h"
#include "data/fun_link.h"
#include "data/map.h"

struct candidate {
	Term key;
	Term values[2];      /* in a, in b; TERM_NONE when the key is not there */
};

/* The search for the least key that tells two tries apart. */
struct race {
	size_t n, best, next;
	int result;          /* what the best candidate says; 0 before there is one */
	enum step phase;
	struct candidate candidates[];
};

enum rank {
	RANK_NUMBER,
	RANK_ATOM,
	RANK_REF,
	RANK_FUN,
	RANK_PORT,
	RANK_PID,
	RANK_TUPLE,
	RANK_RECORD,
	RANK_MAP,
	RANK_NIL,
	RANK_LIST,
	RANK_BITS
};

static inline enum rank rank_term(Term t)
{
	static const uint8_t boxed[16] = {
		[SUB_TUPLE] = RANK_TUPLE, [SUB_BIG_POS] = RANK_NUMBER, [SUB_BIG_NEG] = RANK_NUMBER,
		[SUB_REF] = RANK_REF,     [SUB_FUN] = RANK_FUN,        [SUB_FLOAT] = RANK_NUMBER,
		[SUB_EXPORT] = RANK_FUN,  [SUB_REFBIN] = RANK_BITS,    [SUB_HEAPBIN] = RANK_BITS,
		[SUB_SUBBIN] = RANK_BITS, [SUB_MAP] = RANK_MAP,        [SUB_XPID] = RANK_PID,
		[SUB_XPORT] = RANK_PORT,  [SUB_XREF] = RANK_REF,       [SUB_RECORD] = RANK_RECORD,
	};

	switch (term_primary(t)) {
	case TAG_CONS:
		return RANK_LIST;
	case TAG_BOXED:
		return boxed[header_sub(*boxed_ptr(t))];
	default:
		if (term_is_small(t))
			return RANK_NUMBER;
		if (term_is_local_pid(t))
			return RANK_PID;
		if (term_is_local_port(t))
			return RANK_PORT;
		return t == NIL ? RANK_NIL : RANK_ATOM;
	}
}

static int compare_smalls(Term a, Term b)
{
	return ((int64_t)a > (int64_t)b) - ((int64_t)a < (int64_t)b);
}

static int order_ints(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

/* a is an export, b any fun. */
static int compare_exports(Term a, Term b)
{
	struct export_facts fa, fb;
	int order;

	if (!term_has_sub(b, SUB_EXPORT))
		return 1;
	fun_link_describe_export(export_fun_ptr(a), &fa);
	fun_link_describe_export(export_fun_ptr(b), &fb);
	order = atom_compare(fa.module, fb.module);
	if (order == 0)
		order = atom_compare(fa.function, fb.function);
	return order != 0 ? order : order_ints(fa.arity, fb.arity);
}

static int compare_funs(struct walk *w, Term a, Term b)
{
	struct fun_facts fa, fb;
	int order;

	if (!term_has_sub(b, SUB_FUN))
		return -1;
	fun_link_describe(fun_ptr(a)->entry, &fa);
	fun_link_describe(fun_ptr(b)->entry, &fb);
	order = atom_compare(fa.module, fb.module);
	if (order == 0)
		order = order_ints(fa.index, fb.index);
	if (order == 0)
		order = order_ints(fa.old_uniq, fb.old_uniq);
	if (order == 0)
		order = order_ints(fun_num_free(fun_ptr(a)), fun_num_free(fun_ptr(b)));
	if (order == 0)
		push_array(w, fun_ptr(a)->env, fun_ptr(b)->env, fun_num_free(fun_ptr(a)));
	return order;
}

/* Most tries that are compared have the same keys: both are then walked in the same order, by hash, side by side.
 * *count: of those keys whose values are not the same words. False: a key differs. */
static bool have_same_keys(Term a, Term b, struct candidate *c, size_t *count)
{
	struct map_iter in_a, in_b;
	Term key, other, value, other_value;

	*count = 0;
	map_iter_init(&in_a, a);
	map_iter_init(&in_b, b);
	while (map_iter_next(&in_a, &key, &value) && map_iter_next(&in_b, &other, &other_value)) {
		if (!term_same(key, other))
			return false;
		if (value != other_value)
			c[(*count)++] = (struct candidate){ key, { value, other_value } };
	}
	return true;
}

/* Collects what may tell two tries of the same size apart: the keys that only one has, or, when the keys are the same,
 * those whose values are not the same words. */
static size_t find_candidates(Term a, Term b, struct candidate *c)
{
	struct map_iter it;
	size_t by_value = 0, by_key = 0;
	Term key, value;

	if (have_same_keys(a, b, c, &by_value))
		return by_value;
	by_value = 0;
	map_iter_init(&it, a);
	while (map_iter_next(&it, &key, &value)) {
		Term other = map_get(b, key);

		if (other == TERM_NONE) {
			c[by_key++] = (struct candidate){ key, { value, TERM_NONE } };
			by_value = 0;
		} else if (by_key == 0 && value != other) {
			c[by_value++] = (struct candidate){ key, { value, other } };
		}
	}
	if (by_key == 0)
		return by_value;
	map_iter_init(&it, b);
	while (map_iter_next(&it, &key, &value))
		if (map_get(a, key) == TERM_NONE)
			c[by_key++] = (struct candidate){ key, { TERM_NONE, value } };
	return by_key;
}

static int compare_maps(struct walk *w, Term a, Term b)
{
	size_t n = map_size(a);
	struct race *r;

	if (n != map_size(b))
		return n < map_size(b) ? -1 : 1;
	if (map_is_flat(a)) {
		push_array(w, boxed_ptr(a) + 2, boxed_ptr(b) + 2, n);
		push_key(w, boxed_ptr(a) + 1, boxed_ptr(b) + 1);
		return 0;
	}
	if (n > LOOKED_INTO_MANY && w->may_lend)
		lend(w);
	r = mem_alloc(sizeof(*r) + 2 * n * sizeof(struct candidate));
	*r = (struct race){ .phase = STEP_START };
	r->n = find_candidates(a, b, r->candidates);
	push_frame(w, FRAME_RACE)->race = r;
	return 0;
}

/* a is a leaf. */
static int order_leaves(Term a, Term b, bool exact)
{
	enum rank rank, other;

	if (terms_both_small(a, b))
		return compare_smalls(a, b);
	rank = rank_term(a);
	other = rank_term(b);
	if (rank != other)
		return rank < other ? -1 : 1;
	switch (rank) {
	case RANK_NUMBER:
		return compare_numbers(a, b, exact);
	case RANK_ATOM:
		return atom_compare(a, b);
	case RANK_REF:
	case RANK_PORT:
	case RANK_PID:
		return extern_id_compare(a, b);
	case RANK_FUN:
		return compare_exports(a, b);
	case RANK_BITS:
		return binary_compare(a, b);
	default:
		return 0;
	}
}

/* A term that is no leaf, and another word; find_elements says nothing of them. 0 when the frames pushed decide. */
static int order_others(struct walk *w, Term a, Term b)
{
	enum rank rank = rank_term(a), other = rank_term(b);

	if (rank != other)
		return rank < other ? -1 : 1;
	switch (rank) {
	case RANK_FUN:
		return compare_funs(w, a, b);
	case RANK_TUPLE:
		return order_ints((int64_t)tuple_arity(a), (int64_t)tuple_arity(b));
	case RANK_RECORD:
		return definition_compare(record_definition(a), record_definition(b));
	default:
		return compare_maps(w, a, b);
	}
}

/* As same_pairs: the order as far as it can be told; 0 when the frames left decide. */
static inline int order_pairs(struct walk *w, struct pairs now)
{
	do {
		while (now.n > 0) {
			Term a = *now.a++, b = *now.b++;
			const Term *ea, *eb;
			int order;
			size_t n;

			now.n--;
			if (a == b)
				continue;
			n = find_elements(a, b, &ea, &eb, &w->looked_into);
			if (n > 0) {
				look_ahead(w, ea, eb, n);
				if (differ_from(&ea, &eb, &n))
					enter(w, &now, ea, eb, n);
				continue;
			}
			if (is_leaf(a)) {
				order = order_leaves(a, b, w->exact);
			} else {
				enter(w, &now, NULL, NULL, 0);
				order = order_others(w, a, b);
			}
			if (order != 0)
				return order;
		}
	} while (pop_array(w, &now));
	return 0;
}

/* Has the candidate at `next` decide from now on? True when its values are to be compared first: they are pushed. */
static bool take_candidate(struct walk *w, struct race *r)
{
	const struct candidate *c = &r->candidates[r->next];

	if (c->values[0] != TERM_NONE && c->values[1] != TERM_NONE) {
		r->phase = STEP_VALUES;
		push_array(w, &c->values[0], &c->values[1], 1);
		return true;
	}
	r->result = c->values[1] == TERM_NONE ? -1 : 1;
	r->best = r->next++;
	return false;
}

/* One step of the race on top, given the order found above it. Returns the race's own result at its end, else 0 with
 * frames pushed. Every pair of values is compared once at most, so that nested maps cost no more than their size. */
static int step_race(struct walk *w, int order)
{
	struct race *r = w->top[-1].race;
	enum step phase = r->phase;

	r->phase = STEP_START;
	if (phase == STEP_KEYS && order < 0) {
		if (take_candidate(w, r))
			return 0;
	} else if (phase != STEP_START) {
		if (phase == STEP_VALUES && order != 0) {
			r->result = order;
			r->best = r->next;
		}
		r->next++;
	}
	while (r->next < r->n) {
		if (r->result != 0) {
			r->phase = STEP_KEYS;
			push_key(w, &r->candidates[r->next].key, &r->candidates[r->best].key);
			return 0;
		}
		if (take_candidate(w, r))
			return 0;
	}
	order = r->result;
	pop_frame(w);
	return order;
}

static __attribute__((noinline)) int order_deep(const Term *a, const Term *b, size_t n, unsigned how)
{
	struct pairs now = { a, b, n };
	struct walk w;
	int order = 0;

	start_walk(&w, how);
	for (;;) {
		if (order == 0)
			order = order_pairs(&w, now);
		if (top_kind(&w) == FRAME_LAST)
			break;
		if (top_kind(&w) == FRAME_RACE)
			order = step_race(&w, order);
		else
			pop_frame(&w);
		now.n = 0;
	}
	end_walk(&w);
	return order;
}

/* Of terms without elements side by side. */
static __attribute__((noinline)) int order_apart(Term a, Term b, unsigned how)
{
	if (term_is_number(a) && term_is_number(b))
		return compare_numbers(a, b, is_exact(how));
	return is_leaf(a) ? order_leaves(a, b, is_exact(how)) : order_deep(&a, &b, 1, how);
}

static int order_bitstrings(Term a, Term b, unsigned how)
{
	bool lends = (how & COMPARE_LENDS) != 0 && binary_size_bytes(a) > BYTES_MANY &&
		     binary_size_bytes(b) > BYTES_MANY;
	int order;

	if (unlikely(lends))
		compare_hooks.lend();
	order = binary_compare(a, b);
	if (unlikely(lends))
		compare_hooks.reclaim();
	return order;
}

/* Two different words of which one is an immediate. */
static int order_with_immediate(Term a, Term b, bool exact)
{
	if (terms_both_small(a, b))
		return compare_smalls(a, b);
	return term_is_immed(a) ? order_leaves(a, b, exact) : -order_leaves(b, a, exact);
}

enum { LEVELS_MAX = 4 };

/* The order of n words side by side that are not all the same, as far as the first that differ tell it, in tuples in
 * tuples; 0: they do not. */
static int order_by_first(const struct pairs *words, bool exact)
{
	struct pairs now = *words;

	for (int level = 0; level < LEVELS_MAX; level++) {
		Term a = *now.a, b = *now.b;

		if (term_is_immed(a) || term_is_immed(b))
			return order_with_immediate(a, b, exact);
		if (!term_is_tuple(a) || !term_is_boxed(b) || *boxed_ptr(a) != *boxed_ptr(b))
			return 0;
		now = (struct pairs){ boxed_ptr(a) + 1, boxed_ptr(b) + 1, tuple_arity(a) };
		if (now.n > LOOKED_INTO_FEW)
			return 0;
		skip_same_words(&now);
		if (now.n == 0)
			return 0;
	}
	return 0;
}

/* Of n words side by side, where all that is before them is the same. */
static inline int order_rest(struct pairs now, unsigned how)
{
	int order;

	skip_same_words(&now);
	if (now.n == 0)
		return 0;
	if (terms_both_small(*now.a, *now.b))
		return compare_smalls(*now.a, *now.b);
	order = order_by_first(&now, is_exact(how));
	return order != 0 ? order : order_deep(now.a, now.b, now.n, how);
}

/* All but atoms, floats, and tuples of one arity. */
static __attribute__((noinline)) int order_others_apart(Term a, Term b, unsigned how)
{
	unsigned passed = 0;
	struct pairs now;

	now.n = find_elements(a, b, &now.a, &now.b, &passed);
	if (now.n == 0)
		return term_is_bitstring(a) && term_is_bitstring(b) ? order_bitstrings(a, b, how)
								    : order_apart(a, b, how);
	return likely(now.n <= LOOKED_INTO_MANY) ? order_rest(now, how) : order_deep(&a, &b, 1, how);
}

int compare_terms(Term a, Term b, unsigned how)
{
	if (term_is_atom(a) && term_is_atom(b))
		return atom_compare(a, b);
	if (term_is_boxed(a) && term_is_boxed(b) && *boxed_ptr(a) == *boxed_ptr(b)) {
		Term header = *boxed_ptr(a);
		struct pairs now = { boxed_ptr(a) + 1, boxed_ptr(b) + 1, header_arity(header) };

		if (header == HEADER(1, SUB_FLOAT))
			return compare_floats(a, b, is_exact(how));
		if (header_sub(header) == SUB_TUPLE && likely(now.n <= LOOKED_INTO_MANY))
			return order_rest(now, how);
	}
	return order_others_apart(a, b, how);
}
