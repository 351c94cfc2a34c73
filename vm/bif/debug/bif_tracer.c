/* SPDX-License-Identifier: Apache-2.0 */
/* The natives of erl_tracer, the tracer that sends messages to a process. Source: OTP 25's erl_tracer(3).
 * trace/5 is for who calls it: the machine does not, it builds the messages itself (trace/tracer.h). */
#include "bif/bif.h"
#include "data/map.h"
#include "trace/tracer.h"

/* enabled(Tag, Tracer, Tracee): trace | discard | remove. */
Term bif_erl_tracer_enabled_3(Process *p, Term *args)
{
	(void)p;
	if (!tracer_is_alive(args[1], args[2]))
		return args[0] == am_trace_status ? am_remove : am_discard;
	return args[1] == args[2] ? am_discard : am_trace;
}

static uint32_t time_flags(Term options)
{
	Term time = term_is_map(options) ? map_get(options, am_timestamp) : TERM_NONE;

	return time == am_monotonic ? TRACE_MONOTONIC : time == am_strict_monotonic ? TRACE_STRICT_MONOTONIC :
	       time == am_timestamp || time == am_cpu_timestamp ? TRACE_TIMESTAMP : 0;
}

/* trace(Tag, Tracer, Tracee, Term, Options): ok. The tracer gets the message of such an event. */
Term bif_erl_tracer_trace_5(Process *p, Term *args)
{
	static const Term names[] = { am_extra, am_match_spec_result, am_scheduler_id };
	Term options = args[4], value, parts[TRACER_PARTS_MAX];
	bool is_seq = args[0] == am_seq_trace && (!term_is_map(options) || map_get(options, am_extra) == TERM_NONE);
	unsigned n = 0;

	if (!term_is_local_pid(args[1]) && !term_is_local_port(args[1]))
		return am_ok;
	if (!is_seq)
		parts[n++] = args[0];
	parts[n++] = args[3];
	for (unsigned k = 0; term_is_map(options) && k < sizeof(names) / sizeof(names[0]); k++)
		if ((value = map_get(options, names[k])) != TERM_NONE)
			parts[n++] = value;
	tracer_tell(args[1], p->id, time_flags(options), is_seq ? am_seq_trace : am_trace, args[2], n, parts);
	return am_ok;
}
