/* SPDX-License-Identifier: Apache-2.0 */
/* What a native function can leave behind instead of a result. */
#include "proc/exc.h"

#include <string.h>

#include "base/alloc.h"
#include "proc/sched.h"

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

/* ---- natives that a worker runs */

struct apart_steps {
	struct exc_steps steps;
	Term (*work)(Process *p, Term *args);
	Term result, reason, trace;
	uint8_t kind;
};

static bool run_state_apart(Process *p)
{
	struct exc_steps *s = p->resume_arg;

	s->apart(p, s);
	process_unblock(p);
	return true;
}

Term exc_run_steps_apart(Process *p, struct exc_steps *s, const Term *args, unsigned arity)
{
	s->arity = arity;
	memcpy(s->args, args, arity * sizeof(Term));
	p->apart = run_state_apart;
	return exc_wait(p, resume_steps, drop_steps, s);
}

static void work_apart(Process *p, struct exc_steps *steps)
{
	struct apart_steps *s = (struct apart_steps *)steps;
	Term args[4];

	memcpy(args, steps->args, sizeof(args));
	s->result = s->work(p, args);
	s->kind = p->exc_kind;
	s->reason = p->exc_reason;
	s->trace = p->exc_trace;
	ENSURE(s->result != TERM_NONE || s->kind < EXC_TRAP);
}

/* What came in meanwhile may have used the fields of the exception. */
static Term give_apart(Process *p, struct exc_steps *steps)
{
	const struct apart_steps *s = (const struct apart_steps *)steps;

	if (s->result == TERM_NONE) {
		set_exception(p, (enum exc_kind)s->kind, s->reason);
		p->exc_trace = s->trace;
	}
	return s->result;
}

Term exc_run_apart(Process *p, Term (*work)(Process *p, Term *args), const Term *args, unsigned arity)
{
	struct apart_steps *s = mem_alloc(sizeof(*s));

	*s = (struct apart_steps){ .steps = { .step = give_apart, .apart = work_apart }, .work = work };
	return exc_run_steps_apart(p, &s->steps, args, arity);
}

bool exc_in_steps(const Process *p)
{
	return p->resume == resume_steps;
}

bool exc_find_place(const Process *p, struct exc_place *place)
{
	const struct exc_steps *s = exc_in_steps(p) ? p->resume_arg : NULL;

	if (s == NULL || s->place.module == TERM_NONE)
		return false;
	*place = s->place;
	return true;
}

void process_yield_soon(Process *p)
{
	p->reds_left = 0;
	p->reds_kept = 0;
}
