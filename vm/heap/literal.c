/* SPDX-License-Identifier: Apache-2.0 */
/* Literal areas: runs of pages from one reserved range. Invariant: a set bit in `pages` is a page of some area. */
#include "heap/literal.h"

#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/lock.h"
#include "heap/copy.h"
#include "heap/refbin.h"

enum { PAGE_BYTES = 4096, PAGES = LITERAL_RANGE_BYTES / PAGE_BYTES };

uintptr_t literal_base;

static struct {
	struct lock lock;
	uint8_t used[PAGES];
	size_t next;         /* where the search starts */
} literals;

void literal_init(void)
{
	lock_init(&literals.lock, LOCK_literal);
	literal_base = (uintptr_t)mem_reserve(LITERAL_RANGE_BYTES, PROT_NONE);
}

/* First page of a free run of n, at or after `from`; PAGES when there is none. */
static size_t find_run(size_t from, size_t n)
{
	size_t run = 0;

	for (size_t i = from; i < PAGES; i++) {
		run = literals.used[i] ? 0 : run + 1;
		if (run == n)
			return i + 1 - n;
	}
	return PAGES;
}

static void *take_pages(size_t n)
{
	size_t first;
	void *at;

	lock_acquire(&literals.lock);
	first = find_run(literals.next, n);
	if (first == PAGES)
		first = find_run(0, n);
	if (first == PAGES) {
		lock_release(&literals.lock);
		return NULL;
	}
	memset(&literals.used[first], 1, n);
	literals.next = first + n;
	lock_release(&literals.lock);
	at = (void *)(literal_base + first * PAGE_BYTES);
	return mprotect(at, n * PAGE_BYTES, PROT_READ | PROT_WRITE) == 0 ? at : NULL;
}

struct literal_area *literal_new(size_t words)
{
	size_t bytes = sizeof(struct literal_area) + words * sizeof(Term);
	struct literal_area *a;

	if (words > LITERAL_RANGE_BYTES / sizeof(Term))
		return NULL;
	a = take_pages((bytes + PAGE_BYTES - 1) / PAGE_BYTES);
	if (a == NULL)
		return NULL;
	a->next = NULL;
	a->off_heap = NULL;
	a->top = a->words;
	a->end = a->words + words;
	return a;
}

void literal_free(struct literal_area *a)
{
	size_t bytes = (size_t)((uint8_t *)a->end - (uint8_t *)a);
	size_t n = (bytes + PAGE_BYTES - 1) / PAGE_BYTES;
	size_t first = ((uintptr_t)a - literal_base) / PAGE_BYTES;

	off_heap_free(a->off_heap);
	madvise(a, n * PAGE_BYTES, MADV_DONTNEED);
	mprotect(a, n * PAGE_BYTES, PROT_NONE);
	lock_acquire(&literals.lock);
	memset(&literals.used[first], 0, n);
	lock_release(&literals.lock);
}

Term literal_put(struct literal_area *a, Term t)
{
	ENSURE((size_t)(a->end - a->top) >= copy_flat_size_words(t));
	return copy_term_whole(t, &a->top, &a->off_heap);
}
