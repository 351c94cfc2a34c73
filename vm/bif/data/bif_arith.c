/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic, comparison, logic and mathematics as functions. */
#include <math.h>

#include "bif/bif.h"
#include "data/compare.h"
#include "data/number.h"

/* ---- operators. Those that can outgrow a bignum say so; the others fail with badarith alone. */

static __attribute__((noinline)) Term call_arith(Process *p, const Term *args,
						 Term (*operation)(struct heap *, Term, Term), bool is_limited)
{
	Term t = operation(&p->heap, args[0], args[1]);

	if (t != TERM_NONE)
		return t;
	return exc_error(p, is_limited ? num_failure(args[0], args[1]) : am_badarith);
}

#define ARITH_2(name, fast, operation, is_limited)                                                 \
	Term bif_erlang_##name##_2(Process *p, Term *args)                                         \
	{                                                                                          \
		Term t;                                                                            \
                                                                                                   \
		if (likely(terms_both_small(args[0], args[1])) && fast(args[0], args[1], &t))      \
			return t;                                                                  \
		return call_arith(p, args, operation, is_limited);                                 \
	}

ARITH_2(plus, small_add, num_add, true)
ARITH_2(minus, small_sub, num_sub, true)
ARITH_2(times, small_mul, num_mul, true)
ARITH_2(bsl, small_bsl, num_bsl, true)
ARITH_2(bsr, small_bsr, num_bsr, true)
ARITH_2(div, small_div, num_div_int, false)
ARITH_2(rem, small_rem, num_rem, false)
ARITH_2(band, small_band, num_band, false)
ARITH_2(bor, small_bor, num_bor, false)
ARITH_2(bxor, small_bxor, num_bxor, false)

Term bif_erlang_divide_2(Process *p, Term *args)
{
	Term t = num_div_float(&p->heap, args[0], args[1]);

	return likely(t != TERM_NONE) ? t : exc_badarith(p);
}

Term bif_erlang_plus_1(Process *p, Term *args)
{
	return term_is_number(args[0]) ? args[0] : exc_badarith(p);
}

Term bif_erlang_minus_1(Process *p, Term *args)
{
	Term t = num_negate(&p->heap, args[0]);

	return t != TERM_NONE ? t : exc_badarith(p);
}

Term bif_erlang_bnot_1(Process *p, Term *args)
{
	Term t = num_bnot(&p->heap, args[0]);

	return t != TERM_NONE ? t : exc_error(p, num_failure(args[0], args[0]));
}

Term bif_erlang_abs_1(Process *p, Term *args)
{
	Term t = num_abs(&p->heap, args[0]);

	return t != TERM_NONE ? t : exc_badarg(p);
}

Term bif_erlang_float_1(Process *p, Term *args)
{
	double d;

	if (term_is_float(args[0]))
		return args[0];
	return num_get_double(args[0], &d) ? heap_float(&p->heap, d) : exc_badarg(p);
}

#define TO_INTEGER_1(name, convert)                                    \
	Term bif_erlang_##name##_1(Process *p, Term *args)             \
	{                                                              \
		if (term_is_integer(args[0]))                          \
			return args[0];                                \
		if (!term_is_float(args[0]))                           \
			return exc_badarg(p);                          \
		return num_from_double_trunc(&p->heap, convert(float_value(args[0]))); \
	}

TO_INTEGER_1(round, round)
TO_INTEGER_1(trunc, trunc)
TO_INTEGER_1(floor, floor)
TO_INTEGER_1(ceil, ceil)

/* ---- comparison */

#define COMPARE_2(name, condition)                                     \
	Term bif_erlang_##name##_2(Process *p, Term *args)             \
	{                                                              \
		(void)p;                                               \
		return term_from_bool(condition);                      \
	}

COMPARE_2(equal, term_equal_lending(args[0], args[1]))
COMPARE_2(not_equal, !term_equal_lending(args[0], args[1]))
COMPARE_2(same, term_same_lending(args[0], args[1]))
COMPARE_2(not_same, !term_same_lending(args[0], args[1]))
COMPARE_2(less, term_compare_lending(args[0], args[1]) < 0)
COMPARE_2(at_most, term_compare_lending(args[0], args[1]) <= 0)
COMPARE_2(greater, term_compare_lending(args[0], args[1]) > 0)
COMPARE_2(at_least, term_compare_lending(args[0], args[1]) >= 0)

Term bif_erlang_min_2(Process *p, Term *args)
{
	(void)p;
	return term_compare(args[0], args[1]) > 0 ? args[1] : args[0];
}

Term bif_erlang_max_2(Process *p, Term *args)
{
	(void)p;
	return term_compare(args[0], args[1]) < 0 ? args[1] : args[0];
}

Term bif_erts_internal_cmp_term_2(Process *p, Term *args)
{
	int order = term_compare_exact(args[0], args[1]);

	(void)p;
	return term_from_small((order > 0) - (order < 0));
}

/* ---- logic */

static bool is_bool(Term t)
{
	return t == am_true || t == am_false;
}

#define LOGIC_2(name, condition)                                       \
	Term bif_erlang_##name##_2(Process *p, Term *args)             \
	{                                                              \
		bool a = args[0] == am_true, b = args[1] == am_true;   \
		if (!is_bool(args[0]) || !is_bool(args[1]))            \
			return exc_badarg(p);                          \
		return term_from_bool(condition);                      \
	}

LOGIC_2(and, a && b)
LOGIC_2(or, a || b)
LOGIC_2(xor, a != b)

Term bif_erlang_not_1(Process *p, Term *args)
{
	return is_bool(args[0]) ? term_from_bool(args[0] == am_false) : exc_badarg(p);
}

/* ---- mathematics: floats in, finite floats out */

/* Inline in each function of the module, so that what is one instruction (sqrt) is no call. */
static inline __attribute__((always_inline)) Term call_math(Process *p, double (*function)(double), Term arg)
{
	double d;

	if (unlikely(!num_get_double(arg, &d)))
		return term_is_number(arg) ? exc_badarith(p) : exc_badarg(p);
	d = function(d);
	return likely(isfinite(d)) ? heap_float(&p->heap, d) : exc_badarith(p);
}

static inline __attribute__((always_inline)) Term call_math_2(Process *p, double (*function)(double, double),
							      const Term *args)
{
	double a, b;

	if (likely(num_get_double(args[0], &a)) && likely(num_get_double(args[1], &b))) {
		a = function(a, b);
		return likely(isfinite(a)) ? heap_float(&p->heap, a) : exc_badarith(p);
	}
	return term_is_number(args[0]) && term_is_number(args[1]) ? exc_badarith(p) : exc_badarg(p);
}

#define MATH_1(name) Term bif_math_##name##_1(Process *p, Term *args) { return call_math(p, name, args[0]); }
#define MATH_2(name) Term bif_math_##name##_2(Process *p, Term *args) { return call_math_2(p, name, args); }

MATH_1(cos)
MATH_1(cosh)
MATH_1(sin)
MATH_1(sinh)
MATH_1(tan)
MATH_1(tanh)
MATH_1(acos)
MATH_1(acosh)
MATH_1(asin)
MATH_1(asinh)
MATH_1(atan)
MATH_1(atanh)
MATH_1(erf)
MATH_1(erfc)
MATH_1(exp)
MATH_1(log)
MATH_1(log2)
MATH_1(log10)
MATH_1(sqrt)
MATH_1(floor)
MATH_1(ceil)
MATH_2(atan2)
MATH_2(pow)
MATH_2(fmod)
