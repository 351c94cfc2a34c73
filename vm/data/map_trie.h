/* SPDX-License-Identifier: Apache-2.0 */
/* The tries of large maps, see data/map.h for their form. Only data/map.c and the iteration by hash use these. */
#ifndef VM_DATA_MAP_TRIE_H
#define VM_DATA_MAP_TRIE_H

#include "data/map.h"

/* The children of a head, a node, or a tuple of leaves. */
void map_trie_children(Term node, const Term **at, const Term **end);
Term map_trie_get(Term map, Term key, uint64_t hash);
Term map_trie_put(struct heap *h, Term map, Term key, Term value);
/* The same with the key as it is here, though an equal one is there with the same value. */
Term map_trie_put_pair(struct heap *h, Term map, Term key, Term value);
/* TERM_NONE when the key is missing. */
Term map_trie_update(struct heap *h, Term map, Term key, Term value);
/* *removed: the value taken out; TERM_NONE when the key is missing. There must be MAP_FLAT_MAX + 1 other keys at
 * least. */
Term map_trie_remove(struct heap *h, Term map, Term key, Term *removed);
/* Of equal keys the last wins. A flat map when too few keys differ. */
Term map_trie_from_pairs(struct heap *h, const Term *pairs, size_t n);

/* The same in steps: MAP_BUILDER_MIN pairs at least, each added, then steps until the map is there. Keys and values
 * must not move meanwhile. */
enum { MAP_BUILDER_MIN = 1024 };
struct map_builder;
/* Owns: the caller, until map_builder_free, which takes milliseconds after a million of pairs. */
struct map_builder *map_builder_new(void);
void map_builder_free(struct map_builder *b);
void map_builder_add(struct map_builder *b, Term key, Term value);
/* Works for about *pairs pairs (a part with many hashes alike is done at once) and takes what it did from there. The
 * map, or TERM_NONE: not yet. */
Term map_builder_step(struct map_builder *b, struct heap *h, int64_t *pairs);

/* Two tries merged in steps. Neither must move meanwhile. */
struct map_merger {
	struct heap *h;
	size_t common;       /* keys of both, as far as seen */
	unsigned depth;
	struct map_merge_level {
		Term a, b;           /* nodes */
		const Term *at_a, *at_b; /* their next children */
		uint32_t ways_a, ways_b; /* of those */
		unsigned count;      /* the children of both merged so far: */
		Term children[16];
	} levels[MAP_MAX_DEPTH];
};
/* Pairs of b win. */
void map_merge_begin(struct map_merger *m, struct heap *h, Term a, Term b);
/* Works for about *pairs leaves and takes them from there. The map, or TERM_NONE: not yet. */
Term map_merge_some(struct map_merger *m, int64_t *pairs);

/* Sets the walk before the first pair whose key's hash is at least `from`: walks of tries go by rising hash. */
void map_trie_seek(struct map_iter *it, Term map, uint64_t from);

#endif
