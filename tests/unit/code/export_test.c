/* SPDX-License-Identifier: Apache-2.0 */
/* The table of exports: what foreign bytes name is bounded, and leaves room for what code names. */
#include "unit.h"

#include <stdio.h>

#include "code/export.h"

static Term name_module(unsigned i)
{
	char text[16];

	snprintf(text, sizeof(text), "m%u", i);
	return atom_from_text(text);
}

START_TEST(test_export_get_foreign_is_bounded)
{
	unsigned made = 0;

	unit_init();
	export_init();
	for (unsigned i = 0; made < 2 * EXPORTS_FOREIGN_MAX; i++) {
		Term module = name_module(i);

		for (uint32_t arity = 0; arity < 256; arity++, made++)
			ck_assert((export_get_foreign(module, am_ok, arity) != NULL) == (made < EXPORTS_FOREIGN_MAX));
	}
	ck_assert(export_get_foreign(name_module(0), am_ok, 23) == export_find(name_module(0), am_ok, 23));
	ck_assert(export_get_foreign(am_error, am_ok, 0) == NULL);
	ck_assert(export_try_get(am_error, am_ok, 0) != NULL);
	ck_assert(export_get_foreign(am_error, am_ok, 0) == export_get(am_error, am_ok, 0));
}
END_TEST

Suite *export_suite(void)
{
	Suite *s = suite_create("export");
	TCase *t = tcase_create("export");

	tcase_add_test(t, test_export_get_foreign_is_bounded);
	suite_add_tcase(s, t);
	return s;
}
