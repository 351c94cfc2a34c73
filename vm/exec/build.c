/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/build.h"

#include "data/bits_build.h"
#include "data/utf8.h"
#include "exec/call.h"

/* Where the next byte goes, and how many more binaries may take; the low bits of `bits` that are no whole byte yet, and
 * how many. */
struct place {
	uint8_t *at;
	uint64_t room, bits;
	unsigned count;
};

/* The lowest n bits of v, BS_PUT_BITS_MAX at most. */
static inline void put_bits(struct place *w, uint64_t v, unsigned n)
{
	w->bits = w->bits << n | (v & (((uint64_t)1 << n) - 1));
	for (w->count += n; w->count >= 8;) {
		w->count -= 8;
		*w->at++ = (uint8_t)(w->bits >> w->count);
	}
}

/* An integer of so many units. Fails: false, there is no room for it, or one of both is none. */
static bool put_sized(struct place *w, Term integer, Term size, unsigned unit)
{
	uint64_t bits;

	if (unlikely(!term_is_small(integer) || bits_size(size, unit, &bits) != BITS_OK || bits > w->room * 8))
		return false;
	while (bits > BS_PUT_BITS_MAX) {
		unsigned n = bits % 8 != 0 ? bits % 8 : 8;

		bits -= n;
		put_bits(w, (Term)(small_value(integer) >> (bits < 63 ? bits : 63)), n);
	}
	put_bits(w, (Term)small_value(integer), (unsigned)bits);
	return true;
}

/* Fails: false, a segment is not as it mostly is. */
static inline __attribute__((always_inline)) bool put_segments(struct place *w, const Term *x, const Term *stack,
							       const Inst *next, const Inst *end)
{
	for (; next < end; next += BS_SEGMENT_WORDS) {
		unsigned bytes = (unsigned)(next[4] >> 8);
		Term r = source_get(next[1], x, stack);

		switch ((enum bs_put)(uint8_t)next[4]) {
		case BS_PUT_8:
			if (unlikely(!term_is_small(r)))
				return false;
			*w->at++ = (uint8_t)(r >> 4);
			continue;
		case BS_PUT_16:
			if (unlikely(!term_is_small(r)))
				return false;
			bitcopy_put_16(w->at, (uint16_t)(r >> 4));
			w->at += 2;
			continue;
		case BS_PUT_32:
			if (unlikely(!term_is_small(r)))
				return false;
			bitcopy_put_32(w->at, (uint32_t)(r >> 4));
			w->at += 4;
			continue;
		case BS_PUT_BIG:
			if (unlikely(!term_is_small(r)))
				return false;
			for (unsigned i = bytes; i-- > 0; r = (Term)((int64_t)r >> 8))
				w->at[i] = (uint8_t)(r >> 4);
			w->at += bytes;
			continue;
		case BS_PUT_LITTLE:
			if (unlikely(!term_is_small(r)))
				return false;
			for (unsigned i = 0; i < bytes; i++, r = (Term)((int64_t)r >> 8))
				w->at[i] = (uint8_t)(r >> 4);
			w->at += bytes;
			continue;
		case BS_PUT_STRING:
			for (unsigned i = 0; i < bytes; i++)
				w->at[i] = ((const uint8_t *)next[3])[i];
			w->at += bytes;
			continue;
		case BS_PUT_UTF8: {
			uint64_t c = r >> 4;

			if (unlikely(!term_is_small(r) || !utf8_is_scalar(c)))
				return false;
			w->at = utf8_put(w->at, (uint32_t)c);
			continue;
		}
		case BS_PUT_BINARY: {
			struct bits_view v;

			if (unlikely(!term_is_bitstring(r)))
				return false;
			v = binary_view(r);
			if (v.size > w->room * 8 || (v.size & 7) != 0)
				return false;
			bitcopy_copy(w->at, 0, v.base, v.offset, v.size);
			w->at += v.size / 8;
			w->room -= v.size / 8;
			continue;
		}
		case BS_PUT_FLOAT_64:
			if (unlikely(!term_has_sub(r, SUB_FLOAT)))
				return false;
			r = boxed_ptr(r)[1];
			bitcopy_put_32(w->at, (uint32_t)(r >> 32));
			bitcopy_put_32(w->at + 4, (uint32_t)r);
			w->at += 8;
			continue;
		case BS_PUT_FLOAT_32: {
			union { float f; uint32_t w; } u32;

			if (unlikely(!term_has_sub(r, SUB_FLOAT)))
				return false;
			u32.f = (float)float_value(r);
			bitcopy_put_32(w->at, u32.w);
			w->at += 4;
			continue;
		}
		case BS_PUT_UTF16: {
			uint64_t c = r >> 4;

			if (unlikely(!term_is_small(r) || !utf8_is_scalar(c)))
				return false;
			w->at = bits_put_utf16_at(w->at, (uint32_t)c, bits_is_little((uint8_t)(next[0] >> 8)));
			continue;
		}
		case BS_PUT_SIZED:
			if (unlikely(!put_sized(w, r, source_get(next[2], x, stack), (uint16_t)(next[0] >> 16))))
				return false;
			continue;
		case BS_PUT_BITS: /* bytes: bits */
			if (unlikely(!term_is_small(r)))
				return false;
			r >>= 4;
			if (unlikely(bits_is_little((uint8_t)(next[0] >> 8))))
				r = bits_from_little(r, bytes);
			put_bits(w, r, bytes);
			continue;
		case BS_PUT_NONE:
			break;
		}
		return false;
	}
	if (w->count != 0)
		*w->at = (uint8_t)(w->bits << (8 - w->count));
	return true;
}

/* With bits at its end that are no whole byte it is two: the bytes, and a part of them with those bits. */
static Term put_heapbin(struct heap *h, const struct place *w)
{
	struct heapbin *b = (struct heapbin *)h->top;
	uint64_t whole = (uint64_t)(w->at - b->data);
	Term made = term_from_boxed(h->top);

	b->size_bytes = whole + (w->count != 0);
	b->header = HEADER(1 + (b->size_bytes + 7) / 8, SUB_HEAPBIN);
	h->top += 2 + (b->size_bytes + 7) / 8;
	if (w->count == 0)
		return made;
	*(struct subbin *)h->top = (struct subbin){ .header = HEADER(SUBBIN_WORDS - 1, SUB_SUBBIN),
						    .size_bytes = whole,
						    .bit_size = (uint8_t)w->count,
						    .original = made };
	made = term_from_boxed(h->top);
	h->top += SUBBIN_WORDS;
	return made;
}

Term build_small(Process *p, const Term *x, const Term *stack, const Inst *list, const Inst *end, uint32_t bytes)
{
	struct place w = { ((struct heapbin *)p->heap.top)->data, HEAPBIN_LIMIT - bytes, 0, 0 };

	return put_segments(&w, x, stack, list, end) ? put_heapbin(&p->heap, &w) : TERM_NONE;
}

/* s, writable, has become longer; where somebody may have it, too (anew), a new part of the buffer is what is longer,
 * and the writable one now. */
static Term extend(struct heap *h, struct subbin *s, struct refbin *buffer, const struct place *w, bool anew)
{
	buffer->flags |= REFBIN_ACTIVE_WRITER;
	buffer->size_bytes = (uint64_t)(w->at - buffer->bytes) + (w->count != 0);
	if (anew) {
		struct subbin *newest = (struct subbin *)h->top;

		*newest = *s;
		s->writable = 0;
		s = newest;
		h->top += SUBBIN_WORDS;
	}
	s->size_bytes = (uint64_t)(w->at - buffer->bytes) - s->offset_bytes;
	s->bit_size = (uint8_t)w->count;
	return term_from_boxed((Term *)s);
}

Term build_append(Process *p, const Term *x, const Term *stack, const Inst *list, const Inst *end, uint32_t bytes)
{
	Term first = source_get(list[1], x, stack);
	struct subbin *s = (struct subbin *)boxed_ptr(first);
	struct refbin *buffer;
	struct place w;
	uint64_t used;

	if (unlikely(!term_has_sub(first, SUB_SUBBIN)) || !s->writable || s->bit_offset != 0 ||
	    (s->bit_size != 0 && (uint8_t)list[4] != BS_PUT_BITS))
		return TERM_NONE;
	buffer = (struct refbin *)boxed_ptr(s->original);
	used = s->offset_bytes + s->size_bytes;
	if (unlikely(header_sub(buffer->header) != SUB_REFBIN || !(buffer->flags & REFBIN_WRITABLE) ||
		     buffer->binary->size_bytes - used < bytes))
		return TERM_NONE;
	w = (struct place){ buffer->bytes + used, buffer->binary->size_bytes - used - bytes, 0, s->bit_size };
	if (w.count != 0)
		w.bits = *w.at >> (8 - w.count);
	if (!put_segments(&w, x, stack, list + BS_SEGMENT_WORDS, end))
		return TERM_NONE;
	if (w.at == buffer->bytes + used && w.count == s->bit_size)
		return TERM_NONE; /* nothing is appended */
	return extend(&p->heap, s, buffer, &w, (uint8_t)list[0] == BITS_SEG_APPEND);
}
