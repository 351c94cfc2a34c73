/* SPDX-License-Identifier: Apache-2.0 */
/* What sched.c is to the threads of schedulers alone (sched_loop.c, sched_slice.c): run queues, and what those do that
 * have nothing to run. */
#ifndef VM_PROC_SCHED_QUEUE_H
#define VM_PROC_SCHED_QUEUE_H

#include "proc/sched.h"

/* The schedulers, without their threads. 1 <= online <= count. */
void sched_make(unsigned count, unsigned online);

/* Returns the new length. */
uint32_t run_queue_put(struct sched_queue *q, Process *p);
/* The most urgent; NULL: none waits. */
Process *run_queue_take(struct sched_queue *q);
uint32_t run_queue_length(const struct sched_queue *q);
/* Does its scheduler run processes? Else it stands aside. */
bool run_queue_is_active(const struct sched_queue *q);

/* s, which has nothing to run, says that it is idle: what another's queue can spare, or NULL. sched_rest follows. */
Process *sched_search(struct sched *s);
/* p: what sched_search found. Else s sleeps first. Returns what s runs next, or NULL. */
Process *sched_rest(struct sched *s, Process *p);
/* Gives what is queued to others, and sleeps until it is wanted again. */
void sched_stand_aside(struct sched *s);

/* One time slice of p, which this thread took from a queue (sched_slice.c). */
void sched_run_slice(struct sched *s, Process *p);

/* Statistics are written by one thread and read by any. */
static inline void sched_count_more(uint64_t *counter, uint64_t n)
{
	__atomic_store_n(counter, *counter + n, __ATOMIC_RELAXED);
}

#endif
