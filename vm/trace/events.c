/* SPDX-License-Identifier: Apache-2.0 */
/* What happens to processes: births and ends, links, names, messages, time slices, collections. */
#include "trace/events.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "code/breakpoint.h"
#include "code/module.h"
#include "code/opcodes.h"
#include "heap/copy.h"
#include "proc/await.h"
#include "proc/exc.h"
#include "proc/message.h"
#include "proc/report.h"
#include "proc/sched.h"
#include "term/node.h"
#include "trace/action.h"
#include "trace/measure.h"
#include "trace/trace.h"
#include "trace/tracer.h"
#include "trace/watch.h"

/* trace_pattern(send | 'receive', _). Whoever replaces one frees the old one after a round of slices: until its time
 * slice ends a thread may keep what it found. NULL: on, without a program. */
struct event_pattern {
	struct progress_wait wait; /* first */
	bool is_off;
	struct match_program *program;
};

/* ---- messages */

/* A list of n terms as cells at `at` (2 * n words). */
static Term put_list(Term *at, unsigned n, const Term *terms)
{
	for (unsigned i = 0; i < n; i++) {
		at[2 * i] = terms[i];
		at[2 * i + 1] = i + 1 < n ? term_from_cons(at + 2 * i + 2) : NIL;
	}
	return term_from_cons(at);
}

/* Is the event wanted? *result: what the specification adds, or TERM_NONE. */
static bool run_pattern(Process *p, const struct traced *t, _Atomic(struct event_pattern *) *where, unsigned n,
			const Term *terms, Term *result)
{
	const struct event_pattern *pattern = atomic_load_explicit(where, memory_order_acquire);
	Term cells[2 * 3];
	struct trace_outcome outcome;

	*result = TERM_NONE;
	if (pattern == NULL)
		return true;
	if (pattern->is_off)
		return false;
	outcome = trace_run(p, t->session, pattern->program, put_list(cells, n, terms));
	if (outcome.message == am_false || (t->flags & TRACE_SILENT))
		return false;
	if (outcome.message != am_true)
		*result = outcome.message;
	return true;
}

static void tell_sent_of(Process *p, struct traced *t, Term to, Term message)
{
	Term parts[4], extra;
	unsigned n = 3;

	if (tracer_of(p, t) == NIL || !run_pattern(p, t, &t->session->sends, 2, (Term[]){ to, message }, &extra))
		return;
	parts[0] = term_is_local_pid(to) && !process_is_alive(to) ? am_send_to_non_existing_process : am_send;
	parts[1] = message;
	parts[2] = to;
	if (extra != TERM_NONE)
		parts[n++] = extra;
	tracer_tell_event(p, t, n, parts);
}

static void tell_sent(Process *p, Term to, Term message)
{
	TRACED_EACH(t, traced_first(p), TRACE_SEND)
		tell_sent_of(p, t, to, message);
}

static void tell_received_of(Process *p, struct traced *t, Term from, Term message)
{
	bool is_pid = from != TERM_NONE && term_is_local_pid(from);
	Term sender = is_pid ? node_self().name : term_is_atom(from) ? from : am_system;
	Term parts[3], extra, terms[3] = { sender, is_pid ? from : am_undefined, message };
	unsigned n = 2;

	if (tracer_of(p, t) == NIL || !run_pattern(p, t, &t->session->receives, 3, terms, &extra))
		return;
	parts[0] = am_receive;
	parts[1] = message;
	if (extra != TERM_NONE)
		parts[n++] = extra;
	tracer_tell_event(p, t, n, parts);
}

static void tell_received(Process *p, Term from, Term message)
{
	TRACED_EACH(t, traced_first(p), TRACE_RECEIVE)
		tell_received_of(p, t, from, message);
}

static _Atomic(struct event_pattern *) *find_pattern(struct trace_session *s, Term event)
{
	return event == am_send ? &s->sends : &s->receives;
}

static struct event_pattern *make_pattern(enum trace_how how, struct match_program *program)
{
	struct event_pattern *pattern;

	if (how != TRACE_OFF && program == NULL)
		return NULL;
	pattern = mem_alloc(sizeof(*pattern));
	*pattern = (struct event_pattern){ .is_off = how == TRACE_OFF, .program = program };
	if (program != NULL)
		resource_ref(&program->resource);
	return pattern;
}

static void free_pattern(struct progress_wait *w)
{
	struct event_pattern *pattern = (struct event_pattern *)w;

	if (pattern->program != NULL)
		resource_unref(&pattern->program->resource);
	mem_free(pattern);
}

void trace_pattern_event(struct trace_session *s, Term event, enum trace_how how, struct match_program *program)
{
	struct event_pattern *old = atomic_exchange(find_pattern(s, event), make_pattern(how, program));

	if (event == am_send)
		atomic_store(&s->is_silent_of_sends, how == TRACE_OFF);

	if (old != NULL)
		progress_wait(&old->wait, free_pattern);
}

void trace_events_forget(struct trace_session *s)
{
	if (s->sends != NULL)
		free_pattern(&s->sends->wait);
	if (s->receives != NULL)
		free_pattern(&s->receives->wait);
}

Term trace_look_event(struct trace_session *s, Term event, struct heap *h)
{
	const struct event_pattern *pattern = atomic_load_explicit(find_pattern(s, event), memory_order_acquire);

	if (pattern == NULL)
		return am_true;
	return pattern->is_off ? (Term)am_false : trace_spec(pattern->program, h);
}

/* ---- processes */

static void tell_event(Process *p, Term event, Term data)
{
	TRACER_TELL_ALL(p, TRACE_PROCS, event, data);
}

static void tell_spawned(Process *parent, Process *child, bool linked)
{
	Term words[4];

	trace_flags_born(parent, child, linked);
	if (parent != NULL && trace_wants(parent, TRACE_PROCS)) {
		TRACER_TELL_ALL(parent, TRACE_PROCS, am_spawn, child->id,
				  tracer_put_mfa(words, child->x[0], child->x[1], child->x[2]));
		if (linked)
			tell_event(parent, am_link, child->id);
	}
	if (trace_wants(child, TRACE_PROCS)) {
		TRACER_TELL_ALL(child, TRACE_PROCS, am_spawned, parent != NULL ? parent->id : am_undefined,
				  tracer_put_mfa(words, child->x[0], child->x[1], child->x[2]));
		if (linked && parent != NULL)
			tell_event(child, am_getting_linked, parent->id);
	}
}

/* ---- time slices */

Term trace_put_place(Process *p, Term *at)
{
	struct exc_place place;
	const struct export *e;
	const Inst *info;

	if (atomic_load(&p->state) & PS_EXITING)
		return SMALL(0);
	if (p->i == process_start_code)
		return tracer_put_mfa(at, p->initial_module, p->initial_function, SMALL(p->initial_arity));
	if (p->resume != NULL && exc_find_place(p, &place))
		return tracer_put_mfa(at, place.module, place.function, SMALL(place.arity));
	if (p->resume != NULL && p->trap_export != NULL)
		return tracer_put_mfa(at, p->trap_export->module, p->trap_export->function,
				      SMALL(p->trap_export->arity));
	/* one that yields goes on at the stub of a native that gives the result */
	e = export_of_stub(p->i);
	info = code_find_function(e != NULL && e->bif != NULL ? (const Inst *)*breakpoint_skip_frames(p->heap.stop)
							      : p->i + 1);
	if (info == NULL)
		return SMALL(0);
	return tracer_put_mfa(at, func_info_module(info), func_info_function(info), SMALL(func_info_arity(info)));
}

/* A slice more, only for the loop to heed what was set, or for all others to have seen it, is nobody's business. */
static bool wants_slices(const Process *p)
{
	return trace_wants(p, TRACE_RUNNING | TRACE_RUNNING_PROCS) && !exc_returns_later(p) && !await_waits(p);
}

static void slice_began(Process *p, bool waits)
{
	Term words[4];

	if (p->trace_flags != 0)
		tracer_check(p, ~0u);
	if (wants_slices(p))
		TRACER_TELL_ALL(p, TRACE_RUNNING | TRACE_RUNNING_PROCS, am_in, trace_put_place(p, words));
	for (struct traced *t = traced_first(p); t != NULL; t = t->next)
		t->began_untold = false;
	measure_slice_began(p);
	watch_slice_began(p, waits);
}

static void exit_began(Process *p)
{
	if (trace_wants(p, TRACE_EXITING))
		TRACER_TELL_ALL(p, TRACE_EXITING, am_in_exiting, SMALL(0));
}

static void slice_ended(Process *p, bool waits)
{
	bool exits = atomic_load(&p->state) & PS_EXITING;
	uint32_t flags = exits ? TRACE_EXITING : TRACE_RUNNING | TRACE_RUNNING_PROCS;
	Term words[4], parts[2] = { exits ? am_out_exited : am_out };

	watch_slice_ended(p, waits);
	measure_slice_ended(p, exits);
	if (exits ? trace_wants(p, flags) : wants_slices(p)) {
		parts[1] = trace_put_place(p, words);
		TRACED_EACH(t, traced_first(p), flags)
			if (exits || !t->began_untold)
				tracer_tell_event(p, t, 2, parts);
	}
	for (struct traced *t = traced_first(p); t != NULL; t = t->next)
		t->began_untold = false;
}

/* ---- collections */

static void tell_collected(Process *p, Term event, size_t words)
{
	struct heap scratch;
	Term list;

	if (!trace_wants(p, TRACE_GC))
		return;

	heap_init(&scratch, HEAP_MIN_WORDS);
	list = process_report_gc_info(&p->heap, &scratch);
	list = heap_cons(&scratch, heap_tuple(&scratch, am_wordsize, SMALL(words)), list);
	TRACER_TELL_ALL(p, TRACE_GC, event, list);
	heap_free(&scratch);
}

static void gc_began(Process *p, bool major, size_t words)
{
	tell_collected(p, major ? am_gc_major_start : am_gc_minor_start, words);
	measure_gc_began(p);
	watch_gc_began();
}

static void gc_ended(Process *p, bool major, size_t words)
{
	watch_gc_ended(p);
	measure_gc_ended(p);
	tell_collected(p, major ? am_gc_major_end : am_gc_minor_end, words);
}

void trace_events_init(void)
{
	trace_hooks.sent = tell_sent;
	trace_hooks.received = tell_received;
	trace_hooks.event = tell_event;
	trace_hooks.spawned = tell_spawned;
	trace_hooks.linked = trace_flags_linked;
	trace_hooks.slice_began = slice_began;
	trace_hooks.slice_ended = slice_ended;
	trace_hooks.exit_began = exit_began;
	trace_hooks.gc_began = gc_began;
	trace_hooks.gc_ended = gc_ended;
	trace_hooks.queue_changed = watch_queue_changed;
	trace_hooks.port_busy = watch_port_busy;
	trace_hooks.dist_busy = watch_dist_busy;
	trace_hooks.sched_idle = watch_sched_idle;
}
