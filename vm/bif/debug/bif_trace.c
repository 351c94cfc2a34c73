/* SPDX-License-Identifier: Apache-2.0 */
/* Built-in functions: tracing. What changes flags or patterns comes back in a new time slice, which runs with what was
 * set. */
#include "base/alloc.h"
#include "base/release.h"
#include "bif/bif.h"
#include "bif/proc/process_call.h"
#include "code/export.h"
#include "proc/await.h"
#include "proc/message.h"
#include "proc/peer.h"
#include "proc/progress.h"
#include "proc/sched.h"
#include "trace/trace.h"
#include "trace/tracer.h"
#include "trace/watch.h"

/* How Erlang code's session is found: that of a native's argument, or the default one. Owns: the caller
 * (trace_session_unref). NULL: the native fails, with the error that is set. */
static struct trace_session *get_session(Process *p, Term t)
{
	struct trace_session *s = trace_session_get(t, false);

	if (s == NULL)
		exc_badarg_cause(p, am_session);
	return s;
}

/* Does it in the session that is the native's first argument; the others are args of `act`. */
static Term in_session(Process *p, Term *args, Term (*act)(Process *p, struct trace_session *s, Term *args))
{
	struct trace_session *s = get_session(p, args[0]);
	Term result;

	if (s == NULL)
		return TERM_NONE;
	result = act(p, s, args + 1);
	trace_session_unref(s);
	return result;
}

static Term change(Process *p, struct trace_session *s, Term *args)
{
	uint32_t flags;
	bool cpu_time;
	Term tracer;

	if (!trace_flags_read(s, args[2], &flags, &tracer, &cpu_time))
		return exc_badarg_cause(p, am_badopt);
	if ((args[1] != am_true && args[1] != am_false) || (cpu_time && args[0] != am_all))
		return exc_badarg(p);
	if (cpu_time)
		tracer_takes_cpu_time = args[1] == am_true;
	if (args[1] == am_true && tracer == TERM_NONE)
		tracer = s->tracer != NIL ? s->tracer : p->id;
	return trace_change(p, s, args[0], args[1] == am_true, flags, tracer);
}

Term bif_erts_internal_trace_3(Process *p, Term *args)
{
	return change(p, &trace_default, args);
}

Term bif_erts_internal_trace_4(Process *p, Term *args)
{
	return in_session(p, args, change);
}

/* ---- patterns */

static match_fn find_guard(Term function, unsigned arity)
{
	const struct export *e = export_find(am_erlang, function, arity);

	return e != NULL ? e->bif : NULL;
}

struct pattern_options {
	unsigned kinds;
	Term meta_tracer;
};

static const struct { Term name; unsigned kind;
} kind_rows[] = {
	{ am_global, TRACE_KIND_GLOBAL },    { am_local, TRACE_KIND_LOCAL },    { am_meta, TRACE_KIND_META },
	{ am_call_count, TRACE_KIND_COUNT }, { am_call_time, TRACE_KIND_TIME }, { am_call_memory, TRACE_KIND_MEMORY },
};

static unsigned kind_of(Term name)
{
	if (name == am_call_memory && !release_counts_call_memory())
		return 0;
	for (size_t i = 0; i < sizeof(kind_rows) / sizeof(kind_rows[0]); i++)
		if (kind_rows[i].name == name)
			return kind_rows[i].kind;
	return 0;
}

/* Global goes with no other. Fails: false. */
static bool read_options(Process *p, const struct trace_session *s, Term list, struct pattern_options *o)
{
	*o = (struct pattern_options){ 0, TERM_NONE };
	for (; term_is_cons(list); list = cons_tail(list)) {
		Term t = cons_head(list);
		unsigned kind = kind_of(t);

		if (kind == 0) {
			kind = TRACE_KIND_META;
			o->meta_tracer = s->tracer == NIL ? trace_read_tracer(t, am_meta) : TERM_NONE;
			if (o->meta_tracer == TERM_NONE)
				return false;
		}
		o->kinds |= kind;
	}
	if (o->meta_tracer == TERM_NONE)
		o->meta_tracer = s->tracer != NIL ? s->tracer : p->id;
	return list == NIL && !((o->kinds & TRACE_KIND_GLOBAL) && (o->kinds & TRACE_KIND_BREAKPOINTS));
}

/* {M, F, A}, '_' from some element on. Fails: false. */
static bool read_mfa(Term t, struct trace_mfa *mfa)
{
	const Term *e;
	bool open = false;

	if (!term_is_tuple_of(t, 3))
		return false;
	e = boxed_ptr(t) + 1;
	for (int i = 0; i < 3; i++) {
		if (open && e[i] != am_underscore)
			return false;
		open = e[i] == am_underscore;
	}
	if (!term_is_atom(e[0]) || !term_is_atom(e[1]) || (e[2] != am_underscore && !term_is_small(e[2])))
		return false;
	*mfa = (struct trace_mfa){ e[0] != am_underscore ? e[0] : TERM_NONE, e[1] != am_underscore ? e[1] : TERM_NONE,
				   -1 };
	if (e[2] == am_underscore)
		return true;
	mfa->arity = small_value(e[2]);
	if (mfa->arity < 0 || mfa->arity > 255)
		mfa->arity = 256; /* nobody's */
	return true;
}

/* true, false, restart, pause, [] or a specification. Fails: false. Owns: the caller, *program. */
static bool read_spec(Term spec, enum trace_how *how, struct match_program **program)
{
	*program = NULL;
	*how = TRACE_ON;
	if (spec == am_true || spec == NIL)
		return true;
	if (spec == am_false)
		*how = TRACE_OFF;
	else if (spec == am_restart)
		*how = TRACE_RESTART;
	else if (spec == am_pause)
		*how = TRACE_PAUSE;
	else
		return (*program = match_compile(spec, MATCH_TRACE, find_guard, NULL)) != NULL;
	return true;
}

static bool is_event(Term what)
{
	return what == am_send || what == am_receive;
}

/* Is its pattern replaced whole? Threads go by it after a round of slices. */
static bool is_replaced(Term what)
{
	return is_event(what) || what == am_on_load;
}

/* Does it suit what it is a pattern of? */
static bool suits(const struct match_program *m, Term what)
{
	return match_is_for(m, what == am_receive ? MATCH_FOR_ANY
			       : what == am_send  ? MATCH_FOR_SENDERS
						  : MATCH_FOR_CALLS);
}

/* Returns the number of matches; -1: no such pattern. */
static int64_t set_pattern(struct trace_session *s, Term what, enum trace_how how, const struct pattern_options *o,
			   struct match_program *program)
{
	unsigned kinds = o->kinds != 0 ? o->kinds : TRACE_KIND_GLOBAL;
	struct trace_mfa mfa;

	if (what == am_on_load) {
		trace_pattern_on_load(s, how, kinds, program, o->meta_tracer);
		return 0;
	}
	if (is_event(what)) {
		if (o->kinds != 0 || how > TRACE_ON)
			return -1;
		trace_pattern_event(s, what, how, program);
		return 1;
	}
	return read_mfa(what, &mfa) ? (int64_t)trace_pattern(s, &mfa, how, kinds, program, o->meta_tracer) : -1;
}

/* o may name a tracer, which is in use from now on, though the world may be stopped meanwhile. */
static int64_t change_pattern(struct trace_session *s, Term what, enum trace_how how, const struct pattern_options *o,
			      struct match_program *program)
{
	int64_t count;

	trace_begin_change(false);
	count = set_pattern(s, what, how, o, program);
	trace_end_change();
	return count;
}

static Term change_patterns(Process *p, struct trace_session *s, Term *args)
{
	struct match_program *program;
	struct pattern_options o;
	enum trace_how how;
	Term cause = NIL;
	int64_t count = -1;

	if (!read_spec(args[1], &how, &program))
		return exc_badarg_cause(p, am_match_spec);
	if (program != NULL && !suits(program, args[0]))
		cause = am_match_spec;
	else if (!read_options(p, s, args[2], &o))
		cause = am_badopt;
	else if (program != NULL && o.kinds != 0 && !(o.kinds & ~(unsigned)(TRACE_KIND_COUNT | TRACE_KIND_MEASURES)))
		cause = am_call_count;
	else
		count = change_pattern(s, args[0], how, &o, program);
	if (program != NULL)
		resource_unref(&program->resource);
	if (count >= 0 && is_replaced(args[0]))
		return await_return(p, term_from_small(count));
	if (count >= 0)
		return exc_return_later(p, term_from_small(count));
	return cause != NIL ? exc_badarg_cause(p, cause) : exc_badarg(p);
}

Term bif_erts_internal_trace_pattern_3(Process *p, Term *args)
{
	return change_patterns(p, &trace_default, args);
}

Term bif_erts_internal_trace_pattern_4(Process *p, Term *args)
{
	return in_session(p, args, change_patterns);
}

Term bif_erts_debug_breakpoint_2(Process *p, Term *args)
{
	struct trace_mfa mfa;

	if (!read_mfa(args[0], &mfa) || (args[1] != am_true && args[1] != am_false))
		return exc_badarg(p);
	return exc_return_later(p, term_from_small((int64_t)trace_debug(&mfa, args[1] == am_true)));
}

/* ---- looks */

static Term put_flags(struct heap *h, Term item, uint32_t flags, Term tracer)
{
	return heap_tuple(h, item, item == am_flags ? trace_flags_list(h, flags) : tracer_put(h, tracer));
}

/* of runs here, or is held. s: NULL: which sessions trace it. */
static Term put_flags_of(Process *of, struct trace_session *s, struct heap *h, Term item)
{
	uint32_t flags;
	Term tracer;

	if (s == NULL)
		return heap_tuple(h, item, trace_sessions_of_process(of, h));
	trace_look_process(of, s, &flags, &tracer);
	return put_flags(h, item, flags, tracer);
}

/* items: what is asked for, the number of the session or am_any. One that is gone by now has no flags. */
static Term tell_flags(Process *p, struct process_call *c)
{
	struct trace_session *s;
	Term result;

	if (p == NULL)
		return am_undefined;
	if (c->items[1] == am_any)
		return put_flags_of(p, NULL, &p->heap, c->items[0]);
	s = trace_session_find(small_value(c->items[1]));
	if (s == NULL)
		return put_flags(&p->heap, c->items[0], 0, NIL);
	result = put_flags_of(p, s, &p->heap, c->items[0]);
	trace_session_unref(s);
	return result;
}

/* Of a process that waits for messages. TERM_NONE: it must tell itself. */
static Term look_at(Process *p, struct trace_session *s, Term pid, Term item)
{
	Process *other = process_peek(pid);
	Term result;

	if (other == NULL || !sched_hold(other, pid))
		return TERM_NONE;
	result = put_flags_of(other, s, &p->heap, item);
	sched_let_go(other);
	return result;
}

static Term info_of_process(Process *p, struct trace_session *s, Term pid, Term item)
{
	struct process_call *c;
	Term result, ref;

	if (pid == p->id)
		return put_flags_of(p, s, &p->heap, item);
	result = look_at(p, s, pid, item);
	if (result != TERM_NONE)
		return result;
	ref = heap_ref(&p->heap, 0);
	c = process_call_new(tell_flags, p->id, ref, 2);
	c->leaves_nothing = true;
	c->items[0] = item;
	c->items[1] = s != NULL ? term_from_small(s->number) : (Term)am_any;
	return process_call_await(p, pid, c, ref);
}

static Term info_of_flags(Process *p, struct trace_session *s, Term *args)
{
	uint32_t flags;
	Term tracer;

	if (args[1] != am_flags && args[1] != am_tracer)
		return exc_badarg(p);
	if (term_is_local_pid(args[0]))
		return info_of_process(p, s, args[0], args[1]);
	if (!trace_look(args[0], s, &flags, &tracer))
		return am_undefined;
	return put_flags(&p->heap, args[1], flags, tracer);
}

static Term put_spec(struct heap *h, bool is_on, const struct match_program *program)
{
	if (!is_on)
		return am_false;
	return program != NULL ? trace_spec(program, h) : NIL;
}

static Term put_measured(const struct trace_point_info *info, enum trace_measure which, bool on_load)
{
	unsigned kind = which == MEASURE_TIME ? TRACE_KIND_TIME : TRACE_KIND_MEMORY;

	if (!(info->kinds & kind))
		return am_false;
	return on_load ? am_true : info->measured[which];
}

static Term put_count(struct heap *h, const struct trace_point_info *info, bool on_load)
{
	if (!(info->kinds & TRACE_KIND_COUNT))
		return am_false;
	return on_load ? am_true : heap_uint(h, info->count);
}

/* One item; TERM_NONE for one that there is not. */
static Term put_item(Process *p, const struct trace_point_info *info, Term item, bool on_load)
{
	struct heap *h = &p->heap;
	unsigned kinds = info->kinds;

	switch (item) {
	case am_traced:
		return kinds & TRACE_KIND_GLOBAL ? am_global : kinds & TRACE_KIND_LOCAL ? am_local : am_false;
	case am_match_spec:
		return put_spec(h, kinds & (TRACE_KIND_GLOBAL | TRACE_KIND_LOCAL), info->program);
	case am_meta:
		if (info->meta_tracer != NIL)
			return tracer_put(h, info->meta_tracer);
		return on_load ? am_false : NIL;
	case am_meta_match_spec:
		return put_spec(h, kinds & TRACE_KIND_META, info->meta_program);
	case am_call_count:
		return put_count(h, info, on_load);
	case am_call_time:
		return put_measured(info, MEASURE_TIME, on_load);
	case am_call_memory:
		return release_counts_call_memory() ? put_measured(info, MEASURE_MEMORY, on_load) : TERM_NONE;
	default:
		return TERM_NONE;
	}
}

static Term put_all(Process *p, const struct trace_point_info *info, bool on_load)
{
	static const Term items[] = { am_traced,      am_match_spec, am_meta,	   am_meta_match_spec,
				      am_call_memory, am_call_time,  am_call_count };
	struct heap *h = &p->heap;
	Term list = NIL;

	for (size_t i = sizeof(items) / sizeof(items[0]); i-- > 0;) {
		Term value = put_item(p, info, items[i], on_load);

		if (value == TERM_NONE || (on_load && (items[i] == am_call_time || items[i] == am_call_memory)))
			continue;
		if (items[i] == am_meta && value == NIL)
			value = am_false;
		list = heap_cons(h, heap_tuple(h, items[i], value), list);
	}
	return list;
}

static Term info_of_point(Process *p, const struct trace_point_info *info, Term item, bool on_load)
{
	Term value;

	if (!info->exists)
		value = am_undefined;
	else if (info->kinds == 0)
		value = am_false;
	else
		value = item == am_all ? put_all(p, info, on_load) : put_item(p, info, item, on_load);
	return value != TERM_NONE ? heap_tuple(&p->heap, item, value) : exc_badarg(p);
}

static bool read_function(Term t, struct trace_mfa *mfa)
{
	return read_mfa(t, mfa) && mfa->arity >= 0 && mfa->module != TERM_NONE && mfa->function != TERM_NONE;
}

static Term info_of_function(Process *p, struct trace_session *s, Term *args)
{
	struct trace_point_info info;
	struct trace_mfa mfa;

	if (!read_function(args[0], &mfa))
		return exc_badarg(p);
	trace_look_function(s, &mfa, &p->heap, &info);
	return info_of_point(p, &info, args[1], false);
}

static Term info_of_limits(Process *p, struct trace_session *s, Term item)
{
	struct watch_limits w = watch_limits(s);

	return item == am_all ? heap_tuple(&p->heap, am_system, watch_put_limits(&p->heap, &w)) : exc_badarg(p);
}

static Term info_of(Process *p, struct trace_session *s, Term *args)
{
	struct trace_point_info info;

	if (args[0] == am_on_load) {
		trace_look_on_load(s, &info);
		return info_of_point(p, &info, args[1], true);
	}
	if (is_event(args[0])) {
		if (args[1] != am_match_spec)
			return exc_badarg(p);
		return heap_tuple(&p->heap, args[1], trace_look_event(s, args[0], &p->heap));
	}
	if (term_is_tuple(args[0]))
		return info_of_function(p, s, args);
	if (args[0] == am_system && release_watches_in_sessions())
		return info_of_limits(p, s, args[1]);
	if (!term_is_local_pid(args[0]) && !term_is_local_port(args[0]) && args[0] != am_new &&
	    args[0] != am_new_processes && args[0] != am_new_ports)
		return exc_badarg_cause(p, am_badopt);
	return info_of_flags(p, s, args);
}

Term bif_erlang_trace_info_2(Process *p, Term *args)
{
	return info_of(p, &trace_default, args);
}

/* Does the session do anything about what that atom names? Fails: *known is false. */
static bool session_has(struct trace_session *s, Term what, struct heap *h, bool *known)
{
	struct trace_point_info info;
	uint32_t flags = 0;
	Term tracer;

	*known = true;
	if (is_event(what))
		return trace_look_event(s, what, h) != am_false;
	switch (what) {
	case am_any:
		return true;
	case am_on_load:
		trace_look_on_load(s, &info);
		return info.kinds != 0;
	case am_new: case am_new_processes: case am_new_ports:
		trace_look(what, s, &flags, &tracer);
		return flags != 0;
	default:
		*known = false;
		return false;
	}
}

static Term sessions_that(Process *p, Term what)
{
	struct heap *h = &p->heap;
	Term list = NIL;
	bool known = false;

	TRACE_EACH_SESSION(s)
		if (session_has(s, what, h, &known))
			list = heap_cons(h, trace_session_put(h, s), list);
	return known ? heap_tuple(h, am_session, list) : exc_badarg_cause(p, am_badopt);
}

/* {session, [{Name, Id}]} */
static Term info_of_sessions(Process *p, Term what)
{
	struct trace_mfa mfa;
	Term list;

	if (term_is_atom(what))
		return sessions_that(p, what);
	if (term_is_local_pid(what))
		return info_of_process(p, NULL, what, am_session);
	if (term_is_local_port(what)) {
		list = trace_sessions_of_port(what, &p->heap);
		return list != TERM_NONE ? heap_tuple(&p->heap, am_session, list) : (Term)am_undefined;
	}
	if (!term_is_tuple(what))
		return exc_badarg_cause(p, am_badopt);
	if (!read_function(what, &mfa))
		return exc_badarg(p);
	return heap_tuple(&p->heap, am_session, trace_sessions_of_function(&mfa, &p->heap));
}

Term bif_erts_internal_trace_info_3(Process *p, Term *args)
{
	if (args[0] == am_any)
		return args[2] == am_session ? info_of_sessions(p, args[1]) : exc_badarg(p);
	return in_session(p, args, info_of);
}

/* ---- sessions */

/* The tracer may be a module's number, which is in use once the session has it. */
Term bif_erts_internal_trace_session_create_3(Process *p, Term *args)
{
	Term tracer = NIL, result;

	if (!term_is_atom(args[0]) || args[2] != NIL)
		return exc_badarg(p);
	trace_begin_change(false);
	if (args[1] != am_undefined)
		tracer = trace_read_session_tracer(args[1]);
	result = tracer != TERM_NONE ? trace_session_create(&p->heap, args[0], tracer) : TERM_NONE;
	trace_end_change();
	return result != TERM_NONE ? result : exc_badarg(p);
}

Term bif_erts_internal_trace_session_destroy_1(Process *p, Term *args)
{
	struct trace_session *s = trace_session_get(args[0], true);
	bool ended;

	if (s == NULL || s == &trace_default) {
		if (s != NULL)
			trace_session_unref(s);
		return exc_badarg_cause(p, am_badopt);
	}
	ended = trace_session_end(s);
	if (ended)
		trace_pattern_clear(s);
	trace_session_unref(s);
	return ended ? exc_return_later(p, am_true) : (Term)am_false;
}

/* ---- the process erts_trace_cleaner */

/* Those who were born, or got flags, in slices that began before are known to processes/0 after a round. */
Term bif_erts_trace_cleaner_check_0(Process *p, Term *args)
{
	(void)args;
	if (p->id != trace_session_cleaner())
		return exc_error(p, am_notsup);
	if (trace_session_clean())
		return await_return(p, am_true);
	trace_review();
	return am_false;
}

Term bif_erts_trace_cleaner_send_trace_clean_signal_1(Process *p, Term *args)
{
	if (p->id != trace_session_cleaner())
		return exc_error(p, am_notsup);
	if (term_is_local_pid(args[0]))
		return term_from_bool(trace_clean_process(args[0], p->id));
	if (!term_is_local_port(args[0]))
		return exc_badarg(p);
	trace_clean_port(args[0]);
	return am_false;
}

/* ---- delivery */

/* Whom to tell that what happened before has been traced, by which reference. */
struct delivery {
	struct progress_wait wait;
	Term to, tracee;
	uint64_t ref_number, ref_tag;
};

static void tell_delivered(struct progress_wait *w)
{
	struct delivery *d = (struct delivery *)w;
	Process *to = process_find(d->to);
	Term words[4 + REF_WORDS];

	words[0] = HEADER(3, SUB_TUPLE);
	words[1] = am_trace_delivered;
	words[2] = d->tracee;
	words[3] = peer_put_ref(words + 4, d->ref_number, d->ref_tag);
	if (to != NULL) {
		message_send_to(NULL, to, term_from_boxed(words));
		process_unref(to);
	}
	mem_free(d);
}

/* Trace messages are in their tracer's queue when the event is over; when all threads have been between two time slices
 * none of those that had begun is half done. */
Term bif_erlang_trace_delivered_1(Process *p, Term *args)
{
	struct delivery *d;
	Term ref;

	if (!term_is_local_pid(args[0]) && args[0] != am_all)
		return exc_badarg(p);
	ref = heap_ref(&p->heap, 0);
	d = mem_alloc(sizeof(*d));
	*d = (struct delivery){
		.to = p->id, .tracee = args[0], .ref_number = ref_number(ref), .ref_tag = ref_tag(ref)
	};
	progress_wait(&d->wait, tell_delivered);
	return ref;
}
