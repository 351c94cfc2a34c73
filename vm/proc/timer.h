/* SPDX-License-Identifier: Apache-2.0 */
/* Timers on a wheel per scheduler. Invariant: a timer fires once or is cancelled, never both. */
#ifndef VM_PROC_TIMER_H
#define VM_PROC_TIMER_H

#include "proc/process.h"

/* receive ... after. Fires by setting PS_TIMEOUT and waking p. p runs here. */
void timer_start_receive(Process *p, uint64_t ms);
void timer_cancel_receive(Process *p);
/* C callbacks: fire(arg) runs on a scheduler thread. Returns a handle for timer_cancel_call. */
struct timer *timer_start_call(uint64_t ms, void (*fire)(void *arg), void *arg);
/* False when it has fired or is firing. */
bool timer_cancel_call(struct timer *t);

#endif
