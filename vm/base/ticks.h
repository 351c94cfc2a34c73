/* SPDX-License-Identifier: Apache-2.0 */
/* The cheapest clock: the processor's time stamp counter where the kernel itself keeps time by it, else
 * CLOCK_MONOTONIC. */
#ifndef VM_BASE_TICKS_H
#define VM_BASE_TICKS_H

#include <stdbool.h>

#include "base/clock.h"

extern bool ticks_count_cycles;

/* Once, before the first ticks_now: asks the kernel which clock it trusts. */
void ticks_init(void);

/* Units: ticks, of a length that is constant while the VM runs; ticks_per_ms says which. Comparable between threads. */
static inline uint64_t ticks_now(void)
{
#if defined(__x86_64__)
	if (ticks_count_cycles)
		return __builtin_ia32_rdtsc();
#endif
	return (uint64_t)clock_monotonic_ns();
}

/* The same where it is one instruction, 0 where it is a call: who makes no calls has no registers to save. */
static inline uint64_t ticks_counter(void)
{
#if defined(__x86_64__)
	if (ticks_count_cycles)
		return __builtin_ia32_rdtsc();
#endif
	return 0;
}

/* Units: ticks a millisecond, measured since ticks_init. */
uint64_t ticks_per_ms(void);

/* So many ticks in nanoseconds, by what ticks_per_ms said last. */
uint64_t ticks_to_ns(uint64_t ticks);
/* The same from one moment to another; 0 when another thread read the later one first. */
static inline uint64_t ticks_between_ns(uint64_t began, uint64_t now)
{
	return now > began ? ticks_to_ns(now - began) : 0;
}

#endif
