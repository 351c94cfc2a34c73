/* SPDX-License-Identifier: Apache-2.0 */
/* Long collections and slices, large heaps, busy ports; who is runnable, which schedulers work. */
#include "trace/watch.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/lock.h"
#include "proc/await.h"
#include "proc/exc.h"
#include "proc/progress.h"
#include "proc/sched.h"
#include "trace/events.h"
#include "trace/trace.h"
#include "trace/tracer.h"

/* The limits of all sessions that have some. One that stands somewhere does not change: who changes limits makes
 * another, and the old one is freed after a round of slices, as a thread may keep what it found until its time slice
 * ends.
 * Invariant: a process's told_long is the number of the set by which it was changed last and, of each slot, whether its
 * watcher was told that the queue is long. A bit counts for who had the slot then: whose `since` is not newer. */
struct watch_set {
	struct progress_wait wait; /* first */
	uint32_t number;           /* of sets, from 1 */
	bool times_gc, times_slices, has_queues;
	uint32_t queue_least, queue_most; /* told are queues as long as the one, and as short as the other */
	unsigned count;
	struct watch_limits rows[];
};
enum { QUEUE_SLOTS = 32 };

static const struct watch_set nobody;
static const struct watch_profile no_profile = { .pid = NIL };
static _Atomic(const struct watch_set *) limits = &nobody; /* changed under limits_lock */
static struct lock limits_lock;
static _Atomic(const struct watch_profile *) profile = &no_profile;
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

static const struct watch_set *get_limits(void)
{
	return atomic_load_explicit(&limits, memory_order_acquire);
}

static const struct watch_profile *get_profile(void)
{
	return atomic_load_explicit(&profile, memory_order_acquire);
}

bool watch_is_on(void)
{
	return get_limits()->count != 0 || get_profile()->pid != NIL;
}

/* NULL: it has none. */
static const struct watch_limits *find_row(const struct watch_set *set, const struct trace_session *s)
{
	for (unsigned i = 0; i < set->count; i++)
		if (set->rows[i].session == s)
			return &set->rows[i];
	return NULL;
}

/* Under limits_lock. */
static struct watch_limits copy_row(const struct trace_session *s)
{
	const struct watch_limits *l = find_row(get_limits(), s);

	return l != NULL ? *l : (struct watch_limits){ .pid = NIL };
}

/* Who sets limits of the default session names whom to tell; of another session the limits stay as long as it does. */
static void forget_dead(struct watch_limits *l, const struct trace_session *s)
{
	if (l->pid != NIL && s->number == 0 && !tracer_is_alive(l->pid, am_undefined))
		*l = (struct watch_limits){ .pid = NIL };
}

struct watch_limits watch_limits(const struct trace_session *s)
{
	struct watch_limits l;

	lock_acquire(&limits_lock);
	l = copy_row(s);
	lock_release(&limits_lock);
	forget_dead(&l, s);
	return l;
}

struct watch_profile watch_profile(void)
{
	const struct watch_profile *f = get_profile();

	return f->pid == NIL || tracer_is_alive(f->pid, am_undefined) ? *f : no_profile;
}

static Term put_limit(struct heap *h, Term name, uint64_t value, Term list)
{
	return value != 0 ? heap_cons(h, heap_tuple(h, name, heap_uint(h, value)), list) : list;
}

Term watch_put_limits(struct heap *h, const struct watch_limits *w)
{
	Term list = NIL;

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
	return list;
}

/* ---- limits change */

/* Room for one row more than `from` has. Its rows are those of `from`, but that of s. */
static struct watch_set *copy_set(const struct watch_set *from, const struct trace_session *s)
{
	struct watch_set *set = mem_zalloc(sizeof(*set) + (from->count + 1) * sizeof(set->rows[0]));

	for (unsigned i = 0; i < from->count; i++)
		if (from->rows[i].session != s)
			set->rows[set->count++] = from->rows[i];
	return set;
}

/* A slot that no row of the set has; -1: there is none. */
static int find_slot(const struct watch_set *set)
{
	uint32_t taken = 0;

	for (unsigned i = 0; i < set->count; i++)
		if (set->rows[i].long_queue != 0)
			taken |= (uint32_t)1 << set->rows[i].slot;
	return taken != UINT32_MAX ? __builtin_ctz(~taken) : -1;
}

/* A session that had limits of queues goes on with its slot: who was told that a queue is long hears when it is short.
 * Who sets those of the default session begins anew, with a slot that nobody was told of by. Fails: false: there is no
 * slot left. */
static bool place_queue(const struct watch_set *set, const struct watch_limits *old, struct watch_limits *l)
{
	int slot;

	if (l->long_queue == 0 || (old->long_queue != 0 && l->session->number != 0))
		return true;
	slot = find_slot(set);
	l->slot = (uint8_t)slot;
	l->since = set->number;
	return slot >= 0;
}

static void sum_up(struct watch_set *set)
{
	set->queue_least = UINT32_MAX;
	for (unsigned i = 0; i < set->count; i++) {
		const struct watch_limits *l = &set->rows[i];

		set->times_gc |= l->long_gc_ms != 0;
		set->times_slices |= l->long_schedule_ms != 0;
		if (l->long_queue == 0)
			continue;
		set->has_queues = true;
		if (l->long_queue < set->queue_least)
			set->queue_least = l->long_queue;
		if (l->short_queue > set->queue_most)
			set->queue_most = l->short_queue;
	}
}

static void free_set(struct progress_wait *w)
{
	struct watch_set *set = (struct watch_set *)w;

	for (unsigned i = 0; i < set->count; i++)
		trace_session_unref(set->rows[i].session);
	mem_free(set);
}

/* Under limits_lock. Takes: set. */
static void publish(struct watch_set *set)
{
	const struct watch_set *old = get_limits();

	for (unsigned i = 0; i < set->count; i++)
		trace_session_ref(set->rows[i].session);
	sum_up(set);
	atomic_store_explicit(&limits, set, memory_order_release);
	if (old != &nobody)
		progress_wait(&((struct watch_set *)old)->wait, free_set);
}

static void apply(struct watch_limits *l, const struct watch_limits *wanted, unsigned given)
{
	l->pid = wanted->pid;
	l->session = wanted->session;
	if (given & WATCH_LONG_GC)
		l->long_gc_ms = wanted->long_gc_ms;
	if (given & WATCH_LONG_SCHEDULE)
		l->long_schedule_ms = wanted->long_schedule_ms;
	if (given & WATCH_LARGE_HEAP)
		l->large_heap_words = wanted->large_heap_words;
	if (given & WATCH_BUSY_PORT)
		l->busy_port = wanted->busy_port;
	if (given & WATCH_BUSY_DIST_PORT)
		l->busy_dist_port = wanted->busy_dist_port;
	if (given & WATCH_QUEUE) {
		l->long_queue = wanted->long_queue;
		l->short_queue = wanted->short_queue;
	}
}

/* Under limits_lock. Fails: false: too many watch queues; then nothing has changed. */
static bool change_limits(const struct watch_limits *wanted, unsigned given)
{
	struct watch_limits old = copy_row(wanted->session), l = old;
	struct watch_set *set = copy_set(get_limits(), wanted->session);

	set->number = get_limits()->number + 1;
	apply(&l, wanted, given);
	if (l.pid != NIL && !place_queue(set, &old, &l)) {
		mem_free(set);
		return false;
	}
	if (l.pid != NIL)
		set->rows[set->count++] = l;
	publish(set);
	return true;
}

struct limits_change {
	struct await await;  /* first */
	struct watch_limits before;
	Term (*tell)(Process *p, const struct watch_limits *before);
};

static Term tell_limits_before(Process *p, struct await *a)
{
	const struct limits_change *c = (const struct limits_change *)a;

	return c->tell(p, &c->before);
}

Term watch_set_limits(Process *p, const struct watch_limits *wanted, unsigned given,
		      Term (*tell)(Process *p, const struct watch_limits *before))
{
	struct watch_limits before;
	struct limits_change *c;
	bool done;

	lock_acquire(&limits_lock);
	before = copy_row(wanted->session);
	done = change_limits(wanted, given);
	lock_release(&limits_lock);
	forget_dead(&before, wanted->session);
	if (!done)
		return exc_error(p, am_system_limit);
	c = mem_alloc(sizeof(*c));
	await_init(&c->await, p, tell_limits_before, NULL);
	c->before = before;
	c->tell = tell;
	trace_review();
	await_round(&c->await);
	return await_parts(p, &c->await);
}

void watch_forget(struct trace_session *s)
{
	lock_acquire(&limits_lock);
	if (find_row(get_limits(), s) != NULL)
		change_limits(&(struct watch_limits){ .pid = NIL, .session = s }, 0);
	lock_release(&limits_lock);
}

/* ---- profile changes */

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

#define EACH_ROW(l, set) \
	for (const struct watch_limits *l = (set)->rows, *end = l + (set)->count; l < end; l++)

/* {monitor, Id, What, Info} of a process or port, but not of who watches. */
static void tell_limit_of(const struct watch_limits *l, Term id, Term what, Term info)
{
	if (id != l->pid && !trace_session_is_over(l->session))
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
	if (!get_limits()->times_gc)
		return;
	here.gc_ns = clock_monotonic_ns();
	if (unlikely(ms != 0))
		clock_sleep_ms(ms);
}

void watch_gc_ended(Process *p)
{
	const struct heap *h = &p->heap;
	const struct watch_set *set = get_limits();
	size_t words = (size_t)(h->end - h->start) + (size_t)(h->old_end - h->old_start);
	int64_t ms = 0;

	if (set->times_gc && here.gc_ns != 0)
		ms = (clock_monotonic_ns() - here.gc_ns) / NS_PER_MS;
	EACH_ROW(l, set) {
		if (l->long_gc_ms != 0 && (uint64_t)ms > l->long_gc_ms)
			tell_heap(l, p, am_long_gc, ms);
		if (l->large_heap_words != 0 && words >= l->large_heap_words)
			tell_heap(l, p, am_large_heap, 0);
	}
}

/* Of a process's told_long, what counts for the rows of the set. */
static uint32_t told_in(const struct watch_set *set, uint64_t told)
{
	uint32_t mask = 0;

	EACH_ROW(l, set)
		if (l->long_queue != 0 && l->since <= told >> QUEUE_SLOTS)
			mask |= (uint32_t)1 << l->slot;
	return (uint32_t)told & mask;
}

/* Returns whether the state has changed. */
static bool change_told(const struct watch_set *set, const struct watch_limits *l, Process *p, bool is_long)
{
	uint64_t before = atomic_load_explicit(&p->told_long, memory_order_relaxed);
	uint32_t bit = (uint32_t)1 << l->slot, told;

	do {
		told = told_in(set, before);
		if (((told & bit) != 0) == is_long)
			return false;
	} while (!atomic_compare_exchange_weak(&p->told_long, &before,
					       (uint64_t)set->number << QUEUE_SLOTS | (told ^ bit)));
	return true;
}

/* What grew becomes long, never short, and the other way round: who sends sees too few while the receiver fetches. */
void watch_queue_changed(Process *p, Term id, uint32_t length, bool grew)
{
	const struct watch_set *set = get_limits();

	if (!set->has_queues || (length < set->queue_least && length > set->queue_most))
		return;
	EACH_ROW(l, set) {
		bool passes = grew ? length >= l->long_queue : length <= l->short_queue;

		if (l->long_queue != 0 && passes && change_told(set, l, p, grew))
			tell_limit_of(l, id, am_long_message_queue, term_from_bool(grew));
	}
}

void watch_port_busy(Process *p, Term port)
{
	const struct watch_set *set = get_limits();

	EACH_ROW(l, set)
		if (l->busy_port)
			tell_limit(l, p, am_busy_port, port);
}

void watch_dist_busy(Process *p, Term controller)
{
	const struct watch_set *set = get_limits();

	EACH_ROW(l, set)
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

static void tell_long_work(const struct watch_limits *l, Term port, Term what, int64_t ms)
{
	const Term pairs[][2] = { { am_timeout, SMALL(ms) }, { am_port_op, what } };
	struct heap scratch;

	heap_init(&scratch, HEAP_MIN_WORDS);
	tell_limit_of(l, port, am_long_schedule, put_pairs(&scratch, 2, pairs));
	heap_free(&scratch);
}

static bool is_long_slice(const struct watch_limits *l, int64_t ms)
{
	return l->long_schedule_ms != 0 && (uint64_t)ms >= l->long_schedule_ms;
}

void watch_port_worked(Term port, Term what, int64_t ns)
{
	const struct watch_set *set = get_limits();

	EACH_ROW(l, set)
		if (is_long_slice(l, ns / NS_PER_MS))
			tell_long_work(l, port, what, ns / NS_PER_MS);
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

	if (get_limits()->times_slices) {
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

static void slice_was(const struct watch_set *set, Process *p, int64_t ms)
{
	EACH_ROW(l, set)
		if (is_long_slice(l, ms))
			tell_long_slice(l, p, ms);
}

void watch_slice_ended(Process *p, bool waits)
{
	const struct watch_set *set = get_limits();
	const struct watch_profile *f = get_profile();

	if (set->times_slices && here.slice_ns != 0)
		slice_was(set, p, (clock_monotonic_ns() - here.slice_ns) / NS_PER_MS);
	here.slice_ns = 0;
	if (f->processes && waits && p->id != f->pid)
		tell_runnable(f, p, am_inactive);
}

void watch_init(void)
{
	lock_init(&limits_lock, LOCK_watch_limits);
}
