/* SPDX-License-Identifier: Apache-2.0 */
/* Built-in functions: persistent terms. A value is a literal: reading copies nothing.
 * Invariant: values that were replaced or erased stay, since any process may hold them; their memory is not given back. */
#include "base/alloc.h"
#include "base/lock.h"
#include "bif/bif_info.h"
#include "data/compare.h"
#include "data/map.h"
#include "data/phash.h"
#include "heap/copy.h"
#include "heap/literal.h"

enum { BUCKETS = 1024 };

struct entry {
	struct entry *next;
	Term key, value;     /* in area */
	size_t words;
	struct literal_area *area;
};

static struct {
	struct rwlock lock;
	struct entry *buckets[BUCKETS];
	size_t count, words;
} terms;

void bif_persistent_init(void)
{
	rwlock_init(&terms.lock, LOCK_persistent);
}

static struct entry **find_entry(Term key)
{
	struct entry **at = &terms.buckets[phash2(key) % BUCKETS];

	while (*at != NULL && !term_same((*at)->key, key))
		at = &(*at)->next;
	return at;
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

/* Fails: NULL when there is no room for literals. */
static struct entry *make_entry(Term key, Term value)
{
	size_t words = copy_flat_size_words(key) + copy_flat_size_words(value);
	struct literal_area *area = literal_new(words > 0 ? words : 1);
	struct entry *e;

	if (area == NULL)
		return NULL;
	e = mem_zalloc(sizeof(*e));
	e->area = area;
	e->words = words;
	e->key = literal_put(area, key);
	e->value = literal_put(area, value);
	return e;
}

Term bif_persistent_term_put_2(Process *p, Term *args)
{
	Term before = get_value(args[0]);
	struct entry *e, **at;

	if (before != TERM_NONE && term_same(before, args[1]))
		return am_ok;
	e = make_entry(args[0], args[1]);
	if (e == NULL)
		return exc_system_limit(p);
	rwlock_write(&terms.lock);
	at = find_entry(args[0]);
	if (*at != NULL) {
		struct entry *old = *at;

		e->next = old->next;
		terms.words -= old->words;
		mem_free(old);
	} else {
		terms.count++;
	}
	terms.words += e->words;
	*at = e;
	rwlock_unwrite(&terms.lock);
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

Term bif_persistent_term_get_0(Process *p, Term *args)
{
	Term list = NIL;

	(void)args;
	rwlock_read(&terms.lock);
	for (int i = 0; i < BUCKETS; i++)
		for (struct entry *e = terms.buckets[i]; e != NULL; e = e->next)
			list = heap_cons(&p->heap, heap_tuple(&p->heap, e->key, e->value), list);
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
	}
	rwlock_unwrite(&terms.lock);
	mem_free(e);
	return term_from_bool(found);
}

/* init:restart/0 begins with none. */
Term bif_erts_internal_erase_persistent_terms_0(Process *p, Term *args)
{
	(void)p;
	(void)args;
	rwlock_write(&terms.lock);
	for (unsigned i = 0; i < BUCKETS; i++) {
		struct entry *next;

		for (struct entry *e = terms.buckets[i]; e != NULL; e = next) {
			next = e->next;
			mem_free(e);
		}
		terms.buckets[i] = NULL;
	}
	terms.count = terms.words = 0;
	rwlock_unwrite(&terms.lock);
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
	pairs[3] = term_from_small((int64_t)(terms.words * sizeof(Term) + terms.count * sizeof(struct entry)));
	rwlock_unread(&terms.lock);
	return map_from_pairs(&p->heap, pairs, 2);
}
