/* SPDX-License-Identifier: Apache-2.0 */
/* Compiled patterns that are kept. */
#include "data/regex_cache.h"

#include <stdatomic.h>
#include <stdio.h>

#include "base/lock.h"
#include "unit.h"

enum { ROUNDS = 31, LONG_PARTS = 400, MUTE_LETTERS = 97 };

/* Two threads ask for the same pattern in the same round; each waits for the other at its start and at its end. */
static struct {
	_Atomic int arrived;
	const struct regex *got[2];
} meeting;

static void meet(int how_many)
{
	atomic_fetch_add(&meeting.arrived, 1);
	while (atomic_load(&meeting.arrived) < how_many)
		unit_pause();
}

/* A pattern that takes milliseconds: each of the letters that mean nothing behind a backslash is another pass over it
 * (data/regex.c). */
static size_t write_pattern(char *source, size_t room, int number)
{
	size_t n = (size_t)snprintf(source, room, "%d", number);

	for (int i = 0; i < LONG_PARTS; i++)
		n += (size_t)snprintf(source + n, room - n, "(a|b)*c[d-z]+");
	for (int i = 0; i < MUTE_LETTERS; i++)
		n += (size_t)snprintf(source + n, room - n, "\\F");
	return n;
}

static const struct regex *obtain(int number)
{
	struct regex_options o = { 0 };
	static _Thread_local char source[1 << 14];
	int error;
	size_t offset;

	return regex_obtain(source, write_pattern(source, sizeof(source), number), &o, &error, &offset);
}

static void *ask_in_rounds(void *arg)
{
	size_t me = *(const size_t *)arg;

	for (int round = 0; round < ROUNDS; round++) {
		meet(4 * round + 2);
		meeting.got[me] = obtain(round);
		meet(4 * round + 4);
	}
	return NULL;
}

START_TEST(test_regex_obtain_by_two_threads_keeps_one)
{
	static const size_t other = 1;

	regex_cache_init();
	ck_assert_int_eq(thread_start("other", ask_in_rounds, (void *)&other), 0);
	for (int round = 0; round < ROUNDS; round++) {
		meet(4 * round + 2);
		meeting.got[0] = obtain(round);
		while (atomic_load(&meeting.arrived) < 4 * round + 3) /* the other's has come: it waits for us */
			unit_pause();
		ck_assert_ptr_nonnull(meeting.got[0]);
		ck_assert_ptr_eq(meeting.got[0], meeting.got[1]);
		ck_assert(obtain(round) == meeting.got[0]);
		for (int share = 0; share < 3; share++)
			regex_release(meeting.got[0]);
		meet(4 * round + 4);
	}
}
END_TEST

START_TEST(test_regex_acquire_of_an_image_gives_the_kept_pattern)
{
	const struct regex *kept, *again;
	static uint8_t image[1 << 14];

	regex_cache_init();
	kept = obtain(17);
	ck_assert_uint_le(regex_image_bytes(kept), sizeof(image));
	regex_image_put(kept, image);
	again = regex_acquire(image, regex_image_bytes(kept));
	ck_assert_ptr_eq(again, kept);
	image[0] ^= 1;
	ck_assert_ptr_null(regex_acquire(image, regex_image_bytes(kept)));
	regex_release(again);
	regex_release(kept);
}
END_TEST

Suite *regex_cache_suite(void)
{
	Suite *s = suite_create("regex_cache");
	TCase *t = tcase_create("regex_cache");

	tcase_add_checked_fixture(t, unit_init, NULL);
	tcase_add_test(t, test_regex_obtain_by_two_threads_keeps_one);
	tcase_add_test(t, test_regex_acquire_of_an_image_gives_the_kept_pattern);
	suite_add_tcase(s, t);
	return s;
}
