/* SPDX-License-Identifier: Apache-2.0 */
/* The table of resources that were written, by their numbers. */
#include "heap/resource_name.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "base/lock.h"

enum { BUCKETS_FIRST = 256 };

static struct {
	struct lock lock;
	struct resource **buckets; /* lists by next_named */
	size_t bucket_count;       /* a power of two */
	atomic_size_t count;
} names;

void resource_name_init(void)
{
	lock_init(&names.lock, LOCK_resource_names);
	names.bucket_count = BUCKETS_FIRST;
	names.buckets = mem_zalloc(BUCKETS_FIRST * sizeof(struct resource *));
}

static struct resource **bucket_of(uint64_t number)
{
	return &names.buckets[hash_word(number) & (names.bucket_count - 1)];
}

static void put(struct resource *r)
{
	struct resource **bucket = bucket_of(r->number);

	r->next_named = *bucket;
	*bucket = r;
}

static void grow(void)
{
	struct resource **old = names.buckets;
	size_t old_count = names.bucket_count;

	names.bucket_count *= 2;
	names.buckets = mem_zalloc(names.bucket_count * sizeof(struct resource *));
	for (size_t i = 0; i < old_count; i++)
		for (struct resource *r = old[i], *next; r != NULL; r = next) {
			next = r->next_named;
			put(r);
		}
	mem_free(old);
}

void resource_name_publish(struct resource *r)
{
	if (atomic_load_explicit(&r->is_named, memory_order_relaxed))
		return;
	lock_acquire(&names.lock);
	if (!atomic_load_explicit(&r->is_named, memory_order_relaxed)) {
		if (atomic_fetch_add(&names.count, 1) >= names.bucket_count)
			grow();
		put(r);
		atomic_store_explicit(&r->is_named, true, memory_order_relaxed);
	}
	lock_release(&names.lock);
}

void resource_name_drop(struct resource *r)
{
	lock_acquire(&names.lock);
	for (struct resource **at = bucket_of(r->number); *at != NULL; at = &(*at)->next_named)
		if (*at == r) {
			*at = r->next_named;
			atomic_fetch_sub(&names.count, 1);
			break;
		}
	lock_release(&names.lock);
}

struct resource *resource_name_find(uint64_t number)
{
	struct resource *r;

	if (atomic_load(&names.count) == 0)
		return NULL;
	lock_acquire(&names.lock);
	for (r = *bucket_of(number); r != NULL && r->number != number; r = r->next_named)
		;
	if (r != NULL && !resource_ref_living(r))
		r = NULL;
	lock_release(&names.lock);
	return r;
}
