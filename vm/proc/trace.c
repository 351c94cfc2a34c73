/* SPDX-License-Identifier: Apache-2.0 */
/* Who traces a process. */
#include "proc/trace.h"

#include "base/alloc.h"
#include "proc/sched.h"

struct trace_hooks trace_hooks;
_Atomic bool trace_active;
static _Atomic size_t traced; /* processes with flags */

size_t trace_count(void)
{
	return atomic_load(&traced);
}

static void set_flags(Process *p, uint32_t flags)
{
	if (p->trace_flags == 0 && flags != 0) {
		atomic_fetch_add(&traced, 1);
		if (unlikely(!trace_active))
			sched_trace(true);
	}
	if (p->trace_flags != 0 && flags == 0)
		atomic_fetch_sub(&traced, 1);
	p->trace_flags = flags;
}

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
	set_flags(p, flags);
	if (flags != 0)
		trace_tracee(p)->tracer = tracer;
	else if (p->tracee != NULL)
		p->tracee->tracer = NIL;
}

void trace_free(Process *p)
{
	mem_free(p->tracee);
	p->tracee = NULL;
	set_flags(p, 0);
}
