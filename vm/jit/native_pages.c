/* SPDX-License-Identifier: Apache-2.0 */
/* Pages for machine code. */
#include "jit/native_pages.h"

#include <sys/mman.h>

#include "base/lock.h"
#include "code/code_area.h"
#include "layout.h"

enum { PAGE_BYTES = 4096, PAGES = CODE_NATIVE_BYTES / PAGE_BYTES };

static struct {
	struct lock lock;
	uintptr_t base;
	size_t next;         /* where the search starts */
	bool used[PAGES];
	_Atomic(const struct native_code *) owners[PAGES];
} pages;

void native_pages_init(uintptr_t base)
{
	lock_init(&pages.lock, LOCK_native_pages);
	pages.base = base;
}

static size_t page_count(size_t bytes) { return (bytes + PAGE_BYTES - 1) / PAGE_BYTES; }

/* First page of a free run of n at or after `from`; PAGES when there is none. */
static size_t find_run(size_t from, size_t n)
{
	size_t run = 0;

	for (size_t i = from; i < PAGES; i++) {
		run = pages.used[i] ? 0 : run + 1;
		if (run == n)
			return i + 1 - n;
	}
	return PAGES;
}

static void mark(size_t first, size_t n, bool used, const struct native_code *owner)
{
	for (size_t i = first; i < first + n; i++) {
		pages.used[i] = used;
		atomic_store_explicit(&pages.owners[i], owner, memory_order_release);
	}
}

uint8_t *native_pages_take(const struct native_code *owner, size_t bytes)
{
	size_t n = page_count(bytes), first;
	uint8_t *at = NULL;

	if (n == 0 || n > PAGES)
		return NULL;
	lock_acquire(&pages.lock);
	first = find_run(pages.next, n);
	if (first == PAGES)
		first = find_run(0, n);
	if (first != PAGES) {
		mark(first, n, true, owner);
		pages.next = first + n;
		at = (uint8_t *)(pages.base + first * PAGE_BYTES);
	}
	lock_release(&pages.lock);
	if (at != NULL && mprotect(at, n * PAGE_BYTES, PROT_READ | PROT_WRITE) != 0) {
		native_pages_give(at, bytes);
		return NULL;
	}
	return at;
}

bool native_pages_seal(uint8_t *at, size_t bytes)
{
	return mprotect(at, page_count(bytes) * PAGE_BYTES, PROT_READ | PROT_EXEC) == 0;
}

void native_pages_give(uint8_t *at, size_t bytes)
{
	size_t n = page_count(bytes);

	/* Nothing leads there any more. What still does must fault. */
	if (mprotect(at, n * PAGE_BYTES, PROT_NONE) == 0)
		madvise(at, n * PAGE_BYTES, MADV_DONTNEED);
	code_area_note_given(); /* before anybody else can take them */
	lock_acquire(&pages.lock);
	mark(((uintptr_t)at - pages.base) / PAGE_BYTES, n, false, NULL);
	lock_release(&pages.lock);
}

/* For who reads our memory from outside. */
static const uint32_t layout_numbers[] = {
#define LAYOUT_NATIVE LAYOUT_NUMBER
#include "layout.def"
};
LAYOUT_PART(layout_native, pages);
