/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of bits at any alignment: copy and compare. Bit 0 of a run is the highest bit of its byte.
 * Units: offsets and sizes in bits, from `base`. */
#ifndef VM_DATA_BITCOPY_H
#define VM_DATA_BITCOPY_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

#include "base/log.h"

/* The runs must not overlap. Bits of the destination outside the run keep their values. */
void bitcopy_copy(uint8_t *to, uint64_t to_offset, const uint8_t *from, uint64_t from_offset, uint64_t size);
/* <0, 0, >0 by the first bit that differs. */
int bitcopy_compare(const uint8_t *a, uint64_t a_offset, const uint8_t *b, uint64_t b_offset, uint64_t size);
/* Up to 64 bits as a big-endian number. */
uint64_t bitcopy_read(const uint8_t *base, uint64_t offset, unsigned size);
/* Writes the low `size` (up to 64) bits of value, highest first. */
void bitcopy_write(uint8_t *base, uint64_t offset, uint64_t value, unsigned size);

/* Big-endian numbers at any address. */
static inline uint64_t bitcopy_load_64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, 8);
	return be64toh(v);
}
static inline void bitcopy_put_64(uint8_t *to, uint64_t v)
{
	v = htobe64(v);
	memcpy(to, &v, 8);
}
static inline void bitcopy_put_16(uint8_t *to, uint16_t v)
{
	v = htobe16(v);
	memcpy(to, &v, 2);
}
static inline void bitcopy_put_32(uint8_t *to, uint32_t v)
{
	v = htobe32(v);
	memcpy(to, &v, 4);
}
/* bitcopy_copy of whole bytes to a byte: for short runs. */
static inline void bitcopy_copy_short(uint8_t *to, const uint8_t *from, uint64_t from_offset, uint64_t size)
{
	uint64_t n = size >> 3, i = 0;

	if (unlikely((from_offset & 7) != 0)) {
		bitcopy_copy(to, 0, from, from_offset, size);
		return;
	}
	from += from_offset >> 3;
	for (; n - i >= 8; i += 8)
		memcpy(to + i, from + i, 8);
	for (; i < n; i++)
		to[i] = from[i];
}

#endif
