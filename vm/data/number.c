/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic of mixed numbers. Smalls are done in machine words, bignums by GMP's mpn functions straight onto the heap,
 * and a float on either side makes both sides floats. */
#include "data/number.h"

#include <gmp.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/release.h"
#include "data/big.h"
#include "term/atom.h"

bool num_get_double_of_big(Term t, double *d)
{
	return term_is_big(t) && big_get_double(t, d);
}

Term num_failure(Term a, Term b)
{
	return term_is_integer(a) && term_is_integer(b) ? am_system_limit : am_badarith;
}

static Term put_finite(struct heap *h, double d)
{
	return isfinite(d) ? heap_float(h, d) : TERM_NONE;
}

static bool get_doubles(Term a, Term b, double *da, double *db)
{
	return num_get_double(a, da) && num_get_double(b, db);
}

/* ---- numbers of up to two limbs, in a machine's integers: those that most bignums are */

typedef __int128 wide;
enum { WIDE_BITS = 126 }; /* of a magnitude, so that sums are none beyond */

static inline bool get_wide(Term t, wide *w)
{
	const uint64_t *limbs;
	unsigned __int128 magnitude;

	if (term_is_small(t)) {
		*w = small_value(t);
		return true;
	}
	if (!term_is_big(t))
		return false;
	limbs = boxed_ptr(t) + 1;
	magnitude = limbs[0];
	if (header_arity(limbs[-1]) > 1) {
		if (header_arity(limbs[-1]) > 2 || limbs[1] >> (WIDE_BITS - 64) != 0)
			return false;
		magnitude |= (unsigned __int128)limbs[1] << 64;
	}
	*w = header_sub(limbs[-1]) == SUB_BIG_NEG ? -(wide)magnitude : (wide)magnitude;
	return true;
}

static inline bool get_wides(Term a, Term b, wide *wa, wide *wb)
{
	return get_wide(a, wa) && get_wide(b, wb);
}

static inline Term put_wide(struct heap *h, wide w)
{
	bool negative = w < 0;
	unsigned __int128 magnitude = negative ? -(unsigned __int128)w : (unsigned __int128)w;
	unsigned limbs = 1 + (magnitude >> 64 != 0);
	Term *at;

	if (w >= SMALL_MIN && w <= SMALL_MAX)
		return term_from_small((int64_t)w);
	at = heap_alloc(h, limbs + 1);
	at[0] = HEADER(limbs, negative ? SUB_BIG_NEG : SUB_BIG_POS);
	at[1] = (uint64_t)magnitude;
	if (limbs > 1)
		at[2] = (uint64_t)(magnitude >> 64);
	return term_from_boxed(at);
}

/* ---- sums */

/* a + b, or a - b when `minus`. */
static Term add_integers(struct heap *h, Term a, Term b, bool minus)
{
	struct big_view va, vb, *x = &va, *y = &vb;
	Term *at;
	size_t room;

	big_view(a, &va);
	big_view(b, &vb);
	vb.negative ^= minus;
	if (x->count < y->count || (x->count == y->count && x->count > 0 &&
				    mpn_cmp(x->limbs, y->limbs, (mp_size_t)x->count) < 0)) {
		x = &vb;
		y = &va;
	}
	if (y->count == 0 && x->count == 0)
		return SMALL(0);
	room = x->count + 1;
	at = heap_alloc(h, room + 1);
	if (y->count == 0) {
		memcpy(at + 1, x->limbs, x->count * sizeof(Term));
		at[room] = 0;
	} else if (x->negative == y->negative) {
		at[room] = mpn_add(at + 1, x->limbs, (mp_size_t)x->count, y->limbs, (mp_size_t)y->count);
	} else {
		mpn_sub(at + 1, x->limbs, (mp_size_t)x->count, y->limbs, (mp_size_t)y->count);
		at[room] = 0;
	}
	return big_finish(h, at, room, room, x->negative);
}

Term num_add(struct heap *h, Term a, Term b)
{
	double da, db;
	wide wa, wb;

	if (likely(get_wides(a, b, &wa, &wb)))
		return put_wide(h, wa + wb);
	if (term_is_integer(a) && term_is_integer(b))
		return add_integers(h, a, b, false);
	return get_doubles(a, b, &da, &db) ? put_finite(h, da + db) : TERM_NONE;
}

Term num_sub(struct heap *h, Term a, Term b)
{
	double da, db;
	wide wa, wb;

	if (likely(get_wides(a, b, &wa, &wb)))
		return put_wide(h, wa - wb);
	if (term_is_integer(a) && term_is_integer(b))
		return add_integers(h, a, b, true);
	return get_doubles(a, b, &da, &db) ? put_finite(h, da - db) : TERM_NONE;
}

Term num_negate(struct heap *h, Term a)
{
	struct big_view v;

	if (likely(term_is_small(a)))
		return heap_int(h, -small_value(a));
	if (term_is_float(a))
		return heap_float(h, -float_value(a));
	if (!term_is_big(a))
		return TERM_NONE;
	big_view(a, &v);
	return big_from_limbs(h, v.limbs, v.count, !v.negative);
}

Term num_abs(struct heap *h, Term a)
{
	if (term_is_small(a))
		return small_value(a) < 0 ? num_negate(h, a) : a;
	if (term_is_float(a))
		return float_value(a) < 0 || (release_zeros_differ() && signbit(float_value(a)))
			       ? heap_float(h, -float_value(a))
			       : a;
	if (!term_is_big(a))
		return TERM_NONE;
	return header_sub(*boxed_ptr(a)) == SUB_BIG_NEG ? num_negate(h, a) : a;
}

/* ---- products */

static Term mul_integers(struct heap *h, Term a, Term b)
{
	struct big_view va, vb, *x = &va, *y = &vb;
	size_t room;
	Term *at;

	big_view(a, &va);
	big_view(b, &vb);
	if (va.count == 0 || vb.count == 0)
		return SMALL(0);
	room = va.count + vb.count;
	if (room - 1 > big_max_limbs())
		return TERM_NONE;
	if (va.count < vb.count) {
		x = &vb;
		y = &va;
	}
	at = heap_alloc(h, room + 1);
	if (y->count == 1)
		at[room] = mpn_mul_1(at + 1, x->limbs, (mp_size_t)x->count, y->limbs[0]);
	else if (x->limbs == y->limbs)
		mpn_sqr(at + 1, x->limbs, (mp_size_t)x->count);
	else
		mpn_mul(at + 1, x->limbs, (mp_size_t)x->count, y->limbs, (mp_size_t)y->count);
	return big_finish(h, at, room, room, va.negative != vb.negative);
}

Term num_mul(struct heap *h, Term a, Term b)
{
	double da, db;

	if (terms_both_small(a, b))
		return put_wide(h, (wide)small_value(a) * small_value(b));
	if (term_is_integer(a) && term_is_integer(b))
		return mul_integers(h, a, b);
	return get_doubles(a, b, &da, &db) ? put_finite(h, da * db) : TERM_NONE;
}

/* Quotient and remainder of magnitudes, truncating; gives the one asked for. a->count >= b->count > 0. */
static Term divide_magnitudes(struct heap *h, const struct big_view *a, const struct big_view *b, bool want_rem)
{
	size_t quotient = a->count - b->count + 1;
	size_t room = quotient + b->count;
	Term *at = heap_alloc(h, room + 1);
	Term *q = want_rem ? at + 1 + b->count : at + 1;
	Term *r = want_rem ? at + 1 : at + 1 + quotient;

	mpn_tdiv_qr(q, r, 0, a->limbs, (mp_size_t)a->count, b->limbs, (mp_size_t)b->count);
	if (want_rem)
		return big_finish(h, at, room, b->count, a->negative);
	return big_finish(h, at, room, quotient, a->negative != b->negative);
}

static Term divide_integers(struct heap *h, Term a, Term b, bool want_rem)
{
	struct big_view va, vb;

	if (!term_is_integer(a) || !term_is_integer(b) || b == SMALL(0))
		return TERM_NONE;
	if (terms_both_small(a, b))
		return heap_int(h, want_rem ? small_value(a) % small_value(b) : small_value(a) / small_value(b));
	big_view(a, &va);
	big_view(b, &vb);
	if (va.count < vb.count)
		return want_rem ? a : SMALL(0);
	return divide_magnitudes(h, &va, &vb, want_rem);
}

Term num_div_int(struct heap *h, Term a, Term b)
{
	return divide_integers(h, a, b, false);
}

Term num_rem(struct heap *h, Term a, Term b)
{
	return divide_integers(h, a, b, true);
}

Term num_div_float(struct heap *h, Term a, Term b)
{
	double da, db;

	if (!get_doubles(a, b, &da, &db) || db == 0.0)
		return TERM_NONE;
	return put_finite(h, da / db);
}

/* ---- bits: bignums behave as two's complement of endless width */

enum bit_op { OP_AND, OP_OR, OP_XOR };

static inline uint64_t apply_op(enum bit_op op, uint64_t a, uint64_t b)
{
	return op == OP_AND ? a & b : op == OP_OR ? a | b : a ^ b;
}

/* Limb i of the two's complement; *carry starts as `negative`. */
static inline uint64_t next_limb(const struct big_view *v, size_t i, unsigned *carry)
{
	uint64_t limb = i < v->count ? v->limbs[i] : 0;

	if (!v->negative)
		return limb;
	limb = ~limb + *carry;
	*carry = *carry && limb == 0;
	return limb;
}

/* Of two that are not negative, b not longer than a. */
static Term combine_positive(struct heap *h, const struct big_view *a, const struct big_view *b, enum bit_op op)
{
	size_t common = b->count, room = op == OP_AND ? common : a->count;
	Term *at = heap_alloc(h, room + 1);

	if (common == 0)
		; /* GMP's functions take one limb at least */
	else if (op == OP_AND)
		mpn_and_n(at + 1, a->limbs, b->limbs, (mp_size_t)common);
	else if (op == OP_OR)
		mpn_ior_n(at + 1, a->limbs, b->limbs, (mp_size_t)common);
	else
		mpn_xor_n(at + 1, a->limbs, b->limbs, (mp_size_t)common);
	memcpy(at + 1 + common, a->limbs + common, (room - common) * sizeof(Term));
	return big_finish(h, at, room, room, false);
}

static Term combine_limbs(struct heap *h, Term a, Term b, enum bit_op op)
{
	struct big_view va, vb;
	unsigned carry_a, carry_b;
	size_t room;
	bool negative;
	Term *at;

	if (!term_is_integer(a) || !term_is_integer(b))
		return TERM_NONE;
	big_view(a, &va);
	big_view(b, &vb);
	if (!va.negative && !vb.negative)
		return va.count < vb.count ? combine_positive(h, &vb, &va, op) : combine_positive(h, &va, &vb, op);
	room = (va.count > vb.count ? va.count : vb.count) + 1;
	carry_a = va.negative;
	carry_b = vb.negative;
	negative = apply_op(op, va.negative, vb.negative);
	at = heap_alloc(h, room + 1);
	for (size_t i = 0; i < room; i++) {
		uint64_t la = next_limb(&va, i, &carry_a);

		at[i + 1] = apply_op(op, la, next_limb(&vb, i, &carry_b));
	}
	if (negative)
		mpn_neg(at + 1, at + 1, (mp_size_t)room);
	return big_finish(h, at, room, room, negative);
}

static inline Term combine_bits(struct heap *h, Term a, Term b, enum bit_op op)
{
	wide wa, wb;

	if (likely(get_wides(a, b, &wa, &wb)))
		return put_wide(h, op == OP_AND ? wa & wb : op == OP_OR ? wa | wb : wa ^ wb);
	return combine_limbs(h, a, b, op);
}

Term num_band(struct heap *h, Term a, Term b)
{
	return combine_bits(h, a, b, OP_AND);
}

Term num_bor(struct heap *h, Term a, Term b)
{
	return combine_bits(h, a, b, OP_OR);
}

Term num_bxor(struct heap *h, Term a, Term b)
{
	return combine_bits(h, a, b, OP_XOR);
}

Term num_bnot(struct heap *h, Term a)
{
	if (term_is_small(a))
		return term_from_small(~small_value(a));
	return term_is_big(a) ? add_integers(h, SMALL(-1), a, true) : TERM_NONE;
}

static Term shift_left(struct heap *h, Term a, uint64_t bits)
{
	struct big_view v;
	size_t skip = bits / 64, room;
	Term *at;
	wide w;

	if (bits < WIDE_BITS && get_wide(a, &w) && (wide)((unsigned __int128)w << bits) >> bits == w)
		return put_wide(h, (wide)((unsigned __int128)w << bits));
	big_view(a, &v);
	if (v.count == 0)
		return a;
	room = v.count + skip + 1;
	if (skip > big_max_limbs() || room - 1 > big_max_limbs())
		return TERM_NONE;
	at = heap_alloc(h, room + 1);
	memset(at + 1, 0, skip * sizeof(Term));
	if (bits % 64 == 0) {
		memcpy(at + 1 + skip, v.limbs, v.count * sizeof(Term));
		at[room] = 0;
	} else {
		at[room] = mpn_lshift(at + 1 + skip, v.limbs, (mp_size_t)v.count, bits % 64);
	}
	return big_finish(h, at, room, room, v.negative);
}

/* Rounds towards minus infinity. */
static Term shift_right(struct heap *h, Term a, uint64_t bits)
{
	struct big_view v;
	size_t skip = bits / 64, left;
	bool lost = false;
	Term *at;
	wide w;

	if (get_wide(a, &w))
		return put_wide(h, w >> (bits < WIDE_BITS ? bits : WIDE_BITS));
	big_view(a, &v);
	if (skip >= v.count)
		return v.negative ? SMALL(-1) : SMALL(0);
	left = v.count - skip;
	for (size_t i = 0; i < skip && !lost; i++)
		lost = v.limbs[i] != 0;
	at = heap_alloc(h, left + 2);
	if (bits % 64 == 0)
		memcpy(at + 1, v.limbs + skip, left * sizeof(Term));
	else
		lost |= mpn_rshift(at + 1, v.limbs + skip, (mp_size_t)left, bits % 64) != 0;
	at[left + 1] = 0;
	if (v.negative && lost)
		at[left + 1] = mpn_add_1(at + 1, at + 1, (mp_size_t)left, 1);
	return big_finish(h, at, left + 1, left + 1, v.negative);
}

/* sign: 1 for bsl, -1 for bsr. */
static Term shift_integer(struct heap *h, Term a, Term shift, int sign)
{
	int64_t n;
	struct big_view v;

	if (!term_is_integer(a) || !term_is_integer(shift))
		return TERM_NONE;
	if (term_is_small(shift)) {
		n = small_value(shift) * sign;
		return n >= 0 ? shift_left(h, a, (uint64_t)n) : shift_right(h, a, (uint64_t)-n);
	}
	big_view(shift, &v);
	if (a == SMALL(0))
		return a;
	if (v.negative == (sign > 0)) {
		big_view(a, &v);
		return v.negative ? SMALL(-1) : SMALL(0);
	}
	return TERM_NONE;
}

Term num_bsl(struct heap *h, Term a, Term shift)
{
	return shift_integer(h, a, shift, 1);
}

Term num_bsr(struct heap *h, Term a, Term shift)
{
	return shift_integer(h, a, shift, -1);
}

/* ---- conversions */

Term num_from_double_trunc(struct heap *h, double d)
{
	return big_from_double(h, trunc(d));
}

bool num_get_int64_of_big(Term t, int64_t *n)
{
	struct big_view v;

	if (!term_is_big(t))
		return false;
	big_view(t, &v);
	if (v.count > 1 || v.limbs[0] > (uint64_t)INT64_MAX + v.negative)
		return false;
	*n = v.negative ? (int64_t)-v.limbs[0] : (int64_t)v.limbs[0];
	return true;
}

bool num_get_uint64(Term t, uint64_t *n)
{
	struct big_view v;

	if (likely(term_is_small(t))) {
		*n = (uint64_t)small_value(t);
		return small_value(t) >= 0;
	}
	if (!term_is_big(t))
		return false;
	big_view(t, &v);
	*n = v.limbs[0];
	return !v.negative && v.count == 1;
}

/* Up to eight bytes. */
static inline uint64_t read_word(const uint8_t *bytes, size_t n, bool little_endian)
{
	uint64_t word = 0;

	for (size_t i = 0; i < n; i++)
		word = word << 8 | bytes[little_endian ? n - 1 - i : i];
	return word;
}

Term num_from_bytes(struct heap *h, const uint8_t *bytes, size_t n, bool little_endian, bool negative)
{
	size_t room;
	Term *at;

	while (n > 0 && (little_endian ? bytes[n - 1] : bytes[0]) == 0) {
		bytes += !little_endian;
		n--;
	}
	if (n <= 8 && !negative)
		return heap_uint(h, read_word(bytes, n, little_endian));
	room = (n + 7) / 8;
	if (room > big_max_limbs())
		return TERM_NONE;
	at = heap_alloc(h, room + 1);
	at[room] = 0;
	if (little_endian) {
		memcpy(at + 1, bytes, n);
		return big_finish(h, at, room, room, negative);
	}
	for (size_t limb = 0; limb < room; limb++) {
		size_t end = n - limb * 8, start = end > 8 ? end - 8 : 0;

		at[1 + limb] = read_word(bytes + start, end - start, false);
	}
	return big_finish(h, at, room, room, negative);
}

/* ---- text */

size_t num_text_size(Term t, int base)
{
	struct big_view v;

	if (term_is_small(t))
		return 66;
	big_view(t, &v);
	return mpn_sizeinbase(v.limbs, (mp_size_t)v.count, base) + 3;
}

static size_t put_small(int64_t n, int base, char *to)
{
	char digits[64];
	uint64_t m = n < 0 ? -(uint64_t)n : (uint64_t)n;
	size_t count = 0, used = 0;

	do {
		digits[count++] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[m % (unsigned)base];
		m /= (unsigned)base;
	} while (m != 0);
	if (n < 0)
		to[used++] = '-';
	while (count > 0)
		to[used++] = digits[--count];
	return used;
}

size_t num_text_put(Term t, int base, char *to)
{
	struct big_view v;
	uint64_t *copy;
	size_t count, skip = 0, used = 0;

	if (term_is_small(t))
		return put_small(small_value(t), base, to);
	big_view(t, &v);
	/* mpn_get_str destroys what it reads, and wants a word more. */
	copy = mem_alloc((v.count + 1) * sizeof(*copy));
	memcpy(copy, v.limbs, v.count * sizeof(*copy));
	if (v.negative)
		to[used++] = '-';
	count = mpn_get_str((unsigned char *)to + used, base, copy, (mp_size_t)v.count);
	mem_free(copy);
	while (skip < count && to[used + skip] == 0)
		skip++;
	for (size_t i = skip; i < count; i++) {
		unsigned char digit = (unsigned char)to[used + i];

		to[used + i - skip] = (char)(digit < 10 ? '0' + digit : 'A' + digit - 10);
	}
	return used + count - skip;
}

bool num_text_is_integer(const char *text, size_t n, int base)
{
	size_t i = n > 0 && (text[0] == '-' || text[0] == '+');

	if (i == n)
		return false;
	for (; i < n; i++)
		if (num_digit((uint8_t)text[i]) >= (unsigned)base)
			return false;
	return true;
}

static Term read_long(struct heap *h, const char *text, size_t n, int base, bool negative)
{
	static const uint8_t bits_at_most[37] = {
		[2] = 1, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 5, 5, 5,
		5,       5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 6, 6, 6, 6,
	};
	size_t bits_at_least = 31 - (size_t)__builtin_clz((unsigned)base), room;
	uint8_t *digits;
	Term *at;

	/* Each digit but the first, which is not 0, is of so many bits at least. */
	if ((n - 1) * bits_at_least / 64 > big_max_limbs())
		return TERM_NONE;
	room = n * bits_at_most[base] / 64 + 2;
	digits = mem_alloc(n);
	for (size_t i = 0; i < n; i++)
		digits[i] = (uint8_t)num_digit((uint8_t)text[i]);
	at = heap_alloc(h, room + 1);
	n = (size_t)mpn_set_str(at + 1, digits, n, base);
	mem_free(digits);
	return big_finish(h, at, room, n, negative);
}

Term num_from_text(struct heap *h, const char *text, size_t n, int base)
{
	bool negative = n > 0 && text[0] == '-', has_sign = negative || (n > 0 && text[0] == '+');
	int64_t sum = 0;

	if (n - has_sign > NUM_SHORT_DIGITS) {
		if (!num_text_is_integer(text, n, base))
			return TERM_NONE;
		for (text += has_sign, n -= has_sign; n > 1 && text[0] == '0'; n--)
			text++;
		if (n > NUM_SHORT_DIGITS)
			return read_long(h, text, n, base, negative);
		has_sign = false;
	}
	text += has_sign;
	n -= has_sign;
	for (size_t i = 0; i < n; i++) {
		unsigned digit = num_digit((uint8_t)text[i]);

		if (digit >= (unsigned)base)
			return TERM_NONE;
		sum = sum * base + digit;
	}
	return n > 0 ? term_from_small(negative ? -sum : sum) : TERM_NONE;
}
