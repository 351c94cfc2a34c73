/* SPDX-License-Identifier: Apache-2.0 */
/* Chained hash tables of links, monitors and aliases. Invariant: count <= 2 * (mask + 1) after an insert. */
#include "proc/peer.h"

#include "base/alloc.h"
#include "base/hash.h"

struct peer *peer_find(const struct peers *t, uint64_t key)
{
	struct peer *n;

	if (t->buckets == NULL)
		return NULL;
	for (n = t->buckets[hash_word(key) & t->mask]; n != NULL; n = n->next)
		if (n->key == key)
			return n;
	return NULL;
}

static void link_node(struct peers *t, struct peer *n)
{
	struct peer **bucket = &t->buckets[hash_word(n->key) & t->mask];

	n->next = *bucket;
	*bucket = n;
}

static void grow(struct peers *t)
{
	struct peer **old = t->buckets;
	uint32_t old_room = old != NULL ? t->mask + 1 : 0;
	uint32_t room = old_room != 0 ? old_room * 4 : 1;

	t->buckets = mem_zalloc(room * sizeof(*t->buckets));
	t->mask = room - 1;
	for (uint32_t i = 0; i < old_room; i++) {
		for (struct peer *n = old[i], *next; n != NULL; n = next) {
			next = n->next;
			link_node(t, n);
		}
	}
	mem_free(old);
}

struct peer *peer_insert(struct peers *t, uint64_t key, enum peer_kind kind)
{
	struct peer *n = mem_zalloc(sizeof(*n));

	n->key = key;
	n->kind = (uint8_t)kind;
	if (t->buckets == NULL || t->count >= 2 * (t->mask + 1))
		grow(t);
	link_node(t, n);
	t->count++;
	return n;
}

void peer_free(struct peer *n)
{
	fragment_free(n->tag_fragment);
	mem_free(n);
}

static void drop_buckets(struct peers *t)
{
	mem_free(t->buckets);
	*t = (struct peers){ 0 };
}

void peer_remove(struct peers *t, struct peer *n)
{
	struct peer **at = &t->buckets[hash_word(n->key) & t->mask];

	while (*at != n)
		at = &(*at)->next;
	*at = n->next;
	peer_free(n);
	if (--t->count == 0)
		drop_buckets(t);
}

static struct peer *merge(struct peer *a, struct peer *b)
{
	struct peer *first = NULL, **last = &first;

	while (a != NULL && b != NULL) {
		struct peer **least = a->key <= b->key ? &a : &b;

		*last = *least;
		last = &(*least)->next;
		*least = *last;
	}
	*last = a != NULL ? a : b;
	return first;
}

/* Merge sort by key; runs[i] holds 2^i nodes or none. */
static struct peer *sort(struct peer *list)
{
	struct peer *runs[33] = { NULL }, *sorted = NULL;

	while (list != NULL) {
		struct peer *run = list;
		int i = 0;

		list = list->next;
		run->next = NULL;
		for (; runs[i] != NULL; i++) {
			run = merge(runs[i], run);
			runs[i] = NULL;
		}
		runs[i] = run;
	}
	for (int i = 0; i < 33; i++)
		sorted = merge(runs[i], sorted);
	return sorted;
}

/* In the order of keys: who waits for one 'DOWN' after the other, as they were set, finds each at the head of its queue. */
struct peer *peer_take_all(struct peers *t)
{
	struct peer *all = NULL;

	if (t->buckets == NULL)
		return NULL;
	for (uint32_t i = 0; i <= t->mask; i++) {
		for (struct peer *n = t->buckets[i], *next; n != NULL; n = next) {
			next = n->next;
			n->next = all;
			all = n;
		}
	}
	drop_buckets(t);
	return all != NULL && all->next != NULL ? sort(all) : all;
}

void peer_each(const struct peers *t, void (*visit)(const struct peer *n, void *arg), void *arg)
{
	if (t->buckets == NULL)
		return;
	for (uint32_t i = 0; i <= t->mask; i++)
		for (const struct peer *n = t->buckets[i]; n != NULL; n = n->next)
			visit(n, arg);
}
