/* SPDX-License-Identifier: Apache-2.0 */
/* What a terminal is sent for the commands of user_drv, on a terminal of 10 columns. */
#include <check.h>
#include <locale.h>
#include <string.h>

#include "io/line_edit.h"
#include "unit.h"

static struct byte_queue out;
static struct line line;

static void begin(void)
{
	unit_init();
	setlocale(LC_CTYPE, "C.UTF-8");
	byte_queue_init(&out);
	line_init(&line, &out);
	line.columns = 10;
	line.utf8 = true;
}

static void end(void)
{
	line_free(&line);
	byte_queue_clear(&out);
}

static void run_text(enum line_command command, const char *text)
{
	uint8_t bytes[256];

	bytes[0] = (uint8_t)command;
	memcpy(bytes + 1, text, strlen(text));
	line_run(&line, bytes, strlen(text) + 1);
}

static void run_count(enum line_command command, int count)
{
	line_run(&line, (uint8_t[]){ (uint8_t)command, (uint8_t)(count >> 8), (uint8_t)count }, 3);
}

static void expect(const char *bytes)
{
	char sent[512] = { 0 };

	byte_queue_copy(&out, sent, out.size_bytes);
	byte_queue_clear(&out);
	ck_assert_str_eq(sent, bytes);
}

START_TEST(test_line_run_put)
{
	run_text(LINE_PUT, "abc");
	expect("abc");
	run_text(LINE_PUT_SYNC, "d\nef\001");
	expect("d\r\nef^A");
	ck_assert_uint_eq(line.length, 3);
	run_text(LINE_PUT, "\033[31mred");
	expect("\033[31mred");
	ck_assert_uint_eq(line.length, 6);
	run_text(LINE_BEEP, "");
	expect("\a");
}
END_TEST

START_TEST(test_line_run_insert_and_delete)
{
	run_text(LINE_PUT, "abcd");
	run_count(LINE_MOVE, -2);
	expect("abcd\033[2D");
	run_text(LINE_INSERT, "XY");
	expect("XYcd\033[2D");
	run_count(LINE_DELETE, -1);
	expect("\033[1Dcd \033[3D");
	run_count(LINE_DELETE, 1);
	expect("d \033[2D");
	run_count(LINE_MOVE, 9);
	expect("\033[1C");
	ck_assert_uint_eq(line.cursor, 4);
}
END_TEST

START_TEST(test_line_run_over_the_margin)
{
	run_text(LINE_PUT, "0123456789");
	expect("0123456789 \b");
	run_text(LINE_PUT, "ab");
	run_count(LINE_MOVE, -4);
	expect("ab\033[1A\033[6C");
	run_count(LINE_DELETE, 4);
	expect("    \033[1A\033[6C");
	run_text(LINE_PUT, "89\n");
	expect("89\r\n");
}
END_TEST

START_TEST(test_line_run_characters_of_other_widths)
{
	run_text(LINE_PUT, "\xe6\xbc\xa2" "e\xcc\x81x");
	expect("\xe6\xbc\xa2" "e\xcc\x81x");
	run_count(LINE_MOVE, -2); /* x, and e with its accent */
	expect("\033[2D");
	run_count(LINE_MOVE, -1);
	expect("\033[2D");
	line.utf8 = false;
	run_text(LINE_PUT, "\xe6\xbc\xa2");
	expect("\\x{6F22}");
}
END_TEST

Suite *line_edit_suite(void)
{
	Suite *s = suite_create("line_edit");
	TCase *t = tcase_create("line_edit");

	tcase_add_checked_fixture(t, begin, end);
	tcase_add_test(t, test_line_run_put);
	tcase_add_test(t, test_line_run_insert_and_delete);
	tcase_add_test(t, test_line_run_over_the_margin);
	tcase_add_test(t, test_line_run_characters_of_other_widths);
	suite_add_tcase(s, t);
	return s;
}
