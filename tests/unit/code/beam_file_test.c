/* SPDX-License-Identifier: Apache-2.0 */
/* The parser on a small module put together here, whole and damaged, and on the stock library's own files. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/alloc.h"
#include "code/beam_file.h"
#include "code/code_path.h"
#include "code/module.h"
#include "support_beam.h"
#include "unit.h"

static void init(void)
{
	unit_init();
	export_init();
	fun_init();
	module_init();
}

static struct beam_file *parse_body(const uint8_t *body, size_t n, struct beam_error *error)
{
	struct beam_out file;

	init();
	beam_build(&file, body, n);
	return beam_file_parse(file.bytes, file.n, error);
}

static void refused(const uint8_t *body, size_t n, const char *why)
{
	struct beam_error error;
	struct beam_file *f = parse_body(body, n, &error);

	ck_assert_msg(f == NULL, "taken, though: %s", why);
	ck_assert_msg(strstr(error.text, why) != NULL, "said: %s", error.text);
}

START_TEST(test_beam_file_parse_small_module)
{
	struct beam_error error;
	/* move 7 x1; return */
	struct beam_file *f = parse_body(BODY(64, COMPACT(I, 7), COMPACT(X, 1), 19), &error);

	ck_assert_msg(f != NULL, "said: %s", error.text);
	ck_assert_uint_eq(f->function_count, 1);
	ck_assert_uint_eq(f->functions[0].arity, 1);
	ck_assert(f->functions[0].name == atom_from_text("f"));
	ck_assert_uint_eq(f->export_count, 1);
	ck_assert_uint_eq(f->op_count, 7);
	ck_assert_uint_eq(f->ops[4].op, GENOP_move);
	ck_assert(f->ops[4].args[0].kind == OPND_CONST && f->ops[4].args[0].term == term_from_small(7));
	ck_assert(f->ops[4].args[1].kind == OPND_X && f->ops[4].args[1].u == 1);
	beam_file_free(f);
}
END_TEST

START_TEST(test_beam_file_parse_numbers)
{
	struct beam_error error;
	/* move 2^63 x0 (nine bytes); move -5 x0 (two bytes); move 1000 x0 (eleven bits) */
	struct beam_file *f = parse_body(BODY(64, 0xf9, 0x00, 0, 0x80, 0, 0, 0, 0, 0, 0, 0, COMPACT(X, 0), 64, 0x19,
					      0xff, 0xfb, COMPACT(X, 0), 64, 0x69 | 0x08, 0xe8, COMPACT(X, 0), 19),
					 &error);
	Term big;

	ck_assert_msg(f != NULL, "said: %s", error.text);
	big = f->ops[4].args[0].term;
	ck_assert(term_is_big(big) && term_is_literal(big) && boxed_ptr(big)[1] == (uint64_t)1 << 63);
	ck_assert(f->ops[5].args[0].term == term_from_small(-5));
	ck_assert(f->ops[6].args[0].term == term_from_small(1000));
	beam_file_free(f);
}
END_TEST

START_TEST(test_beam_file_parse_otp26_operations)
{
	struct beam_error error;
	/* update_record no_fail(5) 2 x0 x0 [1 x0 2 x0], executable_line 2 1 */
	struct beam_file *f = parse_body(BODY(181, COMPACT(A, 5), COMPACT(U, 2), COMPACT(X, 0), COMPACT(X, 0), 0x17,
					      COMPACT(U, 4), COMPACT(U, 1), COMPACT(X, 0), COMPACT(U, 2), COMPACT(X, 0),
					      183, COMPACT(U, 2), COMPACT(U, 1), 19),
					 &error);

	ck_assert_msg(f != NULL, "said: %s", error.text);
	ck_assert(f->ops[4].op == GENOP_update_record && f->ops[4].args[4].kind == OPND_LIST &&
		  f->ops[4].args[4].count == 4);
	ck_assert(f->ops[5].op == GENOP_executable_line);
	beam_file_free(f);
	refused(BODY(181, COMPACT(A, 5), COMPACT(U, 2), COMPACT(X, 0), COMPACT(X, 0), 0x17, COMPACT(U, 2),
		     COMPACT(U, 3), COMPACT(X, 0), 19),
		"an element out of range");
}
END_TEST

START_TEST(test_beam_file_parse_wrong_operands)
{
	refused(BODY(64, COMPACT(X, 0), COMPACT(I, 1), 19), "no register");
	refused(BODY(64, COMPACT(Y, 0), COMPACT(X, 1), 19), "outside every frame");
	refused(BODY(12, COMPACT(U, 1), COMPACT(U, 0), 64, COMPACT(Y, 1), COMPACT(X, 1), 19), "outside every frame");
	refused(BODY(64, COMPACT(I, 0), 0x8b, 0xff, 19), "register 1279");
	refused(BODY(61, COMPACT(F, 3), 19), "no place in this function");
	refused(BODY(61, COMPACT(F, 9), 19), "out of range");
	refused(BODY(4, COMPACT(U, 2), COMPACT(F, 2), 19), "another arity");
	refused(BODY(4, COMPACT(U, 1), COMPACT(F, 1), 19), "no function");
	refused(BODY(7, COMPACT(U, 0), COMPACT(U, 2), 19), "no import");
	refused(BODY(7, COMPACT(U, 1), COMPACT(U, 0), 19), "another arity");
	refused(BODY(103, COMPACT(U, 0), 19), "no lambda");
	refused(BODY(64, 0x47, COMPACT(U, 0), COMPACT(X, 0), 19), "literal 0");
	refused(BODY(92, COMPACT(U, 3), COMPACT(U, 2), 19), "a string out of range");
	refused(BODY(64, COMPACT(A, 7), COMPACT(X, 0), 19), "atom 7");
	refused(BODY(200, 19), "operation 200");
	refused(BODY(68, COMPACT(A, 1), 19), "operation 68");
	refused(BODY(1, COMPACT(U, 2), 19), "twice");
	refused(BODY(59, COMPACT(X, 0), COMPACT(F, 1), 0x17, COMPACT(U, 1), COMPACT(A, 1), 19), "wrong length");
	refused(BODY(59, COMPACT(X, 0), COMPACT(F, 1), 0x17, 0x08 | 0xe0, 0xff, COMPACT(A, 1), 19),
		"longer than the code");
	refused(BODY(177, COMPACT(F, 0), COMPACT(U, 0), COMPACT(U, 0), COMPACT(U, 1), COMPACT(X, 0), 0x17,
		     COMPACT(U, 6), COMPACT(A, 2), COMPACT(U, 1), 0x28, 0x01, COMPACT(A, 0), COMPACT(X, 0),
		     COMPACT(X, 0), 19),
		"a unit above 256");
	refused(BODY(16, 0x1f | 0x18, 0x7f, 0xff, 0xff, COMPACT(U, 0), 19), "Code");
}
END_TEST

/* ---- frames */

#define ALLOCATE(n) 12, COMPACT(U, n), COMPACT(U, 1)
#define DEALLOCATE(n) 18, COMPACT(U, n)
#define TRIM(n) 136, COMPACT(U, n), COMPACT(U, 0)
#define CALL 4, COMPACT(U, 1), COMPACT(F, 2)
#define CALL_LAST(n) 5, COMPACT(U, 1), COMPACT(F, 2), COMPACT(U, n)
#define CALL_ONLY 6, COMPACT(U, 1), COMPACT(F, 2)
#define RAISE 7, COMPACT(U, 1), COMPACT(U, 1)
#define RAISE_LAST(n) 8, COMPACT(U, 1), COMPACT(U, 1), COMPACT(U, n)
#define SELF 7, COMPACT(U, 0), COMPACT(U, 0)
#define LABEL(n) 1, COMPACT(U, n)
#define JUMP(n) 61, COMPACT(F, n)
#define IS_ATOM(n) 48, COMPACT(F, n), COMPACT(X, 0)
#define SET(y) 64, COMPACT(X, 0), COMPACT(Y, y)
#define GET(y) 64, COMPACT(Y, y), COMPACT(X, 0)
#define CATCH(y, n) 62, COMPACT(Y, y), COMPACT(F, n)
#define CATCH_END(y) 63, COMPACT(Y, y)
#define TRY(y, n) 104, COMPACT(Y, y), COMPACT(F, n)
#define TRY_END(y) 105, COMPACT(Y, y)
#define TRY_CASE(y) 106, COMPACT(Y, y)
#define RETURN 19
#define HANDLER 1, COMPACT(U, 3), TRY_CASE(0), DEALLOCATE(1), RETURN

static void taken(const uint8_t *body, size_t n)
{
	struct beam_error error;
	struct beam_file *f = parse_body(body, n, &error);

	ck_assert_msg(f != NULL, "said: %s", error.text);
	beam_file_free(f);
}

START_TEST(test_beam_file_parse_frames)
{
	taken(BODY(ALLOCATE(2), SET(1), CALL, TRIM(1), CALL_LAST(1)));
	taken(BODY(IS_ATOM(3), ALLOCATE(1), CALL, DEALLOCATE(1), LABEL(3), RAISE));
	taken(BODY(IS_ATOM(3), ALLOCATE(2), CALL, LABEL(3), RAISE_LAST(2)));
	taken(BODY(LABEL(3), ALLOCATE(0), CALL, DEALLOCATE(0), IS_ATOM(3), RETURN));
	refused(BODY(ALLOCATE(0), ALLOCATE(0), DEALLOCATE(0), RETURN),
		"allocate at byte 13: another frame than there is");
	refused(BODY(ALLOCATE(1), DEALLOCATE(2), RETURN), "deallocate at byte 13: another frame");
	refused(BODY(ALLOCATE(1), TRIM(2), DEALLOCATE(0), RETURN), "trim at byte 13: a frame that is smaller");
	refused(BODY(CALL, RETURN), "call at byte 10: no frame to return to");
	refused(BODY(SELF, RETURN), "call_ext at byte 10: no frame to return to");
	refused(BODY(ALLOCATE(1), CALL_LAST(2)), "call_last at byte 13: another frame");
	refused(BODY(ALLOCATE(1), CALL_ONLY), "call_only at byte 13: another frame");
	refused(BODY(ALLOCATE(1), RETURN), "return at byte 13: another frame");
	refused(BODY(ALLOCATE(2), SET(1), TRIM(1), GET(1), DEALLOCATE(1), RETURN),
		"move at byte 19: a register outside the frame");
	refused(BODY(IS_ATOM(3), ALLOCATE(1), LABEL(3), DEALLOCATE(1), RETURN), "deallocate at byte 18: another frame");
	refused(BODY(LABEL(3), ALLOCATE(0), IS_ATOM(3), DEALLOCATE(0), RETURN),
		"is_atom at byte 15: a label where the frame is another");
}
END_TEST

START_TEST(test_beam_file_parse_catches)
{
	taken(BODY(ALLOCATE(1), CATCH(0, 3), CALL, LABEL(3), CATCH_END(0), DEALLOCATE(1), RETURN));
	taken(BODY(ALLOCATE(1), TRY(0, 3), CALL, TRY_END(0), DEALLOCATE(1), RETURN, HANDLER));
	taken(BODY(ALLOCATE(2), CATCH(1, 4), TRY(0, 3), RAISE, LABEL(3), TRY_CASE(0), LABEL(4), CATCH_END(1),
		   DEALLOCATE(2), RETURN));
	refused(BODY(CATCH(0, 3), LABEL(3), CATCH_END(0), RETURN, ALLOCATE(1)),
		"catch at byte 10: a register outside the frame");
	refused(BODY(ALLOCATE(2), TRY(0, 3), TRIM(1), CALL, TRY_END(0), DEALLOCATE(1), RETURN, HANDLER),
		"trim at byte 16: a catch is active");
	refused(BODY(ALLOCATE(1), TRY(0, 3), DEALLOCATE(1), RETURN, HANDLER),
		"deallocate at byte 16: a catch is active");
	refused(BODY(ALLOCATE(1), TRY(0, 3), CALL_LAST(1), HANDLER), "call_last at byte 16: a catch is active");
	refused(BODY(ALLOCATE(1), TRY(0, 3), GET(0), TRY_END(0), DEALLOCATE(1), RETURN, HANDLER),
		"move at byte 16: a register in which a catch stands");
	refused(BODY(ALLOCATE(1), TRY(0, 3), SET(0), TRY_END(0), DEALLOCATE(1), RETURN, HANDLER),
		"move at byte 16: a register in which a catch stands");
	refused(BODY(ALLOCATE(1), TRY(0, 3), TRY(0, 3), RAISE, HANDLER),
		"try at byte 16: a register that is not below");
	refused(BODY(ALLOCATE(2), CATCH(0, 3), CATCH(1, 4), CALL, LABEL(4), CATCH_END(1), LABEL(3), CATCH_END(0),
		     GET(1), DEALLOCATE(2), RETURN),
		"catch at byte 16: a register that is not below that of the catch around");
	refused(BODY(ALLOCATE(2), CATCH(1, 3), CATCH(0, 4), CATCH_END(1), RAISE, LABEL(3), LABEL(4), RAISE),
		"catch_end at byte 19: another catch than the innermost");
	refused(BODY(ALLOCATE(2), SET(0), TRY(1, 3), RAISE, LABEL(3), SET(0), CALL, TRY_CASE(1), DEALLOCATE(2), RETURN),
		"move at byte 24: a handler that does not take the exception");
	refused(BODY(ALLOCATE(1), TRY(0, 3), CALL, LABEL(3), LABEL(4), RAISE), "handler that does not take");
	refused(BODY(ALLOCATE(1), TRY_END(0), DEALLOCATE(1), RETURN), "try_end at byte 13: another catch");
	refused(BODY(ALLOCATE(1), IS_ATOM(4), TRY(0, 3), LABEL(4), RAISE, HANDLER),
		"label at byte 19: a label where other catches");
	refused(BODY(ALLOCATE(1), LABEL(4), TRY(0, 3), JUMP(4), HANDLER),
		"jump at byte 18: a label where other catches");
	refused(BODY(ALLOCATE(1), TRY(0, 3), CALL, TRY_END(0), DEALLOCATE(1), RETURN, LABEL(3), DEALLOCATE(1), RETURN),
		"deallocate at byte 26: a handler that does not take the exception");
}
END_TEST

enum { DEEP = 500, DEEP_BYTES = DEEP * 40 };

struct body {
	uint8_t bytes[DEEP_BYTES];
	size_t n;
};

static void put(struct body *b, unsigned byte)
{
	ck_assert(b->n < sizeof(b->bytes));
	b->bytes[b->n++] = (uint8_t)byte;
}

/* A compact term of eleven bits. */
static void put_term(struct body *b, unsigned tag, unsigned n)
{
	put(b, (n >> 8) << 5 | 8 | tag);
	put(b, n & 255);
}

/* Catches within catches: in registers DEEP - 1 down to 0, with their handlers at labels from 3 on. */
static void put_catches(struct body *b)
{
	for (unsigned y = DEEP; y-- > 0;) {
		put(b, 62);
		put_term(b, Y, y);
		put_term(b, F, 3 + y);
	}
}

static void put_ends(struct body *b, bool handled)
{
	for (unsigned y = 0; y < DEEP; y++) {
		if (handled) {
			put(b, 1);
			put_term(b, U, 3 + y);
		}
		put(b, 63);
		put_term(b, Y, y);
	}
}

/* However deep they are, a few steps for each operation: of the same ones begun again, and of registers around all of
 * them. */
START_TEST(test_beam_file_parse_deep_catches)
{
	struct body b = { .n = 0 };
	struct beam_error error;
	struct beam_out file;
	struct beam_file *f;

	put(&b, 12);
	put_term(&b, U, DEEP + 1);
	put(&b, COMPACT(U, 1));
	put_catches(&b);
	put_ends(&b, false);
	put_catches(&b);
	for (int i = 0; i < DEEP; i++) {
		put(&b, 64);
		put_term(&b, Y, DEEP);
		put(&b, COMPACT(X, 0));
	}
	put_ends(&b, true);
	put(&b, 18);
	put_term(&b, U, DEEP + 1);
	put(&b, 19);
	init();
	beam_build_labels(&file, b.bytes, b.n, 3 + DEEP);
	f = beam_file_parse(file.bytes, file.n, &error);
	ck_assert_msg(f != NULL, "said: %s", error.text);
	ck_assert_uint_gt(f->catch_steps, 0);
	ck_assert_uint_lt(f->catch_steps, 8 * f->op_count);
	beam_file_free(f);
}
END_TEST

START_TEST(test_beam_file_parse_cut_off)
{
	struct beam_error error;
	struct beam_out file;

	init();
	beam_build(&file, BODY(64, COMPACT(I, 7), COMPACT(X, 1), 19));
	for (size_t n = 0; n < file.n; n++) {
		uint8_t *copy = mem_alloc(n + 1);

		memcpy(copy, file.bytes, n);
		ck_assert_ptr_null(beam_file_parse(copy, n, &error));
		ck_assert(error.text[0] != 0);
		mem_free(copy);
	}
}
END_TEST

START_TEST(test_beam_file_parse_compressed)
{
	struct beam_error error;
	struct beam_file *f;
	struct beam_out file;
	uint8_t packed[BEAM_OUT_MAX];
	z_stream z = { 0 };

	init();
	beam_build(&file, BODY(19));
	ck_assert_int_eq(deflateInit2(&z, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
	z.next_in = file.bytes;
	z.avail_in = (unsigned)file.n;
	z.next_out = packed;
	z.avail_out = sizeof(packed);
	ck_assert_int_eq(deflate(&z, Z_FINISH), Z_STREAM_END);
	f = beam_file_parse(packed, z.total_out, &error);
	ck_assert_msg(f != NULL, "said: %s", error.text);
	beam_file_free(f);
	ck_assert_ptr_null(beam_file_parse(packed, z.total_out - 12, &error));
	ck_assert_str_eq(error.text, "damaged compression");
	deflateEnd(&z);
}
END_TEST

START_TEST(test_beam_file_parse_stock_lists)
{
	/* erl -noshell -eval 'io:format("~w", [erts_internal:beamfile_module_md5(element(2,
	 * file:read_file(code:which(lists))))])' agrees */
	struct beam_error error;
	struct beam_file *f;
	uint8_t *bytes, md5[16];
	char *path;
	size_t n;

	init();
	path = code_path_find(atom_from_text("lists"));
	ck_assert_ptr_nonnull(path);
	bytes = code_path_read(path, &n);
	f = beam_file_parse(bytes, n, &error);
	ck_assert_msg(f != NULL, "said: %s", error.text);
	ck_assert(f->module == atom_from_text("lists"));
	ck_assert(f->lambda_count > 0 && f->literal_count > 0 && f->line_count > 1);
	ck_assert_str_eq(atom_text(f->files[0], NULL), "lists.erl");
	ck_assert(beam_file_md5(bytes, n, md5) && memcmp(md5, f->md5, 16) == 0);
	beam_file_free(f);
	mem_free(bytes);
	mem_free(path);
}
END_TEST

Suite *beam_file_suite(void)
{
	Suite *s = suite_create("beam_file");
	TCase *c = tcase_create("beam_file");

	tcase_add_test(c, test_beam_file_parse_small_module);
	tcase_add_test(c, test_beam_file_parse_numbers);
	tcase_add_test(c, test_beam_file_parse_otp26_operations);
	tcase_add_test(c, test_beam_file_parse_wrong_operands);
	tcase_add_test(c, test_beam_file_parse_frames);
	tcase_add_test(c, test_beam_file_parse_catches);
	tcase_add_test(c, test_beam_file_parse_deep_catches);
	tcase_add_test(c, test_beam_file_parse_cut_off);
	tcase_add_test(c, test_beam_file_parse_compressed);
	tcase_add_test(c, test_beam_file_parse_stock_lists);
	suite_add_tcase(s, c);
	return s;
}
