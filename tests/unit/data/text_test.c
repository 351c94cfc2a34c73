/* SPDX-License-Identifier: Apache-2.0 */
/* Hashes, printed terms, floats as text and external terms, held against values of stock OTP 25. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code/fun.h"
#include "data/binary.h"
#include "data/compare.h"
#include "data/etf.h"
#include "data/float_shortest.h"
#include "data/float_text.h"
#include "data/map.h"
#include "data/number.h"
#include "data/phash.h"
#include "data/print.h"
#include "unit.h"

static Term read_term(const char *bytes, size_t n)
{
	Term t;
	size_t used;

	ck_assert_int_eq(etf_decode_to_heap((const uint8_t *)bytes, n, 0, unit_heap(), &t, &used), 0);
	ck_assert_uint_eq(used, n);
	return t;
}
#define TERM_OF(bytes) read_term("\x83" bytes, sizeof(bytes))

START_TEST(test_phash2_as_stock)
{
	ck_assert_uint_eq(phash2(TERM_OF("w\3foo")), 27999);
	ck_assert_uint_eq(phash2(SMALL(1)), 539485162);
	ck_assert_uint_eq(phash2(SMALL(-1)), 1117813597);
	ck_assert_uint_eq(phash2(SMALL(-(1 << 27) - 1)), 1418916782);
	ck_assert_uint_eq(phash2(num_bsl(unit_heap(), SMALL(1), SMALL(70))), 1070946125);
	ck_assert_uint_eq(phash2(TERM_OF("k\0\5abcde")), 2487089008);
	ck_assert_uint_eq(phash2(TERM_OF("l\0\0\0\2w\3foob\0\0\1\x2c" "a\1")), 901645760);
	ck_assert_uint_eq(phash2(TERM_OF("h\3w\3fooF\x3f\xf8\0\0\0\0\0\0F\x80\0\0\0\0\0\0\0")), 4098166233);
	ck_assert_uint_eq(phash2(TERM_OF("m\0\0\0\x10" "0123456789abcdef")), 3208154133);
	ck_assert_uint_eq(phash2(TERM_OF("M\0\0\0\1\3\xa0")), 3354768668);
	ck_assert_uint_eq(phash2(TERM_OF("t\0\0\0\2w\1aa\1w\1bk\0\1\2")), 1579473383);
	ck_assert_uint_eq(phash2(TERM_OF("h\0")), 221703996);
	ck_assert_uint_eq(phash2(NIL), 3468870702);
}
END_TEST

START_TEST(test_phash_as_stock)
{
	ck_assert_uint_eq(phash(TERM_OF("w\3foo")), 27999);
	ck_assert_uint_eq(phash(SMALL(-5)), 4105959049);
	ck_assert_uint_eq(phash(num_bsl(unit_heap(), SMALL(1), SMALL(70))), 2395840192);
	ck_assert_uint_eq(phash(TERM_OF("k\0\3abc")), 3654580165);
	ck_assert_uint_eq(phash(TERM_OF("h\2w\3fooF\x3f\xf8\0\0\0\0\0\0")), 1871609039);
	ck_assert_uint_eq(phash(TERM_OF("m\0\0\0\2\1\2")), 540096579);
	ck_assert_uint_eq(phash(TERM_OF("M\0\0\0\1\3\xa0")), 3507216108);
	ck_assert_uint_eq(phash(TERM_OF("t\0\0\0\1w\1aa\1")), 1670235873);
}
END_TEST

/* A list of three tuples of two, and a short binary as its tail. */
START_TEST(test_hashes_stop_at_a_limit)
{
	Term t = TERM_OF("l\0\0\0\3h\2a\1a\2h\2a\1a\2h\2a\1a\2m\0\0\0\5abcde");
	uint32_t hash = 0, old = 0;
	int64_t left = 64;

	ck_assert(phash2_within(t, &left, &hash));
	ck_assert_uint_eq(hash, phash2(t));
	ck_assert_int_lt(left, 64);
	ck_assert(phash_within(t, &(int64_t){ 64 }, &old));
	ck_assert_uint_eq(old, phash(t));
	ck_assert(!phash2_within(t, &(int64_t){ 3 }, &hash));
	ck_assert(!phash_within(t, &(int64_t){ 3 }, &old));
}
END_TEST

/* Its elements count, also where they are hashed without being pushed; one that is too long is not looked into. */
START_TEST(test_hashes_count_elements_of_tuples)
{
	enum { ARITY = 100 };
	bool (*const hashes[])(Term t, int64_t *left, uint32_t *hash) = { phash_within, phash2_within };
	Term elements[ARITY], t;

	for (int i = 0; i < ARITY; i++)
		elements[i] = SMALL(i);
	t = heap_tuple_array(unit_heap(), ARITY, elements);
	for (size_t i = 0; i < sizeof(hashes) / sizeof(hashes[0]); i++) {
		int64_t left = 2 * ARITY;
		uint32_t hash;

		ck_assert(hashes[i](t, &left, &hash));
		ck_assert_int_le(left, ARITY);
		ck_assert(!hashes[i](t, &(int64_t){ ARITY / 2 }, &hash));
	}
}
END_TEST

static const struct {
	double d;
	const char *text;
} shortest[] = {
	{ 0.0, "0.0" },
	{ -0.0, "-0.0" },
	{ 100.0, "100.0" },
	{ 1000.0, "1.0e3" },
	{ 120000.0, "1.2e5" },
	{ 12345678.9, "12345678.9" },
	{ 0.0001, "0.0001" },
	{ 1e-5, "1.0e-5" },
	{ 0.0001234, "1.234e-4" },
	{ 0.0012345, "0.0012345" },
	{ 9007199254740991.0, "9007199254740991.0" },
	{ 9007199254740990.0, "9007199254740990.0" },
	{ 9007199254740992.0, "9.007199254740992e15" },
	{ 5e-324, "5.0e-324" },
	{ 1.7976931348623157e308, "1.7976931348623157e308" },
	{ 1e23, "1.0e23" },
	{ -1.2345e-7, "-1.2345e-7" },
	{ 123456700.0, "1.234567e8" },
	{ 9.5367431640625e-7, "9.5367431640625e-7" },
};

START_TEST(test_float_text_short_as_stock)
{
	char text[FLOAT_TEXT_MAX];

	text[float_text_short(shortest[_i].d, text)] = 0;
	ck_assert_str_eq(text, shortest[_i].text);
}
END_TEST

/* The shortest decimal reads back, and one digit fewer does not. */
static void assert_shortest(double d)
{
	char text[64], fewer[64];
	struct shortest r = float_shortest(d);
	int count, power;

	snprintf(text, sizeof(text), "%llue%d", (unsigned long long)r.digits, r.exponent);
	ck_assert_msg(strtod(text, NULL) == d, "%a is %s", d, text);
	count = (int)(strchr(text, 'e') - text);
	ck_assert_int_ne(text[count - 1], '0');
	/* Of as many digits none is nearer; next to a power of two the nearest may stand outside. */
	snprintf(fewer, sizeof(fewer), "%.*e", count - 1, d);
	ck_assert_msg(frexp(d, &power) == 0.5 || strtod(fewer, NULL) == d, "%a is %s, and %s", d, text, fewer);
	if (count == 1)
		return;
	snprintf(fewer, sizeof(fewer), "%.*e", count - 2, d);
	ck_assert_msg(strtod(fewer, NULL) != d, "%a is %s, and %s", d, text, fewer);
}

START_TEST(test_float_shortest_at_every_power)
{
	for (uint64_t exponent = 0; exponent < 2047; exponent++)
		for (uint64_t near = 0; near < 4; near++) {
			uint64_t word = (exponent << 52) + near * 0x5555555555555 - (near > 1 && exponent > 0);
			double d;

			memcpy(&d, &word, sizeof(d));
			if (d != 0.0)
				assert_shortest(d);
		}
}
END_TEST

static void assert_read(const char *text)
{
	double d, right = strtod(text, NULL);

	ck_assert_msg(float_text_read(text, strlen(text), &d) == isfinite(right), "%s", text);
	ck_assert_msg(!isfinite(right) || (d == right && !signbit(d) == (*text != '-')), "%s is %a", text, d);
}

START_TEST(test_float_read_as_strtod)
{
	static const char *const digits[] = {
		"0", "1", "9007199254740992", "9007199254740993", "900719925474099", "123456789012345678901", "7"
	};
	char text[80];

	for (int exponent = -345; exponent <= 285; exponent++)
		for (size_t i = 0; i < 7; i++)
			for (size_t k = 0; k < 7; k++) {
				snprintf(text, sizeof(text), "-%s.%se%d", digits[i], digits[k], exponent);
				assert_read(text);
			}
}
END_TEST

/* With few digits and with many, and just half way between two doubles. */
START_TEST(test_float_read_between_doubles)
{
	char text[200];
	unsigned short seed[3] = { 1, 2, 3 };

	for (int i = 0; i < 20000; i++) {
		uint64_t word = ((uint64_t)jrand48(seed) << 32 ^ (uint32_t)jrand48(seed)) & INT64_MAX;
		double d, next;

		memcpy(&d, &word, sizeof(d));
		next = nextafter(d, INFINITY);
		if (!isfinite(next))
			continue;
		for (int decimals = 1; decimals < 25; decimals += 3) {
			snprintf(text, sizeof(text), "%.*e", decimals, d);
			assert_read(text);
		}
		snprintf(text, sizeof(text), "%.*Le", i % 2 ? 150 : 20, (long double)d / 2 + (long double)next / 2);
		assert_read(text);
	}
}
END_TEST

/* Zeros in front against an exponent that is longer than any of a double. */
START_TEST(test_float_read_far_exponents)
{
	char text[4200];
	double d;

	for (int exponent = 1700; exponent < 2100; exponent += 7) {
		snprintf(text, sizeof(text), "0.%0*de%d", 1990, 1, exponent);
		assert_read(text);
		snprintf(text, sizeof(text), "1%0*d.0e-%d", 1990, 0, exponent);
		assert_read(text);
	}
	snprintf(text, sizeof(text), "0.%0*de19999", 1990, 1);
	ck_assert(!float_text_read(text, strlen(text), &d));
	ck_assert(!float_text_read("1.0e99999999999999999999", 24, &d));
	ck_assert(float_text_read("1.0e-99999999999999999999", 25, &d) && d == 0.0);
	ck_assert(float_text_read("0.0e99999999999999999999", 24, &d) && d == 0.0);
}
END_TEST

START_TEST(test_float_text_forms_as_stock)
{
	char text[FLOAT_TEXT_MAX];

	text[float_text_scientific(0.1, 20, text)] = 0;
	ck_assert_str_eq(text, "1.00000000000000005551e-01");
	text[float_text_decimals(0.0625, 3, false, text)] = 0;
	ck_assert_str_eq(text, "0.063");
	text[float_text_decimals(12345678.9, 10, true, text)] = 0;
	ck_assert_str_eq(text, "12345678.9000000004");
	text[float_text_decimals(2.5, 0, false, text)] = 0;
	ck_assert_str_eq(text, "3");
	ck_assert_uint_eq(float_text_decimals(1e252, 3, false, text), 0);
	ck_assert_uint_eq(float_text_decimals(1.5, 254, false, text), 0);
	ck_assert_uint_eq(float_text_scientific(1.5, 250, text), 0);
}
END_TEST

static void assert_scientific(double d, int decimals)
{
	char text[FLOAT_TEXT_MAX], right[FLOAT_TEXT_MAX];

	text[float_text_scientific(d, decimals, text)] = 0;
	snprintf(right, sizeof(right), "%.*e", decimals, d);
	ck_assert_str_eq(text, right);
}

/* Of every power of two, of what lies in the middle between two decimals, and of what is rounded to one digit more. */
START_TEST(test_float_text_scientific_as_printf)
{
	static const double others[] = { 0.0, -0.0, 0.5, 2.5, 3.5, 1.25, 1.35, -1.75, 9.5, 9.996, 99.9999999, 999999.5,
					 0.1, 1e15, 1e16, 1e20, 1e21, 1e22, 1e-12, 1e-13, 123456789012345680.0,
					 9.9999999999999999e20, 0.00048828125, 4503599627370496.5, 1.0 / 3 };

	for (int decimals = 0; decimals <= 24; decimals++) {
		for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
			assert_scientific(others[i], decimals);
		for (uint64_t exponent = 0; exponent < 2047; exponent += exponent > 900 && exponent < 1150 ? 1 : 13)
			for (uint64_t near = 0; near < 5; near++) {
				uint64_t word = (exponent << 52) + (near * 0x3333333333333 >> 2);
				double d;

				memcpy(&d, &word, sizeof(d));
				assert_scientific(near & 1 ? -d : d, decimals);
			}
	}
	for (uint64_t i = 1; i < 100000; i++) {
		assert_scientific((double)i / 8, (int)(i % 8));
		assert_scientific((double)(i * i * i) / 3, 20);
	}
}
END_TEST

START_TEST(test_float_text_read_syntax)
{
	static const char *const bad[] = { "1.5e", "1.e5", "1e5", " 1.0", "1.0e400", "", "-", ".5", "1." };
	double d;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert(!float_text_read(bad[i], strlen(bad[i]), &d));
	ck_assert(float_text_read("1.0e-400", 8, &d) && d == 0.0);
	ck_assert(float_text_read("+1,5E1", 6, &d) && d == 15.0);
	ck_assert_uint_eq(float_text_span("1.5e-abc", 8), 3);
	ck_assert_uint_eq(float_text_span("+1.5.3", 6), 4);
}
END_TEST

static void assert_printed(Term t, const char *expected)
{
	struct print_buffer b;

	print_buffer_init(&b, 0);
	print_term(&b, t);
	ck_assert_str_eq(b.text, expected);
	print_buffer_free(&b);
}

START_TEST(test_print_as_stock)
{
	assert_printed(TERM_OF("h\3w\3foow\x0bhello worldw\0"), "{foo,'hello world',''}");
	assert_printed(TERM_OF("k\0\4a\nb\""), "\"a\\nb\\\"\"");
	assert_printed(TERM_OF("k\0\3\1\2\3"), "[1,2,3]");
	assert_printed(TERM_OF("l\0\0\0\2w\1aw\1bw\1c"), "[a,b|c]");
	assert_printed(TERM_OF("m\0\0\0\3hej"), "<<\"hej\">>");
	assert_printed(TERM_OF("m\0\0\0\4\0abc"), "<<0,97,98,99>>");
	assert_printed(TERM_OF("M\0\0\0\2\3\1\x20"), "<<1,1:3>>");
	assert_printed(TERM_OF("t\0\0\0\2w\1aa\1w\1bl\0\0\0\2a\1a\2a\3"), "#{a=>1,b=>[1,2|3]}");
	assert_printed(TERM_OF("F\xd4\xb2\x49\xad\x25\x94\xc3\x7d"), "-1.000000e+100");
	assert_printed(TERM_OF("w\5\xc3\xa9t\xc3\xa9"), "\xc3\xa9t\xc3\xa9");
	assert_printed(term_from_pid(9, 1), "<0.9.1>");
	assert_printed(term_from_port(5), "#Port<0.5>");
}
END_TEST

START_TEST(test_print_cut_keeps_whole_characters)
{
	char text[9];

	ck_assert_uint_eq(print_term_fixed(text, 9, TERM_OF("w\5abcde")), 5);
	ck_assert_uint_eq(print_term_fixed(text, 9, TERM_OF("w\x0a\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9")), 7);
	ck_assert_str_eq(text, "\xc3\xa9\xc3\xa9...");
	print_term_fixed(text, 9, TERM_OF("w\x0a" "0123456789"));
	ck_assert_str_eq(text, "'0123...");
}
END_TEST

START_TEST(test_etf_encode_as_stock)
{
	static const uint8_t expected[] = { 131, 104, 6,  100, 0,   3, 102, 111, 111, 108, 0,   0,   0,   2,  97, 1,
					    97,  2,   97, 3,   109, 0, 0,   0,   3,   104, 101, 106, 110, 9,  0,  0,
					    0,   0,   0,  0,   0,   0, 0,   64,  70,  191, 248, 0,   0,   0,  0,  0,
					    0,   116, 0,  0,   0,   1, 100, 0,   1,   97,  107, 0,   2,   97, 98 };
	Term t = read_term((const char *)expected, sizeof(expected));
	struct binary *b = etf_encode(t, ETF_ATOMS_LATIN1);

	ck_assert_uint_eq(b->size_bytes, sizeof(expected));
	ck_assert_mem_eq(b->data, expected, sizeof(expected));
	ck_assert_uint_eq(etf_size_bytes(t, ETF_ATOMS_LATIN1), sizeof(expected));
	binary_unref(b);
}
END_TEST

START_TEST(test_etf_compressed_returns)
{
	Term list = NIL, back;
	struct binary *b;
	struct fragment *f;

	for (int i = 0; i < 1000; i++)
		list = heap_cons(unit_heap(), am_ok, list);
	b = etf_encode(list, ETF_COMPRESSED | ETF_LEVEL(6));
	ck_assert_uint_lt(b->size_bytes, 100);
	ck_assert_int_eq(etf_decode(b->data, b->size_bytes, &f, &back, 0), 0);
	ck_assert(term_same(list, back));
	fragment_free(f);
	ck_assert_int_eq(etf_decode(b->data, b->size_bytes - 1, &f, &back, 0), -EINVAL);
	ck_assert(f == NULL);
	binary_unref(b);
}
END_TEST

#define HOSTILE(bytes) { "\x83" bytes, sizeof(bytes) }
static const struct {
	const char *bytes;
	size_t size;
} hostile[] = {
	HOSTILE(""),
	HOSTILE("a"),
	HOSTILE("h\2a\1"),
	HOSTILE("i\xff\xff\xff\xff"),
	HOSTILE("l\xff\xff\xff\xff"
		"a\1"),
	HOSTILE("t\x7f\xff\xff\xff"),
	HOSTILE("m\xff\xff\xff\xff"),
	HOSTILE("k\0\5a"),
	HOSTILE("o\xff\xff\xff\xff\0"),
	HOSTILE("t\0\0\0\2a\1a\1a\1a\2"),
	HOSTILE("F\x7f\xf0\0\0\0\0\0\0"),
	HOSTILE("M\0\0\0\1\0\7"),
	HOSTILE("M\0\0\0\1\x9\7"),
	HOSTILE("w\1\xff"),
	HOSTILE("Z\0\6w\1a"),
	HOSTILE("P\xff\xff\xff\xff\0"),
	HOSTILE("p\0\0\0\1"),
	HOSTILE("\xff"),
	HOSTILE("c1.5e400\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"),
	HOSTILE("Xa\1"),
	HOSTILE("ga\1"),
};

START_TEST(test_etf_decode_refuses_hostile)
{
	Term t;

	ck_assert_int_eq(
		etf_decode_to_heap((const uint8_t *)hostile[_i].bytes, hostile[_i].size, 0, unit_heap(), &t, NULL),
		-EINVAL);
}
END_TEST

/* size, arity, uniq, index; number of free variables; module m; old index, old uniq; creator; free variables. */
#define NEW_FUN_TO_FREE "p\0\0\0\x3a\1" "0123456789abcdef" "\0\0\0\0"
#define NEW_FUN_CREATOR "Xw\1n\0\0\0\1\0\0\0\0\0\0\0\0"
static const struct {
	const char *bytes;
	size_t size;
} hostile_funs[] = {
	/* more free variables than bytes */
	HOSTILE(NEW_FUN_TO_FREE "\xff\xff\xff\xff" "w\1ma\0a\0" NEW_FUN_CREATOR "a\7"),
	HOSTILE(NEW_FUN_TO_FREE "\0\0\0\3" "w\1ma\0a\0" NEW_FUN_CREATOR "a\7"),          /* more than there are terms */
	HOSTILE(NEW_FUN_TO_FREE "\0\0\0\1" "a\1a\0a\0" NEW_FUN_CREATOR "a\7"),           /* the module is no atom */
	/* the old index is no integer */
	HOSTILE(NEW_FUN_TO_FREE "\0\0\0\1" "w\1mw\1aa\0" NEW_FUN_CREATOR "a\7"),
	HOSTILE(NEW_FUN_TO_FREE "\0\0\0\1" "w\1ma\0j" NEW_FUN_CREATOR "a\7"),            /* the old uniq is none */
	HOSTILE(NEW_FUN_TO_FREE "\0\0\0\1" "w\1ma\0a\0a\1a\7"),                        /* the creator is no pid */
	/* a list where the old index stands */
	HOSTILE(NEW_FUN_TO_FREE "\0\0\0\1" "w\1ml\0\0\0\1a\0ja\0" NEW_FUN_CREATOR "a\7"),
	/* shorter than its head */
	HOSTILE("p\0\0\0\1\1" "0123456789abcdef" "\0\0\0\0\0\0\0\1" "w\1ma\0a\0" NEW_FUN_CREATOR "a\7"),
};

START_TEST(test_etf_decode_refuses_hostile_funs)
{
	Term t;

	unit_init();
	ck_assert_int_eq(etf_decode_to_heap((const uint8_t *)hostile_funs[_i].bytes, hostile_funs[_i].size, 0,
					    unit_heap(), &t, NULL),
			 -EINVAL);
}
END_TEST

START_TEST(test_etf_decode_fun)
{
	static const uint8_t sound[] = "\x83" NEW_FUN_TO_FREE "\0\0\0\1" "w\1ma\0a\0" NEW_FUN_CREATOR "a\7";
	Term t;

	unit_init();
	fun_init();
	ck_assert_int_eq(etf_decode_to_heap(sound, sizeof(sound) - 1, 0, unit_heap(), &t, NULL), 0);
	ck_assert(term_is_fun(t));
	ck_assert_uint_eq(fun_num_free(fun_ptr(t)), 1);
	ck_assert(fun_ptr(t)->env[0] == term_from_small(7));
	for (size_t n = 0; n < sizeof(sound) - 1; n++)
		ck_assert_int_eq(etf_decode_to_heap(sound, n, 0, unit_heap(), &t, NULL), -EINVAL);
}
END_TEST

START_TEST(test_etf_decode_survives_changed_bytes)
{
	static const char sound[] = "\x83h\x9w\3foot\0\0\0\2w\1aa\1w\1bl\0\0\0\2a\1a\2a\3m\0\0\0\3hejM\0\0\0\2\3\1\x20"
		"n\x9\0\0\0\0\0\0\0\0\0\1F\x3f\xf8\0\0\0\0\0\0k\0\3abcZ\0\3w\5a@b.c\0\0\0\1\0\0\0\1\0\0\0\2\0\0\0\3"
		"Xw\5a@b.c\0\0\0\1\0\0\0\2\0\0\0\3";
	uint8_t bytes[sizeof(sound) - 1];
	struct heap h;
	Term t;

	unit_init();
	srandom(7);
	for (int i = 0; i < 20000; i++) {
		memcpy(bytes, sound, sizeof(bytes));
		for (int k = 0; k < 1 + i % 3; k++)
			bytes[1 + (size_t)random() % (sizeof(bytes) - 1)] = (uint8_t)random();
		heap_init(&h, HEAP_MIN_WORDS);
		if (etf_decode_to_heap(bytes, sizeof(bytes) - (size_t)(i % 5), ETF_SAFE, &h, &t, NULL) == 0)
			ck_assert(term_same(t, t) && etf_size_bytes(t, 0) > 0);
		heap_free(&h);
	}
}
END_TEST

START_TEST(test_etf_deep_terms_cost_no_stack)
{
	size_t depth = 1000000, n = 2 + 2 * depth;
	char *bytes = malloc(n);
	struct heap h;
	struct binary *b;
	Term t;

	unit_init();
	heap_init(&h, HEAP_MIN_WORDS);
	bytes[0] = (char)131;
	for (size_t i = 0; i < depth; i++)
		memcpy(bytes + 1 + 2 * i, "h\1", 2);
	bytes[n - 1] = 'j';
	ck_assert_int_eq(etf_decode_to_heap((uint8_t *)bytes, n, 0, &h, &t, NULL), 0);
	b = etf_encode(t, 0);
	ck_assert_uint_eq(b->size_bytes, n);
	ck_assert_mem_eq(b->data, bytes, n);
	binary_unref(b);
	heap_free(&h);
	free(bytes);
}
END_TEST

Suite *text_suite(void)
{
	Suite *s = suite_create("text");
	TCase *c = tcase_create("text");

	tcase_set_timeout(c, 60);
	tcase_add_test(c, test_phash2_as_stock);
	tcase_add_test(c, test_phash_as_stock);
	tcase_add_test(c, test_hashes_stop_at_a_limit);
	tcase_add_test(c, test_hashes_count_elements_of_tuples);
	tcase_add_loop_test(c, test_float_text_short_as_stock, 0, sizeof(shortest) / sizeof(shortest[0]));
	tcase_add_test(c, test_float_shortest_at_every_power);
	tcase_add_test(c, test_float_read_as_strtod);
	tcase_add_test(c, test_float_read_between_doubles);
	tcase_add_test(c, test_float_read_far_exponents);
	tcase_add_test(c, test_float_text_forms_as_stock);
	tcase_add_test(c, test_float_text_scientific_as_printf);
	tcase_add_test(c, test_float_text_read_syntax);
	tcase_add_test(c, test_print_as_stock);
	tcase_add_test(c, test_print_cut_keeps_whole_characters);
	tcase_add_test(c, test_etf_encode_as_stock);
	tcase_add_test(c, test_etf_compressed_returns);
	tcase_add_loop_test(c, test_etf_decode_refuses_hostile, 0, sizeof(hostile) / sizeof(hostile[0]));
	tcase_add_loop_test(c, test_etf_decode_refuses_hostile_funs, 0, sizeof(hostile_funs) / sizeof(hostile_funs[0]));
	tcase_add_test(c, test_etf_decode_fun);
	tcase_add_test(c, test_etf_decode_survives_changed_bytes);
	tcase_add_test(c, test_etf_deep_terms_cost_no_stack);
	suite_add_tcase(s, c);
	return s;
}
