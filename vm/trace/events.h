/* SPDX-License-Identifier: Apache-2.0 */
/* Between the files of the tracing room. */
#ifndef VM_TRACE_EVENTS_H
#define VM_TRACE_EVENTS_H

#include "trace/session.h"

/* flags.c: what a new process inherits; what a link hands on. */
void trace_flags_init(void);
void trace_flags_born(Process *parent, Process *child, bool linked);
void trace_flags_linked(Process *p, Term to);
void trace_flags_born_port(struct port *port);
/* Calls see for every process. The world is stopped. */
void trace_each_process(void (*see)(Process *p, void *arg), void *arg);

/* ports.c: wires what happens to ports. Below, locks: the port's. */
void trace_ports_init(void);
void trace_port_set(struct port *port, struct trace_session *session, uint32_t flags, Term tracer);
/* NIL: nobody. */
void trace_port_get(struct port *port, const struct trace_session *session, uint32_t *flags, Term *tracer);
/* The same; a tracer that is gone is forgotten. */
void trace_port_look(struct port *port, struct trace_session *session, uint32_t *flags, Term *tracer);
/* Calls see for every port, without its lock. */
void trace_each_port(void (*see)(struct port *port, void *arg), void *arg);

/* events.c: wires what happens to processes. */
void trace_events_init(void);
/* s is over, and nobody looks at it. */
void trace_events_forget(struct trace_session *s);
/* Where p goes on, as {M, F, Arity} at `at` (4 words); 0 where that is no code. */
Term trace_put_place(Process *p, Term *at);

/* seq.c */
void trace_seq_init(void);

#endif
