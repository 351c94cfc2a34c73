/* SPDX-License-Identifier: Apache-2.0 */
/* What happens to ports: their events, and when they work. The flags of a port are its lock's: threads that are no schedulers come here. */
#include "io/port.h"
#include "trace/events.h"
#include "trace/tracer.h"
#include "trace/tracer_module.h"
#include "trace/watch.h"

void trace_port_set(struct port *port, uint32_t flags, Term tracer)
{
	port->trace_flags = tracer != NIL ? flags : 0;
	port->tracer = port->trace_flags != 0 ? tracer : NIL;
}

Term trace_port_tracer(struct port *port)
{
	if (port->tracer == NIL || port->tracer == port->id)
		return NIL;
	if (!tracer_is_module(port->tracer) && !tracer_is_alive(port->tracer, port->id))
		trace_port_set(port, 0, NIL);
	return port->tracer;
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

static void tell_event(struct port *port, unsigned n, const Term *parts)
{
	Term tracer = trace_port_tracer(port);

	if (tracer != NIL && !tracer_tell(tracer, port->id, port->trace_flags, am_trace, port->id, n, parts))
		trace_port_set(port, 0, NIL);
}

static void tell_slice(struct port *port, Term event, Term what)
{
	if (port->trace_flags & (TRACE_RUNNING_PORTS | TRACE_RUNNING))
		tell_event(port, 2, (Term[]){ event, what });
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
