/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of descriptors with several threads: who is told, and how it ends. */
#include "io/poll.h"

#include <check.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "base/lock.h"
#include "proc/sched.h"
#include "proc/sched_job.h"
#include "proc/sched_poll.h"
#include "unit.h"

#include <sys/resource.h> /* behind proc/process.h, which has a PRIO_MAX of its own */

enum { WATCHES = 23 };

struct seen {
	struct poll_watch watch; /* first */
	int writes;              /* the pipe's other end */
	atomic_int ready, dropped, running;
	atomic_bool waits, goes_on; /* in `ready` */
};

static void setup(void)
{
	unit_init();
	sched_init(1, 1);
}

static void rest(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

/* What a scheduler would do. */
static void run_jobs(void)
{
	sched_poll_now();
	while (sched_job_run())
		;
}

static void await(atomic_int *n, int wanted)
{
	for (int k = 0; k < 5000 && atomic_load(n) != wanted; k++) {
		run_jobs();
		rest();
	}
	ck_assert_int_eq(atomic_load(n), wanted);
}

static void count_ready(struct poll_watch *w, unsigned events)
{
	struct seen *s = (struct seen *)w;
	char byte;

	ck_assert_uint_eq(events, WATCH_IN);
	ck_assert_int_eq(atomic_load(&s->dropped), 0);
	atomic_fetch_add(&s->running, 1);
	atomic_store(&s->waits, true);
	while (!atomic_load(&s->goes_on))
		rest();
	ck_assert_int_eq(read(w->fd, &byte, 1), 1);
	atomic_fetch_sub(&s->running, 1);
	atomic_fetch_add(&s->ready, 1);
}

static void count_dropped(struct poll_watch *w)
{
	struct seen *s = (struct seen *)w;

	ck_assert_int_eq(atomic_load(&s->running), 0);
	atomic_fetch_add(&s->dropped, 1);
}

static void watch_for(struct seen *s, int fd, bool of_library)
{
	*s = (struct seen){
		.watch = { .fd = fd, .ready = count_ready, .dropped = count_dropped, .of_library = of_library }
	};
	atomic_store(&s->goes_on, true);
	ck_assert_int_eq(poll_add(&s->watch, WATCH_IN), 0);
}

static void watch(struct seen *s, int fd)
{
	watch_for(s, fd, false);
}

static void watch_pipe_for(struct seen *s, bool of_library)
{
	int ends[2];

	ck_assert_int_eq(pipe(ends), 0);
	watch_for(s, ends[0], of_library);
	s->writes = ends[1];
}

static void watch_pipe(struct seen *s)
{
	watch_pipe_for(s, false);
}

static void drop(struct seen *s)
{
	poll_drop(&s->watch);
	await(&s->dropped, 1);
	close(s->watch.fd);
	close(s->writes);
}

static size_t watched(void)
{
	size_t n = 0;

	for (unsigned row = 0; row < poll_counts_rows(); row++)
		n += poll_counts(row).watched;
	return n;
}

START_TEST(test_each_is_told_by_its_set)
{
	static const struct poll_settings settings[] = {
		{ 1, 1, true }, { 1, 1, false }, { 2, 3, false }, { 4, 4, false }
	};
	struct seen all[WATCHES];
	size_t before;

	poll_init(&settings[_i]);
	before = watched();
	for (int i = 0; i < WATCHES; i++)
		watch_pipe(&all[i]);
	ck_assert_uint_eq(watched(), before + WATCHES);
	for (int round = 1; round <= 3; round++) {
		for (int i = 0; i < WATCHES; i++)
			ck_assert_int_eq(write(all[i].writes, "x", 1), 1);
		for (int i = 0; i < WATCHES; i++)
			await(&all[i].ready, round);
		for (int i = 0; i < WATCHES; i++)
			poll_want(&all[i].watch, WATCH_IN);
	}
	for (int i = 0; i < WATCHES; i++)
		drop(&all[i]);
	ck_assert_uint_eq(watched(), before);
}
END_TEST

/* What the sets know is what the kernel waits for, but of a descriptor that was closed without dropping it. */
START_TEST(test_check_finds_what_is_not_waited_for)
{
	static const struct poll_settings settings[] = { { 1, 1, true }, { 2, 3, false } };
	struct poll_check before, check;
	struct seen ports[3], library, closed;

	poll_init(&settings[_i]);
	ck_assert_int_eq(poll_check(&before), 0);
	ck_assert_uint_eq(before.wrong, 0);
	for (int i = 0; i < 3; i++)
		watch_pipe(&ports[i]);
	watch_pipe(&closed);
	watch_pipe_for(&library, true);
	ck_assert_int_eq(poll_check(&check), 0);
	ck_assert_uint_eq(check.wrong, 0);
	ck_assert_uint_eq(check.waited_for, before.waited_for + 5);
	ck_assert_uint_eq(check.of_ports, before.of_ports + 4);
	ck_assert_uint_eq(check.of_libraries, before.of_libraries + 1);
	close(closed.watch.fd);
	ck_assert_int_eq(poll_check(&check), 0);
	ck_assert_uint_eq(check.wrong, 1);
	ck_assert_uint_eq(check.waited_for, before.waited_for + 4);
	drop(&library);
	for (int i = 0; i < 3; i++)
		drop(&ports[i]);
	poll_drop(&closed.watch);
	await(&closed.dropped, 1);
	ck_assert_int_eq(poll_check(&check), 0);
	ck_assert_mem_eq(&check, &before, sizeof(check));
}
END_TEST

START_TEST(test_what_is_not_wanted_is_not_told)
{
	struct seen s;

	poll_init(&(struct poll_settings){ .sets = 1, .threads = 2 });
	watch_pipe(&s);
	ck_assert_int_eq(write(s.writes, "xy", 2), 2);
	await(&s.ready, 1);
	for (int k = 0; k < 20; k++)
		rest();
	ck_assert_int_eq(atomic_load(&s.ready), 1);
	poll_want(&s.watch, WATCH_IN);
	await(&s.ready, 2);
	drop(&s);
}
END_TEST

START_TEST(test_dropped_waits_for_the_call_that_runs)
{
	struct seen s;

	poll_init(&(struct poll_settings){ .sets = 1, .threads = 3 });
	watch_pipe(&s);
	atomic_store(&s.goes_on, false);
	ck_assert_int_eq(write(s.writes, "x", 1), 1);
	while (!atomic_load(&s.waits))
		rest();
	poll_drop(&s.watch);
	for (int k = 0; k < 20; k++) {
		run_jobs();
		rest();
	}
	ck_assert_int_eq(atomic_load(&s.dropped), 0);
	atomic_store(&s.goes_on, true);
	await(&s.dropped, 1);
	ck_assert_int_eq(atomic_load(&s.ready), 1);
}
END_TEST

/* One waits in its call; the others of the set are told by the other thread. */
START_TEST(test_one_that_blocks_keeps_no_other)
{
	struct seen blocks, others[WATCHES];

	poll_init(&(struct poll_settings){ .sets = 1, .threads = 2 });
	watch_pipe(&blocks);
	atomic_store(&blocks.goes_on, false);
	ck_assert_int_eq(write(blocks.writes, "x", 1), 1);
	while (!atomic_load(&blocks.waits))
		rest();
	for (int i = 0; i < WATCHES; i++) {
		watch_pipe(&others[i]);
		ck_assert_int_eq(write(others[i].writes, "x", 1), 1);
		await(&others[i].ready, 1);
		drop(&others[i]);
	}
	atomic_store(&blocks.goes_on, true);
	await(&blocks.ready, 1);
	drop(&blocks);
}
END_TEST

/* The number is the next one's before the first was dropped: what is done to the first concerns nobody else. */
START_TEST(test_a_number_that_was_taken_over)
{
	struct seen first, second;
	int ends[2];

	poll_init(&(struct poll_settings){ .sets = 1, .threads = 1, .by_schedulers = true });
	watch_pipe(&first);
	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_eq(dup2(ends[0], first.watch.fd), first.watch.fd);
	watch(&second, first.watch.fd);
	second.writes = ends[1];
	poll_want(&first.watch, 0);
	poll_drop(&first.watch);
	await(&first.dropped, 1);
	ck_assert_int_eq(write(second.writes, "x", 1), 1);
	await(&second.ready, 1);
	ck_assert_int_eq(atomic_load(&first.ready), 0);
	drop(&second);
}
END_TEST

START_TEST(test_a_file_is_always_ready)
{
	struct seen s;
	struct poll_counts counts;

	poll_init(&(struct poll_settings){ .sets = 2, .threads = 2, .by_schedulers = true });
	watch(&s, open("Makefile", O_RDONLY));
	s.writes = -1;
	counts = poll_counts(0);
	ck_assert(counts.files);
	ck_assert_uint_eq(counts.watched, 1);
	for (int n = 1; n <= 23; n++) {
		await(&s.ready, n);
		poll_want(&s.watch, WATCH_IN);
	}
	poll_want(&s.watch, 0);
	drop(&s);
	ck_assert_uint_eq(poll_counts(0).watched, 0);
}
END_TEST

/* The system refuses all threads of a set but some: these do the work. As a user that runs nothing else, since the
 * limit counts all of a user's threads, and not those of root. */
START_TEST(test_fewer_threads_than_were_asked_for)
{
	enum { NOBODY_ELSE = 54321 };
	struct rlimit before, few;
	struct seen s;

	if (setresuid(NOBODY_ELSE, NOBODY_ELSE, NOBODY_ELSE) < 0)
		return; /* not root */
	ck_assert_int_eq(getrlimit(RLIMIT_NPROC, &before), 0);
	few = before;
	few.rlim_cur = 4; /* a sanitizer may have one of them */
	ck_assert_int_eq(setrlimit(RLIMIT_NPROC, &few), 0);
	poll_init(&(struct poll_settings){ .sets = 1, .threads = 23 });
	watch_pipe(&s);
	ck_assert_int_eq(write(s.writes, "x", 1), 1);
	await(&s.ready, 1);
	drop(&s);
	ck_assert_int_eq(setrlimit(RLIMIT_NPROC, &before), 0); /* what looks for leaks starts a thread */
}
END_TEST

START_TEST(test_rows_are_as_many_as_otp_has)
{
	poll_init(&(struct poll_settings){ .sets = 2, .threads = 5, .by_schedulers = true });
	ck_assert_uint_eq(poll_counts_rows(), 4);
	ck_assert_uint_eq(poll_counts(1).threads, 0);
	ck_assert_uint_eq(poll_counts(2).threads, 3);
	ck_assert_uint_eq(poll_counts(3).threads, 2);
}
END_TEST

START_TEST(test_schedulers_that_do_not_wait_have_no_row)
{
	poll_init(&(struct poll_settings){ .sets = 1, .threads = 5 });
	ck_assert_uint_eq(poll_counts_rows(), 2);
	ck_assert_uint_eq(poll_counts(1).threads, 5);
}
END_TEST

Suite *poll_suite(void)
{
	Suite *s = suite_create("poll");
	TCase *c = tcase_create("poll");

	tcase_add_checked_fixture(c, setup, NULL);
	tcase_add_loop_test(c, test_each_is_told_by_its_set, 0, 4);
	tcase_add_loop_test(c, test_check_finds_what_is_not_waited_for, 0, 2);
	tcase_add_test(c, test_what_is_not_wanted_is_not_told);
	tcase_add_test(c, test_dropped_waits_for_the_call_that_runs);
	tcase_add_test(c, test_one_that_blocks_keeps_no_other);
	tcase_add_test(c, test_a_number_that_was_taken_over);
	tcase_add_test(c, test_a_file_is_always_ready);
	tcase_add_test(c, test_fewer_threads_than_were_asked_for);
	tcase_add_test(c, test_rows_are_as_many_as_otp_has);
	tcase_add_test(c, test_schedulers_that_do_not_wait_have_no_row);
	suite_add_tcase(s, c);
	return s;
}
