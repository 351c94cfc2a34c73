/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of code. A page is free when it has no owner. */
#include "code/code_area.h"

#include <errno.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/lock.h"
#include "base/log.h"
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
	bool wants_native;
	uintptr_t native;    /* where machine code may stand; 0: nowhere */
	_Atomic(struct code_instance *) owners[PAGES];
} area;

void code_area_want_native(void) { area.wants_native = true; }

uintptr_t code_area_native(void) { return area.native; }

/* All of it in one piece, so that its parts reach each other. */
static bool reserve_native(void)
{
	size_t bytes = CODE_NATIVE_BYTES + 3 * CODE_RANGE_BYTES;
	struct mem_range whole;

	range_reserve(&whole, bytes, RANGE_LIMITED);
	if (whole.bytes < bytes) {
		munmap((void *)whole.base, whole.bytes);
		return false;
	}
	area.range.base = (whole.base + CODE_NATIVE_BYTES + CODE_RANGE_BYTES - 1) & -CODE_RANGE_BYTES;
	area.range.bytes = CODE_RANGE_BYTES;
	area.native = area.range.base - CODE_NATIVE_BYTES;
	return true;
}

static size_t page_count(size_t words)
{
	return (words * sizeof(Inst) + PAGE_BYTES - 1) / PAGE_BYTES;
}

/* First page of a free run of n at or after `from`; PAGES when there is none. */
static size_t find_run(size_t from, size_t n)
{
	size_t run = 0;

	for (size_t i = from; i < area.range.bytes / PAGE_BYTES - 1; i++) {
		run = atomic_load_explicit(&area.owners[i], memory_order_relaxed) != NULL ? 0 : run + 1;
		if (run == n)
			return i + 1 - n;
	}
	return PAGES;
}

/* The same, and it can be written; and the addresses of its machine code. */
static size_t commit_run(size_t from, size_t n)
{
	size_t first = find_run(from, n), had = area.range.committed;

	if (first == PAGES || !range_commit(&area.range, (first + n) * PAGE_BYTES))
		return PAGES;
	if (area.native != 0 && area.range.committed > had &&
	    mprotect(code_native_at((const Inst *)(area.base + had)), area.range.committed - had,
		     PROT_READ | PROT_WRITE) != 0)
		return PAGES;
	return first;
}

static bool open_page(void *page) { return mprotect(page, PAGE_BYTES, PROT_READ | PROT_WRITE) == 0; }

void code_area_init(void)
{
	if (!area.wants_native || !reserve_native())
		range_reserve(&area.range, CODE_RANGE_BYTES, RANGE_LIMITED);
	area.base = area.range.base;
	lock_init(&area.lock, LOCK_code_area);
	if (!open_page(code_area_last()) || (area.native != 0 && !open_page(code_native_at(code_area_last()))))
		log_refused("use memory for code", errno);
}

Inst *code_area_last(void) { return (Inst *)(area.base + area.range.bytes - PAGE_BYTES); }

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
	code_area_note_given();
	lock_release(&area.lock);
}

void code_area_note_given(void) { atomic_fetch_add_explicit(&area.given, 1, memory_order_release); }

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
