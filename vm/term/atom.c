/* SPDX-License-Identifier: Apache-2.0 */
/* The atom table: entries in fixed segments, so that readers need no lock; a chained hash table for look-ups, under the
 * lock.
 * Invariant: entry i is complete before `count` passes i. */
#include "term/atom.h"

#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/lock.h"
#include "base/log.h"
#include "layout.h"

enum { SEGMENT_BITS = 12, SEGMENT_SIZE = 1 << SEGMENT_BITS, SEGMENTS = ATOM_TABLE_MAX / SEGMENT_SIZE };

struct atom {
	uint32_t next;       /* chain: index + 1; 0 ends it */
	uint32_t hash;       /* OTP's hash of the name */
	uint16_t bytes;
	uint16_t latin1_bytes; /* NOT_LATIN1: the name has other characters */
	char *text;
	uint64_t first;      /* bytes of the name, the first one highest, zeros behind the last */
};

enum { NOT_LATIN1 = UINT16_MAX };

static struct {
	struct rwlock lock;
	atomic_uint count;
	uint32_t limit;
	atomic_size_t text_bytes; /* of all names, with their NULs */
	uint32_t *buckets;
	uint32_t bucket_mask;
	struct atom *segments[SEGMENTS];
} atoms;

/* What this thread looked up lately, by hash (index + 1): most names come again, and a look at the table writes the
 * lock's word. */
enum { RECENT = 512 };
static _Thread_local uint32_t recent[RECENT];

static struct atom *find_entry(uint32_t index)
{
	return &atoms.segments[index >> SEGMENT_BITS][index & (SEGMENT_SIZE - 1)];
}

/* Length in characters of valid UTF-8; -1 when it is not valid. */
static int count_chars(const unsigned char *s, size_t n)
{
	int chars = 0;

	for (size_t i = 0; i < n; chars++) {
		unsigned c = s[i];
		size_t more = c < 0x80                ? 0
			      : c >= 0xc2 && c < 0xe0 ? 1
			      : c >= 0xe0 && c < 0xf0 ? 2
			      : c >= 0xf0 && c < 0xf5 ? 3
						      : SIZE_MAX;

		if (more > n - i - 1) /* SIZE_MAX: no character begins with c */
			return -1;
		for (size_t k = 1; k <= more; k++)
			if ((s[i + k] & 0xc0) != 0x80)
				return -1;
		if ((c == 0xe0 && s[i + 1] < 0xa0) || (c == 0xed && s[i + 1] >= 0xa0) ||
		    (c == 0xf0 && s[i + 1] < 0x90) || (c == 0xf4 && s[i + 1] >= 0x90))
			return -1;
		i += more + 1;
	}
	return chars;
}

/* The hash of an atom's name that phash2 shows: the PJW hash (Aho, Sethi, Ullman, 1986, p. 436) over the
 * characters, where Latin-1 ones written in two UTF-8 bytes count as one. */
static uint32_t hash_name(const unsigned char *s, size_t n)
{
	uint32_t h = 0;

	for (size_t i = 0; i < n; i++) {
		uint32_t v = s[i], g;

		if (i + 1 < n && (v & 0xfe) == 0xc2 && (s[i + 1] & 0xc0) == 0x80) {
			v = (v << 6) | (s[++i] & 0x3f);
			v &= 0xff;
		}
		h = (h << 4) + v;
		g = h & 0xf0000000;
		if (g) {
			h ^= g >> 24;
			h ^= g;
		}
	}
	return h;
}

/* Of valid UTF-8. */
static uint16_t count_latin1(const unsigned char *s, size_t n)
{
	uint16_t count = 0;

	for (size_t i = 0; i < n; i++) {
		if (s[i] >= 0xc4)
			return NOT_LATIN1;
		count += (s[i] & 0xc0) != 0x80;
	}
	return count;
}

static uint64_t first_bytes(const char *text, size_t n)
{
	uint64_t first = 0;

	memcpy(&first, text, n < sizeof(first) ? n : sizeof(first));
	return __builtin_bswap64(first);
}

static uint32_t *find_bucket(uint64_t hash)
{
	return &atoms.buckets[hash & atoms.bucket_mask];
}

static bool has_name(const struct atom *a, const char *text, size_t n)
{
	return a->bytes == n && memcmp(a->text, text, n) == 0;
}

/* Under the lock, either way. */
static Term find_locked(uint64_t hash, const char *text, size_t n)
{
	for (uint32_t at = *find_bucket(hash); at != 0; at = find_entry(at - 1)->next)
		if (has_name(find_entry(at - 1), text, n))
			return term_from_atom(at - 1);
	return TERM_NONE;
}

static void grow_buckets(void)
{
	uint32_t count = atomic_load(&atoms.count);

	mem_free(atoms.buckets);
	atoms.bucket_mask = atoms.bucket_mask * 2 + 1;
	atoms.buckets = mem_zalloc((atoms.bucket_mask + 1) * sizeof(uint32_t));
	for (uint32_t i = 0; i < count; i++) {
		struct atom *a = find_entry(i);
		uint32_t *bucket = find_bucket(hash_bytes(a->text, a->bytes));

		a->next = *bucket;
		*bucket = i + 1;
	}
}

static Term insert_locked(uint64_t hash, const char *text, size_t n)
{
	uint32_t index = atomic_load(&atoms.count);
	uint32_t *bucket;
	struct atom *a;

	if (index >= atoms.limit)
		return TERM_NONE;
	if (index > atoms.bucket_mask)
		grow_buckets();
	if (atoms.segments[index >> SEGMENT_BITS] == NULL)
		atoms.segments[index >> SEGMENT_BITS] = mem_zalloc(SEGMENT_SIZE * sizeof(struct atom));
	a = find_entry(index);
	a->text = mem_alloc(n + 1);
	atomic_fetch_add_explicit(&atoms.text_bytes, n + 1, memory_order_relaxed);
	memcpy(a->text, text, n);
	a->text[n] = 0;
	a->bytes = (uint16_t)n;
	a->latin1_bytes = count_latin1((const unsigned char *)text, n);
	a->first = first_bytes(text, n);
	a->hash = hash_name((const unsigned char *)text, n);
	bucket = find_bucket(hash);
	a->next = *bucket;
	*bucket = index + 1;
	atomic_store_explicit(&atoms.count, index + 1, memory_order_release);
	return term_from_atom(index);
}

void atom_init(void)
{
	static const char *const texts[] = {
#define ATOM_TEXT(name, text) text,
#include "term/atoms.def"
	};

	rwlock_init(&atoms.lock, LOCK_atom_table);
	atoms.limit = ATOM_TABLE_LIMIT;
	atoms.bucket_mask = 8191;
	atoms.buckets = mem_zalloc((atoms.bucket_mask + 1) * sizeof(uint32_t));
	for (uint32_t i = 0; i < ATOM_STATIC_COUNT; i++)
		ENSURE(atom_from_text(texts[i]) == term_from_atom(i));
}

static Term find_existing(uint64_t hash, const char *text, size_t n)
{
	uint32_t *slot = &recent[hash % RECENT];
	Term t;

	if (*slot != 0 && has_name(find_entry(*slot - 1), text, n))
		return term_from_atom(*slot - 1);
	rwlock_read(&atoms.lock);
	t = find_locked(hash, text, n);
	rwlock_unread(&atoms.lock);
	if (t != TERM_NONE)
		*slot = atom_index(t) + 1;
	return t;
}

Term atom_existing_utf8(const char *text, size_t n)
{
	return n <= ATOM_MAX_BYTES ? find_existing(hash_bytes(text, n), text, n) : TERM_NONE;
}

Term atom_from_utf8(const char *text, size_t n, bool *full)
{
	uint64_t hash;
	int chars;
	Term t;

	if (full)
		*full = false;
	if (n > ATOM_MAX_BYTES)
		return TERM_NONE;
	hash = hash_bytes(text, n);
	t = find_existing(hash, text, n);
	if (t != TERM_NONE)
		return t;
	chars = count_chars((const unsigned char *)text, n);
	if (chars < 0 || chars > ATOM_MAX_CHARS)
		return TERM_NONE;
	rwlock_write(&atoms.lock);
	t = find_locked(hash, text, n);
	if (t == TERM_NONE)
		t = insert_locked(hash, text, n);
	rwlock_unwrite(&atoms.lock);
	if (full)
		*full = t == TERM_NONE;
	return t;
}

bool atom_is_ascii(const char *text, size_t n)
{
	uint64_t all = 0, word = 0;

	for (; n >= sizeof(word); text += sizeof(word), n -= sizeof(word)) {
		memcpy(&word, text, sizeof(word));
		all |= word;
	}
	for (; n > 0; n--)
		all |= (uint8_t)*text++;
	return (all & 0x8080808080808080) == 0;
}

Term atom_from_latin1(const char *text, size_t n, bool *full)
{
	char utf8[ATOM_MAX_CHARS * 2];
	size_t k = 0;

	if (n <= ATOM_MAX_CHARS && atom_is_ascii(text, n))
		return atom_from_utf8(text, n, full);
	if (full)
		*full = false;
	if (n > ATOM_MAX_CHARS)
		return TERM_NONE;
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c < 0x80) {
			utf8[k++] = (char)c;
		} else {
			utf8[k++] = (char)(0xc0 | (c >> 6));
			utf8[k++] = (char)(0x80 | (c & 0x3f));
		}
	}
	return atom_from_utf8(utf8, k, full);
}

Term atom_from_text(const char *text)
{
	Term t = atom_from_utf8(text, strlen(text), NULL);

	ENSURE(t != TERM_NONE);
	return t;
}

const char *atom_text(Term atom, size_t *n)
{
	struct atom *a = find_entry(atom_index(atom));

	if (n)
		*n = a->bytes;
	return a->text;
}

bool atom_latin1_size(Term atom, size_t *n)
{
	*n = find_entry(atom_index(atom))->latin1_bytes;
	return *n != NOT_LATIN1;
}

int atom_compare(Term a, Term b)
{
	const struct atom *x = find_entry(atom_index(a)), *y = find_entry(atom_index(b));
	int order;

	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	order = memcmp(x->text, y->text, x->bytes < y->bytes ? x->bytes : y->bytes);
	return order != 0 ? order : (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

uint32_t atom_hash(Term atom)
{
	return find_entry(atom_index(atom))->hash;
}

size_t atom_memory_bytes(void)
{
	return atomic_load_explicit(&atoms.text_bytes, memory_order_relaxed) +
	       atom_count() * (sizeof(struct atom) + sizeof(uint32_t));
}

void atom_set_limit(uint32_t limit)
{
	atoms.limit = limit < ATOM_TABLE_MAX ? limit : ATOM_TABLE_MAX;
}

uint32_t atom_limit(void)
{
	return atoms.limit;
}

uint32_t atom_count(void)
{
	return atomic_load_explicit(&atoms.count, memory_order_acquire);
}

/* For who reads our memory from outside. */
static const uint32_t layout_numbers[] = {
#define LAYOUT_ATOMS LAYOUT_NUMBER
#include "layout.def"
};
LAYOUT_PART(layout_atoms, atoms);
