/* SPDX-License-Identifier: Apache-2.0 */
/* Time. Units: nanoseconds. */
#ifndef VM_BASE_CLOCK_H
#define VM_BASE_CLOCK_H

#include <errno.h>
#include <stdint.h>
#include <time.h>

enum { NS_PER_MS = 1000000 };

static inline int64_t clock_read_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static inline int64_t clock_monotonic_ns(void) { return clock_read_ns(CLOCK_MONOTONIC); }
static inline int64_t clock_system_ns(void) { return clock_read_ns(CLOCK_REALTIME); }

/* Whole, whatever signals come. */
static inline void clock_sleep_ns(int64_t ns)
{
	struct timespec left = { ns / 1000000000, ns % 1000000000 };

	while (nanosleep(&left, &left) != 0 && errno == EINTR) {
	}
}

static inline void clock_sleep_ms(int64_t ms) { clock_sleep_ns(ms * NS_PER_MS); }

#endif
