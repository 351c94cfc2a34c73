/* SPDX-License-Identifier: Apache-2.0 */
/* The number lies between two bounds, which differ in the last of 128 bits or so. Rounding keeps order: when both
 * round to one double, so does all between them. */
#include "data/float_nearest.h"

#include <float.h>
#include <math.h>

#include "data/float_power.h"

typedef unsigned __int128 wide;

bool float_nearest(uint64_t digits, bool more, int64_t exponent, double *d)
{
	struct float_power p;
	wide product, low, high;
	int shift;

	if (digits == 0 || exponent < POWER_MIN || exponent > POWER_MAX)
		return false;
	p = float_power((int)exponent);
	product = (wide)p.high * digits + (uint64_t)((wide)p.low * digits >> 64); /* in units of 2^shift */
	shift = float_log2_of_power((int)exponent) - 127 + 64;
	low = product - 1; /* p was rounded up */
	high = product + 1 + (more ? (wide)p.high + 1 : 0);
	*d = ldexp((double)low, shift);
	return *d > DBL_MIN && *d <= DBL_MAX && *d == ldexp((double)high, shift);
}
