/* SPDX-License-Identifier: Apache-2.0 */
/* Microstate accounting: what the schedulers spend their time on, while somebody counts (proc/micro_threads.h). */
#ifndef VM_PROC_MICRO_H
#define VM_PROC_MICRO_H

#include "proc/sched.h"

extern atomic_bool micro_counts;

/* Before the first scheduler. */
void micro_init(unsigned schedulers);
/* All of them count, or do not, from their next slices on. */
void micro_count_schedulers(bool on);
void micro_reset_schedulers(void);
/* Of a scheduler, by state, so far. Units: nanoseconds. */
void micro_read(unsigned id, int64_t ns[MICRO_STATES]);

/* That scheduler goes over to that. */
void micro_change(unsigned id, enum micro_state to);
/* s, of this thread, goes over to that. A thread that works without its scheduler is not counted. */
static inline void micro_enter(struct sched *s, enum micro_state to)
{
	if (unlikely(atomic_load_explicit(&micro_counts, memory_order_relaxed)) && sched_on_duty())
		micro_change(s->id, to);
}

#endif
