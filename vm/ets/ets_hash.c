/* SPDX-License-Identifier: Apache-2.0 */
/* Hash tables of stored objects. */
#include "ets/ets_hash.h"

#include <string.h>

#include "base/alloc.h"

enum { FIRST_ROOM = 1, SEGMENT_WORDS = HASH_SEGMENT, DRAIN_AHEAD = 8 };

static struct hash_directory *new_directory(size_t room)
{
	struct hash_directory *d = mem_zalloc(sizeof(*d) + room * sizeof(d->segments[0]));

	d->room = room;
	return d;
}

void hash_init(struct ets_hash *h, unsigned key, uint8_t duplicates)
{
	struct hash_directory *d = new_directory(FIRST_ROOM);

	d->segments[0] = mem_zalloc(HASH_SEGMENT * sizeof(Term));
	atomic_init(&h->directory, d);
	atomic_init(&h->active, HASH_SEGMENT);
	atomic_init(&h->resizing, 0);
	atomic_init(&h->graves, NULL);
	h->key = key;
	h->duplicates = duplicates;
}

void hash_free(struct ets_hash *h)
{
	struct hash_directory *d = atomic_load(&h->directory);
	struct hash_grave *g = atomic_load(&h->graves);

	for (size_t i = 0; i < d->room && d->segments[i] != NULL; i++)
		mem_free(d->segments[i]);
	while (d != NULL) {
		struct hash_directory *older = d->older;

		mem_free(d);
		d = older;
	}
	while (g != NULL) {
		struct hash_grave *next = g->next;

		mem_free(g);
		g = next;
	}
}

size_t hash_memory_words(const struct ets_hash *h)
{
	size_t segments = (atomic_load(&h->active) + HASH_SEGMENT - 1) / HASH_SEGMENT;
	size_t words = segments * SEGMENT_WORDS;

	for (const struct hash_directory *d = atomic_load(&h->directory); d != NULL; d = d->older)
		words += sizeof(*d) / sizeof(Term) + d->room;
	return words;
}

struct ets_object **hash_find(const struct ets_hash *h, uint32_t hash, Term key)
{
	struct ets_object **at = hash_chain(h, hash_bucket(h, hash));

	for (; *at != NULL; at = &(*at)->next)
		if (hash_has_key(h, *at, hash, key))
			return at;
	return NULL;
}

struct ets_object *hash_lookup(const struct ets_hash *h, uint32_t hash, Term key)
{
	struct ets_object *o = *hash_chain(h, hash_bucket(h, hash));

	for (; o != NULL; o = o->next)
		if (hash_has_key(h, o, hash, key) && !o->deleted)
			return o;
	return NULL;
}

struct ets_object *hash_lookup_next(const struct ets_hash *h, const struct ets_object *o)
{
	struct ets_object *next = o->next;

	for (; next != NULL && hash_has_key(h, next, o->hash, hash_object_key(h, o)); next = next->next)
		if (!next->deleted)
			return next;
	return NULL;
}

void hash_replace(struct ets_object **place, struct ets_object *o, struct ets_change *change)
{
	struct ets_object *old = *place;

	o->hash = old->hash;
	o->deleted = false;
	o->next = old->next;
	*place = o;
	change->objects += old->deleted;
	change->words += (long)object_memory_words(o) - (long)object_memory_words(old);
	object_free(old);
}

/* A word of the tuple in which objects of its key are likely to differ from it, and then are not the same: an
 * immediate beside the key; the header when there is none. */
static size_t find_telling(const Term *tuple, size_t key)
{
	size_t arity = header_arity(*tuple);

	for (size_t i = 1; i <= arity; i++)
		if (i != key && term_is_immed(tuple[i]))
			return i;
	return 0;
}

/* In a bag: is the same object there? One that waits for its burial comes back, as the newest of its key. */
static bool find_twin(struct ets_object **first, Term tuple, size_t key, struct ets_change *change)
{
	const Term *words = boxed_ptr(tuple);
	size_t telling = find_telling(words, key);
	uint32_t hash = (*first)->hash;

	for (struct ets_object **at = first; *at != NULL && (*at)->hash == hash; at = &(*at)->next) {
		struct ets_object *twin = *at;

		if (twin->words[0] != words[0] || twin->words[telling] != words[telling] || !object_is(twin, tuple))
			continue;
		if (twin->deleted) {
			*at = twin->next;
			twin->next = *first;
			*first = twin;
			twin->deleted = false;
			change->objects++;
		}
		return true;
	}
	return false;
}

/* In a set. */
static void replace_with(struct ets_object **place, Term tuple, struct ets_change *change)
{
	struct ets_object *o = *place;

	if (!object_overwrite(o, tuple)) {
		hash_replace(place, object_new(tuple), change);
		return;
	}
	change->objects += o->deleted;
	o->deleted = false;
}

void hash_insert(struct ets_hash *h, Term tuple, uint32_t hash, struct ets_change *change)
{
	struct ets_object **place = hash_find(h, hash, tuple_get(tuple, h->key));
	struct ets_object *o;

	if (place == NULL) {
		place = hash_chain(h, hash_bucket(h, hash));
	} else if (h->duplicates == HASH_SET) {
		replace_with(place, tuple, change);
		return;
	} else if (h->duplicates == HASH_BAG && find_twin(place, tuple, h->key, change)) {
		return;
	}
	o = object_new(tuple);
	o->hash = hash;
	o->deleted = false;
	o->next = *place;
	*place = o;
	object_count(o, 1, change);
}

static void dig_grave(struct ets_hash *h, uint32_t bucket)
{
	struct hash_grave *g = mem_alloc(sizeof(*g));

	g->bucket = bucket;
	g->next = atomic_load(&h->graves);
	while (!atomic_compare_exchange_weak(&h->graves, &g->next, g))
		;
}

void hash_remove(struct ets_hash *h, struct ets_object **place, bool is_fixed, struct ets_change *change)
{
	struct ets_object *o = *place;

	change->objects--;
	if (is_fixed) {
		o->deleted = true;
		dig_grave(h, hash_bucket(h, o->hash));
		return;
	}
	*place = o->next;
	change->words -= (long)object_memory_words(o);
	object_free(o);
}

void hash_bury(struct ets_hash *h, struct ets_change *change)
{
	struct hash_grave *g = atomic_exchange(&h->graves, NULL);

	while (g != NULL) {
		struct hash_grave *next = g->next;
		struct ets_object **at = hash_chain(h, g->bucket);

		while (*at != NULL) {
			struct ets_object *o = *at;

			if (!o->deleted) {
				at = &o->next;
				continue;
			}
			*at = o->next;
			change->words -= (long)object_memory_words(o);
			object_free(o);
		}
		mem_free(g);
		g = next;
	}
}

/* Makes sure that a segment stands behind the bucket. */
static long add_segment(struct ets_hash *h, uint32_t bucket)
{
	struct hash_directory *d = atomic_load_explicit(&h->directory, memory_order_relaxed);
	size_t index = bucket / HASH_SEGMENT;
	long words = SEGMENT_WORDS;

	if (index < d->room && d->segments[index] != NULL)
		return 0;
	if (index >= d->room) {
		struct hash_directory *wider = new_directory(d->room * 2);

		memcpy(wider->segments, d->segments, d->room * sizeof(d->segments[0]));
		wider->older = d;
		words += (long)(sizeof(*wider) / sizeof(Term) + wider->room);
		d = wider;
	}
	d->segments[index] = mem_zalloc(HASH_SEGMENT * sizeof(Term));
	atomic_store_explicit(&h->directory, d, memory_order_release);
	return words;
}

long hash_split(struct ets_hash *h)
{
	uint32_t active = atomic_load_explicit(&h->active, memory_order_relaxed);
	uint32_t bit = 1u << (31 - __builtin_clz(active));
	long words = active % HASH_SEGMENT == 0 ? add_segment(h, active) : 0;
	struct ets_object **from = hash_chain(h, hash_split_bucket(active));
	struct ets_object **to = hash_chain(h, active);

	while (*from != NULL) {
		struct ets_object *o = *from;

		if (!(o->hash & bit)) {
			from = &o->next;
			continue;
		}
		*from = o->next;
		*to = o;
		to = &o->next;
	}
	*to = NULL;
	atomic_store_explicit(&h->active, active + 1, memory_order_release);
	return words;
}

long hash_join(struct ets_hash *h)
{
	struct hash_directory *d = atomic_load_explicit(&h->directory, memory_order_relaxed);
	uint32_t last = atomic_load_explicit(&h->active, memory_order_relaxed) - 1;
	struct ets_object **from = hash_chain(h, last);
	struct ets_object **to = hash_chain(h, hash_split_bucket(last));

	while (*to != NULL)
		to = &(*to)->next;
	*to = *from;
	*from = NULL;
	atomic_store_explicit(&h->active, last, memory_order_release);
	if (last % HASH_SEGMENT != 0)
		return 0;
	/* Whoever holds a stripe's lock has seen the stripe's last join: nobody looks here any more. */
	mem_free(d->segments[last / HASH_SEGMENT]);
	d->segments[last / HASH_SEGMENT] = NULL;
	return -SEGMENT_WORDS;
}

bool hash_drain(struct ets_hash *h, uint32_t *from, size_t n)
{
	const struct hash_directory *d = atomic_load(&h->directory);
	uint32_t active = atomic_load(&h->active);

	for (uint32_t bucket = *from; bucket < active; bucket++) {
		struct ets_object **at = &d->segments[bucket / HASH_SEGMENT][bucket % HASH_SEGMENT];

		if (bucket % HASH_SEGMENT < HASH_SEGMENT - DRAIN_AHEAD)
			__builtin_prefetch(at[DRAIN_AHEAD]);
		while (*at != NULL) {
			struct ets_object *o = *at;

			if (n-- == 0) {
				*from = bucket;
				return false;
			}
			*at = o->next;
			object_free(o);
		}
	}
	*from = active;
	return true;
}
