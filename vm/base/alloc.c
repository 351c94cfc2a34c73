/* SPDX-License-Identifier: Apache-2.0 */
/* The door to malloc, beside arena.c, which only gives back what is free. Invariant: the counters of a kind, of all
 * threads, add up to the usable sizes of what is out of it. */
#include "base/alloc.h"

#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/variant.h"
#include "layout.h"

enum { PAGE_BYTES = 4096, MAPPED_BYTES = 32 << 20, KEPT_MAX_BYTES = 256 << 20, KEPT_END_BYTES = 128 << 20 };
enum { COUNTED_THREADS = 1 << 10, KIND_MARK = 0xa4, MARK_BYTES = VARIANT_DEBUG };

/* What one thread took, less what it gave back: below zero where it frees what others took. A cache line each, written
 * by its thread alone, read by whoever asks: a shared counter would be the most written word of the VM. */
struct thread_bytes {
	_Alignas(64) atomic_long of[MEM_KINDS];
	atomic_long blocks[MEM_KINDS];
};

static struct {
	bool shrinks_in_place;
	_Atomic(void *) kept;
	atomic_size_t mapped_bytes; /* by mem_map_as, with pages */
	atomic_size_t thread_count; /* that ever counted; what an ended thread counted stays */
	struct thread_bytes shared; /* of the threads after the first COUNTED_THREADS */
	struct thread_bytes threads[COUNTED_THREADS];
} alloc;
static _Thread_local struct thread_bytes *own_bytes; /* NULL: the shared ones, or not known yet */

static __attribute__((noinline, cold)) void count_first(enum mem_kind kind, long delta, long blocks)
{
	static _Thread_local bool is_shared;
	size_t i = is_shared ? COUNTED_THREADS
			     : atomic_fetch_add_explicit(&alloc.thread_count, 1, memory_order_relaxed);

	if (i < COUNTED_THREADS) {
		own_bytes = &alloc.threads[i];
		arena_mark_own();
	} else {
		is_shared = true;
	}
	atomic_fetch_add_explicit(&(is_shared ? &alloc.shared : own_bytes)->of[kind], delta, memory_order_relaxed);
	atomic_fetch_add_explicit(&(is_shared ? &alloc.shared : own_bytes)->blocks[kind], blocks, memory_order_relaxed);
}

/* The owner's: nobody else writes there. */
static inline void add_own(atomic_long *to, long delta)
{
	atomic_store_explicit(to, atomic_load_explicit(to, memory_order_relaxed) + delta, memory_order_relaxed);
}

static inline void count_bytes(enum mem_kind kind, long delta, long blocks)
{
	struct thread_bytes *own = own_bytes;

	if (unlikely(own == NULL)) {
		count_first(kind, delta, blocks);
		return;
	}
	add_own(&own->of[kind], delta);
	add_own(&own->blocks[kind], blocks);
}

/* Debug builds: the last byte of a block that can be used says its kind. */
static inline void mark_kind(void *ptr, size_t usable, enum mem_kind kind)
{
	if (VARIANT_DEBUG)
		((uint8_t *)ptr)[usable - 1] = (uint8_t)(KIND_MARK + kind);
}

static inline void check_kind(const void *ptr, size_t usable, enum mem_kind kind)
{
	if (VARIANT_DEBUG)
		ENSURE(((const uint8_t *)ptr)[usable - 1] == KIND_MARK + kind);
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

/* Each arena takes 64 MB of addresses: where those are limited (`ulimit -v`), all threads share few. */
static void limit_arenas(void)
{
	enum { ARENA_BYTES = 64 << 20, SHARE = 16 };
	struct rlimit limit;

	if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur / SHARE / ARENA_BYTES < INT_MAX)
		mallopt(M_ARENA_MAX, 1 + (int)(limit.rlim_cur / SHARE / ARENA_BYTES));
}

void mem_init(void)
{
	mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES);
	mallopt(M_TRIM_THRESHOLD, KEPT_END_BYTES);
	mallopt(M_TOP_PAD, 1 << 20);
	/* Freed blocks join their neighbours at once. Those that glibc sets aside are joined all together when somebody
	 * asks for more than a KB: after the end of a table of 2,000,000 objects that took 400 ms. */
	mallopt(M_MXFAST, 0);
	limit_arenas();
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

/* ---- the kept block: the last that was mapped for itself. A large heap's collections would map, fill and unmap one
 * each; this one's pages are filled already, and moved without a copy when it must grow. While it is unused the kernel
 * may take them back. */

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
		madvise((uint8_t *)ptr - 2 * sizeof(size_t) + PAGE_BYTES, (bytes - PAGE_BYTES) & -(size_t)PAGE_BYTES,
			MADV_FREE);
		ptr = atomic_exchange(&alloc.kept, ptr);
	}
	free(ptr);
}

static inline void *count_block(enum mem_kind kind, void *ptr)
{
	if (likely(ptr != NULL)) {
		size_t usable = malloc_usable_size(ptr);

		mark_kind(ptr, usable, kind);
		count_bytes(kind, (long)usable, 1);
	}
	return ptr;
}

static inline void *try_alloc_as(enum mem_kind kind, size_t bytes)
{
	return count_block(kind, unlikely(bytes > SIZE_MAX - MARK_BYTES) ? NULL : take_block(bytes + MARK_BYTES));
}

void *mem_try_alloc_as(enum mem_kind kind, size_t bytes) { return try_alloc_as(kind, bytes); }

void *mem_try_alloc(size_t bytes) { return try_alloc_as(MEM_SYSTEM, bytes); }

void *mem_alloc_as(enum mem_kind kind, size_t bytes)
{
	void *ptr = try_alloc_as(kind, bytes);

	if (unlikely(ptr == NULL))
		report_exhaustion(bytes);
	return ptr;
}

void *mem_alloc(size_t bytes) { return mem_alloc_as(MEM_SYSTEM, bytes); }

/* Memory that is fresh from the kernel is zero already: calloc does not touch it, so that a table of 8 MB costs what is
 * used of it. */
void *mem_zalloc_as(enum mem_kind kind, size_t bytes)
{
	void *ptr = count_block(kind, unlikely(bytes > SIZE_MAX - MARK_BYTES) ? NULL : calloc(1, bytes + MARK_BYTES));

	if (unlikely(ptr == NULL))
		report_exhaustion(bytes);
	return ptr;
}

void *mem_zalloc(size_t bytes) { return mem_zalloc_as(MEM_SYSTEM, bytes); }

void *mem_try_realloc_as(enum mem_kind kind, void *ptr, size_t bytes)
{
	size_t before = ptr ? malloc_usable_size(ptr) : 0, after;
	long blocks = ptr == NULL;

	if (ptr != NULL)
		check_kind(ptr, before, kind);
	if (bytes > SIZE_MAX - MARK_BYTES)
		return NULL;
	ptr = realloc(ptr, bytes ? bytes + MARK_BYTES : 1);
	if (unlikely(ptr == NULL))
		return NULL;
	after = malloc_usable_size(ptr);
	mark_kind(ptr, after, kind);
	count_bytes(kind, (long)after - (long)before, blocks);
	return ptr;
}

void *mem_try_realloc(void *ptr, size_t bytes) { return mem_try_realloc_as(MEM_SYSTEM, ptr, bytes); }

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

bool mem_shrink_in_place(enum mem_kind kind, void *ptr, size_t bytes)
{
	size_t before = malloc_usable_size(ptr), after;
	void *same;

	if (!alloc.shrinks_in_place)
		return false;
	check_kind(ptr, before, kind);
	same = realloc(ptr, bytes + MARK_BYTES);
	ENSURE(same == ptr); /* glibc splits the block, or unmaps its tail */
	after = malloc_usable_size(same);
	mark_kind(same, after, kind);
	count_bytes(kind, (long)after - (long)before, 0);
	return true;
}

void mem_free_as(enum mem_kind kind, void *ptr)
{
	size_t bytes;

	if (ptr == NULL)
		return;
	bytes = malloc_usable_size(ptr);
	check_kind(ptr, bytes, kind);
	count_bytes(kind, -(long)bytes, -1);
	give_block(ptr, bytes);
}

void mem_free(void *ptr) { mem_free_as(MEM_SYSTEM, ptr); }

void *mem_reserve(size_t bytes, int protection)
{
	void *range = mmap(NULL, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	char what[64];

	if (range != MAP_FAILED)
		return range;
	snprintf(what, sizeof(what), "reserve %zu MB of addresses", bytes >> 20);
	log_refused(what, errno);
}

/* ---- what AddressSanitizer is told */

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/lsan_interface.h>
void mem_hide(const void *at, size_t bytes) { __asan_poison_memory_region(at, bytes); }
void mem_show(const void *at, size_t bytes) { __asan_unpoison_memory_region(at, bytes); }
/* It looks for pointers in blocks of malloc, and in what it was told of. */
static void show_pointers(const void *pages, size_t bytes) { __lsan_register_root_region(pages, bytes); }
#else
void mem_hide(const void *at, size_t bytes) { (void)at; (void)bytes; }
void mem_show(const void *at, size_t bytes) { (void)at; (void)bytes; }
static void show_pointers(const void *pages, size_t bytes) { (void)pages; (void)bytes; }
#endif

/* ---- pages */

void *mem_map_as(enum mem_kind kind, size_t bytes)
{
	void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED)
		report_exhaustion(bytes);
	show_pointers(pages, bytes);
	mem_fill_as(kind, bytes);
	return pages;
}

void mem_empty_as(enum mem_kind kind, void *pages, size_t bytes)
{
	/* Refused where memory is locked, as by a native that calls mlockall: there they are zeros, and stay. */
	if (madvise(pages, bytes, MADV_DONTNEED) != 0)
		memset(pages, 0, bytes);
	atomic_fetch_sub_explicit(&alloc.mapped_bytes, bytes, memory_order_relaxed);
	count_bytes(kind, -(long)bytes, -1);
}

void mem_fill_as(enum mem_kind kind, size_t bytes)
{
	atomic_fetch_add_explicit(&alloc.mapped_bytes, bytes, memory_order_relaxed);
	count_bytes(kind, (long)bytes, 1);
}

/* ---- what a peak leaves: glibc keeps what was freed, to give it out again. What has not been needed for TIDY_LOOKS
 * calls goes back. */

enum { TIDY_LOOKS = 3, TIDY_LEAST_BYTES = 8 << 20, TIDY_SHARE = 8 };
/* A busy VM that fills and empties the same memory again and again would pay for new pages after every trim: trims that
 * follow each other are ever further apart. */
enum { TIDY_PAUSE = 4, TIDY_LONGEST_PAUSE = 64 };

/* The tidying thread's. */
static struct {
	size_t held[TIDY_LOOKS];  /* through this door, at the last calls */
	unsigned calls, trimmed_at, pause; /* pause: calls from one trim to the next, at least */
	size_t other;             /* resident besides, after the last trim: code, stacks, what cannot be given back */
	size_t trimmed_held;      /* through this door, then */
	void *kept;               /* at the last call */
	bool was_idle;
} tidy;

/* 0: not known. */
static size_t resident_bytes(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	unsigned long size, resident = 0;

	if (f == NULL)
		return 0;
	if (fscanf(f, "%lu %lu", &size, &resident) != 2)
		resident = 0;
	fclose(f);
	return resident * PAGE_BYTES;
}

static size_t most_held(void)
{
	size_t most = 0;

	tidy.held[tidy.calls++ % TIDY_LOOKS] = mem_total_bytes();
	for (int i = 0; i < TIDY_LOOKS; i++)
		most = tidy.held[i] > most ? tidy.held[i] : most;
	return most;
}

/* The kept block, when nobody took it since the last call. */
static void free_kept(void)
{
	void *kept = tidy.kept;

	if (kept != NULL && atomic_compare_exchange_strong(&alloc.kept, &kept, NULL))
		free(kept);
	tidy.kept = atomic_load(&alloc.kept);
}

static bool is_much(size_t resident, size_t needed)
{
	return resident > needed && resident - needed > TIDY_LEAST_BYTES + needed / TIDY_SHARE;
}

/* Memory may be taken meanwhile: what is held is looked at last, so that it does not count as resident besides. */
static void trim(size_t most)
{
	size_t resident, held;

	arena_trim_all(KEPT_END_BYTES);
	resident = resident_bytes();
	held = mem_total_bytes();
	tidy.trimmed_held = held > most ? held : most;
	tidy.other = resident > tidy.trimmed_held ? resident - tidy.trimmed_held : 0;
}

/* Whether it is time to trim, which is then done: the more often, the longer is the pause after it, but for who is
 * idle. */
static bool take_turn(bool is_idle)
{
	unsigned since = tidy.calls - tidy.trimmed_at;

	if (tidy.pause != 0 && since < tidy.pause && !is_idle)
		return false;
	if (tidy.pause == 0 || since > 2 * tidy.pause)
		tidy.pause = TIDY_PAUSE;
	else if (tidy.pause < TIDY_LONGEST_PAUSE)
		tidy.pause *= 2;
	tidy.trimmed_at = tidy.calls;
	return true;
}

/* What was freed since the last trim may have kept other pages from being given back; in a busy VM a peak may come and
 * go just behind one, and seem to be what cannot be given back. */
static bool is_doubtful(bool is_idle, size_t most)
{
	bool was_idle = tidy.was_idle;

	tidy.was_idle = is_idle;
	return (is_idle && !was_idle) || most + TIDY_LEAST_BYTES < tidy.trimmed_held ||
	       tidy.calls - tidy.trimmed_at > TIDY_LONGEST_PAUSE;
}

bool mem_tidy(bool is_idle)
{
	size_t most = most_held(), resident = resident_bytes();

	free_kept();
	if (is_doubtful(is_idle, most))
		tidy.other = 0;
	if (is_much(resident, most + tidy.other) && take_turn(is_idle))
		trim(most);
	return tidy.kept != NULL || is_much(resident, tidy.held[(tidy.calls - 1) % TIDY_LOOKS] + tidy.other);
}

size_t mem_total_bytes(void)
{
	size_t total = 0;

	for (int kind = 0; kind < MEM_KINDS; kind++)
		total += mem_kind_bytes((enum mem_kind)kind);
	return total;
}

/* Below zero for a moment: a block may be seen as given back, and not yet as taken on another thread. */
static size_t not_negative(long n)
{
	return n > 0 ? (size_t)n : 0;
}

static size_t counted_threads(void)
{
	size_t count = atomic_load_explicit(&alloc.thread_count, memory_order_relaxed);

	return count < COUNTED_THREADS ? count : COUNTED_THREADS;
}

size_t mem_kind_bytes(enum mem_kind kind)
{
	long held = atomic_load_explicit(&alloc.shared.of[kind], memory_order_relaxed);

	for (size_t i = 0; i < counted_threads(); i++)
		held += atomic_load_explicit(&alloc.threads[i].of[kind], memory_order_relaxed);
	return not_negative(held);
}

size_t mem_kind_blocks(enum mem_kind kind)
{
	long held = atomic_load_explicit(&alloc.shared.blocks[kind], memory_order_relaxed);

	for (size_t i = 0; i < counted_threads(); i++)
		held += atomic_load_explicit(&alloc.threads[i].blocks[kind], memory_order_relaxed);
	return not_negative(held);
}

size_t mem_obtained_bytes(void)
{
	struct mallinfo2 info = mallinfo2(); /* arena: of all arenas */

	return info.arena + info.hblkhd + atomic_load_explicit(&alloc.mapped_bytes, memory_order_relaxed);
}

/* For who reads our memory from outside. */
static const uint32_t layout_numbers[] = {
#define LAYOUT_MEMORY LAYOUT_NUMBER
#include "layout.def"
};
LAYOUT_PART(layout_memory, alloc);
