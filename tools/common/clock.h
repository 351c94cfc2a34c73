/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks: those that are read, and that of a CPU which runs a program so many times a second. */
#ifndef TOOLS_CLOCK_H
#define TOOLS_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Nanoseconds. */
uint64_t clock_ns(clockid_t id);
/*
 * Links `program` (SEC("perf_event")) to the CPU's clock. Returns a descriptor, or -errno: -ENODEV for a CPU that is
 * off.
 */
int clock_link(int program, uint64_t hz, int cpu);

#endif
