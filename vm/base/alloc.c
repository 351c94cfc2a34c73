/* SPDX-License-Identifier: Apache-2.0 */
/* The only door to malloc. Invariant: held_bytes is the sum of the usable sizes of what is out. */
#include "base/alloc.h"

#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/log.h"

/* Counted per thread and folded in now and then: a shared counter would be the most written word of the VM. */
enum { FOLD_BYTES = 1 << 16, PAGE_BYTES = 4096, MAPPED_BYTES = 32 << 20, KEPT_MAX_BYTES = 256 << 20 };
static struct {
	atomic_long held_bytes;
	bool shrinks_in_place;
	_Atomic(void *) kept;
} alloc;
static _Thread_local long unfolded_bytes;

static void count_bytes(long delta)
{
	unfolded_bytes += delta;
	if (unfolded_bytes > FOLD_BYTES || unfolded_bytes < -FOLD_BYTES) {
		atomic_fetch_add_explicit(&alloc.held_bytes, unfolded_bytes, memory_order_relaxed);
		unfolded_bytes = 0;
	}
}

/* Sanitizers, valgrind and other allocators put before glibc's move a block to shrink it. */
static bool try_shrinking(void)
{
	void *block = malloc(2048);
	uintptr_t before = (uintptr_t)block, after;

	block = realloc(block, 1024);
	after = (uintptr_t)block;
	free(block);
	return after == before;
}

void mem_init(void)
{
	mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES);
	mallopt(M_TRIM_THRESHOLD, 128 << 20);
	mallopt(M_TOP_PAD, 1 << 20);
	/* Freed blocks join their neighbours at once. Those that glibc sets aside are joined all together when somebody asks for more than
	 * a KB: after the end of a table of 2,000,000 objects that took 400 ms. */
	mallopt(M_MXFAST, 0);
	alloc.shrinks_in_place = try_shrinking();
}

static __attribute__((noreturn, cold)) void report_exhaustion(size_t bytes)
{
	char slogan[128];

	snprintf(slogan, sizeof(slogan), "out of memory: cannot allocate %zu bytes", bytes);
	log_line("erlvm: %s", slogan);
	if (log_crash_dump != NULL)
		log_crash_dump(slogan);
	abort();
}

/* ---- the kept block: the last that was mapped for itself. A large heap's collections would map, fill and unmap one each; this one's
 * pages are filled already, and moved without a copy when it must grow. While it is unused the kernel may take them back. */

static void *take_block(size_t bytes)
{
	void *ptr = NULL, *sized;

	if (unlikely(bytes >= MAPPED_BYTES))
		ptr = atomic_exchange(&alloc.kept, NULL);
	if (likely(ptr == NULL))
		return malloc(bytes ? bytes : 1);
	sized = realloc(ptr, bytes);
	if (sized == NULL)
		free(ptr);
	return sized;
}

static bool is_mapped(const void *ptr, size_t bytes)
{
	return bytes >= MAPPED_BYTES && (uintptr_t)ptr % PAGE_BYTES == 2 * sizeof(size_t);
}

static void give_block(void *ptr, size_t bytes)
{
	if (unlikely(is_mapped(ptr, bytes)) && bytes <= KEPT_MAX_BYTES && alloc.shrinks_in_place) {
		madvise((uint8_t *)ptr - 2 * sizeof(size_t) + PAGE_BYTES, (bytes - PAGE_BYTES) & -(size_t)PAGE_BYTES, MADV_FREE);
		ptr = atomic_exchange(&alloc.kept, ptr);
	}
	free(ptr);
}

void *mem_try_alloc(size_t bytes)
{
	void *ptr = take_block(bytes);

	if (likely(ptr != NULL))
		count_bytes((long)malloc_usable_size(ptr));
	return ptr;
}

void *mem_alloc(size_t bytes)
{
	void *ptr = mem_try_alloc(bytes);

	if (unlikely(ptr == NULL))
		report_exhaustion(bytes);
	return ptr;
}

void *mem_zalloc(size_t bytes)
{
	return memset(mem_alloc(bytes), 0, bytes);
}

void *mem_try_realloc(void *ptr, size_t bytes)
{
	long before = ptr ? (long)malloc_usable_size(ptr) : 0;

	ptr = realloc(ptr, bytes ? bytes : 1);
	if (likely(ptr != NULL))
		count_bytes((long)malloc_usable_size(ptr) - before);
	return ptr;
}

void *mem_realloc(void *ptr, size_t bytes)
{
	ptr = mem_try_realloc(ptr, bytes);
	if (unlikely(ptr == NULL))
		report_exhaustion(bytes);
	return ptr;
}

char *mem_strdup(const char *text)
{
	size_t n = strlen(text) + 1;

	return memcpy(mem_alloc(n), text, n);
}

bool mem_shrink_in_place(void *ptr, size_t bytes)
{
	long before = (long)malloc_usable_size(ptr);
	void *same;

	if (!alloc.shrinks_in_place)
		return false;
	same = realloc(ptr, bytes);
	ENSURE(same == ptr); /* glibc splits the block, or unmaps its tail */
	count_bytes((long)malloc_usable_size(same) - before);
	return true;
}

void mem_free(void *ptr)
{
	size_t bytes;

	if (ptr == NULL)
		return;
	bytes = malloc_usable_size(ptr);
	count_bytes(-(long)bytes);
	give_block(ptr, bytes);
}

void *mem_reserve(size_t bytes, int protection)
{
	void *range = mmap(NULL, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	char what[64];

	if (range != MAP_FAILED)
		return range;
	snprintf(what, sizeof(what), "reserve %zu MB of addresses", bytes >> 20);
	log_refused(what, errno);
}

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
void mem_hide(const void *at, size_t bytes) { __asan_poison_memory_region(at, bytes); }
void mem_show(const void *at, size_t bytes) { __asan_unpoison_memory_region(at, bytes); }
#else
void mem_hide(const void *at, size_t bytes) { (void)at; (void)bytes; }
void mem_show(const void *at, size_t bytes) { (void)at; (void)bytes; }
#endif

size_t mem_total_bytes(void)
{
	long held = atomic_load_explicit(&alloc.held_bytes, memory_order_relaxed) + unfolded_bytes;

	return held > 0 ? (size_t)held : 0;
}
