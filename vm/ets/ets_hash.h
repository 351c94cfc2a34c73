/* SPDX-License-Identifier: Apache-2.0 */
/* Hash tables of stored objects: linear hashing, one bucket split or joined at a time.
 * W. Litwin, "Linear hashing: a new tool for file and table addressing", VLDB 1980.
 * Invariant: bucket b holds exactly the objects whose hash leads to b; objects of one key are neighbours in the
 * chain, the newest first; while fixations last, no bucket splits and no object leaves its chain.
 * Locks: the caller's. With stripes, lock (hash % ETS_STRIPES) covers all buckets congruent to it; splitting and
 * joining keep an object within its stripe, because there are never fewer buckets than HASH_SEGMENT. */
#ifndef VM_ETS_ETS_HASH_H
#define VM_ETS_ETS_HASH_H

#include <stdatomic.h>

#include "ets/ets_object.h"

enum { HASH_SEGMENT = 256 };

/* A directory of segments; outgrown ones stay until the table ends, since others may be reading them. */
struct hash_directory {
	struct hash_directory *older;
	size_t room;
	struct ets_object **segments[];
};

/* A bucket that holds deleted objects, until the fixations end. */
struct hash_grave {
	struct hash_grave *next;
	uint32_t bucket;
};

struct ets_hash {
	_Atomic(struct hash_directory *) directory;
	atomic_uint active;      /* buckets in use */
	atomic_uint resizing;    /* 1: somebody splits or joins */
	_Atomic(struct hash_grave *) graves;
	unsigned key;            /* position, from 1 */
	uint8_t duplicates;      /* HASH_SET ... */
};
enum { HASH_SET, HASH_BAG, HASH_DUPLICATES };

void hash_init(struct ets_hash *h, unsigned key, uint8_t duplicates);
/* Frees directories and segments, not objects. */
void hash_free(struct ets_hash *h);
size_t hash_memory_words(const struct ets_hash *h);

static inline uint32_t hash_bucket(const struct ets_hash *h, uint32_t hash)
{
	uint32_t active = atomic_load_explicit(&h->active, memory_order_relaxed);
	uint32_t mask = UINT32_MAX >> __builtin_clz(active - 1);
	uint32_t bucket = hash & mask;

	return bucket < active ? bucket : bucket & (mask >> 1);
}
static inline struct ets_object **hash_chain(const struct ets_hash *h, uint32_t bucket)
{
	struct hash_directory *d = atomic_load_explicit(&h->directory, memory_order_acquire);

	return &d->segments[bucket / HASH_SEGMENT][bucket % HASH_SEGMENT];
}
static inline Term hash_object_key(const struct ets_hash *h, const struct ets_object *o) { return o->words[h->key]; }
static inline bool hash_has_key(const struct ets_hash *h, const struct ets_object *o, uint32_t hash, Term key)
{
	return o->hash == hash && object_same_key(hash_object_key(h, o), key);
}

/* The place in its chain of the first object of the key (deleted ones too), or NULL. */
struct ets_object **hash_find(const struct ets_hash *h, uint32_t hash, Term key);
/* The first object of the key that is not deleted, or NULL. */
struct ets_object *hash_lookup(const struct ets_hash *h, uint32_t hash, Term key);
/* The next one with the same key, not deleted. */
struct ets_object *hash_lookup_next(const struct ets_hash *h, const struct ets_object *o);

/* A copy of the tuple. In a set it replaces the object of its key; a bag that has the same object stays as it is. */
void hash_insert(struct ets_hash *h, Term tuple, uint32_t hash, struct ets_change *change);
/* Replaces the one at *place. Takes: o. */
void hash_replace(struct ets_object **place, struct ets_object *o, struct ets_change *change);
/* Takes the object at *place out of the table; while fixed it stays in its chain, marked. */
void hash_remove(struct ets_hash *h, struct ets_object **place, bool is_fixed, struct ets_change *change);
/* Frees what was deleted during the fixations. Everything locked. */
void hash_bury(struct ets_hash *h, struct ets_change *change);

/* Should a bucket be split, joined? */
static inline bool hash_wants_split(const struct ets_hash *h, size_t objects)
{
	return objects > atomic_load_explicit(&h->active, memory_order_relaxed);
}
static inline bool hash_wants_join(const struct ets_hash *h, size_t objects)
{
	uint32_t active = atomic_load_explicit(&h->active, memory_order_relaxed);

	return active > HASH_SEGMENT && objects < active / 2;
}
/* Bucket that the next split, join concerns: its stripe must be locked. */
static inline uint32_t hash_split_bucket(uint32_t active)
{
	return active & ((UINT32_MAX >> __builtin_clz(active)) >> 1);
}
/* Units: both return the words of memory taken (given back: negative). */
long hash_split(struct ets_hash *h);
long hash_join(struct ets_hash *h);

/* Takes apart: frees up to n objects beginning at bucket *from; true when none is left. */
bool hash_drain(struct ets_hash *h, uint32_t *from, size_t n);

#endif
