/* SPDX-License-Identifier: Apache-2.0 */
/* Queues of bytes: what goes in comes out, whatever the pieces. */
#include "io/byte_queue.h"

#include <check.h>
#include <string.h>

#include "unit.h"

static struct byte_queue q;

static void setup(void)
{
	unit_init();
	byte_queue_init(&q);
}

static void teardown(void)
{
	byte_queue_clear(&q);
}

static void check_bytes(const char *want)
{
	char got[8192];

	ck_assert_uint_eq(q.size_bytes, strlen(want));
	byte_queue_copy(&q, got, q.size_bytes);
	got[q.size_bytes] = '\0';
	ck_assert_str_eq(got, want);
}

START_TEST(test_byte_queue_put_gathers)
{
	struct iovec iov[4];

	ck_assert(byte_queue_put(&q, "abc", 3));
	ck_assert(byte_queue_put(&q, "", 0));
	ck_assert(byte_queue_put(&q, "defg", 4));
	check_bytes("abcdefg");
	ck_assert_int_eq(byte_queue_peek(&q, iov, 4), 1);
	ck_assert_uint_eq(iov[0].iov_len, 7);
}
END_TEST

START_TEST(test_byte_queue_put_more_than_a_piece)
{
	char big[5000], got[5001];
	struct iovec iov[4];

	memset(big, 'x', sizeof(big));
	big[4999] = 'y';
	ck_assert(byte_queue_put(&q, "ab", 2));
	ck_assert(byte_queue_put(&q, big, sizeof(big)));
	ck_assert_uint_eq(q.size_bytes, 5002);
	ck_assert_int_eq(byte_queue_peek(&q, iov, 4), 2);
	byte_queue_drop(&q, 2);
	byte_queue_copy(&q, got, 5000);
	ck_assert_mem_eq(got, big, 5000);
}
END_TEST

START_TEST(test_byte_queue_put_binary_shares)
{
	struct binary *b = binary_new(6);
	uint8_t *bytes;
	size_t n;

	memcpy(b->data, "shared", 6);
	byte_queue_put_binary(&q, b, b->data + 1, 4);
	byte_queue_put_binary(&q, b, b->data, 0);
	ck_assert_uint_eq(atomic_load(&b->refs), 2);
	ck_assert_ptr_eq(byte_queue_head(&q, &bytes, &n), b);
	ck_assert_uint_eq(n, 4);
	check_bytes("hare");
	/* Nothing is written behind bytes that others hold. */
	ck_assert(byte_queue_put(&q, "!", 1));
	check_bytes("hare!");
	ck_assert_int_eq(b->data[5], 'd');
	byte_queue_drop(&q, 5);
	ck_assert_uint_eq(atomic_load(&b->refs), 1);
	binary_unref(b);
}
END_TEST

START_TEST(test_byte_queue_drop_within_a_piece)
{
	ck_assert(byte_queue_put(&q, "0123456789", 10));
	byte_queue_drop(&q, 4);
	check_bytes("456789");
	ck_assert(byte_queue_put(&q, "ab", 2));
	byte_queue_drop(&q, 5);
	check_bytes("9ab");
	byte_queue_drop(&q, 3);
	ck_assert_uint_eq(q.size_bytes, 0);
	ck_assert_ptr_null(q.first);
}
END_TEST

START_TEST(test_byte_queue_find_across_pieces)
{
	struct binary *b = binary_new(3);

	memcpy(b->data, "x\ny", 3);
	ck_assert(byte_queue_put(&q, "line", 4));
	ck_assert_int_eq(byte_queue_find(&q, '\n'), -1);
	byte_queue_put_binary(&q, b, b->data, 3);
	binary_unref(b);
	ck_assert_int_eq(byte_queue_find(&q, '\n'), 5);
	ck_assert_int_eq(byte_queue_find(&q, 'l'), 0);
}
END_TEST

START_TEST(test_byte_queue_move_appends)
{
	struct byte_queue other;

	byte_queue_init(&other);
	byte_queue_move(&q, &other);
	ck_assert_uint_eq(q.size_bytes, 0);
	ck_assert(byte_queue_put(&q, "one ", 4));
	ck_assert(byte_queue_put(&other, "two", 3));
	byte_queue_move(&q, &other);
	check_bytes("one two");
	ck_assert_uint_eq(other.size_bytes, 0);
	ck_assert_ptr_null(other.first);
}
END_TEST

Suite *byte_queue_suite(void)
{
	Suite *s = suite_create("io/byte_queue");
	TCase *c = tcase_create("byte_queue");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, test_byte_queue_put_gathers);
	tcase_add_test(c, test_byte_queue_put_more_than_a_piece);
	tcase_add_test(c, test_byte_queue_put_binary_shares);
	tcase_add_test(c, test_byte_queue_drop_within_a_piece);
	tcase_add_test(c, test_byte_queue_find_across_pieces);
	tcase_add_test(c, test_byte_queue_move_appends);
	suite_add_tcase(s, c);
	return s;
}
