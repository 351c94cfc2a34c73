/* SPDX-License-Identifier: Apache-2.0 */
/* Time and numbers that all threads share. */
#include "proc/vm_time.h"

#include <stdatomic.h>

#include "base/clock.h"
#include "base/log.h"

static struct {
	_Atomic int64_t offset_ns; /* 0: not yet fixed */
	_Atomic int64_t now_us;    /* last result of now/0 */
	_Atomic int64_t unique, monotonic;
} times;

int64_t vm_time_offset_ns(void)
{
	int64_t none = 0, offset = atomic_load(&times.offset_ns);

	if (offset != 0)
		return offset;
	offset = clock_system_ns() - clock_monotonic_ns();
	if (!atomic_compare_exchange_strong(&times.offset_ns, &none, offset))
		offset = none;
	return offset;
}

int64_t vm_time_now_us(void)
{
	int64_t us = (clock_monotonic_ns() + vm_time_offset_ns()) / 1000, last = atomic_load(&times.now_us), next;

	do
		next = us > last ? us : last + 1;
	while (!atomic_compare_exchange_weak(&times.now_us, &last, next));
	return next;
}

/* Threads take numbers by the block, so that most cost no shared write. */
int64_t vm_time_next_unique(void)
{
	enum { BLOCK = 1024 };
	static _Thread_local int64_t next, end;

	if (unlikely(next == end)) {
		next = atomic_fetch_add_explicit(&times.unique, BLOCK, memory_order_relaxed);
		end = next + BLOCK;
	}
	return VM_TIME_UNIQUE_FIRST + next++;
}

int64_t vm_time_next_monotonic(void)
{
	return VM_TIME_UNIQUE_FIRST + atomic_fetch_add_explicit(&times.monotonic, 1, memory_order_seq_cst);
}
