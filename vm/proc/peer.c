/* SPDX-License-Identifier: Apache-2.0 */
/* Chained hash tables of links, monitors and aliases; an only entry stands without a table, as most do: a call to a
 * server makes and drops one at either end. Invariant: count <= 2 * (mask + 1) after an insert. */
#include "proc/peer.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "data/extern_id.h"
#include "heap/copy.h"
#include "layout.h"
#include "term/object.h"

struct peer_table {
	uint32_t count, mask;
	struct peer *first, *last;
	struct peer *buckets[]; /* mask + 1 */
};

enum { ONLY = 1 }; /* the bit of a word that leads to an entry, not to a table */

static struct peer *only_of(const struct peers *t)
{
	return t->word & ONLY ? (struct peer *)(t->word - ONLY) : NULL;
}

static struct peer_table *table_of(const struct peers *t)
{
	return t->word & ONLY ? NULL : (struct peer_table *)t->word;
}

/* Pids and references that follow one another, which are often asked for in that order, share a cache line of
 * buckets. */
static struct peer **find_bucket(struct peer_table *t, uint64_t key)
{
	uint64_t number = key ^ key >> 4;

	return &t->buckets[(hash_word(number >> 3) << 3 | (number & 7)) & t->mask];
}

static size_t table_bytes(uint32_t mask)
{
	return sizeof(struct peer_table) + (mask + (size_t)1) * sizeof(struct peer *);
}

static bool is_foreign(Term id)
{
	return !term_is_immed(id) && !term_is_local_ref(id);
}

static uint64_t find_key(Term id)
{
	if (term_is_immed(id))
		return id;
	return term_is_local_ref(id) ? ref_number(id) : extern_id_hash(id);
}

static uint64_t suspending_key(Term pid)
{
	return (uint64_t)1 << 63 | pid; /* no number of a reference */
}

static uint64_t node_key(Term name)
{
	return (uint64_t)1 << 62 | name; /* the same */
}

/* The entries among which one with that key would be. */
static struct peer *first_of_chain(const struct peers *t, uint64_t key)
{
	struct peer_table *table = table_of(t);

	return table != NULL ? *find_bucket(table, key) : only_of(t);
}

static struct peer *find_local(const struct peers *t, uint64_t key)
{
	for (struct peer *n = first_of_chain(t, key); n != NULL; n = n->chain)
		if (n->key == key && !n->foreign)
			return n;
	return NULL;
}

static Term foreign_id(const struct peer *n)
{
	return n->kind == PEER_WATCHER ? n->foreign_ref : n->peer;
}

static struct peer *find_foreign(const struct peers *t, Term id)
{
	uint64_t key = extern_id_hash(id);

	for (struct peer *n = first_of_chain(t, key); n != NULL; n = n->chain)
		if (n->key == key && n->foreign && extern_id_same(foreign_id(n), id))
			return n;
	return NULL;
}

struct peer *peer_find(const struct peers *t, Term id)
{
	return is_foreign(id) ? find_foreign(t, id) : find_local(t, find_key(id));
}

struct peer *peer_find_suspending(const struct peers *t, Term pid)
{
	return find_local(t, suspending_key(pid));
}

struct peer *peer_find_node(const struct peers *t, Term name)
{
	return find_local(t, node_key(name));
}

static void chain_up(struct peer_table *t, struct peer *n)
{
	struct peer **bucket = find_bucket(t, n->key);

	n->chain = *bucket;
	*bucket = n;
}

static struct peer_table *grow(struct peer_table *old)
{
	uint32_t mask = old != NULL ? (old->mask + 1) * 4 - 1 : 0;
	struct peer_table *t = mem_zalloc_as(MEM_PROCESS, table_bytes(mask));

	t->mask = mask;
	if (old == NULL)
		return t;
	t->count = old->count;
	t->first = old->first;
	t->last = old->last;
	for (struct peer *n = t->first; n != NULL; n = n->next)
		chain_up(t, n);
	mem_free_as(MEM_PROCESS, old);
	return t;
}

/* Literals of the tag are copied too: the entry may outlive them. */
static void copy_terms(struct peer *n, Term id, Term peer, Term tag)
{
	Term ref = n->foreign && n->kind == PEER_WATCHER ? id : TERM_NONE;
	size_t peer_words = peer_id_words(peer), tag_words = tag != TERM_NONE ? copy_flat_size_words(tag) : 0;
	size_t words = peer_words + tag_words + peer_id_words(ref);
	Term *top;

	n->peer = peer;
	n->tag = tag;
	if (words == 0)
		return;
	n->words = fragment_new(words);
	top = n->words->words;
	n->peer = peer_put_id(peer, &top, &n->words->off_heap);
	if (tag_words != 0)
		n->tag = copy_term_whole(tag, &top, &n->words->off_heap);
	if (ref != TERM_NONE)
		n->foreign_ref = peer_put_id(ref, &top, &n->words->off_heap);
}

static void put_in_table(struct peers *peers, struct peer *n)
{
	struct peer_table *t = table_of(peers);

	if (t == NULL || t->count >= 2 * (t->mask + 1))
		t = grow(t);
	peers->word = (uintptr_t)t;
	chain_up(t, n);
	n->before = t->last;
	*(t->last != NULL ? &t->last->next : &t->first) = n;
	t->last = n;
	t->count++;
}

struct peer *peer_insert(struct peers *peers, enum peer_kind kind, Term id, Term peer, Term tag)
{
	struct peer *n = mem_alloc_as(MEM_PROCESS, sizeof(*n)), *only = only_of(peers);

	*n = (struct peer){ .kind = (uint8_t)kind, .foreign = is_foreign(id) };
	n->key = kind == PEER_SUSPENDING ? suspending_key(id) : kind == PEER_NODE ? node_key(id) : find_key(id);
	n->ref_tag = term_has_sub(id, SUB_REF) ? ref_tag(id) : 0;
	copy_terms(n, id, peer, tag);
	if (peers->word == 0) {
		peers->word = (uintptr_t)n + ONLY;
		return n;
	}
	if (only != NULL)
		put_in_table(peers, only);
	put_in_table(peers, n);
	return n;
}

void peer_free(struct peer *n)
{
	fragment_free(n->words);
	mem_free_as(MEM_PROCESS, n);
}

static void drop_table(struct peers *t)
{
	mem_free_as(MEM_PROCESS, table_of(t));
	t->word = 0;
}

static void unchain(struct peer_table *t, struct peer *n)
{
	struct peer **at = find_bucket(t, n->key);

	while (*at != n)
		at = &(*at)->chain;
	*at = n->chain;
	*(n->before != NULL ? &n->before->next : &t->first) = n->next;
	*(n->next != NULL ? &n->next->before : &t->last) = n->before;
	t->count--;
}

void peer_remove(struct peers *peers, struct peer *n)
{
	struct peer_table *t = table_of(peers);

	if (t != NULL)
		unchain(t, n);
	peer_free(n);
	if (t == NULL || t->count == 0)
		drop_table(peers);
}

static struct peer *oldest(const struct peers *t)
{
	struct peer_table *table = table_of(t);

	return table != NULL ? table->first : only_of(t);
}

/* Who waits for one 'DOWN' after the other, as they were set, finds each at the head of its queue. */
struct peer *peer_take_all(struct peers *t)
{
	struct peer *all = oldest(t);

	drop_table(t);
	return all;
}

void peer_each(const struct peers *t, void (*visit)(const struct peer *n, void *arg), void *arg)
{
	for (const struct peer *n = oldest(t); n != NULL; n = n->next)
		visit(n, arg);
}

size_t peer_count(const struct peers *t)
{
	struct peer_table *table = table_of(t);

	return table != NULL ? table->count : t->word != 0;
}

size_t peer_size_bytes(const struct peers *t)
{
	struct peer_table *table = table_of(t);

	return (table != NULL ? table_bytes(table->mask) : 0) + peer_count(t) * sizeof(struct peer);
}

size_t peer_id_words(Term id)
{
	if (id == TERM_NONE || term_is_immed(id))
		return 0;
	return term_is_local_ref(id) ? REF_WORDS : object_shape(boxed_ptr(id)).words;
}

Term peer_put_id(Term id, Term **top, Term **off_heap)
{
	if (id == TERM_NONE || term_is_immed(id))
		return id;
	if (!term_is_local_ref(id))
		return copy_object(boxed_ptr(id), top, off_heap);
	*top += REF_WORDS;
	return peer_put_ref(*top - REF_WORDS, ref_number(id), ref_tag(id));
}

Term peer_ref(const struct peer *n, Term local[REF_WORDS])
{
	return n->foreign ? n->foreign_ref : peer_put_ref(local, n->key, n->ref_tag);
}

/* For who reads our memory from outside. */
static const uint32_t layout_numbers[] = {
#define LAYOUT_PEERS LAYOUT_NUMBER
#include "layout.def"
};
LAYOUT_PART(layout_peers, layout_numbers);
