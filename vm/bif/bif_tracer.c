/* SPDX-License-Identifier: Apache-2.0 */
/* The natives of erl_tracer, the tracer that sends messages to a process. Source: OTP 25's erl_tracer(3).
 * trace/5 is not here: the machine builds the messages itself (trace/tracer.h). */
#include "bif/bif.h"
#include "trace/tracer.h"

/* enabled(Tag, Tracer, Tracee): trace | discard | remove. */
Term bif_erl_tracer_enabled_3(Process *p, Term *args)
{
	(void)p;
	if (!tracer_is_alive(args[1], args[2]))
		return args[0] == am_trace_status ? am_remove : am_discard;
	return args[1] == args[2] ? am_discard : am_trace;
}
