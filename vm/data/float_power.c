/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: an entry of `powers` is empty (high 0) or complete; whoever finds it empty computes it, and all compute
 * the same. */
#include "data/float_power.h"

#include <gmp.h>

#include "base/log.h"

static struct float_power powers[POWER_MAX - POWER_MIN + 1];

static struct float_power compute_power(int k)
{
	int shift = 127 - float_log2_of_power(k);
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
	return (struct float_power){ .high = words[1], .low = words[0] };
}

struct float_power float_power(int k)
{
	struct float_power *entry = &powers[k - POWER_MIN], p;

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
