/* SPDX-License-Identifier: Apache-2.0 */
/* The walk over two terms that are compared: what is still to be compared stands in frames on a stack of its own, so
 * that depth costs no C stack. For compare_same.c and compare_order.c alone.
 * Invariant: the frames below the top one are those that decide only when all above are equal. */
#ifndef VM_DATA_COMPARE_WALK_H
#define VM_DATA_COMPARE_WALK_H

#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/release.h"
#include "data/big.h"
#include "data/compare.h"
#include "data/record.h"

/* In the highest bits of a frame's number, so that an array's is plain. */
#define FRAME_KIND(k) ((uint64_t)(k) << 56)
#define FRAME_ARRAY FRAME_KIND(0)    /* n terms at a and b */
#define FRAME_CHILDREN FRAME_KIND(1) /* n children of two trie nodes with the same shape */
#define FRAME_LOOSE FRAME_KIND(2)    /* what is below it is not compared exactly, as what is above is: keys of maps */
#define FRAME_MATCH FRAME_KIND(3)    /* see struct match in compare_same.c */
#define FRAME_RACE FRAME_KIND(4)     /* see struct race in compare_order.c */
#define FRAME_LAST FRAME_KIND(5)     /* nothing is below it */

enum step {
	STEP_START,          /* nothing is being compared */
	STEP_KEYS,           /* the next candidate's key against the best one's */
	STEP_VALUES,         /* the next candidate's values */
};

/* The number stands between a and b: side by side, gcc loads both as one vector just after they were stored one by one,
 * and the load waits. */
struct frame {
	union {
		const Term *a;
		struct match *match; /* owned */
		struct race *race;   /* owned */
	};
	uint64_t n;          /* and FRAME_* */
	const Term *b;
};

struct walk {
	struct frame *top, *base, *end; /* the next free one, the lowest, one past the last */
	bool exact;          /* no integer equals a float */
	bool may_lend;       /* COMPARE_LENDS, and not yet done */
	bool lent;
	unsigned looked_into; /* words of terms whose elements were compared, about */
	struct frame fixed[32];
};

/* Of large terms most lies in no cache. Collections leave terms in about the order in which they are compared, but in
 * many strands of uneven steps, which processors do not foresee: after so many words that were looked into, what stands
 * some kilobytes behind each term is asked for. */
enum { LOOKED_INTO_FEW = 1024, AHEAD_BYTES = 8192 };
/* So many words, or bytes of two binaries, took well less than a millisecond: now the scheduler is lent. */
enum { LOOKED_INTO_MANY = 1 << 15, BYTES_MANY = 8 * LOOKED_INTO_MANY };
/* Cells of lists that are passed over before that is asked again. */
enum { CELLS_AT_ONCE = 1 << 13 };

static inline uint64_t top_kind(const struct walk *w)
{
	return w->top[-1].n & ~(FRAME_KIND(1) - 1);
}

static __attribute__((noinline)) void grow_frames(struct walk *w)
{
	size_t n = (size_t)(w->top - w->base);
	struct frame *more = mem_alloc(2 * n * sizeof(*more));

	memcpy(more, w->base, n * sizeof(*more));
	if (w->base != w->fixed)
		mem_free(w->base);
	w->base = more;
	w->top = more + n;
	w->end = more + 2 * n;
}

static inline struct frame *push_frame(struct walk *w, uint64_t n)
{
	if (unlikely(w->top == w->end))
		grow_frames(w);
	w->top->n = n;
	return w->top++;
}

static inline void push_terms(struct walk *w, uint64_t kind, const Term *a, const Term *b, size_t n)
{
	struct frame *f;

	if (n == 0)
		return;
	f = push_frame(w, kind | n);
	f->a = a;
	f->b = b;
}

static inline void push_array(struct walk *w, const Term *a, const Term *b, size_t n)
{
	push_terms(w, FRAME_ARRAY, a, b, n);
}

/* A term each that must be the same exactly, as keys of maps. */
static inline void push_key(struct walk *w, const Term *a, const Term *b)
{
	if (!w->exact)
		push_frame(w, FRAME_LOOSE);
	w->exact = true;
	push_array(w, a, b, 1);
}

/* Drops the frame on top. */
static inline void pop_frame(struct walk *w)
{
	uint64_t kind = top_kind(w);

	w->top--;
	if (kind == FRAME_LOOSE)
		w->exact = false;
	else if (kind == FRAME_MATCH || kind == FRAME_RACE)
		mem_free(w->top->match);
}

static inline bool is_exact(unsigned how) { return (how & COMPARE_EXACT) != 0; }

static inline void start_walk(struct walk *w, unsigned how)
{
	w->top = w->base = w->fixed;
	w->end = w->fixed + sizeof(w->fixed) / sizeof(w->fixed[0]);
	w->exact = is_exact(how);
	w->may_lend = (how & COMPARE_LENDS) != 0;
	w->lent = false;
	w->looked_into = 0;
	push_frame(w, FRAME_LAST);
}

static inline void end_walk(struct walk *w)
{
	if (w->lent)
		compare_hooks.reclaim();
	while (top_kind(w) != FRAME_LAST)
		pop_frame(w);
	if (w->base != w->fixed)
		mem_free(w->base);
}

/* Terms side by side, being compared. */
struct pairs {
	const Term *a, *b;
	size_t n;
};

/* Goes on with the array on top. False: there is none there. */
static inline bool pop_array(struct walk *w, struct pairs *now)
{
	const struct frame *f = w->top - 1;

	if (f->n >= FRAME_KIND(1))
		return false;
	*now = (struct pairs){ f->a, f->b, f->n };
	w->top--;
	return true;
}

/* Goes on with n terms inside of two that were just compared; what stands behind those comes later. */
static inline void enter(struct walk *w, struct pairs *now, const Term *a, const Term *b, size_t n)
{
	push_array(w, now->a, now->b, now->n);
	*now = (struct pairs){ a, b, n };
}

/* The walk lasts. */
static __attribute__((noinline)) void lend(struct walk *w)
{
	compare_hooks.lend();
	w->may_lend = false;
	w->lent = true;
}

/* n elements at a and b are looked into. */
static inline void look_ahead(struct walk *w, const Term *a, const Term *b, size_t n)
{
	w->looked_into += (unsigned)n;
	if (unlikely(w->looked_into > LOOKED_INTO_FEW)) {
		__builtin_prefetch((const void *)((uintptr_t)a + AHEAD_BYTES));
		__builtin_prefetch((const void *)((uintptr_t)b + AHEAD_BYTES));
		if (unlikely(w->looked_into > LOOKED_INTO_MANY && w->may_lend))
			lend(w);
	}
}

/* Two words, anywhere. */
typedef Term word_pair __attribute__((vector_size(2 * sizeof(Term)), aligned(sizeof(Term)), may_alias));

static inline void skip_same_words(struct pairs *now)
{
	const Term *a = now->a, *b = now->b, *end = a + now->n;

	if (now->n < 8) {
		for (; a < end && *a == *b; a++)
			b++;
		*now = (struct pairs){ a, b, (size_t)(end - a) };
		return;
	}
	for (; end - a >= 8; a += 8, b += 8) {
		const word_pair *va = (const word_pair *)a, *vb = (const word_pair *)b;
		word_pair other = (va[0] ^ vb[0]) | (va[1] ^ vb[1]) | (va[2] ^ vb[2]) | (va[3] ^ vb[3]);

		if ((other[0] | other[1]) != 0)
			break;
	}
	for (; end - a >= 2; a += 2, b += 2) {
		word_pair other = *(const word_pair *)a ^ *(const word_pair *)b;

		if ((other[0] | other[1]) != 0)
			break;
	}
	for (; a < end && *a == *b; a++)
		b++;
	*now = (struct pairs){ a, b, (size_t)(end - a) };
}

/* ---- numbers */

static inline int compare_doubles(double a, double b)
{
	return (a > b) - (a < b);
}

/* Floats of one value have the same bits, zeros apart. */
static inline bool same_floats(Term a, Term b, bool exact)
{
	uint64_t x = boxed_ptr(a)[1], y = boxed_ptr(b)[1];

	return x == y || (unlikely((x | y) << 1 == 0) && !(exact && release_zeros_differ()));
}

/* Where zeros differ, -0.0 is the smaller one. */
static inline int compare_floats(Term a, Term b, bool exact)
{
	int order = compare_doubles(float_value(a), float_value(b));

	if (order != 0 || same_floats(a, b, exact))
		return order;
	return boxed_ptr(a)[1] > boxed_ptr(b)[1] ? -1 : 1;
}

static inline bool are_floats(Term a, Term b)
{
	return term_is_boxed(a) && term_is_boxed(b) && *boxed_ptr(a) == HEADER(1, SUB_FLOAT) &&
		*boxed_ptr(b) == HEADER(1, SUB_FLOAT);
}

static inline int compare_numbers(Term a, Term b, bool exact)
{
	bool fa = term_is_float(a), fb = term_is_float(b);

	if (fa && fb)
		return compare_floats(a, b, exact);
	if (!fa && !fb)
		return big_compare(a, b);
	if (exact)
		return fa ? 1 : -1;
	return fa ? -big_compare_double(b, float_value(a)) : big_compare_double(a, float_value(b));
}

/* ---- what needs no frames */

static inline bool same_words(const Term *a, const Term *b, size_t n)
{
	struct pairs now = { a, b, n };

	skip_same_words(&now);
	return now.n == 0;
}

/* Of a term's tags, only that of a cell lacks the second bit. */
static inline bool are_lists(Term a, Term b)
{
	return ((a | b) & 2) == 0;
}

/* The cells of two lists where they first differ, as far as both go and CELLS_AT_ONCE at most. Returns how many it
 * passed over. */
static inline size_t skip_same_heads(const Term **a, const Term **b)
{
	size_t n = 0;

	for (; n < CELLS_AT_ONCE && (*a)[0] == (*b)[0] && (*a)[1] != (*b)[1]; n++) {
		if (!term_is_cons((*a)[1]) || !term_is_cons((*b)[1]))
			break;
		*a = cons_ptr((*a)[1]);
		*b = cons_ptr((*b)[1]);
	}
	return n;
}

/* Elements of two tuples of one arity, values of two flat maps whose keys are the same words, of two records of one
 * definition, or head and tail of cells of two lists which are the same up to there: when they are equal, so are the
 * terms. 0 for all else. *passed: grows by the cells before those. */
static inline __attribute__((always_inline)) size_t find_elements(Term ta, Term tb, const Term **a, const Term **b,
								       unsigned *passed)
{
	Term header;

	if ((ta ^ tb) & 3)
		return 0;
	if (term_is_cons(ta)) {
		*a = cons_ptr(ta);
		*b = cons_ptr(tb);
		*passed += (unsigned)skip_same_heads(a, b);
		return 2;
	}
	if (!term_is_boxed(ta) || *boxed_ptr(ta) != *boxed_ptr(tb))
		return 0;
	*a = boxed_ptr(ta) + 1;
	*b = boxed_ptr(tb) + 1;
	header = *boxed_ptr(ta);
	if (header_sub(header) == SUB_TUPLE)
		return header_arity(header);
	if (header_sub(header) == SUB_RECORD) {
		if (!definition_same(**a, **b))
			return 0;
		++*a;
		++*b;
		return header_arity(header) - 1;
	}
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
	return !(1u << sub & (1u << SUB_TUPLE | 1u << SUB_MAP | 1u << SUB_FUN | 1u << SUB_RECORD));
}

/* Passes over the same words at the beginning; n > 0. False: there are no others. */
static inline bool differ_from(const Term **a, const Term **b, size_t *n)
{
	while (**a == **b) {
		if (--*n == 0)
			return false;
		++*a;
		++*b;
	}
	return true;
}

#endif
