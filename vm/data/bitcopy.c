/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of bits at any alignment. Invariant: no byte outside the bytes that hold the run is read or written. */
#include "data/bitcopy.h"

#include <endian.h>
#include <string.h>

uint64_t bitcopy_read(const uint8_t *base, uint64_t offset, unsigned size)
{
	const uint8_t *p = base + (offset >> 3);
	unsigned shift = offset & 7;
	unsigned bytes = (shift + size + 7) / 8;
	uint64_t v = 0;

	if (size == 0)
		return 0;
	if (bytes > 8) {
		v = bitcopy_load_64(p) << shift | p[8] >> (8 - shift);
		return v >> (64 - size);
	}
	if (bytes == 8)
		v = bitcopy_load_64(p);
	else
		for (unsigned i = 0; i < bytes; i++)
			v = v << 8 | p[i];
	v >>= bytes * 8 - shift - size;
	return size == 64 ? v : v & (((uint64_t)1 << size) - 1);
}

/* Sets bits [shift, shift + size) of one byte to the low bits of v. */
static inline void write_in_byte(uint8_t *p, unsigned shift, unsigned size, unsigned v)
{
	unsigned low = 8 - shift - size;
	unsigned mask = ((1u << size) - 1) << low;

	*p = (uint8_t)((*p & ~mask) | ((v << low) & mask));
}

void bitcopy_write(uint8_t *base, uint64_t offset, uint64_t value, unsigned size)
{
	uint8_t *p = base + (offset >> 3);
	unsigned shift = offset & 7;

	if (shift != 0) {
		unsigned part = size < 8 - shift ? size : 8 - shift;

		if (part == 0)
			return;
		write_in_byte(p++, shift, part, (unsigned)(value >> (size - part)));
		size -= part;
	}
	while (size >= 8) {
		size -= 8;
		*p++ = (uint8_t)(value >> size);
	}
	if (size > 0)
		write_in_byte(p, 0, size, (unsigned)value);
}

void bitcopy_copy(uint8_t *to, uint64_t to_offset, const uint8_t *from, uint64_t from_offset, uint64_t size)
{
	unsigned head = (8 - (to_offset & 7)) & 7;
	unsigned shift;

	if (((to_offset | from_offset) & 7) == 0 && (size & 7) == 0) {
		memcpy(to + (to_offset >> 3), from + (from_offset >> 3), size >> 3);
		return;
	}
	if (head > size)
		head = (unsigned)size;
	bitcopy_write(to, to_offset, bitcopy_read(from, from_offset, head), head);
	to_offset += head;
	from_offset += head;
	size -= head;
	if (size == 0)
		return;
	to += to_offset >> 3;
	from += from_offset >> 3;
	shift = from_offset & 7;
	if (shift == 0) {
		memcpy(to, from, size >> 3);
	} else {
		uint64_t i = 0;

		for (; size - i * 8 >= 72; i += 8)
			bitcopy_put_64(to + i, bitcopy_load_64(from + i) << shift | from[i + 8] >> (8 - shift));
		for (; size - i * 8 >= 8; i++)
			to[i] = (uint8_t)(from[i] << shift | from[i + 1] >> (8 - shift));
	}
	bitcopy_write(to, size & ~(uint64_t)7, bitcopy_read(from, shift + (size & ~(uint64_t)7), size & 7), size & 7);
}

int bitcopy_compare(const uint8_t *a, uint64_t a_offset, const uint8_t *b, uint64_t b_offset, uint64_t size)
{
	if (((a_offset | b_offset) & 7) == 0) {
		int d = memcmp(a + (a_offset >> 3), b + (b_offset >> 3), size >> 3);

		if (d != 0 || (size & 7) == 0)
			return d;
		a_offset += size & ~(uint64_t)7;
		b_offset += size & ~(uint64_t)7;
		size &= 7;
	}
	while (size > 0) {
		unsigned n = size < 64 ? (unsigned)size : 64;
		uint64_t x = bitcopy_read(a, a_offset, n);
		uint64_t y = bitcopy_read(b, b_offset, n);

		if (x != y)
			return x < y ? -1 : 1;
		a_offset += n;
		b_offset += n;
		size -= n;
	}
	return 0;
}
