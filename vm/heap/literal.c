/* SPDX-License-Identifier: Apache-2.0 */
/* Literal areas: runs of granules of one reserved range. A word of the bitmap `used` stands for a page. Pages that fall
 * empty are given back to the system, but for some that new areas are made of first: a page that was given back is
 * a page fault, and zeroed, when it is used again.
 * Invariant: a set bit in `used` is a granule of some area; areas that leave stand in `leaving` by address, and have
 * their bits in literal_leaving. */
#include "heap/literal.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/lock.h"
#include "base/range.h"
#include "heap/copy.h"
#include "heap/refbin.h"

enum { PAGE_BYTES = 4096, WORD_BITS = 64, BITMAP_WORDS = LITERAL_GRANULES / WORD_BITS };
enum {
	PAGES_KEPT = 4096,   /* at most: 16 MB */
	AREAS_AT_ONCE = 256, /* are freed before the lock is released for a moment */
};

_Static_assert(PAGE_BYTES == WORD_BITS * LITERAL_GRANULE_BYTES, "a word of the bitmap is a page");

uintptr_t literal_base;
uint64_t literal_leaving[BITMAP_WORDS];

static struct {
	struct lock lock;
	struct mem_range range;
	uint64_t used[BITMAP_WORDS];
	bool is_kept[BITMAP_WORDS]; /* the page is empty and was not given back */
	size_t kept;
	size_t next;         /* granule where the search starts */
	struct literal_area *released; /* not leaving yet */
	atomic_size_t released_words;
	const struct literal_area **leaving; /* changed while the world is stopped */
	size_t leaving_count;
} literals;

void literal_init(void)
{
	lock_init(&literals.lock, LOCK_literal);
	range_reserve(&literals.range, LITERAL_RANGE_BYTES, RANGE_WHOLE);
	literal_base = literals.range.base;
}

/* ---- granules */

static size_t area_granules(const struct literal_area *a)
{
	return ((uintptr_t)a->end - (uintptr_t)a + LITERAL_GRANULE_BYTES - 1) / LITERAL_GRANULE_BYTES;
}

static size_t area_first(const struct literal_area *a)
{
	return ((uintptr_t)a - literal_base) / LITERAL_GRANULE_BYTES;
}

/* First granule of a free run of n, at or after `from`; LITERAL_GRANULES when there is none. */
static size_t find_run(size_t from, size_t n)
{
	size_t run = 0;

	for (size_t i = from; i < LITERAL_GRANULES;) {
		size_t left = WORD_BITS - i % WORD_BITS;
		uint64_t bits = literals.used[i / WORD_BITS] >> i % WORD_BITS;
		size_t unused = bits != 0 ? (size_t)__builtin_ctzll(bits) : left;

		run += unused;
		i += unused;
		if (run >= n)
			return i - run;
		if (unused < left) {
			run = 0;
			bits = ~(bits >> unused);
			i += bits != 0 ? (size_t)__builtin_ctzll(bits) : left - unused;
		}
	}
	return LITERAL_GRANULES;
}

/* The bits of [first, end) that stand in the bitmap's word w. */
static uint64_t mask_in_word(size_t w, size_t first, size_t end)
{
	uint64_t mask = ~(uint64_t)0;

	if (first > w * WORD_BITS)
		mask <<= first % WORD_BITS;
	if (end < (w + 1) * WORD_BITS)
		mask &= ~(~(uint64_t)0 << end % WORD_BITS);
	return mask;
}

static void set_used(size_t first, size_t n)
{
	for (size_t w = first / WORD_BITS; w * WORD_BITS < first + n; w++) {
		literals.used[w] |= mask_in_word(w, first, first + n);
		literals.kept -= literals.is_kept[w];
		literals.is_kept[w] = false;
	}
}

/* Returns false when enough pages are kept: this one is to be given back. */
static bool keep(size_t w)
{
	if (literals.kept == PAGES_KEPT)
		return false;
	literals.is_kept[w] = true;
	literals.kept++;
	return true;
}

/* Pages, by their words in the bitmap: [start, end). */
struct pages {
	size_t start, end;
};

static void give_back(struct pages *empty)
{
	if (empty->start < empty->end)
		madvise((void *)(literal_base + empty->start * PAGE_BYTES), (empty->end - empty->start) * PAGE_BYTES,
			MADV_DONTNEED);
	*empty = (struct pages){ 0 };
}

/* Adds pages that fall empty, and are not kept, to *empty. Those in a row are given back at once: a call interrupts
 * every processor. */
static void clear_used(size_t first, size_t n, struct pages *empty)
{
	for (size_t w = first / WORD_BITS; w * WORD_BITS < first + n; w++) {
		literals.used[w] &= ~mask_in_word(w, first, first + n);
		if (literals.used[w] != 0 || keep(w))
			continue;
		if (w != empty->end)
			give_back(empty);
		if (empty->start == empty->end)
			empty->start = w;
		empty->end = w + 1;
	}
}

/* A free run, as find_run finds it, that can be written. */
static size_t commit_run(size_t from, size_t n)
{
	size_t first = find_run(from, n);

	return first != LITERAL_GRANULES && range_commit(&literals.range, (first + n) * LITERAL_GRANULE_BYTES) ?
		first : LITERAL_GRANULES;
}

static void *take_granules(size_t n)
{
	size_t first;

	lock_acquire(&literals.lock);
	first = commit_run(literals.next, n);
	if (first == LITERAL_GRANULES)
		first = commit_run(0, n);
	if (first != LITERAL_GRANULES) {
		set_used(first, n);
		literals.next = first + n;
	}
	lock_release(&literals.lock);
	return first != LITERAL_GRANULES ? (void *)(literal_base + first * LITERAL_GRANULE_BYTES) : NULL;
}

/* ---- areas */

struct literal_area *literal_new(size_t words)
{
	size_t bytes = sizeof(struct literal_area) + words * sizeof(Term);
	struct literal_area *a;

	if (words > LITERAL_RANGE_BYTES / sizeof(Term))
		return NULL;
	a = take_granules((bytes + LITERAL_GRANULE_BYTES - 1) / LITERAL_GRANULE_BYTES);
	if (a == NULL)
		return NULL;
	mem_show(a, bytes);
	a->next = NULL;
	a->off_heap = NULL;
	a->top = a->words;
	a->end = a->words + words;
	return a;
}

/* The world is stopped: nobody else writes the bits. */
static void mark_leaving(size_t first, size_t end)
{
	for (size_t w = first / WORD_BITS; w * WORD_BITS < end; w++)
		__atomic_store_n(&literal_leaving[w], literal_leaving[w] | mask_in_word(w, first, end),
				 __ATOMIC_RELAXED);
}

/* Collections look at the bits meanwhile. */
static void unmark_leaving(size_t first, size_t end)
{
	for (size_t w = first / WORD_BITS; w * WORD_BITS < end; w++) {
		uint64_t mask = mask_in_word(w, first, end);

		if (__atomic_load_n(&literal_leaving[w], __ATOMIC_RELAXED) & mask)
			__atomic_fetch_and(&literal_leaving[w], ~mask, __ATOMIC_RELAXED);
	}
}

/* Lock held. */
static void free_one(struct literal_area *a, struct pages *empty)
{
	size_t first = area_first(a), n = area_granules(a);

	unmark_leaving(first, first + n);
	mem_hide(a, n * LITERAL_GRANULE_BYTES);
	clear_used(first, n, empty);
}

/* Lock held. Returns the areas after these. */
static struct literal_area *free_some(struct literal_area *chain)
{
	struct literal_area *next;
	struct pages empty = { 0 };
	size_t first = area_first(chain), kept = literals.kept;

	for (int i = 0; chain != NULL && i < AREAS_AT_ONCE; i++) {
		next = chain->next;
		free_one(chain, &empty);
		chain = next;
	}
	give_back(&empty);
	if (literals.kept > kept) /* new areas are made of these pages first */
		literals.next = first;
	return chain;
}

/* Others wait for the lock only as long as a few areas take. */
void literal_free(struct literal_area *chain)
{
	for (struct literal_area *a = chain; a != NULL; a = a->next)
		off_heap_free(a->off_heap);
	lock_acquire(&literals.lock);
	while (chain != NULL) {
		chain = free_some(chain);
		lock_let_others(&literals.lock);
	}
	lock_release(&literals.lock);
}

Term literal_put(struct literal_area *a, Term t)
{
	ENSURE((size_t)(a->end - a->top) >= copy_flat_size_words(t));
	return copy_term_whole(t, &a->top, &a->off_heap);
}

/* ---- the end of areas */

static size_t count_words(const struct literal_area *a)
{
	size_t words = (size_t)(a->end - a->words);

	for (Term *object = a->off_heap; object != NULL; object = *off_heap_next(object))
		words += off_heap_size_words(object);
	return words;
}

void literal_release(struct literal_area *chain)
{
	struct literal_area *last = chain;
	size_t words = 0;

	if (chain == NULL)
		return;
	for (struct literal_area *a = chain; a != NULL; a = a->next) {
		words += count_words(a);
		last = a;
	}
	atomic_fetch_add(&literals.released_words, words);
	lock_acquire(&literals.lock);
	last->next = literals.released;
	literals.released = chain;
	lock_release(&literals.lock);
}

size_t literal_released_words(void)
{
	return atomic_load(&literals.released_words);
}

static int compare_areas(const void *a, const void *b)
{
	uintptr_t x = (uintptr_t)*(struct literal_area *const *)a, y = (uintptr_t)*(struct literal_area *const *)b;

	return x < y ? -1 : x > y;
}

void literal_prepare(struct literal_change *c)
{
	struct literal_area *chain;
	size_t n = 0;

	*c = (struct literal_change){ 0 };
	lock_acquire(&literals.lock);
	chain = literals.released;
	literals.released = NULL;
	lock_release(&literals.lock);
	for (const struct literal_area *a = chain; a != NULL; a = a->next)
		n++;
	if (n == 0)
		return;
	c->areas = mem_alloc(n * sizeof(*c->areas));
	c->ends = mem_alloc(n * sizeof(*c->ends));
	for (const struct literal_area *a = chain; a != NULL; a = a->next)
		c->areas[c->count++] = a;
	qsort(c->areas, n, sizeof(*c->areas), compare_areas);
	for (size_t i = 0; i < n; i++)
		c->ends[i] = area_first(c->areas[i]) + area_granules(c->areas[i]);
}

/* Bits and array change in one stop: who finds a bit looks its area up in the array at once. */
void literal_switch(struct literal_change *c)
{
	const struct literal_area **areas = literals.leaving;
	size_t count = literals.leaving_count;

	for (size_t i = 0; i < c->count; i++)
		mark_leaving(area_first(c->areas[i]), c->ends[i]);
	literals.leaving = c->areas;
	literals.leaving_count = c->count;
	c->areas = areas;
	c->count = count;
}

struct literal_area *literal_finish(struct literal_change *c)
{
	struct literal_area *chain = NULL;

	for (size_t i = c->count; i-- > 0;) {
		struct literal_area *a = (struct literal_area *)c->areas[i];

		atomic_fetch_sub(&literals.released_words, count_words(a));
		a->next = chain;
		chain = a;
	}
	mem_free(c->areas);
	mem_free(c->ends);
	return chain;
}

void literal_each_leaving(void (*see)(const struct literal_area *a, void *arg), void *arg)
{
	for (size_t i = 0; i < literals.leaving_count; i++)
		see(literals.leaving[i], arg);
	lock_acquire(&literals.lock);
	for (const struct literal_area *a = literals.released; a != NULL; a = a->next)
		see(a, arg);
	lock_release(&literals.lock);
}

size_t literal_leaving_count(void)
{
	return literals.leaving_count;
}

/* The last one that begins at p or before. */
size_t literal_leaving_index(const void *p)
{
	size_t low = 0, high = literals.leaving_count;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if ((const void *)literals.leaving[middle] <= p)
			low = middle;
		else
			high = middle;
	}
	return low;
}

const struct literal_area *literal_leaving_area(size_t index)
{
	return literals.leaving[index];
}
