/* SPDX-License-Identifier: Apache-2.0 */
/* The bit syntax: matching on a match context. Construction: data/bits_build.h.
 * Nothing here collects: whoever wants no fragments has made sure of the words named. Sizes are bits unless said.
 * Matching functions advance the context when they succeed and leave it as it was when they fail. */
#ifndef VM_DATA_BITS_H
#define VM_DATA_BITS_H

#include <byteswap.h>
#include <math.h>

#include "data/binary.h"
#include "data/bitcopy.h"
#include "term/atom.h"

/* Field flags, as the compiler numbers them in .beam files. */
enum {
	BITS_ALIGNED = 1, /* a hint; ignored */
	BITS_LITTLE = 2,
	BITS_SIGNED = 4,
	BITS_EXACT = 8,   /* a hint; ignored */
	BITS_NATIVE = 16,
};

enum bits_error {
	BITS_OK,
	BITS_BADARG,
	BITS_LIMIT,    /* system_limit */
};

/* ---- sizes */
/* size (an integer term) times unit. Fails: BITS_BADARG when it is no integer or negative; BITS_LIMIT when it is
 * huge. */
static inline enum bits_error bits_size(Term size, unsigned unit, uint64_t *bits)
{
	if (likely(term_is_small(size) && small_value(size) >= 0))
		return __builtin_mul_overflow((uint64_t)small_value(size), (uint64_t)unit, bits) ? BITS_LIMIT : BITS_OK;
	return term_has_sub(size, SUB_BIG_POS) ? BITS_LIMIT : BITS_BADARG;
}
/* bs_add: *sum = a + b * unit, as an integer term (on h when big). */
enum bits_error bits_add(struct heap *h, Term a, Term b, unsigned unit, Term *sum);

/* ---- matching */
static inline struct match_ctx *match_ptr(Term ctx) { return (struct match_ctx *)boxed_ptr(ctx); }
static inline bool term_is_match(Term t)
{
	return term_is_boxed(t) && *boxed_ptr(t) == HEADER(MATCH_WORDS - 1, SUB_MATCH);
}
/* Is n a multiple of unit (1..256)? Nearly every unit is a power of two, and a division is dear. */
static inline bool bits_are_units(uint64_t n, unsigned unit)
{
	return (unit & (unit - 1)) == 0 ? (n & (unit - 1)) == 0 : n % unit == 0;
}
static inline uint64_t bits_left(const struct match_ctx *m) { return m->end_bits - m->offset_bits; }
/* The size of a bitstring, or of what is left of a context. Units: bits. Fails: false for other terms. */
static inline bool bits_measure(Term t, uint64_t *size)
{
	if (likely(term_is_bitstring(t)))
		*size = binary_size_bits(t);
	else if (term_is_match(t))
		*size = bits_left(match_ptr(t));
	else
		return false;
	return true;
}

/* A context over a bitstring, from its start, at `at` (MATCH_WORDS). */
static inline Term bits_put_match(Term *at, Term source)
{
	struct match_ctx *m = (struct match_ctx *)at;
	struct subbin *s = (struct subbin *)boxed_ptr(source);
	uint64_t offset = 0, size = s->size_bytes * 8;
	Term *p;

	if (header_sub(s->header) == SUB_SUBBIN) {
		offset = s->offset_bytes * 8 + s->bit_offset;
		size += s->bit_size;
		source = s->original;
	}
	p = boxed_ptr(source);
	if (header_sub(*p) == SUB_REFBIN) {
		/* The context points into the bytes: they must not move. */
		if (unlikely(((struct refbin *)p)->flags != 0))
			((struct refbin *)p)->flags = 0;
		m->base = ((struct refbin *)p)->bytes;
	} else {
		m->base = ((struct heapbin *)p)->data;
	}
	m->header = HEADER(MATCH_WORDS - 1, SUB_MATCH);
	m->original = source;
	m->offset_bits = offset;
	m->end_bits = offset + size;
	return term_from_boxed(at);
}
/* bs_get_position, bs_set_position: the position as a small. */
static inline Term bits_get_position(const struct match_ctx *m) { return term_from_small((int64_t)m->offset_bits); }
/* Often it is where the context is already. Then nothing is stored, and what is read next does not wait for it. */
static inline void bits_set_position(struct match_ctx *m, Term position)
{
	uint64_t at = (uint64_t)small_value(position);

	if (m->offset_bits != at)
		m->offset_bits = at;
}

/* An integer of any size. TERM_NONE when bits are missing. Words: 0 up to 59 bits, else 1 + bits / 64 rounded up. */
Term bits_get_integer(struct heap *h, struct match_ctx *m, uint64_t size, unsigned flags);
static inline size_t bits_integer_words(uint64_t size) { return size < SMALL_BITS ? 0 : 2 + size / 64; }
static inline bool bits_is_little(unsigned flags)
{
	return (flags & BITS_LITTLE) != 0 || ((flags & BITS_NATIVE) != 0 && __BYTE_ORDER == __LITTLE_ENDIAN);
}
/* 1 to 64 bits that were read as a big-endian number, as the little-endian one: the last, partial byte is the
 * highest. */
static inline uint64_t bits_to_little(uint64_t v, unsigned size)
{
	unsigned rest = size & 7, whole = size - rest;
	uint64_t low = __builtin_bswap64(v << (64 - size));

	if (whole == 64)
		return low;
	return (low & (((uint64_t)1 << whole) - 1)) | (v & ((1u << rest) - 1)) << whole;
}
/* The other way: what a big-endian number of that size must be for its bits to hold v as a little-endian one. */
static inline uint64_t bits_from_little(uint64_t v, unsigned size)
{
	unsigned rest = size & 7, whole = size - rest;
	uint64_t turned = whole == 0 ? 0 : __builtin_bswap64(v) >> (64 - whole);

	return rest == 0 ? turned : turned << rest | (v >> whole & ((1u << rest) - 1));
}
/* 1 to 64 bits: the sign, as `signed` has it. */
static inline int64_t bits_extend_sign(uint64_t v, unsigned size) { return (int64_t)(v << (64 - size)) >> (64 - size); }
/* 1 to SMALL_BITS - 1 bits. TERM_NONE when bits are missing. */
static inline Term bits_get_small(struct match_ctx *m, unsigned size, unsigned flags)
{
	uint64_t at = m->offset_bits, v;

	if (unlikely(m->end_bits - at < size))
		return TERM_NONE;
	m->offset_bits = at + size;
	if (likely((at & 7) + size <= 64 && (at >> 3) + 8 <= m->end_bits >> 3))
		v = bitcopy_load_64(m->base + (at >> 3)) << (at & 7) >> (64 - size);
	else
		v = bitcopy_read(m->base, at, size);
	if (flags == 0)
		return SMALL(v);
	if (bits_is_little(flags))
		v = bits_to_little(v, size);
	return SMALL(flags & BITS_SIGNED ? (uint64_t)bits_extend_sign(v, size) : v);
}
/* An integer of 8, 16 or 32 bits at a byte (bits_whole.def). */
static inline Term bits_load_whole(const uint8_t *p, unsigned size, bool is_little, bool is_signed)
{
	uint32_t v = p[0];

	if (size == 16)
		v = is_little ? p[1] << 8 | v : v << 8 | p[1];
	if (size == 32) {
		memcpy(&v, p, sizeof(v));
		v = is_little ? le32toh(v) : be32toh(v);
	}
	return SMALL(is_signed ? (uint64_t)bits_extend_sign(v, size) : v);
}
/* A step for each byte: BITS_SCAN_STOP, or a number from BITS_SCAN_STEP_MIN to BITS_SCAN_STEP_MAX. */
enum {
	BITS_SCAN_BYTES = 256,
	BITS_SCAN_STOP = INT8_MIN,
	BITS_SCAN_STEP_MIN = -INT8_MAX,
	BITS_SCAN_STEP_MAX = INT8_MAX
};
/* Does the context begin and end at bytes, and is the next byte one that has a step? */
static inline bool bits_may_scan(const struct match_ctx *m, const int8_t *steps)
{
	uint64_t at = m->offset_bits;

	return ((at | m->end_bits) & 7) == 0 && at < m->end_bits && steps[m->base[at >> 3]] != BITS_SCAN_STOP;
}
/* How many of the bytes that come next, `most` at most, have steps, and the sum of these. The context stays where it
 * is. */
size_t bits_scan(const struct match_ctx *m, const int8_t *steps, size_t most, int64_t *sum);
/* The next one, anywhere. TERM_NONE when bits are missing. */
static inline Term bits_get_whole(struct match_ctx *m, unsigned size, bool is_little, bool is_signed)
{
	uint64_t at = m->offset_bits;

	if (unlikely((at & 7) != 0))
		return bits_get_small(m, size, (is_little ? BITS_LITTLE : 0u) | (is_signed ? BITS_SIGNED : 0u));
	if (unlikely(m->end_bits - at < size))
		return TERM_NONE;
	m->offset_bits = at + size;
	return bits_load_whole(m->base + (at >> 3), size, is_little, is_signed);
}
/* A float's bits, 32 or 64 of them. */
static inline double bits_to_double(uint64_t bits, unsigned size)
{
	union { uint32_t w; float f; } u32 = { .w = (uint32_t)bits };
	union { uint64_t w; double d; } u64 = { .w = bits };

	return size == 32 ? (double)u32.f : u64.d;
}
/* The usual float: 32 or 64 big-endian bits at a byte, neither an infinity nor a NaN. Fails: false for all else. */
static inline bool bits_take_double(struct match_ctx *m, uint64_t size, unsigned flags, double *d)
{
	uint64_t at = m->offset_bits, v;

	if ((size != 64 && size != 32) || (flags & (BITS_LITTLE | BITS_NATIVE)) != 0 || (at & 7) != 0 ||
	    bits_left(m) < size)
		return false;
	if (size == 64) {
		v = bitcopy_load_64(m->base + (at >> 3));
	} else {
		uint32_t half;

		memcpy(&half, m->base + (at >> 3), sizeof(half));
		v = be32toh(half);
	}
	*d = bits_to_double(v, (unsigned)size);
	m->offset_bits = isfinite(*d) ? at + size : at;
	return isfinite(*d);
}
/* 16, 32 or 64 bits; TERM_NONE for other sizes, missing bits, infinities and NaN. Words: FLOAT_WORDS. */
Term bits_get_float(struct heap *h, struct match_ctx *m, uint64_t size, unsigned flags);
/* Bits [start, start + size) of the context's original at *top, which advances; at most BINARY_SUB_WORDS. As
 * binary_sub. */
static inline Term bits_put_part(Term **top, const struct match_ctx *m, uint64_t start, uint64_t size)
{
	return binary_put_part(top, m->original, m->base, start, size);
}
/* All that is left; the position stays (bs_get_tail). */
Term bits_get_tail(struct heap *h, const struct match_ctx *m);
static inline bool bits_skip(struct match_ctx *m, uint64_t size)
{
	if (unlikely(bits_left(m) < size))
		return false;
	m->offset_bits += size;
	return true;
}
/* All that is left, which must be a multiple of unit. */
bool bits_skip_all(struct match_ctx *m, unsigned unit);
static inline bool bits_test_unit(const struct match_ctx *m, unsigned unit)
{
	return bits_are_units(bits_left(m), unit);
}
static inline bool bits_test_tail(const struct match_ctx *m, uint64_t size) { return bits_left(m) == size; }
/* bs_match's ensure_at_least: size bits, and what is behind them a multiple of unit. */
static inline bool bits_ensure(const struct match_ctx *m, uint64_t size, unsigned unit)
{
	return bits_left(m) >= size && bits_are_units(bits_left(m) - size, unit);
}
static inline bool bits_match_string(struct match_ctx *m, uint64_t size, const uint8_t *bytes)
{
	uint64_t at = m->offset_bits;
	const uint8_t *p = m->base + (at >> 3);

	if (unlikely(bits_left(m) < size))
		return false;
	if (likely(((at | size) & 7) == 0)) {
		for (uint64_t i = 0; i < size >> 3; i++)
			if (p[i] != bytes[i])
				return false;
	} else if (bitcopy_compare(m->base, at, bytes, 0, size) != 0) {
		return false;
	}
	m->offset_bits = at + size;
	return true;
}
/* bs_match's =:=: the next `size` (up to 64) bits are value. */
bool bits_match_value(struct match_ctx *m, unsigned size, uint64_t value);
/* One character. TERM_NONE when the bits are no character. */
Term bits_get_utf8_any(struct match_ctx *m);
static inline Term bits_get_utf8(struct match_ctx *m)
{
	uint64_t at = m->offset_bits, left = bits_left(m);
	const uint8_t *p = m->base + (at >> 3);

	if (unlikely((at & 7) != 0 || left < 8))
		return bits_get_utf8_any(m);
	if (p[0] < 0x80) {
		m->offset_bits = at + 8;
		return SMALL(p[0]);
	}
	if (likely(p[0] >= 0xc2 && p[0] < 0xe0 && left >= 16 && (p[1] & 0xc0) == 0x80)) {
		m->offset_bits = at + 16;
		return SMALL((p[0] & 0x1f) << 6 | (p[1] & 0x3f));
	}
	return bits_get_utf8_any(m);
}
Term bits_get_utf16_any(struct match_ctx *m, unsigned flags);
static inline Term bits_get_utf16(struct match_ctx *m, unsigned flags)
{
	uint64_t at = m->offset_bits;
	Term unit;

	if (unlikely((at & 7) != 0 || bits_left(m) < 16))
		return bits_get_utf16_any(m, flags);
	unit = bits_load_whole(m->base + (at >> 3), 16, bits_is_little(flags), false);
	if (unlikely(unit >= SMALL(0xd800) && unit <= SMALL(0xdfff)))
		return bits_get_utf16_any(m, flags);
	m->offset_bits = at + 16;
	return unit;
}
Term bits_get_utf32(struct match_ctx *m, unsigned flags);
/* A Unicode scalar value: 0..0xd7ff, 0xe000..0x10ffff (bs_validate_unicode). */
bool bits_is_char(Term t);

#endif
