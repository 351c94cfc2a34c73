/* SPDX-License-Identifier: Apache-2.0 */
/* Every PERIOD_MS the clock looks which schedulers are in the time slice that they were in at the look before, and takes away the
 * reductions that are left of it, so that the process gives way at its next call. A slice lasts at most two periods
 * and one native then. A native that lasts as long itself has lent its scheduler, which is given to another thread.
 * Invariant: the clock rests only while no scheduler is busy; one that becomes busy wakes it. */
#include "proc/slice_clock.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/lock.h"
#include "proc/sched_lend.h"
#include "proc/sched_poll.h"

enum { PERIOD_MS = 1, IDLE_LOOKS = 16 /* so many in vain before the clock rests */ };

static struct {
	struct lock lock;
	struct cond cond;
	_Atomic bool rests;
	struct look {
		uint64_t slices; /* its count of slices */
		uint32_t lent;   /* see proc/sched_lend.h */
	} *looks;            /* by scheduler: what was seen at the last look */
} slice_clock;

void slice_clock_init(void)
{
	lock_init(&slice_clock.lock, LOCK_slice_clock);
	cond_init(&slice_clock.cond);
}

static bool is_any_busy(void)
{
	for (unsigned id = 1; id <= sched_count(); id++)
		if (sched_is_busy(id))
			return true;
	return false;
}

/* The process is its scheduler's, which writes what is written here without a lock or an atomic operation. A store that is lost that way
 * is made again at the next look; one that comes late cuts another slice short. The memory of a process is never freed. */
__attribute__((no_sanitize("thread"))) static void end_long_slice(struct sched *s, uint64_t *slices)
{
	uint64_t now = *(volatile uint64_t *)&s->switches;
	Process *p = *(Process *volatile *)&s->current;

	if (now == *slices && p != NULL) {
		*(volatile int32_t *)&p->reds_kept = 0;
		*(volatile int32_t *)&p->reds_left = 0;
	}
	*slices = now;
}

static void rest(void)
{
	lock_acquire(&slice_clock.lock);
	atomic_store(&slice_clock.rests, true);
	while (atomic_load(&slice_clock.rests) && !is_any_busy())
		cond_wait(&slice_clock.cond, &slice_clock.lock);
	atomic_store(&slice_clock.rests, false);
	lock_release(&slice_clock.lock);
}

void slice_clock_wake(void)
{
	if (!atomic_load(&slice_clock.rests))
		return;
	lock_acquire(&slice_clock.lock);
	atomic_store(&slice_clock.rests, false);
	cond_signal(&slice_clock.cond);
	lock_release(&slice_clock.lock);
}

static void *run_clock(void *arg)
{
	unsigned idle = 0;

	(void)arg;
	for (;;) {
		clock_sleep_ms(PERIOD_MS);
		idle = is_any_busy() ? 0 : idle + 1;
		if (idle >= IDLE_LOOKS)
			rest();
		if (sched_poll_is_forgotten())
			sched_wake_idle();
		for (unsigned id = 1; id <= sched_count(); id++) {
			end_long_slice(sched_get(id), &slice_clock.looks[id - 1].slices);
			sched_lend_look(sched_get(id), &slice_clock.looks[id - 1].lent);
		}
	}
	return NULL;
}

void slice_clock_start(void)
{
	int error;

	slice_clock.looks = mem_zalloc(sched_count() * sizeof(*slice_clock.looks));
	error = thread_start("slice_clock", run_clock, NULL);
	if (error != 0)
		log_refused("start the clock of time slices", -error);
}
