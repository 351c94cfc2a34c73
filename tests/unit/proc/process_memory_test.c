/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of processes: what is not needed loses its pages, though others may still look at who was there. */
#include "proc/fake.h"

#include <stdatomic.h>

#include "base/alloc.h"
#include "base/lock.h"
#include "proc/process_memory.h"

enum { TAKEN = 4000, ROUNDS = 30, FINDERS = 2, FINDS_PER_ROUND = 1000 };

static Process *taken[TAKEN];

static Term id_of(int i, uint32_t round)
{
	return term_from_pid((uint32_t)i, round);
}

static void set_id(Process *p, Term id)
{
	lock_acquire(&p->signals_lock);
	__atomic_store_n(&p->id, id, __ATOMIC_RELAXED);
	lock_release(&p->signals_lock);
}

static void take_all(uint32_t round)
{
	for (int i = 0; i < TAKEN; i++) {
		taken[i] = process_memory_take();
		ck_assert_uint_eq(atomic_load(&taken[i]->state), PS_DEAD);
		set_id(taken[i], id_of(i, round));
	}
}

static void give_all(void)
{
	for (int i = 0; i < TAKEN; i++) {
		set_id(taken[i], TERM_NONE);
		process_memory_give(taken[i]);
	}
}

/* Returns how many bytes went. */
static size_t tidy(void)
{
	size_t before = mem_kind_bytes(MEM_PROCESS);
	struct process_chunk *unneeded = process_memory_unneeded();

	process_memory_empty(unneeded);
	process_memory_emptied(unneeded);
	return before - mem_kind_bytes(MEM_PROCESS);
}

START_TEST(test_process_memory_goes_when_it_was_not_needed)
{
	size_t made, bytes;

	tidy();
	take_all(1);
	made = process_memory_made();
	ck_assert_uint_ge(made, TAKEN);
	ck_assert_uint_eq(tidy(), 0);
	give_all();
	ck_assert_uint_eq(tidy(), 0); /* it was needed since the last time */
	bytes = tidy();
	ck_assert_uint_gt(bytes, TAKEN * sizeof(Process) / 2);
	ck_assert_uint_le(process_memory_made() * sizeof(Process), made * sizeof(Process) - bytes / 2);
	ck_assert_uint_eq(tidy(), 0);
	for (int i = 0; i < TAKEN; i++)
		ck_assert(__atomic_load_n(&taken[i]->id, __ATOMIC_RELAXED) == TERM_NONE);
	take_all(2);
	ck_assert_uint_eq(process_memory_made(), made);
	for (int i = 1; i < TAKEN; i++)
		ck_assert(taken[i]->id == id_of(i, 2));
}
END_TEST

/* ---- who looks for processes of the first round */

static struct {
	Process *all[TAKEN];
	atomic_uint finds, ended, found;
	atomic_bool end;
} stale;

static void *find_stale(void *arg)
{
	(void)arg;
	for (int i = 0; !atomic_load(&stale.end); i = (i + 7) % TAKEN) {
		Process *p = stale.all[i];

		lock_acquire(&p->signals_lock);
		if (p->id == id_of(i, 0))
			atomic_fetch_add(&stale.found, 1);
		lock_release(&p->signals_lock);
		atomic_fetch_add(&stale.finds, 1);
	}
	atomic_fetch_add(&stale.ended, 1);
	return NULL;
}

static void await_finds(unsigned more)
{
	unsigned from = atomic_load(&stale.finds);

	while (atomic_load(&stale.finds) - from < more)
		unit_pause();
}

START_TEST(test_process_memory_is_looked_at_while_it_goes)
{
	size_t bytes = 0;

	take_all(0);
	memcpy(stale.all, taken, sizeof(taken));
	give_all();
	for (int i = 0; i < FINDERS; i++)
		ck_assert_int_eq(thread_start("finder", find_stale, NULL), 0);
	for (uint32_t round = 1; round <= ROUNDS; round++) {
		take_all(round);
		give_all();
		tidy();
		bytes += tidy();
		await_finds(FINDS_PER_ROUND); /* none waits for a lock that is no more */
	}
	atomic_store(&stale.end, true);
	while (atomic_load(&stale.ended) < FINDERS)
		unit_pause();
	ck_assert_uint_eq(atomic_load(&stale.found), 0);
	ck_assert_uint_gt(bytes, ROUNDS * (TAKEN * sizeof(Process) / 2));
}
END_TEST

Suite *process_memory_suite(void)
{
	Suite *s = suite_create("process memory");
	TCase *c = tcase_create("chunks");

	tcase_set_timeout(c, 60);
	tcase_add_checked_fixture(c, fake_init, NULL);
	tcase_add_test(c, test_process_memory_goes_when_it_was_not_needed);
	tcase_add_test(c, test_process_memory_is_looked_at_while_it_goes);
	suite_add_tcase(s, c);
	return s;
}
