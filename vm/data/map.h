/* SPDX-License-Identifier: Apache-2.0 */
/* Maps. Flat ones (up to MAP_FLAT_MAX pairs) keep a tuple of keys in the exact order of terms, shared by maps with the
 * same keys, and the values in that order. Larger ones are tries of 16 ways over map_hash(key), four bits a level from
 * the highest: a child is a leaf (a cons [Key | Value]), a node, or, where all the bits are used up, a tuple of leaves
 * whose keys share the hash. P. Bagwell, "Ideal hash trees", 2001. Invariant: a map of more than MAP_FLAT_MAX pairs is
 * a trie, any other is flat; a node below the head has at least two leaves below it. Keys are told apart by =:=.
 * Nothing here collects. */
#ifndef VM_DATA_MAP_H
#define VM_DATA_MAP_H

#include "heap/heap.h"
#include "term/atom.h"

static inline bool map_is_flat(Term map) { return map_kind(*boxed_ptr(map)) == MAP_FLAT; }
static inline size_t map_size(Term map)
{
	const Term *p = boxed_ptr(map);

	return map_kind(*p) == MAP_FLAT ? map_val(*p) : p[1];
}

/* ---- look up. TERM_NONE when the key is missing. */
uint64_t map_hash(Term key);
Term map_get_hashed(Term map, Term key, uint64_t hash); /* for tries; hash = map_hash(key) */
Term map_get_slow(Term map, Term key);
/* The index of a word, or n. */
static inline size_t map_find_word(const Term *keys, size_t n, Term key)
{
	size_t i = 0;

	for (; n - i >= 4; i += 4) {
		if (keys[i] == key)
			return i;
		if (keys[i + 1] == key)
			return i + 1;
		if (keys[i + 2] == key)
			return i + 2;
		if (keys[i + 3] == key)
			return i + 3;
	}
	while (i < n && keys[i] != key)
		i++;
	return i;
}
static inline Term map_get(Term map, Term key)
{
	const struct flatmap *f = (const struct flatmap *)boxed_ptr(map);

	if (map_kind(f->header) == MAP_FLAT && term_is_immed(key)) {
		size_t n = map_val(f->header), i = map_find_word(boxed_ptr(f->keys) + 1, n, key);

		return i < n ? f->values[i] : TERM_NONE;
	}
	return map_get_slow(map, key);
}

/* ---- change: a new map, or the same when nothing changes. A key that is there and equal to a new one, but looks
 * different (0.0 and -0.0) stays in a flat map and gives way in a trie whose value changes, as in OTP 25. */
Term map_new(struct heap *h);
Term map_put(struct heap *h, Term map, Term key, Term value);
/* TERM_NONE when the key is missing. */
Term map_update(struct heap *h, Term map, Term key, Term value);
/* *removed (when not NULL): the value taken out, or TERM_NONE. */
Term map_remove(struct heap *h, Term map, Term key, Term *removed);
/* Pairs of b win, keys included. */
Term map_merge(struct heap *h, Term a, Term b);
/* pairs: key, value, key, value...; of pairs with equal keys the last is taken. */
Term map_from_pairs(struct heap *h, const Term *pairs, size_t n);
/* keys: up to MAP_FLAT_MAX atoms in the order of terms, all different. */
Term map_from_atoms(struct heap *h, unsigned n, const Term *keys, const Term *values);
/* map_from_pairs with no two keys equal wanted: TERM_NONE when two are (external term format). */
Term map_from_unique_pairs(struct heap *h, const Term *pairs, size_t n);
/* put_map_assoc. */
Term map_put_pairs(struct heap *h, Term map, const Term *pairs, size_t n);
/* put_map_exact. TERM_NONE and *missing when a key is not there. */
Term map_update_pairs(struct heap *h, Term map, const Term *pairs, size_t n, Term *missing);

/* ---- walks */
#define MAP_MAX_DEPTH 18
struct map_iter {
	const Term *at, *end; /* children (or values) still to give */
	const Term *keys;     /* flat: the next key */
	unsigned depth;
	struct { const Term *at, *end; } stack[MAP_MAX_DEPTH];
};
/* In the order of maps:to_list/1: the keys' for flat maps, the trie's for others. Pointers into the heap: not over a
 * collection. */
void map_iter_init(struct map_iter *it, Term map);
bool map_iter_next(struct map_iter *it, Term *key, Term *value);
/* All pairs, keys ascending in the exact order of terms (integers before floats), into arrays of map_size(map). values
 * may be NULL. */
void map_sorted_pairs(Term map, Term *keys, Term *values);
enum map_part { MAP_KEYS, MAP_VALUES, MAP_PAIRS }; /* pairs: {K, V} */
/* A list of that part of every pair, in the order of map_iter_next. */
Term map_list(struct heap *h, Term map, enum map_part part);
/* The same before a tail, in steps: nothing of the map must move meanwhile. */
struct map_lister {
	struct map_iter from;
	enum map_part part;
	Term list, tail;
	Term *at;             /* the words of the next pair */
	size_t left;          /* pairs */
};
void map_list_begin(struct map_lister *l, struct heap *h, Term map, enum map_part part, Term tail);
/* n pairs more. True: l->list is whole. */
bool map_list_some(struct map_lister *l, size_t n);

#endif
