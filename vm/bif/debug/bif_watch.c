/* SPDX-License-Identifier: Apache-2.0 */
/* Built-in functions: system_monitor, system_profile. */
#include "base/release.h"
#include "bif/bif.h"
#include "data/number.h"
#include "trace/tracer.h"
#include "trace/watch.h"

enum { LARGE_HEAP_MIN_WORDS = 16384 };

/* ---- system_monitor */

static Term put_limit(struct heap *h, Term name, uint64_t value, Term list)
{
	return value != 0 ? heap_cons(h, heap_tuple(h, name, heap_uint(h, value)), list) : list;
}

static Term tell_limits(Process *p, const struct watch_limits *w)
{
	struct heap *h = &p->heap;
	Term list = NIL;

	if (w->pid == NIL)
		return am_undefined;
	if (w->long_queue != 0)
		list = heap_cons(h,
				 heap_tuple(h, am_long_message_queue,
					    heap_tuple(h, SMALL(w->short_queue), SMALL(w->long_queue))),
				 list);
	list = put_limit(h, am_long_gc, w->long_gc_ms, list);
	list = put_limit(h, am_long_schedule, w->long_schedule_ms, list);
	list = put_limit(h, am_large_heap, w->large_heap_words, list);
	if (w->busy_port)
		list = heap_cons(h, am_busy_port, list);
	if (w->busy_dist_port)
		list = heap_cons(h, am_busy_dist_port, list);
	return heap_tuple(h, w->pid, list);
}

Term bif_erlang_system_monitor_0(Process *p, Term *args)
{
	struct watch_limits w = watch_limits();

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

static bool read_limit(Term t, struct watch_limits *w)
{
	uint64_t value;

	if (t == am_busy_port)
		return w->busy_port = true;
	if (t == am_busy_dist_port)
		return w->busy_dist_port = true;
	if (term_is_tuple_of(t, 2) && tuple_get(t, 1) == am_long_message_queue)
		return read_queue_limit(tuple_get(t, 2), w);
	if (!term_is_tuple_of(t, 2) || !num_get_uint64(tuple_get(t, 2), &value))
		return false;
	value = value > 0 ? value : 1;
	switch (tuple_get(t, 1)) {
	case am_long_gc:
		w->long_gc_ms = value;
		return true;
	case am_long_schedule:
		w->long_schedule_ms = value;
		return true;
	case am_large_heap:
		w->large_heap_words = value < LARGE_HEAP_MIN_WORDS ? LARGE_HEAP_MIN_WORDS : value;
		return true;
	default:
		return false;
	}
}

Term bif_erlang_system_monitor_2(Process *p, Term *args)
{
	struct watch_limits w = { .pid = NIL };
	Term list = args[1];

	if (args[0] != am_undefined && list != NIL) {
		if (!term_is_local_pid(args[0]) || !process_is_alive(args[0]))
			return exc_badarg(p);
		w.pid = args[0];
		for (; term_is_cons(list); list = cons_tail(list))
			if (!read_limit(cons_head(list), &w))
				return exc_badarg(p);
		if (list != NIL)
			return exc_badarg(p);
	}
	return watch_set_limits(p, &w, tell_limits);
}

Term bif_erlang_system_monitor_1(Process *p, Term *args)
{
	if (args[0] == am_undefined)
		return bif_erlang_system_monitor_2(p, (Term[]){ am_undefined, NIL });
	if (!term_is_tuple_of(args[0], 2))
		return exc_badarg(p);
	return bif_erlang_system_monitor_2(p, (Term[]){ tuple_get(args[0], 1), tuple_get(args[0], 2) });
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
