/* SPDX-License-Identifier: Apache-2.0 */
/* Finding, locking and releasing tables; what they contain; fixations. Birth and death: tables.c. */
#include "ets/table.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "ets/ets_probe.h"
#include "ets/tables.h"
#include "proc/sched.h"

enum { SPINS = 64, STRIPED_STEPS = 10000 };

/* Tables are held for less than it takes to sleep: look a few times before. */
static __attribute__((noinline)) void wait_for_lock(struct ets_table *t, struct lock *l)
{
	uint64_t began = ets_wait_begins();
	bool is_held = false;

	for (int i = 1; i < SPINS && !is_held; i++) {
		__builtin_ia32_pause();
		is_held = lock_try(l);
	}
	if (!is_held)
		lock_acquire(l);
	ets_wait_ends(t, began);
}

static inline void acquire(struct ets_table *t, struct lock *l)
{
	if (unlikely(!lock_try(l)))
		wait_for_lock(t, l);
}

static __attribute__((noinline)) void acquire_stripes(struct ets_table *t)
{
	for (int i = 0; i < ETS_STRIPES; i++)
		acquire(t, &t->stripes[i].lock);
}

static __attribute__((noinline)) void acquire_shared(struct ets_table *t, bool is_write)
{
	struct rwlock *l = &t->rwlock;
	uint64_t began;

	if (is_write ? rwlock_try_write(l) : rwlock_try_read(l))
		return;
	began = ets_wait_begins();
	if (is_write)
		rwlock_write(l);
	else
		rwlock_read(l);
	ets_wait_ends(t, began);
}

/* Each kind by a last call: so it needs no frame. */
static __attribute__((noinline)) void lock_against_others(struct ets_hold *hold)
{
	struct ets_table *t = hold->table;

	if (t->stripes != NULL) {
		hold->lock_kind = ETS_ALL_STRIPES;
		acquire_stripes(t);
	} else if (t->is_shared) {
		hold->lock_kind = hold->is_write ? ETS_WRITE_LOCK : ETS_READ_LOCK;
		acquire_shared(t, hold->is_write);
	} else {
		hold->lock_kind = ETS_MUTEX;
		acquire(t, &t->lock);
	}
}

static inline void lock_whole(struct ets_hold *hold)
{
	hold->lock_kind = ETS_UNLOCKED;
	if (!sched_is_alone())
		lock_against_others(hold);
}

static void unlock(struct ets_hold *hold)
{
	struct ets_table *t = hold->table;

	switch ((enum ets_lock)hold->lock_kind) {
	case ETS_UNLOCKED:
		break;
	case ETS_MUTEX:
		lock_release(&t->lock);
		break;
	case ETS_READ_LOCK:
		rwlock_unread(&t->rwlock);
		break;
	case ETS_WRITE_LOCK:
		rwlock_unwrite(&t->rwlock);
		break;
	case ETS_ONE_STRIPE:
		lock_release(&t->stripes[hold->hash % ETS_STRIPES].lock);
		break;
	case ETS_ALL_STRIPES:
		for (int i = ETS_STRIPES; i-- > 0;)
			lock_release(&t->stripes[i].lock);
		break;
	}
	hold->lock_kind = ETS_UNLOCKED;
}

void table_let_go(struct ets_hold *hold)
{
	unlock(hold);
	if (hold->is_look)
		progress_look_end();
	if (hold->is_counted)
		resource_unref(&hold->table->resource);
}

static void look_up_name(struct ets_hold *hold, Term name)
{
	bool is_alone = sched_is_alone(), is_sure = false;

	hold->is_look = !is_alone && progress_look();
	if (likely(is_alone || hold->is_look)) {
		hold->table = tables_see_name(name, &is_sure);
		if (likely(hold->table != NULL))
			return;
	}
	if (hold->is_look)
		progress_look_end();
	hold->is_look = false;
	if (is_sure)
		return;
	hold->table = tables_find_name(name);
	hold->is_counted = hold->table != NULL;
}

/* By a name, or by a number that came out of a text or a binary. */
static __attribute__((noinline)) enum ets_failure look_up_table(struct ets_hold *hold, Term id)
{
	if (term_is_atom(id)) {
		look_up_name(hold, id);
		return hold->table != NULL ? ETS_OK : ETS_NO_TABLE;
	}
	if (term_is_local_ref(id)) {
		hold->table = tables_find_number(ref_number(id));
		hold->is_counted = true;
	}
	return hold->table != NULL ? ETS_OK : ETS_NO_ID;
}

static inline enum ets_failure find_table(struct ets_hold *hold, Term id)
{
	hold->is_counted = hold->is_look = false;
	hold->table = table_from_ref(id);
	return likely(hold->table != NULL) ? ETS_OK : look_up_table(hold, id);
}

static inline bool has_right(const struct ets_table *t, Process *p, enum ets_access access)
{
	enum ets_protection protection = t->options.protection;

	if (access == ETS_INFO || protection == ETS_PUBLIC || (access == ETS_READ && protection == ETS_PROTECTED))
		return true;
	return atomic_load_explicit(&t->owner, memory_order_relaxed) == p->id || tables_is_super_user(p->id);
}

/* Locked now: is it still there, and may p? */
static inline enum ets_failure check_held(struct ets_hold *hold, Process *p, enum ets_access access)
{
	enum ets_failure f = ETS_OK;

	if (unlikely(atomic_load_explicit(&hold->table->is_dead, memory_order_relaxed)))
		f = ETS_NO_TABLE;
	else if (unlikely(!has_right(hold->table, p, access)))
		f = ETS_NO_RIGHT;
	if (unlikely(f != ETS_OK))
		table_release(hold);
	return f;
}

static inline enum ets_failure hold_whole(struct ets_hold *hold, Process *p, Term id, enum ets_access access,
					  bool is_write)
{
	enum ets_failure f = find_table(hold, id);

	if (f != ETS_OK)
		return f;
	hold->is_write = is_write;
	hold->hash = 0;
	lock_whole(hold);
	return check_held(hold, p, access);
}

enum ets_failure table_hold(struct ets_hold *hold, Process *p, Term id, enum ets_access access)
{
	return hold->failure = hold_whole(hold, p, id, access, access == ETS_WRITE);
}

enum ets_failure table_hold_exclusive(struct ets_hold *hold, Process *p, Term id, enum ets_access access)
{
	return hold->failure = hold_whole(hold, p, id, access, true);
}

static inline enum ets_failure hold_key(struct ets_hold *hold, Process *p, enum ets_access access, Term key)
{
	struct ets_table *t = hold->table;

	hold->is_write = access == ETS_WRITE;
	hold->hash = t->store.is_tree ? 0 : object_hash_key(key);
	if (t->stripes != NULL && !sched_is_alone()) {
		acquire(t, &t->stripes[hold->hash % ETS_STRIPES].lock);
		hold->lock_kind = ETS_ONE_STRIPE;
	} else {
		lock_whole(hold);
	}
	return check_held(hold, p, access);
}

enum ets_failure table_hold_key(struct ets_hold *hold, Process *p, Term id, enum ets_access access, Term key)
{
	enum ets_failure f = find_table(hold, id);

	return hold->failure = f == ETS_OK ? hold_key(hold, p, access, key) : f;
}

static enum ets_failure hold_tuple(struct ets_hold *hold, Process *p, Term id, enum ets_access access, Term tuple)
{
	enum ets_failure f = find_table(hold, id);

	if (f != ETS_OK)
		return f;
	if (tuple_arity(tuple) >= table_key(hold->table))
		return hold_key(hold, p, access, tuple_get(tuple, table_key(hold->table)));
	hold->is_write = false;
	lock_whole(hold);
	f = check_held(hold, p, access);
	if (f != ETS_OK)
		return f;
	table_release(hold);
	return ETS_NO_KEY;
}

enum ets_failure table_hold_tuple(struct ets_hold *hold, Process *p, Term id, enum ets_access access, Term tuple)
{
	return hold->failure = hold_tuple(hold, p, id, access, tuple);
}

/* ---- figures and growth */
void table_change(struct ets_table *t, const struct ets_change *change)
{
	struct ets_store *s = &t->store;

	if (t->stripes != NULL) {
		atomic_fetch_add_explicit(&s->objects, change->objects, memory_order_relaxed);
		atomic_fetch_add_explicit(&s->words, change->words, memory_order_relaxed);
		return;
	}
	atomic_store_explicit(&s->objects, atomic_load_explicit(&s->objects, memory_order_relaxed) + change->objects,
			      memory_order_relaxed);
	atomic_store_explicit(&s->words, atomic_load_explicit(&s->words, memory_order_relaxed) + change->words,
			      memory_order_relaxed);
}

enum resize { RESIZE_NOT, RESIZE_SPLIT, RESIZE_JOIN };

static enum resize wanted_resize(const struct ets_table *t)
{
	size_t objects = table_objects(t);

	return hash_wants_split(&t->store.hash, objects) ? RESIZE_SPLIT :
	       hash_wants_join(&t->store.hash, objects) ? RESIZE_JOIN : RESIZE_NOT;
}

/* The bucket that is split or joined is locked. */
static void resize(struct ets_table *t, enum resize how)
{
	struct ets_change change = { 0, 0 };

	if (how == RESIZE_NOT || table_is_fixed(t))
		return;
	change.words = how == RESIZE_SPLIT ? hash_split(&t->store.hash) : hash_join(&t->store.hash);
	if (change.words != 0)
		table_change(t, &change);
}

static void resize_locked(struct ets_table *t)
{
	resize(t, wanted_resize(t));
}

/* One resizer at a time; it takes the lock of the stripe whose bucket is next, and looks again. It makes up for those
 * who found it at work and went no step, which may be many when it was held up. */
static void resize_striped(struct ets_table *t)
{
	struct ets_hash *h = &t->store.hash;

	if (atomic_exchange(&h->resizing, 1) != 0)
		return;
	for (int step = 0; step < STRIPED_STEPS; step++) {
		enum resize how = wanted_resize(t);
		uint32_t active = atomic_load(&h->active);
		struct lock *l = &t->stripes[(how == RESIZE_JOIN ? active - 1 : active) % ETS_STRIPES].lock;

		if (how == RESIZE_NOT || table_is_fixed(t) || atomic_load(&t->is_dead))
			break;
		acquire(t, l);
		if (atomic_load(&h->active) == active && !atomic_load(&t->is_dead))
			resize(t, how);
		lock_release(l);
	}
	atomic_store(&h->resizing, 0);
}

void table_release_changed(struct ets_hold *hold, const struct ets_change *change)
{
	struct ets_table *t = hold->table;

	table_change(t, change);
	if (t->store.is_tree || change->objects == 0 || wanted_resize(t) == RESIZE_NOT) {
		table_release(hold);
		return;
	}
	if (hold->lock_kind != ETS_ONE_STRIPE) {
		/* Many may have gone: as many steps as objects. */
		for (long n = labs(change->objects); n > 0; n--)
			resize_locked(t);
		table_release(hold);
		return;
	}
	unlock(hold);
	resize_striped(t);
	table_release(hold);
}

void table_take_change(struct ets_table *t, struct ets_change *change)
{
	table_change(t, change);
	if (!t->store.is_tree && change->objects != 0)
		resize_locked(t);
	*change = (struct ets_change){ 0, 0 };
}

size_t table_memory_words(const struct ets_table *t)
{
	long words = atomic_load_explicit(&t->store.words, memory_order_relaxed);
	size_t own = sizeof(*t) + (t->stripes != NULL ? ETS_STRIPES * sizeof(*t->stripes) : 0);

	return own / sizeof(Term) + (words > 0 ? (size_t)words : 0);
}

/* ---- identifiers */
Term table_ref(struct ets_table *t, struct heap *h)
{
	return resource_put(h, &t->resource);
}

Term table_id(struct ets_table *t, struct heap *h)
{
	return t->options.is_named ? t->name : table_ref(t, h);
}

/* ---- fixations */
void table_fix(struct ets_table *t, Term pid)
{
	struct ets_fixation *f = t->fixations;

	while (f != NULL && f->pid != pid)
		f = f->next;
	if (f == NULL) {
		if (t->fixations == NULL) {
			t->fixed_since_ns = clock_monotonic_ns();
			t->fixed_system_ns = clock_system_ns();
		}
		f = mem_zalloc(sizeof(*f));
		f->pid = pid;
		f->table = t;
		resource_ref(&t->resource);
		f->next = t->fixations;
		t->fixations = f;
		tables_own_fixation(f);
	}
	f->count++;
	atomic_fetch_add(&t->fixed, 1);
}

/* The last one gone: what was deleted meanwhile is freed, and the buckets get their number again. */
static void end_fixing(struct ets_table *t)
{
	struct ets_change change = { 0, 0 };

	if (t->store.is_tree || atomic_load(&t->is_dead))
		return;
	hash_bury(&t->store.hash, &change);
	table_change(t, &change);
	resize_locked(t);
}

static void drop_fixation(struct ets_table *t, struct ets_fixation **at)
{
	struct ets_fixation *f = *at;

	*at = f->next;
	atomic_fetch_sub(&t->fixed, f->count);
	if (t->fixations == NULL)
		end_fixing(t);
}

bool table_unfix(struct ets_table *t, Term pid)
{
	struct ets_fixation **at = &t->fixations;
	struct ets_fixation *f;

	while (*at != NULL && (*at)->pid != pid)
		at = &(*at)->next;
	f = *at;
	if (f == NULL)
		return false;
	if (f->count > 1) {
		f->count--;
		atomic_fetch_sub(&t->fixed, 1);
		return true;
	}
	/* A process that is dying at this moment has taken it already, and will drop it. */
	if (!tables_disown_fixation(f))
		return true;
	drop_fixation(t, at);
	mem_free(f);
	resource_unref(&t->resource);
	return true;
}

void table_drop_fixation(struct ets_fixation *f)
{
	struct ets_hold hold = { .table = f->table, .is_counted = true, .is_write = true };
	struct ets_fixation **at = &f->table->fixations;

	lock_whole(&hold);
	while (*at != NULL && *at != f)
		at = &(*at)->next;
	if (*at == f)
		drop_fixation(f->table, at);
	table_release(&hold);
	mem_free(f);
}

void table_lock_exclusive(struct ets_hold *hold, struct ets_table *t)
{
	*hold = (struct ets_hold){ .table = t, .is_write = true };
	lock_whole(hold);
}
