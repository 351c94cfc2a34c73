/* SPDX-License-Identifier: Apache-2.0 */
/* Names of files: values as prim_file:internal_name2native/1 and internal_native2name/1 of OTP 25 give them (UTF-8
 * locale). */
#include "io/filename.h"

#include <check.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "data/binary.h"
#include "unit.h"

static void setup(void)
{
	unit_init();
	setenv("LC_ALL", "C.UTF-8", 1);
	filename_init();
	ck_assert(filename_is_utf8());
}

static Term list_of(const int *chars, size_t n)
{
	Term list = NIL;

	while (n-- > 0)
		list = heap_cons(unit_heap(), SMALL((int64_t)chars[n]), list);
	return list;
}
#define CHARS(...) list_of((int[]){ __VA_ARGS__ }, sizeof((int[]){ __VA_ARGS__ }) / sizeof(int))

static void check_native(Term name, const char *want)
{
	size_t n;
	char *path = filename_from_term(name, false, &n);

	ck_assert_ptr_nonnull(path);
	ck_assert_str_eq(path, want);
	ck_assert_uint_eq(n, strlen(want));
	mem_free(path);
}

static void check_refused(Term name)
{
	size_t n;

	ck_assert_ptr_null(filename_from_term(name, false, &n));
}

START_TEST(test_filename_from_term_strings)
{
	Term deep = heap_cons(unit_heap(), CHARS('a', 'b'), CHARS('/', 0x20ac));

	check_native(CHARS('a', 0xe5, 0x1f600), "a\xc3\xa5\xf0\x9f\x98\x80");
	check_native(deep, "ab/\xe2\x82\xac");
	check_native(NIL, "");
	check_native(binary_put(unit_heap(), "\xff\xfe", 2), "\xff\xfe");
}
END_TEST

START_TEST(test_filename_from_term_refuses)
{
	char *name;
	size_t n;

	check_refused(CHARS('a', 0, 'b'));
	check_refused(CHARS(0xd800));
	check_refused(CHARS(0x110000));
	check_refused(CHARS(-1));
	check_refused(heap_cons(unit_heap(), SMALL(97), SMALL(98)));
	check_refused(heap_cons(unit_heap(), am_ok, NIL));
	check_refused(am_ok);
	check_refused(SMALL(1));
	check_refused(binary_put(unit_heap(), "a\0b", 3));
	name = filename_from_term(am_ok, true, &n);
	ck_assert_ptr_nonnull(name);
	mem_free(name);
}
END_TEST

START_TEST(test_filename_put_decodes)
{
	Term name = filename_put(unit_heap(), "a\xe2\x82\xac", 4);

	ck_assert(cons_head(name) == SMALL(97));
	ck_assert(cons_head(cons_tail(name)) == SMALL(0x20ac));
	ck_assert(cons_tail(cons_tail(name)) == NIL);
	ck_assert(filename_put(unit_heap(), "", 0) == NIL);
}
END_TEST

START_TEST(test_filename_put_refuses_what_is_no_utf8)
{
	static const char *const bad[] = { "\xff", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80",
					   "\x80", "\xe2\x82", "\xc3(" };

	for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++)
		ck_assert_msg(filename_put(unit_heap(), bad[k], strlen(bad[k])) == TERM_NONE, "%zu", k);
}
END_TEST

START_TEST(test_filename_put_latin1_locale)
{
	setenv("LC_ALL", "C", 1);
	filename_init();
	ck_assert(!filename_is_utf8());
	ck_assert(cons_head(filename_put(unit_heap(), "\xff", 1)) == SMALL(255));
	check_native(CHARS(0xe5), "\xe5");
	check_refused(CHARS(0x20ac));
}
END_TEST

Suite *filename_suite(void)
{
	Suite *s = suite_create("io/filename");
	TCase *c = tcase_create("filename");

	tcase_add_checked_fixture(c, setup, NULL);
	tcase_add_test(c, test_filename_from_term_strings);
	tcase_add_test(c, test_filename_from_term_refuses);
	tcase_add_test(c, test_filename_put_decodes);
	tcase_add_test(c, test_filename_put_refuses_what_is_no_utf8);
	tcase_add_test(c, test_filename_put_latin1_locale);
	suite_add_tcase(s, c);
	return s;
}
