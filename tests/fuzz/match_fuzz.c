/* SPDX-License-Identifier: Apache-2.0 */
/* Bits read by any sequence of matching operations, held against a reading bit by bit. Input: groups of three bytes,
 * each an operation (size, flags), then after a zero byte the bits that are matched. For libFuzzer. */
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "data/bits.h"
#include "data/number.h"
#include "heap/literal.h"
#include "term/node.h"

enum { GROUP_BYTES = 3 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static bool get_bit(const uint8_t *p, uint64_t i)
{
	return p[i / 8] >> (7 - i % 8) & 1;
}

/* Big-endian bits [at, at + size), at most 64. */
static uint64_t get_bits(const uint8_t *p, uint64_t at, uint64_t size)
{
	uint64_t v = 0;

	for (uint64_t i = 0; i < size; i++)
		v = v << 1 | get_bit(p, at + i);
	return v;
}

/* The last byte of little-endian bits holds those that do not fill a byte. */
static uint64_t get_integer(const uint8_t *p, uint64_t at, uint64_t size, unsigned flags)
{
	uint64_t v = 0;

	if (!(flags & (BITS_LITTLE | BITS_NATIVE)))
		return get_bits(p, at, size);
	for (uint64_t i = 0; i < size; i += 8)
		v |= get_bits(p, at + i, size - i < 8 ? size - i : 8) << i;
	return v;
}

static void check_integer(Term t, const uint8_t *p, uint64_t at, uint64_t size, unsigned flags)
{
	uint64_t v = size == 0 ? 0 : get_integer(p, at, size, flags), got;

	if (size > 0 && size < 64 && (flags & BITS_SIGNED) && v >> (size - 1) != 0)
		v |= ~(uint64_t)0 << size;
	if (flags & BITS_SIGNED) {
		int64_t signed_got;

		ENSURE(num_get_int64(t, &signed_got));
		got = (uint64_t)signed_got;
	} else {
		ENSURE(num_get_uint64(t, &got));
	}
	ENSURE(got == v);
}

static void try_group(struct heap *h, Term ctx, const uint8_t *group, const uint8_t *data)
{
	struct match_ctx *m = match_ptr(ctx);
	uint64_t at = m->offset_bits, size = group[0] | (uint64_t)(group[2] >> 6) << 8;
	unsigned flags = group[1] & (BITS_LITTLE | BITS_SIGNED | BITS_NATIVE);
	bool enough = bits_left(m) >= size;
	Term t;

	switch (group[2] % 4) {
	case 0:
		t = bits_get_integer(h, m, size, flags);
		ENSURE((t != TERM_NONE) == enough);
		if (enough && size <= 64)
			check_integer(t, data, at, size, flags);
		break;
	case 1:
		t = bits_get_float(h, m, size, flags);
		ENSURE(t == TERM_NONE || enough);
		break;
	case 2:
		if (size == 0 || size >= SMALL_BITS)
			return;
		t = bits_get_small(m, (unsigned)size, 0);
		ENSURE((t != TERM_NONE) == enough);
		if (enough)
			check_integer(t, data, at, size, 0);
		break;
	default:
		t = bits_get_whole(m, 16, false, false);
		size = 16;
		if (t != TERM_NONE)
			check_integer(t, data, at, 16, 0);
		break;
	}
	ENSURE(m->offset_bits == (t != TERM_NONE ? at + size : at));
	ENSURE(m->offset_bits <= m->end_bits);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	atom_init();
	node_init();
	literal_init();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	const uint8_t *zero = memchr(bytes, 0, n);
	const uint8_t *data = zero != NULL ? zero + 1 : bytes;
	struct heap h;
	Term ctx;

	heap_init(&h, HEAP_MIN_WORDS);
	ctx = bits_put_match(heap_alloc(&h, MATCH_WORDS), binary_put(&h, data, (size_t)(bytes + n - data)));
	for (; bytes + GROUP_BYTES <= data; bytes += GROUP_BYTES)
		try_group(&h, ctx, bytes, data);
	heap_free(&h);
	return 0;
}
