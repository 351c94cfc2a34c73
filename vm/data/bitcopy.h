/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of bits at any alignment: copy and compare. Bit 0 of a run is the highest bit of its byte.
 * Units: offsets and sizes in bits, from `base`. */
#ifndef VM_DATA_BITCOPY_H
#define VM_DATA_BITCOPY_H

#include <stdint.h>

/* The runs must not overlap. Bits of the destination outside the run keep their values. */
void bitcopy_copy(uint8_t *to, uint64_t to_offset, const uint8_t *from, uint64_t from_offset, uint64_t size);
/* <0, 0, >0 by the first bit that differs. */
int bitcopy_compare(const uint8_t *a, uint64_t a_offset, const uint8_t *b, uint64_t b_offset, uint64_t size);
/* Up to 64 bits as a big-endian number. */
uint64_t bitcopy_read(const uint8_t *base, uint64_t offset, unsigned size);
/* Writes the low `size` (up to 64) bits of value, highest first. */
void bitcopy_write(uint8_t *base, uint64_t offset, uint64_t value, unsigned size);

#endif
