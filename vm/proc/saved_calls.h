/* SPDX-License-Identifier: Apache-2.0 */
/* process_flag(save_calls, N): the last N calls of a process, through exports alone, its sends, receives and time-outs.
 * A process that has them runs with the loop's traced table, so that the others carry no check.
 * Source: erlang:process_flag/2 of OTP 25's reference manual. */
#ifndef VM_PROC_SAVED_CALLS_H
#define VM_PROC_SAVED_CALLS_H

#include "proc/process.h"

enum { SAVED_CALLS_MAX = 10000 };

/* What was called: am_send, am_receive, am_timeout, or the address of an export. */
typedef uintptr_t SavedCall;

struct saved_calls {
	uint32_t room, used, next;
	SavedCall calls[];   /* a ring; next: where the next one goes */
};

/* From now on the last `room` calls, of which none is known yet; 0: none. Returns how many before. p runs here, and is
 * to be scheduled in again for the loop to take notice. */
uint32_t saved_calls_set(Process *p, uint32_t room);
void saved_calls_add(Process *p, SavedCall call);
/* The i-th, from the oldest. */
SavedCall saved_calls_get(const struct saved_calls *s, uint32_t i);

static inline void saved_calls_note(Process *p, SavedCall call)
{
	if (unlikely(p->saved_calls != NULL) && !(p->flags & PF_SENSITIVE))
		saved_calls_add(p, call);
}

#endif
