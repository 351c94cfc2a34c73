/* SPDX-License-Identifier: Apache-2.0 */
/* Built-in functions: persistent terms. A value is a literal: reading copies nothing. An entry's key and its value
 * stand in one literal area, which is collected (bif_literal.h) when the entry is replaced or erased.
 *
 * Reading takes no lock. Whoever changes the table makes `version` odd before and even afterwards; a reader who finds
 * it odd, or changed behind him, reads again under the lock. What he may have followed meanwhile is still there:
 * entries and arrays of buckets are never given back to the allocator (entries wait in `unused`, outgrown arrays with
 * the newer ones), and areas that hold more than immediates are freed only after every process, the reader's too, has
 * been asked to copy.
 * Invariant: keys are given out as copies only. */
#include "base/alloc.h"
#include "base/lock.h"
#include "bif/system/bif_info.h"
#include "bif/code/bif_literal.h"
#include "code/export.h"
#include "data/compare.h"
#include "data/map.h"
#include "data/phash.h"
#include "heap/copy.h"
#include "heap/copy_shared.h"
#include "heap/literal.h"

enum {
	FIRST_BUCKETS = 64,
	/* What a put is charged: copies to new memory take four times as long as EXC_WORDS_A_REDUCTION says. */
	REDUCTIONS_A_PUT = 4, WORDS_PUT_A_REDUCTION = 16,
};

/* What readers without the lock look at is atomic. */
typedef _Atomic(struct entry *) Link;

struct entry {
	Link next;           /* in its bucket, or among the unused */
	_Atomic uint64_t hash;
	_Atomic Term key, value; /* literals */
	size_t words;
	struct literal_area *area; /* owned; NULL: both are immediates */
};

struct buckets {
	struct buckets *outgrown;
	size_t count;        /* a power of two */
	Link first[];
};

static struct {
	struct rwlock lock;
	_Atomic uint64_t version; /* written under the lock */
	_Atomic(struct buckets *) buckets;
	struct entry *unused;
	size_t count, words;
} terms;

static struct buckets *make_buckets(size_t count, struct buckets *outgrown)
{
	struct buckets *b = mem_zalloc(sizeof(*b) + count * sizeof(Link));

	b->outgrown = outgrown;
	b->count = count;
	return b;
}

void bif_persistent_init(void)
{
	rwlock_init(&terms.lock, LOCK_persistent);
	atomic_init(&terms.buckets, make_buckets(FIRST_BUCKETS, NULL));
}

static void begin_change(void)
{
	rwlock_write(&terms.lock);
	atomic_fetch_add(&terms.version, 1);
}

static void end_change(void)
{
	atomic_fetch_add(&terms.version, 1);
	rwlock_unwrite(&terms.lock);
}

/* Loads that later ones do not overtake: the look at the version comes last. */
#define READ(field) atomic_load_explicit(&(field), memory_order_acquire)

static Link *find_bucket(struct buckets *b, uint64_t hash)
{
	return &b->first[hash & (b->count - 1)];
}

/* The link to the key's entry, or to NULL. */
static Link *find_entry(Term key, uint64_t hash)
{
	Link *at = find_bucket(READ(terms.buckets), hash);

	for (struct entry *e; (e = READ(*at)) != NULL; at = &e->next)
		if (READ(e->hash) == hash && term_same(READ(e->key), key))
			break;
	return at;
}

static Term read_value(Term key, uint64_t hash)
{
	struct entry *e = READ(*find_entry(key, hash));

	return e != NULL ? READ(e->value) : TERM_NONE;
}

static Term read_locked(Term key, uint64_t hash)
{
	Term value;

	rwlock_read(&terms.lock);
	value = read_value(key, hash);
	rwlock_unread(&terms.lock);
	return value;
}

static Term get_value(Term key)
{
	uint64_t hash = hash_internal(key), version = READ(terms.version);
	Term value = version % 2 == 0 ? read_value(key, hash) : TERM_NONE;

	if (unlikely(version % 2 != 0 || atomic_load_explicit(&terms.version, memory_order_relaxed) != version))
		return read_locked(key, hash);
	return value;
}

/* Lock held for writing. */
static void add_buckets(void)
{
	struct buckets *before = atomic_load(&terms.buckets), *wider = make_buckets(2 * before->count, before);

	for (size_t i = 0; i < before->count; i++) {
		struct entry *next;

		for (struct entry *e = atomic_load(&before->first[i]); e != NULL; e = next) {
			Link *at = find_bucket(wider, e->hash);

			next = atomic_load(&e->next);
			atomic_store(&e->next, atomic_load(at));
			atomic_store(at, e);
		}
		atomic_store(&before->first[i], NULL);
	}
	atomic_store(&terms.buckets, wider);
}

/* ---- changes */

/* A key with its value, as literals that nobody knows yet. */
struct pair {
	Term key, value;
	size_t words;
	struct literal_area *area; /* owned; NULL: both are immediates */
};

/* Parts that key and value share stay shared. Fails: false when there is no room for literals. */
static bool make_pair(Term key, Term value, struct pair *made)
{
	struct shared_objects *objects;

	*made = (struct pair){ .key = key, .value = value };
	if (term_is_immed(key) && term_is_immed(value))
		return true;
	objects = shared_objects_new(true);
	shared_objects_add(objects, value);
	shared_objects_add(objects, key);
	made->words = shared_objects_words(objects);
	made->area = literal_new(made->words);
	if (made->area != NULL) {
		shared_objects_copy(objects, &made->area->top, &made->area->off_heap);
		made->key = shared_objects_find(objects, key);
		made->value = shared_objects_find(objects, value);
	}
	shared_objects_free(objects);
	return made->area != NULL;
}

/* Lock held for writing, version odd. Returns the area of what the entry had before, which nobody finds any more. */
static struct literal_area *set_pair(struct entry *e, const struct pair *to)
{
	struct literal_area *before = e->area;

	terms.words += to->words - e->words;
	atomic_store(&e->key, to->key);
	atomic_store(&e->value, to->value);
	e->words = to->words;
	e->area = to->area;
	return before;
}

static void add_entry(Link *at, uint64_t hash, const struct pair *made)
{
	struct entry *e = terms.unused;

	if (e != NULL)
		terms.unused = atomic_load(&e->next);
	else
		e = mem_zalloc(sizeof(*e));
	set_pair(e, made);
	atomic_store(&e->hash, hash);
	atomic_store(&e->next, NULL);
	atomic_store(at, e);
	if (++terms.count > atomic_load(&terms.buckets)->count)
		add_buckets();
}

/* The same for the entry at the end of the link. */
static struct literal_area *remove_entry(Link *at)
{
	struct entry *e = atomic_load(at);
	struct literal_area *before = set_pair(e, &(struct pair){ .key = NIL, .value = NIL });

	atomic_store(at, atomic_load(&e->next));
	atomic_store(&e->next, terms.unused);
	terms.unused = e;
	terms.count--;
	return before;
}

/* Takes: what is in made. Returns the area of what the key had before. */
static struct literal_area *enter(const struct pair *made)
{
	uint64_t hash = hash_internal(made->key);
	struct literal_area *before = NULL;
	Link *at;

	begin_change();
	at = find_entry(made->key, hash);
	if (atomic_load(at) != NULL)
		before = set_pair(atomic_load(at), made);
	else
		add_entry(at, hash, made);
	end_change();
	return before;
}

static bool has_value(Term key, Term value)
{
	Term before = get_value(key);

	return before != TERM_NONE && term_same(before, value);
}

static Term wait_for_room(Process *p, Term function, const Term *args)
{
	if (literal_released_words() == 0)
		return exc_system_limit(p);
	return bif_literal_wait(p, export_get(am_persistent_term, function, 2), 2, args);
}

/* made: by make_pair, which says ok. Takes: what is in made. */
static Term put_pair(Process *p, const Term *args, const struct pair *made, bool ok)
{
	if (!ok)
		return wait_for_room(p, am_put, args);
	process_bump(p, REDUCTIONS_A_PUT + (int)(made->words / WORDS_PUT_A_REDUCTION));
	bif_literal_collect(enter(made));
	return am_ok;
}

static Term put_at_once(Process *p, Term *args)
{
	struct pair made;

	if (has_value(args[0], args[1]))
		return am_ok;
	return put_pair(p, args, &made, !bif_literal_is_behind() && make_pair(args[0], args[1], &made));
}

Term bif_persistent_term_put_2(Process *p, Term *args)
{
	if (!copy_is_longer(args[0], EXC_WORDS_AT_ONCE) && !copy_is_longer(args[1], EXC_WORDS_AT_ONCE))
		return put_at_once(p, args);
	if (bif_literal_is_behind())
		return put_pair(p, args, NULL, false);
	return exc_run_lent(p, put_at_once, args);
}

/* Enters what has no value yet. Fails: false: there is one. Takes, when true: what is in made. */
static bool enter_new(const struct pair *made)
{
	uint64_t hash = hash_internal(made->key);
	bool is_new;
	Link *at;

	begin_change();
	at = find_entry(made->key, hash);
	is_new = atomic_load(at) == NULL;
	if (is_new)
		add_entry(at, hash, made);
	end_change();
	return is_new;
}

static Term put_new_at_once(Process *p, Term *args)
{
	Term before = get_value(args[0]);
	struct pair made;

	for (; before == TERM_NONE; before = get_value(args[0])) {
		if (bif_literal_is_behind() || !make_pair(args[0], args[1], &made))
			return wait_for_room(p, am_put_new, args);
		process_bump(p, REDUCTIONS_A_PUT + (int)(made.words / WORDS_PUT_A_REDUCTION));
		if (enter_new(&made))
			return am_ok;
		literal_free(made.area);
	}
	return term_same(before, args[1]) ? am_ok : exc_badarg(p);
}

Term bif_persistent_term_put_new_2(Process *p, Term *args)
{
	if (copy_is_longer(args[0], EXC_WORDS_AT_ONCE) || copy_is_longer(args[1], EXC_WORDS_AT_ONCE))
		return bif_literal_is_behind() ? wait_for_room(p, am_put_new, args)
					       : exc_run_lent(p, put_new_at_once, args);
	return put_new_at_once(p, args);
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

static Term copy_pair(const struct entry *e, struct heap *h)
{
	Term key = atomic_load(&e->key), *top = heap_alloc(h, copy_flat_size_words(key));

	key = copy_term_whole(key, &top, &h->off_heap);
	return heap_tuple(h, key, atomic_load(&e->value));
}

Term bif_persistent_term_get_0(Process *p, Term *args)
{
	const struct buckets *b;
	Term list = NIL;

	(void)args;
	rwlock_read(&terms.lock);
	b = atomic_load(&terms.buckets);
	for (size_t i = 0; i < b->count; i++)
		for (struct entry *e = atomic_load(&b->first[i]); e != NULL; e = atomic_load(&e->next))
			list = heap_cons(&p->heap, copy_pair(e, &p->heap), list);
	rwlock_unread(&terms.lock);
	return list;
}

Term bif_persistent_term_erase_1(Process *p, Term *args)
{
	uint64_t hash = hash_internal(args[0]);
	struct literal_area *before = NULL;
	bool found;
	Link *at;

	(void)p;
	begin_change();
	at = find_entry(args[0], hash);
	found = atomic_load(at) != NULL;
	if (found)
		before = remove_entry(at);
	end_change();
	bif_literal_collect(before);
	return term_from_bool(found);
}

/* init:restart/0 begins with none. */
Term bif_erts_internal_erase_persistent_terms_0(Process *p, Term *args)
{
	struct literal_area *all = NULL;
	struct buckets *b;

	(void)p;
	(void)args;
	begin_change();
	b = atomic_load(&terms.buckets);
	for (size_t i = 0; i < b->count; i++) {
		while (atomic_load(&b->first[i]) != NULL) {
			struct literal_area *area = remove_entry(&b->first[i]);

			if (area == NULL)
				continue;
			area->next = all;
			all = area;
		}
	}
	end_change();
	bif_literal_collect(all);
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
					    persistent_table_size() * sizeof(Link)));
	rwlock_unread(&terms.lock);
	return map_from_pairs(&p->heap, pairs, 2);
}

void persistent_each_area(void (*see)(const struct literal_area *a, void *arg), void *arg)
{
	struct buckets *b = atomic_load(&terms.buckets);

	for (size_t i = 0; i < b->count; i++)
		for (const struct entry *e = atomic_load(&b->first[i]); e != NULL; e = atomic_load(&e->next))
			if (e->area != NULL)
				see(e->area, arg);
}

size_t persistent_table_size(void)
{
	return atomic_load(&terms.buckets)->count;
}
