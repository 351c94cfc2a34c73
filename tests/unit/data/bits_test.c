/* SPDX-License-Identifier: Apache-2.0 */
/* The bit syntax. Expected values were printed by a stock OTP 25. */
#include "data/bits_build.h"

#include "data/number.h"
#include "unit.h"

static struct match_ctx *match_term(struct heap *h, Term t)
{
	return match_ptr(bits_put_match(heap_alloc(h, MATCH_WORDS), t));
}

static struct match_ctx *match_bytes(const void *bytes, size_t n)
{
	struct heap *h = unit_heap();

	return match_term(h, binary_put(h, bytes, n));
}

static Term put_part(struct heap *h, const struct match_ctx *m, uint64_t start, uint64_t size)
{
	Term *top = heap_alloc(h, BINARY_SUB_WORDS);

	return bits_put_part(&top, m, start, size);
}

static Term int_from_text(const char *text)
{
	return num_from_text(unit_heap(), text, strlen(text), 10);
}

static void check_bits(Term t, const void *bytes, uint64_t size)
{
	struct bits_view v;

	ck_assert(t != TERM_NONE);
	v = binary_view(t);
	ck_assert_uint_eq(v.size, size);
	ck_assert_int_eq(bitcopy_compare(v.base, v.offset, bytes, 0, size), 0);
}

static void check_int(Term t, const char *text)
{
	char digits[200];

	ck_assert(t != TERM_NONE);
	digits[num_text_put(t, 10, digits)] = 0;
	ck_assert_str_eq(digits, text);
}

START_TEST(test_get_integer_small)
{
	static const uint8_t bytes[] = { 0x12, 0x34, 0x56 }, other[] = { 0xf2, 0x34, 0x56 };
	struct match_ctx *m = match_bytes(bytes, 3);

	check_int(bits_get_integer(unit_heap(), m, 13, BITS_LITTLE | BITS_SIGNED), "1554");
	m = match_bytes(other, 3);
	ck_assert(bits_skip(m, 3));
	check_int(bits_get_integer(unit_heap(), m, 21, BITS_SIGNED), "-904106");
	ck_assert_uint_eq(bits_left(m), 0);
	m = match_bytes(other, 3);
	ck_assert(bits_skip(m, 3));
	check_int(bits_get_integer(unit_heap(), m, 21, BITS_LITTLE), "1483409");
	ck_assert(bits_get_integer(unit_heap(), m, 1, 0) == TERM_NONE);
	ck_assert(bits_get_integer(unit_heap(), m, 0, 0) == SMALL(0));
}
END_TEST

START_TEST(test_get_integer_big)
{
	static const uint8_t bytes[] = { 0xf2, 0x34, 0x56, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 };
	static const uint8_t other[] = { 0xf2, 0x34, 0x56, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0xaa };
	struct match_ctx *m = match_bytes(bytes, sizeof(bytes));

	check_int(bits_get_integer(unit_heap(), m, 100, BITS_SIGNED), "-68312317644314165587773194096");
	m = match_bytes(other, sizeof(other));
	check_int(bits_get_integer(unit_heap(), m, 100, BITS_LITTLE | BITS_SIGNED), "-472573905423029741202325490446");
	m = match_bytes(bytes, sizeof(bytes));
	ck_assert(bits_skip(m, 1));
	check_int(bits_get_integer(unit_heap(), m, 99, BITS_LITTLE), "5590139325112568717876422884");
	m = match_bytes(bytes, sizeof(bytes));
	ck_assert(bits_get_integer(unit_heap(), m, 105, 0) == TERM_NONE);
	ck_assert_uint_eq(bits_left(m), 104);
}
END_TEST

START_TEST(test_get_integer_fast_at_bit_offset)
{
	static const uint8_t bytes[] = { 0xf2, 0x34, 0x56, 0x78, 0x9a };
	struct match_ctx *m = match_bytes(bytes, 5);

	ck_assert(bits_get_whole(m, 8, false, false) == SMALL(0xf2));
	ck_assert(bits_get_whole(m, 32, false, false) == SMALL(0x3456789a));
	ck_assert(bits_get_whole(m, 8, false, false) == TERM_NONE);
	bits_set_position(m, SMALL(4));
	ck_assert(bits_get_whole(m, 8, false, false) == SMALL(0x23));
	ck_assert(bits_get_whole(m, 16, false, false) == SMALL(0x4567));
	ck_assert(bits_get_whole(m, 16, false, false) == TERM_NONE);
	bits_set_position(m, SMALL(7));
	ck_assert(bits_get_whole(m, 32, false, false) == SMALL(0x1a2b3c4d));
	ck_assert(bits_get_position(m) == SMALL(39));
}
END_TEST

static Term put_one(uint64_t lead, Term value, uint64_t size, unsigned flags)
{
	struct bits_builder b;
	Term t = bits_init(unit_heap(), &b, lead + size);

	ck_assert(t != TERM_NONE);
	ck_assert_int_eq(bits_put_integer(&b, SMALL(1), lead, 0), BITS_OK);
	ck_assert_int_eq(bits_put_integer(&b, value, size, flags), BITS_OK);
	ck_assert_uint_eq(b.offset, b.end);
	return t;
}

START_TEST(test_put_integer_sizes)
{
	static const uint8_t big77[] = { 39, 137, 171, 205, 239, 1, 35, 69, 103, 137 };
	static const uint8_t little77[] = { 0x31, 0x2c, 0xe8, 0xa4, 0x60, 0x3d, 0xf9, 0xb5, 0x71, 0x27 };
	static const uint8_t minus13[] = { 251, 31 << 3 };
	uint8_t minus90[12];
	Term v = int_from_text("90144042682896311822508713865"); /* 16#123456789abcdef0123456789 */

	check_bits(put_one(3, v, 77, BITS_LITTLE), little77, 80);
	check_bits(put_one(3, v, 77, 0), big77, 80);
	check_bits(put_one(0, SMALL(-5), 13, BITS_LITTLE), minus13, 13);
	memset(minus90, 0xff, sizeof(minus90));
	minus90[10] = 0xfe;
	check_bits(put_one(0, SMALL(-5), 90, 0), minus90, 90);
	minus90[10] = 0xff;
	minus90[0] = 0xfb;
	check_bits(put_one(0, SMALL(-5), 90, BITS_LITTLE), minus90, 90);
}
END_TEST

/* Every size and offset: what is put comes back. */
START_TEST(test_put_get_integer_round)
{
	static const char *const values[] = { "0",
					      "1",
					      "-1",
					      "170141183460469231731687303715884105727",
					      "-170141183460469231731687303715884105728",
					      "1311768467294899695",
					      "-129" };
	static const unsigned flags[] = { BITS_SIGNED, BITS_SIGNED | BITS_LITTLE, BITS_SIGNED | BITS_NATIVE };

	for (unsigned v = 0; v < sizeof(values) / sizeof(*values); v++)
		for (unsigned f = 0; f < 3; f++)
			for (unsigned lead = 0; lead < 9; lead++)
				for (uint64_t size = 128; size < 150; size++) {
					Term t = put_one(lead, int_from_text(values[v]), size, flags[f]);
					struct match_ctx *m = match_term(unit_heap(), t);

					ck_assert(bits_skip(m, lead));
					check_int(bits_get_integer(unit_heap(), m, size, flags[f]), values[v]);
				}
}
END_TEST

START_TEST(test_floats)
{
	static const uint8_t bytes[] = { 67, 0, 0, 0, 96, 64, 191, 185, 153, 153, 153, 153, 153, 154 };
	static const uint8_t nan[] = { 0x7f, 0xf8, 0, 0, 0, 0, 0, 1, 0x7c, 0 };
	struct heap *h = unit_heap();
	struct bits_builder b;
	Term t = bits_init(h, &b, 112);
	struct match_ctx *m;

	ck_assert_int_eq(bits_put_float(&b, heap_float(h, 3.5), 16, 0), BITS_OK);
	ck_assert_int_eq(bits_put_float(&b, heap_float(h, 3.5), 32, BITS_LITTLE), BITS_OK);
	ck_assert_int_eq(bits_put_float(&b, heap_float(h, -0.1), 64, 0), BITS_OK);
	ck_assert_int_eq(bits_put_float(&b, SMALL(1), 20, 0), BITS_BADARG);
	ck_assert_int_eq(bits_put_float(&b, am_true, 64, 0), BITS_BADARG);
	check_bits(t, bytes, 112);
	m = match_term(h, t);
	ck_assert_double_eq(float_value(bits_get_float(h, m, 16, 0)), 3.5);
	ck_assert_double_eq(float_value(bits_get_float(h, m, 32, BITS_LITTLE)), 3.5);
	ck_assert_double_eq(float_value(bits_get_float(h, m, 64, 0)), -0.1);
	m = match_bytes(nan, sizeof(nan));
	ck_assert(bits_get_float(h, m, 64, 0) == TERM_NONE);
	ck_assert(bits_skip(m, 64));
	ck_assert(bits_get_float(h, m, 16, 0) == TERM_NONE);
	ck_assert_uint_eq(bits_left(m), 16);
}
END_TEST

START_TEST(test_half_rounding)
{
	static const struct { double d; uint8_t high, low; } rows[] = {
		{ 65519.0, 0x7b, 0xff }, { 65520.0, 0x7c, 0 }, { 70000.0, 0x7c, 0 }, { 1.0e-7, 0, 2 }, { 6.0e-8, 0, 1 },
		{ 2.9802322387695312e-8, 0, 0 }, { 0.1, 46, 102 }, { 6.1e-5, 3, 255 }, { 65504.0, 0x7b, 0xff },
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct bits_builder b;
		Term t = bits_init(unit_heap(), &b, 16);

		ck_assert_int_eq(bits_put_float(&b, heap_float(unit_heap(), rows[i].d), 16, 0), BITS_OK);
		check_bits(t, (uint8_t[]){ rows[i].high, rows[i].low }, 16);
	}
}
END_TEST

START_TEST(test_characters)
{
	static const Term chars[] = { SMALL(0x24),    SMALL(0xa3),     SMALL(0x20ac),
				      SMALL(0x1f600), SMALL(0x10ffff), SMALL(0xe000) };

	for (unsigned i = 0; i < sizeof(chars) / sizeof(*chars); i++) {
		uint64_t size = 3 + 8 * bits_utf8_size(chars[i]) + 16 * bits_utf16_size(chars[i]) + 32;
		struct bits_builder b;
		Term t = bits_init(unit_heap(), &b, size);
		struct match_ctx *m;

		bits_put_integer(&b, SMALL(5), 3, 0);
		ck_assert_int_eq(bits_put_utf8(&b, chars[i]), BITS_OK);
		ck_assert_int_eq(bits_put_utf16(&b, chars[i], BITS_LITTLE), BITS_OK);
		ck_assert_int_eq(bits_put_utf16(&b, chars[i], 0), BITS_OK);
		ck_assert_int_eq(bits_put_utf32(&b, chars[i], 0), BITS_OK);
		ck_assert_uint_eq(b.offset, size);
		m = match_term(unit_heap(), t);
		ck_assert(bits_skip(m, 3));
		ck_assert(bits_get_utf8(m) == chars[i]);
		ck_assert(bits_get_utf16(m, BITS_LITTLE) == chars[i]);
		ck_assert(bits_get_utf16(m, 0) == chars[i]);
		ck_assert(bits_get_utf32(m, 0) == chars[i]);
	}
	ck_assert_uint_eq(bits_utf8_size(SMALL(0xd800)), 0);
	ck_assert_uint_eq(bits_utf8_size(SMALL(-1)), 0);
	ck_assert_uint_eq(bits_utf8_size(am_ok), 0);
	ck_assert(!bits_is_char(SMALL(0x110000)));
}
END_TEST

START_TEST(test_characters_malformed)
{
	static const struct { uint8_t bytes[4]; unsigned n;
	} rows[] = {
		{ { 0x80 }, 1 },
		{ { 0xc0, 0x80 }, 2 },
		{ { 0xc3 }, 1 },
		{ { 0xe0, 0x80, 0x80 }, 3 },
		{ { 0xed, 0xa0, 0x80 }, 3 },
		{ { 0xf4, 0x90, 0x80, 0x80 }, 4 },
		{ { 0xf8, 0x80, 0x80, 0x80 }, 4 },
		{ { 0xe2, 0x28, 0xa1 }, 3 },
	};
	struct match_ctx *m;

	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		m = match_bytes(rows[i].bytes, rows[i].n);
		ck_assert(bits_get_utf8(m) == TERM_NONE);
		ck_assert_uint_eq(bits_left(m), rows[i].n * 8);
	}
	m = match_bytes("\xd8\x00\x00\x41", 4);
	ck_assert(bits_get_utf16(m, 0) == TERM_NONE);
	ck_assert(bits_get_utf32(m, 0) == TERM_NONE);
}
END_TEST

START_TEST(test_append_shares_the_buffer)
{
	struct heap *h = unit_heap();
	struct bits_builder b;
	enum bits_error error;
	Term first = bits_append(h, &b, binary_put(h, "ab", 2), 8, 1, &error), second, third;
	uint8_t *base = b.base;

	bits_put_integer(&b, SMALL('c'), 8, 0);
	second = bits_append(h, &b, first, 8, 8, &error);
	ck_assert_ptr_eq(b.base, base);
	bits_put_integer(&b, SMALL('d'), 8, 0);
	/* first is no more the newest end: a copy. */
	third = bits_append(h, &b, first, 8, 8, &error);
	ck_assert_ptr_ne(b.base, base);
	bits_put_integer(&b, SMALL('e'), 8, 0);
	check_bits(first, "abc", 24);
	check_bits(second, "abcd", 32);
	check_bits(third, "abce", 32);
	ck_assert(bits_append(h, &b, am_ok, 8, 8, &error) == TERM_NONE);
	ck_assert_int_eq(error, BITS_BADARG);
}
END_TEST

START_TEST(test_append_after_match_copies)
{
	struct heap *h = unit_heap();
	struct bits_builder b;
	enum bits_error error;
	Term t = bits_append(h, &b, binary_put(h, "ab", 2), 8, 1, &error);
	uint8_t *base = b.base;

	bits_put_integer(&b, SMALL('c'), 8, 0);
	match_term(h, t);
	t = bits_append(h, &b, t, 8, 1, &error);
	ck_assert_ptr_ne(b.base, base);
	bits_put_integer(&b, SMALL('d'), 8, 0);
	check_bits(t, "abcd", 32);
}
END_TEST

START_TEST(test_append_grows)
{
	struct heap *h = unit_heap();
	Term t = bits_init_writable(h, SMALL(0)), first = t;
	struct bits_builder b;
	enum bits_error error;
	struct match_ctx *m;

	for (unsigned i = 0; i < 10000; i++) {
		t = bits_private_append(h, &b, t, 13, 1, &error);
		ck_assert(t == first);
		ck_assert_int_eq(bits_put_integer(&b, SMALL((int64_t)(i & 0x1fff)), 13, 0), BITS_OK);
	}
	ck_assert_uint_eq(binary_size_bits(t), 130000);
	m = match_term(h, t);
	for (unsigned i = 0; i < 10000; i++)
		ck_assert(bits_get_integer(h, m, 13, 0) == SMALL((int64_t)(i & 0x1fff)));
}
END_TEST

START_TEST(test_create_reports_the_segment)
{
	struct heap *h = unit_heap();
	Term bin = binary_put(h, "xyz", 3);
	struct bits_segment s[] = {
		{ .kind = BITS_SEG_BINARY, .unit = 8, .number = 1, .value = bin, .size = am_all },
		{ .kind = BITS_SEG_STRING, .unit = 8, .number = 2, .string = (const uint8_t *)"!?", .size = SMALL(2) },
		{ .kind = BITS_SEG_UTF8, .number = 3, .value = SMALL(0x20ac), .size = am_undefined },
		{ .kind = BITS_SEG_INTEGER, .unit = 1, .number = 4, .value = SMALL(0x1ff), .size = SMALL(4) },
		{ .kind = BITS_SEG_BINARY, .unit = 8, .number = 5, .value = bin, .size = SMALL(2) },
	};
	static const uint8_t want[] = { 'x', 'y', 'z', '!', '?', 0xe2, 0x82, 0xac, 0xf7, 0x87, 0x90 };
	struct bits_failure f;

	check_bits(bits_create(h, s, 5, &f), want, 84);
	s[4].size = SMALL(4);
	ck_assert(bits_create(h, s, 5, &f) == TERM_NONE);
	ck_assert(f.error == BITS_BADARG && f.number == 5 && f.type == am_binary && f.what == am_short &&
		  f.value == bin);
	s[3].size = SMALL(-1);
	ck_assert(bits_create(h, s, 5, &f) == TERM_NONE);
	ck_assert(f.error == BITS_BADARG && f.number == 4 && f.type == am_integer && f.what == am_size &&
		  f.value == SMALL(-1));
	s[2].value = SMALL(0xdfff);
	ck_assert(bits_create(h, s, 5, &f) == TERM_NONE);
	ck_assert(f.number == 3 && f.type == am_utf8 && f.what == am_type);
	ck_assert(bits_create(h, s, 0, &f) != TERM_NONE);
}
END_TEST

START_TEST(test_parts_and_tail)
{
	struct heap *h = unit_heap();
	struct match_ctx *m = match_bytes("abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz", 52);

	ck_assert(bits_skip(m, 4));
	check_bits(put_part(h, m, 4, 12), "\x16\x26", 12);
	ck_assert(bits_skip(m, 12));
	check_bits(bits_get_tail(h, m), "cdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz", 400);
	ck_assert(bits_match_string(m, 16, (const uint8_t *)"cd"));
	ck_assert(!bits_match_string(m, 16, (const uint8_t *)"ed"));
	ck_assert(bits_ensure(m, 8, 8) && !bits_ensure(m, 8, 7));
	check_bits(put_part(h, m, 32, 384), "efghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz", 384);
	ck_assert(!bits_skip_all(m, 7) && bits_skip_all(m, 8));
	ck_assert(bits_test_tail(m, 0));
}
END_TEST

/* Letters count up, blanks not at all, a minus counts down; all else stops. */
static void make_steps(int8_t steps[BITS_SCAN_BYTES])
{
	memset(steps, BITS_SCAN_STOP, BITS_SCAN_BYTES);
	memset(steps + 'a', 1, 26);
	steps[' '] = 0;
	steps['-'] = BITS_SCAN_STEP_MIN;
	steps[0xff] = BITS_SCAN_STEP_MAX;
}

START_TEST(test_scan)
{
	static const struct { const char *text; size_t most, n; int64_t sum; } rows[] = {
		{ "ab c1d", 100, 4, 3 }, { "ab c1d", 3, 3, 2 }, { "abcdef", 100, 6, 6 }, { "-1-", 100, 1, -127 },
		{ "\xff\xff-z", 100, 4, 128 }, { "  a", 2, 2, 0 },
	};
	int8_t steps[BITS_SCAN_BYTES];

	make_steps(steps);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct match_ctx *m = match_bytes(rows[i].text, strlen(rows[i].text));
		int64_t sum;

		ck_assert(bits_may_scan(m, steps));
		ck_assert_uint_eq(bits_scan(m, steps, rows[i].most, &sum), rows[i].n);
		ck_assert_int_eq(sum, rows[i].sum);
		ck_assert_uint_eq(bits_left(m), strlen(rows[i].text) * 8);
	}
}
END_TEST

START_TEST(test_scan_only_bytes_with_steps)
{
	int8_t steps[BITS_SCAN_BYTES];
	struct heap *h = unit_heap();
	struct match_ctx *m = match_bytes("1a", 2);

	make_steps(steps);
	ck_assert(!bits_may_scan(m, steps));
	ck_assert(bits_skip(m, 8) && bits_may_scan(m, steps));
	ck_assert(bits_skip(m, 8) && !bits_may_scan(m, steps));
	m = match_bytes("aa", 2);
	ck_assert(bits_skip(m, 1) && !bits_may_scan(m, steps)); /* begins within a byte */
	m = match_term(h, binary_put_bits(h, &(struct bits_view){ (const uint8_t *)"aa", 0, 15 }));
	ck_assert(!bits_may_scan(m, steps)); /* ends within one */
}
END_TEST

START_TEST(test_size_limits)
{
	uint64_t bits;
	Term sum;

	unit_init();
	ck_assert_int_eq(bits_size(SMALL(-1), 1, &bits), BITS_BADARG);
	ck_assert_int_eq(bits_size(am_ok, 1, &bits), BITS_BADARG);
	ck_assert_int_eq(bits_size(term_from_small(SMALL_MAX), 256, &bits), BITS_LIMIT);
	ck_assert_int_eq(bits_add(unit_heap(), SMALL(3), SMALL(5), 8, &sum), BITS_OK);
	ck_assert(sum == SMALL(43));
	ck_assert_int_eq(bits_add(unit_heap(), SMALL(3), SMALL(-5), 8, &sum), BITS_BADARG);
}
END_TEST

Suite *bits_suite(void)
{
	Suite *s = suite_create("bits");
	TCase *match = tcase_create("match"), *build = tcase_create("build");

	tcase_add_test(match, test_get_integer_small);
	tcase_add_test(match, test_get_integer_big);
	tcase_add_test(match, test_get_integer_fast_at_bit_offset);
	tcase_add_test(match, test_characters_malformed);
	tcase_add_test(match, test_parts_and_tail);
	tcase_add_test(match, test_scan);
	tcase_add_test(match, test_scan_only_bytes_with_steps);
	tcase_add_test(build, test_put_integer_sizes);
	tcase_add_test(build, test_put_get_integer_round);
	tcase_add_test(build, test_floats);
	tcase_add_test(build, test_half_rounding);
	tcase_add_test(build, test_characters);
	tcase_add_test(build, test_append_shares_the_buffer);
	tcase_add_test(build, test_append_after_match_copies);
	tcase_add_test(build, test_append_grows);
	tcase_add_test(build, test_create_reports_the_segment);
	tcase_add_test(build, test_size_limits);
	suite_add_tcase(s, match);
	suite_add_tcase(s, build);
	return s;
}
