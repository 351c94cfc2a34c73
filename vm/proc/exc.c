/* SPDX-License-Identifier: Apache-2.0 */
/* What a native function can leave behind instead of a result. */
#include "proc/exc.h"

#include <string.h>

#include "proc/sched.h"

Term (*exc_stacktrace)(Process *p, Term raw);
atomic_uint exc_depth = EXC_DEPTH_DEFAULT;

static Term set_exception(Process *p, enum exc_kind kind, Term reason)
{
	p->exc_kind = (uint8_t)kind;
	p->exc_reason = reason;
	p->exc_trace = NIL;
	p->exc_has_trace = false;
	return TERM_NONE;
}

Term exc_error(Process *p, Term reason)
{
	return set_exception(p, EXC_ERROR, reason);
}

Term exc_badarg_cause(Process *p, Term cause)
{
	set_exception(p, EXC_ERROR, am_badarg);
	p->exc_trace = cause;
	return TERM_NONE;
}

Term exc_throw(Process *p, Term value)
{
	return set_exception(p, EXC_THROW, value);
}

Term exc_exit(Process *p, Term reason)
{
	return set_exception(p, EXC_EXIT, reason);
}

Term exc_raise(Process *p, Term class, Term reason, Term trace)
{
	enum exc_kind kind = class == am_exit ? EXC_EXIT : class == am_throw ? EXC_THROW : EXC_ERROR;

	set_exception(p, kind, reason);
	p->exc_trace = trace;
	p->exc_has_trace = true;
	return TERM_NONE;
}

Term exc_trap(Process *p, const struct export *to, unsigned n, const Term *args)
{
	if (n > 0)
		memmove(sched_self()->x, args, n * sizeof(Term));
	p->trap_export = to;
	p->exc_kind = EXC_TRAP;
	return TERM_NONE;
}

Term exc_wait(Process *p, Term (*resume)(Process *p, void *arg), void (*drop)(Process *p, void *arg), void *arg)
{
	p->resume = resume;
	p->drop = drop;
	p->resume_arg = arg;
	p->exc_kind = EXC_WAIT;
	return TERM_NONE;
}

static Term give_result(Process *p, void *arg)
{
	(void)p;
	return (Term)(uintptr_t)arg;
}

static void drop_result(Process *p, void *arg)
{
	(void)p;
	(void)arg;
}

Term exc_return_later(Process *p, Term immediate)
{
	Term none = exc_wait(p, give_result, drop_result, (void *)(uintptr_t)immediate);

	process_unblock(p);
	return none;
}

bool exc_returns_later(const Process *p)
{
	return p->resume == give_result;
}

void process_yield_soon(Process *p)
{
	p->reds_left = 0;
	p->reds_kept = 0;
}
