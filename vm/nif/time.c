/* SPDX-License-Identifier: Apache-2.0 */
/* Time and unique integers for libraries. */
#include "base/clock.h"
#include "nif/env.h"
#include "proc/vm_time.h"

/* Parts a second; 0: no such unit. */
static int64_t parts_of(int unit)
{
	switch (unit) {
	case NIF_SEC: return 1;
	case NIF_MSEC: return 1000;
	case NIF_USEC: return 1000000;
	case NIF_NSEC: return 1000000000;
	default: return 0;
	}
}

nif_time enif_convert_time_unit(nif_time value, int from, int to)
{
	int64_t from_parts = parts_of(from), to_parts = parts_of(to);
	__int128 product, result;

	if (from_parts == 0 || to_parts == 0)
		return NIF_TIME_ERROR;
	product = (__int128)value * to_parts;
	result = product / from_parts;
	if (product < 0 && result * from_parts != product)
		result--; /* rounded down */
	return (nif_time)result;
}

nif_time enif_monotonic_time(int unit)
{
	return enif_convert_time_unit(clock_monotonic_ns(), NIF_NSEC, unit);
}

nif_time enif_time_offset(int unit)
{
	return enif_convert_time_unit(vm_time_offset_ns(), NIF_NSEC, unit);
}

static Term put_timestamp(struct nif_env *env, int64_t us)
{
	int64_t s = us / 1000000;

	return heap_tuple(env->heap, term_from_small(s / 1000000), term_from_small(s % 1000000),
			  term_from_small(us % 1000000));
}

Term enif_now_time(struct nif_env *env)
{
	return put_timestamp(env, vm_time_now_us());
}

Term enif_cpu_time(struct nif_env *env)
{
	return put_timestamp(env, clock_read_ns(CLOCK_PROCESS_CPUTIME_ID) / 1000);
}

Term enif_make_unique_integer(struct nif_env *env, int properties)
{
	int64_t n = properties & NIF_UNIQUE_MONOTONIC ? vm_time_next_monotonic() : vm_time_next_unique();

	return heap_int(env->heap, properties & NIF_UNIQUE_POSITIVE ? n - VM_TIME_UNIQUE_FIRST + 1 : n);
}
