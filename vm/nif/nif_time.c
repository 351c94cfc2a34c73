/* SPDX-License-Identifier: Apache-2.0 */
/* Time and unique integers for libraries. */
#include "base/clock.h"
#include "io/library_info.h"
#include "nif/nif_env.h"
#include "proc/vm_time.h"

nif_time enif_convert_time_unit(nif_time value, int from, int to)
{
	return library_time_convert(value, from, to);
}

nif_time enif_monotonic_time(int unit)
{
	return library_time_monotonic(unit);
}

nif_time enif_time_offset(int unit)
{
	return library_time_offset(unit);
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
