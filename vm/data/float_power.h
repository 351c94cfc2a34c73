/* SPDX-License-Identifier: Apache-2.0 */
/* Powers of ten to 128 bits, for what turns doubles into decimals and back. */
#ifndef VM_DATA_FLOAT_POWER_H
#define VM_DATA_FLOAT_POWER_H

#include <stdint.h>

/* For the decimals of all doubles, and for numbers of 19 digits and an exponent that are normal doubles. */
enum { POWER_MIN = -342, POWER_MAX = 324 };

/* 10^k, divided by a power of two so that the highest of 128 bits is set, rounded up: 10^k is at most this times
 * 2^(float_log2_of_power(k) - 127), and more than this less 1 is. */
struct float_power {
	uint64_t high, low;
};

/* k: POWER_MIN..POWER_MAX. Any thread. */
struct float_power float_power(int k);

/* The floor of the logarithm of 10^k to base 2. */
static inline int float_log2_of_power(int k) { return (int)(((int64_t)k * 1741647) >> 19); }

#endif
