/* SPDX-License-Identifier: Apache-2.0 */
/* The bit syntax: construction. Nothing here collects, as data/bits.h has it. Sizes are bits unless said. */
#ifndef VM_DATA_BITS_BUILD_H
#define VM_DATA_BITS_BUILD_H

#include "data/bits.h"

/* ---- construction, one operation at a time (bs_init2 and those that follow; up to OTP 24's compilers).
 * Between bits_init/bits_append and the last put nothing may collect or append. */
struct bits_builder {
	uint8_t *base;
	uint64_t offset;     /* where the next bits go, from base */
	uint64_t end;        /* of the room */
};
/* Units: words of any result of the functions below. */
#define BITS_RESULT_WORDS (2 + HEAPBIN_LIMIT / 8 + SUBBIN_WORDS)

/* A new bitstring of that size, to be filled by puts. TERM_NONE: system_limit. */
Term bits_init(struct heap *h, struct bits_builder *b, uint64_t size);
/* bin with room for `size` bits behind it. Where bin is the newest end of a writable buffer, the bytes are not copied.
 * Fails: TERM_NONE and *error: bin is no bitstring, or its size no multiple of unit. */
Term bits_append(struct heap *h, struct bits_builder *b, Term bin, uint64_t size, unsigned unit,
		 enum bits_error *error);
/* The same where nobody else can see bin: its sub-binary is used again. */
Term bits_private_append(struct heap *h, struct bits_builder *b, Term bin, uint64_t size, unsigned unit,
			 enum bits_error *error);
/* bs_init_writable: an empty binary with a buffer of that many bytes (1024 when size is no small >= 0). */
Term bits_init_writable(struct heap *h, Term size_bytes);

/* Each puts at b's offset and moves it on. flags: BITS_LITTLE and the others of data/bits.h. */
enum bits_error bits_put_integer(struct bits_builder *b, Term value, uint64_t size, unsigned flags);
enum bits_error bits_put_float(struct bits_builder *b, Term value, uint64_t size, unsigned flags);
/* The first `size` bits of the bitstring value. */
enum bits_error bits_put_binary(struct bits_builder *b, Term value, uint64_t size);
/* All of it, which must be a multiple of unit. */
enum bits_error bits_put_binary_all(struct bits_builder *b, Term value, unsigned unit);
void bits_put_string(struct bits_builder *b, const uint8_t *bytes, size_t n);
enum bits_error bits_put_utf8(struct bits_builder *b, Term value);
enum bits_error bits_put_utf16(struct bits_builder *b, Term value, unsigned flags);
enum bits_error bits_put_utf32(struct bits_builder *b, Term value, unsigned flags);
/* Units: bytes of the character; 0 when it is none. */
unsigned bits_utf8_size(Term value);
unsigned bits_utf16_size(Term value);
/* The 2 or 4 bytes of a scalar value; returns what is behind them. */
static inline uint8_t *bits_put_utf16_at(uint8_t *at, uint32_t c, bool is_little)
{
	uint16_t unit = (uint16_t)c;

	if (c >= 0x10000) {
		unit = (uint16_t)(0xd800 | (c - 0x10000) >> 10);
		bitcopy_put_16(at, is_little ? bswap_16(unit) : unit);
		at += 2;
		unit = 0xdc00 | (c & 0x3ff);
	}
	bitcopy_put_16(at, is_little ? bswap_16(unit) : unit);
	return at + 2;
}

/* ---- construction as one (bs_create_bin, OTP 25 and later) */
enum bits_kind {
	BITS_SEG_APPEND,         /* first segment only */
	BITS_SEG_PRIVATE_APPEND, /* first segment only */
	BITS_SEG_BINARY,
	BITS_SEG_FLOAT,
	BITS_SEG_INTEGER,
	BITS_SEG_STRING,
	BITS_SEG_UTF8,
	BITS_SEG_UTF16,
	BITS_SEG_UTF32,
};
struct bits_segment {
	uint8_t kind;
	uint8_t flags;
	uint16_t unit;       /* 1..256 */
	uint32_t number;     /* the segment's, for reports of failures */
	Term value;          /* evaluated; not for strings */
	Term size;           /* integer term, am_all for whole binaries; strings: bytes, a small; not for UTF */
	const uint8_t *string;
	uint64_t bits;       /* scratch of bits_create */
};
/* Why a construction failed: what erl_erts_errors:format_bs_fail/2 wants as `cause`: {number, type, error, value}. */
struct bits_failure {
	enum bits_error error;
	uint32_t number;
	Term type;           /* integer, float, binary, utf8, utf16, utf32 */
	Term what;           /* type, size, short, invalid, no_float, too_big, unit... as a term */
	Term value;
};
/* All segments as one bitstring. TERM_NONE and *f when it cannot be made. Words: BITS_RESULT_WORDS. */
Term bits_create(struct heap *h, struct bits_segment *segments, unsigned count, struct bits_failure *f);

#endif
