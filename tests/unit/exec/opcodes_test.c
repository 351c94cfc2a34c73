/* SPDX-License-Identifier: Apache-2.0 */
/* The layouts that follow from opcodes.def, and how registers and catches stand in words. */
#include <check.h>
#include <string.h>

#include "code/opcodes.h"
#include "exec/unwind.h"
#include "unit.h"

START_TEST(test_opcode_fields_lie_apart)
{
	opcodes_init();
	for (unsigned op = 0; op < OP_COUNT; op++) {
		const struct opcode_info *o = opcode_info(op);
		uint8_t used[64 * 8] = { 1, 1 };

		for (unsigned i = 0; i < o->count; i++)
			for (unsigned b = 0; b < o->fields[i].bytes; b++) {
				unsigned at = o->fields[i].offset + b;

				ck_assert_msg(at < o->words * 8u, "%s: field %u is outside", o->name, i);
				ck_assert_msg(!used[at], "%s: field %u overlaps", o->name, i);
				used[at] = 1;
			}
	}
}
END_TEST

START_TEST(test_opcode_fields_are_aligned)
{
	opcodes_init();
	for (unsigned op = 0; op < OP_COUNT; op++) {
		const struct opcode_info *o = opcode_info(op);

		for (unsigned i = 0; i < o->count; i++)
			if (o->fields[i].bytes != 0)
				ck_assert_uint_eq(o->fields[i].offset % o->fields[i].bytes, 0);
	}
}
END_TEST

START_TEST(test_source_tells_registers_from_constants)
{
	ck_assert(source_is_reg(source_from_reg(reg_x(0))));
	ck_assert(source_is_reg(source_from_reg(reg_y(1023))));
	ck_assert(!source_is_reg(SMALL(0)));
	ck_assert(!source_is_reg(NIL));
	ck_assert(!source_is_reg(am_false));
	ck_assert_uint_eq(source_from_reg(reg_y(2)) >> 2, reg_y(2));
	ck_assert_uint_eq(reg_y(0), 8 + REG_Y_BIT);
}
END_TEST

START_TEST(test_catch_term_keeps_address)
{
	static const Inst code[2];
	Term t = term_from_catch(&code[1]);

	ck_assert(term_is_catch(t));
	ck_assert_ptr_eq(catch_handler(t), &code[1]);
}
END_TEST

Suite *opcodes_suite(void)
{
	Suite *s = suite_create("opcodes");
	TCase *t = tcase_create("layout");

	tcase_add_test(t, test_opcode_fields_lie_apart);
	tcase_add_test(t, test_opcode_fields_are_aligned);
	tcase_add_test(t, test_source_tells_registers_from_constants);
	tcase_add_test(t, test_catch_term_keeps_address);
	suite_add_tcase(s, t);
	return s;
}
