/* SPDX-License-Identifier: Apache-2.0 */
/* Long collections and slices, large heaps, busy ports; who is runnable, which schedulers work. */
#include "trace/watch.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "proc/await.h"
#include "proc/sched.h"
#include "trace/events.h"
#include "trace/trace.h"
#include "trace/tracer.h"

#define NS_PER_MS ((int64_t)1000000)

/* Those that events go by. Whoever replaces them frees the old ones after a round of slices: until its time slice ends
 * a thread may keep what it found. */
static const struct watch_limits no_limits = { .pid = NIL };
static const struct watch_profile no_profile = { .pid = NIL };
static _Atomic(const struct watch_limits *) limits = &no_limits;
static _Atomic(const struct watch_profile *) profile = &no_profile;
static _Atomic uint32_t active_schedulers, last_number;
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

static const struct watch_limits *get_limits(void)
{
	return atomic_load_explicit(&limits, memory_order_acquire);
}

static const struct watch_profile *get_profile(void)
{
	return atomic_load_explicit(&profile, memory_order_acquire);
}

bool watch_is_on(void)
{
	return get_limits()->pid != NIL || get_profile()->pid != NIL;
}

struct watch_limits watch_limits(void)
{
	const struct watch_limits *l = get_limits();

	return l->pid == NIL || tracer_is_alive(l->pid, am_undefined) ? *l : no_limits;
}

struct watch_profile watch_profile(void)
{
	const struct watch_profile *f = get_profile();

	return f->pid == NIL || tracer_is_alive(f->pid, am_undefined) ? *f : no_profile;
}

struct limits_change {
	struct await await;  /* first */
	const struct watch_limits *old;
	struct watch_limits before;
	Term (*tell)(Process *p, const struct watch_limits *before);
};

static Term tell_limits_before(Process *p, struct await *a)
{
	const struct limits_change *c = (const struct limits_change *)a;

	return c->tell(p, &c->before);
}

static void free_old_limits(struct await *a)
{
	const struct limits_change *c = (const struct limits_change *)a;

	if (c->old != &no_limits)
		mem_free((void *)c->old);
}

Term watch_set_limits(Process *p, const struct watch_limits *wanted,
		      Term (*tell)(Process *p, const struct watch_limits *before))
{
	struct limits_change *c = mem_alloc(sizeof(*c));
	struct watch_limits *made = mem_alloc(sizeof(*made));

	await_init(&c->await, p, tell_limits_before, free_old_limits);
	c->before = watch_limits();
	c->tell = tell;
	*made = *wanted;
	made->number = atomic_fetch_add(&last_number, 1) + 1;
	c->old = atomic_exchange(&limits, made);
	trace_review();
	await_round(&c->await);
	return await_parts(p, &c->await);
}

struct profile_change {
	struct await await;  /* first */
	const struct watch_profile *old;
	struct watch_profile before;
	Term (*tell)(Process *p, const struct watch_profile *before);
};

static Term tell_profile_before(Process *p, struct await *a)
{
	const struct profile_change *c = (const struct profile_change *)a;

	return c->tell(p, &c->before);
}

static void free_old_profile(struct await *a)
{
	const struct profile_change *c = (const struct profile_change *)a;

	if (c->old != &no_profile)
		mem_free((void *)c->old);
}

Term watch_set_profile(Process *p, const struct watch_profile *wanted,
		       Term (*tell)(Process *p, const struct watch_profile *before))
{
	struct profile_change *c = mem_alloc(sizeof(*c));
	struct watch_profile *made = mem_alloc(sizeof(*made));

	await_init(&c->await, p, tell_profile_before, free_old_profile);
	c->before = watch_profile();
	c->tell = tell;
	*made = *wanted;
	c->old = atomic_exchange(&profile, made);
	atomic_store(&ports_time, made->time);
	atomic_store(&ports_pid, made->ports ? made->pid : NIL);
	trace_review();
	await_round(&c->await);
	return await_parts(p, &c->await);
}

/* ---- limits */

/* {monitor, Id, What, Info} of a process or port, but not of who watches. */
static void tell_limit_of(const struct watch_limits *l, Term id, Term what, Term info)
{
	if (id != l->pid)
		tracer_tell(l->pid, id, 0, am_monitor, id, 2, (Term[]){ what, info });
}

static void tell_limit(const struct watch_limits *l, Process *p, Term what, Term info)
{
	tell_limit_of(l, p->id, what, info);
}

/* [{Tag, Value}] */
static Term put_pairs(struct heap *h, size_t n, const Term pairs[][2])
{
	Term list = NIL;

	while (n-- > 0)
		list = heap_cons(h, heap_tuple(h, pairs[n][0], pairs[n][1]), list);
	return list;
}

static void tell_heap(const struct watch_limits *l, Process *p, Term what, int64_t ms)
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
	tell_limit(l, p, what, put_pairs(&scratch, n - skip, pairs + skip));
	heap_free(&scratch);
}

void watch_gc_began(void)
{
	int64_t ms = atomic_load(&watch_gc_sleep_ms);

	here.gc_ns = 0;
	if (get_limits()->long_gc_ms == 0)
		return;
	here.gc_ns = clock_monotonic_ns();
	if (unlikely(ms != 0))
		clock_sleep_ms(ms);
}

void watch_gc_ended(Process *p)
{
	const struct heap *h = &p->heap;
	const struct watch_limits *l = get_limits();
	bool timed = l->long_gc_ms != 0 && here.gc_ns != 0;
	int64_t ms = timed ? (clock_monotonic_ns() - here.gc_ns) / NS_PER_MS : 0;

	if (timed && (uint64_t)ms > l->long_gc_ms)
		tell_heap(l, p, am_long_gc, ms);
	if (l->large_heap_words != 0 &&
	    (size_t)(h->end - h->start) + (size_t)(h->old_end - h->old_start) >= l->large_heap_words)
		tell_heap(l, p, am_large_heap, 0);
}

void watch_queue_changed(Process *p, Term id, uint32_t length)
{
	const struct watch_limits *l = get_limits();
	bool is_long = length >= l->long_queue;
	uint32_t before;

	if (l->long_queue == 0 || (!is_long && length > l->short_queue))
		return;
	before = atomic_load_explicit(&p->told_long, memory_order_relaxed);
	if ((before == l->number) != is_long &&
	    atomic_compare_exchange_strong(&p->told_long, &before, is_long ? l->number : 0))
		tell_limit_of(l, id, am_long_message_queue, term_from_bool(is_long));
}

void watch_port_busy(Process *p, Term port)
{
	const struct watch_limits *l = get_limits();

	if (l->busy_port)
		tell_limit(l, p, am_busy_port, port);
}

void watch_dist_busy(Process *p, Term controller)
{
	const struct watch_limits *l = get_limits();

	if (l->busy_dist_port)
		tell_limit(l, p, am_busy_dist_port, controller);
}

static Term place_or_undefined(Term place)
{
	return place != SMALL(0) ? place : am_undefined;
}

static void tell_long_slice(const struct watch_limits *l, Process *p, int64_t ms)
{
	Term words[4];
	const Term pairs[][2] = {
		{ am_timeout, SMALL(ms) },
		{ am_in, place_or_undefined(here.place_term) },
		{ am_out, place_or_undefined(trace_put_place(p, words)) },
	};
	struct heap scratch;

	heap_init(&scratch, HEAP_MIN_WORDS);
	tell_limit(l, p, am_long_schedule, put_pairs(&scratch, 3, pairs));
	heap_free(&scratch);
}

void watch_port_worked(Term port, Term what, int64_t ns)
{
	const Term pairs[][2] = { { am_timeout, SMALL(ns / NS_PER_MS) }, { am_port_op, what } };
	const struct watch_limits *l = get_limits();
	struct heap scratch;

	if (l->long_schedule_ms == 0 || (uint64_t)(ns / NS_PER_MS) < l->long_schedule_ms)
		return;
	heap_init(&scratch, HEAP_MIN_WORDS);
	tell_limit_of(l, port, am_long_schedule, put_pairs(&scratch, 2, pairs));
	heap_free(&scratch);
}

/* ---- profile */

static void tell_profile(const struct watch_profile *f, Term from, Term id, unsigned n, const Term *parts)
{
	tracer_tell(f->pid, from, f->time, am_profile, id, n, parts);
}

/* {profile, Pid, active | inactive, {M, F, A}, Time} */
static void tell_runnable(const struct watch_profile *f, Process *p, Term state)
{
	Term words[4];

	tell_profile(f, p->id, p->id, 2, (Term[]){ state, trace_put_place(p, words) });
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
static void tell_scheduler(const struct watch_profile *f, unsigned id, Term state, uint32_t active)
{
	tell_profile(f, TERM_NONE, am_scheduler, 3, (Term[]){ SMALL(id), state, SMALL(active) });
}

/* Whoever profiles would keep himself busy with what it takes to hear of it: a scheduler is at work when it runs
 * another. */
static void note_work(const struct watch_profile *f)
{
	struct sched *s = sched_self();

	if (s->told_active)
		return;
	s->told_active = true;
	tell_scheduler(f, s->id, am_active, atomic_fetch_add(&active_schedulers, 1) + 1);
}

void watch_sched_idle(unsigned id)
{
	const struct watch_profile *f = get_profile();
	struct sched *s = sched_self();

	if (!s->told_active)
		return;
	s->told_active = false;
	if (f->scheduler)
		tell_scheduler(f, id, am_inactive, atomic_fetch_sub(&active_schedulers, 1) - 1);
	else
		atomic_fetch_sub(&active_schedulers, 1);
}

void watch_slice_began(Process *p, bool waited)
{
	const struct watch_profile *f = get_profile();

	if (get_limits()->long_schedule_ms != 0) {
		here.place_term = trace_put_place(p, here.place);
		here.slice_ns = clock_monotonic_ns();
	}
	if (f->pid == NIL || p->id == f->pid)
		return;
	if (f->scheduler)
		note_work(f);
	if (f->processes && (waited || p->i == process_start_code))
		tell_runnable(f, p, am_active);
}

void watch_slice_ended(Process *p, bool waits)
{
	const struct watch_limits *l = get_limits();
	const struct watch_profile *f = get_profile();
	bool timed = l->long_schedule_ms != 0 && here.slice_ns != 0;
	int64_t ms = timed ? (clock_monotonic_ns() - here.slice_ns) / NS_PER_MS : 0;

	here.slice_ns = 0;
	if (timed && (uint64_t)ms >= l->long_schedule_ms)
		tell_long_slice(l, p, ms);
	if (f->processes && waits && p->id != f->pid)
		tell_runnable(f, p, am_inactive);
}
