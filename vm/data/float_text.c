/* SPDX-License-Identifier: Apache-2.0 */
/* Floats as text and back. The C library's printf and strtod round correctly; the layout and its limits are Erlang's. */
#include "data/float_text.h"

#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* No form is longer than this: what does not fit is refused. */
enum { LONGEST = 255, FAST_DECIMALS = 18 };

size_t float_text_scientific(double d, int decimals, char *to)
{
	int n = snprintf(to, LONGEST + 1, "%.*e", decimals, d);

	return n > 0 && n <= LONGEST ? (size_t)n : 0;
}

/* Drops zeros from the end, but the first after the point. */
static size_t drop_zeros(const char *text, size_t n)
{
	while (text[n - 1] == '0' && text[n - 2] != '.')
		n--;
	return n;
}

/* The fraction is rounded by itself, half away from zero. */
static size_t put_parts(double d, int decimals, char *to)
{
	static const double powers[FAST_DECIMALS + 1] = {
		1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
	};
	const char *sign = signbit(d) ? "-" : "";
	double whole = floor(fabs(d));
	double part = round((fabs(d) - whole) * powers[decimals]);

	if (decimals == 0)
		return (size_t)sprintf(to, "%s%ld", sign, lround(fabs(d)));
	if (part >= powers[decimals]) {
		whole += 1;
		part = 0;
	}
	return (size_t)sprintf(to, "%s%.0f.%0*lu", sign, whole, decimals, (unsigned long)part);
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
		n = (int)put_parts(d, decimals, to);
	}
	return compact && decimals > 0 ? drop_zeros(to, (size_t)n) : (size_t)n;
}

/* ---- shortest */

struct decimal {
	char digits[18];     /* no zero at the end */
	int count;
	int exponent;        /* of the last digit */
};

/* d > 0 in that many digits. Returns whether it reads back as d. */
static bool try_digits(double d, int count, struct decimal *r)
{
	char text[40];

	snprintf(text, sizeof(text), "%.*e", count - 1, d);
	r->digits[0] = text[0];
	memcpy(r->digits + 1, text + 2, (size_t)count - 1);
	r->count = count;
	r->exponent = atoi(strchr(text, 'e') + 1) - (count - 1);
	return strtod(text, NULL) == d;
}

/* Below a power of two doubles stand twice as close: the next decimal above may read back where the nearest does not. */
static bool try_above(double d, struct decimal *r)
{
	char text[40];
	int i = r->count - 1;
	struct decimal up = *r;

	while (i >= 0 && up.digits[i] == '9')
		i--;
	if (i < 0)
		return false;
	up.digits[i]++;
	memset(up.digits + i + 1, '0', (size_t)(up.count - 1 - i));
	snprintf(text, sizeof(text), "%.*se%d", up.count, up.digits, up.exponent);
	if (strtod(text, NULL) != d)
		return false;
	*r = up;
	return true;
}

/* Any decimal of 15 digits survives the way to a normal double and back, so a shorter one shows as zeros at the end of 15. */
static void find_shortest(double d, struct decimal *r)
{
	int exponent;
	bool power = frexp(d, &exponent) == 0.5;

	for (int count = d < 0x1p-1022 ? 1 : 15; count <= 17; count++)
		if (try_digits(d, count, r) || (power && try_above(d, r)))
			break;
	while (r->count > 1 && r->digits[r->count - 1] == '0') {
		r->count--;
		r->exponent++;
	}
}

/* Is the plain form used? It is where it is no longer than the other, and every integer of 2^53 or more has an exponent. */
static bool wants_plain(const struct decimal *r)
{
	int lower = r->count == 1 ? -4 : -(r->count + 2);
	int upper = r->count == 1 || r->exponent + r->count - 1 >= 10 ? 2 : 1;
	uint64_t value = 0;

	if (r->exponent < lower || r->exponent > upper)
		return false;
	for (int i = 0; i < r->count; i++)
		value = value * 10 + (uint64_t)(r->digits[i] - '0');
	for (int i = 0; i < r->exponent; i++)
		value *= 10;
	return r->exponent < 0 || value < (uint64_t)1 << 53;
}

static size_t put_plain(const struct decimal *r, char *to)
{
	int whole = r->count + r->exponent;

	if (r->exponent >= 0)
		return (size_t)sprintf(to, "%.*s%.*s.0", r->count, r->digits, r->exponent, "00");
	if (whole > 0)
		return (size_t)sprintf(to, "%.*s.%.*s", whole, r->digits, r->count - whole, r->digits + whole);
	return (size_t)sprintf(to, "0.%.*s%.*s", -whole, "00000000000000000000", r->count, r->digits);
}

size_t float_text_short(double d, char *to)
{
	struct decimal r;
	size_t sign = signbit(d) != 0;

	to[0] = '-';
	if (d == 0.0)
		return sign + (size_t)sprintf(to + sign, "0.0");
	find_shortest(fabs(d), &r);
	if (wants_plain(&r))
		return sign + put_plain(&r, to + sign);
	return sign + (size_t)sprintf(to + sign, "%c.%.*se%d", r.digits[0], r.count > 1 ? r.count - 1 : 1,
				      r.count > 1 ? r.digits + 1 : "0", r.exponent + r.count - 1);
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

bool float_text_read(const char *text, size_t n, double *d)
{
	char fixed[128];
	char *copy, *comma;

	if (n == 0 || float_text_span(text, n) != n)
		return false;
	copy = n < sizeof(fixed) ? fixed : mem_alloc(n + 1);
	memcpy(copy, text, n);
	copy[n] = 0;
	comma = strchr(copy, ',');
	if (comma != NULL)
		*comma = '.';
	*d = strtod(copy, NULL);
	if (copy != fixed)
		mem_free(copy);
	return isfinite(*d);
}
