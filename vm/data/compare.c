/* SPDX-License-Identifier: Apache-2.0 */
/* Order and equality of terms, without recursion: frames of what is still to be compared stand on a stack of their own.
 * What has nothing to look into, and tuples and flat maps of the same words, are compared before there are any frames.
 * Invariant: the frames below the top one are those that decide only when all above are equal. */
#include "data/compare.h"

#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/release.h"
#include "data/big.h"
#include "data/binary.h"
#include "data/extern_id.h"
#include "data/fun_link.h"
#include "data/map.h"
#include "data/record.h"

struct compare_hooks compare_hooks;

/* In the highest bits of a frame's number, so that an array's is plain. */
#define FRAME_KIND(k) ((uint64_t)(k) << 56)
#define FRAME_ARRAY FRAME_KIND(0)    /* n terms at a and b */
#define FRAME_CHILDREN FRAME_KIND(1) /* n children of two trie nodes with the same shape */
#define FRAME_LOOSE FRAME_KIND(2)    /* what is below it is not compared exactly, as what is above is: keys of maps */
#define FRAME_MATCH FRAME_KIND(3)    /* see struct match */
#define FRAME_RACE FRAME_KIND(4)     /* see struct race */
#define FRAME_LAST FRAME_KIND(5)     /* nothing is below it */

enum step {
	STEP_START,          /* nothing is being compared */
	STEP_KEYS,           /* the next candidate's key against the best one's */
	STEP_VALUES,         /* the next candidate's values */
};

/* Two sets of n leaves whose keys share a hash, in any order: leaf `next` of a is looked for in b, where `tried` is its
 * turn. */
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
static void push_key(struct walk *w, const Term *a, const Term *b)
{
	if (!w->exact)
		push_frame(w, FRAME_LOOSE);
	w->exact = true;
	push_array(w, a, b, 1);
}

/* Drops the frame on top. */
static void pop_frame(struct walk *w)
{
	uint64_t kind = top_kind(w);

	w->top--;
	if (kind == FRAME_LOOSE)
		w->exact = false;
	else if (kind == FRAME_MATCH || kind == FRAME_RACE)
		mem_free(w->top->match);
}

static inline bool is_exact(unsigned how) { return (how & COMPARE_EXACT) != 0; }

static void start_walk(struct walk *w, unsigned how)
{
	w->top = w->base = w->fixed;
	w->end = w->fixed + sizeof(w->fixed) / sizeof(w->fixed[0]);
	w->exact = is_exact(how);
	w->may_lend = (how & COMPARE_LENDS) != 0;
	w->lent = false;
	w->looked_into = 0;
	push_frame(w, FRAME_LAST);
}

static void end_walk(struct walk *w)
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

static int compare_doubles(double a, double b)
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

static int compare_numbers(Term a, Term b, bool exact)
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

static bool same_words(const Term *a, const Term *b, size_t n)
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

/* ---- equality */

static unsigned count_children(Term header)
{
	return map_ways((uint32_t)map_val(header));
}

static bool same_maps(struct walk *w, const Term *a, const Term *b)
{
	Term header = *a;
	size_t first = 1;

	if (header != *b)
		return false;
	if (map_kind(header) == MAP_FLAT) {
		push_array(w, a + 2, b + 2, map_val(header));
		push_key(w, a + 1, b + 1);
		return true;
	}
	if (map_kind(header) != MAP_NODE_BITMAP) {
		if (a[1] != b[1])
			return false;
		first = 2;
	}
	look_ahead(w, a, b, count_children(header));
	push_terms(w, FRAME_CHILDREN, a + first, b + first, count_children(header));
	return true;
}

/* Two children of trie nodes. */
static bool same_children(struct walk *w, Term a, Term b)
{
	struct match *m;

	if (term_is_cons(a) || term_is_cons(b)) {
		if (!term_is_cons(a) || !term_is_cons(b))
			return false;
		push_array(w, cons_ptr(a) + 1, cons_ptr(b) + 1, 1);
		push_key(w, cons_ptr(a), cons_ptr(b));
		return true;
	}
	if (*boxed_ptr(a) != *boxed_ptr(b))
		return false;
	if (!term_is_tuple(a))
		return same_maps(w, boxed_ptr(a), boxed_ptr(b));
	m = mem_alloc(sizeof(*m));
	*m = (struct match){ boxed_ptr(a) + 1, boxed_ptr(b) + 1, tuple_arity(a), 0, 0, STEP_START };
	push_frame(w, FRAME_MATCH)->match = m;
	return true;
}

/* One step of the match on top, given whether what stood above it was the same: keys first. Returns false at its end
 * when some leaf has no like. */
static bool step_match(struct walk *w, bool same)
{
	struct match *m = w->top[-1].match;
	bool values = m->phase == STEP_KEYS && same;

	if (m->phase == STEP_VALUES && same) {
		m->next++;
		m->tried = 0;
	} else if (m->phase == STEP_KEYS && !same) {
		m->tried++;
	}
	if ((m->phase == STEP_VALUES && !same) || m->next == m->n || m->tried == m->n) {
		same = m->next == m->n;
		pop_frame(w);
		return same;
	}
	m->phase = values ? STEP_VALUES : STEP_KEYS;
	if (values)
		push_array(w, cons_ptr(m->a[m->next]) + 1, cons_ptr(m->b[m->tried]) + 1, 1);
	else
		push_key(w, cons_ptr(m->a[m->next]), cons_ptr(m->b[m->tried]));
	return true;
}

static bool same_funs(struct walk *w, const struct fun *a, const struct fun *b)
{
	if (a->entry != b->entry || a->shape != b->shape)
		return false;
	push_array(w, a->env, b->env, fun_num_free(a));
	return true;
}

/* Of what has no terms in it, compared exactly. */
static inline bool same_boxed_leaves(Term ta, Term tb)
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
		return same_floats(ta, tb, true);
	case SUB_REF:
	case SUB_EXPORT:
		return a[1] == b[1];
	case SUB_XREF:
	case SUB_XPID:
	case SUB_XPORT:
		return extern_id_same(ta, tb);
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

static inline bool is_same_float(Term a, Term b)
{
	return term_is_float(a) && term_is_float(b) && boxed_ptr(a)[1] == boxed_ptr(b)[1];
}

/* A term that is no leaf, and another word; find_elements says nothing of them. */
static bool same_others(struct walk *w, Term a, Term b)
{
	if (!term_is_boxed(a) || !term_is_boxed(b) || header_sub(*boxed_ptr(a)) != header_sub(*boxed_ptr(b)))
		return false;
	if (term_is_tuple(a))
		return tuple_arity(a) == tuple_arity(b);
	if (term_is_record(a)) /* with fields they would have elements, if their definitions were the same */
		return definition_same(record_definition(a), record_definition(b));
	return term_is_map(a) ? same_maps(w, boxed_ptr(a), boxed_ptr(b)) : same_funs(w, fun_ptr(a), fun_ptr(b));
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

/* Compares pair by pair, and all arrays on top of the stack. */
static inline bool same_pairs(struct walk *w, struct pairs now)
{
	do {
		while (now.n > 0) {
			Term a = *now.a++, b = *now.b++;
			const Term *ea, *eb;
			size_t n;

			now.n--;
			if (a == b)
				continue;
			n = find_elements(a, b, &ea, &eb, &w->looked_into);
			if (n > 0) {
				look_ahead(w, ea, eb, n);
				if (differ_from(&ea, &eb, &n))
					enter(w, &now, ea, eb, n);
			} else if (is_leaf(a)) {
				if (!is_same_float(a, b) && !same_leaves(a, b, w->exact))
					return false;
			} else {
				enter(w, &now, NULL, NULL, 0);
				if (!same_others(w, a, b))
					return false;
			}
		}
	} while (pop_array(w, &now));
	return true;
}

/* A key and its value with nothing to look into? */
static bool is_leaf_pair(Term t)
{
	return term_is_cons(t) && is_leaf(cons_head(t)) && is_leaf(cons_tail(t));
}

/* The children of two trie nodes up to the first that has to be looked into, with those behind it pushed. */
static bool same_all_children(struct walk *w, struct pairs now)
{
	while (now.n > 0) {
		Term a = *now.a++, b = *now.b++;

		now.n--;
		if (a == b)
			continue;
		if (!is_leaf_pair(a) || !term_is_cons(b)) {
			push_terms(w, FRAME_CHILDREN, now.a, now.b, now.n);
			return same_children(w, a, b);
		}
		if (cons_head(a) != cons_head(b) && !same_leaves(cons_head(a), cons_head(b), true))
			return false;
		if (cons_tail(a) != cons_tail(b) && !same_leaves(cons_tail(a), cons_tail(b), w->exact))
			return false;
	}
	return true;
}

/* What the frame on top says, which is no array, given whether what stood above it was the same. */
static bool same_frame(struct walk *w, bool same)
{
	uint64_t kind = top_kind(w);
	const struct frame *f = w->top - 1;
	struct pairs now = { f->a, f->b, f->n - kind };

	if (kind == FRAME_MATCH)
		return step_match(w, same);
	pop_frame(w);
	return same && (kind != FRAME_CHILDREN || same_all_children(w, now));
}

/* Apart, so that what needs no frames makes no room for them. */
static __attribute__((noinline)) bool same_deep(const Term *a, const Term *b, size_t n, unsigned how)
{
	struct pairs now = { a, b, n };
	struct walk w;
	bool same = true;

	start_walk(&w, how);
	for (;;) {
		same = same && same_pairs(&w, now);
		if (top_kind(&w) == FRAME_LAST)
			break;
		same = same_frame(&w, same);
		now.n = 0;
	}
	end_walk(&w);
	return same;
}

/* Of terms without elements side by side. */
static __attribute__((noinline)) bool same_apart(Term a, Term b, unsigned how)
{
	return is_leaf(a) ? same_leaves(a, b, is_exact(how)) : same_deep(&a, &b, 1, how);
}

/* All but tuples and bitstrings of one kind. */
static __attribute__((noinline)) bool same_others_apart(Term a, Term b, unsigned how)
{
	unsigned passed = 0;
	struct pairs now;

	if (are_floats(a, b))
		return same_floats(a, b, is_exact(how));
	now.n = find_elements(a, b, &now.a, &now.b, &passed);
	if (now.n == 0 || now.n > LOOKED_INTO_MANY)
		return a == b || same_apart(a, b, how);
	skip_same_words(&now);
	return now.n == 0 || same_deep(now.a, now.b, now.n, how);
}

/* Of two lists. Cells with the same word as head are passed over. */
static bool same_lists(Term a, Term b, unsigned how)
{
	for (unsigned n = 0; cons_head(a) == cons_head(b); n++) {
		a = cons_tail(a);
		b = cons_tail(b);
		if (a == b)
			return true;
		if (!are_lists(a, b))
			return same_others_apart(a, b, how);
		if (unlikely(n == CELLS_AT_ONCE))
			return same_apart(a, b, how);
	}
	if (term_is_immed(cons_head(a)) && term_is_immed(cons_head(b)))
		return false;
	return same_deep(cons_ptr(a), cons_ptr(b), 2, how);
}

/* Of n words side by side, where all that is before them is the same. */
static inline bool same_rest(const Term *a, const Term *b, size_t n, unsigned how)
{
	struct pairs now = { a, b, n };

	skip_same_words(&now);
	return now.n == 0 || same_deep(now.a, now.b, now.n, how);
}

/* Of two flat maps of one size. */
static __attribute__((noinline)) bool same_flat_maps(Term a, Term b, unsigned how)
{
	const Term *p = boxed_ptr(a), *q = boxed_ptr(b);
	size_t n = map_val(*p);

	if (p[1] != q[1] && !same_words(boxed_ptr(p[1]) + 1, boxed_ptr(q[1]) + 1, n))
		return same_deep(&a, &b, 1, how);
	return same_rest(p + 2, q + 2, n, how);
}

static __attribute__((noinline)) bool same_large_bitstrings(Term a, Term b, unsigned how)
{
	bool same, lends = (how & COMPARE_LENDS) != 0;

	if (lends)
		compare_hooks.lend();
	same = binary_equal(a, b);
	if (lends)
		compare_hooks.reclaim();
	return same;
}

static inline bool is_bitstring_header(Term header)
{
	return header_sub(header) - SUB_REFBIN <= SUB_SUBBIN - SUB_REFBIN;
}

/* What is short and common needs no frame of C. */
bool compare_same(Term a, Term b, unsigned how)
{
	unsigned tags = (a | b) & 3; /* no term has the tag 0: the tag that both have, else 3 */
	Term header;

	if (tags != TAG_BOXED)
		return tags == TAG_CONS ? same_lists(a, b, how) : same_others_apart(a, b, how);
	header = *boxed_ptr(a);
	if (is_bitstring_header(header) && is_bitstring_header(*boxed_ptr(b)))
		return likely(binary_size_bytes(a) <= BYTES_MANY) ? binary_equal(a, b)
								  : same_large_bitstrings(a, b, how);
	if (header == *boxed_ptr(b)) {
		if (header_sub(header) == SUB_TUPLE && likely(header_arity(header) <= LOOKED_INTO_MANY))
			return same_rest(boxed_ptr(a) + 1, boxed_ptr(b) + 1, header_arity(header), how);
		if (header_sub(header) == SUB_MAP && map_kind(header) == MAP_FLAT)
			return same_flat_maps(a, b, how);
	}
	return same_others_apart(a, b, how);
}

/* ---- order */

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

int compare_terms(Term a, Term b, unsigned how)
{
	unsigned passed = 0;
	struct pairs now;

	now.n = find_elements(a, b, &now.a, &now.b, &passed);
	if (now.n == 0) {
		if (are_floats(a, b))
			return compare_floats(a, b, is_exact(how));
		return term_is_bitstring(a) && term_is_bitstring(b) ? order_bitstrings(a, b, how)
								    : order_apart(a, b, how);
	}
	if (unlikely(now.n > LOOKED_INTO_MANY))
		return order_deep(&a, &b, 1, how);
	skip_same_words(&now);
	return now.n == 0 ? 0 : order_deep(now.a, now.b, now.n, how);
}
