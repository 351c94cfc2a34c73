/* SPDX-License-Identifier: Apache-2.0 */
/* A time slice: a process is taken from its queue, its signals are handled, it runs, and is queued again or sleeps.
 * It goes to sleep by one compare-and-swap that fails when a signal, time-out or unblocking came. */
#include "proc/batch.h"
#include "proc/dirty.h"
#include "proc/exc.h"
#include "proc/message.h"
#include "proc/micro.h"
#include "proc/probe.h"
#include "proc/process_gc.h"
#include "proc/process_life.h"
#include "proc/sched_queue.h"
#include "proc/sched_world.h"
#include "proc/task.h"
#include "proc/tracee.h"
#include "usdt.h"

enum run_result (*sched_run_process)(struct sched *s, Process *p);
void (*sched_sampled)(Process *p);

/* RUNNABLE becomes RUNNING; returns the state before. */
static uint32_t begin_running(Process *p)
{
	uint32_t state = atomic_load_explicit(&p->state, memory_order_relaxed), next;

	do
		next = (state & ~(uint32_t)(PS_RUNNABLE | PS_WAITING | PS_BLOCKED | PS_UNBLOCKED | PS_HIBERNATED)) |
		       PS_RUNNING;
	while (!atomic_compare_exchange_weak_explicit(&p->state, &state, next, memory_order_acquire,
						      memory_order_relaxed));
	return state;
}

/* Sleeps as `how` says, unless one of the bits `unless` is set. */
static bool end_running(Process *p, uint32_t how, uint32_t unless)
{
	uint32_t state = atomic_load_explicit(&p->state, memory_order_relaxed);

	do {
		if (state & unless)
			return false;
	} while (!atomic_compare_exchange_weak(&p->state, &state, (state & ~(uint32_t)PS_RUNNING) | how));
	return true;
}

static void requeue(struct sched *s, Process *p)
{
	uint32_t state = atomic_load_explicit(&p->state, memory_order_relaxed), next, n;
	bool elsewhere = !sched_on_duty() || (p->bound && atomic_load(&p->scheduler) != s->id);

	do
		next = (state & ~(uint32_t)PS_RUNNING) | PS_RUNNABLE;
	while (!atomic_compare_exchange_weak(&p->state, &state, next));
	if (elsewhere) {
		sched_enqueue(p);
		return;
	}
	n = run_queue_put(s->queue, p);
	if (n >= 2)
		sched_wake_idle();
}

static void account(struct sched *s, Process *p)
{
	int32_t used = SCHED_REDS - p->reds_left - p->reds_kept;

	if (used < 1)
		used = 1;
	p->reds_done += (uint64_t)used;
	p->reds_left = SCHED_REDS;
	p->reds_kept = 0;
	sched_count_more(&s->reds_done, (uint64_t)used);
	s->timer_reds -= used;
}

void sched_leave(Process *p)
{
	struct sched *s = sched_self();

	if (s == NULL)
		return;
	account(s, p);
	s->current = NULL;
}

/* Who else watches slices than probes: microstate accounting, tracing. */
static inline bool is_slice_followed(void)
{
	return unlikely(atomic_load_explicit(&micro_counts, memory_order_relaxed) || trace_active);
}

static PROBE_COLD void follow_end(Process *p, bool waits)
{
	micro_enter(sched_self(), MICRO_OTHER);
	if (PROBE_ON(process__unscheduled))
		probe_process__unscheduled(p, true);
	if (trace_active)
		trace_hooks.slice_ended(p, waits);
}

static PROBE_COLD void watch_end(Process *p, bool waits)
{
	p->slept = waits;
	if (is_slice_followed())
		follow_end(p, waits);
	else if (PROBE_ON(process__unscheduled))
		probe_process__unscheduled(p, true);
}

static inline void tell_begin(Process *p)
{
	if (PROBE_ON(process__scheduled))
		probe_process__scheduled(p, true);
	if (PROBE_ON(process__taken))
		probe_process__taken(p);
}

/* Returns false when p has ended. */
static PROBE_COLD bool follow_begin(Process *p, uint32_t before)
{
	micro_enter(sched_self(), MICRO_EMULATOR);
	tell_begin(p);
	if (trace_active)
		trace_hooks.slice_began(p, before & (PS_WAITING | PS_BLOCKED));
	if (!(before & PS_SIGNALS) || !trace_active || signal_handle_traced(p))
		return true;
	process_exit(p, p->exc_reason);
	return false;
}

/* The same. */
static PROBE_COLD bool watch_begin(Process *p, uint32_t before)
{
	if (is_slice_followed())
		return follow_begin(p, before);
	tell_begin(p);
	return true;
}

/* Is p scheduled only for what came in, while a dirty scheduler has its native? Such a slice is nobody's business. */
static bool is_away(const Process *p, uint32_t before)
{
	return unlikely(p->dirty != NULL) && !(before & PS_UNBLOCKED);
}

/* Back to sleep, when nothing came that p waits for. */
static bool sleep_again(Process *p, uint32_t before)
{
	uint32_t state = atomic_load(&p->state);
	bool blocked = p->resume != NULL && !((before | state) & PS_UNBLOCKED);
	uint32_t how = blocked ? PS_BLOCKED : before & (PS_WAITING | PS_HIBERNATED | PS_UNBLOCKED);
	uint32_t unless = PS_SIGNALS | (blocked ? PS_UNBLOCKED : PS_TIMEOUT);

	if (state & PS_SUSPENDED)
		unless = PS_SIGNALS;
	else if (!blocked && (!(how & PS_WAITING) || *p->msg_save != NULL || (state & PS_TIMEOUT)))
		return false;
	if (!is_away(p, before))
		watch_end(p, true);
	p->reds_done++; /* the signals */
	sched_self()->current = NULL;
	if (end_running(p, how, unless))
		return true;
	sched_self()->current = p;
	return false;
}

static __attribute__((noinline)) bool do_asked(Process *p)
{
	if (exc_holds_terms(p)) {
		task_run_looks(p);
		return true;
	}
	if (task_run(p) && (!(p->flags & PF_SAFE_POINT) || process_collect_gc(p, 0, p->x, p->live)))
		return true;
	process_exit(p, p->exc_reason);
	return false;
}

/* Does what was asked for where its registers are saved; while a native holds terms that is later. Returns false when
 * that ended p. Nearly always nothing was: not even a call. */
static inline bool come_to_rest(Process *p)
{
	return likely(!p->has_tasks && !(p->flags & PF_SAFE_POINT)) || do_asked(p);
}

/* Signals first. Returns false when p is not to run now: it sleeps, or is gone. */
static bool prepare(Process *p, uint32_t before)
{
	batch_end_turn();
	for (;;) {
		if ((atomic_load(&p->state) & PS_SIGNALS) && !signal_handle_now(p)) {
			if (unlikely(sched_self()->watch != WATCH_NOTHING) && is_away(p, before) && !p->dirty->is_told)
				watch_begin(p, 0); /* its end tells that it is scheduled out */
			process_exit(p, p->exc_reason);
			return false;
		}
		if (!come_to_rest(p))
			return false;
		if (sleep_again(p, before))
			return false;
		if (!(atomic_load(&p->state) & (PS_SUSPENDED | PS_SIGNALS)))
			return true;
	}
}

/* Where it is after some reductions: few as often as many, as most slices are short. */
static void begin_sample(Process *p)
{
	static _Thread_local uint32_t random = 1;
	int32_t after;

	random = random * 1664525 + 1013904223; /* Numerical Recipes' */
	after = (int32_t)(random >> 8 & (((uint32_t)2 << (random >> 28) % 12) - 1)) + 1;
	if (after < p->reds_left) {
		p->reds_kept += p->reds_left - after;
		p->reds_left = after;
	}
}

static PROBE_COLD void take_sample(struct sched *s, Process *p)
{
	atomic_store_explicit(&s->wants_sample, false, memory_order_relaxed);
	sched_sampled(p);
}

/* Runs until the slice is over; nudges and samples come back in between. */
static enum run_result run_slice(struct sched *s, Process *p)
{
	enum run_result r;

	if (unlikely(atomic_load_explicit(&s->wants_sample, memory_order_relaxed)))
		begin_sample(p);
	r = sched_run_process(s, p);
	while (r == RUN_YIELD && p->reds_kept > 0 && p->reds_left <= 0) {
		if (unlikely(atomic_load_explicit(&s->wants_sample, memory_order_relaxed)))
			take_sample(s, p);
		p->reds_left += p->reds_kept;
		p->reds_kept = 0;
		if (sched_is_any_idle() && run_queue_length(s->queue) > 0)
			sched_wake_idle();
		if (p->reds_left <= 0 || (atomic_load(&p->state) & PS_SIGNALS) ||
		    s->id > atomic_load(&sched_world_runs))
			break;
		r = sched_run_process(s, p);
	}
	return r;
}

static void end_slice(struct sched *s, Process *p, enum run_result r)
{
	if (r == RUN_EXITED)
		return;
	if (r != RUN_YIELD && !come_to_rest(p))
		return;
	if (unlikely(s->watch != WATCH_NOTHING))
		watch_end(p, r != RUN_YIELD);
	account(s, p);
	s->current = NULL;
	if (r == RUN_WAIT && end_running(p, PS_WAITING, PS_SIGNALS | PS_TIMEOUT))
		return;
	if (r == RUN_BLOCK && end_running(p, PS_BLOCKED, PS_SIGNALS | PS_UNBLOCKED))
		return;
	requeue(s, p);
}

/* What made it urgent is done: its own turn comes by its own priority. It loses its place in the queue, but once only:
 * who is asked again and again, sooner than its turn comes, would never run. */
static void put_back(struct sched *s, Process *p, uint32_t before)
{
	p->postponed = true;
	if (unlikely(s->watch != WATCH_NOTHING))
		watch_end(p, false);
	account(s, p);
	s->current = NULL;
	atomic_fetch_or(&p->state, before & (PS_WAITING | PS_BLOCKED | PS_UNBLOCKED | PS_HIBERNATED));
	requeue(s, p);
}

void sched_run_slice(struct sched *s, Process *p)
{
	uint32_t before = begin_running(p);
	unsigned raised = atomic_load_explicit(&p->raised, memory_order_relaxed);

	if (unlikely(raised != 0))
		raised = atomic_exchange(&p->raised, 0);

	s->current = p;
	p->woken_from = before;
	if (!p->bound)
		atomic_store_explicit(&p->scheduler, s->id, memory_order_relaxed);
	p->reds_left = SCHED_REDS;
	p->reds_kept = 0;
	sched_count_more(&s->switches, 1);
	if (unlikely(s->watch != WATCH_NOTHING) && !is_away(p, before) && !watch_begin(p, before))
		return;
	if (((before & (PS_SIGNALS | PS_SUSPENDED)) || p->has_tasks) && !prepare(p, before))
		return;
	if (unlikely(s->watch != WATCH_NOTHING) && is_away(p, before) && !watch_begin(p, PS_BLOCKED))
		return;
	if (unlikely(raised > p->priority) && !p->postponed) {
		put_back(s, p, before);
		return;
	}
	p->postponed = false;
	p->woken_from = PS_RUNNING;
	end_slice(s, p, run_slice(s, p));
}
