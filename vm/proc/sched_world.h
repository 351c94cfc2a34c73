/* SPDX-License-Identifier: Apache-2.0 */
/* The world: the threads that run processes. Stopping it is sched_stop_world (proc/sched.h). For sched.c and
 * sched_lend.c alone. */
#ifndef VM_PROC_SCHED_WORLD_H
#define VM_PROC_SCHED_WORLD_H

#include "proc/sched.h"

void sched_world_init(void);
/* Schedulers up to this id may begin a time slice: sched_active(), or none while somebody stops the world. */
extern _Atomic unsigned sched_world_runs;
/* sched_active() has changed. */
void sched_world_review(void);
/* The scheduler s, of this thread, is about to run processes: waits while the world is stopped. */
void sched_world_enter(struct sched *s);
/* It does not run any, until it enters again. */
void sched_world_leave(struct sched *s);
/* The same for a worker thread that works for a process. It waits already when somebody is about to stop the world. */
void sched_world_enter_apart(void);
void sched_world_leave_apart(void);
/* Does somebody wait for the world to stop? */
bool sched_world_is_stopping(void);
/* s, of this thread, is in one of these ways. */
bool sched_world_is_in(const struct sched *s);
/* for_stop: the caller is about to stop the world. s->lent was `lent`, which says that it may be taken: now `to` has
 * the scheduler, and the thread of s goes on as a worker thread does. Any thread. Fails: false when it was reclaimed
 * meanwhile, or somebody stops the world. */
bool sched_world_part(struct sched *s, uint32_t lent, struct sched *to, bool for_stop);

#endif
