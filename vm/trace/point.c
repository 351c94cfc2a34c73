/* SPDX-License-Identifier: Apache-2.0 */
/* Which functions have trace points: trace_pattern/3. */
#include "trace/point.h"

#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/hash.h"
#include "code/module.h"
#include "heap/copy.h"
#include "proc/message.h"
#include "proc/progress.h"
#include "proc/sched.h"
#include "trace/events.h"
#include "trace/trace.h"
#include "trace/tracer.h"

enum { TIMES_FIRST = 16 };

/* Written while the world is stopped, or in code that is new, but for what has a lock: numbers, times, and the pattern
 * for code to come. */
static struct {
	_Atomic size_t count;
	size_t at_receives;      /* of them, those at a function that begins with a receive */
	struct point **numbered; /* by number, NULL where there is none any more */
	uint32_t numbers, room;
	struct lock lock;
	_Atomic(struct on_load *) on_load; /* NULL: no pattern; written under the lock */
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
	atomic_store(&pt->meta_tracer, NIL);
	points.count++;
	pt->at_receive = is_receive(breakpoint_opcode(info + FUNC_INFO_WORDS));
	points.at_receives += pt->at_receive;
	breakpoint_place(&pt->breakpoint);
	return pt;
}

/* What a process remembers of the function whose time runs. */
static void give_number(struct point *pt)
{
	lock_acquire(&points.lock);
	if (points.numbers + 1 >= points.room) {
		points.room = points.room == 0 ? 64 : 2 * points.room;
		points.numbered = mem_realloc(points.numbered, points.room * sizeof(*points.numbered));
	}
	pt->number = ++points.numbers;
	points.numbered[pt->number] = pt;
	lock_release(&points.lock);
}

static void free_point(struct point *pt)
{
	points.count--;
	points.at_receives -= pt->at_receive;
	if (pt->number != 0)
		points.numbered[pt->number] = NULL;
	breakpoint_remove(&pt->breakpoint);
	drop_program(&pt->program);
	drop_program(&pt->meta_program);
	mem_free(pt->times);
	mem_free(pt);
}

static void clear_times(struct point *pt)
{
	mem_free(pt->times);
	pt->times = NULL;
	pt->times_used = pt->times_room = 0;
}

static void clear_kinds(const Inst *info, unsigned kinds)
{
	struct point *pt = find_point(info);

	if (pt == NULL)
		return;
	pt->kinds &= ~kinds;
	if (!(pt->kinds & (TRACE_KIND_GLOBAL | TRACE_KIND_LOCAL)))
		drop_program(&pt->program);
	if (!(pt->kinds & TRACE_KIND_META))
		drop_program(&pt->meta_program);
	if (pt->kinds == 0)
		free_point(pt);
}

/* ---- setting */

struct pattern {
	struct trace_mfa mfa;
	enum trace_how how;
	unsigned kinds;
	struct match_program *program;
	Term meta_tracer;
	size_t matched;
};

/* Those that pt had already pause or begin again; one that is new counts. */
static void set_counters(struct point *pt, const struct pattern *q, unsigned had)
{
	unsigned paused = q->how == TRACE_PAUSE ? had : 0;

	if (q->kinds & TRACE_KIND_COUNT) {
		pt->count_paused = paused & TRACE_KIND_COUNT;
		if (!pt->count_paused)
			atomic_store(&pt->count, 0);
	}
	if (q->kinds & TRACE_KIND_TIME) {
		pt->time_paused = paused & TRACE_KIND_TIME;
		if (!pt->time_paused)
			clear_times(pt);
	}
}

static void set_kinds(Inst *info, struct export *e, const struct pattern *q)
{
	struct point *pt = find_point(info);
	unsigned counters = TRACE_KIND_COUNT | TRACE_KIND_TIME, had;

	if (q->how == TRACE_OFF) {
		clear_kinds(info, q->kinds);
		return;
	}
	/* counters alone pause and begin again only where there is a point */
	if (q->how != TRACE_ON && pt == NULL && !(q->kinds & ~counters))
		return;
	if (pt == NULL)
		pt = make_point(info, e);
	had = pt->kinds;
	pt->breakpoint.is_global = q->kinds & TRACE_KIND_GLOBAL;
	pt->kinds |= q->kinds;
	if ((q->kinds & TRACE_KIND_TIME) && pt->number == 0)
		give_number(pt);
	if (q->kinds & (TRACE_KIND_GLOBAL | TRACE_KIND_LOCAL))
		keep_program(&pt->program, q->program);
	if (q->kinds & TRACE_KIND_META) {
		keep_program(&pt->meta_program, q->program);
		atomic_store(&pt->meta_tracer, q->meta_tracer);
	}
	set_counters(pt, q, had);
}

bool trace_mfa_matches(const struct trace_mfa *mfa, Term module, Term function, unsigned arity)
{
	return (mfa->module == TERM_NONE || mfa->module == module) && (mfa->function == TERM_NONE || mfa->function == function) &&
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
			clear_kinds(e->func_info, global ? TRACE_KIND_BREAKPOINTS : TRACE_KIND_GLOBAL);
		set_kinds(e->func_info, e, q);
	} else if (global) {
		q->matched++;
		set_kinds(e->func_info, e, q);
	} else if (q->how != TRACE_OFF) {
		clear_kinds(e->func_info, TRACE_KIND_GLOBAL);
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

		if (!trace_mfa_matches(&q->mfa, func_info_module(info), func_info_function(info), func_info_arity(info)) || is_native(info))
			continue;
		if (!(q->kinds & TRACE_KIND_GLOBAL)) {
			q->matched++;
			set_kinds(info, NULL, q);
		} else if (q->how != TRACE_OFF) {
			clear_kinds(info, TRACE_KIND_BREAKPOINTS);
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

size_t trace_pattern(const struct trace_mfa *mfa, enum trace_how how, unsigned kinds, struct match_program *program, Term meta_tracer)
{
	struct pattern q = { *mfa, how, kinds, program, meta_tracer, 0 };

	sched_stop_world(set_stopped, &q);
	return q.matched;
}

/* ---- code that comes and goes */

static const struct on_load *find_on_load(void)
{
	static const struct on_load none = { .meta_tracer = NIL };
	const struct on_load *l = atomic_load_explicit(&points.on_load, memory_order_acquire);

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
		kinds &= ~(unsigned)(TRACE_KIND_COUNT | TRACE_KIND_TIME);
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

void trace_pattern_on_load(enum trace_how how, unsigned kinds, struct match_program *program, Term meta_tracer)
{
	struct pattern q = { .how = how, .kinds = kinds, .program = program, .meta_tracer = meta_tracer };
	struct on_load *old;

	lock_acquire(&points.lock);
	old = atomic_exchange(&points.on_load, make_on_load(find_on_load(), &q));
	lock_release(&points.lock);
	if (old != NULL)
		progress_wait(&old->wait, free_on_load);
}

static void set_on_load(struct code_instance *c, unsigned kinds, struct match_program *program, Term meta_tracer)
{
	struct pattern q = { { c->module, TERM_NONE, -1 }, TRACE_ON, kinds, program, meta_tracer, 0 };

	if (kinds & TRACE_KIND_GLOBAL) {
		for (uint32_t i = 0; i < c->export_count; i++)
			visit_export(export_get(c->module, c->exports[i].function, c->exports[i].arity), &q);
	} else if (kinds != 0) {
		visit_code(c, &q);
	}
}

static void code_entered(struct code_instance *c)
{
	const struct on_load *l = find_on_load();

	if (l->kinds == 0)
		return;
	set_on_load(c, l->kinds & ~(unsigned)TRACE_KIND_META, l->program, l->meta_tracer);
	set_on_load(c, l->kinds & TRACE_KIND_META, l->meta_program, l->meta_tracer);
	trace_review();
}

static void code_leaving(struct code_instance *c)
{
	bool waits = points.at_receives != 0;

	if (points.count == 0)
		return;
	for (uint32_t i = 0; i < c->function_count; i++)
		clear_kinds(c->functions[i], ~0u);
	for (uint32_t i = 0; i < c->export_count; i++) {
		struct export *e = export_get(c->module, c->exports[i].function, c->exports[i].arity);

		if (e->bif == NULL)
			clear_kinds(e->func_info, ~0u);
	}
	if (waits)
		trace_each_process(settle_process, NULL);
}

/* ---- call_time */

/* The entry of pid, made when it is missing. Lock held. */
static struct point_time *find_time(struct point *pt, Term pid)
{
	uint32_t i;

	if (2 * pt->times_used >= pt->times_room) {
		struct point_time *old = pt->times;
		uint32_t old_room = pt->times_room;

		pt->times_room = old_room == 0 ? TIMES_FIRST : 2 * old_room;
		pt->times = mem_zalloc(pt->times_room * sizeof(*pt->times));
		pt->times_used = 0;
		for (uint32_t k = 0; k < old_room; k++)
			if (old[k].pid != TERM_NONE)
				*find_time(pt, old[k].pid) = old[k];
		mem_free(old);
	}
	for (i = (uint32_t)hash_word(pid) % pt->times_room; pt->times[i].pid != TERM_NONE && pt->times[i].pid != pid;)
		i = (i + 1) % pt->times_room;
	if (pt->times[i].pid == TERM_NONE) {
		pt->times[i].pid = pid;
		pt->times_used++;
	}
	return &pt->times[i];
}

uint32_t point_switch_time(Process *p, uint32_t number, bool called)
{
	struct tracee *t = trace_tracee(p);
	uint32_t before = t->timed;
	int64_t now = clock_monotonic_ns();
	struct point *pt;

	lock_acquire(&points.lock);
	pt = before != 0 ? points.numbered[before] : NULL;
	if (pt != NULL) /* what was called before a pause counts to its end, as in OTP */
		find_time(pt, p->id)->ns += now - t->timed_ns;
	pt = number != 0 ? points.numbered[number] : NULL;
	if (pt != NULL && called)
		find_time(pt, p->id)->count++;
	lock_release(&points.lock);
	t->timed = number;
	t->timed_ns = now;
	return before;
}

static Term list_times(struct point *pt, struct heap *h)
{
	Term list = NIL;

	for (uint32_t i = 0; i < pt->times_room; i++) {
		const struct point_time *t = &pt->times[i];

		if (t->pid != TERM_NONE)
			list = heap_cons(h, heap_tuple(h, t->pid, heap_uint(h, t->count), heap_int(h, t->ns / 1000000000),
						       heap_int(h, t->ns / 1000 % 1000000)), list);
	}
	return list;
}

/* ---- looks */

struct look {
	const struct trace_mfa *mfa;
	struct heap *h;
	struct trace_point_info *info;
};

static void add_info(struct point *pt, struct look *l)
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
	if (!(pt->kinds & TRACE_KIND_TIME))
		return;
	lock_acquire(&points.lock);
	info->times = list_times(pt, l->h);
	lock_release(&points.lock);
}

static const Inst *find_code(const struct trace_mfa *mfa)
{
	const struct module *m = module_find(mfa->module);
	const struct code_instance *c = m != NULL ? atomic_load(&m->current) : NULL;

	for (uint32_t i = 0; c != NULL && i < c->function_count; i++)
		if (trace_mfa_matches(mfa, func_info_module(c->functions[i]), func_info_function(c->functions[i]), func_info_arity(c->functions[i])))
			return c->functions[i];
	return NULL;
}

/* Points come and go while the world is stopped, and whoever looks is in it. */
static void look(struct look *l)
{
	const struct export *e = export_find(l->mfa->module, l->mfa->function, (uint32_t)l->mfa->arity);
	const Inst *info = find_code(l->mfa);

	l->info->exists = info != NULL || (e != NULL && export_is_loaded(e));
	if (e != NULL && find_point(e->func_info) != NULL)
		add_info(find_point(e->func_info), l);
	if (info != NULL && find_point(info) != NULL)
		add_info(find_point(info), l);
}

void trace_look_function(const struct trace_mfa *mfa, struct heap *h, struct trace_point_info *info)
{
	struct look l = { mfa, h, info };

	*info = (struct trace_point_info){ .meta_tracer = NIL, .times = NIL };
	look(&l);
}

void trace_look_on_load(struct trace_point_info *info)
{
	const struct on_load *l = find_on_load();

	*info = (struct trace_point_info){ .exists = true, .kinds = l->kinds, .program = l->program,
					   .meta_program = l->meta_program, .meta_tracer = l->meta_tracer };
}

Term trace_spec(const struct match_program *m, struct heap *h)
{
	Term list = NIL;

	for (uint32_t i = m->clause_count; i-- > 0;) {
		const struct match_clause *c = &m->clauses[i];

		list = heap_cons(h, heap_tuple(h, copy_to_heap(c->head, h), copy_to_heap(c->guards, h), copy_to_heap(c->body, h)), list);
	}
	return list;
}

void point_init(void)
{
	lock_init(&points.lock, LOCK_trace);
	breakpoint_hooks.entered = code_entered;
	breakpoint_hooks.leaving = code_leaving;
}
