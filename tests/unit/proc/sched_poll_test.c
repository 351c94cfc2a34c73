/* SPDX-License-Identifier: Apache-2.0 */
/* Who polls: one at a time, woken whatever comes first. */
#include "unit.h"

#include <sys/epoll.h>
#include <unistd.h>

#include "base/clock.h"
#include "proc/sched.h"
#include "proc/sched_poll.h"

static int rounds, events_seen, wakes_seen;

static void count_round(const struct epoll_event *events, int n)
{
	rounds++;
	for (int k = 0; k < n; k++)
		*(events[k].data.u64 != SCHED_POLL_WAKE ? &events_seen : &wakes_seen) += 1;
}

static void setup(void)
{
	unit_init();
	sched_init(1, 1);
	rounds = events_seen = wakes_seen = 0;
	sched_poll_dispatch = count_round;
}

/* A pipe with something to read, watched; the other end. */
static int watch_ready_pipe(int *reads)
{
	struct epoll_event e = { .events = EPOLLIN, .data.u64 = 1 };
	int ends[2];

	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_eq(write(ends[1], "x", 1), 1);
	*reads = ends[0];
	ck_assert_int_eq(epoll_ctl(sched_poll_fd(), EPOLL_CTL_ADD, ends[0], &e), 0);
	sched_poll_count(1);
	return ends[1];
}

START_TEST(test_nobody_polls_when_nothing_is_watched)
{
	ck_assert(!sched_poll_begin());
	ck_assert(!sched_poll_is_vacant());
	sched_poll_now();
	ck_assert_int_eq(rounds, 0);
}
END_TEST

START_TEST(test_one_polls_at_a_time)
{
	sched_poll_count(1);
	ck_assert(sched_poll_is_vacant());
	ck_assert(sched_poll_begin());
	ck_assert(!sched_poll_begin());
	ck_assert(!sched_poll_is_vacant());
	sched_poll_end();
	ck_assert_int_eq(rounds, 1);
	ck_assert(sched_poll_begin());
	sched_poll_end();
}
END_TEST

START_TEST(test_what_is_ready_ends_the_sleep)
{
	int reads, writes = watch_ready_pipe(&reads);

	ck_assert(sched_poll_begin());
	sched_poll_sleep(0);
	sched_poll_end();
	ck_assert_int_eq(events_seen, 1);
	ck_assert_int_eq(wakes_seen, 0);
	close(reads);
	close(writes);
}
END_TEST

START_TEST(test_what_was_found_is_not_slept_over)
{
	int reads, writes = watch_ready_pipe(&reads);

	ck_assert(sched_poll_begin());
	ck_assert(sched_poll_look());
	close(reads); /* so that the set has nothing ready any more */
	sched_poll_sleep(0);
	sched_poll_end();
	ck_assert_int_eq(events_seen, 1);
	close(writes);
}
END_TEST

START_TEST(test_a_wake_before_the_sleep_is_kept)
{
	sched_poll_count(1);
	ck_assert(sched_poll_begin());
	sched_poll_wake();
	sched_poll_wake();
	sched_poll_sleep(0);
	sched_poll_end();
	ck_assert_int_eq(wakes_seen, 1); /* once for both, and not again */
	sched_poll_now();
	ck_assert_int_eq(wakes_seen, 1);
	ck_assert_int_eq(rounds, 2);
}
END_TEST

START_TEST(test_the_deadline_ends_the_sleep)
{
	int64_t at = clock_monotonic_ns() + 1500000;

	sched_poll_count(1);
	ck_assert(sched_poll_begin());
	sched_poll_sleep(at);
	ck_assert(clock_monotonic_ns() >= at);
	sched_poll_sleep(1); /* long ago */
	sched_poll_end();
	ck_assert_int_eq(wakes_seen + events_seen, 0);
}
END_TEST

START_TEST(test_polling_is_forgotten_when_nobody_does)
{
	sched_poll_count(1);
	sched_poll_is_forgotten();
	ck_assert(sched_poll_is_forgotten());
	sched_poll_now();
	ck_assert(!sched_poll_is_forgotten());
	ck_assert(sched_poll_begin());
	ck_assert(!sched_poll_is_forgotten());
	sched_poll_end();
	ck_assert(!sched_poll_is_forgotten());
	ck_assert(sched_poll_is_forgotten());
}
END_TEST

Suite *sched_poll_suite(void)
{
	Suite *s = suite_create("sched_poll");
	TCase *c = tcase_create("sched_poll");

	tcase_add_checked_fixture(c, setup, NULL);
	tcase_add_test(c, test_nobody_polls_when_nothing_is_watched);
	tcase_add_test(c, test_one_polls_at_a_time);
	tcase_add_test(c, test_what_is_ready_ends_the_sleep);
	tcase_add_test(c, test_what_was_found_is_not_slept_over);
	tcase_add_test(c, test_a_wake_before_the_sleep_is_kept);
	tcase_add_test(c, test_the_deadline_ends_the_sleep);
	tcase_add_test(c, test_polling_is_forgotten_when_nobody_does);
	suite_add_tcase(s, c);
	return s;
}
