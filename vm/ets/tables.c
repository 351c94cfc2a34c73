/* SPDX-License-Identifier: Apache-2.0 */
/* Birth, names, owners and death of tables.
 * Invariant: a living table is counted by the registry once, and by its owner's entry once. An owner's entry is
 * taken out as a whole when its process dies; who then finds a table without its entry leaves it to the dying one. */
#include "ets/ets.h"
#include "ets/match_compile.h"
#include "ets/tables.h"

#include <string.h>

#include "base/alloc.h"
#include "heap/copy.h"
#include "layout.h"
#include "proc/message.h"
#include "proc/process_life.h"
#include "proc/sched.h"
#include "proc/timer.h"

enum { SHARDS = 64, NAME_BUCKETS = 4096, DRAIN_OBJECTS = 5000, DRAIN_PAUSE_MS = 1 };

struct ets_owner {
	struct ets_owner *next;
	Term pid;
	struct ets_table *tables;
	struct ets_fixation *fixations;
	bool is_super_user;
};

static struct {
	struct lock name_locks[SHARDS]; /* lock b % SHARDS: of bucket b */
	/* How often a table has begun to change its name, and how often that has ended. */
	_Alignas(64) atomic_uint renames_begun, renames_ended;
	_Atomic(struct ets_table *) names[NAME_BUCKETS]; /* changed under the bucket's lock */
	struct {
		struct lock lock;
		_Atomic(struct ets_owner *) first;
	} owners[SHARDS];
	struct lock lock;        /* of what follows */
	struct ets_table *first;
	atomic_size_t count;
	atomic_size_t super_users;
} tables;

/* ---- names */
static unsigned name_bucket(Term name) { return (unsigned)hash_word(name) % NAME_BUCKETS; }

static _Atomic(struct ets_table *) *lock_name(Term name)
{
	unsigned bucket = name_bucket(name);

	lock_acquire(&tables.name_locks[bucket % SHARDS]);
	return &tables.names[bucket];
}

static void unlock_name(Term name)
{
	lock_release(&tables.name_locks[name_bucket(name) % SHARDS]);
}

static struct ets_table *next_of(const _Atomic(struct ets_table *) *at)
{
	return atomic_load_explicit(at, memory_order_acquire);
}

/* In a look, or with the bucket's lock. */
static struct ets_table *walk_names(Term name)
{
	struct ets_table *t = next_of(&tables.names[name_bucket(name)]);

	while (t != NULL && atomic_load_explicit(&t->name, memory_order_relaxed) != name)
		t = next_of(&t->next_named);
	return t;
}

/* A table that gets another name meanwhile leads into another bucket, past those that stand behind it. */
struct ets_table *tables_see_name(Term name, bool *is_sure)
{
	unsigned ended = atomic_load(&tables.renames_ended);
	struct ets_table *t = walk_names(name);

	*is_sure = atomic_load(&tables.renames_begun) == ended;
	return t;
}

/* *is_sure: the answer is right. */
static struct ets_table *look_up_name(Term name, bool *is_sure)
{
	struct ets_table *t;

	*is_sure = false;
	if (!progress_look())
		return NULL;
	t = tables_see_name(name, is_sure);
	if (t != NULL)
		*is_sure = resource_ref_living(&t->resource);
	progress_look_end();
	return t;
}

struct ets_table *tables_find_name(Term name)
{
	bool is_sure;
	struct ets_table *t = look_up_name(name, &is_sure);

	if (is_sure)
		return t;
	lock_name(name);
	t = walk_names(name);
	if (t != NULL)
		resource_ref(&t->resource);
	unlock_name(name);
	return t;
}

static bool enter_name(struct ets_table *t, Term name)
{
	_Atomic(struct ets_table *) *first = lock_name(name);
	struct ets_table *other = walk_names(name);

	if (other == NULL) {
		atomic_store_explicit(&t->name, name, memory_order_relaxed);
		atomic_store_explicit(&t->next_named, next_of(first), memory_order_release);
		atomic_store_explicit(first, t, memory_order_release);
	}
	unlock_name(name);
	return other == NULL;
}

static void remove_name(struct ets_table *t)
{
	Term name = t->name;
	_Atomic(struct ets_table *) *at = lock_name(name);

	while (next_of(at) != NULL && next_of(at) != t)
		at = &next_of(at)->next_named;
	if (next_of(at) == t)
		atomic_store_explicit(at, next_of(&t->next_named), memory_order_release);
	unlock_name(name);
}

bool tables_names_collide(Term a, Term b) { return name_bucket(a) == name_bucket(b); }

bool table_rename(struct ets_hold *hold, Term name)
{
	struct ets_table *t = hold->table;
	struct ets_table *other;
	Term old = t->name;
	bool ok;

	if (!t->options.is_named) {
		t->name = name;
		return true;
	}
	other = tables_find_name(name);
	if (other != NULL) {
		resource_unref(&other->resource);
		return false;
	}
	atomic_fetch_add(&tables.renames_begun, 1);
	remove_name(t);
	ok = enter_name(t, name);
	if (!ok)
		enter_name(t, old);
	atomic_fetch_add(&tables.renames_ended, 1);
	return ok;
}

Term table_whereis(Process *p, Term name)
{
	bool is_counted = !sched_is_alone(), is_sure;
	struct ets_table *t = is_counted ? tables_find_name(name) : tables_see_name(name, &is_sure);
	Term ref;

	if (t == NULL)
		return am_undefined;
	ref = table_ref(t, &p->heap);
	if (is_counted)
		resource_unref(&t->resource);
	return ref;
}

/* ---- owners */
static unsigned owner_shard(Term pid) { return pid_number(pid) % SHARDS; }

/* The shard is locked. */
static struct ets_owner *find_owner(unsigned shard, Term pid)
{
	struct ets_owner *o = atomic_load_explicit(&tables.owners[shard].first, memory_order_relaxed);

	while (o != NULL && o->pid != pid)
		o = o->next;
	return o;
}

static struct ets_owner *make_owner(unsigned shard, Term pid)
{
	struct ets_owner *o = find_owner(shard, pid);

	if (o == NULL) {
		o = mem_zalloc(sizeof(*o));
		o->pid = pid;
		o->next = atomic_load(&tables.owners[shard].first);
		atomic_store(&tables.owners[shard].first, o);
	}
	return o;
}

/* Takes the whole entry out, for the caller; NULL when there is none. */
static struct ets_owner *take_owner(Term pid)
{
	unsigned n = owner_shard(pid);
	struct ets_owner *o, *before;

	if (atomic_load(&tables.owners[n].first) == NULL)
		return NULL;
	lock_acquire(&tables.owners[n].lock);
	o = find_owner(n, pid);
	if (o != NULL) {
		before = atomic_load(&tables.owners[n].first);
		if (before == o) {
			atomic_store(&tables.owners[n].first, o->next);
		} else {
			while (before->next != o)
				before = before->next;
			before->next = o->next;
		}
	}
	lock_release(&tables.owners[n].lock);
	return o;
}

static void own_table(struct ets_table *t, Term pid)
{
	unsigned n = owner_shard(pid);
	struct ets_owner *o;

	resource_ref(&t->resource);
	lock_acquire(&tables.owners[n].lock);
	o = make_owner(n, pid);
	t->owned_by = o;
	t->owned_at = &o->tables;
	t->next_owned = o->tables;
	if (t->next_owned != NULL)
		t->next_owned->owned_at = &t->next_owned;
	o->tables = t;
	lock_release(&tables.owners[n].lock);
}

static void disown_table(struct ets_table *t, Term pid)
{
	unsigned n = owner_shard(pid);
	struct ets_owner *o;
	bool found = false;

	lock_acquire(&tables.owners[n].lock);
	o = find_owner(n, pid);
	if (o != NULL && t->owned_by == o) {
		found = true;
		t->owned_by = NULL;
		*t->owned_at = t->next_owned;
		if (t->next_owned != NULL)
			t->next_owned->owned_at = t->owned_at;
	}
	lock_release(&tables.owners[n].lock);
	if (found)
		resource_unref(&t->resource);
}

void tables_own_fixation(struct ets_fixation *f)
{
	unsigned n = owner_shard(f->pid);
	struct ets_owner *o;

	lock_acquire(&tables.owners[n].lock);
	o = make_owner(n, f->pid);
	f->next_owned = o->fixations;
	o->fixations = f;
	lock_release(&tables.owners[n].lock);
}

bool tables_disown_fixation(struct ets_fixation *f)
{
	unsigned n = owner_shard(f->pid);
	struct ets_owner *o;
	bool found = false;

	lock_acquire(&tables.owners[n].lock);
	o = find_owner(n, f->pid);
	if (o != NULL) {
		struct ets_fixation **at = &o->fixations;

		while (*at != NULL && *at != f)
			at = &(*at)->next_owned;
		found = *at == f;
		if (found)
			*at = f->next_owned;
	}
	lock_release(&tables.owners[n].lock);
	return found;
}

void table_set_super_user(Process *p, bool on)
{
	unsigned n = owner_shard(p->id);
	struct ets_owner *o;

	lock_acquire(&tables.owners[n].lock);
	o = make_owner(n, p->id);
	if (o->is_super_user != on)
		atomic_fetch_add(&tables.super_users, on ? 1 : (size_t)-1);
	o->is_super_user = on;
	lock_release(&tables.owners[n].lock);
}

bool tables_is_super_user(Term pid)
{
	unsigned n = owner_shard(pid);
	struct ets_owner *o;
	bool is;

	if (atomic_load_explicit(&tables.super_users, memory_order_relaxed) == 0)
		return false;
	lock_acquire(&tables.owners[n].lock);
	o = find_owner(n, pid);
	is = o != NULL && o->is_super_user;
	lock_release(&tables.owners[n].lock);
	return is;
}

/* ---- contents on their own */
struct contents {
	struct resource resource; /* first */
	struct ets_store store;
	uint32_t bucket;          /* hash: drained up to here */
	struct tree_drain drain;
};

static void release_contents(struct resource *r)
{
	struct contents *c = (struct contents *)r;

	while (!contents_drain(r, SIZE_MAX))
		;
	if (!c->store.is_tree)
		hash_free(&c->store.hash);
	mem_free(c);
}

static const struct resource_type contents_type = { "ets contents", release_contents };

bool contents_drain(struct resource *r, size_t n)
{
	struct contents *c = (struct contents *)r;

	return c->store.is_tree ? tree_drain(&c->drain, n) : hash_drain(&c->store.hash, &c->bucket, n);
}

struct resource *contents_get(Term t)
{
	return resource_get(t, &contents_type);
}

/* Takes what is in the store, leaving it without anything: not even buckets. */
static struct resource *detach_contents(struct ets_store *s)
{
	struct contents *c = mem_zalloc(sizeof(*c));

	resource_init(&c->resource, &contents_type);
	c->store.is_tree = s->is_tree;
	if (s->is_tree) {
		tree_drain_start(&c->drain, &s->tree);
	} else {
		atomic_init(&c->store.hash.directory, atomic_load(&s->hash.directory));
		atomic_init(&c->store.hash.active, atomic_load(&s->hash.active));
		atomic_init(&c->store.hash.graves, atomic_exchange(&s->hash.graves, NULL));
		atomic_store(&s->hash.directory, NULL);
	}
	atomic_store(&s->objects, 0);
	atomic_store(&s->words, 0);
	return &c->resource;
}

/* ---- birth */
static void free_memory(struct progress_item *later)
{
	struct ets_table *t = (struct ets_table *)((char *)later - offsetof(struct ets_table, later));

	lock_destroy(&t->lock);
	rwlock_destroy(&t->rwlock);
	if (t->stripes != NULL) {
		for (int i = 0; i < ETS_STRIPES; i++)
			lock_destroy(&t->stripes[i].lock);
		mem_free(t->stripes);
	}
	mem_free(t);
}

static void free_table(struct resource *r)
{
	struct ets_table *t = (struct ets_table *)r;

	fragment_free(t->heir_fragment);
	if (t->options.is_named)
		progress_later(&t->later, free_memory);
	else
		free_memory(&t->later);
}

const struct resource_type table_type = { "ets table", free_table };

static void init_store(struct ets_table *t)
{
	static const uint8_t duplicates[] = {
		[ETS_SET] = HASH_SET, [ETS_BAG] = HASH_BAG, [ETS_DUPLICATE_BAG] = HASH_DUPLICATES,
	};
	struct ets_store *s = &t->store;
	enum ets_type type = t->options.type;

	s->is_tree = type == ETS_ORDERED_SET;
	t->is_shared = t->options.read_concurrency || (s->is_tree && t->options.write_concurrency);
	if (s->is_tree) {
		s->tree.key = table_key(t);
		return;
	}
	hash_init(&s->hash, table_key(t), duplicates[type]);
	atomic_store(&s->words, (long)hash_memory_words(&s->hash));
	if (!t->options.write_concurrency)
		return;
	t->stripes = mem_zalloc(ETS_STRIPES * sizeof(*t->stripes));
	for (int i = 0; i < ETS_STRIPES; i++)
		lock_init(&t->stripes[i].lock, LOCK_ets_table);
}

struct ets_table *table_new(Process *owner, Term name, const struct ets_options *o)
{
	struct ets_table *t = mem_zalloc(sizeof(*t));

	resource_init(&t->resource, &table_type);
	t->name = name;
	t->options = *o;
	atomic_init(&t->owner, owner->id);
	lock_init(&t->lock, LOCK_ets_table);
	rwlock_init(&t->rwlock, LOCK_ets_table);
	table_set_heir(t, o->heir, o->heir_data);
	init_store(t);
	if (o->is_named && !enter_name(t, name)) {
		resource_unref(detach_contents(&t->store));
		free_table(&t->resource);
		return NULL;
	}
	own_table(t, owner->id);
	lock_acquire(&tables.lock);
	t->next = tables.first;
	if (t->next != NULL)
		t->next->prev = t;
	tables.first = t;
	lock_release(&tables.lock);
	atomic_fetch_add(&tables.count, 1);
	return t;
}

void table_set_heir(struct ets_table *t, Term heir, Term data)
{
	size_t words;

	if (heir != am_none && !process_is_alive(heir))
		heir = am_none;
	words = heir == am_none ? 0 : copy_flat_size_words(data);
	fragment_free(t->heir_fragment);
	t->heir_fragment = NULL;
	t->options.heir = heir;
	t->options.heir_data = heir == am_none ? am_undefined : data;
	if (words != 0) {
		Term *top;

		t->heir_fragment = fragment_new(words);
		top = t->heir_fragment->words;
		t->options.heir_data = copy_term_whole(data, &top, &t->heir_fragment->off_heap);
	}
}

/* ---- death */
static void forget_fixations(struct ets_table *t)
{
	struct ets_fixation **at = &t->fixations;

	while (*at != NULL) {
		struct ets_fixation *f = *at;

		if (!tables_disown_fixation(f)) {
			at = &f->next; /* its process is dying and will come for it */
			continue;
		}
		*at = f->next;
		atomic_fetch_sub(&t->fixed, f->count);
		resource_unref(&t->resource);
		mem_free(f);
	}
}

void table_delete(struct ets_hold *hold, struct resource **contents)
{
	struct ets_table *t = hold->table;
	bool is_counted = hold->is_counted;
	Term owner = atomic_load(&t->owner);

	atomic_store(&t->is_dead, true);
	*contents = detach_contents(&t->store);
	forget_fixations(t);
	if (t->options.is_named)
		remove_name(t);
	hold->is_counted = false;
	table_release(hold);
	lock_acquire(&tables.lock);
	if (t->next != NULL)
		t->next->prev = t->prev;
	if (t->prev != NULL)
		t->prev->next = t->next;
	else
		tables.first = t->next;
	lock_release(&tables.lock);
	atomic_fetch_sub(&tables.count, 1);
	disown_table(t, owner);
	if (is_counted)
		resource_unref(&t->resource);
	resource_unref(&t->resource);
}

/* While fixed, walkers must find where they stand: everything is marked instead. */
static void clear_fixed(struct ets_table *t)
{
	struct ets_hash *h = &t->store.hash;
	uint32_t active = atomic_load(&h->active);
	struct ets_change change = { 0, 0 };

	for (uint32_t bucket = 0; bucket < active; bucket++)
		for (struct ets_object **at = hash_chain(h, bucket); *at != NULL; at = &(*at)->next)
			if (!(*at)->deleted)
				hash_remove(h, at, true, &change);
	table_change(t, &change);
}

struct resource *table_clear(struct ets_hold *hold)
{
	struct ets_table *t = hold->table;
	struct ets_store *s = &t->store;
	struct resource *contents;

	if (!s->is_tree && table_is_fixed(t)) {
		clear_fixed(t);
		return NULL;
	}
	contents = detach_contents(s);
	if (!s->is_tree) {
		hash_init(&s->hash, table_key(t), s->hash.duplicates);
		atomic_store(&s->words, (long)hash_memory_words(&s->hash));
	}
	return contents;
}

static void drain_later(void *arg)
{
	struct resource *contents = arg;

	if (contents_drain(contents, DRAIN_OBJECTS))
		resource_unref(contents);
	else
		timer_start_call(DRAIN_PAUSE_MS, drain_later, contents);
}

/* ---- new owners */
static bool is_exiting(Process *p)
{
	return (atomic_load(&p->state) & (PS_EXITING | PS_DEAD)) != 0;
}

/* {'ETS-TRANSFER', Table, From, Data} in a fragment of its own. */
static void send_transfer(struct ets_table *t, Process *to, Term from, Term data)
{
	size_t data_words = copy_flat_size_words(data);
	struct fragment *f = fragment_new(5 + (t->options.is_named ? 0 : MAGIC_WORDS) + data_words);
	Term *tuple = f->words;
	Term *top = tuple + 5;

	tuple[0] = HEADER(4, SUB_TUPLE);
	tuple[1] = am_ETS_TRANSFER;
	tuple[2] = t->name;
	tuple[3] = from;
	if (!t->options.is_named) {
		struct magic_ref *m = (struct magic_ref *)top;

		m->header = HEADER(MAGIC_WORDS - 1, SUB_REF);
		m->number = t->resource.number;
		m->tag = 0;
		m->resource = &t->resource;
		off_heap_link(top, &f->off_heap);
		tuple[2] = term_from_boxed(top);
		top += MAGIC_WORDS;
	}
	tuple[4] = copy_term_whole(data, &top, &f->off_heap);
	message_deliver(to, from, term_from_boxed(tuple), f);
}

static void reap_owner(Term pid);

/* The hold ends. Takes nothing of `to`; data may be the table's own heir data. */
static void change_owner(struct ets_hold *hold, Process *to, Term from, Term data)
{
	struct ets_table *t = hold->table;

	disown_table(t, from);
	atomic_store(&t->owner, to->id);
	own_table(t, to->id);
	send_transfer(t, to, from, data);
	table_release(hold);
	/* It may have gone past its own reaping meanwhile. */
	if (is_exiting(to))
		reap_owner(to->id);
}

bool table_give_away(struct ets_hold *hold, Process *p, Term to, Term data)
{
	Process *receiver = process_find(to);

	if (receiver == NULL || is_exiting(receiver)) {
		if (receiver != NULL)
			process_unref(receiver);
		return false;
	}
	change_owner(hold, receiver, p->id, data);
	process_unref(receiver);
	return true;
}

/* An orphan goes to its heir, or goes. Takes: the owner's count. */
static void reap_table(struct ets_table *t, Term pid)
{
	struct ets_hold hold;
	struct resource *contents;
	Process *heir;

	table_lock_exclusive(&hold, t);
	if (atomic_load(&t->is_dead) || atomic_load(&t->owner) != pid) {
		table_release(&hold);
		resource_unref(&t->resource);
		return;
	}
	heir = t->options.heir == am_none || t->options.heir == pid ? NULL : process_find(t->options.heir);
	if (heir != NULL && !is_exiting(heir)) {
		change_owner(&hold, heir, pid, t->options.heir_data);
	} else {
		size_t objects = table_objects(t);

		table_delete(&hold, &contents);
		if (objects <= DRAIN_OBJECTS)
			resource_unref(contents);
		else
			timer_start_call(DRAIN_PAUSE_MS, drain_later, contents);
	}
	if (heir != NULL)
		process_unref(heir);
	resource_unref(&t->resource);
}

static void reap_owner(Term pid)
{
	struct ets_owner *o = take_owner(pid);

	if (o == NULL)
		return;
	while (o->fixations != NULL) {
		struct ets_fixation *f = o->fixations;

		o->fixations = f->next_owned;
		table_drop_fixation(f);
	}
	while (o->tables != NULL) {
		struct ets_table *t = o->tables;

		o->tables = t->next_owned;
		reap_table(t, pid);
	}
	if (o->is_super_user)
		atomic_fetch_sub(&tables.super_users, 1);
	mem_free(o);
}

static void reap_process(Process *p)
{
	reap_owner(p->id);
}

/* ---- all of them */
struct ets_table *tables_find_number(uint64_t number)
{
	struct ets_table *t;

	lock_acquire(&tables.lock);
	t = tables.first;
	while (t != NULL && t->resource.number != number)
		t = t->next;
	if (t != NULL)
		resource_ref(&t->resource);
	lock_release(&tables.lock);
	return t;
}

Term table_list(struct heap *h)
{
	Term list = NIL;

	lock_acquire(&tables.lock);
	for (struct ets_table *t = tables.first; t != NULL; t = t->next)
		list = heap_cons(h, table_id(t, h), list);
	lock_release(&tables.lock);
	return list;
}

size_t table_words_total(void)
{
	size_t words = 0;

	lock_acquire(&tables.lock);
	for (const struct ets_table *t = tables.first; t != NULL; t = t->next)
		words += table_memory_words(t);
	lock_release(&tables.lock);
	return words;
}

void table_each(void (*see)(const struct ets_table *t, void *arg), void *arg)
{
	for (const struct ets_table *t = tables.first; t != NULL; t = t->next)
		see(t, arg);
}

static void see_subtree(const struct ets_object *o, void (*see)(const struct ets_object *o, void *arg), void *arg)
{
	for (; o != NULL; o = o->right) {
		see_subtree(o->left, see, arg);
		see(o, arg);
	}
}

void table_each_object(const struct ets_table *t, void (*see)(const struct ets_object *o, void *arg), void *arg)
{
	const struct ets_hash *h = &t->store.hash;

	if (t->store.is_tree) {
		see_subtree(t->store.tree.root, see, arg);
		return;
	}
	for (uint32_t bucket = 0; bucket < atomic_load(&h->active); bucket++)
		for (const struct ets_object *o = *hash_chain(h, bucket); o != NULL; o = o->next)
			see(o, arg);
}

size_t table_count(void)
{
	return atomic_load(&tables.count);
}

void ets_init(void)
{
	for (int i = 0; i < SHARDS; i++) {
		lock_init(&tables.name_locks[i], LOCK_ets_tables);
		lock_init(&tables.owners[i].lock, LOCK_ets_tables);
	}
	lock_init(&tables.lock, LOCK_ets_tables);
	match_init();
	process_at_exit(reap_process);
}

/* For who reads our memory from outside. */
static const uint32_t layout_numbers[] = {
#define LAYOUT_TABLES LAYOUT_NUMBER
#include "layout.def"
};
LAYOUT_PART(layout_tables, tables);
