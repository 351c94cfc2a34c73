/* SPDX-License-Identifier: Apache-2.0 */
/* Binaries, runs of bits, I/O lists, UTF-8, searches. */
#include "data/binary.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "data/bitcopy.h"
#include "data/iolist.h"
#include "data/search.h"
#include "data/utf8.h"
#include "unit.h"

static unsigned read_bit(const uint8_t *p, uint64_t i) { return p[i / 8] >> (7 - i % 8) & 1; }

/* Against a copy bit by bit, at every alignment. */
START_TEST(test_copy_every_alignment)
{
	uint8_t from[40], to[40], want[40];

	for (unsigned i = 0; i < 40; i++)
		from[i] = (uint8_t)(i * 37 + 11);
	for (unsigned a = 0; a < 16; a++)
		for (unsigned b = 0; b < 16; b++)
			for (unsigned size = 0; size < 200; size++) {
				memset(to, 0xa5, sizeof(to));
				memset(want, 0xa5, sizeof(want));
				for (unsigned i = 0; i < size; i++) {
					unsigned bit = 0x80u >> (b + i) % 8;

					want[(b + i) / 8] = (uint8_t)(read_bit(from, a + i) ? want[(b + i) / 8] | bit
											    : want[(b + i) / 8] & ~bit);
				}
				bitcopy_copy(to, b, from, a, size);
				ck_assert_mem_eq(to, want, sizeof(to));
				ck_assert_int_eq(bitcopy_compare(to, b, from, a, size), 0);
			}
}
END_TEST

START_TEST(test_read_write_every_alignment)
{
	uint8_t bytes[16];

	for (unsigned at = 0; at < 16; at++)
		for (unsigned size = 1; size <= 64; size++) {
			uint64_t v = 0x123456789abcdef1u >> (64 - size);

			memset(bytes, 0xff, sizeof(bytes));
			bitcopy_write(bytes, at, v, size);
			ck_assert_uint_eq(bitcopy_read(bytes, at, size), v);
			ck_assert(at == 0 || read_bit(bytes, at - 1));
			ck_assert(read_bit(bytes, at + size));
		}
}
END_TEST

START_TEST(test_compare_order)
{
	struct heap *h = unit_heap();
	Term ab = binary_put(h, "ab", 2), abc = binary_put(h, "abc", 3), b = binary_put(h, "b", 1);
	Term ab_part = binary_sub(h, abc, 0, 16), odd = binary_sub(h, abc, 0, 17);

	ck_assert_int_lt(binary_compare(ab, abc), 0);
	ck_assert_int_gt(binary_compare(b, abc), 0);
	ck_assert_int_eq(binary_compare(ab, ab_part), 0);
	ck_assert(binary_equal(ab, ab_part));
	ck_assert_int_lt(binary_compare(ab, odd), 0);
	ck_assert_int_lt(binary_compare(odd, abc), 0);
	ck_assert(!binary_equal(odd, abc));
	ck_assert(!term_is_binary(odd) && term_is_bitstring(odd));
}
END_TEST

START_TEST(test_sub_of_sub_names_the_original)
{
	struct heap *h = unit_heap();
	uint8_t bytes[200];
	Term whole, sub, deep;
	uint64_t offset;

	for (unsigned i = 0; i < 200; i++)
		bytes[i] = (uint8_t)i;
	whole = binary_put(h, bytes, 200);
	ck_assert(term_has_sub(whole, SUB_REFBIN));
	sub = binary_sub(h, whole, 12, 1000);
	deep = binary_sub(h, sub, 12, 800);
	ck_assert(binary_original(deep, &offset) == whole);
	ck_assert_uint_eq(offset, 24);
	ck_assert_int_eq(bitcopy_compare(binary_view(deep).base, 0, bytes + 3, 0, 800), 0);
	ck_assert(term_has_sub(binary_sub(h, whole, 8, 64 * 8), SUB_HEAPBIN));
	ck_assert(term_has_sub(binary_sub(h, whole, 8, 65 * 8), SUB_SUBBIN));
}
END_TEST

START_TEST(test_bytes_of_unaligned)
{
	struct heap *h = unit_heap();
	static const char text[] = "0123456789abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz";
	Term t = binary_sub(h, binary_put(h, text, 72), 4, 70 * 8);
	uint8_t *scratch;
	size_t n;
	const uint8_t *bytes = binary_bytes(t, &n, &scratch);

	ck_assert_uint_eq(n, 70);
	ck_assert_ptr_eq(bytes, scratch);
	ck_assert_uint_eq(bytes[0], 0x03);
	ck_assert_uint_eq(bytes[1], 0x13);
	mem_free(scratch);
	ck_assert_ptr_null(binary_bytes(am_ok, &n, &scratch));
}
END_TEST

START_TEST(test_share_keeps_bytes)
{
	struct heap *h = unit_heap();
	uint8_t text[100] = "shared";
	const uint8_t *bytes;
	size_t n;
	Term t = binary_put(h, text, 100);
	struct binary *b = binary_share(binary_sub(h, t, 8, 80 * 8), &bytes, &n);

	ck_assert_ptr_nonnull(b);
	ck_assert_uint_eq(n, 80);
	ck_assert_int_eq(bytes[0], 'h');
	ck_assert_uint_eq(atomic_load(&b->refs), 2);
	binary_unref(b);
	ck_assert_ptr_null(binary_share(binary_put(h, text, 10), &bytes, &n));
}
END_TEST

START_TEST(test_iolist_forms)
{
	struct heap *h = unit_heap();
	Term bin = binary_put(h, "xyz", 3), inner, t, out;
	size_t n;

	inner = heap_cons(h, SMALL('a'), heap_cons(h, bin, bin));
	t = heap_cons(h, inner, heap_cons(h, NIL, heap_cons(h, SMALL(255), NIL)));
	ck_assert_int_eq(iolist_size(t, &n), IOLIST_OK);
	ck_assert_uint_eq(n, 8);
	ck_assert_int_eq(iolist_to_binary(h, t, &out), IOLIST_OK);
	ck_assert_int_eq(memcmp(binary_view(out).base, "axyzxyz\xff", 8), 0);
	ck_assert_int_eq(iolist_to_binary(h, bin, &out), IOLIST_OK);
	ck_assert(out == bin);
	ck_assert_int_eq(iolist_size(heap_cons(h, SMALL(256), NIL), &n), IOLIST_BADARG);
	ck_assert_int_eq(iolist_size(heap_cons(h, SMALL(1), SMALL(2)), &n), IOLIST_BADARG);
	ck_assert_int_eq(iolist_size(heap_cons(h, am_ok, NIL), &n), IOLIST_BADARG);
	ck_assert_int_eq(iolist_size(binary_sub(h, bin, 0, 9), &n), IOLIST_BADARG);
	ck_assert_int_eq(iolist_copy(t, (uint8_t[3]){ 0 }, 3), IOLIST_ROOM);
}
END_TEST

START_TEST(test_iolist_deep)
{
	struct heap *h = unit_heap();
	Term t = NIL;
	size_t n;

	for (unsigned i = 0; i < 300000; i++)
		t = heap_cons(h, t, heap_cons(h, SMALL(1), NIL));
	ck_assert_int_eq(iolist_size(t, &n), IOLIST_OK);
	ck_assert_uint_eq(n, 300000);
}
END_TEST

START_TEST(test_utf8_valid_prefix)
{
	size_t chars;

	ck_assert_uint_eq(utf8_valid_prefix((const uint8_t *)"ascii text, \xc3\xa9\xe2\x82\xac\xff", 18, &chars), 17);
	ck_assert_uint_eq(chars, 14);
	ck_assert_uint_eq(utf8_valid_prefix((const uint8_t *)"\xed\xa0\x80", 3, NULL), 0);
	ck_assert_uint_eq(utf8_ascii_prefix((const uint8_t *)"0123456789\x80", 11), 10);
	ck_assert_uint_eq(utf8_valid_prefix((const uint8_t *)"", 0, &chars), 0);
	ck_assert_uint_eq(chars, 0);
}
END_TEST

/* Four bytes as a number, the first one lowest: is what utf8_decode makes of them written as they are, and nothing when
 * cut? */
static bool is_read_as_written(uint32_t bytes)
{
	uint8_t text[4], again[UTF8_MAX_BYTES];
	uint32_t c = 0;
	unsigned n;

	memcpy(text, &bytes, sizeof(text));
	n = utf8_decode(text, sizeof(text), &c);
	if (n == 0)
		return true;
	for (unsigned less = 1; less < n; less++)
		if (utf8_decode(text, less, &c) != 0)
			return false;
	return utf8_is_scalar(c) && utf8_encode(c, again) == n && memcmp(text, again, n) == 0;
}

static bool is_written_as_read(uint32_t c)
{
	uint8_t text[UTF8_MAX_BYTES];
	unsigned n = utf8_encode(c, text);
	uint32_t read = 0;
	size_t chars;

	return utf8_decode(text, n, &read) == n && read == c && utf8_valid_prefix(text, n, &chars) == n && chars == 1;
}

/* Every character is read as it is written, and no other bytes are one: not overlong, no surrogates, nothing above
 * U+10FFFF. */
START_TEST(test_utf8_decode_all)
{
	size_t wrong = 0;

	for (uint32_t c = 0; c <= 0x10ffff; c++)
		wrong += utf8_is_scalar(c) && !is_written_as_read(c);
	for (uint32_t start = 0; start < 0x10000; start++)
		for (uint32_t end = 0; end < 0x10000; end += 0x1f1f)
			wrong += !is_read_as_written(start | end << 16);
	for (uint32_t third = 0; third < 0x1000000; third += 0x101)
		wrong += !is_read_as_written(third | 0x80000000);
	ck_assert_uint_eq(wrong, 0);
}
END_TEST

static bool find(const char *const *words, size_t count, const char *text, size_t *at, size_t *n)
{
	struct search_word w[8];
	struct search_run whole = { .from = 0 }, steps = { .from = 0 };
	int64_t all = INT64_MAX, left;
	enum search_result result;
	size_t step_at, step_n;
	struct search *s;
	bool found;

	for (size_t i = 0; i < count; i++)
		w[i] = (struct search_word){ (const uint8_t *)words[i], strlen(words[i]) };
	s = search_new(w, count);
	/* In one go, and in steps of one byte. */
	found = search_some(s, (const uint8_t *)text, strlen(text), &whole, &all, at, n) == SEARCH_FOUND;
	do {
		left = 1;
		result = search_some(s, (const uint8_t *)text, strlen(text), &steps, &left, &step_at, &step_n);
	} while (result == SEARCH_MORE);
	ck_assert((result == SEARCH_FOUND) == found);
	ck_assert(!found || (step_at == *at && step_n == *n && steps.from == *at + *n && whole.from == steps.from));
	search_free(s);
	return found;
}

START_TEST(test_search_first_and_longest)
{
	size_t at, n;

	ck_assert(find((const char *[]){ "bcde", "cd" }, 2, "abcde", &at, &n));
	ck_assert(at == 1 && n == 4);
	ck_assert(find((const char *[]){ "bcdx", "cd", "c" }, 3, "abcde", &at, &n));
	ck_assert(at == 2 && n == 2);
	ck_assert(find((const char *[]){ "abcdefz", "cdefg", "de" }, 3, "abcdefgh", &at, &n));
	ck_assert(at == 2 && n == 5);
	ck_assert(find((const char *[]){ "a", "ab", "abc" }, 3, "xxabd", &at, &n));
	ck_assert(at == 2 && n == 2);
	ck_assert(!find((const char *[]){ "q", "zz" }, 2, "abcz", &at, &n));
	ck_assert(find((const char *[]){ "cd" }, 1, "abcd", &at, &n));
	ck_assert(at == 2 && n == 2);
	ck_assert(!find((const char *[]){ "cde" }, 1, "abcd", &at, &n));
}
END_TEST

/* Every length of word and of text around the width of a vector, over two letters, and texts whose ends of words stand
 * everywhere. */
/* The first place where a word stands, and the longest there, by trying all. */
static bool find_slowly(const struct search_word *words, size_t count, const uint8_t *text, size_t size, size_t *at,
			size_t *n)
{
	for (*at = 0; *at < size; ++*at) {
		*n = 0;
		for (size_t i = 0; i < count; i++)
			if (words[i].n > *n && words[i].n <= size - *at &&
			    memcmp(text + *at, words[i].bytes, words[i].n) == 0)
				*n = words[i].n;
		if (*n > 0)
			return true;
	}
	return false;
}

/* Words and texts over alphabets of 2 to 256 bytes, the largest with every byte in some word. */
START_TEST(test_search_random)
{
	static const unsigned alphabets[] = { 2, 3, 10, 256 };
	uint8_t bytes[512], text[300];
	struct search_word words[200];
	size_t found = 0;

	srand(11);
	for (unsigned round = 0; round < 4000; round++) {
		unsigned alphabet = alphabets[round % 4];
		size_t count = 2 + (size_t)rand() % (alphabet == 256 ? 199 : 6), at, n, slow_at, slow_n;
		struct search_run run = { .from = 0 };
		int64_t budget = INT64_MAX;
		struct search *s;
		bool slowly;

		for (size_t i = 0; i < sizeof(bytes); i++)
			bytes[i] = alphabet == 256 ? (uint8_t)i : (uint8_t)(rand() % (int)alphabet);
		for (size_t i = 0; i < sizeof(text); i++)
			text[i] = (uint8_t)(rand() % (int)alphabet);
		for (size_t i = 0; i < count; i++) {
			words[i].n = 1 + (size_t)rand() % 8;
			words[i].bytes = bytes + (size_t)rand() % (sizeof(bytes) - words[i].n);
		}
		s = search_new(words, count);
		slowly = find_slowly(words, count, text, sizeof(text), &slow_at, &slow_n);
		ck_assert((search_some(s, text, sizeof(text), &run, &budget, &at, &n) == SEARCH_FOUND) == slowly);
		ck_assert(!slowly || (at == slow_at && n == slow_n));
		found += slowly;
		search_free(s);
	}
	ck_assert_uint_gt(found, 1000);
}
END_TEST

START_TEST(test_search_word_at_every_place)
{
	char text[300], word[40];
	size_t at, n;

	for (size_t length = 1; length < sizeof(word); length += 3)
		for (size_t place = 0; place + length < 200; place += 7) {
			for (int filler = 0; filler < 3; filler++) {
				for (size_t i = 0; i < sizeof(text) - 1; i++)
					text[i] = filler == 0 ? 'a' : filler == 1 ? 'b' : (char)('a' + i % 2);
				text[sizeof(text) - 1 - place % 50] = 0;
				memset(word, 'a', length);
				word[length / 2] = 'b';
				word[length] = 0;
				word[length - 1] = filler == 2 ? 'c' : word[length - 1];
				memcpy(text + place, word, length);
				ck_assert(find((const char *[]){ word }, 1, text, &at, &n));
				ck_assert_uint_eq(at, (size_t)(strstr(text, word) - text));
				ck_assert_uint_eq(n, length);
				text[at + length - 1] = 'x';
				ck_assert(find((const char *[]){ word }, 1, text, &at, &n) ==
					  (strstr(text, word) != NULL));
			}
		}
}
END_TEST

Suite *binary_suite(void)
{
	Suite *s = suite_create("binary");
	TCase *bits = tcase_create("bitcopy"), *terms = tcase_create("terms"), *bytes = tcase_create("bytes");

	tcase_add_test(bits, test_copy_every_alignment);
	tcase_add_test(bits, test_read_write_every_alignment);
	tcase_add_test(terms, test_compare_order);
	tcase_add_test(terms, test_sub_of_sub_names_the_original);
	tcase_add_test(terms, test_bytes_of_unaligned);
	tcase_add_test(terms, test_share_keeps_bytes);
	tcase_add_test(terms, test_iolist_forms);
	tcase_add_test(terms, test_iolist_deep);
	tcase_add_test(bytes, test_utf8_valid_prefix);
	tcase_add_test(bytes, test_utf8_decode_all);
	tcase_add_test(bytes, test_search_first_and_longest);
	tcase_add_test(bytes, test_search_word_at_every_place);
	tcase_add_test(bytes, test_search_random);
	suite_add_tcase(s, bits);
	suite_add_tcase(s, terms);
	suite_add_tcase(s, bytes);
	return s;
}
