/* SPDX-License-Identifier: Apache-2.0 */
/* Holding a process that waits for messages, to look at it. */
#include "proc/sched.h"

/* PS_RUNNING keeps everybody else away, as it does while p runs. */
bool sched_hold(Process *p, Term pid)
{
	uint32_t state = atomic_load_explicit(&p->state, memory_order_relaxed);

	if ((state & ~(uint32_t)PS_HIBERNATED) != PS_WAITING ||
	    !atomic_compare_exchange_strong(&p->state, &state, state | PS_RUNNING))
		return false;
	if (p->id != pid) {
		sched_let_go(p);
		return false;
	}
	p->woken_from = state;
	return true;
}

/* Whoever sent it something meanwhile saw it run, and left it to us to wake it. */
void sched_let_go(Process *p)
{
	uint32_t state = atomic_load_explicit(&p->state, memory_order_relaxed), next;

	do {
		next = state & ~(uint32_t)PS_RUNNING;
		if (state & (PS_SIGNALS | PS_TIMEOUT))
			next |= PS_RUNNABLE;
	} while (!atomic_compare_exchange_weak(&p->state, &state, next));
	if (next & PS_RUNNABLE)
		sched_enqueue(p);
}
