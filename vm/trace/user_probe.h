/* SPDX-License-Identifier: Apache-2.0 */
/* The probes that Erlang code fires, through the module dyntrace of runtime_tools, and those of a tracer that is
 * dyntrace.
 * Source: dyntrace(3) of OTP 25. */
#ifndef VM_TRACE_USER_PROBE_H
#define VM_TRACE_USER_PROBE_H

#include "proc/process.h"
#include "usdt.h"

enum { USER_EVENT_NUMBERS = 4, USER_EVENT_TEXTS = 4 };

/* What a process tells. Texts: UTF-8 with a final NUL, or NULL for none. */
struct user_event {
	char *tag;           /* the user tag */
	int64_t numbers[USER_EVENT_NUMBERS];
	char *texts[USER_EVENT_TEXTS];
};

PROBE_COLD void probe_user_trace__s1(const char *message);
PROBE_COLD void probe_user_trace__i4s4(const Process *p, const struct user_event *e);

/* user_trace__n0, user_trace__n1, ...: number must be one of these. */
static inline bool user_probe_exists(int64_t number)
{
	return number >= PROBE_FIRST_user_trace__n && number <= PROBE_LAST_user_trace__n;
}
bool user_probe_is_on(unsigned number);
PROBE_COLD void user_probe_fire(unsigned number, const Process *p, const struct user_event *e);

/* event: an atom. arg1, arg2: am_undefined for what the event has not. */
PROBE_COLD void probe_trace(Term tracee, Term event, Term state, Term arg1, Term arg2);
PROBE_COLD void probe_trace_seq(Term state, Term label, Term seq_info);

#endif
