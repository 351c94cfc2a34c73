/* SPDX-License-Identifier: Apache-2.0 */
/* At every look the clock sees which schedulers are in the time slice that they were in at the look before, and takes
 * away the reductions that are left of it, so that the process gives way at its next call. So a slice lasts until the
 * second look at most, and one native then. A native that lasts as long itself has lent its scheduler, which is given
 * to another thread.
 * The clock looks once a millisecond, and SHORT_LOOKS times while slices are so long that a scheduler began only few in
 * the last one: most programs begin tens, and need not be disturbed more often.
 * Invariant: the clock rests only while no scheduler is busy; one that becomes busy wakes it. */
#include "proc/slice_clock.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/lock.h"
#include "proc/sched_lend.h"
#include "proc/sched_poll.h"
#include "proc/tidy.h"

enum {
	PERIOD_NS = 1000000,
	SHORT_LOOKS = 3,
	FEW_SLICES = 6,  /* begun in a period: they are long */
	IDLE_LOOKS = 16, /* so many in vain before the clock rests */
};

static struct {
	struct lock lock;
	struct cond cond;
	_Atomic bool rests;
	struct look {
		uint64_t slices; /* its count of slices */
		uint32_t lent;   /* see proc/sched_lend.h */
		uint64_t before; /* its count of slices when the period began */
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

/* The process is its scheduler's, which writes what is written here without a lock or an atomic operation. A store that
 * is lost that way is made again at the next look; one that comes late cuts another slice short. The memory of a
 * process stays readable, and zeros what is zero. */
__attribute__((no_sanitize("thread"))) static void end_long_slice(Process *p)
{
	*(volatile int32_t *)&p->reds_kept = 0;
	*(volatile int32_t *)&p->reds_left = 0;
}

__attribute__((no_sanitize("thread"))) static void look_at(struct sched *s, struct look *seen)
{
	uint64_t now = *(volatile uint64_t *)&s->switches;
	Process *p = *(Process *volatile *)&s->current;

	if (now == seen->slices && p != NULL)
		end_long_slice(p);
	if (sched_sampled != NULL)
		atomic_store_explicit(&s->wants_sample, true, memory_order_relaxed);
	seen->slices = now;
	sched_lend_look(s, &seen->lent);
}

static void look_at_all(void)
{
	for (unsigned id = 1; id <= sched_count(); id++)
		look_at(sched_get(id), &slice_clock.looks[id - 1]);
}

/* A period is over: were a scheduler's slices long in it? */
__attribute__((no_sanitize("thread"))) static bool are_slices_long(void)
{
	bool are_long = false;

	for (unsigned id = 1; id <= sched_count(); id++) {
		struct look *seen = &slice_clock.looks[id - 1];

		if (seen->slices - seen->before <= FEW_SLICES && *(Process *volatile *)&sched_get(id)->current != NULL)
			are_long = true;
		seen->before = seen->slices;
	}
	return are_long;
}

static void rest(void)
{
	lock_acquire(&slice_clock.lock);
	atomic_store(&slice_clock.rests, true);
	while (atomic_load(&slice_clock.rests) && !is_any_busy())
		cond_wait(WAIT_processes, &slice_clock.cond, &slice_clock.lock);
	atomic_store(&slice_clock.rests, false);
	lock_release(&slice_clock.lock);
	tidy_wake(); /* also when nobody had to wake the clock: it only looked like resting */
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

bool slice_clock_rests(void)
{
	return atomic_load(&slice_clock.rests);
}

static void *run_clock(void *arg)
{
	unsigned idle = 0, looks = 1;

	(void)arg;
	for (;;) {
		for (unsigned i = 0; i < looks; i++) {
			clock_sleep_ns(PERIOD_NS / looks);
			look_at_all();
		}
		looks = are_slices_long() ? SHORT_LOOKS : 1;
		idle = is_any_busy() ? 0 : idle + 1;
		if (idle >= IDLE_LOOKS)
			rest();
		if (sched_poll_is_forgotten())
			sched_wake_idle();
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
