/* SPDX-License-Identifier: Apache-2.0 */
/* The double nearest to a decimal. */
#ifndef VM_DATA_FLOAT_NEAREST_H
#define VM_DATA_FLOAT_NEAREST_H

#include <stdbool.h>
#include <stdint.h>

/* The double nearest to digits * 10^exponent; with `more`, to any number from that up to (digits + 1) * 10^exponent.
 * False: 128 bits do not tell which it is, or it is no normal double; strtod(3) knows. digits: less than 10^19. Any
 * thread. */
bool float_nearest(uint64_t digits, bool more, int64_t exponent, double *d);

#endif
