/* SPDX-License-Identifier: Apache-2.0 */
/* Who may wait for whom, and what a thread is told to wait for. */
#include "base/wait.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/lock.h"
#include "unit.h"

enum { STOP = 1, HOLD, ROWS };

START_TEST(test_no_wait_of_the_table_could_last_until_it_has_ended)
{
	const struct wait_row *row = wait_find_cycle(wait_rows(), WAIT_KINDS);

	ck_assert_msg(row == NULL, "%s", row != NULL ? row->name : "");
}
END_TEST

/* Who stops the world waits for those inside; one of them waits for a process, which runs when nobody stops it. */
START_TEST(test_a_cycle_is_found)
{
	struct wait_row rows[ROWS] = {
		[STOP] = { "stop", AT_OUTSIDE, AT_INSIDE, 0, "" },
		[HOLD] = { "hold", AT_INSIDE, 0, 1u << STOP, "" },
	};

	ck_assert_ptr_nonnull(wait_find_cycle(rows, ROWS));
	rows[HOLD].at = AT_OUTSIDE;
	ck_assert_ptr_null(wait_find_cycle(rows, ROWS));
	rows[STOP].until = 1u << HOLD;
	ck_assert_ptr_nonnull(wait_find_cycle(rows, ROWS));
}
END_TEST

static struct {
	struct lock lock;
	struct cond cond;
	bool waits, may_end;
} seen;

static void *wait_here(void *arg)
{
	(void)arg;
	lock_acquire(&seen.lock);
	seen.waits = true;
	while (!seen.may_end)
		cond_wait(WAIT_work, &seen.cond, &seen.lock);
	seen.waits = false;
	lock_release(&seen.lock);
	return NULL;
}

static void note_line(const char *text, void *arg)
{
	if (strstr(text, "a_waiter, outside: waits for work, ") == text)
		*(unsigned *)arg += 1;
}

static unsigned count_waiters(void)
{
	static struct wait_look look;
	unsigned n = 0;

	wait_look(&look);
	wait_each(&look, note_line, &n);
	return n;
}

START_TEST(test_threads_are_told_while_they_live)
{
	lock_init(&seen.lock, LOCK_async_queue);
	cond_init(&seen.cond);
	ck_assert_uint_eq(count_waiters(), 0);
	ck_assert_int_eq(thread_start("a_waiter", wait_here, NULL), 0);
	while (count_waiters() != 1)
		unit_pause();
	lock_acquire(&seen.lock);
	seen.may_end = true;
	lock_release(&seen.lock);
	cond_broadcast(&seen.cond);
	while (count_waiters() != 0)
		unit_pause();
}
END_TEST

static void *end_at_once(void *arg)
{
	atomic_store((atomic_bool *)arg, true);
	return NULL;
}

/* As one that writes to what nobody reads does. */
static void begin_another(const char *text, void *arg)
{
	atomic_bool ran = false;

	(void)text;
	ck_assert_int_eq(thread_start("another", end_at_once, &ran), 0);
	while (!atomic_load(&ran))
		unit_pause();
	*(unsigned *)arg += 1;
}

START_TEST(test_threads_begin_while_others_are_told)
{
	static struct wait_look look;
	unsigned told = 0;

	wait_thread_begins("a_teller");
	wait_look(&look);
	wait_each(&look, begin_another, &told);
	wait_thread_ends();
	ck_assert_uint_eq(told, 1);
}
END_TEST

static void note_text(const char *text, void *arg)
{
	snprintf(arg, 160, "%s", text);
}

START_TEST(test_threads_that_were_not_seen_are_said)
{
	static struct wait_look look = { .threads = 24, .count = 1,
					 .seen = { { "first", true, WAIT_work, 1234567890 } } };
	char text[160];

	wait_each(&look, note_text, text);
	ck_assert_str_eq(text, "23 threads more, of which nothing is told");
	look.threads = 1;
	wait_each(&look, note_text, text);
	ck_assert_str_eq(text, "first, inside: waits for work, 1.234 s");
}
END_TEST

#ifdef ERLVM_DEBUG
START_TEST(test_a_wait_in_a_wrong_place_aborts)
{
	wait_set_inside(true);
	wait_begin(WAIT_process_turn);
}
END_TEST
#endif

Suite *base_wait_suite(void)
{
	Suite *s = suite_create("base wait");
	TCase *c = tcase_create("wait");

	tcase_add_test(c, test_threads_begin_while_others_are_told);
	tcase_add_test(c, test_threads_that_were_not_seen_are_said);
	tcase_add_test(c, test_no_wait_of_the_table_could_last_until_it_has_ended);
	tcase_add_test(c, test_a_cycle_is_found);
	tcase_add_test(c, test_threads_are_told_while_they_live);
#ifdef ERLVM_DEBUG
	tcase_add_test_raise_signal(c, test_a_wait_in_a_wrong_place_aborts, SIGABRT);
#endif
	suite_add_tcase(s, c);
	return s;
}
