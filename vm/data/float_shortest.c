/* SPDX-License-Identifier: Apache-2.0 */
/* The method is Schubfach: R. Giulietti, "The Schubfach way to render doubles", 2020. The doubles next to d bound an
 * interval of reals that read back as d. With the right power of ten, scaled by it, at most one multiple of ten and at
 * least one integer lie in that interval, and three products of 64 by 128 bits tell which. Names follow the paper: d is
 * c * 2^q, and k the exponent of the decimal. */
#include "data/float_shortest.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "data/float_power.h"

enum { FRACTION_BITS = 52, BIAS = 1023 + FRACTION_BITS };

/* Floors of logarithms, for the exponents that doubles have. */
static int log10_of_power_2(int q) { return (int)(((int64_t)q * 1262611) >> 22); }
static int log10_of_three_quarters_of_power_2(int q) { return (int)(((int64_t)q * 1262611 - 524031) >> 22); }

/* c * p / 2^128, with the lowest bit set when that is no integer. */
static uint64_t scale(struct float_power p, uint64_t c)
{
	unsigned __int128 low = (unsigned __int128)p.low * c;
	unsigned __int128 sum = (unsigned __int128)p.high * c + (uint64_t)(low >> 64);

	return (uint64_t)(sum >> 64) | ((uint64_t)sum > 1);
}

/* Which of the two neighbours of what lies between them: in the interval, nearer, even. v, lower, upper: four times
 * what they stand for. */
static struct shortest choose(uint64_t v, uint64_t lower, uint64_t upper, int k)
{
	uint64_t s = v / 4, tens = s / 10, middle = 4 * s + 2;
	bool low, high;

	if (s >= 10) {
		low = lower <= 40 * tens;
		high = 40 * tens + 40 <= upper;
		if (low != high)
			return (struct shortest){ tens + high, k + 1 };
	}
	low = lower <= 4 * s;
	high = 4 * s + 4 <= upper;
	if (low == high)
		high = v > middle || (v == middle && (s & 1) != 0);
	return (struct shortest){ s + high, k };
}

/* c * 2^q; is_power: c is the least for its q, so that the double below is half as far away as the one above. */
static struct shortest find_in_interval(uint64_t c, int q, bool is_power)
{
	int k = is_power ? log10_of_three_quarters_of_power_2(q) : log10_of_power_2(q);
	int h = q + float_log2_of_power(-k) + 1;
	struct float_power p = float_power(-k);
	uint64_t v = scale(p, 4 * c << h), lower = scale(p, (4 * c - 2 + is_power) << h),
		 upper = scale(p, (4 * c + 2) << h);
	bool odd = c & 1; /* its bounds belong to its neighbours then */

	return choose(v, lower + odd, upper - odd, k);
}

struct shortest float_shortest(double d)
{
	uint64_t word, c;
	int q;
	struct shortest r;

	memcpy(&word, &d, sizeof(word));
	c = word & (((uint64_t)1 << FRACTION_BITS) - 1);
	q = (int)(word >> FRACTION_BITS);
	if (q == 0) {
		r = find_in_interval(c, 1 - BIAS, false);
	} else {
		bool is_power = c == 0 && q > 1;

		c |= (uint64_t)1 << FRACTION_BITS;
		q -= BIAS;
		if (q <= 0 && q > -FRACTION_BITS - 1 && (c & (((uint64_t)1 << -q) - 1)) == 0)
			r = (struct shortest){ c >> -q, 0 };
		else
			r = find_in_interval(c, q, is_power);
	}
	while (r.digits % 10 == 0) {
		r.digits /= 10;
		r.exponent++;
	}
	return r;
}
