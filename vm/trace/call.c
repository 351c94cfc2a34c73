/* SPDX-License-Identifier: Apache-2.0 */
/* What happens at trace points: calls, returns, exceptions. */
#include "code/module.h"
#include "trace/action.h"
#include "trace/events.h"
#include "trace/point.h"
#include "trace/trace.h"
#include "trace/tracer.h"
#include "trace/tracer_module.h"

enum frame_kind { FRAME_RETURN, FRAME_EXCEPTION /* return as well */, FRAME_TO, FRAME_TIME };

enum { ARGUMENTS_MAX = 255, META_FLAGS = TRACE_CALL | TRACE_TIMESTAMP };

static struct breakpoint_frame make_frame(const struct point *pt, enum frame_kind kind, Term tracer)
{
	const Inst *info = pt->breakpoint.info;

	return (struct breakpoint_frame){ SMALL(kind), func_info_module(info), func_info_function(info), SMALL(func_info_arity(info)), tracer };
}

/* ---- calls */

struct call {
	Process *p;
	const struct point *point;
	unsigned arity;
	Term arguments;      /* list, in cells */
	Term cells[2 * ARGUMENTS_MAX];
};

static void begin_call(struct call *c, Process *p, const struct point *pt, const Term *args)
{
	c->p = p;
	c->point = pt;
	c->arity = func_info_arity(pt->breakpoint.info);
	c->arguments = NIL;
	for (unsigned i = c->arity; i-- > 0;) {
		c->cells[2 * i] = args[i];
		c->cells[2 * i + 1] = c->arguments;
		c->arguments = term_from_cons(c->cells + 2 * i);
	}
}

/* {trace, Pid, call, {M, F, Args | Arity} [, Message]} */
static void tell_call(const struct call *c, Term tracer, uint32_t flags, Term message)
{
	const Inst *info = c->point->breakpoint.info;
	Term words[4], third = flags & TRACE_ARITY ? SMALL(c->arity) : c->arguments;
	Term parts[3] = { am_call, tracer_put_mfa(words, func_info_module(info), func_info_function(info), third), message };

	tracer_tell(tracer, c->p->id, flags, am_trace, c->p->id, message == am_true ? 2 : 3, parts);
}

static struct trace_outcome run_program(const struct call *c, struct match_program *program)
{
	if (program == NULL)
		return (struct trace_outcome){ .message = am_true };
	return trace_run(c->p, program, c->arguments);
}

static unsigned add_return_frame(const struct call *c, const struct trace_outcome *o, Term tracer, struct breakpoint_frame *frame)
{
	if (!o->is_return_traced && !o->is_exception_traced)
		return 0;
	*frame = make_frame(c->point, o->is_exception_traced ? FRAME_EXCEPTION : FRAME_RETURN, tracer);
	return 1;
}

/* Will the function above tell of a return to where this one returns? Then once is enough. */
static bool tells_return_to(const Process *p)
{
	for (const Term *slot = p->heap.stop; *slot == (Term)breakpoint_return; slot += BREAKPOINT_FRAME_WORDS)
		if (((const struct breakpoint_frame *)(slot + 1))->kind == SMALL(FRAME_TO))
			return true;
	return false;
}

/* To p's own tracer. */
static unsigned call_own(const struct call *c, struct breakpoint_frame *frames)
{
	Process *p = c->p;
	Term tracer = tracer_of(p);
	struct trace_outcome o;
	unsigned n = 0;

	if (tracer == NIL || !tracer_wants_call(p, tracer))
		return 0;
	o = run_program(c, c->point->program);
	if (p->trace_flags & TRACE_SILENT)
		return 0;
	if (o.message != am_false) {
		tell_call(c, tracer, p->trace_flags, o.message);
		if ((p->trace_flags & TRACE_RETURN_TO) && (c->point->kinds & TRACE_KIND_LOCAL) && !tells_return_to(p))
			frames[n++] = make_frame(c->point, FRAME_TO, NIL);
	}
	return n + add_return_frame(c, &o, am_true, frames + n);
}

static unsigned call_meta(const struct call *c, struct point *pt, struct breakpoint_frame *frames)
{
	Term tracer = atomic_load(&pt->meta_tracer);
	struct trace_outcome o;

	if (tracer == NIL || (c->p->flags & PF_SENSITIVE))
		return 0;
	if (!tracer_is_alive(tracer, c->p->id)) {
		atomic_store(&pt->meta_tracer, NIL);
		return 0;
	}
	if (tracer == c->p->id || !tracer_wants_call(c->p, tracer))
		return 0;
	o = run_program(c, pt->meta_program);
	if (o.message != am_false)
		tell_call(c, tracer, META_FLAGS, o.message);
	return add_return_frame(c, &o, tracer, frames);
}

static unsigned call_timed(Process *p, const struct point *pt, struct breakpoint_frame *frame)
{
	uint32_t before = point_switch_time(p, pt->number, true);

	/* a tail call of one that is timed: its frame will do */
	if (*p->heap.stop == (Term)breakpoint_return && ((const struct breakpoint_frame *)(p->heap.stop + 1))->kind == SMALL(FRAME_TIME))
		return 0;
	*frame = make_frame(pt, FRAME_TIME, SMALL(before));
	return 1;
}

static unsigned tell_called(Process *p, struct breakpoint *b, const Term *args, struct breakpoint_frame frames[BREAKPOINT_FRAMES_MAX])
{
	struct point *pt = (struct point *)b;
	unsigned kinds = pt->kinds, n = 0;

	if (trace_wants(p, TRACE_CALL))
		tracer_check(p);
	if (!trace_wants(p, TRACE_CALL) || (tracer_of(p) == NIL && trace_tracer(p) != p->id))
		kinds &= ~(unsigned)(TRACE_KIND_GLOBAL | TRACE_KIND_LOCAL | TRACE_KIND_TIME);
	if ((kinds & TRACE_KIND_COUNT) && !pt->count_paused)
		atomic_fetch_add_explicit(&pt->count, 1, memory_order_relaxed);
	if (kinds & (TRACE_KIND_GLOBAL | TRACE_KIND_LOCAL | TRACE_KIND_META)) {
		struct call c;

		begin_call(&c, p, pt, args);
		if (kinds & (TRACE_KIND_GLOBAL | TRACE_KIND_LOCAL))
			n += call_own(&c, frames);
		if (kinds & TRACE_KIND_META)
			n += call_meta(&c, pt, frames + n);
	}
	if ((kinds & TRACE_KIND_TIME) && !pt->time_paused)
		n += call_timed(p, pt, frames + n);
	return n;
}

/* ---- returns */

/* Whom a frame's function tells, with which flags. NIL: nobody. */
static Term find_listener(Process *p, const struct breakpoint_frame *f, uint32_t *flags)
{
	*flags = META_FLAGS;
	if (f->tracer != am_true)
		return tracer_is_module(f->tracer) || tracer_is_alive(f->tracer, p->id) ? f->tracer : NIL;
	*flags = p->trace_flags;
	return trace_wants(p, TRACE_CALL) ? tracer_of(p) : NIL;
}

static void tell_end(Process *p, const struct breakpoint_frame *f, Term event, Term value)
{
	Term words[4], parts[3] = { event, tracer_put_mfa(words, f->module, f->function, f->arity), value };
	uint32_t flags;
	Term listener = find_listener(p, f, &flags);

	if (listener != NIL)
		tracer_tell(listener, p->id, flags, am_trace, p->id, 3, parts);
}

static void tell_return_to(Process *p, const Inst *to)
{
	const Inst *info = code_find_function(to);
	Term words[4], place = am_undefined;

	if (!trace_wants(p, TRACE_RETURN_TO))
		return;
	if (info != NULL)
		place = tracer_put_mfa(words, func_info_module(info), func_info_function(info), SMALL(func_info_arity(info)));
	TRACER_TELL_EVENT(p, am_return_to, place);
}

static void tell_returned(Process *p, const struct breakpoint_frame *f, Term value, const Inst *to)
{
	switch ((enum frame_kind)small_value(f->kind)) {
	case FRAME_RETURN:
	case FRAME_EXCEPTION:
		tell_end(p, f, am_return_from, value);
		break;
	case FRAME_TO:
		tell_return_to(p, to);
		break;
	case FRAME_TIME:
		point_switch_time(p, (uint32_t)small_value(f->tracer), false);
		break;
	}
}

static bool tell_raised(Process *p, const struct breakpoint_frame *f, Term class, Term value)
{
	Term words[3] = { HEADER(2, SUB_TUPLE), class, value };

	if (f->kind == SMALL(FRAME_EXCEPTION))
		tell_end(p, f, am_exception_from, term_from_boxed(words));
	else if (f->kind == SMALL(FRAME_TIME))
		point_switch_time(p, (uint32_t)small_value(f->tracer), false);
	return f->kind == SMALL(FRAME_TO);
}

static void tell_caught(Process *p, const Inst *at)
{
	tell_return_to(p, at + 1);
}

void point_call_init(void)
{
	breakpoint_hooks.called = tell_called;
	breakpoint_hooks.returned = tell_returned;
	breakpoint_hooks.raised = tell_raised;
	breakpoint_hooks.caught = tell_caught;
}
