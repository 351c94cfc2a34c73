/* SPDX-License-Identifier: Apache-2.0 */
/* The builder of small .beam files. */
#include "support_beam.h"

#include <check.h>
#include <string.h>

static void put_bytes(struct beam_out *o, const void *bytes, size_t n)
{
	ck_assert(o->n + n <= BEAM_OUT_MAX);
	memcpy(o->bytes + o->n, bytes, n);
	o->n += n;
}

static void put_u8(struct beam_out *o, unsigned byte)
{
	uint8_t b = (uint8_t)byte;

	put_bytes(o, &b, 1);
}

static void put_u32(struct beam_out *o, uint32_t v)
{
	uint8_t b[4] = { (uint8_t)(v >> 24), (uint8_t)(v >> 16), (uint8_t)(v >> 8), (uint8_t)v };

	put_bytes(o, b, 4);
}

static void put_chunk(struct beam_out *o, const char *id, const struct beam_out *data)
{
	put_bytes(o, id, 4);
	put_u32(o, (uint32_t)data->n);
	put_bytes(o, data->bytes, data->n);
	while (o->n % 4 != 0)
		put_u8(o, 0);
}

static const char *const names[] = { "m", "f", "erlang", "self", "no_fail", "error" };

enum { NAMES = sizeof(names) / sizeof(names[0]) };

static void put_atoms(struct beam_out *file)
{
	struct beam_out o = { .n = 0 };

	put_u32(&o, NAMES);
	for (unsigned i = 0; i < NAMES; i++) {
		put_u8(&o, (unsigned)strlen(names[i]));
		put_bytes(&o, names[i], strlen(names[i]));
	}
	put_chunk(file, "AtU8", &o);
}

static void put_code(struct beam_out *file, const uint8_t *body, size_t n, uint32_t labels)
{
	struct beam_out o = { .n = 0 };

	put_u32(&o, 16);
	put_u32(&o, 0);
	put_u32(&o, 184);
	put_u32(&o, labels);
	put_u32(&o, 1);
	put_bytes(&o, body, n);
	put_chunk(file, "Code", &o);
}

/* Of erlang. */
static void put_import(struct beam_out *o, uint32_t function, uint32_t arity)
{
	put_u32(o, 3);
	put_u32(o, function);
	put_u32(o, arity);
}

static void put_tables(struct beam_out *file)
{
	struct beam_out imports = { .n = 0 }, exports = { .n = 0 }, strings = { .n = 0 };

	put_bytes(&strings, "abcd", 4);
	put_chunk(file, "StrT", &strings);
	put_u32(&imports, 2);
	put_import(&imports, 4, 0);
	put_import(&imports, 6, 1);
	put_chunk(file, "ImpT", &imports);
	put_u32(&exports, 1);
	put_u32(&exports, 2);
	put_u32(&exports, 1);
	put_u32(&exports, 2);
	put_chunk(file, "ExpT", &exports);
}

static void put_lines(struct beam_out *file)
{
	/* version, flags, operations, lines, files; 10, 20, file 1, 30 */
	static const uint8_t rows[] = { COMPACT(I, 10), 0x09, 20, COMPACT(A, 1), 0x09, 30 };
	struct beam_out o = { .n = 0 };

	put_u32(&o, 0);
	put_u32(&o, 0);
	put_u32(&o, 3);
	put_u32(&o, 3);
	put_u32(&o, 1);
	put_bytes(&o, rows, sizeof(rows));
	put_u8(&o, 0);
	put_u8(&o, 9);
	put_bytes(&o, "other.erl", 9);
	put_chunk(file, "Line", &o);
}

void beam_build_labels(struct beam_out *file, const uint8_t *body, size_t n, uint32_t labels)
{
	static const uint8_t head[] = {
		153, COMPACT(U, 1), 1, COMPACT(U, 1), 2, COMPACT(A, 1), COMPACT(A, 2), COMPACT(U, 1), 1, COMPACT(U, 2),
	};
	uint8_t code[BEAM_OUT_MAX];
	struct beam_out chunks = { .n = 0 };

	ck_assert(sizeof(head) + n < sizeof(code));
	memcpy(code, head, sizeof(head));
	memcpy(code + sizeof(head), body, n);
	code[sizeof(head) + n] = 3; /* int_code_end */
	put_atoms(&chunks);
	put_code(&chunks, code, sizeof(head) + n + 1, labels);
	put_tables(&chunks);
	put_lines(&chunks);
	file->n = 0;
	put_bytes(file, "FOR1", 4);
	put_u32(file, (uint32_t)chunks.n + 4);
	put_bytes(file, "BEAM", 4);
	put_bytes(file, chunks.bytes, chunks.n);
}

void beam_build(struct beam_out *file, const uint8_t *body, size_t n)
{
	beam_build_labels(file, body, n, 5);
}
