/* SPDX-License-Identifier: Apache-2.0 */
/* Floats as text and back. The C library's printf and strtod round correctly and are asked where no faster way is sure
 * to; the layout and its limits are Erlang's. */
#include "data/float_text.h"

#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "data/float_nearest.h"
#include "data/float_shortest.h"

/* No form is longer than this: what does not fit is refused. */
enum { LONGEST = 255, FAST_DECIMALS = 18 };

/* Drops zeros from the end, but the first after the point. */
static size_t drop_zeros(const char *text, size_t n)
{
	while (text[n - 1] == '0' && text[n - 2] != '.')
		n--;
	return n;
}

static const uint64_t powers_of_ten[] = {
	1,
	10,
	100,
	1000,
	10000,
	100000,
	1000000,
	10000000,
	100000000,
	1000000000,
	10000000000,
	100000000000,
	1000000000000,
	10000000000000,
	100000000000000,
	1000000000000000,
	10000000000000000,
	100000000000000000,
	1000000000000000000,
	10000000000000000000u,
};

static unsigned count_digits(uint64_t v)
{
	/* the bits by the logarithm of 2, of base 10 */
	unsigned least = (64 - (unsigned)__builtin_clzll(v | 1)) * 1233 >> 12;

	return least + (v >= powers_of_ten[least]) + (v == 0);
}

/* At least `least` digits. Returns behind the last. */
static char *put_digits(char *to, uint64_t v, unsigned least)
{
	static const char pairs[] =
	"0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546474849"
	"5051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899";
	unsigned n = count_digits(v);
	char *end;

	if (n < least)
		n = least;
	end = to + n;
	for (; n >= 2; n -= 2, v /= 100)
		memcpy(to + n - 2, pairs + v % 100 * 2, 2);
	if (n == 1)
		*to = (char)('0' + v);
	return end;
}

/* 0 <= d < 2^63, half away from zero. What is added is the double below 0.5: it makes no sum of a lesser fraction a
 * whole number, and rounding makes one of every sum with 0.5 itself. */
static uint64_t round_half_up(double d) { return (uint64_t)(int64_t)(d + 0x1.fffffffffffffp-2); }

/* |d| is 2^53 at most. The fraction is rounded by itself, half away from zero. */
static size_t put_parts(double d, unsigned decimals, bool compact, char *to)
{
	uint64_t whole = (uint64_t)(int64_t)fabs(d);
	uint64_t part = round_half_up((fabs(d) - (double)(int64_t)whole) * (double)(int64_t)powers_of_ten[decimals]);
	char *at = to;

	if (signbit(d))
		*at++ = '-';
	if (part >= powers_of_ten[decimals]) {
		whole++;
		part = 0;
	}
	at = put_digits(at, whole, 1);
	if (decimals == 0)
		return (size_t)(at - to);
	*at++ = '.';
	return (size_t)(put_digits(at, part, compact && part == 0 ? 1 : decimals) - to);
}

size_t float_text_decimals(double d, int decimals, bool compact, char *to)
{
	int n;

	if (decimals < 0)
		return 0;
	if (fabs(d) > 0x1p53 || decimals > FAST_DECIMALS) {
		n = snprintf(to, LONGEST + 1, "%.*f", decimals, d);
		if (n > LONGEST)
			return 0;
	} else {
		n = (int)put_parts(d, (unsigned)decimals, compact, to);
	}
	return compact && decimals > 0 ? drop_zeros(to, (size_t)n) : (size_t)n;
}

/* ---- with an exponent */

enum { SCIENTIFIC_DECIMALS = 20, FIVES_EXPONENT = 27, FAST_EXPONENT = 32 };

typedef unsigned __int128 wide;

/* digits * 10^exponent, without the sign. */
struct scientific {
	wide digits;         /* as many as wanted */
	int exponent;        /* of the first of them */
};

/* m * 5^n; m < 2^53, n is 0 to FAST_EXPONENT: it fits. */
static wide times_power_of_five(uint64_t m, int n)
{
	static const uint64_t powers[] = {
		1,
		5,
		25,
		125,
		625,
		3125,
		15625,
		78125,
		390625,
		1953125,
		9765625,
		48828125,
		244140625,
		1220703125,
		6103515625,
		30517578125,
		152587890625,
		762939453125,
		3814697265625,
		19073486328125,
		95367431640625,
		476837158203125,
		2384185791015625,
		11920928955078125,
		59604644775390625,
		298023223876953125,
		1490116119384765625,
		7450580596923828125,
	};
	_Static_assert(sizeof(powers) / sizeof(powers[0]) == FIVES_EXPONENT + 1, "they are as many as it says");
	wide product = (wide)m * powers[n < FIVES_EXPONENT ? n : FIVES_EXPONENT];

	return n <= FIVES_EXPONENT ? product : product * powers[n - FIVES_EXPONENT];
}

static wide power_of_ten(int n)
{
	int most = n < FAST_DECIMALS ? n : FAST_DECIMALS;

	return (wide)powers_of_ten[most] * powers_of_ten[n - most];
}

/* d = m * 2^e as so many decimals of an exponent to be found by what it is about, by whole numbers: exact, then rounded
 * to the nearest, to the even one of two, as printf does. False: the numbers would be too long. */
static bool scale_exactly(uint64_t m, int e, int decimals, struct scientific *r)
{
	const wide least = power_of_ten(decimals), end = power_of_ten(decimals + 1);
	wide scaled, half;

	for (;;) {
		int power = decimals - r->exponent, down = -(e + power);

		if (power < 0 || power > FAST_EXPONENT || down > 127)
			return false;
		scaled = times_power_of_five(m, power);
		half = down > 0 ? (wide)1 << (down - 1) : 0;
		r->digits = down > 0 ? scaled >> down : scaled << -down;
		if (r->digits >= end) {
			r->exponent++;
			continue;
		}
		if (r->digits < least) {
			r->exponent--;
			continue;
		}
		if (down > 0)
			scaled &= half * 2 - 1;
		break;
	}
	if (half != 0 && (scaled > half || (scaled == half && (r->digits & 1) != 0)))
		r->digits++;
	if (r->digits == end) {
		r->digits = least;
		r->exponent++;
	}
	return true;
}

static size_t put_scientific(const struct scientific *r, int decimals, bool is_negative, char *to)
{
	uint64_t high = (uint64_t)(r->digits / powers_of_ten[FAST_DECIMALS]);
	uint64_t low = (uint64_t)(r->digits - (wide)high * powers_of_ten[FAST_DECIMALS]);
	char *at = to, *digits;

	if (is_negative)
		*at++ = '-';
	digits = at + 1;
	at = decimals < FAST_DECIMALS ? put_digits(digits, low, (unsigned)decimals + 1) :
	     put_digits(put_digits(digits, high, (unsigned)(decimals + 1 - FAST_DECIMALS)), low, FAST_DECIMALS);
	digits[-1] = digits[0];
	digits[0] = '.';
	if (decimals == 0)
		at--;
	*at++ = 'e';
	*at++ = r->exponent < 0 ? '-' : '+';
	return (size_t)(put_digits(at, (uint64_t)abs(r->exponent), 2) - to);
}

size_t float_text_scientific(double d, int decimals, char *to)
{
	struct scientific r = { 0, 0 };
	int e, n;
	uint64_t m = (uint64_t)(frexp(fabs(d), &e) * 0x1p53);

	r.exponent = m != 0 ? (e - 1) * 1233 >> 12 : 0;
	if (decimals >= 0 && decimals <= SCIENTIFIC_DECIMALS && (m == 0 || scale_exactly(m, e - 53, decimals, &r)))
		return put_scientific(&r, decimals, signbit(d), to);
	n = snprintf(to, LONGEST + 1, "%.*e", decimals, d);
	return n > 0 && n <= LONGEST ? (size_t)n : 0;
}

/* ---- shortest */

/* Is the plain form used? It is where it is no longer than the other, and every integer of 2^53 or more has an
 * exponent. */
static bool wants_plain(const struct shortest *r, int count)
{
	int lower = count == 1 ? -4 : -(count + 2);
	int upper = count == 1 || r->exponent + count - 1 >= 10 ? 2 : 1;
	uint64_t value = r->digits;

	if (r->exponent < lower || r->exponent > upper)
		return false;
	for (int i = 0; i < r->exponent; i++)
		value *= 10;
	return r->exponent < 0 || value < (uint64_t)1 << 53;
}

static char *put_bytes(char *to, const char *bytes, int n)
{
	memcpy(to, bytes, (size_t)n);
	return to + n;
}

static char *put_zeros(char *to, int n)
{
	memset(to, '0', (size_t)n);
	return to + n;
}

static char *put_plain(char *to, const char *digits, int count, int exponent)
{
	int whole = count + exponent;

	if (exponent >= 0) {
		to = put_zeros(put_bytes(to, digits, count), exponent);
		return put_bytes(to, ".0", 2);
	}
	if (whole > 0) {
		to = put_bytes(put_bytes(to, digits, whole), ".", 1);
		return put_bytes(to, digits + whole, count - whole);
	}
	to = put_zeros(put_bytes(to, "0.", 2), -whole);
	return put_bytes(to, digits, count);
}

static char *put_with_exponent(char *to, const char *digits, int count, int exponent)
{
	to = put_bytes(put_bytes(to, digits, 1), ".", 1);
	to = count > 1 ? put_bytes(to, digits + 1, count - 1) : put_zeros(to, 1);
	*to++ = 'e';
	if (exponent < 0)
		*to++ = '-';
	return put_digits(to, (uint64_t)abs(exponent), 1);
}

size_t float_text_short(double d, char *to)
{
	char digits[20], *at = to;
	struct shortest r;
	int count;

	if (signbit(d))
		*at++ = '-';
	if (d == 0.0)
		return (size_t)(put_bytes(at, "0.0", 3) - to);
	r = float_shortest(fabs(d));
	count = (int)(put_digits(digits, r.digits, 1) - digits);
	if (wants_plain(&r, count))
		at = put_plain(at, digits, count, r.exponent);
	else
		at = put_with_exponent(at, digits, count, r.exponent + count - 1);
	return (size_t)(at - to);
}

/* ---- reading */

static size_t span_digits(const char *text, size_t at, size_t n)
{
	while (at < n && isdigit((unsigned char)text[at]))
		at++;
	return at;
}

size_t float_text_span(const char *text, size_t n)
{
	size_t at = n > 0 && (text[0] == '+' || text[0] == '-');
	size_t end = span_digits(text, at, n);
	size_t exponent;

	if (end == at || end == n || (text[end] != '.' && text[end] != ','))
		return 0;
	at = end + 1;
	end = span_digits(text, at, n);
	if (end == at)
		return 0;
	if (end == n || (text[end] != 'e' && text[end] != 'E'))
		return end;
	at = end + 1;
	if (at < n && (text[at] == '+' || text[at] == '-'))
		at++;
	exponent = span_digits(text, at, n);
	return exponent > at ? exponent : end;
}

/* digits * 10^exponent; with `more`, digits follow that are not all 0. */
struct decimal {
	uint64_t digits;     /* less than 10^19 */
	int64_t exponent;
	bool more;
};

/* text is sound. */
static struct decimal read_decimal(const char *text, size_t n)
{
	const uint64_t full = 1000000000000000000;
	const int64_t farthest = INT64_MAX / 20;
	struct decimal r = { 0, 0, false };
	size_t at = text[0] == '-' || text[0] == '+';
	int64_t exponent = 0;
	bool in_fraction = false, is_down;

	for (; at < n && (text[at] | 0x20) != 'e'; at++) {
		if (text[at] == '.' || text[at] == ',') {
			in_fraction = true;
		} else if (r.digits < full) {
			r.digits = r.digits * 10 + (uint64_t)(text[at] - '0');
			r.exponent -= in_fraction;
		} else {
			r.more |= text[at] != '0';
			r.exponent += !in_fraction;
		}
	}
	if (at == n)
		return r;
	is_down = text[++at] == '-';
	at += is_down || text[at] == '+';
	for (; at < n && exponent < farthest; at++)
		exponent = exponent * 10 + (text[at] - '0');
	r.exponent += is_down ? -exponent : exponent;
	return r;
}

/* A number of up to 2^53 and a power of ten of up to 10^22 are doubles, and so one operation rounds their product or
 * quotient correctly. False: it is no such number. */
static bool read_exactly(struct decimal r, double *d)
{
	static const double powers[] = {
		1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
		1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
	};
	const int most = sizeof(powers) / sizeof(powers[0]) - 1;

	if (r.more || r.digits > (uint64_t)1 << 53 || r.exponent < -most || r.exponent > most)
		return false;
	*d = r.exponent < 0 ? (double)r.digits / powers[-r.exponent] : (double)r.digits * powers[r.exponent];
	return true;
}

static double read_slowly(const char *text, size_t n)
{
	char fixed[128];
	char *copy = n < sizeof(fixed) ? fixed : mem_alloc(n + 1), *comma;
	double d;

	memcpy(copy, text, n);
	copy[n] = 0;
	comma = strchr(copy, ',');
	if (comma != NULL)
		*comma = '.';
	d = strtod(copy, NULL);
	if (copy != fixed)
		mem_free(copy);
	return d;
}

bool float_text_read(const char *text, size_t n, double *d)
{
	struct decimal r;

	if (n == 0 || float_text_span(text, n) != n)
		return false;
	r = read_decimal(text, n);
	if (!read_exactly(r, d) && !float_nearest(r.digits, r.more, r.exponent, d))
		*d = fabs(read_slowly(text, n));
	if (text[0] == '-')
		*d = -*d;
	return isfinite(*d);
}
