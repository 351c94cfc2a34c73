/* SPDX-License-Identifier: Apache-2.0 */
/* A pattern has two slots where it may be kept; a new one takes an empty slot, or throws out what stands in its first. */
#include "data/regex_cache.h"

#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/lock.h"

enum { SLOTS = 512, MARK_BYTES = 8 };
static const char mark[MARK_BYTES] = "erlvmre1";

struct header {
	char mark[MARK_BYTES];
	struct regex_options options;
};

struct kept {
	struct regex regex; /* first */
	atomic_uint refs;
};

static struct {
	struct lock lock;
	struct kept *slots[SLOTS];
} cache;

void regex_cache_init(void)
{
	lock_init(&cache.lock, LOCK_regex);
}

size_t regex_image_bytes(const struct regex *r)
{
	return sizeof(struct header) + r->source_bytes;
}

void regex_image_put(const struct regex *r, uint8_t *to)
{
	struct header h = { .options = r->options };

	memcpy(h.mark, mark, MARK_BYTES);
	memcpy(to, &h, sizeof(h));
	memcpy(to + sizeof(h), r->source, r->source_bytes);
}

/* What an image says. */
struct image {
	struct regex_options options;
	const uint8_t *source;
	size_t n;
	uint64_t hash;
};

static bool read_image(struct image *i, const uint8_t *bytes, size_t n)
{
	struct header h;

	if (n < sizeof(h))
		return false;
	memcpy(&h, bytes, sizeof(h));
	if (memcmp(h.mark, mark, MARK_BYTES) != 0 || (h.options.flags & ~(uint32_t)REGEX_FLAGS) != 0)
		return false;
	*i = (struct image){ h.options, bytes + sizeof(h), n - sizeof(h), hash_bytes(bytes, n) };
	return true;
}

static struct kept **slot_of(uint64_t hash, unsigned which)
{
	return &cache.slots[(which == 0 ? hash : hash >> 32) % SLOTS];
}

static bool is_image_of(const struct kept *k, const struct image *i)
{
	return k->regex.source_bytes == i->n && memcmp(&k->regex.options, &i->options, sizeof(i->options)) == 0 &&
	       memcmp(k->regex.source, i->source, i->n) == 0;
}

static struct kept *find(const struct image *i)
{
	struct kept *found = NULL;

	lock_acquire(&cache.lock);
	for (unsigned which = 0; which < 2 && found == NULL; which++) {
		struct kept *k = *slot_of(i->hash, which);

		if (k != NULL && is_image_of(k, i)) {
			atomic_fetch_add(&k->refs, 1);
			found = k;
		}
	}
	lock_release(&cache.lock);
	return found;
}

/* One share for the slot. */
static void keep(struct kept *k, uint64_t hash)
{
	struct kept **slot, *old;

	lock_acquire(&cache.lock);
	slot = slot_of(hash, 0);
	if (*slot != NULL && *slot_of(hash, 1) == NULL)
		slot = slot_of(hash, 1);
	old = *slot;
	*slot = k;
	lock_release(&cache.lock);
	if (old != NULL)
		regex_release(&old->regex);
}

const struct regex *regex_acquire(const uint8_t *bytes, size_t n)
{
	struct image i;
	struct kept *k;
	size_t offset;
	int error;

	if (!read_image(&i, bytes, n))
		return NULL;
	k = find(&i);
	if (k != NULL)
		return &k->regex;
	k = mem_alloc(sizeof(*k));
	if (!regex_compile(&k->regex, i.source, i.n, &i.options, &error, &offset)) {
		mem_free(k);
		return NULL;
	}
	atomic_init(&k->refs, 2);
	keep(k, i.hash);
	return &k->regex;
}

void regex_release(const struct regex *r)
{
	struct kept *k = (struct kept *)r;

	if (atomic_fetch_sub(&k->refs, 1) != 1)
		return;
	regex_free(&k->regex);
	mem_free(k);
}
