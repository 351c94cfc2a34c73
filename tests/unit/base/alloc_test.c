/* SPDX-License-Identifier: Apache-2.0 */
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/lock.h"
#include "unit.h"

enum {
	BLOCKS = 10000,
	PEAK_BLOCKS = 40000,
	PEAK_BLOCK_BYTES = 1000,
	KEPT_END_BYTES = 128 << 20,
	LOCKED_BYTES = 1 << 16
};

/* Nothing freed is set aside to be joined to its neighbours later, all at once. */
START_TEST(test_free_joins_small_blocks_at_once)
{
	static void *blocks[BLOCKS];

	mem_init();
	for (int i = 0; i < BLOCKS; i++)
		blocks[i] = mem_alloc(16 + (size_t)i % 100);
	/* Between two that stay: a large free block would be a chance to join what was set aside. */
	for (int i = 1; i < BLOCKS; i += 2)
		mem_free(blocks[i]);
	ck_assert_uint_eq(mallinfo2().fsmblks, 0);
	for (int i = 0; i < BLOCKS; i += 2)
		mem_free(blocks[i]);
}
END_TEST

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* which have allocators of their own */
static size_t resident_bytes(void)
{
	unsigned long size, resident;
	FILE *f = fopen("/proc/self/statm", "r");

	ck_assert_int_eq(fscanf(f, "%lu %lu", &size, &resident), 2);
	fclose(f);
	return resident * (size_t)sysconf(_SC_PAGESIZE);
}

/* ---- a thread that stays, with an arena of its own, after a peak */

static struct {
	struct lock lock;
	struct cond cond;
	bool is_over;
	void *blocks[PEAK_BLOCKS];
} peak;

static void make_peak(void)
{
	for (int i = 0; i < PEAK_BLOCKS; i++)
		peak.blocks[i] = memset(mem_alloc(PEAK_BLOCK_BYTES), 1, PEAK_BLOCK_BYTES);
	for (int i = 0; i < PEAK_BLOCKS; i++)
		mem_free(peak.blocks[i]);
}

static void *run_peak(void *arg)
{
	(void)arg;
	make_peak();
	lock_acquire(&peak.lock);
	peak.is_over = true;
	cond_signal(&peak.cond);
	while (peak.is_over)
		cond_wait(WAIT_work, &peak.cond, &peak.lock);
	lock_release(&peak.lock);
	make_peak(); /* its arena is as it was */
	return NULL;
}

static void await_peak(bool is_over)
{
	lock_acquire(&peak.lock);
	while (peak.is_over != is_over)
		cond_wait(WAIT_work, &peak.cond, &peak.lock);
	lock_release(&peak.lock);
}

START_TEST(test_trim_gives_back_the_end_of_a_threads_arena)
{
	size_t before;

	mem_init();
	lock_init(&peak.lock, LOCK_tidy);
	cond_init(&peak.cond);
	ck_assert_int_eq(thread_start("peak", run_peak, NULL), 0);
	await_peak(true);
	before = resident_bytes();
	for (int i = 0; i < 3; i++)
		arena_trim_all(KEPT_END_BYTES);
	ck_assert_uint_lt(resident_bytes() + PEAK_BLOCKS * (size_t)PEAK_BLOCK_BYTES / 10 * 9, before);
	lock_acquire(&peak.lock);
	peak.is_over = false;
	cond_signal(&peak.cond);
	lock_release(&peak.lock);
}
END_TEST
#endif

START_TEST(test_locked_pages_are_emptied)
{
	uint8_t *pages;

	mem_init();
	pages = mem_map_as(MEM_PROCESS, LOCKED_BYTES);
	if (mlock(pages, LOCKED_BYTES) != 0)
		return; /* not allowed here: nothing can be locked */
	memset(pages, 1, LOCKED_BYTES);
	mem_empty_as(MEM_PROCESS, pages, LOCKED_BYTES);
	for (int i = 0; i < LOCKED_BYTES; i++)
		ck_assert_uint_eq(pages[i], 0);
}
END_TEST

Suite *base_alloc_suite(void)
{
	Suite *s = suite_create("base alloc");
	TCase *c = tcase_create("alloc");

	tcase_add_test(c, test_free_joins_small_blocks_at_once);
	tcase_add_test(c, test_locked_pages_are_emptied);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* which have allocators of their own */
	tcase_add_test(c, test_trim_gives_back_the_end_of_a_threads_arena);
#endif
	suite_add_tcase(s, c);
	return s;
}
