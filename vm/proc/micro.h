/* SPDX-License-Identifier: Apache-2.0 */
/* Microstate accounting: what the schedulers spend their time on, while somebody counts. */
#ifndef VM_PROC_MICRO_H
#define VM_PROC_MICRO_H

#include "proc/dirty.h"
#include "proc/sched.h"

extern atomic_bool micro_counts;

/* Counts, or not, from now on. Returns how it was before. */
bool micro_switch(bool on);
/* All begin with 0 again. Returns whether somebody counts. */
bool micro_reset(void);
/* Of a scheduler, by state, so far. Units: nanoseconds. */
void micro_read(unsigned id, int64_t ns[MICRO_STATES]);
/* The same of the dirty scheduler of that number, from 1. */
void micro_read_dirty(enum dirty_kind kind, unsigned number, int64_t ns[MICRO_STATES]);

void micro_change(struct sched *s, enum micro_state to);
/* s, of this thread, goes over to that. A thread that works without its scheduler is not counted. */
static inline void micro_enter(struct sched *s, enum micro_state to)
{
	if (unlikely(atomic_load_explicit(&micro_counts, memory_order_relaxed)) && sched_on_duty())
		micro_change(s, to);
}

#endif
