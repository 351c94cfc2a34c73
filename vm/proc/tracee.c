/* SPDX-License-Identifier: Apache-2.0 */
/* Who traces a process. */
#include "proc/tracee.h"

#include "base/alloc.h"
#include "proc/sched.h"

struct trace_hooks trace_hooks;
void (*trace_drop)(struct traced *t);
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
	if (p->tracee == NULL)
		p->tracee = mem_zalloc(sizeof(*p->tracee));
	return p->tracee;
}

void trace_sum(Process *p)
{
	uint32_t flags = 0;

	for (const struct traced *t = p->tracee != NULL ? p->tracee->first : NULL; t != NULL; t = t->next)
		flags |= t->flags;
	set_flags(p, flags);
}

void trace_free(Process *p)
{
	struct traced *t = p->tracee->first, *next;

	for (; t != NULL; t = next) {
		next = t->next;
		trace_drop(t);
	}
	mem_free(p->tracee);
	p->tracee = NULL;
	set_flags(p, 0);
}
