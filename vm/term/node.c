/* SPDX-License-Identifier: Apache-2.0 */
/* The table of nodes: chained, and as large as what is in it. Foreign bytes choose what is in it, so its hash has a
 * secret.
 * Invariant: count is between a quarter of the buckets and twice as many, unless there are BUCKETS_LEAST. */
#include "term/node.h"

#include <stdio.h>
#include <sys/random.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/lock.h"
#include "term/atom.h"

enum { BUCKETS_LEAST = 64 };

/* The name's index in the table of atoms, and the creation below it, so that both change at once. */
_Atomic uint64_t node_own = (uint64_t)(am_nonode_nohost >> 6) << 32;

/* What who looks at this memory from outside calls the node: stock emulators export the same object. UTF-8. Source:
 * erl_node_tables.c. */
char erts_this_node_sysname_BUFFER[ATOM_MAX_BYTES + 1] = "nonode@nohost";

static struct {
	struct rwlock lock;
	uint64_t secrets[2];
	struct node **buckets;
	size_t mask;
	size_t count;
} nodes;

void node_init(void)
{
	rwlock_init(&nodes.lock, LOCK_node_table);
	/* Without a source of random numbers yet, the table is only easier to attack. */
	if (getrandom(nodes.secrets, sizeof(nodes.secrets), GRND_NONBLOCK) < 0)
		nodes.secrets[0] = (uintptr_t)&nodes;
	nodes.mask = BUCKETS_LEAST - 1;
	nodes.buckets = mem_zalloc(BUCKETS_LEAST * sizeof(struct node *));
}

uint64_t node_secret(void) { return nodes.secrets[1]; }

void node_set_self(struct node_name name)
{
	size_t n;
	const char *text = atom_text(name.name, &n);

	snprintf(erts_this_node_sysname_BUFFER, sizeof(erts_this_node_sysname_BUFFER), "%.*s", (int)n, text);
	atomic_store(&node_own, (uint64_t)atom_index(name.name) << 32 | name.creation);
}

bool node_is_self(struct node_name node)
{
	struct node_name self = node_self();

	return node.name == self.name && (node.creation == self.creation || node.creation == 0);
}

static struct node **find_bucket(struct node_name name)
{
	uint64_t word = (uint64_t)atom_index(name.name) << 32 | name.creation;

	return &nodes.buckets[hash_word(hash_word(word ^ nodes.secrets[0]) ^ nodes.secrets[1]) & nodes.mask];
}

static struct node *find(struct node_name name)
{
	struct node *n = *find_bucket(name);

	while (n != NULL && (n->name.name != name.name || n->name.creation != name.creation))
		n = n->next;
	return n;
}

static void chain_up(struct node *n)
{
	struct node **bucket = find_bucket(n->name);

	n->next = *bucket;
	*bucket = n;
}

static void resize(size_t buckets)
{
	struct node **old = nodes.buckets;
	size_t old_buckets = nodes.mask + 1;

	nodes.mask = buckets - 1;
	nodes.buckets = mem_zalloc(buckets * sizeof(struct node *));
	for (size_t i = 0; i < old_buckets; i++) {
		for (struct node *n = old[i], *next; n != NULL; n = next) {
			next = n->next;
			chain_up(n);
		}
	}
	mem_free(old);
}

static struct node *insert(struct node_name name)
{
	struct node *n = mem_alloc(sizeof(*n));

	if (nodes.count >= 2 * (nodes.mask + 1))
		resize((nodes.mask + 1) * 4);
	n->name = name;
	atomic_init(&n->refs, 1);
	chain_up(n);
	nodes.count++;
	return n;
}

static void remove_entry(struct node *n)
{
	struct node **at = find_bucket(n->name);

	while (*at != n)
		at = &(*at)->next;
	*at = n->next;
	mem_free(n);
	nodes.count--;
	if (nodes.mask + 1 > BUCKETS_LEAST && nodes.count < (nodes.mask + 1) / 4)
		resize((nodes.mask + 1) / 2);
}

struct node *node_get(struct node_name name)
{
	struct node *n;

	rwlock_read(&nodes.lock);
	n = find(name);
	if (n != NULL)
		node_ref(n);
	rwlock_unread(&nodes.lock);
	if (n != NULL)
		return n;
	rwlock_write(&nodes.lock);
	n = find(name);
	if (n != NULL)
		node_ref(n);
	else
		n = insert(name);
	rwlock_unwrite(&nodes.lock);
	return n;
}

void node_ref(struct node *n)
{
	atomic_fetch_add_explicit(&n->refs, 1, memory_order_relaxed);
}

/* Who looks a node up counts it under the lock, so the last reference goes under it too. */
void node_unref(struct node *n)
{
	size_t refs = atomic_load_explicit(&n->refs, memory_order_relaxed);

	while (refs > 1)
		if (atomic_compare_exchange_weak_explicit(&n->refs, &refs, refs - 1, memory_order_release,
							  memory_order_relaxed))
			return;
	rwlock_write(&nodes.lock);
	if (atomic_fetch_sub_explicit(&n->refs, 1, memory_order_acq_rel) == 1)
		remove_entry(n);
	rwlock_unwrite(&nodes.lock);
}

size_t node_count(void)
{
	size_t count;

	rwlock_read(&nodes.lock);
	count = nodes.count;
	rwlock_unread(&nodes.lock);
	return count;
}

void node_each(void (*see)(const struct node *n, void *arg), void *arg)
{
	rwlock_read(&nodes.lock);
	for (size_t i = 0; i <= nodes.mask; i++)
		for (const struct node *n = nodes.buckets[i]; n != NULL; n = n->next)
			see(n, arg);
	rwlock_unread(&nodes.lock);
}
