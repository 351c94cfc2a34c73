/* SPDX-License-Identifier: Apache-2.0 */
/* Stored objects: one block an object, the links of its table in front, the tuple behind, copied whole
 * (literals too: a module may be purged while its terms stand in a table).
 * Invariant: words[0] is the tuple's header, and every pointer in words leads into words. */
#ifndef VM_ETS_ETS_OBJECT_H
#define VM_ETS_ETS_OBJECT_H

#include "base/hash.h"
#include "data/compare.h"
#include "data/phash.h"
#include "heap/heap.h"

struct ets_object {
	Term *off_heap;
	uint64_t size_words : 56;
	uint64_t height : 8;         /* of the subtree */
	/* Beside the key, so that a search mostly touches one cache line an object. */
	union {
		struct {
			struct ets_object *next; /* of the bucket's chain */
			uint32_t hash;
			bool deleted;        /* waits for the last fixation to end */
		};
		struct {
			struct ets_object *left, *right;
		};
	};
	Term words[];
};

/* Owns: the caller. The links are not set. */
struct ets_object *object_new(Term tuple);
/* The same from a header-less array of elements. */
struct ets_object *object_new_array(const Term *elements, size_t arity);
/* The tuple in the place of o's, where it takes the same room. Fails: false, o is unchanged. The tuple must not lead
 * into o. */
bool object_overwrite(struct ets_object *o, Term tuple);
void object_free(struct ets_object *o);

static inline Term object_tuple(const struct ets_object *o) { return term_from_boxed(o->words); }
static inline size_t object_arity(const struct ets_object *o) { return header_arity(o->words[0]); }
/* Units: words that the object takes in memory. */
static inline size_t object_memory_words(const struct ets_object *o)
{
	return sizeof(*o) / sizeof(Term) + o->size_words;
}

/* What a change did to a table's figures. */
struct ets_change {
	long objects;
	long words;
};
static inline void object_count(const struct ets_object *o, int sign, struct ets_change *change)
{
	change->objects += sign;
	change->words += sign * (long)object_memory_words(o);
}

/* The tuple copied to *top, which has size_words of room. */
Term object_copy(const struct ets_object *o, Term **top, Term **off_heap);
Term object_copy_to_heap(const struct ets_object *o, struct heap *h);

static inline uint32_t object_hash_key(Term key)
{
	return term_is_immed(key) ? (uint32_t)hash_word(key) : (uint32_t)hash_internal(key);
}

/* =:= of two keys. */
static inline bool object_same_key(Term a, Term b)
{
	return a == b || (!term_is_immed(a) && !term_is_immed(b) && term_same(a, b));
}

/* Are its elements =:= those of a tuple of as many? */
bool object_has_same(const struct ets_object *o, Term tuple);

/* Is the object =:= that tuple? */
static inline bool object_is(const struct ets_object *o, Term tuple)
{
	const Term *a = o->words, *b = boxed_ptr(tuple), *end = a + header_arity(*b);

	if (*a != *b)
		return false;
	/* Most objects of one key differ in an immediate: that is seen before any depth is looked into. */
	while (a < end)
		if (*++a != *++b && (term_is_immed(*a) || term_is_immed(*b)))
			return false;
	return object_has_same(o, tuple);
}

/* Order of two keys where 1 and 1.0 are equal. */
static inline int object_compare_keys(Term a, Term b)
{
	if (a == b)
		return 0;
	if (terms_both_small(a, b))
		return (int64_t)a < (int64_t)b ? -1 : 1;
	/* Numbers come first: a small and a tuple, as they meet where keys are of both kinds, are not looked into. */
	if (term_is_small(a) && !term_is_number(b))
		return -1;
	if (term_is_small(b) && !term_is_number(a))
		return 1;
	return compare_terms(a, b, COMPARE_PLAIN);
}

#endif
