/* SPDX-License-Identifier: Apache-2.0 */
/* Built-in functions: persistent terms. A value is a literal: reading copies nothing. An entry, its key and its value stand in one literal
 * area, which is collected (bif_literal.h) when the entry is replaced or erased.
 * Invariant: keys are given out as copies only. */
#include "base/alloc.h"
#include "base/lock.h"
#include "bif/bif_info.h"
#include "bif/bif_literal.h"
#include "code/export.h"
#include "data/compare.h"
#include "data/map.h"
#include "data/phash.h"
#include "heap/copy.h"
#include "heap/copy_shared.h"
#include "heap/literal.h"

enum { FIRST_BUCKETS = 1024 };

struct entry {
	struct entry *next;
	uint32_t hash;
	Term key, value;     /* literals */
	size_t words;
	struct literal_area *area; /* owned */
};

static struct {
	struct rwlock lock;
	struct entry **buckets;
	size_t bucket_count; /* a power of two, at least `count` */
	size_t count, words;
} terms;

void bif_persistent_init(void)
{
	rwlock_init(&terms.lock, LOCK_persistent);
	terms.bucket_count = FIRST_BUCKETS;
	terms.buckets = mem_zalloc(FIRST_BUCKETS * sizeof(struct entry *));
}

static struct entry **find_bucket(uint32_t hash)
{
	return &terms.buckets[hash & (terms.bucket_count - 1)];
}

static struct entry **find_entry(Term key)
{
	uint32_t hash = phash2(key);
	struct entry **at = find_bucket(hash);

	while (*at != NULL && ((*at)->hash != hash || !term_same((*at)->key, key)))
		at = &(*at)->next;
	return at;
}

/* Lock held for writing. */
static void set_bucket_count(size_t n)
{
	struct entry **before = terms.buckets;
	size_t count = terms.bucket_count;

	terms.bucket_count = n;
	terms.buckets = mem_zalloc(terms.bucket_count * sizeof(struct entry *));
	for (size_t i = 0; i < count; i++) {
		struct entry *next;

		for (struct entry *e = before[i]; e != NULL; e = next) {
			struct entry **at = find_bucket(e->hash);

			next = e->next;
			e->next = *at;
			*at = e;
		}
	}
	mem_free(before);
}

static Term get_value(Term key)
{
	struct entry *e;
	Term value;

	rwlock_read(&terms.lock);
	e = *find_entry(key);
	value = e != NULL ? e->value : TERM_NONE;
	rwlock_unread(&terms.lock);
	return value;
}

/* Parts that key and value share stay shared. Fails: NULL when there is no room for literals. */
static struct entry *make_entry(Term key, Term value)
{
	struct shared_objects *objects = shared_objects_new(true);
	struct literal_area *area;
	struct entry *e = NULL;

	shared_objects_add(objects, key);
	shared_objects_add(objects, value);
	area = literal_new(shared_objects_words(objects));
	if (area != NULL) {
		shared_objects_copy(objects, &area->top, &area->off_heap);
		e = mem_alloc(sizeof(*e));
		*e = (struct entry){ .words = shared_objects_words(objects), .area = area, .hash = phash2(key),
				     .key = shared_objects_find(objects, key), .value = shared_objects_find(objects, value) };
	}
	shared_objects_free(objects);
	return e;
}

/* Takes: the entry, which is out of the table. Values that are immediates are in nobody's heap. */
static void drop_entry(struct entry *e)
{
	if (term_is_immed(e->value))
		literal_free(e->area);
	else
		bif_literal_collect(e->area);
	mem_free(e);
}

/* Returns what the key had before. */
static struct entry *enter(struct entry *e)
{
	struct entry **at, *old;

	rwlock_write(&terms.lock);
	at = find_entry(e->key);
	old = *at;
	if (old != NULL) {
		e->next = old->next;
		terms.words -= old->words;
	} else {
		terms.count++;
	}
	terms.words += e->words;
	*at = e;
	if (terms.count > terms.bucket_count)
		set_bucket_count(2 * terms.bucket_count);
	rwlock_unwrite(&terms.lock);
	return old;
}

Term bif_persistent_term_put_2(Process *p, Term *args)
{
	Term before = get_value(args[0]);
	struct entry *e, *old;

	if (before != TERM_NONE && term_same(before, args[1]))
		return am_ok;
	e = !bif_literal_is_behind() ? make_entry(args[0], args[1]) : NULL;
	if (e == NULL)
		return literal_released_words() > 0 ? bif_literal_wait(p, export_get(am_persistent_term, am_put, 2), 2, args) : exc_system_limit(p);
	old = enter(e);
	if (old != NULL)
		drop_entry(old);
	return am_ok;
}

Term bif_persistent_term_get_1(Process *p, Term *args)
{
	Term value = get_value(args[0]);

	return value != TERM_NONE ? value : exc_badarg(p);
}

Term bif_persistent_term_get_2(Process *p, Term *args)
{
	Term value = get_value(args[0]);

	(void)p;
	return value != TERM_NONE ? value : args[1];
}

static Term copy_key(const struct entry *e, struct heap *h)
{
	Term *top = heap_alloc(h, copy_flat_size_words(e->key));

	return copy_term_whole(e->key, &top, &h->off_heap);
}

Term bif_persistent_term_get_0(Process *p, Term *args)
{
	Term list = NIL;

	(void)args;
	rwlock_read(&terms.lock);
	for (size_t i = 0; i < terms.bucket_count; i++)
		for (struct entry *e = terms.buckets[i]; e != NULL; e = e->next)
			list = heap_cons(&p->heap, heap_tuple(&p->heap, copy_key(e, &p->heap), e->value), list);
	rwlock_unread(&terms.lock);
	return list;
}

Term bif_persistent_term_erase_1(Process *p, Term *args)
{
	struct entry *e, **at;
	bool found;

	(void)p;
	rwlock_write(&terms.lock);
	at = find_entry(args[0]);
	e = *at;
	found = e != NULL;
	if (found) {
		*at = e->next;
		terms.count--;
		terms.words -= e->words;
		if (terms.bucket_count > FIRST_BUCKETS && terms.count < terms.bucket_count / 4)
			set_bucket_count(terms.bucket_count / 2);
	}
	rwlock_unwrite(&terms.lock);
	if (found)
		drop_entry(e);
	return term_from_bool(found);
}

/* init:restart/0 begins with none. */
Term bif_erts_internal_erase_persistent_terms_0(Process *p, Term *args)
{
	struct entry *all = NULL, *next;

	(void)p;
	(void)args;
	rwlock_write(&terms.lock);
	for (size_t i = 0; i < terms.bucket_count; i++) {
		for (struct entry *e = terms.buckets[i]; e != NULL; e = next) {
			next = e->next;
			e->next = all;
			all = e;
		}
		terms.buckets[i] = NULL;
	}
	terms.count = terms.words = 0;
	set_bucket_count(FIRST_BUCKETS);
	rwlock_unwrite(&terms.lock);
	for (; all != NULL; all = next) {
		next = all->next;
		drop_entry(all);
	}
	return am_ok;
}

Term bif_persistent_term_info_0(Process *p, Term *args)
{
	Term pairs[4];

	(void)args;
	rwlock_read(&terms.lock);
	pairs[0] = am_count;
	pairs[1] = term_from_small((int64_t)terms.count);
	pairs[2] = am_memory;
	pairs[3] = term_from_small((int64_t)(terms.words * sizeof(Term) + terms.count * sizeof(struct entry) +
					    terms.bucket_count * sizeof(*terms.buckets)));
	rwlock_unread(&terms.lock);
	return map_from_pairs(&p->heap, pairs, 2);
}

size_t persistent_table_size(void)
{
	return terms.bucket_count;
}
