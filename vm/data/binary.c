/* SPDX-License-Identifier: Apache-2.0 */
/* Binaries and bitstrings as terms. */
#include "data/binary.h"

#include "base/alloc.h"
#include "data/bitcopy.h"

const uint8_t *binary_copy_shifted(const struct bits_view *v, uint8_t **scratch)
{
	size_t n = v->size / 8;

	*scratch = mem_alloc(n + 1);
	bitcopy_copy(*scratch, 0, v->base, v->offset, (uint64_t)n * 8);
	return *scratch;
}

Term binary_alloc(struct heap *h, size_t n, uint8_t **bytes)
{
	struct binary *b;

	if (likely(n <= HEAPBIN_LIMIT))
		return binary_alloc_on_heap(h, n, bytes);
	b = binary_new(n);
	if (b == NULL)
		return TERM_NONE;
	*bytes = b->data;
	return refbin_put(h, b, n);
}

/* memcpy of few bytes. */
static inline void copy_few(uint8_t *to, const uint8_t *from, size_t n)
{
	if (n < sizeof(uint64_t)) {
		while (n-- > 0)
			*to++ = *from++;
		return;
	}
	for (size_t i = 0; i + sizeof(uint64_t) < n; i += sizeof(uint64_t))
		memcpy(to + i, from + i, sizeof(uint64_t));
	memcpy(to + n - sizeof(uint64_t), from + n - sizeof(uint64_t), sizeof(uint64_t));
}

Term binary_put(struct heap *h, const void *bytes, size_t n)
{
	uint8_t *to;
	Term t = binary_alloc(h, n, &to);

	if (likely(n <= HEAPBIN_LIMIT))
		copy_few(to, bytes, n);
	else if (t != TERM_NONE)
		memcpy(to, bytes, n);
	return t;
}

static Term put_subbin(struct heap *h, Term original, uint64_t start, uint64_t size)
{
	struct subbin *s = (struct subbin *)heap_alloc(h, SUBBIN_WORDS);

	*s = (struct subbin){
		HEADER(SUBBIN_WORDS - 1, SUB_SUBBIN), size / 8, start / 8, size & 7, start & 7, .original = original
	};
	return term_from_boxed((Term *)s);
}

Term binary_put_bits(struct heap *h, const struct bits_view *v)
{
	uint8_t *to;
	Term t = binary_alloc(h, (v->size + 7) / 8, &to);

	if (t == TERM_NONE)
		return t;
	if ((v->size & 7) != 0)
		to[v->size / 8] = 0;
	bitcopy_copy(to, 0, v->base, v->offset, v->size);
	return (v->size & 7) == 0 ? t : put_subbin(h, t, 0, v->size);
}

Term binary_sub(struct heap *h, Term t, uint64_t start, uint64_t size)
{
	uint64_t offset;
	Term original = binary_original(t, &offset);
	const uint8_t *from;
	uint8_t *to;

	start += offset;
	if ((size & 7) != 0 || size > HEAPBIN_LIMIT * 8)
		return put_subbin(h, original, start, size);
	t = binary_alloc_on_heap(h, size / 8, &to);
	from = binary_original_bytes(boxed_ptr(original));
	if (likely((start & 7) == 0))
		copy_few(to, from + start / 8, size / 8);
	else
		bitcopy_copy(to, 0, from, start, size);
	return t;
}

Term binary_from_counted(struct heap *h, struct binary *b, size_t n)
{
	Term t;

	if (n > HEAPBIN_LIMIT)
		return refbin_put(h, b, n);
	t = binary_put(h, b->data, n);
	binary_unref(b);
	return t;
}

/* From now on nobody appends in place to the refbin behind t (a pointer to its bytes is kept somewhere). */
static void end_writing(Term t)
{
	uint64_t offset;
	Term *p = boxed_ptr(binary_original(t, &offset));

	if (header_sub(*p) == SUB_REFBIN && ((struct refbin *)p)->flags != 0)
		((struct refbin *)p)->flags = 0;
}

struct binary *binary_share_whole(Term t, const uint8_t **bytes, size_t *n)
{
	uint64_t offset;
	Term original = binary_original(t, &offset);
	struct refbin *r = (struct refbin *)boxed_ptr(original);

	if (header_sub(r->header) != SUB_REFBIN || (offset & 7) != 0)
		return NULL;
	end_writing(original);
	binary_ref(r->binary);
	*bytes = r->bytes + offset / 8;
	*n = binary_size_bytes(t);
	return r->binary;
}

struct binary *binary_share(Term t, const uint8_t **bytes, size_t *n)
{
	return term_is_binary(t) ? binary_share_whole(t, bytes, n) : NULL;
}

static inline bool are_bytes(const struct bits_view *a, const struct bits_view *b)
{
	return likely(((a->offset | b->offset | a->size | b->size) & 7) == 0);
}

int binary_compare(Term a, Term b)
{
	struct bits_view x = binary_view(a), y = binary_view(b);
	uint64_t common = x.size < y.size ? x.size : y.size;
	int d;

	if (are_bytes(&x, &y))
		d = memcmp(x.base, y.base, common / 8);
	else
		d = bitcopy_compare(x.base, x.offset, y.base, y.offset, common);
	return d != 0 ? d : (x.size > y.size) - (x.size < y.size);
}

bool binary_equal_bits(Term a, Term b)
{
	struct bits_view x = binary_view(a), y = binary_view(b);

	return x.size == y.size && bitcopy_compare(x.base, x.offset, y.base, y.offset, x.size) == 0;
}
