/* SPDX-License-Identifier: Apache-2.0 */
/* Wiring of the tracing room. */
#include "trace/trace.h"

#include "trace/events.h"
#include "trace/tracer_module.h"
#include "trace/point.h"
#include "trace/watch.h"

void trace_init(void)
{
	trace_session_init();
	measure_init();
	trace_flags_init();
	point_init();
	point_call_init();
	tracer_modules_init();
	trace_events_init();
	watch_init();
	trace_ports_init();
	trace_seq_init();
}
