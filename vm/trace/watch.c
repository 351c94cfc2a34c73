/* SPDX-License-Identifier: Apache-2.0 */
/* Long collections and slices, large heaps, busy ports; who is runnable, which schedulers work. */
#include "trace/watch.h"

#include "base/clock.h"
#include "proc/sched.h"
#include "trace/events.h"
#include "trace/trace.h"
#include "trace/tracer.h"

#define NS_PER_MS ((int64_t)1000000)

/* Written while the world is stopped. */
static struct watch_limits limits = { .pid = NIL };
static struct watch_profile profile = { .pid = NIL };
static _Atomic uint32_t active_schedulers;
_Atomic int64_t watch_gc_sleep_ms;
/* Of the profile, for threads that are no schedulers: who hears of ports (NIL: nobody), with which times. */
static _Atomic Term ports_pid = NIL;
static _Atomic uint32_t ports_time;

/* Of this thread's time slice. */
static _Thread_local struct {
	int64_t slice_ns, gc_ns; /* when it began */
	Term place[4];       /* where the slice began, in place_term */
	Term place_term;
} here;

/* ---- who watches */

bool watch_is_on(void)
{
	return limits.pid != NIL || profile.pid != NIL;
}

struct watch_limits watch_limits(void)
{
	return limits.pid == NIL || tracer_is_alive(limits.pid, am_undefined) ? limits : (struct watch_limits){ .pid = NIL };
}

struct watch_profile watch_profile(void)
{
	return profile.pid == NIL || tracer_is_alive(profile.pid, am_undefined) ? profile : (struct watch_profile){ .pid = NIL };
}

static void set_limits(void *arg)
{
	limits = *(const struct watch_limits *)arg;
	trace_review();
}

void watch_set_limits(const struct watch_limits *wanted)
{
	sched_stop_world(set_limits, (void *)wanted);
}

static void set_profile(void *arg)
{
	profile = *(const struct watch_profile *)arg;
	atomic_store(&ports_time, profile.time);
	atomic_store(&ports_pid, profile.ports ? profile.pid : NIL);
	trace_review();
}

void watch_set_profile(const struct watch_profile *wanted)
{
	sched_stop_world(set_profile, (void *)wanted);
}

/* ---- limits */

/* {monitor, Id, What, Info} of a process or port, but not of who watches. */
static void tell_limit_of(Term id, Term what, Term info)
{
	if (id != limits.pid)
		tracer_tell(limits.pid, id, 0, am_monitor, id, 2, (Term[]){ what, info });
}

static void tell_limit(Process *p, Term what, Term info)
{
	tell_limit_of(p->id, what, info);
}

/* [{Tag, Value}] */
static Term put_pairs(struct heap *h, size_t n, const Term pairs[][2])
{
	Term list = NIL;

	while (n-- > 0)
		list = heap_cons(h, heap_tuple(h, pairs[n][0], pairs[n][1]), list);
	return list;
}

static void tell_heap(Process *p, Term what, int64_t ms)
{
	const struct heap *h = &p->heap;
	const Term pairs[][2] = {
		{ am_timeout, SMALL(ms) },
		{ am_old_heap_block_size, SMALL(h->old_end - h->old_start) },
		{ am_heap_block_size, SMALL(h->end - h->start) },
		{ am_mbuf_size, SMALL(h->fragment_words) },
		{ am_stack_size, SMALL(h->end - h->stop) },
		{ am_old_heap_size, SMALL(h->old_top - h->old_start) },
		{ am_heap_size, SMALL(h->top - h->start) },
	};
	size_t n = sizeof(pairs) / sizeof(pairs[0]), skip = what == am_long_gc ? 0 : 1;
	struct heap scratch;

	heap_init(&scratch, HEAP_MIN_WORDS);
	tell_limit(p, what, put_pairs(&scratch, n - skip, pairs + skip));
	heap_free(&scratch);
}

void watch_gc_began(void)
{
	int64_t ms = atomic_load(&watch_gc_sleep_ms);

	if (limits.long_gc_ms == 0)
		return;
	here.gc_ns = clock_monotonic_ns();
	if (unlikely(ms != 0))
		clock_sleep_ms(ms);
}

void watch_gc_ended(Process *p)
{
	const struct heap *h = &p->heap;
	int64_t ms = limits.long_gc_ms != 0 ? (clock_monotonic_ns() - here.gc_ns) / NS_PER_MS : 0;

	if (limits.long_gc_ms != 0 && (uint64_t)ms > limits.long_gc_ms)
		tell_heap(p, am_long_gc, ms);
	if (limits.large_heap_words != 0 &&
	    (size_t)(h->end - h->start) + (size_t)(h->old_end - h->old_start) >= limits.large_heap_words)
		tell_heap(p, am_large_heap, 0);
}

void watch_port_busy(Process *p, Term port)
{
	if (limits.busy_port)
		tell_limit(p, am_busy_port, port);
}

void watch_dist_busy(Process *p, Term controller)
{
	if (limits.busy_dist_port)
		tell_limit(p, am_busy_dist_port, controller);
}

static Term place_or_undefined(Term place)
{
	return place != SMALL(0) ? place : am_undefined;
}

static void tell_long_slice(Process *p, int64_t ms)
{
	Term words[4];
	const Term pairs[][2] = {
		{ am_timeout, SMALL(ms) },
		{ am_in, place_or_undefined(here.place_term) },
		{ am_out, place_or_undefined(trace_put_place(p, words)) },
	};
	struct heap scratch;

	heap_init(&scratch, HEAP_MIN_WORDS);
	tell_limit(p, am_long_schedule, put_pairs(&scratch, 3, pairs));
	heap_free(&scratch);
}

void watch_port_worked(Term port, Term what, int64_t ns)
{
	const Term pairs[][2] = { { am_timeout, SMALL(ns / NS_PER_MS) }, { am_port_op, what } };
	struct heap scratch;

	if (limits.long_schedule_ms == 0 || (uint64_t)(ns / NS_PER_MS) < limits.long_schedule_ms)
		return;
	heap_init(&scratch, HEAP_MIN_WORDS);
	tell_limit_of(port, am_long_schedule, put_pairs(&scratch, 2, pairs));
	heap_free(&scratch);
}

/* ---- profile */

static void tell_profile(Term from, Term id, unsigned n, const Term *parts)
{
	tracer_tell(profile.pid, from, profile.time, am_profile, id, n, parts);
}

/* {profile, Pid, active | inactive, {M, F, A}, Time} */
static void tell_runnable(Process *p, Term state)
{
	Term words[4];

	tell_profile(p->id, p->id, 2, (Term[]){ state, trace_put_place(p, words) });
}

/* {profile, Port, active | inactive, 0, Time} */
static void tell_runnable_port(Term port, Term state)
{
	Term pid = atomic_load(&ports_pid);

	if (pid != NIL && pid != port)
		tracer_tell(pid, port, atomic_load(&ports_time), am_profile, port, 2, (Term[]){ state, SMALL(0) });
}

void watch_port_began(Term port)
{
	tell_runnable_port(port, am_active);
}

void watch_port_ended(Term port)
{
	tell_runnable_port(port, am_inactive);
}

/* {profile, scheduler, Id, active | inactive, Active, Time} */
static void tell_scheduler(unsigned id, Term state, uint32_t active)
{
	tell_profile(TERM_NONE, am_scheduler, 3, (Term[]){ SMALL(id), state, SMALL(active) });
}

/* Whoever profiles would keep himself busy with what it takes to hear of it: a scheduler is at work when it runs another. */
static void note_work(void)
{
	struct sched *s = sched_self();

	if (s->told_active)
		return;
	s->told_active = true;
	tell_scheduler(s->id, am_active, atomic_fetch_add(&active_schedulers, 1) + 1);
}

void watch_sched_idle(unsigned id)
{
	struct sched *s = sched_self();

	if (!s->told_active)
		return;
	s->told_active = false;
	if (profile.scheduler)
		tell_scheduler(id, am_inactive, atomic_fetch_sub(&active_schedulers, 1) - 1);
	else
		atomic_fetch_sub(&active_schedulers, 1);
}

void watch_slice_began(Process *p, bool waited)
{
	if (limits.long_schedule_ms != 0) {
		here.place_term = trace_put_place(p, here.place);
		here.slice_ns = clock_monotonic_ns();
	}
	if (profile.pid == NIL || p->id == profile.pid)
		return;
	if (profile.scheduler)
		note_work();
	if (profile.processes && (waited || p->i == process_start_code))
		tell_runnable(p, am_active);
}

void watch_slice_ended(Process *p, bool waits)
{
	int64_t ms = limits.long_schedule_ms != 0 && here.slice_ns != 0 ? (clock_monotonic_ns() - here.slice_ns) / NS_PER_MS : 0;

	here.slice_ns = 0;
	if (limits.long_schedule_ms != 0 && (uint64_t)ms >= limits.long_schedule_ms)
		tell_long_slice(p, ms);
	if (profile.processes && waits && p->id != profile.pid)
		tell_runnable(p, am_inactive);
}
