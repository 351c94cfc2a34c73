/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic over any mix of small integers, bignums and floats.
 * Invariant: every result is normal (what fits a small is a small; a bignum's highest limb is not zero).
 * Fails: every Term function here returns TERM_NONE. For num_add, num_sub, num_mul, num_bsl, num_bsr and num_bnot (b: a
 * again) the reason is then num_failure(a, b); for all others it is badarith. GC: none. */
#ifndef VM_DATA_NUMBER_H
#define VM_DATA_NUMBER_H

#include "heap/heap.h"

/* The way that most operations take: a and b are small integers. *value is a small integer too; false: it would be
 * none, or an error. */
static inline bool small_add(Term a, Term b, Term *value)
{
	/* a small is value << 4 | 15: the sum of one and another less its tag overflows 64 bits exactly when it is no
	 * small */
	return !__builtin_add_overflow((int64_t)a, (int64_t)(b - TAG_SMALL), (int64_t *)value);
}
static inline bool small_sub(Term a, Term b, Term *value)
{
	return !__builtin_sub_overflow((int64_t)a, (int64_t)(b - TAG_SMALL), (int64_t *)value);
}
/* Of the least one it is no small. */
static inline bool small_abs(Term a, Term *value)
{
	int64_t scaled = (int64_t)(a - TAG_SMALL), sign = scaled >> 63;

	*value = ((Term)(scaled ^ sign) - (Term)sign) | TAG_SMALL;
	return a != SMALL((Term)SMALL_MIN);
}
static inline bool small_mul(Term a, Term b, Term *value)
{
	return likely(!__builtin_mul_overflow(small_value(a), (int64_t)(b - TAG_SMALL), (int64_t *)value)) &&
	       (*value |= TAG_SMALL, true);
}
static inline bool small_divides(Term b) { return b != SMALL(0) && b != SMALL(-1); } /* SMALL_MIN div -1 is no small */
static inline bool small_div(Term a, Term b, Term *value)
{
	return likely(small_divides(b)) && (*value = term_from_small(small_value(a) / small_value(b)), true);
}
static inline bool small_rem(Term a, Term b, Term *value)
{
	return likely(small_divides(b)) && (*value = term_from_small(small_value(a) % small_value(b)), true);
}
static inline bool small_band(Term a, Term b, Term *value) { return *value = a & b, true; }
static inline bool small_bor(Term a, Term b, Term *value) { return *value = a | b, true; }
static inline bool small_bxor(Term a, Term b, Term *value) { return *value = (a ^ b) | TAG_SMALL, true; }
static inline bool small_shifts(Term b) { return b >> 4 < SMALL_BITS; }
static inline bool small_bsr(Term a, Term b, Term *value)
{
	return likely(small_shifts(b)) && (*value = (Term)((int64_t)a >> (b >> 4)) | TAG_SMALL, true);
}
static inline bool small_bsl(Term a, Term b, Term *value)
{
	Term bits = a - TAG_SMALL, shifted;

	if (unlikely(!small_shifts(b)))
		return false;
	shifted = bits << (b >> 4);
	*value = shifted | TAG_SMALL;
	return (int64_t)shifted >> (b >> 4) == (int64_t)bits;
}

/* The whole operations. */
Term num_add(struct heap *h, Term a, Term b);
Term num_sub(struct heap *h, Term a, Term b);
Term num_mul(struct heap *h, Term a, Term b);
Term num_div_int(struct heap *h, Term a, Term b);   /* div */
Term num_rem(struct heap *h, Term a, Term b);
Term num_div_float(struct heap *h, Term a, Term b); /* / */
Term num_negate(struct heap *h, Term a);
Term num_abs(struct heap *h, Term a);
Term num_band(struct heap *h, Term a, Term b);
Term num_bor(struct heap *h, Term a, Term b);
Term num_bxor(struct heap *h, Term a, Term b);
Term num_bnot(struct heap *h, Term a);
Term num_bsl(struct heap *h, Term a, Term shift);
Term num_bsr(struct heap *h, Term a, Term shift);
/* am_system_limit or am_badarith: why an operation on a and b gave TERM_NONE. */
Term num_failure(Term a, Term b);

/* Any number as a finite double. Fails: false when t is no number or too big. */
bool num_get_double_of_big(Term t, double *d);
static inline bool num_get_double(Term t, double *d)
{
	if (term_is_float(t))
		*d = float_value(t);
	else if (term_is_small(t))
		*d = (double)small_value(t);
	else
		return num_get_double_of_big(t, d);
	return true;
}
/* The integer of a finite double, its fraction dropped. */
Term num_from_double_trunc(struct heap *h, double d);
/* Fails: false when t is no integer or out of range. */
bool num_get_int64_of_big(Term t, int64_t *n);
static inline bool num_get_int64(Term t, int64_t *n)
{
	if (unlikely(!term_is_small(t)))
		return num_get_int64_of_big(t, n);
	*n = small_value(t);
	return true;
}
bool num_get_uint64(Term t, uint64_t *n);
/* An integer of n bytes of magnitude. Fails: TERM_NONE when beyond big_max_limbs. */
Term num_from_bytes(struct heap *h, const uint8_t *bytes, size_t n, bool little_endian, bool negative);

/* Units: characters that integer_text may need, with the sign (an upper bound). base 2..36. */
size_t num_text_size(Term t, int base);
/* Writes an integer's digits (upper case, no NUL) to at least num_text_size bytes; returns how many. */
size_t num_text_put(Term t, int base, char *to);
enum { NUM_NO_DIGIT = 36, NUM_SHORT_DIGITS = 11 }; /* so many of any base make a small integer: 36^11 < 2^59 */
/* The value of a character as a digit of the largest base; NUM_NO_DIGIT. */
static inline unsigned num_digit(uint64_t c)
{
	if (c - '0' < 10)
		return (unsigned)(c - '0');
	return (c | 0x20) - 'a' < 26 ? (unsigned)((c | 0x20) - 'a') + 10 : NUM_NO_DIGIT;
}
/* [+-]digits, at least one digit. */
bool num_text_is_integer(const char *text, size_t n, int base);
/* Reads [+-]digits, the whole text. Fails: TERM_NONE when it is no such text, or too big. */
Term num_from_text(struct heap *h, const char *text, size_t n, int base);

#endif
