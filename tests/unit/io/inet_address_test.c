/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses of sockets as prim_inet encodes them, and back. */
#include <check.h>
#include <stddef.h>
#include <string.h>

#include "io/inet.h"
#include "unit.h"

static const char *read_address(struct inet_address *a, int family, const char *bytes, size_t n, size_t *left)
{
	const uint8_t *at = (const uint8_t *)bytes;
	const char *error = inet_address_read(a, family, &at, &n);

	*left = n;
	return error;
}

static void check_same(const char *bytes, size_t n, const char *back, size_t back_n, int family, int port)
{
	struct inet_address a;
	struct port_answer out;
	size_t left;

	ck_assert_ptr_null(read_address(&a, AF_INET, bytes, n, &left));
	ck_assert_uint_eq(left, 0);
	ck_assert_int_eq(a.any.sa_family, family);
	ck_assert_int_eq(inet_address_port(&a), port);
	answer_init(&out);
	ck_assert(inet_address_put(&out, &a));
	ck_assert_uint_eq(out.n, back_n);
	ck_assert_mem_eq(out.bytes, back, back_n);
	answer_free(&out);
}

START_TEST(test_inet_address_of_each_family)
{
	check_same("\1\x12\x34\1\2\3\4", 7, "\1\x12\x34\1\2\3\4", 7, AF_INET, 0x1234);
	check_same("\2\0\x50" "0123456789abcdef" "\0\0\0\1\0\0\0\2", 27, "\2\0\x50" "0123456789abcdef", 19, AF_INET6,
		   80);
	check_same("\5\4/tmp", 6, "\5\4/tmp", 6, AF_UNIX, -1);
	check_same("\5\3\0ab", 5, "\5\3\0ab", 5, AF_UNIX, -1);
	check_same("\3\0\7", 3, "\1\0\7\0\0\0\0", 7, AF_INET, 7);
	check_same("\4\0\7", 3, "\1\0\7\x7f\0\0\1", 7, AF_INET, 7);
}
END_TEST

START_TEST(test_inet_address_that_is_cut)
{
	static const char *const whole[] = { "\1\x12\x34\1\2\3\4", "\2\0\x50" "0123456789abcdef" "\0\0\0\1\0\0\0\2",
					     "\5\4/tmp", "\3\0\7" };
	static const size_t sizes[] = { 7, 27, 6, 3 };
	struct inet_address a;
	size_t left;

	for (unsigned i = 0; i < 4; i++)
		for (size_t n = 0; n < sizes[i]; n++)
			ck_assert_str_eq(read_address(&a, AF_INET, whole[i], n, &left), "einval");
}
END_TEST

START_TEST(test_inet_address_that_is_none)
{
	struct inet_address a;
	char local[200] = { 5, (char)120 };
	size_t left;

	ck_assert_str_eq(read_address(&a, AF_INET, "\0\0\0\0\0\0\0", 7, &left), "eafnosupport");
	ck_assert_str_eq(read_address(&a, AF_UNIX, "\3\0\7", 3, &left), "einval");
	memset(local + 2, 'x', 120); /* longer than the kernel takes */
	ck_assert_str_eq(read_address(&a, AF_UNIX, local, 122, &left), "einval");
	local[1] = 108;
	ck_assert_str_eq(read_address(&a, AF_UNIX, local, 110, &left), "einval");
	local[1] = 107;
	ck_assert_ptr_null(read_address(&a, AF_UNIX, local, 109, &left));
	ck_assert_uint_eq(a.size, offsetof(struct sockaddr_un, sun_path) + 107);
}
END_TEST

START_TEST(test_inet_address_leaves_what_follows)
{
	struct inet_address a;
	size_t left;

	ck_assert_ptr_null(read_address(&a, AF_INET, "\1\0\1\1\2\3\4rest", 11, &left));
	ck_assert_uint_eq(left, 4);
}
END_TEST

Suite *inet_address_suite(void)
{
	Suite *s = suite_create("io/inet_address");
	TCase *c = tcase_create("inet_address");

	tcase_add_checked_fixture(c, unit_init, NULL);
	tcase_add_test(c, test_inet_address_of_each_family);
	tcase_add_test(c, test_inet_address_that_is_cut);
	tcase_add_test(c, test_inet_address_that_is_none);
	tcase_add_test(c, test_inet_address_leaves_what_follows);
	suite_add_tcase(s, c);
	return s;
}
