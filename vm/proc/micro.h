/* SPDX-License-Identifier: Apache-2.0 */
/* Microstate accounting: what the schedulers spend their time on, while somebody counts; and the threads that only
 * work or sleep, dirty schedulers and those that poll. */
#ifndef VM_PROC_MICRO_H
#define VM_PROC_MICRO_H

#include "proc/dirty.h"
#include "proc/sched.h"

extern atomic_bool micro_counts;

/* Threads that poll: how many, and how long one (from 0) has worked so far. Wired by io/poll.c. */
extern struct micro_threads {
	unsigned count;
	int64_t (*busy_ns)(unsigned i);
} micro_poll_threads;

/* Before the first scheduler. */
void micro_init(unsigned schedulers);
/* What a native of p returns (proc/await.h): how it was before. Counts, or not, from then on. */
Term micro_switch(Process *p, bool on);
/* All begin with 0 again. Returns whether somebody counts. */
bool micro_reset(void);
/* Of a scheduler, by state, so far. Units: nanoseconds. */
void micro_read(unsigned id, int64_t ns[MICRO_STATES]);
/* The same of the dirty scheduler of that number, from 1. */
void micro_read_dirty(enum dirty_kind kind, unsigned number, int64_t ns[MICRO_STATES]);
/* The same of the poll thread of that number, from 0. */
void micro_read_poll(unsigned number, int64_t ns[MICRO_STATES]);

/* That scheduler goes over to that. */
void micro_change(unsigned id, enum micro_state to);
/* s, of this thread, goes over to that. A thread that works without its scheduler is not counted. */
static inline void micro_enter(struct sched *s, enum micro_state to)
{
	if (unlikely(atomic_load_explicit(&micro_counts, memory_order_relaxed)) && sched_on_duty())
		micro_change(s->id, to);
}

#endif
