/* SPDX-License-Identifier: Apache-2.0 */
/* What happens at trace points: calls, returns, exceptions. */
#include <string.h>

#include "base/alloc.h"
#include "code/module.h"
#include "trace/action.h"
#include "trace/events.h"
#include "trace/point.h"
#include "trace/trace.h"
#include "trace/tracer.h"
#include "trace/tracer_module.h"

/* The frame's kind is one of these and, above FRAME_BITS bits, the number of the session that it is of. */
enum frame_kind {
	FRAME_RETURN,
	FRAME_EXCEPTION /* return as well */,
	FRAME_TO,
	FRAME_MEASURE,
	FRAME_KINDS = FRAME_MEASURE + MEASURES
};
enum { FRAME_BITS = 8 };
_Static_assert((int)FRAME_KINDS < (int)BREAKPOINT_KEPT_FRAME && BREAKPOINT_KEPT_FRAME < 1 << FRAME_BITS,
	       "a frame's kind");

enum { ARGUMENTS_MAX = 255, META_FLAGS = TRACE_CALL | TRACE_TIMESTAMP };

static Term put_kind(const struct trace_session *session, enum frame_kind kind)
{
	return term_from_small(session->number << FRAME_BITS | (int64_t)kind);
}

static enum frame_kind kind_of(const struct breakpoint_frame *f)
{
	return (enum frame_kind)(small_value(f->kind) & ((1 << FRAME_BITS) - 1));
}

static int64_t session_of(const struct breakpoint_frame *f)
{
	return small_value(f->kind) >> FRAME_BITS;
}

/* What the frame's session traces of p; NULL when it is over, or nothing is left. */
static struct traced *traced_of(const Process *p, const struct breakpoint_frame *f)
{
	struct traced *t = traced_first(p);

	while (t != NULL && t->session->number != session_of(f))
		t = t->next;
	return t != NULL && !trace_session_is_over(t->session) ? t : NULL;
}

static void add_frame(struct breakpoint_frames *frames, const struct point *pt, const struct point_part *part,
		      enum frame_kind kind, Term tracer)
{
	const Inst *info = pt->breakpoint.info;

	if (frames->count == frames->room) {
		struct breakpoint_frame *all = mem_alloc(2 * frames->room * sizeof(*all));

		memcpy(all, frames->all, frames->count * sizeof(*all));
		if (frames->all != frames->few)
			mem_free(frames->all);
		frames->all = all;
		frames->room *= 2;
	}
	frames->all[frames->count++] =
		(struct breakpoint_frame){ put_kind(part->session, kind), func_info_module(info),
					   func_info_function(info), SMALL(func_info_arity(info)), tracer };
}

/* ---- calls */

struct call {
	Process *p;
	const struct point *point;
	struct breakpoint_frames *frames;
	unsigned arity;
	Term arguments;      /* list, in cells */
	Term cells[2 * ARGUMENTS_MAX];
};

static void begin_call(struct call *c, Process *p, const struct point *pt, const Term *args,
		       struct breakpoint_frames *frames)
{
	c->p = p;
	c->point = pt;
	c->frames = frames;
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
	Term parts[3] = { am_call, tracer_put_mfa(words, func_info_module(info), func_info_function(info), third),
			  message };

	tracer_tell(tracer, c->p->id, flags, am_trace, c->p->id, message == am_true ? 2 : 3, parts);
}

static struct trace_outcome run_program(const struct call *c, struct trace_session *session,
					struct match_program *program)
{
	if (program == NULL)
		return (struct trace_outcome){ .message = am_true };
	return trace_run(c->p, session, program, c->arguments);
}

static void add_return_frame(const struct call *c, const struct point_part *part, const struct trace_outcome *o,
			     Term tracer)
{
	if (o->is_return_traced || o->is_exception_traced)
		add_frame(c->frames, c->point, part, o->is_exception_traced ? FRAME_EXCEPTION : FRAME_RETURN, tracer);
}

/* Will the function above tell the session of a return to where this one returns? Then once is enough. */
static bool tells_return_to(const Process *p, const struct trace_session *session)
{
	for (const Term *slot = p->heap.stop; *slot == (Term)breakpoint_return; slot += BREAKPOINT_FRAME_WORDS)
		if (((const struct breakpoint_frame *)(slot + 1))->kind == put_kind(session, FRAME_TO))
			return true;
	return false;
}

/* To whom the session has p's events told. */
static void call_own(const struct call *c, const struct point_part *part, struct traced *t)
{
	Process *p = c->p;
	Term tracer = tracer_of(p, t);
	struct trace_outcome o;

	if (tracer == NIL || !tracer_wants_call(p, t, tracer))
		return;
	o = run_program(c, part->session, part->program);
	if (t->flags & TRACE_SILENT)
		return;
	if (o.message != am_false) {
		tell_call(c, tracer, t->flags, o.message);
		if ((t->flags & TRACE_RETURN_TO) && (part->kinds & TRACE_KIND_LOCAL) &&
		    !tells_return_to(p, part->session))
			add_frame(c->frames, c->point, part, FRAME_TO, NIL);
	}
	add_return_frame(c, part, &o, am_true);
}

static void call_meta(const struct call *c, struct point_part *part)
{
	Term tracer = atomic_load(&part->meta_tracer);
	struct trace_outcome o;

	if (tracer == NIL || (c->p->flags & PF_SENSITIVE))
		return;
	if (!tracer_is_alive(tracer, c->p->id)) {
		atomic_store(&part->meta_tracer, NIL);
		return;
	}
	if (tracer == c->p->id || !tracer_wants_call(c->p, trace_find(c->p, part->session), tracer))
		return;
	o = run_program(c, part->session, part->meta_program);
	if (o.message != am_false)
		tell_call(c, tracer, META_FLAGS, o.message);
	add_return_frame(c, part, &o, tracer);
}

/* Of a tail call of one that is measured, too, its frame will do. They are the last that were pushed. */
static bool has_measure_frame(const Process *p, const struct trace_session *session, enum trace_measure which)
{
	for (const Term *slot = p->heap.stop; *slot == (Term)breakpoint_return; slot += BREAKPOINT_FRAME_WORDS) {
		const struct breakpoint_frame *f = (const struct breakpoint_frame *)(slot + 1);

		if (f->kind == put_kind(session, FRAME_MEASURE + which))
			return true;
		if (f->kind == SMALL(BREAKPOINT_KEPT_FRAME) || kind_of(f) < FRAME_MEASURE)
			return false;
	}
	return false;
}

/* Is it the function that p was started with, and the first that is measured there? What p was given counts to that. */
static bool is_initial(const Process *p, const struct point *pt, const struct traced *t)
{
	const Inst *info = pt->breakpoint.info;

	return t->runs[MEASURE_MEMORY].number == 0 && t->runs[MEASURE_MEMORY].since == 0 &&
	       p->initial_module == func_info_module(info) && p->initial_function == func_info_function(info) &&
	       p->initial_arity == func_info_arity(info);
}

static void call_measured(Process *p, const struct point *pt, struct point_part *part, struct traced *t,
			  struct breakpoint_frames *frames)
{
	static const unsigned kinds[MEASURES] = {
		[MEASURE_TIME] = TRACE_KIND_TIME, [MEASURE_MEMORY] = TRACE_KIND_MEMORY
	};

	for (unsigned i = 0; i < MEASURES; i++) {
		uint32_t before;
		bool initial;

		if (!(part->kinds & kinds[i]) || part->is_paused[i])
			continue;
		initial = i == MEASURE_MEMORY && is_initial(p, pt, t);
		before = measure_switch(p, t, i, part->measures.number, true);
		if (initial)
			t->runs[i].since = 0;
		if (!has_measure_frame(p, part->session, i))
			add_frame(frames, pt, part, FRAME_MEASURE + i, SMALL(before));
	}
}

/* What the session of a part traces of p's calls; NULL: nothing. */
static struct traced *traced_call(Process *p, const struct point_part *part)
{
	struct traced *t = p->trace_flags & TRACE_CALL ? trace_find(p, part->session) : NULL;

	if (t == NULL || !traced_wants(p, t, TRACE_CALL) || (tracer_of(p, t) == NIL && t->tracer != p->id))
		return NULL;
	return t;
}

static void call_part(struct call *c, struct point_part *part)
{
	struct traced *t = traced_call(c->p, part);

	if (t != NULL && (part->kinds & (TRACE_KIND_GLOBAL | TRACE_KIND_LOCAL)))
		call_own(c, part, t);
	if (part->kinds & TRACE_KIND_META)
		call_meta(c, part);
}

static void tell_called(Process *p, struct breakpoint *b, const Term *args, struct breakpoint_frames *frames)
{
	struct point *pt = (struct point *)b;
	unsigned kinds = 0;

	if (trace_wants(p, TRACE_CALL))
		tracer_check(p, TRACE_CALL);
	for (struct point_part *part = pt->first; part != NULL; part = part->next) {
		if (trace_session_is_over(part->session))
			continue;
		kinds |= part->kinds;
		if ((part->kinds & TRACE_KIND_COUNT) && !part->count_paused)
			atomic_fetch_add_explicit(&part->count, 1, memory_order_relaxed);
	}
	if ((kinds & TRACE_KIND_META) ||
	    ((kinds & (TRACE_KIND_GLOBAL | TRACE_KIND_LOCAL)) && trace_wants(p, TRACE_CALL))) {
		struct call c;

		begin_call(&c, p, pt, args, frames);
		for (struct point_part *part = pt->first; part != NULL; part = part->next)
			if (!trace_session_is_over(part->session))
				call_part(&c, part);
	}
	if (!(kinds & TRACE_KIND_MEASURES))
		return;
	for (struct point_part *part = pt->first; part != NULL; part = part->next) {
		struct traced *t = part->kinds & TRACE_KIND_MEASURES ? traced_call(p, part) : NULL;

		if (t != NULL)
			call_measured(p, pt, part, t, frames);
	}
}

/* ---- returns */

/* Whom a frame's function tells, with which flags. NIL: nobody. */
static Term find_listener(Process *p, const struct breakpoint_frame *f, uint32_t *flags)
{
	struct traced *t;
	struct trace_session *s;
	bool is_over;

	*flags = META_FLAGS;
	if (f->tracer == am_true) {
		t = traced_of(p, f);
		if (t == NULL || !traced_wants(p, t, TRACE_CALL))
			return NIL;
		*flags = t->flags;
		return tracer_of(p, t);
	}
	if (session_of(f) != 0) {
		s = trace_session_find(session_of(f));
		is_over = s == NULL || trace_session_is_over(s);
		if (s != NULL)
			trace_session_unref(s);
		if (is_over)
			return NIL;
	}
	return tracer_is_module(f->tracer) || tracer_is_alive(f->tracer, p->id) ? f->tracer : NIL;
}

static void tell_end(Process *p, const struct breakpoint_frame *f, Term event, Term value)
{
	Term words[4], parts[3] = { event, tracer_put_mfa(words, f->module, f->function, f->arity), value };
	uint32_t flags;
	Term listener = find_listener(p, f, &flags);

	if (listener != NIL)
		tracer_tell(listener, p->id, flags, am_trace, p->id, 3, parts);
}

static void tell_return_to(Process *p, struct traced *t, const Inst *to)
{
	const Inst *info = code_find_function(to);
	Term words[4], parts[2] = { am_return_to, am_undefined };

	if (info != NULL)
		parts[1] = tracer_put_mfa(words, func_info_module(info), func_info_function(info),
					  SMALL(func_info_arity(info)));
	tracer_tell_event(p, t, 2, parts);
}

static void end_measured(Process *p, const struct breakpoint_frame *f)
{
	struct traced *t = traced_of(p, f);

	if (t != NULL)
		measure_switch(p, t, kind_of(f) - FRAME_MEASURE, (uint32_t)small_value(f->tracer), false);
}

static void tell_returned(Process *p, const struct breakpoint_frame *f, Term value, const Inst *to)
{
	struct traced *t;

	switch (kind_of(f)) {
	case FRAME_RETURN:
	case FRAME_EXCEPTION:
		tell_end(p, f, am_return_from, value);
		break;
	case FRAME_TO:
		t = traced_of(p, f);
		if (t != NULL && traced_wants(p, t, TRACE_RETURN_TO))
			tell_return_to(p, t, to);
		break;
	default:
		end_measured(p, f);
		break;
	}
}

static bool tell_raised(Process *p, const struct breakpoint_frame *f, Term class, Term value)
{
	Term words[3] = { HEADER(2, SUB_TUPLE), class, value };

	if (f->kind == SMALL(BREAKPOINT_KEPT_FRAME))
		return false;
	if (kind_of(f) == FRAME_EXCEPTION)
		tell_end(p, f, am_exception_from, term_from_boxed(words));
	else if (kind_of(f) >= FRAME_MEASURE)
		end_measured(p, f);
	return kind_of(f) == FRAME_TO;
}

/* Each session once. */
static void tell_caught(Process *p, const Term *from, const Term *to, const Inst *at)
{
	for (const Term *slot = from; slot < to; slot++) {
		const struct breakpoint_frame *f = (const struct breakpoint_frame *)(slot + 1);
		struct traced *t = *slot == (Term)breakpoint_return && kind_of(f) == FRAME_TO ? traced_of(p, f) : NULL;

		if (t == NULL || t->is_returning || !traced_wants(p, t, TRACE_RETURN_TO))
			continue;
		t->is_returning = true;
		tell_return_to(p, t, at + 1);
	}
	for (struct traced *t = traced_first(p); t != NULL; t = t->next)
		t->is_returning = false;
}

void point_call_init(void)
{
	breakpoint_hooks.called = tell_called;
	breakpoint_hooks.returned = tell_returned;
	breakpoint_hooks.raised = tell_raised;
	breakpoint_hooks.caught = tell_caught;
}
