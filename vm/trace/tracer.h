/* SPDX-License-Identifier: Apache-2.0 */
/* Tracers: the processes, ports and modules that hear of what is traced. Messages are built outside every heap; ports
 * get them in the external term format, each as a command. Source of their forms: erlang:trace/3 and erl_tracer(3) of
 * OTP 25's reference manual. */
#ifndef VM_TRACE_TRACER_H
#define VM_TRACE_TRACER_H

#include "proc/tracee.h"

enum { TRACER_PARTS_MAX = 6, TRACE_TIMES = TRACE_TIMESTAMP | TRACE_MONOTONIC | TRACE_STRICT_MONOTONIC };

/* Wired by bif: the next number of erlang:unique_integer([monotonic]), the next of erlang:now/0. */
extern int64_t (*tracer_unique)(void), (*tracer_now_us)(void);
/* trace(all, _, [cpu_timestamp]): the time of `timestamp` is that of the processor. */
extern _Atomic bool tracer_takes_cpu_time;

/* tracer: a local pid or port, or the number of {Module, State} (trace/tracer_module.h), which is asked. tracee: whom
 * it traces, or am_undefined. */
bool tracer_is_alive(Term tracer, Term tracee);
/* As Erlang code sees it: a pid or port, or {Module, State} on h. What is no tracer stays as it is. */
Term tracer_put(struct heap *h, Term tracer);
/* {Tag, Id, Parts...} and what flags add (scheduler, time) to tracer. tag: am_trace, or am_seq_trace; with a time
 * am_trace becomes am_trace_ts. from: who causes it, for the order of messages; or TERM_NONE. Parts may stand anywhere.
 * Returns whether the tracer goes on: a module may say that it does not. GC: none. */
bool tracer_tell(Term tracer, Term from, uint32_t flags, Term tag, Term id, unsigned n, const Term *parts);
/* Whom to tell of p's events, of what a session traces of it; NIL when there is nobody, or itself. A tracer that is
 * gone is forgotten; a module is not asked. */
Term tracer_of(Process *p, struct traced *t);
/* Forgets the tracers of p that are gone, of those with some of the flags; modules are asked. */
void tracer_check(Process *p, uint32_t flags);
/* Is there any point in looking at a call of p's? A module is asked, and forgotten when it has enough. t: what a
 * session traces of p, or NULL. */
bool tracer_wants_call(Process *p, struct traced *t, Term tracer);
/* {trace, Pid, Parts...} of p, to a session's tracer. */
void tracer_tell_event(Process *p, struct traced *t, unsigned n, const Term *parts);
/* The same, to those of all sessions that want one of the flags; not of a sensitive process. */
void tracer_tell_all(Process *p, uint32_t flags, unsigned n, const Term *parts);
#define TRACER_TELL_ALL(p, flags, ...) \
	tracer_tell_all(p, flags, sizeof((Term[]){ __VA_ARGS__ }) / sizeof(Term), (Term[]){ __VA_ARGS__ })

/* {M, F, X} at `at` (4 words). */
static inline Term tracer_put_mfa(Term *at, Term module, Term function, Term third)
{
	at[0] = HEADER(3, SUB_TUPLE);
	at[1] = module;
	at[2] = function;
	at[3] = third;
	return term_from_boxed(at);
}

#endif
