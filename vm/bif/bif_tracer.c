/* SPDX-License-Identifier: Apache-2.0 */
/* The natives of erl_tracer, the tracer that sends messages to a process or port. Source: OTP 25's erl_tracer(3).
 * Invariant: nothing in this machine traces yet, so that trace/5 is never asked for; it is not here. */
#include "bif/bif.h"
#include "io/port.h"

static bool is_alive(Term tracer)
{
	struct port *port;

	if (!term_is_local_port(tracer))
		return term_is_local_pid(tracer) && process_is_alive(tracer);
	port = port_find(tracer);
	if (port != NULL)
		port_unref(port);
	return port != NULL;
}

/* enabled(Tag, Tracer, Tracee): trace | discard | remove. */
Term bif_erl_tracer_enabled_3(Process *p, Term *args)
{
	(void)p;
	if (!is_alive(args[1]))
		return args[0] == am_trace_status ? am_remove : am_discard;
	return args[1] == args[2] ? am_discard : am_trace;
}
