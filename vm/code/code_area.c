/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of code. A page is free when it has no owner. */
#include "code/code_area.h"

#include <sys/mman.h>

#include "base/alloc.h"
#include "base/lock.h"
#include "base/range.h"
#include "code/module.h"
#include "code/opcodes.h"
#include "layout.h"

enum { PAGE_BYTES = 4096, PAGES = CODE_RANGE_BYTES / PAGE_BYTES };

static struct {
	uintptr_t base;      /* of the range */
	struct mem_range range;
	struct lock lock;
	size_t next;         /* where the search starts */
	atomic_uint_fast64_t given;
	_Atomic(struct code_instance *) owners[PAGES];
} area;

void code_area_init(void)
{
	range_reserve(&area.range, CODE_RANGE_BYTES, RANGE_LIMITED);
	area.base = area.range.base;
	lock_init(&area.lock, LOCK_code_area);
}

static size_t page_count(size_t words)
{
	return (words * sizeof(Inst) + PAGE_BYTES - 1) / PAGE_BYTES;
}

/* First page of a free run of n at or after `from`; PAGES when there is none. */
static size_t find_run(size_t from, size_t n)
{
	size_t run = 0;

	for (size_t i = from; i < area.range.bytes / PAGE_BYTES; i++) {
		run = atomic_load_explicit(&area.owners[i], memory_order_relaxed) != NULL ? 0 : run + 1;
		if (run == n)
			return i + 1 - n;
	}
	return PAGES;
}

/* The same, and it can be written. */
static size_t commit_run(size_t from, size_t n)
{
	size_t first = find_run(from, n);

	return first != PAGES && range_commit(&area.range, (first + n) * PAGE_BYTES) ? first : PAGES;
}

Inst *code_area_take(struct code_instance *owner, size_t words)
{
	size_t n = page_count(words), first;

	if (words == 0 || words > CODE_RANGE_BYTES / sizeof(Inst))
		return NULL;
	lock_acquire(&area.lock);
	owner->taken = code_area_given();
	first = commit_run(area.next, n);
	if (first == PAGES)
		first = commit_run(0, n);
	for (size_t i = 0; first != PAGES && i < n; i++)
		atomic_store_explicit(&area.owners[first + i], owner, memory_order_release);
	if (first != PAGES)
		area.next = first + n;
	lock_release(&area.lock);
	return first != PAGES ? (Inst *)(area.base + first * PAGE_BYTES) : NULL;
}

void code_area_give(Inst *at, size_t words)
{
	size_t first = ((uintptr_t)at - area.base) / PAGE_BYTES, n = page_count(words);

	madvise(at, n * PAGE_BYTES, MADV_DONTNEED);
	lock_acquire(&area.lock);
	for (size_t i = 0; i < n; i++)
		atomic_store_explicit(&area.owners[first + i], NULL, memory_order_release);
	atomic_fetch_add_explicit(&area.given, 1, memory_order_release);
	lock_release(&area.lock);
}

const atomic_uint_fast64_t *code_area_given_count(void) { return &area.given; }

uint64_t code_area_given(void) { return atomic_load_explicit(&area.given, memory_order_acquire); }

struct code_instance *code_area_owner(const Inst *pc)
{
	uintptr_t offset = (uintptr_t)pc - area.base;

	if (offset >= CODE_RANGE_BYTES)
		return NULL;
	return atomic_load_explicit(&area.owners[offset / PAGE_BYTES], memory_order_acquire);
}

/* For who reads our memory from outside. */
static const uint32_t layout_numbers[] = {
#define LAYOUT_CODE LAYOUT_NUMBER
#include "layout.def"
};
LAYOUT_PART(layout_code, area);
