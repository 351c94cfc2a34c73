/* SPDX-License-Identifier: Apache-2.0 */
/* The bit syntax, matching. Invariant: offset_bits <= end_bits, both inside the original's bytes. */
#include <endian.h>
#include <math.h>

#include "base/alloc.h"
#include "data/big.h"
#include "data/bits.h"
#include "data/half.h"
#include "data/number.h"

enum { LIMB_BITS = 64, STACK_LIMBS = 32 };

enum bits_error bits_add(struct heap *h, Term a, Term b, unsigned unit, Term *sum)
{
	uint64_t x, y, total;
	enum bits_error error = bits_size(a, 1, &x);

	if (error == BITS_OK)
		error = bits_size(b, unit, &y);
	if (error != BITS_OK)
		return error;
	if (__builtin_add_overflow(x, y, &total))
		return BITS_LIMIT;
	*sum = heap_uint(h, total);
	return BITS_OK;
}

/* ---- integers */

/* Up to 64 bits, lowest byte first; the last, partial byte is the highest. */
static uint64_t read_little(const uint8_t *base, uint64_t at, unsigned size)
{
	return size == 0 ? 0 : bits_to_little(bitcopy_read(base, at, size), size);
}

static void negate_limbs(uint64_t *limbs, size_t count)
{
	bool carry = true;

	for (size_t i = 0; i < count; i++) {
		limbs[i] = ~limbs[i] + carry;
		carry = carry && limbs[i] == 0;
	}
}

/* More than 64 bits. */
static void read_limbs(const uint8_t *base, uint64_t at, uint64_t size, bool little, uint64_t *limbs)
{
	size_t count = 0;

	for (uint64_t done = 0; done < size; done += LIMB_BITS) {
		unsigned n = size - done < LIMB_BITS ? (unsigned)(size - done) : LIMB_BITS;

		limbs[count++] = little ? read_little(base, at + done, n) : bitcopy_read(base, at + size - done - n, n);
	}
}

static Term get_big(struct heap *h, const struct match_ctx *m, uint64_t size, unsigned flags)
{
	uint64_t fixed[STACK_LIMBS];
	size_t count = (size + LIMB_BITS - 1) / LIMB_BITS;
	uint64_t *limbs = count <= STACK_LIMBS ? fixed : mem_alloc(count * sizeof(*limbs));
	unsigned top_bits = (unsigned)((size - 1) % LIMB_BITS) + 1;
	bool negative;
	Term t;

	read_limbs(m->base, m->offset_bits, size, bits_is_little(flags), limbs);
	negative = (flags & BITS_SIGNED) != 0 && (limbs[count - 1] >> (top_bits - 1) & 1) != 0;
	if (negative) {
		if (top_bits < LIMB_BITS)
			limbs[count - 1] |= ~(uint64_t)0 << top_bits;
		negate_limbs(limbs, count);
	}
	t = big_from_limbs(h, limbs, count, negative);
	if (limbs != fixed)
		mem_free(limbs);
	return t;
}

Term bits_get_integer(struct heap *h, struct match_ctx *m, uint64_t size, unsigned flags)
{
	uint64_t at = m->offset_bits, v;
	Term t;

	if (bits_left(m) < size)
		return TERM_NONE;
	if (size > LIMB_BITS) {
		t = get_big(h, m, size, flags);
		if (t != TERM_NONE)
			m->offset_bits += size;
		return t;
	}
	m->offset_bits += size;
	if (size == 0)
		return SMALL(0);
	if (bits_is_little(flags))
		v = read_little(m->base, at, (unsigned)size);
	else
		v = bitcopy_read(m->base, at, (unsigned)size);
	if (flags & BITS_SIGNED)
		return heap_int(h, bits_extend_sign(v, (unsigned)size));
	return heap_uint(h, v);
}

bool bits_match_value(struct match_ctx *m, unsigned size, uint64_t value)
{
	if (bits_left(m) < size || bitcopy_read(m->base, m->offset_bits, size) != value)
		return false;
	m->offset_bits += size;
	return true;
}

/* ---- floats */

Term bits_get_float(struct heap *h, struct match_ctx *m, uint64_t size, unsigned flags)
{
	uint64_t v;
	double d = 0.0;

	if (size != 0 && size != 16 && size != 32 && size != 64)
		return TERM_NONE;
	if (bits_left(m) < size)
		return TERM_NONE;
	if (size > 0) {
		v = bits_is_little(flags) ? read_little(m->base, m->offset_bits, (unsigned)size)
				     : bitcopy_read(m->base, m->offset_bits, (unsigned)size);
		d = size == 16 ? half_to_double((uint16_t)v) : bits_to_double(v, (unsigned)size);
	}
	if (!isfinite(d))
		return TERM_NONE;
	m->offset_bits += size;
	return heap_float(h, d);
}

/* ---- binaries */

/* Bits of the context's original, by their place from its first byte. */
static Term cut(struct heap *h, const struct match_ctx *m, uint64_t start, uint64_t size)
{
	return binary_sub(h, m->original, start, size);
}

Term bits_get_tail(struct heap *h, const struct match_ctx *m)
{
	return cut(h, m, m->offset_bits, bits_left(m));
}

bool bits_skip_all(struct match_ctx *m, unsigned unit)
{
	if (!bits_test_unit(m, unit))
		return false;
	m->offset_bits = m->end_bits;
	return true;
}

/* ---- characters */

static inline bool is_scalar(uint64_t c) { return c <= 0x10ffff && (c & ~(uint64_t)0x7ff) != 0xd800; }

bool bits_is_char(Term t)
{
	return term_is_small(t) && is_scalar((uint64_t)small_value(t));
}

/* Well-formed UTF-8: RFC 3629. */
Term bits_get_utf8_any(struct match_ctx *m)
{
	static const uint32_t lowest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	uint64_t at = m->offset_bits, left = bits_left(m);
	uint32_t c;
	unsigned n;

	if (left < 8)
		return TERM_NONE;
	c = (uint32_t)bitcopy_read(m->base, at, 8);
	if (c < 0x80) {
		m->offset_bits += 8;
		return SMALL(c);
	}
	n = c >= 0xf8 ? 0 : c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 0;
	if (n == 0 || left < n * 8)
		return TERM_NONE;
	c &= 0xffu >> (n + 1);
	for (unsigned i = 1; i < n; i++) {
		uint32_t next = (uint32_t)bitcopy_read(m->base, at + i * 8, 8);

		if ((next & 0xc0) != 0x80)
			return TERM_NONE;
		c = c << 6 | (next & 0x3f);
	}
	if (c < lowest[n] || !is_scalar(c))
		return TERM_NONE;
	m->offset_bits += n * 8;
	return SMALL((uint64_t)c);
}

static uint32_t read_unit16(const struct match_ctx *m, uint64_t at, unsigned flags)
{
	return (uint32_t)(bits_is_little(flags) ? read_little(m->base, at, 16) : bitcopy_read(m->base, at, 16));
}

size_t bits_scan(const struct match_ctx *m, const int8_t *steps, size_t most, int64_t *sum)
{
	const uint8_t *from = m->base + (m->offset_bits >> 3), *p = from;
	uint64_t left = bits_left(m) >> 3;

	*sum = 0;
	for (const uint8_t *end = from + (left < most ? left : most); p < end && steps[*p] != BITS_SCAN_STOP; p++)
		*sum += steps[*p];
	return (size_t)(p - from);
}

/* RFC 2781. */
Term bits_get_utf16_any(struct match_ctx *m, unsigned flags)
{
	uint64_t at = m->offset_bits, left = bits_left(m);
	uint32_t high, low;

	if (left < 16)
		return TERM_NONE;
	high = read_unit16(m, at, flags);
	if (high < 0xd800 || high > 0xdfff) {
		m->offset_bits += 16;
		return SMALL((uint64_t)high);
	}
	if (high > 0xdbff || left < 32)
		return TERM_NONE;
	low = read_unit16(m, at + 16, flags);
	if (low < 0xdc00 || low > 0xdfff)
		return TERM_NONE;
	m->offset_bits += 32;
	return SMALL((uint64_t)(0x10000 + ((high & 0x3ff) << 10) + (low & 0x3ff)));
}

Term bits_get_utf32(struct match_ctx *m, unsigned flags)
{
	uint64_t c;

	if (bits_left(m) < 32)
		return TERM_NONE;
	c = bits_is_little(flags) ? read_little(m->base, m->offset_bits, 32)
				  : bitcopy_read(m->base, m->offset_bits, 32);
	if (!is_scalar(c))
		return TERM_NONE;
	m->offset_bits += 32;
	return SMALL(c);
}
