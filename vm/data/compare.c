/* SPDX-License-Identifier: Apache-2.0 */
/* Order and equality of terms, without recursion: frames of what is still to be compared stand on a stack of their own. What has
 * nothing to look into, and tuples and flat maps of the same words, are compared before there are any frames.
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
	FRAME_MATCH,         /* see struct match */
	FRAME_RACE,          /* see struct race */
};

enum step {
	STEP_START,          /* nothing is being compared */
	STEP_KEYS,           /* the next candidate's key against the best one's */
	STEP_VALUES,         /* the next candidate's values */
};

/* Two sets of n leaves whose keys share a hash, in any order: leaf `next` of a is looked for in b, where `tried` is its turn. */
struct match {
	const Term *a, *b;
	size_t n, next, tried;
	enum step phase;
};

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

/* What is small stands between a and b: side by side, gcc loads both as one vector just after they were stored one by one, and the load
 * waits. */
struct frame {
	union {
		const Term *a;
		struct match *match; /* owned */
		struct race *race;   /* owned */
	};
	uint32_t n;
	uint8_t kind;
	bool exact;
	const Term *b;
};

struct frames {
	struct frame *top, *base, *end; /* the next free one, the lowest, one past the last */
	struct frame fixed[32];
};

static void start_frames(struct frames *s)
{
	s->top = s->base = s->fixed;
	s->end = s->fixed + sizeof(s->fixed) / sizeof(s->fixed[0]);
}

static void end_frames(struct frames *s)
{
	while (s->top > s->base)
		if ((--s->top)->kind >= FRAME_MATCH)
			mem_free(s->top->match);
	if (s->base != s->fixed)
		mem_free(s->base);
}

static __attribute__((noinline)) void grow_frames(struct frames *s)
{
	size_t n = (size_t)(s->top - s->base);
	struct frame *more = mem_alloc(2 * n * sizeof(*more));

	memcpy(more, s->base, n * sizeof(*more));
	if (s->base != s->fixed)
		mem_free(s->base);
	s->base = more;
	s->top = more + n;
	s->end = more + 2 * n;
}

static inline struct frame *push_frame(struct frames *s, enum frame_kind kind, bool exact)
{
	if (unlikely(s->top == s->end))
		grow_frames(s);
	s->top->kind = kind;
	s->top->exact = exact;
	return s->top++;
}

static inline void push_terms(struct frames *s, enum frame_kind kind, const Term *a, const Term *b, size_t n, bool exact)
{
	struct frame *f;

	if (n == 0)
		return;
	f = push_frame(s, kind, exact);
	f->a = a;
	f->b = b;
	f->n = (uint32_t)n;
}

static inline void push_array(struct frames *s, const Term *a, const Term *b, size_t n, bool exact)
{
	push_terms(s, FRAME_ARRAY, a, b, n, exact);
}

/* Terms side by side, being compared. */
struct pairs {
	const Term *a, *b;
	size_t n;
	bool exact;
};

/* Goes on with the array on top. False: there is none there. */
static inline bool pop_array(struct frames *s, struct pairs *now)
{
	if (s->top == s->base || s->top[-1].kind != FRAME_ARRAY)
		return false;
	s->top--;
	*now = (struct pairs){ s->top->a, s->top->b, s->top->n, s->top->exact };
	return true;
}

/* Goes on with n terms inside of two that were just compared; what stands behind those comes later. */
static inline void enter(struct frames *s, struct pairs *now, const Term *a, const Term *b, size_t n)
{
	push_array(s, now->a, now->b, now->n, now->exact);
	now->a = a;
	now->b = b;
	now->n = n;
}

static inline void skip_same_words(struct pairs *now)
{
	while (now->n > 0 && *now->a == *now->b) {
		now->a++;
		now->b++;
		now->n--;
	}
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

/* The cells of two lists where they first differ, as far as both go. */
static inline void skip_same_heads(const Term **a, const Term **b)
{
	while ((*a)[0] == (*b)[0] && (*a)[1] != (*b)[1] && term_is_cons((*a)[1]) && term_is_cons((*b)[1])) {
		*a = cons_ptr((*a)[1]);
		*b = cons_ptr((*b)[1]);
	}
}

/* Elements of two tuples of one arity, values of two flat maps whose keys are the same words, or head and tail of cells of two lists
 * which are the same up to there: when they are equal, so are the terms. 0 for all else. */
static inline __attribute__((always_inline)) size_t find_elements(Term ta, Term tb, const Term **a, const Term **b)
{
	Term header;

	if ((ta ^ tb) & 3)
		return 0;
	if (term_is_cons(ta)) {
		*a = cons_ptr(ta);
		*b = cons_ptr(tb);
		skip_same_heads(a, b);
		return 2;
	}
	if (!term_is_boxed(ta) || *boxed_ptr(ta) != *boxed_ptr(tb))
		return 0;
	*a = boxed_ptr(ta) + 1;
	*b = boxed_ptr(tb) + 1;
	header = *boxed_ptr(ta);
	if (header_sub(header) == SUB_TUPLE)
		return header_arity(header);
	if (header_sub(header) != SUB_MAP || map_kind(header) != MAP_FLAT)
		return 0;
	if (**a != **b && !same_words(boxed_ptr(**a), boxed_ptr(**b), map_val(header) + 1))
		return 0;
	++*a;
	++*b;
	return map_val(header);
}

/* Has no terms in it that are compared one by one: nothing is pushed for it. */
static inline bool is_leaf(Term t)
{
	unsigned sub;

	if (!term_is_boxed(t))
		return !term_is_cons(t);
	sub = header_sub(*boxed_ptr(t));
	return sub != SUB_TUPLE && sub != SUB_MAP && sub != SUB_FUN;
}

/* ---- equality */

static unsigned count_children(Term header)
{
	return map_ways((uint32_t)map_val(header));
}

static bool same_maps(struct frames *s, const Term *a, const Term *b, bool exact)
{
	Term header = *a;
	size_t first = 1;

	if (header != *b)
		return false;
	if (map_kind(header) == MAP_FLAT) {
		push_array(s, a + 2, b + 2, map_val(header), exact);
		push_array(s, a + 1, b + 1, 1, true);
		return true;
	}
	if (map_kind(header) != MAP_NODE_BITMAP) {
		if (a[1] != b[1])
			return false;
		first = 2;
	}
	push_terms(s, FRAME_CHILDREN, a + first, b + first, count_children(header), exact);
	return true;
}

/* Two children of trie nodes: keys must be the same exactly. */
static bool same_children(struct frames *s, Term a, Term b, bool exact)
{
	struct match *m;

	if (term_is_cons(a) || term_is_cons(b)) {
		if (!term_is_cons(a) || !term_is_cons(b))
			return false;
		push_array(s, cons_ptr(a) + 1, cons_ptr(b) + 1, 1, exact);
		push_array(s, cons_ptr(a), cons_ptr(b), 1, true);
		return true;
	}
	if (*boxed_ptr(a) != *boxed_ptr(b))
		return false;
	if (!term_is_tuple(a))
		return same_maps(s, boxed_ptr(a), boxed_ptr(b), exact);
	m = mem_alloc(sizeof(*m));
	*m = (struct match){ boxed_ptr(a) + 1, boxed_ptr(b) + 1, tuple_arity(a), 0, 0, STEP_START };
	push_frame(s, FRAME_MATCH, exact)->match = m;
	return true;
}

/* One step of the match on top, given whether what stood above it was the same: keys first. Returns false at its end when some leaf has
 * no like. */
static bool step_match(struct frames *s, bool same)
{
	struct match *m = s->top[-1].match;
	bool values = m->phase == STEP_KEYS && same, exact = s->top[-1].exact;

	if (m->phase == STEP_VALUES && same) {
		m->next++;
		m->tried = 0;
	} else if (m->phase == STEP_KEYS && !same) {
		m->tried++;
	}
	if ((m->phase == STEP_VALUES && !same) || m->next == m->n || m->tried == m->n) {
		same = m->next == m->n;
		mem_free(m);
		s->top--;
		return same;
	}
	m->phase = values ? STEP_VALUES : STEP_KEYS;
	push_array(s, cons_ptr(m->a[m->next]) + values, cons_ptr(m->b[m->tried]) + values, 1, !values || exact);
	return true;
}

static bool same_funs(struct frames *s, const struct fun *a, const struct fun *b, bool exact)
{
	if (a->entry != b->entry || a->shape != b->shape)
		return false;
	push_array(s, a->env, b->env, fun_num_free(a), exact);
	return true;
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

/* A term that is no leaf, and another word; find_elements says nothing of them. */
static bool same_others(struct frames *s, Term a, Term b, bool exact)
{
	if (!term_is_boxed(a) || !term_is_boxed(b) || header_sub(*boxed_ptr(a)) != header_sub(*boxed_ptr(b)))
		return false;
	if (term_is_tuple(a))
		return tuple_arity(a) == tuple_arity(b);
	return term_is_map(a) ? same_maps(s, boxed_ptr(a), boxed_ptr(b), exact) : same_funs(s, fun_ptr(a), fun_ptr(b), exact);
}

/* Compares pair by pair, and all arrays on top of the stack. */
static inline bool same_pairs(struct frames *s, struct pairs now)
{
	do {
		for (skip_same_words(&now); now.n > 0; skip_same_words(&now)) {
			Term a = *now.a++, b = *now.b++;
			const Term *ea, *eb;
			size_t n = find_elements(a, b, &ea, &eb);

			now.n--;
			if (n > 0) {
				enter(s, &now, ea, eb, n);
			} else if (is_leaf(a)) {
				if (!same_leaves(a, b, now.exact))
					return false;
			} else {
				enter(s, &now, NULL, NULL, 0);
				if (!same_others(s, a, b, now.exact))
					return false;
			}
		}
	} while (pop_array(s, &now));
	return true;
}

/* A key and its value with nothing to look into? */
static bool is_leaf_pair(Term t)
{
	return term_is_cons(t) && is_leaf(cons_head(t)) && is_leaf(cons_tail(t));
}

/* The children of two trie nodes up to the first that has to be looked into, with those behind it pushed. */
static bool same_all_children(struct frames *s, const Term *pa, const Term *pb, size_t n, bool exact)
{
	while (n > 0) {
		Term a = *pa++, b = *pb++;

		n--;
		if (a == b)
			continue;
		if (!is_leaf_pair(a) || !term_is_cons(b)) {
			push_terms(s, FRAME_CHILDREN, pa, pb, n, exact);
			return same_children(s, a, b, exact);
		}
		if (cons_head(a) != cons_head(b) && !same_leaves(cons_head(a), cons_head(b), true))
			return false;
		if (cons_tail(a) != cons_tail(b) && !same_leaves(cons_tail(a), cons_tail(b), exact))
			return false;
	}
	return true;
}

/* Apart, so that what needs no frames makes no room for them. */
static __attribute__((noinline)) bool same_deep(const Term *a, const Term *b, size_t n, bool exact)
{
	struct pairs now = { a, b, n, exact };
	struct frames s;
	bool same = true;

	start_frames(&s);
	for (;;) {
		same = same && same_pairs(&s, now);
		if (s.top == s.base)
			break;
		now.n = 0;
		if (s.top[-1].kind == FRAME_MATCH) {
			same = step_match(&s, same);
			continue;
		}
		s.top--;
		if (same && s.top->kind == FRAME_CHILDREN)
			same = same_all_children(&s, s.top->a, s.top->b, s.top->n, s.top->exact);
	}
	end_frames(&s);
	return same;
}

bool compare_same(Term a, Term b, bool exact)
{
	struct pairs now;

	now.n = find_elements(a, b, &now.a, &now.b);
	if (now.n == 0)
		return a == b || (is_leaf(a) ? same_leaves(a, b, exact) : same_deep(&a, &b, 1, exact));
	skip_same_words(&now);
	return now.n == 0 || same_deep(now.a, now.b, now.n, exact);
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
	struct race *r;

	if (n != map_size(b))
		return n < map_size(b) ? -1 : 1;
	if (map_is_flat(a)) {
		const Term *pa = boxed_ptr(a), *pb = boxed_ptr(b);

		push_array(s, pa + 2, pb + 2, n, exact);
		push_array(s, pa + 1, pb + 1, 1, true);
		return 0;
	}
	r = mem_alloc(sizeof(*r) + 2 * n * sizeof(struct candidate));
	*r = (struct race){ .phase = STEP_START };
	r->n = find_candidates(a, b, r->candidates);
	push_frame(s, FRAME_RACE, exact)->race = r;
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
static int order_others(struct frames *s, Term a, Term b, bool exact)
{
	enum rank rank = rank_term(a), other = rank_term(b);

	if (rank != other)
		return rank < other ? -1 : 1;
	switch (rank) {
	case RANK_FUN:
		return compare_funs(s, a, b, exact);
	case RANK_TUPLE:
		return compare_words(tuple_arity(a), tuple_arity(b));
	default:
		return compare_maps(s, a, b, exact);
	}
}

/* As same_pairs: the order as far as it can be told; 0 when the frames left decide. */
static inline int order_pairs(struct frames *s, struct pairs now)
{
	do {
		for (skip_same_words(&now); now.n > 0; skip_same_words(&now)) {
			Term a = *now.a++, b = *now.b++;
			const Term *ea, *eb;
			size_t n = find_elements(a, b, &ea, &eb);
			int order;

			now.n--;
			if (n > 0) {
				enter(s, &now, ea, eb, n);
				continue;
			}
			if (is_leaf(a)) {
				order = order_leaves(a, b, now.exact);
			} else {
				enter(s, &now, NULL, NULL, 0);
				order = order_others(s, a, b, now.exact);
			}
			if (order != 0)
				return order;
		}
	} while (pop_array(s, &now));
	return 0;
}

/* Has the candidate at `next` decide from now on? True when its values are to be compared first: they are pushed. */
static bool take_candidate(struct frames *s, struct race *r, bool exact)
{
	const struct candidate *c = &r->candidates[r->next];

	if (c->values[0] != TERM_NONE && c->values[1] != TERM_NONE) {
		r->phase = STEP_VALUES;
		push_array(s, &c->values[0], &c->values[1], 1, exact);
		return true;
	}
	r->result = c->values[1] == TERM_NONE ? -1 : 1;
	r->best = r->next++;
	return false;
}

/* One step of the race on top, given the order found above it. Returns the race's own result at its end, else 0 with frames pushed.
 * Every pair of values is compared once at most, so that nested maps cost no more than their size. */
static int step_race(struct frames *s, int order)
{
	struct race *r = s->top[-1].race;
	bool exact = s->top[-1].exact;
	enum step phase = r->phase;

	r->phase = STEP_START;
	if (phase == STEP_KEYS && order < 0) {
		if (take_candidate(s, r, exact))
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
			push_array(s, &r->candidates[r->next].key, &r->candidates[r->best].key, 1, true);
			return 0;
		}
		if (take_candidate(s, r, exact))
			return 0;
	}
	order = r->result;
	mem_free(r);
	s->top--;
	return order;
}

static __attribute__((noinline)) int order_deep(const Term *a, const Term *b, size_t n, bool exact)
{
	struct pairs now = { a, b, n, exact };
	struct frames s;
	int order = 0;

	start_frames(&s);
	for (;;) {
		if (order == 0)
			order = order_pairs(&s, now);
		if (s.top == s.base)
			break;
		now.n = 0;
		if (s.top[-1].kind == FRAME_RACE)
			order = step_race(&s, order);
		else
			s.top--;
	}
	end_frames(&s);
	return order;
}

int compare_terms(Term a, Term b, bool exact)
{
	struct pairs now;

	now.n = find_elements(a, b, &now.a, &now.b);
	if (now.n == 0)
		return is_leaf(a) ? order_leaves(a, b, exact) : order_deep(&a, &b, 1, exact);
	skip_same_words(&now);
	return now.n == 0 ? 0 : order_deep(now.a, now.b, now.n, exact);
}
