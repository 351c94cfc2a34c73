/* SPDX-License-Identifier: Apache-2.0 */
/* The timing wheel, with time passing as the test says. */
#include "proc/fake.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "proc/timer_message.h"

#define MS 1000000
enum { MANY = 100000, STAYING = 1500 };

static uint64_t fired[4096];
static size_t fired_count;

static void note(void *arg)
{
	fired[fired_count++] = (uint64_t)(uintptr_t)arg;
}

/* Without a scheduler of its own the test's timers stand on the first one's wheel. */
static struct timer_wheel *wheel(void)
{
	return sched_get(1)->wheel;
}

START_TEST(test_timer_wheel_fires_in_order)
{
	static const uint64_t delays[] = { 5, 3, 64, 63, 65, 4096, 4095, 1, 300000, 20000000 };
	int64_t start;

	start = clock_monotonic_ns();
	for (size_t i = 0; i < sizeof(delays) / sizeof(delays[0]); i++)
		timer_start_call(delays[i], note, (void *)(uintptr_t)delays[i]);
	timer_wheel_run(wheel(), start);
	ck_assert_uint_eq(fired_count, 0);
	timer_wheel_run(wheel(), start + (int64_t)20000100 * MS);
	ck_assert_uint_eq(fired_count, 10);
	for (size_t i = 1; i < fired_count; i++)
		ck_assert_uint_lt(fired[i - 1], fired[i]);
}
END_TEST

START_TEST(test_timer_wheel_is_never_early)
{
	int64_t start;

	start = clock_monotonic_ns();
	for (uint64_t ms = 1; ms <= 500; ms++)
		timer_start_call(ms, note, (void *)(uintptr_t)ms);
	for (int64_t ms = 0; ms < 600; ms += 7) {
		timer_wheel_run(wheel(), start + ms * MS);
		for (size_t i = 0; i < fired_count; i++)
			ck_assert_int_le((int64_t)fired[i], ms);
	}
	ck_assert_uint_eq(fired_count, 500);
	ck_assert_int_eq(timer_wheel_deadline_ns(wheel()), 0);
}
END_TEST

START_TEST(test_timer_cancel_call)
{
	uint64_t a, b;

	a = timer_start_call(10, note, NULL);
	b = timer_start_call(10, note, NULL);
	ck_assert(timer_cancel_call(a));
	ck_assert(!timer_cancel_call(a));
	timer_wheel_run(wheel(), clock_monotonic_ns() + 20 * MS);
	ck_assert_uint_eq(fired_count, 1);
	ck_assert(!timer_cancel_call(b));
}
END_TEST

START_TEST(test_timer_wheel_holds_many)
{
	uint64_t numbers[3000];

	for (int i = 0; i < 3000; i++)
		numbers[i] = timer_start_call((uint64_t)(i * 37 % 1000 + 1), note, (void *)(uintptr_t)i);
	for (int i = 0; i < 3000; i += 3)
		ck_assert(timer_cancel_call(numbers[i]));
	timer_wheel_run(wheel(), clock_monotonic_ns() + 2000 * MS);
	ck_assert_uint_eq(fired_count, 2000);
	for (size_t i = 0; i < fired_count; i++)
		ck_assert_uint_ne(fired[i] % 3, 0);
}
END_TEST

/* Room that many took goes when there were few for a while; those that are left are found, and fire. */
START_TEST(test_timer_tidy_frees_the_room_of_many)
{
	static uint64_t numbers[MANY];
	size_t before = mem_total_bytes(), left = before + MANY * sizeof(void *);

	for (int i = 0; i < MANY; i++)
		numbers[i] = timer_start_call((uint64_t)i % 1000 + 1, note, (void *)(uintptr_t)i);
	ck_assert(!timer_tidy());
	for (int i = STAYING; i < MANY; i++)
		ck_assert(timer_cancel_call(numbers[i]));
	ck_assert_uint_gt(mem_total_bytes(), left);
	ck_assert(timer_tidy());
	ck_assert_uint_gt(mem_total_bytes(), left); /* they may come again */
	ck_assert(timer_tidy());
	ck_assert_uint_lt(mem_total_bytes(), left);
	ck_assert(!timer_tidy());
	for (int i = 0; i < STAYING; i += 2)
		ck_assert(timer_cancel_call(numbers[i]));
	timer_wheel_run(wheel(), clock_monotonic_ns() + 2000 * MS);
	ck_assert_uint_eq(fired_count, STAYING / 2);
	for (int i = 0; i < MANY; i++)
		ck_assert(!timer_cancel_call(numbers[i]));
}
END_TEST

START_TEST(test_timer_receive_sets_the_timeout)
{
	Process *p = fake_process();

	timer_start_receive(p, 30);
	ck_assert(!(atomic_load(&p->state) & PS_TIMEOUT));
	timer_wheel_run(wheel(), clock_monotonic_ns() + 40 * MS);
	ck_assert(atomic_load(&p->state) & PS_TIMEOUT);
	ck_assert(!message_wait(p));
	timer_cancel_receive(p);
	ck_assert(!(atomic_load(&p->state) & PS_TIMEOUT));
	ck_assert(p->receive_timer == NULL);
}
END_TEST

START_TEST(test_timer_message_is_wrapped)
{
	Process *p;
	Term ref, m;
	int64_t left = 0;

	p = fake_process();
	ref = timer_start_message(p, timer_deadline_ms(1000), p->id, heap_cons(&p->heap, am_ok, NIL), true);
	ck_assert(timer_read_message(ref_number(ref), &left));
	ck_assert(left <= 1000 && left > 900);
	timer_wheel_run(wheel(), clock_monotonic_ns() + 1100 * (int64_t)MS);
	ck_assert(!timer_cancel_message(ref_number(ref), &left));
	m = fake_receive(p);
	ck_assert(term_is_tuple_of(m, 3));
	ck_assert(tuple_get(m, 1) == am_timeout);
	ck_assert(ref_number(tuple_get(m, 2)) == ref_number(ref));
	ck_assert(cons_head(tuple_get(m, 3)) == am_ok);
}
END_TEST

START_TEST(test_timer_deadline_is_the_first)
{
	int64_t start, deadline;

	start = clock_monotonic_ns();
	timer_start_call(5000, note, NULL);
	timer_start_call(50, note, NULL);
	deadline = timer_wheel_deadline_ns(wheel());
	/* A slot of a higher level may begin earlier than its timers. */
	ck_assert_int_gt(deadline, start - 64 * MS);
	ck_assert_int_le(deadline, start + 52 * MS);
}
END_TEST

Suite *timer_suite(void)
{
	Suite *s = suite_create("timer");
	TCase *t = tcase_create("timer");

	tcase_add_checked_fixture(t, fake_init, NULL);
	tcase_add_test(t, test_timer_wheel_fires_in_order);
	tcase_add_test(t, test_timer_wheel_is_never_early);
	tcase_add_test(t, test_timer_cancel_call);
	tcase_add_test(t, test_timer_wheel_holds_many);
	tcase_add_test(t, test_timer_tidy_frees_the_room_of_many);
	tcase_add_test(t, test_timer_receive_sets_the_timeout);
	tcase_add_test(t, test_timer_message_is_wrapped);
	tcase_add_test(t, test_timer_deadline_is_the_first);
	suite_add_tcase(s, t);
	return s;
}
