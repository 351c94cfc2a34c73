/* SPDX-License-Identifier: Apache-2.0 */
/* What a native function can leave behind instead of a result. */
#include "proc/exc.h"

#include <string.h>

#include "base/alloc.h"
#include "proc/dirty.h"
#include "proc/sched.h"

atomic_uint exc_depth = EXC_DEPTH_DEFAULT;
const struct export *exc_return_trap;

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

Term exc_return_suspended(Process *p, Term result)
{
	if (likely(!(atomic_load_explicit(&p->state, memory_order_relaxed) & PS_SUSPENDED)) || result == TERM_NONE)
		return result;
	return exc_trap(p, exc_return_trap, 2, (Term[]){ result, am_undefined });
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

/* ---- natives that work in steps */

static void free_steps(struct exc_steps *s)
{
	if (s->end != NULL)
		s->end(s);
	mem_free(s);
}

static void drop_steps(Process *p, void *arg)
{
	(void)p;
	free_steps(arg);
}

/* An error finds the native's arguments in the X registers again, and resume_arg says so. */
static Term resume_steps(Process *p, void *arg)
{
	struct exc_steps *s = arg;
	Term *x = sched_self()->x, t = s->step(p, s);

	if (t == EXC_MORE) {
		exc_wait(p, resume_steps, drop_steps, s);
		process_unblock(p); /* nothing to wait for but one's turn */
		return TERM_NONE;
	}
	if (t == TERM_NONE && p->exc_kind < EXC_TRAP) {
		memcpy(x, s->args, s->arity * sizeof(Term));
		p->resume_arg = x;
	}
	free_steps(s);
	return t;
}

Term exc_run_steps(Process *p, struct exc_steps *s, const Term *args, unsigned arity)
{
	s->arity = arity;
	memcpy(s->args, args, arity * sizeof(Term));
	return resume_steps(p, s);
}

Term exc_run_lent(Process *p, Term (*work)(Process *p, Term *args), Term *args)
{
	Term t;

	sched_lend();
	t = work(p, args);
	sched_reclaim();
	return t;
}

static bool is_in_steps(const Process *p)
{
	return p->resume == resume_steps;
}

bool exc_holds_terms(const Process *p)
{
	return is_in_steps(p) || p->dirty != NULL;
}

bool exc_find_place(const Process *p, struct exc_place *place)
{
	const struct exc_place *known = NULL;

	if (is_in_steps(p))
		known = &((const struct exc_steps *)p->resume_arg)->place;
	else if (p->dirty != NULL)
		known = &p->dirty->place;
	if (known == NULL || known->module == TERM_NONE)
		return false;
	*place = *known;
	return true;
}

