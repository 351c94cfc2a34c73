/* SPDX-License-Identifier: Apache-2.0 */
/* Fragments of messages become whole; what is held of those that are not is bounded. */
#include "dist/dist_packet.h"

#include <check.h>
#include <string.h>

#include "base/alloc.h"
#include "unit.h"

enum { HELD_MAX = 100, FRAGMENT = 40 };

/* A fragment of FRAGMENT bytes without atoms. left: this one and those that follow. */
static enum dist_read read_fragment(struct dist_reader *r, uint8_t id, uint8_t left, bool is_first,
				    struct dist_terms *t)
{
	uint8_t bytes[19 + FRAGMENT] = { 131, is_first ? 69 : 70, [9] = id, [17] = left };
	size_t head = is_first ? 19 : 18;

	memset(bytes + head, left, FRAGMENT);
	return dist_reader_read(r, bytes, head + FRAGMENT, t);
}

START_TEST(test_fragments_become_a_message)
{
	struct dist_reader *r;
	struct dist_terms t;

	unit_init();
	r = dist_reader_new(HELD_MAX);
	for (uint8_t id = 1; id <= 3; id++) { /* what became whole is not held any more */
		ck_assert_int_eq(read_fragment(r, id, 2, true, &t), DIST_READ_PART);
		ck_assert_int_eq(read_fragment(r, id, 1, false, &t), DIST_READ_WHOLE);
		ck_assert_uint_eq(t.size_bytes, 2 * FRAGMENT);
		ck_assert_uint_eq(t.bytes[FRAGMENT - 1], 2);
		ck_assert_uint_eq(t.bytes[FRAGMENT], 1);
		binary_unref(t.owned);
	}
	dist_reader_free(r);
}
END_TEST

START_TEST(test_fragments_of_one_message_have_a_limit)
{
	struct dist_reader *r;
	struct dist_terms t;

	unit_init();
	r = dist_reader_new(HELD_MAX);
	ck_assert_int_eq(read_fragment(r, 1, 9, true, &t), DIST_READ_PART);
	ck_assert_int_eq(read_fragment(r, 1, 8, false, &t), DIST_READ_PART);
	ck_assert_int_eq(read_fragment(r, 1, 7, false, &t), DIST_READ_BAD);
	dist_reader_free(r);
}
END_TEST

START_TEST(test_fragments_of_all_messages_have_a_limit)
{
	struct dist_reader *r;
	struct dist_terms t;

	unit_init();
	r = dist_reader_new(HELD_MAX);
	ck_assert_int_eq(read_fragment(r, 1, 2, true, &t), DIST_READ_PART);
	ck_assert_int_eq(read_fragment(r, 2, 2, true, &t), DIST_READ_PART);
	ck_assert_int_eq(read_fragment(r, 3, 2, true, &t), DIST_READ_BAD);
	dist_reader_free(r);
}
END_TEST

Suite *packet_suite(void)
{
	Suite *s = suite_create("packet");
	TCase *tc = tcase_create("fragments");

	tcase_add_test(tc, test_fragments_become_a_message);
	tcase_add_test(tc, test_fragments_of_one_message_have_a_limit);
	tcase_add_test(tc, test_fragments_of_all_messages_have_a_limit);
	suite_add_tcase(s, tc);
	return s;
}
