/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the beam file parser share; nobody else includes it. */
#ifndef VM_CODE_BEAM_PARSE_H
#define VM_CODE_BEAM_PARSE_H

#include "code/beam_file.h"

/* Bytes still to be read. Invariant: at <= end; a read that does not fit sets `bad`, gives 0 and leaves at == end. */
struct reader {
	const uint8_t *at, *end;
	bool bad;
};

static inline size_t reader_left(const struct reader *r) { return (size_t)(r->end - r->at); }
static inline const uint8_t *reader_bytes(struct reader *r, size_t n)
{
	const uint8_t *p = r->at;

	if (reader_left(r) < n) {
		r->bad = true;
		r->at = r->end;
		return NULL;
	}
	r->at += n;
	return p;
}
static inline uint8_t reader_u8(struct reader *r)
{
	const uint8_t *p = reader_bytes(r, 1);

	return p != NULL ? *p : 0;
}
static inline uint32_t reader_u16(struct reader *r)
{
	const uint8_t *p = reader_bytes(r, 2);

	return p != NULL ? (uint32_t)p[0] << 8 | p[1] : 0;
}
static inline uint32_t reader_u32(struct reader *r)
{
	const uint8_t *p = reader_bytes(r, 4);

	return p != NULL ? (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3] : 0;
}

/* A compact term: three bits of tag, and a number. */
enum compact_tag { COMPACT_U, COMPACT_I, COMPACT_A, COMPACT_X, COMPACT_Y, COMPACT_F, COMPACT_H, COMPACT_Z };
struct compact {
	enum compact_tag tag;
	int64_t value;       /* when it fits */
	const uint8_t *big;  /* else its bytes, big-endian two's complement */
	size_t big_bytes;
};
struct compact reader_compact(struct reader *r);

/* An operand whose term still stands on the scratch heap: an integer of more than 60 bits, or what a record is declared
 * as. */
struct code_constant {
	struct operand *operand;
	struct code_constant *next;
};

struct beam_parse {
	struct beam_file *f;
	struct beam_error *error;
	struct heap scratch;
	struct code_constant *constants;
	bool has_lines;
	uint32_t type_count; /* of the Type chunk; 0: none that is known, and registers name types that do not matter */
};

/* Sets the error (the first one stays); always returns false. */
bool beam_parse_fail(struct beam_parse *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Memory that lives as long as the file. Units: count items of size bytes. _take: zeroed. _room: with what stood there,
 * for the many items whose fields are all set. */
void *beam_parse_take(struct beam_parse *p, size_t count, size_t size);
void *beam_parse_room(struct beam_parse *p, size_t count, size_t size);
void beam_parse_free(struct beam_file *f);
/* The atom of that index, or TERM_NONE with the error set. */
Term beam_parse_atom(struct beam_parse *p, uint64_t index);

/* The operand's term will stand in the literal area. */
void beam_parse_constant(struct beam_parse *p, struct operand *o);

/* ---- beam_code.c */
/* One operand, as they stand in the code and wherever its format is used. */
bool beam_code_operand(struct beam_parse *p, struct reader *r, struct operand *o);
/* Decodes the Code chunk: operations, labels, functions. */
bool beam_code_decode(struct beam_parse *p, struct reader *r);
/* Holds every operand against genops.def, turns indices into what they name, and notes which registers and labels there
 * are. After all tables are there. */
bool beam_code_check(struct beam_parse *p);

/* ---- beam_records.c */
/* Decodes the Recs chunk: the native records that the module declares. No such chunk: none. */
bool beam_records_parse(struct beam_parse *p, struct reader *r);

/* ---- beam_debug.c */
/* Decodes the DbgB chunk, after the code: what a debugger asks. No such chunk: none. */
bool beam_debug_parse(struct beam_parse *p, struct reader *r);

/* ---- beam_frames.c */
/* Holds frames against each other along every path. After beam_code_check. */
bool beam_frames_check(struct beam_parse *p);

#endif
