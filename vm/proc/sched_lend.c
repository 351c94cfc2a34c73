/* SPDX-License-Identifier: Apache-2.0 */
/* A native function or a collection may last long, and cannot be cut. Its thread lends its scheduler meanwhile
 * (sched_lend). The clock of time slices looks every millisecond: a scheduler that was lent at its last look already,
 * and whose run queue or timers wait, is taken over by a thread that rests here. The thread that lent it goes on with
 * its process as a worker thread does, until that process's time slice is over, and then rests in its turn.
 * What belongs to a scheduler (its id, run queue, timers, counters of its own) stands in, or is pointed to by, the
 * struct sched of the thread that has it; registers and the running process are the thread's.
 * Invariant: a loan ends by one compare-and-swap of sched.lent: either another thread takes the scheduler over
 * (LENT_TAKEN), or the thread that lent it reclaims it (LENT_NOT). Until it has reclaimed it, that thread does not
 * touch what belongs to the scheduler. */
#include "proc/sched_lend.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/log.h"
#include "proc/batch.h"
#include "proc/micro.h"
#include "proc/sched.h"
#include "proc/sched_job.h"
#include "proc/sched_poll.h"
#include "proc/sched_world.h"
#include "proc/timer.h"

static struct {
	struct lock lock;
	struct cond cond;
	struct sched *resting;         /* lock */
	unsigned made, most;           /* lock */
	void *(*run)(void *sched);
} lend;

void sched_lend_init(unsigned most, void *(*run)(void *sched))
{
	lock_init(&lend.lock, LOCK_sched_lend);
	cond_init(&lend.cond);
	lend.most = most;
	lend.run = run;
}

/* ---- whose scheduler may be taken */

static uint32_t lent_of(const struct sched *s)
{
	return atomic_load_explicit(&s->lent, memory_order_acquire);
}

static bool may_be_taken(uint32_t lent)
{
	return (lent & LENT_MASK) == LENT_MAY_BE_TAKEN;
}

void sched_lend(void)
{
	struct sched *s = sched_self();
	uint32_t lent;

	if (s == NULL || s->is_dirty || s->current == NULL || s->loans++ > 0)
		return;
	lent = lent_of(s);
	if ((lent & LENT_MASK) != LENT_NOT)
		return;
	atomic_fetch_add_explicit(&sched_others, 1, memory_order_relaxed);
	atomic_store_explicit(&s->lent, lent + LENT_ONCE + LENT_MAY_BE_TAKEN, memory_order_release);
}

void sched_reclaim(void)
{
	struct sched *s = sched_self();
	uint32_t lent;

	if (s == NULL || s->is_dirty || s->current == NULL || --s->loans > 0)
		return;
	lent = lent_of(s);
	if (may_be_taken(lent) && atomic_compare_exchange_strong(&s->lent, &lent, lent - LENT_MAY_BE_TAKEN))
		atomic_fetch_sub_explicit(&sched_others, 1, memory_order_relaxed);
	else
		process_yield_soon(s->current);
}

/* ---- the threads that take over */

static void start_thread(void)
{
	struct sched *s = sched_make_spare();
	char name[16];
	int error;

	snprintf(name, sizeof(name), "spare_%u", lend.made + 1);
	error = thread_start(name, lend.run, s);
	if (error != 0 && lend.made == 0)
		log_refused("start a thread that takes schedulers over", -error);
	lend.made += error == 0;
}

/* One more is started as soon as the last is taken, so that it rests by the time it is needed. */
static struct sched *take_resting(void)
{
	struct sched *s;

	lock_acquire(&lend.lock);
	s = lend.resting;
	if (s != NULL)
		lend.resting = s->next_resting;
	if (lend.resting == NULL && lend.made < lend.most)
		start_thread();
	lock_release(&lend.lock);
	return s;
}

static void put_resting(struct sched *s)
{
	s->next_resting = lend.resting;
	lend.resting = s;
}

void sched_lend_rest(struct sched *s)
{
	if (sched_world_is_in(s)) {
		atomic_fetch_sub_explicit(&sched_others, 1, memory_order_release);
		sched_world_leave(s);
	}
	lock_acquire(&lend.lock);
	put_resting(s);
	while ((lent_of(s) & LENT_MASK) == LENT_TAKEN)
		batch_wait(WAIT_work, &lend.cond, &lend.lock);
	lock_release(&lend.lock);
}

/* ---- the taking */

/* s has processes or a timer, or it would be the one to do what ports have to do and to poll.
 * s may have given its scheduler away by now, and be given another one: the answer is then of either, and taking it
 * fails. */
static bool is_wanted(const struct sched *s)
{
	int64_t deadline = timer_wheel_deadline_ns(__atomic_load_n(&s->wheel, __ATOMIC_RELAXED));

	return sched_run_queue_of(__atomic_load_n(&s->id, __ATOMIC_RELAXED)) > 0 ||
		(!sched_is_any_idle() && (sched_job_waits() || sched_poll_is_vacant())) ||
		(deadline != 0 && deadline <= clock_monotonic_ns());
}

static void take(struct sched *s, uint32_t lent, bool for_stop)
{
	struct sched *to = take_resting();
	bool taken;

	if (to == NULL)
		return;
	taken = sched_world_part(s, lent, to, for_stop);
	lock_acquire(&lend.lock);
	if (taken)
		atomic_store(&to->lent, lent_of(to) - LENT_TAKEN);
	else
		put_resting(to);
	lock_release(&lend.lock);
	cond_broadcast(&lend.cond);
}

void sched_lend_look(struct sched *s, uint32_t *seen)
{
	uint32_t lent = lent_of(s);

	if (may_be_taken(lent) && lent == *seen && is_wanted(s))
		take(s, lent, false);
	*seen = lent;
}

void sched_lend_give(void)
{
	struct sched *s = sched_self();
	uint32_t lent;

	if (s == NULL || s->is_dirty)
		return;
	lent = lent_of(s);
	if (may_be_taken(lent) && is_wanted(s))
		take(s, lent, false);
}

void sched_lend_take_all(void)
{
	for (unsigned id = 1; id <= sched_count(); id++) {
		struct sched *s = sched_get(id);
		uint32_t lent = lent_of(s);

		if (s != sched_self() && may_be_taken(lent))
			take(s, lent, true);
	}
}

bool sched_lend_is_any(void)
{
	for (unsigned id = 1; id <= sched_count(); id++)
		if (sched_get(id) != sched_self() && may_be_taken(lent_of(sched_get(id))))
			return true;
	return false;
}
