/* SPDX-License-Identifier: Apache-2.0 */
/* Who traces a process. */
#include "proc/trace.h"

#include "base/alloc.h"

struct trace_hooks trace_hooks;
_Atomic bool trace_active;

struct tracee *trace_tracee(Process *p)
{
	if (p->tracee == NULL) {
		p->tracee = mem_zalloc(sizeof(*p->tracee));
		p->tracee->tracer = NIL;
	}
	return p->tracee;
}

void trace_set(Process *p, uint32_t flags, Term tracer)
{
	if (tracer == NIL)
		flags = 0;
	p->trace_flags = flags;
	if (flags != 0)
		trace_tracee(p)->tracer = tracer;
	else if (p->tracee != NULL)
		p->tracee->tracer = NIL;
}

void trace_free(Process *p)
{
	mem_free(p->tracee);
	p->tracee = NULL;
	p->trace_flags = 0;
}
