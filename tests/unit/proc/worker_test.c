/* SPDX-License-Identifier: Apache-2.0 */
/* Worker threads: turns of those that may last, jobs taken back. */
#include "unit.h"

#include <stdatomic.h>

#include "base/lock.h"
#include "proc/worker.h"

enum { JOBS = 40, TURNS = 2 };

static struct {
	_Atomic unsigned inside, most_inside, begun, done;
	_Atomic bool may_end;
} seen;

static void note_inside(void)
{
	unsigned now = atomic_fetch_add(&seen.inside, 1) + 1, most = atomic_load(&seen.most_inside);

	while (now > most && !atomic_compare_exchange_weak(&seen.most_inside, &most, now))
		;
	atomic_fetch_sub(&seen.inside, 1);
}

/* Ends when all others have begun. */
static void run_with_others(struct worker_job *job)
{
	(void)job;
	atomic_fetch_add(&seen.begun, 1);
	while (atomic_load(&seen.begun) < JOBS) {
		note_inside();
		worker_pause();
	}
	atomic_fetch_add(&seen.done, 1);
}

START_TEST(test_worker_pause_gives_each_its_turn)
{
	static struct worker_job jobs[JOBS];

	worker_init(1, TURNS);
	for (int i = 0; i < JOBS; i++) {
		jobs[i].run = run_with_others;
		worker_submit(WORKER_TURNS, &jobs[i]);
	}
	while (atomic_load(&seen.done) < JOBS)
		unit_pause();
	ck_assert_uint_ge(atomic_load(&seen.most_inside), 1);
	ck_assert_uint_le(atomic_load(&seen.most_inside), TURNS);
}
END_TEST

START_TEST(test_worker_set_turns_lets_others_begin)
{
	static struct worker_job jobs[JOBS];

	worker_init(1, 0);
	for (int i = 0; i < JOBS; i++) {
		jobs[i].run = run_with_others;
		worker_submit(WORKER_TURNS, &jobs[i]);
	}
	while (!worker_turns_are_wanted())
		unit_pause();
	ck_assert_uint_eq(atomic_load(&seen.begun), 0);
	worker_set_turns(1);
	while (atomic_load(&seen.done) < JOBS)
		unit_pause();
	ck_assert_uint_eq(atomic_load(&seen.most_inside), 1);
}
END_TEST

static void run_until_let(struct worker_job *job)
{
	(void)job;
	atomic_fetch_add(&seen.begun, 1);
	while (!atomic_load(&seen.may_end))
		unit_pause();
	atomic_fetch_add(&seen.done, 1);
}

START_TEST(test_worker_cancel_takes_back_what_has_not_begun)
{
	static struct worker_job jobs[4];

	worker_init(1, 1);
	for (int i = 0; i < 4; i++) {
		jobs[i].run = run_until_let;
		worker_submit(WORKER_ONE, &jobs[i]);
	}
	while (atomic_load(&seen.begun) == 0)
		unit_pause();
	ck_assert(!worker_cancel(WORKER_ONE, &jobs[0]));
	ck_assert(worker_cancel(WORKER_ONE, &jobs[2]));
	ck_assert(worker_cancel(WORKER_ONE, &jobs[3]));
	ck_assert(!worker_cancel(WORKER_ONE, &jobs[3]));
	worker_submit(WORKER_ONE, &jobs[3]);
	ck_assert_uint_eq(atomic_load(&seen.begun), 1);
	atomic_store(&seen.may_end, true);
	while (atomic_load(&seen.done) < 3)
		unit_pause();
	ck_assert(!worker_cancel(WORKER_ONE, &jobs[1]));
	ck_assert_uint_eq(atomic_load(&seen.begun), 3);
}
END_TEST

Suite *worker_suite(void)
{
	Suite *s = suite_create("worker");
	TCase *t = tcase_create("worker");

	tcase_add_checked_fixture(t, unit_init, NULL);
	tcase_add_test(t, test_worker_pause_gives_each_its_turn);
	tcase_add_test(t, test_worker_set_turns_lets_others_begin);
	tcase_add_test(t, test_worker_cancel_takes_back_what_has_not_begun);
	suite_add_tcase(s, t);
	return s;
}
