/* SPDX-License-Identifier: Apache-2.0 */
/* What happens to ports: their events, and when they work. The flags of a port are its lock's: threads that are no
 * schedulers come here. */
#include "base/alloc.h"
#include "base/release.h"
#include "io/port.h"
#include "trace/events.h"
#include "trace/tracer.h"
#include "trace/tracer_module.h"
#include "trace/watch.h"

static struct traced *find(const struct port *port, const struct trace_session *session)
{
	struct traced *t = port->traced;

	while (t != NULL && t->session != session)
		t = t->next;
	return t;
}

static void set(struct port *port, struct traced *t, uint32_t flags, Term tracer)
{
	t->flags = tracer != NIL ? flags : 0;
	t->tracer = t->flags != 0 ? tracer : NIL;
	port->trace_flags = 0;
	for (t = port->traced; t != NULL; t = t->next)
		port->trace_flags |= t->flags;
}

void trace_port_set(struct port *port, struct trace_session *session, uint32_t flags, Term tracer)
{
	struct traced *t = find(port, session);

	if (t == NULL && flags == 0)
		return;
	if (t == NULL) {
		t = mem_zalloc(sizeof(*t));
		t->session = session;
		trace_session_ref(session);
		t->next = port->traced;
		port->traced = t;
	}
	set(port, t, flags, tracer);
}

void trace_port_get(struct port *port, const struct trace_session *session, uint32_t *flags, Term *tracer)
{
	const struct traced *t = find(port, session);

	*flags = t != NULL ? t->flags : 0;
	*tracer = t != NULL ? t->tracer : NIL;
}

/* Whom to tell of the port; NIL when there is nobody, or itself. A tracer that is gone is forgotten. */
static Term tracer_of_port(struct port *port, struct traced *t)
{
	if (t->tracer == NIL || t->tracer == port->id)
		return NIL;
	if (!tracer_is_module(t->tracer) && !tracer_is_alive(t->tracer, port->id))
		set(port, t, 0, NIL);
	return t->tracer;
}

void trace_port_look(struct port *port, struct trace_session *session, uint32_t *flags, Term *tracer)
{
	struct traced *t = find(port, session);

	if (t != NULL)
		tracer_of_port(port, t);
	trace_port_get(port, session, flags, tracer);
}

void trace_each_port(void (*see)(struct port *port, void *arg), void *arg)
{
	struct heap scratch;

	heap_init(&scratch, HEAP_MIN_WORDS);
	for (Term list = port_list(&scratch); list != NIL; list = cons_tail(list)) {
		struct port *port = port_find(cons_head(list));

		if (port == NULL)
			continue;
		see(port, arg);
		port_unref(port);
	}
	heap_free(&scratch);
}

static void tell_event(struct port *port, uint32_t flags, unsigned n, const Term *parts)
{
	TRACED_EACH(t, port->traced, flags) {
		bool silent = (flags & TRACE_SEND) && release_ports_heed_sends() &&
			      atomic_load(&t->session->is_silent_of_sends);
		Term tracer = silent ? NIL : tracer_of_port(port, t);

		if (tracer != NIL && !tracer_tell(tracer, port->id, t->flags, am_trace, port->id, n, parts))
			set(port, t, 0, NIL);
	}
}

static void tell_slice(struct port *port, Term event, Term what)
{
	if (port->trace_flags & (TRACE_RUNNING_PORTS | TRACE_RUNNING))
		tell_event(port, TRACE_RUNNING_PORTS | TRACE_RUNNING, 2, (Term[]){ event, what });
}

static void port_began(struct port *port, Term what)
{
	watch_port_began(port->id);
	tell_slice(port, am_in, what);
}

static void port_ended(struct port *port, Term what)
{
	tell_slice(port, am_out, what);
	watch_port_ended(port->id);
}

void trace_ports_init(void)
{
	trace_hooks.port_opened = trace_flags_born_port;
	trace_hooks.port_event = tell_event;
	trace_hooks.port_began = port_began;
	trace_hooks.port_ended = port_ended;
	trace_hooks.port_worked = watch_port_worked;
}
