/* SPDX-License-Identifier: Apache-2.0 */
/* Tracing as the places see it where things happen: the flags of a process, of all sessions, and what the tracing room
 * does about them.
 * Invariant: while any process has flags, trace_active is set and every scheduler watches (sched_trace), so that a
 * machine where nobody traces looks at no flag on its fast paths. Flags are changed by their process alone, by who
 * holds it (sched_hold), or while the world is stopped. */
#ifndef VM_PROC_TRACEE_H
#define VM_PROC_TRACEE_H

#include "proc/process.h"

enum trace_bit {
#define FLAG(atom, name, who) TRACE_BIT_##name,
#include "proc/trace_flags.def"
	TRACE_BITS
};
enum trace_flag {
#define FLAG(atom, name, who) TRACE_##name = 1u << TRACE_BIT_##name,
#include "proc/trace_flags.def"
};

struct trace_session;
enum trace_measure { MEASURE_TIME, MEASURE_MEMORY, MEASURES };

/* What one session (trace/session.h) traces of a process or port. It is there until that ends, or the session does. */
struct traced {
	struct traced *next;
	struct trace_session *session; /* counted */
	uint32_t flags;      /* enum trace_flag */
	Term tracer;         /* local pid or port, or a small that stands for a module; NIL: nobody */
	bool began_untold;   /* its flags came in the time slice that it is in: the end of that is not told either */
	bool is_returning;   /* it is being told where an exception was caught */
	/* call_time, call_memory: the function that runs (0: none counted), and since when: nanoseconds, words */
	struct {
		uint32_t number;
		int64_t since;
	} runs[MEASURES];
};

/* What a process has that is, or was, traced. */
struct tracee {
	struct traced *first; /* newest first */
	/* call_memory: what was put on the heap until words_base words stood there */
	int64_t words_before, words_base;
	/* counts of sequential tracing: see proc/seq_token.h */
	int64_t seq_clock, seq_previous;
};

struct port;

/* What the tracing room does; NULL while no such room is wired, and then trace_active is not set. p is the process
 * traced, and runs here where not said otherwise.
 * GC: none of these. */
struct trace_hooks {
	void (*sent)(Process *p, Term to, Term message);
	/* from: a pid, what else sends, or TERM_NONE; an atom is told as it is. */
	void (*received)(Process *p, Term from, Term message);
	/* {trace, Pid, Event, Data} of `procs` */
	void (*event)(Process *p, Term event, Term data);
	/* child has been made by parent, and is not known to anybody yet. linked: it begins with a link. */
	void (*spawned)(Process *parent, Process *child, bool linked);
	/* A link was set to `to`: should it inherit? Before the signal that links. */
	void (*linked)(Process *p, Term to);
	/* The rest is told while trace_active, whatever the flags of p. A time slice; waits: p was waiting before, or
	 * waits now, or ends */
	void (*slice_began)(Process *p, bool waits);
	void (*slice_ended)(Process *p, bool waits);
	/* p, which was told to run on a dirty scheduler, ends on another, which runs it from now on. */
	void (*exit_began)(Process *p);
	/* words: needed, or reclaimed */
	void (*gc_began)(Process *p, bool major, size_t words);
	void (*gc_ended)(Process *p, bool major, size_t words);
	/* A message came to p, whose id this is, or p took one: its queue has so many. Any thread. */
	void (*queue_changed)(Process *p, Term id, uint32_t length, bool grew);
	/* p waits for a port that is busy. */
	void (*port_busy)(Process *p, Term port);
	/* p waits for a connection to another node; who carries it: a port or a pid. */
	void (*dist_busy)(Process *p, Term controller);
	/* The scheduler of this thread has nothing to do. */
	void (*sched_idle)(unsigned id);
	/* Ports, any thread, with the port's lock held. One opened: does it begin with flags? */
	void (*port_opened)(struct port *port);
	/* {trace, Port, Parts...}, where its flags have one of those. */
	void (*port_event)(struct port *port, uint32_t flags, unsigned n, const Term *parts);
	/* It works, for `what` (io/port.h): while trace_active, whatever its flags. */
	void (*port_began)(struct port *port, Term what);
	void (*port_ended)(struct port *port, Term what);
	/* A scheduler has run a task of the port, in ns nanoseconds. what: input, output, timeout or proc_sig. */
	void (*port_worked)(Term port, Term what, int64_t ns);
	/* Somebody took a message with a sequential trace token, or sends one. */
	void (*seq_sent)(Process *p, Term to, Term message);
	void (*seq_received)(Process *p, Term token, Term message);
	/* This node itself took a request to spawn with that token, or answers it: no process does. type: am_receive,
	 * am_send. */
	void (*seq_node)(Term token, Term type, Term to, Term message);
	/* A process linked to p ended, with that token: message is {'EXIT', From, Reason}, sent by it. */
	void (*seq_ended)(Process *p, Term token, Term message);
};
extern struct trace_hooks trace_hooks;
/* Does anybody trace, at all? Written by sched_trace. */
extern _Atomic bool trace_active;

static inline bool trace_wants(const Process *p, uint32_t flags)
{
	return unlikely((p->trace_flags & flags) != 0) && !(p->flags & PF_SENSITIVE);
}

/* p's tracee, made when it is missing. */
struct tracee *trace_tracee(Process *p);
/* What `session` traces of p; NULL when it never did. */
static inline struct traced *trace_find(const Process *p, const struct trace_session *session)
{
	struct traced *t = p->tracee != NULL ? p->tracee->first : NULL;

	while (t != NULL && t->session != session)
		t = t->next;
	return t;
}
/* Processes that have flags. */
size_t trace_count(void);
/* p has the flags that are in any of its `traced`: after a change of these. */
void trace_sum(Process *p);
/* The end of p. */
void trace_free(Process *p);
/* Drops what a session traces of somebody. Wired by the tracing room. */
extern void (*trace_drop)(struct traced *t);

#endif
