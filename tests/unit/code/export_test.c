/* SPDX-License-Identifier: Apache-2.0 */
/* The table of exports: what foreign bytes and running code name is bounded, and leaves room for what code names. */
#include "unit.h"

#include <stdio.h>

#include "code/export.h"

#include <sys/resource.h> /* after process.h: one of its macros has the name of a constant there */

static Term name_module(unsigned i)
{
	char text[16];

	snprintf(text, sizeof(text), "m%u", i);
	return atom_from_text(text);
}

/* More than that namer may name, of which none is there; each call answers whether its share is used up. */
static void name_more_than_fit(enum export_namer namer, Term function, size_t share)
{
	size_t most = export_room() / share, made = 0;

	for (unsigned i = 0; made < 2 * most; i++) {
		Term module = name_module(i);

		for (uint32_t arity = 0; arity < 256; arity++, made++)
			ck_assert((export_try_get(module, function, arity, namer) != NULL) == (made < most));
	}
	ck_assert(export_try_get(name_module(0), function, 23, namer) == export_find(name_module(0), function, 23));
}

START_TEST(test_export_get_of_bytes_is_bounded)
{
	unit_init();
	export_init();
	name_more_than_fit(NAMED_BY_BYTES, am_ok, EXPORTS_BYTES_SHARE);
	ck_assert(export_try_get(am_error, am_ok, 0, NAMED_BY_BYTES) == NULL);
	ck_assert(export_try_get(am_error, am_ok, 0, NAMED_BY_CALLS) != NULL);
	ck_assert(export_try_get(am_error, am_ok, 0, NAMED_BY_BYTES) == export_get(am_error, am_ok, 0));
}
END_TEST

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* they need more addresses themselves */
/* Where addresses are limited the table is smaller, and so are its shares. */
START_TEST(test_export_shares_are_of_the_room_there_is)
{
	struct rlimit limit, less;
	size_t whole;

	unit_init();
	export_init();
	whole = export_room();
	ck_assert_int_eq(getrlimit(RLIMIT_AS, &limit), 0);
	less = (struct rlimit){ (rlim_t)2 << 30, limit.rlim_max };
	ck_assert_int_eq(setrlimit(RLIMIT_AS, &less), 0);
	export_init();
	ck_assert_int_eq(setrlimit(RLIMIT_AS, &limit), 0);
	ck_assert_uint_lt(export_room(), whole / EXPORTS_CALLS_SHARE);
	name_more_than_fit(NAMED_BY_BYTES, am_ok, EXPORTS_BYTES_SHARE);
	name_more_than_fit(NAMED_BY_CALLS, am_error, EXPORTS_CALLS_SHARE);
	name_more_than_fit(NAMED_BY_CODE, am_exit, EXPORTS_CODE_SHARE);
	ck_assert(export_get(am_undefined, am_ok, 0) != NULL);
}
END_TEST
#endif

Suite *export_suite(void)
{
	Suite *s = suite_create("export");
	TCase *t = tcase_create("export");

	tcase_add_test(t, test_export_get_of_bytes_is_bounded);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	tcase_add_test(t, test_export_shares_are_of_the_room_there_is);
#endif
	suite_add_tcase(s, t);
	return s;
}
