/* SPDX-License-Identifier: Apache-2.0 */
/* Thread progress: what readers look at is there until their look ends, all that was taken out is freed in the end, and
 * a thread that does not pass keeps no more than some of it. A thing says that it is freed before it is, so that a
 * plain build notices as well as one with a sanitizer. */
#include "unit.h"

#include <stdatomic.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/lock.h"
#include "proc/progress.h"

enum { SLOTS = 8, READERS = 3, WRITERS = 2, CHANGES = 20000, LIVE = 23, FREED = 42 };

struct thing {
	struct progress_item item; /* first */
	_Atomic int state;
	int value;                 /* plain: written before it is put there */
};

static struct {
	_Atomic(struct thing *) slots[SLOTS];
	atomic_uint made, freed, found_freed, looks, refused, writers, readers;
	atomic_bool end;
} table;

static struct thing *make_thing(void)
{
	struct thing *t = mem_zalloc(sizeof(*t));

	atomic_init(&t->state, LIVE);
	t->value = LIVE;
	atomic_fetch_add(&table.made, 1);
	return t;
}

static void free_thing(struct progress_item *item)
{
	struct thing *t = (struct thing *)item;

	atomic_store_explicit(&t->state, FREED, memory_order_relaxed);
	t->value = FREED;
	mem_free(t);
	atomic_fetch_add(&table.freed, 1);
}

static void change(unsigned slot)
{
	struct thing *old = atomic_exchange(&table.slots[slot], make_thing());

	if (old != NULL)
		progress_later(&old->item, free_thing);
}

static void empty_table(void)
{
	for (unsigned i = 0; i < SLOTS; i++) {
		struct thing *old = atomic_exchange(&table.slots[i], NULL);

		if (old != NULL)
			progress_later(&old->item, free_thing);
	}
}

static void look_at(unsigned slot, unsigned times)
{
	struct thing *t;

	if (!progress_look()) {
		atomic_fetch_add(&table.refused, 1);
		return;
	}
	t = atomic_load_explicit(&table.slots[slot], memory_order_acquire);
	for (unsigned i = 0; t != NULL && i < times; i++)
		if (atomic_load_explicit(&t->state, memory_order_relaxed) != LIVE || t->value != LIVE)
			atomic_fetch_add(&table.found_freed, 1);
	atomic_fetch_add(&table.looks, 1);
	progress_look_end();
}

/* In every sixteenth slice it sleeps. */
static void *read_in_slices(void *arg)
{
	unsigned seed = (unsigned)(uintptr_t)arg;

	progress_enter();
	for (unsigned slice = 0; !atomic_load(&table.end); slice++) {
		for (unsigned i = 0; i < 50; i++, seed = seed * 1664525 + 1013904223)
			look_at(seed >> 16 & (SLOTS - 1), seed >> 24 & 31);
		progress_tick();
		if (slice % 16 == 0) {
			progress_leave();
			thread_yield();
			progress_enter();
		}
	}
	progress_leave();
	atomic_fetch_sub(&table.readers, 1);
	return NULL;
}

/* Never passes: every round ends by asking. */
static void *read_without_end(void *arg)
{
	unsigned seed = (unsigned)(uintptr_t)arg;

	progress_enter();
	for (; !atomic_load(&table.end); seed = seed * 1664525 + 1013904223)
		look_at(seed >> 16 & (SLOTS - 1), seed >> 24 & 31);
	progress_leave();
	atomic_fetch_sub(&table.readers, 1);
	return NULL;
}

/* One of them is inside itself, and so passes too. */
static void *write_many(void *arg)
{
	bool is_inside = arg != NULL;

	if (is_inside)
		progress_enter();
	for (unsigned i = 0; i < CHANGES; i++) {
		change(i % SLOTS);
		if (is_inside && i % 7 == 0)
			progress_tick();
	}
	if (is_inside)
		progress_leave();
	atomic_fetch_sub(&table.writers, 1);
	return NULL;
}

static void start(void *(*run)(void *arg), uintptr_t arg, atomic_uint *count)
{
	atomic_fetch_add(count, 1);
	ck_assert_int_eq(thread_start("progress_test", run, (void *)arg), 0);
}

static void wait_for_none(atomic_uint *count)
{
	while (atomic_load(count) > 0)
		unit_pause();
}

/* Returns how many waited at most while they wrote. */
static size_t run_readers(void *(*read)(void *arg))
{
	size_t most = 0;

	progress_init();
	for (unsigned i = 0; i < SLOTS; i++)
		change(i);
	for (uintptr_t i = 1; i <= READERS; i++)
		start(read, i, &table.readers);
	while (atomic_load(&table.looks) < 1000)
		unit_pause();
	for (uintptr_t i = 0; i < WRITERS; i++)
		start(write_many, i, &table.writers);
	while (atomic_load(&table.writers) > 0) {
		size_t n = progress_waiting();

		most = n > most ? n : most;
		thread_yield();
	}
	atomic_store(&table.end, true);
	wait_for_none(&table.readers);
	empty_table();
	ck_assert_uint_eq(atomic_load(&table.found_freed), 0);
	ck_assert_uint_eq(atomic_load(&table.refused), 0);
	ck_assert_uint_eq(atomic_load(&table.made), SLOTS + WRITERS * CHANGES);
	ck_assert_uint_eq(atomic_load(&table.freed), SLOTS + WRITERS * CHANGES);
	ck_assert_uint_eq(progress_waiting(), 0);
	return most;
}

START_TEST(test_progress_later_frees_nothing_that_is_looked_at)
{
	run_readers(read_in_slices);
}
END_TEST

START_TEST(test_progress_later_asks_threads_that_never_pass)
{
	run_readers(read_without_end);
}
END_TEST

static struct {
	atomic_bool inside, looks, may_end, ended;
	bool in_look;
} still;

/* As a native that lasts. */
static void *stand_still(void *arg)
{
	(void)arg;
	progress_enter();
	if (still.in_look)
		ck_assert(progress_look());
	atomic_store(&still.inside, true);
	while (!atomic_load(&still.may_end))
		unit_pause();
	if (still.in_look) {
		struct thing *t = atomic_load(&table.slots[0]);

		ck_assert_int_eq(atomic_load(&t->state), LIVE);
		progress_look_end();
	}
	progress_leave();
	atomic_store(&still.ended, true);
	return NULL;
}

static void begin_standing(bool in_look)
{
	progress_init();
	still.in_look = in_look;
	ck_assert_int_eq(thread_start("progress_test", stand_still, NULL), 0);
	while (!atomic_load(&still.inside))
		unit_pause();
}

static void end_standing(void)
{
	atomic_store(&still.may_end, true);
	while (!atomic_load(&still.ended))
		unit_pause();
}

static void change_beside_one_that_stands_still(void)
{
	begin_standing(false);
	for (unsigned i = 0; i < 100 * PROGRESS_MANY; i++) {
		change(0);
		ck_assert_uint_le(progress_waiting(), 2 * PROGRESS_MANY);
	}
	ck_assert_uint_ge(atomic_load(&table.freed), 98 * PROGRESS_MANY);
}

START_TEST(test_progress_later_keeps_little_for_one_that_stands_still)
{
	change_beside_one_that_stands_still();
	end_standing();
	ck_assert_uint_eq(progress_waiting(), 0);
}
END_TEST

/* Neither passes. */
START_TEST(test_progress_later_keeps_little_of_one_that_does_not_pass)
{
	progress_init();
	progress_enter();
	change_beside_one_that_stands_still();
	progress_leave();
	end_standing();
	ck_assert_uint_eq(progress_waiting(), 0);
	ck_assert_uint_eq(atomic_load(&table.freed), atomic_load(&table.made) - 1);
}
END_TEST

START_TEST(test_progress_later_keeps_all_while_a_look_lasts)
{
	begin_standing(true);
	for (unsigned i = 0; i <= 3 * PROGRESS_MANY; i++)
		change(0);
	ck_assert_uint_eq(atomic_load(&table.freed), 0);
	ck_assert_uint_eq(progress_waiting(), 3 * PROGRESS_MANY);
	end_standing();
	ck_assert_uint_eq(atomic_load(&table.freed), 3 * PROGRESS_MANY);
	ck_assert_uint_eq(progress_waiting(), 0);
}
END_TEST

/* This thread is the only one inside. */
START_TEST(test_progress_look_is_refused_outside)
{
	progress_init();
	ck_assert(!progress_look());
	progress_enter();
	ck_assert(progress_look());
	ck_assert(progress_look());
	progress_look_end();
	for (unsigned i = 0; i <= 3 * PROGRESS_BATCH; i++)
		change(0);
	ck_assert_uint_eq(atomic_load(&table.freed), 0);
	progress_look_end();
	progress_tick();
	ck_assert_uint_eq(atomic_load(&table.freed), 3 * PROGRESS_BATCH);
	change(0);
	ck_assert_uint_eq(progress_waiting(), 1);
	progress_leave();
	ck_assert_uint_eq(atomic_load(&table.freed), 3 * PROGRESS_BATCH + 1);
	ck_assert(!progress_look());
	change(0);
	ck_assert_uint_eq(atomic_load(&table.freed), 3 * PROGRESS_BATCH + 2);
	ck_assert_uint_eq(progress_waiting(), 0);
}
END_TEST

/* ---- rounds of slices */

enum { ROUNDS = 5000, STEPS = 100 };

/* A thing that is read without a look, through the whole of a slice. */
struct unmarked {
	struct progress_wait wait; /* first */
	_Atomic int state;
};

static _Atomic(struct unmarked *) unmarked;
static atomic_uint unmarked_freed, unmarked_found_freed;

static void free_unmarked(struct progress_wait *w)
{
	struct unmarked *u = (struct unmarked *)w;

	atomic_store(&u->state, FREED);
	mem_free(u);
	atomic_fetch_add(&unmarked_freed, 1);
}

static void change_unmarked(void)
{
	struct unmarked *u = mem_zalloc(sizeof(*u)), *old;

	atomic_init(&u->state, LIVE);
	old = atomic_exchange(&unmarked, u);
	if (old != NULL)
		progress_wait(&old->wait, free_unmarked);
}

/* With rounds of tables beside, which end in the middle of slices. */
static void *read_unmarked(void *arg)
{
	unsigned number = (unsigned)(uintptr_t)arg;

	progress_enter();
	for (unsigned slice = 0; !atomic_load(&table.end); slice++) {
		const struct unmarked *u = atomic_load(&unmarked);

		for (unsigned i = 0; i < STEPS; i++) {
			if (i % 8 == number)
				change(number);
			if (atomic_load(&u->state) != LIVE)
				atomic_fetch_add(&unmarked_found_freed, 1);
		}
		progress_tick();
		if (slice % 16 == number) {
			progress_leave();
			thread_yield();
			progress_enter();
		}
	}
	progress_leave();
	atomic_fetch_sub(&table.readers, 1);
	return NULL;
}

START_TEST(test_progress_wait_waits_for_whole_slices)
{
	progress_init();
	change_unmarked();
	for (uintptr_t i = 1; i <= READERS; i++)
		start(read_unmarked, i, &table.readers);
	for (unsigned i = 0; i < ROUNDS; i++)
		change_unmarked();
	atomic_store(&table.end, true);
	wait_for_none(&table.readers);
	ck_assert_uint_eq(atomic_load(&unmarked_found_freed), 0);
	ck_assert_uint_eq(atomic_load(&unmarked_freed), ROUNDS);
	empty_table();
	ck_assert_uint_eq(atomic_load(&table.freed), atomic_load(&table.made));
}
END_TEST

struct noted {
	struct progress_wait wait; /* first */
	unsigned at;               /* ended as the so manyth */
};

static unsigned noted;

static void note(struct progress_wait *w)
{
	((struct noted *)w)->at = ++noted;
}

START_TEST(test_progress_wait_ends_between_slices_and_outside)
{
	struct noted n[5] = { 0 };

	progress_init();
	progress_wait(&n[0].wait, note);
	ck_assert_uint_eq(n[0].at, 1);
	progress_enter();
	ck_assert(!progress_tick());
	progress_wait(&n[1].wait, note);
	progress_wait(&n[2].wait, note);
	for (unsigned i = 0; i < 4 * PROGRESS_MANY; i++)
		change(0);
	ck_assert_uint_gt(atomic_load(&table.freed), 0);
	ck_assert_uint_eq(n[1].at, 0);
	ck_assert(progress_tick());
	ck_assert_uint_eq(n[1].at, 2);
	ck_assert_uint_eq(n[2].at, 3);
	progress_wait(&n[3].wait, note);
	progress_leave();
	ck_assert_uint_eq(n[3].at, 4);
	progress_enter();
	progress_call();
	ck_assert(progress_tick());
	ck_assert(!progress_tick());
	progress_leave();
	begin_standing(false);
	progress_wait(&n[4].wait, note);
	ck_assert_uint_eq(n[4].at, 0);
	end_standing();
	ck_assert_uint_eq(n[4].at, 5);
}
END_TEST

Suite *progress_suite(void)
{
	Suite *s = suite_create("progress");
	TCase *t = tcase_create("progress");

	tcase_add_checked_fixture(t, unit_init, NULL);
	tcase_add_test(t, test_progress_later_frees_nothing_that_is_looked_at);
	tcase_add_test(t, test_progress_later_asks_threads_that_never_pass);
	tcase_add_test(t, test_progress_later_keeps_little_for_one_that_stands_still);
	tcase_add_test(t, test_progress_later_keeps_little_of_one_that_does_not_pass);
	tcase_add_test(t, test_progress_later_keeps_all_while_a_look_lasts);
	tcase_add_test(t, test_progress_look_is_refused_outside);
	tcase_add_test(t, test_progress_wait_waits_for_whole_slices);
	tcase_add_test(t, test_progress_wait_ends_between_slices_and_outside);
	suite_add_tcase(s, t);
	return s;
}
