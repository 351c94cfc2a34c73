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

/* A pattern that is asked for. */
struct wanted {
	struct regex_options options;
	const void *source;
	size_t n;
	uint64_t hash;
};

static struct wanted want(const void *source, size_t n, const struct regex_options *o)
{
	return (struct wanted){ *o, source, n, hash_bytes(source, n) ^ hash_bytes(o, sizeof(*o)) };
}

static struct kept **slot_of(uint64_t hash, unsigned which)
{
	return &cache.slots[(which == 0 ? hash : hash >> 32) % SLOTS];
}

static bool is_wanted(const struct kept *k, const struct wanted *w)
{
	return k->regex.source_bytes == w->n && memcmp(&k->regex.options, &w->options, sizeof(w->options)) == 0 &&
	       memcmp(k->regex.source, w->source, w->n) == 0;
}

static struct kept *find(const struct wanted *w)
{
	struct kept *found = NULL;

	lock_acquire(&cache.lock);
	for (unsigned which = 0; which < 2 && found == NULL; which++) {
		struct kept *k = *slot_of(w->hash, which);

		if (k != NULL && is_wanted(k, w)) {
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

const struct regex *regex_obtain(const void *source, size_t n, const struct regex_options *o, int *error, size_t *offset)
{
	struct wanted w = want(source, n, o);
	struct kept *k = find(&w);

	if (k != NULL)
		return &k->regex;
	k = mem_alloc(sizeof(*k));
	if (!regex_compile(&k->regex, source, n, o, error, offset)) {
		mem_free(k);
		return NULL;
	}
	atomic_init(&k->refs, 2);
	keep(k, w.hash);
	return &k->regex;
}

const struct regex *regex_acquire(const uint8_t *image, size_t n)
{
	struct header h;
	size_t offset;
	int error;

	if (n < sizeof(h))
		return NULL;
	memcpy(&h, image, sizeof(h));
	if (memcmp(h.mark, mark, MARK_BYTES) != 0 || (h.options.flags & ~(uint32_t)REGEX_FLAGS) != 0)
		return NULL;
	return regex_obtain(image + sizeof(h), n - sizeof(h), &h.options, &error, &offset);
}

void regex_release(const struct regex *r)
{
	struct kept *k = (struct kept *)r;

	if (atomic_fetch_sub(&k->refs, 1) != 1)
		return;
	regex_free(&k->regex);
	mem_free(k);
}
