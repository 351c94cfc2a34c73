/* SPDX-License-Identifier: Apache-2.0 */
/* Order and equality of terms, without recursion: frames of arrays still to be compared stand on a stack of their own. What has
 * nothing to look into, and tuples and flat maps of that, are compared before there are any frames.
 * Invariant: the frames below the top one are those that decide only when all above are equal. */
#include "data/compare.h"

#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "data/big.h"
#include "data/binary.h"
#include "data/extern_id.h"
#include "data/fun_link.h"
#include "data/map.h"

enum frame_kind {
	FRAME_ARRAY,         /* n terms at a and b */
	FRAME_CHILDREN,      /* n children of two trie nodes with the same shape */
	FRAME_MATCH,         /* two sets of n leaves whose keys share a hash, in any order */
	FRAME_RACE,          /* the search for the least key that tells two tries apart */
};

enum step {
	STEP_START,          /* nothing is being compared */
	STEP_KEYS,           /* the next candidate's key against the best one's */
	STEP_VALUES,         /* the next candidate's values */
};

struct candidate {
	Term key;
	Term values[2];      /* in a, in b; TERM_NONE when the key is not there */
};

/* n stands between a and b: side by side, gcc loads both as one vector just after they were stored one by one, and the load waits. */
struct frame {
	const Term *a;
	size_t n;
	const Term *b;
	struct candidate *candidates; /* of a race; owned */
	size_t best, next;
	int result;          /* of a race: what the best candidate says; 0 before there is one */
	uint8_t kind;
	bool exact;
	uint8_t phase;       /* of a race or a match: enum step */
};

struct frames {
	struct frame fixed[24];
	struct frame *at;
	size_t count, room;
};

static void start_frames(struct frames *s)
{
	s->at = s->fixed;
	s->count = 0;
	s->room = sizeof(s->fixed) / sizeof(s->fixed[0]);
}

static void end_frames(struct frames *s)
{
	while (s->count > 0)
		if (s->at[--s->count].kind == FRAME_RACE)
			mem_free(s->at[s->count].candidates);
	if (s->at != s->fixed)
		mem_free(s->at);
}

static struct frame *push_frame(struct frames *s, enum frame_kind kind, bool exact)
{
	struct frame *f;

	if (unlikely(s->count == s->room)) {
		struct frame *more = mem_alloc(2 * s->room * sizeof(*more));

		memcpy(more, s->at, s->count * sizeof(*more));
		if (s->at != s->fixed)
			mem_free(s->at);
		s->at = more;
		s->room *= 2;
	}
	f = &s->at[s->count++];
	f->kind = kind;
	f->exact = exact;
	return f;
}

static void push_array(struct frames *s, const Term *a, const Term *b, size_t n, bool exact)
{
	struct frame *f;

	if (n == 0)
		return;
	f = push_frame(s, FRAME_ARRAY, exact);
	f->a = a;
	f->b = b;
	f->n = n;
}

/* ---- numbers */

static int compare_doubles(double a, double b)
{
	return (a > b) - (a < b);
}

static int compare_numbers(Term a, Term b, bool exact)
{
	bool fa = term_is_float(a), fb = term_is_float(b);

	if (fa && fb)
		return compare_doubles(float_value(a), float_value(b));
	if (!fa && !fb)
		return big_compare(a, b);
	if (exact)
		return fa ? 1 : -1;
	return fa ? -big_compare_double(b, float_value(a)) : big_compare_double(a, float_value(b));
}

/* ---- what needs no frames */

static bool same_words(const Term *a, const Term *b, size_t n)
{
	size_t i = 0;

	while (i < n && a[i] == b[i])
		i++;
	return i == n;
}

/* Elements of two tuples of one arity, or values of two flat maps whose keys are the same words: they decide. 0 for all else. */
static size_t find_elements(Term ta, Term tb, const Term **ea, const Term **eb)
{
	const Term *a = boxed_ptr(ta), *b = boxed_ptr(tb);

	if (!term_is_boxed(ta) || !term_is_boxed(tb) || *a != *b)
		return 0;
	if (header_sub(*a) == SUB_TUPLE) {
		*ea = a + 1;
		*eb = b + 1;
		return header_arity(*a);
	}
	if (header_sub(*a) != SUB_MAP || map_kind(*a) != MAP_FLAT || !same_words(boxed_ptr(a[1]), boxed_ptr(b[1]), map_val(*a) + 1))
		return 0;
	*ea = a + 2;
	*eb = b + 2;
	return map_val(*a);
}

/* ---- equality */

static unsigned count_children(Term header)
{
	return map_ways((uint32_t)map_val(header));
}

static bool same_maps(struct frames *s, const Term *a, const Term *b, bool exact)
{
	Term header = *a;
	struct frame *f;
	size_t first = 1;

	if (header != *b)
		return false;
	if (map_kind(header) == MAP_FLAT) {
		push_array(s, a + 2, b + 2, map_val(header), exact);
		if (same_words(boxed_ptr(a[1]), boxed_ptr(b[1]), map_val(header) + 1))
			return true;
		push_array(s, a + 1, b + 1, 1, true);
		return true;
	}
	if (map_kind(header) != MAP_NODE_BITMAP) {
		if (a[1] != b[1])
			return false;
		first = 2;
	}
	f = push_frame(s, FRAME_CHILDREN, exact);
	f->a = a + first;
	f->b = b + first;
	f->n = count_children(header);
	return true;
}

static bool same_arrays(struct frames *s, const Term *pa, const Term *pb, size_t n, bool exact);

/* Two children of trie nodes: keys must be the same exactly. */
static bool same_children(struct frames *s, Term a, Term b, bool exact)
{
	struct frame *f;

	if (term_is_cons(a) || term_is_cons(b)) {
		if (!term_is_cons(a) || !term_is_cons(b))
			return false;
		push_array(s, cons_ptr(a) + 1, cons_ptr(b) + 1, 1, exact);
		return same_arrays(s, cons_ptr(a), cons_ptr(b), 1, true);
	}
	if (*boxed_ptr(a) != *boxed_ptr(b))
		return false;
	if (!term_is_tuple(a))
		return same_maps(s, boxed_ptr(a), boxed_ptr(b), exact);
	f = push_frame(s, FRAME_MATCH, exact);
	f->a = boxed_ptr(a) + 1;
	f->b = boxed_ptr(b) + 1;
	f->n = tuple_arity(a);
	f->next = f->best = 0;
	f->phase = STEP_START;
	return true;
}

/* One step of a match, given whether what stood above it was the same: leaf `next` of a against leaf `best` of b, keys first.
 * Returns false at its end when some leaf has no like. */
static bool step_match(struct frames *s, bool same)
{
	struct frame *f = &s->at[s->count - 1];
	bool values = f->phase == STEP_KEYS && same;

	if (f->phase == STEP_VALUES && same) {
		f->next++;
		f->best = 0;
	} else if (f->phase == STEP_KEYS && !same) {
		f->best++;
	}
	if ((f->phase == STEP_VALUES && !same) || f->next == f->n || f->best == f->n) {
		same = f->next == f->n;
		s->count--;
		return same;
	}
	f->phase = values ? STEP_VALUES : STEP_KEYS;
	push_array(s, cons_ptr(f->a[f->next]) + values, cons_ptr(f->b[f->best]) + values, 1, !values || f->exact);
	return true;
}

static bool same_funs(struct frames *s, const struct fun *a, const struct fun *b, bool exact)
{
	if (a->entry != b->entry || a->shape != b->shape)
		return false;
	push_array(s, a->env, b->env, fun_num_free(a), exact);
	return true;
}

/* Has no terms in it that are compared one by one: nothing is pushed for it. */
static bool is_leaf(Term t)
{
	unsigned sub;

	if (!term_is_boxed(t))
		return !term_is_cons(t);
	sub = header_sub(*boxed_ptr(t));
	return sub != SUB_TUPLE && sub != SUB_MAP && sub != SUB_FUN;
}

/* Of what has no terms in it. */
static bool same_boxed_leaves(Term ta, Term tb)
{
	const Term *a = boxed_ptr(ta), *b = boxed_ptr(tb);
	unsigned sub = header_sub(*a);

	if (sub >= SUB_REFBIN && sub <= SUB_SUBBIN)
		return term_is_bitstring(tb) && binary_equal(ta, tb);
	if (sub != header_sub(*b))
		return false;
	switch (sub) {
	case SUB_BIG_POS:
	case SUB_BIG_NEG:
		return *a == *b && memcmp(a + 1, b + 1, header_arity(*a) * sizeof(Term)) == 0;
	case SUB_FLOAT:
		return float_value(ta) == float_value(tb);
	case SUB_REF:
	case SUB_EXPORT:
		return a[1] == b[1];
	case SUB_XREF:
	case SUB_XPID:
	case SUB_XPORT:
		return extern_id_compare(ta, tb) == 0;
	default:
		return false;
	}
}

/* Two different words; a is a leaf. */
static bool same_leaves(Term a, Term b, bool exact)
{
	if (term_is_boxed(a) && term_is_boxed(b) && (exact || !term_is_number(a) || !term_is_number(b)))
		return same_boxed_leaves(a, b);
	return !exact && term_is_number(a) && term_is_number(b) && compare_numbers(a, b, false) == 0;
}

/* A map or a fun, and another word. */
static bool same_others(struct frames *s, Term a, Term b, bool exact)
{
	if (!term_is_boxed(b) || header_sub(*boxed_ptr(a)) != header_sub(*boxed_ptr(b)))
		return false;
	return term_is_map(a) ? same_maps(s, boxed_ptr(a), boxed_ptr(b), exact) : same_funs(s, fun_ptr(a), fun_ptr(b), exact);
}

/* Compares arrays pair by pair and goes into lists and tuples; what then stands behind is pushed. A cell of a list is an array of two. */
static bool same_arrays(struct frames *s, const Term *pa, const Term *pb, size_t n, bool exact)
{
	while (n > 0) {
		Term a = *pa++, b = *pb++;

		n--;
		if (a == b)
			continue;
		if (term_is_cons(a)) {
			if (!term_is_cons(b))
				return false;
			push_array(s, pa, pb, n, exact);
			pa = cons_ptr(a);
			pb = cons_ptr(b);
			n = 2;
		} else if (is_leaf(a)) {
			if (!same_leaves(a, b, exact))
				return false;
		} else if (!term_is_tuple(a)) {
			push_array(s, pa, pb, n, exact);
			return same_others(s, a, b, exact);
		} else {
			if (!term_is_boxed(b) || *boxed_ptr(a) != *boxed_ptr(b))
				return false;
			push_array(s, pa, pb, n, exact);
			pa = boxed_ptr(a) + 1;
			pb = boxed_ptr(b) + 1;
			n = tuple_arity(a);
		}
	}
	return true;
}

/* A key and its value with nothing to look into? */
static bool is_leaf_pair(Term t)
{
	return term_is_cons(t) && is_leaf(cons_head(t)) && is_leaf(cons_tail(t));
}

/* The children of two trie nodes up to the first that has to be looked into, with those behind it pushed. */
static bool same_all_children(struct frames *s, const struct frame *f)
{
	for (size_t i = 0; i < f->n; i++) {
		Term a = f->a[i], b = f->b[i];

		if (a == b)
			continue;
		if (!is_leaf_pair(a) || !term_is_cons(b)) {
			if (i + 1 < f->n)
				*push_frame(s, FRAME_CHILDREN, f->exact) =
					(struct frame){ .a = f->a + i + 1, .n = f->n - i - 1, .b = f->b + i + 1,
							.kind = FRAME_CHILDREN, .exact = f->exact };
			return same_children(s, a, b, f->exact);
		}
		if (cons_head(a) != cons_head(b) && !same_leaves(cons_head(a), cons_head(b), true))
			return false;
		if (cons_tail(a) != cons_tail(b) && !same_leaves(cons_tail(a), cons_tail(b), f->exact))
			return false;
	}
	return true;
}

/* Apart, so that what needs no frames makes no room for them. */
static __attribute__((noinline)) bool same_deep(const Term *a, const Term *b, size_t n, bool exact)
{
	struct frames s;
	bool same;

	start_frames(&s);
	same = same_arrays(&s, a, b, n, exact);
	while (s.count > 0) {
		struct frame f;

		if (s.at[s.count - 1].kind == FRAME_MATCH) {
			same = step_match(&s, same);
			continue;
		}
		f = s.at[--s.count];
		if (!same)
			continue;
		same = f.kind == FRAME_CHILDREN ? same_all_children(&s, &f)
						: same_arrays(&s, f.a, f.b, f.n, f.exact);
	}
	end_frames(&s);
	return same;
}

bool compare_same(Term a, Term b, bool exact)
{
	const Term *pa, *pb;
	size_t n;

	if (is_leaf(a))
		return a == b || same_leaves(a, b, exact);
	if (is_leaf(b))
		return false;
	n = find_elements(a, b, &pa, &pb);
	if (n == 0)
		return same_deep(&a, &b, 1, exact);
	for (; n > 0 && (*pa == *pb || is_leaf(*pa)); n--, pa++, pb++)
		if (*pa != *pb && !same_leaves(*pa, *pb, exact))
			return false;
	return n == 0 || same_deep(pa, pb, n, exact);
}

/* ---- order */

enum rank { RANK_NUMBER, RANK_ATOM, RANK_REF, RANK_FUN, RANK_PORT, RANK_PID, RANK_TUPLE, RANK_MAP, RANK_NIL, RANK_LIST, RANK_BITS };

static enum rank rank_term(Term t)
{
	static const uint8_t boxed[16] = {
		[SUB_TUPLE] = RANK_TUPLE, [SUB_BIG_POS] = RANK_NUMBER, [SUB_BIG_NEG] = RANK_NUMBER, [SUB_REF] = RANK_REF,
		[SUB_FUN] = RANK_FUN, [SUB_FLOAT] = RANK_NUMBER, [SUB_EXPORT] = RANK_FUN, [SUB_REFBIN] = RANK_BITS,
		[SUB_HEAPBIN] = RANK_BITS, [SUB_SUBBIN] = RANK_BITS, [SUB_MAP] = RANK_MAP, [SUB_XPID] = RANK_PID,
		[SUB_XPORT] = RANK_PORT, [SUB_XREF] = RANK_REF,
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

static int compare_words(uint64_t a, uint64_t b)
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
	return order != 0 ? order : compare_words(fa.arity, fb.arity);
}

static int compare_funs(struct frames *s, Term a, Term b, bool exact)
{
	struct fun_facts fa, fb;
	int order;

	if (!term_has_sub(b, SUB_FUN))
		return -1;
	fun_link_describe(fun_ptr(a)->entry, &fa);
	fun_link_describe(fun_ptr(b)->entry, &fb);
	order = atom_compare(fa.module, fb.module);
	if (order == 0)
		order = compare_words(fa.index, fb.index);
	if (order == 0)
		order = compare_words(fa.old_uniq, fb.old_uniq);
	if (order == 0)
		order = compare_words(fun_num_free(fun_ptr(a)), fun_num_free(fun_ptr(b)));
	if (order == 0)
		push_array(s, fun_ptr(a)->env, fun_ptr(b)->env, fun_num_free(fun_ptr(a)), exact);
	return order;
}

/* Collects what may tell two tries of the same size apart: the keys that only one has, or, when the keys are the same,
 * those whose values are not the same words. */
static size_t find_candidates(Term a, Term b, struct candidate *c)
{
	struct map_iter it;
	size_t by_value = 0, by_key = 0;
	Term key, value;

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

static int compare_maps(struct frames *s, Term a, Term b, bool exact)
{
	size_t n = map_size(a);
	struct frame *f;

	if (n != map_size(b))
		return n < map_size(b) ? -1 : 1;
	if (map_is_flat(a)) {
		const Term *pa = boxed_ptr(a), *pb = boxed_ptr(b);

		push_array(s, pa + 2, pb + 2, n, exact);
		push_array(s, pa + 1, pb + 1, 1, true);
		return 0;
	}
	f = push_frame(s, FRAME_RACE, exact);
	f->candidates = mem_alloc(2 * n * sizeof(struct candidate));
	f->n = find_candidates(a, b, f->candidates);
	f->best = f->next = 0;
	f->result = 0;
	f->phase = STEP_START;
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

/* a is no leaf, and they are no two lists and no two tuples of one arity. 0 when the frames pushed decide. */
static int order_others(struct frames *s, Term a, Term b, bool exact)
{
	enum rank rank = rank_term(a), other = rank_term(b);

	if (rank != other)
		return rank < other ? -1 : 1;
	switch (rank) {
	case RANK_FUN:
		return compare_funs(s, a, b, exact);
	case RANK_TUPLE:
		return tuple_arity(a) < tuple_arity(b) ? -1 : 1;
	default:
		return compare_maps(s, a, b, exact);
	}
}

/* As same_arrays: the order as far as it can be told; 0 when the frames pushed decide. */
static int order_arrays(struct frames *s, const Term *pa, const Term *pb, size_t n, bool exact)
{
	int order = 0;

	while (n > 0 && order == 0) {
		Term a = *pa++, b = *pb++;

		n--;
		if (a == b)
			continue;
		if (is_leaf(a)) {
			order = order_leaves(a, b, exact);
			continue;
		}
		push_array(s, pa, pb, n, exact);
		if (term_is_cons(a) && term_is_cons(b)) {
			pa = cons_ptr(a);
			pb = cons_ptr(b);
			n = 2;
		} else if (term_is_tuple(a) && term_is_tuple(b) && *boxed_ptr(a) == *boxed_ptr(b)) {
			pa = boxed_ptr(a) + 1;
			pb = boxed_ptr(b) + 1;
			n = tuple_arity(a);
		} else {
			return order_others(s, a, b, exact);
		}
	}
	return order;
}

/* Has the candidate at `next` decide from now on? True when its values are to be compared first: they are pushed. */
static bool take_candidate(struct frames *s, struct frame *f)
{
	const struct candidate *c = &f->candidates[f->next];

	if (c->values[0] != TERM_NONE && c->values[1] != TERM_NONE) {
		f->phase = STEP_VALUES;
		push_array(s, &c->values[0], &c->values[1], 1, f->exact);
		return true;
	}
	f->result = c->values[1] == TERM_NONE ? -1 : 1;
	f->best = f->next++;
	return false;
}

/* One step of a race, given the order found above it. Returns the race's own result at its end, else 0 with frames pushed.
 * Every pair of values is compared once at most, so that nested maps cost no more than their size. */
static int step_race(struct frames *s, int order)
{
	struct frame *f = &s->at[s->count - 1];
	enum step phase = (enum step)f->phase;

	f->phase = STEP_START;
	if (phase == STEP_KEYS && order < 0) {
		if (take_candidate(s, f))
			return 0;
	} else if (phase != STEP_START) {
		if (phase == STEP_VALUES && order != 0) {
			f->result = order;
			f->best = f->next;
		}
		f->next++;
	}
	while (f->next < f->n) {
		if (f->result != 0) {
			f->phase = STEP_KEYS;
			push_array(s, &f->candidates[f->next].key, &f->candidates[f->best].key, 1, true);
			return 0;
		}
		if (take_candidate(s, f))
			return 0;
	}
	order = f->result;
	mem_free(f->candidates);
	s->count--;
	return order;
}

static __attribute__((noinline)) int order_deep(const Term *a, const Term *b, size_t n, bool exact)
{
	struct frames s;
	int order;

	start_frames(&s);
	order = order_arrays(&s, a, b, n, exact);
	while (s.count > 0) {
		const struct frame *f = &s.at[s.count - 1];

		if (f->kind == FRAME_RACE) {
			order = step_race(&s, order);
			continue;
		}
		s.count--;
		if (order == 0)
			order = order_arrays(&s, f->a, f->b, f->n, f->exact);
	}
	end_frames(&s);
	return order;
}

int compare_terms(Term a, Term b, bool exact)
{
	const Term *pa, *pb;
	int order = 0;
	size_t n;

	if (a == b)
		return 0;
	if (is_leaf(a))
		return order_leaves(a, b, exact);
	n = find_elements(a, b, &pa, &pb);
	if (n == 0)
		return order_deep(&a, &b, 1, exact);
	for (; n > 0 && order == 0 && (*pa == *pb || is_leaf(*pa)); n--, pa++, pb++)
		if (*pa != *pb)
			order = order_leaves(*pa, *pb, exact);
	return order != 0 || n == 0 ? order : order_deep(pa, pb, n, exact);
}
