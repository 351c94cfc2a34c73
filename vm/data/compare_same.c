/* SPDX-License-Identifier: Apache-2.0 */
/* Equality of terms, without recursion (compare_walk.h). What has nothing to look into, and tuples and flat maps of the
 * same words, are compared before there are any frames. */
#include "data/compare_walk.h"
#include "data/binary.h"
#include "data/extern_id.h"
#include "data/map.h"

struct compare_hooks compare_hooks;

/* Two sets of n leaves whose keys share a hash, in any order: leaf `next` of a is looked for in b, where `tried` is its
 * turn. */
struct match {
	const Term *a, *b;
	size_t n, next, tried;
	enum step phase;
};

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

/* Of two different words, an immediate is equal to the other only when that is a float of its value. */
static inline bool words_tell_apart(Term a, Term b, unsigned how)
{
	return is_exact(how) ? term_is_immed(a) || term_is_immed(b) : term_is_immed(a) && term_is_immed(b);
}

enum { LEVELS_MAX = 4 };

/* Of n words side by side that are not all the same: do the first that differ tell that the terms do, in tuples in
 * tuples? */
static bool first_tell_apart(const struct pairs *words, unsigned how)
{
	struct pairs now = *words;

	for (int level = 0; level < LEVELS_MAX; level++) {
		Term a = *now.a, b = *now.b;

		if (words_tell_apart(a, b, how))
			return true;
		if (!term_is_tuple(a) || !term_is_tuple(b))
			return false;
		if (*boxed_ptr(a) != *boxed_ptr(b))
			return true;
		now = (struct pairs){ boxed_ptr(a) + 1, boxed_ptr(b) + 1, tuple_arity(a) };
		if (now.n > LOOKED_INTO_FEW)
			return false;
		skip_same_words(&now);
		if (now.n == 0)
			return false;
	}
	return false;
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
	if (words_tell_apart(cons_head(a), cons_head(b), how))
		return false;
	return same_deep(cons_ptr(a), cons_ptr(b), 2, how);
}

/* Of n words side by side, where all that is before them is the same. */
static inline bool same_rest(const Term *a, const Term *b, size_t n, unsigned how)
{
	struct pairs now = { a, b, n };

	skip_same_words(&now);
	if (now.n == 0)
		return true;
	if (words_tell_apart(*now.a, *now.b, how))
		return false;
	return !first_tell_apart(&now, how) && same_deep(now.a, now.b, now.n, how);
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
