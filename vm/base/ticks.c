/* SPDX-License-Identifier: Apache-2.0 */
/* Which clock ticks are. The kernel keeps time by the time stamp counter only when it found it constant, running in
 * every sleep state of the processor, and the same on all processors: its clock source is then "tsc". */
#include "base/ticks.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"

#define CLOCK_SOURCE "/sys/devices/system/clocksource/clocksource0/current_clocksource"

bool ticks_count_cycles;
static uint64_t first_ticks;
static int64_t first_ns;
static uint64_t last_scale; /* nanoseconds a tick, times 2^32, when ticks_per_ms was asked last; 0: it was not */

static bool kernel_counts_cycles(void)
{
	char source[16] = "";
	int fd = open(CLOCK_SOURCE, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	(void)!read(fd, source, sizeof(source) - 1);
	close(fd);
	return strcmp(source, "tsc\n") == 0;
}

void ticks_init(void)
{
	ticks_count_cycles = kernel_counts_cycles();
	first_ticks = ticks_now();
	first_ns = clock_monotonic_ns();
}

static uint64_t measure_per_ms(void)
{
	int64_t ns = clock_monotonic_ns() - first_ns;

	if (!ticks_count_cycles || ns <= 0)
		return 1000000;
	return (uint64_t)((double)(ticks_now() - first_ticks) * 1e6 / (double)ns) + 1;
}

uint64_t ticks_per_ms(void)
{
	uint64_t per_ms = measure_per_ms();

	__atomic_store_n(&last_scale, (UINT64_C(1000000) << 32) / per_ms, __ATOMIC_RELAXED);
	return per_ms;
}

uint64_t ticks_to_ns(uint64_t ticks)
{
	uint64_t scale = __atomic_load_n(&last_scale, __ATOMIC_RELAXED);

	if (unlikely(scale == 0)) {
		ticks_per_ms();
		scale = __atomic_load_n(&last_scale, __ATOMIC_RELAXED);
	}
	return (uint64_t)((unsigned __int128)ticks * scale >> 32);
}
