/* SPDX-License-Identifier: Apache-2.0 */
/* Timers that send messages. */
#ifndef VM_PROC_TIMER_MESSAGE_H
#define VM_PROC_TIMER_MESSAGE_H

#include "proc/timer.h"

/* Before the first timer. */
void timer_message_init(void);
/* start_timer and send_after: sends `message`, or {timeout, Ref, message}, to a pid or registered name at_ms (of
 * timer_now_ms's clock). Returns the reference, on p's heap. GC: none. */
Term timer_start_message(Process *p, uint64_t at_ms, Term to, Term message, bool wrap);

#endif
