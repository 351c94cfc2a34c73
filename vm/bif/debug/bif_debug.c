/* SPDX-License-Identifier: Apache-2.0 */
/* Built-in functions: what erts_debug tells of terms as they stand in memory, with shared parts counted and copied
 * once. */
#include "base/release.h"
#include "bif/bif.h"
#include "data/binary.h"
#include "data/bitcopy.h"
#include "data/map_trie.h"
#include "heap/copy_shared.h"
#include "proc/await.h"
#include "proc/exc.h"

Term bif_erts_debug_size_shared_1(Process *p, Term *args)
{
	struct shared_objects *s = shared_objects_new(false); /* what no heap holds takes no room */
	Term words;

	shared_objects_add(s, args[0]);
	words = heap_uint(&p->heap, shared_objects_words(s));
	shared_objects_free(s);
	return words;
}

Term bif_erts_debug_copy_shared_2(Process *p, Term *args)
{
	struct shared_objects *s;
	Term copy, *top;

	if (args[1] != am_true && args[1] != am_false)
		return exc_badarg(p);
	s = shared_objects_new(args[1] == am_true);
	shared_objects_add(s, args[0]);
	top = heap_alloc(&p->heap, shared_objects_words(s));
	shared_objects_copy(s, &top, &p->heap.off_heap);
	copy = shared_objects_find(s, args[0]);
	shared_objects_free(s);
	return copy;
}

/* The same bits, the first of them so many bits behind the beginning of a byte. */
Term bif_erts_debug_unaligned_bitstring_2(Process *p, Term *args)
{
	struct bits_view v;
	struct subbin *s;
	uint8_t *bytes;
	Term whole;
	int64_t offset = term_is_small(args[1]) ? small_value(args[1]) : 0;

	if (!term_is_bitstring(args[0]) || offset < 1 || offset > 7)
		return exc_badarg(p);
	v = binary_view(args[0]);
	if (v.size == 0)
		return args[0];
	whole = binary_alloc(&p->heap, (v.size + (uint64_t)offset + 7) / 8, &bytes);
	if (whole == TERM_NONE)
		return exc_system_limit(p);
	memset(bytes, 0, (v.size + (uint64_t)offset + 7) / 8);
	bitcopy_copy(bytes, (uint64_t)offset, v.base, v.offset, v.size);
	s = (struct subbin *)heap_alloc(&p->heap, SUBBIN_WORDS);
	*s = (struct subbin){ .header = HEADER(SUBBIN_WORDS - 1, SUB_SUBBIN),
			      .size_bytes = v.size / 8,
			      .bit_size = v.size & 7,
			      .bit_offset = (uint8_t)offset,
			      .original = whole };
	return term_from_boxed((Term *)s);
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

/* TRIE_DEPTHS: since OTP 27; TRIE_COUNTS of them before. */
enum { TRIE_COUNTS = 16, TRIE_DEPTHS = 18 };

struct trie_counts {
	unsigned depth, arrays, bitmaps, collisions, leaves, depths;
	unsigned bitmaps_of[TRIE_COUNTS];    /* by children, less 1 */
	unsigned collisions_of[TRIE_COUNTS]; /* the same; the last holds all that have more */
	unsigned leaves_at[TRIE_DEPTHS];     /* by depth, `depths` of them; the last holds all that are deeper */
};

static void count_trie(Term t, unsigned depth, struct trie_counts *c)
{
	const Term *at, *end;

	if (depth > c->depth)
		c->depth = depth;
	if (term_is_cons(t)) {
		c->leaves++;
		c->leaves_at[depth < c->depths ? depth : c->depths - 1]++;
		return;
	}
	map_trie_children(t, &at, &end);
	if (term_is_map(t) && map_kind(*boxed_ptr(t)) == MAP_HEAD_ARRAY) {
		c->arrays++;
	} else if (term_is_map(t)) {
		c->bitmaps++;
		c->bitmaps_of[end - at - 1]++;
	} else {
		c->collisions++;
		c->collisions_of[end - at < TRIE_COUNTS ? end - at - 1 : TRIE_COUNTS - 1]++;
	}
	for (; at < end; at++)
		count_trie(*at, depth + 1, c); /* at most LEVELS + 1 deep */
}

static Term counts_tuple(struct heap *h, const unsigned *counts, unsigned n)
{
	Term elements[TRIE_DEPTHS];

	for (unsigned i = 0; i < n; i++)
		elements[i] = term_from_small(counts[i]);
	return heap_tuple_array(h, n, elements);
}

Term bif_erts_debug_map_info_1(Process *p, Term *args)
{
	struct heap *h = &p->heap;
	struct trie_counts c = { .depths = release_tells_collisions() ? TRIE_DEPTHS : TRIE_COUNTS };
	Term rows[5];
	size_t n = 0;

	if (!term_is_map(args[0]))
		return fail_badmap(p, args[0]);
	if (map_is_flat(args[0]))
		return exc_badarg(p);
	count_trie(args[0], 0, &c);
	rows[n++] = heap_tuple(h, am_depth, term_from_small(c.depth));
	rows[n++] = heap_tuple(h, am_arrays, term_from_small(c.arrays), NIL);
	if (release_tells_collisions())
		rows[n++] = heap_tuple(h, am_collisions, term_from_small(c.collisions),
				       counts_tuple(h, c.collisions_of, TRIE_COUNTS));
	rows[n++] = heap_tuple(h, am_bitmaps, term_from_small(c.bitmaps), counts_tuple(h, c.bitmaps_of, TRIE_COUNTS));
	rows[n++] = heap_tuple(h, am_leafs, term_from_small(c.leaves), counts_tuple(h, c.leaves_at, c.depths));
	return heap_list_array(h, n, rows, NIL);
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

Term bif_erts_internal_system_check_1(Process *p, Term *args)
{
	if (args[0] != am_schedulers)
		return exc_badarg(p);
	return await_return(p, am_ok);
}
