/* SPDX-License-Identifier: Apache-2.0 */
/* Dirty schedulers. Invariants: a work stands in its kind's queue exactly while its state is WORK_QUEUED; p->dirty
 * points to it from dirty_run to the end of its resume, or of p, and p neither collects nor runs meanwhile, though it
 * may be scheduled for its signals. Of the end of p and the end of its work the later one frees both (WORK_LEFT,
 * WORK_DONE). The thread of a dirty scheduler has a struct sched, whose scheduler counts as taken over for ever:
 * sched_on_duty is false there. */
#include "proc/dirty.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "layout.h"
#include "proc/batch.h"
#include "proc/process_life.h"
#include "proc/sched.h"
#include "proc/sched_lend.h"
#include "proc/sched_world.h"

enum work_state {
	WORK_QUEUED,
	WORK_PARKED,  /* its turn came while p was suspended */
	WORK_RUNNING,
	WORK_DONE,    /* p resumes, or is about to */
	WORK_LEFT,    /* p ended while it ran */
};

enum { LOW_EVERY = 8 }; /* a low one after so many normal ones */

struct dirty_thread {
	enum dirty_kind kind;
	int64_t busy_ns, busy_since_ns; /* lock; since: 0 while it runs no work */
	_Atomic(Process *) process;     /* NULL: it runs no work; read from outside alone */
};

struct work_list {
	struct dirty_work *first, **last;
};

static struct dirty_queue {
	const char *name;    /* of its threads, with their number behind */
	struct lock lock;
	struct cond filled, stopped;
	struct work_list lists[PRIO_COUNT]; /* lock */
	atomic_uint length, running;        /* lock; read without it by statistics and who looks out */
	unsigned low_turns;                 /* lock */
	unsigned count;
	unsigned online, started, idle;     /* lock */
	unsigned spinning;                  /* lock: 1 while an idle thread is awake */
	int64_t idle_since_ns;              /* lock: when a thread last found no work */
	bool spins;                         /* lock: the last work came less than SPIN_NS after that */
	bool blocked;                       /* lock */
	struct dirty_thread *threads;       /* all of them, those too that have not started */
} queues[DIRTY_KINDS] = {
	[DIRTY_CPU] = { .name = "erts_dcpus_" },
	[DIRTY_IO] = { .name = "erts_dios_" },
};

static _Thread_local struct dirty_thread *own;

static void init_queue(enum dirty_kind kind, unsigned count, unsigned online)
{
	struct dirty_queue *q = &queues[kind];

	lock_init(&q->lock, LOCK_dirty_queue);
	cond_init(&q->filled);
	cond_init(&q->stopped);
	for (int i = 0; i < PRIO_COUNT; i++)
		q->lists[i].last = &q->lists[i].first;
	q->count = count;
	q->online = online;
	q->threads = mem_zalloc(count * sizeof(*q->threads));
	for (unsigned i = 0; i < count; i++)
		q->threads[i].kind = kind;
}

void dirty_init(unsigned cpu, unsigned cpu_online, unsigned io)
{
	init_queue(DIRTY_CPU, cpu, cpu_online);
	init_queue(DIRTY_IO, io, io);
}

/* ---- the queue; its lock is held */

static void queue_put(struct dirty_queue *q, struct dirty_work *w)
{
	struct work_list *l = &q->lists[w->level];

	w->next = NULL;
	*l->last = w;
	l->last = &w->next;
	q->length++;
	atomic_store(&w->state, WORK_QUEUED);
}

static struct dirty_work *list_unlink(struct dirty_queue *q, struct work_list *l, struct dirty_work **at)
{
	struct dirty_work *w = *at;

	*at = w->next;
	if (*at == NULL)
		l->last = at;
	q->length--;
	return w;
}

static struct dirty_work *take_first(struct dirty_queue *q)
{
	struct work_list *normal = &q->lists[PRIO_NORMAL], *low = &q->lists[PRIO_LOW], *l = normal;

	for (int prio = PRIO_MAX; prio >= PRIO_HIGH; prio--)
		if (q->lists[prio].first != NULL)
			return list_unlink(q, &q->lists[prio], &q->lists[prio].first);
	if (low->first != NULL && (normal->first == NULL || ++q->low_turns >= LOW_EVERY)) {
		q->low_turns = 0;
		l = low;
	}
	return list_unlink(q, l, &l->first);
}

/* Who is suspended waits aside. */
static struct dirty_work *take_ready(struct dirty_queue *q)
{
	while (q->length > 0) {
		struct dirty_work *w = take_first(q);

		if (!(atomic_load(&w->p->state) & PS_SUSPENDED))
			return w;
		atomic_store(&w->state, WORK_PARKED);
	}
	return NULL;
}

static bool may_begin(const struct dirty_queue *q)
{
	return !q->blocked && q->running < q->online;
}

/* ---- threads */

static void *run_thread(void *thread);

static void start_thread(struct dirty_queue *q)
{
	char name[24];
	int error;

	snprintf(name, sizeof(name), "%s%u", q->name, q->started + 1);
	error = thread_start(name, run_thread, &q->threads[q->started]);
	if (error != 0 && q->started == 0)
		log_refused("start a dirty scheduler", -error);
	q->started += error == 0;
}

/* Threads that were woken and have not run yet still count as idle. */
static void submit(struct dirty_queue *q, struct dirty_work *w)
{
	bool wake;

	lock_acquire(&q->lock);
	queue_put(q, w);
	q->spins = clock_monotonic_ns() - q->idle_since_ns < SPIN_NS;
	if (q->length > q->idle && q->started < q->count)
		start_thread(q);
	wake = q->length > q->spinning;
	lock_release(&q->lock);
	if (wake)
		cond_signal(&q->filled);
}

/* Most short works are followed by another sooner than a thread falls asleep and is woken: where the last one came
 * soon, one thread at a time looks out for the next. The first wait in vain is the last. Lock held. */
static void spin(struct dirty_queue *q)
{
	int64_t since = clock_monotonic_ns();

	q->spinning = 1;
	lock_release(&q->lock);
	while (atomic_load_explicit(&q->length, memory_order_relaxed) == 0 && thread_spin(since))
		;
	lock_acquire(&q->lock);
	q->spinning = 0;
	q->spins = q->length > 0;
}

/* Lock held. */
static struct dirty_work *await_work(struct dirty_queue *q)
{
	struct dirty_work *w;

	q->idle++;
	q->idle_since_ns = clock_monotonic_ns();
	if (q->length == 0 && q->spins && q->spinning == 0)
		spin(q);
	while (!may_begin(q) || (w = take_ready(q)) == NULL)
		batch_wait(WAIT_work, &q->filled, &q->lock);
	q->idle--;
	return w;
}

static struct dirty_work *next_work(struct dirty_thread *t)
{
	struct dirty_queue *q = &queues[t->kind];
	struct dirty_work *w;

	lock_acquire(&q->lock);
	w = await_work(q);
	q->running++;
	atomic_store(&w->state, WORK_RUNNING);
	t->busy_since_ns = clock_monotonic_ns();
	lock_release(&q->lock);
	return w;
}

static void end_busy(struct dirty_thread *t)
{
	struct dirty_queue *q = &queues[t->kind];
	bool wake;

	lock_acquire(&q->lock);
	t->busy_ns += clock_monotonic_ns() - t->busy_since_ns;
	t->busy_since_ns = 0;
	if (--q->running == 0)
		cond_broadcast(&q->stopped);
	wake = q->length > 0 && q->idle > 0;
	lock_release(&q->lock);
	if (wake) /* while this thread frees what its work had */
		cond_signal(&q->filled);
}

/* ---- what a thread does for a process */

/* p waits in its native. A scheduler has to run it for what came in before it can be held, so this thread waits
 * outside: the schedulers may all be about to stop the world, and would wait in their turn for who works apart. Fails:
 * false when p ends. */
static bool await_rest(const Process *p)
{
	int64_t since = clock_monotonic_ns();
	uint32_t state;

	wait_begin(WAIT_process_turn);
	while (!((state = atomic_load(&p->state)) & (PS_EXITING | PS_DEAD)) && (state & (PS_RUNNABLE | PS_RUNNING)))
		if (!thread_spin(since))
			clock_sleep_ms(1);
	wait_end();
	return !(state & (PS_EXITING | PS_DEAD));
}

/* From now on p counts as running here. Fails: false when another was faster, or p ends. */
static bool try_hold(Process *p)
{
	uint32_t state = atomic_load(&p->state);

	return !(state & (PS_EXITING | PS_DEAD | PS_RUNNABLE | PS_RUNNING)) &&
		atomic_compare_exchange_strong(&p->state, &state, state | PS_RUNNING);
}

Process *dirty_hold(void)
{
	Process *p = own != NULL ? sched_self()->current : NULL;

	while (p != NULL && await_rest(p)) {
		sched_world_enter_apart();
		if (try_hold(p))
			return p;
		sched_world_leave_apart();
	}
	return NULL;
}

void dirty_let_go(Process *p)
{
	sched_let_go(p);
	sched_world_leave_apart();
}

bool dirty_is_wanted(void)
{
	const Process *p = own != NULL ? sched_self()->current : NULL;

	return p != NULL && !(atomic_load(&p->state) & PS_EXITING);
}

bool dirty_is_here(enum dirty_kind *kind)
{
	if (own == NULL)
		return false;
	*kind = own->kind;
	return true;
}

/* To who watches slices. */
static void tell_slice(struct sched *s, bool begins)
{
	Process *p;

	sched_look_who_watches(s);
	if (likely(s->watch == WATCH_NOTHING))
		return;
	p = dirty_hold();
	if (p == NULL)
		return;
	sched_tell_slice(p, begins);
	p->dirty->is_told = begins;
	dirty_let_go(p);
}

static void free_work(struct dirty_work *w)
{
	heap_free(&w->stand_in.heap);
	w->drop(w);
}

/* p ended before its work. */
static void end_left(struct dirty_work *w, Process *p)
{
	sched_world_enter_apart();
	free_work(w);
	process_end_memory(p);
	sched_world_leave_apart();
}

static void finish(struct dirty_work *w, Process *p)
{
	uint8_t running = WORK_RUNNING;

	atomic_fetch_and(&p->state, ~(uint32_t)PS_DIRTY_RUNNING);
	if (atomic_compare_exchange_strong(&w->state, &running, WORK_DONE))
		process_unblock(p);
	else
		end_left(w, p);
	process_unref(p);
}

static void *run_thread(void *thread)
{
	struct sched *s = sched_make_spare();

	own = thread;
	s->is_dirty = true;
	sched_be(s);
	for (;;) {
		struct dirty_work *w = next_work(own);
		Process *p = w->p;

		s->current = p;
		atomic_store_explicit(&own->process, p, memory_order_relaxed);
		tell_slice(s, true);
		/* Whoever sees that it runs dirty, and sends it something, comes after the slice in what is traced. */
		atomic_fetch_or(&p->state, PS_DIRTY_RUNNING);
		w->result = w->run(&w->stand_in, w);
		ENSURE(w->result != TERM_NONE || w->stand_in.exc_kind < EXC_TRAP);
		tell_slice(s, false);
		s->current = NULL;
		atomic_store_explicit(&own->process, NULL, memory_order_relaxed);
		end_busy(own);
		finish(w, p);
	}
	return NULL;
}

/* ---- the process */

/* An error finds the native's arguments in the X registers, and resume_arg says so. */
static void place_arguments(Process *p, const struct dirty_work *w)
{
	Term *x = sched_self()->x;

	if (w->args != NULL)
		memcpy(x, w->args, w->arity * sizeof(Term));
	p->resume_arg = w->args != NULL ? x : NULL;
}

static void take_exception(Process *p, const Process *from)
{
	p->exc_kind = from->exc_kind;
	p->exc_reason = from->exc_reason;
	p->exc_trace = from->exc_trace;
	p->exc_has_trace = from->exc_has_trace;
}

static Term resume_work(Process *p, void *arg)
{
	struct dirty_work *w = arg;
	Term t = w->result;

	if (atomic_load(&w->state) != WORK_DONE)
		return exc_wait(p, resume_work, p->drop, w); /* woken too early */
	p->dirty = NULL;
	heap_adopt(&p->heap, &w->stand_in.heap);
	if (t == TERM_NONE)
		take_exception(p, &w->stand_in);
	if (w->done != NULL)
		t = w->done(p, w, t);
	if (t == TERM_NONE && p->exc_kind < EXC_TRAP)
		place_arguments(p, w);
	if (p->has_tasks) /* they have waited for this */
		process_yield_soon(p);
	free_work(w);
	return t;
}

/* p ends. */
static void drop_work(Process *p, void *arg)
{
	struct dirty_work *w = arg;
	struct dirty_queue *q = &queues[w->kind];
	enum work_state state;

	lock_acquire(&q->lock);
	state = atomic_load(&w->state);
	if (state == WORK_QUEUED) {
		struct work_list *l = &q->lists[w->level];
		struct dirty_work **at = &l->first;

		while (*at != w)
			at = &(*at)->next;
		list_unlink(q, l, at);
	}
	lock_release(&q->lock);
	if (state == WORK_RUNNING)
		return;
	p->dirty = NULL;
	if (state != WORK_DONE)
		process_unref(p);
	free_work(w);
}

bool dirty_keeps(Process *p)
{
	struct dirty_work *w = p->dirty;
	uint8_t running = WORK_RUNNING;

	if (w == NULL)
		return false;
	p->dirty = NULL;
	if (atomic_compare_exchange_strong(&w->state, &running, WORK_LEFT))
		return true;
	free_work(w);
	return false;
}

/* What natives read of a process, with a heap for what they make: all fragments. */
static void make_stand_in(Process *s, const Process *p)
{
	memset(s, 0, sizeof(*s));
	s->id = p->id;
	s->flags = p->flags & (PF_TRAP_EXIT | PF_SENSITIVE);
	s->priority = p->priority;
	s->reds_left = SCHED_REDS;
	s->exc_reason = s->exc_trace = s->nif_args = NIL;
	s->seq_token = p->seq_token;
	s->dt_utag = p->dt_utag;
	s->group_leader = p->group_leader;
	s->error_handler = p->error_handler;
	s->parent = p->parent;
	s->initial_module = p->initial_module;
	s->initial_function = p->initial_function;
	s->initial_arity = p->initial_arity;
	s->msg_last = s->msg_save = s->msg_high = &s->msg_first;
}

Term dirty_run(Process *p, enum dirty_kind kind, struct dirty_work *w)
{
	make_stand_in(&w->stand_in, p);
	w->p = p;
	w->kind = (uint8_t)kind;
	w->level = p->priority;
	process_ref(p);
	p->dirty = w;
	exc_wait(p, resume_work, drop_work, w);
	submit(&queues[kind], w);
	return TERM_NONE;
}

void dirty_look_again(Process *p)
{
	struct dirty_work *w = p->dirty;
	struct dirty_queue *q = w != NULL ? &queues[w->kind] : NULL;

	if (q == NULL || atomic_load(&p->state) & PS_SUSPENDED)
		return;
	lock_acquire(&q->lock);
	if (atomic_load(&w->state) == WORK_PARKED)
		queue_put(q, w);
	lock_release(&q->lock);
	cond_signal(&q->filled);
}

bool dirty_is_queued(const Process *p)
{
	const struct dirty_work *w = p->dirty;

	return w != NULL && atomic_load(&w->state) < WORK_RUNNING;
}

/* ---- how many */

unsigned dirty_count(enum dirty_kind kind)
{
	return queues[kind].count;
}

unsigned dirty_online(enum dirty_kind kind)
{
	struct dirty_queue *q = &queues[kind];
	unsigned online;

	lock_acquire(&q->lock);
	online = q->online;
	lock_release(&q->lock);
	return online;
}

unsigned dirty_active(enum dirty_kind kind)
{
	struct dirty_queue *q = &queues[kind];
	unsigned active;

	lock_acquire(&q->lock);
	active = q->blocked ? 0 : q->online;
	lock_release(&q->lock);
	return active;
}

void dirty_set_online(unsigned cpu)
{
	struct dirty_queue *q = &queues[DIRTY_CPU];

	lock_acquire(&q->lock);
	q->online = cpu;
	lock_release(&q->lock);
	cond_broadcast(&q->filled);
}

void dirty_block(bool block)
{
	for (int kind = 0; kind < DIRTY_KINDS; kind++) {
		struct dirty_queue *q = &queues[kind];

		lock_acquire(&q->lock);
		q->blocked = block;
		lock_release(&q->lock);
		cond_broadcast(block ? &q->stopped : &q->filled);
	}
}

void dirty_await_stop(void)
{
	sched_go_outside();
	for (int kind = 0; kind < DIRTY_KINDS; kind++) {
		struct dirty_queue *q = &queues[kind];

		lock_acquire(&q->lock);
		while (q->running > 0 && q->blocked)
			batch_wait(WAIT_dirty_stop, &q->stopped, &q->lock);
		lock_release(&q->lock);
	}
	sched_go_inside();
}

size_t dirty_queue_length(enum dirty_kind kind)
{
	return queues[kind].length;
}

size_t dirty_running(enum dirty_kind kind)
{
	return queues[kind].running;
}

int64_t dirty_busy_ns(enum dirty_kind kind, unsigned number)
{
	struct dirty_queue *q = &queues[kind];
	const struct dirty_thread *t = &q->threads[number - 1];
	int64_t ns;

	lock_acquire(&q->lock);
	ns = t->busy_ns + (t->busy_since_ns != 0 ? clock_monotonic_ns() - t->busy_since_ns : 0);
	lock_release(&q->lock);
	return ns;
}

/* For who reads our memory from outside. */
static const uint32_t layout_numbers[] = {
#define LAYOUT_DIRTY LAYOUT_NUMBER
#include "layout.def"
};
LAYOUT_PART(layout_dirty, queues);
