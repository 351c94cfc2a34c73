/* SPDX-License-Identifier: Apache-2.0 */
/* The other side of sched_lend (proc/sched.h): threads that take over schedulers which were lent for long. For
 * sched.c, sched_world.c and slice_clock.c alone. */
#ifndef VM_PROC_SCHED_LEND_H
#define VM_PROC_SCHED_LEND_H

#include "proc/sched.h"

/* most: how many threads may work without their scheduler at a time. run: what a scheduler's thread does. */
void sched_lend_init(unsigned most, void *(*run)(void *sched));
/* Is s lent since the look before, and waits a process or a timer for it? Then another thread takes it over. *seen:
 * s->lent at the look before. Called by the clock of time slices alone. */
void sched_lend_look(struct sched *s, uint32_t *seen);
/* This thread's scheduler, if it is lent and a process or a timer waits for it, is taken over at once. */
void sched_lend_give(void);
/* All that others have lent are taken over, as far as threads rest: whoever calls is about to stop the world. */
void sched_lend_take_all(void);
/* Has another thread lent its scheduler? */
bool sched_lend_is_any(void);
/* The thread of s, whose scheduler was taken over or which never had one, has nothing to do: waits until it takes one
 * over. */
void sched_lend_rest(struct sched *s);
/* In sched.c. One for a thread that rests, or for ever without a scheduler (proc/dirty.c). */
struct sched *sched_make_spare(void);
/* In sched.c. What belongs to the scheduler `from` belongs to `to` from now on. */
void sched_pass_on(struct sched *from, struct sched *to);

/* For proc/dirty.c, in sched.c. This thread is s from now on. */
void sched_be(struct sched *s);
/* Looks up s->watch, and hands over the thread's events when they are old. */
void sched_look_who_watches(struct sched *s);
/* Only whether somebody traces, or microstates are counted: before s, of this thread, goes on after a round
 * (proc/progress.h) has begun. */
void sched_look_who_follows(struct sched *s);
/* Tells who watches that p, which counts as running here, is scheduled in or out. */
void sched_tell_slice(Process *p, bool begins);

#endif
