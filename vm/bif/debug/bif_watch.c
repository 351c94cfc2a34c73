/* SPDX-License-Identifier: Apache-2.0 */
/* Built-in functions: system_monitor, system_profile. */
#include "base/release.h"
#include "bif/bif.h"
#include "data/number.h"
#include "trace/tracer.h"
#include "trace/watch.h"

enum { LARGE_HEAP_MIN_WORDS = 16384 };

/* ---- system_monitor */

static Term tell_limits(Process *p, const struct watch_limits *w)
{
	return w->pid == NIL ? (Term)am_undefined : heap_tuple(&p->heap, w->pid, watch_put_limits(&p->heap, w));
}

Term bif_erlang_system_monitor_0(Process *p, Term *args)
{
	struct watch_limits w = watch_limits(&trace_default);

	(void)args;
	return tell_limits(p, &w);
}

/* {Disable, Enable} */
static bool read_queue_limit(Term t, struct watch_limits *w)
{
	uint64_t low, high;

	if (!release_watches_queues() || !term_is_tuple_of(t, 2) || !num_get_uint64(tuple_get(t, 1), &low) ||
	    !num_get_uint64(tuple_get(t, 2), &high) || low >= high || high > INT32_MAX)
		return false;
	w->short_queue = (uint32_t)low;
	w->long_queue = (uint32_t)high;
	return true;
}

static const struct { Term name; unsigned bit; } events[] = {
	{ am_long_gc, WATCH_LONG_GC }, { am_long_schedule, WATCH_LONG_SCHEDULE }, { am_large_heap, WATCH_LARGE_HEAP },
	{ am_busy_port, WATCH_BUSY_PORT }, { am_busy_dist_port, WATCH_BUSY_DIST_PORT },
	{ am_long_message_queue, WATCH_QUEUE },
};

static unsigned find_event(Term name)
{
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		if (events[i].name == name)
			return events[i].bit;
	return 0;
}

static bool read_value(unsigned event, Term t, struct watch_limits *w)
{
	uint64_t value;

	if (event == WATCH_QUEUE)
		return read_queue_limit(t, w);
	if (!num_get_uint64(t, &value))
		return false;
	value = value > 0 ? value : 1;
	if (event == WATCH_LONG_GC)
		w->long_gc_ms = value;
	else if (event == WATCH_LONG_SCHEDULE)
		w->long_schedule_ms = value;
	else
		w->large_heap_words = value < LARGE_HEAP_MIN_WORDS ? LARGE_HEAP_MIN_WORDS : value;
	return true;
}

/* busy_port, busy_dist_port, {Event, Limit}; since OTP 28 {busy_port, true}, {Event, false}, too. Adds the event to
 * *given. */
static bool read_limit(Term t, struct watch_limits *w, unsigned *given)
{
	bool is_pair = term_is_tuple_of(t, 2);
	Term value = is_pair ? tuple_get(t, 2) : (Term)am_true;
	unsigned event = find_event(is_pair ? tuple_get(t, 1) : t);

	*given |= event;
	if (is_pair && value == am_false && release_watches_in_sessions())
		return event != 0;
	if (event != WATCH_BUSY_PORT && event != WATCH_BUSY_DIST_PORT)
		return is_pair && event != 0 && read_value(event, value, w);
	if (value != am_true || (is_pair && !release_watches_in_sessions()))
		return false;
	*(event == WATCH_BUSY_PORT ? &w->busy_port : &w->busy_dist_port) = true;
	return true;
}

static bool read_limits(Term list, struct watch_limits *w, unsigned *given)
{
	for (*given = 0; term_is_cons(list); list = cons_tail(list))
		if (!read_limit(cons_head(list), w, given))
			return false;
	return list == NIL;
}

Term bif_erlang_system_monitor_2(Process *p, Term *args)
{
	struct watch_limits w = { .pid = NIL, .session = &trace_default };
	unsigned given;

	if (args[0] != am_undefined && args[1] != NIL) {
		if (!term_is_local_pid(args[0]) || !process_is_alive(args[0]))
			return exc_badarg(p);
		w.pid = args[0];
		if (!read_limits(args[1], &w, &given))
			return exc_badarg(p);
	}
	return watch_set_limits(p, &w, WATCH_ALL, tell_limits);
}

Term bif_erlang_system_monitor_1(Process *p, Term *args)
{
	if (args[0] == am_undefined)
		return bif_erlang_system_monitor_2(p, (Term[]){ am_undefined, NIL });
	if (!term_is_tuple_of(args[0], 2))
		return exc_badarg(p);
	return bif_erlang_system_monitor_2(p, (Term[]){ tuple_get(args[0], 1), tuple_get(args[0], 2) });
}

/* ---- of sessions; `legacy` is the one that has none of its own */

static Term tell_ok(Process *p, const struct watch_limits *before)
{
	(void)p;
	(void)before;
	return am_ok;
}

/* Of a session but the default one. Owns: the caller (trace_session_unref). NULL: it is none. */
static struct trace_session *get_session(Term t)
{
	struct trace_session *s = trace_session_get(t, false);

	if (s != &trace_default)
		return s;
	trace_session_unref(s);
	return NULL;
}

static Term set_session_limits(Process *p, struct trace_session *s, Term list)
{
	struct watch_limits w = { .pid = s->tracer, .session = s };
	unsigned given;

	if (!term_is_local_pid(s->tracer) || !read_limits(list, &w, &given))
		return exc_badarg(p);
	return watch_set_limits(p, &w, given, tell_ok);
}

/* system_monitor(Session, session, Options); system_monitor(legacy, Pid, Options) */
Term bif_erts_internal_system_monitor_3(Process *p, Term *args)
{
	struct trace_session *s;
	Term result;

	if (args[0] == am_legacy)
		return bif_erlang_system_monitor_2(p, args + 1);
	s = args[1] == am_session ? get_session(args[0]) : NULL;
	if (s == NULL)
		return exc_badarg(p);
	result = set_session_limits(p, s, args[2]);
	trace_session_unref(s);
	return result;
}

Term bif_erts_internal_system_monitor_1(Process *p, Term *args)
{
	struct trace_session *s;
	struct watch_limits w;

	if (args[0] == am_legacy)
		return bif_erlang_system_monitor_0(p, args);
	s = get_session(args[0]);
	if (s == NULL)
		return exc_badarg(p);
	w = watch_limits(s);
	trace_session_unref(s);
	return tell_limits(p, &w);
}

/* ---- system_profile */

static Term tell_profile(Process *p, const struct watch_profile *w)
{
	const struct { bool is_on; Term name; } options[] = {
		{ w->ports, am_runnable_ports }, { w->processes, am_runnable_procs },
		{ w->scheduler, am_scheduler }, { w->exclusive, am_exclusive },
	};
	Term list = NIL;

	if (w->pid == NIL)
		return am_undefined;
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (options[i].is_on)
			list = heap_cons(&p->heap, options[i].name, list);
	return heap_tuple(&p->heap, w->pid, list);
}

Term bif_erlang_system_profile_0(Process *p, Term *args)
{
	struct watch_profile w = watch_profile();

	(void)args;
	return tell_profile(p, &w);
}

static bool read_profile(Term t, struct watch_profile *w)
{
	switch (t) {
	case am_runnable_procs:
		return w->processes = true;
	case am_runnable_ports:
		return w->ports = true;
	case am_scheduler:
		return w->scheduler = true;
	case am_exclusive:
		return w->exclusive = true;
	case am_timestamp:
		w->time = TRACE_TIMESTAMP;
		return true;
	case am_monotonic_timestamp:
		w->time = TRACE_MONOTONIC;
		return true;
	case am_strict_monotonic_timestamp:
		w->time = TRACE_STRICT_MONOTONIC;
		return true;
	default:
		return false;
	}
}

Term bif_erlang_system_profile_2(Process *p, Term *args)
{
	struct watch_profile w = { .pid = NIL, .time = TRACE_TIMESTAMP };
	Term list = args[1];

	if (args[0] != am_undefined && list != NIL) {
		if (!tracer_is_alive(args[0], am_undefined))
			return exc_badarg(p);
		w.pid = args[0];
		for (; term_is_cons(list); list = cons_tail(list))
			if (!read_profile(cons_head(list), &w))
				return exc_badarg(p);
		if (list != NIL)
			return exc_badarg(p);
	}
	return watch_set_profile(p, &w, tell_profile);
}
