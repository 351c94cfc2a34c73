/* SPDX-License-Identifier: Apache-2.0 */
/* Timers on a wheel per scheduler. Invariant: a timer fires once or is cancelled, never both. */
#ifndef VM_PROC_TIMER_H
#define VM_PROC_TIMER_H

#include "proc/process.h"

#define TIMER_NEVER UINT64_MAX

/* receive ... after. Starts the timer unless it runs already; fires by setting PS_TIMEOUT and waking p; with
 * TIMER_NEVER it never does, but p->receive_timer says all the same that the time was read. p runs here. */
void timer_start_receive(Process *p, uint64_t ms);
/* Also clears PS_TIMEOUT. */
void timer_cancel_receive(Process *p);
/* C callbacks: fire(arg) runs on a scheduler thread. Returns a number for timer_cancel_call. Any thread. */
uint64_t timer_start_call(uint64_t ms, void (*fire)(void *arg), void *arg);
/* False when it has fired or is firing. */
bool timer_cancel_call(uint64_t number);

/* What a timer does with a signal that it was given: at its time; when it was cancelled; when `to` ends. All take s.
 * at_ms: when it is due. Wired by timer_message_init. */
struct signal;
extern struct timer_signals {
	void (*send)(Term to, struct signal *s, uint64_t at_ms);
	void (*cancel)(struct signal *s);
	void (*drop)(Term to, struct signal *s, uint64_t at_ms);
} timer_signals;
/* Sends s to a pid or registered name at_ms (of timer_now_ms's clock), unless it is cancelled by that number. Takes:
 * s. */
void timer_start_signal(uint64_t number, uint64_t at_ms, Term to, struct signal *s);
/* Units: *left_ms. Fail: false when there is no such timer (any more). */
bool timer_cancel_message(uint64_t ref, int64_t *left_ms);
/* Those that would be sent to p, by its pid: p ends. As many as others may wait for; false: there may be more. None is
 * left once this is true and nobody finds p alive any more. */
bool timer_cancel_messages(Process *p);
bool timer_read_message(uint64_t ref, int64_t *left_ms);

/* Calls see for every message timer, without a lock: while the world is stopped, or ends. to: a pid or a name. */
void timer_each_message(void (*see)(Term to, const struct signal *message, int64_t left_ms, void *arg), void *arg);

/* Frees room that many timers took, when there were few at the last call, too. Returns whether the next call may have
 * something to free. One thread. */
bool timer_tidy(void);

/* Erlang monotonic time in ms, rounded down: the clock of timers. */
uint64_t timer_now_ms(void);
/* The at_ms of a timer that must not fire before `ms` from now. */
uint64_t timer_deadline_ms(uint64_t ms);

/* ---- for sched.c */
struct timer_wheel *timer_wheel_new(void); /* one a scheduler, in the order of their ids */
/* Fires what is due. */
void timer_wheel_run(struct timer_wheel *w, int64_t now_ns);
/* When timer_wheel_run should run next (CLOCK_MONOTONIC), or 0 without timers. Own thread. */
int64_t timer_wheel_deadline_ns(struct timer_wheel *w);

#endif
