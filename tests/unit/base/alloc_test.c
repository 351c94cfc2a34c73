/* SPDX-License-Identifier: Apache-2.0 */
#include <malloc.h>

#include "base/alloc.h"
#include "unit.h"

enum { BLOCKS = 10000 };

/* Nothing freed is set aside to be joined to its neighbours later, all at once. */
START_TEST(test_free_joins_small_blocks_at_once)
{
	static void *blocks[BLOCKS];

	mem_init();
	for (int i = 0; i < BLOCKS; i++)
		blocks[i] = mem_alloc(16 + (size_t)i % 100);
	/* Between two that stay: a large free block would be a chance to join what was set aside. */
	for (int i = 1; i < BLOCKS; i += 2)
		mem_free(blocks[i]);
	ck_assert_uint_eq(mallinfo2().fsmblks, 0);
	for (int i = 0; i < BLOCKS; i += 2)
		mem_free(blocks[i]);
}
END_TEST

Suite *base_alloc_suite(void)
{
	Suite *s = suite_create("base alloc");
	TCase *c = tcase_create("alloc");

	tcase_add_test(c, test_free_joins_small_blocks_at_once);
	suite_add_tcase(s, c);
	return s;
}
