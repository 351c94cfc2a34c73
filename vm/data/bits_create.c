/* SPDX-License-Identifier: Apache-2.0 */
/* The bit syntax, construction as one operation: all sizes first, then one allocation, then all the puts. */
#include "data/bits_build.h"
#include "data/number.h"

static Term segment_type(const struct bits_segment *s)
{
	switch (s->kind) {
	case BITS_SEG_FLOAT:
		return am_float;
	case BITS_SEG_INTEGER:
		return am_integer;
	case BITS_SEG_UTF8:
		return am_utf8;
	case BITS_SEG_UTF16:
		return am_utf16;
	case BITS_SEG_UTF32:
		return am_utf32;
	case BITS_SEG_STRING:
		return am_string;
	default:
		return am_binary;
	}
}

static bool fail(struct bits_failure *f, const struct bits_segment *s, enum bits_error error, Term what, Term value)
{
	*f = (struct bits_failure){ error, s->number, segment_type(s), what, value };
	return false;
}

static bool size_explicit(struct bits_segment *s, struct bits_failure *f)
{
	enum bits_error error = bits_size(s->size, s->unit, &s->bits);

	return error == BITS_OK || fail(f, s, error, am_size, s->size);
}

static bool size_binary(struct bits_segment *s, struct bits_failure *f)
{
	if (s->size != am_all)
		return size_explicit(s, f);
	if (!term_is_bitstring(s->value))
		return fail(f, s, BITS_BADARG, am_type, s->value);
	s->bits = binary_size_bits(s->value);
	return bits_are_units(s->bits, s->unit) || fail(f, s, BITS_BADARG, am_unit, s->value);
}

static bool size_segment(struct bits_segment *s, struct bits_failure *f)
{
	switch (s->kind) {
	case BITS_SEG_APPEND:
	case BITS_SEG_PRIVATE_APPEND:
	case BITS_SEG_BINARY:
		return size_binary(s, f);
	case BITS_SEG_STRING:
		s->bits = (uint64_t)small_value(s->size) * 8;
		return true;
	case BITS_SEG_UTF8:
		s->bits = bits_utf8_size(s->value) * 8;
		return s->bits != 0 || fail(f, s, BITS_BADARG, am_type, s->value);
	case BITS_SEG_UTF16:
		s->bits = bits_utf16_size(s->value) * 8;
		return s->bits != 0 || fail(f, s, BITS_BADARG, am_type, s->value);
	case BITS_SEG_UTF32:
		s->bits = 32;
		return bits_is_char(s->value) || fail(f, s, BITS_BADARG, am_type, s->value);
	default:
		return size_explicit(s, f);
	}
}

static bool fail_float(const struct bits_segment *s, struct bits_failure *f)
{
	double d;

	if (s->bits != 16 && s->bits != 32 && s->bits != 64)
		return fail(f, s, BITS_BADARG, am_invalid, term_from_small((int64_t)s->bits));
	if (term_is_number(s->value) && !num_get_double(s->value, &d))
		return fail(f, s, BITS_BADARG, am_no_float, s->value);
	return fail(f, s, BITS_BADARG, am_type, s->value);
}

static bool put_segment(struct bits_builder *b, const struct bits_segment *s, struct bits_failure *f)
{
	switch (s->kind) {
	case BITS_SEG_INTEGER:
		return bits_put_integer(b, s->value, s->bits, s->flags) == BITS_OK ||
		       fail(f, s, BITS_BADARG, am_type, s->value);
	case BITS_SEG_FLOAT:
		return bits_put_float(b, s->value, s->bits, s->flags) == BITS_OK || fail_float(s, f);
	case BITS_SEG_STRING:
		bits_put_string(b, s->string, s->bits / 8);
		return true;
	case BITS_SEG_UTF8:
		return bits_put_utf8(b, s->value) == BITS_OK;
	case BITS_SEG_UTF16:
		return bits_put_utf16(b, s->value, s->flags) == BITS_OK;
	case BITS_SEG_UTF32:
		return bits_put_utf32(b, s->value, s->flags) == BITS_OK;
	default:
		if (bits_put_binary(b, s->value, s->bits) == BITS_OK)
			return true;
		return fail(f, s, BITS_BADARG, term_is_bitstring(s->value) ? am_short : am_type, s->value);
	}
}

/* The room, with a first segment to append to already in it. */
static Term make_room(struct heap *h, struct bits_builder *b, const struct bits_segment *s, bool append, uint64_t total,
		      struct bits_failure *f)
{
	enum bits_error error = BITS_LIMIT;
	Term t;

	if (append && s->kind == BITS_SEG_APPEND)
		t = bits_append(h, b, s->value, total - s->bits, s->unit, &error);
	else if (append)
		t = bits_private_append(h, b, s->value, total - s->bits, s->unit, &error);
	else
		t = bits_init(h, b, total);
	if (t == TERM_NONE)
		*f = (struct bits_failure){ error, s->number, am_binary, am_binary, am_size };
	return t;
}

#define BITS_MAX ((uint64_t)1 << 62) /* more than any memory holds */

Term bits_create(struct heap *h, struct bits_segment *segments, unsigned count, struct bits_failure *f)
{
	bool append = count > 0 && segments[0].kind <= BITS_SEG_PRIVATE_APPEND && segments[0].size == am_all;
	struct bits_builder b;
	uint64_t total = 0;
	Term t;

	for (unsigned i = 0; i < count; i++) {
		if (!size_segment(&segments[i], f))
			return TERM_NONE;
		if (__builtin_add_overflow(total, segments[i].bits, &total) || total > BITS_MAX) {
			fail(f, &segments[i], BITS_LIMIT, am_size, segments[i].size);
			return TERM_NONE;
		}
	}
	t = make_room(h, &b, segments, append, total, f);
	if (t == TERM_NONE)
		return t;
	for (unsigned i = append; i < count; i++)
		if (!put_segment(&b, &segments[i], f))
			return TERM_NONE;
	return t;
}
