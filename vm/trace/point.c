/* SPDX-License-Identifier: Apache-2.0 */
/* Which functions have trace points: trace_pattern/3. */
#include "trace/point.h"

#include <string.h>

#include "base/alloc.h"
#include "base/lock.h"
#include "code/module.h"
#include "heap/copy.h"
#include "proc/message.h"
#include "proc/progress.h"
#include "proc/sched.h"
#include "trace/events.h"
#include "trace/trace.h"
#include "trace/tracer.h"

/* Written while the world is stopped, or in code that is new. */
static struct {
	_Atomic size_t count;
	size_t at_receives;      /* of them, those at a function that begins with a receive */
	struct lock lock;        /* of changes of patterns for code to come */
} points;

/* The pattern for code to come. It is replaced whole: until its time slice ends a thread may keep the one before, which
 * is freed after a round of slices (proc/progress.h). */
struct on_load {
	struct progress_wait wait; /* first */
	unsigned kinds;
	struct match_program *program, *meta_program; /* counted */
	Term meta_tracer;
};

size_t point_count(void)
{
	return points.count;
}

/* ---- one point */

static void drop_program(struct match_program **program)
{
	if (*program != NULL)
		resource_unref(&(*program)->resource);
	*program = NULL;
}

static void keep_program(struct match_program **at, struct match_program *program)
{
	if (program != NULL)
		resource_ref(&program->resource);
	drop_program(at);
	*at = program;
}

static struct point *find_point(const Inst *info)
{
	return (struct point *)breakpoint_at(info);
}

/* The instructions at which a process waits. */
static bool is_receive(enum opcode op)
{
	return op == OP_loop_rec || op == OP_wait || op == OP_wait_timeout;
}

static struct point *make_point(Inst *info, struct export *e)
{
	struct point *pt = mem_zalloc(sizeof(*pt));

	pt->breakpoint = (struct breakpoint){ .info = info, .export = e };
	points.count++;
	pt->at_receive = is_receive(breakpoint_opcode(info + FUNC_INFO_WORDS));
	points.at_receives += pt->at_receive;
	breakpoint_place(&pt->breakpoint);
	return pt;
}

static void free_point(struct point *pt)
{
	points.count--;
	points.at_receives -= pt->at_receive;
	breakpoint_remove(&pt->breakpoint);
	mem_free(pt);
}

static struct point_part *find_part(const struct point *pt, const struct trace_session *session)
{
	struct point_part *part = pt != NULL ? pt->first : NULL;

	while (part != NULL && part->session != session)
		part = part->next;
	return part;
}

static struct point_part *make_part(struct point *pt, struct trace_session *session)
{
	struct point_part *part = mem_zalloc(sizeof(*part));

	part->session = session;
	trace_session_ref(session);
	session->parts++;
	atomic_store(&part->meta_tracer, NIL);
	part->next = pt->first;
	return pt->first = part;
}

static void free_part(struct point_part *part)
{
	part->session->parts--;
	drop_program(&part->program);
	drop_program(&part->meta_program);
	measures_forget(&part->measures);
	trace_session_unref(part->session);
	mem_free(part);
}

/* Calls of a native from within its own module pass it by while all its parts are of calls from elsewhere. */
static void sum_parts(struct point *pt)
{
	bool is_global = true;

	for (const struct point_part *part = pt->first; part != NULL; part = part->next)
		is_global &= (part->kinds & TRACE_KIND_GLOBAL) != 0;
	pt->breakpoint.is_global = is_global;
}

/* Of that session, NULL: of all. */
static void clear_kinds(const Inst *info, const struct trace_session *session, unsigned kinds)
{
	struct point *pt = find_point(info);

	if (pt == NULL)
		return;
	for (struct point_part *part, **at = &pt->first; (part = *at) != NULL;) {
		if (session == NULL || part->session == session)
			part->kinds &= ~kinds;
		if (!(part->kinds & (TRACE_KIND_GLOBAL | TRACE_KIND_LOCAL)))
			drop_program(&part->program);
		if (!(part->kinds & TRACE_KIND_META))
			drop_program(&part->meta_program);
		if (part->kinds != 0) {
			at = &part->next;
			continue;
		}
		*at = part->next;
		free_part(part);
	}
	if (pt->first == NULL)
		free_point(pt);
	else
		sum_parts(pt);
}

/* ---- setting */

struct pattern {
	struct trace_session *session;
	struct trace_mfa mfa;
	enum trace_how how;
	unsigned kinds;
	struct match_program *program;
	Term meta_tracer;
	size_t matched;
};

static const unsigned measure_kinds[MEASURES] = {
	[MEASURE_TIME] = TRACE_KIND_TIME, [MEASURE_MEMORY] = TRACE_KIND_MEMORY
};

/* Those that the part had already pause or begin again; one that is new counts. */
static void set_counters(struct point_part *part, const struct pattern *q, unsigned had)
{
	unsigned paused = q->how == TRACE_PAUSE ? had : 0;

	if (q->kinds & TRACE_KIND_COUNT) {
		part->count_paused = paused & TRACE_KIND_COUNT;
		if (!part->count_paused)
			atomic_store(&part->count, 0);
	}
	if ((q->kinds & TRACE_KIND_MEASURES) && part->measures.number == 0)
		measures_enter(&part->measures);
	for (unsigned i = 0; i < MEASURES; i++) {
		if (!(q->kinds & measure_kinds[i]))
			continue;
		part->is_paused[i] = paused & measure_kinds[i];
		if (!part->is_paused[i])
			measures_clear(&part->measures, i);
	}
}

static void set_kinds(Inst *info, struct export *e, const struct pattern *q)
{
	struct point *pt = find_point(info);
	struct point_part *part = find_part(pt, q->session);
	unsigned counters = TRACE_KIND_COUNT | TRACE_KIND_MEASURES, had;

	if (q->how == TRACE_OFF) {
		clear_kinds(info, q->session, q->kinds);
		return;
	}
	/* counters alone pause and begin again only where there is a point */
	if (q->how != TRACE_ON && part == NULL && !(q->kinds & ~counters))
		return;
	if (pt == NULL)
		pt = make_point(info, e);
	if (part == NULL)
		part = make_part(pt, q->session);
	had = part->kinds;
	part->kinds |= q->kinds;
	sum_parts(pt);
	if (q->kinds & (TRACE_KIND_GLOBAL | TRACE_KIND_LOCAL))
		keep_program(&part->program, q->program);
	if (q->kinds & TRACE_KIND_META) {
		keep_program(&part->meta_program, q->program);
		atomic_store(&part->meta_tracer, q->meta_tracer);
	}
	set_counters(part, q, had);
}

bool trace_mfa_matches(const struct trace_mfa *mfa, Term module, Term function, unsigned arity)
{
	return (mfa->module == TERM_NONE || mfa->module == module) &&
	       (mfa->function == TERM_NONE || mfa->function == function) &&
	       (mfa->arity < 0 || mfa->arity == (int64_t)arity);
}

/* Does the module that has that native's place say so? One that is not loaded is believed to. */
static bool is_exported(const struct export *e)
{
	const struct module *m = module_find(e->module);
	const struct code_instance *c = m != NULL ? atomic_load(&m->current) : NULL;
	bool exported = c == NULL;

	for (uint32_t i = 0; !exported && i < c->export_count; i++)
		exported = c->exports[i].function == e->function && c->exports[i].arity == e->arity;
	return exported;
}

/* Calls through an export, and those of a native, have their point in the export's stub. */
static void visit_export(struct export *e, void *arg)
{
	struct pattern *q = arg;
	bool global = q->kinds & TRACE_KIND_GLOBAL;

	if (!trace_mfa_matches(&q->mfa, e->module, e->function, e->arity) || !export_is_loaded(e))
		return;
	if (e->bif != NULL) {
		if (global && !is_exported(e))
			return;
		q->matched++;
		/* a native has one point for all kinds: global and the others replace each other */
		if (q->how != TRACE_OFF)
			clear_kinds(e->func_info, q->session, global ? TRACE_KIND_BREAKPOINTS : TRACE_KIND_GLOBAL);
		set_kinds(e->func_info, e, q);
	} else if (global) {
		q->matched++;
		set_kinds(e->func_info, e, q);
	} else if (q->how != TRACE_OFF) {
		clear_kinds(e->func_info, q->session, TRACE_KIND_GLOBAL);
	}
}

static bool is_native(const Inst *info)
{
	const struct export *e = export_find(func_info_module(info), func_info_function(info), func_info_arity(info));

	return e != NULL && e->bif != NULL;
}

static void visit_code(struct code_instance *c, struct pattern *q)
{
	for (uint32_t i = 0; i < c->function_count; i++) {
		Inst *info = (Inst *)c->functions[i];

		if (!trace_mfa_matches(&q->mfa, func_info_module(info), func_info_function(info),
				       func_info_arity(info)) ||
		    is_native(info))
			continue;
		if (!(q->kinds & TRACE_KIND_GLOBAL)) {
			q->matched++;
			set_kinds(info, NULL, q);
		} else if (q->how != TRACE_OFF) {
			clear_kinds(info, q->session, TRACE_KIND_BREAKPOINTS);
		}
	}
}

static void visit_module(const struct module *m, void *arg)
{
	struct code_instance *c = atomic_load(&m->current);

	if (c != NULL)
		visit_code(c, arg);
}

/* Who waits in a receive at the entry of its function goes on there without a call. */
static void settle_process(Process *p, void *arg)
{
	(void)arg;
	if ((uint16_t)*p->i != OP_breakpoint) {
		p->flags &= ~(uint32_t)PF_IN_RECEIVE;
		return;
	}
	if (!is_receive(breakpoint_opcode(p->i)))
		return;
	if ((atomic_load(&p->state) & PS_WAITING) || p->msg_save != &p->msg_first)
		p->flags |= PF_IN_RECEIVE;
}

static void set_stopped(void *arg)
{
	struct pattern *q = arg;
	bool waits = points.at_receives != 0;

	if (q->how != TRACE_OFF && trace_session_is_over(q->session))
		return;
	export_each(visit_export, q);
	if (q->mfa.module == TERM_NONE) {
		module_each(visit_module, q);
	} else {
		const struct module *m = module_find(q->mfa.module);

		if (m != NULL)
			visit_module(m, q);
	}
	if (waits || points.at_receives != 0)
		trace_each_process(settle_process, NULL);
	trace_review();
}

size_t trace_pattern(struct trace_session *s, const struct trace_mfa *mfa, enum trace_how how, unsigned kinds,
		     struct match_program *program, Term meta_tracer)
{
	struct pattern q = { s, *mfa, how, kinds, program, meta_tracer, 0 };

	sched_stop_world(set_stopped, &q);
	return q.matched;
}

/* Of exports that are loaded no more, too. */
static void clear_export(struct export *e, void *arg)
{
	clear_kinds(e->func_info, arg, ~0u);
}

static void clear_stopped(void *arg)
{
	static const struct trace_mfa all = { TERM_NONE, TERM_NONE, -1 };
	struct pattern q = { arg, all, TRACE_OFF, TRACE_KIND_BREAKPOINTS, NULL, NIL, 0 };

	export_each(clear_export, arg);
	set_stopped(&q);
}

void trace_pattern_clear(struct trace_session *s)
{
	if (s->parts != 0)
		sched_stop_world(clear_stopped, s);
	else
		trace_review();
}

/* ---- code that comes and goes */

static const struct on_load *find_on_load(struct trace_session *s)
{
	static const struct on_load none = { .meta_tracer = NIL };
	const struct on_load *l = atomic_load_explicit(&s->on_load, memory_order_acquire);

	return l != NULL ? l : &none;
}

static unsigned change_on_load_kinds(unsigned had, enum trace_how how, unsigned kinds)
{
	if (how == TRACE_OFF)
		return had & ~kinds;
	return (kinds & TRACE_KIND_GLOBAL) || (had & TRACE_KIND_GLOBAL) ? kinds : had | kinds;
}

/* What comes after `before`. */
static struct on_load *make_on_load(const struct on_load *before, const struct pattern *q)
{
	struct on_load *l = mem_zalloc(sizeof(*l));
	unsigned kinds = q->kinds;

	if (q->how != TRACE_ON && q->how != TRACE_OFF)
		kinds &= ~(unsigned)(TRACE_KIND_COUNT | TRACE_KIND_MEASURES);
	l->kinds = change_on_load_kinds(before->kinds, q->how, kinds);
	l->meta_tracer = before->meta_tracer;
	keep_program(&l->program, before->program);
	keep_program(&l->meta_program, before->meta_program);
	if (kinds & (TRACE_KIND_GLOBAL | TRACE_KIND_LOCAL))
		keep_program(&l->program, q->program);
	if (kinds & TRACE_KIND_META) {
		keep_program(&l->meta_program, q->program);
		l->meta_tracer = q->meta_tracer;
	} else if (kinds & TRACE_KIND_GLOBAL) {
		drop_program(&l->meta_program);
		l->meta_tracer = NIL;
	}
	return l;
}

static void free_on_load(struct progress_wait *w)
{
	struct on_load *l = (struct on_load *)w;

	drop_program(&l->program);
	drop_program(&l->meta_program);
	mem_free(l);
}

void point_forget(struct trace_session *s)
{
	if (s->on_load != NULL)
		free_on_load(&s->on_load->wait);
}

void trace_pattern_on_load(struct trace_session *s, enum trace_how how, unsigned kinds, struct match_program *program,
			   Term meta_tracer)
{
	struct pattern q = { .how = how, .kinds = kinds, .program = program, .meta_tracer = meta_tracer };
	struct on_load *old;

	lock_acquire(&points.lock);
	old = atomic_exchange(&s->on_load, make_on_load(find_on_load(s), &q));
	lock_release(&points.lock);
	if (old != NULL)
		progress_wait(&old->wait, free_on_load);
}

static void set_on_load(struct code_instance *c, struct trace_session *s, unsigned kinds, struct match_program *program,
			Term meta_tracer)
{
	struct pattern q = { s, { c->module, TERM_NONE, -1 }, TRACE_ON, kinds, program, meta_tracer, 0 };

	if (kinds & TRACE_KIND_GLOBAL) {
		for (uint32_t i = 0; i < c->export_count; i++)
			visit_export(export_get(c->module, c->exports[i].function, c->exports[i].arity), &q);
	} else if (kinds != 0) {
		visit_code(c, &q);
	}
}

static void code_entered(struct code_instance *c)
{
	bool any = false;

	TRACE_EACH_SESSION(s) {
		const struct on_load *l = find_on_load(s);

		set_on_load(c, s, l->kinds & ~(unsigned)TRACE_KIND_META, l->program, l->meta_tracer);
		set_on_load(c, s, l->kinds & TRACE_KIND_META, l->meta_program, l->meta_tracer);
		any |= l->kinds != 0;
	}
	if (any)
		trace_review();
}

static void code_leaving(struct code_instance *c)
{
	bool waits = points.at_receives != 0;

	if (points.count == 0)
		return;
	for (uint32_t i = 0; i < c->function_count; i++)
		clear_kinds(c->functions[i], NULL, ~0u);
	for (uint32_t i = 0; i < c->export_count; i++) {
		struct export *e = export_get(c->module, c->exports[i].function, c->exports[i].arity);

		if (e->bif == NULL)
			clear_kinds(e->func_info, NULL, ~0u);
	}
	if (waits)
		trace_each_process(settle_process, NULL);
}

/* ---- looks */

struct look {
	struct trace_session *session; /* NULL: all, in sessions */
	const struct trace_mfa *mfa;
	struct heap *h;
	struct trace_point_info *info;
	Term sessions;
};

static void add_info(struct point_part *pt, struct look *l)
{
	struct trace_point_info *info = l->info;

	info->kinds |= pt->kinds;
	if (pt->kinds & (TRACE_KIND_GLOBAL | TRACE_KIND_LOCAL))
		info->program = pt->program;
	if (pt->kinds & TRACE_KIND_META) {
		info->meta_program = pt->meta_program;
		info->meta_tracer = atomic_load(&pt->meta_tracer);
	}
	if (pt->kinds & TRACE_KIND_COUNT)
		info->count = atomic_load(&pt->count);
	for (unsigned i = 0; i < MEASURES; i++)
		if (pt->kinds & measure_kinds[i])
			info->measured[i] = measures_list(&pt->measures, i, l->h);
}

static void look_at(const Inst *info, struct look *l)
{
	const struct point *pt = find_point(info);

	for (struct point_part *part = pt != NULL ? pt->first : NULL; part != NULL; part = part->next) {
		if (part->session == l->session)
			add_info(part, l);
		else if (l->session == NULL && !trace_session_is_over(part->session))
			l->sessions = heap_cons(l->h, trace_session_put(l->h, part->session), l->sessions);
	}
}

static const Inst *find_code(const struct trace_mfa *mfa)
{
	const struct module *m = module_find(mfa->module);
	const struct code_instance *c = m != NULL ? atomic_load(&m->current) : NULL;

	for (uint32_t i = 0; c != NULL && i < c->function_count; i++)
		if (trace_mfa_matches(mfa, func_info_module(c->functions[i]), func_info_function(c->functions[i]),
				      func_info_arity(c->functions[i])))
			return c->functions[i];
	return NULL;
}

/* Points come and go while the world is stopped, and whoever looks is in it. */
static void look(struct look *l)
{
	const struct export *e = export_find(l->mfa->module, l->mfa->function, (uint32_t)l->mfa->arity);
	const Inst *info = find_code(l->mfa);

	l->info->exists = info != NULL || (e != NULL && export_is_loaded(e));
	if (e != NULL)
		look_at(e->func_info, l);
	if (info != NULL)
		look_at(info, l);
}

void trace_look_function(struct trace_session *s, const struct trace_mfa *mfa, struct heap *h,
			 struct trace_point_info *info)
{
	struct look l = { s, mfa, h, info, NIL };

	*info = (struct trace_point_info){ .meta_tracer = NIL, .measured = { NIL, NIL } };
	look(&l);
}

Term trace_sessions_of_function(const struct trace_mfa *mfa, struct heap *h)
{
	struct trace_point_info info;
	struct look l = { NULL, mfa, h, &info, NIL };

	look(&l);
	return info.exists ? l.sessions : (Term)am_undefined;
}

void trace_look_on_load(struct trace_session *s, struct trace_point_info *info)
{
	const struct on_load *l = find_on_load(s);

	*info = (struct trace_point_info){ .exists = true, .kinds = l->kinds, .program = l->program,
					   .meta_program = l->meta_program, .meta_tracer = l->meta_tracer };
}

Term trace_spec(const struct match_program *m, struct heap *h)
{
	Term list = NIL;

	for (uint32_t i = m->clause_count; i-- > 0;) {
		const struct match_clause *c = &m->clauses[i];

		list = heap_cons(
			h,
			heap_tuple(h, copy_to_heap(c->head, h), copy_to_heap(c->guards, h), copy_to_heap(c->body, h)),
			list);
	}
	return list;
}

void point_init(void)
{
	lock_init(&points.lock, LOCK_trace_patterns);
	breakpoint_hooks.entered = code_entered;
	breakpoint_hooks.leaving = code_leaving;
}
