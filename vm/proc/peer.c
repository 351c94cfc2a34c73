/* SPDX-License-Identifier: Apache-2.0 */
/* Chained hash tables of links, monitors and aliases. Invariant: count <= 2 * (mask + 1) after an insert. */
#include "proc/peer.h"

#include "base/alloc.h"
#include "base/hash.h"

struct peer_table {
	uint32_t count, mask;
	struct peer *first, *last;
	struct peer *buckets[]; /* mask + 1 */
};

/* Pids and references that follow one another, which are often asked for in that order, share a cache line of buckets. */
static struct peer **find_bucket(struct peer_table *t, uint64_t key)
{
	uint64_t number = key ^ key >> 4;

	return &t->buckets[(hash_word(number >> 3) << 3 | (number & 7)) & t->mask];
}

static size_t table_bytes(uint32_t mask)
{
	return sizeof(struct peer_table) + (mask + (size_t)1) * sizeof(struct peer *);
}

struct peer *peer_find(const struct peers *t, uint64_t key)
{
	struct peer *n;

	if (t->table == NULL)
		return NULL;
	for (n = *find_bucket(t->table, key); n != NULL; n = n->chain)
		if (n->key == key)
			return n;
	return NULL;
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
	struct peer_table *t = mem_zalloc(table_bytes(mask));

	t->mask = mask;
	if (old == NULL)
		return t;
	t->count = old->count;
	t->first = old->first;
	t->last = old->last;
	for (struct peer *n = t->first; n != NULL; n = n->next)
		chain_up(t, n);
	mem_free(old);
	return t;
}

struct peer *peer_insert(struct peers *peers, uint64_t key, enum peer_kind kind)
{
	struct peer *n = mem_zalloc(sizeof(*n));
	struct peer_table *t = peers->table;

	n->key = key;
	n->kind = (uint8_t)kind;
	if (t == NULL || t->count >= 2 * (t->mask + 1))
		t = peers->table = grow(t);
	chain_up(t, n);
	n->before = t->last;
	*(t->last != NULL ? &t->last->next : &t->first) = n;
	t->last = n;
	t->count++;
	return n;
}

void peer_free(struct peer *n)
{
	fragment_free(n->tag_fragment);
	mem_free(n);
}

static void drop_table(struct peers *t)
{
	mem_free(t->table);
	t->table = NULL;
}

void peer_remove(struct peers *peers, struct peer *n)
{
	struct peer_table *t = peers->table;
	struct peer **at = find_bucket(t, n->key);

	while (*at != n)
		at = &(*at)->chain;
	*at = n->chain;
	*(n->before != NULL ? &n->before->next : &t->first) = n->next;
	*(n->next != NULL ? &n->next->before : &t->last) = n->before;
	peer_free(n);
	if (--t->count == 0)
		drop_table(peers);
}

/* Who waits for one 'DOWN' after the other, as they were set, finds each at the head of its queue. */
struct peer *peer_take_all(struct peers *t)
{
	struct peer *all = t->table != NULL ? t->table->first : NULL;

	drop_table(t);
	return all;
}

void peer_each(const struct peers *t, void (*visit)(const struct peer *n, void *arg), void *arg)
{
	if (t->table == NULL)
		return;
	for (const struct peer *n = t->table->first; n != NULL; n = n->next)
		visit(n, arg);
}

size_t peer_count(const struct peers *t)
{
	return t->table != NULL ? t->table->count : 0;
}

size_t peer_size_bytes(const struct peers *t)
{
	return t->table == NULL ? 0 : table_bytes(t->table->mask) + t->table->count * sizeof(struct peer);
}
