/* SPDX-License-Identifier: Apache-2.0 */
/* The method is Schubfach: R. Giulietti, "The Schubfach way to render doubles", 2020. The doubles next to d bound an interval of reals that
 * read back as d. With the right power of ten, scaled by it, at most one multiple of ten and at least one integer lie in that interval, and
 * three products of 64 by 128 bits tell which. Names follow the paper: d is c * 2^q, and k the exponent of the decimal.
 * Invariant: an entry of `powers` is empty (high 0) or complete; whoever finds it empty computes it, and all compute the same. */
#include "data/float_shortest.h"

#include <gmp.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/log.h"

enum { K_MIN = -292, K_MAX = 324, FRACTION_BITS = 52, BIAS = 1023 + FRACTION_BITS };

/* 10^k, scaled by a power of two to 128 bits with the highest set, rounded up. */
struct power {
	uint64_t high, low;
};

static struct power powers[K_MAX - K_MIN + 1];

/* Floors of logarithms, for the exponents that doubles have. */
static int log2_of_power_10(int k) { return (int)(((int64_t)k * 1741647) >> 19); }
static int log10_of_power_2(int q) { return (int)(((int64_t)q * 1262611) >> 22); }
static int log10_of_three_quarters_of_power_2(int q) { return (int)(((int64_t)q * 1262611 - 524031) >> 22); }

static struct power compute_power(int k)
{
	int shift = 127 - log2_of_power_10(k);
	struct power p = { 0, 0 };
	mpz_t ten, v;
	size_t n;
	uint64_t words[2] = { 0, 0 };

	mpz_init(ten);
	mpz_init(v);
	mpz_ui_pow_ui(ten, 10, (unsigned long)(k < 0 ? -k : k));
	if (k < 0) {
		mpz_setbit(v, (mp_bitcnt_t)shift);
		mpz_cdiv_q(v, v, ten);
	} else if (shift >= 0) {
		mpz_mul_2exp(v, ten, (mp_bitcnt_t)shift);
	} else {
		mpz_cdiv_q_2exp(v, ten, (mp_bitcnt_t)-shift);
	}
	mpz_export(words, &n, -1, sizeof(words[0]), 0, 0, v);
	ENSURE(n == 2);
	mpz_clear(ten);
	mpz_clear(v);
	p.low = words[0];
	p.high = words[1];
	return p;
}

static struct power get_power(int k)
{
	struct power *entry = &powers[k - K_MIN], p;

	p.high = __atomic_load_n(&entry->high, __ATOMIC_ACQUIRE);
	if (likely(p.high != 0)) {
		p.low = __atomic_load_n(&entry->low, __ATOMIC_RELAXED);
		return p;
	}
	p = compute_power(k);
	__atomic_store_n(&entry->low, p.low, __ATOMIC_RELAXED);
	__atomic_store_n(&entry->high, p.high, __ATOMIC_RELEASE);
	return p;
}

/* c * p / 2^128, with the lowest bit set when that is no integer. */
static uint64_t scale(struct power p, uint64_t c)
{
	unsigned __int128 low = (unsigned __int128)p.low * c;
	unsigned __int128 sum = (unsigned __int128)p.high * c + (uint64_t)(low >> 64);

	return (uint64_t)(sum >> 64) | ((uint64_t)sum > 1);
}

/* Which of the two neighbours of what lies between them: in the interval, nearer, even. v, lower, upper: four times what they stand for. */
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
	int h = q + log2_of_power_10(-k) + 1;
	struct power p = get_power(-k);
	uint64_t v = scale(p, 4 * c << h), lower = scale(p, (4 * c - 2 + is_power) << h), upper = scale(p, (4 * c + 2) << h);
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
