/* SPDX-License-Identifier: Apache-2.0 */
/* Tables: names, owners, rights, locks, fixations, life and death. What stands in a table: hash.h, tree.h.
 * Invariant: a table whose `is_dead` is set has no contents, no owner and no name; its memory stays until the last
 * table identifier (a magic ref) that names it is gone, and nobody looks at it who found it by its name. A table that
 * is found by its name is held in a look (proc/progress.h), which ends with the hold: it is there until then, though it
 * may be dead, which who has locked it sees. A native holds a table within one time slice, on one thread, however long
 * that lasts (`ets:insert` of a long list: seconds), and what was taken out of tables meanwhile waits. It neither gives
 * way, nor stops the world, nor goes outside before it has released it; a native that works in steps finds the table
 * again in each. Locks: a table is read and written under its lock: a mutex; a read-write lock with read_concurrency,
 * and for ordered tables with write_concurrency too; for hash tables with write_concurrency one of ETS_STRIPES mutexes
 * for one key, all of them (rising) for the whole. A scheduler that is alone (sched_is_alone) takes no lock: a table is
 * never held while a process leaves its scheduler, and so nobody else can come until the hold ends. */
#ifndef VM_ETS_TABLE_H
#define VM_ETS_TABLE_H

#include <stdatomic.h>

#include "base/lock.h"
#include "ets/ets_hash.h"
#include "ets/tree.h"
#include "heap/refbin.h"
#include "proc/process.h"
#include "proc/progress.h"

enum ets_type { ETS_SET, ETS_ORDERED_SET, ETS_BAG, ETS_DUPLICATE_BAG };
enum ets_protection { ETS_PUBLIC, ETS_PROTECTED, ETS_PRIVATE };
enum ets_access { ETS_READ, ETS_WRITE, ETS_INFO };
enum { ETS_STRIPES = 32 };

/* What a table holds: apart, so that it can be taken away and freed piecemeal. */
struct ets_store {
	union {
		struct ets_hash hash;
		struct ets_tree tree;
	};
	bool is_tree;
	atomic_long objects;
	atomic_long words;   /* of objects and buckets */
};

struct ets_stripe {
	_Alignas(64) struct lock lock;
};

struct ets_fixation {
	struct ets_fixation *next;       /* of the table; its lock */
	struct ets_fixation *next_owned; /* of the process; its shard's lock */
	struct ets_table *table;         /* counted */
	Term pid;
	size_t count;
};

struct ets_options {
	enum ets_type type;
	enum ets_protection protection;
	unsigned key_position;           /* from 1; not above INT32_MAX */
	bool is_named, is_compressed;
	bool read_concurrency, write_concurrency, auto_concurrency, decentralized_counters;
	uint32_t fixed_locks;            /* debug_hash_fixed_number_of_locks; 0: not given */
	Term heir, heir_data;
};

struct ets_table {
	struct resource resource;        /* first: the magic ref's */
	_Atomic Term name;
	struct ets_options options;      /* heir_data stands in heir_fragment */
	struct fragment *heir_fragment;
	_Atomic Term owner;
	atomic_bool is_dead;
	struct lock lock;
	bool is_shared;                  /* locked by rwlock, not by lock */
	struct rwlock rwlock;
	struct ets_stripe *stripes;      /* ETS_STRIPES, or NULL */
	struct ets_store store;
	struct ets_fixation *fixations;
	atomic_size_t fixed;             /* sum of their counts */
	int64_t fixed_since_ns;          /* CLOCK_MONOTONIC */
	int64_t fixed_system_ns;
	_Atomic(struct ets_table *) next_named; /* changed under the names' lock */
	struct progress_item later;      /* its memory is to be freed */
	struct ets_table *prev, *next;   /* all tables */
	struct ets_table *next_owned;    /* of the owner, as the next two; its shard's lock */
	struct ets_table **owned_at;     /* what points here */
	struct ets_owner *owned_by;
};

/* ---- a table in use */
enum ets_failure { ETS_OK, ETS_NO_TABLE, ETS_NO_RIGHT, ETS_NO_ID, ETS_NO_KEY };
enum ets_lock { ETS_UNLOCKED, ETS_MUTEX, ETS_READ_LOCK, ETS_WRITE_LOCK, ETS_ONE_STRIPE, ETS_ALL_STRIPES };
struct ets_hold {
	struct ets_table *table;
	uint8_t lock_kind;   /* enum ets_lock */
	bool is_counted;     /* it has a reference to the table... */
	bool is_look;        /* ...or is in a look (proc/progress.h) */
	bool is_write;
	uint8_t failure;     /* enum ets_failure: what the function that was to hold it returned */
	uint32_t hash;       /* of the key */
};
/* Finds the table (name or identifier), locks it whole, checks the right. */
enum ets_failure table_hold(struct ets_hold *hold, Process *p, Term id, enum ets_access access);
/* The same for one key: hash tables with stripes lock the key's only. hold->hash is set for hash tables. */
enum ets_failure table_hold_key(struct ets_hold *hold, Process *p, Term id, enum ets_access access, Term key);
/* The same for the key of a tuple, which may be too short for one. */
enum ets_failure table_hold_tuple(struct ets_hold *hold, Process *p, Term id, enum ets_access access, Term tuple);
/* The same with the table's contents to be written although the right asked for is another. */
enum ets_failure table_hold_exclusive(struct ets_hold *hold, Process *p, Term id, enum ets_access access);
/* A hold without a lock and a count, as a scheduler that is alone has it, ends of itself. */
void table_let_go(struct ets_hold *hold);
static inline void table_release(struct ets_hold *hold)
{
	if (unlikely(hold->lock_kind != ETS_UNLOCKED || hold->is_counted || hold->is_look))
		table_let_go(hold);
}
/* Books a change of the contents, releases, and splits or joins a bucket when it is time. */
void table_release_changed(struct ets_hold *hold, const struct ets_change *change);
/* Books a change only. */
void table_change(struct ets_table *t, const struct ets_change *change);
/* Counts a change of one object in a table that is locked as a whole, and lets its buckets follow. *change is then
 * empty. */
void table_take_change(struct ets_table *t, struct ets_change *change);

static inline size_t table_objects(const struct ets_table *t)
{
	long n = atomic_load_explicit(&t->store.objects, memory_order_relaxed);

	return n > 0 ? (size_t)n : 0;
}
/* A copy of the tuple, whose key the hold was taken for (hold->hash is of it). */
static inline void table_insert(struct ets_hold *hold, Term tuple, struct ets_change *change)
{
	struct ets_store *s = &hold->table->store;

	if (s->is_tree)
		tree_insert(&s->tree, tuple, change);
	else
		hash_insert(&s->hash, tuple, hold->hash, change);
}
static inline unsigned table_key(const struct ets_table *t) { return t->options.key_position; }
static inline bool table_is_tree(const struct ets_table *t) { return t->store.is_tree; }
static inline bool table_is_fixed(const struct ets_table *t)
{
	return atomic_load_explicit(&t->fixed, memory_order_relaxed) != 0;
}
/* Units: words, everything included. */
size_t table_memory_words(const struct ets_table *t);
/* The table by its identifier term: the name when it is a named table. */
Term table_id(struct ets_table *t, struct heap *h);
Term table_ref(struct ets_table *t, struct heap *h);
/* NULL when id is no table identifier. Owns: the term. */
extern const struct resource_type table_type;
static inline struct ets_table *table_from_ref(Term id)
{
	return (struct ets_table *)resource_get(id, &table_type);
}

/* ---- life */
/* Fails: NULL when the name is taken. Owns: the registry; the creator must give its identifier away or delete it. */
struct ets_table *table_new(Process *owner, Term name, const struct ets_options *o);
/* Takes the table out of everything; its contents go to *contents (owned by the caller: a resource to be drained). The
 * hold ends. */
void table_delete(struct ets_hold *hold, struct resource **contents);
/* Leaves an empty table. NULL when the table is fixed: then its objects were deleted one by one. */
struct resource *table_clear(struct ets_hold *hold);
/* Frees up to n objects; true when all are gone. */
bool contents_drain(struct resource *contents, size_t n);
/* The contents that t names, or NULL. */
struct resource *contents_get(Term t);
/* Fails: false when the name is taken. The whole table is held exclusively. */
bool table_rename(struct ets_hold *hold, Term name);
/* Fails: false when there is no such process. The hold ends. */
bool table_give_away(struct ets_hold *hold, Process *p, Term to, Term data);
void table_set_heir(struct ets_table *t, Term heir, Term data);

/* ---- fixations. The whole table is held exclusively. */
void table_fix(struct ets_table *t, Term pid);
/* False when the process has none. */
bool table_unfix(struct ets_table *t, Term pid);

/* ---- the rest of the world */
Term table_whereis(Process *p, Term name);
/* All tables' identifiers as a list. */
Term table_list(struct heap *h);
size_t table_count(void);
/* Calls see(t, arg) for every table, without a lock: while the world is stopped, or ends. */
void table_each(void (*see)(const struct ets_table *t, void *arg), void *arg);
/* Calls see(o, arg) for every object of t, those that wait to be deleted too: as table_each. */
void table_each_object(const struct ets_table *t, void (*see)(const struct ets_object *o, void *arg), void *arg);
/* Units: words that all tables take together. */
size_t table_words_total(void);
/* A process that may read every table (for debugging). */
void table_set_super_user(Process *p, bool on);

#endif
