/* SPDX-License-Identifier: Apache-2.0 */
/* Trace sessions: who traces what, independently of each other. Each process and port has a `struct traced` of every
 * session that traces it, each function with a point a part of every session (trace/point.h). erlang:trace/3 and its
 * kin are of the default session, which is always there; the others belong to who holds a reference, and end with it,
 * or when they are told to. A session that is over tells nothing from then on. What stands of it in processes and ports
 * is dropped by erts_trace_cleaner, a process of OTP's library, and everything that stands somewhere counts it, so its
 * memory outlasts all of these.
 * Source: trace(3) of OTP 27. */
#ifndef VM_TRACE_SESSION_H
#define VM_TRACE_SESSION_H

#include "proc/tracee.h"

enum trace_born_kind { BORN_PROCESS, BORN_PORT, BORN_KINDS };

struct trace_session {
	struct trace_session *next; /* of all that there are, those that are over too; the session lock */
	atomic_uint refs;           /* who points here */
	_Atomic bool is_over;
	int64_t number;             /* the default one: 0; never used again */
	Term name;
	Term tracer;                /* of all it traces; NIL: who changes flags says whom */
	struct trace_born {
		uint32_t flags;
		Term tracer;
	} born[BORN_KINDS];         /* what those to come begin with; the session lock */
	_Atomic(struct event_pattern *) sends, receives; /* NULL: every message */
	_Atomic bool is_silent_of_sends; /* the pattern of sends is false: for threads that are no schedulers */
	_Atomic(struct on_load *) on_load; /* NULL: no pattern */
	_Atomic size_t parts;       /* of points */
	struct trace_session *next_ended;
};
extern struct trace_session trace_default;

void trace_session_init(void);

/* tracer: or NIL. Returns the strong reference {Ref, {Name, Id}} on h. GC: none. */
Term trace_session_create(struct heap *h, Term name, Term tracer);
/* {Ref, {Name, Id}} or {Name, Id}. NULL: it is no session, or (unless or_over) over. Owns: the caller, until
 * trace_session_unref. */
struct trace_session *trace_session_get(Term t, bool or_over);
/* By its number, also one that is over. NULL: there is none any more. Owns: the caller, until trace_session_unref. */
struct trace_session *trace_session_find(int64_t number);
/* s is somebody's who counts it. */
void trace_session_ref(struct trace_session *s);
/* Frees it with the last who counts it. Takes: s. */
void trace_session_unref(struct trace_session *s);
/* {Name, Id} on h. */
Term trace_session_put(struct heap *h, const struct trace_session *s);
static inline bool trace_session_is_over(const struct trace_session *s)
{
	return unlikely(atomic_load_explicit(&s->is_over, memory_order_relaxed));
}
/* The one after s (NULL: the default one) that is not over; NULL: there is none. Takes: s. Owns: the caller, of what is
 * returned. */
struct trace_session *trace_session_next(struct trace_session *s);
#define TRACE_EACH_SESSION(s) \
	for (struct trace_session *s = trace_session_next(NULL); s != NULL; s = trace_session_next(s))
/* What processes or ports to come begin with in s; no flags: they are not traced. */
struct trace_born trace_session_born(struct trace_session *s, enum trace_born_kind kind);
void trace_session_set_born(struct trace_session *s, enum trace_born_kind kind, struct trace_born b);
/* Does any that is not over have a tracer that is a module? */
bool trace_session_has_module(void);

/* It tells nothing any more. Its points are still there. Fails: false when it is over already. */
bool trace_session_end(struct trace_session *s);
/* The process that drops what is left of those that are over; it gets the message `notify`. */
void trace_session_set_cleaner(Term pid);
Term trace_session_cleaner(void);
/* Drops the points of those that ended since the last call. Returns whether there were any: then everybody is to be
 * looked at, after a round of slices. Stops the world. */
bool trace_session_clean(void);

/* What `session` traces of p, made when it is missing. Flags are changed by p alone, by who holds it, or while the
 * world is stopped. */
struct traced *traced_get(Process *p, struct trace_session *session);
/* No flags without a tracer, no tracer without flags. */
void traced_set(Process *p, struct traced *t, uint32_t flags, Term tracer);
void traced_drop(struct traced *t);
/* Drops what is left of sessions that are over, of a list. Returns its flags. */
uint32_t traced_clean(struct traced **first);

static inline bool traced_wants(const Process *p, const struct traced *t, uint32_t flags)
{
	return (t->flags & flags) != 0 && !(p->flags & PF_SENSITIVE) && !trace_session_is_over(t->session);
}
/* Those of a list whose session is not over and that have some of the flags. */
static inline struct traced *traced_next(struct traced *t, uint32_t flags)
{
	while (t != NULL && ((t->flags & flags) == 0 || trace_session_is_over(t->session)))
		t = t->next;
	return t;
}
#define TRACED_EACH(t, first, flags) \
	for (struct traced *t = traced_next((first), (flags)); t != NULL; t = traced_next(t->next, (flags)))
static inline struct traced *traced_first(const Process *p) { return p->tracee != NULL ? p->tracee->first : NULL; }

#endif
