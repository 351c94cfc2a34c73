/* SPDX-License-Identifier: Apache-2.0 */
/* The async pool: every job runs once; an idle pool has nothing pending; a blocked thread holds nobody up. */
#include "io/async.h"

#include <check.h>
#include <stdatomic.h>
#include <time.h>

#include "unit.h"

#define JOBS 997

static atomic_uint ran;
static atomic_bool gate_open;
static atomic_uint in_gate;

static void nap(void)
{
	struct timespec ms = { .tv_nsec = 1000000 };

	nanosleep(&ms, NULL);
}

static void run_count(struct async_job *job)
{
	job->next = job;
	atomic_fetch_add(&ran, 1);
}

static void run_gate(struct async_job *job)
{
	(void)job;
	atomic_fetch_add(&in_gate, 1);
	while (!atomic_load(&gate_open))
		nap();
}

static void await(atomic_uint *counter, unsigned n)
{
	for (int k = 0; k < 5000 && atomic_load(counter) < n; k++)
		nap();
	ck_assert_uint_eq(atomic_load(counter), n);
}

START_TEST(test_async_submit_runs_each_job_once)
{
	static struct async_job jobs[JOBS];

	unit_init();
	async_init(3);
	ck_assert_uint_eq(async_thread_count(), 3);
	for (int k = 0; k < JOBS; k++) {
		jobs[k] = (struct async_job){ .run = run_count, .port = term_from_port(0) };
		async_submit(&jobs[k]);
	}
	await(&ran, JOBS);
	for (int k = 0; k < 100 && async_pending_count() != 0; k++)
		nap();
	ck_assert_uint_eq(async_pending_count(), 0);
	ck_assert_uint_eq(atomic_load(&ran), JOBS);
}
END_TEST

START_TEST(test_async_submit_passes_by_a_blocked_thread)
{
	static struct async_job gates[2], quick[JOBS];

	unit_init();
	async_init(3);
	for (int k = 0; k < 2; k++) {
		gates[k] = (struct async_job){ .run = run_gate, .port = term_from_port(0) };
		async_submit(&gates[k]);
	}
	await(&in_gate, 2);
	for (int k = 0; k < JOBS; k++) { /* all, though many come while no thread is idle */
		quick[k] = (struct async_job){ .run = run_count, .port = term_from_port(0) };
		async_submit(&quick[k]);
	}
	await(&ran, JOBS);
	atomic_store(&gate_open, true);
}
END_TEST

START_TEST(test_async_submit_without_threads_runs_at_once)
{
	struct async_job job = { .run = run_count, .port = term_from_port(0) };

	unit_init();
	async_init(0);
	async_submit(&job);
	ck_assert_uint_eq(atomic_load(&ran), 1);
}
END_TEST

Suite *async_suite(void)
{
	Suite *s = suite_create("io/async");
	TCase *c = tcase_create("async");

	tcase_set_timeout(c, 20);
	tcase_add_test(c, test_async_submit_runs_each_job_once);
	tcase_add_test(c, test_async_submit_passes_by_a_blocked_thread);
	tcase_add_test(c, test_async_submit_without_threads_runs_at_once);
	suite_add_tcase(s, c);
	return s;
}
