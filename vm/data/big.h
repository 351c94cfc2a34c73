/* SPDX-License-Identifier: Apache-2.0 */
/* Bignums as sign and magnitude over the limbs that stand on the heap, in the order that GMP's mpn functions use.
 * Both small integers and bignums are read through a struct big_view. */
#ifndef VM_DATA_BIG_H
#define VM_DATA_BIG_H

#include "base/release.h"
#include "heap/heap.h"

/* The most limbs a bignum may have, as OTP has it. */
static inline size_t big_max_limbs(void)
{
	return release_limits_integers() ? UINT16_MAX : ((size_t)1 << 19) - 1;
}

struct big_view {
	const uint64_t *limbs;
	size_t count;        /* 0 for zero */
	bool negative;
	uint64_t small;      /* the limb of a small integer */
};
/* t: an integer. Owns: the view must not be moved (limbs may point into it) and dies with t. */
void big_view(Term t, struct big_view *v);

/* The term of a magnitude in limbs at `at + 1`, where `at` are room + 1 words just taken by heap_alloc: writes the
 * header, gives back what it does not need; a value that fits a small gives back all. */
Term big_finish(struct heap *h, Term *at, size_t room, size_t count, bool negative);
/* A copy of a magnitude (highest limbs may be zero). Fails: TERM_NONE beyond big_max_limbs. */
Term big_from_limbs(struct heap *h, const uint64_t *limbs, size_t count, bool negative);
/* The largest integer that there may be. */
Term big_largest(struct heap *h);
/* <0, 0, >0. */
int big_compare(Term a, Term b);
/* t: a bignum or a small. Rounded to nearest even. Fails: false when beyond the finite doubles. */
bool big_get_double(Term t, double *d);
/* Order of an integer and a finite double by their exact values: <0, 0, >0. */
int big_compare_double(Term t, double d);
/* The integer of a finite double without fraction. */
Term big_from_double(struct heap *h, double d);

#endif
