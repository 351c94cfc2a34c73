/* SPDX-License-Identifier: Apache-2.0 */
/* Built-in functions: what erts_debug tells of terms as they stand in memory, with shared parts counted and copied once. */
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "bif/bif.h"
#include "data/map_trie.h"
#include "heap/copy.h"
#include "heap/literal.h"
#include "heap/refbin.h"
#include "proc/sched.h"

/* ---- objects met, by address */
struct met {
	const Term *from;
	Term to;
};

struct met_table {
	struct met *slots;
	size_t count, mask;
	const Term **pending; /* met, and still to be looked into */
	size_t pending_count, pending_room;
};

static void met_init(struct met_table *t)
{
	*t = (struct met_table){ .mask = 255 };
	t->slots = mem_zalloc((t->mask + 1) * sizeof(*t->slots));
}

static void met_free(struct met_table *t)
{
	mem_free(t->slots);
	mem_free(t->pending);
}

static struct met *met_find(const struct met_table *t, const Term *from)
{
	size_t i = hash_word((uint64_t)from) & t->mask;

	while (t->slots[i].from != NULL && t->slots[i].from != from)
		i = (i + 1) & t->mask;
	return &t->slots[i];
}

static void met_grow(struct met_table *t)
{
	struct met *old = t->slots;
	size_t n = t->mask + 1;

	t->mask = 2 * n - 1;
	t->slots = mem_zalloc(2 * n * sizeof(*t->slots));
	for (size_t i = 0; i < n; i++)
		if (old[i].from != NULL)
			*met_find(t, old[i].from) = old[i];
	mem_free(old);
}

/* The entry of t's object, made when it is met for the first time. NULL for what has no words of its own. */
static struct met *met_enter(struct met_table *t, Term term, bool literals, bool *is_new)
{
	const Term *p = term_is_cons(term) ? cons_ptr(term) : term_is_boxed(term) ? boxed_ptr(term) : NULL;
	struct met *m;

	if (p == NULL || (!literals && literal_owns(p)))
		return NULL;
	if (t->count * 2 > t->mask)
		met_grow(t);
	m = met_find(t, p);
	*is_new = m->from == NULL;
	if (*is_new) {
		m->from = p;
		m->to = term;
		t->count++;
	}
	return m;
}

static void push_pending(struct met_table *t, const Term *word)
{
	if (t->pending_count == t->pending_room) {
		t->pending_room = t->pending_room != 0 ? 2 * t->pending_room : 64;
		t->pending = mem_realloc(t->pending, t->pending_room * sizeof(*t->pending));
	}
	t->pending[t->pending_count++] = word;
}

static struct object_shape shape_of(Term t)
{
	return term_is_cons(t) ? (struct object_shape){ 2, 0, 2 } : object_shape(boxed_ptr(t));
}

static size_t size_shared(Term t, bool literals)
{
	struct met_table met;
	size_t words = 0;

	met_init(&met);
	push_pending(&met, &t);
	while (met.pending_count > 0) {
		Term next = *met.pending[--met.pending_count];
		struct object_shape shape;
		bool is_new;

		if (met_enter(&met, next, literals, &is_new) == NULL || !is_new)
			continue;
		shape = shape_of(next);
		words += shape.words;
		for (uint32_t i = shape.first_term; i < shape.last_term; i++)
			push_pending(&met, term_ptr(next) + i);
	}
	met_free(&met);
	return words;
}

Term bif_erts_debug_size_shared_1(Process *p, Term *args)
{
	return heap_uint(&p->heap, size_shared(args[0], false)); /* what no heap holds takes no room */
}

/* The copy of a word's object; made flat, with its own words waiting, when it is met for the first time. */
static Term copy_word(struct met_table *met, Term t, bool literals, struct heap *h, Term **top)
{
	bool is_new;
	struct met *m = met_enter(met, t, literals, &is_new);
	struct object_shape shape;
	const Term *to;

	if (m == NULL || !is_new)
		return m != NULL ? m->to : t;
	to = *top;
	if (term_is_cons(t)) {
		memcpy(*top, cons_ptr(t), 2 * sizeof(Term));
		*top += 2;
		m->to = term_from_cons(to);
	} else {
		m->to = copy_object(boxed_ptr(t), top, &h->off_heap);
	}
	shape = shape_of(t);
	for (uint32_t i = shape.first_term; i < shape.last_term; i++)
		push_pending(met, to + i);
	return m->to;
}

Term bif_erts_debug_copy_shared_2(Process *p, Term *args)
{
	bool literals = args[1] == am_true;
	struct met_table met;
	Term copy, *top;

	if (args[1] != am_true && args[1] != am_false)
		return exc_badarg(p);
	top = heap_alloc(&p->heap, size_shared(args[0], literals));
	met_init(&met);
	copy = copy_word(&met, args[0], literals, &p->heap, &top);
	while (met.pending_count > 0) {
		Term *word = (Term *)met.pending[--met.pending_count];

		*word = copy_word(&met, *word, literals, &p->heap, &top);
	}
	met_free(&met);
	return copy;
}

/* ---- tries of large maps */

static Term fail_badmap(Process *p, Term t)
{
	return exc_error(p, heap_tuple(&p->heap, am_badmap, t));
}

/* Heads and nodes. The nodes are terms that only few functions may see, see erts_debug.erl. */
Term bif_erts_internal_map_hashmap_children_1(Process *p, Term *args)
{
	const Term *at, *end;

	if (!term_is_map(args[0]))
		return fail_badmap(p, args[0]);
	if (map_is_flat(args[0]))
		return exc_badarg(p);
	map_trie_children(args[0], &at, &end);
	return heap_list_array(&p->heap, (size_t)(end - at), at, NIL);
}

enum { TRIE_COUNTS = 16 };

struct trie_counts {
	unsigned depth, arrays, bitmaps, leaves;
	unsigned bitmaps_of[TRIE_COUNTS]; /* by children, less 1 */
	unsigned leaves_at[TRIE_COUNTS];  /* by depth; the last holds all that are deeper */
};

static void count_trie(Term t, unsigned depth, struct trie_counts *c)
{
	const Term *at, *end;

	if (depth > c->depth)
		c->depth = depth;
	if (term_is_cons(t)) {
		c->leaves++;
		c->leaves_at[depth < TRIE_COUNTS ? depth : TRIE_COUNTS - 1]++;
		return;
	}
	map_trie_children(t, &at, &end);
	if (term_is_map(t) && map_kind(*boxed_ptr(t)) == MAP_HEAD_ARRAY) {
		c->arrays++;
	} else if (term_is_map(t)) {
		c->bitmaps++;
		c->bitmaps_of[end - at - 1]++;
	}
	for (; at < end; at++)
		count_trie(*at, depth + 1, c); /* at most LEVELS + 1 deep */
}

static Term counts_tuple(struct heap *h, const unsigned *counts)
{
	Term elements[TRIE_COUNTS];

	for (unsigned i = 0; i < TRIE_COUNTS; i++)
		elements[i] = term_from_small(counts[i]);
	return heap_tuple_array(h, TRIE_COUNTS, elements);
}

Term bif_erts_debug_map_info_1(Process *p, Term *args)
{
	struct heap *h = &p->heap;
	struct trie_counts c = { 0 };
	Term rows[4];

	if (!term_is_map(args[0]))
		return fail_badmap(p, args[0]);
	if (map_is_flat(args[0]))
		return exc_badarg(p);
	count_trie(args[0], 0, &c);
	rows[0] = heap_tuple(h, am_depth, term_from_small(c.depth));
	rows[1] = heap_tuple(h, am_arrays, term_from_small(c.arrays), NIL);
	rows[2] = heap_tuple(h, am_bitmaps, term_from_small(c.bitmaps), counts_tuple(h, c.bitmaps_of));
	rows[3] = heap_tuple(h, am_leafs, term_from_small(c.leaves), counts_tuple(h, c.leaves_at));
	return heap_list_array(h, 4, rows, NIL);
}

/* ---- counters of locks: as in every machine that was not built to count them */

Term bif_erts_debug_lcnt_unknown(Process *p, Term *args)
{
	(void)args;
	return exc_badarg(p);
}

Term bif_erts_debug_lcnt_error(Process *p, Term *args)
{
	(void)p;
	(void)args;
	return am_error;
}

/* ---- do the schedulers still answer? */

static void do_nothing(void *arg)
{
	(void)arg;
}

Term bif_erts_internal_system_check_1(Process *p, Term *args)
{
	if (args[0] != am_schedulers)
		return exc_badarg(p);
	sched_stop_world(do_nothing, NULL);
	return am_ok;
}
