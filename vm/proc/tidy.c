/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: the thread rests only when the VM has had nothing to do for IDLE_ROUNDS rounds, and nothing was left to
 * give back: a VM that idles is not woken. */
#include "proc/tidy.h"

#include <stdatomic.h>
#include <stdbool.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/lock.h"
#include "base/log.h"
#include "proc/process.h"
#include "proc/slice_clock.h"
#include "proc/timer.h"

enum { ROUND_MS = 1000, FEW_IDLE_ROUNDS = 2, IDLE_ROUNDS = 5, MOST_ROUNDS = 20 };

static struct {
	struct lock lock;
	struct cond cond;
	_Atomic bool rests; /* written under the lock */
} tidy;

void tidy_init(void)
{
	lock_init(&tidy.lock, LOCK_tidy);
	cond_init(&tidy.cond);
}

static void rest(void)
{
	lock_acquire(&tidy.lock);
	atomic_store(&tidy.rests, true);
	while (atomic_load(&tidy.rests) && slice_clock_rests())
		cond_wait(WAIT_work, &tidy.cond, &tidy.lock);
	atomic_store(&tidy.rests, false);
	lock_release(&tidy.lock);
}

void tidy_wake(void)
{
	if (!atomic_load(&tidy.rests))
		return;
	lock_acquire(&tidy.lock);
	atomic_store(&tidy.rests, false);
	cond_signal(&tidy.cond);
	lock_release(&tidy.lock);
}

static bool give_back(bool is_idle)
{
	bool processes = process_tidy(), timers = timer_tidy(), blocks = mem_tidy(is_idle);

	return processes || timers || blocks;
}

static void *run(void *arg)
{
	unsigned idle = 0;

	(void)arg;
	thread_be_background();
	for (;;) {
		bool more;

		clock_sleep_ms(ROUND_MS);
		more = give_back(idle >= FEW_IDLE_ROUNDS);
		idle = slice_clock_rests() ? idle + 1 : 0;
		if (idle < IDLE_ROUNDS || (more && idle < MOST_ROUNDS))
			continue;
		rest();
		idle = 0;
	}
	return NULL;
}

void tidy_start(void)
{
	int error = thread_start("tidy", run, NULL);

	if (error != 0)
		log_refused("start the thread that gives memory back", -error);
}
