/* SPDX-License-Identifier: Apache-2.0 */
/* 16-bit floats, by their bits. */
#include "data/half.h"

#include <math.h>
#include <string.h>

uint16_t half_from_float(float f)
{
	uint32_t bits, fraction, rest, shift;
	uint16_t sign, result;
	int exponent;

	memcpy(&bits, &f, sizeof(bits));
	sign = (uint16_t)(bits >> 16 & 0x8000);
	exponent = (int)(bits >> 23 & 0xff) - 127;
	fraction = bits & 0x7fffff;
	if (exponent == 128)
		return (uint16_t)(sign | 0x7c00 | (fraction ? 0x200 : 0));
	if (exponent > 15)
		return (uint16_t)(sign | 0x7c00);
	if (exponent < -25)
		return sign;
	if (exponent >= -14) {
		shift = 13;
		result = (uint16_t)((exponent + 15) << 10 | fraction >> shift);
	} else {
		fraction |= 0x800000;
		shift = (uint32_t)(-1 - exponent);
		result = (uint16_t)(fraction >> shift);
	}
	rest = fraction & ((1u << shift) - 1);
	/* A carry out of the fraction raises the exponent, to infinity at last: the bits are in that order. */
	if (rest > 1u << (shift - 1) || (rest == 1u << (shift - 1) && (result & 1)))
		result++;
	return sign | result;
}

double half_to_double(uint16_t half)
{
	int exponent = half >> 10 & 0x1f;
	double fraction = half & 0x3ff, d;

	if (exponent == 0x1f)
		d = fraction != 0 ? NAN : INFINITY;
	else if (exponent == 0)
		d = ldexp(fraction, -24);
	else
		d = ldexp(fraction + 1024, exponent - 25);
	return half & 0x8000 ? -d : d;
}
