/* SPDX-License-Identifier: Apache-2.0 */
/* Built-in functions: clocks (proc/vm_time.h), calendars, unique integers. */
#include "base/clock.h"
#include "bif/bif.h"
#include "data/compare.h"
#include "data/number.h"
#include "proc/vm_time.h"

#define NS_PER_S ((int64_t)1000000000)

/* The calendar is the same every 400 years. */
#define DAY_S 86400
#define CYCLE_DAYS 146097       /* of 400 years, after which the Gregorian calendar begins again */
#define DAYS_TO_EPOCH 719468    /* from March 1 of the year 0 to 1970 */

static int64_t erlang_system_ns(void)
{
	return clock_monotonic_ns() + vm_time_offset_ns();
}

static inline int64_t floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

/* In a unit that has a name: each divides by a constant. Fails: false, it has none. */
static bool in_named_unit(int64_t ns, Term unit, int64_t *result)
{
	switch (unit) {
	case am_native:
	case am_perf_counter:
	case am_nanosecond:
	case am_nano_seconds:
		*result = ns;
		return true;
	case am_microsecond:
	case am_micro_seconds:
		*result = floor_div(ns, 1000);
		return true;
	case am_millisecond:
	case am_milli_seconds:
		*result = floor_div(ns, 1000000);
		return true;
	case am_second:
	case am_seconds:
		*result = floor_div(ns, NS_PER_S);
		return true;
	default:
		return false;
	}
}

/* More parts a second than a word counts, or results so large. */
static Term put_in_many(Process *p, int64_t ns, Term parts)
{
	struct heap *h = &p->heap;
	Term product;

	if (!term_is_integer(parts) || term_compare(parts, SMALL(0)) <= 0)
		return exc_badarg(p);
	product = num_mul(h, heap_int(h, ns), parts);
	if (product != TERM_NONE && ns < 0) /* rounded down */
		product = num_sub(h, product, SMALL(NS_PER_S - 1));
	if (product == TERM_NONE)
		return exc_system_limit(p);
	return num_div_int(h, product, SMALL(NS_PER_S));
}

/* In parts of a second, rounded down. */
static Term put_in_parts(Process *p, int64_t ns, Term parts)
{
	int64_t n;
	__int128 product, result;

	if (!num_get_int64(parts, &n) || n <= 0)
		return put_in_many(p, ns, parts);
	product = (__int128)ns * n;
	result = product / NS_PER_S;
	if (product < 0 && result * NS_PER_S != product)
		result--;
	if (result > INT64_MAX || result < INT64_MIN)
		return put_in_many(p, ns, parts);
	return heap_int(&p->heap, (int64_t)result);
}

static Term put_in_unit(Process *p, int64_t ns, Term unit)
{
	int64_t result;

	return in_named_unit(ns, unit, &result) ? heap_int(&p->heap, result) : put_in_parts(p, ns, unit);
}

Term bif_erlang_monotonic_time_0(Process *p, Term *args)
{
	(void)args;
	return heap_int(&p->heap, clock_monotonic_ns());
}

Term bif_erlang_monotonic_time_1(Process *p, Term *args)
{
	return put_in_unit(p, clock_monotonic_ns(), args[0]);
}

Term bif_erlang_system_time_0(Process *p, Term *args)
{
	(void)args;
	return heap_int(&p->heap, erlang_system_ns());
}

Term bif_erlang_system_time_1(Process *p, Term *args)
{
	return put_in_unit(p, erlang_system_ns(), args[0]);
}

Term bif_erlang_time_offset_0(Process *p, Term *args)
{
	(void)args;
	return heap_int(&p->heap, vm_time_offset_ns());
}

Term bif_erlang_time_offset_1(Process *p, Term *args)
{
	return put_in_unit(p, vm_time_offset_ns(), args[0]);
}

Term bif_os_system_time_0(Process *p, Term *args)
{
	(void)args;
	return heap_int(&p->heap, clock_system_ns());
}

Term bif_os_system_time_1(Process *p, Term *args)
{
	return put_in_unit(p, clock_system_ns(), args[0]);
}

Term bif_os_perf_counter_0(Process *p, Term *args)
{
	return bif_erlang_monotonic_time_0(p, args);
}

Term bif_erts_internal_time_unit_0(Process *p, Term *args)
{
	(void)p;
	(void)args;
	return SMALL(NS_PER_S);
}

Term bif_erts_internal_perf_counter_unit_0(Process *p, Term *args)
{
	return bif_erts_internal_time_unit_0(p, args);
}

/* {MegaSeconds, Seconds, MicroSeconds} */
static Term put_timestamp(Process *p, int64_t us)
{
	int64_t s = us / 1000000;

	return heap_tuple(&p->heap, term_from_small(s / 1000000), term_from_small(s % 1000000),
			  term_from_small(us % 1000000));
}

Term bif_erlang_timestamp_0(Process *p, Term *args)
{
	(void)args;
	return put_timestamp(p, erlang_system_ns() / 1000);
}

Term bif_os_timestamp_0(Process *p, Term *args)
{
	(void)args;
	return put_timestamp(p, clock_system_ns() / 1000);
}

Term bif_erlang_now_0(Process *p, Term *args)
{
	(void)args;
	return put_timestamp(p, vm_time_now_us());
}

/* ---- calendars */

static Term put_date(struct heap *h, const struct tm *tm)
{
	return heap_tuple(h, term_from_small(tm->tm_year + 1900), term_from_small(tm->tm_mon + 1),
			  term_from_small(tm->tm_mday));
}

static Term put_time(struct heap *h, const struct tm *tm)
{
	return heap_tuple(h, term_from_small(tm->tm_hour), term_from_small(tm->tm_min), term_from_small(tm->tm_sec));
}

static Term put_datetime(struct heap *h, const struct tm *tm)
{
	Term date = put_date(h, tm);

	return heap_tuple(h, date, put_time(h, tm));
}

/* Seconds since 1970 of a moment in UTC. Years are counted from March here, so that a leap day is the last of one. */
static int64_t count_seconds(const struct tm *tm)
{
	int month = tm->tm_mon + 1;
	int64_t year = tm->tm_year + 1900 - (month <= 2), cycle = (year >= 0 ? year : year - 399) / 400;
	int64_t of_cycle = year - cycle * 400;
	int64_t of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + tm->tm_mday - 1;
	int64_t days = cycle * CYCLE_DAYS + of_cycle * 365 + of_cycle / 4 - of_cycle / 100 + of_year - DAYS_TO_EPOCH;

	return days * DAY_S + tm->tm_hour * 3600 + tm->tm_min * 60 + tm->tm_sec;
}

/* The other way round; the year apart from *tm, whose own is too small for all there are. */
static int64_t split_seconds(int64_t s, struct tm *tm)
{
	/* Divisions as multiplications: C. Neri, L. Schneider, Euclidean affine functions and their application to
	 * calendar algorithms. */
	int64_t days = s / DAY_S - (s % DAY_S < 0), from = days + DAYS_TO_EPOCH;
	int64_t cycle = (from >= 0 ? from : from - (CYCLE_DAYS - 1)) / CYCLE_DAYS;
	uint32_t of_day = (uint32_t)(s - days * DAY_S), quarters = (uint32_t)(from - cycle * CYCLE_DAYS) * 4 + 3;
	uint32_t century = quarters / CYCLE_DAYS;
	uint64_t years = (uint64_t)2939745 * ((quarters % CYCLE_DAYS) | 3); /* years of a century << 32 */
	/* months since the start of last year << 16 */
	uint32_t of_year = (uint32_t)years / 2939745 / 4, months = 2141 * of_year + 197913;
	bool is_next = of_year >= 306; /* January or February */

	tm->tm_mday = (int)((months & 0xffff) / 2141) + 1;
	tm->tm_mon = (int)(months >> 16) - (is_next ? 13 : 1);
	tm->tm_hour = (int)(of_day / 3600);
	tm->tm_min = (int)(of_day / 60 % 60);
	tm->tm_sec = (int)(of_day % 60);
	return (int64_t)(years >> 32) + century * 100 + cycle * 400 + is_next;
}

static struct tm read_clock(bool local)
{
	time_t now = time(NULL);
	struct tm tm;

	if (local)
		localtime_r(&now, &tm);
	else
		tm.tm_year = (int)split_seconds(now, &tm) - 1900;
	return tm;
}

Term bif_erlang_date_0(Process *p, Term *args)
{
	struct tm tm = read_clock(true);

	(void)args;
	return put_date(&p->heap, &tm);
}

Term bif_erlang_time_0(Process *p, Term *args)
{
	struct tm tm = read_clock(true);

	(void)args;
	return put_time(&p->heap, &tm);
}

Term bif_erlang_localtime_0(Process *p, Term *args)
{
	struct tm tm = read_clock(true);

	(void)args;
	return put_datetime(&p->heap, &tm);
}

Term bif_erlang_universaltime_0(Process *p, Term *args)
{
	struct tm tm = read_clock(false);

	(void)args;
	return put_datetime(&p->heap, &tm);
}

static bool read_three(Term t, int *a, int *b, int *c)
{
	if (!term_is_tuple_of(t, 3))
		return false;
	for (size_t i = 1; i <= 3; i++)
		if (!term_is_small(tuple_get(t, i)) || small_value(tuple_get(t, i)) < 0 ||
		    small_value(tuple_get(t, i)) > 1 << 30)
			return false;
	*a = (int)small_value(tuple_get(t, 1));
	*b = (int)small_value(tuple_get(t, 2));
	*c = (int)small_value(tuple_get(t, 3));
	return true;
}

static int days_of_month(int year, int month)
{
	static const int days[12] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };

	if (month == 2 && year % 4 == 0 && (year % 100 != 0 || year % 400 == 0))
		return 29;
	return days[month - 1];
}

/* The least years that OTP takes. */
enum { YEAR_MIN_LOCAL = 1902, YEAR_MIN_POSIX = 1600, MKTIME_REDUCTIONS = 3 }; /* mktime takes over a microsecond */

/* {{Y, Mo, D}, {H, Mi, S}}, each in its range. Fails: false. */
static bool read_datetime(Term t, int year_min, struct tm *tm)
{
	*tm = (struct tm){ .tm_isdst = -1 };
	if (!term_is_tuple_of(t, 2) || !read_three(tuple_get(t, 1), &tm->tm_year, &tm->tm_mon, &tm->tm_mday) ||
	    !read_three(tuple_get(t, 2), &tm->tm_hour, &tm->tm_min, &tm->tm_sec))
		return false;
	if (tm->tm_year < year_min || tm->tm_mon < 1 || tm->tm_mon > 12 || tm->tm_mday < 1 ||
	    tm->tm_mday > days_of_month(tm->tm_year, tm->tm_mon) || tm->tm_hour > 23 || tm->tm_min > 59 ||
	    tm->tm_sec > 59)
		return false;
	tm->tm_year -= 1900;
	tm->tm_mon -= 1;
	return true;
}

Term bif_erlang_universaltime_to_localtime_1(Process *p, Term *args)
{
	struct tm tm;
	time_t t;

	if (!read_datetime(args[0], YEAR_MIN_LOCAL, &tm))
		return exc_badarg(p);
	t = (time_t)count_seconds(&tm);
	if (localtime_r(&t, &tm) == NULL)
		return exc_badarg(p);
	return put_datetime(&p->heap, &tm);
}

Term bif_erlang_localtime_to_universaltime_2(Process *p, Term *args)
{
	struct tm tm;
	time_t t;

	if (!read_datetime(args[0], YEAR_MIN_LOCAL, &tm))
		return exc_badarg(p);
	if (args[1] != am_true && args[1] != am_false && args[1] != am_undefined)
		return exc_badarg(p);
	tm.tm_isdst = args[1] == am_undefined ? -1 : args[1] == am_true;
	t = mktime(&tm);
	process_bump(p, MKTIME_REDUCTIONS);
	if (gmtime_r(&t, &tm) == NULL)
		return exc_badarg(p);
	return put_datetime(&p->heap, &tm);
}

Term bif_erlang_universaltime_to_posixtime_1(Process *p, Term *args)
{
	struct tm tm;

	if (!read_datetime(args[0], YEAR_MIN_POSIX, &tm))
		return exc_badarg(p);
	return heap_int(&p->heap, count_seconds(&tm));
}

Term bif_erlang_posixtime_to_universaltime_1(Process *p, Term *args)
{
	struct heap *h = &p->heap;
	struct tm tm;
	int64_t s, year;
	Term date;

	if (!num_get_int64(args[0], &s))
		return exc_badarg(p);
	year = split_seconds(s, &tm);
	date = heap_tuple(h, term_from_small(year), term_from_small(tm.tm_mon + 1), term_from_small(tm.tm_mday));
	return heap_tuple(h, date, put_time(h, &tm));
}

/* ---- unique integers. Positive ones count from 1, others from the least small integer. */

static bool read_modifiers(Term list, bool *monotonic, bool *positive)
{
	for (; term_is_cons(list); list = cons_tail(list)) {
		if (cons_head(list) == am_monotonic)
			*monotonic = true;
		else if (cons_head(list) == am_positive)
			*positive = true;
		else
			return false;
	}
	return list == NIL;
}

static Term put_unique(Process *p, bool monotonic, bool positive)
{
	int64_t n = monotonic ? vm_time_next_monotonic() : vm_time_next_unique();

	return heap_int(&p->heap, positive ? n - VM_TIME_UNIQUE_FIRST + 1 : n);
}

Term bif_erlang_unique_integer_0(Process *p, Term *args)
{
	(void)args;
	return put_unique(p, false, false);
}

Term bif_erlang_unique_integer_1(Process *p, Term *args)
{
	bool monotonic = false, positive = false;

	if (!read_modifiers(args[0], &monotonic, &positive))
		return exc_badarg(p);
	return put_unique(p, monotonic, positive);
}
