/* SPDX-License-Identifier: Apache-2.0 */
/* 16-bit floats: IEEE 754-2019 binary16 (1 sign, 5 exponent, 10 fraction bits). */
#ifndef VM_DATA_HALF_H
#define VM_DATA_HALF_H

#include <stdint.h>

/* Rounded to nearest even; too large becomes an infinity. */
uint16_t half_from_float(float f);
/* Exact. Infinities and NaN stay what they are. */
double half_to_double(uint16_t half);

#endif
