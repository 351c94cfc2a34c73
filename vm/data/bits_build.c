/* SPDX-License-Identifier: Apache-2.0 */
/* The bit syntax, construction. Puts never look at what stood in the room before. Appending: a refbin with
 * REFBIN_WRITABLE alone names its buffer, whose unused end is free for the one sub-binary marked `writable`, the
 * newest. A new sub-binary takes the mark over; whoever keeps a pointer into the buffer ends it. */
#include <endian.h>
#include <math.h>

#include "data/big.h"
#include "data/bits_build.h"
#include "data/half.h"
#include "data/number.h"

enum { APPEND_MIN_BYTES = 256, WRITABLE_DEFAULT_BYTES = 1024 };
#define BITS_MAX ((uint64_t)1 << 59) /* of any bitstring */

/* ---- room */

Term bits_init(struct heap *h, struct bits_builder *b, uint64_t size)
{
	uint8_t *bytes;
	Term t;

	if (size > BITS_MAX)
		return TERM_NONE;
	t = binary_alloc(h, (size + 7) / 8, &bytes);
	if (t == TERM_NONE)
		return t;
	*b = (struct bits_builder){ bytes, 0, size };
	if (size & 7) {
		bytes[size / 8] = 0;
		t = binary_sub(h, t, 0, size);
	}
	return t;
}

static struct subbin *put_writer(struct heap *h, Term refbin, uint64_t size)
{
	struct subbin *s = (struct subbin *)heap_alloc(h, SUBBIN_WORDS);

	memset(s, 0, sizeof(*s));
	s->header = HEADER(SUBBIN_WORDS - 1, SUB_SUBBIN);
	s->size_bytes = size / 8;
	s->bit_size = size & 7;
	s->writable = 1;
	s->original = refbin;
	return s;
}

/* The refbin that s may append to, or NULL. */
static struct refbin *find_writable(const struct subbin *s)
{
	struct refbin *r = (struct refbin *)boxed_ptr(s->original);

	if (!s->writable || header_sub(r->header) != SUB_REFBIN || !(r->flags & REFBIN_WRITABLE))
		return NULL;
	return r;
}

static void count_growth(struct heap *h, size_t bytes)
{
	h->binary_words += bytes / sizeof(Term);
	if (h->binary_words > h->binary_limit_words)
		h->wants_gc = true;
}

/* Makes room for `bits` in the buffer; the buffer may move. */
static bool grow(struct heap *h, struct refbin *r, uint64_t bits)
{
	size_t bytes = (bits + 7) / 8;
	struct binary *more;

	if (bytes > r->binary->size_bytes) {
		count_growth(h, bytes);
		more = binary_resize(r->binary, bytes * 2);
		if (more == NULL)
			return false;
		r->binary = more;
		r->bytes = more->data;
	}
	r->size_bytes = bytes;
	return true;
}

/* A partial last byte's free bits hold no garbage. */
static void clear_last(uint8_t *base, uint64_t end)
{
	if (end & 7)
		base[end / 8] = 0;
}

static Term append_copy(struct heap *h, struct bits_builder *b, const struct bits_view *v, uint64_t total)
{
	size_t room = (total + 7) / 8 * 2;
	struct binary *buffer = binary_new(room < APPEND_MIN_BYTES ? APPEND_MIN_BYTES : room);
	struct refbin *r;
	Term refbin;

	if (buffer == NULL)
		return TERM_NONE;
	refbin = refbin_put(h, buffer, (total + 7) / 8);
	r = (struct refbin *)boxed_ptr(refbin);
	r->flags = REFBIN_WRITABLE | REFBIN_ACTIVE_WRITER;
	clear_last(buffer->data, total);
	clear_last(buffer->data, v->size);
	bitcopy_copy(buffer->data, 0, v->base, v->offset, v->size);
	*b = (struct bits_builder){ buffer->data, v->size, total };
	return term_from_boxed((Term *)put_writer(h, refbin, total));
}

static Term append(struct heap *h, struct bits_builder *b, Term bin, uint64_t size, unsigned unit, bool in_place,
		   enum bits_error *error)
{
	struct subbin *s;
	struct bits_view v;
	struct refbin *r;
	uint64_t used, total;
	Term t;

	*error = BITS_BADARG;
	if (!term_is_bitstring(bin) || !bits_are_units(binary_size_bits(bin), unit))
		return TERM_NONE;
	*error = BITS_LIMIT;
	v = binary_view(bin);
	total = v.size + size;
	if (size > BITS_MAX || total > BITS_MAX)
		return TERM_NONE;
	if (size == 0) {
		*error = BITS_OK;
		*b = (struct bits_builder){ (uint8_t *)v.base, v.offset + v.size, v.offset + v.size };
		return bin;
	}
	s = (struct subbin *)boxed_ptr(bin);
	r = header_sub(s->header) == SUB_SUBBIN ? find_writable(s) : NULL;
	if (r == NULL) {
		t = append_copy(h, b, &v, total);
	} else {
		used = s->offset_bytes * 8 + s->bit_offset + v.size;
		if (!grow(h, r, used + size))
			return TERM_NONE;
		r->flags |= REFBIN_ACTIVE_WRITER;
		*b = (struct bits_builder){ r->bytes, used, used + size };
		if (((used + size) & ~(uint64_t)7) >= used)
			clear_last(r->bytes, used + size);
		if (!in_place) {
			struct subbin *newest = put_writer(h, s->original, total);

			newest->offset_bytes = s->offset_bytes;
			newest->bit_offset = s->bit_offset;
			s->writable = 0;
			s = newest;
		}
		s->size_bytes = total / 8;
		s->bit_size = total & 7;
		t = term_from_boxed((Term *)s);
	}
	if (t != TERM_NONE)
		*error = BITS_OK;
	return t;
}

Term bits_append(struct heap *h, struct bits_builder *b, Term bin, uint64_t size, unsigned unit, enum bits_error *error)
{
	return append(h, b, bin, size, unit, false, error);
}

Term bits_private_append(struct heap *h, struct bits_builder *b, Term bin, uint64_t size, unsigned unit,
			 enum bits_error *error)
{
	return append(h, b, bin, size, unit, true, error);
}

Term bits_init_writable(struct heap *h, Term size_bytes)
{
	size_t n = WRITABLE_DEFAULT_BYTES;
	struct binary *buffer;
	Term refbin;

	if (term_is_small(size_bytes) && small_value(size_bytes) >= 0)
		n = (size_t)small_value(size_bytes);
	if (n < APPEND_MIN_BYTES)
		n = APPEND_MIN_BYTES;
	buffer = binary_new(n);
	if (buffer == NULL)
		buffer = binary_new(APPEND_MIN_BYTES);
	ENSURE(buffer != NULL);
	refbin = refbin_put(h, buffer, 0);
	((struct refbin *)boxed_ptr(refbin))->flags = REFBIN_WRITABLE | REFBIN_ACTIVE_WRITER;
	return term_from_boxed((Term *)put_writer(h, refbin, 0));
}

/* ---- integers */

/* Bytes of a number in two's complement, lowest first, without end. */
struct byte_source {
	const uint64_t *limbs;
	size_t count;
	uint64_t limb;       /* of the current eight bytes */
	size_t next;         /* byte */
	bool negative, carry;
};

static uint8_t next_byte(struct byte_source *s)
{
	if ((s->next & 7) == 0) {
		size_t i = s->next / 8;

		s->limb = i < s->count ? s->limbs[i] : 0;
		if (s->negative) {
			s->limb = ~s->limb + s->carry;
			s->carry = s->carry && s->limb == 0;
		}
	}
	return (uint8_t)(s->limb >> (s->next++ & 7) * 8);
}

static void put_bytes(uint8_t *base, uint64_t at, uint64_t size, struct byte_source *s, bool little)
{
	uint64_t end = at + size;

	if (little) {
		for (; end - at >= 8; at += 8)
			bitcopy_write(base, at, next_byte(s), 8);
		bitcopy_write(base, at, next_byte(s), (unsigned)(end - at));
		return;
	}
	for (; end - at >= 8; end -= 8)
		bitcopy_write(base, end - 8, next_byte(s), 8);
	bitcopy_write(base, at, next_byte(s), (unsigned)(end - at));
}

/* 1 to 64 bits. */
static void put_word(uint8_t *base, uint64_t at, unsigned size, uint64_t v, bool little)
{
	bitcopy_write(base, at, little ? bits_from_little(v, size) : v, size);
}

/* More than 64 bits: the sign fills what is above. */
static void put_extended(uint8_t *base, uint64_t at, uint64_t size, int64_t v, bool little)
{
	uint64_t fill = v < 0 ? ~(uint64_t)0 : 0;
	uint64_t from = little ? at + 64 : at;

	put_word(base, little ? at : at + size - 64, 64, (uint64_t)v, little);
	for (size -= 64; size >= 64; size -= 64, from += 64)
		bitcopy_write(base, from, fill, 64);
	bitcopy_write(base, from, fill, (unsigned)size);
}

enum bits_error bits_put_integer(struct bits_builder *b, Term value, uint64_t size, unsigned flags)
{
	bool little = bits_is_little(flags);
	uint64_t at = b->offset;
	struct big_view v;
	struct byte_source s;

	if (term_is_small(value) && size <= 64) {
		b->offset += size;
		if (size > 0)
			put_word(b->base, at, (unsigned)size, (uint64_t)small_value(value), little);
		return BITS_OK;
	}
	if (term_is_small(value)) {
		put_extended(b->base, at, size, small_value(value), little);
		b->offset += size;
		return BITS_OK;
	}
	if (!term_is_big(value))
		return BITS_BADARG;
	big_view(value, &v);
	s = (struct byte_source){ .limbs = v.limbs, .count = v.count, .negative = v.negative, .carry = true };
	put_bytes(b->base, at, size, &s, little);
	b->offset += size;
	return BITS_OK;
}

/* ---- floats */

enum bits_error bits_put_float(struct bits_builder *b, Term value, uint64_t size, unsigned flags)
{
	union { uint32_t w; float f; } u32;
	union { uint64_t w; double d; } u64;
	uint64_t bits;

	if (size != 16 && size != 32 && size != 64)
		return BITS_BADARG;
	if (!num_get_double(value, &u64.d))
		return BITS_BADARG;
	u32.f = (float)u64.d;
	bits = size == 64 ? u64.w : size == 32 ? u32.w : half_from_float(u32.f);
	put_word(b->base, b->offset, (unsigned)size, bits, bits_is_little(flags));
	b->offset += size;
	return BITS_OK;
}

/* ---- binaries and strings */

enum bits_error bits_put_binary(struct bits_builder *b, Term value, uint64_t size)
{
	struct bits_view v;

	if (!term_is_bitstring(value))
		return BITS_BADARG;
	v = binary_view(value);
	if (v.size < size)
		return BITS_BADARG;
	bitcopy_copy(b->base, b->offset, v.base, v.offset, size);
	b->offset += size;
	return BITS_OK;
}

enum bits_error bits_put_binary_all(struct bits_builder *b, Term value, unsigned unit)
{
	uint64_t size;

	if (!term_is_bitstring(value))
		return BITS_BADARG;
	size = binary_size_bits(value);
	if (!bits_are_units(size, unit) || size > b->end - b->offset)
		return BITS_BADARG;
	return bits_put_binary(b, value, size);
}

void bits_put_string(struct bits_builder *b, const uint8_t *bytes, size_t n)
{
	bitcopy_copy(b->base, b->offset, bytes, 0, (uint64_t)n * 8);
	b->offset += (uint64_t)n * 8;
}

/* ---- characters */

unsigned bits_utf8_size(Term value)
{
	int64_t c = small_value(value);

	if (!bits_is_char(value))
		return 0;
	return c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
}

unsigned bits_utf16_size(Term value)
{
	if (!bits_is_char(value))
		return 0;
	return small_value(value) < 0x10000 ? 2 : 4;
}

enum bits_error bits_put_utf8(struct bits_builder *b, Term value)
{
	static const uint8_t lead[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
	unsigned n = bits_utf8_size(value);
	uint64_t c = (uint64_t)small_value(value), word;

	if (n == 0)
		return BITS_BADARG;
	word = lead[n] | c >> (n - 1) * 6;
	for (unsigned i = n - 1; i-- > 0;)
		word = word << 8 | 0x80 | (c >> i * 6 & 0x3f);
	bitcopy_write(b->base, b->offset, word, n * 8);
	b->offset += n * 8;
	return BITS_OK;
}

enum bits_error bits_put_utf16(struct bits_builder *b, Term value, unsigned flags)
{
	unsigned n = bits_utf16_size(value);
	uint64_t c = (uint64_t)small_value(value);

	if (n == 0)
		return BITS_BADARG;
	if (n == 4) {
		c -= 0x10000;
		put_word(b->base, b->offset, 16, 0xd800 | c >> 10, bits_is_little(flags));
		b->offset += 16;
		c = 0xdc00 | (c & 0x3ff);
	}
	put_word(b->base, b->offset, 16, c, bits_is_little(flags));
	b->offset += 16;
	return BITS_OK;
}

enum bits_error bits_put_utf32(struct bits_builder *b, Term value, unsigned flags)
{
	if (!bits_is_char(value))
		return BITS_BADARG;
	put_word(b->base, b->offset, 32, (uint64_t)small_value(value), bits_is_little(flags));
	b->offset += 32;
	return BITS_OK;
}
