/* SPDX-License-Identifier: Apache-2.0 */
/* Schedulers: their run queues, who wakes whom, who sleeps. Invariant: a process stands in at most one run queue,
 * exactly while PS_RUNNABLE is set and it is not between the setting of the bit and sched_enqueue; whoever sets the bit
 * puts it there.
 *
 * No sleep is missed: a process that goes to sleep does so by one compare-and-swap that fails when a signal, time-out
 * or unblocking came; a scheduler announces that it is idle, then looks at every queue once more, while whoever puts a
 * process into a queue first puts it, then looks for idle schedulers (both sides with sequential consistency).
 *
 * What wakes an idle scheduler: WAKE_LENGTH processes in one queue; or one, when the running process goes on for
 * NUDGE_REDS after it put it there, or uses its time slice up (messages back and forth, and births one after the other,
 * would otherwise wander between cores). At most one wakes at a time.
 *
 * Schedulers with an id above `active` stand aside (schedulers_online, multi_scheduling): they give their processes to
 * the others, except those bound to them, and run nothing but their timers. sched_world_runs is what every slice looks
 * at: `active`, or 0 while the world stops. It is looked at after progress_tick: who says that it has been between two
 * slices goes by what was `active` then, so that those above run nothing any more when a round of slices is over.
 *
 * A scheduler that was lent may get another thread (sched_lend.c). What others find by its id, to wake it or to give
 * it a process, is its struct sched_queue, which stays.
 *
 * Of those that sleep one polls (sched_poll.c). It is woken last, so that it goes on polling. Whoever stops polling is
 * awake, and polls again before it sleeps, or wakes another when it stands aside.
 *
 * A scheduler that was woken less than SPIN_NS after its work ran out expects that again, and waits so long before it
 * sleeps: falling asleep and waking cost more. The first wait in vain is the last. */
#include "proc/sched.h"

#include <sched.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/ticks.h"
#include "layout.h"
#include "proc/batch.h"
#include "proc/micro.h"
#include "proc/progress.h"
#include "proc/sched_job.h"
#include "proc/sched_lend.h"
#include "proc/sched_poll.h"
#include "proc/sched_queue.h"
#include "proc/sched_world.h"
#include "proc/slice_clock.h"
#include "proc/timer.h"
#include "proc/worker.h"
#include "usdt.h"

enum {
	NUDGE_REDS = 2000,
	WAKE_LENGTH = 8,
	STEAL_MAX = 32,      /* at most so many at once, and half of what there is */
	LOW_EVERY = 8,       /* a low process runs once in so many turns of normal ones */
};

struct run_list {
	Process *first, **last;
};

/* One for each scheduler: it stays when another thread takes the scheduler over. */
struct sched_queue {
	struct lock lock;
	struct cond cond;
	struct run_list lists[PRIO_COUNT];
	_Atomic uint32_t length;
	uint32_t low_turns;
	bool sleeping;       /* lock */
	_Atomic bool polls;  /* written under the lock: it sleeps at descriptors */
	_Atomic bool wake;   /* written under the lock */
	int64_t woken_ns;    /* lock: when wake was set */
	unsigned id;
	_Atomic int64_t idle_ns, idle_since_ns; /* slept so far; since when it sleeps, or 0 */
};

static struct {
	unsigned count;
	_Atomic unsigned online, active;
	int64_t self_at;            /* bytes from thread_pointer() to sched_of_thread, in every thread */
	struct sched_queue *queues; /* by id */
	_Atomic(struct sched *) *all; /* by id: who has it */
	_Atomic(struct sched *) threads; /* these, and those that may take one over */
	_Atomic uint32_t idle;      /* asleep, or about to be */
	_Atomic uint32_t searching; /* woken, and not yet busy */
	_Atomic uint32_t next;      /* round robin for processes without a scheduler */
	bool may_spin;              /* there is a processor for whoever wakes us */
} scheds;

_Thread_local struct sched *sched_of_thread;
atomic_uint sched_others;

/* ---- the set of schedulers */

static void init_queue(struct sched_queue *q, unsigned id)
{
	lock_init(&q->lock, LOCK_run_queue);
	cond_init(&q->cond);
	for (int i = 0; i < PRIO_COUNT; i++)
		q->lists[i].last = &q->lists[i].first;
	q->id = id;
}

static struct sched *make_thread(void)
{
	struct sched *s = mem_zalloc(sizeof(*s));

	s->next_thread = atomic_load(&scheds.threads);
	while (!atomic_compare_exchange_weak(&scheds.threads, &s->next_thread, s))
		;
	return s;
}

static void make_sched(unsigned id)
{
	struct sched *s = make_thread();

	init_queue(&scheds.queues[id - 1], id);
	s->id = id;
	s->queue = &scheds.queues[id - 1];
	s->wheel = timer_wheel_new();
	atomic_store(&scheds.all[id - 1], s);
}

void sched_be(struct sched *s)
{
	sched_of_thread = s;
}

struct sched *sched_make_spare(void)
{
	struct sched *s = make_thread();

	atomic_store(&s->lent, LENT_TAKEN);
	return s;
}

void sched_pass_on(struct sched *from, struct sched *to)
{
	/* the clock of time slices may be looking at these two */
	__atomic_store_n(&to->id, from->id, __ATOMIC_RELAXED);
	__atomic_store_n(&to->wheel, from->wheel, __ATOMIC_RELAXED);
	to->queue = from->queue;
	to->efile_tag = from->efile_tag;
	to->told_active = from->told_active;
	if (atomic_load(&micro_counts))
		micro_change(to->id, MICRO_OTHER);
	to->timer_reds = 0;
	atomic_store(&scheds.all[to->id - 1], to);
}

static int count_processors(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
}

void sched_make(unsigned count, unsigned online)
{
	scheds.count = count;
	scheds.self_at = (int64_t)((uintptr_t)&sched_of_thread - thread_pointer());
	atomic_store(&sched_others, count - 1);
	atomic_init(&scheds.online, online);
	atomic_init(&scheds.active, online);
	scheds.may_spin = count_processors() > 1;
	scheds.queues = mem_zalloc(count * sizeof(*scheds.queues));
	scheds.all = mem_zalloc(count * sizeof(*scheds.all));
	for (unsigned id = 1; id <= count; id++)
		make_sched(id);
}

unsigned sched_count(void)
{
	return scheds.count;
}

unsigned sched_online(void)
{
	return atomic_load(&scheds.online);
}

unsigned sched_active(void)
{
	return atomic_load(&scheds.active);
}

Process *process_current(void)
{
	struct sched *s = sched_self();

	return s != NULL ? s->current : NULL;
}

struct sched *sched_get(unsigned id)
{
	return id >= 1 && id <= scheds.count ? atomic_load(&scheds.all[id - 1]) : NULL;
}

static struct sched_queue *queue_of(unsigned id)
{
	return &scheds.queues[id - 1];
}

bool sched_is_between_slices(void)
{
	return sched_on_duty() && sched_self()->current == NULL && sched_self()->id <= atomic_load(&scheds.active);
}

size_t sched_run_queue_of(unsigned id)
{
	return id >= 1 && id <= scheds.count ? atomic_load(&queue_of(id)->length) : 0;
}

size_t sched_run_queue_length(void)
{
	size_t n = 0;

	for (unsigned i = 1; i <= scheds.count; i++)
		n += sched_run_queue_of(i);
	return n;
}

void sched_count_gc(size_t reclaimed_words)
{
	if (sched_self() == NULL)
		return;
	sched_count_more(&sched_self()->collections, 1);
	sched_count_more(&sched_self()->reclaimed_words, reclaimed_words);
}

struct sched_totals sched_totals(void)
{
	struct sched_totals t = { 0 };

	for (const struct sched *s = atomic_load(&scheds.threads); s != NULL; s = s->next_thread) {
		t.reds += __atomic_load_n(&s->reds_done, __ATOMIC_RELAXED);
		t.switches += __atomic_load_n(&s->switches, __ATOMIC_RELAXED);
		t.collections += __atomic_load_n(&s->collections, __ATOMIC_RELAXED);
		t.reclaimed_words += __atomic_load_n(&s->reclaimed_words, __ATOMIC_RELAXED);
	}
	return t;
}

/* ---- run queues */

static void list_append(struct run_list *l, Process *p)
{
	p->run_next = NULL;
	*l->last = p;
	l->last = &p->run_next;
}

static Process *list_unlink(struct run_list *l, Process **at)
{
	Process *p = *at;

	*at = p->run_next;
	if (*at == NULL)
		l->last = at;
	return p;
}

static void set_length(struct sched_queue *q, uint32_t n)
{
	atomic_store_explicit(&q->length, n, memory_order_relaxed);
}

static void change_length(struct sched_queue *q, int by)
{
	set_length(q, atomic_load_explicit(&q->length, memory_order_relaxed) + (uint32_t)by);
}

static unsigned level_of(const Process *p)
{
	unsigned raised = atomic_load(&p->raised), own = __atomic_load_n(&p->priority, __ATOMIC_RELAXED);

	return raised > own ? raised : own;
}

uint32_t run_queue_put(struct sched_queue *q, Process *p)
{
	uint32_t n;

	p->runnable_ticks = PROBE_ON(process__taken) ? ticks_now() : 0;
	lock_acquire(&q->lock);
	list_append(&q->lists[level_of(p)], p);
	n = atomic_load_explicit(&q->length, memory_order_relaxed) + 1;
	atomic_store(&q->length, n); /* before the look for idle schedulers, in the order all agree on */
	lock_release(&q->lock);
	return n;
}

/* Queue lock held. */
static Process *pick_first(struct sched_queue *q)
{
	struct run_list *normal = &q->lists[PRIO_NORMAL], *low = &q->lists[PRIO_LOW];

	for (int prio = PRIO_MAX; prio >= PRIO_HIGH; prio--)
		if (q->lists[prio].first != NULL)
			return list_unlink(&q->lists[prio], &q->lists[prio].first);
	if (low->first != NULL && (normal->first == NULL || ++q->low_turns >= LOW_EVERY)) {
		q->low_turns = 0;
		return list_unlink(low, &low->first);
	}
	return normal->first != NULL ? list_unlink(normal, &normal->first) : NULL;
}

Process *run_queue_take(struct sched_queue *q)
{
	Process *p;

	if (atomic_load_explicit(&q->length, memory_order_relaxed) == 0)
		return NULL;
	lock_acquire(&q->lock);
	p = pick_first(q);
	if (p != NULL)
		change_length(q, -1);
	lock_release(&q->lock);
	return p;
}

uint32_t run_queue_length(const struct sched_queue *q)
{
	return atomic_load(&q->length);
}

bool run_queue_is_active(const struct sched_queue *q)
{
	return q->id <= atomic_load(&scheds.active);
}

/* The first that is not bound, the most urgent first. Queue lock held. */
static Process *unlink_unbound(struct sched_queue *q)
{
	for (int prio = PRIO_MAX; prio >= PRIO_LOW; prio--) {
		struct run_list *l = &q->lists[prio];
		Process **at = &l->first;

		while (*at != NULL && (*at)->bound)
			at = &(*at)->run_next;
		if (*at != NULL)
			return list_unlink(l, at);
	}
	return NULL;
}

/* Half of the queue: one to run, the others for our own queue. */
static Process *queue_steal(struct sched_queue *q, struct sched_queue *own)
{
	Process *taken[STEAL_MAX];
	uint32_t n = 0, most;

	lock_acquire(&q->lock);
	most = (atomic_load_explicit(&q->length, memory_order_relaxed) + 1) / 2;
	while (n < most && n < STEAL_MAX && (taken[n] = unlink_unbound(q)) != NULL)
		n++;
	change_length(q, -(int)n);
	lock_release(&q->lock);
	if (n > 1) {
		lock_acquire(&own->lock);
		for (uint32_t i = 1; i < n; i++)
			list_append(&own->lists[level_of(taken[i])], taken[i]);
		change_length(own, (int)n - 1);
		lock_release(&own->lock);
	}
	return n > 0 ? taken[0] : NULL;
}

static Process *steal(struct sched *s)
{
	unsigned active = atomic_load(&scheds.active);

	for (unsigned i = 1; i < active; i++) {
		struct sched_queue *victim = &scheds.queues[(s->id - 1 + i) % active];
		Process *p;

		if (atomic_load(&victim->length) == 0)
			continue;
		p = queue_steal(victim, s->queue);
		if (p != NULL)
			return p;
	}
	return NULL;
}

/* ---- waking schedulers */

static bool wake_sched(struct sched_queue *q)
{
	bool woken, polls;

	lock_acquire(&q->lock);
	polls = atomic_load_explicit(&q->polls, memory_order_relaxed);
	woken = q->sleeping && !q->wake;
	if (woken) {
		atomic_store(&q->wake, true);
		q->woken_ns = clock_monotonic_ns();
		atomic_fetch_add(&scheds.searching, 1);
	}
	lock_release(&q->lock);
	if (woken && polls)
		sched_poll_wake();
	else if (woken)
		cond_signal(&q->cond); /* without the lock, which the woken one takes */
	return woken;
}

/* Round robin. */
static struct sched_queue *next_queue(void)
{
	return &scheds.queues[atomic_fetch_add_explicit(&scheds.next, 1,
							memory_order_relaxed) % atomic_load(&scheds.active)];
}

/* Who polls goes on doing that as long as another sleeps. */
void sched_wake_idle(void)
{
	unsigned active = atomic_load(&scheds.active);
	struct sched_queue *poller = NULL;
	uint32_t first;

	if (atomic_load(&scheds.idle) == 0 || atomic_load(&scheds.searching) != 0)
		return;
	batch_end_turn();
	first = atomic_fetch_add_explicit(&scheds.next, 1, memory_order_relaxed);
	for (unsigned i = 0; i < active; i++) {
		struct sched_queue *q = &scheds.queues[(first + i) % active];

		if (atomic_load_explicit(&q->polls, memory_order_relaxed))
			poller = q;
		else if (wake_sched(q))
			return;
	}
	if (poller != NULL)
		wake_sched(poller);
}

bool sched_is_any_idle(void)
{
	return atomic_load(&scheds.idle) != 0;
}

/* The running process comes back soon; if its queue is not empty then, another scheduler is woken. */
static void nudge(Process *running)
{
	if (running == NULL || running->reds_left <= NUDGE_REDS)
		return;
	running->reds_kept += running->reds_left - NUDGE_REDS;
	running->reds_left = NUDGE_REDS;
}

void sched_kick(unsigned id)
{
	if (!sched_on_duty() || sched_self()->id != id)
		wake_sched(queue_of(id));
}

static void enqueue_here(struct sched *s, Process *p)
{
	uint32_t n = run_queue_put(s->queue, p);

	if (atomic_load(&scheds.idle) == 0)
		return;
	if (n >= WAKE_LENGTH)
		sched_wake_idle();
	else
		nudge(s->current);
}

static void enqueue_there(struct sched_queue *q, Process *p)
{
	bool bound = p->bound; /* once in the queue, it may run at once */

	run_queue_put(q, p);
	if (atomic_load(&scheds.idle) == 0 && run_queue_is_active(q))
		return;
	if (!wake_sched(q) && !bound)
		sched_wake_idle();
}

void sched_enqueue(Process *p)
{
	unsigned id = atomic_load_explicit(&p->scheduler, memory_order_relaxed);

	if (sched_on_duty() && (!p->bound || id == sched_self()->id)) {
		enqueue_here(sched_self(), p);
		return;
	}
	if (id == 0 || (!p->bound && !run_queue_is_active(queue_of(id))))
		enqueue_there(next_queue(), p);
	else
		enqueue_there(queue_of(id), p);
}

void sched_wake(Process *p, bool message)
{
	uint32_t state = atomic_load_explicit(&p->state, memory_order_relaxed);

	do {
		if (state & (PS_RUNNABLE | PS_RUNNING | PS_DEAD))
			return;
		if (message && (state & (PS_SUSPENDED | PS_BLOCKED)))
			return;
	} while (!atomic_compare_exchange_weak(&p->state, &state, state | PS_RUNNABLE));
	sched_enqueue(p);
}

/* Queue lock held. */
static bool lift(struct sched_queue *q, Process *p, unsigned level)
{
	for (unsigned i = 0; i < level; i++) {
		struct run_list *l = &q->lists[i];
		Process **at = &l->first;

		while (*at != NULL && *at != p)
			at = &(*at)->run_next;
		if (*at == NULL)
			continue;
		list_append(&q->lists[level], list_unlink(l, at));
		return true;
	}
	return false;
}

/* Wherever it waits. Who puts it into a queue from now on sees how high. */
static void lift_queued(Process *p)
{
	bool found = false;

	for (unsigned i = 0; i < scheds.count && !found; i++) {
		struct sched_queue *q = &scheds.queues[i];

		lock_acquire(&q->lock);
		found = lift(q, p, level_of(p));
		lock_release(&q->lock);
	}
}

bool sched_raise(Term pid, enum proc_priority priority)
{
	Process *p = process_peek(pid);
	uint8_t before = 0;

	if (p == NULL || priority <= __atomic_load_n(&p->priority, __ATOMIC_RELAXED))
		return false;
	p = process_find(pid);
	if (p == NULL)
		return false;
	while (before < priority && !atomic_compare_exchange_weak(&p->raised, &before, (uint8_t)priority))
		;
	if (before < priority && (atomic_load(&p->state) & PS_RUNNABLE))
		lift_queued(p);
	process_unref(p);
	return true;
}

void process_unblock(Process *p)
{
	uint32_t state = atomic_load(&p->state), next;

	do {
		next = state | PS_UNBLOCKED;
		if ((state & PS_BLOCKED) && !(state & (PS_RUNNABLE | PS_RUNNING)))
			next |= PS_RUNNABLE;
	} while (!atomic_compare_exchange_weak(&p->state, &state, next));
	if (next & ~state & PS_RUNNABLE)
		sched_enqueue(p);
}

void sched_set_active(unsigned online, bool only_one)
{
	atomic_store(&scheds.online, online);
	worker_set_turns(online);
	atomic_store(&scheds.active, only_one ? 1 : online);
	sched_world_review();
	for (unsigned i = 0; i < scheds.count; i++)
		wake_sched(&scheds.queues[i]);
}

/* ---- idling */

static bool anything_queued(void)
{
	for (unsigned i = 0; i < atomic_load(&scheds.active); i++)
		if (atomic_load(&scheds.queues[i].length) != 0)
			return true;
	return sched_job_waits();
}

/* polls: it has the turn to. */
static void spin(struct sched_queue *q, int64_t since, bool polls)
{
	while (!atomic_load_explicit(&q->wake, memory_order_relaxed) && !(polls && sched_poll_look()) &&
	       thread_spin(since))
		;
}

/* Queue lock held, as by wake_sched. */
static bool may_sleep(const struct sched_queue *q, bool aside)
{
	return !q->wake && (aside || (atomic_load(&q->length) == 0 && !sched_job_waits()));
}

/* Of two deadlines, where 0 is none. */
static int64_t earlier(int64_t a, int64_t b)
{
	return a == 0 || (b != 0 && b < a) ? b : a;
}

/* Queue lock held. */
static void sleep_at_descriptors(struct sched_queue *q, int64_t deadline)
{
	atomic_store_explicit(&q->polls, true, memory_order_relaxed);
	lock_release(&q->lock);
	wait_begin(WAIT_descriptors);
	sched_poll_sleep(deadline);
	wait_end();
	lock_acquire(&q->lock);
	atomic_store_explicit(&q->polls, false, memory_order_relaxed);
}

/* Sleeps until woken, or until the next timer, or until its batch of events is to be handed over, or as long as nothing
 * is queued. Returns whether it has the turn to poll, which it then ends in the world. */
static bool sleep_idle(struct sched *s, bool aside)
{
	struct sched_queue *q = s->queue;
	int64_t deadline = earlier(timer_wheel_deadline_ns(s->wheel), batch_deadline_ns());
	int64_t since = clock_monotonic_ns();
	bool polls = !aside && sched_poll_begin();

	atomic_store_explicit(&q->idle_since_ns, since, memory_order_relaxed);
	if (s->spins && !aside)
		spin(q, since, polls);
	lock_acquire(&q->lock);
	if (polls && may_sleep(q, aside))
		sleep_at_descriptors(q, deadline);
	while (!polls && may_sleep(q, aside)) {
		if (deadline == 0)
			cond_wait(WAIT_processes, &q->cond, &q->lock);
		else if (!cond_wait_until(WAIT_processes, &q->cond, &q->lock, deadline))
			break;
	}
	s->spins = scheds.may_spin && q->wake && q->woken_ns - since < SPIN_NS;
	lock_release(&q->lock);
	batch_hand_over_old();
	atomic_fetch_add_explicit(&q->idle_ns, clock_monotonic_ns() - since, memory_order_relaxed);
	atomic_store(&q->idle_since_ns, 0);
	slice_clock_wake();
	return polls;
}

static Process *take_unbound(struct sched_queue *q)
{
	Process *p;

	lock_acquire(&q->lock);
	p = unlink_unbound(q);
	if (p != NULL)
		change_length(q, -1);
	lock_release(&q->lock);
	return p;
}

static void give_away(struct sched *s)
{
	Process *p;

	while ((p = take_unbound(s->queue)) != NULL)
		enqueue_there(next_queue(), p);
}

/* Outside of the world, whose stop need not wait for s. Who leaves it may end a round (proc/progress.h), and wake who
 * waits for that. */
static void sleep_outside(struct sched *s, bool aside)
{
	bool polls;

	micro_enter(s, MICRO_SLEEP);
	sched_world_leave(s);
	if (aside)
		give_away(s);
	polls = sleep_idle(s, aside);
	sched_world_enter(s);
	micro_enter(s, MICRO_OTHER);
	if (polls)
		sched_poll_end();
}

int64_t sched_idle_ns(unsigned id)
{
	const struct sched_queue *q = queue_of(id);
	int64_t since = atomic_load_explicit(&q->idle_since_ns, memory_order_relaxed);
	int64_t idle = atomic_load_explicit(&q->idle_ns, memory_order_relaxed);

	return since != 0 ? idle + clock_monotonic_ns() - since : idle;
}

bool sched_is_busy(unsigned id)
{
	return atomic_load(&queue_of(id)->idle_since_ns) == 0;
}

static void set_sleeping(struct sched_queue *q, bool sleeping)
{
	lock_acquire(&q->lock);
	q->sleeping = sleeping;
	if (!sleeping && q->wake) {
		atomic_store(&q->wake, false);
		atomic_fetch_sub(&scheds.searching, 1);
	}
	lock_release(&q->lock);
}

static void announce_idle(struct sched_queue *q, bool idle)
{
	set_sleeping(q, idle);
	if (idle)
		atomic_fetch_add(&scheds.idle, 1);
	else
		atomic_fetch_sub(&scheds.idle, 1);
}

Process *sched_search(struct sched *s)
{
	announce_idle(s->queue, true);
	return steal(s);
}

Process *sched_rest(struct sched *s, Process *p)
{
	if (p == NULL)
		sleep_outside(s, false);
	announce_idle(s->queue, false);
	if (p == NULL && run_queue_is_active(s->queue)) {
		p = run_queue_take(s->queue);
		if (p == NULL)
			p = steal(s);
	}
	/* More where that came from: the next one. */
	if (p != NULL && anything_queued())
		sched_wake_idle();
	return p;
}

/* ---- standing aside */

/* Whoever puts a process here from now on wakes s, and so does who makes it active. */
void sched_stand_aside(struct sched *s)
{
	set_sleeping(s->queue, true);
	if (run_queue_is_active(s->queue)) {
		set_sleeping(s->queue, false);
		return;
	}
	give_away(s);
	/* What s would have done, or waited for, another does. */
	if (anything_queued() || sched_poll_is_vacant())
		sched_wake_idle();
	sleep_outside(s, true);
	set_sleeping(s->queue, false);
	/* Who looked for an idle scheduler meanwhile may have taken s for one. */
	if (anything_queued())
		sched_wake_idle();
}

/* For who reads our memory from outside. */
static const uint32_t layout_numbers[] = {
#define LAYOUT_SCHEDULERS LAYOUT_NUMBER
#include "layout.def"
};
LAYOUT_PART(layout_schedulers, scheds);
