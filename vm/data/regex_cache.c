/* SPDX-License-Identifier: Apache-2.0 */
/* A pattern has two slots where it may be kept; a new one takes an empty slot, or throws out what stands in its
 * first. */
#include "data/regex_cache.h"

#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/lock.h"

enum { SLOTS = 512, MARK_BYTES = 8 };
static const char mark[MARK_BYTES] = { 'e', 'r', 'l', 'v', 'm', 'r', 'e', '1' };

struct header {
	char mark[MARK_BYTES];
	struct regex_options options;
};

struct kept {
	struct regex regex; /* first */
	atomic_uint refs;
	char source[];       /* the regex's */
};

struct slot {
	uint64_t hash;
	struct kept *kept;   /* or NULL */
};

static struct {
	struct lock lock;
	struct slot slots[SLOTS]; /* lock */
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

static struct slot *slot_of(uint64_t hash, unsigned which)
{
	return &cache.slots[(which == 0 ? hash : hash >> 32) % SLOTS];
}

static bool is_wanted(const struct slot *s, const struct wanted *w)
{
	const struct kept *k = s->kept;

	return s->hash == w->hash && k != NULL && k->regex.source_bytes == w->n &&
	memcmp(&k->regex.options, &w->options, sizeof(w->options)) == 0 &&
	       memcmp(k->regex.source, w->source, w->n) == 0;
}

/* Lock held. Owns: the caller, a share. */
static struct kept *find_locked(const struct wanted *w)
{
	for (unsigned which = 0; which < 2; which++) {
		const struct slot *s = slot_of(w->hash, which);

		if (is_wanted(s, w)) {
			atomic_fetch_add(&s->kept->refs, 1);
			return s->kept;
		}
	}
	return NULL;
}

static struct kept *find(const struct wanted *w)
{
	struct kept *found;

	lock_acquire(&cache.lock);
	found = find_locked(w);
	lock_release(&cache.lock);
	return found;
}

/* Lock held. k gets a slot, with one of its shares. Returns what stood there before, or NULL. */
static struct kept *take_slot(struct kept *k, uint64_t hash)
{
	struct slot *slot = slot_of(hash, 0);
	struct kept *before;

	if (slot->kept != NULL && slot_of(hash, 1)->kept == NULL)
		slot = slot_of(hash, 1);
	before = slot->kept;
	*slot = (struct slot){ hash, k };
	return before;
}

/* Takes: k, with a share for the slot and one for the caller. Returns what the caller gets: k, or what another thread
 * has kept for w since the caller looked. */
static struct kept *keep(struct kept *k, const struct wanted *w)
{
	struct kept *other, *leaves;

	lock_acquire(&cache.lock);
	other = find_locked(w);
	leaves = other != NULL ? k : take_slot(k, w->hash);
	lock_release(&cache.lock);
	if (other != NULL)
		atomic_store(&k->refs, 1);
	if (leaves != NULL)
		regex_release(&leaves->regex);
	return other != NULL ? other : k;
}

const struct regex *regex_obtain(const void *source, size_t n, const struct regex_options *o, int *error,
				 size_t *offset)
{
	struct wanted w = want(source, n, o);
	struct kept *k = find(&w);

	if (k != NULL)
		return &k->regex;
	k = mem_alloc(sizeof(*k) + n);
	memcpy(k->source, source, n);
	if (!regex_compile(&k->regex, k->source, n, o, error, offset)) {
		mem_free(k);
		return NULL;
	}
	atomic_init(&k->refs, 2);
	return &keep(k, &w)->regex;
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

const struct regex *regex_share(const struct regex *r)
{
	atomic_fetch_add(&((struct kept *)r)->refs, 1);
	return r;
}

void regex_release(const struct regex *r)
{
	struct kept *k = (struct kept *)r;

	if (atomic_fetch_sub(&k->refs, 1) != 1)
		return;
	regex_free(&k->regex);
	mem_free(k);
}
