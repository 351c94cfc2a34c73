/* SPDX-License-Identifier: Apache-2.0 */
/* Bignums: views of integers, normal form, order, conversion to and from doubles. */
#include "data/big.h"

#include <gmp.h>
#include <math.h>
#include <string.h>

_Static_assert(GMP_NUMB_BITS == 64, "limbs are heap words");

void big_view(Term t, struct big_view *v)
{
	if (term_is_small(t)) {
		int64_t n = small_value(t);

		v->small = n < 0 ? -(uint64_t)n : (uint64_t)n;
		v->limbs = &v->small;
		v->count = n != 0;
		v->negative = n < 0;
		return;
	}
	v->limbs = boxed_ptr(t) + 1;
	v->count = header_arity(*boxed_ptr(t));
	v->negative = header_sub(*boxed_ptr(t)) == SUB_BIG_NEG;
}

/* Does a one-limb magnitude fit a small? Sets *t when it does. */
static bool fit_small(uint64_t limb, bool negative, Term *t)
{
	if (limb > (uint64_t)SMALL_MAX + negative)
		return false;
	*t = term_from_small(negative ? -(int64_t)limb : (int64_t)limb);
	return true;
}

Term big_finish(struct heap *h, Term *at, size_t room, size_t count, bool negative)
{
	Term small = SMALL(0);

	while (count > 0 && at[count] == 0)
		count--;
	if (count == 0 || (count == 1 && fit_small(at[1], negative, &small))) {
		heap_trim(h, at, room + 1, at);
		return small;
	}
	if (count > big_max_limbs()) {
		heap_trim(h, at, room + 1, at);
		return TERM_NONE;
	}
	at[0] = HEADER(count, negative ? SUB_BIG_NEG : SUB_BIG_POS);
	heap_trim(h, at, room + 1, at + count + 1);
	return term_from_boxed(at);
}

Term big_from_limbs(struct heap *h, const uint64_t *limbs, size_t count, bool negative)
{
	Term *at;

	while (count > 0 && limbs[count - 1] == 0)
		count--;
	if (count > big_max_limbs())
		return TERM_NONE;
	at = heap_alloc(h, count + 1);
	memcpy(at + 1, limbs, count * sizeof(*limbs));
	return big_finish(h, at, count, count, negative);
}

/* The highest limbs that are the same are passed over by the block: mpn_cmp looks at them one by one. */
static int compare_magnitudes(const struct big_view *a, const struct big_view *b)
{
	enum { BLOCK = 32 };
	size_t n = a->count, tried;

	if (a->count != b->count)
		return a->count < b->count ? -1 : 1;
	while (n > BLOCK && memcmp(a->limbs + n - BLOCK, b->limbs + n - BLOCK, BLOCK * sizeof(*a->limbs)) == 0)
		n -= BLOCK;
	tried = n > BLOCK ? BLOCK : n;
	return n == 0 ? 0 : mpn_cmp(a->limbs + n - tried, b->limbs + n - tried, (mp_size_t)tried);
}

Term big_largest(struct heap *h)
{
	size_t count = big_max_limbs();
	Term *at = heap_alloc(h, count + 1);

	memset(at + 1, 0xff, count * sizeof(Term));
	return big_finish(h, at, count, count, false);
}

int big_compare(Term a, Term b)
{
	struct big_view va, vb;
	int order;

	big_view(a, &va);
	big_view(b, &vb);
	if (va.negative != vb.negative)
		return va.negative ? -1 : 1;
	order = compare_magnitudes(&va, &vb);
	return va.negative ? -order : order;
}

bool big_get_double(Term t, double *d)
{
	struct big_view v;
	double sum = 0.0;

	if (term_is_small(t)) {
		*d = (double)small_value(t);
		return true;
	}
	big_view(t, &v);
	/* Horner's scheme from the highest limb, as OTP: each step rounds to nearest even. */
	for (size_t i = v.count; i-- > 0 && isfinite(sum);)
		sum = sum * 0x1p64 + (double)v.limbs[i];
	*d = v.negative ? -sum : sum;
	return isfinite(sum);
}

/* The magnitude of a finite integral double, at most 17 limbs; returns their count. */
static size_t split_double(double d, uint64_t limbs[17])
{
	int exponent;
	uint64_t mantissa = (uint64_t)ldexp(frexp(fabs(d), &exponent), 53);
	int shift = exponent - 53;
	size_t skip;

	memset(limbs, 0, 17 * sizeof(*limbs));
	if (shift <= 0) {
		limbs[0] = shift > -64 ? mantissa >> -shift : 0;
		return 1;
	}
	skip = (size_t)shift / 64;
	limbs[skip] = mantissa << shift % 64;
	if (shift % 64 != 0)
		limbs[skip + 1] = mantissa >> (64 - shift % 64);
	return skip + 2;
}

Term big_from_double(struct heap *h, double d)
{
	uint64_t limbs[17];
	size_t count;

	if (fabs(d) < 0x1p59)
		return term_from_small((int64_t)d);
	count = split_double(d, limbs);
	return big_from_limbs(h, limbs, count, d < 0);
}

int big_compare_double(Term t, double d)
{
	uint64_t limbs[17];
	struct big_view a, b = { .limbs = limbs, .negative = d < 0 };
	int order;

	if (fabs(d) < 0x1p53) {
		double n;

		if (!term_is_small(t))
			return term_has_sub(t, SUB_BIG_NEG) ? -1 : 1;
		n = (double)small_value(t);
		return (n > d) - (n < d);
	}
	big_view(t, &a);
	if (a.negative != b.negative)
		return a.negative ? -1 : 1;
	b.count = split_double(trunc(d), limbs);
	while (b.count > 0 && limbs[b.count - 1] == 0)
		b.count--;
	order = compare_magnitudes(&a, &b);
	if (order == 0 && trunc(d) != d)
		order = -1;
	return a.negative ? -order : order;
}
