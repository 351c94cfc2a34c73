/* SPDX-License-Identifier: Apache-2.0 */
/* Binaries and bitstrings as terms: reading the bytes of any of them, making them, cutting them.
 * Invariant: a sub-binary's original is a heapbin or a refbin; a bitstring that is no whole number of bytes, or does
 * not start at a byte, is a sub-binary. Bytes seen through a view stay where they are until a collection or an append
 * (data/bits.h) in the same process. */
#ifndef VM_DATA_BINARY_H
#define VM_DATA_BINARY_H

#include <string.h>

#include "data/bitcopy.h"
#include "heap/refbin.h"

/* The bits of a bitstring. Owns: the term. */
struct bits_view {
	const uint8_t *base; /* the byte of the first bit */
	unsigned offset;     /* bits before the first one in *base, 0..7 */
	uint64_t size;       /* bits */
};

/* Units: words that binary_sub takes at most: a copy of few bytes, or a sub-binary. */
#define BINARY_SUB_WORDS (2 + HEAPBIN_LIMIT / 8)
/* Units: words of a binary_alloc of n bytes. */
static inline size_t binary_words(size_t n)
{
	return n <= HEAPBIN_LIMIT ? 2 + (n + 7) / 8 : REFBIN_WORDS;
}

/* The bytes of a heapbin or a refbin. */
static inline const uint8_t *binary_original_bytes(const Term *p)
{
	return header_sub(*p) == SUB_REFBIN ? ((const struct refbin *)p)->bytes : ((const struct heapbin *)p)->data;
}
/* t must be a bitstring (term_is_bitstring). */
static inline struct bits_view binary_view(Term t)
{
	const Term *p = boxed_ptr(t);
	const struct subbin *s = (const struct subbin *)p;

	if (header_sub(*p) != SUB_SUBBIN)
		return (struct bits_view){ binary_original_bytes(p), 0, p[1] * 8 };
	return (struct bits_view){ binary_original_bytes(boxed_ptr(s->original)) + s->offset_bytes, s->bit_offset,
				   s->size_bytes * 8 + s->bit_size };
}
static inline uint64_t binary_size_bits(Term t)
{
	const Term *p = boxed_ptr(t);

	if (header_sub(*p) == SUB_SUBBIN)
		return p[1] * 8 + ((const struct subbin *)p)->bit_size;
	return p[1] * 8;
}
/* A bitstring of whole bytes. */
static inline bool term_is_binary(Term t)
{
	if (!term_is_bitstring(t))
		return false;
	return header_sub(*boxed_ptr(t)) != SUB_SUBBIN || ((struct subbin *)boxed_ptr(t))->bit_size == 0;
}
/* t must be a bitstring. Units: whole bytes. */
static inline size_t binary_size_bytes(Term t) { return boxed_ptr(t)[1]; }

/* The whole bytes of v, which does not start at a byte, copied to *scratch (mem_free it). */
const uint8_t *binary_copy_shifted(const struct bits_view *v, uint8_t **scratch);
/* The whole bytes of a bitstring: in place where they stand on a byte boundary, else copied to *scratch (mem_free it;
 * set to NULL when not needed). */
static inline const uint8_t *binary_whole_bytes(Term t, size_t *n, uint8_t **scratch)
{
	struct bits_view v = binary_view(t);

	*scratch = NULL;
	*n = v.size / 8;
	return likely(v.offset == 0) ? v.base : binary_copy_shifted(&v, scratch);
}
/* The same of a binary. Fails: NULL when t is no binary; *n is then 0. */
static inline const uint8_t *binary_bytes(Term t, size_t *n, uint8_t **scratch)
{
	if (likely(term_is_binary(t)))
		return binary_whole_bytes(t, n, scratch);
	*scratch = NULL;
	*n = 0;
	return NULL;
}

/* ---- making. GC: none. Fails: TERM_NONE when memory cannot be had. */
/* A new binary of n bytes that the caller fills at once. */
Term binary_alloc(struct heap *h, size_t n, uint8_t **bytes);
/* The same with its bytes on the heap, though they may be more than HEAPBIN_LIMIT: for few that do not live long. Never
 * fails. */
static inline Term binary_alloc_on_heap(struct heap *h, size_t n, uint8_t **bytes)
{
	size_t words = 2 + (n + 7) / 8;
	struct heapbin *b = (struct heapbin *)heap_alloc(h, words);

	b->header = HEADER(words - 1, SUB_HEAPBIN);
	b->size_bytes = n;
	*bytes = b->data;
	return term_from_boxed((Term *)b);
}
Term binary_put(struct heap *h, const void *bytes, size_t n);
/* A new bitstring with a copy of the bits. */
Term binary_put_bits(struct heap *h, const struct bits_view *v);
/* Bits [start, start + size) of t, which must have them. Whole bytes, HEAPBIN_LIMIT or less, are copied, so that they
 * keep no large binary alive; others are shared. */
Term binary_sub(struct heap *h, Term t, uint64_t start, uint64_t size);
/* The same of a heapbin or refbin, whose bytes stand at base, in the caller's room at *top, which advances; at most
 * BINARY_SUB_WORDS. */
static inline Term binary_put_part(Term **top, Term original, const uint8_t *base, uint64_t start, uint64_t size)
{
	Term *at = *top;
	struct subbin *s = (struct subbin *)at;
	struct heapbin *b = (struct heapbin *)at;

	if ((size & 7) == 0 && size <= HEAPBIN_LIMIT * 8) {
		b->header = HEADER(1 + (size + 63) / 64, SUB_HEAPBIN);
		b->size_bytes = size / 8;
		bitcopy_copy_short(b->data, base, start, size);
		*top = at + 2 + (size + 63) / 64;
		return term_from_boxed(at);
	}
	*s = (struct subbin){ .header = HEADER(SUBBIN_WORDS - 1, SUB_SUBBIN),
			      .size_bytes = size / 8,
			      .offset_bytes = start / 8,
			      .bit_size = size & 7,
			      .bit_offset = start & 7,
			      .original = original };
	*top = at + SUBBIN_WORDS;
	return term_from_boxed(at);
}
/* A binary over bytes already in b. Takes: the reference. Small ones are copied and b dropped. */
Term binary_from_counted(struct heap *h, struct binary *b, size_t n);

/* The heapbin or refbin behind t, and where t's first bit is in it. Units: *offset bits. */
static inline Term binary_original(Term t, uint64_t *offset)
{
	const Term *p = boxed_ptr(t);
	const struct subbin *s = (const struct subbin *)p;

	*offset = 0;
	if (header_sub(*p) != SUB_SUBBIN)
		return t;
	*offset = s->offset_bytes * 8 + s->bit_offset;
	return s->original;
}
/* The counted bytes behind t, with one reference more, for a holder outside every heap: its bytes never move or change.
 * *bytes: t's first byte in it. Fails: NULL when t's bytes stand on a heap or not at a byte. */
struct binary *binary_share(Term t, const uint8_t **bytes, size_t *n);
/* The same of any bitstring, which t must be; bits behind the last whole byte are left out. */
struct binary *binary_share_whole(Term t, const uint8_t **bytes, size_t *n);

/* ---- order of bitstrings: by bytes, then the shorter first. */
int binary_compare(Term a, Term b);
/* Of any two bitstrings, those that start or end within a byte too. */
bool binary_equal_bits(Term a, Term b);
/* Where the bytes of a bitstring stand that has nothing but whole ones; NULL: it starts or ends within a byte. */
static inline const uint8_t *binary_find_bytes(const Term *p)
{
	const struct subbin *s = (const struct subbin *)p;

	if (header_sub(*p) != SUB_SUBBIN)
		return binary_original_bytes(p);
	if ((s->bit_size | s->bit_offset) != 0)
		return NULL;
	return binary_original_bytes(boxed_ptr(s->original)) + s->offset_bytes;
}
static inline bool binary_equal(Term a, Term b)
{
	const Term *p = boxed_ptr(a), *q = boxed_ptr(b);
	const uint8_t *x, *y;

	if (p[1] != q[1]) /* whole bytes */
		return false;
	x = binary_find_bytes(p);
	y = binary_find_bytes(q);
	if (likely(x != NULL && y != NULL))
		return memcmp(x, y, p[1]) == 0;
	return binary_equal_bits(a, b);
}

#endif
