/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "data/big.h"
#include "data/number.h"
#include "unit.h"

static Term read_number(const char *text)
{
	Term t = num_from_text(unit_heap(), text, strlen(text), 10);

	ck_assert(t != TERM_NONE);
	return t;
}

static void assert_number(Term t, const char *expected)
{
	char text[600];

	ck_assert(t != TERM_NONE);
	ck_assert_uint_le(num_text_size(t, 10), sizeof(text));
	text[num_text_put(t, 10, text)] = 0;
	ck_assert_str_eq(text, expected);
}

typedef Term (*operation)(struct heap *h, Term a, Term b);

static const struct {
	operation run;
	const char *a, *b, *result;
} integers[] = {
	{ num_add, "576460752303423487", "1", "576460752303423488" },
	{ num_sub, "576460752303423488", "1", "576460752303423487" },
	{ num_sub, "-576460752303423488", "1", "-576460752303423489" },
	{ num_add, "18446744073709551615", "1", "18446744073709551616" },
	{ num_mul, "18446744073709551616", "-18446744073709551616", "-340282366920938463463374607431768211456" },
	{ num_div_int, "1361129467683753853853498429727072845824", "12345678901234567890123", "110251487874647453" },
	{ num_rem, "-1361129467683753853853498429727072845824", "12345678901234567890123", "-1644331706174407039105" },
	{ num_div_int, "-7", "2", "-3" },
	{ num_rem, "-7", "2", "-1" },
	{ num_div_int, "-576460752303423488", "-1", "576460752303423488" },
	{ num_bsr, "-1361129467683753853853498429727072845823", "67", "-9223372036854775808" },
	{ num_band, "-1267650600228229401496703205376", "633825300114114700748351590343", "0" },
	{ num_bxor, "-1267650600228229401496703205376", "12345", "-1267650600228229401496703193031" },
	{ num_band, "1361129467683753855034090050444484161593", "1199038364791120855047", "1180591620717411303425" },
	{ num_band, "1199038364791120855047", "1361129467683753855034090050444484161593", "1180591620717411303425" },
	{ num_band, "1361129467683753855034090050444484161593", "255", "57" },
	{ num_band, "1361129467683753855034090050444484161593", "0", "0" },
	{ num_bor, "1361129467683753855034090050444484161593", "1199038364791120855047",
	  "1361129467683753855052536794518193713215" },
	{ num_bor, "1199038364791120855047", "1361129467683753855034090050444484161593",
	  "1361129467683753855052536794518193713215" },
	{ num_bor, "1361129467683753855034090050444484161593", "255", "1361129467683753855034090050444484161791" },
	{ num_bor, "1361129467683753855034090050444484161593", "0", "1361129467683753855034090050444484161593" },
	{ num_bxor, "1361129467683753855034090050444484161593", "1199038364791120855047",
	  "1361129467683753853871945173800782409790" },
	{ num_bxor, "0", "1361129467683753855034090050444484161593", "1361129467683753855034090050444484161593" },
	{ num_bxor, "1361129467683753855034090050444484161593", "1361129467683753855034090050444484161593", "0" },
	{ num_bxor, "1361129467683753855034090050444484161593", "1361129467683753855034090050444484161592", "1" },
	{ num_bsl, "-1", "70", "-1180591620717411303424" },
	{ num_bsr, "-1", "1180591620717411303424", "-1" },
	{ num_bsl, "0", "1180591620717411303424", "0" },
	{ num_bsl, "1180591620717411303424", "-70", "1" },
};

START_TEST(test_num_integers_as_stock)
{
	assert_number(integers[_i].run(unit_heap(), read_number(integers[_i].a), read_number(integers[_i].b)),
		      integers[_i].result);
}
END_TEST

START_TEST(test_num_failure_tells_limit_from_badarith)
{
	struct heap *h = unit_heap();
	Term huge = read_number("1180591620717411303424");

	ck_assert(num_bsl(h, SMALL(1), huge) == TERM_NONE);
	ck_assert(num_failure(SMALL(1), huge) == am_system_limit);
	ck_assert(num_bsr(h, SMALL(1), num_negate(h, huge)) == TERM_NONE);
	ck_assert(num_add(h, SMALL(1), am_ok) == TERM_NONE);
	ck_assert(num_failure(SMALL(1), am_ok) == am_badarith);
	ck_assert(num_div_int(h, SMALL(1), SMALL(0)) == TERM_NONE);
	ck_assert(num_div_float(h, SMALL(1), heap_float(h, 0.0)) == TERM_NONE);
	ck_assert(num_mul(h, heap_float(h, 1e300), heap_float(h, 1e300)) == TERM_NONE);
}
END_TEST

/* The largest integer has 64 * (2^19 - 1) bits. */
START_TEST(test_num_bsl_at_limit)
{
	struct heap h;

	unit_init();
	heap_init(&h, 3 << 19);
	ck_assert(num_bsl(&h, SMALL(1), SMALL(64 * ((1 << 19) - 1) - 1)) != TERM_NONE);
	ck_assert(num_bsl(&h, SMALL(1), SMALL(64 * ((1 << 19) - 1))) == TERM_NONE);
	heap_free(&h);
}
END_TEST

START_TEST(test_num_text_in_bases)
{
	struct heap *h = unit_heap();
	static const char expected[] = "-1OMFRO7ZWMUMR3UMXUDZYJ6SCG";
	char text[200];
	Term t = num_negate(h, num_bsl(h, SMALL(1), SMALL(130)));

	text[num_text_put(t, 36, text)] = 0;
	ck_assert_str_eq(text, expected);
	ck_assert_int_eq(big_compare(num_from_text(h, expected, strlen(expected), 36), t), 0);
	ck_assert(num_from_text(h, "ff", 2, 16) == SMALL(255));
	ck_assert(num_from_text(h, "+5", 2, 10) == SMALL(5));
	ck_assert(num_from_text(h, "", 0, 10) == TERM_NONE);
	ck_assert(num_from_text(h, "-", 1, 10) == TERM_NONE);
	ck_assert(num_from_text(h, "12a", 3, 10) == TERM_NONE);
}
END_TEST

START_TEST(test_num_from_double_exact)
{
	struct heap *h = unit_heap();

	assert_number(num_from_double_trunc(h, 2.5), "2");
	assert_number(num_from_double_trunc(h, -2.5), "-2");
	assert_number(num_from_double_trunc(h, 0.99999999999999989), "0");
	assert_number(num_from_double_trunc(h, 1e30), "1000000000000000019884624838656");
	assert_number(num_from_double_trunc(h, 1e20), "100000000000000000000");
}
END_TEST

START_TEST(test_big_compare_double_exact)
{
	Term above = read_number("9007199254740993"), far = read_number("100000000000000000001");

	ck_assert_int_gt(big_compare_double(above, 9007199254740992.0), 0);
	ck_assert_int_gt(big_compare_double(far, 1e20), 0);
	ck_assert_int_eq(big_compare_double(read_number("100000000000000000000"), 1e20), 0);
	ck_assert_int_lt(big_compare_double(SMALL(1), 1.5), 0);
	ck_assert_int_gt(big_compare_double(SMALL(-1), -1.5), 0);
	ck_assert_int_lt(big_compare_double(far, 1e300), 0);
}
END_TEST

START_TEST(test_num_from_bytes_either_end)
{
	static const uint8_t bytes[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 };
	struct heap *h = unit_heap();

	assert_number(num_from_bytes(h, bytes, 10, false, false), "18591708106338011145");
	assert_number(num_from_bytes(h, bytes, 10, true, true), "-42649378395939397566720");
	ck_assert(num_from_bytes(h, bytes, 1, true, true) == SMALL(0));
	ck_assert(num_from_bytes(h, bytes, 0, true, false) == SMALL(0));
}
END_TEST

Suite *number_suite(void)
{
	Suite *s = suite_create("number");
	TCase *c = tcase_create("number");

	tcase_add_loop_test(c, test_num_integers_as_stock, 0, sizeof(integers) / sizeof(integers[0]));
	tcase_add_test(c, test_num_failure_tells_limit_from_badarith);
	tcase_add_test(c, test_num_bsl_at_limit);
	tcase_add_test(c, test_num_text_in_bases);
	tcase_add_test(c, test_num_from_double_exact);
	tcase_add_test(c, test_big_compare_double_exact);
	tcase_add_test(c, test_num_from_bytes_either_end);
	suite_add_tcase(s, c);
	return s;
}
